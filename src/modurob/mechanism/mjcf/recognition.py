"""Our joints from the simple ones on a body of MuJoCo: cylindrical, universal, planar, helical and free where a chain is one."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from modurob.catalogue.joints import (
    Cylindrical,
    Free,
    Helical,
    JointType,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from modurob.catalogue.joints.joint import Axis
from modurob.errors import InputError
from modurob.spatial import se3
from modurob.spatial.scalars import Array

# axes that differ by less are one
SAME = 1e-12


class Simple(NamedTuple):
    """A joint of MuJoCo: its pose in its body, and its coordinate at the given pose of the body."""

    name: str
    kind: str
    axis: Axis
    pos: Array
    ref: float
    id: int


class Found(NamedTuple):
    """A joint of ours, made of those with these numbers; `back` is its pose where MuJoCo's coordinates are zero."""

    name: str
    type: JointType
    pos: Array
    back: Array
    ids: list[int]


def recognised(simple: list[Simple], follow: Mapping[str, Any], alone: set[str]) -> list[Found]:
    """The joints of a body, the whole chain as one if there is such a kind, otherwise one by one; joints that follow or
    drive others stay `alone`.
    """
    whole = _whole(simple, follow, alone)
    if whole is not None:
        return [whole]
    found = []
    for s in simple:
        kind = _KINDS[s.kind](s.axis) if s.axis else _KINDS[s.kind]()
        back = kind.pose(np.array([-s.ref])) if s.axis else se3.IDENTITY
        found.append(Found(s.name, kind, s.pos, back, [s.id]))
    return found


_KINDS: dict[str, Any] = {"hinge": Revolute, "slide": Prismatic, "ball": Spherical, "free": Free}


def _whole(simple: list[Simple], follow: Mapping[str, Any], alone: set[str]) -> Found | None:
    """One joint with several rates that is this chain."""
    at, kinds = simple[0].pos, [s.kind for s in simple]
    apart = any(s.ref or np.abs(s.pos - at).max() > SAME for s in simple)
    if len(simple) < 2 or apart:
        return None
    if kinds == ["slide", "hinge"] and _screws(simple, follow):
        slide, hinge = simple
        screw = Helical(hinge.axis, follow[slide.name].ratio)
        return Found(hinge.name, screw, at, se3.IDENTITY, [hinge.id])
    if kinds == ["slide", "slide", "slide", "ball"] and _is_close([s.axis for s in simple[:3]], np.eye(3)):
        return Found(_stem(simple), Free(), at, se3.IDENTITY, [s.id for s in simple])
    if any(s.name in alone for s in simple):
        return None
    for kind, order in _candidates(simple):
        parts = kind.elementary() or ()
        if [type(p) for p in parts] == [_KINDS[s.kind] for s in order] and _is_close(
            [p.axis for p in parts],  # type: ignore[attr-defined]
            [s.axis for s in order],
        ):
            return Found(_stem(simple), kind, at, se3.IDENTITY, [s.id for s in order])
    return None


def _screws(simple: list[Simple], follow: Mapping[str, Any]) -> bool:
    """Whether the slide follows the hinge along one axis."""
    slide, hinge = simple
    source = follow.get(slide.name)
    same = _is_close([slide.axis], [hinge.axis])
    return source is not None and source.joint == hinge.name and not source.offset and same


def _candidates(simple: list[Simple]) -> Iterator[tuple[JointType, list[Simple]]]:
    """Kinds with as many rates, and the chain in the order of their coordinates."""
    axes = [s.axis for s in simple]
    if not all(axes):
        return
    try:
        if len(axes) == 2:
            yield Cylindrical(axes[1]), simple
            yield Universal(axes[0], axes[1]), simple
        if len(axes) == 3:
            yield Planar(axes[2]), simple
    except InputError:
        return


def _is_close(a: Any, b: Any) -> bool:
    return bool(np.abs(np.array(a) - np.array(b)).max() < SAME)


def _stem(simple: list[Simple]) -> str:
    """The name that all parts begin with, or that of the last."""
    name = simple[0].name.rsplit(" ", 1)[0]
    return name if all(s.name.startswith(f"{name} ") for s in simple) else simple[-1].name
