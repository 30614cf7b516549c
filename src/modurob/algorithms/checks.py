"""Checks of states before anything is computed from them."""

from typing import Any

import numpy as np

from modurob.errors import InputError
from modurob.mechanism.tables import Tables
from modurob.spatial.scalars import Array

# a quaternion of any length represents a rotation; one outside these lengths is taken for a mistake
SHORTEST, LONGEST = 1e-6, 1e6


def require_finite(x: Array, name: str) -> Array:
    """x itself, or an error that says which entry is no finite number."""
    if x.dtype != object and not _all_finite(x):
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(x))[0])
        raise InputError(f"{name}[{', '.join(map(str, where))}] is {x[where]}: expected finite numbers")
    return x


def _all_finite(x: Array) -> bool:
    if x.ndim > 1:
        # a sum is quicker than a test of each; it is finite unless an entry is not, or is huge
        with np.errstate(all="ignore"):
            if np.isfinite(x.sum()):
                return True
    return bool(np.isfinite(x).all())


def require_quaternions(m: Tables, q: Array, name: str = "q") -> Array:
    """q itself, or an error if a quaternion in it is far from length one."""
    if m.nq == m.nv or q.dtype == object:
        return q
    for joint in m.joints:
        if joint.type.nq > joint.type.nv:
            with np.errstate(over="ignore"):
                length = np.sqrt((np.abs(q[..., joint.q_slice][..., -4:]) ** 2).sum(axis=-1))
            if not np.all((length > SHORTEST) & (length < LONGEST)):
                lengths = np.atleast_1d(length).astype(float)
                worst = lengths[np.argmax(np.abs(np.log(np.maximum(lengths, 1e-300))))]
                raise InputError(
                    f"{name}: the quaternion of joint {joint.name!r} has length {worst:g}: expected length one"
                )
    return q


def require_inputs(m: Tables, inputs: dict[str, Array]) -> None:
    """An error if an input of a program holds numbers that are not finite, or quaternions far from length one."""
    for name, x in inputs.items():
        require_finite(x, name)
    if "q" in inputs:
        require_quaternions(m, inputs["q"])


def first_state(bad: Any) -> tuple[tuple[int, ...], str]:
    """The first state of a batch that is bad, (...), and where that is, in words; nothing if there is only one state."""
    first: list[int] = np.argwhere(np.asarray(bad)[None])[0, 1:].tolist()
    at = tuple(first)
    return at, f" in state {at if len(first) > 1 else first[0]}" if first else ""


# how far a path may go beyond a limit by rounding [rad, m]
SLACK = 1e-6


def beyond_limits(m: Tables, q: Array) -> str:
    """In words which coordinate of configurations (..., nq) is farthest beyond its limits; nothing if all are within."""
    own = m.coordinate_of >= 0
    lower, upper = (x[own] for x in m.limits)
    chosen = q[..., m.coordinate_of[own]]
    x = chosen.reshape(chosen.size // max(1, len(lower)), len(lower))
    over = np.maximum(lower - x, x - upper)
    if not over.size or over.max() <= SLACK:
        return ""
    i, k = np.unravel_index(np.argmax(over), over.shape)
    names = [name for joint in m.joints if not joint.mimics for name in joint.rate_names()]
    name = [n for n, there in zip(names, own, strict=True) if there][k]
    return f"{name} at {x[i, k]:.6g} is beyond its limits, {lower[k]:.6g} to {upper[k]:.6g}{_degrees(x[i, k], lower[k], upper[k])}"


def _degrees(x: float, lower: float, upper: float) -> str:
    """A hint for what is a whole turn or more beyond its limits, and within them as degrees."""
    is_angle = abs(x) > 2 * np.pi and lower <= np.radians(x) <= upper
    return f" ({x:.6g} degrees are {np.radians(x):.6g} rad)" if is_angle else ""
