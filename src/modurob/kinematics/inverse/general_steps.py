"""What `kernels/c/general.c` is given: the constants of a pencil, and local steps with which it walks over poses, roots, joints."""

import numpy as np

from modurob.algorithms.kinematics import rigid
from modurob.kernels.writer import Step
from modurob.kinematics.inverse import general
from modurob.kinematics.inverse.arm import Arm
from modurob.kinematics.inverse.subproblems import sp1
from modurob.spatial import se3
from modurob.spatial.scalars import Array

# numbers of the largest products before and behind the motion
BEFORE, BEHIND = 9 * 14 * 15, 9 * 15


def numbers(arm: Arm) -> Array:
    """The constants of the first pencil of an arm, in the order of `pencil` in general.c."""
    p = arm.pencils[0]
    F = p.frame
    parts = [
        [p.first, p.backwards, len(p.before), len(p.behind), *p.others],
        np.append(se3.inverse(arm.chain.X0)[:3], 1 / arm.size),
        [x for a in p.axes for x in (a.h, a.u)],
        p.left,
        F,
        F[:12].T @ F[12:],
        np.pad(p.before.ravel(), (0, BEFORE - p.before.size)),
        np.pad(p.behind.ravel(), (0, BEHIND - p.behind.size)),
    ]
    return np.concatenate([np.ravel(np.asarray(x, dtype=float)) for x in parts])


def scaled_motion(x: Array, frame: Array) -> tuple[Array, Array]:
    """A pose (3, 4) with lengths over the size of an arm, and X_0^-1; `frame` holds the latter and one over the size, (13,)."""
    X = rigid(x)
    return se3.pose(se3.rotation(X), se3.position(X) * frame[12]), rigid(frame[:12].reshape(3, 4))


def steps() -> list[Step]:
    """The functions that general.c walks with."""
    return [
        Step.of(
            "loop_motion", {"X": (3, 4), "frame": 13}, "T", lambda X, frame: np.matmul(*scaled_motion(X, frame))[:3]
        ),
        Step.of("inverse_motion", {"T": (3, 4)}, "back", lambda T: se3.inverse(rigid(T))[:3]),
        Step.of("moved_line", {"T": (3, 4), "line": 15}, "moved", lambda T, line: general.lifted(rigid(T)) @ line),
        Step.of("twelve", {"equation": (1, 9)}, "by_cos by_sin", general.twelve),
        Step.of("polynomial", {"ABC": 3, "wave": 2}, "P2 P1 P0", lambda ABC, wave: general.polynomial(*ABC, *wave)),
        Step.of("single_angles", {"v": (4, 3)}, "q", general.single_angles),
        Step.of(
            "products_of_weights", {"q": 3}, "products", lambda q: general.products_of_weights(*general.weights_of(q))
        ),
        Step.of("outer_angles", {"y": 8}, "q", general.outer_angles),
        Step.of("turned_back", {"h": 3, "q": 1, "u": 3}, "turned", lambda h, q, u: general.turned_back(h, q[0], u)),
        Step.of("angle_about", {"h": 3, "u": 3, "turned": 3}, "q", lambda h, u, turned: sp1(h, u, turned).value),
    ]
