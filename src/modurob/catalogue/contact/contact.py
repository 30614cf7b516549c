"""Contact of a shape with the ground: compliant points with bristles for friction, linear in the velocity at the end of a step.

A point at the gap φ moves with u = (u_t, u_n) and has a bristle z along two tangents. A step of dt that has come to know the
velocity ū, at first that of its start u⁰ and then what came out, takes for the force on the point at its end, with C = k dt + d,

    r = -(k φ + C ū_n),   e = k z + C ū_t,   s = min(1, μ r / |e|)
    f_n = r - C (u_n - ū_n),   f_t = -s e - γ C (u_t - ū_t)        where φ + dt min(ū_n, u⁰_n) < 0 and r > 0, else nothing

γ is s, or s² where the first solve is the last. So the force on a body at the twist V is Σ Pᵀf = F - H (V - V̄), u = P V, and H dt adds
to the inertia of the body. Below the cone s = 1 and bristles hold like springs: a body at rest stays.
"""

from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from modurob.catalogue.contact.ground import Ground
from modurob.catalogue.contact.touching import Touch, Touching
from modurob.catalogue.forces.force import Force
from modurob.spatial import inertia
from modurob.spatial.scalars import Array, cross, dot, maximum, minimum, select, sqrt

# what hits slower does not bounce [m/s]
SLOWEST_BOUNCE = 0.03
# how hard a bounce holds on to the speed it leaves with [N s/m], and rolling resistance to no rate [N m s]
HARD, HARD_TURN = 1e6, 1e2
# keeps directions of nothing finite
TINY = 1e-30
ZERO = np.zeros(())


class Push(NamedTuple):
    """The wrench F on a body at the twist V̄, in its axes at its origin, (..., 6), and how it falls with its twist, (..., 6, 6)."""

    F: Array
    H: Array


class Moves(NamedTuple):
    """How a body moves in a step of dt [s], (...): its twist at the start, and the one known so far of the end, in its axes as they
    are at the start, (..., 6); and its mass, (...) [kg], and centre of mass, (..., 3) [m]."""

    start: Array
    known: Array
    mass: Array
    centre: Array
    dt: Array

    def velocities(self, touch: Touch, V: Array) -> Array:
        """Of the points at the end of the step if the twist is V there, (..., k, 3): v + w x p + dt w x (w x (carrier - centre))."""
        w = self.start[..., None, 3:] + 0 * touch.p
        turned = cross(w, cross(w, touch.carrier - self.centre[..., None, :]))
        return _velocity(touch.p, V) + self.dt[..., None, None] * turned


class Felt(NamedTuple):
    """What the points feel at ū: active 1 or 0, normal force r, how it falls with u_n, and s, (..., k) each; e (..., k, 3)."""

    on: Array
    r: Array
    C_n: Array
    s: Array
    e: Array


