"""Rigid motions: poses X (4x4), twists (v, w) and wrenches (f, n), over any leading axes. See docs/conventions.md."""

import numpy as np

from modurob.errors import InputError
from modurob.spatial import so3
from modurob.spatial.scalars import Array, as_array, cot_defect, dot, sinc_defect, versinc

IDENTITY = np.eye(4)
IDENTITY.flags.writeable = False


def pose(R: Array | None = None, p: Array | None = None) -> Array:
    """[[R, p], [0, 1]]; a missing R is the identity, a missing p is zero."""
    R = np.eye(3) if R is None else as_array(R)
    p = np.zeros(3) if p is None else as_array(p)
    if R.shape[-2:] != (3, 3) or p.shape[-1:] != (3,):
        raise InputError(
            f"pose of a rotation of shape {R.shape} and a place of shape {p.shape}: expected (..., 3, 3) and (..., 3), such as "
            "se3.pose(so3.about((0, 0, 1), angle), (x, y, z)) or se3.pose(p=(x, y, z))"
        )
    X = np.zeros((*np.broadcast_shapes(R.shape[:-2], p.shape[:-1]), 4, 4), dtype=np.result_type(R, p))
    X[..., :3, :3], X[..., :3, 3], X[..., 3, 3] = R, p, 1
    return X


def rotation(X: Array) -> Array:
    """The 3x3 rotation of X."""
    return X[..., :3, :3]


def position(X: Array) -> Array:
    """The origin of X."""
    return X[..., :3, 3]


def inverse(X: Array) -> Array:
    """X_BA from X_AB: [[R^T, -R^T p], [0, 1]] (von Stryk 2.5)."""
    Rt = np.swapaxes(rotation(X), -1, -2)
    return pose(Rt, -(Rt @ position(X)[..., None])[..., 0])


def hat(V: Array) -> Array:
    """The 4x4 matrix [[[w], v], [0, 0]] of a twist (Gutenkunst (2.33))."""
    V = as_array(V)
    H = np.zeros((*V.shape[:-1], 4, 4), dtype=V.dtype)
    H[..., :3, :3], H[..., :3, 3] = so3.skew(V[..., 3:]), V[..., :3]
    return H


def Ad(X: Array) -> Array:
    """[[R, [p] R], [0, R]]: V_A = Ad(X_AB) V_B, and F_B = Ad(X_AB)^T F_A (Gutenkunst (2.36))."""
    R = rotation(X)
    A = np.zeros((*X.shape[:-2], 6, 6), dtype=X.dtype)
    A[..., :3, :3], A[..., 3:, 3:], A[..., :3, 3:] = R, R, so3.skew(position(X)) @ R
    return A


def Ad_inverse(X: Array) -> Array:
    """Ad(X^-1) = [[R^T, -R^T [p]], [0, R^T]]: takes twists in the frame X is given in to those in the frame of X."""
    Rt = np.swapaxes(rotation(X), -1, -2)
    A = np.zeros((*X.shape[:-2], 6, 6), dtype=X.dtype)
    A[..., :3, :3], A[..., 3:, 3:], A[..., :3, 3:] = Rt, Rt, -Rt @ so3.skew(position(X))
    return A


def to_child(X: Array, V: Array) -> Array:
    """Ad(X^-1) V: a twist, or the acceleration of a rigid body, taken from the frame X is given in to the frame of X."""
    Rt = np.swapaxes(rotation(X), -1, -2)
    v, w = V[..., :3], V[..., 3:]
    moved = v + so3.cross(w, position(X))
    return np.concatenate([(Rt @ moved[..., None])[..., 0], (Rt @ w[..., None])[..., 0]], axis=-1)


def to_parent(X: Array, F: Array) -> Array:
    """Ad(X^-1)^T F: a wrench taken from the frame of X to the frame X is given in."""
    R = rotation(X)
    f, n = (R @ F[..., :3, None])[..., 0], (R @ F[..., 3:, None])[..., 0]
    return np.concatenate([f, n + so3.cross(position(X), f)], axis=-1)


