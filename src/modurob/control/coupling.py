"""The driven part of a robot whose other rates, above all those of a floating base, follow from the dynamics."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from modurob.algorithms.steps import apply, transposed
from modurob.control.drives import Drives, floating
from modurob.mechanism.tables import JointRow
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array, solve


class Coupling(NamedTuple):
    """The coupling of rates d with a drive and rates p without one at a configuration: P = [[0, -M_pp^-1 M_pd], [0,
    1]].

    P u is the motion of all joints with driven rates u that leaves the momenta of the others unchanged; P^T tau is the
    share of all torques that acts on the driven joints. P^T M P is the inertia that drives move, M_dd - M_dp M_pp^-1
    M_pd, and J P the generalised Jacobian (Umetani and Yoshida 1989). With a drive at every joint P = 1.
    """

    P: Array | None = None  # (..., nv, nv); None: one

    def motion(self, u: Array) -> Array:
        """P u, (..., nv); entries of u without a drive do not count."""
        return u if self.P is None else apply(self.P, u)

    def torque(self, tau: Array) -> Array:
        """P^T tau, (..., nv): zero where there is no drive."""
        return tau if self.P is None else apply(transposed(self.P), tau)

    def jacobian(self, J: Array) -> Array:
        """J P, (..., n, nv)."""
        return J if self.P is None else J @ self.P


# of a robot with a drive at every joint
ALONE = Coupling()


def coupling(drives: Drives) -> Callable[[Array], Coupling]:
    """The coupling of a robot's driven and other rates at q."""
    robot, d, p = drives.robot, drives.v, drives.passive
    if not len(p):
        return lambda q: ALONE

    def at(q: Array) -> Coupling:
        M = robot.mass_matrix(q)
        P = np.zeros_like(M)
        P[..., d, d] = 1.0
        P[..., p[:, None], d] = -solve(M[..., p[:, None], p], M[..., p[:, None], d])
        return Coupling(P)

    return at


def felt(drives: Drives, robot: Mechanism) -> Callable[[Array], Coupling]:
    """The coupling for a robot whose floating base has no contact and is not held, so that its joints are in free fall;
    otherwise the identity.
    """
    held = robot.constraints or not all(isinstance(row, JointRow) for row in robot.forces)
    loose = set(floating(robot)).difference(drives.joints) and not held
    return coupling(drives) if loose else lambda q: ALONE
