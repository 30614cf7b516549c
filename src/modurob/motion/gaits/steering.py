"""Steering: how a gait is bent to one side, how fast that turns the robot, and the walk to a goal.

A turn u from -1 to 1 changes the waves of the servos by the roles of the joints: joints about the vertical in the line of travel bend the
body, limbs on the inner side swing less. What a turn does to the course is not guessed but seen in runs side by side.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.algorithms.forces import acting
from modurob.catalogue.contact import Ground
from modurob.errors import GaitError
from modurob.motion.gaits.active import Active, active_joints
from modurob.motion.gaits.checks import require_positive
from modurob.motion.gaits.driven import driven, servo_states
from modurob.motion.gaits.patterns import ALONG, places, upwards
from modurob.motion.gaits.recipe import Gait
from modurob.robot import Mechanism
from modurob.simulation import LinearlyImplicit, Recording, Simulation
from modurob.spatial import se3
from modurob.spatial.scalars import Array

TURNS = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
# periods until a gait has settled, and over which its turning is seen
SETTLED, SEEN = 3, 6
# joints farther from the line of travel than this part of the half width are of limbs at its sides
ASIDE = 0.3
LEAST_WIDTH = 0.02  # of a body with sides [m]
TICKS = 50  # of a recording in a period


class Turned(NamedTuple):
    """By how much a turn of one changes the wave of each servo, in the order of `servo_states`, (n,) each."""

    bend: Array  # of the centre [rad]
    side: Array  # 1: left, -1: right of the line of travel, 0: in it


@dataclass(frozen=True, eq=False)
class Steering:
    """A robot with servos on the ground that can be steered: `rates` of turning [rad/s] seen at turns of `TURNS`, (5,)."""

    walker: Mechanism
    gait: Gait
    start: Array  # where a walk starts, (nq,)
    turned: Turned
    rates: Array

    def waves(self, x: Array, u: ArrayLike) -> Array:
        """States x of the forces, (..., nx), with servos turned by u (...): left is positive."""
        out, u = np.array(x), np.asarray(u, dtype=float)
        for k, s in enumerate(servo_states(self.walker).values()):
            out[..., s.start] += u * self.turned.bend[k]
            out[..., s.start + 1] *= 1 - np.maximum(u * self.turned.side[k], 0.0)
        return out

    def turn(self, rate: ArrayLike) -> Array:
        """The turn u that turns the course by this rate [rad/s], or comes closest, (...)."""
        order = np.argsort(self.rates)
        return np.interp(rate, self.rates[order], TURNS[order])


def steering(
    robot: Mechanism, gait: Gait, ground: Ground | None = None, bend: float = 0.6, dt: float = 2e-3
) -> Steering:
    """How this gait turns this robot: seen in runs side by side, one for each turn of `TURNS`.

    Joints about the vertical in the line of travel are bent by up to `bend` [rad]; limbs beside it swing less on the inner side, those
    joints about the vertical if there are any. A gait that no turn leads to both sides is refused.

    >>> snake = mr.load("snake").robot()
    >>> steered = mr.steering(snake, mr.gait("inchworm", amplitude=0.8, frequency=1.0))
    >>> bool(steered.rates[0] < 0 < steered.rates[-1]) or bool(steered.rates[0] > 0 > steered.rates[-1])
    True
    """
    require_positive("bend", bend, "rad")
    walker = driven(robot, gait).on_ground(Ground() if ground is None else ground)
    start = walker.standing(gait.on(robot)(0.0)[0])
    still = np.zeros(len(servo_states(walker)))
    plain = Steering(walker, gait, start, Turned(still, still), np.zeros(len(TURNS)))
    ahead = _way(_courses(plain, np.zeros(1), dt)[:, 0])
    own = Steering(walker, gait, start, _turned(walker, start, ahead, bend), plain.rates)
    angles = np.unwrap(np.moveaxis(_angles(_courses(own, TURNS, dt)), 0, -1))
    rates = np.polyfit(np.arange(SEEN) / gait.frequency, angles.T, 1)[0]
    if not rates.min() < 0 < rates.max():
        raise GaitError(
            f"{robot.name} turns by {_said(rates)} rad/s at turns of {_said(TURNS)}: expected a gait and a posture with joints "
            "about the vertical in the line of travel, or limbs on both sides of it"
        )
    return Steering(walker, gait, start, own.turned, rates)


def walk_to(
    steered: Steering, goal: ArrayLike, duration: float = 60.0, reach: float = 0.1, dt: float = 2e-3
) -> Recording:
    """The walk of a robot to a goal (x, y) [m], ended once its centre of mass is within `reach` [m], or after `duration` [s].

    Once a period it looks back at its course over the last one, and takes the turn that leads the course to the goal within three.

    >>> snake = mr.load("snake").robot()
    >>> steered = mr.steering(snake, mr.gait("inchworm", amplitude=0.8, frequency=1.0))
    >>> run = mr.walk_to(steered, goal=(0.3, 0.8))
    >>> bool(np.hypot(*(run.robot.centre_of_mass(run.q[-1])[:2] - (0.3, 0.8))) < 0.1)
    True
    """
    to = np.asarray(goal, dtype=float)
    if to.shape != (2,) or not np.isfinite(to).all():
        raise GaitError(f"goal {goal!r:.60}: expected (x, y) on the ground [m]")
    for name, value in (("duration", duration), ("reach", reach)):
        require_positive(name, value, "s" if name == "duration" else "m")
    run, last = _simulation(steered, 0.0, dt), None
    period = _period(steered, run)
    x, m = run.x, steered.walker
    for k in range(int(np.ceil(duration / period))):
        run.advance(period)
        here = m.centre_of_mass(run.q)[:2]
        if np.hypot(*(to - here)) < reach or run.over:
            break
        if last is not None and k >= SETTLED:
            off = _wrapped(_angles(to - here) - _angles(here - last))
            run.state = run.state._replace(x=_servos(steered, run.x, x, steered.turn(off / (3 * period))))
        last = here
    return run.recording


def _servos(steered: Steering, now: Array, first: Array, u: ArrayLike) -> Array:
    """The states now with servos turned by u from what they were at first; other states stay."""
    turned, out = steered.waves(first, u), np.array(now)
    for s in servo_states(steered.walker).values():
        out[..., s] = turned[..., s]
    return out


def _simulation(steered: Steering, u: ArrayLike, dt: float) -> Simulation:
    """Runs side by side that start turned by u, (...), and record about `TICKS` times a period."""
    x = acting(steered.walker).start_at(steered.start)
    x = steered.waves(np.broadcast_to(x, (*np.shape(u), len(x))), u)
    tick = dt * max(1, round(1 / steered.gait.frequency / TICKS / dt))
    return Simulation(steered.walker, steered.start, x0=x, stepper=LinearlyImplicit(dt), tick=tick)


def _period(steered: Steering, run: Simulation) -> float:
    """The whole number of ticks that is closest to a period [s]."""
    return run.tick * max(1, round(1 / steered.gait.frequency / run.tick))


def _courses(steered: Steering, u: Array, dt: float) -> Array:
    """How far the centre of mass goes in each of the periods that are seen, (SEEN, len(u), 2) [m]."""
    run = _simulation(steered, u, dt)
    period = _period(steered, run)
    run.advance(SETTLED * period)
    centres = [steered.walker.centre_of_mass(run.q)]
    for _ in range(SEEN):
        centres.append(steered.walker.centre_of_mass(run.advance(period).q))
    return np.diff(np.array(centres), axis=0)[..., :2]


def _way(courses: Array) -> Array:
    """The direction of some steps together, (3,)."""
    way = courses.sum(axis=0)
    length = np.linalg.norm(way)
    if not length > 0:
        raise GaitError("the gait leads nowhere, so that nothing can be steered: expected one that travels")
    return np.append(way / length, 0.0)


def _turned(walker: Mechanism, q: Array, ahead: Array, bend: float) -> Turned:
    names = list(servo_states(walker))
    joints: Active = active_joints(walker, names)
    order = [joints.names.index(name) for name in names]
    up = upwards(walker)
    place = se3.position(walker.forward_kinematics(q).bodies[list(joints.body)]) - walker.centre_of_mass(q)
    aside = (place @ np.cross(up, ahead))[order]
    along = (joints.axes(q) @ up)[order]
    side = aside / max(np.abs(aside).max(), 1e-9)
    side = np.where((np.abs(side) > ASIDE) & (np.abs(aside).max() > LEAST_WIDTH), np.sign(side), 0.0)
    vertical = np.abs(along) > ALONG
    bent = np.where(vertical & (side == 0), bend * np.sign(along) * places(joints)[1][order], 0.0)
    if (vertical & (side != 0)).any():
        side = np.where(vertical, side, 0.0)
    return Turned(bent, side)


def _angles(way: Array) -> Array:
    return np.arctan2(way[..., 1], way[..., 0])


def _wrapped(angle: Array) -> Array:
    return np.remainder(angle + np.pi, 2 * np.pi) - np.pi


def _said(numbers: Array) -> str:
    return ", ".join(f"{x:.3g}" for x in numbers)
