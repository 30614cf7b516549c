"""Equations W pi = y from samples of a motion: without the forces of loops, without joints at rest, averaged over short times."""

from typing import NamedTuple

import numpy as np

from modurob.algorithms import independent_coordinates
from modurob.algorithms.steps import apply, transposed
from modurob.identification.data import MotionData, Samples
from modurob.identification.model import TorqueModel
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array


class Rows(NamedTuple):
    """W pi = y + noise, (k, parameters) and (k,); the rate that each row belongs to, and the number of samples in it."""

    W: Array
    y: Array
    rate: Array
    samples: Array

    def weighted(self, sigma: Array) -> tuple[Array, Array]:
        """W and y in units of their noise, which is sigma by rate for one sample."""
        w = np.sqrt(self.samples) / sigma[self.rate]
        return self.W * w[:, None], self.y * w


def joined(parts: list[Rows]) -> Rows:
    """The equations of several data sets."""
    return Rows(*(np.concatenate(x) for x in zip(*parts, strict=True)))


def equations(model: TorqueModel, data: MotionData, window: float, slow: float) -> Rows:
    """The equations of a data set.

    Each is the mean over `window` [s]: both sides are linear, so only noise is lost, and white noise remains white.
    With dry friction, samples slower than `slow` times the fastest are excluded: a joint at rest gives no information
    about it.
    """
    return _equations(model, data.samples(model.robot), data.step, window, slow)


def instrument_rows(model: TorqueModel, data: MotionData, motion: Samples, window: float, slow: float) -> Rows:
    """The equations along another motion, by the samples that count in the data."""
    s = data.samples(model.robot)
    return _equations(model, motion, data.step, window, slow, np.array(moving(model, s, slow)))


def _equations(
    model: TorqueModel, s: Samples, step: float, window: float, slow: float, used: Array | None = None
) -> Rows:
    Y, y = model.rows(s)
    used = moving(model, s, slow) if used is None else used
    if model.robot.constraints:
        Y, y, used = _without_loops(model.robot, s, Y, y, used)
    block = max(1, round(window / step))
    return averaged(Y, y, used, block)


def moving(model: TorqueModel, s: Samples, slow: float) -> Array:
    """Whether a sample counts for a rate, (k, nv)."""
    if "coulomb" not in model.terms and model.stribeck is None and not model.dry:
        return np.ones(s.v.shape, dtype=bool)
    speed = np.abs(s.v)
    quiet = np.setdiff1d(np.arange(model.robot.nv), model.rates)
    counts = speed > slow * speed.max(axis=0)
    counts[:, quiet] = True
    return counts


def _without_loops(robot: Mechanism, s: Samples, Y: Array, y: Array, used: Array) -> tuple[Array, Array, Array]:
    """G^T of both sides, with v = G of independent rates: forces of loops do no work along them."""
    free = independent_coordinates(robot, s.q, s.v)
    Gt = transposed(free.G)
    whole = np.repeat(np.all(used, axis=1, keepdims=True), Gt.shape[-2], axis=1)
    return Gt @ Y, apply(Gt, y), whole


def averaged(Y: Array, y: Array, used: Array, block: int) -> Rows:
    """Means over blocks of samples, of those that count; blocks of fewer than half do not."""
    k = len(y) // block * block
    weight = used[:k].reshape(-1, block, y.shape[1]).astype(float)
    count = weight.sum(axis=1)
    least = np.maximum(count, 1)
    W = np.einsum("kbn,kbnp->knp", weight, Y[:k].reshape(-1, block, *Y.shape[1:])) / least[..., None]
    mean = (weight * y[:k].reshape(-1, block, y.shape[1])).sum(axis=1) / least
    full = count > block / 2
    rate = np.broadcast_to(np.arange(y.shape[1]), full.shape)
    return Rows(W[full], mean[full], rate[full], count[full])
