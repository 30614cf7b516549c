"""Steering: how a gait is turned to one side, the resulting turning rate of the robot, and the walk to a goal.

A turn u from -1 to 1 changes the waves of the servos by the roles of the joints: joints with a vertical axis in the
line of travel bend the body, limbs on the inner side swing less. The effect of a turn is not modelled but measured in a
batch of runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.algorithms.forces import acting
from modurob.catalogue.contact import Ground
from modurob.errors import GaitError, explained
from modurob.motion.gaits.active import active_joints
from modurob.motion.gaits.checks import require_positive
from modurob.motion.gaits.driven import driven, servo_states
from modurob.motion.gaits.patterns import ALONG, places, upwards
from modurob.motion.gaits.recipe import Gait
from modurob.robot import Mechanism
from modurob.simulation import LinearlyImplicit, Recording, Simulation
from modurob.simulation.recording import Event
from modurob.spatial import inertia, se3
from modurob.spatial.scalars import Array

TURNS = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
# periods until a gait has settled, and over which its turning is seen
SETTLED, SEEN = 3, 6
# joints farther from the line of travel than this part of the half width are of limbs at its sides
ASIDE = 0.3
LEAST_WIDTH = 0.02  # of a body with sides [m]
NOWHERE = 1e-3  # what counts as no way at all [m]
WITHIN = 3  # periods until the course is to lead to the goal
TICKS = 50  # of a recording in a period


class Turned(NamedTuple):
    """By how much a turn of one changes the wave of each servo, in the order of `servo_states`, (n,) each."""

    bend: Array  # of the centre [rad]
    side: Array  # 1: left, -1: right of the line of travel, 0: in it


@dataclass(frozen=True, eq=False)
class Steering:
    """A robot with servos on the ground that can be steered: `rates` of turning [rad/s] measured at turns of `TURNS`,
    (5,).
    """

    walker: Mechanism
    gait: Gait
    start: Array  # where a walk starts, (nq,)
    turned: Turned
    rates: Array
    ahead: float = 0.0  # the direction of travel at the start, from x to y [rad]
    speed: float = 0.0  # [m/s]

    def waves(self, x: Array, u: ArrayLike) -> Array:
        """States x of the forces, (..., nx), with servos turned by u (...): left is positive."""
        out, u = np.array(x), np.asarray(u, dtype=float)
        for k, s in enumerate(servo_states(self.walker).values()):
            out[..., s.start] += u * self.turned.bend[k]
            out[..., s.start + 1] *= 1 - np.maximum(u * self.turned.side[k], 0.0)
        return out

    def turn(self, rate: Any) -> Array:
        """The turn u that turns the robot by this rate [rad/s], or comes closest, (...)."""
        order = np.argsort(self.rates)
        if np.all(np.diff(order) == 1) or np.all(np.diff(order) == -1):
            return np.interp(rate, self.rates[order], TURNS[order])
        # rates that do not grow with the turn: the closest that was measured
        return TURNS[np.abs(np.subtract.outer(rate, self.rates)).argmin(axis=-1)]

    def course(self, q: Array) -> Array:
        """The direction in which it travels at q, once a period, (...) [rad]: that of the start, turned as its bodies are."""
        return self.ahead + _heading(self.walker, self.start, q)

    def next_turn(self, q: Array, to: Array) -> Array:
        """The turn for the next period at q, with the goal `to` (..., 2) [m] away, such that the course points to the
        goal within three periods.

        A goal inside the circle of the sharpest turn is first left behind.
        """
        off = _wrapped(_angles(to) - self.course(q))
        sharpest = np.where(off > 0, self.rates.max(), -self.rates.min())
        inside = np.linalg.norm(to, axis=-1) < 2 * self.speed / sharpest * np.abs(np.sin(off))
        return self.turn(np.where(inside, 0.0, off * self.gait.frequency / WITHIN))


@explained
def steering(
    robot: Mechanism, gait: Gait, ground: Ground | None = None, bend: float = 0.6, dt: float = 2e-3
) -> Steering:
    """How this gait turns this robot: measured in a batch of runs with steps of dt [s], one for each turn of `TURNS`.

    Joints with a vertical axis in the line of travel are bent by up to `bend` [rad]; limbs beside it swing less on the
    inner side, by their joints with a vertical axis if there are any. A gait that does not turn to both sides is
    refused.

    >>> snake = mr.walking_robot("snake").robot()
    >>> steered = mr.steering(snake, mr.gait("inchworm", amplitude=0.8, frequency=1.0))
    >>> bool(steered.rates[0] < 0 < steered.rates[-1])
    True
    """
    require_positive("bend", bend, "rad")
    walker = driven(robot, gait).on_ground(Ground() if ground is None else ground)
    start = walker.standing(gait.on(robot)(0.0)[0])
    still = np.zeros(len(servo_states(walker)))
    plain = Steering(walker, gait, start, Turned(still, still), np.zeros(len(TURNS)))
    q, period = _seen(plain, np.zeros(1), dt)
    way = np.diff(walker.centre_of_mass(q[:, 0])[[0, -1]], axis=0)[0]
    if not np.hypot(*way[:2]) > NOWHERE:
        raise GaitError(
            f"this gait leads {robot.name} nowhere, so that nothing can be steered: expected one that travels"
        )
    ahead = float(_angles(way) - _heading(walker, start, q[:, 0]).mean())
    turned = _turned(walker, start, ahead, bend)
    own = Steering(walker, gait, start, turned, plain.rates, ahead, float(np.hypot(*way[:2])) / (SEEN * period))
    q, _ = _seen(own, TURNS, dt)
    rates = np.polyfit(np.arange(SEEN + 1) * period, np.unwrap(_heading(walker, start, q), axis=0), 1)[0]
    if not rates[0] * rates[-1] < 0:
        raise GaitError(
            f"{robot.name} turns by {_said(rates)} rad/s at turns of {_said(TURNS)}: expected a gait and a posture with joints "
            "about the vertical in the line of travel, or limbs on both sides of it, that turn it both ways"
        )
    return Steering(walker, gait, start, turned, rates, ahead, own.speed)


@explained
def walk_to(
    steered: Steering, goal: ArrayLike, duration: float = 60.0, reach: float = 0.1, dt: float = 2e-3
) -> Recording:
    """The walk of a robot to a goal (x, y) [m], ended when its centre of mass is within `reach` [m], or after
    `duration` [s].

    Once per period it applies `Steering.next_turn`, which needs only the pose of the robot and the goal. The last of
    its `events` gives the remaining distance.

    >>> snake = mr.walking_robot("snake").robot()
    >>> steered = mr.steering(snake, mr.gait("inchworm", amplitude=0.8, frequency=1.0))
    >>> run = mr.walk_to(steered, goal=(0.8, 1.8))
    >>> bool(np.hypot(*(run.robot.centre_of_mass(run.q[-1])[:2] - (0.8, 1.8))) < 0.1)
    True
    """
    try:
        to = np.asarray(goal, dtype=float)
    except (TypeError, ValueError):
        to = np.zeros(0)
    if to.shape != (2,) or not np.isfinite(to).all():
        raise GaitError(f"goal {goal!r:.60}: expected (x, y) on the ground [m]")
    for name, value in (("duration", duration), ("reach", reach)):
        require_positive(name, value, "s" if name == "duration" else "m")
    run = _simulation(steered, 0.0, dt)
    x, period, here = run.x, _period(steered, run), np.full(2, np.inf)
    for k in range(int(np.ceil(duration / period))):
        here = _advanced(run, period, to, reach)
        if run.over or np.hypot(*(to - here)) < reach:
            break
        # one that starts to swing has no course yet
        if k > 0:
            u = steered.next_turn(run.q, to - here)
            run.state = run.state._replace(x=_servos(steered, run.x, x, u))
    left = float(np.hypot(*(to - here)))
    word = "reached" if left < reach else "not reached"
    run.events.append(Event(run.t, "goal", f"{word}: {left:.3g} m away"))
    return run.recording


# ---- runs ----


def _servos(steered: Steering, now: Array, first: Array, u: ArrayLike) -> Array:
    """The states now with servos turned by u from what they were at first; other states stay."""
    turned, out = steered.waves(first, u), np.array(now)
    for s in servo_states(steered.walker).values():
        out[..., s] = turned[..., s]
    return out


def _simulation(steered: Steering, u: ArrayLike, dt: float) -> Simulation:
    """A batch of runs that start turned by u, (...), and record about `TICKS` times a period."""
    x = acting(steered.walker).start_at(steered.start)
    x = steered.waves(np.broadcast_to(x, (*np.shape(u), len(x))), u)
    tick = dt * max(1, round(1 / steered.gait.frequency / TICKS / dt))
    return Simulation(steered.walker, steered.start, x0=x, stepper=LinearlyImplicit(dt), tick=tick)


def _period(steered: Steering, run: Simulation) -> float:
    """The whole number of ticks that is closest to a period [s]."""
    return run.tick * max(1, round(1 / steered.gait.frequency / run.tick))


def _advanced(run: Simulation, period: float, to: Array, reach: float) -> Array:
    """Where the centre of mass is after a period, or as soon as it is within reach of the goal, (2,) [m]."""
    here = run.robot.centre_of_mass(run.q)[:2]
    for _ in range(round(period / run.tick)):
        if run.over or np.hypot(*(to - here)) < reach:
            break
        run.step()
        here = run.robot.centre_of_mass(run.q)[:2]
    return here


def _seen(steered: Steering, u: Array, dt: float) -> tuple[Array, float]:
    """Configurations once a period after the gait has settled, (SEEN + 1, len(u), nq), and the period [s]."""
    run = _simulation(steered, u, dt)
    period = _period(steered, run)
    run.advance(SETTLED * period)
    return np.array([run.q, *(run.advance(period).q for _ in range(SEEN))]), period


# ---- directions ----


def _turned(walker: Mechanism, q: Array, ahead: float, bend: float) -> Turned:
    names = list(servo_states(walker))
    joints = active_joints(walker, names)
    order = [joints.names.index(name) for name in names]
    place = se3.position(walker.forward_kinematics(q).bodies[list(joints.body)]) - walker.centre_of_mass(q)
    aside = (place @ [-np.sin(ahead), np.cos(ahead), 0.0])[order]
    along = (joints.axes(q) @ upwards(walker))[order]
    width = max(np.abs(aside).max(), LEAST_WIDTH)
    side = np.where(np.abs(aside) > ASIDE * width, np.sign(aside), 0.0)
    vertical = np.abs(along) > ALONG
    bent = np.where(vertical & (side == 0), bend * np.sign(along) * places(joints)[1][order], 0.0)
    if (vertical & (side != 0)).any():
        side = np.where(vertical, side, 0.0)
    return Turned(bent, side)


def _heading(m: Mechanism, start: Array, q: Array) -> Array:
    """How far its bodies are turned about the vertical since the start, each by its mass, (...) [rad]."""
    R = se3.rotation(m.forward_kinematics(q).bodies) @ np.swapaxes(
        se3.rotation(m.forward_kinematics(start).bodies), -1, -2
    )
    weight = inertia.mass(m.inertia)
    return np.arctan2((R[..., 1, 0] - R[..., 0, 1]) @ weight, (R[..., 0, 0] + R[..., 1, 1]) @ weight)


def _angles(way: Array) -> Array:
    return np.arctan2(way[..., 1], way[..., 0])


def _wrapped(angle: Array) -> Array:
    return np.remainder(angle + np.pi, 2 * np.pi) - np.pi


def _said(numbers: Array) -> str:
    return ", ".join(f"{x:.3g}" for x in numbers)
