"""A mechanism bound to compiled code: tables of types and constants, and the call."""

import ctypes
import hashlib
import os
import weakref
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from modurob.errors import KernelError
from modurob.kernels.compiler import Library, find_compiler, library, notes_of
from modurob.kernels.dyad_type import DyadType, classified
from modurob.kernels.emit import Code, emitted
from modurob.kernels.frames import Placed, matrix, reframed
from modurob.kernels.local import Program
from modurob.mechanism import Tables
from modurob.spatial import inertia, se3
from modurob.spatial.scalars import Array

_long_p, _void_p = ctypes.POINTER(ctypes.c_long), ctypes.c_void_p


class Strided(ctypes.Structure):
    """An array over states and entries."""

    _fields_ = [
        ("data", _void_p),
        ("state_stride", ctypes.c_ssize_t),
        ("entry_stride", ctypes.c_ssize_t),
        ("entries", ctypes.c_long),
        ("states", ctypes.c_long),
    ]


class _Robot(ctypes.Structure):
    _fields_ = [
        ("bodies", ctypes.c_long),
        ("passes", ctypes.c_long),
        *((name, _void_p) for name in ("outward", "steps", "tree", "parent", "own", "children", "sent")),
        *((name, _void_p) for name in ("q", "v", "u", "out", "rates", "constants", "table")),
        *((name, ctypes.c_long) for name in ("fields", "slots", "slot_size")),
        ("world", _void_p),
        ("world_fields", ctypes.c_long),
    ]


class Loaded(NamedTuple):
    """A dyad type's code in memory."""

    code: Code
    steps: tuple[int, ...]  # addresses, one a pass


@cache
def _driver(lanes: int, single: bool) -> ctypes.CDLL:
    text = (resources.files("modurob.kernels") / "c" / "driver.c").read_text(encoding="utf-8")
    at = library("driver", text, lanes, single)
    notes_of(at, lambda: (text, None))
    driver = ctypes.CDLL(str(at.path))
    driver.make_work.argtypes = [ctypes.POINTER(_Robot), *[ctypes.c_long] * 4]
    driver.make_work.restype = _void_p
    driver.free_work.argtypes = [_void_p]
    real = ctypes.c_float if single else ctypes.c_double
    driver.run.argtypes = [_void_p, *[ctypes.c_long] * 2, *[ctypes.POINTER(Strided)] * 4, ctypes.c_long, real]
    driver.run.restype = ctypes.c_int
    driver.make_stepper.argtypes = [_void_p, *[ctypes.POINTER(_Robot)] * 3]
    driver.make_stepper.restype = _void_p
    driver.free_stepper.argtypes = [_void_p]
    driver.advance.argtypes = [
        _void_p,
        ctypes.c_long,
        ctypes.c_long,
        *[ctypes.POINTER(Strided)] * 5,
        ctypes.c_long,
        ctypes.c_ssize_t,
    ]
    driver.advance.restype = None
    return driver


class _Key(NamedTuple):
    """A type's code for one width."""

    kind: DyadType
    program: Program
    lanes: int
    single: bool

    @property
    def library(self) -> Library:
        return library(self.program.name, f"{_sources()} {self.kind.key}", self.lanes, self.single)


_LOADED: dict[_Key, Loaded] = {}


@cache
def _sources() -> str:
    """A hash of all files that code is traced from, and by."""
    package = resources.files("modurob")
    folders = ("kernels", "algorithms", "spatial", "trace", "catalogue/joints")
    files = [f for folder in folders for f in sorted((package / folder).iterdir(), key=str) if f.name.endswith(".py")]
    return hashlib.sha256(b"\0".join(f.read_bytes() for f in files)).hexdigest()


def _all_loaded(keys: list[_Key]) -> list[Loaded]:
    """The code of each type; what is missing is compiled side by side."""
    missing = [key for key in dict.fromkeys(keys) if key not in _LOADED]
    if missing:
        _LOADED.update(zip(missing, _pool(os.cpu_count() or 1).map(_load, missing), strict=True))
    return [_LOADED[key] for key in keys]


def _load(key: _Key) -> Loaded:
    at = key.library
    code = Code.from_notes(notes_of(at, lambda: _written(key)))
    handle = ctypes.CDLL(str(at.path))
    return Loaded(code, tuple(ctypes.cast(getattr(handle, f), _void_p).value or 0 for f in code.functions))


def _written(key: _Key) -> tuple[str, Any]:
    text, code = emitted(key.kind, key.program, "step")
    return f'#include "prelude.h"\n\n/* {key.program.name} of {key.kind.key} */\n{text}', code.notes()


