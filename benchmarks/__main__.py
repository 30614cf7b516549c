"""Run every benchmark: python -m benchmarks."""

from benchmarks import (
    cold,
    contact,
    derivatives,
    drives,
    fleet,
    inverse,
    kernels,
    lines,
    loops,
    motion,
    reach,
    symbolic,
    trajectories,
)

for benchmark in (
    kernels,
    derivatives,
    loops,
    lines,
    inverse,
    reach,
    motion,
    trajectories,
    contact,
    drives,
    fleet,
    cold,
    symbolic,
):
    benchmark.main()
