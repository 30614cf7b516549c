"""Robots through MuJoCo's files and back, compared joint by joint."""

import numpy as np

import modurob as mr
from modurob.mechanism.mjcf import MujocoModel
from modurob.mechanism.mjcf.model import bare

CONSTRAINTS_OFF = 1  # mjDSBL_CONSTRAINT


def returned(robot, folder, shapes=False):
    """The robot of the file that it is written as."""
    path = folder / "robot.xml"
    path.write_text(mr.mjcf(robot, shapes))
    return mr.load(path)


def differences(robot, again, rng):
    """Relative differences of M and bias of two robots with joints of the same names, at a random state; and of MuJoCo's M and
    bias for the first."""
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    theirs_q, theirs_v, place = again.neutral(), np.zeros(robot.nv), np.zeros(robot.nv, dtype=int)
    for joint in (j for j in robot.joints if not j.mimics):
        same = again.joint(joint.name)
        theirs_q[same.q_slice], theirs_v[same.v_slice] = q[joint.q_slice], v[joint.v_slice]
        place[same.v_slice] = np.arange(joint.v_slice.start, joint.v_slice.stop)
    M, bias = robot.mass_matrix(q), robot.bias_forces(q, v)
    judge = MujocoModel(bare(robot), shapes=False, disableflags=CONSTRAINTS_OFF)
    return {
        "M": apart(again.mass_matrix(theirs_q), M[np.ix_(place, place)]),
        "bias": apart(again.bias_forces(theirs_q, theirs_v), bias[place]),
        "MuJoCo's M": apart(judge.mass_matrix(q), M),
        "MuJoCo's bias": apart(judge.inverse_dynamics(q, v, 0 * v), bias),
    }


def apart(a, b):
    """The largest difference, relative to the largest entry, or to 1e-6."""
    return float(np.abs(a - b).max(initial=0) / max(1e-6, np.abs(b).max(initial=0)))
