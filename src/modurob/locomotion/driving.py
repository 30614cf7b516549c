"""Ways of a base with a heading, such as a differential drive, to a pose (von Stryk 4.5.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.errors import InputError, explained
from modurob.locomotion import plane
from modurob.locomotion.numbers import numbers, one_number, one_positive
from modurob.spatial.scalars import Array


class Leg(NamedTuple):
    """A twist (3,) that is held for a time [s]."""

    twist: Array
    time: float


def _wrapped(angle: Array) -> Array:
    """The angle within half a turn of zero."""
    return np.remainder(angle + np.pi, 2 * np.pi) - np.pi


@explained
def turn_drive_turn(start: ArrayLike, goal: ArrayLike, speed: float = 1.0, turn_rate: float = 1.0) -> tuple[Leg, ...]:
    """From pose to pose in three legs: turn on the spot, drive straight, turn on the spot, at a speed [m/s] and a rate [rad/s].

    >>> pose = np.zeros(3)
    >>> for twist, time in mr.locomotion.turn_drive_turn(pose, [1.0, 1.0, 0.0]):
    ...     pose = mr.locomotion.plane.moved(pose, twist, time)
    >>> pose.round(9) + 0.0
    array([1., 1., 0.])
    """
    a, b = numbers(start, "start", 3), numbers(goal, "goal", 3)
    way = b[:2] - a[:2]
    length = float(np.hypot(*way))
    heading = np.arctan2(way[1], way[0]) if length > 0 else a[2]
    v, w = one_positive(speed, "speed"), one_positive(turn_rate, "turn_rate")
    turns = [float(_wrapped(angle)) for angle in (heading - a[2], b[2] - heading)]
    first, last = (Leg(np.array([0.0, 0.0, w * np.sign(t)]), abs(t) / w) for t in turns)
    return first, Leg(np.array([v, 0.0, 0.0]), length / v), last


@explained
def arc_to(start: ArrayLike, point: ArrayLike, speed: float = 1.0) -> Leg:
    """The circular arc, tangent to the heading at its start, to a point (x, y) [m], driven at a speed [m/s].

    >>> twist, time = mr.locomotion.arc_to([0.0, 0.0, 0.0], [1.25, 1.25])
    >>> twist, round(time, 4)
    (array([1. , 0. , 0.8]), 1.9635)
    """
    a, v = numbers(start, "start", 3), one_positive(speed, "speed")
    x, y = plane.turned(numbers(point, "point", 2) - a[:2], -a[2])
    if y == 0 and x <= 0:
        raise InputError(
            f"point {point!r:.60} is the start or straight behind it: no arc leads there; expected another"
        )
    angle = 2 * np.arctan2(y, x)
    chord = np.hypot(x, y)
    length = chord / np.sinc(angle / 2 / np.pi)
    return Leg(np.array([v, 0.0, v * angle / length]), float(length / v))


@explained
@dataclass(frozen=True)
class PoseLaw:
    """Feedback that drives a base to a pose: V = k_rho rho, w = k_alpha alpha + k_beta beta (Astolfi).

    rho is the distance to the goal, alpha the angle from the heading to it, beta = -theta - alpha, all seen from the goal. Near the
    goal rho falls with k_rho, and (alpha, beta) with the roots of s² + (k_alpha - k_rho) s - k_rho k_beta: k_alpha > k_rho > 0 >
    k_beta. A goal behind the base is approached in reverse.

    >>> law, pose = mr.locomotion.PoseLaw(), np.array([-2.0, 1.0, 0.5])
    >>> for _ in range(800):
    ...     pose = mr.locomotion.plane.moved(pose, law.twist(pose, np.zeros(3)), 0.025)
    >>> bool(np.abs(pose).max() < 1e-6)
    True
    """

    k_rho: float = 1.0
    k_alpha: float = 4.0
    k_beta: float = -2.0

    def __post_init__(self) -> None:
        rho, alpha, beta = (
            one_number(self.k_rho, "k_rho"),
            one_number(self.k_alpha, "k_alpha"),
            one_number(self.k_beta, "k_beta"),
        )
        if not (rho > 0 and beta < 0 and alpha > rho):
            raise InputError(
                f"gains k_rho = {rho:g}, k_alpha = {alpha:g}, k_beta = {beta:g}: expected k_alpha > k_rho > 0 > k_beta"
            )

    def twist(self, pose: ArrayLike, goal: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """The twist at a pose, (..., 3)."""
        x, y, theta = np.moveaxis(
            plane.compose(plane.inverse(numbers(goal, "goal", 3)), numbers(pose, "pose", 3)), -1, 0
        )
        rho, towards = np.hypot(x, y), np.arctan2(-y, -x)
        ahead = np.where(np.abs(_wrapped(towards - theta)) <= np.pi / 2, 1.0, -1.0)
        alpha = np.where(rho > 0, _wrapped(towards - theta + (ahead < 0) * np.pi), 0.0)
        beta = _wrapped(-theta - alpha)
        V = ahead * self.k_rho * rho
        return np.stack([V, np.zeros_like(V), self.k_alpha * alpha + self.k_beta * beta], axis=-1)
