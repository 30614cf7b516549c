"""The tables of a mechanism as plain data, and back, to the last bit: what a file needs to hold of a robot."""

from dataclasses import fields
from typing import Any

import numpy as np

from modurob.catalogue.forces import FORCES
from modurob.catalogue.joints import KINDS, JointType, Mimic, Reversed
from modurob.errors import MechanismError
from modurob.mechanism.tables import (
    Constraint,
    Coupling,
    ForceRow,
    Frame,
    FrameRow,
    Joint,
    JointRow,
    Limits,
    Loop,
    Shape,
    Tables,
)
from modurob.spatial.scalars import Array


def to_data(m: Tables) -> dict[str, Any]:
    """Lists, numbers and texts alone; numbers survive JSON unchanged."""
    if any(x.dtype == object for x in (m.X_PJ, m.inertia, m.gravity, m.armature)):
        raise MechanismError(f"{m.name} has symbols for numbers: give them values to write it down")
    return {
        "name": m.name,
        "bodies": list(m.bodies),
        "parent": list(m.parent),
        "joints": [_joint(j) for j in m.joints],
        "X_PJ": m.X_PJ.tolist(),
        "inertia": m.inertia.tolist(),
        "gravity": m.gravity.tolist(),
        "frames": {name: _frame(f) for name, f in m.frames.items()},
        "constraints": [_constraint(c) for c in m.constraints],
        "forces": [_force(row) for row in m.forces],
        "idle": list(m.idle),
        "locked": list(m.held),
        "redundant": list(m.redundant),
        "shapes": [
            {"kind": s.kind, "size": list(s.size), "frame": _frame(s.frame), "X": s.X.tolist(), "colour": s.colour}
            for s in m.shapes
        ],
    }


def from_data(data: dict[str, Any], product: type[Tables] = Tables) -> Tables:
    """The other way."""
    return product(
        name=data["name"],
        bodies=tuple(data["bodies"]),
        parent=tuple(map(_whole, data["parent"])),
        joints=tuple(_read_joint(j) for j in data["joints"]),
        X_PJ=np.array(data["X_PJ"], dtype=float).reshape(-1, 4, 4),
        inertia=np.array(data["inertia"], dtype=float).reshape(-1, 6, 6),
        gravity=np.array(data["gravity"], dtype=float),
        frames={name: _read_frame(f) for name, f in data["frames"].items()},
        constraints=tuple(_read_constraint(c) for c in data["constraints"]),
        forces=tuple(_read_force(row) for row in data["forces"]),
        idle=tuple(data["idle"]),
        held=tuple(data["locked"]),
        redundant=tuple(data["redundant"]),
        shapes=tuple(
            Shape(s["kind"], tuple(s["size"]), _read_frame(s["frame"]), np.array(s["X"]), s["colour"])
            for s in data["shapes"]
        ),
    )


def _frame(f: Frame) -> dict[str, Any]:
    return {"body": int(f.body), "X": f.X.tolist()}


def _read_frame(data: dict[str, Any]) -> Frame:
    return Frame(_whole(data["body"]), np.array(data["X"], dtype=float))


def _constraint(c: Constraint) -> dict[str, Any]:
    if isinstance(c, Loop):
        return {"name": c.name, "type": _type(c.type), "from": _frame(c.predecessor), "to": _frame(c.successor)}
    return {"name": c.name, "joints": list(c.joints), "ratios": list(c.ratios), "offset": c.offset}


def _read_constraint(data: dict[str, Any]) -> Constraint:
    if "joints" in data:
        return Coupling(data["name"], tuple(map(_whole, data["joints"])), tuple(data["ratios"]), data["offset"])
    return Loop(data["name"], _read_type(data["type"]), _read_frame(data["from"]), _read_frame(data["to"]))


def _force(row: ForceRow) -> dict[str, Any]:
    numbers = {
        name: None if x is None else _numbers(np.array([x], dtype=float))[0]
        for name, x in row.force.parameters().items()
    }
    at = (
        {"joint": row.joint, "rate": row.rate}
        if isinstance(row, JointRow)
        else {"a": _frame(row.a), "b": _frame(row.b)}
    )
    return {"name": row.name, "kind": row.force.kind, "numbers": numbers, **at}


def _read_force(data: dict[str, Any]) -> ForceRow:
    numbers = {name: None if x is None else float(x) for name, x in data["numbers"].items()}
    force: Any = FORCES[data["kind"]](**numbers)
    if "joint" in data:
        return JointRow(data["name"], force, _whole(data["joint"]), _whole(data["rate"]))
    return FrameRow(data["name"], force, _read_frame(data["a"]), _read_frame(data["b"]))


def _type(t: JointType) -> dict[str, Any]:
    if isinstance(t, Reversed):
        return {"reversed": _type(t.original)}
    if isinstance(t, Mimic):
        return {"mimic": _type(t.follower), "ratio": t.ratio, "offset": t.offset}
    return {"kind": t.kind} | {f.name: getattr(t, f.name) for f in fields(t)}  # type: ignore[arg-type]


def _read_type(data: dict[str, Any]) -> JointType:
    if "reversed" in data:
        return Reversed(_read_type(data["reversed"]))
    if "mimic" in data:
        return Mimic(_read_type(data["mimic"]), data["ratio"], data["offset"])
    own = {name: tuple(x) if isinstance(x, list) else x for name, x in data.items() if name != "kind"}
    return KINDS[data["kind"]](**own)


# arrays of a joint, by name
_PER_RATE = ("velocity_limit", "effort_limit", "armature")


def _joint(j: Joint) -> dict[str, Any]:
    return {
        "name": j.name,
        "type": _type(j.type),
        "q": [j.q_slice.start, j.q_slice.stop],
        "v": [j.v_slice.start, j.v_slice.stop],
        "limits": [_numbers(x) for x in j.limits],
        **{name: _numbers(getattr(j, name)) for name in _PER_RATE},
    }


def _read_joint(data: dict[str, Any]) -> Joint:
    limits = Limits(*(np.array(x, dtype=float) for x in data["limits"]))
    own = {name: np.array(data[name], dtype=float) for name in _PER_RATE}
    return Joint(data["name"], _read_type(data["type"]), _places(data["q"]), _places(data["v"]), limits, **own)


def _places(data: list[Any]) -> slice:
    first, last = map(_whole, data)
    return slice(first, last)


def _whole(x: Any) -> int:
    """A place in a table."""
    if type(x) is not int:
        raise MechanismError(f"{x!r:.40} for a place in a table: expected a whole number")
    return x


def _numbers(x: Array) -> list[Any]:
    """Infinite numbers as texts, which JSON has no numbers for."""
    return [y if np.isfinite(y) else str(y) for y in x.tolist()]
