"""Derivatives of the motion of a frame by the state, for sensors and for controllers in task space."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.interpreter import interpret, reference
from modurob.algorithms.joint_space import MOTION_SLOPES
from modurob.algorithms.kinematics import rigid, together
from modurob.algorithms.motions import MOTIONS
from modurob.algorithms.program import Program, Run
from modurob.algorithms.steps import apply, transposed
from modurob.mechanism.tables import Tables
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array


class FrameDerivatives(NamedTuple):
    """d twist and d acceleration of a frame, in its own axes, by q (along `integrate`), v and vdot, (..., 6, nv) each.

    The twist by v, and the acceleration by vdot, are the body Jacobian. The acceleration is that of `frame_acceleration`, without
    gravity.
    """

    twist_q: Array
    twist_v: Array
    acceleration_q: Array
    acceleration_v: Array
    acceleration_vdot: Array


class OnPath(NamedTuple):
    """A frame in the world: its pose, (..., 4, 4), its twist in its own axes, (..., 6), and vectors of the rates that move it,
    (..., 6, nv) each, there."""

    X: Array
    twist: Array
    vectors: tuple[Array, ...]


def on_path(m: Tables, program: Program, inputs: Mapping[Any, Array], frame: str, run: Run) -> OnPath:
    """The results of a program of vectors in world axes, at the origin of the frame in its axes."""
    at, q, v = m.frame(frame), inputs["q"], inputs["v"]
    on = np.zeros((*v.shape[:-1], len(m.bodies)))
    on[..., list(m.ancestors[at.body])] = 1
    vectors = run(program, m, {**inputs, "on": on}).results.values()
    X, V = _motion(m, q, v, at.body, run)
    # from world axes at the reference point to the axes of the frame
    X = X @ at.X
    to_frame = se3.Ad_inverse(se3.pose(se3.rotation(X), se3.position(X) - reference(m, q)))
    return OnPath(X, apply(se3.Ad_inverse(at.X), V), tuple(to_frame @ x for x in vectors))


def frame_derivatives(m: Tables, q: Array, v: Array, vdot: Array, frame: str, run: Run = interpret) -> FrameDerivatives:
    """Derivatives of the motion of a frame, exact."""
    inputs = dict(zip(("q", "v", "vdot"), together(q, v, vdot), strict=True))
    X, twist, (S, d, dd, e) = on_path(m, MOTION_SLOPES, inputs, frame, run)
    ad = se3.ad(twist)
    # in the recursion the world accelerates against gravity, which turns in the axes of the frame
    gravity = apply(transposed(se3.rotation(X)), m.gravity)
    by_q = dd - ad @ d
    by_q[..., :3, :] += so3.skew(gravity) @ S[..., 3:, :]
    return FrameDerivatives(d, S, by_q, e - ad @ S, S)


def _motion(m: Tables, q: Array, v: Array, body: int, run: Run) -> tuple[Array, Array]:
    """Pose in the world, (..., 4, 4), and twist in its own axes, (..., 6), of a body."""
    if body == 0:
        return se3.IDENTITY, np.zeros(6)
    found = run(MOTIONS, m, {"q": q, "v": v}).results
    return rigid(found["X"][..., body - 1, :, :]), found["V"][..., body - 1, :]
