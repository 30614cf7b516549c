"""Robots with loops in closed form: where loops are closed, and the equations of motion in independent rates.

Closed loops are polynomials phi(q) = 0, with K = d phi/dq and K vdot = k. With the rates split into independent ones y' and the
others, K_D square: v = G y', vdot = G y'' + g, and G^T M G y'' + G^T (M g + C v + N) = G^T tau (Lieskovsky (1.2.32)-(1.2.36)).
All of it is polynomials over powers of det K_D, so nothing is simplified by guessing.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import sympy

from modurob import algorithms as al
from modurob.algorithms.constraints.closure import closed_configurations, independent_rows
from modurob.errors import EquationsError, choices
from modurob.mechanism import Frame, Loop, Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array, cross
from modurob.symbolic.code import coordinates
from modurob.symbolic.coordinates import Coordinates
from modurob.symbolic.model import ExactTables
from modurob.symbolic.ring import Expr, Matrix, Polynomial

if TYPE_CHECKING:
    from modurob.symbolic.equations import Equations

# dependent rates that are solved for together, at most: determinants grow fast
MOST = 6
KINDS = ("fixed", "revolute", "prismatic", "cylindrical", "universal", "spherical", "planar")


# ---- where loops are closed ----


def conditions(robot: Tables, m: Tables, coordinates: Coordinates, numbers: ExactTables) -> list[Polynomial]:
    """phi(q), zero where the constraints hold [m, or sines of angles]; what is zero everywhere is left out."""
    found = []
    for c in robot.constraints:
        if isinstance(c, Loop):
            X_P, X_S = (
                frame_pose(m, coordinates, numbers, f, f"end of loop {c.name!r}") for f in (c.predecessor, c.successor)
            )
            found += _closing(c, X_P, X_S, numbers)
        else:
            found.append(_coupled(c, robot, coordinates, numbers))
    return [p for p in found if p]


def frame_pose(m: Tables, coordinates: Coordinates, numbers: ExactTables, frame: Frame, where: str) -> Array:
    X = numbers.pose(frame.X, where)
    return al.frame_pose(replace(m, frames={"end": frame._replace(X=X)}), coordinates.q, "end") if frame.body else X


def _closing(c: Loop, X_P: Array, X_S: Array, numbers: ExactTables) -> list[Polynomial]:
    """What the poses of predecessor and successor keep to: world axes where that is all the same."""
    R_P, R_S, way, kind = se3.rotation(X_P), se3.rotation(X_S), se3.position(X_S) - se3.position(X_P), c.type.kind
    if kind not in KINDS:
        raise EquationsError(f"loop {c.name!r} is {kind}: closed forms are known of {', '.join(KINDS)}")
    axis, axis2 = (
        np.array(numbers.axis(getattr(c.type, name, (0.0, 0.0, 1.0)), f"loop {c.name!r}"), dtype=object)
        for name in ("axis", "axis2")
    )
    R = R_P.T @ R_S
    turned = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    one, other = R_P @ axis, R_S @ axis
    places = {"prismatic": cross(one, way), "cylindrical": cross(one, way), "planar": [one @ way]}
    turns = {"fixed": turned, "prismatic": turned, "spherical": [], "universal": [one @ (R_S @ axis2)]}
    return [*places.get(kind, way), *turns.get(kind, cross(one, other))]


def _coupled(c: Any, robot: Tables, coordinates: Coordinates, numbers: ExactTables) -> Polynomial:
    """The sum of ratio times coordinate, less the offset."""
    total: Any = -numbers.coupling(c.offset, c.name)
    for i, ratio in zip(c.joints, c.ratios, strict=True):
        total = total + coordinates.linear[robot.joints[i].q_slice.start] * numbers.coupling(ratio, c.name)
    return total


# ---- independent rates ----


class _Fraction(NamedTuple):
    """An array of polynomials over a power of the determinant."""

    numerator: Array
    power: int


@dataclass(frozen=True, eq=False)
class IndependentEquations:
    """The equations of motion in independent rates y': v = G y', vdot = G y'' + g, M y'' + bias = G^T tau.

    Entries hold where the loops are closed, `conditions` = 0, and are fractions over powers of `determinant`: where it
    vanishes, choose other independent joints. `rates` are indices in v, `names` the joints.
    """

    equations: "Equations"
    rates: tuple[int, ...]
    names: tuple[str, ...]
    _determinant: Polynomial
    _parts: dict[str, _Fraction]

    @property
    def determinant(self) -> Expr:
        """det K_D."""
        return self.equations.expression(self._determinant)

    @property
    def conditions(self) -> Matrix:
        """phi(q), zero where the loops are closed."""
        return self.equations.conditions

    @cached_property
    def G(self) -> Matrix:
        """(nv x n): v = G y'."""
        return self._matrix("G")

    @cached_property
    def g(self) -> Matrix:
        """(nv x 1): vdot = G y'' + g."""
        return self._matrix("g")

    @cached_property
    def M(self) -> Matrix:
        """G^T M G, (n x n)."""
        return self._matrix("M")

    @cached_property
    def bias(self) -> Matrix:
        """G^T (M g + C v + D v + S + N), (n x 1)."""
        return self._matrix("bias")

    def _matrix(self, name: str) -> Matrix:
        numerator, power = self._parts[name]
        return self.equations.matrix(numerator) / self.determinant**power

    def function(self, q: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        """G, g, M and bias in numbers, at one closed state of this robot."""
        values = _Values(self.equations, coordinates(self.equations, q, "q"), coordinates(self.equations, v, "v"))
        below = values.of(np.array([self._determinant], dtype=object))[0]
        G, g, M, bias = (values.of(x) / below**power for x, power in self._parts.values())
        return G, g, M, bias

    def positions(self, branch: int = 1) -> dict[sympy.Symbol, Expr]:
        """The dependent coordinates as functions of the independent ones, if there is a closed form: pairs of them, one
        an angle, as for two links in a plane. `branch` is 1 or -1: the direction in which the links bend.
        """
        return _solved(self, branch)


def independent(eq: "Equations", joints: Sequence[str] | None = None) -> IndependentEquations:
    """The equations of motion with the rates of these joints as the independent ones; by default those that suit a closed pose."""
    robot = eq.robot
    if not robot.constraints:
        raise EquationsError(f"{robot.name} has no loops: its equations are M, C and N")
    q = next(closed_configurations(robot), None)
    if q is None:
        raise EquationsError(f"{robot.name}: no closed configuration was found to choose independent rates at")
    K, k = eq.polynomial_K, eq.polynomial_k
    numbers = _Values(eq, q, np.zeros(robot.nv)).of(K)
    rates = _rates_of(eq, joints, q)
    others = [i for i in range(robot.nv) if i not in rates]
    rows = independent_rows(numbers[:, others], len(others)).tolist()
    if len(rows) != len(others):
        known = ", ".join(_names(robot))
        raise EquationsError(
            f"{robot.name}: with {', '.join(_names(robot)[i] for i in rates) or 'no rates'} as independent rates the loops leave "
            f"{len(rows)} equations for {len(others)} others: expected {robot.nv - al.loop_rank(robot)} independent ones of {known}"
        )
    with eq.ring.budget.running():
        return _eliminated(eq, rates, others, K[rows], k[rows], numbers[rows])


def _rates_of(eq: "Equations", joints: Sequence[str] | None, q: Array) -> list[int]:
    if joints is None:
        return al.independent_coordinates(eq.robot, q, np.zeros(eq.robot.nv)).rates.tolist()
    names = _names(eq.robot)
    for name in joints:
        if name not in names:
            raise EquationsError(f"no rate {name!r}: {choices(str(name), names)}")
    return sorted(names.index(name) for name in joints)


def _names(robot: Tables) -> list[str]:
    return [name for j in robot.joints if not j.mimics for name in j.rate_names()]


class _Values:
    """The generators of the ring in numbers, at a state of the robot, and polynomials in them."""

    def __init__(self, eq: "Equations", q: Array, v: Array):
        generators = list(eq.ring.generators)
        known = {**eq.values, **dict(zip(eq.q, q, strict=True)), **dict(zip(eq.v, v, strict=True))}
        used = [g for g in generators if g.expression.free_symbols <= set(known)]
        numbers = sympy.lambdify(list(known), [g.expression for g in used])(*known.values())
        self.ring, self.numbers = eq.ring, {g.expression: float(x) for g, x in zip(used, numbers, strict=True)}

    def of(self, polynomials: Array) -> Array:
        return np.array([self._one(p) for p in polynomials.ravel()]).reshape(polynomials.shape)

    def _one(self, p: Polynomial) -> float:
        terms = [
            c * np.prod([self.numbers[g.expression] ** e for g, e in self.ring.exponents(monomial)])
            for monomial, c in p.terms.items()
        ]
        return float(sum(terms)) / p.denominator


def _eliminated(
    eq: "Equations", rates: list[int], others: list[int], K: Array, k: Array, numbers: Array
) -> IndependentEquations:
    zero = eq.ring.constant(0)
    blocks = [_Block(K, k, rows, columns, rates) for rows, columns in _blocks(numbers, others)]
    whole = _product(eq, [b.determinant for b in blocks])
    n, nv = len(rates), eq.robot.nv
    G, g = np.full((nv, n), zero, dtype=object), np.full(nv, zero, dtype=object)
    for i, rate in enumerate(rates):
        G[rate, i] = whole
    for b in blocks:
        rest = _product(eq, [x.determinant for x in blocks if x is not b])
        G[b.columns], g[b.columns] = -b.by_rates * rest, b.by_bias * rest
    M = eq.polynomial("M")
    bias = (eq.polynomial("C") + eq.polynomial("D")) @ eq.coordinates.v + eq.polynomial("S") + eq.polynomial("N")
    parts = {
        "G": _Fraction(G, 1),
        "g": _Fraction(g, 1),
        "M": _Fraction(G.T @ M @ G, 2),
        "bias": _Fraction(G.T @ (M @ g + bias * whole), 2),
    }
    names = _names(eq.robot)
    return IndependentEquations(eq, tuple(rates), tuple(names[i] for i in rates), whole, parts)


def _product(eq: "Equations", factors: list[Polynomial]) -> Polynomial:
    total: Any = eq.ring.constant(1)
    for x in factors:
        total = total * x
    return total


def _blocks(numbers: Array, columns: list[int]) -> Iterator[tuple[list[int], list[int]]]:
    """Rows and dependent rates that have nothing to do with the others."""
    left = list(range(len(numbers)))
    while left:
        rows, taken = [left.pop(0)], set[int]()
        for row in rows:
            taken |= {c for c in columns if abs(numbers[row, c]) > 1e-12}
            for other in [x for x in left if any(abs(numbers[x, c]) > 1e-12 for c in taken)]:
                left.remove(other)
                rows.append(other)
        yield sorted(rows), sorted(taken)


class _Block:
    """A few dependent rates by Cramer's rule: det(A) v_D = -adj(A) K_y y', and the same with k."""

    def __init__(self, K: Array, k: Array, rows: list[int], columns: list[int], rates: list[int]):
        if len(rows) != len(columns) or len(rows) > MOST:
            raise EquationsError(
                f"{len(columns)} dependent rates are tied to each other by {len(rows)} equations: closed forms are for {MOST} at "
                "most; use robot.independent_coordinates for numbers"
            )
        self.columns, A = columns, K[np.ix_(rows, columns)]
        minors: dict[Any, Any] = {}
        n = len(rows)
        adjugate = np.empty((n, n), dtype=object)
        for i in range(n):
            for j in range(n):
                kept = [x for x in range(n) if x != j], [x for x in range(n) if x != i]
                adjugate[i, j] = (-1) ** (i + j) * _minor(A, tuple(kept[0]), tuple(kept[1]), minors)
        self.determinant = _minor(A, tuple(range(n)), tuple(range(n)), minors)
        self.by_rates, self.by_bias = adjugate @ K[np.ix_(rows, rates)], adjugate @ k[rows]


def _minor(A: Array, rows: tuple[int, ...], columns: tuple[int, ...], known: dict[Any, Any]) -> Any:
    """The determinant of these rows and columns, along the first row."""
    if not rows:
        return A[0, 0].ring.constant(1)
    if (rows, columns) not in known:
        total: Any = A[0, 0].ring.constant(0)
        for k, c in enumerate(columns):
            if A[rows[0], c]:
                part = _minor(A, rows[1:], (*columns[:k], *columns[k + 1 :]), known)
                total = total + (-1) ** k * (A[rows[0], c] * part)
        known[rows, columns] = total
    return known[rows, columns]


# ---- where the dependent coordinates are ----


def _solved(found: IndependentEquations, branch: int) -> dict[sympy.Symbol, Expr]:
    eq = found.equations
    phi = [p.expression() for p in eq.polynomial_conditions]
    others = [i for i in range(eq.robot.nv) if i not in found.rates]
    if len(phi) == len(others) == 2:
        for a, b in (others, others[::-1]):
            answer = _pair(eq, phi, a, b, branch)
            if answer is not None:
                return answer
    raise EquationsError(
        f"{eq.robot.name}: {len(others)} dependent coordinates and {len(phi)} conditions: positions are known in closed form of "
        "two, one of them an angle; robot.close_loops finds them in numbers"
    )


def _pair(eq: "Equations", phi: list[Expr], a: int, b: int, branch: int) -> dict[sympy.Symbol, Expr] | None:
    """phi is A (cos, sin)(angle a) + B(b) = 0: |A^-1 B| = 1 gives b, and then A^-1 B the angle."""
    unknowns = [_unknown(eq, i, f"_{name}") for i, name in ((a, "a"), (b, "b"))]
    if None in unknowns or not unknowns[0].turns:
        return None
    one, other = unknowns
    phi = [sympy.expand(other.hidden(one.hidden(e))) for e in phi]
    A = sympy.Matrix([[e.coeff(x) for x in one.symbols] for e in phi])
    B = sympy.Matrix([e.subs(dict.fromkeys(one.symbols, 0)) for e in phi])
    if A.free_symbols & {*one.symbols, *other.symbols} or A.det() == 0:
        return None
    w = -A.inv() * B
    angle_b = other.root(sympy.expand(sum(x * x for x in w)) - 1, branch)
    if angle_b is None:
        return None
    at_b = w.subs(other.shown(angle_b))
    return {
        eq.q[b]: other.coordinate(angle_b),
        eq.q[a]: one.coordinate(sympy.atan2(at_b[1], at_b[0])).subs(eq.q[b], other.coordinate(angle_b)),
    }


class _unknown:  # noqa: N801
    """A dependent coordinate: the angle of its generator, as cosine and sine, or a length."""

    def __init__(self, eq: "Equations", i: int, name: str):
        c = eq.coordinates
        self.turns, self.q = i in c.pairs, c.q_symbols[i]
        signs = c.sums.get(i, {i: 1})
        self.sign, self.angle = signs[i], c.angle(signs)
        self.symbols: tuple[Any, ...] = sympy.symbols(f"{name}c {name}s") if self.turns else (self.q,)

    def hidden(self, e: Expr) -> Expr:
        if not self.turns:
            return e
        return e.subs({sympy.cos(self.angle): self.symbols[0], sympy.sin(self.angle): self.symbols[1]})

    def shown(self, value: Expr) -> dict[Any, Expr]:
        return dict(zip(self.symbols, (sympy.cos(value), sympy.sin(value)) if self.turns else (value,), strict=True))

    def coordinate(self, value: Expr) -> Expr:
        """The coordinate, from the angle, which is a sum of coordinates."""
        return self.sign * (value - (self.angle - self.sign * self.q)) if self.turns else value

    def root(self, e: Expr, branch: int) -> Expr | None:
        """Where e vanishes: P cos + Q sin = R for an angle, a quadratic for a length."""
        if not self.turns:
            found = sympy.Poly(e, self.q)
            a, b, c = (found.coeff_monomial(self.q**k) for k in (2, 1, 0))
            return (branch * sympy.sqrt(b**2 - 4 * a * c) - b) / (2 * a) if found.degree() == 2 else None
        c, s = self.symbols
        found = sympy.Poly(sympy.expand(sympy.expand(e).subs(s**2, 1 - c**2)), c, s)
        if found.total_degree() > 1:
            return None
        P, Q, R = self._simplified(found.coeff_monomial(x) for x in (c, s, 1))
        return sympy.atan2(Q, P) + branch * sympy.acos(-R / sympy.sqrt(P**2 + Q**2))

    @staticmethod
    def _simplified(coefficients: Iterable[Any]) -> list[Any]:
        return [sympy.trigsimp(x) for x in coefficients]
