"""Kalman filters on the manifold of any robot's states, pure functions of their memory."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.forces import acting
from modurob.control.linear import slopes
from modurob.control.recipe import require_torque_inputs
from modurob.errors import EstimateError
from modurob.estimation.belief import Belief, Innovation, corrected, through
from modurob.estimation.checks import Covariance, covariance, matrix, positive
from modurob.estimation.closure import closed
from modurob.estimation.sensors import SENSORS, HallSensors, Reading, Sensor
from modurob.mechanism.driven import rigid, untouched
from modurob.motion.checks import require_model, require_robot, same
from modurob.registry import Registry
from modurob.robot import Mechanism
from modurob.simulation import Measured
from modurob.simulation.steppers import RungeKutta4
from modurob.simulation.stepping import Mover
from modurob.simulation.system import State
from modurob.spatial.scalars import Array

# how far from the sample time two updates may be apart, relative to it
TICK = 1e-3

FILTERS: Registry[type["KalmanRecipe"]] = Registry("filter", EstimateError)


@dataclass(frozen=True, eq=False)
class KalmanRecipe(ABC):
    """A Kalman filter for any robot: noises as in Meister, Gutenkunst, Levi (37)-(55), a sample at a time, of errors dx = (dq, dv).

    x_k = f(x_k-1) moved by W w, w of covariance Q; y_k = h(x_k) moved by V n, n of covariance R. Q and `start` are two variances
    (positions, velocities), 2 nv variances, or a matrix; R is a variance, m variances, or a matrix, for the m numbers measured;
    None: that of the sensors. W and V are matrices with 2 nv and m rows; None: the identity.
    """

    sensors: Sensor | Sequence[Sensor] = field(default_factory=HallSensors)
    Q: Covariance = (0.0, 1e-4)
    R: Covariance | None = None
    W: Any = None
    V: Any = None
    start: Covariance = (1e-2, 1e-2)  # covariance of the first belief
    model: Mechanism | None = None  # the robot that the filter believes in, in the air; None: the one it is put on

    def __post_init__(self) -> None:
        if self.model is not None and not isinstance(self.model, Mechanism):
            raise EstimateError(f"model {self.model!r:.60}: expected a Mechanism")

    def on(self, robot: Mechanism, sample_time: float) -> "KalmanFilter":
        """The filter for this robot."""
        require_robot(robot, type(self).__name__, EstimateError)
        model = robot if self.model is None else require_model(self.model, robot, EstimateError)
        require_torque_inputs(robot, type(self).__name__)
        return KalmanFilter(self, rigid(untouched(model)), sample_time, robot)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)
        )

    def __hash__(self) -> int:
        return hash((type(self), self.model))

    @abstractmethod
    def propagated(self, robot: Mechanism, belief: Belief, tau: Array, dt: float) -> Belief:
        """The estimate dt later, with torques held and without noise."""


class Beliefs(NamedTuple):
    """The memory of a filter."""

    belief: Belief  # now
    past: Belief  # at the time of the newest measurement
    t: float | None = None  # of the last update
    held: Array | None = None  # until the time of `past`, None before the first update
    torques: tuple[Array, ...] = ()  # held since then, sample by sample
    on_the_way: tuple[Any, ...] = ()  # measurements that have not arrived yet
    innovation: Innovation | None = None  # of the last update, None if it had no measurement


def readings_of(sensors: Sensor | Sequence[Sensor], robot: Mechanism) -> list[Reading]:
    """The models of sensors on a robot; all must have the same delay."""
    each: list[Any] = list(sensors) if isinstance(sensors, list | tuple) else [sensors]
    for s in each:
        if not isinstance(s, Sensor):
            kinds = ", ".join(f"mr.{kind.__name__}(...)" for kind in SENSORS.values())
            raise EstimateError(f"sensor {s!r:.60}: expected one of {kinds}")
    if not each or len({s.delay for s in each}) > 1:
        delays = ", ".join(f"{s.kind} {s.delay}" for s in each)
        raise EstimateError(f"sensors with delays {delays or 'of none'}: expected one or more, all equally late")
    return [s.on(robot) for s in each]


def stacked_slope(readings: Sequence[Reading], q: Array, v: Array, tau: Array) -> Array:
    """H of all readings with respect to errors (dq, dv), (..., m, 2 nv), including the effect of the state on
    accelerations.
    """
    vdot, A = np.zeros(v.shape), None
    if any(r.accelerates for r in readings):
        A = slopes(readings[0].robot, q, v, tau).A[..., readings[0].robot.nv :, :]
        vdot = _acceleration(readings[0].robot, q, v, tau)
    rows = []
    for r in readings:
        H, by_vdot = r.slope(q, v, vdot)
        rows.append(H if by_vdot is None or A is None else H + by_vdot @ A)
    shape = np.broadcast_shapes(*(H.shape[:-2] for H in rows))
    return np.concatenate([np.broadcast_to(H, (*shape, *H.shape[-2:])) for H in rows], axis=-2)


def _acceleration(robot: Mechanism, q: Array, v: Array, tau: Array) -> Array:
    own = acting(robot)
    x = np.broadcast_to(own.start(), (*v.shape[:-1], own.nx))
    return Mover(robot, RungeKutta4(1e-3)).acceleration(0.0, State(q, v, x), tau)


class KalmanFilter:
    """A Kalman filter of one robot, or of a batch of runs with it: a value, a pure function of its memory.

    Measurements that arrive `delay` samples late correct the estimate at their own time, which is then propagated to
    the present under the torques in between; this is as exact as waiting for them. Lost samples change nothing.
    """

    def __init__(self, recipe: KalmanRecipe, robot: Mechanism, sample_time: float, plant: Mechanism | None = None):
        if (
            isinstance(sample_time, bool)
            or not isinstance(sample_time, int | float | np.number)
            or not 0 < sample_time < np.inf
        ):
            raise EstimateError(f"sample time {sample_time!r:.60}: expected a positive finite number [s]")
        self.robot, self.recipe, self._dt, self._plant = robot, recipe, sample_time, plant or robot
        self._readings = readings_of(recipe.sensors, robot)
        self._true = readings_of(recipe.sensors, self._plant)
        self._delay = int(self._readings[0].sensor.delay)
        self._accelerates = any(r.accelerates for r in self._readings)
        self._Q, self._R = self._noises()

    def __reduce__(self) -> tuple[Any, ...]:
        return KalmanFilter, (self.recipe, self.robot, self._dt, self._plant)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KalmanFilter) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash(self.__reduce__())

    def _noises(self) -> tuple[Array, Array]:
        """W Q W^T and V R V^T."""
        recipe, m, n = self.recipe, sum(r.size for r in self._readings), 2 * self.robot.nv
        W, V = matrix(recipe.W, n, "W"), matrix(recipe.V, m, "V")
        Q = covariance(recipe.Q, W.shape[1], "Q", shares=2 if recipe.W is None else 1)
        R = self._sensor_noise() if recipe.R is None else covariance(recipe.R, V.shape[1], "R")
        if R.shape != (V.shape[1], V.shape[1]):
            raise EstimateError(
                f"V has {V.shape[1]} columns: expected {R.shape[0]}, one for each number that the sensors give"
            )
        return W @ Q @ W.T, positive(V @ R @ V.T, "the covariance of measurements")

    def _sensor_noise(self) -> Array:
        sizes = np.cumsum([0, *(r.size for r in self._readings)])
        R = np.zeros((sizes[-1], sizes[-1]))
        for r, a, b in zip(self._readings, sizes[:-1], sizes[1:], strict=True):
            R[a:b, a:b] = r.covariance
        return R

    def start(self, q: Array, v: Array) -> Beliefs:
        """The memory with the initial estimate (q, v), (..., nq) and (..., nv)."""
        robot, P = self.robot, covariance(self.recipe.start, 2 * self.robot.nv, "start", shares=2)
        runs = np.shape(robot.kinetic_energy(q, v))
        q = np.broadcast_to(robot.integrate(q, np.zeros(robot.nv)), (*runs, robot.nq))
        v = np.broadcast_to(np.asarray(v, dtype=float), (*runs, robot.nv))
        first = closed(robot, Belief(q, v, np.broadcast_to(P, (*runs, *P.shape))))
        return Beliefs(first, first)

    def measure(
        self, memory: Beliefs, t: float, q: Array, v: Array, vdot: Array, rng: np.random.Generator
    ) -> tuple[Beliefs, Any]:
        """What arrives from the sensors at t, an array for each; None if nothing does.

        Measured now, it arrives `delay` samples later.
        """
        now = tuple(r.sample(np.asarray(q, dtype=float), v, vdot, rng) for r in self._true)
        waiting = (*memory.on_the_way, now)
        if len(waiting) <= self._delay:
            return memory._replace(on_the_way=waiting), None
        arrived = waiting[0]
        lost = all(np.isnan(y).all() for y in arrived)
        return memory._replace(on_the_way=waiting[1:]), None if lost else arrived

    def update(self, memory: Beliefs, t: float, tau: Array, measurement: Any) -> tuple[Beliefs, Measured]:
        """The estimate at t, after `tau` was held for the sample time since the last update.

        The first update is at the time of the first belief: no torque was held before it, and it only corrects.
        """
        tau = np.array(self.robot._v(tau, "tau"))
        past, held, torques = memory.past, memory.held, self._torques(memory, t, tau)
        if held is None:
            held = tau
        if len(torques) > self._delay:
            held, torques = torques[0], torques[1:]
            past = self._predicted(past, held)
        innovation = None
        if measurement is not None:
            past, innovation = self._corrected(past, measurement, held)
        belief = reduce(self._predicted, torques, past)
        return Beliefs(belief, past, t, held, torques, memory.on_the_way, innovation), Measured(belief.q, belief.v)

    def _torques(self, memory: Beliefs, t: float, tau: Array) -> tuple[Array, ...]:
        """The torques held since the time of the past belief, sample by sample."""
        if memory.t is None:
            return ()
        if abs(t - memory.t - self._dt) > TICK * self._dt:
            raise EstimateError(f"an update at {t} s after one at {memory.t} s: expected one every {self._dt} s")
        return (*memory.torques, tau)

    def _predicted(self, belief: Belief, tau: Array) -> Belief:
        """Meister, Gutenkunst, Levi (50), one sample ahead."""
        q, v, P = self.recipe.propagated(self.robot, belief, tau, self._dt)
        return closed(self.robot, Belief(q, v, P + self._Q))

    def _corrected(self, belief: Belief, measurement: Any, tau: Array) -> tuple[Belief, Innovation]:
        """Meister, Gutenkunst, Levi (51), by the readings that came in."""
        robot, R = self.robot, self._R
        each = measurement if isinstance(measurement, tuple) else (measurement,)
        if len(each) != len(self._readings):
            kinds = ", ".join(r.sensor.kind for r in self._readings)
            raise EstimateError(
                f"a measurement of {len(each)} readings: expected a tuple of one for each sensor, {kinds}"
            )
        tau = np.broadcast_to(tau, belief.v.shape)
        vdot = _acceleration(robot, belief.q, belief.v, tau) if self._accelerates else np.zeros(belief.v.shape)
        e = np.concatenate(
            [r.innovation(y, belief.q, belief.v, vdot) for r, y in zip(self._readings, each, strict=True)], axis=-1
        )
        H = stacked_slope(self._readings, belief.q, belief.v, tau)
        lost = np.isnan(e)
        if lost.any():
            # a lost reading gives no information: zero derivative, and noise of its own
            e, H = np.where(lost, 0.0, e), np.where(lost[..., None], 0.0, H)
            R = np.where(lost[..., None] | lost[..., None, :], np.eye(R.shape[-1]), R)
        innovation = Innovation(e, through(H, belief.P) + R)
        return closed(robot, corrected(robot, belief, innovation, H, R)), innovation
