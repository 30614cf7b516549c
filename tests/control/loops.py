"""Robots under control by SciPy's integrator, and the poles of what robot and law make together."""

from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from modurob.simulation import Measured

STEP = 1e-20


def mass_on_a_rail(mass=1.0, damping=0.0):
    """One prismatic joint without gravity: mass xdd + damping xd = f."""
    import modurob as mr
    from modurob.spatial import inertia

    builder = mr.Builder("rail", gravity=(0, 0, 0))
    builder.body(
        "wagon",
        inertia.point(mass, (0, 0, 0)),
        joint=mr.Prismatic((1, 0, 0)),
        properties=mr.JointProperties(damping=damping),
    )
    return builder.build()


def rate(robot, q, v, tau):
    """d(q, v)/dt with the viscous damping of the joints; dq/dt comes from a complex step along `integrate`."""
    qdot = np.imag(robot.integrate(q, 1j * STEP * v)) / STEP
    return np.concatenate([qdot, robot.forward_dynamics(q, v, tau - robot.damping * v)])


def run(robot, law, q, v, times, push=0.0, tolerance=1e-11, until=None):
    """q and v at the times, (k, nq) and (k, nv), under a law that is asked all the time; `push` is added to its torques.

    Where `until(q)` falls through zero the run ends, and later times are left out.
    """

    def f(t, x):
        q, v = x[: robot.nq], x[robot.nq :]
        return rate(robot, q, v, law.torque(t, q, v) + push)

    def end(t, x):
        return until(x[: robot.nq])

    end.terminal = True  # type: ignore[attr-defined]
    x0, span = np.concatenate([q, v]), (times[0], times[-1])
    ends = [end] if until else None
    solution = solve_ivp(f, span, x0, "DOP853", times, events=ends, rtol=tolerance, atol=tolerance, first_step=1e-3)
    assert solution.success, solution.message
    return solution.y[: robot.nq].T, solution.y[robot.nq :].T


class Sampled(NamedTuple):
    """q, v and tau at the samples, and what the law remembers after the last."""

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    memory: Any


def run_sampled(robot, law, q, v, sample_time, samples, push=0.0):
    """A law whose torques are held between samples, by Runge-Kutta's fourth order."""
    x, h = np.concatenate([q, v]), sample_time
    rows, memory = [], law.start()
    for k in range(samples):
        q, v = x[: robot.nq], x[robot.nq :]
        memory, tau = law.step(memory, k * h, Measured(q, v))
        rows.append((q, v, tau))

        def f(x, tau=tau):
            return rate(robot, x[: robot.nq], x[robot.nq :], tau + push)

        a = f(x)
        b = f(x + h / 2 * a)
        c = f(x + h / 2 * b)
        d = f(x + h * c)
        x = x + h / 6 * (a + 2 * b + 2 * c + d)
    return Sampled(*(np.array(column) for column in zip(*rows, strict=True)), memory)


def closed_loop_matrix(robot, law, q, stiffness=0.0):
    """Jacobian of robot and law at rest in q, by a complex step through both; `stiffness` of springs beside the joints."""
    nv = robot.nv
    d = 1j * STEP * np.eye(2 * nv)
    moved, v = robot.integrate(q, d[:, :nv]), d[:, nv:]
    tau = law.torque(0.0, moved, v) - robot.damping * v - stiffness * d[:, :nv]
    vdot = robot.forward_dynamics(moved, v, tau)
    return np.concatenate([d[:, nv:].imag.T, vdot.imag.T]) / STEP


def poles(robot, law, q, stiffness=0.0):
    """Eigenvalues of the closed loop, sorted."""
    return np.sort_complex(np.linalg.eigvals(closed_loop_matrix(robot, law, q, stiffness)))
