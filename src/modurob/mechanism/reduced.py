"""A mechanism with some joints held: fewer bodies, since the body beyond a held joint becomes part of its parent."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from modurob.errors import MechanismError
from modurob.mechanism.tables import (
    Constraint,
    ContactRow,
    Coupling,
    ForceRow,
    Frame,
    FrameRow,
    Frames,
    Joint,
    LineRow,
    Loop,
    PairRow,
    Tables,
)
from modurob.spatial import inertia, se3
from modurob.spatial.scalars import Array

# constraints that held joints decide may be this far from holding [m, rad]: files carry about seven digits
FIT = 1e-6


class _Bodies(NamedTuple):
    """Where the bodies went: `frames[i]` is old body i on a new body; `kept` are the old bodies that still move."""

    frames: list[Frame]
    kept: list[int]

    def moved(self, frame: Frame) -> Frame:
        """A frame of an old body on the new one."""
        on = self.frames[frame.body]
        return Frame(on.body, on.X @ frame.X)


def locked(m: Tables, names: set[str], q: Array) -> Tables:
    """The mechanism with these joints held at their coordinates in q, (nq,).

    Bodies beyond a held joint are welded to the body before it, with their inertia, frames and shapes. Forces along
    held joints are removed, also from couplings; a constraint between bodies that are now one must hold, and is moved
    to `redundant`.
    """
    bodies = _bodies(m, names, q)
    joints, place = _joints(m, bodies.kept)
    total = np.zeros((len(bodies.kept) + 1, 6, 6), dtype=np.result_type(m.inertia, q))
    on = [frame.body for frame in bodies.frames]
    np.add.at(total, on, inertia.moved(m.inertia, np.stack([frame.X for frame in bodies.frames])))
    constraints, decided = _constraints(m, bodies, place, q)
    X_PJ = [bodies.frames[m.parent[i]].X @ m.X_PJ[i] for i in bodies.kept]
    return replace(
        m,
        bodies=("world", *(m.bodies[i] for i in bodies.kept)),
        parent=(-1, *(bodies.frames[m.parent[i]].body for i in bodies.kept)),
        joints=joints,
        X_PJ=np.stack([m.X_PJ[0], *X_PJ]),
        inertia=total,
        frames=Frames.of({name: bodies.moved(frame) for name, frame in m.frames.items()}),
        constraints=constraints,
        forces=tuple(_forces(m, bodies, place, q)),
        held=(*m.held, *(j.name for j in m.joints if j.name in names)),
        redundant=(*m.redundant, *decided),
        shapes=tuple(s._replace(frame=bodies.moved(s.frame)) for s in m.shapes),
        collisions=tuple(s._replace(frame=bodies.moved(s.frame)) for s in m.collisions),
    )


def _bodies(m: Tables, names: set[str], q: Array) -> _Bodies:
    frames, kept = [Frame(0, se3.IDENTITY)], []
    for i, joint in enumerate(m.joints, start=1):
        if joint.name in names:
            on = frames[m.parent[i]]
            frames.append(Frame(on.body, on.X @ m.X_PJ[i] @ joint.type.pose(q[joint.q_slice])))
        else:
            kept.append(i)
            frames.append(Frame(len(kept), se3.IDENTITY))
    return _Bodies(frames, kept)


def _joints(m: Tables, kept: list[int]) -> tuple[tuple[Joint, ...], dict[int, int]]:
    """The remaining joints with their indices in q and v, and the new number of each by the old one."""
    places: dict[int, tuple[slice, slice]] = {}
    nq = nv = 0
    for joint in (m.joints[i - 1] for i in kept):
        if not joint.mimics:
            places[joint.q_slice.start] = slice(nq, nq + joint.type.nq), slice(nv, nv + joint.type.nv)
            nq, nv = nq + joint.type.nq, nv + joint.type.nv
    own = [m.joints[i - 1] for i in kept]
    left = (replace(j, q_slice=places[j.q_slice.start][0], v_slice=places[j.q_slice.start][1]) for j in own)
    return tuple(left), {i - 1: k for k, i in enumerate(kept)}


def _forces(m: Tables, bodies: _Bodies, place: dict[int, int], q: Array) -> list[ForceRow]:
    rows: list[ForceRow] = []
    for row in m.forces:
        if isinstance(row, FrameRow | PairRow):
            rows.append(row._replace(a=bodies.moved(row.a), b=bodies.moved(row.b)))
        elif isinstance(row, ContactRow):
            rows.append(row._replace(frame=bodies.moved(row.frame)))
        elif isinstance(row, LineRow):
            rows.append(_line(row, bodies, place, m, q))
        elif row.joint in place:
            rows.append(row._replace(joint=place[row.joint]))
    return rows


def _line(row: LineRow, bodies: _Bodies, place: dict[int, int], m: Tables, q: Array) -> LineRow:
    """The line over the new bodies; a winch that is held, index -1, sets a constant natural length."""
    line = row.force
    for k, i in zip(row.force.drums, row.joints, strict=True):
        if i >= 0 and i not in place:
            joint = m.joints[i]
            line = line.wound_in(line.nodes[k].drum * (joint.ratio * q[joint.q_slice.start] + joint.offset))
    joints = tuple(place.get(i, -1) for i in row.joints)
    return row._replace(force=line, frames=tuple(map(bodies.moved, row.frames)), joints=joints)


def _constraints(
    m: Tables, bodies: _Bodies, place: dict[int, int], q: Array
) -> tuple[tuple[Constraint, ...], list[str]]:
    """Those that still have something to hold; and the names of those that hold by themselves now."""
    left: list[Constraint] = []
    decided: list[str] = []
    for old in m.constraints:
        new = _loop(old, bodies) if isinstance(old, Loop) else _coupling(m, old, place, q)
        if new is None:
            decided.append(old.name)
        else:
            left.append(new)
    return tuple(left), decided


def _loop(loop: Loop, bodies: _Bodies) -> Loop | None:
    P, S = bodies.moved(loop.predecessor), bodies.moved(loop.successor)
    if P.body != S.body:
        return loop._replace(predecessor=P, successor=S)
    X_PS = se3.inverse(P.X) @ S.X
    _require_held(loop.name, se3.log(se3.inverse(loop.type.pose(loop.type.coordinates(X_PS))) @ X_PS))
    return None


def _coupling(m: Tables, coupling: Coupling, place: dict[int, int], q: Array) -> Coupling | None:
    pairs = list(zip(coupling.joints, coupling.ratios, strict=True))
    given = sum(
        r * (m.joints[i].ratio * q[m.joints[i].q_slice.start] + m.joints[i].offset) for i, r in pairs if i not in place
    )
    free = [(place[i], r) for i, r in pairs if i in place]
    if not free:
        _require_held(coupling.name, np.array([given - coupling.offset]))
        return None
    return Coupling(coupling.name, tuple(i for i, _ in free), tuple(r for _, r in free), coupling.offset - float(given))


def _require_held(name: str, gap: Array) -> None:
    if gap.dtype != object and np.abs(gap).max() > FIT:
        raise MechanismError(
            f"constraint {name!r} is {np.abs(gap).max():.3g} [m or rad] from holding with these joints held: "
            "expected coordinates at which it holds, such as those of close_loops"
        )
