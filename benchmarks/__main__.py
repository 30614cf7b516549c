"""Run every benchmark: python -m benchmarks."""

from benchmarks import cold, derivatives, kernels, loops, motion, reach, symbolic

for benchmark in (kernels, derivatives, loops, reach, motion, cold, symbolic):
    benchmark.main()
