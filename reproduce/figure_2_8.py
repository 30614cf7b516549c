"""Sepp et al. Figs. 2.8 to 2.10, 2.13 and 2.14: cubic and quintic polynomials of time."""

from collections.abc import Callable

import numpy as np

from modurob.motion import Trajectory
from modurob.spatial.scalars import Array
from reproduce.check import Check, Reproduction, apart
from reproduce.lwa4p import REPORTED, WRIST, arm
from reproduce.pictures import legend, panels

DURATION = 3.0  # [s], of the report's moves nothing is said
FASTEST = np.deg2rad(72.0)  # [rad/s]
MOVE = 1.6  # [rad], of joint 3, the longest
JOINTS = [f"q{i}" for i in range(1, 7)]
ROUNDING = 1e-12


def position() -> Reproduction:
    """Figure 2.8: joint angles, cubic."""
    return _cubic("Sepp et al. Fig. 2.8", 0, "angle [rad]")


def velocity() -> Reproduction:
    """Figure 2.9: their rates are parabolas with the peak 1.5 dq / T."""
    return _cubic("Sepp et al. Fig. 2.9", 1, "rate [rad/s]")


def acceleration() -> Reproduction:
    """Figure 2.10: their accelerations fall from 6 dq / T² to -6 dq / T² on a line."""
    return _cubic("Sepp et al. Fig. 2.10", 2, "acceleration [rad/s²]")


def _cubic(name: str, derivative: int, label: str) -> Reproduction:
    ours, t = Trajectory.cubic(np.zeros(6), REPORTED, DURATION), np.linspace(0, DURATION, 301)
    rows = np.array([[1, 0, 0, 0], [0, 1, 0, 0], DURATION ** np.arange(4), [0, 1, 2 * DURATION, 3 * DURATION**2]])
    a = np.linalg.solve(rows, np.stack([0 * REPORTED, 0 * REPORTED, REPORTED, 0 * REPORTED]))
    judged = np.polynomial.polynomial.polyval(t, np.polynomial.polynomial.polyder(a, derivative)).T
    x = np.stack(ours(t))[derivative]
    largest = (1.0, 1.5 / DURATION, 6 / DURATION**2)[derivative]
    checks = [
        Check(name, f"{label} against the solution of (2.28)", 0.0, apart(x, judged), ROUNDING),
        Check(name, f"largest {label} over the way", largest, float(np.abs(x[:, 2]).max() / REPORTED[2]), 1e-9),
    ]
    if derivative == 1:
        checks.append(Check(name, "least time at 72 °/s, cubic", 1.910, _least(Trajectory.cubic), 1e-3, "s"))
    figure, (axis,) = panels(f"{name}: cubic polynomials", [label], 4.0)
    axis.plot(t, x, lw=2)
    legend(figure, JOINTS)
    return Reproduction(checks, figure)


def _least(make: Callable[..., Trajectory]) -> float:
    """The time of the longest move at the fastest rate [s]."""
    return float(make(0.0, MOVE, 1.0).largest(1) / FASTEST)


def task_space() -> Reproduction:
    """Figure 2.13: x, y, z over time by quintic polynomials, one a coordinate."""
    name, robot = "Sepp et al. Fig. 2.13", arm()
    start, end = (robot.frame_pose(q, WRIST)[:3, 3] for q in (np.zeros(6), REPORTED))
    ours, t = Trajectory.quintic(start, end, DURATION), np.linspace(0, DURATION, 301)
    s = t[:, None] / DURATION
    judged = start + (10 * s**3 - 15 * s**4 + 6 * s**5) * (end - start)
    checks = [
        Check(name, "x, y, z against 10 s³ - 15 s⁴ + 6 s⁵", 0.0, apart(ours(t).position, judged), ROUNDING, "m"),
        Check(name, "least time at 72 °/s, quintic", 2.387, _least(Trajectory.quintic), 1e-3, "s"),
    ]
    figure, (axis,) = panels(f"{name}: quintic polynomials", ["position [m]"], 4.0)
    axis.plot(t, ours(t).position, lw=2)
    legend(figure, ["x", "y", "z"])
    return Reproduction(checks, figure)


def listing() -> Reproduction:
    """Figure 2.14: coefficients of the unit move; the listing has 21 where (2.34) has 20, and then does not stop."""
    name = "Sepp et al. Fig. 2.14"
    right, printed = _unit_move(20), _unit_move(21)
    ours = Trajectory.quintic(0.0, 1.0, 1.0).coefficients[::-1, 0]
    checks = [
        Check(name, "coefficients of the unit move", 0.0, apart(right, (10, -15, 6)), ROUNDING),
        Check(name, "the same by Trajectory.quintic", 0.0, apart(ours[3:], right), ROUNDING),
        Check(name, "with 21 for 20: coefficients", 0.0, apart(printed, (8, -11, 4)), ROUNDING),
        Check(name, "with 21 for 20: acceleration at the end", -4.0, float(printed @ (6, 12, 20)), ROUNDING),
    ]
    return Reproduction(checks, None)


def _unit_move(last: float) -> Array:
    """a3, a4, a5 of a move by one in one second that starts at rest, and stops if `last` is 20."""
    return np.linalg.solve([[1, 1, 1], [3, 4, 5], [6, 12, last]], [1.0, 0, 0])
