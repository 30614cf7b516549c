"""The C functions of loop joints, one for each kind of joint that closes a loop."""

from typing import Any

import numpy as np

from modurob.algorithms.program import Constraints, Program
from modurob.catalogue.joints import JointType
from modurob.kernels.dyad import joint_text, with_parameters
from modurob.kernels.lowering import Store, size
from modurob.kernels.units import Unit
from modurob.kernels.writer import Code, Layout, Table, function
from modurob.spatial.scalars import Array
from modurob.trace import Graph, Place

# what a function points to: the fields of both bodies, the reference point, and its results
SLOTS = ("predecessor", "successor", "reference", "T", "error", "k")


class _TracedLoop:
    """A loop joint as the steps of `algorithms.constraints.rows` see it, with one leading axis; the table holds the frames at its ends."""

    def __init__(self, joint: JointType, program: Program):
        self.graph, self.program, self.stores = Graph(), program, list[Store]()
        self.type = with_parameters(
            joint, {p: self.graph.input("parameter", i) for i, p in enumerate(joint.parameters)}
        )

    def pose(self, end: str) -> Array:
        X, frame = np.eye(4, dtype=object), np.eye(4, dtype=object)
        X[:3] = self.graph.inputs(f"{end} X", (3, 4))
        X[:3, 3] = X[:3, 3] - self.graph.inputs("reference", 3)
        frame[:3] = self.graph.inputs("back" if end == "predecessor" else "frame", (3, 4))
        return (X @ frame)[None]

    def motion(self, end: str) -> tuple[Array, Array]:
        return self.graph.inputs(f"{end} V", (1, 6)), self.graph.inputs(f"{end} A", (1, 6))

    def wrenches(self, T: Array) -> None:
        self._store("T", T)

    def emit(self, **rows: Array) -> None:
        for name, x in rows.items():
            self._store(name, x)

    def _store(self, array: str, value: Array) -> None:
        self.stores += [Store(Place(array, k), x) for k, x in enumerate(np.asarray(value, dtype=object).ravel())]


def loop_unit(joint: JointType, program: Program, walk: Constraints, lanes: int, single: bool) -> Unit:
    """The function of a loop joint in a program."""
    joint = with_parameters(joint, dict.fromkeys(joint.parameters, 0.0))

    def write() -> tuple[str, Code]:
        loop = _TracedLoop(joint, program)
        walk.step(loop)
        offsets = field_offsets(program)
        layout = Layout(
            {name: k for k, name in enumerate(SLOTS)},
            {f"{end} {name}": at for end in SLOTS[:2] for name, at in offsets.items()},
            {},
        )
        table = Table(loop.graph)
        text = function("loop", loop.graph, loop.stores, layout, table)
        return text, Code(["loop"], loop.graph, table.nodes, 0)

    return Unit(f"{program.name}-loop", f"loop {joint_text(joint)} in {program.name}", lanes, single, write)


def field_offsets(program: Program) -> dict[str, int]:
    """Where the shared fields of a body stand among its vectors."""
    starts = np.cumsum([0, *(size(shape) for shape in program.shared.values())])
    return dict(zip(program.shared, starts.tolist(), strict=False))


def loop_constants(joint: JointType, X_P: Array, X_S: Array) -> dict[str, Any]:
    """The table of a loop: the frames at its ends, in the chosen frames of their bodies."""
    parameters = [getattr(getattr(joint, "original", joint), p) for p in joint.parameters]
    return {"back": X_P[:3].ravel(), "frame": X_S[:3].ravel(), "parameter": np.array(parameters, dtype=float)}
