"""Rotations: 3x3 matrices R with R R^T = 1 and det R = 1, over any leading axes."""

import numpy as np

from modurob.spatial import quaternion
from modurob.spatial.scalars import Array, as_array, cos, cross, dot, sin, sinc, versinc

__all__ = [
    "about",
    "axis_angle",
    "cross",
    "exp",
    "is_rotation",
    "log",
    "perpendicular",
    "random",
    "skew",
    "vee",
]


def skew(a: Array) -> Array:
    """[a], the matrix of the cross product: skew(a) @ b = a × b (Gutenkunst (2.3))."""
    a = as_array(a)
    K = np.zeros((*a.shape[:-1], 3, 3), dtype=a.dtype)
    K[..., 0, 1], K[..., 0, 2], K[..., 1, 2] = -a[..., 2], a[..., 1], -a[..., 0]
    K[..., 1, 0], K[..., 2, 0], K[..., 2, 1] = a[..., 2], -a[..., 1], a[..., 0]
    return K


def vee(K: Array) -> Array:
    """The vector of the skew-symmetric part of K: vee(skew(a)) = a."""
    K = as_array(K)
    return (
        np.stack([K[..., 2, 1] - K[..., 1, 2], K[..., 0, 2] - K[..., 2, 0], K[..., 1, 0] - K[..., 0, 1]], axis=-1) / 2
    )


def about(axis: Array, angle: Array) -> Array:
    """Turn by `angle` about the unit vector `axis`: a a^T + cos (1 - a a^T) + sin [a] (von Stryk A.2, Rodrigues)."""
    axis, angle = as_array(axis), as_array(angle)[..., None, None]
    along = axis[..., :, None] * axis[..., None, :]
    return along + cos(angle) * (np.eye(3) - along) + sin(angle) * skew(axis)


def exp(w: Array) -> Array:
    """Turn by |w| about w: the matrix exponential of [w]. Exact near the identity."""
    w = as_array(w)
    t, K = dot(w, w)[..., None, None], skew(w)
    return np.eye(3) + sinc(t) * K + versinc(t) * (K @ K)


def log(R: Array) -> Array:
    """Rotation vector w, |w| <= pi, with exp(w) = R. Exact near the identity and near a half turn."""
    return quaternion.log(quaternion.from_matrix(R))


def axis_angle(R: Array) -> tuple[Array, Array]:
    """Unit axis and angle in [0, pi] of R; the identity gets the axis x (von Stryk A.2)."""
    w = log(R)
    angle = np.sqrt(dot(w, w))
    still = (angle == 0)[..., None]
    return np.where(still, np.array([1.0, 0.0, 0.0]), w / np.where(still, 1, angle[..., None])), angle


def is_rotation(R: Array, tolerance: float = 1e-9) -> bool:
    """Whether every matrix is orthonormal and right-handed within `tolerance` (von Stryk 2.4.2)."""
    R = as_array(R)
    orthonormal = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(initial=0.0) <= tolerance
    return bool(orthonormal and np.all(dot(cross(R[..., 0, :], R[..., 1, :]), R[..., 2, :]) > 0))


def perpendicular(axis: Array) -> tuple[Array, Array]:
    """Unit vectors (u, w) that make (u, w, axis) right-handed; coordinate axes give coordinate axes."""
    axis = as_array(axis)
    helper = np.eye(3)[(int(np.argmax(np.abs(axis))) + 1) % 3]
    u = helper - dot(helper, axis) * axis
    u = u / np.sqrt(dot(u, u))
    return u, cross(axis, u)


def random(rng: np.random.Generator, shape: tuple[int, ...] = ()) -> Array:
    """Rotations drawn uniformly."""
    return quaternion.to_matrix(quaternion.random(rng, shape))
