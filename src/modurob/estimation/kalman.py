"""Kalman filters on the manifold of any robot's states."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from modurob.errors import EstimateError
from modurob.estimation.belief import Belief, Innovation, corrected, through
from modurob.estimation.checks import Covariance, covariance, matrix, positive
from modurob.estimation.closure import closed
from modurob.estimation.manifold import between
from modurob.estimation.sensors import HallSensors
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array

# how far from the sample time two updates may be apart, relative to it
TICK = 1e-3


@dataclass(frozen=True, eq=False)
class KalmanRecipe(ABC):
    """A Kalman filter for any robot: noises as in 003 (37)-(55), a sample at a time, of errors dx = (dq, dv).

    x_k = f(x_k-1) moved by W w, w of covariance Q; y_k = h(x_k) moved by V n, n of covariance R. Q and `start` are two variances
    (positions, velocities), 2 nv variances, or a matrix; R is a variance, m variances, or a matrix, for the m angles measured;
    None: that of the sensors. W and V are matrices with 2 nv and m rows; None: the identity.
    """

    sensors: HallSensors = field(default_factory=HallSensors)
    Q: Covariance = (0.0, 1e-4)
    R: Covariance | None = None
    W: Any = None
    V: Any = None
    start: Covariance = (1e-2, 1e-2)  # covariance of the first belief

    def on(self, robot: Mechanism, q: Array, v: Array, sample_time: float) -> "KalmanFilter":
        """The filter for this robot, started at the belief (q, v), (..., nq) and (..., nv)."""
        return KalmanFilter(self, robot, q, v, sample_time)

    @abstractmethod
    def propagated(self, robot: Mechanism, belief: Belief, tau: Array, dt: float) -> Belief:
        """The belief dt later, the torques held and no noise on the way."""


class KalmanFilter:
    """A Kalman filter of one robot, or of a batch of runs with it.

    Measurements that arrive `delay` samples late change the belief of their own time, which is then carried to now under the
    torques of the time between; that is as exact as having waited. Samples that are lost change nothing.
    """

    def __init__(self, recipe: KalmanRecipe, robot: Mechanism, q: Array, v: Array, sample_time: float):
        if not 0 < sample_time < np.inf:
            raise EstimateError(f"sample time {sample_time!r}: expected a positive finite number [s]")
        self.robot, self._recipe, self._dt = robot, recipe, sample_time
        self._readings = recipe.sensors.on(robot)
        self._H = np.eye(2 * robot.nv)[self._readings.rates]
        self._Q, self._R = self._noises()
        self._t: float | None = None  # of the last update
        self._past = closed(robot, self._first(q, v))  # the belief at the time of the newest measurement
        self._torques: tuple[Array, ...] = ()  # held since then
        self.belief = self._past
        self.innovation: Innovation | None = None  # of the last update, None if it had no measurement

    def _noises(self) -> tuple[Array, Array]:
        """W Q W^T and V R V^T."""
        recipe, (m, n) = self._recipe, self._H.shape
        W, V = matrix(recipe.W, n, "W"), matrix(recipe.V, m, "V")
        Q = covariance(recipe.Q, W.shape[1], "Q", shares=2 if recipe.W is None else 1)
        R = covariance(recipe.sensors.variance if recipe.R is None else recipe.R, V.shape[1], "R")
        return W @ Q @ W.T, positive(V @ R @ V.T, "the covariance of measurements")

    def _first(self, q: Array, v: Array) -> Belief:
        robot, P = self.robot, covariance(self._recipe.start, 2 * self.robot.nv, "start", shares=2)
        runs = np.shape(robot.kinetic_energy(q, v))
        q = np.broadcast_to(robot.integrate(q, np.zeros(robot.nv)), (*runs, robot.nq))
        v = np.broadcast_to(np.asarray(v, dtype=float), (*runs, robot.nv))
        return Belief(q, v, np.broadcast_to(P, (*runs, *P.shape)))

    def measured(self, t: float, q: Array, v: Array, rng: np.random.Generator) -> Array | None:
        """What arrives from the sensors at t: a configuration, (..., nq), NaN where nothing was seen; None if all was lost."""
        return self._readings.read(q, rng)

    def update(self, t: float, tau: Array, measurement: Array | None) -> tuple[Array, Array]:
        """The estimate (q, v) at t, after `tau` was held for the sample time since the last update.

        The first update is at the time of the first belief: no torque was held before it, and it only corrects.
        """
        past, torques = self._past, self._held(t, tau)
        if len(torques) > self._recipe.sensors.delay:
            past, torques = self._predicted(past, torques[0]), torques[1:]
        innovation = None
        if measurement is not None:
            past, innovation = self._corrected(past, np.asarray(measurement, dtype=float))
        belief = reduce(self._predicted, torques, past)
        # nothing is kept of an update that fails
        self._t, self._past, self._torques, self.belief, self.innovation = t, past, torques, belief, innovation
        return belief.q, belief.v

    def _held(self, t: float, tau: Array) -> tuple[Array, ...]:
        """The torques held since the time of the past belief, sample by sample."""
        if self._t is None:
            return ()
        if abs(t - self._t - self._dt) > TICK * self._dt:
            raise EstimateError(f"an update at {t} s after one at {self._t} s: expected one every {self._dt} s")
        return (*self._torques, np.array(tau, dtype=float))

    def _predicted(self, belief: Belief, tau: Array) -> Belief:
        """003 (50), one sample ahead."""
        q, v, P = self._recipe.propagated(self.robot, belief, tau, self._dt)
        return closed(self.robot, Belief(q, v, P + self._Q))

    def _corrected(self, belief: Belief, y: Array) -> tuple[Belief, Innovation]:
        """003 (51), by the angles that came in."""
        robot, readings, H, R = self.robot, self._readings, self._H, self._R
        missing = np.isnan(y)
        if y.shape != belief.q.shape or np.isinf(y).any():
            raise EstimateError(
                f"a measurement {y!r:.80}: expected finite numbers, or NaN if lost, of shape {belief.q.shape}"
            )
        dq = between(robot, belief.q, np.where(missing, belief.q, y))
        lost = missing[..., readings.witness]
        if lost.any():
            # a lost reading tells nothing: no slope, and a noise of its own
            H = np.where(lost[..., None], 0.0, H)
            R = np.where(lost[..., None] | lost[..., None, :], np.eye(R.shape[-1]), R)
        innovation = Innovation(dq[..., readings.rates], through(H, belief.P) + R)
        return closed(robot, corrected(robot, belief, innovation, H, R)), innovation
