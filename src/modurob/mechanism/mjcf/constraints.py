"""Loops, gears, mimic joints and screws as equalities of MuJoCo."""

from collections.abc import Mapping
from xml.etree import ElementTree as ET

import numpy as np

from modurob.catalogue.joints import Fixed, Free, Revolute, Spherical
from modurob.errors import MjcfError
from modurob.mechanism.mjcf.geoms import placed
from modurob.mechanism.mjcf.parts import leading, parts_of
from modurob.mechanism.tables import Frame, Loop, Tables
from modurob.mechanism.xml_text import numbers
from modurob.spatial import se3

# how far along its axis the second point of a hinge that closes a loop stands [m]
APART = 0.1


def equalities(m: Tables, elements: Mapping[int, ET.Element]) -> ET.Element:
    """The section <equality>; couplings are equalities of the tendons of the same name."""
    section = ET.Element("equality")
    for constraint in m.constraints:
        if isinstance(constraint, Loop):
            _loop(m, constraint, elements, section)
        else:
            ET.SubElement(
                section, "tendon", name=constraint.name, tendon1=constraint.name, polycoef=_line(constraint.offset, 0.0)
            )
    _followers(m, section)
    return section


def _line(offset: float, slope: float) -> str:
    return numbers([offset, slope, 0, 0, 0])


def _followers(m: Tables, section: ET.Element) -> None:
    """Mimic joints follow their sources, and slides of screws their hinges."""
    sources = {j.v_slice.start: i for i, j in enumerate(m.joints, start=1) if not j.mimics}
    for i, joint in enumerate(m.joints, start=1):
        parts = parts_of(m, i)
        own = leading(parts)
        if joint.mimics:
            source = leading(parts_of(m, sources[joint.v_slice.start])).name
            _follow(section, own.name, source, joint.offset, joint.ratio)
        if joint.kind == "helical":
            _follow(section, parts[0].name, own.name, 0.0, parts[0].ratio / own.ratio)


def _follow(section: ET.Element, follower: str, source: str, offset: float, ratio: float) -> None:
    ET.SubElement(section, "joint", name=follower, joint1=follower, joint2=source, polycoef=_line(offset, ratio))


def _loop(m: Tables, loop: Loop, elements: Mapping[int, ET.Element], section: ET.Element) -> None:
    if isinstance(loop.type, Free):
        return
    if isinstance(loop.type, Fixed):
        _tie("weld", loop.name, loop, (0.0, 0.0, 0.0), elements, section)
    elif isinstance(loop.type, Spherical | Revolute):
        _tie("connect", loop.name, loop, (0.0, 0.0, 0.0), elements, section)
        if isinstance(loop.type, Revolute):
            along = tuple(APART * np.array(loop.type.axis))
            _tie("connect", f"{loop.name} axis", loop, along, elements, section)
    else:
        raise MjcfError(
            f"loop {loop.name!r} of {m.name} closes with a {loop.type.kind} joint: for MuJoCo loops close with fixed, spherical "
            "and revolute ones"
        )


def _tie(tag: str, name: str, loop: Loop, p: tuple, elements: Mapping[int, ET.Element], section: ET.Element) -> None:
    """An equality between two sites, at p in the frames of the loop joint."""
    sites = [
        _site(f"{name} {end}", frame, p, elements)
        for end, frame in (("predecessor", loop.predecessor), ("successor", loop.successor))
    ]
    ET.SubElement(section, tag, name=name, site1=sites[0], site2=sites[1])


def _site(name: str, frame: Frame, p: tuple, elements: Mapping[int, ET.Element]) -> str:
    at = placed(frame.X @ se3.pose(p=np.array(p)))
    ET.SubElement(elements[frame.body], "site", {"name": name, "group": "4", **at})
    return name
