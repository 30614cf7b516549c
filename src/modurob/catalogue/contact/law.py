"""The law of contact: compliant points with bristles for friction, linear in the velocity at the end of a step.

A point at the gap φ moves with u = (u_t, u_n) and has a bristle z along two tangents. A step of dt that has come to know the
velocity ū, at first that of its start u⁰ and then what came out, takes for the force on the point at its end

    r = k max(0, -φ) + C_n (u* - ū_n),   C_n = k dt + d (1 + w/w₀),   w = max(0, -ū_n, -u⁰_n)
    e = k z + C ū_t,   C = k dt + d,   s = min(1, μ r / |e|)
    f_n = r - C_n (u_n - ū_n),   f_t = -s e - γ C (u_t - ū_t)      where φ + dt min(ū_n, 3/2 u⁰_n) < 0 and r > 0, else nothing

The damping grows with the speed of approach w, as in the law of Hunt and Crossley it grows with the depth, so that what hits is
stopped before it is deep. u* is 0 in the ground. Above it u* = min(0, -φ/dt - u⁰_n/2): gaps change by dt (u⁰_n + u_n)/2, so a
point that ends a step with it and the next one at rest comes to rest at φ = 0, and its impulse is on average given when it
arrives.

γ is s, or s² where the first solve is the last. So the force on a body at the twist V is Σ Pᵀf = F - H (V - V̄), u = P V, and
H dt adds to the inertia of the body. Below the cone s = 1 and bristles hold like springs: a body at rest stays.
"""

from abc import abstractmethod
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from modurob.catalogue.contact.touching import Touch
from modurob.catalogue.forces.force import Force
from modurob.spatial import inertia, so3
from modurob.spatial.scalars import Array, cross, dot, maximum, minimum, select, sqrt, total

# what hits slower does not bounce [m/s]
SLOWEST_BOUNCE = 0.03
# the speed of approach w₀ at which the damping is twice what it is at rest [m/s]
BRISK = 0.25
# how hard a bounce holds on to the speed it leaves with [N s/m], and rolling resistance to no rate [N m s]
HARD, HARD_TURN = 1e6, 1e2
# keeps directions of nothing finite
TINY = 1e-30
ZERO = np.zeros(())


class Push(NamedTuple):
    """The wrench F on a body at the twist it starts a step with, in its axes at its origin, (..., 6), and the inertia that it adds,
    dt times how it falls with its twist, (..., 6, 6)."""

    F: Array
    added: Array


class Moves(NamedTuple):
    """How a body moves in a step of dt [s], (...): its twist at the start, and the one known so far of the end, in its axes as they
    are at the start, (..., 6); and its mass, (...) [kg], and centre of mass, (..., 3) [m]."""

    start: Array
    known: Array
    mass: Array
    centre: Array
    dt: Array

    def along(self, touch: Touch, axis: Array, V: Array) -> Array:
        """Velocities of the points along an axis at the end of the step if the twist is V there, (..., k):
        v + w x p + dt w x (w x (carrier - centre))."""
        v, w, dt = V[..., None, :3], V[..., None, 3:], self.dt[..., None]
        turning = dt[..., None] * turned_twice(self.start[..., 3:], axis)
        # what is the same for all points where they have one normal, what is linear in them, and how far their carriers are off
        same = dot(axis, v + 0 * axis) - dot(turning, self.centre[..., None, :] + 0 * axis)
        linear = cross(axis, w + 0 * axis) + turning
        return same + dot(linear + 0 * touch.p, touch.p) + dot(turning + 0 * touch.p, touch.carrier - touch.p)


def turned_twice(w: Array, axis: Array) -> Array:
    """w x (w x axis), (..., k, 3); times p it is axis . w x (w x p)."""
    w = w[..., None, :] + 0 * axis
    return cross(w, cross(w, axis))


def swung(w: Array, axis: Array, p: Array, centre: Array) -> Array:
    """axis . w x (w x (p - centre)) of points p, (..., k)."""
    return dot(turned_twice(w, axis), p - centre[..., None, :])


class Felt(NamedTuple):
    """What the points feel at ū, (..., k) each: active 1 or 0, normal force r, how it falls with u_n, s, and e along tangents."""

    on: Array
    r: Array
    C_n: Array
    s: Array
    e: tuple[Array, Array]


