"""Runs again by Lagrange's equations in closed form, beside the recursion of Newton and Euler that simulates them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from modurob.errors import NotExactError, StudioError
from modurob.robot import Mechanism
from modurob.simulation import RungeKutta4, SemiImplicitEuler, Stepper
from modurob.simulation.recording import Recording, Segment
from modurob.simulation.status import DONE, Status
from modurob.simulation.system import Slope, State
from modurob.spatial.scalars import Array
from modurob.studio.derivation import DIGITS, TIME_LIMIT
from modurob.studio.replay import Replay
from modurob.studio.runs import Run
from modurob.symbolic import Equations

SAME = (SemiImplicitEuler, RungeKutta4)  # steppers that ask for nothing but accelerations
STEP = 1e-3  # of RungeKutta4 in the place of another stepper [s]
MOST = 120_000  # accelerations of one run

Accelerations = Callable[[Array, Array, Array], Array]


@dataclass(frozen=True)
class LagrangeSystem:
    """What a stepper asks a system for, by M(q) vdot + C(q, v) v + D v + S(q) + N(q) = tau."""

    vdot: Accelerations

    def slope(self, t: float, s: State, u: Array, held: None = None) -> Slope:
        """d(q, v)/dt under held torques."""
        return Slope(s.v, self.vdot(s.q, s.v, u), s.x)

    def integrate(self, q: Array, dq: Array) -> Array:
        """Coordinates of hinges and slides add up."""
        return q + dq

    def normalised(self, q: Array) -> Array:
        """There are no quaternions."""
        return q


class Twin(Replay):
    """A run again: from the same state, under the same torques, in the same steps; its error is how far the run is from it."""

    def __init__(self, number: int, robot: Mechanism, run: Run | Replay):
        own = _recorded(run)
        eq = _equations(own.robot)
        self.of, self._run_q = run.number, own.q
        found = _moved(own, LagrangeSystem(accelerations(eq)))
        self._vdot = found.vdot
        self.apart = float(np.abs(found.q - own.q).max(initial=0.0))
        self.without = [name for name, _ in eq.left_out]
        channels = {"t": own.t, "q": found.q, "v": found.v, "tau": own.tau}
        recording = Recording((Segment(own.robot, own.settings, channels),), Status(DONE, float(own.t[-1])))
        super().__init__(number, robot, recording, f"run {run.number} by Lagrange's equations")

    def _acceleration(self, own: Any) -> Array:
        return self._vdot

    def _lacking(self, own: Any) -> Array:
        return self._run_q - own.q

    def summary(self) -> dict[str, Any]:
        """What the list of runs shows."""
        label = f"{self.name}, at most {self.apart:.1e} apart"
        if self.without:
            label += f"; without {len(self.without)} forces that have no closed form, such as {self.without[0]}"
        return {**super().summary(), "label": label, "twin": self.of, "status": "finished"}


class _Moved(NamedTuple):
    """Over the ticks of a run, (ticks, nv) each."""

    q: Array
    v: Array
    vdot: Array


def accelerations(eq: Equations) -> Accelerations:
    """(q, v, tau) -> vdot of equations in numbers."""
    passive = eq.D, eq.S
    D = np.array(passive[0].subs(eq.values).evalf(), dtype=float)
    if any(passive[1]):
        raise StudioError("springs act on this robot: runs with them are not repeated by Lagrange's equations")

    def vdot(q: Array, v: Array, tau: Array) -> Array:
        M, C, N = eq.function(q, v)
        return np.linalg.solve(M, tau - C @ v - D @ v - N)

    return vdot


def _recorded(run: Run | Replay) -> Segment:
    """What was recorded of a run that Lagrange's equations can repeat; an error where they cannot."""
    if not run.ended:
        raise StudioError(f"run {run.number} goes on: stop it first")
    own = run.recording.segments[0]
    robot = own.robot
    why = (
        "the robot floats"
        if robot.nq != robot.nv
        else "the robot has loops or joints that mimic"
        if robot.constraints or robot.coupled
        else "servos, lines or contacts act on it, which have states or no closed form"
        if own.x.shape[-1] or robot.contacts or robot.lines
        else ""
    )
    if why:
        raise StudioError(
            f"run {run.number} cannot be repeated by Lagrange's equations: {why}; choose a fixed robot of a tree"
        )
    if len(own.t) * _calls(own.settings.stepper, own.settings.tick) > MOST:
        raise StudioError(
            f"run {run.number} is too long to be repeated: at most {MOST} accelerations; make a shorter run"
        )
    return own


def _equations(robot: Mechanism) -> Equations:
    """By Lagrange's method, in numbers; those that are not exact are rounded."""
    wish: dict[str, Any] = {"method": "lagrange", "time_limit": TIME_LIMIT}
    try:
        return robot.equations(**wish)
    except NotExactError:
        return robot.equations(digits=DIGITS, **wish)


def _stepper(stepper: Stepper) -> Stepper:
    return stepper if isinstance(stepper, SAME) else RungeKutta4(STEP)


def _calls(stepper: Stepper, tick: float) -> float:
    """How many accelerations a tick takes."""
    own = _stepper(stepper)
    return tick / (own.dt or tick) * (own.order or 1)


def _moved(own: Segment, system: Any) -> _Moved:
    """The states at the ticks of a run, from its first one on."""
    stepper: Any = _stepper(own.settings.stepper)
    q, v, vdot = np.array(own.q), np.array(own.v), np.empty_like(own.v)
    for k, tau in enumerate(own.tau):
        vdot[k] = system.vdot(q[k], v[k], tau)
        if k + 1 == len(q):
            break
        s, length = State(q[k], v[k], np.zeros(0)), float(own.t[k + 1] - own.t[k])
        steps = max(1, round(length / stepper.dt))
        for _ in range(steps):
            s = stepper.step(system, 0.0, s, tau, length / steps)
        q[k + 1], v[k + 1] = s.q, s.v
    return _Moved(q, v, vdot)
