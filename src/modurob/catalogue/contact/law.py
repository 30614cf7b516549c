"""The law of contact: compliant points with bristles for friction, linear in the velocity at the end of a step.

A point at the gap φ moves with u = (u_t, u_n) and has a bristle z along two tangents. In a step of dt, let ū be
the latest estimate of the velocity at its end: first that of its start, u⁰, then the result of the last solve. The force is

    r = k max(0, -φ) + C_n (u* - ū_n),   C_n = k dt + d (1 + w/w₀),   w = max(0, -ū_n, -u⁰_n)
    e = k z + C ū_t,   C = k dt + d,   s = min(1, μ r / |e|)
    f_n = r - C_n (u_n - ū_n),   f_t = -s e - γ C (u_t - ū_t)      where φ + dt min(ū_n, 3/2 u⁰_n) < 0 and r > 0, else nothing

The damping grows with the speed of approach w, as it grows with the depth in the law of Hunt and Crossley, so that impacts stop
before they are deep. u* is 0 below the surface. Above it u* = min(0, -φ/dt - u⁰_n/2): gaps change by dt (u⁰_n + u_n)/2, so a
point that ends a step with it and the next one at rest comes to rest at φ = 0, and its impulse is on average given when it
arrives.

γ is s, or s² if there is only one solve. So the force on a body at the twist V is Σ Pᵀf = F - H (V - V̄), u = P V, and
H dt adds to the inertia of the body. Within the cone s = 1 and bristles are springs: a body at rest stays.
"""

from abc import abstractmethod
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from modurob.catalogue.contact.touching import Touch
from modurob.catalogue.forces.force import Force, there
from modurob.spatial import inertia, so3
from modurob.spatial.scalars import Array, cross, dot, maximum, minimum, select, sqrt, total

# slower impacts do not bounce [m/s]
SLOWEST_BOUNCE = 0.03
# the speed of approach w₀ at which the damping is twice what it is at rest [m/s]
DOUBLING_SPEED = 0.25
# damping towards the velocity after a bounce [N s/m], and of rolling resistance towards no rotation [N m s]
BOUNCE_DAMPING, ROLLING_DAMPING = 1e6, 1e2
# keeps quotients by a vanishing length finite
TINY = 1e-30
ZERO = np.zeros(())


class ContactWrench(NamedTuple):
    """The wrench F on a body at its twist V at the start of a step, in its axes at its origin, (..., 6), and the inertia that it
    adds to the body, -dt dF/dV, (..., 6, 6)."""

    F: Array
    added: Array


