"""A robot near one state: x' = A x + B u with x = (dq, dv), and the bridge to python-control."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.control.drives import Drives, movable
from modurob.control.values import checked_sample_time
from modurob.errors import ControlError
from modurob.robot import Mechanism
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array, as_array

if TYPE_CHECKING:
    import control


class Linear(NamedTuple):
    """x' = A x + B u."""

    A: Array  # (..., 2 nv, 2 nv)
    B: Array  # (..., 2 nv, driven freedoms)


def linearised(
    robot: Mechanism,
    q: ArrayLike,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    actuated: Sequence[str] | None = None,
) -> Linear:
    """Small motions x = (dq, dv) about q, v, tau, with dq along `robot.integrate` and u the change of the driven joints' torques.

    v is zero by default and tau what keeps v as it is. dq' = dv - ad_v dq, the last term only for joints that turn by
    quaternions; dv' comes from the derivatives of forward dynamics, with the joints' viscous damping.
    """
    nv, D = robot.nv, robot.damping
    v = np.zeros(nv) if v is None else as_array(v)
    tau = robot.bias_forces(as_array(q), v) + D * v if tau is None else as_array(tau)
    by = robot.forward_dynamics_derivatives(as_array(q), v, tau - D * v)
    A, B = np.zeros((*by.q.shape[:-2], 2 * nv, 2 * nv)), np.zeros((*by.q.shape[:-2], 2 * nv, nv))
    A[..., :nv, :nv], A[..., :nv, nv:] = turning(robot, v), np.eye(nv)
    A[..., nv:, :nv], A[..., nv:, nv:] = by.q, by.v - by.tau * D
    B[..., nv:, :] = by.tau
    return Linear(A, B[..., Drives.of(robot, actuated).v])


def turning(robot: Mechanism, v: Array) -> Array:
    """-ad_v of the joints that turn by quaternions, (..., nv, nv): how small displacements look from axes that move."""
    ad = np.zeros((*v.shape, robot.nv))
    for joint in movable(robot):
        i = joint.v_slice
        if joint.kind == "free":
            ad[..., i, i] = se3.ad(v[..., i])
        elif joint.kind == "spherical":
            ad[..., i, i] = so3.skew(v[..., i])
    return -ad


def state_space(
    robot: Mechanism,
    q: ArrayLike,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    actuated: Sequence[str] | None = None,
    sample_time: float | None = None,
) -> "control.StateSpace":
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
    names = [j.name if j.type.nv == 1 else f"{j.name}[{k}]" for j in drives.joints for k in range(j.type.nv)]
    system: Any = control.ss(A, B, np.eye(2 * robot.nv)[drives.v], 0, inputs=names, outputs=names)
    return system if sample_time is None else control.sample_system(system, sample_time)
