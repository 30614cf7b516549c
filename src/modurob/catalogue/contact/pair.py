"""Contact between two bodies: the law of contact for the motion of one against the other.

Bristles belong to the pair, not to its points, which come and go: one displacement z [m], and one turn about the normal [rad], in
the axes of the second shape. The bristle of a point p is z + turn n x (p - c), with c the centre of pressure.
"""

from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from modurob.catalogue.contact.law import TINY, ZERO, Bristled, along, centripetal, changed
from modurob.catalogue.contact.meeting import PAIR_POINTS, PairPoints
from modurob.catalogue.forces.force import Numbers
from modurob.errors import InputError, explained
from modurob.spatial import se3
from modurob.spatial.scalars import Array, cross, dot, minimum, select, sqrt, total


@explained
@dataclass(frozen=True)
class BodyContact(Numbers):
    """The material of contact between bodies: friction, a stiffness and a damping at each point that touches; see docs/contact.md.

    With `restitution` e, bodies that collide faster than a few cm/s separate with e times their speed.

    >>> import modurob as mr
    >>> mr.BodyContact(friction=0.5).restitution
    0.0
    """

    friction: Any = 0.8
    stiffness: Any = 1e5  # of each point [N/m]
    damping: Any = 1e3  # of each point [N s/m]
    restitution: Any = 0.0
    kind = "body contact"
    rolling = 0.0

    def __post_init__(self) -> None:
        self._require(friction=self.friction, damping=self.damping)
        self._require(stiffness=self.stiffness, restitution=self.restitution)
        if isinstance(self.stiffness, int | float) and not self.stiffness > 0:
            raise InputError(f"body contact: stiffness {self.stiffness!r}: expected more than zero [N/m], such as 1e5")
        if isinstance(self.restitution, int | float) and not self.restitution <= 1:
            raise InputError(f"body contact: restitution {self.restitution!r}: expected 0 (plastic) to 1 (elastic)")


class Side(NamedTuple):
    """A body in a pair: its pose and that of its shape in it, X_WB and X_BF; its twist at the start of a step, and the one known so
    far of its end, in its axes, (..., 6); its mass, (...) [kg], and centre of mass, (..., 3) [m]."""

    X: Array
    frame: Array
    start: Array
    known: Array
    mass: Array
    centre: Array


class RelativeMotion(NamedTuple):
    """The motion of one body relative to another in a step of dt [s], (...), in the frame of the shape of the second: relative
    twists at the start, and at the end as known so far, (..., 6); their reduced mass m_a m_b / (m_a + m_b), or that of the one that
    moves where the other is the world; and of both the angular velocity and the centre of mass."""

    start: Array
    known: Array
    mass: Array
    spins: tuple[tuple[Array, Array], tuple[Array, Array]]
    dt: Array

    def along(self, touch: PairPoints, axis: Array, V: Array) -> Array:
        """Velocities of the points along an axis at the end of the step if the relative twist is V there, (..., k)."""
        (w_a, c_a), (w_b, c_b) = self.spins
        turning = centripetal(w_a, axis, touch.carrier, c_a) - centripetal(w_b, axis, touch.seat, c_b)
        return along(touch, axis, V) + self.dt[..., None] * turning


def relative(a: Side, b: Side, dt: Array, mass: Array) -> tuple[Array, RelativeMotion]:
    """The pose of the first shape in the frame of the second, and how it moves there; `mass` is their reduced mass."""
    to = se3.inverse(b.X @ b.frame)
    start, known = (_relative_twist(to, a, b, V) for V in ((a.start, b.start), (a.known, b.known)))
    spins = [(_turned(to @ x.X, x.start[..., 3:]), _placed(to @ x.X, x.centre)) for x in (a, b)]
    return to @ a.X @ a.frame, RelativeMotion(start, known, mass, (spins[0], spins[1]), dt)


