"""The extended Kalman filter: errors are propagated by the linearised motion."""

from dataclasses import dataclass
from typing import final

from modurob.estimation.belief import Belief, through
from modurob.estimation.kalman import FILTERS, KalmanRecipe
from modurob.estimation.prediction import step, transition
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array


@FILTERS.register("ekf")
@final
@dataclass(frozen=True, eq=False)
class ExtendedKalmanFilter(KalmanRecipe):
    """The filter of Meister, Gutenkunst, Levi VIII.B for any robot: P' = F P F^T + W Q W^T.

    F contains the exact derivatives of the dynamics with respect to errors (dq, dv) of the state; P is (..., 2 nv, 2
    nv), SI units. `sensors` are the sensors, Q and R the covariances, `start` the initial covariance; see the fields.

    >>> ekf = mr.ExtendedKalmanFilter(sensors=[mr.HallSensors(noise=1e-3), mr.RateSensors(noise=1e-2)])
    >>> watched = mr.simulate(robot, q, duration=0.02, estimator=ekf)
    >>> bool(np.abs(watched.q_estimate - watched.q).max() < 0.01)
    True
    """

    def propagated(self, robot: Mechanism, belief: Belief, tau: Array, dt: float) -> Belief:
        q, v = step(robot, belief.q, belief.v, tau, dt)
        F = transition(robot, belief.q, belief.v, tau, dt)
        return Belief(q, v, through(F, belief.P))
