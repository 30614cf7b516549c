"""Which bodies of a robot are wheels: round about the axis they turn about, without end."""

from typing import Any, NamedTuple

import numpy as np

from modurob.mechanism.tables import Shape, Tables
from modurob.spatial.scalars import Array

ROUND = ("cylinder", "sphere")
# how far a shape may be off its axle [m], and turned from it
OFF = 1e-6


class Rim(NamedTuple):
    """A wheel in the axes of its body: radius [m], centre and axle, (3,); a positive rate turns it about the axle."""

    radius: float
    centre: Array
    axle: Array


def rim(m: Tables, body: int) -> Rim | None:
    """The wheel that a body is, the largest of its shapes; None for others.

    Wheels carry nothing, and turn by a revolute joint of their own without limits; all of their shapes are cylinders or spheres
    about its axis.
    """
    joint = m.joints[body - 1]
    if joint.kind != "revolute" or joint.mimics or np.isfinite([joint.limits.lower, joint.limits.upper]).any():
        return None
    axle = joint.type.motion_subspace(np.zeros(1))[3:, 0]
    own = [s for s in m.solids if s.frame.body == body]
    if not own or body in m.parent[body + 1 :] or not all(_is_round(s, axle) for s in own):
        return None
    largest: Any = max(own, key=lambda s: s.size[0])
    return Rim(float(largest.size[0]), largest.in_body[:3, 3], axle)


def _is_round(s: Shape, axle: Array) -> bool:
    if s.kind not in ROUND or np.asarray(s.in_body).dtype == object:
        return False
    off, turned = (np.linalg.norm(np.cross(axle, s.in_body[:3, k])) for k in (3, 2))
    return bool(off < OFF and (s.kind == "sphere" or turned < OFF))
