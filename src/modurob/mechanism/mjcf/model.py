"""A robot as MuJoCo's own model, and its states in our coordinates.

qpos and qvel follow from q and v joint by joint: hinges, slides and balls are unchanged, mimic joints follow by ratio
and offset, the position of a free body is in world axes from the origin, whatever the frame of its joint.
"""

from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from modurob.errors import MjcfError
from modurob.mechanism.mjcf.parts import Part, parts_of
from modurob.mechanism.mjcf.writing import mjcf
from modurob.mechanism.tables import Joint, Tables
from modurob.spatial import quaternion, se3
from modurob.spatial.scalars import Array


def mujoco_module() -> Any:
    """MuJoCo, or an error that says how to install it."""
    try:
        return import_module("mujoco")
    except ImportError:
        raise MjcfError("MuJoCo is not installed: it comes with pip install 'modurob[mujoco]'") from None


# entries in qpos and qvel
_WIDTHS = {"free": (7, 6), "ball": (4, 3)}


class MujocoModel:
    """The model, its data, and the conversion between our coordinates and MuJoCo's. One state at a time."""

    def __init__(self, m: Tables, shapes: bool = True, **options: Any):
        self.m, self.mujoco = m, mujoco_module()
        self.spec = self.mujoco.MjSpec.from_string(mjcf(m, shapes))
        for name, value in options.items():
            setattr(self.spec.option, name, value)
        self.compile()

    def compile(self) -> None:
        """Make model and data of the specification."""
        try:
            self.model = self.spec.compile()
        except ValueError as error:
            raise MjcfError(f"MuJoCo refuses {self.m.name}: {str(error).strip()}") from None
        self.data = self.mujoco.MjData(self.model)
        self._lay_out()

    def _lay_out(self) -> None:
        """Indices of the coordinates of hinges and slides, and the constant part of T."""
        parts = [(joint, i, part) for i, joint in enumerate(self.m.joints, 1) for part in parts_of(self.m, i)]
        ids = [self.model.joint(part.name).id for _, _, part in parts]
        placed = list(
            zip(parts, self.model.jnt_qposadr[ids].tolist(), self.model.jnt_dofadr[ids].tolist(), strict=True)
        )
        plain = [(joint.q_slice.start + p.at, at, p, joint) for (joint, _, p), at, _ in placed if p.axis]
        self._of, self._at = (np.array([row[k] for row in plain], dtype=int) for k in (0, 1))
        self._ratio, self._offset = np.array([[p.ratio, p.offset] for _, _, p, _ in plain]).reshape(-1, 2).T
        self._leads = np.array([not _follows(joint, p) for _, _, p, joint in plain], dtype=bool)
        self._wide = [row for row in placed if not row[0][2].axis]
        self._free = [row for row in placed if row[0][0].kind == "free" and row[0][2].kind != "ball"]
        # rates of MuJoCo that are degrees of freedom of ours, and not led by constraints: their part of T is orthogonal
        self._owned = np.zeros(self.model.nv, dtype=bool)
        self._T = np.zeros((self.model.nv, self.m.nv))
        for (joint, _, part), _, at in placed:
            n, start = _WIDTHS.get(part.kind, (1, 1))[1], joint.v_slice.start + part.at
            self._owned[at : at + n] = not _follows(joint, part)
            self._T[at : at + n, start : start + n] = part.ratio * np.eye(n)

    def body(self, i: int) -> int:
        """The number of our body i there."""
        return 0 if i == 0 else self.model.body(self.m.bodies[i]).id

    # ---- ours to theirs ----

    def place(self, q: Array, v: Array | None = None) -> Array:
        """Put the model in a state, and give T there; nothing is computed yet."""
        self.data.qpos[self._at] = self._ratio * q[self._of] + self._offset
        for (joint, i, part), at, _ in self._wide:
            own = q[joint.q_slice]
            if part.kind == "free":
                X = self.m.X_PJ[i] @ joint.type.pose(own)
                own = np.concatenate([se3.position(X), quaternion.from_matrix(se3.rotation(X))])
            values = own if part.kind == "free" else own[part.at : part.at + 4]
            self.data.qpos[at : at + len(values)] = values
        T = self.rates(q)
        self.data.qvel = 0 if v is None else T @ v
        return T

    def rates(self, q: Array) -> Array:
        """T with qvel = T v, (their nv, nv)."""
        if not self._free:
            return self._T
        T = self._T.copy()
        for (joint, i, part), _, at in self._free:
            R, start = self._turn(joint, i, part, q), joint.v_slice.start
            rows = slice(at, at + 3) if part.kind == "free" else at
            T[rows, start : start + 3] = R if part.kind == "free" else R[part.at]
        return T

    def drift(self, q: Array, v: Array) -> Array:
        """qacc - T vdot, (their nv,): the axes of a free body turn with it, those MuJoCo counts its position in do not."""
        found = np.zeros(self.model.nv)
        for (joint, i, part), _, at in self._free:
            linear, angular = np.split(v[joint.v_slice], 2)
            turned = self._turn(joint, i, part, q) @ np.cross(angular, linear)
            rows = slice(at, at + 3) if part.kind == "free" else at
            found[rows] = turned if part.kind == "free" else turned[part.at]
        return found

    def _turn(self, joint: Joint, i: int, part: Part, q: Array) -> Array:
        """From the axes of a free body to those that its position is counted in."""
        R = quaternion.to_matrix(q[joint.q_slice][3:])
        return se3.rotation(self.m.X_PJ[i]) @ R if part.kind == "free" else R

    def applied(self, T: Array, tau: Array) -> Array:
        """Forces along MuJoCo's rates that do what our torques do, (their nv,): T^T applied = tau."""
        found = np.zeros(self.model.nv)
        found[self._owned] = T[self._owned] @ tau
        return found

    # ---- theirs to ours ----

    def state(self) -> tuple[Array, Array]:
        """q and v of the model's data."""
        q = np.zeros(self.m.nq)
        q[self._of[self._leads]] = self.data.qpos[self._at[self._leads]]
        for (joint, i, part), at, _ in self._wide:
            n, start = _WIDTHS[part.kind][0], joint.q_slice.start + part.at
            q[start : start + n] = self._coordinates(joint, i, part, self.data.qpos[at : at + n])
        return q, self._back(q, self.data.qvel)

    def acceleration(self, q: Array, v: Array) -> Array:
        """vdot for the state of the data, (nv,)."""
        return self._back(q, self.data.qacc - self.drift(q, v))

    def _back(self, q: Array, rates: Array) -> Array:
        return self.rates(q)[self._owned].T @ rates[self._owned]

    def _coordinates(self, joint: Joint, i: int, part: Part, qpos: Array) -> Array:
        if part.kind != "free":
            return qpos
        X = se3.pose(quaternion.to_matrix(qpos[3:]), qpos[:3])
        return joint.type.coordinates(se3.inverse(self.m.X_PJ[i]) @ X)

    def memory(self) -> tuple[Array, Array, Array]:
        """The state from which MuJoCo continues: qpos, qvel, and that of its solver."""
        return np.array(self.data.qpos), np.array(self.data.qvel), np.array(self.data.qacc_warmstart)

    def remember(self, qpos: Array, qvel: Array, warm: Array) -> None:
        """Go on from there."""
        self.data.qpos, self.data.qvel, self.data.qacc_warmstart = qpos, qvel, warm

    # ---- what MuJoCo finds ----

    def mass_matrix(self, q: Array) -> Array:
        """M of the tree, T^T M_theirs T, (nv, nv)."""
        T, M = self.place(q), np.zeros((self.model.nv, self.model.nv))
        self.mujoco.mj_forward(self.model, self.data)
        self.mujoco.mj_fullM(self.model, self.data, M)
        return T.T @ M @ T

    def inverse_dynamics(self, q: Array, v: Array, vdot: Array) -> Array:
        """tau of the tree, (nv,), where the model has no constraints and passive forces, or they are disabled."""
        T = self.place(q, v)
        self.data.qacc = T @ vdot + self.drift(q, v)
        self.mujoco.mj_inverse(self.model, self.data)
        return T.T @ self.data.qfrc_inverse


def _follows(joint: Joint, part: Part) -> bool:
    """Whether a constraint determines it: a mimic joint, or the slide of a screw."""
    return joint.mimics or (joint.kind == "helical" and part.kind == "slide")


def bare(m: Tables) -> Tables:
    """The bodies and joints alone: no forces, no constraints."""
    return replace(m, forces=(), constraints=())
