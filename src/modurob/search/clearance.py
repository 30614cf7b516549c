"""Self-collision of a robot of modules at joint configurations: boxes around shapes, without pairs of docked modules."""

from functools import lru_cache
from itertools import combinations

import numpy as np

from modurob.assembly.clash import SHRINK, boxes_meet
from modurob.geometry import solid
from modurob.kinematics.collisions import shape_names
from modurob.robot import Assembly, Mechanism
from modurob.spatial import se3
from modurob.spatial.scalars import Array


class Clearance:
    """The boxes of a robot that must not collide, for many configurations."""

    def __init__(self, assembly: Assembly, robot: Mechanism):
        shapes = robot.shapes
        self.robot = robot
        self.bodies = np.array([s.frame.body for s in shapes], dtype=int)
        self.X_BS = np.stack([s.in_body for s in shapes]) if shapes else np.zeros((0, 4, 4))
        self.half = np.array([solid(s.kind, s.size).half_edges for s in shapes]).reshape(-1, 3) * (1 - SHRINK)
        self.pairs = _pairs(assembly, [name.split("/")[0] for name in shape_names(robot, shapes)])

    def meets(self, q: Array) -> Array:
        """Whether two boxes meet at q (..., nq), (...) bool."""
        if not len(self.pairs):
            return np.zeros(q.shape[:-1], dtype=bool)
        X = self.robot.forward_kinematics(q).bodies[..., self.bodies, :, :] @ self.X_BS
        a, b = self.pairs.T
        place = se3.position(X)
        away = np.linalg.norm(place[..., a, :] - place[..., b, :], axis=-1)
        radius = np.linalg.norm(self.half, axis=-1)
        near = np.nonzero(away < radius[a] + radius[b])
        met = np.zeros(away.shape, dtype=bool)
        one, two = a[near[-1]], b[near[-1]]
        X_a, X_b = X[(*near[:-1], one)], X[(*near[:-1], two)]
        met[near] = boxes_meet(X_a, self.half[one], X_b, self.half[two])
        return np.asarray(met.any(axis=-1))


def _pairs(assembly: Assembly, owners: list[str]) -> Array:
    """Places of shapes of two modules that are not docked to each other, (p, 2)."""
    docked = {frozenset((c.a.module, c.b.module)) for c in assembly.connections}
    apart = lru_cache(maxsize=None)(lambda one, two: one != two and frozenset((one, two)) not in docked)
    found = [(i, j) for (i, one), (j, two) in combinations(enumerate(owners), 2) if apart(one, two)]
    return np.array(found, dtype=int).reshape(-1, 2)
