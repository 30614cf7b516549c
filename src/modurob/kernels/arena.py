"""The arena of a sequence: arrays over states in one stretch of memory, and rows that run over whole arrays.

A row is the address of a step, the places it reads and writes, and its constants; so code does not grow with the robot, and
a new robot is a new table.
"""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from modurob.algorithms.interpreter import stand
from modurob.algorithms.program import Flow, Program
from modurob.kernels.anatomy import anatomy
from modurob.kernels.laying import Laid
from modurob.kernels.registers import Register, Rows, Term
from modurob.kernels.units import FILE_OF, Driver, Loaded, Step, beside, driver
from modurob.mechanism import Tables
from modurob.spatial.scalars import Array


class Arena:
    """Rows for one mechanism at one width, in the order they are to run."""

    def __init__(self, m: Tables, lanes: int, single: bool):
        self.m, self.lanes, self.single = m, lanes, single
        self.anatomy, self._files = anatomy(m), dict[str, Callable[[], Driver]]()
        self.need("driver")
        self.size = 1  # the status stands first
        self.vector_bytes = np.int32(lanes * (4 if single else 8))
        self._origin = self._stand = self._one = self._world = 0
        self._unity: dict[int, int] = {}
        self._scratch: dict[Hashable, int] = {}
        self._all: Register | None = None  # states of the forces, where those that move stand apart
        self._carried: Array | None = None  # places of the states that a step integrates; None: all
        self.idle = 0  # rows at the beginning that do not touch the results of a program
        self.written: dict[
            int, Array
        ] = {}  # which entries of a matrix are ever written, by its place; the others stay zero
        self.once: list[Rows] = []  # rows that need not run again where the others are repeated
        self.rows: list[Rows] = []
        self.start: dict[int, float] = {}  # numbers in the arena before the first row runs

    @property
    def driver(self) -> Driver:
        """What runs the rows."""
        return self._files["driver"]()

    def need(self, file: str) -> None:
        """Load a file of hand-written C; its compilation begins now if it is not in the cache."""
        if file not in self._files:
            self._files[file] = beside(driver, file, self.lanes, self.single)

    def address(self, name: str) -> int:
        """Of a row over whole arrays."""
        return self._files[FILE_OF[name]]().address(name)

    # ---- memory ----

    def origin(self) -> int:
        """Where three zeros stand."""
        if not self._origin:
            self._origin = self.allocate(3)
        return self._origin

    def stand(self) -> int:
        """Where the place of a robot that does not float stands, three numbers."""
        if not self._stand:
            self._stand = self._constants(stand(self.m)).place
        return self._stand

    def one(self) -> int:
        """Where a one stands."""
        if not self._one:
            self._one = self.allocate(1)
            self.start[self._one] = 1.0
        return self._one

    def _ones(self, n: int) -> int:
        """Where so many ones stand."""
        if n not in self._unity:
            self._unity[n] = self._constants(np.ones(n)).place
        return self._unity[n]

    def allocate(self, n: int) -> int:
        """Place for so many vectors."""
        self.size += n
        return self.size - n

    def scratch(self, key: Hashable, n: int) -> int:
        """Place for so many vectors, the same for the same key."""
        if key not in self._scratch:
            self._scratch[key] = self.allocate(n)
        return self._scratch[key]

    def input(self, kind: str | int) -> Register:
        """A register for an input."""
        n = self.entries(kind)
        return self.register(n)

    def _at(self, place: int, n: int) -> Register:
        return Register(self, [Term(1.0, 0, 0, place)], n)

    def register(self, n: int) -> Register:
        """A new register of so many numbers, zero at the start."""
        return self._at(self.allocate(n), n)

    def zeros(self, kind: str) -> Register:
        n = self.entries(kind)
        return self.register(n)

    def ones(self, kind: str) -> Register:
        register = self.zeros(kind)
        self.start |= {register.place + i: 1.0 for i in range(register.n)}
        return register

    def constant(self, kind: str, values: Array) -> Register:
        values = values[1:] if kind == "bodies" else values
        register = self.register(len(values))
        self.start |= {register.place + i: float(x) for i, x in enumerate(values) if x}
        return register

    def smaller(self, a: Register, b: Register, x: Register, y: Register) -> Register:
        out = self.register(x.n)
        self.op("smaller", [x.n, a.place, b.place, x.place, y.place, out.place])
        return out

    def times(self, a: Register, b: Register) -> Register:
        weights = a.place
        return Register(self, [t._replace(weights=weights) for t in b.numbered()], a.n)

    def entries(self, kind: str | int) -> int:
        """How many numbers an array of that kind has."""
        m, bodies = self.m, len(self.m.joints)
        rows = sum(c.rows for c in m.constraints)
        sizes = {
            "coordinates": m.nq,
            "rates": m.nv,
            "wrenches": 6 * (bodies + 1),
            "inertias": 21 * (bodies + 1),
            "bodies": bodies,
            "poses": 12 * bodies,
            "twists": 6 * bodies,
            "lines": len(m.lines),
            "vectors": 6 * m.nv,
            "matrix": m.nv**2,
            "slopes": 3 * m.nv**2,
            "regressor": 10 * bodies * m.nv,
            "rows": rows,
            "row matrix": rows * m.nv,
        }
        return int(kind) if isinstance(kind, int) or kind.isdigit() else sizes[kind]

    # ---- rows over arrays ----

    def op(self, name: str, at: Any, constants: Any = ()) -> None:
        """A row over whole arrays."""
        at, c = np.asarray(at, dtype=np.int32)[None], np.asarray(constants, dtype=float)
        self.whole(Rows(name, at, c, np.zeros(1, dtype=np.int64)))

    def whole(self, rows: Rows) -> None:
        """Rows over whole arrays, by the name of what runs them."""
        self.need(FILE_OF[str(rows.steps)])
        self.rows.append(rows)

    def combine(self, to: int, x: Register) -> None:
        """A row that evaluates a sum of arrays."""
        if not any(t.weights for t in x.terms):
            terms = [n for t in x.terms for n in (t.place, t.scale)]
            self.op("combine", [to, x.n, len(x.terms), *terms], [t.factor for t in x.terms])
            return
        places = [Register(self, [t], x.n).place if t.scale else t.place for t in x.terms]
        terms = [n for t, place in zip(x.terms, places, strict=True) for n in (place, t.weights or self._ones(x.n))]
        self.op("weigh", [to, x.n, len(x.terms), *terms], [1.0 if t.scale else t.factor for t in x.terms])

    def assign(self, to: Register, x: Register) -> None:
        """A row that copies a value to a register."""
        if x.terms == to.terms:
            return
        if len(x.terms) == 1 and x.terms[0].plain:
            self.op("copy", [x.place, to.place, to.n])
        else:
            self.combine(to.place, x)

    # ---- flows ----

    def run(self, program: Program | Flow, **inputs: Register | None) -> dict[str, Register]:
        """The rows of a program, or of another flow."""
        if isinstance(program, Flow):
            return program.define(self, dict(inputs))
        return Laid(self, program, {name: x for name, x in inputs.items() if x is not None}).results()

    def run_again(self, program: Program, **inputs: Register | None) -> dict[str, Register]:
        """The rows of a program that was laid out before, without its passes over q and v alone."""
        return Laid(self, program, {name: x for name, x in inputs.items() if x is not None}, again=True).results()

    def _constants(self, numbers: Array) -> Register:
        """A register that holds these numbers from the start."""
        register = self.register(len(numbers))
        self.start |= {register.place + i: float(x) for i, x in enumerate(numbers) if x}
        return register

    def cleared(self, kind: str, scratch: str = "") -> Register:
        """A register that is cleared when the rows run; that of a `scratch` is the same each time."""
        n = self.entries(kind)
        register = self._at(self.scratch((scratch, kind), n), n) if scratch else self.register(n)
        self.op("clear", [register.place, register.n])
        return register

    def row(self, unit: Loaded, at: list[int], constants: dict[str, Array], number: int = 0) -> None:
        """A row of a traced step, by the number of its function."""
        places = np.array([at], dtype=np.int32) * self.vector_bytes
        self.rows.append(Rows([Step(unit, number)], places, unit.code.row(constants), np.zeros(1, np.int64)))

    def alike(self, unit: Loaded, at: list[list[int]], constants: dict[str, Array]) -> None:
        """Rows of one traced step, from constants (entries, rows)."""
        n, places = len(at), np.array(at, dtype=np.int32) * self.vector_bytes
        table = unit.code.rows(constants, n)
        starts = table.shape[1] * np.arange(n, dtype=np.int64)
        self.rows.append(Rows([Step(unit, 0)] * n, places, table.ravel(), starts))

    def still(self) -> list[int]:
        """Where the pose and the twist of the world stand."""
        if not self._world:
            self._world = self.allocate(18)
            self.start |= {self._world + 5 * k: 1.0 for k in range(3)}
        return [self._world, self._world + 12]
