"""A program at one type of joint for the threads of a GPU.

Little is kept between passes, since every word costs more than it takes to compute again.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.program import Inward, Outward, Program
from modurob.algorithms.steps import apply
from modurob.kernels.dyad import DyadType
from modurob.kernels.dyad_units import PER_JOINT
from modurob.kernels.lowering import Store, TracedView, _Field, first_free, size
from modurob.kernels.writer import VECTORS, Code, Table
from modurob.spatial import se3
from modurob.spatial.scalars import Array
from modurob.trace import Dialect, Listing, Place, Traced


def parent_angular_velocity(j: Any, w: Array) -> Array:
    """The parent's angular velocity from the body's: w_P = R (w - w_J), the way back of `algorithms.steps.spin`."""
    return apply(se3.rotation(j.X), w - apply(j.S, j.given("v"))[3:])


class Recomputed(NamedTuple):
    """Fields that later passes work out again from a shared field of the parent, which goes along: outward as it did, inward by its
    way back."""

    fields: tuple[str, ...] = ()
    from_: str = ""
    back: Any = None


RECOMPUTED = {"forward_dynamics": Recomputed(("drift", "p"), "w", parent_angular_velocity)}
DIALECT = {
    **VECTORS.__dict__,
    "declare": "const real {0} = {1};",
    "select": "({0} < {1} ? {2} : {3})",
    "functions": {f: f"{f}({{0}})" for f in ("sqrt", "exp", "log", "tanh", "rint")},
    "atan2": "atan2({0}, {1})",
    "reciprocal": "reciprocal({0})",
    "waves": "real {0}_sin, {0}_cos; sine_cosine({1}, &{0}_sin, &{0}_cos);",
}


def supported(program: Any) -> bool:
    """Whether a program runs on a GPU: passes outward and inward that leave results at joints."""
    return (
        isinstance(program, Program)
        and all(isinstance(walk, Outward | Inward) for walk in program.passes)
        and all(kind in PER_JOINT for kind in program.results.values())
        and not program.columns
    )


class LeanView(TracedView):
    """Of what passes keep, some is worked out again; sines and cosines are read where they were kept."""

    def __init__(self, kind: DyadType, program: Program, waves: bool):
        super().__init__(kind, program, frozenset())
        self.again = recomputed(program)
        self.keeps_waves = waves and len(program.passes) > 1
        self.waves: dict[int, int] = {}  # nodes of cosines and sines, and which they are
        self.values: dict[str, Array] = {}
        self._back: Array | None = None  # the parent's field, on the way back

    def parent(self, name: str) -> Array:
        return super().parent(name) if self._back is None else self._back

    def keep(self, **fields: Array) -> None:
        for name, value in fields.items():
            value = np.asarray(value, dtype=object)
            self.values[name] = value
            if name == "waves":
                self.waves = {x.index: k for k, x in enumerate(value)}
            if name == "waves" and self.keeps_waves:
                self.store("own waves", value)
            if name == "waves" or name in self.again.fields or self._back is not None:
                now = len(self.passes) - 1
                self.fields[name], self._at_hand[name] = _Field(value, now, len(self.program.passes) - 1), value
            else:
                super().keep(**{name: value})

    def follow(self) -> None:
        """Outward, the field that others are worked out from, once more for the children."""
        name = self.again.from_
        if name and len(self.passes) > 1:
            self.store(f"own {name}", self.values[name])

    def go_back(self) -> None:
        """Inward, that field of the parent from the body's own, and what the first pass makes of it."""
        name = self.again.from_
        if name:
            values, fields = dict(self.values), dict(self.fields)
            back = self.again.back(self, self.graph.inputs(f"own {name}", self.program.shared[name]))
            self._back = back
            self.program.passes[0].step(self)  # type: ignore[union-attr]
            self._back, self.values, self.fields = None, values, fields  # what it made is at hand for this pass alone
            self.store(f"up {name}", back)


def recomputed(program: Program) -> Recomputed:
    """What a program works out again."""
    return RECOMPUTED.get(program.name, Recomputed())


