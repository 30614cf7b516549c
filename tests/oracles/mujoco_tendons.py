"""The lines of a robot as spatial tendons of MuJoCo: lengths, moment arms, forces, motion."""

import mujoco
import numpy as np

from modurob.catalogue.lines import Elastic, Pulley
from modurob.judges.mujoco import MujocoTwin
from modurob.spatial import quaternion, se3


class Tendons(MujocoTwin):
    """A twin with a tendon for each line over points and pulleys; each pulley has its side where the line touches it at q.

    Cables are tendons with springlength (0, rest) and the stiffness E A / rest; what MuJoCo's damping does to a slack tendon is
    another law than ours, so cables that are damped have to stay taut.
    """

    def __init__(self, m, q):
        super().__init__(m)
        names = m.bodies
        poses = m.forward_kinematics(q)
        for k, row in enumerate(m.lines):
            tendon = self.spec.add_tendon(name=f"line{k}")
            for n, (frame, node) in enumerate(zip(row.frames, row.force.nodes, strict=True)):
                body, X = self.spec.body(names[frame.body]), frame.X
                if isinstance(node, Pulley):
                    name, at = f"pulley{k}.{n}", quaternion.from_matrix(se3.rotation(X))
                    cylinder = mujoco.mjtGeom.mjGEOM_CYLINDER
                    size = [float(node.radius), 1.0, 0.0]
                    body.add_geom(name=name, type=cylinder, pos=se3.position(X), quat=at, size=size, mass=0.0)
                    beside = X @ np.append(_side(m, row, n, q, poses), 1.0)
                    body.add_site(name=f"side{k}.{n}", pos=beside[:3])
                    tendon.wrap_geom(name, f"side{k}.{n}")
                else:
                    body.add_site(name=f"site{k}.{n}", pos=se3.position(X))
                    tendon.wrap_site(f"site{k}.{n}")
            self._law(tendon, row.force.law)
        self.compile()

    @staticmethod
    def _law(tendon, law):
        cable = isinstance(law, Elastic)
        rest = law.rest
        assert not cable or law.unilateral
        tendon.stiffness[0] = law.stiffness / rest if cable else law.stiffness
        tendon.damping[0] = law.damping / rest if cable else law.damping
        tendon.springlength = [0.0 if cable else rest, rest]

    def place(self, q, v):
        self._place(q, v)

    def lengths(self):
        return np.array(self.data.ten_length)

    def arms(self, q):
        """d length / dq along our rates, (lines, nv)."""
        J = np.zeros((self.model.ntendon, self.m.nv))
        mujoco.mju_sparse2dense(
            J, self.data.ten_J, self.model.ten_J_rownnz, self.model.ten_J_rowadr, self.model.ten_J_colind
        )
        return J @ self.rates(q)

    def passive(self, q):
        """Forces of the tendons as torques, (nv,)."""
        return self.rates(q).T @ np.array(self.data.qfrc_passive)

    def moved(self, q, v, duration, dt):
        """Coordinates after a motion by RK4, in MuJoCo's order."""
        self._place(q, v)
        self.model.opt.timestep, self.model.opt.integrator = dt, mujoco.mjtIntegrator.mjINT_RK4
        for _ in range(round(duration / dt)):
            mujoco.mj_step(self.model, self.data)
        return np.array(self.data.qpos)


def _side(m, row, n, q, poses):
    """A point beside a pulley, on the side where the line passes it in configuration q, in the pulley's frame."""
    X = _world(m, row.frames[n], poses)
    a, b = (se3.position(se3.inverse(X) @ _world(m, row.frames[k], poses))[:2] for k in (n - 1, n + 1))
    node, along = row.force.nodes[n], (b - a) / np.hypot(*(b - a))
    return 3 * node.radius * node.side * np.array([along[1], -along[0], 0.0])


def _world(m, frame, poses):
    return frame.X if frame.body == 0 else poses[m.bodies[frame.body]] @ frame.X
