"""Rules that carry a state through time while torques are held.

A stepper is a recipe. Fixed steps run in compiled code as long as nothing acts on the robot but held torques, damping and the
springs of limits; any other force is asked for at every evaluation.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.integrate import DOP853, LSODA, Radau

from modurob.algorithms.stepping import STEPS, Acceleration, State
from modurob.errors import SimulationError, choices
from modurob.simulate.forces import Forces
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array

# faster than this nothing moves that a rigid body models [rad/s or m/s]
DIVERGED = 1e8


class StepLimitError(SimulationError):
    """A stepper could not go on: its steps became too small, or its equations could not be solved."""


class Stepper(ABC):
    """How a state is carried from t to t + duration under held torques."""

    # whole steps have to fill the time between two ticks
    dt: float | None
    order: ClassVar[int]

    @abstractmethod
    def advanced(self, forces: Forces, t: float, q: Array, v: Array, tau: Array, duration: float) -> State:
        """(q, v) at t + duration."""

    def kernels(self, forces: Forces) -> tuple[str, ...]:
        """The functions of the robot that it calls and that can be compiled."""
        return ("forward_dynamics", *(("integrate", "rate") if forces.robot.nq > forces.robot.nv else ()))


@dataclass(frozen=True)
class FixedStep(Stepper):
    """Steps of dt [s]."""

    dt: float  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if not (np.isfinite(self.dt) and self.dt > 0):
            raise SimulationError(f"a step of {self.dt!r} s: expected a positive finite number")

    def advanced(self, forces: Forces, t: float, q: Array, v: Array, tau: Array, duration: float) -> State:
        def acceleration(t: float, q: Array, v: Array) -> Array:
            return forces.acceleration(t, q, v, tau)

        for k in range(round(duration / self.dt)):
            q, v = self._step(forces, acceleration, t + k * self.dt, q, v, tau)
        return q, v

    @abstractmethod
    def _step(self, forces: Forces, f: Acceleration, t: float, q: Array, v: Array, tau: Array) -> State:
        """One step."""


class Compiled(FixedStep):
    """Steps that kernels know."""

    method: ClassVar[str]

    def kernels(self, forces: Forces) -> tuple[str, ...]:
        return ("advance",) if forces.simple else super().kernels(forces)

    def advanced(self, forces: Forces, t: float, q: Array, v: Array, tau: Array, duration: float) -> State:
        if not forces.simple:
            return super().advanced(forces, t, q, v, tau, duration)
        steps = round(duration / self.dt)
        return forces.robot.advance(q, v, tau, self.dt, steps, self.method, forces.springs)

    def _step(self, forces: Forces, f: Acceleration, t: float, q: Array, v: Array, tau: Array) -> State:
        return STEPS[self.method](forces.robot, f, t, q, v, self.dt)


class SemiImplicitEuler(Compiled):
    """v' = v + dt vdot, then q' = q moved with v': first order, and cheap."""

    method, order = "semi_implicit_euler", 1


class RungeKutta4(Compiled):
    """The classical rule of order four, with dq/dt = rate(q, v); quaternions are brought back to length one."""

    method, order = "runge_kutta_4", 4


# iterations of the implicit rules: each gains a factor of about (dt |vdot/v|)
_ITERATIONS = 100
# changes of velocity this small, in parts of it, are none; smaller than _ROUNDING they are rounding errors once they stop shrinking
_SETTLED, _ROUNDING = 1e-14, 1e-10
# and this large they lead nowhere
_LOST = 1e6


def _settled(change: float, before: float, v: Array) -> bool:
    size = max(1.0, float(np.abs(v).max(initial=0.0)))
    return change <= _SETTLED * size or (before <= change <= _ROUNDING * size)


