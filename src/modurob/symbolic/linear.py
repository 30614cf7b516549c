"""Equations of motion near a point, and as a control-affine system: linearisation, Lie derivatives, relative degree."""

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np
import sympy
from sympy.polys.matrices import DomainMatrix
from sympy.polys.matrices.exceptions import DMNonInvertibleMatrixError

from modurob.caching import cached_property
from modurob.errors import EquationsError, InputError, choices
from modurob.spatial.scalars import Array
from modurob.symbolic.factored import arranged
from modurob.symbolic.numbers import from_expression
from modurob.symbolic.printing import factored_expression, ratio
from modurob.symbolic.ring import FIELD, Budget, Expr, Matrix, Polynomial, Ring, added

if TYPE_CHECKING:
    from modurob.symbolic.equations import Equations

# inverse mass matrices of more degrees of freedom are too large to write down
MOST_INVERTED = 4
SINGULAR = "the mass matrix is singular there: a degree of freedom moves no inertia"
# characteristic polynomials of more free joints have no roots worth reading
MOST_ROOTS = 2


# ---- arguments ----


def coordinate_indices(eq: "Equations", given: Any, what: str) -> list[int]:
    """The coordinates that joint names or numbers stand for; a name stands for all coordinates of its joint."""
    owners = {j.name: j.v_slice for j in eq.robot.joints if not j.mimics}
    valid = f"{choices(str(given), owners)}, or 0 to {eq.robot.nv - 1}"
    if isinstance(given, str) or not isinstance(given, Iterable):
        given = [given]
    found: list[int] = []
    for item in given:
        if isinstance(item, str) and item in owners:
            found += range(owners[item].start, owners[item].stop)
        elif isinstance(item, int | np.integer) and not isinstance(item, bool) and 0 <= item < eq.robot.nv:
            found.append(int(item))
        else:
            raise InputError(f"{what} {item!r} is no joint of {eq.robot.name}: expected names or numbers; {valid}")
    if len(set(found)) < len(found):
        raise InputError(f"{what} name a joint twice: {list(given)}; expected each once")
    return found


def expressions(eq: "Equations", given: Any, what: str) -> list[Expr]:
    """nv numbers or SymPy expressions."""
    joints = ", ".join(j.name for j in eq.robot.joints if not j.mimics)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{what} is {given!r}: expected {eq.robot.nv} numbers or expressions, for {joints}")
    entries = [expression(x, f"{what}[{i}]") for i, x in enumerate(given)]
    if len(entries) != eq.robot.nv:
        raise InputError(f"{what} has {len(entries)} entries: expected {eq.robot.nv}, for {joints}")
    return entries


def expression(x: Any, what: str) -> Expr:
    """A finite number or a SymPy expression."""
    if isinstance(x, sympy.Expr):
        found = x
    elif isinstance(x, int | float | np.number) and not isinstance(x, bool):
        found = sympy.sympify(x.item() if isinstance(x, np.number) else x)
    else:
        raise InputError(f"{what} is {x!r}: expected a number or a SymPy expression")
    if found.has(sympy.nan, sympy.oo, -sympy.oo, sympy.zoo):
        raise InputError(f"{what} is {x!r}: expected a finite number")
    return found


# ---- linearisation ----


