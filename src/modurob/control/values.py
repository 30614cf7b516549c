"""Numbers for each rate of a robot - gains, weights, torque limits - from what a user writes, and their checks."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from modurob.control.drives import Drives
from modurob.errors import ControlError
from modurob.motion.numbers import numbers
from modurob.spatial.scalars import Array, clip

# one number for all joints, numbers by joint name, or an array over the driven rates or over all
PerJoint = Mapping[str, Any] | ArrayLike

# eigenvalues this far below zero, for entries of one, are rounding errors
ROUNDING = 1e-12


def per_rate(value: PerJoint, drives: Drives, what: str, infinite: bool = False) -> Array:
    """`value` of each rate, (nv,), zero or more; zero where there is no drive."""
    x = np.zeros(drives.robot.nv)
    if isinstance(value, Mapping):
        for name, entry in value.items():
            joint = drives.joint(name, what)
            x[joint.v_slice] = _fitting(entry, (joint.type.nv,), f"{what} of {name}", infinite)
        if missing := [j.name for j in drives.joints if j.name not in value]:
            raise ControlError(f"{what} has no number for {', '.join(missing)}: expected one for every driven joint")
    elif numbers(value, what, infinite=infinite).shape == x.shape:
        x[drives.v] = numbers(value, what, infinite=infinite)[drives.v]
    else:
        x[drives.v] = _fitting(value, drives.v.shape, what, infinite)
    for joint in drives.joints:
        if np.any(x[joint.v_slice] < 0):
            lowest = x[joint.v_slice].min()
            raise ControlError(f"{what} = {lowest:g} at joint {joint.name}: expected zero or more")
    return x


def _fitting(value: Any, shape: tuple[int, ...], what: str, infinite: bool) -> Array:
    """`value` as one number or an array of that shape."""
    x = numbers(value, what, infinite=infinite)
    if x.shape not in ((), shape):
        raise ControlError(f"{what} has shape {x.shape}: expected one number or shape {shape}")
    return x


def gain(value: PerJoint, drives: Drives, what: str) -> Callable[[Array], Array]:
    """The map x -> K x on (..., nv), with K from numbers for each rate or a positive semidefinite matrix (nv, nv)."""
    if isinstance(value, Mapping) or numbers(value, what).ndim != 2:
        k = per_rate(value, drives, what)
        return lambda x: k * x
    K, driven = numbers(value, what), drives.v
    if K.shape == (drives.robot.nv, drives.robot.nv):
        K = K[driven][:, driven]
    if K.shape != (len(driven), len(driven)):
        n = len(driven)
        raise ControlError(f"{what} has shape {K.shape}: expected one number, ({n},) or ({n}, {n})")
    lowest = np.linalg.eigvalsh((K + K.T) / 2).min(initial=0.0)
    if lowest < -ROUNDING * np.abs(K).max(initial=0.0):
        raise ControlError(f"{what} has the eigenvalue {lowest:g}: expected a positive semidefinite matrix")
    transposed = np.zeros((drives.robot.nv, drives.robot.nv))
    transposed[driven[:, None], driven] = K.T
    return lambda x: x @ transposed


def limiter(saturation: PerJoint | None, drives: Drives) -> Callable[[Array], Array]:
    """The map from commanded to possible torques, (..., nv): zero without a drive, and within the limits.

    `saturation` is None for no limits, "effort" for the effort limits of the joints, or limits [N m or N].
    """
    nv, passive = drives.robot.nv, drives.passive
    limit = np.full(nv, np.inf)
    if isinstance(saturation, str):
        if saturation != "effort":
            raise ControlError(f"saturation = {saturation!r}: expected 'effort', numbers or None")
        for joint in drives.joints:
            limit[joint.v_slice] = joint.effort_limit
    elif saturation is not None:
        limit = per_rate(saturation, drives, "saturation", infinite=True)
    limit[passive] = 0.0
    if np.all(np.isinf(limit)):
        return lambda tau: tau
    return lambda tau: clip(tau, -limit, limit)
