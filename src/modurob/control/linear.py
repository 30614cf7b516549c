"""A robot near one state: x' = A x + B u with x = (dq, dv), and the bridge to python-control."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob import kernels
from modurob.algorithms import bracket, passive_forces
from modurob.algorithms.forces import passive_slopes
from modurob.algorithms.kinematics import together
from modurob.control.drives import Drives
from modurob.errors import ControlError, explained
from modurob.motion.numbers import checked_sample_time
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array
from modurob.values import compared

if TYPE_CHECKING:
    import control


@compared
class Linear(NamedTuple):
    """x' = A x + B u."""

    A: Array  # (..., 2 nv, 2 nv)
    B: Array  # (..., 2 nv, driven rates)


@explained
def linearised(
    robot: Mechanism,
    q: ArrayLike,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    actuated: Sequence[str] | None = None,
) -> Linear:
    """Small motions x' = A x + B u, x = (dq, dv), about q, v, tau: A (..., 2 nv, 2 nv), B (..., 2 nv, driven rates).

    dq is along `robot.integrate` and u the change of the torques of driven joints [N m or N]. v is zero by default and
    tau by default the torque that keeps v constant. dq' = dv - [v, dq], the last term only for joints with quaternions;
    dv' comes from the derivatives of forward dynamics and of the passive forces, without dry friction.

    >>> A, B = mr.linearised(robot, q)
    >>> A.shape, B.shape
    ((6, 6), (6, 3))
    """
    q, v = together(robot._q(q), np.zeros(robot.nv) if v is None else robot._v(v))
    A, B = slopes(robot, q, v, None if tau is None else robot._v(tau, "tau"))
    return Linear(A, B[..., Drives.of(robot, actuated).v])


def slopes(robot: Mechanism, q: Array, v: Array, tau: Array | None) -> Linear:
    """As `linearised`, for torques of all rates: B (..., 2 nv, nv)."""
    nv, passive = robot.nv, passive_forces(robot, q, v, run=kernels.run)
    tau = robot.bias_forces(q, v) - passive if tau is None else tau
    by = robot.forward_dynamics_derivatives(q, v, tau + passive)
    by_q, by_v = passive_slopes(robot, q, v)
    A, B = np.zeros((*by.q.shape[:-2], 2 * nv, 2 * nv)), np.zeros((*by.q.shape[:-2], 2 * nv, nv))
    A[..., :nv, :nv], A[..., :nv, nv:] = -bracket(robot, v), np.eye(nv)
    A[..., nv:, :nv], A[..., nv:, nv:] = by.q + by.tau @ by_q, by.v + by.tau @ by_v
    B[..., nv:, :] = by.tau
    return Linear(A, B)


def state_space(
    robot: Mechanism,
    q: ArrayLike,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    actuated: Sequence[str] | None = None,
    sample_time: float | None = None,
) -> control.StateSpace:
    """The linearised robot for python-control: from torques to displacements of the driven joints, which name inputs and outputs.

    With a sample time torques are held between samples. Root loci, margins and step data are python-control's own.
    """
    checked_sample_time(sample_time)
    try:
        import control
    except ImportError:
        raise ControlError("state_space needs python-control: pip install 'modurob[control]'") from None
    drives = Drives.of(robot, actuated)
    A, B = linearised(robot, q, v, tau, actuated)
    names = [name for j in drives.joints for name in j.rate_names()]
    system: Any = control.ss(A, B, np.eye(2 * robot.nv)[drives.v], 0, inputs=names, outputs=names)
    return system if sample_time is None else control.sample_system(system, sample_time)
