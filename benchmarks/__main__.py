"""Run every benchmark: python -m benchmarks."""

from benchmarks import cold, derivatives, drives, kernels, lines, loops, motion, reach, symbolic

for benchmark in (kernels, derivatives, loops, lines, reach, motion, drives, cold, symbolic):
    benchmark.main()
