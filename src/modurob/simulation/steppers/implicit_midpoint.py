"""The implicit midpoint rule."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from modurob.simulation.steppers.stepper import ITERATIONS, LOST, STEPPERS, FixedStep, StepLimitError, settled
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
        v_m, x_m, change = s.v, s.x, np.full(s.v.shape[:-1], np.inf)
        for _ in range(ITERATIONS):
            q_m = system.integrate(s.q, v_m * (dt / 2))
            slope = system.slope(t + dt / 2, State(q_m, v_m, x_m), u, held)
            new, x_m = s.v + slope.v * (dt / 2), s.x + slope.x * (dt / 2)
            before, change, v_m = change, np.abs(new - v_m).max(axis=-1, initial=0.0), new
            if np.all(settled(change, before, v_m) | ~np.isfinite(change)):
                return State(system.integrate(s.q, v_m * dt), 2 * v_m - s.v, 2 * x_m - s.x)
            if not np.all((change < LOST) | ~np.isfinite(change)):
                break
        raise StepLimitError(
            f"the midpoint did not settle at t = {float(np.max(t)):g} s: take a step shorter than {float(np.max(dt)):g} s"
        )
