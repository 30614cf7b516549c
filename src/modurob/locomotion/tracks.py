"""Wheels and tracks that slide as they turn (von Stryk 4.5.7)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from modurob.errors import InputError, explained
from modurob.locomotion.numbers import numbers, one_positive
from modurob.locomotion.wheels import WheeledBase
from modurob.spatial.scalars import Array

# wheels stick below these speeds [m/s], one after the other; steps at each, and the change of power that ends them, by the friction
SOFTNESS, STEPS, SETTLED = 10.0 ** -np.arange(9), 100, 1e-15
# forces that are balanced, by the friction; a twist beyond this one runs away
BALANCED, FASTEST = 1e-5, 1e6


@explained
def turning_resistance(friction: float, weight: float, length: float) -> float:
    """The moment friction W l / 4 [N m] against turning on the spot, of tracks of contact length l under an even weight W [N].

    >>> mr.locomotion.turning_resistance(friction=0.6, weight=500.0, length=0.8)
    60.0
    """
    return one_positive(friction, "friction") * one_positive(weight, "weight") * one_positive(length, "length") / 4


@explained
def longest_track(width: float, traction: float, friction: float) -> float:
    """The contact length [m] beyond which tracks `width` apart slip before they turn: 2 width traction / friction.

    `traction` is the coefficient of friction along the tracks, `friction` across: width/2 (F_r - F_l) with |F| <= traction W / 2
    has to exceed the `turning_resistance`.

    >>> mr.locomotion.longest_track(width=0.6, traction=0.8, friction=0.6).__round__(9)
    1.6
    """
    return 2 * one_positive(width, "width") * one_positive(traction, "traction") / one_positive(friction, "friction")


@explained
def sliding_twist(
    base: WheeledBase,
    rates: ArrayLike,
    loads: ArrayLike,
    friction: float,
    wrench: ArrayLike = (0.0, 0.0, 0.0),
    steering: ArrayLike | None = None,
) -> Array:
    """The steady twist of a base whose driven wheels all slide: friction of the rims balances a slow wrench (fx, fy, n) [N, N m].

    It minimises the dissipation, sum of friction load_i |slip_i(twist)|, less the power of the wrench: Coulomb's law of plain
    wheels, for given loads [N]. Wheels that can all roll do.

    >>> skid = mr.WheeledBase([mr.Wheel((x, y), 0.1) for x in (0.2, -0.2) for y in (0.3, -0.3)])
    >>> sliding_twist(skid, [-5.0, 5.0, -5.0, 5.0], loads=[50.0] * 4, friction=0.6).round(4) + 0.0
    array([0.    , 0.    , 1.1538])
    """
    n = len(base.driven)
    if any(w.rollers is not None for w in base.driven):
        raise InputError("wheels with rollers: expected plain wheels, whose friction is alike along and across")
    limits = one_positive(friction, "friction") * (numbers(loads, "loads") * np.ones(n))
    if np.any(limits < 0):
        raise InputError(f"loads = {limits.tolist()!r:.60}: expected zero or more")
    rates, push = numbers(rates, "rates", n), numbers(wrench, "wrench", 3)
    if rates.ndim != 1:
        raise InputError(f"rates has shape {rates.shape}: expected ({n},)")
    # slip = D twist - d, along and across each wheel
    d = -base.slip(np.zeros(3), rates, steering).reshape(-1)
    D = np.stack([base.slip(e, np.zeros(n), steering).reshape(-1) for e in np.eye(3)], axis=-1)
    xi = np.linalg.lstsq(D, d, rcond=None)[0]
    for softness in SOFTNESS:
        xi = _least(D.reshape(n, 2, 3), d.reshape(n, 2), limits, push, softness, xi)
    return xi


def _least(D: Array, d: Array, limits: Array, push: Array, softness: float, xi: Array) -> Array:
    """The minimum of sum limit_i sqrt(|slip_i|² + softness²) - push . twist, by Newton's method with shorter steps where needed."""

    def cost(xi: Array) -> float:
        return limits @ np.sqrt(((D @ xi - d) ** 2).sum(-1) + softness**2) - push @ xi

    for _ in range(STEPS):
        s = D @ xi - d
        speed = np.sqrt((s**2).sum(-1) + softness**2)
        weight, along = limits / speed, s / speed[:, None]
        gradient = np.einsum("k,kia,ki->a", weight, D, s) - push
        stiff = np.eye(2) - along[:, :, None] * along[:, None]
        step = -np.linalg.lstsq(np.einsum("k,kia,kij,kjb->ab", weight, D, stiff, D), gradient, rcond=1e-15)[0]
        if np.abs(xi).max() > FASTEST:
            break
        if abs(gradient @ step) < SETTLED * limits.sum() and np.abs(gradient).max() < BALANCED * limits.sum():
            return xi
        share, before = 1.0, cost(xi)
        while cost(xi + share * step) > before + 1e-4 * share * (gradient @ step) and share > 1e-12:
            share /= 2
        xi = xi + share * step
    raise InputError(
        f"no steady twist under the wrench {push.tolist()}: expected one that friction, {limits.sum():g} N in all, can balance"
    )
