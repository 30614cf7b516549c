"""The implicit midpoint rule."""

from dataclasses import dataclass
from typing import Any

from modurob.simulation.steppers.stepper import ITERATIONS, STEPPERS, FixedStep, Settling
from modurob.simulation.system import Held, State, System


@STEPPERS.register("implicit-midpoint")
@dataclass(frozen=True)
class ImplicitMidpoint(FixedStep):
    """v' = v + dt vdot(q_m, v_m) with q_m = q moved with v_m for dt/2, v_m = (v + v')/2; q' = q moved with v_m for dt
    [s].

    Second order and time-symmetric, for any robot: the energy of free motion drifts little, but momentum is not
    conserved.

    >>> mr.simulate(linkage, [0.1, 0.1], duration=0.01, stepper=mr.ImplicitMidpoint(1e-3)).status.ok
    True
    """

    kind, order = "implicit-midpoint", 2

    def step(self, system: System, t: Any, s: State, u: Any, dt: Any, held: Held | None = None) -> State:
        v_m, x_m, settling = s.v, s.x, Settling(s.v.shape[:-1])
        for _ in range(ITERATIONS):
            q_m = system.integrate(s.q, v_m * (dt / 2))
            slope = system.slope(t + dt / 2, State(q_m, v_m, x_m), u, held)
            v, x = s.v + slope.v * (dt / 2), s.x + slope.x * (dt / 2)
            change = v - v_m
            v_m, x_m = settling.of((v_m, x_m), (v, x))
            if settling.over(change, v_m):
                break
        return settling.end(system, State(system.integrate(s.q, v_m * dt), 2 * v_m - s.v, 2 * x_m - s.x))
