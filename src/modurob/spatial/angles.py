"""The 24 three-angle conventions and both of their inverses (von Stryk 2.4.4).

`euler(sequence, a)` turns about the *current* axes in the order of the sequence, `fixed(sequence, a)` about the *fixed* axes:
`fixed("xyz", (a, b, c)) == euler("zyx", (c, b, a))`.
"""

from itertools import product
from typing import NamedTuple

import numpy as np

from modurob.errors import InputError, choices
from modurob.spatial import so3
from modurob.spatial.scalars import Array, as_array

SEQUENCES = tuple("".join(s) for s in product("xyz", repeat=3) if s[0] != s[1] and s[1] != s[2])

# closer than this to coinciding outer axes, only the sum or difference of the outer angles is defined
SINGULAR = 1e-10


class Angles(NamedTuple):
    """Both solutions, (..., 3) each, and whether the case is singular, (...)."""

    first: Array
    second: Array
    singular: Array


def euler(sequence: str, angles: Array) -> Array:
    """R(s1; a1) R(s2; a2) R(s3; a3)."""
    i, j, k = _axes(sequence)
    angles, unit = as_array(angles), np.eye(3)
    return so3.about(unit[i], angles[..., 0]) @ so3.about(unit[j], angles[..., 1]) @ so3.about(unit[k], angles[..., 2])


def fixed(sequence: str, angles: Array) -> Array:
    """R(s3; a3) R(s2; a2) R(s1; a1)."""
    return euler(sequence[::-1], as_array(angles)[..., ::-1])


def euler_angles(sequence: str, R: Array) -> Angles:
    """All angles with `euler(sequence, angles) = R`.

    Of a three-axis sequence the middle angle of the first solution is within a quarter turn of zero, of a two-axis one it is
    positive. Where the outer axes coincide there are infinitely many: the first angle is set to zero.
    """
    i, j, k = _axes(sequence)
    R = as_array(R)
    two_axis = i == k
    k = 3 - i - j
    parity = 1.0 if (j - i) % 3 == 1 else -1.0
    # numerator and denominator of tan(a1), up to the sign of cos(a2) or sin(a2)
    y, x = (R[..., j, i], -parity * R[..., k, i]) if two_axis else (-parity * R[..., j, k], R[..., k, k])
    singular = np.hypot(y, x) < SINGULAR
    solutions = []
    for sign in (1.0, -1.0):
        a1 = np.where(singular, 0.0, np.arctan2(sign * y, sign * x))
        # what is left is R(s2; a2) R(s3; a3), whose angles are well conditioned
        rest = np.swapaxes(so3.about(np.eye(3)[i], a1), -1, -2) @ R
        if two_axis:
            a2 = np.arctan2(-parity * rest[..., k, i], rest[..., i, i])
            a2 = np.where(singular, np.abs(a2), a2)
            a3 = np.arctan2(-parity * rest[..., j, k], rest[..., j, j])
        else:
            a2 = np.arctan2(parity * rest[..., i, k], rest[..., k, k])
            a3 = np.arctan2(parity * rest[..., j, i], rest[..., j, j])
        solutions.append(np.stack([a1, a2, a3], axis=-1))
    return Angles(solutions[0], np.where(singular[..., None], solutions[0], solutions[1]), singular)


def fixed_angles(sequence: str, R: Array) -> Angles:
    """All angles with `fixed(sequence, angles) = R`; in the singular case the last angle is set to zero."""
    first, second, singular = euler_angles(sequence[::-1], R)
    return Angles(first[..., ::-1], second[..., ::-1], singular)


def _axes(sequence: str) -> tuple[int, int, int]:
    if sequence not in SEQUENCES:
        raise InputError(f"no angle sequence {sequence!r}: {choices(sequence, SEQUENCES)}")
    i, j, k = ("xyz".index(letter) for letter in sequence)
    return i, j, k
