"""Run every benchmark: python -m benchmarks."""

from benchmarks import cold, derivatives, drives, kernels, lines, loops, motion, symbolic

for benchmark in (kernels, derivatives, loops, lines, motion, drives, cold, symbolic):
    benchmark.main()
