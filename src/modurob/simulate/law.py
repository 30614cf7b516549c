"""What a simulation asks of controllers and estimators. Both are recipes for any robot: `on` makes them for one."""

from typing import Any, Protocol

from modurob.robot import Mechanism
from modurob.spatial.scalars import Array


class Law(Protocol):
    """A controller made for one robot, with a memory of its own."""

    def torque(self, t: float, q: Array, v: Array) -> Array:
        """Generalised forces, (..., nv), for the state (..., nq), (..., nv); called once a sample time."""
        ...


class Controller(Protocol):
    """A control law for any robot."""

    @property
    def sample_time(self) -> float | None:
        """How long a torque is held [s]; None: as long as a step of the stepper."""
        ...

    def on(self, robot: Mechanism) -> Law:
        """The law for this robot, from rest. Called again when the robot changes shape."""
        ...


class Filter(Protocol):
    """An estimator made for one robot, with the state it believes in."""

    def measured(self, t: float, q: Array, v: Array, rng: Any) -> Array | None:
        """What the sensors say of the true state, noise and all; None for a sample that was lost."""
        ...

    def update(self, t: float, tau: Array, measurement: Array | None) -> tuple[Array, Array]:
        """The estimate (q, v) after `tau` was held since the last update and this measurement came in."""
        ...


class Estimator(Protocol):
    """A filter for any robot, run at the controller's sample time."""

    def on(self, robot: Mechanism, q: Array, v: Array, sample_time: float) -> Filter:
        """The filter for this robot, started at the belief (q, v)."""
        ...
