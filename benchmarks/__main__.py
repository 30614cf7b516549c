"""Run every benchmark: python -m benchmarks."""

from benchmarks import core

for benchmark in (core,):
    benchmark.main()
