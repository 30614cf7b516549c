"""Coordinates beyond their limits, and the stops there."""

from typing import Any

import numpy as np

from modurob.algorithms.forces import acting
from modurob.catalogue.forces import Stop
from modurob.errors import warn_user
from modurob.robot import Mechanism
from modurob.simulation.steppers import Stepper
from modurob.spatial.scalars import Array


def rates_beyond_limits(robot: Mechanism, q: Array) -> Array:
    """Which rates belong to coordinates beyond their limits, (..., nv)."""
    at, coordinate = robot.limits, robot.coordinate_of
    x = q[..., np.maximum(coordinate, 0)]
    return (coordinate >= 0) & ((x < at.lower) | (x > at.upper))


def joint_of_rate(robot: Mechanism, k: int) -> str:
    """The name of the joint that rate k of v belongs to."""
    return next(j.name for j in robot.joints if j.v_slice.start <= k < j.v_slice.stop)


def warn_of_stiff_stops(robot: Mechanism, q: Array, stepper: Stepper) -> None:
    """A warning if joints ran into stops that the stepper's steps are too long for: there it makes energy of nothing.

    q: (..., nq), all configurations of a run.
    """
    dt = stepper.dt
    if dt is None or np.isinf(stepper.fastest) or not robot.nq:
        return
    short = {
        robot.joints[i].name: stepper.fastest / rate for i, rate in _stops_hit(robot, q) if dt * rate > stepper.fastest
    }
    if short:
        names, most = ", ".join(map(repr, short)), min(short.values())
        warn_user(
            f"{robot.name}: joint {names} ran into a stop that is too stiff for {stepper}: "
            f"expected steps of {_round_below(most):g} s at most, or mr.LinearlyImplicit({dt:g})"
        )


def _round_below(x: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above x, so that whole numbers of such steps fill a run."""
    power = 10.0 ** np.floor(np.log10(x))
    return float(f"{max(k for k in (1, 2, 5) if k * power <= x * (1 + 1e-12)) * power:.1g}")


def _stops_hit(robot: Mechanism, q: Array) -> Any:
    """Joints that ran into their stops, and the fastest rate of decay or pulsation there [1/s], with all other joints free."""
    states = q.reshape(-1, robot.nq)
    states = states[np.isfinite(states).all(axis=-1)]
    for row in (row for _, row in acting(robot).joint_rows if isinstance(row.force, Stop)):
        joint = robot.joints[row.joint]
        own = joint.ratio * states[:, joint.q_slice.start + row.rate] + joint.offset
        depth = np.maximum(row.force.lower - own, own - row.force.upper)
        if len(own) and depth.max() > 0:
            light = np.linalg.pinv(robot.mass_matrix(states[np.argmax(depth)]))
            k = joint.v_slice.start + row.rate
            yield (
                row.joint,
                _fastest(*(joint.ratio**2 * light[k, k] * x for x in (row.force.stiffness, row.force.damping))),
            )


def _fastest(stiffness: float, damping: float) -> float:
    """The largest root of s² + damping s + stiffness, in size."""
    return float(np.abs(np.roots([1.0, damping, stiffness])).max())
