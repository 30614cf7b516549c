"""External torques estimated from the momentum, p = M v, without accelerations (De Luca and Mattone 2003)."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from modurob import kernels
from modurob.algorithms import passive_forces
from modurob.algorithms.steps import apply, transposed
from modurob.caching import cached_property
from modurob.control.around import Around
from modurob.control.assumptions import require
from modurob.control.christoffel import brackets
from modurob.control.coupling import coupling
from modurob.control.drives import Drives
from modurob.control.feedback_linearisation import without_stops
from modurob.control.recipe import LAWS, BoundLaw
from modurob.control.values import limiter
from modurob.mechanism.driven import rigid
from modurob.motion.numbers import one_positive
from modurob.robot import Mechanism
from modurob.simulation import Measured
from modurob.spatial.scalars import Array, clip
from modurob.values import Value


class MomentumMemory(NamedTuple):
    """What an observer remembers: the integral it compares the momentum with, and the residual, (..., nv) each."""

    total: Array | None
    residual: Array


@dataclass(frozen=True, eq=False)
class MomentumObserver(Value):
    """r' = gain (tau_ext - r): the joint torques that are explained neither by drives nor by passive forces of the
    robot [N m or N].

    r = gain (p - integral of (tau + C^T v - N + passive + r)), with C from Christoffel symbols, so that p' = M vdot +
    (C + C^T) v. The sampling is exact for quantities that are constant over a sample. For trees; the wrench on a
    floating base is estimated too, in its axes.

    >>> seen = mr.MomentumObserver(robot, gain=50.0, sample_time=1e-3)
    >>> memory, r = seen.step(seen.start(), np.array(q), np.zeros(3), np.zeros(3))
    >>> r
    array([0., 0., 0.])
    """

    robot: Mechanism
    gain: float = 50.0  # [1/s]
    sample_time: float = 1e-3  # [s]

    def __post_init__(self) -> None:
        one_positive(self.gain, "gain")
        one_positive(self.sample_time, "sample_time")
        require(Drives.of(self._model), "MomentumObserver", "tree")

    @cached_property
    def _model(self) -> Mechanism:
        return rigid(self.robot)

    @cached_property
    def _own(self) -> Mechanism:
        return without_stops(self._model)

    @cached_property
    def _weightless(self) -> Mechanism:
        return replace(self._model, gravity=np.zeros(3))

    def start(self) -> MomentumMemory:
        """The memory before the first sample."""
        return MomentumMemory(None, np.zeros(self._model.nv))

    def step(self, memory: MomentumMemory, q: Array, v: Array, tau: Array) -> tuple[MomentumMemory, Array]:
        """The memory and the estimated external torques, (..., nv), at this sample; `tau` is held until the next."""
        p = apply(self._model.mass_matrix(q), v)
        h, own = self.sample_time, self._rate(q, v, p)
        total = p + (own / 2 + tau) * h
        if memory.total is None:
            return MomentumMemory(total, np.zeros_like(v)), np.zeros_like(v)
        # over a sample r moves towards the mean of tau_ext with exp(-gain T)
        seen = (p - own / 2 * h - memory.total) / h
        left = np.exp(-self.gain * h)
        residual = left * memory.residual + (1 - left) * seen
        return MomentumMemory(total, residual), residual

    def _rate(self, q: Array, v: Array, p: Array) -> Array:
        """dp/dt without torques of drives and of others; over a sample it is the mean of its ends."""
        own = passive_forces(self._own, q, v, run=kernels.run) if self._own.forces else 0.0
        return self._energy_slope(q, v, p) - self._model.gravity_forces(q) + own

    def _energy_slope(self, q: Array, v: Array, p: Array) -> Array:
        """C^T v, (..., nv), the derivative of the kinetic energy by q where rates are those of coordinates: entry i is
        v . C(q, v) e_i, as in `polarised`."""
        one = np.eye(v.shape[-1]).reshape(v.shape[-1], *[1] * (v.ndim - 1), v.shape[-1]) + 0 * v
        rates = np.concatenate([v + one, one, v[None]])
        h = self._weightless.inverse_dynamics(np.broadcast_to(q, (len(rates), *q.shape)), rates, np.zeros_like(rates))
        n = len(one)
        slope = np.moveaxis(((h[:n] - h[n : 2 * n] - h[-1]) * v).sum(axis=-1) / 2, 0, -1)
        return slope if self._model.nq == n else slope + apply(transposed(brackets(self._model, v)), p) / 2


@LAWS.register("disturbance-observer")
@dataclass(frozen=True, eq=False)
class DisturbanceObserver(Around):
    """Another controller minus the estimate of a momentum observer of that gain [1/s]: constant disturbances leave no
    steady-state error, without an integral. On a floating base it compensates the share that acts on the joints,
    including that of forces on the base.

    >>> law = mr.DisturbanceObserver(mr.PID(reference=[0.3, 0.2, -0.4]), gain=50.0)
    >>> mr.simulate(robot, q, duration=0.05, controller=law).status.ok
    True
    """

    gain: float = 50.0  # [1/s]

    def __post_init__(self) -> None:
        super().__post_init__()
        one_positive(self.gain, "gain")

    def on(self, robot: Mechanism) -> "DisturbanceObserverLaw":
        return DisturbanceObserverLaw(self, robot)


class DisturbanceObserverLaw(BoundLaw):
    """The law for one robot; its memory is the other's and the observer's."""

    def __init__(self, recipe: DisturbanceObserver, robot: Mechanism):
        super().__init__(recipe, robot)
        require(self.drives, "DisturbanceObserver", "driven")
        self._law, self._coupling = recipe.inner.on(robot), coupling(self.drives)
        self._limit, self._limited = self.drives.robot.effort_limit, limiter(recipe.saturation, self.drives)
        self._observer = MomentumObserver(self.drives.robot, recipe.gain, recipe.controller.sample_time)

    def start(self) -> tuple[Any, MomentumMemory, Array]:
        return self._law.start(), self._observer.start(), np.zeros(self.drives.robot.nv)

    def step(self, memory: Any, t: float, measured: Measured) -> tuple[Any, Array]:
        inner, seen, residual = memory
        inner, wanted = self._law.step(inner, t, measured)
        # the estimate up to now is compensated from now on
        tau = self._limited(clip(wanted - self._coupling(measured.q).torque(residual), -self._limit, self._limit))
        seen, residual = self._observer.step(seen, measured.q, measured.v, tau)
        return (inner, seen, residual), tau
