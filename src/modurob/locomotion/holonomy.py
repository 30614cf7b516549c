"""What brackets add to the directions in which a system can move at once: holonomic or not, and what it can reach."""

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from modurob.errors import InputError, explained
from modurob.locomotion.wheels import ZERO, WheeledBase

if TYPE_CHECKING:
    from sympy import Matrix, Symbol

X, Y, Z = np.eye(3)


@explained
def growth(fields: "Sequence[Matrix]", coordinates: "Sequence[Symbol]") -> tuple[int, ...]:
    """Ranks of what vector fields span: at once, with their brackets, with brackets of those, until nothing is added.

    [f, g] = (dg/dx) f - (df/dx) g, at a point drawn at random; the fields are SymPy columns. One rank alone: the distribution is
    integrable, its constraints are holonomic. The last rank: how many dimensions can be reached (Chow).

    >>> import sympy as sp
    >>> x, y, t = sp.symbols("x y t")
    >>> growth([sp.Matrix([sp.cos(t), sp.sin(t), 0]), sp.Matrix([0, 0, 1])], [x, y, t])
    (2, 3)
    """
    x, first = list(coordinates), list(fields)
    if not first or not all(getattr(f, "shape", None) == (len(x), 1) for f in first):
        raise InputError(f"fields = {first!r:.60}: expected one or more SymPy columns of {len(x)} entries")
    at = dict(zip(x, np.random.default_rng(0).uniform(-1.0, 1.0, len(x)), strict=True))
    spanned, last = first, first
    ranks = [_rank(spanned, at)]
    while ranks[-1] < len(x):
        last = [g.jacobian(x) * f - f.jacobian(x) * g for f, g in product(first, last)]
        spanned = spanned + last
        if _rank(spanned, at) == ranks[-1]:
            break
        ranks.append(_rank(spanned, at))
    return tuple(ranks)


def _rank(fields: "Sequence[Matrix]", at: dict) -> int:
    columns = np.array([[float(entry) for entry in f.subs(at)] for f in fields])
    return int(np.linalg.matrix_rank(columns, tol=ZERO))


@explained
def motions(base: WheeledBase) -> "tuple[list[Matrix], list[Symbol]]":
    """The vector fields of a base and their coordinates: x, y, theta and one for each degree of steerability.

    Twists that its wheels allow, turned by theta, and steering. Wheels that must agree are steered together, by coordinates of
    the twists that fixed wheels allow.

    >>> growth(*motions(mr.locomotion.tricycle(length=1.0, radius=0.1)))
    (2, 3, 4)
    """
    import sympy as sp

    if not isinstance(base, WheeledBase):
        raise InputError(f"{base!r:.60}: expected a mr.WheeledBase")
    twists, steering = _twists(base)
    x, y, theta = sp.symbols("x y theta")
    turn = sp.Matrix([[sp.cos(theta), -sp.sin(theta), 0], [sp.sin(theta), sp.cos(theta), 0], [0, 0, 1]])
    zeros, k = sp.zeros(len(steering), 1), len(steering)
    driving = [sp.Matrix.vstack(turn * sp.Matrix(list(xi)), zeros) for xi in twists]
    return driving + [sp.Matrix([0] * (3 + i) + [1] + [0] * (k - 1 - i)) for i in range(k)], [x, y, theta, *steering]


def _twists(base: WheeledBase) -> tuple[list[Any], list[Any]]:
    """Twists that are free at once, and the coordinates of steering that they depend on."""
    import sympy as sp

    plain = [w for w in base.wheels if w.rollers is None]
    at = np.random.default_rng(0).uniform(-1.0, 1.0, len(base.motors))
    _, steerability = base.mobility
    if steerability == len(base.motors):
        angles = np.array(sp.symbols(f"beta:{steerability}"), dtype=object)
        pick = _independent(base._sides(at, plain))
        return _allowed([base._sides(angles, [plain[i]])[0] for i in pick]), list(angles)
    # wheels must agree on a centre of rotation: any twist that the fixed wheels allow, up to its length
    fixed = base._sides(at, [w for w in plain if not w.steered])
    allowed = _allowed([fixed[i] for i in _independent(fixed)])
    angles = sp.symbols(f"sigma:{steerability}")
    weights = _on_sphere(angles)
    return [sum((w * xi for w, xi in zip(weights, allowed, strict=True)), start=0 * X)], list(angles)


def _on_sphere(angles: Sequence[Any]) -> list[Any]:
    """A unit vector by its angles: (cos a), (cos a, sin a), (cos a cos b, cos a sin b, sin a)."""
    import sympy as sp

    unit: list[Any] = [sp.Integer(1)]
    for a in angles:
        unit = [sp.cos(a) * u for u in unit] + [sp.sin(a)]
    return unit


def _independent(rows: np.ndarray) -> list[int]:
    """Indices of rows that are independent, the first of them where there is a choice."""
    picked: list[int] = []
    for i in range(len(rows)):
        if np.linalg.matrix_rank(rows[[*picked, i]], tol=ZERO) > len(picked):
            picked.append(i)
    return picked


def _allowed(rows: list[Any]) -> list[Any]:
    """Twists that none of up to two independent rows forbids, by cross products."""
    match rows:
        case []:
            return [X, Y, Z]
        case [n]:
            across = np.cross(n, Z)
            return [across, np.cross(n, across)]
        case [n, m]:
            return [np.cross(n, m)]
    return []
