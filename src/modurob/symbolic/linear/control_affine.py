"""Equations of motion as a control-affine system xdot = f + g u: Lie derivatives, relative degree, decoupling."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import mpmath
import sympy

from modurob.errors import EquationsError, InputError, choices
from modurob.spatial.scalars import Array
from modurob.symbolic.factored import arranged
from modurob.symbolic.linear.arguments import coordinate_indices, expression
from modurob.symbolic.linear.linearisation import bias_polynomials
from modurob.symbolic.linear.solving import adjugate_and_determinant
from modurob.symbolic.printing import factored_expression
from modurob.symbolic.ring import Budget, Expr, Matrix, Polynomial

if TYPE_CHECKING:
    from modurob.symbolic.equations import Equations

# inverse mass matrices of more degrees of freedom are too large to write down
MOST_INVERTED = 4


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
        adjugate, determinant = adjugate_and_determinant(eq.polynomial("M"))
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
