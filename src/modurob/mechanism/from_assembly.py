"""From docked modules to bodies and joints.

A docked pair of ports welds two parts. Bodies are groups of welded parts, joints are the modules' own; connections that close
a loop become loop joints.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from modurob.assembly import Assembly, Connection
from modurob.assembly.connection import mated
from modurob.assembly.traversal import Traversal
from modurob.catalogue import Module, ModuleJoint
from modurob.catalogue.joints import Fixed, Free, JointType
from modurob.errors import InputError, MechanismError, choices
from modurob.mechanism.builder import Builder
from modurob.mechanism.joint_properties import JointProperties
from modurob.mechanism.tables import FLOATING_BASE, Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array, read_only

# connections between parts of one body must fit this well [m, rad]
FIT = 1e-6


class _Step(NamedTuple):
    """A joint of a module traversed from part `start` to part `end`, with `type` already in that direction."""

    name: str
    joint: ModuleJoint
    type: JointType
    start: str
    end: str


class Reports(NamedTuple):
    """What became of joints and connections that move nothing: see `Tables`."""

    idle: tuple[str, ...]
    held: tuple[str, ...]
    redundant: tuple[str, ...]


def fill(
    builder: Builder,
    assembly: Assembly,
    base: str | None,
    floating: bool,
    locked: Mapping[str, float] | Iterable[str],
    keep_idle: bool,
) -> Tables:
    """The mechanism of an assembly."""
    return builder.build(**add(builder, assembly, base, floating, locked, keep_idle)._asdict())


def add(
    builder: Builder,
    assembly: Assembly,
    base: str | None = None,
    floating: bool = False,
    locked: Mapping[str, float] | Iterable[str] = (),
    keep_idle: bool = False,
    at: Array = se3.IDENTITY,
    base_joint: str = FLOATING_BASE,
    owner: str = "",
) -> Reports:
    """Traverse the assembly from the base, which is fixed or floats at a pose in the world, and add every part; names
    of lines start with that of their owner, if there are several.
    """
    walk = assembly.traversal(base)
    held = _held(assembly, locked)
    idle = () if keep_idle else tuple(_idle(assembly, walk.order[0], floating))
    still = {**held, **{name: 0.0 for name in idle if name not in held}}

    root = walk.order[0]
    first = assembly.modules[root]
    builder.body(
        f"{root}/{first.root}",
        first.parts[first.root].inertia,
        joint=Free() if floating else None,
        joint_name=base_joint,
        at=at,
    )
    _add_module(builder, root, first, first.root, still)
    for out, into, connection in walk.edges:
        parent, child = assembly.modules[out.module], assembly.modules[into.module]
        a, b = parent.ports[out.port], child.ports[into.port]
        X = mated(a, b, connection.roll)
        builder.body(f"{into.module}/{b.part}", child.parts[b.part].inertia, parent=f"{out.module}/{a.part}", at=X)
        _add_module(builder, into.module, child, b.part, still)
    for name, line in assembly.setup.lines.items():
        builder.line(
            f"{owner}/{name}" if owner else name, [(at, (0.0, 0.0, 0.0), node) for at, node in line.route], line.law
        )
    return Reports(idle, tuple(held), _close_loops(builder, assembly, walk))


def _add_module(builder: Builder, name: str, module: Module, entered: str, still: Mapping[str, float]) -> None:
    """Add the parts of a module that its part `entered` carries, then its frames and shapes."""
    for step in walked_joints(module, entered):
        path = f"{name}/{step.name}"
        at, seat = step.joint.at, step.joint.seat
        if builder.has_frame(f"{name}/{step.end}"):
            builder.loop(path, step.type, f"{name}/{step.start}", f"{name}/{step.end}", at, at)
            continue
        part = module.parts[step.end]
        common = {"parent": f"{name}/{step.start}", "seat": seat}
        if path in still:
            builder.body(f"{name}/{step.end}", part.inertia, at=_locked_at(step, still[path]), **common)
        else:
            properties = _properties(step.joint)
            builder.body(
                f"{name}/{step.end}",
                part.inertia,
                joint=step.type,
                joint_name=path,
                at=at,
                properties=properties,
                **common,
            )
    builder.frame(name, f"{name}/{module.root}")
    for port in module.ports.values():
        builder.frame(f"{name}/{port.name}", f"{name}/{port.part}", port.X)
    for part in module.parts.values():
        for shape in part.shapes:
            builder.shape(shape.kind, shape.size, f"{name}/{part.name}", shape.X, shape.colour)


def _locked_at(step: _Step, q: Any) -> Array:
    """Pose of the part that the joint moves, held at q; zero also means the zero pose of joints of several coordinates."""
    if (type(q) is float and q == 0.0) or not np.any(q):
        return _neutral(step.joint, step.type)
    return step.joint.at @ step.type.pose(np.atleast_1d(q))


@lru_cache(maxsize=4096)
def _neutral(joint: ModuleJoint, kind: JointType) -> Array:
    return read_only(joint.at @ kind.pose(kind.neutral()))


@lru_cache(maxsize=4096)
def _properties(joint: ModuleJoint) -> JointProperties:
    return JointProperties(**joint.properties)


@lru_cache(maxsize=4096)
def walked_joints(module: Module, entered: str) -> tuple[_Step, ...]:
    """The module's joints, each once, walked outward from the part it is entered by."""
    reached, used, steps = [entered], set(), []
    for part in reached:
        for joint in module.joints_at[part]:
            if joint.name in used:
                continue
            used.add(joint.name)
            forth = joint.start == part
            end = joint.end if forth else joint.start
            steps.append(_Step(joint.name, joint, joint.type if forth else joint.type.reversed(), part, end))
            if end not in reached:
                reached.append(end)
    return tuple(steps)


