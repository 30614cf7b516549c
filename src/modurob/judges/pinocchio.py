"""The robot in Pinocchio."""

from importlib import import_module
from typing import Any

import numpy as np

from modurob.catalogue.joints import Helical, JointType
from modurob.judges.twin import JUDGES, Twin
from modurob.mechanism import Tables
from modurob.spatial import inertia
from modurob.spatial.scalars import Array

# what joints consist of here
SIMPLE = ("revolute", "prismatic", "spherical", "free")


@JUDGES.register("pinocchio")
class PinocchioTwin(Twin):
    """Joints with two or three rates become composites; quaternions change order; everything else is the same."""

    name = "Pinocchio"
    tolerance = 1e-10

    def __init__(self, m: Tables):
        pinocchio: Any = import_module("pinocchio")
        super().__init__(m)
        self._pin = pinocchio
        self.model = pinocchio.Model()
        self.model.gravity.linear = m.gravity
        for i in self.order:
            joint, own = m.joints[i - 1], m.inertia[i]
            kind, parent = _joint_model(pinocchio, joint.type), int(self.number[m.parent[i]])
            number = self.model.addJoint(parent, kind, pinocchio.SE3(m.X_PJ[i]), joint.name)
            body = pinocchio.Inertia(float(inertia.mass(own)), inertia.centre(own), inertia.tensor(own))
            self.model.appendBodyToJoint(number, body, pinocchio.SE3.Identity())
        self.model.armature = m.armature[self.v_index]
        self.data = self.model.createData()

    @classmethod
    def obstacle(cls, m: Tables) -> str | None:
        for joint in m.joints:
            parts = joint.type.elementary()
            simple = joint.kind == "helical" if parts is None else all(part.kind in SIMPLE for part in parts)
            if joint.mimics or not simple:
                return f"joint {joint.name} is a mimic, or a {joint.kind} joint that is made of no simple ones"
        return None

    def _q(self, q: Array) -> Array:
        q = np.array(q)
        for joint in self.m.joints:
            if joint.type.nq > joint.type.nv:
                part = q[joint.q_slice]
                part[-4:] = np.roll(part[-4:] / np.linalg.norm(part[-4:]), -1)
        return q[self.q_index]

    def body_poses(self, q: Array) -> Array:
        self._pin.forwardKinematics(self.model, self.data, self._q(q))
        return np.stack([self.data.oMi[int(k)].homogeneous for k in self.number])

    def body_jacobian(self, q: Array, body: int) -> Array:
        J = self._pin.computeJointJacobian(self.model, self.data, self._q(q), int(self.number[body]))
        return J.reshape(6, -1)[:, np.argsort(self.v_index)]

    def inverse_dynamics(self, q: Array, v: Array, vdot: Array) -> Array:
        v, vdot = v[self.v_index], vdot[self.v_index]
        return self.ours(np.array(self._pin.rnea(self.model, self.data, self._q(q), v, vdot)))

    def mass_matrix(self, q: Array) -> Array:
        M = np.triu(self._pin.crba(self.model, self.data, self._q(q)))
        return self.ours(M + np.triu(M, 1).T)

    def forward_dynamics(self, q: Array, v: Array, tau: Array) -> Array:
        v, tau = v[self.v_index], tau[self.v_index]
        return self.ours(np.array(self._pin.aba(self.model, self.data, self._q(q), v, tau)))


def _aligned(axis: Array, *models: Any) -> Any:
    """The model for the axis x, y or z, as Pinocchio's own readers choose it, or that for any axis."""
    for k in range(3):
        if np.array_equal(axis, np.eye(3)[k]):
            return models[k]()
    return models[3](axis)


def _joint_model(pin: Any, kind: JointType) -> Any:
    """The joint, or the chain of joints, that Pinocchio has for it."""
    if isinstance(kind, Helical):
        return pin.JointModelHelicalUnaligned(np.array(kind.axis), float(kind.pitch))
    parts = [_elementary(pin, part) for part in kind.elementary() or ()]
    if len(parts) == 1:
        return parts[0]
    composite = pin.JointModelComposite(len(parts))
    for part in parts:
        composite.addJoint(part, pin.SE3.Identity())
    return composite


def _elementary(pin: Any, kind: Any) -> Any:
    match kind.kind:
        case "revolute":
            models = pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ, pin.JointModelRevoluteUnaligned
            return _aligned(np.array(kind.axis), *models)
        case "prismatic":
            models = pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ, pin.JointModelPrismaticUnaligned
            return _aligned(np.array(kind.axis), *models)
        case "spherical":
            return pin.JointModelSpherical()
    return pin.JointModelFreeFlyer()
