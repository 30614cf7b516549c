"""One joint's share of an algorithm, traced: what it reads, keeps, and passes on."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.steps import Dyad, dyad
from modurob.catalogue.joints import JointType
from modurob.kernels.dyad_type import Constants, DyadType
from modurob.kernels.frames import REVERSED
from modurob.spatial import se3
from modurob.spatial.scalars import Array
from modurob.trace import Graph, Traced

Step = Callable[["Local"], None]


class Pass(NamedTuple):
    """A walk over the tree, outward, inward or up from single joints, and what happens at each joint."""

    way: str  # outward, inward, climb
    step: Step


def _nv(joint: JointType) -> int:
    return joint.nv


def _none(joint: JointType) -> int:
    return 0


@dataclass(frozen=True, eq=False)
class Program:
    """An algorithm as passes.

    `shared` are the fields that children read of their parent, with their sizes, in the order they are laid out; `sent` those that
    children add up for their parent.
    """

    name: str
    inputs: tuple[str, ...]  # arrays over q, over v, and another, in the order of the call
    output: str
    per_joint: Callable[[JointType], int]  # entries of the output for a joint
    shared: dict[str, int]
    sent: dict[str, int]
    passes: tuple[Pass, ...]
    framed: bool = False  # whether results are in the frames of the tables
    is_pushed: bool = False  # whether a wrench acts on each body
    third: Callable[[JointType], int] = _nv  # entries of the third input for a joint; none: it is common to all
    reserved: Callable[[JointType], int] = _none  # own vectors of a joint that stand before all fields


class Angle:
    """A coordinate whose cosine and sine are known already."""

    def __init__(self, cosine: Any, sine: Any):
        self._cosine, self._sine = cosine, sine

    def cos(self) -> Any:
        return self._cosine

    def sin(self) -> Any:
        return self._sine

    def __neg__(self) -> "Angle":
        return Angle(self._cosine, -self._sine)


class TracedPass(NamedTuple):
    """The code of one pass at one type: where each result goes."""

    way: str
    stores: list[tuple[str, Any]]  # destination and value: own[3], sent[0], vdot[0], ...


class Local:
    """The view a step has of its joint. Values kept by one pass are there in the next; constants are never stored."""

    def __init__(self, kind: DyadType, program: Program):
        self.kind, self.program, self.graph = kind, program, Graph()
        self.constants = Constants(kind, self.graph)
        self.nq, self.nv = self.constants.joint.nq, self.constants.joint.nv
        self._kept: dict[str, Array] = {}
        self._shared = _offsets(program.shared)
        self._sent = _offsets(program.sent)
        # own fields follow the shared ones
        self.size = program.reserved(self.constants.joint) + sum(program.shared.values())
        self.passes: list[TracedPass] = []
        self._stores: list[tuple[str, Any]] = []
        # what this pass has kept is at hand; what earlier ones have is read again
        self._at_hand: dict[str, Array] = {}
        for walk in program.passes:
            self._stores, self._at_hand = [], {}
            walk.step(self)
            self.passes.append(TracedPass(walk.way, self._stores))

    # ---- what a step reads ----

    def joint(self, name: str) -> Array:
        """q, v, tau, ... of the joint, along its axis in the chosen frame."""
        return self.constants.sign * self.graph.inputs(name, (self.nq if name == "q" else self.nv,))

    def plain(self, name: str, n: int) -> Array:
        """An input as it stands in the call."""
        return self.graph.inputs(name, (n,))

    def push(self) -> Array:
        """The external wrench on the body, in the chosen frame."""
        if not self.program.is_pushed:
            return np.zeros(6)
        wrench = self.plain(self.program.inputs[2], self.nv + 6)[self.nv :]
        return se3.to_parent(self.constants.back, wrench)

    def given(self, n: int) -> Array:
        """What a climb carries here."""
        return self._inputs("children", range(n))

    def parent(self, name: str) -> Array:
        """A shared field of the parent."""
        start = self._shared[name]
        return self._inputs("parent", range(start, start + self.program.shared[name]))

    def children(self, name: str) -> Array:
        """The sum of what the children sent; zero for a leaf."""
        start, n = self._sent[name], self.program.sent[name]
        return np.zeros(n) if self.kind.leaf else self._inputs("children", range(start, start + n))

    def own(self, name: str) -> Array:
        """A field that was kept."""
        return self._at_hand[name] if name in self._at_hand else self._kept[name]

    def _inputs(self, name: str, indices: range) -> Array:
        return np.array([self.graph.input(f"{name}[{i}]") for i in indices], dtype=object)

    def link(self) -> Dyad:
        """The joint at its configuration."""
        return dyad(self.constants.joint, self.constants.X_PJ, self.coordinates())

    def coordinates(self) -> Array:
        """q, with cosines and sines taken once and kept."""
        q = self.joint("q")
        if "waves" not in self._kept:
            self._keep_waves(q)
        return self._coordinates(q)

    def _turning(self) -> tuple[int, ...]:
        """Which coordinates are angles."""
        return {"revolute": (0,), "helical": (0,), "cylindrical": (1,), "universal": (0, 1), "planar": (2,)}.get(
            self.kind.kind.removeprefix(REVERSED), ()
        )

    def _keep_waves(self, q: Array) -> None:
        angles = [q[i] + self.constants.offset for i in self._turning()]
        self.keep("waves", np.array([w for a in angles for w in (a.cos(), a.sin())], dtype=object))

    def _coordinates(self, q: Array) -> Array:
        """q with known cosines and sines; a helical joint needs the angle itself too."""
        out, waves = q.copy(), self.own("waves")
        for k, i in enumerate(self._turning()):
            out[i] = (
                _Both(q[i], *waves[2 * k : 2 * k + 2])
                if self.kind.kind == "helical"
                else Angle(*waves[2 * k : 2 * k + 2])
            )
        return out

    # ---- what a step leaves ----

    def keep(self, name: str, value: Array, place: str = "") -> None:
        """Store a field for later passes, what is not constant of it; shared fields are stored whole.

        `place` names a shared field that nobody needs any more, or yet: this one may have its place.
        """
        value = np.asarray(value, dtype=object)
        known = np.empty(value.shape, dtype=object)
        shared = name in self._shared
        places = self._places(name if shared else place)
        for at in np.ndindex(value.shape):
            if self._is_constant(value[at]) and not shared:
                known[at] = value[at]
                continue
            where = f"own[{next(places)}]"
            self._stores.append((where, value[at]))
            known[at] = self.graph.input(where)
        self._kept[name], self._at_hand[name] = known, value

    def _places(self, field: str) -> Iterator[int]:
        """Where to store: in the place of a shared field first, then behind everything."""
        if field:
            yield from range(self._shared[field], self._shared[field] + self.program.shared[field])
        while True:
            self.size += 1
            yield self.size - 1

    def put(self, value: Array) -> None:
        """Store in the reserved vectors."""
        for k, x in enumerate(np.asarray(value, dtype=object).ravel()):
            self._stores.append((f"own[{k}]", x))

    def send(self, name: str, value: Array) -> None:
        """Add to what the parent receives."""
        for k, x in enumerate(np.asarray(value, dtype=object).ravel()):
            self._stores.append((f"sent[{self._sent[name] + k}]", x))

    def emit(self, value: Array) -> None:
        """The output of the joint."""
        for k, x in enumerate(np.asarray(value, dtype=object).ravel()):
            self._stores.append((f"{self.program.output}[{k}]", x))

    def _is_constant(self, x: Any) -> bool:
        return not isinstance(x, Traced) or self.graph.depends_only_on(x.index, TABLE)


# inputs that stand in the table
TABLE = ("R[", "p[", "I[", "armature[", "sign", "offset", "pitch", "g[", "back")


class _Both(Traced):
    """A coordinate as a number and as an angle with known cosine and sine."""

    __slots__ = ("_cosine", "_sine")

    def __init__(self, linear: Traced, cosine: Any, sine: Any):
        super().__init__(linear.graph, linear.index)
        self._cosine, self._sine = cosine, sine

    def cos(self) -> Any:
        return self._cosine

    def sin(self) -> Any:
        return self._sine


def _offsets(sizes: dict[str, int]) -> dict[str, int]:
    offsets, total = {}, 0
    for name, n in sizes.items():
        offsets[name] = total
        total += n
    return offsets
