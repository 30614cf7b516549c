"""Steps that take stiff forces along joints and contacts at their end, so that they can be long."""

from dataclasses import dataclass, replace
from typing import Any

from modurob.algorithms.forces import acting
from modurob.algorithms.motions import MOTIONS
from modurob.errors import SimulationError
from modurob.simulation.steppers.stepper import STEPPERS, FixedStep
from modurob.simulation.system import Held, State, System, on_ice


@STEPPERS.register("linearly-implicit")
@dataclass(frozen=True)
class LinearlyImplicit(FixedStep):
    """Forces along joints (end stops, springs, friction) and contacts are evaluated at the end of the step of dt [s],
    to first order:

    (M + dt D + dt² K + dt J^T H J) vdot = u + f(q + dt v, v) - C v - N with K = -df/dq, D = -df/dv there and H the
    decrease of contact forces with the twists of bodies; v' = v + dt vdot, q' = q moved with (v + v')/2, for a free
    body in axes that do not rotate. A stop that a joint reaches within the step therefore acts already in that step.

    All of these terms are added to the articulated inertia, so that a solve costs O(n) however stiff they are; where
    joints close loops or share coordinates they are added to the mass matrix. Contacts are linearised about the result
    of the previous solve: `solves` of them, at least two unless steps are short compared with sqrt(mass / stiffness).
    First order.

    >>> stiff = robot.with_force("stiff", mr.JointSpring(stiffness=1e6, damping=1e3), joint="m0/hinge")
    >>> mr.simulate(stiff, q, duration=0.1, stepper=mr.LinearlyImplicit(1e-2)).status.ok
    True
    """

    solves: int = 2
    kind, order, compiled, contacts = "linearly-implicit", 1, True, True

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.solves, bool) or not isinstance(self.solves, int) or not 1 <= self.solves <= 8:
            raise SimulationError(f"LinearlyImplicit: solves {self.solves!r}: expected a whole number from 1 to 8")

    def with_dt(self, dt: float) -> "LinearlyImplicit":
        return replace(self, dt=dt)

    def step(self, system: System, t: Any, s: State, u: Any, dt: Any, held: Held | None = None) -> State:
        engine, slide = system.engine, None if held is None else held.slide
        forces = engine.forces(t, s.q, s.v, s.x, slide, ahead=dt, contacts=False)
        tau, resistance = u + forces.tau, forces.slope * dt * -1.0
        external = system.external(t, s, forces.external)
        if not acting(system.m).touching:
            vdot = system.resisted(s, tau, external, resistance, held)
            return State(*system.stepped(s, vdot, dt), s.x + forces.rate * dt)
        start, last = engine.run(MOTIONS, q=s.q, v=s.v), self.solves == 1
        meet = bool(system.m.body_contacts)
        vdot = rate = f = G = None
        known = end = start["V"]
        for _ in range(self.solves):
            known, met = end, None
            push, added = engine.contact_pushes(start, known, s.x, dt, last)
            if meet:
                between, f, G = engine.pair_pushes(s.q, start, known, s.x, dt, last)
                push, met = push + between, (start, G)
            total = push if external is None else external + push
            vdot, rate = system.pressed(s, tau, total, resistance, added, held, met, again=vdot is not None)
            end = engine.advanced(start["V"], rate, dt)
        x = engine.contact_states(start, known, end, s.x, forces.rate, dt)
        q, v = system.stepped(s, vdot, dt)
        if meet:
            x = engine.pair_states(start, known, end, x, dt)
        if meet or on_ice(system.m):
            between = engine.pair_forces(s.q, start, f, G, rate) if meet else None
            v = system.balanced(s, vdot, start, q, v, dt, between)
        return State(q, v, x)
