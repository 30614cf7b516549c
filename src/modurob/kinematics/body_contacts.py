"""Which shapes of a robot can touch each other, and as what."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from modurob import kernels
from modurob.algorithms.kinematics import forward_kinematics
from modurob.catalogue.contact import MEETINGS, Ball, BodyContact, Corners, PairContact, Rod
from modurob.errors import InputError
from modurob.geometry import Capsule, Mesh, Solid, Sphere
from modurob.kinematics.collisions import CollisionModel, collision_model
from modurob.kinematics.contacts import outer_shapes
from modurob.mechanism.tables import Frame, PairRow, Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array


def pair_rows(m: Tables, between: BodyContact, ignore: Iterable[tuple[str, str]] = ()) -> tuple[PairRow, ...]:
    """A contact for each pair of shapes that can meet, as `Mechanism.collision_model` has them; shapes inside the others of their
    module are left out."""
    if not isinstance(between, BodyContact):
        raise InputError(f"between {between!r:.60}: expected how bodies feel, such as mr.BodyContact(friction=0.5)")
    if m.coupled:
        raise InputError(
            f"{m.name} has joints that share a coordinate: contact between its bodies is not offered; expected a robot without "
            "mimic joints"
        )
    model = collision_model(m, None, ignore, hulls=True)
    kept = set(outer_shapes(m))
    return tuple(_row(model, a, b, between) for a, b in model.pairs.tolist() if {a, b} <= kept)


def pair_gaps(m: Tables, q: Array) -> Array:
    """The smallest gap of each pair in `body_contacts`, (..., pairs) [m]; negative where bodies stand in each other."""
    X = forward_kinematics(m, q, kernels.run).bodies
    each = [_gap(row, X) for row in m.body_contacts]
    return np.stack(each, axis=-1) if each else np.zeros((*q.shape[:-1], 0))


def _gap(row: PairRow, X: Array) -> Array:
    a, b = (X[..., frame.body, :, :] @ frame.X for frame in (row.a, row.b))
    return row.force.touch(se3.inverse(b) @ a).gap.min(axis=-1)


def _row(model: CollisionModel, a: int, b: int, between: BodyContact) -> PairRow:
    (first, X_a), (second, X_b) = (_shape(model.solids[k]) for k in (a, b))
    if (first.kind, second.kind) not in MEETINGS:
        a, b, first, second, X_a, X_b = b, a, second, first, X_b, X_a
    if (first.kind, second.kind) not in MEETINGS:
        first, second = (Rod(x.r, 0.0) if isinstance(x, Ball) else x for x in (first, second))
    frames = [Frame(int(model.bodies[k]), model.X_BS[k] @ X) for k, X in ((a, X_a), (b, X_b))]
    name = f"{model.names[a]} on {model.names[b]} {a}.{b}"
    return PairRow(name, PairContact(first, second, between), *frames)


def _shape(s: Solid) -> tuple[Any, Array]:
    """What a shape counts as, and where that is in its frame: cylinders and meshes as the box around them."""
    if isinstance(s, Sphere):
        return Ball(s.r), np.eye(4)
    if isinstance(s, Capsule):
        return Rod(s.r, s.length / 2), np.eye(4)
    if isinstance(s, Mesh) and s.points is not None:
        low, high = s.points.min(axis=0), s.points.max(axis=0)
        return Corners(*((high - low) / 2).tolist()), se3.pose(np.eye(3), (low + high) / 2)
    return Corners(*s.half_edges), np.eye(4)
