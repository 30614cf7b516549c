"""SciPy's methods with adaptive step size."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from modurob.errors import SimulationError, choices
from modurob.simulation.steppers.stepper import STEPPERS, StepLimitError, Stepper
from modurob.simulation.system import Held, State, System
from modurob.spatial.scalars import Array

# faster rates than this count as diverged [rad/s or m/s]
DIVERGED = 1e8
# steps that may come on end, and how long they must be on average after that [s]: else the motion is too fast to follow
_MANY_STEPS, _SHORTEST = 1000, 1e-5
# names in scipy.integrate, which is slow to import
_SOLVERS = ("DOP853", "Radau", "LSODA")


class _LostError(Exception):
    """A derivative within a step is not finite."""


@STEPPERS.register("adaptive")
@dataclass(frozen=True)
class Adaptive(Stepper):
    """SciPy's steppers with adaptive step size: DOP853 (order eight), Radau (stiff) or LSODA (either). One run at a
    time.

    `rtol` and `atol` are SciPy's, `max_step` is in s. States are recorded every `tick` of the simulation.

    >>> mr.simulate(robot, q, duration=0.05, stepper=mr.Adaptive("DOP853", rtol=1e-10)).status.ok
    True
    """

    method: str = "DOP853"
    rtol: float = 1e-9
    atol: float = 1e-12
    max_step: float = np.inf  # [s]
    kind, order, dt = "adaptive", 8, None

    def __post_init__(self) -> None:
        if self.method not in _SOLVERS:
            raise SimulationError(f"method {self.method!r}: {choices(str(self.method), _SOLVERS)}")
        for name in ("rtol", "atol", "max_step"):
            if isinstance(getattr(self, name), str) or not getattr(self, name) > 0:
                raise SimulationError(f"{name} {getattr(self, name)!r}: expected a positive number")

    def step(self, system: System, t: Any, s: State, u: Any, dt: Any, held: Held | None = None) -> State:
        if np.prod(s.v.shape[:-1]) != 1:
            raise SimulationError("Adaptive steps advance one run at a time: give q0 and v0 without leading axes")
        m, nq, nv = system.m, system.m.nq, system.m.nv
        start, duration = float(np.ravel(t)[0]), float(np.ravel(dt)[0])

        def state(y: Array) -> State:
            parts = State(y[:nq], y[nq : nq + nv], y[nq + nv :])
            return State(*(part.reshape(*s.v.shape[:-1], len(part)) for part in parts))

        def slope(time: float, y: Array) -> Array:
            now = state(y)
            now = now._replace(q=system.normalised(now.q))
            slopes = np.concatenate([np.ravel(x) for x in system.slope(time, now, u, held)[:3]])
            if not np.isfinite(slopes).all():
                raise _LostError
            return slopes

        y, slide = np.concatenate([np.ravel(x) for x in s]), np.zeros(nv) if held is None else np.ravel(held.slide)
        options = {"rtol": self.rtol, "atol": self.atol, "max_step": self.max_step}
        try:
            solver = getattr(import_module("scipy.integrate"), self.method)(
                slope, start, y, start + duration, **options
            )
            end = state(self._finished(solver, start, duration, slice(nq, nq + nv), slide))
        except _LostError:
            return state(np.full_like(y, np.nan))
        return end._replace(q=system.normalised(end.q)) if m.nv else end

    def _finished(self, solver: Any, start: float, duration: float, rates: slice, slide: Array) -> Array:
        """The end of the steps of a solver; before it where a rate diverges, or one that slides has turned."""
        most = _MANY_STEPS + round(duration / _SHORTEST)
        for _ in range(most):
            message = solver.step()
            if solver.status == "failed":
                raise StepLimitError(f"{self.method} could not go on from t = {solver.t:g} s: {message}")
            v = solver.y[rates]
            if solver.status == "finished" or not np.abs(v).max(initial=0.0) < DIVERGED or (slide * v < 0).any():
                return solver.y
        raise StepLimitError(f"{self.method} took {most} steps from t = {start:g} s and is at {solver.t:g} s only")
