"""Times as medians of interleaved rounds, since machines are noisy: only ratios within one run mean something."""

import time
from collections.abc import Callable, Mapping

import numpy as np


def interleaved(
    functions: Mapping[str, Callable[[], object]],
    rounds: int = 7,
    least: float = 0.02,
    of: Callable[[list[float]], float] = np.median,  # pyright: ignore
) -> dict[str, float]:
    """Median CPU seconds of one call of each function, or another number `of` the rounds, the functions taking turns."""
    repeats = {}
    for name, f in functions.items():
        f()  # what is compiled or kept is so from now on
        start = time.thread_time()
        f()
        repeats[name] = max(1, int(least / max(time.thread_time() - start, 1e-9)))
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, f in functions.items():
            start = time.thread_time()
            for _ in range(repeats[name]):
                f()
            times[name].append((time.thread_time() - start) / repeats[name])
    return {name: float(of(t)) for name, t in times.items()}
