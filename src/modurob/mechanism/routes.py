"""Routes of lines as users write them, read into rows of the table of forces."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from modurob.catalogue.forces import Spring
from modurob.catalogue.lines import LAWS, Line, LineLaw, Node, Point, Winch
from modurob.errors import InputError, MechanismError
from modurob.mechanism.tables import Frame, LineRow
from modurob.spatial import se3
from modurob.spatial.scalars import Array, as_array

# places on a route closer than this are one [m]
ONE_PLACE = 1e-9


def line_row(
    name: str, route: Any, law: Any, frame_of: Callable[[str], Frame], joint_of: Callable[[str], int]
) -> LineRow:
    """A row of the table: `route` lists (frame, place) or (frame, place, node); a place is xyz or a pose (4, 4) in that frame."""
    if not isinstance(law, LineLaw | Spring):
        raise MechanismError(f"line {name!r}: law {law!r:.60}: expected mr.Spring(...) or one of {', '.join(LAWS)}")
    if isinstance(route, str) or not isinstance(route, Sequence):
        raise MechanismError(
            f"line {name!r}: route {route!r:.60}: expected a list of (frame, place) or (frame, place, node)"
        )
    frames, nodes, joints = [], [], []
    for k, stop in enumerate(route):
        on, place, node = _stop(name, k, stop)
        at = frame_of(on)
        frames.append(Frame(at.body, at.X @ place))
        if isinstance(node, Winch):
            joints.append(joint_of(node.joint))
            node = node.node()
        nodes.append(node)
    _require_apart(name, frames)
    try:
        return LineRow(name, Line(tuple(nodes), law), tuple(frames), tuple(joints))
    except InputError as error:
        raise MechanismError(f"line {name!r}: {error}") from None


def _stop(name: str, k: int, stop: Any) -> tuple[str, Array, Any]:
    """Frame, pose in it, and node or winch."""
    where = f"line {name!r}, place {k}"
    if not isinstance(stop, tuple | list) or len(stop) not in (2, 3) or not isinstance(stop[0], str):
        raise MechanismError(f"{where}: {stop!r:.60}: expected (frame, xyz), or (frame, xyz or pose, node)")
    place = as_array(stop[1])
    if place.shape not in ((3,), (4, 4)) or place.dtype.kind not in "fO":
        raise MechanismError(f"{where}: {stop[1]!r:.60}: expected three numbers, or a pose (4, 4)")
    node = stop[2] if len(stop) == 3 else Point()
    if not isinstance(node, Node | Winch):
        raise MechanismError(f"{where}: {node!r:.60}: expected mr.Pulley(...), mr.Swivel(...) or mr.Winch(...)")
    return stop[0], se3.pose(None, place) if place.shape == (3,) else place, node


def _require_apart(name: str, frames: list[Frame]) -> None:
    """An error for a line from a point to the same point."""
    for k, (a, b) in enumerate(itertools.pairwise(frames)):
        way = se3.position(b.X) - se3.position(a.X)
        if a.body == b.body and way.dtype != object and np.abs(way).max() < ONE_PLACE:
            raise MechanismError(f"line {name!r}: places {k} and {k + 1} are one point of one body: expected two")
