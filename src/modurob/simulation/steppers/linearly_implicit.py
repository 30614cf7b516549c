"""Steps that take stiff forces along joints and contacts implicitly, so that they can be long."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from modurob.algorithms.forces import acting
from modurob.algorithms.motions import MOTIONS
from modurob.errors import SimulationError
from modurob.simulation.steppers.stepper import STEPPERS, FixedStep
from modurob.simulation.system import Held, Solution, State, System, on_ice


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
        engine, found = system.engine, self._solved(system, t, s, u, dt, held)
        vdot = found.solution.vdot
        q, v = system.stepped(s, vdot, dt)
        if held is not None:
            v = engine.times(held.free, v)  # axes that turn give a free body rates along those that are held
        met = found.met
        if met is None:
            return State(q, v, s.x + found.rate * dt)
        x = engine.contact_states(met.start, met.known, met.end, s.x, found.rate, dt)
        if system.m.body_contacts:
            x = engine.pair_states(met.start, met.known, met.end, x, dt)
        if system.m.body_contacts or on_ice(system.m):
            between = None
            if system.m.body_contacts:
                between = engine.pair_forces(s.q, met.start, met.f, met.G, found.solution.rate)
            v = system.momentum_corrected(s, vdot, met.start, q, v, dt, between)
        return State(q, v, x)

    def solution(self, system: System, t: Any, s: State, u: Any, dt: Any, held: Held) -> Solution:
        """Under the forces that act in the step, those of contacts too: what hits is not held until the next step."""
        return self._solved(system, t, s, u, dt, held).solution

    def _solved(self, system: System, t: Any, s: State, u: Any, dt: Any, held: Held | None) -> "_Solved":
        """vdot, and what it was found from."""
        engine, slide = system.engine, None if held is None else held.slide
        forces = engine.forces(t, s.q, s.v, s.x, slide, ahead=dt, contacts=False)
        tau, resistance = u + forces.tau, forces.slope * dt * -1.0
        external = system.external(t, s, forces.external)
        if not acting(system.m).touching:
            return _Solved(system.implicit_acceleration(s, tau, external, resistance, held), forces.rate)
        start, last = engine.run(MOTIONS, q=s.q, v=s.v), self.solves == 1
        found = met = None
        end = start["V"]
        for _ in range(self.solves):
            known, pair, f, G = end, None, None, None
            wrench, added = engine.contact_wrenches(start, known, s.x, dt, last)
            if system.m.body_contacts:
                between, f, G = engine.pair_wrenches(s.q, start, known, s.x, dt, last)
                wrench, pair = wrench + between, (start, G)
            total = wrench if external is None else external + wrench
            found = system.contact_acceleration(s, tau, total, resistance, added, held, pair, again=found is not None)
            end = engine.advanced(start["V"], found.rate, dt)
            met = _Met(start, known, end, f, G)
        return _Solved(found, forces.rate, met)  # type: ignore[arg-type]


class _Met(NamedTuple):
    """Contacts in the last solve of a step: motions at its start, twists known before and after; forces and G of pairs."""

    start: Any
    known: Any
    end: Any
    f: Any
    G: Any


class _Solved(NamedTuple):
    """The solution of a step, and the rates of the states of forces."""

    solution: Solution
    rate: Any
    met: _Met | None = None