@dataclass(frozen=True)
class Area:
    """Where the fields of a body stand among its words; shared ones at the same places in all types."""

    program: Program

    @property
    def sent(self) -> dict[str, int]:
        """Where each sum begins, among what a joint sends."""
        return _starts({name: size(shape) for name, shape in self.program.sent.items()})

    @property
    def shared(self) -> dict[str, int]:
        """Where each shared field begins."""
        return _starts({name: size(shape) for name, shape in self.program.shared.items()})

    def width(self, what: str) -> int:
        """How many numbers all shared fields take, or all that is sent."""
        return sum(size(shape) for shape in getattr(self.program, what).values())

    def produced(self, k: int) -> list[str]:
        """The shared fields that pass k leaves, by a look at a body that carries others."""
        return _produced(self.program)[k]

    def places(self, names: Iterable[str]) -> list[int]:
        """Where the numbers of some shared fields stand among them."""
        return [self.shared[n] + i for n in names for i in range(size(self.program.shared[n]))]


def _starts(sizes: Mapping[str, int]) -> dict[str, int]:
    ends = np.cumsum([0, *sizes.values()]).tolist()
    return dict(zip(sizes, ends, strict=False))


@lru_cache(maxsize=16)
def _produced(program: Program) -> list[list[str]]:
    from modurob.catalogue.joints import Revolute
    from modurob.kernels.dyad import ANY_POSITION, ANY_ROTATION

    kind = DyadType(Revolute((0.0, 0.0, 1.0)), ANY_ROTATION, ANY_POSITION, False, False, False, True)
    stores = _traced(kind, program).passes
    return [[n for n in program.shared if any(s.place.array == f"own {n}" for s in own)] for own in stores]


def inputs_of(program: Program) -> list[str]:
    """The inputs that a GPU reads: wrenches are not among them."""
    return [name for name, kind in program.inputs.items() if kind in ("coordinates", "rates")]


def fetched(program: Program) -> dict[str, int]:
    """The words of a body, the same in all types, that the first entry of each input is brought to before the first pass."""
    return {name: k for k, name in enumerate(inputs_of(program))}


def holding(program: Program) -> int:
    """The pass that finds a body's words in registers: the last, if others came before."""
    return len(program.passes) - 1 or -1


def _traced(kind: DyadType, program: Program, waves: bool = True) -> LeanView:
    view = LeanView(kind, program, waves)
    for walk in program.passes:
        view.begin()
        assert isinstance(walk, Outward | Inward)
        if isinstance(walk, Inward):
            view.go_back()
        walk.step(view)
        if isinstance(walk, Outward):
            view.follow()
    return view


@lru_cache(maxsize=4096)
def lean_code(
    kind: DyadType, program: Program, fetches: bool = False, waves: bool = True
) -> tuple[tuple[str, ...], Code]:
    """The bodies of the functions of a type, one a pass, and what must be known of its table.

    Its size is that of its own fields, and of its inputs if they are fetched. Sines and cosines are among its fields, or computed
    again in each pass.
    """
    view = _traced(kind, program, waves)
    places, words = _allocated(view, fetches)
    # what all types begin with: `head`
    offset, ratio = (view.graph.input(name).index for name in ("offset", "ratio"))
    nodes = [offset, ratio, ratio, ratio]
    bodies = []
    for k in range(len(program.passes)):
        table = Table(view.graph)
        body = _body(view, k, places, table)
        read = [f"read_four(c + {len(nodes) + i}, k + {i});" for i in range(0, len(table.nodes), 4)]
        bodies.append("\n".join([f"real k[{4 * len(read) or 1}]; (void)k;", *read, body]))
        nodes += table.nodes + table.nodes[:1] * (-len(table.nodes) % 4)
    return tuple(bodies), Code([f"step_{k}" for k in range(len(bodies))], view.graph, nodes, len(words))


@lru_cache(maxsize=4096)
def own_words(kind: DyadType, program: Program, fetches: bool, waves: bool) -> list[list[tuple[int, int]]]:
    """For each word of a body the first and last pass of what stands there; -1: before the first pass."""
    return _allocated(_traced(kind, program, waves), fetches)[1]


def reads(body: str, name: str) -> bool:
    """Whether a step reads the first entry of an input, or the cosine and sine that are made of q."""
    return bool(re.search(rf"\b{name}_0\b", body)) or (name == "q" and waved(body))


def waved(body: str) -> bool:
    """Whether a step reads the cosine or sine of the joint's angle that all types compute alike."""
    return bool(re.search(r"\b(co)?sine\b", body))


