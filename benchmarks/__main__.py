"""Run every benchmark: python -m benchmarks."""

from importlib import import_module

NAMES = "kernels fleet gpu derivatives loops lines inverse arms reach motion trajectories contact drives cold symbolic"

for name in NAMES.split():
    import_module(f"benchmarks.{name}").main()
