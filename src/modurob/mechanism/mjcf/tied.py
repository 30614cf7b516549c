"""Equalities of MuJoCo as mimic joints, couplings and loops."""

from typing import Any

import numpy as np

from modurob.catalogue.joints import Fixed, Revolute, Spherical
from modurob.errors import MjcfError
from modurob.mechanism.builder import Builder
from modurob.mechanism.joint_properties import Source
from modurob.mechanism.mjcf.naming import Read, pose
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array

CONNECT, WELD, JOINT, TENDON = range(4)
SITE = 6  # mjOBJ_SITE
AXIS = " axis"

Followers = dict[str, Source]


def followers(read: Read) -> Followers:
    """Joints that follow others, by name: y = ratio x + offset in MuJoCo's coordinates."""
    m, found = read.model, dict[str, Source]()
    for e in _active(read, JOINT):
        name, a, b = read.named("joint", m.eq_obj1id[e]), int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
        a0, a1, *higher = m.eq_data[e][:5]
        if b < 0 or np.any(higher) or name in found or not a1:
            raise MjcfError(
                f"{read.where}: equality {read.named('equality', e)!r} on joint {name!r}: expected one joint that follows another "
                "along a straight line"
            )
        x0, y0 = (m.qpos0[m.jnt_qposadr[k]] for k in (b, a))
        found[name] = Source(read.named("joint", b), float(a1), float(y0 + a0 - a1 * x0))
    return {name: _owner(found, name, read) for name in found}


def _owner(found: Followers, name: str, read: Read) -> Source:
    """What a joint follows in the end."""
    source, seen = found[name], {name}
    while source.joint not in seen:
        seen.add(source.joint)
        beyond = found.get(source.joint)
        # the slide of a screw follows its own hinge, whatever that follows
        if beyond is None or _on_one_body(read, name, source.joint):
            return source
        source = Source(beyond.joint, source.ratio * beyond.ratio, source.ratio * beyond.offset + source.offset)
    raise MjcfError(f"{read.where}: joint {name!r} follows joints that follow it: expected one that leads")


def _on_one_body(read: Read, *joints: str) -> bool:
    return len({int(read.model.joint(name).bodyid[0]) for name in joints}) == 1


def coupled(read: Read) -> dict[int, dict[str, float]]:
    """Ratios by joint of the tendons that an equality holds, by number of the equality."""
    m, found = read.model, dict[int, dict[str, float]]()
    for e in _active(read, TENDON):
        t = int(m.eq_obj1id[e])
        wraps = range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t])
        if m.eq_obj2id[e] >= 0 or np.any(m.eq_data[e][1:5]) or any(m.wrap_type[w] != 1 for w in wraps):
            raise MjcfError(
                f"{read.where}: equality {read.named('equality', e)!r}: expected a fixed tendon over joints, held at one length"
            )
        found[e] = {read.named("joint", m.wrap_objid[w]): float(m.wrap_prm[w]) for w in wraps}
    return found


def constrain(builder: Builder, read: Read) -> None:
    """Add couplings and loops."""
    m = read.model
    for e, ratios in coupled(read).items():
        offset = m.eq_data[e][0] + m.tendon_length0[m.eq_obj1id[e]]
        builder.coupling(read.named("equality", e), ratios, float(offset))
    points = _active(read, CONNECT)
    names = {read.named("equality", e): e for e in points}
    for e in points:
        name = read.named("equality", e)
        if name.endswith(AXIS) and name.removesuffix(AXIS) in names:
            continue
        second = names.get(name + AXIS)
        (P, p), (S, s) = _ends(read, e)
        kind: Any = Spherical()
        if second is not None:
            kind, (p, s) = Revolute((0, 0, 1)), _along((p, s), [X for _, X in _ends(read, second)])
        builder.loop(name, kind, P, S, p, s)
    for e in _active(read, WELD):
        (P, p), (S, s) = _ends(read, e)
        builder.loop(read.named("equality", e), Fixed(), P, S, p, s)


def _along(first: tuple[Array, Array], second: list[Array]) -> list[Array]:
    """Frames at the first points with z towards the second ones."""
    found = []
    for a, b in zip(first, second, strict=True):
        z = se3.position(b) - se3.position(a)
        x, y = so3.perpendicular(z / np.linalg.norm(z))
        found.append(se3.pose(np.stack([x, y, z / np.linalg.norm(z)], axis=-1), se3.position(a)))
    return found


def _ends(read: Read, e: int) -> list[tuple[str, Array]]:
    """The two bodies of an equality and the frames on them that it holds together."""
    m = read.model
    pair = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    if m.eq_objtype[e] == SITE:
        return [read.site(i) for i in pair]
    a, b = (read.frame(i) for i in pair)
    data = m.eq_data[e]
    if m.eq_type[e] == CONNECT:
        return [(a, se3.pose(p=np.array(data[:3]))), (b, se3.pose(p=np.array(data[3:6])))]
    return [(a, pose(data[3:6], data[6:10])), (b, se3.IDENTITY)]


def _active(read: Read, kind: int) -> list[int]:
    m = read.model
    return [e for e in range(m.neq) if m.eq_type[e] == kind and m.eq_active0[e]]
