"""Semi-implicit Euler."""

from dataclasses import dataclass
from typing import Any

from modurob.simulation.steppers.stepper import STEPPERS, FixedStep
from modurob.simulation.system import Held, State, System


@STEPPERS.register("semi-implicit-euler")
@dataclass(frozen=True)
class SemiImplicitEuler(FixedStep):
    """v' = v + dt vdot, then q' = q moved with v' for dt [s]: first order, and fast.

    >>> mr.simulate(robot, q, duration=0.1, stepper=mr.SemiImplicitEuler(1e-3)).t.shape
    (101,)
    """

    kind, order, compiled, fastest = "semi-implicit-euler", 1, True, 2.0

    def step(self, system: System, t: Any, s: State, u: Any, dt: Any, held: Held | None = None) -> State:
        slope = system.slope(t, s, u, held)
        v = s.v + slope.v * dt
        return State(system.integrate(s.q, v * dt), v, s.x + slope.x * dt)
