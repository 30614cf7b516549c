"""A robot as a system (q, v, x): what changes it, written once for NumPy and for kernels.

q and v are the configuration and velocity of the robot, x the states that its forces have of their own. Torques u are held over a step.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.articulated import FORWARD_DYNAMICS, HYBRID_DYNAMICS
from modurob.algorithms.configuration import INTEGRATE, RATE
from modurob.algorithms.constraints.rows import CLOSURE, CONSTRAINED
from modurob.algorithms.forces import acting
from modurob.algorithms.forward import CONSTRAINED_DYNAMICS
from modurob.algorithms.program import Engine
from modurob.algorithms.wrenches import External, body_wrenches
from modurob.errors import SimulationError
from modurob.mechanism.tables import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array

# wrenches at (t, q, v), or t alone, by frame name (f, n) in the axes of the frame, or as `forward_dynamics` takes them
Wrenches = Callable[..., External]


class State(NamedTuple):
    """(q, v, x), (..., nq), (..., nv), (..., nx)."""

    q: Any
    v: Any
    x: Any


class Held(NamedTuple):
    """Which rates dry friction holds, and where it lets them slide: `free` is 1 or 0, `slide` 1, 0 or -1, (..., nv) each."""

    free: Any
    slide: Any


class Slope(NamedTuple):
    """d(q, v, x)/dt, and the force that each held rate needs beside what acts on it."""

    q: Any
    v: Any
    x: Any
    reaction: Any = None


class WrenchError(SimulationError):
    """The function of external wrenches raised an error, or returned what are none."""


@dataclass(frozen=True, eq=False)
class System:
    """A mechanism on an engine. Wrenches that a user's function gives need NumPy, all else runs in kernels too."""

    engine: Engine
    push: Callable[[Any, Any, Any], Any] | None = None  # (t, q, v) -> wrenches on bodies (..., bodies, 6)

    @property
    def m(self) -> Tables:
        return self.engine.m

    def slope(self, t: Any, s: State, u: Any, held: Held | None = None) -> Slope:
        """Rates of change at a state under held torques."""
        forces = self.engine.forces(t, s.q, s.v, s.x, None if held is None else held.slide)
        external = self.external(t, s, forces.external)
        return self._accelerated(s, u + forces.tau, external, forces.rate, held)

    def external(self, t: Any, s: State, own: Any) -> Any:
        """Wrenches on bodies: those of forces between frames, and a user's."""
        if self.push is None:
            return own
        pushed = self.push(t, s.q, s.v)
        return pushed if own is None else own + pushed

    def _accelerated(self, s: State, tau: Any, external: Any, rate: Any, held: Held | None) -> Slope:
        run, m = self.engine.run, self.m
        qdot = s.v if m.nq == m.nv else run(RATE, q=s.q, v=s.v)["rate"]
        state = {"q": s.q, "v": s.v, "external": external}
        if held is None:
            program = CONSTRAINED_DYNAMICS if is_joined(m) else FORWARD_DYNAMICS
            return Slope(qdot, run(program, **state, tau=tau)["vdot"], rate)
        still = self.engine.zeros("rates")
        if is_joined(m):
            vdot, reaction = self.engine.held(run(CONSTRAINED, **state, vdot=still), tau, held.free)
            return Slope(qdot, vdot, rate, reaction)
        found = run(HYBRID_DYNAMICS, **state, tau=tau, free=held.free, resistance=still)
        return Slope(qdot, found["vdot"], rate, found["reaction"])

    def integrate(self, q: Any, dq: Any) -> Any:
        """q moved for one second with the constant velocity dq."""
        return q + dq if self.m.nq == self.m.nv else self.engine.run(INTEGRATE, q=q, dq=dq)["q"]

    def closed(self, s: State) -> State:
        """The state next to this one that keeps the constraints: one Newton step in q, and velocities by an impulse at the constraints."""
        if not self.m.constraints:
            return s
        run, still = self.engine.run, self.engine.zeros("rates")
        found = run(CLOSURE, q=s.q)
        q = self.integrate(s.q, self.engine.nearest(found["K"], found["error"] * -1.0))
        terms = run(CONSTRAINED, q=q, v=s.v, vdot=still)
        moving = self.engine.product(terms["K"], s.v)
        change, _ = self.engine.constrained(terms["M"], terms["K"], (still, still), moving * -1.0)
        return State(q, s.v + change, s.x)

    def normalised(self, q: Any) -> Any:
        """q with quaternions of length one."""
        return q if self.m.nq == self.m.nv else self.integrate(q, self.engine.zeros("rates"))


def is_joined(m: Tables) -> bool:
    """Whether joints share coordinates or close loops."""
    return m.coupled or bool(m.constraints)


def sticks(m: Tables) -> bool:
    """Whether some joint has dry friction."""
    return bool(acting(m).holding.any())


def pushes(m: Tables, external: Wrenches | Mapping[str, Any] | None) -> Callable[[Any, Any, Any], Any] | None:
    """A user's wrenches as a function of (t, q, v) that gives an array (..., bodies, 6) in body frames."""
    if external is None:
        return None
    if not callable(external):
        raise SimulationError(
            f"external wrenches {external!r:.60}: expected a function of t, or of t, q and v, that returns wrenches by frame name"
        )
    given = _of_state(external)

    def push(t: Any, q: Array, v: Array) -> Array:
        try:
            wrenches = body_wrenches(m, _in_frames(m, q, given(float(t), q, v)))
            return np.stack(np.broadcast_arrays(*wrenches), axis=-2) + np.zeros((*v.shape[:-1], 1, 1))
        except Exception as error:  # whatever a user's function raises
            raise WrenchError(f"{type(error).__name__}: {error}") from error

    return push


def _of_state(external: Wrenches) -> Wrenches:
    """A function of (t, q, v), from one of t alone or of all three."""
    import inspect

    try:
        parameters = inspect.signature(external).parameters.values()
    except (TypeError, ValueError):
        return lambda t, q, v: external(t)
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    many = any(p.kind == p.VAR_POSITIONAL for p in parameters) or len(places) >= 3
    return external if many else lambda t, q, v: external(t)


@dataclass(frozen=True, eq=False)
class InWorld:
    """A wrench (f, n) in world axes at the origin of the frame it acts on, (..., 6)."""

    wrench: Any


def _in_frames(m: Tables, q: Array, given: External) -> External:
    """Wrenches in world axes turned into the axes of their frames."""
    if not isinstance(given, Mapping) or not any(isinstance(F, InWorld) for F in given.values()):
        return given
    from modurob import kernels
    from modurob.algorithms import forward_kinematics

    poses = forward_kinematics(m, q, kernels.run)
    turned = {}
    for name, F in given.items():
        if isinstance(F, InWorld):
            Rt, W = np.swapaxes(se3.rotation(poses[name]), -1, -2), np.asarray(F.wrench, dtype=float)
            F = np.concatenate([(Rt @ W[..., :3, None])[..., 0], (Rt @ W[..., 3:, None])[..., 0]], axis=-1)
        turned[name] = F
    return turned
