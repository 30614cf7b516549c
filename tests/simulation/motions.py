"""Judges of motion: SciPy's integrator along any law of acceleration, MuJoCo's own steps."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import modurob as mr
from modurob.judges.mujoco import MujocoTwin

STEP = 1e-20


def judged(robot: mr.Mechanism, q, v, duration: float, acceleration: Callable, tolerance: float = 1e-12):
    """q and v after `duration` [s] under vdot = acceleration(t, q, v); dq/dt is a complex step along `integrate`."""

    def rate(t, x):
        q, v = x[: robot.nq], x[robot.nq :]
        qdot = np.imag(robot.integrate(q, 1j * STEP * v)) / STEP
        return np.concatenate([qdot, acceleration(t, q, v)])

    start = np.concatenate([q, v])
    solution = solve_ivp(rate, (0, duration), start, "DOP853", rtol=tolerance, atol=tolerance, first_step=duration / 50)
    assert solution.success, solution.message
    return solution.y[: robot.nq, -1], solution.y[robot.nq :, -1]


def apart(robot: mr.Mechanism, one, two) -> float:
    """The largest difference between two states, on the manifold."""
    (q0, v0), (q1, v1) = one, two
    return float(np.abs(np.concatenate([robot.difference(q0, q1), v1 - v0], axis=-1)).max())


def mujoco_poses(robot: mr.Mechanism, q, v, times, dt: float):
    """Poses of all bodies at the times [s] by MuJoCo's own steps of dt, (times, bodies, 4, 4)."""
    mujoco: Any = import_module("mujoco")
    twin = MujocoTwin(robot)
    twin.model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    twin.model.opt.timestep = dt
    twin._place(q, v)
    twin.data.time, poses = 0.0, []
    for t in times:
        while twin.data.time < t - dt / 2:
            mujoco.mj_step(twin.model, twin.data)
        mujoco.mj_kinematics(twin.model, twin.data)
        poses.append(twin.poses())
    return np.stack(poses)
