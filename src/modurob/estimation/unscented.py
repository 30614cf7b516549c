"""The unscented Kalman filter: a few states around the estimate are propagated by the motion itself."""

from dataclasses import dataclass
from typing import final

import numpy as np

from modurob.algorithms.steps import transposed
from modurob.estimation.belief import Belief
from modurob.estimation.kalman import FILTERS, KalmanRecipe
from modurob.estimation.prediction import step
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array


def root(P: Array) -> Array:
    """L with L L^T = P, also where P is singular."""
    values, vectors = np.linalg.eigh(P)
    return vectors * np.sqrt(np.maximum(values, 0))[..., None, :]


@FILTERS.register("ukf")
@final
@dataclass(frozen=True, eq=False)
class UnscentedKalmanFilter(KalmanRecipe):
    """Julier and Uhlmann's filter on the manifold: 2 n states at ± sqrt(n) times the columns of the root of P, n = 2
    nv, with equal weights.

    There is nothing to tune (kappa = 0), and P is positive by construction. The errors about the mean average to zero.
    Fields and units are those of `ExtendedKalmanFilter`.

    >>> watched = mr.simulate(robot, q, duration=0.02, estimator=mr.UnscentedKalmanFilter())
    >>> bool(np.abs(watched.q_estimate - watched.q).max() < 0.01)
    True
    """

    def propagated(self, robot: Mechanism, belief: Belief, tau: Array, dt: float) -> Belief:
        nv = robot.nv
        # a leading axis of 2 n + 1 errors, the belief itself first
        columns = np.moveaxis(root(2 * nv * belief.P), -1, 0)
        dx = np.concatenate([np.zeros_like(columns[:1]), columns, -columns])
        q, v = step(robot, robot.integrate(belief.q, dx[..., :nv]), belief.v + dx[..., nv:], tau, dt)
        # their mean, relative to the propagated estimate
        middle = robot.integrate(q[0], robot.difference(q[0], q[1:]).mean(axis=0))
        mean = v[1:].mean(axis=0)
        errors = np.concatenate([robot.difference(middle, q[1:]), v[1:] - mean], axis=-1)
        spread = np.moveaxis(errors, 0, -1)
        return Belief(middle, mean, spread @ transposed(spread) / (4 * nv))