class ImplicitMidpoint(FixedStep):
    """v' = v + dt vdot(q_m, v_m) with q_m = q moved with v_m for dt/2, v_m = (v + v')/2; q' = q moved with v_m for dt.

    Second order and symmetric in time, for any robot: energy of free motion wanders little, but momentum is not kept.
    """

    order = 2

    def _step(self, forces: Forces, f: Acceleration, t: float, q: Array, v: Array, tau: Array) -> State:
        middle, change = v, np.inf
        for _ in range(_ITERATIONS):
            q_m = forces.robot.integrate(q, self.dt / 2 * middle)
            new = v + self.dt / 2 * f(t + self.dt / 2, q_m, middle)
            before, change, middle = change, np.abs(new - middle).max(initial=0.0), new
            if _settled(change, before, middle):
                return forces.robot.integrate(q, self.dt * middle), 2 * middle - v
            if not change < _LOST:
                break
        raise StepLimitError(f"the midpoint did not settle at t = {t:g} s: take a step shorter than {self.dt:g} s")


class Variational(FixedStep):
    """The discrete Euler-Lagrange equations of the midpoint rule: momenta p = M v before and after a step obey

    p = M v_m - dt/2 F, p' = M v_m + dt/2 F, with F = dL/dq + tau at q_m, q moved with v_m for dt/2; q' = q moved with v_m for dt.

    Second order, symplectic and momentum-preserving: made for long runs. Momenta of joints with quaternions turn with their bodies
    (Marsden and West 2001, on Lie groups: `_turned`). For robots without loops.
    """

    order = 2

    def kernels(self, forces: Forces) -> tuple[str, ...]:
        return *super().kernels(forces), "inverse_dynamics", "mass_matrix"

    def advanced(self, forces: Forces, t: float, q: Array, v: Array, tau: Array, duration: float) -> State:
        if forces.robot.loops:
            raise SimulationError(
                f"Variational steps are for robots without loops, and {forces.robot.name} has some; "
                "valid: ImplicitMidpoint, RungeKutta4, SemiImplicitEuler, Adaptive"
            )
        return super().advanced(forces, t, q, v, tau, duration)

    def _step(self, forces: Forces, f: Acceleration, t: float, q: Array, v: Array, tau: Array) -> State:
        robot, dt = forces.robot, self.dt
        p = (robot.mass_matrix(q) @ v[..., None])[..., 0]
        v_m, size = v + dt / 2 * f(t, q, v), np.inf
        for _ in range(_ITERATIONS):
            q_m = robot.integrate(q, dt / 2 * v_m)
            M = robot.mass_matrix(q_m)
            p_m = (M @ v_m[..., None])[..., 0]
            push = dt / 2 * (_lagrangian_force(robot, q_m, v_m, p_m) + forces.generalised(t + dt / 2, q_m, v_m, tau))
            miss = _turned(robot, -dt * v_m, p_m, -push) - p
            change = np.linalg.solve(M, miss[..., None])[..., 0]
            before, size, v_m = size, np.abs(change).max(initial=0.0), v_m - change
            if _settled(size, before, v_m):
                q = robot.integrate(q, dt * v_m)
                p = _turned(robot, dt * v_m, p_m, push)
                return q, np.linalg.solve(robot.mass_matrix(q), p[..., None])[..., 0]
            if not size < _LOST:
                break
        raise StepLimitError(f"the step did not settle at t = {t:g} s: take a step shorter than {dt:g} s")


def _lagrangian_force(robot: Any, q: Array, v: Array, p: Array) -> Array:
    """dL/dq, (..., nv), exactly: of v . M v/2 along e_j it is v . C(e_j) v, which the bias at v + e_j and v - e_j gives.

    Where velocities do not commute, [e_j, v] . p/2 comes to it, p = M v.
    """
    still = np.zeros_like(v)
    size = max(1.0, float(np.abs(v).max(initial=0.0)))
    force = -robot.inverse_dynamics(q, still, still)
    for j, unit in enumerate(size * np.eye(robot.nv)):
        change = robot.inverse_dynamics(q, v + unit, still) - robot.inverse_dynamics(q, v - unit, still)
        force[..., j] += (change * v).sum(axis=-1) / (4 * size)
    for i, ad in _brackets(robot, v):
        force[..., i] -= (p[..., None, i] @ ad)[..., 0, :] / 2
    return force


