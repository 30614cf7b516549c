"""What acts on a robot besides held torques: damping, springs of limits, dry friction, wrenches."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from modurob.algorithms.inverse import External, body_wrenches
from modurob.algorithms.stepping import NO_SPRINGS, LimitSprings, passive_forces
from modurob.errors import SimulationError
from modurob.robot import Mechanism
from modurob.simulate.friction import Friction
from modurob.spatial.scalars import Array

# wrenches by frame name (f, n), as `forward_dynamics` takes them, at time t
Wrenches = Callable[[float], External]


class WrenchError(SimulationError):
    """The function of external wrenches raised an error, or returned what are none."""


@dataclass(frozen=True)
class Forces:
    """The forces on one robot. Friction given here replaces the joints' own damping."""

    robot: Mechanism
    springs: LimitSprings = NO_SPRINGS
    friction: Friction | None = None
    smoothing: float = 1e-3  # rate at which dry friction has reached three quarters of its size [rad/s or m/s]
    external: Wrenches | None = None
    simple: bool = field(init=False)  # whether kernels know all of them

    def __post_init__(self) -> None:
        object.__setattr__(self, "simple", self.friction is None and self.external is None)
        if self.external is not None and not callable(self.external):
            raise SimulationError(
                f"external wrenches {self.external!r:.60}: expected a function of time that returns them"
            )

    def applied(self, q: Array, v: Array, tau: Array) -> Array:
        """Generalised forces without external wrenches, (..., nv)."""
        if self.friction is None:
            return tau + passive_forces(self.robot, q, v, self.springs)
        springs = passive_forces(self.robot, q, v, self.springs) + self.robot.damping * v
        return tau + springs - self.friction.smooth(v, self.smoothing)

    def acceleration(self, t: float, q: Array, v: Array, tau: Array) -> Array:
        """vdot, (..., nv)."""
        return self.robot.forward_dynamics(q, v, self.applied(q, v, tau), self.wrenches(t))

    def generalised(self, t: float, q: Array, v: Array, tau: Array) -> Array:
        """All of them, external wrenches as J^T F, (..., nv)."""
        applied = self.applied(q, v, tau)
        if self.external is None:
            return applied
        still = np.zeros(self.robot.nv)
        pushed = self.robot.inverse_dynamics(q, v, still, self.wrenches(t))
        return applied + self.robot.bias_forces(q, v) - pushed

    def wrenches(self, t: float) -> Array | None:
        """External wrenches on all bodies, in body frames, (..., bodies, 6); None if there are none."""
        if self.external is None:
            return None
        try:
            return np.stack(np.broadcast_arrays(*body_wrenches(self.robot, self.external(t))), axis=-2)
        except Exception as error:  # whatever a user's function raises
            raise WrenchError(f"{type(error).__name__}: {error}") from error