@dataclass(frozen=True)
class Linearised:
    """A robot near a state: M dq'' + D dq' + K dq = dtau, and the same as d/dt (dq, dv) = A (dq, dv) + B dtau.

    dq, dv, dtau are deviations from `q`, `v`, `tau`. SymPy matrices, exact where q, v and tau are; A and B are solved for when
    they are asked for. `numbers()` has arrays in their places.
    """

    q: tuple[Any, ...]  # nv, the state [rad or m]
    v: tuple[Any, ...]  # nv, its rates
    tau: Matrix  # nv x 1, the torques there [N m or N]
    M: Matrix  # nv x nv, mass matrix
    D: Matrix  # nv x nv, d(C v + D v)/dv
    K: Matrix  # nv x nv, d(M vdot + C v + D v + S + N)/dq
    values: Mapping[Any, float] = field(default_factory=dict, repr=False, compare=False)  # of this robot for symbols
    budget: Budget = field(default_factory=Budget, repr=False, compare=False)

    @cached_property
    def _solved(self) -> Any:
        """M^-1 (-K, -D, 1)."""
        n = len(self.q)
        if isinstance(self.M, np.ndarray):
            return np.linalg.solve(self.M, np.hstack([-self.K, -self.D, np.eye(n)]))
        return solved(self.M, sympy.Matrix.hstack(-self.K, -self.D, sympy.eye(n)), self.budget)

    @cached_property
    def A(self) -> Matrix:
        """2 nv x 2 nv: ((0, 1), (-M^-1 K, -M^-1 D)).

        >>> import modurob as mr
        >>> eq = mr.load("crane").mechanism(gravity=(0, 9.81, 0)).equations(("masses", "lengths", "gravity"))
        >>> eq.linearised([0, 0]).A[2:, :2]
        Matrix([
        [0,                g*m2/m1],
        [0, -g*(m1 + m2)/(l1*m1)]])
        """
        n = len(self.q)
        if isinstance(self.M, np.ndarray):
            return np.block([[np.zeros((n, n)), np.eye(n)], [self._solved[:, : 2 * n]]])
        return sympy.Matrix.vstack(sympy.Matrix.hstack(sympy.zeros(n), sympy.eye(n)), self._solved[:, : 2 * n])

    @cached_property
    def B(self) -> Matrix:
        """2 nv x nv: (0, M^-1)."""
        n = len(self.q)
        if isinstance(self.M, np.ndarray):
            return np.vstack([np.zeros((n, n)), self._solved[:, 2 * n :]])
        return sympy.Matrix.vstack(sympy.zeros(n), self._solved[:, 2 * n :])

    def numbers(self, values: Mapping[Any, float] | None = None) -> "Linearised":
        """The same with arrays of floats: symbols replaced by `values`, by default those of this robot.

        >>> import modurob as mr
        >>> eq = mr.load("crane").mechanism(gravity=(0, 9.81, 0)).equations(("masses", "lengths", "gravity"))
        >>> eq.linearised([0, 0]).numbers().A[3, 1].round(3)
        np.float64(-3.924)
        """
        given = {**self.values, **(values or {})}

        def array(entries: Iterable[Any], *shape: int) -> Array:
            found = []
            for x in entries:
                self.budget.look()
                found.append(float_value(x, given))
            return np.array(found, dtype=float).reshape(shape)

        n = len(self.q)
        self._require_numbers(given)
        return Linearised(
            tuple(array(self.q, n)),
            tuple(array(self.v, n)),
            array(self.tau, n, 1),
            array(self.M, n, n),
            array(self.D, n, n),
            array(self.K, n, n),
            budget=self.budget,
        )

    def _require_numbers(self, values: Mapping[Any, float]) -> None:
        entries = (x for part in (self.q, self.v, self.tau, self.M, self.D, self.K) for x in part)
        missing = sorted(
            {str(s) for x in entries if isinstance(x, sympy.Expr) for s in x.free_symbols if s not in values}
        )
        if missing:
            raise InputError(f"no numbers for {', '.join(missing)}: expected values={{symbol: number}} for them")


def float_value(x: Any, values: Mapping[Any, float]) -> float:
    """The number of an expression; quicker than SymPy where it is a polynomial."""
    if isinstance(x, sympy.Add):
        return sum(float_value(y, values) for y in x.args)
    if isinstance(x, sympy.Mul):
        return math.prod(float_value(y, values) for y in x.args)
    if isinstance(x, sympy.Pow) and isinstance(x.exp, sympy.Integer):
        return float_value(x.base, values) ** int(x.exp)
    if isinstance(x, sympy.Symbol):
        return float(values[x])
    return float(x if not isinstance(x, sympy.Expr) or x.is_Number else x.subs(values))


