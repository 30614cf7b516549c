"""The passes of `reachability` compiled."""

import ctypes
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING

import numpy as np

from modurob.kernels.straight import Straight, straight
from modurob.kernels.writer import Step
from modurob.motion.fastest import bounds
from modurob.spatial.scalars import Array

if TYPE_CHECKING:
    from modurob.motion.fastest.reachability import Rows

_P, _L, _D = ctypes.c_void_p, ctypes.c_long, ctypes.c_double
BOUNDS = ("upper_slope", "upper_offset", "lower_slope", "lower_offset", "floor", "ceiling")


class _Problem(ctypes.Structure):
    _fields_ = [*((name, _P) for name in (*BOUNDS, "h")), *((name, _L) for name in ("intervals", "uppers", "lowers"))]


class Passes:
    """Both passes over the intervals of a grid of steps h."""

    def __init__(self, code: Straight, rows: "Rows", h: Array):
        self._library, self._h = code.library, h
        self._kept = [np.ascontiguousarray(x, dtype=float) for x in (*rows[:6], h)]
        self._problem = _Problem(
            *(x.ctypes.data for x in self._kept), *rows.upper_slope.shape, rows.lower_slope.shape[1]
        )

    def controllable(self, last: float, fastest: float) -> tuple[Array, int]:
        """As `reachability.controllable`."""
        K = np.full((len(self._h) + 1, 2), last)
        run = self._library.controllable
        run.argtypes, run.restype = [_P, _D, _P], _L
        return K, run(ctypes.addressof(self._problem), fastest, K.ctypes.data)

    def fastest_speeds(self, K: Array, first: float) -> tuple[Array, Array]:
        """As `reachability.fastest_speeds`."""
        x, u, K = np.empty(len(self._h) + 1), np.empty(len(self._h)), np.ascontiguousarray(K)
        x[0] = first
        run = self._library.fastest_speeds
        run.argtypes, run.restype = [_P, _P, _P, _P], None
        run(ctypes.addressof(self._problem), *(z.ctypes.data for z in (K, x, u)))
        return x, u


@cache
def _code() -> Straight | None:
    return straight(
        "progress", "", ("progress.c",), f"enum {{ STEPS = {bounds.STEPS} }};", _steps, 1, ("motion/fastest",)
    )


def _steps() -> list[Step]:
    """The functions of single numbers that progress.c walks with."""
    return [
        Step.of(step.__name__, dict.fromkeys(signature(step).parameters, 1), results, step)
        for step, results in (
            (bounds.bound, "u"),
            (bounds.last_bound, "u du"),
            (bounds.room, "left"),
            (bounds.newton_step, "length"),
            (bounds.outer_end, "outer"),
            (bounds.later_speed, "later"),
            (bounds.acceleration, "u_mean"),
        )
    ]


def passes(rows: "Rows", h: Array) -> Passes | None:
    """The compiled passes; None without a compiler."""
    code = _code()
    return None if code is None else Passes(code, rows, h)
