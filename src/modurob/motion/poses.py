"""Motions of a frame over time: a path of poses, and how far along it when."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import PPoly
from scipy.optimize import minimize_scalar

from modurob.errors import ControlError, choices, explained
from modurob.motion.numbers import numbers, one_positive
from modurob.motion.paths import Circle, Line, PosePath, Poses, Screw
from modurob.motion.trajectory import TRAJECTORIES, Trajectory
from modurob.spatial.scalars import Array, cross

# samples of a stretch of time in the search for extremes, which are then found between samples
SAMPLES = 400
# stretches whose samples come this close to the largest are searched
NEAR = 0.999
# what the search may miss
MARGIN = 1e-9


class PosePoint(NamedTuple):
    """A pose trajectory at one time, or at many: pose, (..., 4, 4), body twist and its derivative, (..., 6) each."""

    pose: Array
    twist: Array
    acceleration: Array


@explained
@dataclass(frozen=True)
class PoseTrajectory:
    """A motion X(t) of a frame, at rest before its start and after its end: path(progress(t)).

    `trajectory(t)` returns the pose [m], the body twist (v, w) [m/s, rad/s] and its derivative [m/s², rad/s²].
    `progress` is a trajectory from 0 to 1, or a duration [s]: then it is a quintic. A value: comparable, hashable,
    picklable.

    >>> down = mr.spatial.se3.pose(np.diag([1.0, -1.0, -1.0]), [0.4, 0.0, 0.3])
    >>> draw = mr.PoseTrajectory.circle(down, centre=[0.4, 0.1, 0.3], axis=[0, 0, 1], progress=2.0)
    >>> draw(1.0).pose[:3, 3].round(9)
    array([0.4, 0.2, 0.3])
    """

    path: PosePath
    progress: Trajectory

    def __post_init__(self) -> None:
        if not isinstance(self.path, PosePath):
            raise ControlError(f"path {self.path!r:.60}: expected a path of poses, such as Line(start, end)")
        object.__setattr__(self, "progress", _progress(self.progress))

    def __call__(self, t: ArrayLike) -> PosePoint:
        """Pose, body twist and its derivative at time t [s]: V = X'(s) s', V' = X'' s'² + X' s''."""
        s, rate, bend = self.progress(numbers(t, "t"))
        X, twist, change = self.path(s)
        rate, bend = rate[..., None], bend[..., None]
        return PosePoint(X, twist * rate, change * rate**2 + twist * bend)

    @property
    def duration(self) -> float:
        """Time from start to end [s].

        >>> mr.PoseTrajectory.line(np.eye(4), np.eye(4), 1.5).duration
        1.5
        """
        return self.progress.duration

    # ---- from others ----

    def delayed(self, seconds: float) -> PoseTrajectory:
        """The same motion delayed by that many seconds.

        >>> mr.PoseTrajectory.line(np.eye(4), np.eye(4), 1.5).delayed(1.0).progress.breaks
        array([1. , 2.5])
        """
        return PoseTrajectory(self.path, self.progress.delayed(seconds))

    def slowed(self, factor: float) -> PoseTrajectory:
        """The same path in `factor` times the time.

        >>> mr.PoseTrajectory.line(np.eye(4), np.eye(4), 1.5).slowed(2.0).duration
        3.0
        """
        return PoseTrajectory(self.path, self.progress.slowed(factor))

    def within(self, **limits: float) -> PoseTrajectory:
        """The same path, slowed down as far as necessary to satisfy these limits, by name: speed [m/s] and acceleration
        [m/s²] of the origin, turn_rate [rad/s] and turn_acceleration [rad/s²] of the frame.

        >>> there = mr.spatial.se3.pose(p=[1.0, 0.0, 0.0])
        >>> round(mr.PoseTrajectory.line(np.eye(4), there, 1.0).within(speed=0.5).duration, 6)
        3.75
        """
        factor = 1.0
        for name, limit in limits.items():
            over = self.largest(name) / one_positive(limit, name)
            factor = max(factor, over ** (0.5 if name.endswith("acceleration") else 1.0))
        return self if factor == 1.0 else self.slowed(factor * (1 + MARGIN))

    def largest(self, quantity: str) -> float:
        """Largest speed, acceleration, turn_rate or turn_acceleration over time, as in `within`.

        >>> there = mr.spatial.se3.pose(p=[1.0, 0.0, 0.0])
        >>> round(mr.PoseTrajectory.line(np.eye(4), there, 1.0).largest("speed"), 6)
        1.875
        """
        if quantity not in SIZES:
            raise ControlError(f"no quantity {quantity!r} of a pose trajectory: {choices(str(quantity), SIZES)}")
        # both sides of every break, where accelerations may jump
        inside = [np.linspace(a, np.nextafter(b, a), SAMPLES) for a, b in pairwise(self._breaks())]
        sampled = [SIZES[quantity](self(t)) for t in inside]
        best = max(float(x.max()) for x in sampled)
        near = [(t, x) for t, x in zip(inside, sampled, strict=True) if x.max() > NEAR * best]
        return max([best, *(self._peak(quantity, t, int(np.argmax(x))) for t, x in near)])

    def _breaks(self) -> Array:
        """The times where a piece of the progress or of the path begins or ends."""
        s = PPoly(self.progress.coefficients, self.progress.breaks)
        passed = [s.solve(knot, extrapolate=False) for knot in self.path.knots]
        return np.unique(np.concatenate([self.progress.breaks, *passed]))

    def _peak(self, quantity: str, t: Array, k: int) -> float:
        """The largest value between the neighbours of a sample."""
        around = t[max(k - 1, 0)], t[min(k + 1, len(t) - 1)]
        best = minimize_scalar(
            lambda x: -float(SIZES[quantity](self(x))), bounds=around, method="bounded", options={"xatol": 1e-10}
        )
        return -float(best.fun)  # type: ignore[attr-defined]

    # ---- kinds ----

    @classmethod
    def line(cls, start: ArrayLike, end: ArrayLike, progress: Any) -> PoseTrajectory:
        """The straight line from one pose to another, (4, 4) each, with rotation at constant rate along the shortest
        arc (slerp).

        >>> there = mr.spatial.se3.pose(mr.spatial.so3.about([0, 0, 1.0], 1.0), [1.0, 0.0, 0.0])
        >>> mr.PoseTrajectory.line(np.eye(4), there, 2.0)(1.0).twist.round(4)
        array([ 0.8227, -0.4495,  0.    ,  0.    ,  0.    ,  0.9375])
        """
        return cls(Line(start, end), progress)  # type: ignore[arg-type]

    @classmethod
    def circle(
        cls,
        start: ArrayLike,
        centre: ArrayLike,
        axis: ArrayLike,
        progress: Any,
        angle: float = 2 * np.pi,
        turning: bool = True,
    ) -> PoseTrajectory:
        """An arc of `angle` [rad] from the pose `start` about the axis through `centre`; the frame rotates with it, or
        keeps its orientation.

        >>> start = mr.spatial.se3.pose(p=[0.2, 0.0, 0.0])
        >>> quarter = mr.PoseTrajectory.circle(start, np.zeros(3), [0, 0, 1], 1.0, angle=np.pi / 2)
        >>> quarter(1.0).pose[:2, 3].round(9) + 0.0
        array([0. , 0.2])
        """
        return cls(Circle(start, centre, axis, angle, turning), progress)  # type: ignore[arg-type]

    @classmethod
    def screw(cls, start: ArrayLike, end: ArrayLike, progress: Any) -> PoseTrajectory:
        """The screw from one pose to another, with at most half a turn: start exp(s log(start^-1 end)).

        >>> there = mr.spatial.se3.pose(mr.spatial.so3.about([0, 0, 1.0], 1.0), [1.0, 0.0, 0.0])
        >>> mr.PoseTrajectory.screw(np.eye(4), there, 2.0)(1.0).twist.round(4)
        array([ 0.858 , -0.4688,  0.    ,  0.    ,  0.    ,  0.9375])
        """
        return cls(Screw.between(start, end), progress)

    @classmethod
    def through(cls, poses: ArrayLike, progress: Any) -> PoseTrajectory:
        """Through poses, (k, 4, 4), at progress 0, 1/(k - 1), ...: positions on a cubic spline, rotations by squad.

        >>> ways = mr.spatial.se3.pose(p=np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0]]))
        >>> mr.PoseTrajectory.through(ways, 2.0)(1.0).pose[:3, 3].round(9)
        array([1., 0., 0.])
        """
        return cls(Poses(poses), progress)  # type: ignore[arg-type]


