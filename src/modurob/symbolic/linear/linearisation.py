"""Equations of motion near a state: M dq'' + D dq' + K dq = dtau, and the same as d/dt (dq, dv) = A (dq, dv) + B dtau."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from modurob.caching import cached_property
from modurob.errors import InputError
from modurob.spatial.scalars import Array
from modurob.symbolic.linear.arguments import expressions
from modurob.symbolic.linear.evaluation import Evaluation, float_value
from modurob.symbolic.linear.solving import solved
from modurob.symbolic.ring import Budget, Matrix, polynomials

if TYPE_CHECKING:
    from modurob.symbolic.equations import Equations


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


def linearised(eq: "Equations", q: Any, v: Any = None, tau: Any = None) -> Linearised:
    """Linearise at (q, v), nv numbers or SymPy expressions each, v zero by default; without tau at the torque that keeps vdot = 0.

    K = d(C v + D v + S + N)/dq + (dM/dq) vdot and D = d(C v + D v)/dv, taken on polynomials and evaluated at the point.
    """
    n, budget = eq.robot.nv, eq.ring.budget
    q0, v0 = expressions(eq, q, "q"), expressions(eq, [0] * n if v is None else v, "v")
    tau0 = None if tau is None else sympy.Matrix(expressions(eq, tau, "tau"))
    with budget.running():
        at, bias = Evaluation(eq, q0, v0), bias_polynomials(eq)
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
    return polynomials(eq.ring, rows + eq.polynomial("S") + eq.polynomial("N"))


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
