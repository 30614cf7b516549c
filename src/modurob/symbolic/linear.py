"""Equations of motion near a point, and as a control-affine system: linearisation, Lie derivatives, relative degree."""

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import sympy

from modurob.errors import EquationsError, InputError
from modurob.spatial.scalars import Array
from modurob.symbolic.ring import Expr, Matrix

if TYPE_CHECKING:
    from modurob.symbolic.equations import Equations

# inverse mass matrices of more freedoms are too large to write down
MOST_FREEDOMS = 4


class Linearised(NamedTuple):
    """d/dt (dq, dv) = A (dq, dv) + B dtau near (q, v) under tau; SymPy matrices, exact."""

    A: Matrix
    B: Matrix
    tau: Matrix

    def numbers(self, values: dict) -> tuple[Array, Array]:
        """A and B as arrays, symbols replaced by their values."""
        A, B = (np.array(X.subs(values).evalf(), dtype=float) for X in (self.A, self.B))
        return A, B


def linearised(
    eq: "Equations", q: Sequence[Any], v: Sequence[Any] | None = None, tau: Sequence[Any] | None = None
) -> Linearised:
    """Linearise at (q, v); without tau at the torque that keeps vdot = 0 there.

    dvdot/dq_k = -M^-1 (dh/dq_k + dM/dq_k vdot), dvdot/dv = -M^-1 dh/dv, with h = C v + D v + N.
    """
    n = eq.robot.nv
    v = [0] * n if v is None else v
    for name, given in (("q", q), ("v", v), ("tau", [0] * n if tau is None else tau)):
        if len(given) != n:
            raise InputError(f"{name} has {len(given)} entries: expected {n}")
    point = dict(zip([*eq.q, *eq.v], [sympy.sympify(x) for x in [*q, *v]], strict=True))
    rates = sympy.Matrix(eq.v)
    h = (eq.C + eq.D) * rates + eq.N
    M0, h0 = eq.M.subs(point), h.subs(point)
    tau0 = h0 if tau is None else sympy.Matrix(list(tau))
    vdot = M0.LUsolve(tau0 - h0)
    slopes = [(-h.diff(s) - eq.M.diff(s) * vdot).subs(point) for s in eq.q]
    right = sympy.Matrix.hstack(*slopes, -h.jacobian(rates).subs(point), sympy.eye(n))
    solved = M0.LUsolve(right).applyfunc(sympy.simplify)
    A = sympy.Matrix.vstack(sympy.Matrix.hstack(sympy.zeros(n), sympy.eye(n)), solved[:, : 2 * n])
    B = sympy.Matrix.vstack(sympy.zeros(n), solved[:, 2 * n :])
    return Linearised(A, B, tau0)


def lie_derivative(h: Expr, f: Matrix, x: Sequence[sympy.Symbol], order: int = 1) -> sympy.Expr:
    """The derivative of h along the vector field f, repeated `order` times (000 (6.4), (6.6))."""
    for _ in range(order):
        h = sum((sympy.diff(h, x_i) * f_i for x_i, f_i in zip(x, f, strict=True)), start=sympy.Integer(0))
    return h


def is_zero(expression: Expr) -> bool:
    """Whether an expression vanishes identically: it is evaluated at random points with 40 digits."""
    symbols = sorted(expression.free_symbols, key=str)
    rng = random.Random(0)
    for _ in range(3):
        point = {s: sympy.Rational(rng.randint(100, 900), 457) for s in symbols}
        value = sympy.N(expression.subs(point), 40, maxn=400)
        if not value.is_number or abs(value) > sympy.Float("1e-25"):
            return False
    return True


class ControlAffine(NamedTuple):
    """xdot = f(x) + g(x) u, y = h(x), as many outputs as inputs (000 (6.1))."""

    x: tuple[sympy.Symbol, ...]
    f: Matrix  # (n, 1)
    g: Matrix  # (n, m)
    h: Matrix  # (m, 1)

    def relative_degree(self) -> tuple[int, ...]:
        """How often each output must be differentiated until an input appears (000 (6.7)); an error if none ever does."""
        return tuple(self._degree(h) for h in self.h)

    def _degree(self, h: Expr) -> int:
        for degree in range(1, len(self.x) + 1):
            if not all(is_zero(lie_derivative(h, self.g[:, j], self.x)) for j in range(self.g.cols)):
                return degree
            h = lie_derivative(h, self.f, self.x)
        raise EquationsError(f"no input ever reaches the output {self.h[0] if len(self.h) == 1 else h}")

    def decoupling_matrix(self) -> Matrix:
        """A_ij = L_gj L_f^(r_i - 1) h_i (000 (6.9)); feedback linearisation needs it regular."""
        rows = []
        for h, degree in zip(self.h, self.relative_degree(), strict=True):
            above = lie_derivative(h, self.f, self.x, degree - 1)
            rows.append([lie_derivative(above, self.g[:, j], self.x) for j in range(self.g.cols)])
        return sympy.Matrix(rows)

    def drift(self) -> Matrix:
        """b_i = L_f^(r_i) h_i (000 (6.18)): with u = A^-1 (w - b) the outputs obey y_i^(r_i) = w_i."""
        return sympy.Matrix(
            [lie_derivative(h, self.f, self.x, r) for h, r in zip(self.h, self.relative_degree(), strict=True)]
        )

    def verdict(self) -> str:
        """Flat, or with zero dynamics of some order; or not linearisable at all."""
        degrees = self.relative_degree()
        if is_zero(self.decoupling_matrix().det()):
            return (
                f"relative degrees {degrees}, but the decoupling matrix is singular: these outputs cannot be decoupled"
            )
        left = len(self.x) - sum(degrees)
        if left == 0:
            return f"relative degrees {degrees} add up to the order {len(self.x)}: flat, no zero dynamics"
        return f"relative degrees {degrees}: zero dynamics of order {left}, which must be stable by itself"


