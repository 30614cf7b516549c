"""The shapes of a robot that can touch the ground, as points, balls and rims, and their penetration depth."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from modurob import kernels
from modurob.algorithms.configuration import neutral
from modurob.algorithms.contact import placed_contacts
from modurob.algorithms.forces import acting
from modurob.algorithms.interpreter import floats
from modurob.algorithms.kinematics import forward_kinematics, rigid, together
from modurob.algorithms.motions import MOTIONS
from modurob.catalogue.contact import Ball, Contact, Corners, Ground, Rim, StepMotion, Touching, Vertices
from modurob.errors import InputError
from modurob.geometry import Capsule, Cylinder, Mesh, Solid, Sphere
from modurob.kinematics.collisions import module_of, numbers_in_modules, read_solid, shape_names
from modurob.mechanism.tables import ContactRow, Frame, Shape, Tables
from modurob.spatial import quaternion, se3
from modurob.spatial.scalars import Array
from modurob.values import compared

# points of a hull that are kept, the farthest out first
MOST_VERTICES = 64
# how far a shape may stick out of the others of its module and still count as inside [m]
INSIDE = 1e-4
# a robot stands when the next move would be shorter [m], or after so many
SETTLED, MOST_ROUNDS = 1e-12, 200


def contact_rows(m: Tables, ground: Ground) -> tuple[ContactRow, ...]:
    """A contact for each shape that moves: what collides, else what is drawn; shapes inside the others of their module are left
    out."""
    shapes = m.solids
    if any(np.asarray(s.in_body).dtype == object for s in shapes):
        raise InputError(f"{m.name} has symbols for lengths: give them values to set it on the ground")
    names = list(shape_names(m, shapes))
    numbers = numbers_in_modules(names)
    moving = [k for k in outer_shapes(m) if shapes[k].frame.body > 0]
    rows = tuple(
        ContactRow(f"{names[k]} contact {numbers[k]}{f'.{i}' if i else ''}", Contact(part, ground), frame)
        for k in moving
        for i, (frame, part) in enumerate(_parts(shapes[k]))
    )
    if not rows:
        raise InputError(
            f"{m.name} has no shapes that move, so nothing of it can touch the ground: expected <collision> geometry in its URDF "
            'file, shapes in its modules, or Builder.collision("box", size, on=body)'
        )
    return rows


def _parts(s: Shape) -> Iterator[tuple[Frame, Touching]]:
    """What a shape touches with, and where that is on its body."""
    made = read_solid(s)
    for z, part in _touching(made):
        yield Frame(s.frame.body, s.in_body @ se3.pose(np.eye(3), np.array([0.0, 0.0, z]))), part


def _touching(s: Solid) -> list[tuple[float, Touching]]:
    """Contact shapes, and how far along z in the frame of the solid they are."""
    match s:
        case Sphere():
            return [(0.0, Ball(s.r))]
        case Capsule():
            return [(z, Ball(s.r)) for z in (-s.length / 2, s.length / 2)]
        case Cylinder():
            return [(z, Rim(s.r)) for z in (-s.length / 2, s.length / 2)]
        case Mesh():
            return [(0.0, Vertices(tuple(_hull(s).ravel().tolist())))]
    # a box, or the box around a shape of another kind
    return [(0.0, Corners(*s.half_edges))]


def _hull(s: Mesh) -> Array:
    """The vertices of the convex hull of a mesh, the farthest from each other if there are many, (n, 3)."""
    from scipy.spatial import ConvexHull  # slow to import

    points = np.asarray(s.points)
    points = points[ConvexHull(points).vertices]
    kept = [int(np.linalg.norm(points - points.mean(axis=0), axis=-1).argmax())]
    far = np.linalg.norm(points - points[kept[0]], axis=-1)
    while len(kept) < min(MOST_VERTICES, len(points)):
        kept.append(int(far.argmax()))
        far = np.minimum(far, np.linalg.norm(points - points[kept[-1]], axis=-1))
    return points[kept]


# ---- how a robot stands ----


def gaps(m: Tables, q: Array) -> Array:
    """Of all points that can touch the ground, (..., points) [m]; negative where they are in it."""
    X = kernels.run(MOTIONS, m, dict(zip("qv", together(q, np.zeros(m.nv)), strict=True))).results["X"]
    return np.concatenate([np.zeros((*q.shape[:-1], 0)), *(c.touch.gap for c in placed_contacts(m, X))], axis=-1)


def least_gaps(m: Tables, q: Array, bodies: Sequence[int]) -> Array:
    """The gap of the lowest point of each of some bodies, (..., bodies) [m]; infinite where nothing of it can touch the ground."""
    X = rigid(kernels.run(MOTIONS, m, dict(zip("qv", together(q, np.zeros(m.nv)), strict=True))).results["X"])
    least, laws = np.full((*q.shape[:-1], len(m.bodies)), np.inf), defaultdict(list)
    for row in m.contacts:
        if row.frame.body in bodies:
            laws[row.force].append(row.frame)
    # shapes that are alike at once
    for law, frames in laws.items():
        at = [frame.body for frame in frames]
        gap = law.touch(X[..., np.array(at) - 1, :, :], np.stack([frame.X for frame in frames])).gap.min(axis=-1)
        for k, body in enumerate(at):
            least[..., body] = np.minimum(least[..., body], gap[..., k])
    return least[..., list(bodies)]


def standing(m: Tables, q: Array, gap: float = 0.0, tilted: bool = False) -> Array:
    """The configuration with the floating base moved up or down until the lowest point is `gap` above the ground, (..., nq); if
    `tilted`, turned with the ground below its origin before that."""
    if not floats(m):
        raise InputError(
            f"{m.name} does not float, so it cannot be set on the ground: expected mechanism(floating=True)"
        )
    q = np.array(q, dtype=float)
    if tilted:
        q[..., 3:7] = quaternion.multiply(_upright_to(_normal(m, q[..., :3])), q[..., 3:7])
    # steep ground needs several rounds
    for _ in range(MOST_ROUNDS):
        step = gap - gaps(m, q).min(axis=-1)
        q[..., 2] += step
        if np.abs(step).max(initial=0.0) < SETTLED:
            break
    return q


def _normal(m: Tables, p: Array) -> Array:
    """Unit normal of the ground below a point, (..., 3), in the world."""
    return m.contacts[0].force.ground.surface.gap(p)[1]  # type: ignore[attr-defined]


def _upright_to(n: Array) -> Array:
    """Quaternion of the smallest turn that takes z to the unit vector n, (..., 4)."""
    x, y, z = np.moveaxis(n, -1, 0)
    return quaternion.normalised(np.stack([1 + z, -y, x, 0 * z], axis=-1))


@compared
class ContactForces(NamedTuple):
    """What the ground does to each point that can touch it, (..., points, ...); in the world."""

    points: Array  # where it is, (..., points, 3) [m]
    forces: Array  # of the ground on the robot, (..., points, 3) [N]; zero in the air
    slip: Array  # its speed along the ground, (..., points) [m/s]


def contact_forces(m: Tables, q: Array, v: Array, x: Array) -> ContactForces:
    """Forces of the ground on the points of a robot in states (q, v, x), as they are between two steps:
    f = r n - s e with r = -(k φ + d u_n) and e = k z + d u_t, z the bristles among x (docs/contact.md)."""
    q, v = together(q, v)
    found, lead = kernels.run(MOTIONS, m, {"q": q, "v": v}).results, q.shape[:-1]
    x = np.broadcast_to(x, (*lead, x.shape[-1]))
    rows = [row for _, row in acting(m).contact_rows]
    ends = np.cumsum([0, *(row.force.shape.count for row in rows)])
    out = ContactForces(*(np.zeros((*lead, ends[-1], *shape)) for shape in ((3,), (3,), ())))
    for law, alike in _alike(m):
        for into, part in zip(out, _contact_forces(m, law, alike, found, x), strict=True):
            for i, k in enumerate(alike):
                into[len(lead) * (slice(None),) + (slice(ends[k], ends[k + 1]),)] = np.moveaxis(part, len(lead), 0)[i]
    return out


def _alike(m: Tables) -> Iterator[tuple[Contact, list[int]]]:
    """The laws of the contacts, and the contacts that have each."""
    groups: dict[Contact, list[int]] = {}
    for i, (_, row) in enumerate(acting(m).contact_rows):
        groups.setdefault(row.force, []).append(i)
    yield from groups.items()


def _contact_forces(m: Tables, law: Contact, alike: list[int], found: dict[str, Array], x: Array) -> ContactForces:
    """Of some contacts with one law, (..., contacts, points, ...)."""
    own = acting(m)
    rows = [own.contact_rows[i] for i in alike]
    body = [row.frame.body for _, row in rows]
    X, V = found["X"][..., np.array(body) - 1, :, :], found["V"][..., np.array(body) - 1, :]
    bristles = np.stack([x[..., own.x_starts[k] : own.x_starts[k] + law.nx] for k, _ in rows], axis=-2)
    touch = law.touch(rigid(X), np.stack([row.frame.X for _, row in rows]))
    still = np.zeros(V.shape[:-1])
    motion = StepMotion(V, V, 1 + still, np.zeros(3), still)  # in no time at all masses do not matter
    R, p = X[..., None, :, :3], X[..., None, :, 3]
    shape = (*V.shape[:-1], law.shape.count, 3)
    forces = np.broadcast_to(law.forces(touch, motion, bristles), shape)
    points = np.broadcast_to(touch.p, shape)
    slip = np.hypot(*(motion.along(touch, t, V) for t in touch.t))
    return ContactForces((R @ points[..., None])[..., 0] + p, (R @ forces[..., None])[..., 0], slip)


# ---- shapes inside others ----


def outer_shapes(m: Tables) -> list[int]:
    """Indices of the shapes that are not inside the hull of the others of their module, or link, with joints at zero."""
    shapes = m.solids
    names = shape_names(m, shapes)
    poses = forward_kinematics(m, neutral(m)).bodies
    points = [_moved(poses[s.frame.body] @ s.in_body, _outline(read_solid(s))) for s in shapes]
    owner = [module_of(name) for name in names]
    kept = []
    for k, own in enumerate(points):
        others = [x for i, x in enumerate(points) if i != k and owner[i] == owner[k]]
        if not others or not _holds(np.concatenate(others), own):
            kept.append(k)
    return kept


def _outline(s: Solid) -> Array:
    """Points on the hull of a solid, (n, 3); of a round one on the box around it."""
    if isinstance(s, Mesh):
        return np.asarray(s.points)
    signs = np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, -1).T
    return signs * np.array(s.half_edges)


def _holds(outer: Array, inner: Array) -> bool:
    """Whether the hull of some points holds all others."""
    from scipy.spatial import ConvexHull  # slow to import

    planes = ConvexHull(outer, qhull_options="QJ").equations
    return bool((inner @ planes[:, :3].T + planes[:, 3] <= INSIDE).all())


def _moved(X: Array, points: Array) -> Array:
    return points @ X[:3, :3].T + X[:3, 3]
