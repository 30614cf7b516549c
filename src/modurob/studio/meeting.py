"""Which free ports of a robot can be docked to each other, so that a loop closes."""

import time
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from modurob.algorithms import Poses
from modurob.assembly import Connection, PortRef
from modurob.errors import MechanismError, ModurobError, StudioError
from modurob.spatial import se3
from modurob.spatial.scalars import Array
from modurob.studio import closing, protocol
from modurob.studio.carrying import Posed, carried
from modurob.studio.design import AnyDesign, Design
from modurob.studio.edits import edited

PATIENCE = 0.4  # seconds of looking for ports that can meet; one pair is always tried
SHOWN = 4  # of them in a message
MOST_PORTS = 120  # that are looked at,
MOST_PAIRS = 30  # and pairs of them
TURN = 0.1  # metres that a turn of one radian counts for


def connected(design: AnyDesign, edit: protocol.Connect, q: Array) -> AnyDesign:
    """The design with two ports docked, or a refusal that says how far they are apart and which ports could meet."""
    try:
        changed = edited(design, edit)
        _require_closed(design, changed, q)
    except MechanismError:
        assert isinstance(design, Design), "robots of links have no ports"
        raise StudioError(_refusal(design, edit, q)) from None
    return changed


def _require_closed(before: AnyDesign, after: AnyDesign, q: Array, thorough: bool = True) -> None:
    start = carried(Posed(before, q, np.zeros(before.robot.nv)), after)
    closing.closed(start.robot, start.q, thorough)


def _refusal(design: Design, edit: protocol.Connect, q: Array) -> str:
    X = design.robot.forward_kinematics(q)
    gap = closing.apart(X[edit.a] @ _facing(edit.roll), X[edit.b])
    found = [str(c) for c in _pairs(design, q)]
    offer = f"ports that can: {', '.join(found)}" if found else "no other two free ports were found that can"
    return (
        f"{edit.a} and {edit.b} cannot meet: they are {closing.distance(gap)} apart, and no pose was found that brings them "
        f"together; {offer}"
    )


def _facing(roll: float) -> Array:
    """The frame of a port in that of the port it is docked at."""
    c, s = np.cos(np.deg2rad(roll)), np.sin(np.deg2rad(roll))
    return se3.pose(np.array([[c, s, 0.0], [s, -c, 0.0], [0.0, 0.0, -1.0]]))


def _pairs(design: Design, q: Array) -> Iterator[Connection]:
    """Connections of free ports that close, the nearest first, as many as are shown and found in time."""
    deadline, found = time.monotonic() + PATIENCE, 0
    for connection in _candidates(design, q):
        if _closes(design, connection, q):
            found += 1
            yield connection
        if found == SHOWN or time.monotonic() > deadline:
            return


def _closes(design: Design, connection: Connection, q: Array) -> bool:
    try:
        edit = protocol.Connect(str(connection.a), str(connection.b), connection.roll)
        _require_closed(design, edited(design, edit), q, thorough=False)
    except ModurobError:
        return False
    return True


def _candidates(design: Design, q: Array) -> list[Connection]:
    """Ports whose connectors fit, in the roll that fits the present pose best, the nearest first."""
    X = design.robot.forward_kinematics(q)
    near = []
    for a, b in _near(X, design.assembly.free_ports[:MOST_PORTS]):
        rolls = _rolls(design, a, b)
        near += [(_way(X[str(a)] @ _facing(roll), X[str(b)]), Connection(a, b, roll)) for roll in rolls]
    return [connection for _, connection in sorted(near, key=lambda entry: entry[0])]


def _near(X: Poses, ports: list[PortRef]) -> list[tuple[PortRef, PortRef]]:
    """The pairs of ports of different modules that look at each other best from the least distance."""
    frames = np.array([X[str(ref)] for ref in ports]).reshape(-1, 4, 4)
    at, out = frames[:, :3, 3], frames[:, :3, 2]
    turn = np.arccos(np.clip(-(out @ out.T), -1.0, 1.0))
    way = np.linalg.norm(at[:, None] - at, axis=-1) + TURN * turn
    pairs = [(way[i, j], i, j) for i, j in combinations(range(len(ports)), 2) if ports[i].module != ports[j].module]
    return [(ports[i], ports[j]) for _, i, j in sorted(pairs)[:MOST_PAIRS]]


def _rolls(design: Design, a: PortRef, b: PortRef) -> list[float]:
    one, two = (design.assembly.modules[ref.module].ports[ref.port].connector for ref in (a, b))
    return [roll for roll in one.rolls if one.misfit(two, roll) is None]


def _way(one: Array, other: Array) -> float:
    shift, turn = closing.apart(one, other)
    return shift + TURN * np.deg2rad(turn)