def _progress(given: Any) -> Trajectory:
    """A trajectory from 0 to 1, or the quintic of the given duration [s]."""
    if not isinstance(given, Trajectory):
        return Trajectory.quintic(0.0, 1.0, one_positive(given, "progress"))
    ends = given(given.breaks[[0, -1]]).position
    if given.shape != () or not np.allclose(ends, [0, 1]):
        raise ControlError(
            f"progress of shape {given.shape} from {ends[0]} to {ends[-1]}: expected a number from 0 to 1"
        )
    return given


def _norm(x: Array) -> Array:
    return np.linalg.norm(x, axis=-1)


# the size of what is limited, from a PosePoint, (...)
SIZES = {
    "speed": lambda x: _norm(x.twist[..., :3]),
    "acceleration": lambda x: _norm(x.acceleration[..., :3] + cross(x.twist[..., 3:], x.twist[..., :3])),
    "turn_rate": lambda x: _norm(x.twist[..., 3:]),
    "turn_acceleration": lambda x: _norm(x.acceleration[..., 3:]),
}

for _kind, _made in {
    "line": PoseTrajectory.line,
    "circle": PoseTrajectory.circle,
    "screw": PoseTrajectory.screw,
    "poses": PoseTrajectory.through,
}.items():
    TRAJECTORIES.add(_kind, _made)
