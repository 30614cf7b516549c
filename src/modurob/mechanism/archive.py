"""The tables of a mechanism as plain data, and back, to the last bit: what a file needs to hold of a robot."""

from dataclasses import fields
from typing import Any

import numpy as np

from modurob.catalogue.contact import (
    SURFACES,
    TOUCHING,
    BodyContact,
    Contact,
    Ground,
    HeightField,
    PairContact,
    Rod,
    Vertices,
)
from modurob.catalogue.forces import FORCES, Spring
from modurob.catalogue.joints import KINDS, JointType, Mimic, Reversed
from modurob.catalogue.lines import LAWS, NODES, Line
from modurob.errors import MechanismError
from modurob.mechanism.tables import (
    Constraint,
    ContactRow,
    Coupling,
    ForceRow,
    Frame,
    FrameRow,
    Frames,
    Joint,
    JointRow,
    Limits,
    LineRow,
    Loop,
    PairRow,
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
        "shapes": [_shape(s) for s in m.shapes],
        "collisions": [_shape(s) for s in m.collisions],
    }


def from_data(data: dict[str, Any], product: type[Tables] = Tables) -> Tables:
    """The inverse; an error for invalid numbers, names or indices."""
    return product(
        name=_word(data["name"]),
        bodies=_words(data["bodies"]),
        parent=_places(data["parent"]),
        joints=tuple(_read_joint(j) for j in data["joints"]),
        X_PJ=_finite(data["X_PJ"], -1, 4, 4),
        inertia=_finite(data["inertia"], -1, 6, 6),
        gravity=_finite(data["gravity"], 3),
        frames=Frames.of({name: _read_frame(f) for name, f in data["frames"].items()}),
        constraints=tuple(_read_constraint(c) for c in data["constraints"]),
        forces=tuple(_read_force(row) for row in data["forces"]),
        idle=_words(data["idle"]),
        held=_words(data["locked"]),
        redundant=_words(data["redundant"]),
        shapes=tuple(_read_shape(s) for s in data["shapes"]),
        collisions=tuple(_read_shape(s) for s in data.get("collisions", ())),
    )


def _word(data: Any) -> str:
    if not isinstance(data, str):
        raise MechanismError(f"{data!r:.60} for a name: expected a text")
    return data


def _words(data: Any) -> tuple[str, ...]:
    return tuple(_word(x) for x in _list(data))


def _place(data: Any) -> int:
    if isinstance(data, bool) or not isinstance(data, int):
        raise MechanismError(f"{data!r:.60} for a place in a table: expected a whole number")
    return data


def _places(data: Any) -> tuple[int, ...]:
    return tuple(_place(x) for x in _list(data))


def _list(data: Any) -> list[Any]:
    if not isinstance(data, list):
        raise MechanismError(f"{data!r:.60}: expected a list")
    return data


def _finite(data: Any, *shape: int) -> Array:
    """Finite numbers of a shape, whose first axis may be of any length (-1)."""
    found = _array(data)
    if found.dtype.kind not in "if" or not np.isfinite(found).all():
        raise MechanismError(f"{data!r:.60}: expected finite numbers")
    # a table without rows says nothing of its other axes
    found = found.reshape(shape) if shape[0] == -1 and not found.size else found
    if found.ndim != len(shape) or any(n not in (-1, m) for n, m in zip(shape, found.shape, strict=True)):
        raise MechanismError(f"numbers of shape {found.shape}: expected {shape}")
    return found.astype(float)


def _bounds(data: Any) -> Array:
    """Numbers, or the texts inf and -inf."""
    found = _array([float(x) if x in ("inf", "-inf") else x for x in _list(data)])
    if found.size and found.dtype.kind not in "if":
        raise MechanismError(f"{data!r:.60}: expected numbers")
    return found.astype(float)


def _array(data: Any) -> Array:
    try:
        return np.array(data)
    except ValueError:
        raise MechanismError(f"{data!r:.60}: expected rows of one length") from None


def _shape(s: Shape) -> dict[str, Any]:
    own = {"kind": s.kind, "size": list(s.size), "frame": _frame(s.frame), "X": s.X.tolist(), "colour": s.colour}
    return own | ({"file": s.file} if s.file else {})


def _read_shape(data: dict[str, Any]) -> Shape:
    size = tuple(_finite(data["size"], -1).tolist())
    kind, colour, file = (_word(data.get(name, "")) for name in ("kind", "colour", "file"))
    return Shape(kind, size, _read_frame(data["frame"]), _finite(data["X"], 4, 4), colour, file)


def _frame(f: Frame) -> dict[str, Any]:
    return {"body": int(f.body), "X": f.X.tolist()}


def _read_frame(data: dict[str, Any]) -> Frame:
    return Frame(_place(data["body"]), _finite(data["X"], 4, 4))


def _constraint(c: Constraint) -> dict[str, Any]:
    if isinstance(c, Loop):
        return {"name": c.name, "type": _type(c.type), "from": _frame(c.predecessor), "to": _frame(c.successor)}
    return {"name": c.name, "joints": list(c.joints), "ratios": list(c.ratios), "offset": c.offset}


def _read_constraint(data: dict[str, Any]) -> Constraint:
    if "joints" in data:
        *ratios, offset = _finite([*_list(data["ratios"]), data["offset"]], -1).tolist()
        return Coupling(_word(data["name"]), _places(data["joints"]), tuple(ratios), offset)
    return Loop(_word(data["name"]), _read_type(data["type"]), _read_frame(data["from"]), _read_frame(data["to"]))


