"""What every table must hold, wherever it comes from."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from modurob.catalogue.forces import JointLaw
from modurob.catalogue.forces import soundness as of_forces
from modurob.catalogue.joints import soundness as of_joints
from modurob.errors import MechanismError
from modurob.mechanism.tables.rows import Coupling, Frame, FrameRow, Joint, JointRow, LineRow, frames_of
from modurob.spatial.scalars import Array

if TYPE_CHECKING:
    from modurob.mechanism.tables import Tables

# of which parameters of forces nearly always are
PLAIN = (float, int, bool, type(None))


def require_consistent(m: "Tables") -> None:
    """An error unless the tables fit together."""
    _require_arrays(m)
    _require_tree(m)
    _require_places(m)
    for j in m.joints:
        of_joints.require_sound(j.type)
        _require_widths(m, j)
    _require_frames(m)
    for row in m.forces:
        if isinstance(row, JointRow | FrameRow):
            _require_numbers(m, row)
            of_forces.require_sound(row.force)
        if isinstance(row, JointRow):
            _require_rate(m, row)
        if isinstance(row, LineRow):
            _require_line(m, row)
    for c in m.constraints:
        if isinstance(c, Coupling):
            _require_coupling(m, c)
        else:
            of_joints.require_sound(c.type)


def _require_arrays(m: "Tables") -> None:
    n = len(m.bodies)
    shapes = {"parent": (len(m.parent),), "X_PJ": m.X_PJ.shape, "inertia": m.inertia.shape, "gravity": m.gravity.shape}
    expected = {"parent": (n,), "X_PJ": (n, 4, 4), "inertia": (n, 6, 6), "gravity": (3,)}
    for name, shape in shapes.items():
        if shape != expected[name]:
            raise MechanismError(f"{m.name}: table {name} has shape {shape}: expected {expected[name]}")
    for name, array in (("X_PJ", m.X_PJ), ("inertia", m.inertia), ("gravity", m.gravity)):
        if array.dtype != object and not np.isfinite(array).all():
            raise MechanismError(f"{m.name}: table {name} holds what is no number: expected finite ones")


def _require_tree(m: "Tables") -> None:
    """A joint for each body but the world, and parents that stand before their children."""
    n = len(m.bodies)
    if n < 1 or len(m.joints) != n - 1:
        raise MechanismError(
            f"{m.name}: {len(m.joints)} joints for {n} bodies: expected one for each body but the world"
        )
    if m.parent[0] != -1 or any(not 0 <= p < i for i, p in enumerate(m.parent[1:], start=1)):
        raise MechanismError(f"{m.name}: parents {m.parent[:8]}...: expected -1, then for each body one before it")


def _require_places(m: "Tables") -> None:
    """Coordinates and rates of the joints in a row; those of a mimic are another joint's."""
    q = v = 0
    sources = {j.q_slice.start: j for j in m.joints if not j.mimics}
    for j in m.joints:
        at = (j.q_slice.start, j.v_slice.start) if j.mimics else (q, v)
        if (j.q_slice, j.v_slice) != (slice(at[0], at[0] + j.type.nq), slice(at[1], at[1] + j.type.nv)):
            raise MechanismError(
                f"{m.name}: joint {j.name} has coordinates {j.q_slice} and rates {j.v_slice}: expected {j.type.nq} from {q} on "
                f"and {j.type.nv} from {v} on"
            )
        if not j.mimics:
            q, v = j.q_slice.stop, j.v_slice.stop
        elif j.q_slice.start not in sources or sources[j.q_slice.start].v_slice != j.v_slice:
            raise MechanismError(f"{m.name}: joint {j.name} mimics no joint: its coordinate is nobody's")


def _require_widths(m: "Tables", j: Joint) -> None:
    """Limits for each coordinate of a joint, and the rest for each rate."""
    for what in ("velocity_limit", "effort_limit", "armature"):
        if getattr(j, what).shape != (j.type.nv,):
            raise MechanismError(f"{m.name}: {what} of joint {j.name}: expected {j.type.nv} numbers")
    if any(bound.shape != (j.type.nq,) for bound in j.limits):
        raise MechanismError(f"{m.name}: limits of joint {j.name}: expected {j.type.nq} numbers each")


