"""The robot in MuJoCo, as the file that is written for it says."""

from typing import Any

import numpy as np

from modurob.errors import MjcfError
from modurob.judges.twin import JUDGES, Twin
from modurob.mechanism import Tables
from modurob.mechanism.mjcf import MujocoModel, mjcf
from modurob.mechanism.mjcf.model import bare
from modurob.spatial import se3
from modurob.spatial.scalars import Array


@JUDGES.register("mujoco")
class MujocoTwin(Twin):
    """The tree alone: no forces, no constraints. `rates` and `drift` of its model say how MuJoCo's rates follow from ours."""

    name = "MuJoCo"
    tolerance = 1e-9

    def __init__(self, m: Tables):
        super().__init__(m)
        self._own = MujocoModel(bare(m), shapes=False, disableflags=1)  # mjDSBL_CONSTRAINT
        self._mj, self.spec = self._own.mujoco, self._own.spec

    @property
    def model(self) -> Any:
        return self._own.model

    @property
    def data(self) -> Any:
        return self._own.data

    def compile(self) -> None:
        """Take in what was added to the specification."""
        self._own.compile()

    @classmethod
    def obstacle(cls, m: Tables) -> str | None:
        if not m.joints:
            return "nothing moves"
        if m.coupled or any(j.kind == "helical" for j in m.joints):
            return "a mimic or helical joint is held there by a constraint"
        try:
            mjcf(bare(m), shapes=False)
        except MjcfError as error:
            return str(error)
        return None

    def rates(self, q: Array) -> Array:
        """T with qvel = T v."""
        return self._own.rates(q)

    def _place(self, q: Array, v: Array | None = None) -> None:
        self._own.place(np.asarray(q), v)
        self._mj.mj_forward(self.model, self.data)

    def poses(self) -> Array:
        """X_WB of all bodies in the present data, (bodies, 4, 4)."""
        numbers = [self._own.body(i) for i in range(len(self.m.bodies))]
        return se3.pose(self.data.xmat.reshape(-1, 3, 3), self.data.xpos)[numbers]

    def body_poses(self, q: Array) -> Array:
        self._place(q)
        return self.poses()

    def body_jacobian(self, q: Array, body: int) -> Array:
        self._place(q)
        linear, angular = np.zeros((2, 3, self.model.nv))
        number = self._own.body(body)
        self._mj.mj_jacBody(self.model, self.data, linear, angular, number)
        R = self.data.xmat[number].reshape(3, 3)
        return np.vstack([R.T @ linear, R.T @ angular]) @ self.rates(q)

    def inverse_dynamics(self, q: Array, v: Array, vdot: Array) -> Array:
        return self._own.inverse_dynamics(q, v, vdot)

    def mass_matrix(self, q: Array) -> Array:
        return self._own.mass_matrix(q)

    def forward_dynamics(self, q: Array, v: Array, tau: Array) -> Array:
        self._place(q, v)
        T = self.rates(q)
        self.data.qfrc_applied = np.linalg.solve(T.T, tau)
        self._mj.mj_forward(self.model, self.data)
        self.data.qfrc_applied = 0
        return np.linalg.solve(T, np.array(self.data.qacc) - self._own.drift(q, v))
