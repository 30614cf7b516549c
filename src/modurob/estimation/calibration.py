"""Kinematic calibration: the geometry of a robot from measured poses or points of one of its frames (von Stryk 3.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob import algorithms
from modurob.algorithms.base_parameters import NONE, first_independent
from modurob.algorithms.checks import beyond_limits
from modurob.errors import EstimateError, explained, warn_user
from modurob.estimation.placements import Geometry, Parameter
from modurob.motion.checks import require_robot
from modurob.robot import Mechanism
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array

ITERATIONS = 50
# a step that changes the errors less, relative to them, or the values less [m, rad], is the last
SETTLED, LEAST = 1e-9, 1e-14
# measured positions so many times further apart than those of the model, or closer, cannot be right
UNLIKE, LEAST_SPREAD = 50.0, 1e-3  # [1, m]
# configurations at random that show what could be identified
SPREAD = 50


class Accuracy(NamedTuple):
    """How far measured poses or points are from where the model has them: distances [m] and angles [rad]."""

    rms_position: float
    largest_position: float
    rms_angle: float  # zero for points
    largest_angle: float


@dataclass(frozen=True, eq=False)
class Identifiability:
    """The displacements of a robot's geometry that measurements can identify."""

    names: tuple[str, ...]  # all that were asked for
    identifiable: tuple[str, ...]  # of them a largest set that can be told apart
    dependent: Mapping[str, Mapping[str, float]]  # the others, as sums of those
    without_effect: tuple[str, ...]  # those that move nothing measured
    condition: float  # of the identifiable ones, in units of the noise

    @property
    def rank(self) -> int:
        """The number of identifiable displacements."""
        return len(self.identifiable)

    def __str__(self) -> str:
        return f"{self.rank} of {len(self.names)} parameters identifiable, condition {self.condition:.3g}"


@dataclass(frozen=True, eq=False)
class Calibration:
    """A robot whose geometry fits measurements, and how sure of it one can be."""

    robot: Mechanism  # the calibrated one
    names: tuple[str, ...]  # the identifiable displacements, all others are zero
    values: Array  # [m or rad]
    covariance: Array  # of the values
    identifiability: Identifiability
    before: Accuracy
    after: Accuracy
    chi_square: float  # sum of squared errors in units of the noise
    degrees_of_freedom: int  # readings less parameters: what chi_square is about if model and noise are right

    @property
    def deviations(self) -> Array:
        """Standard deviations of the values [m or rad]."""
        return np.sqrt(np.diag(self.covariance))

    def __str__(self) -> str:
        rows = [f"{n:>20} {x:+.3e} ± {d:.1e}" for n, x, d in zip(self.names, self.values, self.deviations, strict=True)]
        rms = f"rms {self.before.rms_position:.3e} m before, {self.after.rms_position:.3e} m after"
        return "\n".join([*rows, f"{rms}; {self.identifiability}"])


@explained
def identifiability(
    robot: Mechanism,
    frame: str,
    q: ArrayLike,
    *,
    points: bool = False,
    parameters: Iterable[str] | None = None,
    noise: ArrayLike = (1.0, 1.0),
) -> Identifiability:
    """The displacements of the geometry that poses of a frame (or `points`, its origin) at configurations q, (k, nq),
    can identify.

    `parameters` names the candidates in order of priority: "m3/hinge rx", or "m3/hinge", "base", "tool" for six each.
    Of those that depend on each other the first are kept. From poses an arm with R revolute and P prismatic joints has
    4 R + 2 P + 6.

    >>> rng = np.random.default_rng(0)
    >>> found = mr.identifiability(robot, "m3", [robot.random_configuration(rng) for _ in range(20)])
    >>> found.rank, found.dependent["base x"]
    (14, {'tool y': 1.0})
    """
    geometry, q = _geometry(robot, frame, q)
    wanted = geometry.parameters(parameters)
    J = _rows(geometry.slopes(wanted, np.zeros(len(wanted)), q), _noise(noise), points)
    return _identifiable(wanted, J)


def _identifiable(wanted: list[Parameter], J: Array) -> Identifiability:
    """From the derivatives of all readings with respect to all parameters, (readings, parameters)."""
    lengths, names = np.linalg.norm(J, axis=0), [p.name for p in wanted]
    moving = [k for k, length in enumerate(lengths) if length > NONE * lengths.max(initial=0.0)]
    kept = first_independent(J / np.where(lengths > 0, lengths, 1), moving)
    others = [k for k in moving if k not in kept]
    factors = np.linalg.lstsq(J[:, kept], J[:, others], rcond=None)[0]
    dependent = {
        names[k]: {names[i]: round(float(f), 9) for i, f in zip(kept, column, strict=True) if abs(f) > NONE}
        for k, column in zip(others, factors.T, strict=True)
    }
    still = tuple(name for k, name in enumerate(names) if k not in moving)
    condition = float(np.linalg.cond(J[:, kept] / lengths[kept])) if kept else np.nan
    return Identifiability(tuple(names), tuple(names[k] for k in kept), dependent, still, condition)


