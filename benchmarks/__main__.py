"""Run every benchmark: python -m benchmarks."""

from benchmarks import kernels, motion, symbolic

for benchmark in (kernels, motion, symbolic):
    benchmark.main()
