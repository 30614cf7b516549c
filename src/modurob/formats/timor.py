"""Sets of modules of Timor-Python (Külz, Mayer, Althoff, *Timor Python: A toolbox for industrial modular robotics*,
IROS 2023).

A set is a JSON file: modules of bodies, joints about or along z, and connectors whose z axis points away from their
body, so that docked frames differ by a half turn about x, as here. Masses, tensors, friction, limits and rotors are
read (the inertia of a rotor is multiplied by the square of its gear ratio); meshes and limits of acceleration are not.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from modurob.catalogue import ModuleType, library
from modurob.catalogue.reading import read_text
from modurob.catalogue.specification import NAME
from modurob.errors import FormatError, InputError, ModurobError, choices, warn_user
from modurob.spatial import inertia, se3
from modurob.spatial.scalars import Array

READINGS = ("centre", "frame")
GENDERS = {"m": "male", "f": "female", "h": "none", "male": "male", "female": "female", "hermaphroditic": "none"}
JOINTS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic"}
# what rounding in the file may leave of a negative moment, relative to the largest
SLACK = 0.05


def timor_modules(path: str | Path, tensors: str = "centre") -> dict[str, ModuleType]:
    """The module types in a file of Timor-Python, by name, to be docked like any other; parts and ports are named by
    their IDs, and so are modules whose name in the file is more than one word.

    `tensors` is the reference point of the file's inertia tensors: the "centre" of mass of each body, as in
    Timor-Python, or the origin of its "frame", as most of the set IMPROV seem to be meant. If an inertia with this
    reference point is physically impossible, the other one is used, with a warning; within rounding, the nearest
    inertia. SI units.

    >>> import json
    >>> rod = {"ID": "rod", "mass": 1.0, "r_com": [0, 0, 0.5], "inertia": np.diag([0.34, 0.34, 0.02]).tolist(), "connectors": []}
    >>> with open("timor.json", "w") as file:
    ...     json.dump({"modules": [{"header": {"ID": "1", "name": "rod"}, "bodies": [rod], "joints": []}]}, file)
    >>> mr.timor_modules("timor.json")
    {'rod': ModuleType('rod', 1 part, 0 joints, 0 ports)}
    """
    if tensors not in READINGS:
        raise InputError(f"tensors {tensors!r:.40}: {choices(str(tensors), READINGS)}")
    path = Path(path)
    return module_types(parsed(read_text(path), path.name), path.name, tensors)


def parsed(text: str, where: str) -> dict[str, Any]:
    """The JSON of a set of modules, or an error that says why it is none."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise FormatError(f"{where}: no JSON: {error}") from None
    if not isinstance(data, dict) or not isinstance(data.get("modules"), list):
        raise FormatError(f"{where}: no set of modules of Timor-Python: expected a list under 'modules'")
    return data


def module_types(data: Mapping[str, Any], where: str, tensors: str = "centre") -> dict[str, ModuleType]:
    """Module types by name."""
    found: dict[str, ModuleType] = {}
    for i, module in enumerate(data["modules"]):
        named = f"{where}: modules[{i}]"
        try:
            kind = library.from_data(Translation(module, _name(module["header"], data), tensors).data(), named)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            if isinstance(error, ModurobError):
                raise
            raise FormatError(f"{named}: {type(error).__name__}: {error}: expected header, bodies and joints") from None
        if kind.name in found:
            raise FormatError(f"{named}: there is already a module named {kind.name!r}: names must differ")
        found[kind.name] = kind
    return found