def _relative_twist(to: Array, a: Side, b: Side, V: tuple[Array, Array]) -> Array:
    first, second = (se3.to_child(se3.inverse(to @ x.X), own) for x, own in zip((a, b), V, strict=True))
    return first - second


def _turned(X: Array, w: Array) -> Array:
    return (X[..., :3, :3] @ w[..., None])[..., 0]


def _placed(X: Array, p: Array) -> Array:
    return _turned(X, p) + X[..., :3, 3]


@dataclass(frozen=True)
class PairContact(Bristled):
    """Contact of two shapes. States are the displacement of the bristles, three numbers [m], and their turn [rad]."""

    a: Numbers
    b: Numbers
    between: BodyContact
    kind = "pair contact"
    nx = 4  # type: ignore[assignment]

    @property
    def count(self) -> int:
        return PAIR_POINTS[self.a.kind, self.b.kind][0]

    @property
    def material(self) -> BodyContact:
        return self.between

    @property
    def parts(self) -> dict[str, Any]:
        return {"a": self.a, "b": self.b, "between": self.between}

    def with_parameters(self, numbers: dict[str, Any]) -> "PairContact":
        """The contact with other numbers, traced ones too."""
        out = copy(self)
        for part, own in self.parts.items():
            object.__setattr__(out, part, changed(own, f"{part} ", numbers))
        return out

    def touch(self, X: Array) -> PairPoints:
        """The contact points of the shapes in the frame of the second, for the pose of the first in it."""
        return PAIR_POINTS[self.a.kind, self.b.kind][1](self.a, self.b, X)

    def clearance(self, X: Array, motion: RelativeMotion) -> Array:
        """How far the spheres about the shapes are from each other within a step, (...): nothing touches where it is not
        negative."""
        d = se3.position(X)
        reach = _radius(self.a) + _radius(self.b)
        for V in (motion.start, motion.start, motion.known):
            u = V[..., :3] + cross(V[..., 3:], d)
            reach = reach + motion.dt * sqrt(dot(u, u) + TINY)
        return sqrt(dot(d, d) + TINY) - reach

    def bristles(self, touch: PairPoints, normal: Array, x: Array) -> list[Array]:
        share = normal / (total(normal, -1) + TINY)[..., None]
        centre = total(share[..., None] * touch.p, -2)
        z = x[..., None, :3] + x[..., None, 3:] * cross(touch.n + 0 * touch.p, touch.p - centre[..., None, :])
        return [dot(z, t) for t in touch.t]

    def end_states(self, touch: PairPoints, motion: RelativeMotion, V: Array, x: Array) -> Array:
        """Bristles at the end of a step that ends with the relative twist V, (..., 4): moved with the mean velocity of the points,
        weighted by their normal forces, and limited to the friction cone."""
        points, dt = self._point_forces(touch, motion, x), motion.dt[..., None]
        share = points.r / (total(points.r, -1) + TINY)[..., None]
        drag = sum((share * motion.along(touch, t, V))[..., None] * t for t in touch.t)
        n = total(share[..., None] * touch.n, -2)
        turn = dot(n, V[..., 3:])[..., None]
        moved = x + dt * np.concatenate([total(np.asarray(drag), -2), turn], axis=-1)
        f, g = self.bristles(touch, points.r, moved)
        size = self.between.stiffness * total(points.on * sqrt(f * f + g * g + TINY), -1)
        most = self.between.friction * total(points.on * self._end_normal_forces(points, touch, motion, V), -1)
        on = select(ZERO, total(points.on, -1), 1 + ZERO, ZERO)
        return (on * minimum(1 + ZERO, most / (size + TINY)))[..., None] * moved


def _radius(shape: Any) -> Any:
    """The radius of the sphere about the origin of a shape that contains it [m]."""
    if shape.kind == "corners":
        return sqrt(np.asarray(shape.x * shape.x + shape.y * shape.y + shape.z * shape.z))
    return shape.r + shape.half if shape.kind == "rod" else shape.r
