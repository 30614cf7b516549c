"""The C functions of forces, one for each kind and pattern of numbers that are zero. Forces are traced with one leading axis."""

from typing import Any

import numpy as np

from modurob.algorithms.decay import decays
from modurob.algorithms.lines import STANDING
from modurob.catalogue.forces import FrameForce, JointForce, JointLaw, Motion
from modurob.catalogue.joints import JointType
from modurob.catalogue.lines import Line
from modurob.fingerprints import fingerprint
from modurob.kernels.dyad import joint_text
from modurob.kernels.lowering import Store
from modurob.kernels.units import Unit
from modurob.kernels.writer import Code, Layout, Table, function
from modurob.registry import with_values
from modurob.spatial import se3
from modurob.spatial.scalars import Array
from modurob.trace import Graph, Place, tangent

# what the functions point to
JOINT_SLOTS = ("t", "q", "v", "x", "slide", "tau", "rate", "ahead", "slope", "still")
SAMPLED_SLOTS = ("dt", "q", "v", "x", "new")
LAW_SLOTS = ("t", "q", "v", "x", "tau", "rate")
FRAME_SLOTS = ("t", "a X", "a V", "b X", "b V", "x", "on a", "on b", "rate")


def nonzero(force: JointForce | JointLaw | FrameForce | Line) -> list[str]:
    """The numbers of a force that its table holds; those that are zero are part of the code."""
    return [name for name, x in force.parameters().items() if not _is_choice(x) and x != 0]


def _is_choice(x: Any) -> bool:
    """Whether a parameter is none of the numbers, and so part of the code."""
    return x is None or isinstance(x, bool)


def _traced(force: Any, graph: Graph) -> Any:
    """The force with its numbers from the table."""
    return with_values(force, {name: graph.input("parameter", k) for k, name in enumerate(nonzero(force))})


def _identity(force: Any) -> str:
    choices = [(name, x) for name, x in force.parameters().items() if _is_choice(x)]
    return f"{fingerprint(type(force))} {nonzero(force)} {choices}"


def _stores(array: str, values: Any, add: bool = False) -> list[Store]:
    return [
        Store(Place(array, k), x, add) for k, x in enumerate(np.atleast_1d(np.asarray(values, dtype=object)).ravel())
    ]


def joint_unit(force: JointForce, ahead: bool, dry: bool, parted: bool, lanes: int, single: bool) -> Unit:
    """The function of a force along a joint: its effort, or that where its rate leads in a time `ahead` and its slope, and its dry
    friction against `slide` if asked for. Where states are `parted`, x and rate have only those that move; the others stand in
    `still`, among all."""
    still = frozenset(force.still if parted else ())

    def write() -> tuple[str, Code]:
        graph = Graph()
        own, ratio = _traced(force, graph), graph.input("ratio")
        q_in, v_in = graph.inputs("q", 1), graph.inputs("v", 1)
        q, v = (ratio * q_in + graph.input("offset") if force.positional else np.zeros(1)), ratio * v_in
        t, places = graph.inputs("t", 1), iter(range(force.nx))
        read = [graph.input("still", k) if k in still else graph.input("x", next(places)) for k in range(force.nx)]
        x = np.array([read], dtype=object).reshape(1, force.nx)
        effort = own.effort(t, q + graph.inputs("ahead", 1) * v if ahead else q, v, x)
        along_rate = ratio * effort
        if dry:
            # dry friction opposes the motion for negative ratios of mimic joints too
            along_rate = along_rate - graph.input("magnitude") * own.dry(v) * graph.inputs("slide", 1)
        stores = _stores("tau", along_rate, add=True)
        if force.nx:
            rates = own.rate(t, q, v, x)[0]
            stores += _stores("rate", [r for k, r in enumerate(rates) if k not in still])
        if ahead:
            stores += _stores("slope", tangent(graph, ratio * effort, {v_in[0]: 1.0}), add=True)
        layout = Layout({name: k for k, name in enumerate(JOINT_SLOTS)}, {}, {})
        table = Table(graph)
        return function("force", graph, stores, layout, table), Code(["force"], graph, table.nodes, 0)

    return Unit("force", f"joint {_identity(force)} ahead {ahead} dry {dry} parted {parted}", lanes, single, write)


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


