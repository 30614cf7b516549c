"""Where an arm is singular: det J in closed form, factored; and the nearest singular configuration, by numbers.

With u = sin(q/2) and w = cos(q/2), sin q = 2 u w, cos q = w² - u², 1 = u² + w²: a polynomial in sines and cosines becomes one that
is homogeneous in each pair (u, w), and its factors are unique. Factors of even degree in every pair are again polynomials in sines
and cosines; the others are multiplied until they are. This needs no rules of trigonometry, and misses no factor.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np
import sympy
from sympy.polys.constructor import construct_domain
from sympy.polys.domains import QQ
from sympy.polys.orderings import lex
from sympy.polys.rings import PolyRing
from sympy.simplify.fu import TR8

from modurob.errors import InputError
from modurob.kinematics.jacobians import row_indices
from modurob.kinematics.screws import Screws
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array, cross

Expr = Any  # SymPy's


@dataclass(frozen=True, eq=False)
class Singularities:
    """det J of an arm with as many rows as joints: `determinant` is the product of `factors`, SymPy expressions in `symbols`.

    The arm is singular where a factor with symbols is zero; one without is a constant.

    >>> arm = mr.Mechanism.from_dh([(1, 0, 0), (0.8, 0, 0)])
    >>> arm.singularities("tip", rows="x y").conditions
    (sin(q2),)
    """

    factors: tuple[Expr, ...]
    symbols: tuple[Expr, ...]

    @property
    def determinant(self) -> Expr:
        """The product of the factors.

        >>> mr.Mechanism.from_dh([(1, 0, 0), (0.8, 0, 0)]).singularities("tip", rows="x y").determinant
        4*sin(q2)/5
        """
        return sympy.Mul(*self.factors)

    @property
    def conditions(self) -> tuple[Expr, ...]:
        """The factors that depend on the configuration, each once: the arm is singular where one of them is zero.

        >>> mr.Mechanism.from_dh([(1, 0, 0), (0.8, 0, 0)]).singularities("tip", rows="x y").conditions
        (sin(q2),)
        """
        own = set(self.symbols)
        bases = (f.as_base_exp()[0] for f in self.factors if f.free_symbols & own)
        return tuple(dict.fromkeys(bases))


def singularities(chain: Screws, rows: str | Iterable[str] = "pose") -> Singularities:
    """det J of a chain in SymPy's numbers, factored; rows of J are in base axes at the end's origin."""
    chosen, n = row_indices(rows), len(chain.axes)
    if len(chosen) != n or len(set(chain.coordinates)) != n:
        raise InputError(
            f"J has {len(chosen)} rows and {n} joints: expected as many rows as joints, each with a coordinate of its own; "
            f"choose rows, lock joints, or look at singular values"
        )
    arm = Polynomials(chain)
    J = arm.middle_jacobian() if n == 6 else arm.end_jacobian()[chosen, :]
    return Singularities(tuple(_factors(_determinant(J), arm)), tuple(arm.q))


class Pair:
    """Symbols for the cosine and sine of one angle, and for those of its half."""

    def __init__(self, angle: Expr):
        self.angle = angle
        self.c, self.s, self.u, self.w = sympy.symbols(" ".join(f"{x}_{angle}" for x in "csuw"))


class Polynomials:
    """A chain whose poses and Jacobian are polynomials in the cosines and sines of its angles."""

    def __init__(self, chain: Screws):
        self.q = [sympy.Symbol(f"q{k + 1}", real=True) for k in chain.coordinates]
        self.turns = [_turns(S) for S in chain.axes]
        self.pairs = [Pair(x) for x, turn in zip(self.q, self.turns, strict=True) if turn]
        numbers = [*chain.axes.flat, *chain.home.flat]
        parameters = sorted(set().union(*(x.free_symbols for x in numbers)), key=str)
        domain, _ = construct_domain([x for x in numbers if x.is_number], extension=True)
        self.domain = domain if domain.is_Field else QQ
        slides = [x for x, turn in zip(self.q, self.turns, strict=True) if not turn]
        self.kept = [*slides, *parameters]
        self.ring = PolyRing([*self.kept, *(x for pair in self.pairs for x in (pair.c, pair.s))], self.domain, lex)
        self.tangents = PolyRing([*self.kept, *(pair.u for pair in self.pairs)], self.domain, lex)
        self.axes, self.home = self._read(chain.axes), self._read(chain.home)
        self.steps = [self._exponential(i, S) for i, S in enumerate(chain.axes)]

    def _read(self, X: Array) -> Array:
        return _objects([self.ring.from_expr(sympy.expand(x)) for x in X.flat], X.shape)

    def _exponential(self, i: int, S: Array) -> Array:
        """exp(S q)."""
        v, w = self.axes[i][:3], self.axes[i][3:]
        eye = _objects([self.ring(int(x)) for x in np.eye(3).flat], (3, 3))
        if not self.turns[i]:
            return se3.pose(eye, v * self.ring.from_expr(self.q[i]))
        v_S, w_S = (sympy.Matrix(list(part)) for part in (S[:3], S[3:]))
        lean, square = sympy.simplify(w_S.dot(v_S)), sympy.simplify(w_S.dot(w_S))
        if lean != 0 or square != 1:
            raise InputError(
                "a helical or mimic joint gives no polynomial in sines and cosines: expected revolute and prismatic joints"
            )
        pair = next(pair for pair in self.pairs if pair.angle == self.q[i])
        c, s = (self.ring.from_expr(x) for x in (pair.c, pair.s))
        K = so3.skew(w)
        R = eye + K * s + (K @ K) * (1 - c)
        p = cross(w, v)
        return se3.pose(R, p - R @ p)

    def middle_jacobian(self) -> Array:
        """All screws in the axes of the middle link, about a point on the next axis, 6 x 6: det J does not depend on that choice.

        q1 and the last q are not in it: a motion of the whole arm changes nothing.
        """
        k = len(self.q) // 2
        v, w = self.axes[k][:3], self.axes[k][3:]
        to_point = se3.Ad(se3.pose(self.steps[k][:3, :3] * 0 + np.eye(3, dtype=int), -cross(w, v)))
        columns: list[Array] = []
        for i, V in enumerate(self.axes):
            for j in range(i + 1, k) if i < k else range(i - 1, k - 1, -1):
                X = self.steps[j]
                V = se3.Ad(se3.inverse(X) if i < k else X) @ V
            columns.append(to_point @ V)
        return np.stack(columns, axis=-1)

    def end_jacobian(self) -> Array:
        """6 x n: velocity of the end's origin and angular velocity in base axes."""
        before = list(accumulate(self.steps, lambda X, A: X @ A))
        end = (before[-1] @ self.home)[:3, 3]
        columns = []
        for X, S in zip([None, *before[:-1]], self.axes, strict=True):
            V = S if X is None else se3.Ad(X) @ S
            columns.append(np.concatenate([V[:3] + cross(V[3:], end), V[3:]]))
        return np.stack(columns, axis=-1)

    def half_angle_factors(self, polynomial: Any) -> tuple[Expr, list[tuple[Expr, int]]]:
        """A number and the irreducible factors in half angles u, w, with their powers; u² + w², which is one, is left out."""
        k = len(self.kept)
        degrees = [max(m[k + 2 * i] + m[k + 2 * i + 1] for m in polynomial) for i in range(len(self.pairs))]
        rest, left = self._in_tangents(polynomial, degrees), [2 * degree for degree in degrees]
        for i, t in enumerate(self.tangents.gens[k:]):
            while not (divided := rest.div([1 + t**2]))[1]:
                rest, left[i] = divided[0][0], left[i] - 2
        constant, found = rest.factor_list()
        factors = []
        for f, power in found:
            own = [f.degree(t) for t in self.tangents.gens[k:]]
            left = [x - power * d for x, d in zip(left, own, strict=True)]
            factors.append((self._homogeneous(f, own), power))
        # degrees that no factor has taken are powers of w
        factors += [(pair.w, power) for pair, power in zip(self.pairs, left, strict=True) if power]
        return self.domain.to_sympy(constant), factors

    def _in_tangents(self, polynomial: Any, degrees: list[int]) -> Any:
        """In tangents t of the half angles: cos = 1 - t², sin = 2 t, and 1 = 1 + t² as often as a degree is missing."""
        k, n, ring = len(self.kept), len(self.pairs), self.tangents
        powers = [_powers(ring.gens[k + i], degree) for i, degree in enumerate(degrees)]
        total = ring.zero
        for monomial, coefficient in polynomial.terms():
            term = ring({(*monomial[:k], *([0] * n)): coefficient})
            for i in range(n):
                term *= powers[i][monomial[k + 2 * i : k + 2 * i + 2]]
            total += term
        return total

    def _homogeneous(self, f: Any, degrees: list[int]) -> Expr:
        """A polynomial in tangents u / w, times w as often as makes it one in u and w."""
        k = len(self.kept)
        terms = []
        for monomial, c in f.terms():
            own = [x**a for x, a in zip(self.kept, monomial[:k], strict=True)]
            for pair, a, d in zip(self.pairs, monomial[k:], degrees, strict=True):
                own += [pair.u**a, pair.w ** (d - a)]
            terms.append(sympy.Mul(self.domain.to_sympy(c), *own))
        return sympy.Add(*terms)


