"""How much slower a motion has to be for the drives to keep their torques."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from modurob.errors import ControlError
from modurob.motion.fastest.limits import Along, Limits, Model
from modurob.motion.piecewise import Piecewise
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array

# samples of a piece in which torques are looked at, and how many times the largest is looked for between them
SAMPLES, ROUNDS = 64, 6
# factors that are tried, and how near the found one is to the least
FACTORS = np.geomspace(1.0, 1e4, 201)
CLOSE = 1e-10
PASSED = 1e-7


def slowing(robot: Mechanism, motion: Piecewise, torque: Array) -> float:
    """The least factor, one or more, by which all times grow so that |tau| <= torque, (nv,): tau = A / f² + f_own(v / f) + N(q)."""
    none = np.full(robot.nv, np.inf)
    model, t = Model(robot, Limits(none, none, torque)), _times(motion)
    factor = _least(model, motion, t)
    for _ in range(ROUNDS):
        peak = _peak(model, motion, t, factor)
        if _used(model, motion, np.array([peak]), factor)[0] <= 1 + PASSED:
            break
        t = np.append(t, peak)
        factor = _least(model, motion, t)
    return factor


def _times(motion: Piecewise) -> Array:
    """Both sides of every break, where accelerations may jump, and samples between."""
    ends = zip(motion.breaks[:-1], motion.breaks[1:], strict=True)
    return np.concatenate([np.linspace(a, np.nextafter(b, a), SAMPLES) for a, b in ends])


def _used(model: Model, motion: Piecewise, t: Array, factors: ArrayLike) -> Array:
    """The largest torque over its limit at these times of the motion, slowed down by each factor, factors.shape + (n,)."""
    y = np.repeat(1 / np.asarray(factors)[..., None], len(t), axis=-1)
    q, v, vdot = (np.broadcast_to(x, (*y.shape, x.shape[-1])) for x in motion(t))
    return model.usage(Along(q, v, vdot, np.sign(v)), y, np.zeros(y.shape))


def _least(model: Model, motion: Piecewise, t: Array) -> float:
    """The first factor that keeps the limits at these times, by trying, then by halving."""
    kept = _used(model, motion, t, FACTORS).max(axis=-1) <= 1
    if not kept.any():
        raise ControlError(_words(model, motion, t))
    high = int(np.argmax(kept))
    if high == 0:
        return 1.0
    low, found = FACTORS[high - 1], FACTORS[high]
    while found - low > CLOSE * found:
        middle = (low + found) / 2
        low, found = (low, middle) if _used(model, motion, t, middle).max() <= 1 else (middle, found)
    return float(found)


def _peak(model: Model, motion: Piecewise, t: Array, factor: float) -> float:
    """The time of the largest torque near that of the largest sample."""
    t = np.sort(t)
    k = int(np.argmax(_used(model, motion, t, factor)))
    around = t[max(k - 1, 0)], t[min(k + 1, len(t) - 1)]
    used = lambda x: -float(_used(model, motion, np.array([x]), factor)[0])  # noqa: E731
    return float(minimize_scalar(used, bounds=around, method="bounded", options={"xatol": 1e-12}).x)  # type: ignore[attr-defined]


def _words(model: Model, motion: Piecewise, t: Array) -> str:
    """The points at which the robot cannot even hold itself at rest."""
    k = int(np.argmax(_used(model, motion, t, FACTORS[-1])))
    tau = np.abs(model.robot.gravity_forces(motion(t[k]).position))
    return (
        f"no slower motion keeps the torques at t = {t[k]:.4g} s: at rest {model.most_loaded(tau)}: expected higher limits, or "
        "another path"
    )
