"""Motion within limits of velocity, acceleration and jerk from any state to any other, recomputed at every sample.

Computed by Ruckig (Berscheid and Kröger, Jerk-limited real-time trajectory generation with arbitrary target states,
2021), extra `planning`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from modurob.errors import ControlError, explained
from modurob.motion.numbers import one_positive, positive
from modurob.motion.piecewise import Point, alike
from modurob.motion.trajectory import TRAJECTORIES, Trajectory
from modurob.spatial.scalars import Array
from modurob.values import Value

# pieces shorter than this, relative to the whole, are none
SHORT = 1e-9


def _ruckig() -> Any:
    try:
        import ruckig
    except ImportError:
        raise ControlError("jerk-limited motion needs Ruckig: pip install 'modurob[planning]'") from None
    return ruckig


@TRAJECTORIES.register("jerk-limited")
@explained
def jerk_limited(
    start: ArrayLike,
    end: ArrayLike,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    jerk: ArrayLike,
    start_velocity: ArrayLike = 0.0,
    start_acceleration: ArrayLike = 0.0,
    end_velocity: ArrayLike = 0.0,
    end_acceleration: ArrayLike = 0.0,
) -> Trajectory:
    """The fastest motion from one state to another within limits of velocity, acceleration and jerk, all coordinates
    together.

    Unlike `Trajectory.s_curve` the coordinates do not move along a line, and may start and end in motion. An initial
    state beyond the limits is first brought back within them. Limits are in rad/s, rad/s², rad/s³, or m/s, m/s², m/s³.
    It needs the extra `planning`.

    >>> stop = mr.motion.jerk_limited([0.0, 0.0], [1.0, 0.5], velocity=1.0, acceleration=2.0, jerk=10.0, start_velocity=[0.5, -0.2])
    >>> stop(0.0).velocity
    array([ 0.5, -0.2])
    """
    given = {
        "start": start,
        "start_velocity": start_velocity,
        "start_acceleration": start_acceleration,
        "end": end,
        "end_velocity": end_velocity,
        "end_acceleration": end_acceleration,
        **{
            name: positive(x, name)
            for name, x in (("velocity", velocity), ("acceleration", acceleration), ("jerk", jerk))
        },
    }
    states = alike(**given)
    shape, motion = states[0].shape, _calculated([np.ravel(x) for x in states])
    breaks = _breaks(motion)
    p, v, a = (np.array(x) for x in zip(*(motion.at_time(t) for t in breaks), strict=True))
    j = np.diff(a, axis=0) / np.diff(breaks)[:, None]
    c = np.stack([j / 6, a[:-1] / 2, v[:-1], p[:-1]])
    return Trajectory(breaks, c.reshape(4, len(breaks) - 1, *shape))


def _calculated(states: list[Array]) -> Any:
    """Ruckig's trajectory for start, end and limits, (n,) each."""
    ruckig = _ruckig()
    wanted = ruckig.InputParameter(len(states[0]))
    names = [f"{when}_{what}" for when in ("current", "target") for what in ("position", "velocity", "acceleration")]
    names += ["max_velocity", "max_acceleration", "max_jerk"]
    for name, x in zip(names, states, strict=True):
        setattr(wanted, name, x.tolist())
    found = ruckig.Trajectory(len(states[0]))
    try:
        result = ruckig.Ruckig(len(states[0])).calculate(wanted, found)
    except ruckig.RuckigError as error:
        raise ControlError(f"no jerk-limited motion: {str(error).strip()}: expected an end within the limits") from None
    if result != ruckig.Result.Working:
        raise ControlError(f"no jerk-limited motion found: {result}: expected an end that is reached within the limits")
    return found


def _breaks(motion: Any) -> Array:
    """The times at which the jerk of any coordinate jumps, from 0 to the end."""
    own = [np.cumsum([0.0, *p.brake.t, *p.t]) for p in motion.profiles[0]]
    times = np.unique(np.clip(np.concatenate([*own, [motion.duration]]), 0, motion.duration))
    if motion.duration == 0:
        return np.array([0, np.nextafter(0, 1)])
    apart = np.diff(times) > SHORT * motion.duration
    return np.append(times[:-1][apart], motion.duration)


@explained
@dataclass(frozen=True, eq=False)
class Online(Value):
    """A filter for goals that change while a robot moves: each step advances by `sample_time` along the fastest motion
    to the goal.

    Limits are numbers or (n,). A value; `step` is a pure function, so that a law can keep the state in its memory.

    >>> online = mr.motion.Online(velocity=1.0, acceleration=2.0, jerk=10.0, sample_time=0.01)
    >>> state = online.step(online.at([0.0, 0.0]), goal=[1.0, -1.0])
    >>> state.acceleration
    array([ 0.1, -0.1])
    """

    velocity: ArrayLike
    acceleration: ArrayLike
    jerk: ArrayLike
    sample_time: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        one_positive(self.sample_time, "sample_time")
        for name in ("velocity", "acceleration", "jerk"):
            positive(getattr(self, name), name)

    def at(self, position: ArrayLike) -> Point:
        """The state at rest there."""
        x = np.atleast_1d(np.asarray(position, dtype=float))
        return Point(x, np.zeros(x.shape), np.zeros(x.shape))

    def step(self, state: Point, goal: ArrayLike, goal_velocity: ArrayLike = 0.0) -> Point:
        """The state one sample later, towards the goal [rad or m], which moves with its constant velocity [rad/s or
        m/s].

        It is the fastest motion in the frame of the goal, so that a moving goal is reached and followed.
        """
        g, dt = np.asarray(goal_velocity, dtype=float), self.sample_time
        left = np.asarray(self.velocity) - np.abs(g)
        if np.any(left <= 0):
            raise ControlError(
                f"goal_velocity {g.tolist()}: expected less than the velocity limit {self.velocity!r:.60}"
            )
        way = jerk_limited(state[0], goal, left, self.acceleration, self.jerk, state[1] - g, state[2])
        x, v, a = way(float(min(dt, way.duration)))
        return Point(x + g * dt, v + g, a)