def _powers(t: Any, degree: int) -> dict[tuple[int, int], Any]:
    """cos^a sin^b 1^(degree - a - b) in the tangent t of the half angle."""
    one = 1 + t**2
    return {
        (a, b): (1 - t**2) ** a * (2 * t) ** b * one ** (degree - a - b)
        for a in range(degree + 1)
        for b in range(degree + 1 - a)
    }


def _objects(values: list[Any], shape: tuple[int, ...]) -> Array:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found.reshape(shape)


def _turns(S: Array) -> bool:
    return any(x != 0 for x in S[3:])


def _determinant(J: Array) -> Any:
    """By minors of the first columns, each computed once: nothing is divided."""
    n = len(J)
    minors: dict[frozenset[int], Any] = {frozenset(): 1}
    for column in range(n):
        larger: dict[frozenset[int], Any] = {}
        for rows, minor in minors.items():
            for i in range(n):
                if i not in rows and J[i, column] != 0:
                    sign = -1 if sum(j > i for j in rows) % 2 else 1
                    key = rows | {i}
                    larger[key] = larger.get(key, 0) + sign * minor * J[i, column]
        minors = larger
    return minors.get(frozenset(range(n)), 0)


# ---- factors ----


def _factors(determinant: Any, arm: Polynomials) -> list[Expr]:
    """Factors of a polynomial in cosines and sines, as expressions in the angles."""
    if determinant == 0:
        return [sympy.Integer(0)]
    number, found = arm.half_angle_factors(determinant)
    factors = []
    # numbers and signs go to the front
    for f, power in _even(found, arm.pairs):
        content, rest = _in_angles(f, arm.pairs).as_content_primitive()
        sign = -1 if rest.could_extract_minus_sign() else 1
        number *= (sign * content) ** power
        factors.append((sign * rest).expand() ** power)
    return ([number] if number != 1 else []) + factors


