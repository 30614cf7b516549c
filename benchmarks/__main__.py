"""Run every benchmark: python -m benchmarks."""

from benchmarks import kernels, loops, motion, symbolic

for benchmark in (kernels, loops, motion, symbolic):
    benchmark.main()
