"""Steps that take stiff forces along joints at their end, so that they can be long."""

from dataclasses import dataclass
from typing import Any

from modurob.algorithms.articulated import HYBRID_DYNAMICS
from modurob.errors import SimulationError
from modurob.mechanism.tables import Tables
from modurob.simulation.steppers.stepper import STEPPERS, FixedStep
from modurob.simulation.system import Held, State, System, is_joined


@STEPPERS.register("linearly-implicit")
@dataclass(frozen=True)
class LinearlyImplicit(FixedStep):
    """Forces along joints (stops, springs, friction) are taken where the step of dt [s] ends, to first order:

    (M + dt D + dt² K) vdot = u + f - dt K v - C v - N with K = -df/dq and D = -df/dv; v' = v + dt vdot,
    q' = q moved with (v + v')/2.

    K and D are diagonal and go into the articulated inertia, so that a step costs one solve, O(n), however stiff they are. First
    order. For robots without loops and mimic joints.

    >>> stiff = robot.with_force("stiff", mr.JointSpring(stiffness=1e6, damping=1e3), joint="m0/hinge")
    >>> mr.simulate(stiff, q, duration=0.1, stepper=mr.LinearlyImplicit(1e-2)).status.ok
    True
    """

    kind, order, compiled = "linearly-implicit", 1, True

    def require(self, m: Tables) -> None:
        if is_joined(m):
            raise SimulationError(
                f"LinearlyImplicit steps are for trees, and {m.name} has loops or mimic joints; "
                "valid: RungeKutta4, SemiImplicitEuler, ImplicitMidpoint, Adaptive"
            )

    def step(self, system: System, t: Any, s: State, u: Any, dt: Any, held: Held | None = None) -> State:
        engine = system.engine
        forces = engine.forces(t, s.q, s.v, s.x, None if held is None else held.slide, slopes=True)
        pull = engine.times(forces.by_q, s.v) * dt
        resistance = (forces.by_q * dt + forces.by_v) * dt * -1.0
        found = engine.run(
            HYBRID_DYNAMICS,
            q=s.q,
            v=s.v,
            tau=u + forces.tau + pull,
            external=system.external(t, s, forces.external),
            free=engine.ones("rates") if held is None else held.free,
            resistance=resistance,
        )
        v = s.v + found["vdot"] * dt
        return State(system.integrate(s.q, (s.v + v) * dt * 0.5), v, s.x + forces.rate * dt)
