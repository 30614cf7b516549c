"""Which shapes of a robot can touch each other, and as what."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from modurob import kernels
from modurob.algorithms.kinematics import together
from modurob.algorithms.motions import MOTIONS
from modurob.algorithms.pairs import Paired, mutual_mass, paired, pose_of
from modurob.catalogue.contact import PAIR_POINTS, Ball, BodyContact, Corners, PairContact, Rod, relative
from modurob.errors import InputError
from modurob.geometry import Capsule, Mesh, Solid, Sphere
from modurob.kinematics.collisions import CollisionModel, collision_model, module_of, numbers_in_modules
from modurob.kinematics.contacts import outer_shapes
from modurob.mechanism.tables import Frame, PairRow, Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array
from modurob.values import compared

# keeps shares of no pressure finite
TINY = 1e-300


def pair_rows(m: Tables, between: BodyContact, ignore: Iterable[tuple[str, str]] = ()) -> tuple[PairRow, ...]:
    """A contact for each pair of shapes that can meet, as `Mechanism.collision_model` has them; shapes inside the others of their
    module are left out."""
    if not isinstance(between, BodyContact):
        raise InputError(f"body contact {between!r:.60}: expected its law, such as mr.BodyContact(friction=0.5)")
    if m.coupled:
        raise InputError(
            f"{m.name} has joints that share a coordinate: contact between its bodies is not offered; expected a robot without "
            "mimic joints"
        )
    model = collision_model(m, None, ignore, hulls=True)
    kept, numbers = set(outer_shapes(m)), numbers_in_modules(model.names)
    pairs = [sorted(pair, key=lambda k: (module_of(model.names[k]), numbers[k])) for pair in model.pairs.tolist()]
    return tuple(_row(model, a, b, numbers, between) for a, b in pairs if {a, b} <= kept)


def pair_gaps(m: Tables, q: Array) -> Array:
    """The smallest gap of each pair in `body_contacts`, (..., pairs) [m]; negative where bodies overlap."""
    X = kernels.run(MOTIONS, m, dict(zip("qv", together(q, np.zeros(m.nv)), strict=True))).results["X"]
    each = [_gap(row, X) for row in m.body_contacts]
    return np.stack(each, axis=-1) if each else np.zeros((*q.shape[:-1], 0))


def _gap(row: PairRow, X: Array) -> Array:
    a, b = (pose_of(X, frame.body) @ frame.X for frame in (row.a, row.b))
    return row.force.touch(se3.inverse(b) @ a).gap.min(axis=-1)


@compared
class BodyContactForces(NamedTuple):
    """What the bodies of each pair in `body_contacts` do to each other, (..., pairs, ...); in the world."""

    points: Array  # where the force acts, (..., pairs, 3) [m]
    forces: Array  # of the second body on the first, (..., pairs, 3) [N]; the opposite acts on the second; zero apart
    torques: Array  # beside the force at that point, of the second body on the first, (..., pairs, 3) [N m]
    slip: Array  # mean speed of their points along each other, by how hard they press, (..., pairs) [m/s]


def body_contact_forces(m: Tables, q: Array, v: Array, x: Array) -> BodyContactForces:
    """Forces between the bodies of a robot in states (q, v, x), as they are between two steps: sums of r n - s e over the points
    of a pair, as `contact_forces` has them (docs/contact.md), at their centre of pressure, sum of r p over sum of r."""
    q, v = together(q, v)
    start = kernels.run(MOTIONS, m, {"q": q, "v": v}).results
    x = np.broadcast_to(x, (*q.shape[:-1], x.shape[-1]))
    found = [_felt(m, pair, x[..., pair.x]) for pair in paired(m, start, start["V"])]
    return BodyContactForces(*(np.stack(part, axis=q.ndim - 1) for part in zip(*found, strict=True)))


def _felt(m: Tables, pair: Paired, x: Array) -> tuple[Array, ...]:
    """Of one pair."""
    still = np.zeros(x.shape[:-1])
    X, moves = relative(pair.a, pair.b, still, mutual_mass(m, pair.row) + still)
    touch = pair.law.touch(X)
    f, r = pair.law.forces(touch, moves, x), pair.law.normal_forces(touch, moves)
    share = r / np.maximum(r.sum(axis=-1, keepdims=True), TINY)
    centre = np.where(r.max(axis=-1)[..., None] > 0, (share[..., None] * touch.p).sum(axis=-2), touch.p.mean(axis=-2))
    slip = (share * np.hypot(*(moves.along(touch, t, moves.known) for t in touch.t))).sum(axis=-1)
    turn = np.cross(touch.p - centre[..., None, :], f).sum(axis=-2)
    seen = pair.b.X @ pair.b.frame
    R = seen[..., :3, :3]
    force, torque, point = ((R @ y[..., None])[..., 0] for y in (f.sum(axis=-2), turn, centre))
    return point + seen[..., :3, 3], force, torque, slip


def _row(model: CollisionModel, a: int, b: int, numbers: list[int], between: BodyContact) -> PairRow:
    (first, X_a), (second, X_b) = (_shape(model.solids[k]) for k in (a, b))
    if (first.kind, second.kind) not in PAIR_POINTS:
        a, b, first, second, X_a, X_b = b, a, second, first, X_b, X_a
    if (first.kind, second.kind) not in PAIR_POINTS:
        first, second = (Rod(x.r, 0.0) if isinstance(x, Ball) else x for x in (first, second))
    frames = [Frame(int(model.bodies[k]), model.X_BS[k] @ X) for k, X in ((a, X_a), (b, X_b))]
    name = f"{model.names[a]} on {model.names[b]} {numbers[a]}.{numbers[b]}"
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
