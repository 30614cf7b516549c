"""Runge and Kutta's rule with exact decay of the states of forces."""

from dataclasses import dataclass
from typing import Any

from modurob.simulation.steppers.stepper import STEPPERS, FixedStep
from modurob.simulation.system import Held, State, System


@STEPPERS.register("exponential-runge-kutta-4")
@dataclass(frozen=True)
class ExponentialRungeKutta4(FixedStep):
    """Order four with steps of dt [s] for (q, v, x), in which states x decay exactly: x' = -rate x + N(q, v, x), so
    that the current of a motor, which follows its voltage with the time constant L/R, may be much faster than a step
    (Cox and Matthews 2002, ETDRK4).

    For states that do not decay it is the classical rule.

    >>> driven = robot.with_drive("m0/hinge", mr.load_drive("backbone-hinge").with_input("voltage"))
    >>> mr.simulate(driven, q, duration=0.1, stepper=mr.ExponentialRungeKutta4(1e-3)).status.ok
    True
    """

    kind, order, compiled, exact_decay, fastest = "exponential-runge-kutta-4", 4, True, True, 2.78

    def step(self, system: System, t: Any, s: State, u: Any, dt: Any, held: Held | None = None) -> State:
        w, times, half = system.engine.decays(dt), system.engine.times, dt * 0.5

        def slope(t: Any, s: State) -> State:
            k = system.slope(t, s, u, held)
            return State(k.q, k.v, k.x + times(w.rate, s.x))

        def moved(k: State, dt: Any, x: Any) -> State:
            return State(s.q + k.q * dt, s.v + k.v * dt, x)

        k1, left = slope(t, s), times(w.half, s.x)
        a = moved(k1, half, left + times(w.reach, k1.x))
        k2 = slope(t + half, a)
        k3 = slope(t + half, moved(k2, half, left + times(w.reach, k2.x)))
        k4 = slope(t + dt, moved(k3, dt, times(w.half, a.x) + times(w.reach, k3.x * 2.0 - k1.x)))
        q, v = (
            (b + c * 2.0 + d * 2.0 + e) * (1 / 6) for b, c, d, e in zip(k1[:2], k2[:2], k3[:2], k4[:2], strict=True)
        )
        grown = times(w.first, k1.x) + times(w.middle, k2.x + k3.x) + times(w.last, k4.x)
        return State(system.normalised(s.q + q * dt), s.v + v * dt, times(w.whole, s.x) + grown)
