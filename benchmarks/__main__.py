"""Run every benchmark: python -m benchmarks."""

from benchmarks import cold, derivatives, drives, fleet, gpu, inverse, kernels, lines, loops, motion, reach, symbolic

for benchmark in (kernels, fleet, gpu, derivatives, loops, lines, inverse, reach, motion, drives, cold, symbolic):
    benchmark.main()
