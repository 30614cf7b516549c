"""Runge and Kutta's classical rule."""

from dataclasses import dataclass
from typing import Any

from modurob.simulation.steppers.stepper import STEPPERS, FixedStep
from modurob.simulation.system import Held, Slope, State, System


@STEPPERS.register("runge-kutta-4")
@dataclass(frozen=True)
class RungeKutta4(FixedStep):
    """The classical rule of order four with steps of dt [s], dq/dt = rate(q, v); quaternions are normalised.

    >>> mr.simulate(robot, q, duration=0.1, stepper=mr.RungeKutta4(1e-3)).t.shape
    (101,)
    """

    kind, order, compiled, fastest = "runge-kutta-4", 4, True, 2.78

    def step(self, system: System, t: Any, s: State, u: Any, dt: Any, held: Held | None = None) -> State:
        half = dt * 0.5
        k1 = system.slope(t, s, u, held)
        k2 = system.slope(t + half, _moved(s, k1, half), u, held)
        k3 = system.slope(t + half, _moved(s, k2, half), u, held)
        k4 = system.slope(t + dt, _moved(s, k3, dt), u, held)
        q, v, x = (
            (a + b * 2.0 + c * 2.0 + d) * (1 / 6) for a, b, c, d in zip(k1[:3], k2[:3], k3[:3], k4[:3], strict=True)
        )
        end = _moved(s, Slope(q, v, x), dt)
        return end._replace(q=system.normalised(end.q))


def _moved(s: State, slope: Slope, dt: Any) -> State:
    return State(s.q + slope.q * dt, s.v + slope.v * dt, s.x + slope.x * dt)