def linearised(eq: "Equations", q: Any, v: Any = None, tau: Any = None) -> Linearised:
    """Linearise at (q, v), nv numbers or SymPy expressions each, v zero by default; without tau at the torque that keeps vdot = 0.

    K = d(C v + D v + S + N)/dq + (dM/dq) vdot and D = d(C v + D v)/dv, taken on polynomials and evaluated at the point.
    """
    n, budget = eq.robot.nv, eq.ring.budget
    q0, v0 = expressions(eq, q, "q"), expressions(eq, [0] * n if v is None else v, "v")
    tau0 = None if tau is None else sympy.Matrix(expressions(eq, tau, "tau"))
    with budget.running():
        at, bias = _evaluation(eq, q0, v0), bias_polynomials(eq)
        M, h = at(eq.polynomial("M")), at(bias)
        slope = at(_array(eq.coordinates.derivative(p, k) for p in bias for k in range(n)).reshape(n, n))
        damping = at(_rate_derivatives(eq, bias))
        if tau0 is not None and tau0 != h:
            vdot = solved(M, tau0 - h, budget)
            slope += sympy.Matrix.hstack(*(at(_mass_slope(eq, k)) * vdot for k in range(n)))
    return Linearised(tuple(q0), tuple(v0), h if tau0 is None else tau0, M, damping, slope, eq.values, budget)


def bias_polynomials(eq: "Equations") -> Array:
    """C v + D v + S + N, (nv,) in normal form."""
    rows = (eq.polynomial("C") + eq.polynomial("D")) @ eq.coordinates.v if eq.robot.nv else np.zeros(0)
    return eq._filled(rows + eq.polynomial("S") + eq.polynomial("N"))


def _rate_derivatives(eq: "Equations", bias: Array) -> Array:
    one, n = eq.ring.constant(1), eq.robot.nv
    return _array(h.derivative({s.name: one}) for h in bias for s in eq.v).reshape(n, n)


def _mass_slope(eq: "Equations", k: int) -> Array:
    """dM/dq_k."""
    M = eq.polynomial("M")
    return _array(eq.coordinates.derivative(p, k) for p in M.ravel()).reshape(M.shape)


def _array(entries: Iterable[Any]) -> Array:
    found = list(entries)
    out = np.empty(len(found), dtype=object)
    out[:] = found
    return out


def _evaluation(eq: "Equations", q: Sequence[Expr], v: Sequence[Expr]) -> Callable[[Array], Matrix]:
    """Takes an array of polynomials to a SymPy matrix, coordinates and rates replaced; parameters stay."""
    point = dict(zip([*eq.q, *eq.v], [*q, *v], strict=True))
    moving = [g for g in eq.ring.generators if g.expression.free_symbols & point.keys()]
    bases = {g.name: _plain(g.expression.subs(point)) for g in moving}
    mask = sum(((1 << FIELD) - 1) * eq.ring.field(name) for name in bases)

    @cache
    def value(monomial: int) -> Any:
        """Of a product of cosines, sines, coordinates and rates."""
        powers = [bases[g.name] ** e for g, e in eq.ring.exponents(monomial)]
        if any(isinstance(p, sympy.Expr) for p in powers):
            return sympy.expand(sympy.Mul(*powers))
        return math.prod(powers, start=Fraction(1))

    @cache
    def parameters(monomial: int) -> Expr:
        return Polynomial(eq.ring, {monomial: 1}).expression()

    def number(p: Polynomial) -> Expr:
        """The numbers before each product of parameters are added up first."""
        sums: dict[int, Any] = {}
        for i, (m, c) in enumerate(p.terms.items()):
            if i % 1000 == 0:
                eq.ring.budget.look()
            sums[m & ~mask] = sums.get(m & ~mask, Fraction(0)) + c * value(m & mask)
        found = []
        for m, x in sums.items():
            if len(found) % 100 == 0:
                eq.ring.budget.look()
            if x:
                found.append(sympy.sympify(x / p.denominator) * parameters(m))
        return added(found, eq.ring.budget)

    def matrix(array: Array) -> Matrix:
        rows = array if array.ndim == 2 else array[:, None]
        return sympy.Matrix(rows.shape[0], rows.shape[1], [number(p) for p in rows.ravel()])

    return matrix


def _plain(x: Expr) -> Any:
    """A fraction or a float where x is one: these are quick."""
    if x.is_Rational:
        return Fraction(int(x.p), int(x.q))
    return float(x) if x.is_Float else x


# ---- solving ----


