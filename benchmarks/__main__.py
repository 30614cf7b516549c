"""Run every benchmark: python -m benchmarks."""

from benchmarks import core, symbolic

for benchmark in (core, symbolic):
    benchmark.main()
