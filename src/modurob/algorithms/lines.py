"""Lines (cables, belts, springs over pulleys and winches): lengths, moment arms, tensions, and the sum of what they do.

A line of length L(q) and tension T pushes the joints with -J^T T, J = dL/dq; a drum of radius r adds r to its column of J, as
what it winds in stretches the line.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.interpreter import interpret
from modurob.algorithms.inverse import tree_inverse_dynamics
from modurob.algorithms.kinematics import together
from modurob.algorithms.motions import MOTIONS, frame_motion
from modurob.algorithms.program import Run
from modurob.catalogue.forces import Motion
from modurob.catalogue.lines import Line
from modurob.catalogue.lines.line import Taken
from modurob.mechanism.tables import LineRow, Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array, as_array


class Strung(NamedTuple):
    """A line in a state: its frames, and the coordinates and rates of its drums' joints."""

    row: LineRow
    motions: tuple[Motion, ...]
    wound: list[Any]
    rates: list[Any]

    @property
    def line(self) -> Line:
        return self.row.force


def strung(m: Tables, found: dict[str, Array], q: Array, v: Array) -> Iterator[Strung]:
    """The lines of a mechanism in a state, from the results of `MOTIONS`."""
    for row in m.lines:
        wound, rates = [], []
        for i in row.joints:
            j = m.joints[i] if i >= 0 else None
            wound.append(0.0 if j is None else j.ratio * q[..., j.q_slice.start] + j.offset)
            rates.append(0.0 if j is None else j.ratio * v[..., j.v_slice.start])
        yield Strung(row, _alike(tuple(frame_motion(f, found) for f in row.frames), v), wound, rates)


def _alike(motions: tuple[Motion, ...], v: Array) -> tuple[Motion, ...]:
    """Motions with the same leading axes: those of the world are spread."""
    shape = v.shape[:-1]
    return tuple(Motion(np.broadcast_to(m.X, (*shape, 4, 4)), np.broadcast_to(m.V, (*shape, 6))) for m in motions)


def add_taken(m: Tables, s: Strung, taken: Taken, wrenches: Array, tau: Array) -> None:
    """Add what a line does to the wrenches on bodies, (..., bodies, 6), and to the torques, (..., nv)."""
    for frame, F in zip(s.row.frames, taken.wrenches, strict=True):
        wrenches[..., frame.body, :] += se3.to_parent(frame.X, F)
    for i, effort in zip(s.row.joints, taken.efforts, strict=True):
        if i >= 0:
            tau[..., m.joints[i].v_slice.start] += m.joints[i].ratio * effort


# ---- as users ask for them ----


def line_lengths(m: Tables, q: Array, run: Run = interpret) -> Array:
    """L over the route of each line, arcs on pulleys and drums among it, (..., lines) [m]."""
    return _each(m, q, np.zeros(m.nv), lambda s: s.line.length(s.motions), run)


def line_stretches(m: Tables, q: Array, run: Run = interpret) -> Array:
    """L less the natural length that drums leave, (..., lines) [m]; below zero a cable is slack."""
    return _each(m, q, np.zeros(m.nv), lambda s: s.line.stretch(s.motions, s.wound, s.rates).u, run)


def line_strains(m: Tables, q: Array, run: Run = interpret) -> Array:
    """Stretch by natural length of the free part, (..., lines)."""

    def strain(s: Strung) -> Array:
        found = s.line.stretch(s.motions, s.wound, s.rates)
        return found.u / found.natural

    return _each(m, q, np.zeros(m.nv), strain, run)


def line_tensions(m: Tables, q: Array, v: Array, run: Run = interpret) -> Array:
    """T of each line, (..., lines) [N]."""
    return _each(m, q, v, lambda s: s.line.pull(s.motions, s.wound, s.rates)[0], run)


def _each(m: Tables, q: Array, v: Array, value: Any, run: Run) -> Array:
    q, v = together(q, v)
    found = run(MOTIONS, m, {"q": q, "v": v}).results if m.lines else {}
    each = [np.broadcast_to(value(s), v.shape[:-1]) for s in strung(m, found, q, v)]
    return np.stack(each, axis=-1) if each else np.zeros((*v.shape[:-1], 0))


def line_jacobian(m: Tables, q: Array, run: Run = interpret) -> Array:
    """J = d stretch/dq along the rates, (..., lines, nv): moment arms, and r for drums; the torques are -J^T T."""
    q = as_array(q)
    still = np.zeros((*q.shape[:-1], m.nv))
    found = run(MOTIONS, m, {"q": q, "v": still}).results if m.lines else {}
    rows = [_arms(m, s, q, run) for s in strung(m, found, q, still)]
    return np.stack(rows, axis=-2) if rows else np.zeros((*q.shape[:-1], 0, m.nv))


def _arms(m: Tables, s: Strung, q: Array, run: Run) -> Array:
    """-(J^T F + efforts) of a line of tension one."""
    dtype = np.result_type(q, float)
    wrenches = np.zeros((*q.shape[:-1], len(m.bodies), 6), dtype)
    tau = np.zeros((*q.shape[:-1], m.nv), dtype)
    add_taken(m, s, s.line.unit(s.motions), wrenches, tau)
    return -(tau + wrench_torques(m, q, wrenches, run))


def wrench_torques(m: Tables, q: Array, wrenches: Array, run: Run = interpret) -> Array:
    """J^T F of wrenches on bodies in body frames, (..., bodies, 6), as torques, (..., nv)."""
    still = np.zeros(m.nv)
    return tree_inverse_dynamics(m, q, still, still, run=run) - tree_inverse_dynamics(
        m, q, still, still, wrenches, run
    )
