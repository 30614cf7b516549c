"""Every arm that has one of some modules in each of its slots, as arrays: tables of thousands of arms in milliseconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from modurob.assembly.connection import mated
from modurob.catalogue import Module, ModuleType, Port, module_type
from modurob.errors import InputError, explained
from modurob.mechanism.from_assembly import walked_joints
from modurob.robot import Assembly
from modurob.search.symmetries import docking_ports
from modurob.spatial import inertia, se3
from modurob.spatial.scalars import Array

if TYPE_CHECKING:
    from modurob.search.reaching import Reach

FLIP = np.diag([1.0, -1.0, -1.0, 1.0])  # the frame of a port in that of the port it is docked to, at roll 0
Option = tuple[ModuleType, ...]


class Piece(NamedTuple):
    """One option of a slot in the frame of the port it is docked by, all joints at zero; k joints, masses of k + 1 bodies."""

    h: Array  # axes, (k, 3)
    o: Array  # points on them, (k, 3) [m]
    limits: Array  # lower, upper [rad], effort [N m], (k, 3)
    mass: Array  # of what moves with the slot before, then behind each joint, (k + 1,) [kg]
    moment: Array  # mass times centre, (k + 1, 3) [kg m]
    end: Array  # the frame of the port at its other end, (4, 4)


@explained
@dataclass(frozen=True)
class ArmSet:
    """All arms with one option per slot; the options of arm i are the digits of i, the last slot fastest.

    An option is a module type, several of them stacked, or none, (). Modules have revolute joints in series; each is
    docked by its first port that fits, and the next module is docked at its first other port. The first slot is fixed
    in the world. All options of a slot have the same number of joints. Arrays are in world axes with all joints at
    zero, as are those of `Assembly.mechanism`.

    >>> links = ["straight_link", "elbow_link"]
    >>> arms = mr.ArmSet([["straight_link"], ["powerball"], links, ["powerball"], links])
    >>> len(arms), arms.n, arms[3]
    (4, 4, Assembly('arm', 1 straight_link, 2 powerball, 2 elbow_link, 4 connections))
    """

    slots: tuple[tuple[Option, ...], ...]

    def __init__(self, slots: Sequence[Sequence[Any]]):
        object.__setattr__(self, "slots", tuple(tuple(_option(o) for o in slot) for slot in slots))
        if not self.slots or not all(self.slots):
            raise InputError("an arm set needs slots with at least one option each")
        if any(not o for o in self.slots[0]):
            raise InputError("the first slot stands in the world: expected a module in each of its options")
        _ = self._pieces

    def __len__(self) -> int:
        return int(np.prod([len(s) for s in self.slots], dtype=np.int64))

    @property
    def n(self) -> int:
        """Number of joints of each arm."""
        return sum(len(pieces[0].h) for pieces in self._pieces)

    def options(self, i: int) -> tuple[Option, ...]:
        """The options of arm i in each slot."""
        if not 0 <= i < len(self):
            raise InputError(f"arm {i}: expected 0 to {len(self) - 1}")
        digits = np.unravel_index(i, [len(s) for s in self.slots])
        return tuple(slot[int(d)] for slot, d in zip(self.slots, digits, strict=True))

    def __getitem__(self, i: int) -> Assembly:
        """Arm i as an assembly: modules m0, m1, ... from the world on."""
        kinds = [kind for option in self.options(i) for kind in option]
        modules = {f"m{k}": kind.module() for k, kind in enumerate(kinds)}
        ends, docked = _chain(list(modules.values())), []
        for k, ((_, out), (into, _)) in enumerate(pairwise(ends)):
            docked.append(f"m{k}/{out.name} - m{k + 1}/{into.name}")
        return Assembly(modules, docked, "arm")

    def tip(self, i: int) -> str:
        """The port at the end of arm i."""
        kinds = [kind for option in self.options(i) for kind in option]
        return f"m{len(kinds) - 1}/{_chain([k.module() for k in kinds])[-1][1].name}"

    def reach(self, poses: Any, load: float = 0.0, gravity: Any = (0.0, 0.0, -9.81)) -> "Reach":
        """Which arms bring their ends to poses (p, 4, 4) and hold a `load` [kg] there, for arms of six joints whose
        axes intersect in pairs.

        For each arm and pose all solutions are found; one is enough that is within limits and whose torques at rest are
        within the efforts of the joints. All cores are used; results do not depend on their number.

        >>> arms = mr.ArmSet([["straight_link"], *[["powerball"], [(), "elbow_link"]] * 3])
        >>> X = arms[3].mechanism(keep_idle=True).frame_pose([0.3, -0.8, 0.9, 0.4, 0.7, -0.2], arms.tip(3))
        >>> found = arms.reach([X])
        >>> found.verdict.shape, bool(found.verdict[3, 0])
        ((8, 1), True)
        """
        from modurob.search.reaching import reach

        return reach(self, poses, load, gravity)

    # ---- tables ----

    @cached_property
    def _pieces(self) -> list[list[Piece]]:
        found, before = [], None
        for s, slot in enumerate(self.slots):
            ends = [_chain([kind.module() for kind in option], before) for option in slot]
            found.append([_piece(option, chain, s == 0) for option, chain in zip(slot, ends, strict=True)])
            if len({len(p.h) for p in found[-1]}) > 1:
                counts = sorted({len(p.h) for p in found[-1]})
                raise InputError(f"slot {s} has options with {' and '.join(map(str, counts))} joints: expected as many")
            outs = [chain[-1][1] if chain else before for chain in ends]
            if len({port.connector for port in outs if port is not None}) > 1:
                raise InputError(f"options of slot {s} end in different connectors: expected one kind")
            before = outs[0]
        return found

    def tables(self, arms: Array) -> "Arms":
        """The tables of some arms, by number, (a,)."""
        digits = np.unravel_index(arms, [len(s) for s in self.slots])
        X = np.broadcast_to(np.eye(4), (len(arms), 4, 4))
        joints: list[tuple[Array, ...]] = []
        mass, moment = [np.zeros(len(arms))], [np.zeros((len(arms), 3))]
        for s, (pieces, digit) in enumerate(zip(self._pieces, digits, strict=True)):
            h, o, limits, m, c, end = (np.stack(x)[digit] for x in zip(*pieces, strict=True))
            X = X if s == 0 else X @ FLIP
            R, p = X[:, :3, :3], X[:, None, :3, 3]
            joints.append((h @ R.swapaxes(1, 2), o @ R.swapaxes(1, 2) + p, limits))
            moved = c @ R.swapaxes(1, 2) + m[..., None] * p
            mass[-1], moment[-1] = mass[-1] + m[:, 0], moment[-1] + moved[:, 0]
            mass += list(m[:, 1:].T)
            moment += list(moved[:, 1:].swapaxes(0, 1))
            X = X @ end
        h, o, limits = (np.concatenate(x, axis=1) for x in zip(*joints, strict=True))
        return Arms(h, o, limits, np.stack(mass, axis=1), np.stack(moment, axis=1), X)


class Arms(NamedTuple):
    """Arms of n joints as arrays, all joints at zero, world axes."""

    h: Array  # unit vectors along the axes, (a, n, 3)
    o: Array  # points on the axes, (a, n, 3) [m]
    limits: Array  # lower, upper [rad], effort [N m], (a, n, 3)
    mass: Array  # of the bodies, that in the world first, (a, n + 1) [kg]
    moment: Array  # mass times centre of mass, (a, n + 1, 3) [kg m]
    X: Array  # the port at the end, (a, 4, 4)


def _option(given: Any) -> Option:
    each = (given,) if isinstance(given, str | ModuleType) else tuple(given)
    return tuple(module_type(kind) for kind in each)


def _piece(option: Option, ends: Sequence[tuple[Port, Port]], first: bool) -> Piece:
    modules = [kind.module() for kind in option]
    X = np.eye(4) if first or not modules else se3.inverse(ends[0][0].X)
    h: list[Any] = []
    o: list[Any] = []
    limits: list[Any] = []
    mass: list[Any] = [0.0]
    moment: list[Any] = [np.zeros(3)]
    for k, (module, (into, out)) in enumerate(zip(modules, ends, strict=True)):
        X = X if k == 0 else X @ mated(ends[k - 1][1], into, 0.0)
        part = module.root if first and k == 0 else into.part
        for step in [None, *_in_a_row(module, part, out.part)]:
            if step is not None:
                part = step.end
                h.append(X[:3, :3] @ np.asarray(step.type.axis))
                o.append(X[:3, :3] @ step.joint.origin + X[:3, 3])
                limits.append([step.joint.properties.get(n, x) for n, x in NUMBERS.items()])
                mass.append(0.0)
                moment.append(np.zeros(3))
            I = module.parts[part].inertia
            mass[-1] += inertia.mass(I)
            moment[-1] = moment[-1] + inertia.mass(I) * (X[:3, :3] @ inertia.centre(I) + X[:3, 3])
    end = X @ ends[-1][1].X if modules else FLIP
    k = len(h)
    rows = [np.array(x, dtype=float).reshape(k, 3) for x in (h, o, limits)]
    return Piece(rows[0], rows[1], rows[2], np.array(mass, dtype=float), np.array(moment, dtype=float), end)


NUMBERS = {"lower": -np.inf, "upper": np.inf, "effort": np.inf}


def _in_a_row(module: Module, entered: str, left: str) -> list[Any]:
    """The joints of a module from one part to another."""
    steps = list(walked_joints(module, entered))
    parts = [entered, *(s.end for s in steps)]
    in_a_row = all(s.start == p for s, p in zip(steps, parts, strict=False))
    if (
        not in_a_row
        or parts[-1] != left
        or set(parts) != set(module.parts)
        or any(s.type.kind != "revolute" for s in steps)
    ):
        raise InputError(f"module type {module.type.name!r}: expected revolute joints in a row from port to port")
    return steps


def _chain(modules: Sequence[Module], before: Port | None = None) -> list[tuple[Port, Port]]:
    """The ports in and out of modules one on another: docked by the first port that fits, left by the first other one."""
    found: list[tuple[Port, Port]] = []
    for module in modules:
        ports = docking_ports(module)
        if len(ports) < 2:
            raise InputError(f"module type {module.type.name!r} has {len(ports)} docking ports: expected two or more")
        fits = [p for p in ports if before is None or before.connector.misfit(p.connector, 0.0) is None]
        if not fits:
            raise InputError(
                f"no port of {module.type.name!r} fits a connector {before and before.connector.kind!r} of the one before"
            )
        before = next(p for p in ports if p is not fits[0])
        found.append((fits[0], before))
    return found