def _held(assembly: Assembly, locked: Mapping[str, float] | Iterable[str]) -> dict[str, float]:
    """Joints to lock and the coordinate each is held at."""
    locked = (locked,) if isinstance(locked, str) else locked
    held = dict(locked) if isinstance(locked, Mapping) else dict.fromkeys(locked, 0.0)
    if not held:
        return held
    joints = {f"{m}/{j.name}": j.type for m, module in assembly.modules.items() for j in module.joints.values()}
    for name in held:
        if name not in joints:
            raise InputError(f"no joint {name!r} to lock: {choices(name, joints)}")
        if joints[name].nq > 1 and np.shape(held[name]) != (joints[name].nq,):
            raise InputError(f"joint {name!r} is {joints[name].kind}: only joints with one coordinate can be locked")
        if not all(_is_coordinate(x) for x in np.atleast_1d(held[name]).tolist()):
            raise InputError(f"joint {name!r} is to be held at {held[name]!r}: expected a finite coordinate [rad or m]")
    return held


def _is_coordinate(x: Any) -> bool:
    """Whether x is a finite number or a symbol."""
    return bool(np.isfinite(x)) if isinstance(x, int | float | np.number) else not (x is None or isinstance(x, str))


def _idle(assembly: Assembly, base: str, floating: bool) -> Iterator[str]:
    """Joints with nothing docked and no mass on one side: they move nothing but an empty part of their own module."""
    docked: dict[str, set[str]] = {}
    for ref in assembly.occupied:
        docked.setdefault(ref.module, set()).add(assembly.modules[ref.module].ports[ref.port].part)
    for name, module in assembly.modules.items():
        bearing = module.massive_parts | docked.get(name, set())
        if name == base and not floating:
            bearing = bearing | {module.root}
        for joint in module.joints.values():
            if joint.type.nv and any(not side & bearing for side in _sides(module, joint)):
                yield f"{name}/{joint.name}"


@lru_cache(maxsize=4096)
def _sides(module: Module, joint: ModuleJoint) -> list[set[str]]:
    """The parts on each side of a joint; none if the joint is in a loop of its module."""
    sides = []
    for start in (joint.start, joint.end):
        side = [start]
        for part in side:
            for other in module.joints_at[part]:
                end = other.end if other.start == part else other.start
                if other is not joint and end not in side:
                    side.append(end)
        sides.append(set(side))
    return [] if sides[0] & sides[1] else sides


def _close_loops(builder: Builder, assembly: Assembly, walk: Traversal) -> tuple[str, ...]:
    """Convert the remaining connections to loop joints; those within one body must fit and are returned."""
    redundant = []
    for connection in walk.loops:
        a, b = (assembly.modules[ref.module].ports[ref.port] for ref in (connection.a, connection.b))
        parts = f"{connection.a.module}/{a.part}", f"{connection.b.module}/{b.part}"
        at, seat = mated(a, b, connection.roll) @ b.X, b.X
        P, S = (builder.frame_of(part) for part in parts)
        if P.body == S.body:
            _require_fit(connection, se3.log(se3.inverse(P.X @ at) @ (S.X @ seat)))
            redundant.append(str(connection))
        else:
            builder.loop(str(connection), Fixed(), *parts, at, seat)
    return tuple(redundant)


def _require_fit(connection: Connection, gap: np.ndarray) -> None:
    if np.abs(gap).max() > FIT:
        shift, turn = np.linalg.norm(gap[:3]), np.rad2deg(np.linalg.norm(gap[3:]))
        raise MechanismError(
            f"{connection} cannot close: the two ports belong to one rigid body and are {shift:.3g} m and {turn:.3g} degrees apart"
        )
