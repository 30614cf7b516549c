"""From recordings of a motion to the robot that made it: masses, rotors and friction, and how sure of them one can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import least_squares
from scipy.stats import chi2

from modurob import tabular
from modurob.algorithms.base_parameters import BaseParameters, base_parameters, independent_columns
from modurob.caching import cached_property
from modurob.errors import EstimateError, choices, explained
from modurob.identification.consistency import Problem, consistent
from modurob.identification.data import MotionData, Samples, motion_data
from modurob.identification.fitting import Fit, fitted
from modurob.identification.model import TorqueModel
from modurob.identification.rows import Rows, equations, instrument_rows, joined
from modurob.motion.checks import require_robot
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array

TERMS = ("inertia", "rotor", "viscous", "coulomb")
# equations with columns of length one are no use beyond this condition number
WORST = 1e8
# of a difference by the logarithm of a velocity
STEP = 1e-3
HEAD = ("parameter", "value", "±", "believed", "off/±")


class Accuracy(NamedTuple):
    """How well torques are predicted: root mean squares by rate, (nv,) [N m or N]."""

    rms: Array  # of measured less predicted
    torque: Array  # of what was measured

    @property
    def relative(self) -> float:
        """Of all rates together."""
        return float(np.linalg.norm(self.rms) / max(np.linalg.norm(self.torque), 1e-300))


@dataclass(frozen=True, eq=False)
class Identification:
    """Base parameters beta = K pi of a robot with their covariance, and the robot that has them."""

    model: TorqueModel
    base: BaseParameters
    fit: Fit
    method: str
    known: tuple[int, ...] = ()  # parameters that were not asked for
    speed_deviations: Array | None = (
        None  # of Stribeck's velocities, `model.stribeck`, where they were found too [rad/s or m/s]
    )

    @property
    def names(self) -> tuple[str, ...]:
        """Of the base parameters: sums of parameters of bodies, rotors and friction."""
        return self.base.sums

    @property
    def values(self) -> Array:
        """The base parameters, (rank,) [kg, kg m, kg m², N m s/rad, N m]."""
        return self.fit.beta

    @property
    def covariance(self) -> Array:
        """Of the base parameters, (rank, rank)."""
        return self.fit.covariance

    @property
    def deviations(self) -> Array:
        """Standard deviations of the base parameters, (rank,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def noise(self) -> Array:
        """Standard deviation of one sample of torque, by rate, (nv,) [N m or N]: given, or found."""
        return self.fit.sigma

    @property
    def condition(self) -> float:
        """Of the equations with columns of length one: errors grow by at most as much."""
        return self.fit.condition

    @cached_property
    def parameters(self) -> Array:
        """pi: the likeliest parameters that bodies, rotors and friction can have, next to those of the model, (parameters,)."""
        return consistent(self._problem)

    @property
    def _problem(self) -> Problem:
        bodies = len(self.model.robot.joints) if "inertia" in self.model.terms else 0
        free = np.array([k for k, name in enumerate(self.base.names) if name.endswith(" offset")], dtype=int)
        return Problem(
            self.base.K,
            self.values,
            self.covariance,
            self.model.values(),
            bodies,
            free,
            np.array(self.known, dtype=int),
        )

    @cached_property
    def robot(self) -> Mechanism:
        """The robot as identified: bodies with physically consistent inertias, rotors, friction; everything else as in
        the model.
        """
        return self.model.with_values(self.parameters)

    def distance(self, robot: Mechanism) -> float:
        """(beta - beta of another robot)^T covariance^-1 (...): about as large as there are base parameters if that robot made the
        data (chi-square)."""
        beta = self.base.K @ TorqueModel(robot, self.model.terms, self.model.stribeck).values()
        e = self.values - beta
        return float(e @ np.linalg.solve(self.covariance, e))

    def probability(self, robot: Mechanism) -> float:
        """How often data of another robot would be at least so far from it, by chance: small if it is not the one that moved."""
        return float(chi2.sf(self.distance(robot), self.base.rank))

    def validate(self, data: Any, window: float = 0.0, slow: float = 0.01) -> Accuracy:
        """How well torques of another motion are predicted by the base parameters; means over `window` [s]."""
        return _accuracy(self.model, self.base, self.values, data, window, slow)

    def table(self) -> list[tuple[str, ...]]:
        """Rows of name, value, deviation, the model's value, and how many deviations it is off."""
        believed, sd = self.base.K @ self.model.values(), self.deviations
        return [
            (name, f"{x:.5g}", f"{d:.1g}", f"{b:.5g}", f"{abs(x - b) / d:.1f}")
            for name, x, d, b in zip(self.names, self.values, sd, believed, strict=True)
        ]

    def __str__(self) -> str:
        rows = self.table()
        width = max(len(HEAD[0]), *(len(row[0]) for row in rows))
        lines = [f"{row[0]:<{width}} {row[1]:>10} {row[2]:>8} {row[3]:>10} {row[4]:>7}" for row in (HEAD, *rows)]
        worth = f"chi-square {self.fit.chi_square:.4g} of {self.fit.degrees} equations, condition {self.condition:.3g}"
        return "\n".join([*lines, f"{self.base.rank} base parameters by {self.method} least squares; {worth}"])

    def _repr_html_(self) -> str:
        return tabular.html(f"{self.model.robot.name}: {self.base.rank} base parameters", HEAD, self.table())

    def plot(self, data: Any, path: str | Path | None = None) -> Any:
        """Measured and predicted torques of a motion, and what is left between them; written to `path` where one is given."""
        from modurob.identification.plots import plot_torques

        return plot_torques(self, motion_data(data)[0], path)

    def predicted(self, data: Any) -> tuple[Samples, Array]:
        """The samples of one data set, and the torques of the motors that the base parameters predict for them, (k, nv)."""
        s = motion_data(data)[0].samples(self.model.robot)
        Y, explained_by_model = self.model.rows(s)
        return s, Y[..., self.base.kept] @ self.values - (explained_by_model - s.tau)


@explained
def identify(
    robot: Mechanism,
    data: Any,
    *,
    terms: Sequence[str] = TERMS,
    method: str = "weighted",
    noise: ArrayLike | None = None,
    stribeck: ArrayLike | bool = False,
    parameters: Sequence[str] | None = None,
    instruments: Any = None,
    window: float = 0.05,
    slow: float = 0.02,
) -> Identification:
    """The base parameters of a robot from recordings of its motion, and the robot that has them.

    `robot` provides the geometry, and the values that are used where the data do not determine a parameter. `data` are
    a recording, a segment of one, `MotionData`, or several. `terms` are the unknowns: "inertia", "rotor", "viscous",
    "coulomb", "offset"; `parameters` restricts them by the beginnings of their names ("link6", "joint2 viscous"),
    everything else is as in the robot. `method` is "ordinary", "weighted" or "instrumental" (Janot, Vandanjon, Gautier
    2014), with `instruments` the commanded motion, t -> (q, v, vdot), or another recording of the same motion: this is
    unbiased even with coarse encoders and closed loops. `noise` is the standard deviation of a torque sample by rate;
    None: the residual. `stribeck` are velocities of Stribeck friction; True: they are identified too. Equations are
    averaged over `window` [s]; with dry friction, joints slower than `slow` times their top speed are excluded.

    >>> wave = mr.exciting_trajectory(robot, duration=4.0, velocity=2.0, acceleration=8.0, trials=20)
    >>> moved = mr.simulate(robot.ideal(), wave(0.0).position, duration=4.0, controller=mr.ComputedTorque(100, 20, wave))
    >>> found = mr.identify(robot, moved, terms=["inertia"])
    >>> found.base.rank, bool(np.abs(found.values - found.base.K @ robot.inertial_parameters()).max() < 1e-4)
    (9, True)
    """
    require_robot(robot, "identification", EstimateError)
    sets, times = motion_data(data), (_positive(window, "window"), _share(slow))
    sigma = None if noise is None else _deviations(noise, robot.nv)
    speeds = _speeds(robot, terms, stribeck)
    model = TorqueModel(robot, tuple(terms), speeds)
    if stribeck is True:
        model = _with_speeds(model, sets, times, sigma)
    rows = joined([equations(model, one, *times) for one in sets])
    base, known = _base(model), ()
    if parameters is not None:
        base, rows, known = _restricted(model, base, rows, parameters)
    Z = None if instruments is None else _instruments(model, sets, instruments, times)
    _require_excited(base, rows)
    fit = fitted(rows, base.kept, method, sigma, Z if method == "instrumental" else None)
    if stribeck is not True:
        return Identification(model, base, fit, method, known)
    by_speed = _speed_slopes(model, base, fit.beta, sets, times)
    fit, deviations = _with_uncertain_speeds(fit, by_speed, rows, base, method, sigma, Z)
    return Identification(model, base, fit, method, known, model.stribeck * deviations)


def _base(model: TorqueModel) -> BaseParameters:
    """By rank in random states; with Stribeck's friction, whose columns are independent of all others."""
    plain = base_parameters(model.robot, model.terms)
    more = len(model.names) - len(plain.names)
    if not more:
        return plain
    K = np.zeros((plain.rank + more, len(model.names)))
    K[: plain.rank, : len(plain.names)], K[plain.rank :, len(plain.names) :] = plain.K, np.eye(more)
    return BaseParameters(model.names, (*plain.kept, *range(len(plain.names), len(model.names))), K)


def _restricted(
    model: TorqueModel, base: BaseParameters, rows: Rows, parameters: Sequence[str]
) -> tuple[BaseParameters, Rows, tuple[int, ...]]:
    """Only parameters whose names begin so are unknown; torques of the others are taken off."""
    given = [parameters] if isinstance(parameters, str) else list(parameters)
    for start in given:
        if not any(name == start or name.startswith(f"{start} ") for name in model.names):
            known = sorted({*model.names, *(name.rsplit(" ", 1)[0] for name in model.names)})
            raise EstimateError(f"no parameter {start!r:.60} of {model.robot.name}: {choices(str(start), known)}")
    wanted = np.array([any(n == s or n.startswith(f"{s} ") for s in given) for n in model.names])
    pi = model.values()
    left = rows._replace(y=rows.y - rows.W[:, ~wanted] @ pi[~wanted])
    # the same combinations, without those that are known
    kept, K = independent_columns(base.K[:, wanted])
    places = np.flatnonzero(wanted)
    whole = np.zeros((len(kept), len(model.names)))
    whole[:, places] = K
    own = BaseParameters(model.names, tuple(int(places[k]) for k in kept), whole)
    return own, left, tuple(np.flatnonzero(~wanted).tolist())


def _instruments(model: TorqueModel, sets: list[MotionData], given: Any, times: tuple[float, float]) -> Rows:
    """The equations along motions whose errors are independent of the data's."""
    if callable(given):
        each: list[Samples] = [_along(given, one.samples(model.robot)) for one in sets]
    else:
        others = motion_data(given)
        if [len(x.t) for x in others] != [len(x.t) for x in sets]:
            raise EstimateError(
                "instruments of another length than the data: expected the same motion, recorded once more"
            )
        each = [one.samples(model.robot) for one in others]
    return joined([instrument_rows(model, one, s, *times) for one, s in zip(sets, each, strict=True)])


def _along(reference: Any, s: Samples) -> Samples:
    """The samples of a reference at the same times."""
    points = [reference(float(t)) for t in s.t]
    q, v, vdot = (np.array([p[k] for p in points]) for k in range(3))
    return Samples(s.t, q, v, vdot, s.tau)


def _with_speeds(
    model: TorqueModel, sets: list[MotionData], times: tuple[float, float], sigma: Array | None
) -> TorqueModel:
    """Stribeck velocities by least squares of the residual, with all other parameters eliminated (variable projection)."""
    assert model.stribeck is not None
    plain = joined([equations(TorqueModel(model.robot, model.terms), one, *times) for one in sets])
    weights = fitted(plain, base_parameters(model.robot, model.terms).kept, "weighted", sigma).sigma

    def left(logs: Array) -> Array:
        tried = TorqueModel(model.robot, model.terms, np.exp(logs))
        rows = joined([equations(tried, one, *times) for one in sets])
        W, y = rows.weighted(weights)
        W = W[:, _base(tried).kept]
        return y - W @ np.linalg.lstsq(W, y, rcond=None)[0]

    found = least_squares(left, np.log(model.stribeck), diff_step=1e-2, max_nfev=20, xtol=1e-4)
    return TorqueModel(model.robot, model.terms, np.exp(found.x))


def _speed_slopes(model: TorqueModel, base: BaseParameters, beta: Array, sets: list[MotionData], times: Any) -> Array:
    """How the torques of the base parameters change with the logarithms of Stribeck's velocities, (equations, velocities)."""
    assert model.stribeck is not None

    def torques(logs: Array) -> Array:
        tried = TorqueModel(model.robot, model.terms, model.stribeck * np.exp(logs))
        return joined([equations(tried, one, *times) for one in sets]).W[:, base.kept] @ beta

    steps = STEP * np.eye(len(model.stribeck))
    return np.stack([(torques(d) - torques(-d)) / (2 * STEP) for d in steps], axis=-1)


def _with_uncertain_speeds(
    fit: Fit, slopes: Array, rows: Rows, base: BaseParameters, method: str, sigma: Array | None, Z: Rows | None
) -> tuple[Fit, Array]:
    """The fit with the covariance that it has where velocities are found too, linear about them; and the deviations of their
    logarithms."""
    count, known = base.rank, rows.W.shape[1]
    kept = (*base.kept, *range(known, known + slopes.shape[1]))
    wide = rows._replace(W=np.hstack([rows.W, slopes]))
    Z = None if Z is None else Z._replace(W=np.hstack([Z.W, slopes]))
    found = fitted(wide, kept, method, sigma, Z if method == "instrumental" else None)
    whole = fit._replace(covariance=found.covariance[:count, :count], degrees=found.degrees)
    return whole, np.sqrt(np.diag(found.covariance)[count:])


def _speeds(robot: Mechanism, terms: Sequence[str], stribeck: Any) -> Array | None:
    if stribeck is False or stribeck is None:
        return None
    count = len(TorqueModel(robot, tuple(terms)).rates)
    x = np.asarray(0.1 if stribeck is True else stribeck, dtype=float)
    if x.shape not in ((), (count,)) or not np.all((x > 0) & np.isfinite(x)):
        raise EstimateError(f"stribeck = {stribeck!r:.60}: expected True, a velocity above zero, or {count} of them")
    return np.broadcast_to(x, (count,))


def _require_excited(base: BaseParameters, rows: Rows) -> None:
    """An error that names the parameters that the motion does not determine."""
    W = rows.W[:, base.kept]
    lengths = np.linalg.norm(W, axis=0)
    still = [name for name, x in zip(base.sums, lengths, strict=True) if x <= 1e-12 * lengths.max(initial=0.0)]
    if not still and len(W) > base.rank:
        _, sizes, Vt = np.linalg.svd(W / lengths, full_matrices=False)
        if sizes[0] <= WORST * sizes[-1]:
            return
        still = [base.sums[k] for k in np.argsort(-np.abs(Vt[-1]))[:3]]
    if still:
        raise EstimateError(
            f"the motion does not tell {'; '.join(still[:3])}: expected one that excites all, such as mr.exciting_trajectory, or "
            "fewer terms or parameters"
        )


def _accuracy(model: TorqueModel, base: BaseParameters, beta: Array, data: Any, window: float, slow: float) -> Accuracy:
    rows = joined([equations(model, one, window or one.step, slow) for one in motion_data(data)])
    e, n = rows.y - rows.W[:, base.kept] @ beta, int(rows.rate.max()) + 1
    count = np.maximum(np.bincount(rows.rate, minlength=n), 1)
    return Accuracy(*(np.sqrt(np.bincount(rows.rate, weights=x**2, minlength=n) / count) for x in (e, rows.y)))


def prediction(robot: Mechanism, data: Any, window: float = 0.0, slow: float = 0.01) -> Accuracy:
    """How well a robot predicts the torques of a motion, as `Identification.validate` does of what was found.

    >>> bool(mr.identification.prediction(robot.ideal(), mr.simulate(robot.ideal(), q, duration=0.1)).rms.max() < 1e-3)
    True
    """
    model = TorqueModel(robot, TERMS)
    base = base_parameters(robot, TERMS)
    return _accuracy(model, base, base.K @ model.values(), data, window, slow)


def _deviations(noise: ArrayLike, n: int) -> Array:
    x = np.asarray(noise, dtype=float)
    if x.shape not in ((), (n,)) or not np.all((x > 0) & np.isfinite(x)):
        raise EstimateError(f"noise = {noise!r:.60}: expected a finite deviation above zero, or {n} of them")
    return np.broadcast_to(x, (n,))


def _positive(x: Any, what: str) -> float:
    if isinstance(x, bool) or not isinstance(x, int | float | np.number) or not 0 < x < np.inf:
        raise EstimateError(f"{what} = {x!r:.60}: expected a time above zero [s]")
    return float(x)


def _share(x: Any) -> float:
    if isinstance(x, bool) or not isinstance(x, int | float | np.number) or not 0 <= x < 1:
        raise EstimateError(f"slow = {x!r:.60}: expected a share, from 0 to less than 1")
    return float(x)
