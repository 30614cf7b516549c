"""The C functions of a program at a type of joint."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from modurob.algorithms.program import Program, Sweep
from modurob.kernels.compiler import quick_flags
from modurob.kernels.dyad import DyadType, joint_text
from modurob.kernels.lowering import ADDED, lowered, size
from modurob.kernels.pair_units import column_offsets
from modurob.kernels.units import Unit
from modurob.kernels.writer import Code, Layout, Table, function
from modurob.trace import Place

# more types of one robot than this are many
MANY = 8
# inputs that may be left out
OPTIONAL = ("wrenches", "inertias")
# results that a joint or body leaves by itself, and entries of each
PER_JOINT = ("rates", "coordinates", "vectors", "poses", "twists", "bodies")


def slot_names(program: Program, given: frozenset[str]) -> list[str]:
    """The arrays that the functions of a type read and write, in the order of their places."""
    inputs = [f"in {name}" for name, kind in program.inputs.items() if kind not in OPTIONAL or name in given]
    results = [f"out {name}" for name, kind in program.results.items() if kind in PER_JOINT]
    blocks = [f"block {name}" for name, kind in program.results.items() if kind in ("matrix", "slopes")]
    return [*inputs, "parent", "own", "children", "sent", "before", "columns", *results, *blocks]


def kind_for(kind: DyadType, program: Program, base: bool) -> DyadType:
    """The type that code of a program is written for.

    Programs without fields or sums between bodies do not depend on placements. Where vectors are in world axes special placements
    save little, and one type for all of them, except the floating base that positions are relative to, is compiled sooner. Joints
    that share a coordinate have types of their own only where results of such joints add up, or where steps read `View.shares`.
    """
    if not program.mimics and (kind.shares or kind.follows or kind.hub):
        adds = any(result in ADDED for result in program.results.values())
        kind = replace(kind, shares=kind.shares and adds, follows=False, hub=False)
    if not (program.shared or program.sent):
        return kind.alone
    if program.in_body_axes:
        return kind
    return kind.floating if base else kind.anywhere


def kinds_for(kinds: Sequence[DyadType], program: Program, floats: bool) -> tuple[list[DyadType], bool]:
    """The types that code of a program is written for, of all joints of a robot whose first one may be a floating base; and whether
    they leave their whole placements to the table."""
    found = [kind_for(kind, program, floats and i == 0) for i, kind in enumerate(kinds)]
    if not program.in_body_axes:
        return found, True
    if program.general and len({*found}) > MANY:
        return [kind.anywhere for kind in found], True
    return found, False


def dyad_unit(kind: DyadType, program: Program, given: frozenset[str], lanes: int, single: bool) -> Unit:
    """The functions of a program at a type that `kinds_for` gives."""
    return _unit(kind, joint_text(kind.joint), program, given, lanes, single)


@lru_cache(maxsize=65536)
def _unit(kind: DyadType, joint: str, program: Program, given: frozenset[str], lanes: int, single: bool) -> Unit:
    """The same for a joint that does this."""

    def write() -> tuple[str, Code]:
        steps = lowered(kind, program, given)
        table = Table(steps.graph)
        layout = _layout(kind, program, given, steps.places)
        names = [f"step_{i}" for i in range(len(steps.passes))]
        texts = [function(n, steps.graph, s, layout, table) for n, s in zip(names, steps.passes, strict=True)]
        return "\n".join(texts), Code(names, steps.graph, table.nodes, steps.size)

    inputs = "+".join(sorted(given))
    # code of joints with several rates takes long to compile, and is a small part of the time of a robot unless joints are
    # independent of each other; next to sweeps over columns that of any joint is: optimise less, for a quicker first answer
    swept = any(isinstance(walk, Sweep) for walk in program.passes)
    long = kind.joint.nv > 1 and bool(program.shared or program.sent)
    flags = quick_flags() if lanes == 1 and (long or swept) else ()
    return Unit(program.name, f"{program.name}+{inputs} {kind.key}", lanes, single, write, flags)


def _layout(kind: DyadType, program: Program, given: frozenset[str], places: Mapping[Any, int]) -> Layout:
    offsets, at = {}, 0
    for name, shape in program.sent.items():
        offsets |= {f"{slot} {name}": at for slot in ("children", "sent", "before")}
        at += size(shape)
    # the columns of a rate stand together
    columns, width = column_offsets(program), sum(program.columns.values())
    spread = {
        Place(f"columns {name}", r * n + k): r * width + columns[name] + k
        for name, n in program.columns.items()
        for r in range(kind.joint.nv)
        for k in range(n)
    }
    slots = {name: k for k, name in enumerate(slot_names(program, given))}
    return Layout(slots, offsets, {**places, **spread})
