"""Straight-line code over vectors of states with a driver of its own, for functions that do not walk a mechanism."""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from modurob.errors import KernelError
from modurob.kernels.compiler import announced, find_compiler, library, notes_of
from modurob.kernels.evaluator import give_up
from modurob.kernels.units import sources
from modurob.kernels.writer import QUICK, VECTORS, Code, Step
from modurob.spatial.scalars import Array
from modurob.trace import Dialect, Graph, Listing, Place

# the array of constants that the lines read: what depends on it alone is computed once
CONSTANTS = frozenset({"constants"})
# arctangents are taken of unit vectors alone
QUICKER = {**QUICK, "atan2": "unit_angle({0}, {1})"}


@dataclass(frozen=True, eq=False)
class Lines:
    """A traced function: its inputs are arrays by name, its results go to entries of arrays."""

    name: str
    arguments: str  # of the C function, before the constants
    graph: Graph
    results: Sequence[tuple[Place, Any]]
    before: str = ""  # C text that the driver needs to know of them

    def text(self) -> tuple[str, Code]:
        """The C function, and what must be known of its table."""
        nodes: list[int] = []

        def known(i: int) -> str | None:
            node = self.graph.nodes[i]
            if node.op == "constant" or not self.graph.depends_only_on(i, CONSTANTS):
                return None
            if node.op == "negate":
                return f"(-{known(node.args[0])})"
            if i not in places:
                places[i] = len(nodes)
                nodes.append(i)
            return f"V(c[{places[i]}])"

        places: dict[int, int] = {}
        dialect = Dialect(**{**VECTORS.__dict__, **QUICKER, "place": lambda p: f"{p.array}[{p.index}]"})
        stores = [(f"{p.array}[{p.index}] ", x) for p, x in self.results]
        body = list(Listing(self.graph, stores, dialect, known).lines())
        head = f"void {self.name}({self.arguments}, const real *c)"
        return "\n".join([self.before, head, "{", "(void)c;", *body, "}", ""]), Code([self.name], self.graph, nodes, 0)


@dataclass(frozen=True, eq=False)
class Straight:
    """A library of lines and their driver, at one width."""

    library: ctypes.CDLL
    codes: tuple[Code, ...]

    def constants(self, k: int, values: Array) -> Array:
        """The table of function k for these constants."""
        return self.codes[k].row({"constants": values})

    def address(self, name: str) -> int:
        """Of a function of the driver."""
        return ctypes.cast(getattr(self.library, name), ctypes.c_void_p).value or 0


def straight(
    name: str,
    identity: str,
    drivers: Sequence[str],
    define: str,
    write: Callable[[], Sequence[Lines | Step]],
    lanes: int,
    folders: Sequence[str] = (),
) -> Straight | None:
    """The library `name` at a width: definitions, lines, and files of kernels/c in that order; None, and a warning once, if there
    is no compiler. `write` depends on `identity`, and on the text of `folders` of the package beyond those that kernels import."""
    try:
        return _loaded(name, f"{sources(*folders)} {identity}", drivers, define, write, lanes)
    except (KernelError, OSError) as error:
        give_up(str(error))
        return None


def _loaded(
    name: str,
    identity: str,
    drivers: Sequence[str],
    define: str,
    write: Callable[[], Sequence[Lines | Step]],
    lanes: int,
) -> Straight:
    folder = resources.files("modurob.kernels") / "c"
    # loops over matrices are worth more; of straight lines, those that do not wait for each other are brought together
    optimised = ("-O3",) if len(drivers) > 1 else ("-fschedule-insns", "-fsched-pressure")
    read = lambda file: (folder / file).read_text(encoding="utf-8")  # noqa: E731
    lanes_text, text = read("lanes.c"), "\n".join(map(read, drivers))
    at = library(name, f"{identity} {define} {lanes_text} {text}", lanes, False, optimised)

    def written() -> tuple[str, Any]:
        parts = [lines.text() for lines in write()]
        body = "\n".join(['#include "prelude.h"', lanes_text, define, *(t for t, _ in parts), text])
        return body, [code.notes() for _, code in parts]

    with announced(f"compiling {name}, once on this machine"):
        notes = notes_of(at, written)
    return Straight(ctypes.CDLL(str(at.path)), tuple(Code.from_notes(n) for n in notes))


@lru_cache(maxsize=1)
def batch_lanes() -> int:
    """How many states of double precision are computed at once."""
    compiler = find_compiler()
    return compiler.lanes(8) if compiler else 1
