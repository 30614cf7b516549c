"""Steps that take stiff forces along joints and contacts implicitly, so that they can be long."""

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
            vdot = system.implicit_acceleration(s, tau, external, resistance, held)
            return State(*system.stepped(s, vdot, dt), s.x + forces.rate * dt)
        start, vdot, last = engine.run(MOTIONS, q=s.q, v=s.v), None, self.solves == 1
        known = end = start["V"]
        for _ in range(self.solves):
            known, pairs = end, None
            wrench, added = engine.contact_wrenches(start, known, s.x, dt, last)
            if system.m.body_contacts:
                between, G = engine.pair_wrenches(s.q, start, known, s.x, dt, last)
                wrench, pairs = wrench + between, (start, G)
            total = wrench if external is None else external + wrench
            vdot, rate = system.contact_acceleration(
                s, tau, total, resistance, added, held, pairs, again=vdot is not None
            )
            end = engine.advanced(start["V"], rate, dt)
        x = engine.contact_states(start, known, end, s.x, forces.rate, dt)
        q, v = system.stepped(s, vdot, dt)
        if system.m.body_contacts:
            x = engine.pair_states(start, known, end, x, dt)
        if system.m.body_contacts or on_ice(system.m):
            v = system.momentum_corrected(s, vdot, start, q, v, dt)
        return State(q, v, x)
