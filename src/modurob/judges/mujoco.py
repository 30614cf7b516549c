"""The robot in MuJoCo."""

from importlib import import_module
from typing import Any

import numpy as np

from modurob.algorithms.kinematics import dyads
from modurob.catalogue.joints import JointType
from modurob.judges.twin import JUDGES, Twin
from modurob.mechanism import Tables
from modurob.spatial import inertia, quaternion, se3
from modurob.spatial.scalars import Array

# MuJoCo refuses moving bodies below this
SMALLEST = 1e-12


@JUDGES.register("mujoco")
class MujocoTwin(Twin):
    """Joints with two or three rates become several on one body; a free joint's linear velocity is in world axes there."""

    name = "MuJoCo"
    tolerance = 1e-9

    def __init__(self, m: Tables):
        mujoco: Any = import_module("mujoco")
        super().__init__(m)
        self._mj = mujoco
        self.spec = spec = mujoco.MjSpec()
        spec.option.gravity = m.gravity
        spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT
        spec.compiler.balanceinertia = False
        bodies = {0: spec.worldbody}
        for i in self.order:
            joint, own = m.joints[i - 1], m.inertia[i]
            T = inertia.tensor(own)
            body = bodies[m.parent[i]].add_body(
                name=f"body{i}",
                pos=se3.position(m.X_PJ[i]),
                quat=quaternion.from_matrix(se3.rotation(m.X_PJ[i])),
                mass=float(inertia.mass(own)),
                ipos=inertia.centre(own),
                fullinertia=[T[0, 0], T[1, 1], T[2, 2], T[0, 1], T[0, 2], T[1, 2]],
                explicitinertial=True,
            )
            for k, arguments in enumerate(_joints(mujoco, joint.type)):
                body.add_joint(name=f"joint{i}.{k}", armature=float(joint.armature[0]), **arguments)
            bodies[i] = body
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)

    @classmethod
    def obstacle(cls, m: Tables) -> str | None:
        if not m.joints:
            return "nothing moves"
        for i, joint in enumerate(m.joints, start=1):
            if joint.mimics or joint.type.elementary() is None:
                return f"joint {joint.name} is a mimic, or a {joint.kind} joint that is made of no simple ones"
            if joint.kind == "free" and m.parent[i] != 0:
                return f"joint {joint.name} is a free joint between bodies"
            if np.ptp(joint.armature) > 0 or (joint.kind == "free" and np.any(joint.armature)):
                return f"joint {joint.name} has armatures that differ, or is free and has one"
            moments = np.linalg.eigvalsh(inertia.tensor(m.inertia[i]))
            if inertia.mass(m.inertia[i]) < SMALLEST or moments[0] < SMALLEST or inertia.complaints(m.inertia[i]):
                return f"body {m.bodies[i]} has no mass, no extent, or an inertia no body has"
        return None

    def _rates(self, q: Array) -> Array:
        """qvel = rates v."""
        T = np.eye(self.m.nv)
        for joint, link in zip(self.m.joints, dyads(self.m, q)[1:], strict=True):
            if joint.kind == "free":
                first = slice(joint.v_slice.start, joint.v_slice.start + 3)
                T[first, first] = se3.rotation(link.X)
        return T

    def _rate_drift(self, q: Array, v: Array) -> Array:
        """qacc = rates vdot + drift."""
        drift = np.zeros(self.m.nv)
        for joint, link in zip(self.m.joints, dyads(self.m, q)[1:], strict=True):
            if joint.kind == "free":
                start = joint.v_slice.start
                drift[start : start + 3] = se3.rotation(link.X) @ np.cross(
                    v[start + 3 : start + 6], v[start : start + 3]
                )
        return drift

    def _place(self, q: Array, v: Array | None = None) -> None:
        q, rates = np.array(q), self._rates(q)
        for i, joint in enumerate(self.m.joints, start=1):
            if joint.kind == "free":
                # MuJoCo forgets the placement of a free body
                X = self.m.X_PJ[i] @ joint.type.pose(q[joint.q_slice])
                q[joint.q_slice] = joint.type.coordinates(X)
        self.data.qpos = q[self.q_index]
        self.data.qvel = 0 if v is None else (rates @ v)[self.v_index]
        self._mj.mj_forward(self.model, self.data)

    def body_poses(self, q: Array) -> Array:
        self._place(q)
        return se3.pose(self.data.xmat.reshape(-1, 3, 3), self.data.xpos)[self.number]

    def body_jacobian(self, q: Array, body: int) -> Array:
        self._place(q)
        linear, angular = np.zeros((2, 3, self.m.nv))
        number = int(self.number[body])
        self._mj.mj_jacBody(self.model, self.data, linear, angular, number)
        R = self.data.xmat[number].reshape(3, 3)
        return np.vstack([R.T @ linear, R.T @ angular])[:, np.argsort(self.v_index)] @ self._rates(q)

    def inverse_dynamics(self, q: Array, v: Array, vdot: Array) -> Array:
        self._place(q, v)
        T = self._rates(q)
        self.data.qacc = (T @ vdot + self._rate_drift(q, v))[self.v_index]
        self._mj.mj_inverse(self.model, self.data)
        return T.T @ self.ours(np.array(self.data.qfrc_inverse))

    def mass_matrix(self, q: Array) -> Array:
        self._place(q)
        M = np.zeros((self.m.nv, self.m.nv))
        self._mj.mj_fullM(self.model, self.data, M)
        T = self._rates(q)
        return T.T @ self.ours(M) @ T

    def forward_dynamics(self, q: Array, v: Array, tau: Array) -> Array:
        self._place(q, v)
        T = self._rates(q)
        self.data.qfrc_applied = np.linalg.solve(T.T, tau)[self.v_index]
        self._mj.mj_forward(self.model, self.data)
        return np.linalg.solve(T, self.ours(np.array(self.data.qacc)) - self._rate_drift(q, v))


def _joints(mj: Any, kind: JointType) -> list[dict]:
    """The simple joints that make a joint, as MuJoCo has them."""
    types = {
        "revolute": mj.mjtJoint.mjJNT_HINGE,
        "prismatic": mj.mjtJoint.mjJNT_SLIDE,
        "spherical": mj.mjtJoint.mjJNT_BALL,
        "free": mj.mjtJoint.mjJNT_FREE,
    }
    parts: Any = kind.elementary() or ()
    return [{"type": types[p.kind]} | ({"axis": np.array(p.axis)} if hasattr(p, "axis") else {}) for p in parts]
