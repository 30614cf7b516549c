"""The C functions of forces, one for each kind and pattern of numbers that are zero. Forces are traced with one leading axis."""

from copy import copy
from typing import Any

import numpy as np

from modurob.algorithms.decay import decays
from modurob.catalogue.forces import FrameForce, JointForce, Motion
from modurob.kernels.lowering import Store
from modurob.kernels.units import Unit
from modurob.kernels.writer import Code, Layout, Table, function
from modurob.registry import fingerprint
from modurob.spatial import se3
from modurob.spatial.scalars import Array
from modurob.trace import Graph, Place, tangent

# what the functions point to
JOINT_SLOTS = ("t", "q", "v", "x", "slide", "tau", "rate", "by_q", "by_v")
SAMPLED_SLOTS = ("dt", "q", "v", "x", "new")
FRAME_SLOTS = ("t", "a X", "a V", "b X", "b V", "x", "on a", "on b", "rate")


def nonzero(force: JointForce | FrameForce) -> list[str]:
    """The numbers of a force that its table holds; those that are zero are part of the code."""
    return [name for name, x in force.parameters().items() if x != 0]


def _traced(force: Any, graph: Graph) -> Any:
    """The force with its numbers from the table."""
    out = copy(force)
    for k, name in enumerate(nonzero(force)):
        object.__setattr__(out, name, graph.input("parameter", k))
    return out


def _identity(force: Any) -> str:
    return f"{fingerprint(type(force))} {nonzero(force)}"


def _stores(array: str, values: Any, add: bool = False) -> list[Store]:
    return [
        Store(Place(array, k), x, add) for k, x in enumerate(np.atleast_1d(np.asarray(values, dtype=object)).ravel())
    ]


def joint_unit(force: JointForce, slopes: bool, dry: bool, lanes: int, single: bool) -> Unit:
    """The function of a force along a joint: its effort, with its slopes if asked for, and its dry friction against `slide` if
    asked for."""

    def write() -> tuple[str, Code]:
        graph = Graph()
        own, ratio = _traced(force, graph), graph.input("ratio")
        q_in, v_in = graph.inputs("q", 1), graph.inputs("v", 1)
        q, v = (ratio * q_in + graph.input("offset") if force.positional else np.zeros(1)), ratio * v_in
        t, x = graph.inputs("t", 1), graph.inputs("x", (1, force.nx))
        effort = own.effort(t, q, v, x)
        pushed = ratio * effort
        if dry:
            # of a mimic joint turned round, dry friction opposes the motion all the same
            pushed = pushed - graph.input("magnitude") * own.dry(v) * graph.inputs("slide", 1)
        stores = _stores("tau", pushed, add=True)
        if force.nx:
            stores += _stores("rate", own.rate(t, q, v, x))
        if slopes:
            for name, moved in (("by_q", q_in), ("by_v", v_in)):
                stores += _stores(name, tangent(graph, ratio * effort, {moved[0]: 1.0}), add=True)
        layout = Layout({name: k for k, name in enumerate(JOINT_SLOTS)}, {}, {})
        table = Table(graph)
        return function("force", graph, stores, layout, table), Code(["force"], graph, table.nodes, 0)

    return Unit("force", f"joint {_identity(force)} slopes {slopes} dry {dry}", lanes, single, write)


def sampled_unit(force: JointForce, lanes: int, single: bool) -> Unit:
    """The function of the loops inside a force along a joint: its states after they have sampled."""

    def write() -> tuple[str, Code]:
        graph = Graph()
        own, ratio = _traced(force, graph), graph.input("ratio")
        q, v = ratio * graph.inputs("q", 1) + graph.input("offset"), ratio * graph.inputs("v", 1)
        new = own.sampled(q, v, graph.inputs("x", (1, force.nx)), graph.inputs("dt", 1))
        layout = Layout({name: k for k, name in enumerate(SAMPLED_SLOTS)}, {}, {})
        table = Table(graph)
        return function("force", graph, _stores("new", new), layout, table), Code(["force"], graph, table.nodes, 0)

    return Unit("force", f"sampled {_identity(force)}", lanes, single, write)


def decay_unit(lanes: int, single: bool) -> Unit:
    """The function of the weights with which a state decays over a step."""

    def write() -> tuple[str, Code]:
        graph = Graph()
        found = decays(graph.inputs("parameter", 1), graph.inputs("dt", 1))
        stores = [x for name, value in zip(found._fields[1:], found[1:], strict=True) for x in _stores(name, value)]
        layout = Layout({name: k for k, name in enumerate(("dt", *found._fields[1:]))}, {}, {})
        table = Table(graph)
        return function("force", graph, stores, layout, table), Code(["force"], graph, table.nodes, 0)

    return Unit("force", "decay", lanes, single, write)


def joint_constants(force: JointForce, ratio: float, offset: float) -> dict[str, Array]:
    """The table of a force along a joint."""
    numbers = [getattr(force, name) for name in nonzero(force)]
    return {
        "parameter": np.array(numbers, dtype=float),
        "ratio": np.array([ratio]),
        "offset": np.array([offset]),
        "magnitude": np.array([abs(ratio)]),
    }


def frame_unit(force: FrameForce, lanes: int, single: bool) -> Unit:
    """The function of a force between two frames: wrenches added to those on both bodies, in the tables' body frames."""

    def write() -> tuple[str, Code]:
        graph = Graph()
        own, t, x = _traced(force, graph), graph.inputs("t", 1), graph.inputs("x", (1, force.nx))
        frames = {"a": _rows(graph, "back"), "b": _rows(graph, "frame")}
        motions = []
        for end, X in frames.items():
            body = _rows(graph, f"{end} X")
            motions.append(Motion(body @ X, se3.to_child(X, graph.inputs(f"{end} V", (1, 6)))))
        stores = []
        for (end, X), F in zip(frames.items(), own.wrenches(t, *motions, x), strict=True):
            stores += _stores(f"on {end}", se3.to_parent(X, F), add=True)
        if force.nx:
            stores += _stores("rate", own.rate(t, *motions, x))
        layout = Layout({name: k for k, name in enumerate(FRAME_SLOTS)}, {}, {})
        table = Table(graph)
        return function("force", graph, stores, layout, table), Code(["force"], graph, table.nodes, 0)

    return Unit("force", f"frames {_identity(force)}", lanes, single, write)


def _rows(graph: Graph, array: str) -> Array:
    X = np.eye(4, dtype=object)[None]
    X[0, :3] = graph.inputs(array, (3, 4))
    return X


def frame_constants(force: FrameForce, X_a: Array, X_b: Array) -> dict[str, Array]:
    """The table of a force between frames."""
    numbers = [getattr(force, name) for name in nonzero(force)]
    return {"parameter": np.array(numbers, dtype=float), "back": X_a[:3].ravel(), "frame": X_b[:3].ravel()}
