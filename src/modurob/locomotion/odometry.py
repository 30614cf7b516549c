"""Where a base is from how its wheels turned, and how sure that is (von Stryk 4.5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.algorithms.steps import transposed
from modurob.errors import InputError, explained
from modurob.estimation.belief import through
from modurob.estimation.checks import covariance
from modurob.locomotion import plane
from modurob.locomotion.numbers import numbers, one_positive
from modurob.locomotion.wheels import WheeledBase
from modurob.spatial.scalars import Array


class Estimate(NamedTuple):
    """A pose (..., 3) and the covariance (..., 3, 3) of its error e in body axes: the true pose is pose exp(e)."""

    pose: Array
    P: Array

    @property
    def covariance_W(self) -> Array:
        """The covariance of (x, y, theta) in world axes, (..., 3, 3), to first order: P with its axes turned by theta."""
        R = plane.adjoint(self.pose * np.array([0.0, 0.0, 1.0]))
        return R @ self.P @ transposed(R)


@explained
@dataclass(frozen=True)
class Odometry:
    """Dead reckoning of a base: exact arcs between samples, and the covariance of random rolling errors.

    A wheel that rolls the distance s has an error with the variance n² |s|, n its `noise` (in m per root of a metre,
    one number or one for each driven wheel). With D = exp(twist dt), e propagates as Ad(D^-1) e, and errors of rates
    enter by the derivative of exp.

    >>> base = mr.locomotion.differential(width=0.5, radius=0.1)
    >>> walk = mr.Odometry(base, noise=0.01).run(np.full((100, 2), 10.0), dt=0.1)
    >>> walk.pose[-1].round(9) + 0.0
    array([10.,  0.,  0.])
    >>> np.sqrt(np.diag(walk.covariance_W[-1])).round(3)
    array([0.022, 0.516, 0.089])
    """

    base: WheeledBase
    noise: float | tuple[float, ...] = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.base, WheeledBase):
            raise InputError(f"base = {self.base!r:.60}: expected a mr.WheeledBase")
        n, noise = len(self.base.driven), numbers(self.noise, "noise")
        if noise.shape not in ((), (n,)) or np.any(noise < 0):
            raise InputError(f"noise = {noise.tolist()!r:.60}: expected one number or {n}, zero or more")
        object.__setattr__(self, "noise", float(noise) if noise.ndim == 0 else tuple(noise.tolist()))

    def start(self, pose: ArrayLike = (0.0, 0.0, 0.0), P: ArrayLike = 0.0) -> Estimate:
        """The estimate at a pose with a covariance: a variance, three, or a matrix."""
        return Estimate(numbers(pose, "pose", 3), covariance(P, 3, "P"))

    @explained
    def step(self, estimate: Estimate, rates: ArrayLike, dt: float, steering: ArrayLike | None = None) -> Estimate:
        """The estimate after wheels turned at `rates` for dt [s], (driven,) or with leading axes."""
        return _moved(estimate, *self._displacement(rates, dt, steering))

    @explained
    def run(
        self, rates: ArrayLike, dt: float, steering: ArrayLike | None = None, start: Estimate | None = None
    ) -> Estimate:
        """Estimates for samples of rates (n, driven) and steering (n, motors), each held for dt: n + 1, the initial one
        first.
        """
        D, F, Q = self._displacement(rates, dt, steering)
        if D.ndim != 2:
            raise InputError(f"rates has shape {np.shape(rates)}: expected (samples, {len(self.base.driven)})")
        at = [self.start() if start is None else start]
        for k in range(len(D)):
            at.append(_moved(at[-1], D[k], F[k], Q[k]))
        return Estimate(np.stack([e.pose for e in at]), np.stack([e.P for e in at]))

    def _displacement(self, rates: ArrayLike, dt: float, steering: ArrayLike | None) -> tuple[Array, Array, Array]:
        """The motion D (..., 3), Ad(D^-1), and the covariance that noise of the rolling adds, (..., 3, 3)."""
        rates, dt = numbers(rates, "rates", len(self.base.driven)), one_positive(dt, "dt")
        r = np.array([w.radius for w in self.base.driven])
        d = self.base.twist(rates, steering) * dt
        D = plane.exp(d)
        # variances of the angles that wheels turned by
        W = np.asarray(self.noise) ** 2 * np.abs(rates) * dt / r
        G = plane.exp_slope(d) @ self.base.twist_map(steering)
        return D, plane.adjoint(plane.inverse(D)), through(G, W[..., None] * np.eye(len(r)))


def _moved(estimate: Estimate, D: Array, F: Array, Q: Array) -> Estimate:
    return Estimate(plane.compose(estimate.pose, D), through(F, estimate.P) + Q)
