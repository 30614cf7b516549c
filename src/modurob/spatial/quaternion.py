"""Quaternions (w, x, y, z) as rotations, over any leading axes (von Stryk A.1).

`q` and every positive multiple of it represent one rotation, and so does `-q`.
"""

import numpy as np

from modurob.spatial.scalars import Array, as_array, atan2, cross, dot, select, sinc, sqrt

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
IDENTITY.flags.writeable = False
LABELS = ("qw", "qx", "qy", "qz")


def multiply(a: Array, b: Array) -> Array:
    """The product a b: first turn by b, then by a, about fixed axes."""
    a, b = as_array(a), as_array(b)
    aw, av, bw, bv = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    scalar = aw * bw - dot(av, bv)[..., None]
    return np.concatenate([scalar, aw * bv + bw * av + cross(av, bv)], axis=-1)


def conjugate(q: Array) -> Array:
    """(w, -x, -y, -z): the inverse turn."""
    return as_array(q) * np.array([1, -1, -1, -1])


def normalised(q: Array) -> Array:
    """q of length one."""
    q = as_array(q)
    return q / sqrt(dot(q, q))[..., None]


def to_matrix(q: Array) -> Array:
    """Rotation matrix of q, of any length but zero (von Stryk (Q2))."""
    q = as_array(q)
    w, x, y, z = (q[..., i] for i in range(4))
    scale = 2 / dot(q, q)
    R = np.empty((*q.shape[:-1], 3, 3), dtype=q.dtype)
    R[..., 0, 0], R[..., 0, 1], R[..., 0, 2] = (
        1 - scale * (y * y + z * z),
        scale * (x * y - w * z),
        scale * (x * z + w * y),
    )
    R[..., 1, 0], R[..., 1, 1], R[..., 1, 2] = (
        scale * (x * y + w * z),
        1 - scale * (x * x + z * z),
        scale * (y * z - w * x),
    )
    R[..., 2, 0], R[..., 2, 1], R[..., 2, 2] = (
        scale * (x * z - w * y),
        scale * (y * z + w * x),
        1 - scale * (x * x + y * y),
    )
    return R


def from_matrix(R: Array) -> Array:
    """Unit quaternion of R with w >= 0, from the largest of its four components (von Stryk (Q3), without its division by
    zero)."""
    R = as_array(R)
    (a, b, c), (d, e, f), (g, h, i) = ([R[..., row, column, None] for column in range(3)] for row in range(3))
    # row k is 4 q_k (w, x, y, z)
    rows = [
        [1 + a + e + i, h - f, c - g, d - b],
        [h - f, 1 + a - e - i, b + d, c + g],
        [c - g, b + d, 1 - a + e - i, f + h],
        [d - b, c + g, f + h, 1 - a - e + i],
    ]
    best, square = np.concatenate(rows[0], axis=-1), rows[0][0]
    for k in range(1, 4):
        row, own = np.concatenate(rows[k], axis=-1), rows[k][k]
        best, square = select(square, own, row, best), select(square, own, own, square)
    return _positive(best / sqrt(dot(best, best))[..., None])


def _positive(q: Array) -> Array:
    """Of q and -q the one with w >= 0."""
    return select(q[..., :1], np.zeros(()), -q, q)


def exp(w: Array) -> Array:
    """Unit quaternion of the turn by |w| about w."""
    half = as_array(w) / 2
    t = dot(half, half)[..., None]
    return np.concatenate([_cos_of_root(t), sinc(t) * half], axis=-1)


def _cos_of_root(t: Array) -> Array:
    """cos(a) as an analytic function of t = a²."""
    s = sinc(t / 4)
    return 1 - t * s * s / 2


def rate(q: Array, w: Array) -> Array:
    """dq/dt = q (0, w)/2 of a frame that turns with w in its own axes."""
    w = as_array(w)
    return multiply(q, np.concatenate([0 * w[..., :1], w / 2], axis=-1))


def log(q: Array) -> Array:
    """Rotation vector of q, of length at most pi."""
    q = _positive(as_array(q))
    w, v = q[..., :1], q[..., 1:]
    t, one = dot(v, v)[..., None], np.ones(())
    ratio, small = t / (w * w + t), np.array(1e-6)
    # 2 atan2(n, w)/n for n = |v|; near n = 0 as a series in (n/w)²
    w_safe = select(ratio, small, w, one)
    x = select(ratio, small, t / (w_safe * w_safe), 0 * one)
    series = 2 / w_safe * (1 - x / 3 + x * x / 5)
    n = sqrt(select(ratio, small, one, t))
    return select(ratio, small, series, 2 * atan2(n, w) / n) * v


def slerp(a: Array, b: Array, t: Array) -> Array:
    """The rotation from a (t = 0) to b (t = 1) at constant rate, along the shortest arc."""
    w = log(multiply(conjugate(a), b))
    return multiply(a, exp(w * as_array(t)[..., None]))


def random(rng: np.random.Generator, shape: tuple[int, ...] = ()) -> Array:
    """Unit quaternions drawn uniformly."""
    return normalised(rng.normal(size=(*shape, 4)))