def _turned(robot: Any, dq: Array, p: Array, push: Array) -> Array:
    """The momentum p + push of the middle as it is at the end of a turn by dq: J(dq)^-T (p + J(dq/2)^T push).

    J is the right Jacobian of the exponential, exp(dq + x) = exp(dq) exp(J x) to first order; one where velocities commute.
    """
    end = p + push
    for i, ad in _brackets(robot, dq / 2):
        half = _right_jacobian(ad)
        whole = half - ad @ half @ half / 2
        middle = p[..., i] + (push[..., None, i] @ half)[..., 0, :]
        end[..., i] = np.linalg.solve(np.swapaxes(whole, -1, -2), middle[..., None])[..., 0]
    return end


def _brackets(robot: Any, v: Array) -> list[tuple[slice, Array]]:
    """For each joint with a quaternion its rates in v, and the matrix of x -> [v, x] there."""
    of = {"spherical": so3.skew, "free": se3.ad}
    return [(j.v_slice, of[j.kind](v[..., j.v_slice])) for j in robot.joints if j.kind in of]


def _right_jacobian(ad: Array) -> Array:
    """J(dq) = 1 - ad/2! + ad²/3! - ..., (..., n, n), to rounding for turns of up to a radian; J(2 dq) = J - ad J²/2."""
    term = J = np.eye(ad.shape[-1])
    for k in range(2, 18):
        term = term @ ad / -k
        J = J + term
    return J


# steps that may come on end, and how long they must be on average after that [s]: else the motion is too fast to follow
_MANY_STEPS, _SHORTEST = 1000, 1e-5
_SOLVERS: dict[str, Any] = {"DOP853": DOP853, "Radau": Radau, "LSODA": LSODA}


@dataclass(frozen=True)
class Adaptive(Stepper):
    """SciPy's steps of changing length: DOP853 (order eight), Radau (stiff) or LSODA (either)."""

    method: str = "DOP853"
    rtol: float = 1e-9
    atol: float = 1e-12
    max_step: float = np.inf  # [s]
    dt = None

    def __post_init__(self) -> None:
        if self.method not in _SOLVERS:
            raise SimulationError(f"method {self.method!r}: {choices(self.method, _SOLVERS)}")
        for name in ("rtol", "atol", "max_step"):
            if not getattr(self, name) > 0:
                raise SimulationError(f"{name} {getattr(self, name)!r}: expected a positive number")

    def advanced(self, forces: Forces, t: float, q: Array, v: Array, tau: Array, duration: float) -> State:
        if q.ndim > 1:
            raise SimulationError("Adaptive steps carry one run at a time: give q0 and v0 without leading axes")
        robot, still = forces.robot, np.zeros(forces.robot.nv)

        def slope(s: float, y: Array) -> Array:
            q, v = robot.integrate(y[: robot.nq], still), y[robot.nq :]
            return np.concatenate([robot.rate(q, v), forces.acceleration(s, q, v, tau)])

        solver = _SOLVERS[self.method](
            slope, t, np.concatenate([q, v]), t + duration, rtol=self.rtol, atol=self.atol, max_step=self.max_step
        )
        most = _MANY_STEPS + round(duration / _SHORTEST)
        for _ in range(most):
            message = solver.step()
            if solver.status == "failed":
                raise StepLimitError(f"{self.method} could not go on from t = {solver.t:g} s: {message}")
            if solver.status == "finished" or not np.abs(solver.y[robot.nq :]).max(initial=0.0) < DIVERGED:
                break
        else:
            raise StepLimitError(f"{self.method} took {most} steps from t = {t:g} s and is at {solver.t:g} s only")
        return robot.integrate(solver.y[: robot.nq], still), solver.y[robot.nq :]
