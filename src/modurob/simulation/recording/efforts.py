"""Torques of a run beside the most that motors can give."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from modurob.algorithms.forces import acting
from modurob.catalogue.drives import DriveForce
from modurob.catalogue.forces import Oscillator, SpeedServo
from modurob.mechanism import Joint
from modurob.simulation.pilot import input_limit
from modurob.simulation.recording.segment import Segment
from modurob.spatial.scalars import Array

MOTORS = DriveForce | Oscillator | SpeedServo
# currents approach their limit and do not reach it: this share of it counts
FULL = 0.999
# a joint that is at its limit for this share of the time is worth a remark, and so many of them are named
OFTEN, MOST_NAMED = 0.5, 4


def torque(segment: Segment, joint: Joint) -> Array:
    """The torque that the law commands at a joint, or that its drive or servo gives, (ticks, ..., rates) [N m or N]."""
    motors = [
        force.effort(*given) for force, at, *given in _motors(segment) if segment.robot.joints[at].name == joint.name
    ]
    return np.sum(motors, axis=0)[..., None] if motors else segment.tau[..., joint.v_slice]


def saturated(segments: Sequence[Segment]) -> dict[str, float]:
    """For each rate that motors or a law move within limits, the share of ticks and runs at which it had its limit."""
    counts: dict[str, list[float]] = {}
    for segment in segments:
        at, limited = _at_limit(segment)
        for k in np.flatnonzero(limited):
            reached, of = counts.setdefault(segment.names["v"][k], [0, 0])
            counts[segment.names["v"][k]] = [reached + at[..., k].sum(), of + at[..., k].size]
    return {name: float(reached / of) for name, (reached, of) in counts.items()}


def remark(shares: dict[str, float]) -> str:
    """Which joints had their limit most of the time, in words; empty if none had."""
    often = {name: share for name, share in shares.items() if share >= OFTEN}
    if not often:
        return ""
    named = [f"{name} {100 * share:.0f} %" for name, share in list(often.items())[:MOST_NAMED]]
    more = [f"{len(often) - MOST_NAMED} more"] if len(often) > MOST_NAMED else []
    return f"at the effort limit: {', '.join(named + more)} of the time"


def _at_limit(segment: Segment) -> tuple[Array, Array]:
    """Whether each rate had its limit, (ticks, ..., nv), and whether it has one, (nv,)."""
    robot, most = segment.robot, input_limit(segment.robot)
    limited = (most > 0) & np.isfinite(most)
    at = limited & (np.abs(segment.tau) >= most)
    for force, i, *given in _motors(segment):
        k = robot.joints[i].v_slice.start
        at[..., k] |= _is_full(force, *given)
        limited[k] = True
    return at, limited


def _motors(segment: Segment) -> Iterator[tuple[Any, ...]]:
    """Drives and servos: the force, the number of its joint, and t, q, v and x there."""
    own = acting(segment.robot)
    rows = [(k, row) for k, row in own.joint_rows if isinstance(row.force, MOTORS)]
    states = segment.commanded_x if rows else segment.x
    t = segment.t.reshape(-1, *(1,) * (segment.v.ndim - 2))
    for k, row in rows:
        joint, x = segment.robot.joints[row.joint], states[..., own.x_starts[k] : own.x_starts[k] + row.force.nx]
        q, v = segment.q[..., joint.q_slice.start], segment.v[..., joint.v_slice.start]
        yield row.force, row.joint, t, joint.ratio * q + joint.offset, joint.ratio * v, x


def _is_full(force: Any, t: Array, q: Array, v: Array, x: Array) -> Array:
    """Whether a motor gives the most that it can, (ticks, ...)."""
    if not isinstance(force, DriveForce):
        return np.abs(force.effort(t, q, v, x)) >= FULL * force.limit
    current, voltage = np.abs(force.current(q, v, x)), np.abs(force.voltage(q, v, x))
    return (current >= FULL * force._limit(x)) | (voltage >= FULL * force.supply)
