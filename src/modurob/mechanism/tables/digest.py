"""What makes tables equal: digests of all they hold."""

import hashlib
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from modurob.catalogue.contact import Contact, PairContact
from modurob.catalogue.forces import FrameForce, JointForce, JointLaw
from modurob.catalogue.joints import JointType, Reversed
from modurob.catalogue.lines import Line
from modurob.fingerprints import fingerprint, is_lasting, told
from modurob.mechanism.tables.rows import Constraint, ForceRow, Frame, JointRow, LineRow, Loop, frames_of
from modurob.spatial.scalars import Array

if TYPE_CHECKING:
    from modurob.mechanism.tables import Tables


def numbers_digest(m: "Tables") -> bytes:
    """Of what algorithms compute with: names, frames and shapes are left out."""
    digest = hashlib.sha256()
    for array in (m.X_PJ, m.inertia, m.gravity):
        digest.update(_bytes(array))
    digest.update(repr(m.parent).encode())
    for j in m.joints:
        digest.update(_text(j.type))
        digest.update(b"%d %d" % (j.q_slice.start, j.v_slice.start))
        digest.update(b"".join(map(_bytes, (*j.limits, j.velocity_limit, j.effort_limit, j.armature))))
    for c in m.constraints:
        digest.update(_constraint_bytes(c))
    for row in m.forces:
        digest.update(_force_bytes(row))
    return digest.digest()


def words_digest(m: "Tables") -> bytes:
    """Names and places of all there is, and what is drawn."""
    frames, shapes = sorted(m.frames.items()), (*m.shapes, *m.collisions)
    rows = [x.name for x in (*m.joints, *m.constraints, *m.forces)]
    at = [(name, frame.body) for name, frame in frames]
    drawn = [(s.kind, tuple(map(_word, s.size)), s.frame.body, s.colour, s.file) for s in shapes]
    words = m.name, m.bodies, rows, m.idle, m.held, m.redundant, at, len(m.shapes), drawn
    digest = hashlib.sha256(repr(words).encode())
    digest.update(_bytes(_stacked(frame.X for _, frame in frames)))
    digest.update(_bytes(_stacked(s.frame.X for s in shapes) @ _stacked(s.X for s in shapes)))
    return digest.digest()


def _stacked(poses: Iterable[Array]) -> Array:
    return np.array(list(poses)).reshape(-1, 4, 4)


Thing = JointType | JointForce | JointLaw | FrameForce | Line | Contact | PairContact


def _text(value: Thing) -> bytes:
    return _lasting_text(value) or _word(value).encode()


@lru_cache(maxsize=4096)
def _lasting_text(value: Thing) -> bytes:
    """The same if it is always the same; empty for what comes from outside the package."""
    return _word(value).encode() if _lasts(value) else b""


def _lasts(x: Any) -> bool:
    inner = [getattr(x, f.name) for f in fields(x)] if is_dataclass(x) else x if isinstance(x, tuple) else []
    original = [x.original] if isinstance(x, Reversed) else []
    return is_lasting(type(x)) and all(map(_lasts, (*inner, *original)))


def lasts(m: "Tables") -> bool:
    """Whether all joints and forces are of this package, so that what they do does not change."""
    things = (*(j.type for j in m.joints), *(c.type for c in m.loops), *(row.force for row in m.forces))
    return all(map(_lasts, things))


def _word(x: Any) -> str:
    """A number to its last bit, a joint or force by what it does and its numbers, a symbol with all that is assumed of it, a
    function by its code."""
    if is_dataclass(x):
        return f"{fingerprint(type(x))}({','.join(_word(getattr(x, f.name)) for f in fields(x))})"
    if isinstance(x, Reversed):
        return f"reversed {_word(x.original)}"
    if isinstance(x, tuple):
        return f"({','.join(map(_word, x))})"
    if isinstance(x, int | float | np.integer | np.floating):
        return (float(x) + 0.0).hex()
    return f"({_word(x.real)}, {_word(x.imag)})" if isinstance(x, complex | np.complexfloating) else _exactly(x)


def _exactly(x: Any) -> str:
    """An expression with what its symbols assume and all digits, a number of mpmath to its last bit, all else by what it is."""
    if not hasattr(x, "free_symbols"):
        return told(getattr(x, "_mpf_", x))
    from sympy import srepr  # heavy, and there already

    return srepr(x)


def _bytes(array: Array) -> bytes:
    if array.dtype == object:
        return " ".join(map(_word, array.flat)).encode()
    return (np.ascontiguousarray(array) + 0.0).tobytes()


def _frame_bytes(frame: Frame) -> bytes:
    return b"%d" % frame.body + _bytes(frame.X)


def _constraint_bytes(c: Constraint) -> bytes:
    if isinstance(c, Loop):
        return _text(c.type) + _frame_bytes(c.predecessor) + _frame_bytes(c.successor)
    return _word((c.joints, c.ratios, c.offset)).encode()


def _force_bytes(row: ForceRow) -> bytes:
    if isinstance(row, JointRow):
        return _text(row.force) + b"%d %d" % (row.joint, row.rate)
    joints = repr(row.joints).encode() if isinstance(row, LineRow) else b""
    return _text(row.force) + b"".join(map(_frame_bytes, frames_of(row))) + joints
