"""Turning by unit quaternions along a path: slerp and squad, with exact first and second derivatives.

A jet is (x, x', x'') by the path parameter; x is (...) or (..., 4).
"""

from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Polynomial

from modurob.spatial import quaternion
from modurob.spatial.scalars import Array, dot


class Jet(NamedTuple):
    """A quantity along a path, with its first and second derivative."""

    value: Array
    rate: Array
    bend: Array


# cos(a) and sin(a)/a as series in a², exact to rounding up to a = pi
_COS = Polynomial([(-1) ** k / factorial(2 * k) for k in range(20)])
_SINC = Polynomial([(-1) ** k / factorial(2 * k + 1) for k in range(20)])
# acos(c)/sqrt(1 - c²) as a series in 1 - c, for c near one: its coefficients go as a(k + 1) = a(k) (k + 1)/(2 k + 3)
_NEAR = 0.1
_ARC = Polynomial(np.cumprod([1.0, *((k + 1) / (2 * k + 3) for k in range(16))]))


def product(a: Jet, b: Jet) -> Jet:
    """The product of two quaternions."""
    m = quaternion.multiply
    bend = m(a.bend, b.value) + 2 * m(a.rate, b.rate) + m(a.value, b.bend)
    return Jet(m(a.value, b.value), m(a.rate, b.value) + m(a.value, b.rate), bend)


def conjugate(a: Jet) -> Jet:
    """The inverse turn."""
    return Jet(*map(quaternion.conjugate, a))


def power(a: Jet, h: Jet) -> Jet:
    """a^h = exp(h log a), for a with w >= 0: the part h of the turn."""
    half = _log(a)
    return _exp(scaled(h, half))


def scaled(h: Jet, x: Jet) -> Jet:
    """h x of a number h and a vector x."""
    (h0, h1, h2), (x0, x1, x2) = (y[..., None] for y in h), x
    return Jet(h0 * x0, h1 * x0 + h0 * x1, h2 * x0 + 2 * h1 * x1 + h0 * x2)


def _of(f: Array, df: Array, ddf: Array, t: Jet) -> Jet:
    """f(t) from f and its derivatives by t."""
    return Jet(f, df * t.rate, ddf * t.rate**2 + df * t.bend)


def _exp(x: Jet) -> Jet:
    """(cos a, sin(a)/a x) of the half rotation vector x, a = |x|."""
    squared = Jet(dot(x.value, x.value), 2 * dot(x.value, x.rate), 2 * (dot(x.rate, x.rate) + dot(x.value, x.bend)))
    w, s = (_of(f(squared.value), f.deriv()(squared.value), f.deriv(2)(squared.value), squared) for f in (_COS, _SINC))
    return Jet(*(np.concatenate([a[..., None], b], axis=-1) for a, b in zip(w, scaled(s, x), strict=True)))


def _log(q: Jet) -> Jet:
    """Half of the rotation vector: acos(w)/sqrt(1 - w²) (x, y, z), of w >= 0."""
    w, v = (Jet(*(y[..., part] for y in q)) for part in (0, slice(1, None)))
    return scaled(_of(*_arc(w.value), w), v)


def _arc(c: Array) -> tuple[Array, Array, Array]:
    """f = acos(c)/sqrt(1 - c²) and its derivatives: (1 - c²) f' = c f - 1, (1 - c²) f'' = f + 3 c f'."""
    u = np.clip(1 - c, 0, None)
    near = u < _NEAR
    c = np.where(near, 0.0, c)
    rest = 1 - c * c
    f = np.arccos(c) / np.sqrt(rest)
    df = (c * f - 1) / rest
    ddf = (f + 3 * c * df) / rest
    series = _ARC(u), -_ARC.deriv()(u), _ARC.deriv(2)(u)
    f, df, ddf = (np.where(near, a, b) for a, b in zip(series, (f, df, ddf), strict=True))
    return f, df, ddf


def slerp(a: Jet, b: Jet, h: Jet) -> Jet:
    """a (a^-1 b)^h: from a to b at constant rate, along the shortest arc (Shoemake 1985)."""
    way = product(conjugate(a), b)
    sign = np.where(way.value[..., :1] < 0, -1.0, 1.0)
    return product(a, power(Jet(*(sign * y for y in way)), h))


def still(q: Array) -> Jet:
    """A quaternion that does not change."""
    return Jet(q, 0 * q, 0 * q)


def squad(q0: Array, q1: Array, inner0: Array, inner1: Array, h: Jet) -> Jet:
    """slerp(slerp(q0, q1, h), slerp(inner0, inner1, h), 2 h (1 - h)) (Shoemake 1987)."""
    between = Jet(
        2 * h.value * (1 - h.value), 2 * (1 - 2 * h.value) * h.rate, -4 * h.rate**2 + 2 * (1 - 2 * h.value) * h.bend
    )
    return slerp(slerp(still(q0), still(q1), h), slerp(still(inner0), still(inner1), h), between)


def inner_points(q: Array) -> Array:
    """The inner quaternion of each of many, (k, 4): q_i exp(-(log(q_i^-1 q_i+1) + log(q_i^-1 q_i-1))/4); at the ends q itself."""
    inner = q.copy()
    back = quaternion.conjugate(q[1:-1])
    after, before = (quaternion.log(quaternion.multiply(back, other)) for other in (q[2:], q[:-2]))
    inner[1:-1] = quaternion.multiply(q[1:-1], quaternion.exp(-(after + before) / 4))
    return inner


def angular(q: Jet) -> tuple[Array, Array, Array]:
    """R, (..., 3, 3), and the turn rate in the axes of the frame and its derivative: 2 (q* q')_v, 2 (q* q'')_v, (..., 3)."""
    back = quaternion.conjugate(q.value)
    w, dw = (2 * quaternion.multiply(back, y)[..., 1:] for y in (q.rate, q.bend))
    return quaternion.to_matrix(q.value), w, dw