def solved(M: Matrix, right: Matrix, budget: Budget) -> Matrix:
    """M^-1 right, in lowest terms; an error if M is singular."""
    if not right.rows or not right.cols:
        return right
    both = sympy.Matrix.hstack(M, right)
    inexact = both.has(sympy.Float)
    if inexact and not both.free_symbols:
        return sympy.Matrix(np.linalg.solve(*(np.array(X.evalf().tolist(), dtype=float) for X in (M, right))))
    if inexact:
        both = both.applyfunc(lambda x: sympy.nsimplify(x, rational=True))
    found = _by_minors(both, budget) if both.free_symbols else _by_elimination(both)
    return found.evalf() if inexact else found


def _by_elimination(both: Matrix) -> Matrix:
    """Numbers alone: in the field of their roots."""
    n, system = both.rows, DomainMatrix.from_Matrix(both, extension=True).to_field()
    try:
        return system[:, :n].lu_solve(system[:, n:]).to_Matrix()
    except DMNonInvertibleMatrixError:
        raise EquationsError(SINGULAR) from None


def _by_minors(both: Matrix, budget: Budget) -> Matrix:
    """Polynomials in parameters: adj(M) right / det(M), where factors of the determinant cancel."""
    n, ring = both.rows, Ring(budget)
    entries = np.empty(both.shape, dtype=object)
    for at in np.ndindex(both.shape):
        entries[at] = from_expression(ring, both[at], other=ring.symbol)
    adjugate, determinant = _adjugate(entries[:, :n])
    if not determinant:
        raise EquationsError(SINGULAR)
    above = adjugate @ entries[:, n:]
    return sympy.Matrix(*above.shape, [ratio(p, determinant) for p in above.ravel()])


# ---- Lie derivatives ----


def lie_derivative(h: Expr, f: Matrix, x: Sequence[sympy.Symbol], order: int = 1) -> sympy.Expr:
    """L_f h = dh/dx f, the derivative of h along the vector field f, repeated `order` times (Gutenkunst (6.4), (6.6)).

    >>> x, y = sympy.symbols("x y")
    >>> lie_derivative(x**2, sympy.Matrix([y, -x]), [x, y])
    2*x*y
    """
    for _ in range(order):
        h = sum((sympy.diff(h, x_i) * f_i for x_i, f_i in zip(x, f, strict=True)), start=sympy.Integer(0))
    return h


def is_zero(expression: Expr) -> bool:
    """Whether an expression vanishes identically: it is evaluated at random points with 40 digits."""
    return vanishes(sympy.Matrix([[expression]]), lambda entries: entries[0, 0])


def vanishes(matrix: Matrix, of: Callable[[Any], Any]) -> bool:
    """Whether a number made of the entries, their determinant say, is zero at random points, to 25 of 40 digits."""
    symbols = sorted(matrix.free_symbols, key=str)
    entries = sympy.lambdify(symbols, matrix, "mpmath", cse=True)
    rng = random.Random(0)
    with mpmath.workdps(40):
        for _ in range(3):
            value = entries(*(mpmath.mpf(rng.randint(100, 900)) / 457 for _ in symbols))
            if abs(of(value)) > mpmath.mpf(10) ** -25:
                return False
    return True


