"""Run every benchmark: python -m benchmarks."""

from benchmarks import cold, derivatives, kernels, lines, loops, motion, symbolic

for benchmark in (kernels, derivatives, loops, lines, motion, cold, symbolic):
    benchmark.main()
