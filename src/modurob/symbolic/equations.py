"""The equations of motion of a robot in closed form: M(q) vdot + C(q, v) v + D v + S(q) + N(q) = tau."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy

from modurob import algorithms as al
from modurob.caching import cached_property
from modurob.errors import EquationsError, explained
from modurob.mechanism import Tables
from modurob.spatial.scalars import Array
from modurob.symbolic import base, code, describe, forces, linear, lines, loops, typeset
from modurob.symbolic.comparing import Comparing, Line
from modurob.symbolic.derivation import METHODS, silent
from modurob.symbolic.ring import Expr, Matrix, polynomials

# entries with more terms are counted, not written, unless asked for: on a page, and in a terminal
LONGEST, LONGEST_LINE = 500, 100


class Equations(Comparing):
    """The equations of motion M(q) vdot + C(q, v) v + D v + S(q) + N(q) = tau of a robot: exact, compact, printable.

    D are viscous friction and dampers, S springs, as the robot's table of forces has them; what has no closed form, such as stops
    and dry friction, is named in `left_out`.
    Of a robot with loops these are the equations of its tree, with K^T lambda on the right; `conditions`, `K` and
    `independent()` are those of its loops.
    Every entry is a polynomial in cosines and sines, lengths, rates and parameters, with fractions as coefficients.
    M, C, C_two_step, D (nv x nv) and S, N (nv x 1) are SymPy matrices; `polynomial(name)` has them in normal form.
    Coordinates are q1, q2, ... [rad, m], rates qd1, qd2, ... [rad/s, m/s] in the order of the robot's v. SI units.

    `symbols` says which numbers become symbols: one kind, several, or "all" of masses (m1), centres (x1, y1, z1), inertias
    (Ixx1, ... about the centre), lengths (l1), gravity (g), armatures (J1), dampings (d1) and stiffnesses (k1).
    Numbers that are no short fraction become symbols too, unless `digits` says to how many decimals they are rounded.
    `method` is "two-step" (Gutenkunst (3.38); Meister, Gutenkunst, Levi (32)) or "lagrange", from energies.
    `time_limit` [s] is for each call; `largest` the number of terms the mass matrix may have, None for any; `cancelled()`
    stops the work soon after it is true; `progress(stage, done)` is told what is done, from 0 to 1. No symbol has a name in
    `avoid`, such as those of modules.
    Of symbols that the robot came with, `quantities` tells the meaning, and `constants` the exact numbers to put in their places.

    >>> import modurob as mr
    >>> eq = mr.load("crab").mechanism().equations("masses")
    >>> eq
    Equations('crab', 3 degrees of freedom, 35 terms in M and N, 3 parameters)
    >>> eq.N[1]
    20601*m2*cos(q1 + q2)/20000

    A value: equal if they were derived from equal robots in the same way. `equals` decides whether different derivations are
    identical.
    """

    @property
    def _made_of(self) -> tuple[Any, ...]:
        """All that decides what they are."""
        return self.robot, self.method, self._symbols, self._digits, self._avoid, self._given, self._constants

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Equations) and self._made_of == other._made_of)

    def __hash__(self) -> int:
        return hash((self.robot, self.method))

    def __getstate__(self) -> dict[str, Any]:
        """Without code and without the caller's functions, so that equations can be pickled."""
        kept = {name: value for name, value in self.__dict__.items() if name not in ("function", "_program")}
        return {**kept, "_progress": silent}

    # ---- the parts for SymPy ----

    def _matrix(self, name: str) -> Matrix:
        return self.matrix(self.polynomial(name))

    @cached_property
    def M(self) -> Matrix:
        """Mass matrix M(q), nv x nv, symmetric [kg m², kg m or kg].

        >>> import modurob as mr
        >>> mr.load("crab").mechanism().equations("masses").M[1, 0]
        441*m2*cos(q2)/40000 + 441*m2/40000 + 147/80000
        """
        return self._matrix("M")

    @cached_property
    def C(self) -> Matrix:
        """Coriolis matrix C(q, v) of Christoffel symbols, nv x nv: dM/dt - 2 C is skew-symmetric.

        C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k / 2.

        >>> import modurob as mr
        >>> mr.load("crab").mechanism().equations("masses").C[1, 0]
        441*m2*qd1*sin(q2)/40000
        """
        return self._matrix("C")

    @cached_property
    def C_two_step(self) -> Matrix:
        """Coriolis matrix of the two-step recursion, nv x nv (Gutenkunst (3.38)): another matrix with the same product C v.

        >>> import modurob as mr
        >>> eq = mr.load("crab").mechanism().equations("masses")
        >>> v = sympy.Matrix(eq.v)
        >>> ((eq.C_two_step - eq.C) * v).expand()
        Matrix([
        [0],
        [0],
        [0]])
        """
        return self._matrix("C_two_step")

    @cached_property
    def D(self) -> Matrix:
        """Viscous friction of the joints and dampers, nv x nv [N m s/rad or N s/m].

        It is diagonal unless springs between frames are damped.

        >>> import modurob as mr
        >>> mr.load("crab").with_parameters(damping=0.5).mechanism().equations("dampings").D[0, 0]
        d1
        """
        return self._matrix("D")

    @cached_property
    def N(self) -> Matrix:
        """Gravity forces N(q), the gradient of the potential energy, nv x 1 [N m or N].

        >>> import modurob as mr
        >>> mr.load("crab").mechanism().equations(("lengths", "gravity")).N[1]
        g*l1*cos(q1 + q2)
        """
        return self._matrix("N")

    @cached_property
    def S(self) -> Matrix:
        """Forces of the springs S(q), the gradient of the energy they store, nv x 1 [N m or N].

        -(D v + S) are the torques that friction and springs add to the drives'.

        >>> import modurob as mr
        >>> robot = mr.load("crab").mechanism()
        >>> robot.with_force("soft", mr.JointSpring(2.0, rest=0.5), joint=robot.joints[1].name).equations("stiffnesses").S[1]
        k2*q2 - k2/2
        """
        return self._matrix("S")

    @property
    def left_out(self) -> tuple[forces.LeftOut, ...]:
        """The forces of the robot that have no closed form, such as stops and dry friction, each with the reason.

        >>> import modurob as mr
        >>> robot = mr.load("crab").mechanism().without_forces().with_force("rust", mr.Friction(coulomb=0.5), joint="m0/hinge")
        >>> robot.equations().left_out
        (LeftOut(name='rust', reason='dry friction: at rest it holds against whatever is applied'),)
        """
        return self._passive.left_out

    @cached_property
    def elastic_energy(self) -> sympy.Expr:
        """What the springs store [J]."""
        return self.expression(self._passive.energy)

    @cached_property
    def kinetic_energy(self) -> sympy.Expr:
        """v^T M v / 2 [J]."""
        v: Any = self.coordinates.v
        return self.expression(v @ self._polynomials["M"] @ v / 2)

    @cached_property
    def potential_energy(self) -> sympy.Expr:
        """-sum of m g . p over the moving bodies [J]: zero with their centre of mass at the world origin."""
        potential: Any = self._potential
        return self.expression(potential)

    # ---- loops and lines ----

    @cached_property
    def polynomial_conditions(self) -> Array:
        """phi(q) of the loops and couplings, zero where they hold, in normal form, (rows,); rows that always hold are left out."""
        with self.ring.budget.running():
            found = loops.conditions(self.robot, self.tables, self.coordinates, self._exact)
            return np.array(found, dtype=object)

    @cached_property
    def polynomial_K(self) -> Array:
        """d phi/dq in normal form, (rows, nv)."""
        rates = range(self.robot.nv)
        rows = [[self.coordinates.derivative(p, i) for i in rates] for p in self.polynomial_conditions]
        return polynomials(self.ring, np.array(rows, dtype=object).reshape(len(rows), self.robot.nv))

    @cached_property
    def polynomial_k(self) -> Array:
        """k of K vdot = k in normal form, (rows,): minus the second derivatives of phi along v."""
        c, v = self.coordinates, self.coordinates.v
        slopes = [[c.derivative(x, i) for i in range(self.robot.nv)] for x in (self.polynomial_K @ v)]
        return -polynomials(self.ring, np.array(slopes, dtype=object).reshape(-1, self.robot.nv)) @ v

    @property
    def conditions(self) -> Matrix:
        """phi(q), zero where loops are closed and couplings hold [m, or sines of angles], rows x 1.

        >>> import modurob as mr
        >>> b = mr.Builder("geared")
        >>> for name in ("wheel", "pinion"):
        ...     own = b.body(name, mr.spatial.inertia.point(1.0, (0, 0, -1)), joint=mr.Revolute((1, 0, 0)))
        >>> b.coupling("teeth", {"wheel": 3.0, "pinion": 1.0})
        >>> b.build().equations().conditions
        Matrix([[3*q1 + q2]])
        """
        return self.matrix(self.polynomial_conditions)

    @property
    def K(self) -> Matrix:
        """K(q) = d phi/dq, rows x nv: K v = 0 where loops are closed; multipliers push with K^T lambda.

        Its rows are those of `conditions`: other combinations than those of `robot.loop_jacobian`, with the same null vectors.
        """
        return self.matrix(self.polynomial_K)

    def independent(self, joints: Sequence[str] | None = None) -> loops.IndependentEquations:
        """The equations of motion of a robot with loops in independent rates: M y'' + bias = G^T tau, v = G y', vdot = G y'' + g.

        `joints` names the independent rates; by default they are chosen at a closed configuration.

        >>> import modurob as mr
        >>> b = mr.Builder("geared")
        >>> for name in ("wheel", "pinion"):
        ...     own = b.body(name, mr.spatial.inertia.point(1.0, (0, 0, -1)), joint=mr.Revolute((1, 0, 0)))
        >>> b.coupling("teeth", {"wheel": 3.0, "pinion": 1.0})
        >>> b.build().equations().independent(["wheel"]).M
        Matrix([[10]])
        """
        return loops.independent(self, joints)

    def line(self, name: str) -> lines.LineEquations:
        """A cable or spring over a route in closed form: length, stretch, tension, and the torques on the joints.

        >>> import modurob as mr
        >>> b = mr.Builder("pendulum")
        >>> ball = b.body("ball", mr.spatial.inertia.point(1.0, (0, 0, -1)), joint=mr.Revolute((1, 0, 0)))
        >>> b.line("rope", [("world", (0, 0, -2)), ("ball", (0, 0, -1))], mr.Spring(1.0, 1.0))
        >>> sympy.simplify(b.build().equations().line("rope").length)
        sqrt(5 - 4*cos(q1))
        """
        with self.ring.budget.running():
            return lines.line_equations(self, name, self._exact)

    def forward_kinematics(self, frame: str) -> Matrix:
        """X_WF, 4 x 4: the pose of a named frame in the world.

        >>> import modurob as mr
        >>> mr.load("double_pendulum").mechanism().equations().forward_kinematics("m1")[:3, 3]
        Matrix([
        [          0],
        [10*cos(q1)],
        [10*sin(q1)]])
        """
        with self.ring.budget.running():
            return self.matrix(polynomials(self.ring, al.frame_pose(self._framed(frame), self.coordinates.q, frame)))

    def jacobian(self, frame: str) -> Matrix:
        """6 x nv, rows (v, w): the frame's velocity per unit rate, in world axes at the frame's origin."""
        with self.ring.budget.running():
            return self.matrix(polynomials(self.ring, al.jacobian(self._framed(frame), self.coordinates.q, frame)))

    def regressor(self) -> Matrix:
        """Y(q, v, vdot), nv x 10 n: torques are Y times the inertial parameters of the n bodies; accelerations are qdd1, ..."""
        with self.ring.budget.running():
            return self.matrix(self._regressor())

    def base_parameters(self) -> list[sympy.Expr]:
        """The combinations of inertial parameters that torques depend on, exact: as many as can be identified.

        m1, mx1, ..., Izz1 are mass, first moments and tensor of body 1 in its frame about its origin [kg, kg m, kg m²]. With
        symbols of lengths they hold for all lengths but special ones. `robot.base_parameters()` finds the same in numbers.

        >>> import modurob as mr
        >>> mr.load("double_pendulum").robot().equations("lengths").base_parameters()[:2]
        [l1*m2 + my1, mz1]
        """
        with self.ring.budget.running():
            return base.base_parameters(self._regressor(), self.coordinates)

    def _regressor(self) -> Array:
        vdot = np.array([self.ring.symbol(s) for s in self.coordinates.vdot_symbols], dtype=object)
        return polynomials(self.ring, al.regressor(self.tables, self.coordinates.q, self.coordinates.v, vdot))

    def _framed(self, frame: str) -> Tables:
        """The exact tables with this frame's own pose made exact."""
        at = self.robot.frame(frame)
        pose = self._exact.pose(at.X, f"frame {frame!r}")
        return replace(self.tables, frames={frame: at._replace(X=pose)})

    def latex(
        self,
        shorthand: bool = False,
        parts: Collection[str] | None = None,
        document: bool = False,
        longest: int | None = LONGEST,
    ) -> str:
        r"""The equations and a legend for LaTeX (amsmath).

        Matrices that are too wide for a page are written entry by entry, of M the upper half, long sums broken at their signs.
        `shorthand` writes c_{12} for cos(q1 + q2); `document` gives a whole file to compile, else one `aligned` to put
        into a formula. Entries with more than `longest` terms are only counted.

        >>> import modurob as mr
        >>> print(mr.load("crane").mechanism().equations(("masses", "lengths")).latex(parts=["M"]))
        \begin{aligned}
        & M(q)\,\ddot{q} + C(q,\dot{q})\,\dot{q} + N(q) = \tau \\
        & M = \begin{bmatrix} m_{1} + m_{2} & l_{1} m_{2} \cos\left(q_{2}\right)
          \\ l_{1} m_{2} \cos\left(q_{2}\right) & l_{1}^{2} m_{2} \end{bmatrix} \\
        & \text{$q_{1}$: coordinate of joint m0/joint (prismatic) [m]} \\
        & \text{$q_{2}$: coordinate of joint m1/hinge (revolute) [rad]} \\
        & \text{$l_{1}$: length, 5 m} \\
        & \text{$m_{1}$: mass of body m0/carriage, 1 kg} \\
        & \text{$m_{2}$: mass of body m1/B, 1 kg} \\
        & \text{not in these equations, as there is no closed form: m1/hinge stop (piecewise: which} \\
        & \text{law acts depends on the state)} \\
        \end{aligned}
        """
        names = self._part_names(parts)
        with self.ring.budget.running():
            return (typeset.document if document else typeset.fragment)(self, shorthand, names, longest)

    def _part_names(self, parts: Collection[str] | None) -> tuple[str, ...]:
        names = self.parts() if parts is None else (parts,) if isinstance(parts, str) else tuple(parts)
        for name in names:
            self.polynomial(name)
        return names

    def legend(self, latex: bool = False, shorthand: bool = False) -> list[str]:
        """What the symbols mean, a line each, with units and the numbers of this robot.

        >>> import modurob as mr
        >>> mr.load("crab").mechanism().equations("gravity").legend()[-1]
        'g: gravity, 9.81 m/s²'
        """
        return describe.legend(self, latex, shorthand)

    def notes(self) -> list[str]:
        """Which forces of the robot these equations are without, a line for each reason; see `left_out`."""
        return describe.notes(self)

    def __repr__(self) -> str:
        return describe.short(self)

    def __str__(self) -> str:
        return describe.text(self, LONGEST_LINE)

    def _repr_latex_(self) -> str:
        return describe.notebook_latex(self)

    def _repr_html_(self) -> str:
        return describe.html(self)

    # ---- the other derivation ----

    def proof(self) -> list[Line]:
        """Entry by entry, whether these equations and those derived the other way are identical (Gutenkunst, section 5.1.3).

        >>> import modurob as mr
        >>> all(line.equal for line in mr.load("crab").mechanism().equations("masses").proof())
        True
        """
        with self.ring.budget.running():
            return self._compared(self._derived_by(METHODS[1 - METHODS.index(self.method)]))

    # ---- control ----

    @explained
    def linearised(
        self, q: Sequence[Any], v: Sequence[Any] | None = None, tau: Sequence[Any] | None = None
    ) -> linear.Linearised:
        """M dq'' + D dq' + K dq = dtau near (q, v), exact, with A and B; see `linear.linearised`.

        >>> import modurob as mr
        >>> eq = mr.load("crane").mechanism(gravity=(0, 9.81, 0)).equations(("masses", "lengths", "gravity"))
        >>> eq.linearised([0, 0]).A[3, 1]
        -g*(m1 + m2)/(l1*m1)
        """
        self._require_tree()
        return linear.linearised(self, q, v, tau)

    @explained
    def control_affine(
        self, actuated: Sequence[int | str] | None = None, outputs: Sequence[Expr] | None = None
    ) -> linear.ControlAffine:
        """xdot = f + g u, y = h, with Lie derivatives, relative degree and decoupling matrix; see `linear.control_affine`.

        >>> import modurob as mr
        >>> mr.load("crane").mechanism().equations().control_affine(["m0/joint"]).relative_degree()
        (2,)
        """
        self._require_tree()
        return linear.control_affine(self, actuated, outputs)

    @explained
    def zero_dynamics(self, actuated: Sequence[int | str], rest: Sequence[Any]) -> linear.ZeroDynamics:
        """What the free joints do while the actuated ones are held at rest; see `linear.zero_dynamics`.

        >>> import modurob as mr
        >>> mr.load("crane").mechanism(gravity=(0, 9.81, 0)).equations().zero_dynamics(["m0/joint"], [0, 0]).verdict
        'marginally stable zero dynamics: the free joints swing on'
        """
        self._require_tree()
        return linear.zero_dynamics(self, actuated, rest)

    def _require_tree(self) -> None:
        names = ", ".join(c.name for c in self.robot.constraints)
        if names:
            raise EquationsError(
                f"loops or couplings {names}: this is for trees; independent() has the equations in independent rates, "
                "robot.linearise numbers"
            )

    # ---- code ----

    @cached_property
    def _program(self) -> code.Program:
        self._progress("code", 0.0)
        with self.ring.budget.running():
            return code.shortest_program(self)

    @property
    def _passive_program(self) -> code.Program:
        with self.ring.budget.running():
            return code.passive_program(self)

    def operations(self) -> dict[str, Any]:
        """Operations of the generated code for M, C and N, beside those of inverse dynamics by Newton-Euler and by naive Lagrange.

        >>> import modurob as mr
        >>> mr.load("crab").mechanism().equations().operations()["sines and cosines"]
        7
        """
        return code.operations(self._program, self.robot.nv)

    def python(self) -> str:
        """A Python module with NumPy functions that broadcast over leading axes: `equations(q, v, p)` returns M, C, N, and
        `passive_forces(q, v, p)` the torques -(D v + S) of friction and springs.

        p are the numbers of `parameters`, in their order.
        """
        return code.python_module(self, self._program, self._passive_program)

    def c(self) -> str:
        """A C99 file with a function that fills M, C, N, and one for the torques of friction and springs: no heap, only libm."""
        return code.c_file(self, self._program, self._passive_program)

    @cached_property
    def function(self) -> Callable[..., tuple[Array, Array, Array]]:
        """The NumPy function of `python()`: M, C (..., nv, nv) and N (..., nv) of q, v (..., nv) and the parameters p.

        Without p the numbers of this robot are taken.

        >>> import modurob as mr
        >>> M, C, N = mr.load("crab").mechanism().equations("masses").function([0, 0, 0], [0, 0, 0])
        >>> M.shape, C.shape, N.shape
        ((3, 3), (3, 3), (3,))
        """
        return code.numpy_function(self)
