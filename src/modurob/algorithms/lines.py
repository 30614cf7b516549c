"""Lines (cables, belts, springs over pulleys and winches): lengths, moment arms, tensions, and the sum of what they do.

A line of length L(q) and tension T exerts the torques -J^T T on the joints, J = dL/dq; a drum of radius r adds r to its column of
J, as winding in stretches the line.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.complex_steps import TINY
from modurob.algorithms.configuration import integrate
from modurob.algorithms.interpreter import interpret
from modurob.algorithms.kinematics import together
from modurob.algorithms.motions import MOTIONS, frame_motion
from modurob.algorithms.program import Flow, Run
from modurob.catalogue.forces import Motion
from modurob.catalogue.forces.force import there
from modurob.catalogue.lines import Line
from modurob.catalogue.lines.law import Stretch
from modurob.catalogue.lines.line import Taken
from modurob.mechanism.tables import Frame, LineRow, Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array, as_array


class Strung(NamedTuple):
    """Lines alike in a state, n of them: motions of their frames, (..., n, ...), coordinates and rates of their drums, (..., n)."""

    places: list[int]  # which lines
    rows: list[LineRow]
    line: Line  # its numbers are arrays, (n,)
    motions: tuple[Motion, ...]
    wound: list[Array]
    rates: list[Array]


@lru_cache(maxsize=256)
def _groups(m: Tables) -> tuple[tuple[list[int], Line], ...]:
    """Lines over nodes of one kind each and of one law are evaluated together."""
    alike: dict[Any, list[int]] = {}
    for k, row in enumerate(m.lines):
        parts = (*row.force.nodes, row.force.law)
        kinds = tuple(
            (type(p), tuple((n, x if _is_choice(n, x) else bool(x == 0)) for n, x in p.parameters().items()))
            for p in parts
        )
        alike.setdefault(kinds, []).append(k)
    return tuple((places, _together([m.lines[k].force for k in places])) for places in alike.values())


def _is_choice(name: str, x: Any) -> bool:
    return name == "side" or isinstance(x, bool)


def _together(lines: list[Line]) -> Line:
    """One line whose numbers, zeros apart, are arrays."""
    each = [line.parameters() for line in lines]
    return lines[0].with_parameters(
        {name: np.array([p[name] for p in each]) for name, x in each[0].items() if there(x)}
    )


def strung(m: Tables, found: dict[str, Array], q: Array, v: Array) -> Iterator[Strung]:
    """The lines of a mechanism in a state, from the results of `MOTIONS`, those alike together."""
    seen: dict[tuple[int, bytes], Motion] = {}
    for places, line in _groups(m):
        rows = [m.lines[k] for k in places]
        ends = range(len(line.nodes))
        motions = tuple(_stacked([_motion(row.frames[n], found, v, seen) for row in rows]) for n in ends)
        drums = range(len(line.drums))
        wound, rates = (
            [_drums(m, [row.joints[n] for row in rows], x, what) for n in drums] for x, what in ((q, "q"), (v, "v"))
        )
        yield Strung(places, rows, line, motions, wound, rates)


def _motion(frame: Frame, found: dict[str, Array], v: Array, seen: dict[tuple[int, bytes], Motion]) -> Motion:
    """A frame's motion with the leading axes of the state."""
    key = frame.body, frame.X.tobytes()
    if key not in seen:
        X, V = frame_motion(frame, found)
        seen[key] = Motion(np.broadcast_to(X, (*v.shape[:-1], 4, 4)), np.broadcast_to(V, (*v.shape[:-1], 6)))
    return seen[key]


def _stacked(motions: list[Motion]) -> Motion:
    return Motion(np.stack([m.X for m in motions], axis=-3), np.stack([m.V for m in motions], axis=-2))


def _drums(m: Tables, joints: list[int], x: Array, what: str) -> Array:
    """Coordinates or rates of winches, (..., n); zero for those that are held."""
    out = []
    for i in joints:
        j = m.joints[i]
        own = j.ratio * x[..., j.q_slice.start] + j.offset if what == "q" else j.ratio * x[..., j.v_slice.start]
        out.append(own if i >= 0 else 0 * own)
    return np.stack(out, axis=-1)


def add_taken(m: Tables, s: Strung, taken: Taken, wrenches: Array, tau: Array) -> None:
    """Add the forces of lines to the wrenches on bodies, (..., bodies, 6), and to the torques, (..., nv)."""
    for k, row in enumerate(s.rows):
        for frame, F in zip(row.frames, taken.wrenches, strict=True):
            wrenches[..., frame.body, :] += se3.to_parent(frame.X, F[..., k, :])
        for i, effort in zip(row.joints, taken.efforts, strict=True):
            if i >= 0:
                tau[..., m.joints[i].v_slice.start] += m.joints[i].ratio * effort[..., k]


# ---- as users ask for them ----


def line_lengths(m: Tables, q: Array, run: Run = interpret) -> Array:
    """L over the route of each line, arcs on pulleys and drums among it, (..., lines) [m]."""
    q, v = together(q, np.zeros(m.nv))
    out = np.zeros((*v.shape[:-1], len(m.lines)), dtype=q.dtype)
    found = run(MOTIONS, m, {"q": q, "v": v}).results if m.lines else {}
    for s in strung(m, found, q, v):
        out[..., s.places] = s.line.length(s.motions)
    return out


