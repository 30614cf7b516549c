"""Dyad types: joint kind and placement pattern. A robot is a table of types and constants.

Hinges and slides at simple placements, of which most robots are made, have code for just their pattern of zeros and ones. All other
joints share a few general types, so that no robot requires much compilation.
"""

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from modurob.catalogue.joints import Free, JointType, Prismatic, Reversed, Revolute
from modurob.fingerprints import fingerprint, is_lasting, told
from modurob.kernels.frames import Placed, matrix
from modurob.spatial import inertia
from modurob.spatial.scalars import Array
from modurob.trace import Graph

# an entry of a placement: a number 0, 1, -1, or a constant of the table with its sign
Entry = tuple[int, int]  # (sign or number, index of the constant or -1)

# arrays of constants that code reads from a joint's table, and how many each has
CONSTANTS = {
    "R": 9,  # rotation of the placement, different entries only
    "p": 3,  # its position
    "I": 10,  # inertial parameters
    "armature": 6,
    "ratio": 1,  # of the coordinate along the chosen axis to that in q
    "offset": 1,  # then added to it
    "parameter": 48,  # of the joint kind, or of a force
    "magnitude": 1,  # of the ratio
    "gravity": 3,
    "back": 12,  # the tables' body frame in the chosen one, rows
    "number": 1,  # of the body
    "frame": 12,  # of a loop joint: its successor frame, rows; its predecessor frame stands in `back`
}


@dataclass(frozen=True)
class DyadType:
    """What the code of a joint depends on; everything else is in the table."""

    joint: JointType  # in canonical axes, its parameters at zero
    rotation: tuple[Entry, ...]  # nine entries of the placement's rotation, row by row
    position: tuple[bool, ...]  # which of its three coordinates may not be zero
    leaf: bool  # carries nothing; else what its children send may be zero
    adds: bool | None  # whether a sibling has sent something to the parent before; None: its places say
    shares: bool  # its coordinate is also another joint's
    rotor: bool  # may have rotor inertia; without it much vanishes
    follows: bool = False  # its coordinate is the other joint's
    hub: bool = False  # its body is the parent of joints that share a coordinate
    base: bool = False  # a free joint on the world; positions are relative to it

    @property
    def _flags(self) -> tuple[bool, ...]:
        return self.leaf, self.shares, self.rotor, self.follows, self.hub, self.base

    @property
    def alone(self) -> "DyadType":
        """The joint wherever it stands."""
        return DyadType(self.joint, ANY_ROTATION, ANY_POSITION, False, None, self.shares, False, self.follows)

    @property
    def anywhere(self) -> "DyadType":
        """The joint at any placement, with or without children and rotor."""
        own = self.joint, ANY_ROTATION, ANY_POSITION, False, None, self.shares, True
        return DyadType(*own, self.follows, self.hub)

    @property
    def floating(self) -> "DyadType":
        """The joint as a base that floats, with or without children and rotor."""
        return replace(self.anywhere, rotation=NO_ROTATION, position=(False, False, False), base=True)

    @property
    def key(self) -> str:
        """A text that is unique."""
        turn = "".join("0+-"[n] if i < 0 else f"{'-' if n < 0 else ''}{'abcdefghi'[i]}" for n, i in self.rotation)
        place = "".join("xyz"[k] for k in range(3) if self.position[k])
        flags = "".join(c for c, on in zip("LCRFHB", self._flags, strict=True) if on)
        return f"{joint_text(self.joint)}|{turn}|{place}|{flags}{self.adds}"


def joint_text(joint: JointType) -> str:
    """The joint's kind and what its code contains of it; see `fingerprint`."""
    return _lasting_text(joint) or _text(joint)


@lru_cache(maxsize=1024)
def _lasting_text(joint: JointType) -> str:
    """The same if it is always the same."""
    return _text(joint) if is_lasting(type(_inner(joint))) else ""


def _text(joint: JointType) -> str:
    if isinstance(joint, Reversed):
        return f"reversed {_text(joint.original)}"
    own = [f"{f.name}={told(getattr(joint, f.name))}" for f in fields(joint) if f.name not in joint.parameters]  # type: ignore[arg-type]
    return f"{fingerprint(type(joint))}({', '.join(own)})"


