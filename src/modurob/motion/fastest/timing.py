"""Time-optimal motion along a path: the search on a grid, until nothing is passed between its points either."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from modurob.algorithms.checks import beyond_limits
from modurob.errors import ControlError, explained
from modurob.motion.checks import require_robot
from modurob.motion.fastest.limits import Limits, Model, Problem, highest_between
from modurob.motion.fastest.reachability import Rows, controllable, falls, fastest_speeds
from modurob.motion.fastest.slowing import slowing
from modurob.motion.fastest.stretch import Stretch, progress
from modurob.motion.joint_paths import joint_path
from modurob.motion.numbers import numbers
from modurob.motion.paths import PosePath
from modurob.motion.poses import PoseTrajectory
from modurob.motion.trajectory import Trajectory
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array, read_only

# where in an interval its limits are rows, and where they are checked
PLACES = np.array([0.0, 0.5, 1.0])
CHECKED = np.linspace(0, 1, 9)
# checks are denser, and denser towards the ends, in intervals in which x changes by more than this factor: friction changes fast
# when a motion starts or stops
FAST = 1.5
SPREAD = np.linspace(0, 1, 33)
CLOSELY = np.unique(np.concatenate([SPREAD, *(y for k in (2, 4) for y in (SPREAD**k, 1 - SPREAD**k))]))
# the part of its limits that a motion may use where it is checked, that from which on an interval is given less, and that with
# which intervals start: what is between is less
MOST, HIGH, START = 1 - 1e-7, 1 - 1e-6, 1 - 1.1e-6
ROUNDS = 30
# friction is settled if the duration changes by less, and steady enough to look between the points of the grid
SETTLED, STEADY = 1e-9, 1e-4
# the fastest progress anybody asks for, ranges a second
FASTEST = 1e4


@dataclass(frozen=True)
class TimeOptimal:
    """The fastest motion along a path: the trajectory, and its progress along the path."""

    trajectory: Trajectory  # q(t)
    progress: Trajectory  # s(t)
    s: tuple[float, ...]  # the grid
    speed: tuple[float, ...]  # ds/dt there
    highest: tuple[float, ...]  # the largest ds/dt from which the end can be reached

    def __repr__(self) -> str:
        return f"TimeOptimal({self.duration:.6g} s, {self.trajectory!r})"

    @property
    def duration(self) -> float:
        """Time from start to end [s]."""
        return self.trajectory.duration


@explained
def time_optimal(
    robot: Mechanism,
    path: Trajectory | PoseTrajectory | PosePath | ArrayLike,
    *,
    frame: str | None = None,
    q0: ArrayLike | None = None,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    torque: ArrayLike | str | None = "effort",
    intervals: int = 500,
    start_speed: float = 0.0,
    end_speed: float = 0.0,
) -> TimeOptimal:
    """The fastest motion q(s(t)) along a path q(s) within |v| <= velocity, |vdot| <= acceleration, |tau| <= torque.

    `path` is a trajectory whose time is the path parameter s; or points, (k, nv), connected by the natural cubic spline
    parametrised by their distances; or a path of poses of a `frame`, converted from the solution nearest to q0 on
    (`motion.joint_path`). tau is what the drives have to supply: rigid bodies, rotors, friction, springs (without end
    stops). Limits are numbers or (nv,). None means no limit, for the velocity that of the joints; "effort" the largest
    torques of the drives. The motion starts and ends with the given progress rate ds/dt. Limits are satisfied between
    points of the grid too. Paths beyond the joint limits are refused, and so are paths along which neither
    accelerations nor torques are bounded.

    >>> fast = mr.time_optimal(robot, [[0.8, 0.6, 0.7], [1.0, 0.9, 0.5], [0.6, 0.7, 1.0]], acceleration=50.0)
    >>> law = mr.ComputedTorque(kp=100, kd=20, reference=fast.trajectory)
    >>> fast.trajectory.largest(2).max() <= 50.0 * (1 + 1e-6)
    np.True_
    """
    require_robot(robot, "time_optimal", ControlError)
    limits = _limits(robot, velocity, acceleration, torque)
    stretch = Stretch.of(_path(robot, path, frame, q0), _count(intervals))
    _require_possible(robot, stretch, limits)
    ends = _speed(start_speed, "start_speed"), _speed(end_speed, "end_speed")
    y, u, highest = _Search(Model(robot, limits), stretch, *ends).found()
    plain = (tuple(z.tolist()) for z in (stretch.s, y, highest))
    return TimeOptimal(stretch.motion(y, u), progress(stretch.s, y, u), *plain)


class _Search:
    """Solves on the grid again and again, until friction fits the speeds and no limit is passed in between."""

    def __init__(self, model: Model, stretch: Stretch, start: float, end: float):
        self.model, self.stretch, self.start, self.end = model, stretch, start, end
        self.h = np.diff(stretch.s)
        self.problem = Problem(model, stretch.at(PLACES), PLACES, self.h)
        self.checked = stretch.at(CHECKED)
        self.fastest = (FASTEST * (stretch.s[-1] - stretch.s[0])) ** 2

    def found(self) -> tuple[Array, Array, Array]:
        """Speeds at the points, accelerations in the intervals, and the largest speeds from which the end can be reached."""
        share, near, before = np.full(len(self.h), START), np.zeros((len(self.h), len(PLACES))), np.inf
        best, passed, rubs = None, np.inf, self.model.has_own_forces
        for _ in range(ROUNDS):
            x, u, K = self._solved(near, share)
            y = np.sqrt(x)
            time = self._time(x)
            near = _within(x, u, self.h, PLACES)
            used = self._used(x, u)
            passed, change = used.max() - 1, abs(time - before) / time
            if used.max() <= MOST and (best is None or time < best[0]):
                best = time, (y, u, np.sqrt(K[:, 1]))
            if best is not None and (not rubs or change <= SETTLED or time > best[0] * (1 + SETTLED)):
                return best[1]
            if not rubs or change < STEADY:
                # where the most is used between the places of the rows, these may use so much less
                at_places = self.model.usage(self.problem.at, near, u[:, None]).max(axis=1, initial=0.0)
                share = np.where(used > HIGH, np.minimum(share, at_places) / used * START, share)
            before = time
        if best is not None:
            return best[1]
        raise ControlError(
            f"time_optimal on {self.model.robot.name}: limits passed by {passed:.3g} of their size after {ROUNDS} rounds: "
            "expected a smoother path, or more intervals"
        )

    def _used(self, x: Array, u: Array) -> Array:
        """The largest part of a limit that is used anywhere in each interval, (intervals,)."""
        used = highest_between(self.model.parts(self.checked, _within(x, u, self.h, CHECKED), u[:, None]))
        fast = np.nonzero(np.maximum(x[1:], x[:-1]) > FAST * np.minimum(x[1:], x[:-1]))[0]
        looks = (
            self.model.parts(self.stretch.at(at, fast), _within(x, u, self.h, at)[fast], u[fast, None])
            for at in (CLOSELY, SPREAD)
        )
        closely, between = looks
        used[fast] = np.maximum(np.abs(closely).max(axis=(1, 2), initial=0.0), highest_between(between))
        return used

    def _solved(self, near: Array, share: Array) -> tuple[Array, Array, Array]:
        """x and u for friction near these speeds, and the controllable x."""
        rows = self.problem.rows(near, share)
        K, fails = controllable(rows, self.h, self.end**2, self.fastest)
        if fails >= 0:
            self._refuse(fails)
        if not K[0, 0] <= self.start**2 <= K[0, 1]:
            low, high = np.sqrt(K[0])
            raise ControlError(
                f"start_speed = {self.start:g}: expected {low:.6g} to {high:.6g}, from which the end is reached"
                + self._too_weak_at_start()
            )
        x, u = fastest_speeds(rows, self.h, K, self.start**2)
        if falls(x):
            x, u, K = min((x, u, K), self._without_falls(rows, (x, u, K)), key=lambda found: self._time(found[0]))
        if np.any(x[:-1] + x[1:] <= 0):
            self._refuse(int(np.argmin(x[:-1] + x[1:])))
        return x, u, K

    def _without_falls(self, rows: Rows, found: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        """x, u and the controllable x where no interval ends with a fall, if there are any; else those found before."""
        rows = rows.without_falls(self.h)
        K, fails = controllable(rows, self.h, self.end**2, self.fastest)
        if fails >= 0 or not K[0, 0] <= self.start**2 <= K[0, 1]:
            return found
        return *fastest_speeds(rows, self.h, K, self.start**2), K

    def _time(self, x: Array) -> float:
        """How long it takes [s]."""
        y = np.sqrt(x)
        with np.errstate(divide="ignore"):
            return float((2 * self.h / (y[:-1] + y[1:])).sum())

    def _refuse(self, i: int) -> None:
        """Say where it fails, and what holding the robot at rest takes there."""
        needs = self.model.most_loaded(self._at_rest()[i])
        raise ControlError(
            f"time_optimal on {self.model.robot.name}: no motion within the limits near s = {self.stretch.s[i]:.6g}, where at rest "
            f"{needs}: expected higher limits, or another path"
        )

    def _at_rest(self) -> Array:
        """The torques that hold the robot at the start of each interval, (intervals, nv), without signs."""
        at, rest = self.stretch.at(np.zeros(1)), np.zeros((len(self.h), 1))
        return np.abs(self.model.torque_coefficients(at)[2] + self.model.own_forces(at, rest))[:, 0]

    def _too_weak_at_start(self) -> str:
        """The reason why it cannot start from rest, if its drives cannot hold it there."""
        tau = self._at_rest()[0]
        held = np.all(tau <= self.model.limits.torque)
        return "" if held else f"; at rest {self.model.most_loaded(tau)} there: its drives cannot hold it"


def _within(x: Array, u: Array, h: Array, part: Array) -> Array:
    """ds/dt at fractions of the intervals, (intervals, points)."""
    return np.sqrt(np.maximum(x[:-1, None] + 2 * (h * u)[:, None] * part, 0))


def slowing_within(robot: Mechanism, motion: Trajectory, torque: ArrayLike | str) -> float:
    """The least factor, one or more, by which a motion of the robot has to be slower to keep these torques."""
    require_robot(robot, "within", ControlError)
    return slowing(robot, _path(robot, motion), _limits(robot, None, None, torque).torque)


def _path(robot: Mechanism, path: Any, frame: str | None = None, q0: ArrayLike | None = None) -> Trajectory:
    """A path of the robot's coordinates, from one, from poses of a frame, or from points."""
    if robot.nq != robot.nv:
        raise ControlError(f"motion of {robot.name}: it has quaternions: expected joints with coordinates alone")
    if isinstance(path, PoseTrajectory | PosePath):
        if frame is None:
            raise ControlError("a path of poses: expected the frame that follows it, frame=...")
        path = joint_path(robot, path, frame, q0)
    if not isinstance(path, Trajectory):
        path = _through(numbers(path, "path"))
    if path.shape != (robot.nv,):
        raise ControlError(f"path of shape {path.shape}: expected ({robot.nv},), the coordinates of {robot.name}")
    return path


