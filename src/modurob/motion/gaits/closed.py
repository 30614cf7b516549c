"""Gaits of robots with loops: the pattern, bent at every moment to the closest configuration that closes the loops."""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline

from modurob.errors import ClosureError, GaitError
from modurob.motion.gaits.reference import Motion, Swing
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array

KNOTS = 64  # configurations closed in a period
# loops may stand open by this between two of them [m and rad]
GAP = 1e-5


@dataclass(frozen=True, eq=False)
class Closed:
    """A periodic spline of the fifth degree through closed configurations."""

    robot: Mechanism
    period: float  # [s]
    moving: Array  # coordinates that change, as places in q
    rates: Array  # the same in v
    rest: Array  # q of the others
    spline: BSpline

    def __call__(self, t: Array) -> Motion:
        at = t % self.period
        q = np.empty((*t.shape, len(self.rest)))
        v, vdot = np.zeros((2, *t.shape, self.robot.nv))
        q[...] = self.rest
        q[..., self.moving] = self.spline(at)
        v[..., self.rates] = self.spline(at, 1)
        vdot[..., self.rates] = self.spline(at, 2)
        return q, v, vdot


def closed(swing: Swing) -> Closed:
    """The periodic swing with its loops closed."""
    robot, period = swing.joints.robot, 2 * np.pi / swing.pulsation
    t = np.linspace(0, period, KNOTS + 1)
    try:
        q = robot.close_loops(swing(t[:-1])[0])
    except ClosureError as error:
        raise GaitError(
            f"{robot.name} cannot follow this gait: {error}; try a smaller amplitude or a posture"
        ) from error
    flat = [joint for joint in robot.joints if joint.type.nq == joint.type.nv and not joint.mimics]
    moving = np.concatenate([np.r_[joint.q_slice] for joint in flat])
    held = np.setdiff1d(np.arange(robot.nq), moving)
    if np.abs(q[:, held] - q[0, held]).max(initial=0) > GAP:
        raise GaitError(
            f"a loop of {robot.name} goes through a joint with quaternions: gaits close loops of other joints only"
        )
    q = np.concatenate([q, q[:1]])
    spline = make_interp_spline(t, q[:, moving], k=5, bc_type="periodic")
    motion = Closed(robot, period, moving, np.concatenate([np.r_[j.v_slice] for j in flat]), swing.rest, spline)
    gap = np.abs(robot.loop_error(motion(t[:-1] + t[1] / 2)[0])).max()
    if gap > GAP:
        raise GaitError(
            f"the loops of {robot.name} would open by {gap:.3g} (m or rad) in this gait: try a smaller amplitude or a posture"
        )
    return motion
