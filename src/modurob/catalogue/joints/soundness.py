"""Whether a joint kind from outside the package is one: its shapes, and that S, its rate, T and q are those of its pose."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from modurob.catalogue.joints.joint import JointType
from modurob.errors import MechanismError, require_value
from modurob.spatial import se3
from modurob.spatial.scalars import Array

# half of the step of differences, and what they may be wrong by
STEP, NEAR = 1e-5, 1e-6


def require_sound(joint: JointType) -> None:
    """An error unless a joint of a kind from outside the package is consistent; those of the package are tested."""
    own = getattr(joint, "original", joint)
    if type(own).__module__.startswith("modurob."):
        return
    require_value(own, MechanismError)
    if all(isinstance(getattr(own, name, 0.0), int | float) for name in own.parameters):
        _require_sound(own)


@lru_cache(maxsize=1024)
def _require_sound(joint: JointType) -> None:
    for what in mistakes(joint):
        raise MechanismError(f"joint kind {joint.kind!r} ({type(joint).__qualname__}): {what}")


def mistakes(joint: JointType) -> Iterator[str]:
    """What is wrong with a kind, in words, at a configuration next to zero."""
    yield from _widths(joint)
    v = 0.1 + 0.05 * np.arange(joint.nv)
    q = joint.integrate(joint.neutral(), v)
    yield from _shapes(joint, q, v)
    yield from _contradictions(joint, q, v)


def _widths(joint: JointType) -> Iterator[str]:
    for name in ("units", "labels"):
        given = getattr(joint, name)
        if len(given) != joint.nv:
            yield f"{name} {given!r}: expected one for each of its {joint.nv} rates"
    for name in joint.parameters:
        if not hasattr(joint, name):
            yield f"parameters name {name!r}: expected fields of {type(joint).__qualname__}"


def _shapes(joint: JointType, q: Array, v: Array) -> Iterator[str]:
    X, n = joint.pose(q), joint.nv
    expected: dict[str, tuple[Any, tuple[int, ...]]] = {
        "pose(q)": (X, (4, 4)),
        "motion_subspace(q)": (joint.motion_subspace(q), (6, n)),
        "subspace_rate(q, v)": (joint.subspace_rate(q, v), (6, n)),
        "constraint_subspace(q)": (joint.constraint_subspace(q), (6, 6 - n)),
    }
    for name, (found, shape) in expected.items():
        if getattr(found, "shape", None) != shape:
            yield f"{name} {_described(found)}: expected an array of shape {shape}"
    if np.shape(found := joint.coordinates(X)) != (joint.nq,):
        yield f"coordinates(X) {_described(found)}: expected an array of shape ({joint.nq},)"


def _described(x: Any) -> str:
    return f"has shape {x.shape}" if isinstance(x, np.ndarray) else f"is {x!r:.60}"


def _contradictions(joint: JointType, q: Array, v: Array) -> Iterator[str]:
    S, T, V = joint.motion_subspace(q), joint.constraint_subspace(q), _twists(joint, q)
    for k in np.flatnonzero((abs(S - V) > NEAR).any(axis=0)):
        told, moved = (x[:, k].round(6).tolist() for x in (S, V))
        what = f"motion_subspace has the column {told} for rate {k}, and pose moves by {moved}"
        yield f"{what}: expected the same, in the successor's axes"
    ahead, behind = (joint.motion_subspace(joint.integrate(q, sign * STEP * v)) for sign in (1, -1))
    if not np.allclose(joint.subspace_rate(q, v), (ahead - behind) / (2 * STEP), atol=NEAR):
        yield "subspace_rate is not the rate of motion_subspace: expected dS/dt, (..., 6, nv), of a kind whose S depends on q"
    if not np.allclose(T.T @ S, 0, atol=NEAR) or np.linalg.matrix_rank(T) < T.shape[1]:
        yield "constraint_subspace: expected independent wrenches with S^T T = 0, which do no work"
    if not np.allclose(joint.pose(joint.coordinates(joint.pose(q))), joint.pose(q), atol=NEAR):
        yield "coordinates(X) are not those of the pose: expected pose(coordinates(X)) = X"


def _twists(joint: JointType, q: Array) -> Array:
    """The twists of the successor frame by each rate, (6, nv), from differences of poses."""
    X = [[joint.pose(joint.integrate(q, sign * STEP * e)) for sign in (1, -1)] for e in np.eye(joint.nv)]
    moved = [se3.log(se3.inverse(behind) @ ahead) / (2 * STEP) for ahead, behind in X]
    return np.stack(moved, axis=-1) if moved else np.zeros((6, 0))
