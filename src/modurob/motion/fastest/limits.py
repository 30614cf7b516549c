"""Limits of velocity, acceleration and torque as limits of the progress along a path, with the exact dynamics of the
robot.

Along q(s): v = q' y, vdot = q' u + q'' x with y = s', x = y², u = s''. The drives give tau = (M q') u + (M q'' + C(q,
q') q') x + N(q) + f(q, q' y), f the friction and the other passive forces of the robot.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from modurob import kernels
from modurob.algorithms.forces import dry_friction, passive_forces
from modurob.catalogue.forces import Stop
from modurob.motion.fastest.reachability import Rows
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array

# how much a speed is changed to see how friction changes, relative to it; only the pace of convergence depends on it
STEP = 1e-4


class Limits(NamedTuple):
    """Largest velocities, accelerations and torques, (nv,) each; infinite where there is none."""

    velocity: Array
    acceleration: Array
    torque: Array


class Along(NamedTuple):
    """A path at points of intervals, (intervals, points, nv) each."""

    q: Array
    rate: Array  # q'
    bend: Array  # q''
    way: Array  # sign of q' within the interval, (intervals, 1, nv)


class Model:
    """A robot on a path: the coefficients of its torques at points, and its usage of the limits."""

    def __init__(self, robot: Mechanism, limits: Limits):
        self.robot, self.limits = robot, limits
        self._own = replace(robot, forces=tuple(row for row in robot.forces if not isinstance(row.force, Stop)))

    @property
    def has_own_forces(self) -> bool:
        """Whether there are any."""
        return bool(self._own.forces)

    def own_forces(self, at: Along, y: Array) -> Array:
        """What the drives have to overcome beside the rigid bodies: friction that brakes, springs, (..., nv)."""
        v = at.rate * y[..., None]
        if not self._own.forces:
            return np.zeros(v.shape)
        dry = at.way * dry_friction(self._own, v)
        return dry - passive_forces(self._own, at.q, v, run=kernels.run)

    def torque_coefficients(self, at: Along) -> tuple[Array, Array, Array]:
        """(a, b, c) of tau = a u + b x + c without forces of the robot's own, (..., nv) each."""
        inverse, zero = self.robot.inverse_dynamics, np.zeros(at.rate.shape)
        c = inverse(at.q, zero, zero)
        return inverse(at.q, zero, at.rate) - c, inverse(at.q, at.rate, at.bend) - c, c

    def most_loaded(self, tau: Array) -> str:
        """What the drive needs of torques (nv,) that is nearest to its limit, or farthest beyond, in words."""
        j = int(np.argmax(tau / self.limits.torque))
        own = [joint for joint in self.robot.joints if not joint.mimics]
        name, unit = [pair for joint in own for pair in zip(joint.rate_names(), joint.type.units, strict=True)][j]
        return f"{name} needs {tau[j]:.4g} of {self.limits.torque[j]:.4g} {'N m' if unit == 'rad' else 'N'}"

    def usage(self, at: Along, y: Array, u: Array) -> Array:
        """The largest of |v|, |vdot| and |tau| relative to their limits at points, (...)."""
        return np.abs(self.parts(at, y, u)).max(axis=-1, initial=0.0)

    def parts(self, at: Along, y: Array, u: Array) -> Array:
        """v, vdot and tau relative to their limits at points, (..., those with limits)."""
        y, u = y[..., None], u[..., None]
        v, vdot = at.rate * y, at.rate * u + at.bend * y**2
        used = [_by(v, self.limits.velocity), _by(vdot, self.limits.acceleration)]
        if np.isfinite(self.limits.torque).any():
            tau = self.robot.inverse_dynamics(at.q, v, vdot) + self.own_forces(at, y[..., 0])
            used.append(_by(tau, self.limits.torque))
        return np.concatenate(used, axis=-1)


def _by(x: Array, limit: Array) -> Array:
    """x over the limits that are finite."""
    finite = np.isfinite(limit)
    return x[..., finite] / limit[finite]


def highest_between(parts: Array) -> Array:
    """The largest magnitude of smooth functions from samples at equal distances, (..., samples, k), per row, (...): that of the
    parabola through three neighbours where its vertex lies between them."""
    before, here, after = parts[..., :-2, :], parts[..., 1:-1, :], parts[..., 2:, :]
    slope, bend = (after - before) / 2, after - 2 * here + before
    turns = np.abs(slope) < np.abs(bend)
    rise = slope**2 / np.where(turns, 2 * bend, 1.0)
    peak = np.abs(np.where(turns, here - rise, here)).max(axis=(-2, -1), initial=0.0)
    return np.maximum(peak, np.abs(parts[..., [0, -1], :]).max(axis=(-2, -1), initial=0.0))


class Problem:
    """The limits of a robot on the intervals of a grid, each checked at a few points within it."""

    def __init__(self, model: Model, at: Along, part: Array, h: Array):
        """`at` holds the path at the places, (intervals, places, nv); `part` says where in an interval they are, (places,)."""
        self.model, self.at, self.h = model, at, h
        self._ahead = 2 * part * h[:, None]  # x there is x + ahead u
        self._torque = model.torque_coefficients(at) if np.isfinite(model.limits.torque).any() else None

    def rows(self, y: Array, share: Array) -> Rows:
        """The limits, of which each interval may use its share, (intervals,); friction as near the speeds y."""
        velocity, acceleration, torque = self.model.limits
        share = share[:, None, None]
        blocks = [
            _lines(self.at.rate, self.at.bend, 0 * self.at.rate, acceleration, share),
            self._speed(velocity, share),
        ]
        if self._torque is not None:
            a, b, c = self._torque
            db, dc = self._friction(y)
            blocks.append(_lines(a, b + db, c + dc, torque, share))
        return Rows.of(*self._joined(blocks))

    def _speed(self, velocity: Array, share: Array) -> tuple[Array, Array, Array]:
        """x by its largest value that velocities allow, at most the share squared."""
        x = ((np.abs(self.at.rate) / velocity) ** 2).max(axis=-1, keepdims=True)
        return np.zeros(x.shape), x, np.broadcast_to(-(share**2), x.shape)

    def _friction(self, y: Array) -> tuple[Array, Array]:
        """f(q, q' y) as b x + c near the speeds y."""
        f = self.model.own_forces(self.at, y)
        slope = (self.model.own_forces(self.at, y * (1 + STEP)) - f) / STEP  # y df/dy = 2 x df/dx
        with np.errstate(divide="ignore", invalid="ignore"):
            b = np.where(y[..., None] > 0, slope / (2 * y[..., None] ** 2), 0.0)
        return b, f - b * y[..., None] ** 2

    def _joined(self, blocks: list[tuple[Array, Array, Array]]) -> tuple[Array, Array, Array]:
        """Rows in the x at the points as rows in the x at the start of the interval, (intervals, rows) each."""
        A, B, C = (np.concatenate([block[k] for block in blocks], axis=-1) for k in range(3))
        A = A + self._ahead[..., None] * B
        n = len(self.h)
        return A.reshape(n, -1), B.reshape(n, -1), C.reshape(n, -1)


def _lines(a: Array, b: Array, c: Array, limit: Array, share: Array) -> tuple[Array, Array, Array]:
    """Rows of |a u + b x + c| <= share limit, over the limit; infinite limits make none."""
    finite = np.isfinite(limit)
    a, b, c = (z[..., finite] / limit[finite] for z in (a, b, c))
    A, B, C = (np.concatenate([z, -z], axis=-1) for z in (a, b, c))
    return A, B, C - share
