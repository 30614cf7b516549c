"""The symmetries of a module: rotations that map it to itself, so that different ways of docking it are the same."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from modurob.catalogue import Module, ModuleJoint, PartShape, Port
from modurob.spatial import inertia, se3, so3
from modurob.spatial.scalars import Array

CLOSE = 1e-7  # what rounding leaves of poses [m, rad] and, relative to the largest entry, of inertias
TURNING = ("revolute", "prismatic", "helical")
ODD = ("rest",)  # properties of a joint that change their sign with its coordinate
CORNERS = np.array(list(product((-1.0, 1.0), repeat=3)))


class Symmetry(NamedTuple):
    """A rotation of a module onto itself: port i moves to port `to[i]`, rotated by `turn[i]` about its normal."""

    to: tuple[int, ...]
    turn: tuple[float, ...]  # [degrees], 0 to 360


@lru_cache(maxsize=1024)
def symmetries(module: Module) -> tuple[Symmetry, ...]:
    """Proper motions g that map parts, shapes, joints and docking ports of a module to parts, shapes, joints and
    docking ports; the identity first.

    g X_i = X_to(i) Rot(z; turn(i)) with X the frames of the ports. A coordinate may change its sign if its limits allow
    it. Mirror images are not counted: what is left-handed remains so. With joints of several coordinates, meshes or
    symbolic numbers the identity is the only symmetry.
    """
    ports = docking_ports(module)
    identity = Symmetry(tuple(range(len(ports))), (0.0,) * len(ports))
    if not ports or not _plain(module):
        return (identity,)
    found = [s for g in _candidates(ports) if (s := _ports_moved(ports, g)) is not None and _kept(module, g)]
    return (identity, *sorted({s for s in found if s != identity}))


def docking_ports(module: Module) -> tuple[Port, ...]:
    """The ports of a module that have a face, in its order."""
    return tuple(port for port in module.ports.values() if not port.connector.virtual)


def _plain(module: Module) -> bool:
    numbers = [p.inertia for p in module.parts.values()] + [p.X for p in module.ports.values()]
    kinds = all(j.type.kind in TURNING for j in module.joints.values())
    return kinds and all(np.asarray(x).dtype != object for x in numbers)


def _candidates(ports: Sequence[Port]) -> Iterator[Array]:
    """Motions that take the first port to a port of its connector, at each of its rolls."""
    first = ports[0]
    for port in (p for p in ports if p.connector == first.connector):
        for roll in first.connector.rolls:
            yield port.X @ se3.pose(so3.about(np.array([0.0, 0.0, 1.0]), np.deg2rad(roll))) @ se3.inverse(first.X)


def _ports_moved(ports: Sequence[Port], g: Array) -> Symmetry | None:
    moved = [_port_at(ports, port, g @ port.X) for port in ports]
    if any(m is None for m in moved):
        return None
    to, turn = zip(*(m for m in moved if m is not None), strict=True)
    return Symmetry(to, turn) if len(set(to)) == len(ports) else None


def _port_at(ports: Sequence[Port], port: Port, X: Array) -> tuple[int, float] | None:
    """The port at a frame up to a rotation about its normal that its rolls allow, and that rotation [degrees]."""
    for i, other in enumerate(ports):
        D = se3.inverse(other.X) @ X
        if other.connector == port.connector and np.allclose(D[:, 2:], np.eye(4)[:, 2:], atol=CLOSE):
            turn = float(np.rad2deg(np.arctan2(D[1, 0], D[0, 0]))) % 360
            return next(((i, r) for r in port.connector.rolls if abs((turn - r + 180) % 360 - 180) < 1e-5), None)
    return None


def _kept(module: Module, g: Array) -> bool:
    """Whether some exchange of parts is consistent with g: inertia, shapes, ports and joints are all preserved."""
    to: dict[str, str] = {}
    for name, part in module.parts.items():
        alike = [o.name for o in module.parts.values() if o.name not in to.values() and _same_part(part, o, g)]
        home = {q.part for p in docking_ports(module) if p.part == name for q in _landed(module, g @ p.X)}
        alike = [o for o in alike if not home or o in home]
        if not alike or len(home) > 1:
            return False
        to[name] = alike[0]
    return all(any(_same_joint(j, o, g, to) for o in module.joints.values()) for j in module.joints.values())


def _landed(module: Module, X: Array) -> list[Port]:
    return [p for p in docking_ports(module) if np.allclose(p.X[:, 2:], X[:, 2:], atol=CLOSE)]


def _same_part(part: Any, other: Any, g: Array) -> bool:
    moved, size = inertia.moved(part.inertia, g), max(np.abs(other.inertia).max(), 1e-300)
    if np.abs(moved - other.inertia).max() > CLOSE * size and np.abs(part.inertia).max() > 0:
        return False
    if (np.abs(part.inertia).max() > 0) != (np.abs(other.inertia).max() > 0):
        return False
    left = list(other.shapes)
    for shape in part.shapes:
        match = next((o for o in left if _same_shape(shape, o, g)), None)
        if match is None:
            return False
        left.remove(match)
    return not left


def _same_shape(shape: PartShape, other: PartShape, g: Array) -> bool:
    if (shape.kind, shape.colour) != (other.kind, other.colour) or len(shape.size) != len(other.size):
        return False
    X = g @ shape.X
    if shape.kind == "box":
        one, two = _corners(X, shape.size), _corners(other.X, other.size)
        return bool((np.linalg.norm(one[:, None] - two[None], axis=-1).min(axis=1) < CLOSE).all())
    if not np.allclose(shape.size, other.size, atol=CLOSE) or not np.allclose(X[:3, 3], other.X[:3, 3], atol=CLOSE):
        return False
    if shape.kind in ("cylinder", "capsule"):
        return bool(np.linalg.norm(np.cross(X[:3, 2], other.X[:3, 2])) < CLOSE)
    return shape.kind == "sphere" or bool(np.allclose(X, other.X, atol=CLOSE))


def _corners(X: Array, size: Sequence[float]) -> Array:
    return CORNERS * np.asarray(size, dtype=float) / 2 @ X[:3, :3].T + X[:3, 3]


def _same_joint(joint: ModuleJoint, other: ModuleJoint, g: Array, to: dict[str, str]) -> bool:
    """Whether g takes a joint to another one, its coordinate perhaps with the other sign."""
    a, b = joint.type, other.type
    if a.kind != b.kind or {to[joint.start], to[joint.end]} != {other.start, other.end}:
        return False
    axis, away = g[:3, :3] @ _axis(a), g[:3, :3] @ joint.origin + g[:3, 3] - other.origin
    along = float(axis @ _axis(b))
    if abs(abs(along) - 1) > CLOSE or (a.kind != "prismatic" and np.linalg.norm(np.cross(away, axis)) > CLOSE):
        return False
    if getattr(a, "pitch", 0.0) != getattr(b, "pitch", 0.0):
        return False
    forth = (to[joint.start] == other.start) == (along > 0)
    return dict(other.properties) == dict(joint.properties if forth else _turned(joint.properties))


def _axis(kind: Any) -> Array:
    return np.asarray(kind.axis, dtype=float)


def _turned(properties: Any) -> dict[str, Any]:
    """The properties of a joint whose coordinate is reversed."""
    turned = {**properties, **{k: -properties[k] for k in ODD if k in properties}}
    for ours, theirs in (("lower", "upper"), ("upper", "lower")):
        if theirs in properties:
            turned[ours] = -properties[theirs]
        else:
            turned.pop(ours, None)
    return turned