def control_affine(
    eq: "Equations", actuated: Sequence[int] | None = None, outputs: Sequence[Expr] | None = None
) -> ControlAffine:
    """The robot with state (q, v), torques at the actuated rates (all by default), and outputs (their coordinates by default)."""
    n = eq.robot.nv
    if n > MOST_FREEDOMS:
        raise EquationsError(
            f"{n} freedoms: the inverse mass matrix is written out for at most {MOST_FREEDOMS}; linearise at a point instead"
        )
    actuated = range(n) if actuated is None else actuated
    rates = sympy.Matrix(eq.v)
    adjugate, determinant = eq.M.adjugate(), eq.M.det(method="berkowitz")
    inverse = adjugate / determinant
    f = sympy.Matrix.vstack(rates, -inverse * ((eq.C + eq.D) * rates + eq.N))
    g = sympy.Matrix.vstack(sympy.zeros(n, len(actuated)), inverse[:, list(actuated)])
    h = sympy.Matrix([eq.q[i] for i in actuated] if outputs is None else list(outputs))
    if len(h) != len(actuated):
        raise InputError(f"{len(h)} outputs for {len(actuated)} inputs: expected as many")
    return ControlAffine((*eq.q, *eq.v), f, g, h)


class ZeroDynamics(NamedTuple):
    """What the free joints do while the actuated ones are held: M vdot + bias = 0, and its eigenvalues at a rest."""

    M: Matrix
    bias: Matrix
    eigenvalues: list[Any]
    verdict: str


def zero_dynamics(eq: "Equations", actuated: Sequence[int], rest: Sequence[Any]) -> ZeroDynamics:
    """Zero dynamics of the outputs q_a - rest_a, linearised at the rest q = `rest`, v = 0."""
    n = eq.robot.nv
    free = [i for i in range(n) if i not in set(actuated)]
    if not free:
        return ZeroDynamics(sympy.zeros(0), sympy.zeros(0, 1), [], "flat: all joints are actuated, no zero dynamics")
    held = {eq.q[i]: sympy.sympify(rest[i]) for i in actuated} | {eq.v[i]: sympy.Integer(0) for i in actuated}
    bias = ((eq.C + eq.D) * sympy.Matrix(eq.v) + eq.N).extract(free, [0]).subs(held)
    M = eq.M.extract(free, free).subs(held)
    point = {eq.q[i]: sympy.sympify(rest[i]) for i in free} | {eq.v[i]: sympy.Integer(0) for i in free}
    if not all(is_zero(b) for b in bias.subs(point)):
        raise InputError(f"q = {list(rest)} is no rest: the free joints are pulled by {list(bias.subs(point))}")
    at = M.subs(point)
    stiffness = bias.jacobian([eq.q[i] for i in free]).subs(point)
    damping = bias.jacobian([eq.v[i] for i in free]).subs(point)
    k = len(free)
    A = sympy.Matrix.vstack(
        sympy.Matrix.hstack(sympy.zeros(k), sympy.eye(k)),
        sympy.Matrix.hstack(-at.LUsolve(stiffness), -at.LUsolve(damping)),
    )
    eigenvalues = [e for e, times in A.eigenvals().items() for _ in range(times)]
    return ZeroDynamics(M, bias, eigenvalues, _stability(eq, eigenvalues))


def _stability(eq: "Equations", eigenvalues: list[Any]) -> str:
    values = eq.values
    real = [
        sympy.re(sympy.N(e.subs(values).subs({s: 1 for s in e.free_symbols if s not in values}))) for e in eigenvalues
    ]
    if any(r > 1e-9 for r in real):
        return "unstable zero dynamics: the free joints run away while the actuated ones are held"
    if all(r < -1e-9 for r in real):
        return "asymptotically stable zero dynamics: minimum phase"
    return "marginally stable zero dynamics: the free joints swing on"