class Kernel:
    """One algorithm of one mechanism, compiled: `kernel(q, v, u)` for arrays (states, entries)."""

    def __init__(self, m: Tables, program: Program, dtype: Any = np.float64, lanes: int | None = None):
        compiler = find_compiler()
        self.dtype = np.dtype(dtype)
        single = self.dtype == np.float32
        self.lanes = lanes or (compiler.lanes(self.dtype.itemsize) if compiler else 1)
        self.program, self.mass_matrix_of = program, m.nv if program.name == "mass_matrix" else 0
        self._keep: list[Any] = []
        joints, parents = m.joints, m.parent[1:]
        bodies, slots = reframed(m)[1:], _slots(parents)
        typed = _typed(m, bodies, slots, program)
        loaded = _all_loaded([_Key(kind, program, self.lanes, single) for kind, _ in typed])
        self.driver = _driver(self.lanes, single)
        v = [j.v_slice.start for j in joints]
        sizes = [program.per_joint(j.type) for j in joints]
        third = sum(program.third(j.type) for j in joints) or 3
        self.input_entries = (m.nq, m.nv, third)
        self.entries = m.nv**2 if self.mass_matrix_of else int(sum(sizes))
        own = [0, *np.cumsum([sum(program.shared.values()), *(one.code.fields for one in loaded)])]
        world = self._world(m)
        table, starts = _table(m, bodies, typed, loaded)
        passes = [p for p in program.passes if p.way != "climb"]
        self._robot = _Robot(
            len(bodies),
            len(passes),
            self._longs([p.way == "outward" for p in passes]),
            self._array(np.array([one.steps for one in loaded], dtype=np.uintp).T, np.uintp),
            self._longs([p - 1 for p in parents]),
            self._longs([own[p] if p else 0 for p in parents]),
            self._longs(own[1 : len(bodies) + 1]),
            self._longs(slots.children),
            self._longs(slots.sent),
            self._longs([j.q_slice.start for j in joints]),
            self._longs(v),
            self._longs(_starts(program.third(j.type) for j in joints)),
            self._longs(_starts(sizes)),
            self._longs([j.type.nv for j in joints]),
            self._longs(starts),
            self._array(table, self.dtype),
            int(own[-1]),
            slots.number,
            sum(program.sent.values()),
            self._array(world, self.dtype),
            len(world),
        )

    def _world(self, m: Tables) -> Array:
        """The fields that the first bodies read of the world: at rest, at the identity, accelerating against gravity."""
        shared = self.program.shared
        values = {"A": [*-m.gravity, 0, 0, 0], "X": np.eye(4)[:3].ravel()}
        return np.concatenate([np.zeros(0), *(values.get(name, np.zeros(n)) for name, n in shared.items())])

    def _array(self, values: Any, dtype: Any) -> int:
        array = np.ascontiguousarray(values, dtype=dtype)
        self._keep.append(array)
        return array.ctypes.data

    def _longs(self, values: Any) -> int:
        return self._array(values, np.int_)

    @property
    def robot(self) -> Any:
        """The tables, for the driver."""
        return ctypes.byref(self._robot)

    def once(self, nq: int, nv: int, nu: int) -> tuple[int, int]:
        """Addresses of a walker for single states, which lives as long as the kernel, and of its function."""
        work = self.driver.make_work(self.robot, nq, nv, nu, self.entries)
        if not work:
            raise MemoryError("no memory for the state of a kernel")
        weakref.finalize(self, self.driver.free_work, work)
        return work, ctypes.cast(self.driver.once, _void_p).value or 0

    def __call__(self, q: Array, v: Array, u: Array, out: Array, threads: int = 1, largest: float = np.inf) -> bool:
        """Fill `out`, (states, entries); inputs may have any strides. Returns whether all results are numbers below `largest`."""
        views = [strided(x, self.dtype) for x in (q, v, u, out)]
        self._require(views)

        def share(first: int, last: int) -> bool:
            work = self.driver.make_work(self.robot, *(s.entries for s in views))
            if not work:
                raise MemoryError("no memory for the states of a kernel")
            try:
                references = [ctypes.byref(s) for s in views]
                return bool(self.driver.run(work, first, last, *references, self.mass_matrix_of, largest))
            finally:
                self.driver.free_work(work)

        return all(in_shares(share, out.shape[0], self.lanes, threads))

    def _require(self, views: list["Strided"]) -> None:
        """An error unless the arrays are what the code will read and write."""
        inputs = len(self.program.inputs)
        expected = [*self.input_entries[:inputs], *[0] * (3 - inputs), self.entries]
        if [s.entries for s in views] != expected or len({s.states for s in views}) != 1:
            found = ", ".join(f"({s.states}, {s.entries})" for s in views)
            raise KernelError(f"{self.program.name}: arrays of shapes {found}: expected rows of {expected} entries")


