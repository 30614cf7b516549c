"""What inverse kinematics answers."""

from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class InverseKinematics:
    """The configurations that bring a frame to a pose, best first.

    For one goal `q` is (k, nq); for a batch of m goals it is (m, k, nq), rows beyond `count` are NaN. Where no
    configuration reaches the goal, `reached` is false and `q` holds the nearest one found, with its distance in `residual`.
    """

    q: Array  # (..., k, nq)
    count: Array  # (...,) solutions of each goal, 0 where it was not reached
    reached: Array  # (...,) bool
    residual: Array  # (..., k) pose error of each row: m and rad, the larger
    exact: bool  # all solutions, by closed form or an eigenproblem; False: one, by iteration
    certain: Array  # (...,) bool: it is proved that no solution is missing
    family: str  # what the geometry allowed: "spherical wrist, 2 and 3 parallel", "general 6R", "numeric", ...
    note: str = ""  # what to know about this answer: free joints, singular poses, why a goal was not reached