def _allocated(view: LeanView, fetches: bool) -> tuple[dict[Place, int], list[list[tuple[int, int]]]]:
    """The word of each of a body's own fields, and in which passes words are in use."""
    program = view.program
    busy: list[list[Any]] = []
    for name in fetched(program) if fetches else ():
        bodies = enumerate(lean_code(view.kind, program, False, view.keeps_waves)[0])
        last = max((k for k, body in bodies if reads(body, name)), default=-1)
        # a pass reads inputs before it writes
        busy.append([(-1, last - 0.1)])
    places: dict[Place, int] = {}
    for name, kept in view.fields.items():
        if name in (*program.shared, *view.again.fields) or (name == "waves" and not view.keeps_waves):
            continue
        for k, x in enumerate(kept.known.ravel()):
            stored = isinstance(x, Traced) and view.graph.nodes[x.index].value == Place(f"own {name}", k)
            if stored or name == "waves":
                places[Place(f"own {name}", k)] = first_free(busy, kept.first, kept.last)
    return places, [[(first, math.ceil(last)) for first, last in uses] for uses in busy]


def _body(view: LeanView, k: int, places: Mapping[Place, int], table: Table) -> str:
    """The C text of a step.

    It reads `P` of the parent, `C` of the children, `own` of the body and inputs, and leaves `P` and `C` for the next joint.
    """
    area = Area(view.program)
    shared, sent = area.shared, area.sent

    def text(place: Place) -> str:
        what, _, name = place.array.partition(" ")
        match what:
            case "in":
                return f"INPUT(in_{name} + {place.index} * step_{name})" if place.index else f"{name}_0"
            case "parent" | "own" if name in shared:
                return f"P[{shared[name] + place.index}]"
            case "children":
                return f"C[{sent[name] + place.index}]"
            case "own":
                return f"own[{places[place]} * stride]"
        return "status"

    offset, ratio = (view.graph.input(name) for name in ("offset", "ratio"))
    head = {offset.index: "head[0]", ratio.index: "head[1]"}
    angle = (ratio * view.graph.input("in q") + offset).index

    def known(i: int) -> str | None:
        if i in view.waves and k and view.keeps_waves:
            return f"wave_{view.waves[i]}"
        if i in view.waves and view.graph.nodes[i].args == (angle,):
            return ("cosine", "sine")[view.waves[i] % 2]
        if i in head:
            return head[i]
        constant = table.text(i)
        return constant and constant.replace("V(c[", "(k[")

    stores, ends = _destinations(view, k, text, shared, sent)
    lines = list(Listing(view.graph, stores, Dialect(**{**DIALECT, "place": text}), known).lines())
    whole = "\n".join([*lines, *ends])
    waves = [
        f"const real wave_{n} = {text(Place('own waves', n))};"
        for n in view.waves.values()
        if k and f"wave_{n}" in whole
    ]
    return "\n".join([*waves, whole])


def _destinations(view: LeanView, k: int, text: Any, shared: Any, sent: Any) -> tuple[list[tuple[str, Any]], list[str]]:
    """Where results go: what is still read in the step goes there after all else."""
    stores, ends = [], []
    for n, (place, value, _) in enumerate(_wanted(view, k)):
        what, _, name = place.array.partition(" ")
        if what in ("own", "up") and name in shared:
            where, last = f"const real n{n} ", f"P[{shared[name] + place.index}] = n{n};"
        elif what == "sent":
            where, last = f"const real n{n} ", f"C[{sent[name] + place.index}] = n{n};"
        elif what == "out":
            where, last = (
                f"const real n{n} ",
                f"OUTPUT(out_{name} + {place.index} * out_step_{name}, n{n}); lost += n{n} * 0;",
            )
        else:
            where, last = f"{text(place)} ", ""
        stores.append((where, value))
        ends += [last] if last else []
    return stores, ends


def _wanted(view: LeanView, k: int) -> list[Store]:
    """The stores of a pass; a body that carries nothing leaves nothing for children, but where the way back begins."""
    begins = f"own {view.again.from_}" if not k else ""
    shared = {f"own {name}" for name in view.program.shared} - {begins}
    return [s for s in view.passes[k] if not (view.kind.leaf and s.place.array in shared)]