class Bristled(Force):
    """Points that press and drag bristles along two tangents each. Moves are those of a body, or of one against another."""

    @property
    @abstractmethod
    def feel(self) -> Any:
        """What has friction, stiffness, damping, restitution and rolling."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many points there are."""

    @abstractmethod
    def bristles(self, touch: Any, pressed: Array, x: Array) -> list[Array]:
        """Displacements of the bristles along the two tangents, (..., k) [m], from its states, at points `pressed` by normal
        forces, (..., k)."""

    @property
    @abstractmethod
    def parts(self) -> dict[str, Any]:
        """What its numbers belong to."""

    def start(self) -> Array:
        return np.zeros(self.nx)

    def parameters(self) -> dict[str, Any]:
        return {f"{part} {name}": x for part, own in self.parts.items() for name, x in own.parameters().items()}

    def push(self, touch: Any, moves: Any, x: Array, last: bool) -> Push:
        """On the body, linear about the twist known so far; `last`: there is one solve."""
        felt = self._felt(touch, moves, x)
        a, c = felt.on * self._stiff(moves.dt) * felt.s * (felt.s if last else 1), felt.on * felt.C_n
        back = _change(moves)
        pushes = [
            (felt.on * felt.r - c * along(touch, touch.n, back), touch.n),
            *((-felt.on * felt.s * e - a * along(touch, t, back), t) for e, t in zip(felt.e, touch.t, strict=True)),
        ]
        dt = moves.dt[..., None]
        added = _isotropic(touch.p, dt * a) + _normal_damping(touch, dt * (c - a))
        push = Push(_wrench(touch.p, sum((f[..., None] * axis for f, axis in pushes), np.zeros(3))), added)
        return self._with_rolling(push, felt, moves) if _is_there(self.feel.rolling) else push

    def normal_forces(self, touch: Any, moves: Any) -> Array:
        """Of the points, (..., k) [N], about the twist known so far."""
        return self._felt(touch, moves, np.zeros(self.nx)).r

    def forces(self, touch: Any, moves: Any, x: Array) -> Array:
        """On the points, in the axes of the body, (..., k, 3) [N], about the twist known so far: r n - s e along the tangents."""
        felt = self._felt(touch, moves, x)
        along = [(felt.r, touch.n), *((-felt.s * e, t) for e, t in zip(felt.e, touch.t, strict=True))]
        return sum(((felt.on * f)[..., None] * axis for f, axis in along), np.zeros(3))

    def energy(self, touch: Any, x: Array) -> Array:
        """What points and bristles store, (...) [J]."""
        depth = maximum(-touch.gap, ZERO)
        a, b = self.bristles(touch, depth, x)
        return self.feel.stiffness * total(depth * depth + a * a + b * b, -1) / 2

    def _stiff(self, dt: Array) -> Array:
        """C = k dt + d, (..., 1)."""
        return (self.feel.stiffness * dt + self.feel.damping)[..., None]

    def gaps_ahead(self, touch: Any, moves: Any) -> tuple[Array, Array]:
        """φ + 3/2 dt u⁰_n, or φ + dt u⁰_n where there is restitution, and φ + dt ū_n, (..., k) each: a point touches nothing where
        neither is negative."""
        dt, steps = moves.dt[..., None], 1.0 if _is_there(self.feel.restitution) else 1.5
        u0, u = along(touch, touch.n, moves.start), moves.along(touch, touch.n, moves.known)
        return touch.gap + steps * dt * u0, touch.gap + dt * u

    def _felt(self, touch: Any, moves: Any, x: Array) -> Felt:
        own, dt = self.feel, moves.dt[..., None]
        u_n, u0_n = moves.along(touch, touch.n, moves.known), along(touch, touch.n, moves.start)
        r, C_n = self._normal(touch.gap, u0_n, u_n, dt)
        r = select(minimum(*self.gaps_ahead(touch, moves)), ZERO, maximum(r, ZERO), ZERO)
        e, f = (
            own.stiffness * z + self._stiff(moves.dt) * moves.along(touch, t, moves.known)
            for z, t in zip(self.bristles(touch, r, x), touch.t, strict=True)
        )
        slip = minimum(1 + ZERO, own.friction * r * self._share(touch, moves, u0_n, C_n) / sqrt(e * e + f * f + TINY))
        return Felt(select(ZERO, r, 1 + ZERO, ZERO), r, C_n, slip, (e, f))

    def _pressed(self, felt: Felt, touch: Any, moves: Any, V: Array) -> Array:
        """Normal forces if the step ends with the twist V, (..., k)."""
        slower = moves.along(touch, touch.n, V) - moves.along(touch, touch.n, moves.known)
        return maximum(felt.r - felt.C_n * slower, ZERO)

    def _share(self, touch: Any, moves: Any, u0: Array, C: Array) -> Array:
        """Of the normal force that friction may count on, (..., k). A point that was not met at the start of the step presses too
        hard about a ū that was found without it: one that carries a quarter of its body will press by m / (m + 4 dt C) of that."""
        dt = moves.dt[..., None]
        met = select(self.gaps_ahead(touch, moves)[0], ZERO, self._normal(touch.gap, u0, u0, dt)[0], ZERO)
        return select(ZERO, met, 1 + ZERO, moves.mass[..., None] / (moves.mass[..., None] + 4 * dt * C))

    def _normal(self, gap: Array, u0: Array, u: Array, dt: Array) -> tuple[Array, Array]:
        """Normal force, and how it falls with the normal velocity."""
        if _is_there(self.feel.restitution):
            return self._bounced(gap, u0, u, dt)
        k, fastest = self.feel.stiffness, minimum(u0, u)
        C = k * dt + self.feel.damping * (1 + maximum(-fastest, ZERO) * (1 / BRISK))
        landing = select(ZERO, gap, minimum(-(gap / (dt + TINY) + u0 / 2), ZERO), ZERO)
        return C * (landing - u) - k * minimum(gap, ZERO), C

    def _bounced(self, gap: Array, u0: Array, u: Array, dt: Array) -> tuple[Array, Array]:
        """The same where there is restitution: of what comes in fast towards -e u⁰, of all else against the depth."""
        C = self.feel.stiffness * dt + self.feel.damping
        r, bounce = -(self.feel.stiffness * gap + C * u), HARD * (-self.feel.restitution * u0 - u)
        slowest = ZERO - SLOWEST_BOUNCE
        return select(u0, slowest, bounce, r), select(u0, slowest, HARD + 0 * u, C + 0 * u)

    def _with_rolling(self, push: Push, felt: Felt, moves: Any) -> Push:
        """A torque against the turning of the body, at most rolling times the normal force."""
        e, w = HARD_TURN * moves.known[..., 3:], moves.start[..., 3:]
        most = self.feel.rolling * total(felt.on * felt.r, -1)
        s = minimum(1 + ZERO, most / sqrt(dot(e, e) + TINY))
        turn = np.concatenate([0 * w, HARD_TURN * s[..., None] * w], axis=-1)
        block = np.diag([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
        return Push(push.F - turn, push.added + (HARD_TURN * moves.dt * s)[..., None, None] * block)


def _change(moves: Any) -> Array:
    """From the twist known so far back to that of the start, (..., 6)."""
    return np.zeros(6) if moves.known is moves.start else moves.start - moves.known


def along(touch: Any, axis: Array, V: Array) -> Array:
    """Velocities of the points of a body along an axis, (..., k): axis . (v + w x p)."""
    v, w = V[..., None, :3] + 0 * axis, V[..., None, 3:] + 0 * axis
    return dot(axis, v) + dot(cross(axis, w), touch.p)


def _wrench(p: Array, f: Array) -> Array:
    """Of forces f, (..., k, 3), on points p, (..., 6)."""
    return np.concatenate([total(f, -2), total(cross(p, f), -2)], axis=-1)


def _second_moments(p: Array, f: Array) -> list[Array]:
    """Σ f p pᵀ over the points: xx, xy, yy, xz, yz, zz, (...) each."""
    pairs = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
    return [total(f * (p[..., i] * p[..., j]), -1) for i, j in pairs]


def _isotropic(p: Array, a: Array) -> Array:
    """Σ a Pᵀ P over the points, (..., 6, 6): as of point masses."""
    xx, xy, yy, xz, yz, zz = _second_moments(p, a)
    tensor = [yy + zz, -xy, xx + zz, -xz, -yz, xx + yy]
    first = total(a[..., None] * p, -2)
    return inertia.from_parameters(np.concatenate([total(a, -1)[..., None], first, np.stack(tensor, axis=-1)], axis=-1))


def _normal_damping(touch: Any, b: Array) -> Array:
    """Σ b Pᵀ n nᵀ P over the points, (..., 6, 6), with Pᵀ n = (n, p x n)."""
    n, p = touch.n, touch.p
    if n.shape[-2] == p.shape[-2]:
        Q = np.concatenate([n, cross(p, n)], axis=-1)
        return total(b[..., None, None] * Q[..., :, None] * Q[..., None, :], -3)
    n, N = n[..., 0, :], so3.skew(n[..., 0, :])
    xx, xy, yy, xz, yz, zz = _second_moments(p, b)
    square = np.stack([np.stack(row, axis=-1) for row in ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))], axis=-2)
    moment = cross(total(b[..., None] * p, -2), n)
    out = np.empty((*moment.shape[:-1], 6, 6), dtype=moment.dtype)
    out[..., :3, :3] = total(b, -1)[..., None, None] * n[..., :, None] * n[..., None, :]
    out[..., :3, 3:] = n[..., :, None] * moment[..., None, :]
    out[..., 3:, :3] = np.swapaxes(out[..., :3, 3:], -1, -2)
    out[..., 3:, 3:] = N @ square @ np.swapaxes(N, -1, -2)
    return out


def changed(part: Any, at: str, numbers: dict[str, Any]) -> Any:
    out = copy(part)
    own = {name: numbers[f"{at}{name}"] for name in part.parameters() if f"{at}{name}" in numbers}
    for name, x in part.renamed(own).items() if hasattr(part, "renamed") else own.items():
        object.__setattr__(out, name, x)
    return out


def _is_there(x: Any) -> bool:
    """Whether a number is not zero; traced numbers stand for such."""
    return bool(x != 0) if isinstance(x, int | float | np.number) else True
