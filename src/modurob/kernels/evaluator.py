"""Evaluators: one function of one mechanism, compiled. They are stored in one table, by the bytes of everything that defines them.

A robot is a value and holds no reference to them. How a function of a robot is evaluated is decided by the robot and the function
alone, so that the same call gives the same bits whatever was called before: compiled where there is a compiler, by NumPy where
there is none.
"""

import ctypes
import os
import weakref
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, lru_cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.program import Flow, Program
from modurob.errors import KernelError, warn_user
from modurob.kernels.compiler import find_compiler, without_compiler
from modurob.kernels.dyad_units import OPTIONAL
from modurob.kernels.memory import room
from modurob.kernels.registers import Register, Rows
from modurob.kernels.sequence import Engine
from modurob.kernels.units import Loaded, await_all
from modurob.mechanism import Tables
from modurob.mechanism.tables import current
from modurob.spatial.scalars import Array

# evaluators that are kept; robots come and go
KEPT = 1024
# evaluators that are laid out ahead of time at once
AHEAD = 8


class Strided(ctypes.Structure):
    """An array over states and entries."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("state_stride", ctypes.c_ssize_t),
        ("entry_stride", ctypes.c_ssize_t),
        ("entries", ctypes.c_int64),
        ("states", ctypes.c_int64),
    ]


class _Sequence(ctypes.Structure):
    _fields_ = [
        ("rows", ctypes.c_void_p),
        ("count", ctypes.c_long),
        ("vectors", ctypes.c_long),
        ("inputs", ctypes.c_void_p),
        ("outputs", ctypes.c_void_p),
        ("input_count", ctypes.c_long),
        ("output_count", ctypes.c_long),
        ("start", ctypes.c_void_p),
        ("start_at", ctypes.c_void_p),
        ("start_count", ctypes.c_long),
        ("once", ctypes.c_long),
        ("idle", ctypes.c_long),
        ("empty", ctypes.c_void_p),
    ]


class Key(NamedTuple):
    """The key of an evaluator in the table."""

    robot: bytes
    name: str
    given: frozenset[str]
    single: bool
    lanes: int


class Sequenced(NamedTuple):
    """A program or flow laid out: the rows of its engine, and where inputs and results stand."""

    engine: Engine
    inputs: dict[str, Register]
    results: dict[str, Register]


def sequenced(m: Tables, program: Program | Flow, given: frozenset[str], single: bool, lanes: int) -> Sequenced:
    """The rows of a program or flow, which may be run again and again where it is repeated."""
    engine = Engine(m, lanes, single)
    if isinstance(program, Flow):
        engine.need("rows")
    names = [n for n, k in program.inputs.items() if k != "reference" and (k not in OPTIONAL or n in given)]
    registers = {name: engine.input(program.inputs[name]) for name in names}
    results = engine.run(program, **registers)
    if isinstance(program, Flow) and program.repeated:
        places = {name: x.place for name, x in results.items()}  # all of them there before one is written over
        for name in places.keys() & registers.keys():
            engine.assign(registers[name], results[name])
            results[name] = registers[name]
    return Sequenced(engine, registers, {name: results[name] for name in program.results})


def units_of(rows: list[Rows]) -> set[Loaded]:
    """The units whose functions rows run."""
    return {s.of for r in rows if not isinstance(r.steps, str) for s in r.steps}


class Evaluator:
    """A program or flow of one mechanism, compiled: `evaluator(inputs)` for arrays (states, entries) by name."""

    def __init__(self, m: Tables, program: Program | Flow, given: frozenset[str], single: bool, lanes: int):
        self.m, self.program, self.lanes, self.has_quaternions = m, program, lanes, m.nq != m.nv
        self.dtype = np.dtype(np.float32 if single else np.float64)
        laid = _BEGUN.pop(Key(m.key, program.name, given, single, lanes), None)
        laid = laid or sequenced(m, program, given, single, lanes)
        self.inputs, self.outputs = list(laid.inputs), list(program.results)
        self._bind(laid.engine, laid.inputs, laid.results)

    def _bind(self, engine: Engine, registers: dict[str, Register], results: dict[str, Register]) -> None:
        """Tables for the driver."""
        self._keep: list[Array] = []
        self.driver = engine.driver
        self.sizes = [registers[name].n for name in self.inputs]
        inputs = [(registers[name].place, registers[name].n) for name in self.inputs]
        outputs = [(results[name].place, results[name].n) for name in self.outputs]
        self.widths = [n for _, n in outputs]
        start = sorted(engine.start.items())
        self.sequence = _Sequence(
            self._rows(engine),
            self._count,
            engine.size,
            self._array(inputs, np.int32),
            self._array(outputs, np.int32),
            len(inputs),
            len(outputs),
            self._array([x for _, x in start], self.dtype),
            self._array([at for at, _ in start], np.int32),
            len(start),
            sum(len(r.at) for r in engine.once),
            engine.idle if isinstance(self.program, Program) else 0,
            self._empty(engine.written, outputs) if isinstance(self.program, Program) else None,
        )
        self.address = ctypes.addressof(self.sequence)

    def _empty(self, written: dict[int, Array], outputs: list[tuple[int, int]]) -> int | None:
        """Which tiles of the results, as many entries as there are lanes, are always zero; None if none is."""
        tiles = []
        for place, n in outputs:
            used = np.ones(-(-n // self.lanes) * self.lanes, dtype=bool)
            used[:n] = written.get(place, True)
            tiles.append(~used.reshape(-1, self.lanes).any(axis=1))
        empty = np.concatenate(tiles)
        return self._array(empty, np.uint8) if empty.any() else None

    def _rows(self, engine: Engine) -> int:
        """All rows as addresses; places and constants of all rows stand in one array each."""
        rows = [*engine.once, *engine.rows]
        await_all(units_of(rows))
        at = np.concatenate([np.zeros(0, np.int32), *(r.at.ravel() for r in rows)])
        known: dict[int, int] = {}
        pieces: list[Array] = []
        total = 0
        for r in rows:
            if id(r.constants) not in known:
                known[id(r.constants)] = total
                pieces.append(r.constants)
                total += len(r.constants)
        places = self._array(at, np.int32)
        constants = self._array(np.concatenate([np.zeros(0), *pieces]), self.dtype)
        item = self.dtype.itemsize
        steps, ats, cs, done = [], [], [], 0
        for r in rows:
            n, width = r.at.shape
            steps.append([engine.address(r.steps)] if isinstance(r.steps, str) else [s.address for s in r.steps])
            ats.append(places + 4 * (done + width * np.arange(n)))
            cs.append(constants + item * (known[id(r.constants)] + r.starts))
            done += r.at.size
        table = np.stack([np.concatenate(x).astype(np.uint64) for x in (steps, ats, cs)], axis=-1)
        self._count = len(table)
        return self._array(table, np.uint64)

    def _array(self, values: Any, dtype: Any) -> int:
        array = np.ascontiguousarray(values, dtype=dtype)
        self._keep.append(array)
        return array.ctypes.data

    def arena(self) -> int:
        """Memory for one run, which lives as long as the evaluator."""
        arena = self.driver.library.make_arena(self.address)
        if not arena:
            raise MemoryError("no memory for the state of a kernel")
        weakref.finalize(self, self.driver.library.free_arena, arena)
        return arena

    def __call__(
        self, inputs: dict[str, Array], states: int, threads: int = 1, repeats: int = 1
    ) -> tuple[list[Array], Array | None]:
        """The results, (states, entries), of rows that run `repeats` times, for inputs (states, entries) at any strides.

        And the status of each state, None if all is well.
        """
        arrays = [inputs[name] for name in self.inputs]
        arrays = [x if x.dtype == self.dtype else x.astype(self.dtype) for x in arrays]
        self._require(arrays, states)
        out, status = [room(states, n, self.dtype) for n in self.widths], np.zeros(states, self.dtype)
        ins, outs, where = _views(arrays), _views(out), status.ctypes.data

        def share(begin: int, end: int) -> bool:
            arena = self.driver.library.make_arena(self.address)
            if not arena:
                raise MemoryError("no memory for the states of a kernel")
            try:
                return bool(self.driver.library.run(self.address, arena, begin, end, ins, outs, repeats, where))
            finally:
                self.driver.library.free_arena(arena)

        return out, status if any(in_shares(share, states, self.lanes, threads)) else None

    def _require(self, arrays: list[Array], states: int) -> None:
        """An error unless the arrays are what the code will read."""
        if [x.shape for x in arrays] != [(states, n) for n in self.sizes]:
            found = ", ".join(str(x.shape) for x in arrays)
            raise KernelError(
                f"{self.program.name}: arrays of shapes {found}: expected {states} rows of {self.sizes} entries"
            )


def _views(arrays: list[Array]) -> Any:
    views = (Strided * max(1, len(arrays)))()
    for k, x in enumerate(arrays):
        views[k] = Strided(x.ctypes.data, *x.strides, x.shape[1], x.shape[0])
    return views


def in_shares(share: Callable[[int, int], Any], states: int, lanes: int, threads: int) -> list[Any]:
    """What share(first, last) returns for pieces that cover all states, whole blocks of lanes each, side by side."""
    if threads <= 1 or states < 2 * lanes:
        return [share(0, states)]
    per = -(-states // (threads * lanes)) * lanes
    starts = range(0, states, per)
    return list(_pool(threads).map(share, starts, [min(a + per, states) for a in starts]))


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="modurob")


# threads do not survive a fork
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


# ---- the table ----

_TABLE: OrderedDict[Key, Evaluator] = OrderedDict()
# what is laid out and being compiled for evaluators that will be asked for
_BEGUN: dict[Key, Sequenced] = {}
# called with the key of an evaluator that leaves the table, by those that hold references to it
ON_EVICTION: list[Callable[[Key], None]] = []
_LOCK = Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


def evaluator(m: Tables, program: Program | Flow, given: frozenset[str], single: bool, lanes: int) -> Evaluator | None:
    """The evaluator from the table, made if it is not there; None if there are no kernels for this mechanism or machine."""
    key = Key(m.key, program.name, given, single, lanes)
    found = _TABLE.get(key)
    if found is not None:
        return found
    if not compilable(m):
        return None
    m = current(m)
    key = key._replace(robot=m.key)
    with _LOCK:
        if key not in _TABLE:
            try:
                _TABLE[key] = Evaluator(m, program, given, single, lanes)
            except (KernelError, OSError) as error:
                give_up(str(error))
                return None
            while len(_TABLE) > KEPT:
                gone, _ = _TABLE.popitem(last=False)
                for drop in ON_EVICTION:
                    drop(gone)
        return _TABLE[key]


def lay_ahead(m: Tables, program: Program | Flow, given: frozenset[str], single: bool, lanes: int) -> None:
    """Start the compilation of an evaluator that will be needed, without waiting for it."""
    m = current(m)
    key = Key(m.key, program.name, given, single, lanes)
    if key in _TABLE or not compilable(m):
        return
    with _LOCK, suppress(Exception):  # raised again when the evaluator is asked for
        if key not in _TABLE and key not in _BEGUN:
            _BEGUN[key] = sequenced(m, program, key.given, single, lanes)
            while len(_BEGUN) > AHEAD:
                del _BEGUN[next(iter(_BEGUN))]


_unavailable = ""


def give_up(reason: str) -> None:
    """Use NumPy for the rest of this process: a compiler that failed once is not tried again."""
    global _unavailable
    if not _unavailable:
        _unavailable = reason
        warn_user(f"no compiled kernels, NumPy serves: {reason}")


def compilable(m: Tables) -> bool:
    """Whether there are kernels for this mechanism: it moves, its numbers are real, and there is a compiler."""
    if _unavailable or not m.nv or not _is_real(m):
        return False
    if find_compiler() is None:
        give_up(without_compiler())
        return False
    return True


@lru_cache(maxsize=128)
def _is_real(m: Tables) -> bool:
    """Whether no number of a mechanism is complex or a symbol."""
    if any(x.dtype.kind in "cO" for x in (m.X_PJ, m.inertia, m.gravity, m.armature)):
        return False
    numbers = (x for row in m.forces for x in row.force.parameters().values() if type(x) is not float)
    return not any(isinstance(x, complex | np.complexfloating) or hasattr(x, "free_symbols") for x in numbers)


def lanes_of(single: bool) -> int:
    """How many states are computed at once."""
    compiler = find_compiler()
    return compiler.lanes(4 if single else 8) if compiler else 1


def tail(kind: str, m: Tables) -> tuple[int, ...]:
    """The axes of a result behind the leading ones, as kernels lay it out."""
    n, bodies = m.nv, len(m.joints)
    match kind:
        case "rates":
            return (n,)
        case "coordinates":
            return (m.nq,)
        case "matrix":
            return (n, n)
        case "slopes":
            return (n, 3 * n)
        case "regressor":
            return (n, 10 * bodies)
        case "poses":
            return (bodies, 3, 4)
        case "twists":
            return (bodies, 6)
        case "bodies":
            return (bodies,)
        case "lines":
            return (len(m.lines),)
        case "vectors":
            return (n, 6)
    if kind.isdigit():
        return (int(kind),)
    rows = sum(c.rows for c in m.constraints)
    return (rows,) if kind == "rows" else (rows, n)