def ad(V: Array) -> Array:
    """[[[w], [v]], [0, [w]]]: ad(V) W is the bracket of two twists (Gutenkunst (2.38))."""
    V = as_array(V)
    w = so3.skew(V[..., 3:])
    A = np.zeros((*V.shape[:-1], 6, 6), dtype=V.dtype)
    A[..., :3, :3], A[..., 3:, 3:], A[..., :3, 3:] = w, w, so3.skew(V[..., :3])
    return A


def bracket(V: Array, W: Array) -> Array:
    """ad(V) W = (w x W_v + v x W_w, w x W_w): how a twist W that is carried along with V changes, (..., 6)."""
    v, w = V[..., :3], V[..., 3:]
    return np.concatenate([so3.cross(w, W[..., :3]) + so3.cross(v, W[..., 3:]), so3.cross(w, W[..., 3:])], axis=-1)


def cobracket(V: Array, F: Array) -> Array:
    """-ad(V)^T F = (w x f, v x f + w x n): how a wrench or momentum F that is carried along with V changes, (..., 6)."""
    v, w = V[..., :3], V[..., 3:]
    f, n = F[..., :3], F[..., 3:]
    return np.concatenate([so3.cross(w, f), so3.cross(v, f) + so3.cross(w, n)], axis=-1)


def coad(F: Array) -> Array:
    """The skew-symmetric matrix with coad(F) V = -ad(V)^T F, for wrenches or momenta F = (f, n)."""
    F = as_array(F)
    f = so3.skew(F[..., :3])
    A = np.zeros((*F.shape[:-1], 6, 6), dtype=F.dtype)
    A[..., :3, 3:], A[..., 3:, :3], A[..., 3:, 3:] = -f, -f, -so3.skew(F[..., 3:])
    return A


def exp(V: Array) -> Array:
    """Pose reached by moving with the body twist V for one second (Gutenkunst (2.19), any pitch)."""
    V = as_array(V)
    v, w = V[..., :3], V[..., 3:]
    t, K = dot(w, w)[..., None, None], so3.skew(w)
    carry = np.eye(3) + versinc(t) * K + sinc_defect(t) * (K @ K)
    return pose(so3.exp(w), (carry @ v[..., None])[..., 0])


def log(X: Array) -> Array:
    """Twist V, with angle at most pi, with exp(V) = X."""
    w = so3.log(rotation(X))
    t, K = dot(w, w)[..., None, None], so3.skew(w)
    back = np.eye(3) - K / 2 + cot_defect(t) * (K @ K)
    return np.concatenate([(back @ position(X)[..., None])[..., 0], w], axis=-1)


def denavit_hartenberg(theta: Array, d: Array, a: Array, alpha: Array) -> Array:
    """Rot(z; theta) Trans(z; d) Trans(x; a) Rot(x; alpha): frame i at joint i + 1 (von Stryk 3.1.3)."""
    theta, d, a, alpha = (as_array(x) for x in (theta, d, a, alpha))
    x, z = np.eye(3)[0], np.eye(3)[2]
    return pose(so3.about(z, theta), d[..., None] * z) @ pose(so3.about(x, alpha), a[..., None] * x)


def modified_denavit_hartenberg(alpha: Array, a: Array, theta: Array, d: Array) -> Array:
    """Rot(x; alpha) Trans(x; a) Rot(z; theta) Trans(z; d): frame i at joint i (Craig)."""
    theta, d, a, alpha = (as_array(x) for x in (theta, d, a, alpha))
    x, z = np.eye(3)[0], np.eye(3)[2]
    return pose(so3.about(x, alpha), a[..., None] * x) @ pose(so3.about(z, theta), d[..., None] * z)


def random(rng: np.random.Generator, shape: tuple[int, ...] = (), reach: float = 1.0) -> Array:
    """Poses with uniform rotation and position within a cube of half edge `reach`."""
    return pose(so3.random(rng, shape), rng.uniform(-reach, reach, size=(*shape, 3)))
