"""Designs in a state, and the state of one carried over to the next: modules stay where they are and move on as they did."""

from typing import NamedTuple

import numpy as np

from modurob.mechanism.tables import FLOATING_BASE
from modurob.robot import Mechanism
from modurob.simulation.docking import Body, transfer
from modurob.spatial import se3
from modurob.spatial.scalars import Array
from modurob.studio import closing
from modurob.studio.design import AnyDesign, Design
from modurob.studio.imported import Imported

# how far modules may move to fit while a robot runs [m, rad], as where organisms merge
TOLERANCE = (1e-3, 1e-2)


class Posed(NamedTuple):
    """A design, q and v."""

    design: AnyDesign
    q: Array
    v: Array

    @property
    def robot(self) -> Mechanism:
        return self.design.robot


def initial(design: AnyDesign) -> Posed:
    """A design as its file says it starts; loops may be open."""
    robot = design.robot
    if isinstance(design, Imported):
        return Posed(design, robot.neutral(), np.zeros(robot.nv))
    q, v = design.assembly.initial_state()
    # quaternions of length one
    return Posed(design, robot.integrate(q, np.zeros(robot.nv)), v)


def carried(before: Posed, design: AnyDesign) -> Posed:
    """A design in the state of the one before it, as organisms of `World` are carried over; loops may be open.

    Hinges that carry nothing any more are held where they are, by the setup of the assembly. A base that is new and stands does so
    at the origin of the world, as robot files say; then joints keep their coordinates and rates.
    """
    if not isinstance(design, Design) or not isinstance(before.design, Design):
        return _by_name(before, design)
    old = _body(before)
    if not design.floating and not _stands_on(before.design, design):
        return _by_name(before, _holding(design, {name: old.coordinates(name) for name in design.robot.idle}))
    found = _transferred(old._replace(stands=None if design.floating else se3.IDENTITY), design)
    return Posed(_holding(design, {name: np.array([x]) for name, x in found.held.items()}), found.q, found.v)


def goes_on(before: Posed, after: Posed) -> bool:
    """Whether modules are where they were, and loops are closed: then a run may go on through the change."""
    if not after.design.floating and not _stands_on(before.design, after.design):
        return False
    gaps = (closing.gap(after.robot, after.q, loop) for loop in after.robot.loops)
    return all(shift <= TOLERANCE[0] and np.deg2rad(turn) <= TOLERANCE[1] for shift, turn in gaps)


def posed(now: Posed) -> AnyDesign:
    """The design with the state as its initial one, as files hold it."""
    design, q, v = now
    if isinstance(design, Imported):
        return design
    setup, robot = design.assembly.setup, design.robot
    own = [j for j in robot.joints if j.name != FLOATING_BASE]
    held = {name: setup.coordinates[name] for name in robot.idle if name in setup.coordinates}
    coordinates = {j.name: q[j.q_slice] for j in own if not np.array_equal(q[j.q_slice], j.type.neutral())}
    rates = {j.name: v[j.v_slice] for j in own if v[j.v_slice].any()}
    started = design.assembly.with_setup(coordinates={**held, **coordinates}, rates=rates)
    if design.floating:
        started = started.with_setup(position=q[:3], quaternion=q[3:7], twist=v[:6])
    return Design(started)


def _stands_on(before: AnyDesign, after: AnyDesign) -> bool:
    """Whether a robot that stands does so on the base it stood on."""
    return (before.floating, before.base) == (after.floating, after.base)


def _body(now: Posed) -> Body:
    """A design as an organism."""
    assert isinstance(now.design, Design)
    assembly, robot = now.design.assembly, now.robot
    given = assembly.setup.coordinates
    held = {name: given[name][0] for name in robot.idle if name in given}
    stands = None if now.design.floating else se3.IDENTITY
    return Body(assembly, robot, now.q, now.v, held, stands)


def _transferred(old: Body, design: Design) -> Body:
    """The design in the state of the organism; a base that was not there is where the modules that were bring it."""
    gravity, modules = np.array(design.gravity), old.assembly.modules
    known = [design.base, *design.assembly.modules]
    first = next((name for name in known if name in modules), None)
    if first is None:
        return _body(initial(design))
    body = transfer(design.assembly, [old], gravity, first, closed=False).body
    return body if first == design.base else transfer(design.assembly, [body], gravity, design.base, closed=False).body


def _holding(design: Design, held: dict[str, Array | None]) -> Design:
    """The design with idle hinges held at these coordinates."""
    setup, idle = design.assembly.setup, design.robot.idle
    own = {name: x for name, x in setup.coordinates.items() if name not in idle}
    given = {name: x for name, x in held.items() if x is not None and np.any(x)}
    rates = {name: x for name, x in setup.rates.items() if name not in idle}
    changed = design.assembly.with_setup(coordinates={**own, **given}, rates=rates)
    return design if changed == design.assembly else Design(changed)


def _by_name(before: Posed, design: AnyDesign) -> Posed:
    """Joints of the same name and kind in the state they had."""
    robot = design.robot
    q, v = np.array(robot.neutral()), np.zeros(robot.nv)
    known = {j.name: j for j in before.robot.joints}
    for joint in robot.joints:
        old = known.get(joint.name)
        if old is not None and old.kind == joint.kind:
            q[joint.q_slice], v[joint.v_slice] = before.q[old.q_slice], before.v[old.v_slice]
    return Posed(design, q, v)
