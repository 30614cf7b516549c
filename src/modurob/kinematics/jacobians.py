"""What a Jacobian says of a motion: rates of angles, ellipsoids, inverses that survive singular poses.

Functions of matrices J take any (..., m, n); SI units, so that rows of lengths and of angles have different ones.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from modurob.algorithms.interpreter import interpret
from modurob.algorithms.jacobians import jacobian
from modurob.algorithms.kinematics import forward_kinematics
from modurob.algorithms.program import Run
from modurob.errors import InputError, choices
from modurob.mechanism.tables import Tables
from modurob.spatial import angles, se3, so3
from modurob.spatial.scalars import Array, as_array, cross, dot
from modurob.values import compared

ROWS = ("x", "y", "z", "rx", "ry", "rz")
GROUPS = {"pose": ROWS, "position": ROWS[:3], "rotation": ROWS[3:]}
# closer than this to a singular set of angles, their rates are not defined
SINGULAR = 1e-12
# singular values below this part of the largest count as zero
RANK = 1e-9


@compared
class Ellipsoid(NamedTuple):
    """Directions, columns of `axes` (..., m, k), orthonormal, and half axes `lengths` (..., k), largest first."""

    axes: Array
    lengths: Array


def row_indices(rows: str | Iterable[str]) -> list[int]:
    """Which rows of a Jacobian (v, w) are meant: pose, position, rotation, or names such as "x y rz".

    >>> row_indices("position"), row_indices("x y rz")
    ([0, 1, 2], [0, 1, 5])
    """
    names = GROUPS.get(rows) or rows.split() if isinstance(rows, str) else list(rows)
    for name in names:
        if name not in ROWS:
            raise InputError(f"row {name!r:.40}: {choices(str(name), [*GROUPS, *ROWS])}")
    if not names or len(set(names)) < len(names):
        raise InputError(f"rows {rows!r:.60}: expected some of {', '.join(ROWS)}, each once")
    return [ROWS.index(name) for name in names]


# ---- angles ----


def rate_map(sequence: str, a: Array, fixed: bool = False) -> Array:
    """B, (..., 3, 3), with w = B da/dt in the axes that the rotation is given in, of `angles.euler` or `angles.fixed` (von Stryk
    4.2).

    >>> rate_map("zyx", np.array([0.0, 0.0, 0.3])) + 0.0
    array([[0., 0., 1.],
           [0., 1., 0.],
           [1., 0., 0.]])
    """
    a = as_array(a)
    if fixed:
        return rate_map(sequence[::-1], a[..., ::-1])[..., ::-1]
    i, j, k = angles._axes(sequence)
    unit = np.eye(3)
    first = so3.about(unit[i], a[..., 0])
    second = first @ so3.about(unit[j], a[..., 1])
    return np.stack(np.broadcast_arrays(unit[i], first[..., :, j], second[..., :, k]), axis=-1)


def inverse_rate_map(sequence: str, a: Array, fixed: bool = False) -> Array:
    """B^-1 of `rate_map`, (..., 3, 3); not a number where the outer axes coincide."""
    B = rate_map(sequence, a, fixed)
    b1, b2, b3 = (B[..., i] for i in range(3))
    rows = np.stack([cross(b2, b3), cross(b3, b1), cross(b1, b2)], axis=-2)
    volume = dot(b1, cross(b2, b3))[..., None, None]
    with np.errstate(all="ignore"):
        return np.where(np.abs(volume) < SINGULAR, np.nan, rows / volume)


def analytic_jacobian(
    m: Tables, q: Array, frame: str, sequence: str = "zyx", fixed: bool = False, run: Run = interpret
) -> Array:
    """(..., 6, nv), rows (dp/dt, da/dt): diag(1, B^-1) J, with the angles a of `euler(sequence)` or `fixed(sequence)`."""
    R = se3.rotation(forward_kinematics(m, q, run)[frame])
    a = (angles.fixed_angles if fixed else angles.euler_angles)(sequence, R).first
    J = np.array(jacobian(m, q, frame, run))
    J[..., 3:, :] = inverse_rate_map(sequence, a, fixed) @ J[..., 3:, :]
    return J


# ---- ellipsoids ----


def manipulability(J: Array) -> Array:
    """sqrt(det(J J^T)), the product of the singular values, (...) (Yoshikawa; von Stryk 4.4.1).

    For more rows than columns, sqrt(det(J^T J)); zero without columns.

    >>> float(manipulability(np.array([[3.0, 0.0], [0.0, 2.0]])))
    6.0
    """
    sizes = np.linalg.svd(as_array(J), compute_uv=False)
    return sizes.prod(axis=-1) * (sizes.shape[-1] > 0)


def velocity_ellipsoid(J: Array) -> Ellipsoid:
    """Where J v ends for all rates with |v| = 1: axes are left singular vectors, lengths singular values.

    >>> velocity_ellipsoid(np.array([[3.0, 0.0], [0.0, 2.0]])).lengths
    array([3., 2.])
    """
    U, lengths, _ = np.linalg.svd(as_array(J), full_matrices=False)
    return Ellipsoid(U, lengths)


def force_ellipsoid(J: Array) -> Ellipsoid:
    """The forces F that torques with |J^T F| = 1 balance: the same axes with the reciprocal lengths, infinite where J is singular.

    >>> force_ellipsoid(np.array([[4.0, 0.0], [0.0, 2.0]])).lengths
    array([0.5 , 0.25])
    """
    U, lengths, _ = np.linalg.svd(as_array(J), full_matrices=False)
    with np.errstate(divide="ignore"):
        return Ellipsoid(U[..., ::-1], 1 / lengths[..., ::-1])


@compared
class SingularDirections(NamedTuple):
    """What is lost at a pose: `rank`, twists that no rates give, columns of `lost` (m, m - rank), and rates that move nothing,
    columns of `still` (n, n - rank)."""

    rank: int
    lost: Array
    still: Array


def singular_directions(J: Array, tolerance: float = RANK) -> SingularDirections:
    """The rank of one J (m, n), and the left and right null spaces; singular values below `tolerance` times the largest are zero.

    >>> singular_directions(np.array([[1.0, 2.0], [0.0, 0.0]])).lost.round(9) + 0.0
    array([[0.],
           [1.]])
    """
    U, lengths, Vt = np.linalg.svd(as_array(J))
    rank = int((lengths > tolerance * lengths[0]).sum()) if lengths.size else 0
    return SingularDirections(rank, U[:, rank:], Vt[rank:].T)


# ---- inverses ----


def damped_inverse(J: Array, damping: float) -> Array:
    """(J^T J + damping² 1)^-1 J^T, (..., n, m): dq = that times e minimises |e - J dq|² + damping² |dq|² (von Stryk 4.4.2).

    >>> damped_inverse(np.array([[2.0]]), 1.0)
    array([[0.4]])
    """
    J = as_array(J)
    if not damping >= 0:
        raise InputError(f"damping {damping!r:.40}: expected zero or more")
    U, lengths, Vt = np.linalg.svd(J, full_matrices=False)
    with np.errstate(all="ignore"):
        gains = np.where(lengths > 0, lengths / (lengths**2 + damping**2), 0.0)
    return np.swapaxes(Vt, -1, -2) * gains[..., None, :] @ np.swapaxes(U, -1, -2)


def selectively_damped_step(J: Array, e: Array, largest: float = np.pi / 4) -> Array:
    """dq, (..., n), towards J dq = e with each singular direction damped by itself; no entry exceeds `largest` [rad or m].

    Along singular vector i the step is held to largest min(1, N / M_i), M_i = sum_l |v_li| |J_l| / s_i: directions in which the
    joints would have to move far for a small e are damped, the others are not (Buss and Kim 2005).

    >>> selectively_damped_step(np.diag([1.0, 0.0]), np.array([0.1, 0.1]))
    array([0.1, 0. ])
    """
    J, e = as_array(J), as_array(e)
    U, lengths, Vt = np.linalg.svd(J, full_matrices=False)
    regular = lengths > RANK * lengths[..., :1]
    inverse = np.where(regular, 1 / np.where(regular, lengths, 1.0), 0.0)
    columns = np.linalg.norm(J, axis=-2)
    needed = inverse * (np.abs(Vt) @ columns[..., None])[..., 0]
    bounds = largest * np.minimum(1.0, 1 / np.maximum(needed, 1e-300))
    along = inverse * (np.swapaxes(U, -1, -2) @ e[..., None])[..., 0]
    steps = _clamped(along[..., None] * Vt, bounds[..., None])
    return _clamped(steps.sum(axis=-2), np.asarray(largest))


def _clamped(x: Array, largest: Array) -> Array:
    """x, shortened so that no entry exceeds `largest`."""
    size = np.abs(x).max(axis=-1, keepdims=True)
    return x * np.minimum(1.0, largest / np.maximum(size, 1e-300))


def null_space_projector(J: Array) -> Array:
    """1 - J^+ J, (..., n, n): maps any rates to the nearest ones with J v = 0.

    >>> null_space_projector(np.array([[1.0, 0.0]])).round(9) + 0.0
    array([[0., 0.],
           [0., 1.]])
    """
    J = as_array(J)
    return np.eye(J.shape[-1]) - np.linalg.pinv(J, rcond=RANK) @ J