def _even(found: list[tuple[Expr, int]], pairs: Sequence[Pair]) -> list[tuple[Expr, int]]:
    """Factors multiplied until each has an even degree in every pair; those that have already stay alone."""
    kept = [(f, power) for f, power in found if not _is_odd(f, pairs)]
    odd = [(f, power) for f, power in found if _is_odd(f, pairs)]
    while odd:
        f, power = odd.pop(0)
        partner = next((k for k, (g, p) in enumerate(odd) if p == power and not _is_odd(f * g, pairs)), None)
        if partner is not None:
            kept.append((sympy.expand(f * odd.pop(partner)[0]), power))
        elif power % 2 == 0:
            kept.append((sympy.expand(f**2), power // 2))
        else:
            # none fits alone: all that is left belongs together
            return [*kept, (sympy.expand(prod((g**p for g, p in odd), start=f**power)), 1)]
    return kept


def _is_odd(f: Expr, pairs: Sequence[Pair]) -> bool:
    return any(sympy.Poly(f, pair.u, pair.w).total_degree() % 2 for pair in pairs)


def _in_angles(f: Expr, pairs: Sequence[Pair]) -> Expr:
    """A polynomial of even degree in each pair as sines and cosines, written as short as is found."""
    for pair in pairs:
        cosine, sine, terms = sympy.cos(pair.angle), sympy.sin(pair.angle), []
        for (i, j), k in sympy.Poly(f, pair.u, pair.w).terms():
            odd = i % 2
            low, high = ((1 - cosine) / 2) ** ((i - odd) // 2), ((1 + cosine) / 2) ** ((j - odd) // 2)
            terms.append(k * (sine / 2) ** odd * low * high)
        f = sympy.expand(sympy.Add(*terms))
    short = sympy.expand(TR8(f))
    return min((f, short, sympy.factor_terms(short)), key=sympy.count_ops)
