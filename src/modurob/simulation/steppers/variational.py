"""Variational steps: symplectic, momentum-preserving, made for long runs."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from modurob import algorithms, kernels
from modurob.algorithms.steps import apply
from modurob.errors import SimulationError
from modurob.mechanism.tables import Tables
from modurob.simulation.steppers.stepper import ITERATIONS, STEPPERS, FixedStep, Settling
from modurob.simulation.system import Held, State, System, is_joined
from modurob.spatial.scalars import Array


@STEPPERS.register("variational")
@dataclass(frozen=True)
class Variational(FixedStep):
    """The discrete Euler-Lagrange equations of the midpoint rule with steps of dt [s]: momenta p = M v before and after
    a step satisfy

    p = M v_m - dt/2 F, p' = M v_m + dt/2 F, with F = dL/dq + tau at q_m, q moved with v_m for dt/2; q' = q moved with
    v_m for dt.

    Second order, symplectic and momentum-preserving: intended for long runs. Momenta of joints with quaternions rotate
    with their bodies (Marsden and West 2001, on Lie groups: `_turned`). For robots without loops and mimic joints.

    >>> free = mr.simulate(robot.ideal(), q, duration=0.5, stepper=mr.Variational(1e-2))
    >>> bool(np.ptp(free.energy) < 0.05)
    True
    """

    kind, order = "variational", 2

    def require(self, m: Tables) -> None:
        if is_joined(m):
            raise SimulationError(
                f"Variational steps are for robots without loops and mimic joints, and {m.name} has some; "
                "valid: ImplicitMidpoint, RungeKutta4, SemiImplicitEuler, Adaptive"
            )

    def step(self, system: System, t: Any, s: State, u: Any, dt: Any, held: Held | None = None) -> State:
        m, (q, v, x) = system.m, s
        free = np.ones(m.nv) if held is None else held.free
        slope = system.slope(t, s, u, held)
        p = apply(_inertia(m, q), v)
        v_m, x_m, settling = v + slope.v * (dt / 2), x, Settling(v.shape[:-1])
        p_m, impulse = p, 0 * p
        for _ in range(ITERATIONS):
            q_m, middle = system.integrate(q, v_m * (dt / 2)), t + dt / 2
            M, momentum, own = _middle(m, q_m, v_m)
            force, rate = _applied(system, middle, State(q_m, v_m, x_m), u, held)
            push = (own + force) * (dt / 2)
            change = _solved(M, _turned(m, -dt * v_m, momentum, -push) - p, free)
            new = v_m - change, x + rate * (dt / 2), momentum, push
            v_m, x_m, p_m, impulse = settling.of((v_m, x_m, p_m, impulse), new)
            if settling.over(change, v_m):
                break
        q = system.integrate(q, v_m * dt)
        v = _solved(_inertia(m, q), _turned(m, dt * v_m, p_m, impulse), free)
        return settling.end(system, State(q, v, 2 * x_m - x))


def _inertia(m: Tables, q: Array) -> Array:
    return algorithms.mass_matrix(m, q, kernels.run_any)


def _solved(M: Array, p: Array, free: Array) -> Array:
    """v with M v = p, held rates at zero."""
    M = M * (free[..., :, None] * free[..., None, :]) + (1 - free)[..., None] * np.eye(M.shape[-1])
    return np.linalg.solve(M, (p * free)[..., None])[..., 0]


def _applied(system: System, t: Any, s: State, u: Array, held: Held | None) -> tuple[Array, Array]:
    """All forces as torques, wrenches as J^T F; and the rates of their states."""
    m = system.m
    forces = system.engine.forces(t, s.q, s.v, s.x, None if held is None else held.slide)
    total, external = u + forces.tau, system.external(t, s, forces.external)
    if external is not None:
        still = np.zeros(m.nv)
        loaded = algorithms.tree_inverse_dynamics(m, s.q, s.v, still, external, kernels.run_any)
        total = total + algorithms.bias_forces(m, s.q, s.v, kernels.run_any) - loaded
    return total, forces.rate


def _middle(m: Tables, q: Array, v: Array) -> tuple[Array, Array, Array]:
    """M, p = M v and dL/dq, (..., nv), exactly.

    Along e_j the derivative of v . M v/2 is v . C(e_j) v, half of v . d(C v)/dv_j. Where velocities do not commute, [e_j, v] . p/2
    comes to it.
    """
    still = np.zeros_like(v)
    slopes = algorithms.inverse_dynamics_derivatives(m, q, v, still, run=kernels.run_any)
    p = apply(slopes.vdot, v)
    force = (v[..., None, :] @ slopes.v)[..., 0, :] / 2 - algorithms.gravity_forces(m, q, kernels.run_any)
    return slopes.vdot, p, force - (p[..., None, :] @ algorithms.bracket(m, v))[..., 0, :] / 2


def _turned(m: Tables, dq: Array, p: Array, impulse: Array) -> Array:
    """The momentum p + impulse of the midpoint, rotated to the end of a displacement dq: J(dq)^-T (p + J(dq/2)^T impulse).

    J is the right Jacobian of the exponential, exp(dq + x) = exp(dq) exp(J x) to first order; one where velocities commute.
    """
    if m.nq == m.nv:
        return p + impulse
    ad = algorithms.bracket(m, dq / 2)
    half = _right_jacobian(ad)
    whole = half - ad @ half @ half / 2
    middle = p + (impulse[..., None, :] @ half)[..., 0, :]
    return np.linalg.solve(np.swapaxes(whole, -1, -2), middle[..., None])[..., 0]


def _right_jacobian(ad: Array) -> Array:
    """J(dq) = 1 - ad/2! + ad²/3! - ..., (..., n, n), to rounding for turns of up to a radian; J(2 dq) = J - ad J²/2."""
    term = J = np.eye(ad.shape[-1])
    for k in range(2, 18):
        term = term @ ad / -k
        J = J + term
    return J