def line_paths(m: Tables, q: Array, run: Run = interpret) -> list[Array]:
    """The points that each line runs through in one configuration, in world axes, (k, 3) [m] each; arcs on pulleys as corners."""
    out: list[Any] = [None] * len(m.lines)
    still = np.zeros(m.nv)
    found = run(MOTIONS, m, {"q": q, "v": still}).results if m.lines else {}
    for s in strung(m, found, q, still):
        corners = np.concatenate(s.line.corners(s.motions), axis=-2)
        for k, place in enumerate(s.places):
            out[place] = corners[k]
    return out


def line_stretches(m: Tables, q: Array, run: Run = interpret) -> Array:
    """L minus the natural length set by the drums, (..., lines) [m]; below zero a cable is slack."""
    return line_states(m, q, np.zeros(m.nv), run).stretch.u


def line_strains(m: Tables, q: Array, run: Run = interpret) -> Array:
    """Stretch by natural length of the free part, (..., lines)."""
    return line_states(m, q, np.zeros(m.nv), run).stretch.strain


def line_tensions(m: Tables, q: Array, v: Array, run: Run = interpret) -> Array:
    """T of each line, (..., lines) [N]."""
    return line_states(m, q, v, run).tension


def line_strain_rates(m: Tables, q: Array, v: Array, run: Run = interpret) -> Array:
    """d strain/dt of each line, (..., lines) [1/s]; it is linear in v."""
    return line_states(m, q, v, run).stretch.strain_rate


def line_stretch_rates(m: Tables, q: Array, v: Array, run: Run = interpret) -> Array:
    """d stretch/dt of each line, (..., lines) [m/s]: `line_jacobian` times v."""
    return line_states(m, q, v, run).stretch.rate


class LineStates(NamedTuple):
    """The states of lines, (..., lines) each: `Stretch` [m, m/s] and tension [N]."""

    stretch: Stretch
    tension: Array


def line_states(m: Tables, q: Array, v: Array, run: Run = interpret) -> LineStates:
    """Stretch, natural length and tension of all lines."""
    q, v = together(q, v)
    if not m.lines:
        none = np.zeros((*v.shape[:-1], 0))
        return LineStates(Stretch(none, none, none, none), none)
    found = run(LINES, m, {"q": q, "v": v}).results
    return LineStates(Stretch(*(found[name] for name in Stretch._fields)), found["tension"])


class Slopes(NamedTuple):
    """In one state: d stretch/dq and d strain/dq along the rates, (lines, nv) each, J' v of the second, (lines,), and tensions at
    rest, (lines,) [N]."""

    stretch: Array
    strain: Array
    drift: Array
    tension: Array


def line_slopes(m: Tables, q: Array, v: Array, run: Run = interpret) -> Slopes:
    """Slopes of stretches and strains; strains accelerate with J vdot + J' v."""
    if not m.lines:
        return Slopes(np.zeros((0, m.nv)), np.zeros((0, m.nv)), np.zeros(0), np.zeros(0))
    # each rate by itself, and none
    s, T = line_states(m, np.tile(q, (m.nv + 1, 1)), np.eye(m.nv + 1, m.nv), run)
    drift = run(DRIFTS, m, {"q": q, "v": v}).results["drift"]
    return Slopes(s.rate[:-1].T, s.strain_rate[:-1].T, drift, T[-1])


# what is written down of each line
STANDING = (*Stretch._fields, "tension")
LINES = Flow(
    "lines", {"q": "coordinates", "v": "rates"}, dict.fromkeys(STANDING, "lines"), lambda e, i: e.lines(i["q"], i["v"])
)
DRIFTS = Flow("line_drifts", LINES.inputs, {"drift": "lines"}, lambda e, i: {"drift": e.line_drifts(i["q"], i["v"])})


def standing(m: Tables, q: Array, v: Array, run: Run) -> dict[str, Array]:
    """The results of `LINES`."""
    out = {name: np.zeros((*v.shape[:-1], len(m.lines)), dtype=np.result_type(q, v)) for name in STANDING}
    for s in strung(m, run(MOTIONS, m, {"q": q, "v": v}).results, q, v):
        stretch = s.line.stretch(s.motions, s.wound, s.rates)
        for name, value in zip(STANDING, (*stretch, s.line.law.pull(stretch)[0]), strict=True):
            out[name][..., s.places] = value
    return out


def drifts(m: Tables, q: Array, v: Array) -> Array:
    """The result of `DRIFTS`, by a complex step."""
    return np.imag(line_strain_rates(m, integrate(m, q, 1j * TINY * v), v)) / TINY


def line_jacobian(m: Tables, q: Array, run: Run = interpret) -> Array:
    """J = d stretch/dq along the rates, (..., lines, nv): moment arms, and r for drums; the torques are -J^T T."""
    q = as_array(q)
    each = np.broadcast_to(np.eye(m.nv), (*q.shape[:-1], m.nv, m.nv))
    many = np.broadcast_to(q[..., None, :], (*q.shape[:-1], m.nv, m.nq))
    return np.swapaxes(line_stretch_rates(m, many, each, run), -1, -2)
