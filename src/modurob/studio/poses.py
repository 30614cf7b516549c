"""Poses of all bodies, fast enough to send sixty times a second."""

from functools import lru_cache

import numpy as np

from modurob.catalogue.joints import JointType
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array


class BodyPoses:
    """X_WB of every body, as `forward_kinematics(q).bodies`; joints of one type are evaluated together."""

    def __init__(self, robot: Mechanism):
        self._parent, self._X_PJ = robot.parent, robot.X_PJ
        alike: dict[JointType, list[int]] = {}
        for body, joint in enumerate(robot.joints, start=1):
            alike.setdefault(joint.type, []).append(body)
        self._groups = [
            (kind, np.array(bodies), np.array([np.r_[robot.joints[b - 1].q_slice] for b in bodies], dtype=int))
            for kind, bodies in alike.items()
        ]

    def __call__(self, q: Array) -> Array:
        """For one configuration, (bodies, 4, 4)."""
        X = self._X_PJ.copy()
        for kind, bodies, coordinates in self._groups:
            X[bodies] = X[bodies] @ kind.pose(q[coordinates])
        X[0] = np.eye(4)
        for i in range(1, len(X)):
            if self._parent[i]:
                np.matmul(X[self._parent[i]], X[i], out=X[i])
        return X


@lru_cache(maxsize=64)
def body_poses(robot: Mechanism) -> BodyPoses:
    """The poses of a robot's bodies as a function of q."""
    return BodyPoses(robot)
