"""Mechanisms with loops by Pinocchio: its mass matrix, bias forces, Jacobians and accelerations, and the geometry of pins.

The constraints are written here from scratch, as distances that stay zero, and solved by least squares with NumPy: nothing of
`modurob.algorithms.constraints` is in it.
"""

from typing import Any, NamedTuple

import numpy as np
import pinocchio

from modurob.judges import PinocchioTwin
from modurob.mechanism import Loop
from modurob.spatial import se3, so3

pin: Any = pinocchio


class _End(NamedTuple):
    """One end of a loop in world axes: position, axes, Jacobian (6, nv), angular velocity, and accelerations at vdot = 0."""

    p: np.ndarray
    R: np.ndarray
    J: np.ndarray
    w: np.ndarray
    linear: np.ndarray
    angular: np.ndarray


class PinocchioLoops:
    """The robot and its loops; one state at a time. Loops are ball joints, hinges or universal joints."""

    def __init__(self, m):
        self.m, self.twin = m, PinocchioTwin(m)
        self.model, self.data = self.twin.model, self.twin.model.createData()

    def rows(self, q, v):
        """K, (rows, nv), and k with K vdot = k."""
        ours = np.argsort(self.twin.v_index)
        pin.forwardKinematics(self.model, self.data, self.twin._q(q), v[self.twin.v_index], np.zeros(self.m.nv))
        pin.computeJointJacobians(self.model, self.data)
        found = [self._loop(c, ours) for c in self.m.constraints]
        return np.vstack([K for K, _ in found]), np.concatenate([k for _, k in found])

    def forward_dynamics(self, q, v, tau):
        """vdot and the torques K^T lambda of the loops at the joints of the tree."""
        n = self.m.nv
        M, bias = self.twin.mass_matrix(q), self.twin.inverse_dynamics(q, v, np.zeros(n))
        K, k = self.rows(q, v)
        system = np.block([[M, -K.T], [K, np.zeros((len(K), len(K)))]])
        solution = np.linalg.lstsq(system, np.concatenate([tau - bias, k]), rcond=1e-11)[0]
        return solution[:n], K.T @ solution[n:]

    def inverse_dynamics(self, q, v, vdot, driven):
        """The smallest torques of the driven joints that bring about vdot."""
        K, _ = self.rows(q, v)
        tau = self.twin.inverse_dynamics(q, v, vdot)
        columns = np.hstack([np.eye(self.m.nv)[:, driven], K.T])
        found = np.linalg.lstsq(columns, tau, rcond=1e-11)[0]
        assert np.allclose(columns @ found, tau, rtol=1e-8, atol=1e-8)
        out = np.zeros(self.m.nv)
        out[driven] = found[: int(np.sum(driven))]
        return out

    def _end(self, frame, ours):
        number = int(self.twin.number[frame.body])
        joint, X = self.data.oMi[number], pin.SE3(frame.X)
        at, axes = joint * X, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        world = pin.SE3(joint.rotation, np.zeros(3))
        twist, change = world.act(self.data.v[number]), world.act(self.data.a[number])
        J = pin.getJointJacobian(self.model, self.data, number, axes)[:, ours] if number else np.zeros((6, self.m.nv))
        arm, w, alpha = at.translation - joint.translation, twist.angular, change.angular
        # a point fixed in the body: the acceleration of its origin, in space, and what turning adds
        origin = change.linear + np.cross(w, twist.linear)
        linear = origin + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
        J = np.vstack([J[:3] - pin.skew(arm) @ J[3:], J[3:]])
        return _End(at.translation, at.rotation, J, w, linear, alpha)

    def _loop(self, c: Loop, ours):
        a, b = self._end(c.predecessor, ours), self._end(c.successor, ours)
        K, k = [b.J[:3] - a.J[:3]], [a.linear - b.linear]
        for one, other in self._crossed(c, a, b):
            row, bias = _perpendicular(one, a, other, b)
            K.append(row[None])
            k.append([bias])
        return np.vstack(K), np.concatenate(k)

    @staticmethod
    def _crossed(c: Loop, a, b):
        """Pairs of world vectors, fixed at either end, that stay at right angles."""
        match c.type.kind:
            case "spherical":
                return []
            case "revolute":
                axis = np.array(c.type.axis)
                return [(a.R @ u, b.R @ axis) for u in so3.perpendicular(axis)]
            case "universal":
                return [(a.R @ np.array(c.type.axis), b.R @ np.array(c.type.axis2))]
        raise AssertionError(f"no geometry for {c.type.kind} loops here")


def _perpendicular(u, a, w, b):
    """The row and bias of u . w = 0, u fixed at end a and w at end b: the second derivative by time is row vdot - bias."""
    normal = np.cross(w, u)
    du, dw = np.cross(a.w, u), np.cross(b.w, w)
    ddu = np.cross(a.angular, u) + np.cross(a.w, du)
    ddw = np.cross(b.angular, w) + np.cross(b.w, dw)
    return normal @ (b.J[3:] - a.J[3:]), -(ddu @ w + 2 * du @ dw + u @ ddw)


class ConstraintDynamics:
    """Pinocchio's own `constraintDynamics`; every loop is held at a point, which for planar hinges is all that is needed.

    Hinges in space are held at two points of their axis: `hinges`.
    """

    def __init__(self, m, accuracy=1e-14, mu=1e-10, most=30, hinges=False):
        self.twin = PinocchioTwin(m)
        self.model, self.data = self.twin.model, self.twin.model.createData()
        self.constraints = pin.StdVec_RigidConstraintModel()
        for c in m.constraints:
            for point in self._points(c, hinges):
                ends = [
                    x
                    for f in (c.predecessor, c.successor)
                    for x in (int(self.twin.number[f.body]), pin.SE3(f.X @ se3.pose(None, point)))
                ]
                self.constraints.append(
                    pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, self.model, *ends, pin.LOCAL)
                )
        self.datas = pin.StdVec_RigidConstraintData()
        for c in self.constraints:
            self.datas.append(c.createData())
        # from version 4 on with the data of the constraints
        more = (self.datas,) if int(pin.__version__.split(".")[0]) >= 4 else ()
        pin.initConstraintDynamics(self.model, self.data, self.constraints, *more)
        self.settings = pin.ProximalSettings(accuracy, mu, most)

    @staticmethod
    def _points(c, hinges):
        """Points of the frames at both ends that stay together."""
        assert c.type.kind == "spherical" or (hinges and c.type.kind == "revolute") or not hinges
        return [np.zeros(3), 0.5 * np.array(c.type.axis)] if hinges and c.type.kind == "revolute" else [np.zeros(3)]

    def theirs(self, q, v, tau):
        """A state in their order."""
        return self.twin._q(q), v[self.twin.v_index], tau[self.twin.v_index]

    def __call__(self, q, v, tau):
        """vdot of a state in their order, in their order."""
        return pin.constraintDynamics(self.model, self.data, q, v, tau, self.constraints, self.datas, self.settings)

    def derivatives(self, q, v, tau):
        """d vdot by q, v and tau of a state in their order, in their order, as Pinocchio has them.

        Those by q are not the differences of `constraintDynamics` if both ends of a loop move: a peer in time alone.
        """
        self(q, v, tau)
        return pin.computeConstraintDynamicsDerivatives(
            self.model, self.data, self.constraints, self.datas, self.settings
        )[:3]

    def forward_dynamics(self, q, v, tau):
        return self.twin.ours(np.array(self(*self.theirs(q, v, tau))))
