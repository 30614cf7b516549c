"""Trees of modules by another way than the package's: poses of whole numbers, made one docking after another."""

from itertools import product
from pathlib import Path

import numpy as np
import yaml

import modurob.catalogue
from modurob.catalogue import ModuleType, library

MODULES = Path(modurob.catalogue.__file__).parent / "modules"


def cube(ports: str = "123456") -> ModuleType:
    """A cube of one piece that docks to its like by the given faces."""
    data = yaml.safe_load((MODULES / "cube_link.yaml").read_text().replace("gender: female", "gender: none"))
    return library.from_data({**data, "ports": {p: data["ports"][p] for p in ports}}, "cube")


# faces of a Backbone: normal and up, on the half that they are on (the hinge between is at zero)
FACES = {
    "2": ((1, 0, 0), (0, 0, 1)),
    "3": ((0, 1, 0), (0, 0, 1)),
    "4": ((0, -1, 0), (0, 0, 1)),
    "5": ((-1, 0, 0), (0, 0, 1)),
}
FLIP = np.diag([-1, 1, -1])  # a Backbone turned by half a turn about the line from face 4 to face 3 is a Backbone


def _frame(face: str) -> np.ndarray:
    z, x = (np.array(v) for v in FACES[face])
    return np.stack([x, np.cross(z, x), z], axis=1)


def _turn(quarters: int) -> np.ndarray:
    c, s = ((1, 0), (0, 1), (-1, 0), (0, -1))[quarters]
    return np.array([[c, s, 0], [s, -c, 0], [0, 0, -1]])  # looks at the other


def neighbour(R, p, a: str, b: str, quarters: int):
    """Pose of a Backbone docked by b at face a of one at (R, p), twice its edge the unit of length."""
    other = R @ _frame(a) @ _turn(quarters) @ _frame(b).T
    return other, p + R @ _frame(a)[:, 2] - other @ _frame(b)[:, 2]


def backbones(n: int, quarters=range(4)) -> int:
    """How many trees of n Backbones there are up to rigid motions, none with two in one place."""
    known = {
        _form([(np.eye(3, dtype=int), np.zeros(3, dtype=int))], ()): (
            [(np.eye(3, dtype=int), np.zeros(3, dtype=int))],
            (),
        )
    }
    for _ in range(n - 1):
        grown = {}
        for poses, edges in known.values():
            places, taken = (
                {tuple(p) for _, p in poses},
                {_face(poses[i], f) for i, j, f, g in edges} | {_face(poses[j], g) for i, j, f, g in edges},
            )
            for i, (a, b, k) in product(range(len(poses)), product(FACES, FACES, quarters)):
                pose = neighbour(*poses[i], a, b, k)
                if tuple(pose[1]) in places or _face(poses[i], a) in taken:
                    continue
                tree = [*poses, pose], (*edges, (i, len(poses), a, b))
                grown.setdefault(_form(*tree), tree)
        known = grown
    return len(known)


def _face(pose, face: str) -> tuple:
    """The middle of a face of a module, and the side that it is seen from."""
    R, p = pose
    z = R @ np.array(FACES[face][0])
    return (*(2 * p + z).tolist(), *z.tolist())


def _form(poses, edges) -> tuple:
    """The least list of poses and connections, seen from each module in each of its two ways."""
    return min(_seen(poses, edges, R0 @ turn, p0) for R0, p0 in poses for turn in (np.eye(3, dtype=int), FLIP))


def _seen(poses, edges, R0, p0) -> tuple:
    look = [(R0.T @ R, R0.T @ (p - p0)) for R, p in poses]
    bodies = [(*x.tolist(), *min(R.ravel().tolist(), (R @ FLIP).ravel().tolist())) for R, x in look]
    return tuple(sorted(bodies)), tuple(sorted(tuple(sorted((bodies[i], bodies[j]))) for i, j, _, _ in edges))
