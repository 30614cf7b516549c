"""C functions of many points: loops over code that is traced for one point.

Values common to all points are computed before a loop, and sums over points are complete after it. Values that depend on such sums
and on a point are computed in the next loop, which reads what earlier loops kept for each point.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from modurob.kernels.lowering import TABLE, Store
from modurob.kernels.writer import (
    HELPER,
    POINT,
    QUICK,
    SAME,
    TABULAR,
    VECTORS,
    Layout,
    Table,
    destination,
    framed,
    pointers_of,
)
from modurob.spatial.scalars import Array
from modurob.trace import Dialect, Graph, Listing, Traced


class Points:
    """Points that are traced as one: the values of each, and the inputs that stand for them."""

    def __init__(self, graph: Graph, table: Table, apart: bool = False):
        """`apart`: values common to all points are computed by another function too."""
        self._graph, self._table, self._apart = graph, table, apart
        self._tabular: dict[tuple[int, ...], Traced] = {}
        self._varying: dict[tuple[int, ...], Traced] = {}
        self._same: dict[int, Traced] = {}

    def one(self, x: Array, axis: int) -> Array:
        """The one point of an array whose axis runs over points, or has length one for all of them."""
        x = np.moveaxis(x, axis, -1)
        out = np.empty((*x.shape[:-1], 1), dtype=object)
        for at in np.ndindex(x.shape[:-1]):
            out[at] = self._entry(tuple(self._graph.index(e) for e in x[at]))
        return np.moveaxis(out, -1, axis)

    def _entry(self, values: tuple[int, ...]) -> Traced:
        if len({*values}) > 1:
            if all(self._graph.depends_only_on(x, TABLE) for x in values):
                return self._in_table(values)
            return self._varying.setdefault(values, self._graph.input(POINT, len(self._varying)))
        if not self._apart or self._graph.number(values[0]) is not None:
            return Traced(self._graph, values[0])
        return self._same.setdefault(values[0], self._graph.input(SAME, len(self._same)))

    def _in_table(self, values: tuple[int, ...]) -> Traced:
        if values not in self._tabular:
            self._tabular[values] = self._graph.input(TABULAR, self._table.extended(values))
        return self._tabular[values]

    def found(self) -> list[tuple[str, Traced]]:
        """The values of all points, and where each is stored."""
        turns = ((i, k, x) for i, own in enumerate(self._varying) for k, x in enumerate(own))
        point = [(f"{POINT}[{i}][{k}] ", Traced(self._graph, x)) for i, k, x in turns]
        return [*point, *((f"{SAME}[{i}] ", Traced(self._graph, x)) for i, x in enumerate(self._same))]

    def declared(self) -> list[str]:
        """Declarations of the arrays of these values."""
        sizes = {POINT: f"[{len(self._varying)}][{self._graph.times}]", SAME: f"[{len(self._same)}]"}
        return [f"vec {name}{size};" for name, size in sizes.items() if name in self._arrays()]

    def parameters(self) -> list[str]:
        """The same arrays as parameters of the function that computes them."""
        types = {POINT: f"vec (*{POINT})[{self._graph.times}]", SAME: f"vec *{SAME}"}
        return [types[name] for name in self._arrays()]

    def call(self) -> str:
        """A call of that function."""
        return f"{HELPER}({', '.join(['arena', 'at', 'c', *self._arrays()])});"

    def _arrays(self) -> list[str]:
        return [name for name, own in ((POINT, self._varying), (SAME, self._same)) if own]


@dataclass(frozen=True, eq=False)
class Looped:
    """A function of points: one is passed over where the number `near` is negative in no lane, which then adds nothing to sums, and
    leaves zeros in what it does not add to."""

    graph: Graph
    near: Traced
    stores: Sequence[Store]
    layout: Layout
    table: Table

    @property
    def wanted(self) -> list[Any]:
        """All values that it needs."""
        return [self.near, *(s.value for s in (*self._each, *self._after))]

    @cached_property
    def _each(self) -> list[Store]:
        """What a point stores, and what it adds where sums over points are added."""
        own = [s for s in self.stores if s.place.array in self.layout.varying]
        sums = ((s, _term(s.value)) for s in self.stores if s.add)
        return own + [s._replace(value=term) for s, term in sums if term is not None]

    @cached_property
    def _after(self) -> list[Store]:
        """What is stored after all points."""
        others = (s for s in self.stores if s.place.array not in self.layout.varying)
        return [s for s in others if not s.add or _term(s.value) is None]

    @cached_property
    def dialect(self) -> Dialect:
        """Quotients and roots good to the last bit or two."""
        return Dialect(**{**VECTORS.__dict__, **QUICK, "place": self.layout.text})

    # ---- what goes where ----

    @cached_property
    def _stages(self) -> dict[int, int]:
        """For each node the number of the loop it can be in, or before; sums over it are there before the next."""
        stages: dict[int, int] = {}
        for i in self.graph.needed(self.wanted):
            op, args, _ = self.graph.nodes[i]
            stages[i] = max((stages[a] for a in args), default=0) + (op == "total")
        return stages

    @cached_property
    def _varying(self) -> list[int]:
        return [i for i in self._stages if self.graph.varies(i)]

    @cached_property
    def _loops(self) -> int:
        return 1 + max((self._stages[i] for i in self._varying), default=-1)

    def _seams(self) -> Iterable[tuple[int, int]]:
        """Nodes with a name of their own, and what uses them."""
        for user in self._stages:
            for i in self.graph.nodes[user].args:
                if self.graph.nodes[i].op not in PLAIN and not self.graph.depends_only_on(i, TABLE):
                    yield i, user

    @cached_property
    def _shared(self) -> set[int]:
        """Nodes that are the same for all points, computed before a loop and read in it, or beyond."""
        varying = {*self._varying}
        before = {*self.graph.needed(Traced(self.graph, i) for i in varying)} - varying
        seams = ((i, user) for i, user in self._seams() if i in before)
        return {i for i, user in seams if user not in before or self._stages[user] > self._stages[i]}

    @cached_property
    def _kept(self) -> set[int]:
        """Nodes that differ from point to point, and are read in a later loop."""
        seams = ((i, user) for i, user in self._seams() if self.graph.varies(i) and self.graph.varies(user))
        return {i for i, user in seams if self._stages[user] > self._stages[i]}

    def _stage_of(self, x: Any) -> int:
        return min(self._stages[x.index], self._loops - 1) if isinstance(x, Traced) else 0

    # ---- text ----

    def _known(self, stage: int, inside: bool) -> Callable[[int], str | None]:
        """What is there in a loop, or before it."""

        def known(i: int) -> str | None:
            if self.graph.nodes[i].op == "total":
                return f"total{i}"
            if i in self._shared and self._stages[i] < stage + inside:
                return f"shared{i}"
            return f"kept{i}[k]" if i in self._kept and self._stages[i] < stage else self.table.text(i)

        return known

    def _lines(self, stores: Iterable[tuple[str, Any]], stage: int, inside: bool) -> list[str]:
        return list(Listing(self.graph, stores, self.dialect, self._known(stage, inside)).lines())

    def lines(self) -> list[str]:
        """All statements but those that find the points."""
        stores = [(destination(self.layout, s), s.value) for s in self._after]
        loops = [line for stage in range(self._loops) for line in (*self._before(stage), *self._loop(stage))]
        kept = [f"kept{i}[{self.graph.times}]" for i in sorted(self._kept)]
        kept += [f"kept_near[{self.graph.times}]"] if self._loops > 1 else []
        return [*(f"vec {x};" for x in kept), *loops, "{", *self._lines(stores, self._loops, False), "}"]

    def _before(self, stage: int) -> list[str]:
        shared = [i for i in sorted(self._shared) if self._stages[i] == stage]
        names = [f"shared{i} " for i in shared]
        found = self._lines(((x, Traced(self.graph, i)) for x, i in zip(names, shared, strict=True)), stage, False)
        return [*(f"vec {x};" for x in names), "{", *found, "}"]

    def _loop(self, stage: int) -> list[str]:
        totals = [i for i in self._stages if self.graph.nodes[i].op == "total" and self._stages[i] == stage + 1]
        stores = [(f"total{i} +", Traced(self.graph, *self.graph.nodes[i].args)) for i in totals]
        stores += [(f"kept{i}[k] ", Traced(self.graph, i)) for i in sorted(self._kept) if self._stages[i] == stage]
        own = [s for s in self._each if self._stage_of(s.value) == stage]
        stores += [(destination(self.layout, s), s.value) for s in own]
        zeros = [f"{self.layout.text(s.place)} = V(0);" for s in own if not s.add]
        body = [
            *self._guard(stage),
            "if (any_negative(near)) {",
            *self._lines(stores, stage, True),
            *(["} else {", *zeros] if zeros else []),
            "}",
        ]
        head = [f"for (int k = 0; k < {self.graph.times}; ++k) {{"]
        return [*(f"vec total{i} = V(0);" for i in totals), *head, *body, "}"]

    def _guard(self, stage: int) -> list[str]:
        if stage:
            return ["const vec near = kept_near[k];"]
        kept = ["kept_near[k] = near;"] if self._loops > 1 else []
        return [*self._lines([("const vec near ", self.near)], stage, True), *kept]

    def zeros(self) -> list[str]:
        """The statements that leave all points out."""
        own = [(s, f"{self.layout.text(s.place)} = V(0);") for s in self.stores if not s.add]
        looped = [text for s, text in own if s.place.array in self.layout.varying]
        head = f"for (int k = 0; k < {self.graph.times}; ++k) {{"
        return [*(text for _, text in own if text not in looped), *([head, *looped, "}"] if looped else [])]


def _term(x: Any) -> Traced | None:
    """What a sum over points, or its negative, is the sum of."""
    if not isinstance(x, Traced):
        return None
    op, args, _ = x.graph.nodes[x.index]
    if op == "negate":
        inner = _term(Traced(x.graph, *args))
        return None if inner is None else -inner
    return Traced(x.graph, *args) if op == "total" else None


# operations that are written in place, without a name
PLAIN = ("input", *VECTORS.unnamed)


def function_of_points(name: str, unless: Any, points: Points, found: Sequence[str], own: Looped, leave: bool) -> str:
    """One C function, left early where the number `unless` is negative in no lane, as if there were no points, or, with `leave`,
    with all results as they are. `found` are the statements that find the points."""
    guard = Listing(own.graph, [("const vec unless ", unless)], own.dialect, own.table.text).lines()
    early = ["if (!any_negative(unless)) {", *([] if leave else own.zeros()), "return;", "}"]
    inner = [*points.declared(), *found, *own.lines()]
    wanted = [unless, *own.wanted, *(x for _, x in points.found())]
    return framed(name, [*pointers_of(own.graph, wanted, own.stores, own.layout), *guard, *early, "{", *inner, "}"])


def found_here(points: Points, own: Looped) -> list[str]:
    """The statements that find points, where no other function does."""
    return ["{", *Listing(own.graph, points.found(), own.dialect, own.table.text).lines(), "}"]


def finder(points: Points, own: Looped) -> str:
    """The function that finds points for others in its unit."""
    wanted = points.found()
    pointers = pointers_of(own.graph, [x for _, x in wanted], [], own.layout)
    lines = Listing(own.graph, wanted, own.dialect, own.table.text).lines()
    return framed(HELPER, [*pointers, *lines], "SEPARATE ", points.parameters())
