"""Run every benchmark: python -m benchmarks."""

from benchmarks import cold, derivatives, drives, kernels, loops, motion, symbolic

for benchmark in (kernels, derivatives, loops, motion, drives, cold, symbolic):
    benchmark.main()