def _part(x: Any) -> dict[str, Any]:
    """A node or a law of a line."""
    own = {
        name: x if isinstance(x, bool) else _numbers(np.array([x], dtype=float))[0]
        for name, x in x.parameters().items()
    }
    return {"kind": x.kind, **own}


def _read_part(registry: Any, data: dict[str, Any]) -> Any:
    own = {name: x if isinstance(x, bool) else float(_bounds([x])[0]) for name, x in data.items() if name != "kind"}
    return registry[data["kind"]](**own)


def _line(row: LineRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "nodes": [_part(node) for node in row.force.nodes],
        "law": _part(row.force.law),
        "frames": [_frame(f) for f in row.frames],
        "joints": list(row.joints),
    }


def _read_line(data: dict[str, Any]) -> LineRow:
    nodes = tuple(_read_part(NODES, node) for node in _list(data["nodes"]))
    law = _read_part({**LAWS, "spring": Spring} if data["law"]["kind"] == "spring" else LAWS, data["law"])
    frames = tuple(_read_frame(f) for f in _list(data["frames"]))
    return LineRow(_word(data["name"]), Line(nodes, law), frames, _places(data["joints"]))


def _contact(row: ContactRow) -> dict[str, Any]:
    shape, ground = row.force.shape, row.force.ground
    own = {"kind": shape.kind, "points": list(shape.numbers)} if isinstance(shape, Vertices) else _part(shape)
    return {
        "name": row.name,
        "shape": own,
        "ground": _part(ground),
        "surface": _surface(ground.surface),
        **_frame(row.frame),
    }


def _surface(surface: Any) -> dict[str, Any]:
    if not isinstance(surface, HeightField):
        return _part(surface)
    return {"kind": surface.kind, "heights": [list(row) for row in surface.heights], "x": surface.x, "y": surface.y}


def _read_surface(data: dict[str, Any]) -> Any:
    if "heights" not in data:
        return _read_part(SURFACES, data)
    rows = [_finite(row, -1).tolist() for row in _list(data["heights"])]
    return HeightField(rows, float(_bounds([data["x"]])[0]), float(_bounds([data["y"]])[0]))


def _read_contact(data: dict[str, Any]) -> ContactRow:
    shape, surface = data["shape"], _read_surface(data["surface"])
    made = Vertices(tuple(_finite(shape["points"], -1).tolist())) if "points" in shape else _read_part(TOUCHING, shape)
    ground: Any = _read_part({"ground": lambda **own: Ground(**own, surface=surface)}, data["ground"])
    return ContactRow(_word(data["name"]), Contact(made, ground), _read_frame(data))


def _pair(row: PairRow) -> dict[str, Any]:
    parts = {name: _part(part) for name, part in row.force.parts.items()}
    return {"name": row.name, "pair": parts, "a": _frame(row.a), "b": _frame(row.b)}


def _read_pair(data: dict[str, Any]) -> PairRow:
    shapes = {**TOUCHING, "rod": Rod}
    a, b = (_read_part(shapes, data["pair"][name]) for name in "ab")
    between: Any = _read_part({BodyContact.kind: BodyContact}, data["pair"]["between"])
    return PairRow(_word(data["name"]), PairContact(a, b, between), _read_frame(data["a"]), _read_frame(data["b"]))


def _force(row: ForceRow) -> dict[str, Any]:
    if isinstance(row, LineRow):
        return _line(row)
    if isinstance(row, PairRow):
        return _pair(row)
    if isinstance(row, ContactRow):
        return _contact(row)
    numbers = {
        name: x if x is None or isinstance(x, bool) else _numbers(np.array([x], dtype=float))[0]
        for name, x in row.force.parameters().items()
    }
    at = (
        {"joint": row.joint, "rate": row.rate}
        if isinstance(row, JointRow)
        else {"a": _frame(row.a), "b": _frame(row.b)}
    )
    return {"name": row.name, "kind": row.force.kind, "numbers": numbers, **at}


def _read_force(data: dict[str, Any]) -> ForceRow:
    if "nodes" in data:
        return _read_line(data)
    if "pair" in data:
        return _read_pair(data)
    if "surface" in data:
        return _read_contact(data)
    numbers = {
        name: x if x is None or isinstance(x, bool) else float(_bounds([x])[0]) for name, x in data["numbers"].items()
    }
    force: Any = FORCES[data["kind"]](**numbers)
    if "joint" in data:
        return JointRow(_word(data["name"]), force, _place(data["joint"]), _place(data["rate"]))
    return FrameRow(_word(data["name"]), force, _read_frame(data["a"]), _read_frame(data["b"]))


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
        ratio, offset = _finite([data["ratio"], data["offset"]], 2).tolist()
        return Mimic(_read_type(data["mimic"]), ratio, offset)
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
    limits = Limits(*map(_bounds, data["limits"]))
    own = {name: _bounds(data[name]) for name in _PER_RATE}
    q, v = (slice(*_places(data[name])) for name in ("q", "v"))
    return Joint(_word(data["name"]), _read_type(data["type"]), q, v, limits, **own)


def _numbers(x: Array) -> list[Any]:
    """Infinite numbers as texts, which JSON has no numbers for."""
    return [y if np.isfinite(y) else str(y) for y in x.tolist()]
