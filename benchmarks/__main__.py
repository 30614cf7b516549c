"""Run every benchmark: python -m benchmarks."""

from benchmarks import kernels, symbolic

for benchmark in (kernels, symbolic):
    benchmark.main()
