"""Rigid motions of the plane: poses (x, y, theta) [m, m, rad] and twists (vx, vy, w) in body axes, over any leading axes.

A pose is the transformation [[Rz(theta), (x, y)], [0, 1]]; a twist that is held for a time moves along an arc of a circle, exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from modurob.spatial.scalars import Array, as_array, sinc, sinc_defect, versinc


def turned(vector: ArrayLike, theta: ArrayLike) -> Array:
    """Rz(theta) (x, y), (..., 2)."""
    x, y = np.moveaxis(as_array(vector), -1, 0)
    c, s = np.cos(theta), np.sin(theta)
    return np.stack(np.broadcast_arrays(c * x - s * y, s * x + c * y), axis=-1)


def compose(pose: ArrayLike, other: ArrayLike) -> Array:
    """The pose of C in A from those of B in A and of C in B, (..., 3).

    >>> compose([1.0, 0.0, np.pi / 2], [2.0, 0.0, 0.0]).round(9)
    array([1.        , 2.        , 1.57079633])
    """
    a, b = np.broadcast_arrays(as_array(pose), as_array(other))
    return np.concatenate([a[..., :2] + turned(b[..., :2], a[..., 2]), a[..., 2:] + b[..., 2:]], axis=-1)


def inverse(pose: ArrayLike) -> Array:
    """The pose of A in B from that of B in A, (..., 3)."""
    x = as_array(pose)
    return np.concatenate([-turned(x[..., :2], -x[..., 2]), -x[..., 2:]], axis=-1)


def exp(displacement: ArrayLike) -> Array:
    """The pose after one second of a twist, (..., 3): V(w) (vx, vy) and w, with V = [[s, -c], [c, s]], s = sin w / w,
    c = (1 - cos w) / w; for example a quarter of a circle of radius one:

    >>> exp([np.pi / 2, 0.0, np.pi / 2])
    array([1.        , 1.        , 1.57079633])
    """
    vx, vy, w = np.moveaxis(as_array(displacement), -1, 0)
    s, c = sinc(w * w), w * versinc(w * w)
    return np.stack([s * vx - c * vy, c * vx + s * vy, w], axis=-1)


def log(pose: ArrayLike) -> Array:
    """The displacement whose `exp` is the pose, (..., 3), its turn within half a circle either way."""
    x = as_array(pose)
    w = np.remainder(x[..., 2] + np.pi, 2 * np.pi) - np.pi
    s, c = sinc(w * w), w * versinc(w * w)
    px, py = (np.stack([s * x[..., 0] + c * x[..., 1], s * x[..., 1] - c * x[..., 0]])) / (s * s + c * c)
    return np.stack([px, py, w], axis=-1)


def moved(pose: ArrayLike, twist: ArrayLike, time: ArrayLike = 1.0) -> Array:
    """The pose after a twist was held for a time [s], (..., 3): pose exp(twist time), exact (von Stryk 4.5.3).

    >>> moved([1.0, 2.0, np.pi / 6], [1.0, 0.0, 0.8], 0.5).round(10)
    array([1.37222084, 2.32884044, 0.92359878])
    """
    return compose(pose, exp(as_array(twist) * np.expand_dims(as_array(time), -1)))


def adjoint(pose: ArrayLike) -> Array:
    """Ad, (..., 3, 3): a twist in B is Ad twist in A, for the pose of B in A; for displacements of a pose likewise."""
    x, y, theta = np.moveaxis(as_array(pose), -1, 0)
    c, s, zero = np.cos(theta), np.sin(theta), np.zeros_like(theta)
    rows = [[c, -s, y], [s, c, -x], [zero, zero, zero + 1]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def exp_slope(displacement: ArrayLike) -> Array:
    """J, (..., 3, 3): exp(d + e) = exp(d) exp(J e) to first order in e; J = integral from 0 to 1 of Ad(exp(-s d)) ds."""
    x, y, w = np.moveaxis(as_array(displacement), -1, 0)
    s, c, d, u = sinc(w * w), w * versinc(w * w), w * sinc_defect(w * w), versinc(w * w)
    zero = np.zeros_like(w)
    rows = [[s, c, d * x - u * y], [-c, s, d * y + u * x], [zero, zero, zero + 1]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
