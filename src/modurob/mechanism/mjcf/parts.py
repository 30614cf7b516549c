"""The joints of MuJoCo that make one of ours: hinges, slides, balls and free joints, several on one body where need be."""

from typing import NamedTuple

import numpy as np

from modurob.catalogue.joints import Free, Helical, JointType, Mimic, Prismatic, Revolute, Spherical
from modurob.catalogue.joints.joint import Axis, Reversed
from modurob.errors import MjcfError
from modurob.mechanism.tables import Joint, Tables

SLIDES = tuple(Prismatic(tuple(axis)) for axis in np.eye(3))


class Part(NamedTuple):
    """A joint of MuJoCo at ratio times a coordinate of our joint plus offset; balls and free joints follow several as they are."""

    name: str
    kind: str  # hinge, slide, ball or free
    axis: Axis
    at: int  # which of our joint's rates, the first of three for a ball
    ratio: float = 1.0
    offset: float = 0.0


def parts_of(m: Tables, body: int) -> list[Part]:
    """What the joint of a body is made of, from predecessor to successor; an error that names it if nothing makes it."""
    joint = m.joints[body - 1]
    kind = joint.type.follower if isinstance(joint.type, Mimic) else joint.type
    parts = _parts(joint, kind, m.parent[body] == 0)
    if parts is None:
        raise MjcfError(
            f"joint {joint.name} of {m.name} is {joint.kind}: MuJoCo has hinges, slides, balls and free joints, and no chain of "
            "these makes it"
        )
    return [p._replace(ratio=p.ratio * joint.ratio, offset=p.ratio * joint.offset) for p in parts]


def leading(parts: list[Part]) -> Part:
    """The part that has the coordinate of a joint with one."""
    return parts[-1]


def _parts(joint: Joint, kind: JointType, on_world: bool) -> list[Part] | None:
    names = joint.rate_names() if joint.type.nv > 1 else [joint.name]
    if isinstance(kind, Helical):
        # the slide follows the hinge
        return [
            Part(f"{joint.name} slide", "slide", kind.axis, 0, float(kind.pitch)),
            Part(joint.name, "hinge", kind.axis, 0),
        ]
    if isinstance(kind, Free):
        if on_world:
            return [Part(joint.name, "free", (), 0)]
        slides = [_part(f"{joint.name} {'xyz'[k]}", slide, k) for k, slide in enumerate(SLIDES)]
        return [*slides, Part(f"{joint.name} turn", "ball", (), 3)]
    if isinstance(kind, Spherical):
        return [Part(joint.name, "ball", (), 0)]
    backwards = isinstance(kind, Reversed)
    simple = kind.original.elementary() if backwards else kind.elementary()
    if simple is None or not all(isinstance(p, Revolute | Prismatic) for p in simple):
        return None
    made = [
        _part(name, p.reversed() if backwards else p, k) for k, (name, p) in enumerate(zip(names, simple, strict=True))
    ]
    return made[::-1] if backwards else made


def _part(name: str, kind: JointType, at: int) -> Part:
    axis: Axis = kind.axis  # type: ignore[attr-defined]
    return Part(name, "hinge" if isinstance(kind, Revolute) else "slide", axis, at)