def _require_frames(m: "Tables") -> None:
    n = len(m.bodies)
    for frame in {id(f): f for f in _all_frames(m)}.values():
        if not 0 <= frame.body < n or np.shape(frame.X) != (4, 4):
            raise MechanismError(f"{m.name}: a frame on body {frame.body}: expected a body below {n} and a pose (4, 4)")


def arrays_of(m: "Tables") -> Iterable[Array]:
    """All arrays that a table holds, each once: frames share many of them."""
    arrays = [m.X_PJ, m.inertia, m.gravity]
    for j in m.joints:
        arrays += (*j.limits, j.velocity_limit, j.effort_limit, j.armature)
    arrays += [frame.X for frame in _all_frames(m)]
    arrays += m.frames.relative_poses()
    arrays += [s.X for s in (*m.shapes, *m.collisions)]
    return {id(x): x for x in arrays}.values()


def _all_frames(m: "Tables") -> Iterator[Frame]:
    yield from m.frames.given()
    for c in m.loops:
        yield from (c.predecessor, c.successor)
    for row in m.forces:
        if not isinstance(row, JointRow):
            yield from frames_of(row)
    yield from (s.frame for s in (*m.shapes, *m.collisions))


def _require_numbers(m: "Tables", row: JointRow | FrameRow) -> None:
    """Parameters that tables and files can hold."""
    for name, x in row.force.parameters().items():
        if type(x) not in PLAIN and (isinstance(x, str | dict | set) or callable(x) or np.ndim(x)):
            raise MechanismError(
                f"{m.name}: force {row.name} ({row.force.kind}): {name} is {x!r:.60}: expected a number, True, False or None"
            )


def _require_rate(m: "Tables", row: JointRow) -> None:
    if not 0 <= row.joint < len(m.joints) or not 0 <= row.rate < m.joints[row.joint].type.nv:
        raise MechanismError(f"{m.name}: force {row.name} acts on rate {row.rate} of joint {row.joint}: there is none")
    joint = m.joints[row.joint]
    obstacle = row.force.obstacle(joint.type) if isinstance(row.force, JointLaw) else None
    if obstacle:
        raise MechanismError(
            f"{m.name}: force {row.name} ({row.force.kind}) on the {joint.kind} joint {joint.name}: {obstacle}"
        )
    if row.force.positional and joint.type.nq != joint.type.nv:
        raise MechanismError(
            f"{m.name}: force {row.name} ({row.force.kind}) needs a coordinate, and the {joint.kind} joint {joint.name} has "
            "quaternions: put it on another joint, or between frames"
        )


def _require_line(m: "Tables", row: LineRow) -> None:
    if len(row.frames) != len(row.force.nodes) or len(row.joints) != len(row.force.drums):
        raise MechanismError(
            f"{m.name}: line {row.name} has {len(row.frames)} frames and {len(row.joints)} joints: expected "
            f"{len(row.force.nodes)} and {len(row.force.drums)}"
        )
    for i in row.joints:
        if not -1 <= i < len(m.joints) or (i >= 0 and (m.joints[i].type.nq, m.joints[i].type.nv) != (1, 1)):
            raise MechanismError(f"{m.name}: line {row.name}: expected winches on joints of one coordinate")


def _require_coupling(m: "Tables", c: Coupling) -> None:
    if len(c.joints) != len(c.ratios) or not c.joints or not np.all(np.isfinite([*c.ratios, c.offset])):
        raise MechanismError(
            f"{m.name}: coupling {c.name}: expected a finite ratio for each joint, and a finite offset"
        )
    for i in c.joints:
        if not 0 <= i < len(m.joints) or m.joints[i].type.nv != 1:
            raise MechanismError(f"{m.name}: coupling {c.name}: expected joints of one coordinate")