@dataclass(frozen=True)
class ControlAffine:
    """xdot = f(x) + g(x) u, y = h(x), as many outputs as inputs (Gutenkunst (6.1)).

    x = (q, v), u the torques of the actuated joints.

    >>> x, v = sympy.symbols("x v")
    >>> mass = ControlAffine((x, v), sympy.Matrix([v, 0]), sympy.Matrix([0, 1]), sympy.Matrix([x]))
    >>> mass.relative_degree(), mass.decoupling_matrix()
    ((2,), Matrix([[1]]))
    """

    x: tuple[sympy.Symbol, ...]
    f: Matrix  # 2 nv x 1
    g: Matrix  # 2 nv x m
    h: Matrix  # m x 1
    budget: Budget = field(default_factory=Budget, repr=False, compare=False)

    def relative_degree(self) -> tuple[int, ...]:
        """How often each output must be differentiated until an input appears (Gutenkunst (6.7)); an error if none ever does."""
        return tuple(self._degree(h) for h in self.h)

    def _degree(self, h: Expr) -> int:
        output = h
        for degree in range(1, len(self.x) + 1):
            self.budget.look()
            if not all(is_zero(lie_derivative(h, self.g[:, j], self.x)) for j in range(self.g.cols)):
                return degree
            h = lie_derivative(h, self.f, self.x)
        raise EquationsError(f"no input ever reaches the output {output}")

    def decoupling_matrix(self) -> Matrix:
        """A_ij = L_gj L_f^(r_i - 1) h_i, m x m (Gutenkunst (6.9)); feedback linearisation needs it regular."""
        rows = []
        for h, degree in zip(self.h, self.relative_degree(), strict=True):
            self.budget.look()
            above = lie_derivative(h, self.f, self.x, degree - 1)
            rows.append([lie_derivative(above, self.g[:, j], self.x) for j in range(self.g.cols)])
        return sympy.Matrix(rows)

    def drift(self) -> Matrix:
        """b_i = L_f^(r_i) h_i, m x 1 (Gutenkunst (6.18)): with u = A^-1 (w - b) the outputs obey y_i^(r_i) = w_i."""
        return sympy.Matrix(
            [lie_derivative(h, self.f, self.x, r) for h, r in zip(self.h, self.relative_degree(), strict=True)]
        )

    def verdict(self) -> str:
        """Flat, or with zero dynamics of some order; or not linearisable at all."""
        degrees = self.relative_degree()
        if vanishes(self.decoupling_matrix(), mpmath.det):
            return (
                f"relative degrees {degrees}, but the decoupling matrix is singular: these outputs cannot be decoupled"
            )
        left = len(self.x) - sum(degrees)
        if left == 0:
            return f"relative degrees {degrees} add up to the order {len(self.x)}: flat, no zero dynamics"
        return f"relative degrees {degrees}: zero dynamics of order {left}, which must be stable by itself"


def control_affine(eq: "Equations", actuated: Any = None, outputs: Any = None) -> ControlAffine:
    """The robot with state x = (q, v), torques at the actuated joints (all by default), and outputs (their coordinates by default).

    `actuated` are names of joints or numbers of coordinates; `outputs` SymPy expressions in q, v and parameters, or joints.
    f = (v, -M^-1 (C v + D v + S + N)), g = (0, M^-1 restricted to the actuated joints), with M^-1 = adj(M) / det(M).
    """
    n = eq.robot.nv
    if n > MOST_INVERTED:
        raise EquationsError(
            f"{n} degrees of freedom: the inverse mass matrix is written out for at most {MOST_INVERTED}; "
            "linearise at a point instead"
        )
    driven = coordinate_indices(eq, range(n) if actuated is None else actuated, "actuated joints")
    h = [eq.q[i] for i in driven] if outputs is None else _outputs(eq, outputs)
    if len(h) != len(driven):
        raise InputError(f"{len(h)} outputs for {len(driven)} inputs: expected as many")
    with eq.ring.budget.running():
        adjugate, determinant = _adjugate(eq.polynomial("M"))
        f = _over(eq, -(adjugate @ bias_polynomials(eq))[:, None], determinant)
        g = _over(eq, adjugate[:, driven], determinant)
    return ControlAffine(
        (*eq.q, *eq.v),
        sympy.Matrix.vstack(sympy.Matrix(eq.v), f),
        sympy.Matrix.vstack(sympy.zeros(n, len(driven)), g),
        sympy.Matrix(h),
        eq.ring.budget,
    )


def _over(eq: "Equations", above: Array, below: Polynomial) -> Matrix:
    """Polynomials over one polynomial, factored."""
    bottom = factored_expression(arranged(eq.displayed(below)))
    entries = [factored_expression(arranged(eq.displayed(p))) / bottom for p in above.ravel()]
    return sympy.Matrix(*above.shape, entries)


def _outputs(eq: "Equations", outputs: Any) -> list[Expr]:
    known = {*eq.q, *eq.v, *eq.parameters}
    if isinstance(outputs, str | sympy.Expr) or not isinstance(outputs, Iterable):
        outputs = [outputs]
    found: list[Expr] = []
    for i, output in enumerate(outputs):
        if isinstance(output, str):
            found += [eq.q[k] for k in coordinate_indices(eq, output, "outputs")]
            continue
        found.append(expression(output, f"output {i}"))
        strange = sorted(str(s) for s in found[-1].free_symbols - known)
        if strange:
            valid = choices(strange[0], sorted(map(str, known)))
            raise InputError(f"output {output} has the symbol {strange[0]}, which these equations do not: {valid}")
    return found