def strided(x: Array, dtype: np.dtype) -> "Strided":
    """An array for the driver."""
    if x.dtype != dtype:
        raise KernelError(f"an array of {x.dtype}: expected {dtype}")
    return Strided(x.ctypes.data, x.strides[0], x.strides[1], x.shape[1], x.shape[0])


def in_shares(share: Callable[[int, int], Any], states: int, lanes: int, threads: int) -> list[Any]:
    """What share(first, last) returns for pieces that cover all states, whole blocks of lanes each, side by side."""
    if threads <= 1 or states < 2 * lanes:
        return [share(0, states)]
    per = -(-states // (threads * lanes)) * lanes
    starts = range(0, states, per)
    return list(_pool(threads).map(share, starts, [min(a + per, states) for a in starts]))


def is_ready(m: Tables, program: Program, dtype: Any, lanes: int | None) -> bool:
    """Whether all code is in memory or in the cache, so that nothing must be compiled."""
    compiler, dtype = find_compiler(), np.dtype(dtype)
    if compiler is None:
        return False
    typed = _typed(m, reframed(m)[1:], _slots(m.parent[1:]), program)
    width, single = lanes or compiler.lanes(dtype.itemsize), dtype == np.float32
    keys = {_Key(kind, program, width, single) for kind, _ in typed}
    return all(key in _LOADED or key.library.path.exists() for key in keys)


def _typed(m: Tables, bodies: list[Placed], slots: "_Slots", program: Program) -> list[tuple[DyadType, tuple]]:
    """The type of each joint, and its constants."""
    carries = set(m.parent[1:])
    return [
        classified(b, i not in carries, slots.add[i - 1], bool(j.armature.any()), program.framed)
        for i, (b, j) in enumerate(zip(bodies, m.joints, strict=True), start=1)
    ]


def _table(m: Tables, bodies: list[Placed], typed: list, loaded: list[Loaded]) -> tuple[Array, list[int]]:
    """The constants of all bodies, one after another, and where each body's begin."""
    T = np.stack([matrix(b.T) for b in bodies]) if bodies else np.zeros((0, 4, 4))
    inertias = inertia.parameters(inertia.moved(m.inertia[1:], se3.inverse(T)))
    gravity = m.gravity.tobytes()
    rows = [
        _row(
            kind,
            one.code,
            constants,
            own.tobytes(),
            joint.armature.tobytes(),
            getattr(joint.type, "pitch", 0.0),
            gravity,
        )
        for (kind, constants), one, own, joint in zip(typed, loaded, inertias, m.joints, strict=True)
    ]
    starts = np.cumsum([0, *(len(row) for row in rows)])[:-1]
    return np.concatenate([np.zeros(0), *rows]), starts.tolist()


@lru_cache(maxsize=65536)
def _row(
    kind: DyadType, code: Code, constants: tuple, own: bytes, armature: bytes, pitch: float, gravity: bytes
) -> Array:
    """What the code of a type reads of one body."""
    inputs = dict(constants) | {"pitch": pitch}
    for name, numbers in (("I", own), ("armature", armature), ("g", gravity)):
        inputs.update({f"{name}[{k}]": x for k, x in enumerate(np.frombuffer(numbers))})
    values = code.graph.evaluate(code.table, inputs)
    return np.array([values[k] for k in code.table])


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="modurob")


# threads do not survive a fork
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


def _starts(sizes: Iterable[int]) -> list[int]:
    """Where each of some pieces begins, laid end to end."""
    return np.cumsum([0, *sizes])[:-1].tolist()


class _Slots(NamedTuple):
    """Where children leave what they send; a slot is free again once its body has read it."""

    children: list[int]
    sent: list[int]
    add: list[bool]
    number: int


def _slots(parents: Sequence[int]) -> _Slots:
    """Slots for bodies numbered 1, 2, ...; they are visited from the last to the first."""
    n = len(parents)
    children, sent, add = [0] * n, [0] * n, [False] * n
    of: dict[int, int] = {}
    free: list[int] = []
    count = 1  # slot 0 is where nobody looks
    for i in range(n, 0, -1):
        mine = of.pop(i, 0)
        children[i - 1] = mine
        parent = parents[i - 1]
        if parent in of:
            sent[i - 1], add[i - 1] = of[parent], True
        elif parent:
            if free:
                of[parent] = free.pop()
            else:
                of[parent] = count
                count += 1
            sent[i - 1] = of[parent]
        if mine:
            free.append(mine)
    return _Slots(children, sent, add, count)
