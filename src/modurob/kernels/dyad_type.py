"""Dyad types: joint kind and placement pattern. A robot is a table of types and constants."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from modurob.catalogue.joints import KINDS, Helical, JointType, Universal
from modurob.kernels.frames import Framed, snapped
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
    offset: bool
    back: tuple[Entry, ...] = ()  # twelve entries of the pose of the tables' body frame in the chosen one, where it matters

    @property
    def key(self) -> str:
        """A name that is short and unique."""
        turn, back = (
            "".join("0+-"[n] if i < 0 else f"{'-' if n < 0 else ''}{'abcdefghijkl'[i]}" for n, i in entries)
            for entries in (self.rotation, self.back)
        )
        place = "".join("xyz"[k] for k in range(3) if self.position[k])
        flags = "".join(c for c, on in zip("LSAO", (self.leaf, self.adds, self.armature, self.offset), strict=True) if on)
        return f"{self.kind}|{turn}|{place}|{flags}|{back}"

    def joint(self, pitch: Any = 0.0) -> JointType:
        """The joint in canonical axes."""
        if self.kind == "universal":
            return Universal()
        return Helical(pitch=pitch) if self.kind == "helical" else KINDS[self.kind]()


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


def classified(body: Framed, leaf: bool, adds: bool, framed: bool) -> tuple[DyadType, dict[str, float]]:
    """The type of a joint and the constants that its code reads, by name."""
    constants: dict[str, float] = {"offset": body.offset, "pitch": body.pitch}
    rotation = _entries(body.X_PJ[:3, :3].ravel(), "R", constants)
    position = body.X_PJ[:3, 3]
    constants.update({f"p[{k}]": float(position[k]) for k in range(3) if position[k]})
    constants.update({f"I[{k}]": float(x) for k, x in enumerate(inertia.parameters(body.inertia))})
    constants.update({f"armature[{k}]": float(x) for k, x in enumerate(body.armature)})
    back = _entries(snapped(se3.inverse(body.T))[:3].ravel(), "back", constants) if framed else ()
    flags = leaf, adds, bool(np.any(body.armature)), bool(body.offset)
    return DyadType(body.kind, rotation, tuple(bool(x) for x in position), *flags, back), constants


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
        self.armature = np.array([graph.input(f"armature[{k}]") if kind.armature else 0.0 for k in range(nv)], dtype=object)
        self.offset: Any = graph.input("offset") if kind.offset else 0.0
        self.gravity = graph.inputs("g", (3,))
        # pose of the tables' body frame in the chosen one
        self.back: Array = np.eye(4, dtype=object)
        if kind.back:
            self.back[:3] = _matrix(graph, kind.back, "back", 4)


def _matrix(graph: Graph, entries: tuple[Entry, ...], name: str, columns: int) -> Array:
    values = [float(n) if i < 0 else n * graph.input(f"{name}[{i}]") for n, i in entries]
    return np.array(values, dtype=object).reshape(-1, columns)