@dataclass(frozen=True)
class Contact(Force):
    """A shape on the ground. States are the bristles: for each point two displacements along its tangents [m]."""

    shape: Touching
    ground: Ground
    kind = "contact"

    @property
    def nx(self) -> int:  # type: ignore[override]
        return 2 * self.shape.count

    def start(self) -> Array:
        return np.zeros(self.nx)

    @property
    def parts(self) -> dict[str, Any]:
        """What its numbers belong to."""
        return {"shape": self.shape, "ground": self.ground, "surface": self.ground.surface}

    def parameters(self) -> dict[str, Any]:
        return {f"{part} {name}": x for part, own in self.parts.items() for name, x in own.parameters().items()}

    def with_parameters(self, numbers: dict[str, Any]) -> "Contact":
        """The contact with other numbers, traced ones too."""
        shape, ground, surface = (_changed(own, f"{part} ", numbers) for part, own in self.parts.items())
        object.__setattr__(ground, "surface", surface)
        out = copy(self)
        object.__setattr__(out, "shape", shape)
        object.__setattr__(out, "ground", ground)
        return out

    # ---- what it does ----

    def touch(self, X_WB: Array, X_BF: Array) -> Touch:
        """Its points next to the ground, for the pose of the body, and that of the shape in it."""
        return self.shape.touches(X_WB, X_BF, self.ground.surface)

    def nearness(self, touch: Touch, moves: Moves) -> Array:
        """The least gap within a step, (...): nothing touches where it is not negative."""
        ahead = self._ahead(touch, moves)
        least = ahead[..., 0]
        for k in range(1, self.shape.count):
            least = minimum(least, ahead[..., k])
        return least

    def push(self, touch: Touch, moves: Moves, x: Array, last: bool) -> Push:
        """On the body, about the twist known so far; `last`: there is one solve."""
        felt = self._felt(touch, moves, x)
        a = felt.on * self._stiff(moves.dt) * felt.s * (felt.s if last else 1)
        f = felt.on[..., None] * (felt.r[..., None] * touch.n - felt.s[..., None] * felt.e)
        F, H = _summed(touch.p, f), _damping(touch, a, felt.on * felt.C_n - a)
        return self._with_rolling(Push(F, H), felt, moves.known) if _is_there(self.ground.rolling) else Push(F, H)

    def settled(self, touch: Touch, moves: Moves, V: Array, x: Array) -> Array:
        """Bristles at the end of a step that ends with the twist V, (..., nx): moved along, and cut to the cone."""
        felt, dt = self._felt(touch, moves, x), moves.dt
        u1, u = moves.velocities(touch, V), moves.velocities(touch, moves.known)
        pressed = maximum(felt.r - felt.C_n * (dot(touch.n, u1) - dot(touch.n, u)), ZERO)
        z = [z + dt[..., None] * dot(t, u1) for z, t in zip(self._bristles(x), touch.t, strict=True)]
        size = self.ground.stiffness * sqrt(z[0] * z[0] + z[1] * z[1] + TINY)
        kept = felt.on * minimum(1 + ZERO, self.ground.friction * pressed / size)
        return np.concatenate([kept * part for part in z], axis=-1)

    def normal_forces(self, touch: Touch, moves: Moves) -> Array:
        """Of the points, (..., k) [N], about the twist known so far."""
        return self._felt(touch, moves, np.zeros(self.nx)).r

    def energy(self, touch: Touch, x: Array) -> Array:
        """What points and bristles store, (...) [J]."""
        depth, (a, b) = minimum(touch.gap, ZERO), self._bristles(x)
        return self.ground.stiffness * (depth * depth + a * a + b * b).sum(axis=-1) / 2

    def _bristles(self, x: Array) -> tuple[Array, Array]:
        return x[..., : self.shape.count], x[..., self.shape.count :]

    def _stiff(self, dt: Array) -> Array:
        """C = k dt + d, (..., 1)."""
        return (self.ground.stiffness * dt + self.ground.damping)[..., None]

    def _ahead(self, touch: Touch, moves: Moves) -> Array:
        """φ + dt min(u⁰_n, ū_n), (..., k)."""
        u0, u = (dot(touch.n, x) for x in (_velocity(touch.p, moves.start), moves.velocities(touch, moves.known)))
        return touch.gap + moves.dt[..., None] * minimum(u0, u)

    def _felt(self, touch: Touch, moves: Moves, x: Array) -> Felt:
        own, u, C = self.ground, moves.velocities(touch, moves.known), self._stiff(moves.dt)
        u_n, u0_n = dot(touch.n, u), dot(touch.n, _velocity(touch.p, moves.start))
        r, C_n = self._normal(touch.gap, u0_n, u_n, C)
        r = select(self._ahead(touch, moves), ZERO, maximum(r, ZERO), ZERO)
        (z, w), (t, s) = self._bristles(x), touch.t
        held = own.stiffness * (z[..., None] * t + w[..., None] * s)
        e = held + C[..., None] * (u - u_n[..., None] * touch.n)
        slip = minimum(1 + ZERO, own.friction * r * self._share(touch, moves, u0_n, C) / sqrt(dot(e, e) + TINY))
        return Felt(select(ZERO, r, 1 + ZERO, ZERO), r, C_n, slip, e)

    def _share(self, touch: Touch, moves: Moves, u0: Array, C: Array) -> Array:
        """Of the normal force that friction may count on, (..., k). A point that was not met at the start of the step presses too
        hard about a ū that was found without it: one that carries a quarter of its body will press by m / (m + 4 dt C) of that."""
        dt = moves.dt[..., None]
        met = select(touch.gap + dt * u0, ZERO, self._normal(touch.gap, u0, u0, C)[0], ZERO)
        return select(ZERO, met, 1 + ZERO, moves.mass[..., None] / (moves.mass[..., None] + 4 * dt * C))

    def _normal(self, gap: Array, u0: Array, u: Array, C: Array) -> tuple[Array, Array]:
        """Normal force, and how it falls with the normal velocity: against the depth, or in a bounce towards -e u⁰."""
        r = -(self.ground.stiffness * gap + C * u)
        if not _is_there(self.ground.restitution):
            return r, C
        bounce = HARD * (-self.ground.restitution * u0 - u)
        slowest = ZERO - SLOWEST_BOUNCE
        return select(u0, slowest, bounce, r), select(u0, slowest, HARD + 0 * u, C + 0 * u)

    def _with_rolling(self, push: Push, felt: Felt, V: Array) -> Push:
        """A torque against the turning of the body, at most rolling times the normal force."""
        e, w = HARD_TURN * V[..., 3:], V[..., 3:]
        most = self.ground.rolling * (felt.on * felt.r).sum(axis=-1)
        s = minimum(1 + ZERO, most / sqrt(dot(e, e) + TINY))
        turn = np.concatenate([0 * w, s[..., None] * e], axis=-1)
        block = np.diag([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
        return Push(push.F - turn, push.H + (HARD_TURN * s)[..., None, None] * block)


def _velocity(p: Array, V: Array) -> Array:
    """Of points p of a body, (..., k, 3), in its axes: v + w x p."""
    return V[..., None, :3] + cross(V[..., None, 3:] + 0 * p, p)


def _summed(p: Array, f: Array) -> Array:
    """The wrench of forces f on points p, (..., 6)."""
    return np.concatenate([f.sum(axis=-2), cross(p, f).sum(axis=-2)], axis=-1)


def _damping(touch: Touch, a: Array, b: Array) -> Array:
    """Σ Pᵀ (a 1 + b n nᵀ) P over the points, (..., 6, 6)."""
    p, n = touch.p, touch.n
    squares = [(a * p[..., i] * p[..., j]).sum(axis=-1) for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]
    xx, xy, yy, xz, yz, zz = squares
    tensor = [yy + zz, -xy, xx + zz, -xz, -yz, xx + yy]
    moments = [(a * p[..., i]).sum(axis=-1) for i in range(3)]
    Q = np.concatenate([n, cross(p, n)], axis=-1)
    along = (b[..., None, None] * Q[..., :, None] * Q[..., None, :]).sum(axis=-3)
    return inertia.from_parameters(np.stack([a.sum(axis=-1), *moments, *tensor], axis=-1)) + along


def _changed(part: Any, at: str, numbers: dict[str, Any]) -> Any:
    out = copy(part)
    own = {name: numbers[f"{at}{name}"] for name in part.parameters() if f"{at}{name}" in numbers}
    if part.kind == "vertices":
        own = {"numbers": tuple(own.get(f"{k}", x) for k, x in enumerate(part.numbers))}
    for name, x in own.items():
        object.__setattr__(out, name, x)
    return out


def _is_there(x: Any) -> bool:
    """Whether a number is not zero; traced numbers stand for such."""
    return bool(x != 0) if isinstance(x, int | float | np.number) else True
