"""Steps through time without leaving the compiled code."""

import ctypes
import weakref
from threading import Lock
from typing import Any

import numpy as np

from modurob.algorithms.stepping import NO_SPRINGS, LimitSprings, limited
from modurob.kernels.kernel import Kernel, in_shares, strided
from modurob.kernels.programs import FORWARD_DYNAMICS, INTEGRATE, RATE
from modurob.mechanism import Tables
from modurob.spatial.scalars import Array

STEPPER_PROGRAMS = (FORWARD_DYNAMICS, INTEGRATE, RATE)
_void_p = ctypes.c_void_p


def _motion_of(real: Any) -> type[ctypes.Structure]:
    """The struct `motion` of driver.c."""

    class Motion(ctypes.Structure):
        _fields_ = [
            *((name, ctypes.c_long) for name in ("nq", "nv", "runge_kutta")),
            *((name, real) for name in ("dt", "stiffness", "loss")),
            *((name, _void_p) for name in ("damping", "lower", "upper", "coordinate")),
        ]

    return Motion


_MOTION = {np.dtype(np.float64): _motion_of(ctypes.c_double), np.dtype(np.float32): _motion_of(ctypes.c_float)}


class Stepper:
    """`algorithms.advance` of one mechanism, compiled."""

    def __init__(self, m: Tables, dtype: Any = np.float64, lanes: int | None = None):
        self.dtype = np.dtype(dtype)
        self._kernels = [Kernel(m, program, dtype, lanes) for program in STEPPER_PROGRAMS]
        self.lanes, self._driver = self._kernels[0].lanes, self._kernels[0].driver
        at = limited(m)
        self._arrays = [np.ascontiguousarray(x, self.dtype) for x in (m.damping, at.lower, at.upper)]
        self._arrays.append(np.ascontiguousarray(at.coordinate, np.int_))
        self._sizes, self._addresses = (m.nq, m.nv), [x.ctypes.data for x in self._arrays]
        # of single states, which share one stepper
        self.lock, self._one = Lock(), self._motion(0.0, "", NO_SPRINGS)

    def _motion(self, dt: float, method: str, springs: LimitSprings) -> Any:
        runge_kutta = method == "runge_kutta_4"
        return _MOTION[self.dtype](*self._sizes, runge_kutta, dt, springs.stiffness, springs.damping, *self._addresses)

    def _make(self, motion: Any) -> int:
        stepper = self._driver.make_stepper(ctypes.byref(motion), *(k.robot for k in self._kernels))
        if not stepper:
            raise MemoryError("no memory for the states of a stepper")
        return stepper

    def once(self) -> tuple[int, int]:
        """Addresses of a stepper for single states, which lives as long as this one, and of its function."""
        stepper = self._make(self._one)
        weakref.finalize(self, self._driver.free_stepper, stepper)
        return stepper, ctypes.cast(self._driver.advance_once, _void_p).value or 0

    def set_once(self, dt: float, method: str, springs: LimitSprings) -> None:
        """How the next single state is stepped; hold the lock until it has been."""
        one = self._one
        one.dt, one.runge_kutta = dt, method == "runge_kutta_4"
        one.stiffness, one.loss = springs.stiffness, springs.damping

    def __call__(
        self,
        q: Array,
        v: Array,
        torques: Array,
        q_out: Array,
        v_out: Array,
        dt: float,
        steps: int,
        method: str,
        springs: LimitSprings,
        threads: int = 1,
    ) -> None:
        """Fill `q_out` and `v_out`, (states, entries), from `torques`, (states, nv), or (states, steps, nv) for a row a step."""
        stride = torques.strides[1] if torques.ndim == 3 else 0
        first_torques = torques[:, 0] if torques.ndim == 3 else torques
        motion = self._motion(dt, method, springs)
        views = [strided(x, self.dtype) for x in (q, v, first_torques, q_out, v_out)]

        def share(first: int, last: int) -> None:
            stepper = self._make(motion)
            try:
                self._driver.advance(stepper, first, last, *(ctypes.byref(s) for s in views), steps, stride)
            finally:
                self._driver.free_stepper(stepper)

        in_shares(share, q_out.shape[0], self.lanes, threads)
