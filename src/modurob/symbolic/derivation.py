"""M, C, D, S and N of the equations of motion, derived in normal form."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from fractions import Fraction
from typing import Any, Self

import numpy as np
import sympy

from modurob import algorithms as al
from modurob.errors import InputError, choices
from modurob.kernels.compiler import announced
from modurob.mechanism import Tables
from modurob.spatial.scalars import Array
from modurob.symbolic import forces, size
from modurob.symbolic.coordinates import Coordinates
from modurob.symbolic.lagrange import lagrange
from modurob.symbolic.model import ExactTables, Quantity, kinds_of_symbols
from modurob.symbolic.ring import Budget, Ring, never, polynomials

METHODS = ("two-step", "lagrange")
MATRICES = ("M", "C", "C_two_step", "D", "S", "N")
Progress = Callable[[str, float], None]


def silent(stage: str, done: float) -> None:
    """A progress that is told to nobody."""


class Derivation:
    """The parts of the equations of motion of a robot as polynomials, derived when they are first asked for."""

    def __init__(
        self,
        robot: Tables,
        symbols: str | Iterable[str] = (),
        method: str = "two-step",
        *,
        digits: int | None = None,
        time_limit: float | None = None,
        largest: int | None = size.LARGEST,
        cancelled: Callable[[], bool] = never,
        progress: Progress = silent,
        avoid: Iterable[str] = (),
        quantities: Mapping[sympy.Symbol, Quantity] | None = None,
        constants: Mapping[str, Fraction] | None = None,
    ):
        if method not in METHODS:
            raise InputError(f"no method {method!r}: {choices(str(method), METHODS)}")
        _require_numbers(digits, time_limit, largest)
        self.robot, self.method = robot, method
        self._symbols = kinds_of_symbols(symbols)
        self._digits, self._largest = digits, largest
        self._given, self._constants = dict(quantities or {}), dict(constants or {})
        self._progress, self._avoid = progress, _names(avoid)
        self.ring = Ring(Budget(time_limit, largest, cancelled), self._given, self._constants)
        with self._working():
            progress("numbers", 0.0)
            self.coordinates = Coordinates(robot, self.ring)
            moving = (*self.coordinates.q_symbols, *self.coordinates.v_symbols, *self.coordinates.vdot_symbols)
            self._exact = ExactTables(self.ring, self._symbols, digits, [s.name for s in moving], self._avoid)
            self.tables = self._exact.tables(robot)
            if largest is not None:
                progress("size", 0.05)
                size.require(self.tables, self.coordinates, largest)
            self._polynomials = self._derived()
            self._passive = forces.passive(robot, self.tables, self.coordinates, self._exact, method == "lagrange")
            self._polynomials |= {"D": self._passive.D, "S": self._passive.S}

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Within the budget; a wait of which nobody is told the progress is announced."""
        unseen = (
            announced(f"deriving the equations of {self.robot.name}") if self._progress is silent else nullcontext()
        )
        with unseen, self.ring.budget.running():
            yield

    def _derived(self) -> dict[str, Array]:
        q, m = self.coordinates.q, self.tables
        self._progress("mass matrix", 0.1)
        if self.method == "lagrange":
            M, N, self._potential = lagrange(m, self.coordinates)
        else:
            M = al.mass_matrix(m, q)
            self._progress("gravity", 0.2)
            N = al.gravity_forces(m, q)
            self._potential = al.potential_energy(m, q)
        return {"M": polynomials(self.ring, M), "N": polynomials(self.ring, N)}

    def _derived_by(self, method: str) -> Self:
        """The same equations by another method, in the time that is left."""
        budget = self.ring.budget
        return type(self)(
            self.robot,
            self._symbols,
            method,
            digits=self._digits,
            time_limit=budget.left(),
            largest=self._largest,
            cancelled=budget.cancelled,
            progress=self._progress,
            avoid=self._avoid,
            quantities=self._given,
            constants=self._constants,
        )

    def polynomial(self, name: str) -> Array:
        """M, C, C_two_step, D (nv, nv), S or N (nv,) as an array of polynomials in normal form.

        >>> import modurob as mr
        >>> mr.load("crab").mechanism().equations().polynomial("M")[1, 1]
        1029/80000
        """
        if name not in MATRICES:
            raise InputError(f"no part {name!r} of the equations: {choices(str(name), MATRICES)}")
        if name not in self._polynomials:
            make = {"C": self._christoffel, "C_two_step": self._two_step}[name]
            with self._working():
                self._polynomials[name] = polynomials(self.ring, make())
        return self._polynomials[name]

    def _christoffel(self) -> Array:
        """C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k / 2."""
        M, n, v = self._polynomials["M"], self.robot.nv, self.coordinates.v
        if self._largest is not None:
            size.require_coriolis(self.robot, M, self.coordinates, self._largest)
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


def _names(avoid: Any) -> frozenset[str]:
    """Names that no symbol may have: one, or several."""
    names = [avoid] if isinstance(avoid, str) else list(avoid) if isinstance(avoid, Iterable) else [avoid]
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"avoid is {avoid!r:.60}: expected names that no symbol may have, such as robot.frames")
    return frozenset(names)


def _require_numbers(digits: Any, time_limit: Any, largest: Any) -> None:
    for name, value, kinds in (
        ("digits", digits, int),
        ("time_limit", time_limit, int | float),
        ("largest", largest, int),
    ):
        if value is not None and (isinstance(value, bool) or not isinstance(value, kinds) or value < 0):
            raise InputError(f"{name} is {value!r}: expected a number, zero or more, or None")