def _require_possible(robot: Mechanism, stretch: Stretch, limits: Limits) -> None:
    """Refuse a path beyond the limits of joints, or along which nothing bounds accelerations."""
    words = beyond_limits(robot, stretch.at(CHECKED).q)
    if words:
        raise ControlError(f"path: {words}: expected a path within them")
    moves = np.abs(stretch.c[1:]).max(axis=(0, 1)) > 0
    if not (np.isfinite(limits.torque).any() or np.isfinite(limits.acceleration[moves]).any()):
        raise ControlError(
            f"time_optimal on {robot.name}: nothing bounds its accelerations: expected acceleration=..., torque=..., or drives "
            "with effort limits"
        )


def _through(points: Array) -> Trajectory:
    """The natural cubic spline through points, by their distances."""
    if points.ndim != 2 or len(points) < 2:
        raise ControlError(f"path of shape {points.shape}: expected points, (k, nv), k at least 2, or a Trajectory")
    way = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if np.any(way == 0):
        i = int(np.argmin(way))
        raise ControlError(f"points {i} and {i + 1} coincide: expected every point to differ from the one before")
    spline = CubicSpline(np.append(0, np.cumsum(way)), points, bc_type="natural")
    return Trajectory(spline.x, spline.c)


def _limits(robot: Mechanism, velocity: Any, acceleration: Any, torque: Any) -> Limits:
    """Those given, and those of the robot."""
    if isinstance(torque, str) and torque != "effort":
        raise ControlError(f"torque = {torque!r}: expected 'effort', numbers or None")
    largest = robot.effort_limit if isinstance(torque, str) else torque
    own = robot._of_owners("velocity_limit") if velocity is None else velocity
    given = {"velocity": own, "acceleration": acceleration, "torque": largest}
    return Limits(*(_limit(robot, value, name) for name, value in given.items()))


def _limit(robot: Mechanism, value: Any, what: str) -> Array:
    """(nv,), above zero, infinite for None."""
    x = numbers(np.inf if value is None else value, what, infinite=True)
    if x.shape not in ((), (robot.nv,)):
        raise ControlError(f"{what} limit has shape {x.shape}: expected one number or ({robot.nv},)")
    if np.any(x <= 0):
        raise ControlError(f"{what} limit {x.tolist()!r:.60}: expected more than zero")
    return read_only(np.array(np.broadcast_to(x, (robot.nv,))))


def _speed(value: Any, what: str) -> float:
    speed = numbers(value, what)
    if speed.ndim or speed < 0:
        raise ControlError(f"{what} = {value!r:.60}: expected zero or more, the progress ds/dt")
    return float(speed)


def _count(intervals: Any) -> int:
    if isinstance(intervals, bool) or not isinstance(intervals, int | np.integer) or intervals < 2:
        raise ControlError(f"intervals = {intervals!r:.60}: expected a whole number, 2 or more")
    return int(intervals)
