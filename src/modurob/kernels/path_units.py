"""The C function of a program's paths: entries of regressors of a body and, in a loop, the rates on its path."""

from typing import Any

from modurob.algorithms.program import Paths, Program
from modurob.kernels.constraint_units import field_offsets
from modurob.kernels.pair_units import column_offsets
from modurob.kernels.units import Unit
from modurob.kernels.writer import VECTORS, Code
from modurob.spatial.scalars import Array
from modurob.trace import Dialect, Graph, Listing, Place


class _TracedPath:
    """A body and one rate."""

    def __init__(self, program: Program):
        self.program, self.graph = program, Graph()
        self.stores: list[tuple[Place, Any]] = []

    def body(self, name: str) -> Array:
        return self.graph.inputs(f"body {name}", self.program.shared[name])

    def rates(self, name: str) -> Array:
        return self.graph.inputs(f"rate {name}", (1, self.program.columns[name]))

    def emit(self, **results: Array) -> None:
        self.stores += [(Place(name, k), x) for name, entries in results.items() for k, x in enumerate(entries[0])]


def regressors(program: Program) -> list[str]:
    """The results that are regressors."""
    return [name for name, kind in program.results.items() if kind == "regressor"]


def path_unit(program: Program, walk: Paths, shares: bool, lanes: int, single: bool) -> Unit:
    """The function of the paths of a program; where coordinates are shared, entries add up."""

    def write() -> tuple[str, Code]:
        texts = [_text(program, walk, shares), *[_sums(sum(program.columns.values()))] * bool(walk.weights)]
        return "\n".join(texts), Code(["paths", "weigh_columns"][: len(texts)], Graph(), [], 0)

    return Unit(program.name, f"paths of {program.name} {shares} {walk.weights}", lanes, single, write)


def _text(program: Program, walk: Paths, shares: bool) -> str:
    """at: the fields of the body, how many rates, the columns of the body in each regressor; then for each rate its columns, and
    where its row begins."""
    path = _TracedPath(program)
    walk.step(path)
    names = regressors(program)
    offsets = {"body": field_offsets(program), "rate": column_offsets(program)}
    sign = "+" if shares else ""

    def place(p: Place) -> str:
        side, name = p.array.split()
        return f"{side}[{offsets[side][name] + p.index}]"

    dialect = Dialect(**{**VECTORS.__dict__, "place": place})
    used = sorted({n.value for n in path.graph.nodes if n.op == "input" and n.value.array.startswith("rate ")})
    local = {path.graph.input(*p).index: f"rate{k}" for k, p in enumerate(used)}
    stores = [(f"arena[at[{2 + names.index(p.array)}] + next[1] + {p.index}] {sign}", x) for p, x in path.stores]
    return "\n".join(
        [
            "void paths(cells arena, const int32_t *at, const real *c)",
            "{",
            "(void)c;",
            "const cells body = arena + at[0];",
            f"const int32_t *next = at + {2 + len(names)};",
            "for (int32_t k = 0; k < at[1]; ++k, next += 2) {",
            "const cells rate = arena + next[0];",
            *(f"const vec rate{k} = {place(p)};" for k, p in enumerate(used)),
            *Listing(path.graph, stores, dialect, local.get).lines(),
            "}",
            "}",
            "",
        ]
    )


def _sums(width: int) -> str:
    """at: how many rates a, their sums so far, the columns of a rate b on the path, its column of W, where the sums go."""
    graph = Graph()
    before, own = (graph.inputs(name, width) for name in ("before[i]", "rate"))
    found = before + graph.input("weight") * own
    text = {"before[i]": "before[{0} * i + {1}]", "rate": "rate{1}", "weight": "W[at[0] * i]"}
    dialect = Dialect(**{**VECTORS.__dict__, "place": lambda p: text[p.array].format(width, p.index)})
    stores = [(f"to[{width} * i + {k}] ", x) for k, x in enumerate(found)]
    return "\n".join(
        [
            "void weigh_columns(cells arena, const int32_t *at, const real *c)",
            "{",
            "(void)c;",
            "const cells before = arena + at[1], rate = arena + at[2], W = arena + at[3], to = arena + at[4];",
            *(f"const vec rate{k} = rate[{k}];" for k in range(width)),
            "for (int32_t i = 0; i < at[0]; ++i) {",
            *Listing(graph, stores, dialect).lines(),
            "}",
            "}",
            "",
        ]
    )
