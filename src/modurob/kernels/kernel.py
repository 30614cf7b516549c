"""A mechanism bound to compiled code: tables of types and constants, and the call."""

import ctypes
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from modurob.kernels.compiler import find_compiler, library
from modurob.kernels.dyad_type import DyadType, classified
from modurob.kernels.emit import Code, emitted
from modurob.kernels.frames import reframed
from modurob.kernels.local import Program
from modurob.mechanism import Tables
from modurob.spatial.scalars import Array

_long_p, _void_p = ctypes.POINTER(ctypes.c_long), ctypes.c_void_p


class _Strided(ctypes.Structure):
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
    driver = ctypes.CDLL(str(library(text, "driver", lanes, single)))
    driver.make_work.argtypes = [ctypes.POINTER(_Robot), *[ctypes.c_long] * 4]
    driver.make_work.restype = _void_p
    driver.free_work.argtypes = [_void_p]
    driver.run.argtypes = [_void_p, ctypes.c_long, ctypes.c_long, *[ctypes.POINTER(_Strided)] * 4, ctypes.c_long]
    driver.run.restype = None
    return driver


@cache
def _loaded(kind: DyadType, program: Program, lanes: int, single: bool) -> Loaded:
    code = _emitted(kind, program)
    text = f'#include "prelude.h"\n\n/* {program.name} of {kind.key} */\n{code.text}'
    handle = ctypes.CDLL(str(library(text, program.name, lanes, single)))
    addresses = tuple(ctypes.cast(getattr(handle, f), _void_p).value or 0 for f in code.functions)
    return Loaded(code, addresses)


@cache
def _emitted(kind: DyadType, program: Program) -> Code:
    return emitted(kind, program, "step")


class Kernel:
    """One algorithm of one mechanism, compiled: `kernel(q, v, u)` for arrays (states, entries)."""

    def __init__(self, m: Tables, program: Program, dtype: Any = np.float64, lanes: int | None = None):
        compiler = find_compiler()
        self.dtype = np.dtype(dtype)
        single = self.dtype == np.float32
        self.lanes = lanes or (compiler.lanes(self.dtype.itemsize) if compiler else 1)
        self.program, self._nv = program, m.nv
        self._keep: list[Any] = []
        bodies = reframed(m)
        carries = {b.parent for b in bodies}
        slots = _slots([b.parent for b in bodies])
        typed = [
            classified(b, b.body not in carries, bool(slots.add[i]), program.framed) for i, b in enumerate(bodies)
        ]
        for _, constants in typed:
            constants.update({f"g[{k}]": float(g) for k, g in enumerate(m.gravity)})
        loaded = [_loaded(kind, program, self.lanes, single) for kind, _ in typed]
        self._driver = _driver(self.lanes, single)
        joints = [m.joints[b.body - 1] for b in bodies]
        v = [j.v_slice.start for j in joints]
        sizes = [program.per_joint(j.type.nv) for j in joints]
        out = [0, *np.cumsum(sizes)] if program.per_joint(1) != 1 or program.per_joint(2) != 2 else v
        self.entries = m.nv**2 if program.name == "mass_matrix" else int(sum(sizes))
        own = [0, *np.cumsum([sum(program.shared.values()), *(one.code.fields for one in loaded)])]
        world = self._world(m)
        table, starts = self._table(typed, loaded)
        passes = [p for p in program.passes if p.way != "climb"]
        self._robot = _Robot(
            len(bodies),
            len(passes),
            self._longs([p.way == "outward" for p in passes]),
            self._array(np.array([one.steps for one in loaded], dtype=np.uintp).T, np.uintp),
            self._longs([b.parent - 1 for b in bodies]),
            self._longs([own[b.parent] if b.parent else 0 for b in bodies]),
            self._longs(own[1 : len(bodies) + 1]),
            self._longs(slots.children),
            self._longs(slots.sent),
            self._longs([j.q_slice.start for j in joints]),
            self._longs(v),
            self._longs([0] * len(bodies) if program.common else v),
            self._longs(out[: len(bodies)]),
            self._longs([j.type.nv for j in joints]),
            self._longs(starts),
            self._array(table, self.dtype),
            int(own[-1]),
            slots.count,
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

    def _table(self, typed: list, loaded: list[Loaded]) -> tuple[Array, list[int]]:
        """The constants of all bodies, each what its type's code reads, evaluated for all bodies of a type at once."""
        groups: dict[DyadType, list[int]] = {}
        for i, (kind, _) in enumerate(typed):
            groups.setdefault(kind, []).append(i)
        rows: list[Array] = [np.zeros(0)] * len(typed)
        for members in groups.values():
            code = loaded[members[0]].code
            inputs = {name: np.array([typed[i][1][name] for i in members]) for name in typed[members[0]][1]}
            values = code.graph.evaluate(code.table, inputs)
            block = np.stack([np.broadcast_to(values[k], len(members)) for k in code.table] or [np.zeros(len(members))], axis=-1)
            for row, i in zip(block, members, strict=True):
                rows[i] = row
        starts = np.concatenate([[0], np.cumsum([len(r) for r in rows])[:-1]]) if rows else []
        return np.concatenate([np.zeros(0), *rows]), list(map(int, starts))

    def __call__(self, q: Array, v: Array, u: Array, out: Array, threads: int = 1) -> None:
        """Fill `out`, (states, entries); inputs may have any strides."""
        views = [_Strided(x.ctypes.data, x.strides[0], x.strides[1], x.shape[1], x.shape[0]) for x in (q, v, u, out)]
        states = out.shape[0]
        if threads <= 1 or states < 2 * self.lanes:
            self._share(0, states, views)
            return
        per = -(-states // (threads * self.lanes)) * self.lanes
        ranges = [(a, min(a + per, states)) for a in range(0, states, per)]
        list(_pool(threads).map(lambda r: self._share(*r, views), ranges))

    def _share(self, first: int, last: int, views: list[_Strided]) -> None:
        work = self._driver.make_work(ctypes.byref(self._robot), *(s.entries for s in views))
        if not work:
            raise MemoryError("no memory for the states of a kernel")
        try:
            nv = self._nv if self.program.name == "mass_matrix" else 0
            self._driver.run(work, first, last, *(ctypes.byref(s) for s in views), nv)
        finally:
            self._driver.free_work(work)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="modurob")


class _Slots(NamedTuple):
    """Where children leave what they send; a slot is free again once its body has read it."""

    children: list[int]
    sent: list[int]
    add: list[int]
    count: int


def _slots(parents: list[int]) -> _Slots:
    """Slots for bodies numbered 1, 2, ...; they are visited from the last to the first."""
    n = len(parents)
    children, sent, add = [0] * n, [0] * n, [0] * n
    of: dict[int, int] = {}
    free: list[int] = []
    count = 1  # slot 0 is where nobody looks
    for i in range(n, 0, -1):
        mine = of.pop(i, 0)
        children[i - 1] = mine
        parent = parents[i - 1]
        if parent in of:
            sent[i - 1], add[i - 1] = of[parent], 1
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