class StepMotion(NamedTuple):
    """The motion of a body in a step of dt [s], (...): its twist at the start, and at the end as known so far, in its axes as they
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
        turning = dt[..., None] * double_cross(self.start[..., 3:], axis)
        # a part common to all points of one normal, a part linear in the points, and one for carriers off their points
        same = dot(axis, v + 0 * axis) - dot(turning, self.centre[..., None, :] + 0 * axis)
        linear = cross(axis, w + 0 * axis) + turning
        return same + dot(linear + 0 * touch.p, touch.p) + dot(turning + 0 * touch.p, touch.carrier - touch.p)


def double_cross(w: Array, axis: Array) -> Array:
    """w x (w x axis), (..., k, 3); times p it is axis . w x (w x p)."""
    w = w[..., None, :] + 0 * axis
    return cross(w, cross(w, axis))


def centripetal(w: Array, axis: Array, p: Array, centre: Array) -> Array:
    """axis . w x (w x (p - centre)) of points p, (..., k)."""
    return dot(double_cross(w, axis), p - centre[..., None, :])


class PointForces(NamedTuple):
    """The forces of the points at ū, (..., k) each: active (1 or 0), normal force r, C_n = -dr/du_n, s, and e by tangent."""

    on: Array
    r: Array
    C_n: Array
    s: Array
    e: tuple[Array, Array]


class Bristled(Force):
    """Points with normal forces and bristles along two tangents. Motions are those of a body, or of one relative to another."""

    @property
    @abstractmethod
    def material(self) -> Any:
        """The value with friction, stiffness, damping, restitution and rolling."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many points there are."""

    @abstractmethod
    def bristles(self, touch: Any, normal: Array, x: Array) -> list[Array]:
        """Displacements of the bristles along the two tangents, (..., k) [m], from its states, at points with the normal forces
        `normal`, (..., k)."""

    @property
    @abstractmethod
    def parts(self) -> dict[str, Any]:
        """The values that its numbers belong to, by name."""

    def start(self) -> Array:
        return np.zeros(self.nx)

    def parameters(self) -> dict[str, Any]:
        return {f"{part} {name}": x for part, own in self.parts.items() for name, x in own.parameters().items()}

    def wrench(self, touch: Any, motion: Any, x: Array, last: bool) -> ContactWrench:
        """The wrench on the body, linearised about the twist known so far; `last`: there is only one solve."""
        points = self._point_forces(touch, motion, x)
        a, c = points.on * self._stiff(motion.dt) * points.s * (points.s if last else 1), points.on * points.C_n
        back = _change(motion)
        forces = [
            (points.on * points.r - c * along(touch, touch.n, back), touch.n),
            *(
                (-points.on * points.s * e - a * along(touch, t, back), t)
                for e, t in zip(points.e, touch.t, strict=True)
            ),
        ]
        dt = motion.dt[..., None]
        added = _isotropic(touch.p, dt * a) + _normal_damping(touch, dt * (c - a))
        wrench = ContactWrench(_wrench(touch.p, sum((f[..., None] * axis for f, axis in forces), np.zeros(3))), added)
        return self._with_rolling(wrench, points, motion) if there(self.material.rolling) else wrench

    def normal_forces(self, touch: Any, motion: Any) -> Array:
        """Normal forces of the points at the twist known so far, (..., k) [N]."""
        return self._point_forces(touch, motion, np.zeros(self.nx)).r

    def forces(self, touch: Any, motion: Any, x: Array) -> Array:
        """Forces on the points at the twist known so far, in axes of the body, (..., k, 3) [N]: r n - s e along the tangents."""
        points = self._point_forces(touch, motion, x)
        along = [(points.r, touch.n), *((-points.s * e, t) for e, t in zip(points.e, touch.t, strict=True))]
        return sum(((points.on * f)[..., None] * axis for f, axis in along), np.zeros(3))

    def energy(self, touch: Any, x: Array) -> Array:
        """Energy stored in points and bristles, (...) [J]."""
        depth = maximum(-touch.gap, ZERO)
        a, b = self.bristles(touch, depth, x)
        return self.material.stiffness * total(depth * depth + a * a + b * b, -1) / 2

    def _stiff(self, dt: Array) -> Array:
        """C = k dt + d, (..., 1)."""
        return (self.material.stiffness * dt + self.material.damping)[..., None]

    def gaps_ahead(self, touch: Any, motion: Any) -> tuple[Array, Array]:
        """φ + 3/2 dt u⁰_n, or φ + dt u⁰_n where there is restitution, and φ + dt ū_n, (..., k) each: a point touches nothing where
        neither is negative."""
        dt, steps = motion.dt[..., None], 1.0 if there(self.material.restitution) else 1.5
        u0, u = along(touch, touch.n, motion.start), motion.along(touch, touch.n, motion.known)
        return touch.gap + steps * dt * u0, touch.gap + dt * u

    def _point_forces(self, touch: Any, motion: Any, x: Array) -> PointForces:
        own, dt = self.material, motion.dt[..., None]
        u_n, u0_n = motion.along(touch, touch.n, motion.known), along(touch, touch.n, motion.start)
        r, C_n = self._normal(touch.gap, u0_n, u_n, dt)
        r = select(minimum(*self.gaps_ahead(touch, motion)), ZERO, maximum(r, ZERO), ZERO)
        e, f = (
            own.stiffness * z + self._stiff(motion.dt) * motion.along(touch, t, motion.known)
            for z, t in zip(self.bristles(touch, r, x), touch.t, strict=True)
        )
        slip = minimum(1 + ZERO, own.friction * r * self._share(touch, motion, u0_n, C_n) / sqrt(e * e + f * f + TINY))
        return PointForces(select(ZERO, r, 1 + ZERO, ZERO), r, C_n, slip, (e, f))

    def _end_normal_forces(self, points: PointForces, touch: Any, motion: Any, V: Array) -> Array:
        """Normal forces if the step ends with the twist V, (..., k)."""
        slower = motion.along(touch, touch.n, V) - motion.along(touch, touch.n, motion.known)
        return maximum(points.r - points.C_n * slower, ZERO)

    def _share(self, touch: Any, motion: Any, u0: Array, C: Array) -> Array:
        """The share of the normal force that limits friction, (..., k): for a point that did not act at the start of the step, the
        force at ū, which was found without it, is too large; with a quarter of the body's mass m on it, it will be m / (m + 4 dt C)
        of that."""
        dt = motion.dt[..., None]
        acted = select(self.gaps_ahead(touch, motion)[0], ZERO, self._normal(touch.gap, u0, u0, dt)[0], ZERO)
        return select(ZERO, acted, 1 + ZERO, motion.mass[..., None] / (motion.mass[..., None] + 4 * dt * C))

    def _normal(self, gap: Array, u0: Array, u: Array, dt: Array) -> tuple[Array, Array]:
        """Normal force r, and C_n = -dr/du_n."""
        if there(self.material.restitution):
            return self._bounced(gap, u0, u, dt)
        k, fastest = self.material.stiffness, minimum(u0, u)
        C = k * dt + self.material.damping * (1 + maximum(-fastest, ZERO) * (1 / DOUBLING_SPEED))
        landing = select(ZERO, gap, minimum(-(gap / (dt + TINY) + u0 / 2), ZERO), ZERO)
        return C * (landing - u) - k * minimum(gap, ZERO), C

    def _bounced(self, gap: Array, u0: Array, u: Array, dt: Array) -> tuple[Array, Array]:
        """The same with restitution: of fast impacts towards the velocity -e u⁰, of all others by depth and damping."""
        C = self.material.stiffness * dt + self.material.damping
        r, bounce = -(self.material.stiffness * gap + C * u), BOUNCE_DAMPING * (-self.material.restitution * u0 - u)
        slowest = ZERO - SLOWEST_BOUNCE
        return select(u0, slowest, bounce, r), select(u0, slowest, BOUNCE_DAMPING + 0 * u, C + 0 * u)

    def _with_rolling(self, wrench: ContactWrench, points: PointForces, motion: Any) -> ContactWrench:
        """With a torque that opposes the rotation of the body, at most `rolling` times its normal force."""
        e, w = ROLLING_DAMPING * motion.known[..., 3:], motion.start[..., 3:]
        most = self.material.rolling * total(points.on * points.r, -1)
        s = minimum(1 + ZERO, most / sqrt(dot(e, e) + TINY))
        turn = np.concatenate([0 * w, ROLLING_DAMPING * s[..., None] * w], axis=-1)
        block = np.diag([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
        return ContactWrench(wrench.F - turn, wrench.added + (ROLLING_DAMPING * motion.dt * s)[..., None, None] * block)


def _change(motion: Any) -> Array:
    """From the twist known so far back to that of the start, (..., 6)."""
    return np.zeros(6) if motion.known is motion.start else motion.start - motion.known


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
    """A copy of a part with those of the numbers whose names begin with `at`, which may be traced."""
    out = copy(part)
    own = {name: numbers[f"{at}{name}"] for name in part.parameters() if f"{at}{name}" in numbers}
    for name, x in part.renamed(own).items() if hasattr(part, "renamed") else own.items():
        object.__setattr__(out, name, x)
    return out
