"""Functions of many points: loops give what all points at once do, and the queue of compilers takes long texts first."""

import ctypes
from concurrent.futures import Future

import numpy as np
import pytest

from modurob.kernels import units
from modurob.kernels.loops import Looped, Points, finder, found_here, function_of_points
from modurob.kernels.lowering import Store
from modurob.kernels.units import Unit, loaded
from modurob.kernels.writer import POINT, TABULAR, Code, Layout, Table
from modurob.spatial.scalars import Array, sqrt, total
from modurob.trace import Graph, Place

SLOTS = {"x": 0, "w": 1, "sum": 2, "spread": 3, "left": 4}
VARYING = frozenset({POINT, TABULAR, "w", "left"})


def stated(p: Array, w: Array, known: Array) -> tuple[Array, Array, Array]:
    """A sum over points, one about their centre, which needs another before it, and a number of each; points beyond x = 1 are
    left out."""
    centre = total(w * p, -1) / total(w, -1)
    return total(w * known * p, -1), sqrt(total(w * (p - centre) * (p - centre), -1)), w * (p - centre)


def written(times: int, apart: bool) -> tuple[str, Code]:
    graph = Graph(times=times, varying=VARYING if times > 1 else frozenset())
    x, table = graph.input("x"), Table(graph)
    constants = graph.inputs("parameter", times)
    points = Points(graph, table, apart)
    p, known = points.one(constants * x, -1), points.one(constants, -1)
    found = stated(p, graph.inputs("w", 1), known)
    stores = [Store(Place("sum", 0), found[0], True), Store(Place("spread", 0), found[1])]
    stores = [s._replace(value=s.value.item()) for s in stores] + [Store(Place("left", 0), found[2][0])]
    looped = Looped(graph, p[0] - 1.0, stores, Layout(SLOTS, {}, {}, graph.varying), table)
    here = [points.call()] if apart else found_here(points, looped)
    text = function_of_points("contact", x - 10.0, points, here, looped, leave=False)
    return "\n".join([finder(points, looped), text] if apart else [text]), Code(["contact"], graph, table.nodes, 0)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("times", [1, 2, 7])
def test_loops_are_what_all_points_at_once_are(times, apart, rng):
    (unit,) = loaded([Unit("test-loops", f"{times} {apart}", 1, False, lambda: written(times, apart))])
    c, w, x = rng.uniform(0.1, 1.5, times), rng.uniform(0.1, 1.0, times), 1.1
    c[0] = 0.5  # one at least is not left out
    table = unit.code.row({"parameter": c})
    step = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(unit.steps[0])
    arena, at = np.zeros(3 + 2 * times), np.arange(5, dtype=np.int32)
    at[2:] = 1 + times, 2 + times, 3 + times
    arena[0], arena[1 : 1 + times], arena[at[2]], arena[at[3]] = x, w, 3.0, 9.0
    arena[at[4] :] = 9.0
    step(arena.ctypes.data, (8 * at).ctypes.data, table.ctypes.data)
    on = c * x < 1
    expected = stated((c * x)[on], w[on], c[on])
    assert arena[at[2]] == pytest.approx(3.0 + expected[0], rel=1e-13)
    assert arena[at[3]] == pytest.approx(expected[1], rel=1e-12, abs=1e-12)
    assert arena[at[4] :][on] == pytest.approx(expected[2], rel=1e-12, abs=1e-12)
    assert not arena[at[4] :][~on].any()
    # all are left out: nothing is added, and the rest is zero
    arena[0] = 11.0
    step(arena.ctypes.data, (8 * at).ctypes.data, table.ctypes.data)
    assert arena[at[2]] == pytest.approx(3.0 + expected[0], rel=1e-13)
    assert not arena[at[3] :].any()


def test_compilers_take_the_longest_text_first_and_short_ones_together(monkeypatch):
    def waiting(length, flags=()):
        unit = Unit("test", f"{length}", 1, False, lambda: ("", Code([], Graph(), [], 0)), flags)
        return units._Waiting(unit, "x" * length, Code([], Graph(), [], 0), Future())

    queue = [waiting(10), waiting(units.CHARACTERS), waiting(20, ("-O1",)), waiting(30), waiting(40)]
    monkeypatch.setattr(units, "_QUEUE", queue)
    taken = [[len(w.text) for w in lot] for lot in iter(units._taken, [])]
    assert taken == [[units.CHARACTERS], [40, 10, 30], [20]]