@explained
def calibration(
    robot: Mechanism,
    frame: str,
    q: ArrayLike,
    measured: ArrayLike,
    *,
    noise: ArrayLike | None = None,
    parameters: Iterable[str] | None = None,
) -> Calibration:
    """The robot whose frame fits the measured poses at configurations q, (k, nq), with the least squared error.

    `measured` are poses, (k, 4, 4), or points, (k, 3) [m]. `noise` are the standard deviations of positions [m] and
    rotations [rad]; None: the same number in m and rad, estimated from the residuals. `parameters` as in
    `identifiability`. With noise (1, 1/sqrt(2)) the cost is the sum of squares of all matrix elements of von Stryk 3.3,
    for small errors. A warning says if configurations at random would identify more parameters than q does.

    >>> rng = np.random.default_rng(0)
    >>> at = np.array([robot.random_configuration(rng) for _ in range(30)])
    >>> bent = mr.estimation.Geometry(robot, "m3").displaced(mr.estimation.Geometry(robot, "m3").parameters("tool x"), [1e-3])
    >>> found = mr.calibration(robot, "m3", at, bent.frame_pose(at, "m3"), parameters=["tool"])
    >>> found.names[0], round(float(found.values[0]), 9)
    ('tool x', 0.001)
    """
    geometry, q = _geometry(robot, frame, q)
    target, points = _measured(measured, len(q))
    _look_at_sizes(_poses(robot, q, frame), target, points, robot.name)
    sigma = _noise((1.0, 1.0) if noise is None else noise)
    wanted = geometry.parameters(parameters)
    J = _rows(geometry.slopes(wanted, np.zeros(len(wanted)), q), sigma, points)
    known = _identifiable(wanted, J)
    kept = [p for p in wanted if p.name in known.identifiable]
    if len(J) <= len(kept):
        raise EstimateError(
            f"{len(J)} readings for {len(kept)} parameters of {robot.name}: expected more measurements, or fewer parameters"
        )
    _look_at_configurations(geometry, wanted, known, sigma, points, q)
    fit = _fitted(geometry, kept, q, target, sigma, points)
    after = geometry.displaced(kept, fit.values)
    scale = 1.0 if noise is not None else fit.chi_square / (len(J) - len(kept))
    return Calibration(
        robot=after,
        names=tuple(p.name for p in kept),
        values=fit.values,
        covariance=scale * np.linalg.inv(fit.J.T @ fit.J),
        identifiability=known,
        before=accuracy(robot, frame, q, target),
        after=accuracy(after, frame, q, target),
        chi_square=fit.chi_square,
        degrees_of_freedom=len(J) - len(kept),
    )


def _look_at_sizes(X: Array, target: Array, points: bool, name: str) -> None:
    """An error for measurements in another unit, and a warning for those that are all the same: wherever base and tool are, the
    measured positions are about as far apart as the modelled ones."""
    modelled, measured = _spread(se3.position(X)), _spread(target if points else se3.position(target))
    told = f"calibration of {name}: measured positions are spread over {measured:.3g} m, those of the model over {modelled:.3g} m"
    if measured > UNLIKE * max(modelled, LEAST_SPREAD):
        raise EstimateError(f"{told}: expected measurements in metres")
    if measured * UNLIKE < modelled:
        warn_user(f"{told}: expected measurements that differ as the configurations do")


def _spread(p: Array) -> float:
    """Root mean square distance from the mean [m]."""
    return float(np.sqrt(np.mean(np.sum((p - p.mean(axis=0)) ** 2, axis=-1))))


def _look_at_configurations(
    geometry: Geometry, wanted: list[Parameter], known: Identifiability, sigma: Array, points: bool, q: Array
) -> None:
    """A warning if configurations at random would identify more than these: errors of the others then go to those that are left."""
    robot, rng = geometry.robot, np.random.default_rng(0)
    spread = np.array([robot.random_configuration(rng) for _ in range(SPREAD)])
    J = _rows(geometry.slopes(wanted, np.zeros(len(wanted)), spread), sigma, points)
    most = _identifiable(wanted, J).rank
    if known.rank < most:
        distinct = len(np.unique(q, axis=0))
        warn_user(
            f"calibration of {robot.name}: {len(q)} configurations ({distinct} distinct) identify {known.rank} of {most} "
            "parameters: errors of the others are attributed to these; expected configurations that differ in all joints",
        )


