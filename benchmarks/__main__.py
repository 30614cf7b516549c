"""Run every benchmark: python -m benchmarks."""

from benchmarks import cold, derivatives, inverse, kernels, loops, motion, symbolic

for benchmark in (kernels, derivatives, loops, motion, cold, symbolic, inverse):
    benchmark.main()
