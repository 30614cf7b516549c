"""The equations of motion of a robot in closed form: M(q) vdot + C(q, v) v + D v + N(q) = tau."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import sympy

from modurob import algorithms as al
from modurob.errors import InputError, choices
from modurob.mechanism import Tables
from modurob.spatial.scalars import Array
from modurob.symbolic import code, linear, size
from modurob.symbolic.coordinates import Coordinates
from modurob.symbolic.display import Display, natural_order
from modurob.symbolic.lagrange import lagrange
from modurob.symbolic.model import ExactTables
from modurob.symbolic.numbers import exact, from_expression
from modurob.symbolic.printing import LatexPrinter, TextPrinter, latex_name, latex_shorthand, latex_symbol, text_name
from modurob.symbolic.ring import Budget, Expr, Matrix, Polynomial, Ring

METHODS = ("two-step", "lagrange")
MATRICES = ("M", "C", "C_two_step", "D", "N")

Progress = Callable[[str, float], None]


class Line(NamedTuple):
    """One entry of a proof: its name, whether both ways give the same polynomial, and how many terms that has."""

    entry: str
    equal: bool
    terms: int


class Equations:
    """Exact polynomials in cosines and sines, coordinates, rates and parameters.

    M, C (of Christoffel symbols), C_two_step, D (viscous friction) and N are SymPy matrices; `polynomial(name)` has them in
    normal form. Coordinates are q1, q2, ..., rates qd1, qd2, ... in the order of the robot's v.
    """

    def __init__(
        self,
        robot: Tables,
        symbols: Collection[str] = (),
        method: str = "two-step",
        digits: int | None = None,
        time_limit: float | None = None,
        largest: int | None = size.LARGEST,
        cancelled: Callable[[], bool] = lambda: False,
        progress: Progress = lambda stage, done: None,
    ):
        if method not in METHODS:
            raise InputError(f"no method {method!r}: {choices(method, METHODS)}")
        self.robot, self.method = robot, method
        self._arguments = {"symbols": symbols, "digits": digits, "time_limit": time_limit, "largest": largest}
        self._progress = progress
        self.ring = Ring(Budget(time_limit, largest, cancelled))
        self.coordinates = Coordinates(robot, self.ring)
        self._exact = ExactTables(self.ring, symbols, digits)
        self.tables = self._exact.tables(robot)
        if largest is not None:
            size.require(self.tables, self.coordinates, largest)
        self._digits = digits
        progress("mass matrix", 0.1)
        self._polynomials = self._derived()

    def _derived(self) -> dict[str, Array]:
        q, m = self.coordinates.q, self.tables
        if self.method == "lagrange":
            M, N, self._potential = lagrange(m, self.coordinates)
        else:
            M = al.mass_matrix(m, q)
            self._progress("gravity", 0.2)
            N = al.gravity_forces(m, q)
            self._potential = al.potential_energy(m, q)
        return {"M": self._filled(M), "N": self._filled(N)}

    def _filled(self, array: Any) -> Array:
        """Plain numbers among the entries made polynomials."""
        array = np.asarray(array, dtype=object)
        out = np.empty(array.shape, dtype=object)
        for at in np.ndindex(array.shape):
            out[at] = array[at] if isinstance(array[at], Polynomial) else self.ring.constant(array[at])
        return out

    # ---- the parts in normal form ----

    def polynomial(self, name: str) -> Array:
        """M, C, C_two_step, D or N as an array of polynomials in normal form."""
        if name not in MATRICES:
            raise InputError(f"no part {name!r} of the equations: {choices(name, MATRICES)}")
        if name not in self._polynomials:
            make = {"C": self._christoffel, "C_two_step": self._two_step, "D": self._damping}[name]
            self._polynomials[name] = self._filled(make())
        return self._polynomials[name]

    def _christoffel(self) -> Array:
        """C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k / 2."""
        M, n, v = self._polynomials["M"], self.robot.nv, self.coordinates.v
        dM = np.empty((n, n, n), dtype=object)
        for i in range(n):
            self._progress("Christoffel symbols", 0.2 + 0.4 * i / n)
            for j in range(i, n):
                for k in range(n):
                    dM[i, j, k] = dM[j, i, k] = self.coordinates.derivative(M[i, j], k)
        C = np.empty((n, n), dtype=object)
        for i in range(n):
            self._progress("Coriolis matrix", 0.6 + 0.4 * i / n)
            for j in range(n):
                slopes = dM[i, j] + dM[i, :, j] - dM[j, :, i]
                C[i, j] = (slopes @ v) / 2
        return C

    def _two_step(self) -> Array:
        self._progress("two-step Coriolis matrix", 0.6)
        return al.two_step_coriolis_matrix(self.tables, self.coordinates.q, self.coordinates.v)

    def _damping(self) -> Array:
        return np.diag(self.tables.damping) if self.robot.nv else np.zeros((0, 0))

    # ---- the parts for SymPy ----

    def _matrix(self, name: str) -> Matrix:
        return self.matrix(self.polynomial(name))

    @cached_property
    def M(self) -> Matrix:
        """Mass matrix."""
        return self._matrix("M")

    @cached_property
    def C(self) -> Matrix:
        """Coriolis matrix of Christoffel symbols: dM/dt - 2 C is skew-symmetric."""
        return self._matrix("C")

    @cached_property
    def C_two_step(self) -> Matrix:
        """Coriolis matrix of the two-step recursion (000 (3.38)); the same product with v."""
        return self._matrix("C_two_step")

    @cached_property
    def D(self) -> Matrix:
        """Viscous friction of the joints, diagonal."""
        return self._matrix("D")

    @cached_property
    def N(self) -> Matrix:
        """Gravity forces, a column."""
        return self._matrix("N")

    @cached_property
    def kinetic_energy(self) -> sympy.Expr:
        """v^T M v / 2."""
        v: Any = self.coordinates.v
        return self.expression(v @ self._polynomials["M"] @ v / 2)

    @cached_property
    def potential_energy(self) -> sympy.Expr:
        """Zero with the centre of mass at the world origin."""
        potential: Any = self._potential
        return self.expression(potential)

    def forward_kinematics(self, frame: str) -> Matrix:
        """X_WF, 4 x 4."""
        return self.matrix(self._filled(al.frame_pose(self._framed(frame), self.coordinates.q, frame)))

    def jacobian(self, frame: str) -> Matrix:
        """6 x nv, rows (v, w): world axes at the frame's origin."""
        return self.matrix(self._filled(al.jacobian(self._framed(frame), self.coordinates.q, frame)))

    def regressor(self) -> Matrix:
        """Y(q, v, vdot), nv x 10 n: torques are Y times the inertial parameters; accelerations are qdd1, qdd2, ..."""
        vdot = np.array([self.ring.symbol(s) for s in self.coordinates.vdot_symbols], dtype=object)
        return self.matrix(self._filled(al.regressor(self.tables, self.coordinates.q, self.coordinates.v, vdot)))

    def _framed(self, frame: str) -> Tables:
        """The exact tables with this frame's own pose made exact."""
        at = self.robot.frame(frame)
        pose = self._exact._pose(at.X, f"frame {frame}")
        return replace(self.tables, frames={frame: at._replace(X=pose)})

    # ---- symbols ----

    @property
    def q(self) -> list[sympy.Symbol]:
        """The coordinates."""
        return self.coordinates.q_symbols

    @property
    def v(self) -> list[sympy.Symbol]:
        """The rates."""
        return self.coordinates.v_symbols

    @cached_property
    def parameters(self) -> list[sympy.Symbol]:
        """The symbols that are neither coordinates nor rates, in the order of their names."""
        moving = {*self.q, *self.v, *self.coordinates.vdot_symbols}
        plain = (g.expression for g in self.ring.generators)
        found = [e for e in plain if isinstance(e, sympy.Symbol) and e not in moving]
        return sorted(found, key=lambda e: natural_order(e.name))

    @property
    def values(self) -> dict[sympy.Symbol, float]:
        """The numbers that symbols made here stand for."""
        return dict(self._exact.values)

    # ---- reading ----

    @cached_property
    def _display(self) -> Display:
        return Display(self.coordinates)

    def expression(self, p: Polynomial) -> sympy.Expr:
        """A polynomial for SymPy, with angles summed along parallel axes."""
        return self._display.polynomial(p).expression()

    def matrix(self, polynomials: Array) -> Matrix:
        """An array of polynomials for SymPy; vectors become columns."""
        rows = polynomials if polynomials.ndim == 2 else polynomials[:, None]
        return sympy.Matrix(rows.shape[0], rows.shape[1], [self.expression(p) for p in rows.ravel()])

    def __str__(self) -> str:
        return "\n".join(f"{name} = {text}" for name, text in self.entries("M", "C", "N"))

    def entries(self, *parts: str) -> list[tuple[str, str]]:
        """Every entry as text, collected and factored where that is shorter."""
        printer, lines = TextPrinter(text_name), []
        for part in parts:
            array: Any = self.polynomial(part)
            for at in np.ndindex(array.shape):
                name = f"{part}[{', '.join(str(i + 1) for i in at)}]"
                lines.append((name, printer.polynomial(self._display.polynomial(array[at]))))
        return lines

    def latex(self, shorthand: bool = False, parts: Collection[str] = ("M", "C", "N")) -> str:
        """The equations for LaTeX, a matrix each, with a legend; c_{12} for cos(q1 + q2) with `shorthand`."""
        printer = LatexPrinter(latex_shorthand if shorthand else latex_name)
        lines = [r"\begin{aligned}", rf"& {self._law()} \\"]
        for part in parts:
            array = self.polynomial(part)
            rows = array if array.ndim == 2 else array[:, None]
            body = r" \\ ".join(
                " & ".join(printer.polynomial(self._display.polynomial(p)) for p in row) for row in rows
            )
            lines.append(rf"& {_LATEX_PART[part]} = \begin{{bmatrix}} {body} \end{{bmatrix}} \\")
        lines += [rf"& \text{{{legend}}} \\" for legend in self.legend(latex=True, shorthand=shorthand)]
        return "\n".join([*lines, r"\end{aligned}"])

    def _law(self) -> str:
        friction = r" + D \dot{q}" if any(p for p in self.polynomial("D").ravel()) else ""
        return rf"M(q)\,\ddot{{q}} + C(q,\dot{{q}})\,\dot{{q}}{friction} + N(q) = \tau"

    def legend(self, latex: bool = False, shorthand: bool = False) -> list[str]:
        """What the symbols mean, a line each."""

        def shown(symbol: str) -> str:
            return f"${latex_symbol(symbol)}$" if latex else symbol

        lines = []
        for joint in self.robot.joints:
            if not joint.mimics:
                for i in range(joint.q_slice.start, joint.q_slice.stop):
                    name = joint.name.replace("_", r"\_") if latex else joint.name
                    lines.append(f"{shown(f'q{i + 1}')}: coordinate of joint {name} ({joint.kind})")
        lines += [f"{shown(str(p))}: {self._meaning(p)}" for p in self.parameters]
        if shorthand:
            lines.append("$c_{12} = \\cos(q_{1}+q_{2})$, $s_{12} = \\sin(q_{1}+q_{2})$ and so on")
        return lines

    def _meaning(self, symbol: sympy.Symbol) -> str:
        value = self._exact.values.get(symbol)
        return "parameter of the robot" if value is None else f"{value:.6g} in this robot"

    # ---- comparing ----

    def equals(self, other: "Equations | Mapping[str, Any]") -> bool:
        """Whether all that `other` has is identical: other equations, or SymPy matrices by name (M, C, C_two_step, D, N).

        Decided exactly, on normal forms; symbols are compared by name.
        """
        parts = ("M", "C", "N") if isinstance(other, Equations) else tuple(other)
        for part in parts:
            mine = self.polynomial(part)
            theirs: Any = other.polynomial(part) if isinstance(other, Equations) else _rows(other[part], mine.ndim)
            if theirs.shape != mine.shape:
                return False
            for at in np.ndindex(mine.shape):
                if mine[at] != self.normal_form(theirs[at]):
                    return False
        return True

    def normal_form(self, expression: Any) -> Polynomial:
        """A SymPy expression, or a polynomial of other equations, in this ring."""
        if isinstance(expression, Polynomial):
            if expression.ring is self.ring:
                return expression
            expression = expression.expression()
        if isinstance(expression, sympy.Expr):
            return from_expression(self.ring, expression, self.coordinates.trigonometry)
        return exact(self.ring, expression, "the number", self._digits)

    def proof(self) -> list[Line]:
        """Entry by entry, whether these equations and those derived the other way are identical (000 5.1.3)."""
        other = METHODS[1 - METHODS.index(self.method)]
        twin = Equations(self.robot, method=other, **self._arguments)
        v = self.coordinates.v
        lines = []
        for part in ("M", "N"):
            mine: Any = self.polynomial(part)
            theirs: Any = twin.polynomial(part)
            for at in np.ndindex(mine.shape):
                lines.append(self._line(part, at, mine[at], theirs[at]))
        mine, theirs = self.polynomial("C_two_step") @ v, twin.polynomial("C") @ twin.coordinates.v
        return lines + [self._line("C v", (i,), mine[i], theirs[i]) for i in range(len(v))]

    def _line(self, part: str, at: tuple[int, ...], mine: Polynomial, theirs: Polynomial) -> Line:
        name = f"{part}[{', '.join(str(i + 1) for i in at)}]"
        return Line(name, mine == self.normal_form(theirs), len(mine.terms))

    # ---- control ----

    def linearised(
        self, q: Sequence[Any], v: Sequence[Any] | None = None, tau: Sequence[Any] | None = None
    ) -> linear.Linearised:
        """A and B at a point; see `linear.linearised`."""
        return linear.linearised(self, q, v, tau)

    def control_affine(
        self, actuated: Sequence[int] | None = None, outputs: Sequence[Expr] | None = None
    ) -> linear.ControlAffine:
        """xdot = f + g u, y = h, with Lie derivatives, relative degree and decoupling matrix; see `linear.control_affine`."""
        return linear.control_affine(self, actuated, outputs)

    def zero_dynamics(self, actuated: Sequence[int], rest: Sequence[Any]) -> linear.ZeroDynamics:
        """What the free joints do while the actuated ones are held; see `linear.zero_dynamics`."""
        return linear.zero_dynamics(self, actuated, rest)

    # ---- code ----

    @cached_property
    def _program(self) -> code.Program:
        return code.shortest_program(self)

    def operations(self) -> dict[str, Any]:
        """Operations of the generated code for M, C and N, beside the counts of document 001 (5.5.1)."""
        return code.operations(self._program, self.robot.nv)

    def python(self) -> str:
        """A Python module with a NumPy function `equations(q, v, p)` that returns M, C, N; broadcasts over leading axes."""
        return code.python_module(self, self._program)

    def c(self) -> str:
        """A C99 file with a function that fills M, C, N: no heap, no library but sin and cos."""
        return code.c_file(self, self._program)

    @cached_property
    def function(self) -> Callable[..., tuple[Array, Array, Array]]:
        """The NumPy function of `python()`."""
        names: dict[str, Any] = {}
        exec(compile(self.python(), "<equations>", "exec"), names)
        return names["equations"]


_LATEX_PART = {"M": "M", "C": "C", "C_two_step": r"C_{\text{two-step}}", "D": "D", "N": "N"}


def _rows(matrix: Any, ndim: int) -> Array:
    """A SymPy matrix or nested list as an array of objects."""
    array = np.array(matrix.tolist() if isinstance(matrix, sympy.MatrixBase) else matrix, dtype=object)
    return array[:, 0] if ndim == 1 and array.ndim == 2 else array