def law_unit(law: JointLaw, joint: JointType, lanes: int, single: bool) -> Unit:
    """The function of a law along all rates of a joint."""
    blank = joint.with_parameters(dict.fromkeys(joint.parameters, 0.0))

    def write() -> tuple[str, Code]:
        graph = Graph()
        first = len(nonzero(law))
        own = _traced(law, graph)
        kind = joint.with_parameters({p: graph.input("parameter", first + i) for i, p in enumerate(joint.parameters)})
        t, q, v = graph.inputs("t", 1), graph.inputs("q", (1, joint.nq)), graph.inputs("v", (1, joint.nv))
        x = graph.inputs("x", (1, law.nx))
        stores = _stores("tau", own.effort(t, kind, q, v, x), add=True)
        if law.nx:
            stores += _stores("rate", own.rate(t, kind, q, v, x))
        layout = Layout({name: k for k, name in enumerate(LAW_SLOTS)}, {}, {})
        table = Table(graph)
        return function("force", graph, stores, layout, table), Code(["force"], graph, table.nodes, 0)

    return Unit("force", f"law {_identity(law)} on {joint_text(blank)}", lanes, single, write)


def law_constants(law: JointLaw, joint: JointType) -> dict[str, Array]:
    """The table of a law of a joint: its numbers, then those of the joint."""
    numbers = [*(getattr(law, name) for name in nonzero(law)), *joint.numbers.values()]
    return {"parameter": np.array(numbers, dtype=float)}


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


class _TracedLine:
    """A line with its numbers from the table: its motions and drums, from places with names."""

    def __init__(self, line: Line, graph: Graph):
        numbers = {name: graph.input("parameter", k) for k, name in enumerate(nonzero(line))}
        self.own = line.with_parameters(numbers)
        self.poses = [_rows(graph, "frame", 12 * k) for k in range(len(line.nodes))]
        self.bodies = [_rows(graph, f"X{k}") for k in range(len(line.nodes))]
        self.twists = [graph.inputs(f"V{k}", (1, 6)) for k in range(len(line.nodes))]
        self.motions = tuple(
            Motion(B @ X, se3.to_child(X, V)) for B, X, V in zip(self.bodies, self.poses, self.twists, strict=True)
        )
        drums = range(len(line.drums))
        self.ratios, offsets = ([graph.input(name, k) for k in drums] for name in ("ratio", "offset"))
        self.turned, self.turning = ([graph.inputs(f"{name}{k}", 1) for k in drums] for name in "qv")
        self.wound = [r * q + o for r, q, o in zip(self.ratios, self.turned, offsets, strict=True)]
        self.rates = [r * v for r, v in zip(self.ratios, self.turning, strict=True)]


def line_unit(line: Line, lanes: int, single: bool) -> Unit:
    """The function of a line: wrenches added to those on its bodies, in the tables' body frames, and efforts on its drums."""
    ends, drums = range(len(line.nodes)), range(len(line.drums))
    places = [name for k in ends for name in (f"X{k}", f"V{k}")] + [f"on{k}" for k in ends]
    slots = places + [name for k in drums for name in (f"q{k}", f"v{k}", f"tau{k}")]

    def stores(graph: Graph) -> list[Store]:
        s = _TracedLine(line, graph)
        taken = s.own.taken(s.motions, s.wound, s.rates)
        on = [x for k in ends for x in _stores(f"on{k}", se3.to_parent(s.poses[k], taken.wrenches[k]), add=True)]
        return on + [x for k in drums for x in _stores(f"tau{k}", s.ratios[k] * taken.efforts[k], add=True)]

    return _unit_of_line("line", line, slots, stores, lanes, single)


