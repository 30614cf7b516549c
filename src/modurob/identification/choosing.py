"""Which of several robots made the data."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.base_parameters import base_parameters
from modurob.errors import EstimateError, explained
from modurob.identification.data import motion_data
from modurob.identification.fitting import fitted
from modurob.identification.identify import TERMS, _deviations, _share
from modurob.identification.model import TorqueModel
from modurob.identification.rows import Rows, equations, joined
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array


class Candidate(NamedTuple):
    """A robot that may have made the data: squared errors in units of the noise, and how probable it is among the others."""

    name: str
    chi_square: float
    probability: float


@explained
def likeliest(
    candidates: Mapping[str, Mechanism],
    data: Any,
    *,
    unknown: Sequence[str] = ("rotor", "viscous", "coulomb"),
    noise: Any = None,
    window: float = 0.05,
    slow: float = 0.02,
) -> list[Candidate]:
    """Robots ordered by how well their bodies explain the torques of a motion, the best first; all are equally probable
    a priori.

    Terms that are `unknown` are identified separately for each of them, so that only the inertias decide: for example
    those of two interpretations of a data sheet, or with and without a load. `noise` is the standard deviation of a
    torque sample by rate; None: the residual with all base parameters free. The probability of each is proportional to
    exp(-chi_square/2).

    >>> loaded = robot.with_payload("m3", mr.spatial.inertia.sphere(0.2, 0.03)).ideal()
    >>> motion = lambda t: (0.3 * np.sin(5 * t) * np.ones(3), 1.5 * np.cos(5 * t) * np.ones(3), -7.5 * np.sin(5 * t) * np.ones(3))
    >>> moved = mr.simulate(loaded, np.zeros(3), np.ones(3) * 1.5, duration=1.0, controller=mr.ComputedTorque(100, 20, motion))
    >>> found = mr.likeliest({"empty": robot.ideal(), "loaded": loaded}, moved, unknown=[], noise=0.01)
    >>> found[0].name, round(found[0].probability, 6)
    ('loaded', 1.0)
    """
    if not isinstance(candidates, Mapping) or len(candidates) < 2:
        raise EstimateError(f"candidates {candidates!r:.60}: expected two robots or more, by name")
    sets = motion_data(data)
    first = next(iter(candidates.values()))
    sigma = _noise(first, sets, window, slow) if noise is None else _deviations(noise, first.nv)
    errors = {
        name: _chi_square(robot, joined(_rows(robot, unknown, sets, window, slow)), sigma, unknown)
        for name, robot in candidates.items()
    }
    least = min(errors.values())
    weights = {name: np.exp(-(x - least) / 2) for name, x in errors.items()}
    total = sum(weights.values())
    found = [Candidate(name, x, float(weights[name] / total)) for name, x in errors.items()]
    return sorted(found, key=lambda c: c.chi_square)


def _rows(robot: Mechanism, unknown: Sequence[str], sets: list[Any], window: float, slow: float) -> list[Rows]:
    model = TorqueModel(robot, ("inertia", *unknown))
    return [equations(model, one, window, _share(slow)) for one in sets]


def _noise(robot: Mechanism, sets: list[Any], window: float, slow: float) -> Array:
    """What is left when all is free."""
    rows = joined([equations(TorqueModel(robot, TERMS), one, window, slow) for one in sets])
    return fitted(rows, base_parameters(robot, TERMS).kept, "weighted", None).sigma


def _chi_square(robot: Mechanism, rows: Rows, sigma: Array, unknown: Sequence[str]) -> float:
    """Of the best fit of what is unknown, with the robot's own bodies."""
    pi = robot.inertial_parameters()
    W, y = rows.weighted(sigma)
    y = y - W[:, : len(pi)] @ pi
    rest = W[:, len(pi) :]
    if rest.shape[1]:
        y = y - rest @ np.linalg.lstsq(rest, y, rcond=None)[0]
    return float(y @ y)
