"""The local steps of sweeps as C, for as many columns as are swept at once; `c/sweeps.c` walks a tree with them."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from modurob.algorithms.acceleration_slopes import (
    FORWARD_DERIVATIVES,
    acceleration_past_rate,
    inverse_inertia_past_rate,
    products,
    rate_acceleration,
    symmetric_product,
    torque_response,
    turning_past_rate,
    wrench_past_rate,
)
from modurob.algorithms.steps import transposed
from modurob.kernels.writer import VECTORS
from modurob.spatial.scalars import Array
from modurob.trace import Dialect, Graph, Listing, Place

# the arguments of the functions, in their order: cells of an arena, and numbers in registers
ARGUMENTS = {
    "rate": "const cells rate",
    "M": "const cells M",
    "one": "const cells one",
    "torque": "const vec *torque",
    "p": "vec p[][6]",
    "A": "vec A[][6]",
    "u": "vec u[][6]",
    "turns": "const cells *turns",
    "w": "vec w[][3]",
    "d": "vec *d",
    "moved": "vec *moved",
    "x": "vec *x",
    "to": "const cells to",
}
# how many entries columns have; other arguments are numbers in a row
ENTRIES = {"p": 6, "A": 6, "u": 6, "turns": 3, "w": 3}
# for columns that do not turn
STILL: dict[str, Any] = {"C": np.zeros(3), "w": np.zeros((3, 1))}


class Step:
    """The graph of a step for some columns, and what it reads."""

    def __init__(self, columns: int):
        self.graph, self.columns = Graph(), columns

    def rate(self, *names: str) -> dict[str, Any]:
        """What a rate has, by name."""
        widths = FORWARD_DERIVATIVES.columns
        return {name: self.graph.inputs("rate", widths[name], places()[name]) for name in names}

    def some(self, name: str) -> Array:
        """Columns, (entries, columns)."""
        return transposed(self.graph.inputs(name, (self.columns, ENTRIES[name])))

    def row(self, name: str, n: int = 0) -> Array:
        """Numbers, as many as columns if not said otherwise."""
        return self.graph.inputs(name, n or self.columns)


@cache
def places() -> dict[str, int]:
    """Where each of the columns of a rate begins."""
    widths = FORWARD_DERIVATIVES.columns
    return dict(zip(widths, np.cumsum([0, *widths.values()]).tolist(), strict=False))


Results = Mapping[str, Array]


def _products(s: Step) -> Results:
    return {"x": products(s.row("one", 6), s.some("A"))}


def _rate_acceleration(s: Step) -> Results:
    one = s.row("one", 9)
    return {"x": rate_acceleration(one[:6], s.some("A"), one[6:], s.some("w"))}


def _symmetric_product(s: Step) -> Results:
    return {"A": symmetric_product(s.row("M", 21), s.some("p"))}


def _torque_response(s: Step) -> Results:
    u, x, A = torque_response(**s.rate("S", "K", "r"), M=s.row("M", 21))
    return {"u": u, "x": x, "A": A}


def _inverse_inertia_past_rate(s: Step) -> Results:
    return {"to": inverse_inertia_past_rate(**s.rate("S"), M=s.row("M", 21), u=s.some("u"), x=s.row("x"))}


def _wrench_past_rate(s: Step) -> Results:
    """The torque belongs to the first column."""
    torques = np.array([*s.row("torque", 1), *np.zeros(s.columns - 1)])
    moved, p = wrench_past_rate(**s.rate("S", "K", "r"), p=s.some("p"), torque=torques)
    return {"moved": moved, "p": p}


def _taken_past_rate(s: Step) -> Results:
    """Turning matters to the last column alone."""
    p, d = s.some("p"), s.row("d", 3)[:, None]
    left = wrench_past_rate(**s.rate("S", "K", "r"), p=p)[1]
    return {"p": left, "d": turning_past_rate(**s.rate("S", "C"), p=p[:, -1:], d=d)[:, 0]}


def _motion_past_rate(s: Step) -> Results:
    return _outward(acceleration_past_rate(**s.rate("S", "K", "C"), A=s.some("A"), w=s.some("turns")))


def _torque_past_rate(s: Step) -> Results:
    return _outward(acceleration_past_rate(**s.rate("S", "K"), A=s.some("A"), **STILL))


def _push_past_rate(s: Step) -> Results:
    """The wrenches have moved the rate before."""
    return _outward(acceleration_past_rate(**s.rate("S", "K"), A=s.some("A"), row=s.row("moved"), **STILL))


def _drive_past_rate(s: Step) -> Results:
    """What the rate does is known."""
    return {"A": acceleration_past_rate(**s.rate("S"), K=np.zeros(6), A=s.some("A"), row=s.row("x"), **STILL)[1]}


def _outward(found: tuple[Array, Array]) -> Results:
    return dict(zip(("x", "A"), found, strict=True))


# the functions, and how many columns they are written for
STEPS: dict[Callable[[Step], Results], tuple[int, ...]] = {
    _products: (1, 2, 3, 4),
    _rate_acceleration: (2,),
    _symmetric_product: (1, 2),
    _torque_response: (1,),
    _inverse_inertia_past_rate: (1,),
    _wrench_past_rate: (2,),
    _taken_past_rate: (1, 3),
    _motion_past_rate: (2, 4),
    _torque_past_rate: (1, 4),
    _push_past_rate: (2,),
    _drive_past_rate: (2,),
}


def text() -> str:
    """All of them: each for a number of columns that the compiler knows where they are called; and the places of a rate."""
    enum = ", ".join(f"OF_{name.upper()} = {at}" for name, at in places().items())
    return "\n".join(
        [f"enum {{ {enum} }};", *(line for step, widths in STEPS.items() for line in _lines(step, widths))]
    )


def _lines(step: Callable[[Step], Results], widths: tuple[int, ...]) -> Iterator[str]:
    cases = {n: _case(step, n) for n in widths}
    used = next(iter(cases.values()))[0]
    yield f"INLINED void {step.__name__[1:]}({', '.join(ARGUMENTS[a] for a in used)}, const int columns)"
    yield "{"
    for n, (_, lines) in cases.items():
        yield f"if (columns == {n}) {{"
        yield from lines
        yield "}"
    yield "}"


def _case(step: Callable[[Step], Results], columns: int) -> tuple[list[str], list[str]]:
    """Its arguments, and its statements."""
    s = Step(columns)
    found, nodes = step(s), s.graph.nodes
    stores = [(f"{_place(Place(name, k))} ", x) for name, X in found.items() for k, x in enumerate(X.T.ravel())]
    read = {nodes[i].value.array for i in s.graph.needed(x for _, x in stores) if nodes[i].op == "input"}
    lines = Listing(s.graph, stores, DIALECT, as_traced=True).lines()
    return [a for a in ARGUMENTS if a in {*read, *found}], list(lines)


def _place(p: Place) -> str:
    n = ENTRIES.get(p.array)
    return f"{p.array}[{p.index // n}][{p.index % n}]" if n else f"{p.array}[{p.index}]"


DIALECT = Dialect(**{**VECTORS.__dict__, "read": "vec {0} = {1}; HELD({0});", "place": _place})