def standing_unit(line: Line, lanes: int, single: bool) -> Unit:
    """The function of how a line stands: stretch and natural length with their rates, and tension."""

    def stores(graph: Graph) -> list[Store]:
        s = _TracedLine(line, graph)
        found = s.own.stretch(s.motions, s.wound, s.rates)
        numbers = dict(zip(STANDING, (*found, s.own.law.pull(found)[0]), strict=True))
        return [x for name, value in numbers.items() for x in _stores(name, value)]

    return _unit_of_line("standing line", line, [*_read_slots(line, "XV"), *STANDING], stores, lanes, single)


def drift_unit(line: Line, lanes: int, single: bool) -> Unit:
    """The function of how a line's strain accelerates at vdot = 0: the tangent of its rate along the motion."""

    def stores(graph: Graph) -> list[Store]:
        s = _TracedLine(line, graph)
        moved: dict[Any, Any] = {}
        for k, (X, V) in enumerate(zip(s.bodies, s.twists, strict=True)):
            along = (X @ se3.hat(V))[:, :3]
            moved |= dict(zip(X[:, :3].ravel(), along.ravel(), strict=True))
            moved |= dict(zip(V.ravel(), graph.inputs(f"A{k}", (1, 6)).ravel(), strict=True))
        moved |= {q[0]: v[0] for q, v in zip(s.turned, s.turning, strict=True)}
        return _stores("drift", tangent(graph, s.own.stretch(s.motions, s.wound, s.rates).strain_rate, moved))

    return _unit_of_line("drifting line", line, [*_read_slots(line, "XVA"), "drift"], stores, lanes, single)


def _read_slots(line: Line, of_ends: str) -> list[str]:
    ends = [f"{name}{k}" for k in range(len(line.nodes)) for name in of_ends]
    return ends + [f"{name}{k}" for k in range(len(line.drums)) for name in "qv"]


def _unit_of_line(what: str, line: Line, slots: list[str], stores: Any, lanes: int, single: bool) -> Unit:
    def write() -> tuple[str, Code]:
        graph = Graph()
        found, layout, table = stores(graph), Layout({name: k for k, name in enumerate(slots)}, {}, {}), Table(graph)
        return function("force", graph, found, layout, table), Code(["force"], graph, table.nodes, 0)

    return Unit("force", f"{what} {_line_identity(line)}", lanes, single, write)


def _line_identity(line: Line) -> str:
    """Its kinds and choices, and which numbers are zero."""
    parts = (*line.nodes, line.law)
    choices = [(name, x) for part in parts for name, x in part.parameters().items() if name == "side" or _is_choice(x)]
    return f"{[fingerprint(type(part)) for part in parts]} {choices} {nonzero(line)}"


def line_constants(line: Line, frames: list[Array], drums: list[tuple[float, float]]) -> dict[str, Array]:
    """The table of a line; ratio and offset of the joint of each of its drums."""
    return {
        "parameter": np.array([line.parameters()[name] for name in nonzero(line)], dtype=float),
        "ratio": np.array([ratio for ratio, _ in drums]),
        "offset": np.array([offset for _, offset in drums]),
        "frame": np.concatenate([X[:3].ravel() for X in frames]),
    }


def _rows(graph: Graph, array: str, start: int = 0) -> Array:
    X = np.eye(4, dtype=object)[None]
    X[0, :3] = graph.inputs(array, (3, 4), start)
    return X


def frame_constants(force: FrameForce, X_a: Array, X_b: Array) -> dict[str, Array]:
    """The table of a force between frames."""
    numbers = [getattr(force, name) for name in nonzero(force)]
    return {"parameter": np.array(numbers, dtype=float), "back": X_a[:3].ravel(), "frame": X_b[:3].ravel()}
