"""The C function of a program's pairs: entries of matrices between a rate and, in a loop, the rates of its ancestors."""

from typing import Any

import numpy as np

from modurob.algorithms.program import Pairs, Program
from modurob.kernels.units import Unit
from modurob.kernels.writer import VECTORS, Code
from modurob.spatial.scalars import Array
from modurob.trace import Dialect, Graph, Listing, Place


class _TracedPair:
    """One rate against another."""

    def __init__(self, program: Program):
        self.program, self.graph = program, Graph()
        self.stores: list[tuple[Place, Any]] = []
        self.above: list[tuple[Place, Any]] = []

    def a(self, name: str) -> Array:
        return self.graph.inputs(f"a {name}", (1, self.program.columns[name]))

    def b(self, name: str) -> Array:
        return self.graph.inputs(f"b {name}", (1, self.program.columns[name]))

    def emit(self, **results: Array) -> None:
        self.stores += [(Place(name, 0), x[0]) for name, x in results.items()]

    def emit_above(self, **results: Array) -> None:
        self.above += [(Place(name, 1), x[0]) for name, x in results.items()]


def column_offsets(program: Program) -> dict[str, int]:
    """Where the columns of a rate stand among its vectors."""
    starts = np.cumsum([0, *program.columns.values()])
    return dict(zip(program.columns, starts.tolist(), strict=False))


def matrices(program: Program) -> list[str]:
    """The results that are matrices."""
    return [name for name, kind in program.results.items() if kind == "matrix"]


def pair_unit(program: Program, walk: Pairs, shares: bool, lanes: int, single: bool) -> Unit:
    """The function of the pairs of a program; where coordinates are shared, entries add up."""

    def write() -> tuple[str, Code]:
        return _text(program, walk, shares), Code(["pairs"], Graph(), [], 0)

    return Unit(program.name, f"pairs of {program.name} {shares}", lanes, single, write)


def _text(program: Program, walk: Pairs, shares: bool) -> str:
    """at: the columns of rate a, how many rates b are of ancestors and how many of its own joint, the matrices; then for each b of
    an ancestor its columns and the entries ab and ba, for each b of its own joint its columns and the entry ab."""
    pair = _TracedPair(program)
    walk.step(pair)
    names, offsets = matrices(program), column_offsets(program)
    sign = "+" if shares else ""

    def place(p: Place) -> str:
        side, name = p.array.split()
        return f"{side}[{offsets[name] + p.index}]"

    def destination(p: Place) -> str:
        return f"arena[at[{3 + names.index(p.array)}] + {('ab', 'ba')[p.index]}] {sign}"

    dialect = Dialect(**{**VECTORS.__dict__, "place": place})
    used = sorted({n.value for n in pair.graph.nodes if n.op == "input" and n.value.array.startswith("a ")})
    local = {pair.graph.input(*p).index: f"a{k}" for k, p in enumerate(used)}
    hoisted = [f"const vec a{k} = {place(p)};" for k, p in enumerate(used)]

    def body(stores: list[tuple[Place, Any]]) -> list[str]:
        return list(Listing(pair.graph, [(destination(p), x) for p, x in stores], dialect, local.get).lines())

    head = 3 + len(names)
    return "\n".join(
        [
            "void pairs(cells arena, const int32_t *at, const real *c)",
            "{",
            "(void)c;",
            "const cells a = arena + at[0];",
            *hoisted,
            f"const int32_t *next = at + {head};",
            "for (int32_t k = 0; k < at[1]; ++k, next += 3) {",
            "const cells b = arena + next[0];",
            "const int32_t ab = next[1], ba = next[2];",
            *body(pair.stores + pair.above),
            "}",
            "for (int32_t k = 0; k < at[2]; ++k, next += 2) {",
            "const cells b = arena + next[0];",
            "const int32_t ab = next[1];",
            *body(pair.stores),
            "}",
            "}",
            "",
        ]
    )
