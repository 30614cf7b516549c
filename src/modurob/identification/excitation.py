"""Motions that identify all base parameters of a robot: Fourier series within its limits (Swevers et al. 1997)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.algorithms.base_parameters import base_parameters
from modurob.errors import EstimateError, choices, explained
from modurob.identification.data import Samples
from modurob.identification.identify import TERMS
from modurob.identification.model import TorqueModel
from modurob.mechanism.driven import rigid
from modurob.motion.checks import require_robot
from modurob.motion.piecewise import Point
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array
from modurob.values import Value, same

AIMS = ("determinant", "condition")
# points of a period at which limits are kept, and at which torques are looked at
FINE, COARSE = 400, 60
# of each limit so much is used: a little is left for errors of tracking, and between the points
SHARE = 0.95
# half the way of a joint without limits [rad or m]
WAY = np.pi / 2
# what a torque beyond its limit costs, for each time the limit
COST = 1e3


@dataclass(frozen=True, eq=False)
class ExcitingTrajectory(Value):
    """q(t) = centre + sum over l of (a_l sin(l w t) + b_l (1 - cos(l w t)))/(l w), w = 2 pi/period.

    Called with t it is position, velocity and acceleration, a reference for any controller. At the start of each period it is at
    rest, without acceleration.

    >>> wave = mr.exciting_trajectory(robot, duration=4.0, velocity=2.0, acceleration=8.0, trials=5)
    >>> wave(0.0).velocity.round(9) + 0.0, wave(np.linspace(0, 4, 50)).position.shape
    (array([0., 0., 0.]), (50, 3))
    """

    centre: Array  # (nv,) [rad or m]
    a: Array  # (harmonics, nv) [rad/s or m/s]
    b: Array  # (harmonics, nv) [rad/s or m/s]
    period: float  # [s]
    condition: float = np.nan  # of the equations of one period, columns of length one
    effort: float = np.nan  # the largest share of a joint's effort that the believed robot needs

    @property
    def duration(self) -> float:
        """One period [s]; the motion continues after it.

        >>> mr.exciting_trajectory(robot, duration=4.0, velocity=2.0, acceleration=8.0, trials=5).duration
        4.0
        """
        return self.period

    def __call__(self, t: ArrayLike) -> Point:
        """Position, velocity and acceleration at time t [s], of shape t.shape + (nv,) each."""
        l = 2 * np.pi / self.period * np.arange(1, len(self.a) + 1)
        phase = np.asarray(t, dtype=float)[..., None] * l
        s, c = np.sin(phase), np.cos(phase)
        q = self.centre + s / l @ self.a + (1 - c) / l @ self.b
        return Point(q, c @ self.a + s @ self.b, -(s * l) @ self.a + (c * l) @ self.b)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExcitingTrajectory) and same(self._own, other._own)

    def __hash__(self) -> int:
        return hash((self.a.shape, self.period))

    @property
    def _own(self) -> tuple[Any, ...]:
        return self.centre, self.a, self.b, self.period


class _Limits(NamedTuple):
    """Of each rate, (nv,) each."""

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array


@explained
def exciting_trajectory(
    robot: Mechanism,
    *,
    duration: float = 10.0,
    harmonics: int = 5,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    terms: tuple[str, ...] = TERMS,
    aim: str = "determinant",
    trials: int = 300,
    allowed: Callable[[Array], Any] | None = None,
    seed: int = 0,
) -> ExcitingTrajectory:
    """A periodic motion of `duration` [s] within limits of coordinates, velocities and accelerations, which best
    identifies the base parameters of `terms`.

    The `aim` is the largest "determinant" of W^T W (independent of units), or the smallest "condition" number of W,
    found in `trials` random steps. Velocities are by default those of the robot [rad/s or m/s], accelerations those
    that reach them in a quarter of a second [rad/s² or m/s²]. Torques of the given robot stay within its efforts.
    `allowed(q)`, (k, nq) -> (k,) booleans, excludes configurations, for example collisions.

    >>> wave = mr.exciting_trajectory(robot, duration=4.0, velocity=2.0, acceleration=8.0, trials=20)
    >>> t = np.linspace(0, 4, 1000)
    >>> bool(np.abs(wave(t).velocity).max() <= 2.0), bool(np.abs(wave(t).acceleration).max() <= 8.0)
    (True, True)
    """
    require_robot(robot, "an exciting trajectory", EstimateError)
    if robot.nq != robot.nv or robot.constraints:
        raise EstimateError(
            f"{robot.name} has quaternions or loops: expected a tree of joints with coordinates; hold the others with robot.locked"
        )
    if aim not in AIMS:
        raise EstimateError(f"aim {aim!r:.60}: {choices(str(aim), AIMS)}")
    _require_counts(harmonics, trials, duration)
    limits = _limits(robot, velocity, acceleration)
    search = _Search(TorqueModel(robot, tuple(terms)), limits, float(duration), aim, allowed)
    return search.best(harmonics, trials, np.random.default_rng(seed))


class _Search:
    """Series of random coefficients, scaled to the limits; better ones are kept and varied."""

    def __init__(self, model: TorqueModel, limits: _Limits, period: float, aim: str, allowed: Any):
        self.model, self.limits, self.period, self.aim, self.allowed = model, limits, period, aim, allowed
        self.base = base_parameters(model.robot, model.terms)
        self.pi = model.values()
        effort = rigid(model.robot).effort_limit
        self.effort = np.where(effort > 0, effort, np.inf)

    def best(self, harmonics: int, trials: int, rng: np.random.Generator) -> ExcitingTrajectory:
        n = self.model.robot.nv
        best, cost, size = None, np.inf, 1.0
        seed = rng.normal(size=(2 * harmonics + 1, n))
        for k in range(trials):
            # a third of the trials are new, then the best one is varied, by less and less
            tried = (
                rng.normal(size=seed.shape)
                if 3 * k < trials or best is None
                else seed + size * rng.normal(size=seed.shape)
            )
            made = self.within_limits(tried)
            found = self.cost(made)
            size = min(1.0, size * 1.5) if found < cost else max(0.02, size * 0.95)
            if found < cost:
                seed, best, cost = tried, made, found
        if best is None:
            raise EstimateError(f"no motion of {self.model.robot.name} is allowed: expected more room, or more trials")
        return self._judged(best)

    def within_limits(self, coefficients: Array) -> ExcitingTrajectory:
        """The series as large as limits allow, its centre where the last row says within the room that is left."""
        h = len(coefficients) // 2
        l = np.arange(1, h + 1)[:, None]
        a = coefficients[:h] - coefficients[:h].mean(axis=0)
        b = coefficients[h : 2 * h] - l * (l * coefficients[h : 2 * h]).sum(axis=0) / (l**2).sum()
        unit = ExcitingTrajectory(np.zeros(a.shape[1]), a, b, self.period)(np.linspace(0, self.period, FINE))
        low, high = unit.position.min(axis=0), unit.position.max(axis=0)
        lower, upper, velocity, acceleration = self.limits
        sizes = [(upper - lower) / (high - low)]
        sizes += [velocity / np.abs(unit.velocity).max(axis=0), acceleration / np.abs(unit.acceleration).max(axis=0)]
        scale = SHARE * np.min(sizes, axis=0)
        first, last = lower - scale * low, upper - scale * high
        place = (1 + np.tanh(coefficients[-1])) / 2
        return ExcitingTrajectory(first + place * (last - first), scale * a, scale * b, self.period)

    def equations(self, wave: ExcitingTrajectory) -> tuple[Array, Array, Array]:
        """W of the base parameters, (k nv, rank), in units of efforts; the torques' shares of them; the configurations."""
        q, v, vdot = wave(self.period * (np.arange(COARSE) + 0.5) / COARSE)
        Y, known = self.model.rows(Samples(np.zeros(COARSE), q, v, vdot, np.zeros_like(v)))
        share = np.abs(Y @ self.pi - known) / self.effort
        unit = np.where(np.isfinite(self.effort), self.effort, 1.0)
        W = Y[..., self.base.kept] / unit[:, None]
        return W.reshape(-1, self.base.rank), share, q

    def cost(self, wave: ExcitingTrajectory) -> float:
        W, share, q = self.equations(wave)
        if self.allowed is not None and not np.all(self.allowed(q)):
            return np.inf
        size = np.linalg.norm(W, axis=0)
        if not size.all():
            return np.inf
        over = COST * max(share.max() - SHARE, 0.0)
        if self.aim == "condition":
            return float(np.log(np.linalg.cond(W / size))) + over
        unit = W / size
        return -float(np.linalg.slogdet(unit.T @ unit)[1] + 2 * np.log(size).sum()) + over

    def _judged(self, wave: ExcitingTrajectory) -> ExcitingTrajectory:
        W, share, _ = self.equations(wave)
        if share.max() > 1:
            raise EstimateError(
                f"the best motion of {self.model.robot.name} needs {share.max():.2g} times its effort: expected smaller velocities "
                "and accelerations, or stronger drives"
            )
        condition = float(np.linalg.cond(W / np.linalg.norm(W, axis=0)))
        return ExcitingTrajectory(wave.centre, wave.a, wave.b, wave.period, condition, float(share.max()))


