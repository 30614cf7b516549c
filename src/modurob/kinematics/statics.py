"""Torques that hold a robot still under loads, and the loads that its drives can hold."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from modurob.algorithms.interpreter import interpret
from modurob.algorithms.inverse import gravity_forces
from modurob.algorithms.jacobians import jacobian
from modurob.algorithms.program import Run
from modurob.errors import InputError
from modurob.mechanism.tables import Tables
from modurob.spatial.scalars import Array, as_array


def wrench_of(name: str, wrench: Any) -> Array:
    """A wrench (..., 6), or an error that names the frame."""
    F = as_array(wrench)
    if F.ndim == 0 or F.shape[-1] != 6 or F.dtype.kind not in "fcO":
        raise InputError(f"load on {name!r} is {wrench!r:.60}: expected (..., 6), force and torque in world axes")
    return F


def load_torques(m: Tables, q: Array, loads: Mapping[str, Any], run: Run = interpret) -> Array:
    """sum of J^T F, (..., nv): what loads (f, n) at the origins of frames, in world axes, do to the joints [N m or N]."""
    total = np.zeros((*q.shape[:-1], m.nv))
    for name, wrench in loads.items():
        J = jacobian(m, q, name, run)
        total = total + (np.swapaxes(J, -1, -2) @ wrench_of(name, wrench)[..., None])[..., 0]
    return total


def static_torques(m: Tables, q: Array, loads: Mapping[str, Any], run: Run = interpret) -> Array:
    """N(q) - sum of J^T F, (..., nv): the torques that hold the robot against gravity and loads [N m or N]."""
    return gravity_forces(m, q, run) - load_torques(m, q, loads, run)


def largest_load(m: Tables, q: Array, frame: str, wrench: Any, run: Run = interpret) -> Array:
    """How many times a wrench on a frame the drives can hold beside gravity, (...): 0 where they cannot even hold the robot.

    The largest s with |N - s J^T F| <= effort in every joint; infinite if nothing bounds it.
    """
    own, slope = gravity_forces(m, q, run), -load_torques(m, q, {frame: wrench}, run)
    with np.errstate(divide="ignore", invalid="ignore"):
        # |own + s slope| <= effort
        room = np.where(slope > 0, m.effort_limit - own, m.effort_limit + own) / np.abs(slope)
    bound = np.where(np.abs(slope) > 1e-12, room, np.inf).min(axis=-1, initial=np.inf)
    held = np.all(np.abs(own) <= m.effort_limit, axis=-1)
    return np.where(held, bound, 0.0)