@explained
def accuracy(robot: Mechanism, frame: str, q: ArrayLike, measured: ArrayLike) -> Accuracy:
    """How far the frame was measured, (k, 4, 4) or (k, 3) [m], from where the model has it at q, (k, nq) (von Stryk 3.3).

    >>> accuracy(robot, "m3", [q], [robot.frame_pose(q, "m3")]).largest_position
    0.0
    """
    _, at = _geometry(robot, frame, q)
    target, points = _measured(measured, len(at))
    e = _errors(_poses(robot, at, frame), target, points)
    distance = np.linalg.norm(e[:, :3], axis=1)
    angle = np.zeros(len(e)) if points else np.linalg.norm(e[:, 3:], axis=1)
    sizes = [float(f) for x in (distance, angle) for f in (np.sqrt(np.mean(x**2)), x.max())]
    return Accuracy(*sizes)


def _poses(robot: Mechanism, q: Array, frame: str) -> Array:
    """Of the frame, (k, 4, 4): robots that are tried once need no compiled code."""
    return algorithms.forward_kinematics(robot, q)[frame]


class _Fit(NamedTuple):
    values: Array
    J: Array
    chi_square: float


def _fitted(geometry: Geometry, kept: list[Parameter], q: Array, target: Array, sigma: Array, points: bool) -> _Fit:
    """Gauss and Newton's steps to the least squares."""
    values, frame = np.zeros(len(kept)), geometry.frame
    for _ in range(ITERATIONS):
        X = _poses(geometry.displaced(kept, values), q, frame)
        J = _rows(geometry.slopes(kept, values, q), sigma, points)
        e = (_errors(X, target, points) / sigma[: 3 if points else 6]).ravel()
        step = np.linalg.lstsq(J, e, rcond=None)[0]
        if np.linalg.norm(J @ step) < SETTLED * np.linalg.norm(e) or np.linalg.norm(step) < LEAST:
            return _Fit(values, J, float(e @ e))
        values = values + step
    raise EstimateError(
        f"calibration of {geometry.robot.name}: no convergence in {ITERATIONS} steps: "
        "expected measurements in the world frame, near the model"
    )


def _errors(X: Array, target: Array, points: bool) -> Array:
    """Measured less modelled, in the axes of the frame, (k, 3) or (k, 6): R^T (p~ - p) and the rotation vector of R^T R~."""
    Rt = np.swapaxes(se3.rotation(X), -1, -2)
    p = target if points else se3.position(target)
    e = (Rt @ (p - se3.position(X))[..., None])[..., 0]
    return e if points else np.concatenate([e, so3.log(Rt @ se3.rotation(target))], axis=-1)


def _rows(slopes: Array, sigma: Array, points: bool) -> Array:
    """Slopes of the readings in units of their noise, (readings, parameters)."""
    rows = slopes / sigma[:, None]
    return (rows[:, :3] if points else rows).reshape(-1, slopes.shape[-1])


def _geometry(robot: Any, frame: str, q: ArrayLike) -> tuple[Geometry, Array]:
    """The geometry of a robot, and configurations, (k, nq)."""
    require_robot(robot, "calibration", EstimateError)
    at = np.asarray(q, dtype=float)
    if at.ndim != 2 or at.shape[1] != robot.nq or not np.isfinite(at).all():
        raise EstimateError(f"q has shape {at.shape}: expected finite configurations, (k, {robot.nq})")
    if " degrees are " in (words := beyond_limits(robot, at)):
        raise EstimateError(f"q: {words}: expected radians")
    return Geometry(robot, frame), at


def _measured(measured: ArrayLike, count: int) -> tuple[Array, bool]:
    """Poses or points, and whether they are points."""
    target = np.asarray(measured, dtype=float)
    if target.shape not in ((count, 4, 4), (count, 3)) or not np.isfinite(target).all():
        raise EstimateError(
            f"measured has shape {target.shape}: expected finite poses, ({count}, 4, 4), or points, ({count}, 3)"
        )
    if target.ndim == 3 and not so3.is_rotation(se3.rotation(target), 1e-6):
        raise EstimateError("measured poses with matrices that are no rotations: expected [[R, p], [0, 1]]")
    return target, target.ndim == 2


def _noise(noise: ArrayLike) -> Array:
    """Standard deviations of the six readings."""
    sigma = np.asarray(noise, dtype=float)
    if sigma.shape not in ((), (2,)) or not np.all((sigma > 0) & np.isfinite(sigma)):
        raise EstimateError(
            f"noise = {noise!r:.60}: expected a number above zero, or two: of positions [m] and rotations [rad]"
        )
    return np.repeat(np.broadcast_to(sigma, (2,)), 3)