def _adjugate(M: Array) -> tuple[Array, Polynomial]:
    """The adjugate of a small symmetric matrix of polynomials and its determinant, by minors."""
    n = len(M)

    @cache
    def minor(rows: tuple[int, ...], columns: tuple[int, ...]) -> Any:
        if not rows:
            return M[0, 0].ring.constant(1)
        first, *others = rows
        parts = (
            (-1) ** k * M[first, column] * minor(tuple(others), columns[:k] + columns[k + 1 :])
            for k, column in enumerate(columns)
        )
        return sum(parts, start=M[0, 0].ring.constant(0))

    every = tuple(range(n))
    adjugate = np.empty((n, n), dtype=object)
    for i, j in np.ndindex(n, n):
        adjugate[i, j] = (-1) ** (i + j) * minor(every[:j] + every[j + 1 :], every[:i] + every[i + 1 :])
    return adjugate, minor(every, every)


# ---- zero dynamics ----


@dataclass(frozen=True)
class ZeroDynamics:
    """What the k free joints do while the actuated ones are held: M vdot + bias = 0, and its eigenvalues at a rest.

    `M` (k x k) and `bias` (k x 1) are in the free coordinates and rates; there are 2 k eigenvalues [1/s].
    """

    M: Matrix
    bias: Matrix
    eigenvalues: list[Any]
    verdict: str


def zero_dynamics(eq: "Equations", actuated: Any, rest: Any) -> ZeroDynamics:
    """Zero dynamics of the outputs q_a - rest_a, linearised at the rest q = `rest` (nv entries), v = 0.

    `actuated` are names of joints or numbers of coordinates. Eigenvalues are exact for up to two free joints, else numbers.
    """
    driven = coordinate_indices(eq, actuated, "actuated joints")
    q = expressions(eq, rest, "rest")
    free = [i for i in range(eq.robot.nv) if i not in driven]
    if not free:
        return ZeroDynamics(sympy.zeros(0), sympy.zeros(0, 1), [], "flat: all joints are actuated, no zero dynamics")
    near = linearised(eq, q)
    pull = near.tau.extract(free, [0])
    if not all(is_zero(b) for b in pull):
        raise InputError(f"q = {list(rest)} is no rest: the free joints are pulled by {list(pull)}")
    held = {eq.q[i]: q[i] for i in driven} | {eq.v[i]: sympy.Integer(0) for i in driven}
    bias = eq.matrix(bias_polynomials(eq)[free]).subs(held)
    M = eq.matrix(eq.polynomial("M")[np.ix_(free, free)]).subs(held)
    eigenvalues = _eigenvalues(near, free)
    return ZeroDynamics(M, bias, eigenvalues, _stability(eq, eigenvalues))


def _eigenvalues(near: Linearised, free: list[int]) -> list[Any]:
    """Of the free joints alone."""
    M, D, K = (X.extract(free, free) for X in (near.M, near.D, near.K))
    q, v = (tuple(x[i] for i in free) for x in (near.q, near.v))
    part = Linearised(q, v, sympy.zeros(len(free), 1), M, D, K, near.values, near.budget)
    if len(free) > MOST_ROOTS:
        return [complex(e) for e in np.linalg.eigvals(part.numbers().A)]
    return [e for e, times in part.A.eigenvals().items() for _ in range(times)]


def _stability(eq: "Equations", eigenvalues: list[Any]) -> str:
    values = eq.values
    unknown = sorted({s for e in map(sympy.sympify, eigenvalues) for s in e.free_symbols if s not in values}, key=str)
    point = {**values, **dict.fromkeys(unknown, 1)}
    real = [sympy.re(sympy.N(sympy.sympify(e).subs(point))) for e in eigenvalues]
    assumed = f" (with {' = '.join(map(str, unknown))} = 1)" if unknown else ""
    if any(r > 1e-9 for r in real):
        return f"unstable zero dynamics: the free joints run away while the actuated ones are held{assumed}"
    if all(r < -1e-9 for r in real):
        return f"asymptotically stable zero dynamics: minimum phase{assumed}"
    return f"marginally stable zero dynamics: the free joints swing on{assumed}"