def _limits(robot: Mechanism, velocity: Any, acceleration: Any) -> _Limits:
    own = np.concatenate([np.zeros(0), *(j.velocity_limit for j in robot.joints if not j.mimics)])
    v = np.minimum(own, np.inf if velocity is None else _above_zero(velocity, robot.nv, "velocity"))
    if not np.all(np.isfinite(v)):
        raise EstimateError(f"joints of {robot.name} have no velocity limit: expected velocity=... [rad/s or m/s]")
    a = 4.0 * v if acceleration is None else _above_zero(acceleration, robot.nv, "acceleration")
    lower, upper = robot.limits
    low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2 * WAY, -WAY))
    high = np.where(np.isfinite(upper), upper, low + 2 * WAY)
    middle, half = (low + high) / 2, SHARE * (high - low) / 2
    return _Limits(middle - half, middle + half, v, a)


def _above_zero(x: Any, n: int, what: str) -> Array:
    x = np.asarray(x, dtype=float)
    if x.shape not in ((), (n,)) or not np.all((x > 0) & np.isfinite(x)):
        raise EstimateError(f"{what} = {x.tolist()!r:.60}: expected a finite number above zero, or {n} of them")
    return np.broadcast_to(x, (n,))


def _require_counts(harmonics: Any, trials: Any, duration: Any) -> None:
    for name, x, least in (("harmonics", harmonics, 2), ("trials", trials, 1)):
        if isinstance(x, bool) or not isinstance(x, int | np.integer) or x < least:
            raise EstimateError(f"{name} = {x!r:.60}: expected a whole number, at least {least}")
    if isinstance(duration, bool) or not isinstance(duration, int | float | np.number) or not 0 < duration < np.inf:
        raise EstimateError(f"duration = {duration!r:.60}: expected a time above zero [s]")
