"""A robot as a system (q, v, x): its rates of change, written once for NumPy and for kernels.

q and v are the configuration and velocity of the robot, x the states that its forces have of their own. Torques u are held over a
step.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from modurob.algorithms.articulated import CONTACT_DYNAMICS, HELD_CONTACT_DYNAMICS, HYBRID_DYNAMICS
from modurob.algorithms.configuration import INTEGRATE, RATE, STEPPED
from modurob.algorithms.constraints.rows import CLOSURE, CONSTRAINED
from modurob.algorithms.contact import ADDED_MASS, TWIST_RATES
from modurob.algorithms.forces import acting
from modurob.algorithms.forward import dynamics_of
from modurob.algorithms.joint_space import EQUATIONS
from modurob.algorithms.motions import MOTIONS
from modurob.algorithms.program import Engine
from modurob.mechanism.tables import Tables
from modurob.simulation.external import ExternalWrenches


class State(NamedTuple):
    """(q, v, x), (..., nq), (..., nv), (..., nx)."""

    q: Any
    v: Any
    x: Any


class Held(NamedTuple):
    """The rates that dry friction holds, and the direction in which the others slide: `free` is 1 or 0, `slide` 1, 0 or
    -1, (..., nv) each.
    """

    free: Any
    slide: Any


class Moved(NamedTuple):
    """The state later, and for each run whether it has one: 0, or the joint that moves no inertia, or -1, or UNSETTLED, (...)."""

    state: State
    singular: Any


Rows = TypeVar("Rows", State, Held)


def some(x: Rows, runs: Any) -> Rows:
    """Those of some runs."""
    return type(x)(*(a[runs] for a in x))


def assign(s: State, runs: Any, new: State) -> None:
    """Write the states of some runs."""
    for x, y in zip(s, new, strict=True):
        x[runs] = y


class Slope(NamedTuple):
    """d(q, v, x)/dt, and the reaction at each held rate: the force that holds it in addition to those that act."""

    q: Any
    v: Any
    x: Any
    reaction: Any = None


class Solution(NamedTuple):
    """vdot and, where rates are held, the reaction at each of them; with contacts also the rates Y of the twists of bodies."""

    vdot: Any
    reaction: Any
    rate: Any = None


@dataclass(frozen=True, eq=False)
class System:
    """A mechanism on an engine. Wrenches of a user's function need NumPy, everything else can run in kernels too."""

    engine: Engine
    wrenches: ExternalWrenches | None = None  # a user's

    @property
    def m(self) -> Tables:
        return self.engine.m

    def slope(self, t: Any, s: State, u: Any, held: Held | None = None) -> Slope:
        """Rates of change at a state under held torques."""
        forces = self.engine.forces(t, s.q, s.v, s.x, None if held is None else held.slide)
        external = self.external(t, s, forces.external)
        return self.accelerated(s, u + forces.tau, external, forces.rate, held)

    def external(self, t: Any, s: State, own: Any) -> Any:
        """Wrenches on bodies: those of forces between frames, and a user's."""
        if self.wrenches is None:
            return own
        given = self.wrenches(t, s.q, s.v)
        return given if own is None else own + given

    def accelerated(self, s: State, tau: Any, external: Any, rate: Any, held: Held | None) -> Slope:
        """Rates of change under given torques and wrenches."""
        run, m = self.engine.run, self.m
        qdot = s.v if m.nq == m.nv else run(RATE, q=s.q, v=s.v)["rate"]
        state = {"q": s.q, "v": s.v, "external": external}
        if held is None:
            return Slope(qdot, run(dynamics_of(m), **state, tau=tau)["vdot"], rate)
        still = self.engine.zeros("rates")
        if is_joined(m):
            found = self._held(run(CONSTRAINED, **state, vdot=still), tau, held.free)
            return Slope(qdot, found.vdot, rate, found.reaction)
        found = run(HYBRID_DYNAMICS, **state, tau=tau, free=held.free, resistance=still)
        return Slope(qdot, found["vdot"], rate, found["reaction"])

    def implicit_acceleration(self, s: State, tau: Any, external: Any, resistance: Any, held: Held | None) -> Solution:
        """vdot with stiff joint forces taken implicitly, as inertia added by rate: (M + resistance) vdot = tau - bias."""
        run, engine = self.engine.run, self.engine
        state = {"q": s.q, "v": s.v, "external": external}
        if not is_joined(self.m):
            free = engine.ones("rates") if held is None else held.free
            return Solution(**run(HYBRID_DYNAMICS, **state, tau=tau, free=free, resistance=resistance))
        terms = run(CONSTRAINED, **state, vdot=engine.zeros("rates"))
        return self._joined(terms, engine.with_diagonal(terms["M"], resistance), tau, held)

    def contact_acceleration(
        self,
        s: State,
        tau: Any,
        external: Any,
        resistance: Any,
        added: Any,
        held: Held | None,
        pairs: Any = None,
        again: bool = False,
    ) -> Solution:
        """vdot with inertia added to bodies too: wrenches of -added Y.

        `pairs`, where bodies touch each other: results of `MOTIONS`, and the G of pairs. `again`: not the first solve in this
        state.
        """
        run, engine = self.engine.run, self.engine
        state, still = {"q": s.q, "v": s.v}, engine.zeros("rates")
        if pairs is not None:
            start, G = pairs
            external = external + engine.pair_bias(s.q, start, G, run(TWIST_RATES, **state, vdot=still)["rate"])
        elif not is_joined(self.m):
            free = engine.ones("rates") if held is None else held.free
            own = {"tau": tau, "free": free, "resistance": resistance, "added": added, "external": external}
            program = CONTACT_DYNAMICS if held is None else HELD_CONTACT_DYNAMICS
            found = (engine.run_again if again else run)(program, **state, **own)
            return Solution(found["vdot"], found.get("reaction"), found["rate"])
        terms = run(CONSTRAINED, **state, external=external, vdot=still)
        M = terms["M"]
        if self.m.contacts:
            more = run(ADDED_MASS, **state, vdot=still, added=added)
            M, tau = M + more["M"], tau - more["bias"]
        M = engine.with_diagonal(M, resistance)
        found = self._joined(terms, M if pairs is None else engine.with_pair_coupling(M, s.q, pairs[1]), tau, held)
        return found._replace(rate=run(TWIST_RATES, **state, vdot=found.vdot)["rate"])

    def _joined(self, terms: dict[str, Any], M: Any, tau: Any, held: Held | None) -> Solution:
        """By the mass matrix, another one than that of `terms`: where joints share coordinates, close loops, or bodies touch."""
        if held is not None:
            return self._held({**terms, "M": M}, tau, held.free)
        return Solution(self.engine.constrained(M, terms["K"], (tau, terms["bias"]), terms["k"])[0], None)

    def _held(self, terms: dict[str, Any], tau: Any, free: Any) -> Solution:
        """Constrained motion with the rates held where `free` is zero, and M vdot + bias - tau - K^T lambda there."""
        engine, M, K, bias = self.engine, terms["M"], terms["K"], terms["bias"]
        times = engine.times
        moving, rows = engine.free_inertia(M, free), engine.free_rows(K, free)
        vdot, multipliers = engine.constrained(moving, rows, (times(free, tau), times(free, bias)), terms["k"])
        rotors = times(engine.constant("rates", self.m.armature), vdot)
        missing = engine.product(M, vdot) + rotors + bias - tau - engine.product_transposed(K, multipliers)
        return Solution(vdot, times(engine.ones("rates") - free, missing))

    def integrate(self, q: Any, dq: Any) -> Any:
        """q moved for one second with the constant velocity dq."""
        return q + dq if self.m.nq == self.m.nv else self.engine.run(INTEGRATE, q=q, dq=dq)["q"]

    def stepped(self, s: State, vdot: Any, dt: Any) -> tuple[Any, Any]:
        """q and v a time dt later under a constant acceleration."""
        if self.m.nq == self.m.nv:
            v = s.v + vdot * dt
            return s.q + (s.v + v) * dt * 0.5, v
        found = self.engine.run(STEPPED, q=s.q, v=s.v, vdot=vdot, dt=dt)
        return self.integrate(s.q, found["dq"]), found["v"]

    def momentum_corrected(self, s: State, vdot: Any, start: Any, q: Any, v: Any, dt: Any, between: Any) -> Any:
        """v at the end of a step to q under vdot, corrected so that floating robots keep their momentum; `start` are the results of
        `MOTIONS` at its start, `between` the forces between bodies, if there are any."""
        run, engine, still = self.engine.run, self.engine, self.engine.zeros("rates")
        now, weight = run(EQUATIONS, q=s.q, v=s.v, vdot=vdot), run(EQUATIONS, q=s.q, v=still, vdot=still)
        then = run(EQUATIONS, q=q, v=v, vdot=still)
        # M vdot + C v: along the rates of a free joint the wrench of all forces, weight among them
        total = now["bias"] - weight["bias"]
        ends = run(MOTIONS, q=q, v=v)["X"], engine.product(then["M"], v), then["M"]
        begun = start["X"], engine.product(now["M"], s.v), total
        return engine.momentum_corrected(begun, ends, v, dt, between)

    def closed(self, s: State, held: Held | None = None) -> State:
        """The state next to this one that keeps the constraints: one Newton step in q, and velocities by an impulse at the
        constraints. What is held stays where it is."""
        if not self.m.constraints:
            return s
        engine, still = self.engine, self.engine.zeros("rates")
        found = engine.run(CLOSURE, q=s.q)
        rows = found["K"] if held is None else engine.free_rows(found["K"], held.free)
        q = self.integrate(s.q, engine.nearest(rows, found["error"] * -1.0))
        terms = engine.run(CONSTRAINED, q=q, v=s.v, vdot=still)
        M, K = terms["M"], terms["K"]
        moving = engine.product(K, s.v) * -1.0
        if held is not None:
            M, K = engine.free_inertia(M, held.free), engine.free_rows(K, held.free)
        change, _ = engine.constrained(M, K, (still, still), moving)
        return State(q, s.v + change, s.x)

    def sampled(self, s: State, dt: Any) -> State:
        """The state at the start of a step of dt, after loops inside drives have sampled."""
        return s._replace(x=self.engine.sampled(s.q, s.v, s.x, dt)) if acting(self.m).samples else s

    def normalised(self, q: Any) -> Any:
        """q with quaternions of length one."""
        return q if self.m.nq == self.m.nv else self.integrate(q, self.engine.zeros("rates"))


def is_joined(m: Tables) -> bool:
    """Whether joints share coordinates or close loops."""
    return m.coupled or bool(m.constraints)


def on_ice(m: Tables) -> bool:
    """Whether the ground has no friction, so that only conservation of momentum determines where a robot moves."""
    return bool(m.contacts) and not any(row.force.ground.friction for row in m.contacts)


def sticks(m: Tables) -> bool:
    """Whether some joint has dry friction."""
    return bool(acting(m).holding.any())
