"""Dyad types: joint kind and placement pattern. A robot is a table of types and constants."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from modurob.catalogue.joints import KINDS, Helical, JointType, Reversed
from modurob.kernels.frames import REVERSED, SLIDES, Placed, matrix, snapped
from modurob.spatial import inertia, se3
from modurob.spatial.scalars import Array
from modurob.trace import Graph

# an entry of a placement: a number 0, 1, -1, or a constant of the table with its sign
Entry = tuple[int, int]  # (sign or number, index of the constant or -1)


@dataclass(frozen=True)
class DyadType:
    """What the code of a joint depends on; everything else is in the table."""

    kind: str
    rotation: tuple[Entry, ...]  # nine entries of the placement's rotation, row by row
    position: tuple[bool, ...]  # which of its three coordinates are not zero
    leaf: bool  # carries nothing
    adds: bool  # a sibling has sent something to the parent before
    armature: bool
    back: tuple[
        Entry, ...
    ] = ()  # twelve entries of the pose of the tables' body frame in the chosen one, where it matters

    @property
    def key(self) -> str:
        """A name that is short and unique."""
        turn, back = (
            "".join("0+-"[n] if i < 0 else f"{'-' if n < 0 else ''}{'abcdefghijkl'[i]}" for n, i in entries)
            for entries in (self.rotation, self.back)
        )
        place = "".join("xyz"[k] for k in range(3) if self.position[k])
        flags = "".join(c for c, on in zip("LSA", (self.leaf, self.adds, self.armature), strict=True) if on)
        return f"{self.kind}|{turn}|{place}|{flags}|{back}"

    def joint(self, pitch: Any = 0.0) -> JointType:
        """The joint in canonical axes."""
        kind = self.kind.removeprefix(REVERSED)
        joint = Helical(pitch=pitch) if kind == "helical" else KINDS[kind]()
        return joint if kind == self.kind else Reversed(joint)


def _entries(values: Array, name: str, constants: dict[str, float]) -> tuple[Entry, ...]:
    """Zeros and ones as they are, other numbers as constants; equal sizes are one constant."""
    entries: list[Entry] = []
    known: list[float] = []
    for value in values:
        if value in (0.0, 1.0, -1.0):
            entries.append((int(value), -1))
            continue
        same = next((i for i, other in enumerate(known) if abs(abs(value) - abs(other)) < 1e-15), len(known))
        if same == len(known):
            constants[f"{name}[{same}]"] = float(value)
            known.append(float(value))
        entries.append((1 if value * known[same] > 0 else -1, same))
    return tuple(entries)


@lru_cache(maxsize=65536)
def classified(
    body: Placed, leaf: bool, adds: bool, turns_rotor: bool, framed: bool
) -> tuple[DyadType, tuple[tuple[str, float], ...]]:
    """The type of a joint, and those constants of its code that come from its placement."""
    constants: dict[str, float] = {"sign": body.sign, "offset": body.offset}
    X = matrix(body.X_PJ)
    rotation = _entries(X[:3, :3].ravel(), "R", constants)
    position = X[:3, 3]
    constants.update({f"p[{k}]": float(position[k]) for k in range(3) if position[k]})
    back = _entries(snapped(se3.inverse(matrix(body.T)))[:3].ravel(), "back", constants) if framed else ()
    nonzero = tuple(bool(x) for x in position)
    return DyadType(body.kind, rotation, nonzero, leaf, adds, turns_rotor, back), tuple(constants.items())


class Constants:
    """The constants of a type as traced inputs, zeros and ones already folded."""

    def __init__(self, kind: DyadType, graph: Graph):
        self.joint = kind.joint(graph.input("pitch") if kind.kind == "helical" else 0.0)
        self.X_PJ: Array = np.eye(4, dtype=object)
        self.X_PJ[:3, :3] = _matrix(graph, kind.rotation, "R", 3)
        for k in range(3):
            self.X_PJ[k, 3] = graph.input(f"p[{k}]") if kind.position[k] else 0.0
        self.inertia = inertia.from_parameters(np.array([graph.input(f"I[{k}]") for k in range(10)], dtype=object))
        nv = self.joint.nv
        self.armature = np.array(
            [graph.input(f"armature[{k}]") if kind.armature else 0.0 for k in range(nv)], dtype=object
        )
        self.sign: Any = graph.input("sign") if kind.kind in SLIDES else 1.0
        self.offset: Any = graph.input("offset") if kind.kind == "revolute" else 0.0
        self.gravity = graph.inputs("g", (3,))
        # pose of the tables' body frame in the chosen one
        self.back: Array = np.eye(4, dtype=object)
        if kind.back:
            self.back[:3] = _matrix(graph, kind.back, "back", 4)


def _matrix(graph: Graph, entries: tuple[Entry, ...], name: str, columns: int) -> Array:
    values = [float(n) if i < 0 else n * graph.input(f"{name}[{i}]") for n, i in entries]
    return np.array(values, dtype=object).reshape(-1, columns)
