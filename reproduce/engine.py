"""An independent engine, MuJoCo, in place of SimMechanics: it keeps the state and steps it, by its own rules."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from modurob.judges.mujoco import MujocoTwin
from modurob.robot import Mechanism
from modurob.simulation import Law, Measured
from modurob.spatial.scalars import Array

MISSING = "pip install modurob[judges]"


def installed() -> bool:
    return find_spec("mujoco") is not None


class EngineRun(NamedTuple):
    """States at the ticks, (ticks, n) each."""

    t: Array
    q: Array
    v: Array
    vdot: Array


def engine_run(
    robot: Mechanism, q0: Array, duration: float, dt: float, every: int = 1, law: Law | None = None
) -> EngineRun:
    """The robot rebuilt in MuJoCo, from rest at q0, in steps of dt [s] of its Runge-Kutta rule; a row every so many steps.

    For robots of joints with one coordinate. A law is asked at every step, and its torques are held over the step.
    """
    mujoco: Any = import_module("mujoco")
    twin = MujocoTwin(robot)
    model, data = twin.model, twin.data
    model.opt.timestep, model.opt.integrator = dt, mujoco.mjtIntegrator.mjINT_RK4
    data.qpos[:] = q0[twin.q_index]
    rows, memory = [], None if law is None else law.start()
    for k in range(round(duration / dt) + 1):
        q, v = twin.ours(np.array(data.qpos)), twin.ours(np.array(data.qvel))
        if law is not None:
            memory, tau = law.step(memory, k * dt, Measured(q, v))
            data.qfrc_applied[:] = tau[twin.v_index]
        if k % every == 0:
            mujoco.mj_forward(model, data)
            rows.append((np.array(k * dt), q, v, twin.ours(np.array(data.qacc))))
        mujoco.mj_step(model, data)
    return EngineRun(*(np.array(column) for column in zip(*rows, strict=True)))
