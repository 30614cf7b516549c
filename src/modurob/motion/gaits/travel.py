"""The travel of a recording on the ground: distance, heading, speed, cost, and slip."""

from typing import Any, NamedTuple

import numpy as np

from modurob import kernels
from modurob.algorithms.contact import placed_contacts
from modurob.algorithms.forces import acting, joint_efforts
from modurob.algorithms.motions import MOTIONS
from modurob.catalogue.contact import StepMotion
from modurob.catalogue.forces import Oscillator, SpeedServo
from modurob.errors import GaitError, explained
from modurob.robot import Mechanism
from modurob.simulation import Recording
from modurob.spatial.scalars import Array


class Travel(NamedTuple):
    """The travel of the centre of mass from `since` on, (...) each, one per run of a batch."""

    distance: Array  # along the ground, first to last [m]
    speed: Array  # distance over time [m/s]
    heading: Array  # from x to y [rad]
    cost_of_transport: Array  # work of servos and torques, gains not given back, per weight and distance
    slip: Array  # mean speed of what touches the ground, by how hard it presses, over the speed

    def __repr__(self) -> str:
        shown = (f"{x:.6g}" if np.ndim(x) == 0 else repr(x) for x in self)
        return f"Travel({', '.join(f'{name}={x}' for name, x in zip(self._fields, shown, strict=True))})"


@explained
def travel(run: Recording, since: float = 0.0) -> Travel:
    """Distance, heading, speed, cost of transport and slip of a recording of a floating robot on the ground, from the
    time `since` [s] on.

    >>> crab = mr.load("crab").mechanism(floating=True)
    >>> walker = mr.driven(crab, mr.gait("crab", amplitude=0.8, frequency=1.0))
    >>> run = mr.simulate(walker, duration=2.0, ground=mr.Ground(), tick=0.02)
    >>> went = mr.travel(run)
    >>> bool(went.distance > 0), bool(went.speed == went.distance / 2.0)
    (True, True)
    """
    if not isinstance(run, Recording):
        raise GaitError(f"travel of {run!r:.60}: expected a recording, as simulate gives it")
    robot, t = run.segments[0].robot, run.t
    if not robot.contacts or len(run.segments) > 1:
        raise GaitError(
            f"{run!r:.60}: expected a recording of one robot on the ground, such as simulate(..., ground=mr.Ground())"
        )
    rows = np.flatnonzero(t >= since)
    if len(rows) < 2:
        raise GaitError(f"since {since!r} s: expected a time before the last tick, {t[-1]:g} s")
    q, v, x, tau = (getattr(run, name)[rows] for name in ("q", "v", "x", "tau"))
    centre, time = robot.centre_of_mass(q), t[rows[-1]] - t[rows[0]]
    way = (centre[-1] - centre[0])[..., :2]
    distance = np.linalg.norm(way, axis=-1)
    heft = robot.total_mass() * np.linalg.norm(robot.gravity)
    work = _work(robot, t[rows], q, v, x, tau)
    safe = np.maximum(distance, 1e-12)
    return Travel(
        distance,
        distance / time,
        np.arctan2(way[..., 1], way[..., 0]),
        work / (heft * safe),
        _slip(robot, q, v, x) / (safe / time),
    )


def _work(robot: Mechanism, t: Array, q: Array, v: Array, x: Array, tau: Array) -> Array:
    """What servos and torques put in, (...) [J]; what they take out is lost."""
    at = t.reshape(-1, *[1] * (v.ndim - 1))
    servos = tuple(row for row in robot.forces if isinstance(row.force, Oscillator | SpeedServo))
    alone: Any = robot.without_forces(*(row.name for row in robot.forces if row not in servos)) if servos else None
    starts = [acting(robot).x_starts[robot.forces.index(row)] for row in servos]
    own = [x[..., k : k + row.force.nx] for k, row in zip(starts, servos, strict=True)]
    torque = tau if alone is None else tau + joint_efforts(alone, at, q, v, np.concatenate(own, axis=-1))
    return np.trapezoid(np.maximum(torque * v, 0).sum(axis=-1), t, axis=0)


def _slip(robot: Mechanism, q: Array, v: Array, x: Array) -> Array:
    """Mean speed of points that touch, each by its normal force, (...) [m/s]."""
    found = kernels.run(MOTIONS, robot, {"q": q, "v": v}).results
    slid, total = np.zeros(v.shape[1:-1]), np.full(v.shape[1:-1], 1e-12)
    for c in placed_contacts(robot, found["X"]):
        V = found["V"][..., c.body, :]
        still = np.zeros(V.shape[:-1])
        motion = StepMotion(V, V, 1 + still, np.zeros(3), still)
        force = c.law.normal_forces(c.touch, motion)
        speed = np.hypot(*(motion.along(c.touch, t, V) for t in c.touch.t))
        slid, total = slid + (force * speed).sum(axis=(0, -1)), total + force.sum(axis=(0, -1))
    return slid / total