def _name(header: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """The name of a module if all names of the set are single words, else its ID."""
    names = [str(m["header"].get("name", "")) for m in data["modules"]]
    return str(header["name" if all(re.fullmatch(NAME, name) for name in names) else "ID"])


class Translation:
    """One module of the file in the words of a module type."""

    def __init__(self, module: Mapping[str, Any], name: str, tensors: str):
        self.name, self.tensors = _word(name), tensors
        self.bodies = {_word(b["ID"]): b for b in module["bodies"]}
        self.joints = {_word(j["ID"]): j for j in module.get("joints", [])}
        self.X = self._body_poses()

    def data(self) -> dict[str, Any]:
        """A module type as plain data."""
        ports, connectors = {}, {}
        for body, c in ((name, c) for name, b in self.bodies.items() for c in b.get("connectors", [])):
            key, connector = _connector(c)
            connectors[key] = connector
            ports[_word(c["ID"])] = self._port(body, c, key)
        return {
            "format": "modurob module 1",
            "name": self.name,
            "parts": {self._part_name(name): self._part(name) for name in self.X},
            "joints": {self._joint_name(name): self._joint(j) for name, j in self.joints.items()},
            "connectors": connectors,
            "ports": ports,
        }

    def _body_poses(self) -> dict[str, Array]:
        """Frames of the bodies in that of the first body that is no joint's child, all joints at zero."""
        children = {_word(j["child"]) for j in self.joints.values()}
        X = {next(name for name in self.bodies if name not in children): se3.IDENTITY}
        for _ in self.joints:
            for j in self.joints.values():
                parent, child = _word(j["parent"]), _word(j["child"])
                if parent in X and child not in X:
                    X[child] = X[parent] @ _pose(j.get("poseParent")) @ _pose(j.get("poseChild"))
        loose = [name for name in self.bodies if name not in X]
        if loose:
            raise FormatError(f"module {self.name!r}: no joint leads to body {loose[0]!r}")
        return X

    def _part_name(self, name: str) -> str:
        """Parts, joints and ports need different names here, and not in the file."""
        ports = {_word(c["ID"]) for b in self.bodies.values() for c in b.get("connectors", [])}
        return f"{name}_body" if name in ports or name == self.name else name

    def _joint_name(self, name: str) -> str:
        ports = {_word(c["ID"]) for b in self.bodies.values() for c in b.get("connectors", [])}
        return f"{name}_joint" if name in ports or name in self.bodies else name

    def _part(self, name: str) -> dict[str, Any]:
        body = self.bodies[name]
        m, c, given = float(body["mass"]), np.asarray(body["r_com"], float), np.asarray(body["inertia"], float)
        I = self._tensor(name, m, c, given)
        moved = inertia.moved(inertia.spatial_inertia(m, c, I), self.X[name])
        T = inertia.tensor(moved)
        return {
            "mass": m,
            "centre": inertia.centre(moved).tolist(),
            "inertia": [T[0, 0], T[0, 1], T[1, 1], T[0, 2], T[1, 2], T[2, 2]],
            "shapes": list(self._shapes(name)),
        }

    def _tensor(self, name: str, m: float, c: Array, given: Array) -> Array:
        """The tensor about the centre of mass: with the requested reference point, if it is physically possible."""
        shift = m * (c @ c * np.eye(3) - np.outer(c, c))
        about = {"frame": given - shift, "centre": given}
        first, second = (about[r] for r in (self.tensors, *(r for r in READINGS if r != self.tensors)))
        if _lack(first) <= SLACK or _lack(second) > SLACK:
            return _nearest(first)
        warn_user(
            f"module {self.name!r}, body {name!r}: no rigid body has the tensor about its {self.tensors}: read the other way"
        )
        return _nearest(second)

    def _joint(self, j: Mapping[str, Any]) -> dict[str, Any]:
        kind = JOINTS.get(str(j["type"]))
        if kind is None:
            raise FormatError(
                f"module {self.name!r}, joint {j['ID']!r}: type {j['type']!r}: valid: {', '.join(JOINTS)}"
            )
        X = self.X[_word(j["parent"])] @ _pose(j.get("poseParent"))
        limits, gear = j.get("limits") or {}, float(j.get("gearRatio") or 1.0)
        low, high = (_number(limits.get(x), s * np.inf) for x, s in (("positionLower", -1), ("positionUpper", 1)))
        found = {
            "kind": kind,
            "from": self._part_name(_word(j["parent"])),
            "to": self._part_name(_word(j["child"])),
            "at": _clean(X[:3, 3]),
            "axis": _clean(X[:3, 2]),
            "limits": [low, high],
            "damping": float(j.get("frictionViscous") or 0.0),
            "friction": float(j.get("frictionCoulomb") or 0.0),
            "armature": float(j.get("motorInertia") or 0.0) * gear**2,
        }
        for ours, theirs in (("velocity", "velocity"), ("effort", "peakTorque")):
            found[ours] = _number(limits.get(theirs), np.inf)
        return {**found, "effort": 0.0} if j.get("passive") else found

    def _port(self, body: str, c: Mapping[str, Any], connector: str) -> dict[str, Any]:
        X = self.X[body] @ _pose(c.get("pose"))
        at, normal, up = _clean(X[:3, 3]), _clean(X[:3, 2]), _clean(X[:3, 0])
        return {"part": self._part_name(body), "at": at, "normal": normal, "up": up, "connector": connector}

    def _shapes(self, name: str) -> Iterator[dict[str, Any]]:
        """Spheres, cylinders, and boxes along the axes of the module."""
        given = self.bodies[name].get("collision") or []
        for shape in given if isinstance(given, list) else [given]:
            X, size = self.X[name] @ _pose(shape.get("pose")), shape.get("parameters", {})
            at = _clean(X[:3, 3])
            if shape.get("type") == "sphere":
                yield {"sphere": float(size["r"]), "at": at}
            elif shape.get("type") == "cylinder":
                yield {"cylinder": [float(size["r"]), float(size["z"])], "at": at, "axis": _clean(X[:3, 2])}
            elif shape.get("type") == "box" and np.allclose(np.abs(X[:3, :3]).max(axis=0), 1):
                yield {"box": (np.abs(X[:3, :3]).round() @ [float(size[k]) for k in "xyz"]).tolist(), "at": at}


def _connector(c: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """A name for a connector and what it mates with."""
    kind, gender = _word(c.get("type") or "default"), GENDERS.get(str(c.get("gender", "h")))
    size = np.atleast_1d(np.asarray(c.get("size") if c.get("size") is not None else [], float))
    if gender is None or len(size) > 1:
        raise FormatError(
            f"connector {c['ID']!r}: gender {c.get('gender')!r}, size {c.get('size')!r}: expected m, f or h, one number"
        )
    width = float(size[0]) if len(size) else 0.0
    return f"{kind}_{gender}_{width:g}", {"kind": kind, "gender": gender, "size": width}


def _word(x: Any) -> str:
    """A name that files of modurob can have."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", str(x))[:56]


def _number(x: Any, otherwise: float) -> float:
    return otherwise if x is None or np.isnan(float(x)) else float(x)


def _pose(X: Any) -> Array:
    """A pose as the file has it, rounding in it taken away."""
    X = np.eye(4) if X is None else np.asarray(X, float)
    return np.where(np.abs(X - np.round(X, 12)) < 1e-13, np.round(X, 12), X) + 0.0


def _clean(x: Array) -> list[float]:
    return (np.round(x, 12) + 0.0).tolist()


def _lack(I: Array) -> float:
    """How far a tensor is from that of a rigid body: the most negative second moment, relative to the largest moment."""
    return float(max(0.0, -np.linalg.eigvalsh(_second_moments(I))[0]) / max(np.abs(I).max(), 1e-300))


def _second_moments(I: Array) -> Array:
    return np.trace(I) / 2 * np.eye(3) - I


def _nearest(I: Array) -> Array:
    """The nearest tensor that a rigid body can have: no negative second moments."""
    values, axes = np.linalg.eigh(_second_moments(I))
    if values[0] >= 0:
        return I
    S = axes * np.maximum(values, 0) @ axes.T
    return np.trace(S) * np.eye(3) - S
