"""Names and poses of what a compiled model holds."""

from typing import Any

import numpy as np

from modurob.spatial import quaternion, se3
from modurob.spatial.scalars import Array


class Read:
    """A compiled model, the file it comes from, and the names of its things; those without one are called by kind and number."""

    def __init__(self, model: Any, spec: Any, mujoco: Any, where: str):
        self.model, self.spec, self.mujoco, self.where = model, spec, mujoco, where

    @property
    def name(self) -> str:
        """Of the robot."""
        return self.spec.modelname

    def named(self, kind: str, i: int) -> str:
        """The name of a body, joint, site, tendon, equality or actuator."""
        if kind == "body" and i == 0:
            return "world"
        name = self.mujoco.mj_id2name(self.model, getattr(self.mujoco.mjtObj, f"mjOBJ_{kind.upper()}"), int(i))
        return name or f"{kind} {i}"

    def own_frame(self, i: int) -> Array | None:
        """The pose on a body of the frame with its name, if a site of that name defines it, (4, 4)."""
        site = self.mujoco.mj_name2id(self.model, self.mujoco.mjtObj.mjOBJ_SITE, self.named("body", i))
        return None if site < 0 or self.model.site_bodyid[site] != i else self.on_body(site)

    def frame(self, i: int) -> str:
        """The frame at MuJoCo's frame of a body."""
        return self.named("body", i) if self.own_frame(i) is None else f"{self.named('body', i)} joint"

    def site(self, i: int) -> tuple[str, Array]:
        """The frame of a site's body, and its pose there."""
        m = self.model
        return self.frame(m.site_bodyid[i]), self.on_body(i)

    def on_body(self, site: int) -> Array:
        """The pose of a site on its body, (4, 4)."""
        return pose(self.model.site_pos[site], self.model.site_quat[site])


def pose(pos: Array, quat: Array) -> Array:
    """X of a position and a quaternion, (4, 4)."""
    return se3.pose(quaternion.to_matrix(np.array(quat)), np.array(pos))