def _entries(values: Array, constants: list[float]) -> tuple[Entry, ...]:
    """Zeros and ones as they are, other numbers as constants; equal sizes are one constant."""
    entries: list[Entry] = []
    for value in values:
        if value in (0.0, 1.0, -1.0):
            entries.append((int(value), -1))
            continue
        same = next((i for i, other in enumerate(constants) if abs(abs(value) - abs(other)) < 1e-15), len(constants))
        if same == len(constants):
            constants.append(float(value))
        entries.append((1 if value * constants[same] > 0 else -1, same))
    return tuple(entries)


# all nine entries of a rotation from the table, and all three of a position
ANY_ROTATION, ANY_POSITION = tuple((1, k) for k in range(9)), (True, True, True)
NO_ROTATION = tuple((int(k % 4 == 0), -1) for k in range(9))
# a turn about x, as the first child of a joint has it
ABOUT_X = ((1, -1), (0, -1), (0, -1), (0, -1), (1, 0), (1, 1), (0, -1), (1, 2), (1, 3))


@lru_cache(maxsize=65536)
def classified(
    body: Placed, leaf: bool, adds: bool, rotor: bool, mimic: tuple[bool, bool, bool]
) -> tuple[DyadType, tuple[float, ...]]:
    """The type of a joint, and the entries of its placement's rotation that stand in the table.

    `mimic` says whether it shares a coordinate, whether it follows, and whether its body is the parent of such joints.
    """
    X = matrix(body.X_PJ)
    shares, *more = mimic
    R, nonzero = X[:3, :3].ravel(), tuple(bool(x) for x in X[:3, 3])
    joint = body.joint.with_parameters(dict.fromkeys(body.joint.parameters, 0.0))
    constants: list[float] = []
    pattern = _entries(R, constants)
    simple = isinstance(joint, Revolute | Prismatic)
    if not constants and (simple or (isinstance(joint, Free) and not any(nonzero))):
        return DyadType(joint, pattern, nonzero, leaf, adds, shares, rotor, *more), ()
    if simple and all(n == value for (n, i), value in zip(ABOUT_X, R, strict=True) if i < 0) and not nonzero[1]:
        return DyadType(joint, ABOUT_X, (True, False, True), leaf, adds, shares, rotor, *more), tuple(R[[4, 5, 7, 8]])
    return DyadType(joint, ANY_ROTATION, ANY_POSITION, False, None, shares, rotor or not simple, *more), tuple(R)


class TracedConstants:
    """The constants of a type as traced inputs, zeros and ones already folded."""

    def __init__(self, kind: DyadType, graph: Graph):
        parameters = kind.joint.parameters
        self.joint = kind.joint.with_parameters({p: graph.input("parameter", i) for i, p in enumerate(parameters)})
        self.X_PJ: Array = np.eye(4, dtype=object)
        self.X_PJ[:3, :3] = _matrix(graph, kind.rotation)
        for k in range(3):
            self.X_PJ[k, 3] = graph.input("p", k) if kind.position[k] else 0.0
        self.inertia = inertia.from_parameters(graph.inputs("I", 10))
        self.armature = graph.inputs("armature", self.joint.nv) if kind.rotor else np.zeros(self.joint.nv)
        single = self.joint.axial and self.joint.nq == 1
        self.ratio: Any = graph.input("ratio") if self.joint.axial else 1.0
        self.offset: Any = graph.input("offset") if single else 0.0
        self.gravity = graph.inputs("gravity", 3)
        self.number = graph.input("number")
        # pose of the tables' body frame in the chosen one
        self.back: Array = np.eye(4, dtype=object)
        self.back[:3] = graph.inputs("back", (3, 4))


def _matrix(graph: Graph, entries: tuple[Entry, ...]) -> Array:
    values = [float(n) if i < 0 else n * graph.input("R", i) for n, i in entries]
    return np.array(values, dtype=object).reshape(3, 3)


def _inner(joint: JointType) -> JointType:
    return joint.original if isinstance(joint, Reversed) else joint
