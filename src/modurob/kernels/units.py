"""Units of compiled code: a few C functions each, kept in the cache under all that makes them, and loaded once."""

import ctypes
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from threading import Lock, Thread
from typing import Any

from modurob.kernels.compiler import announced, build, library, notes_of
from modurob.kernels.writer import Code


@dataclass(frozen=True)
class Unit:
    """A unit by what makes its text; `write` gives that text and its notes, and is called only if it is not in the cache."""

    name: str
    identity: str
    lanes: int
    single: bool  # float32
    write: Callable[[], tuple[str, Code]] = field(compare=False)
    flags: tuple[str, ...] = ()  # for the compiler


@dataclass(frozen=True, eq=False)
class Loaded:
    """A unit in memory."""

    code: Code
    steps: tuple[int, ...]  # addresses of its functions


_LOADED: dict[Unit, Loaded] = {}
# the unit a function is of, and which of its functions it is, by address
_AT: dict[int, tuple[Unit, int]] = {}
_LOCK = Lock()


def loaded(units: Iterable[Unit]) -> list[Loaded]:
    """The units; those that must be compiled are so side by side, and the wait is announced."""
    units = list(units)
    missing = [u for u in dict.fromkeys(units) if u not in _LOADED]
    if missing:
        with _LOCK:
            missing = [u for u in missing if u not in _LOADED]
            found = dict(zip(missing, _all_loaded(missing), strict=True))
            _AT.update({at: (u, k) for u, code in found.items() for k, at in enumerate(code.steps)})
            _LOADED.update(found)
    return [_LOADED[u] for u in units]


def function_at(address: int) -> tuple[Unit, int]:
    """The unit that a function is of, and its place there."""
    return _AT[address]


def _all_loaded(units: list[Unit]) -> list[Loaded]:
    cold = [u for u in units if not _library(u).is_whole()]
    if cold:
        cores = os.cpu_count() or 1
        pool = ThreadPoolExecutor(cores, thread_name_prefix="modurob-compiler")
        with announced(f"compiling {len(cold)} functions, once on this machine"), pool:
            list(pool.map(_build_together, _batches(cold, cores)))
    return [_load(u) for u in units]


# units that one compiler takes at most: to start it takes as long as a short unit
TOGETHER = 4


def _batches(units: list[Unit], cores: int) -> list[list[Unit]]:
    """The units in lots of equal flags, so that all cores have some."""
    most = min(TOGETHER, -(-len(units) // cores))
    kinds: dict[Any, list[Unit]] = {}
    for u in units:
        kinds.setdefault((u.lanes, u.single, u.flags), []).append(u)
    return [some[k : k + most] for some in kinds.values() for k in range(0, len(some), most)]


def _build_together(units: list[Unit]) -> None:
    """Compile units in one go. Their functions have names of their own, and call none but what is inlined, so that the code of
    each is what it is alone."""
    texts, notes = [], []
    for k, (text, code) in enumerate(unit.write() for unit in units):
        texts += [*(f"#define {f} {f}_{k}" for f in code.functions), text, *(f"#undef {f}" for f in code.functions)]
        notes.append(replace(code, suffix=f"_{k}").notes())
    build([_library(u) for u in units], "\n".join(['#include "prelude.h"', *texts]), notes)


def _library(unit: Unit) -> Any:
    return library(unit.name, f"{sources()} {unit.identity}", unit.lanes, unit.single, unit.flags)


def _load(unit: Unit) -> Loaded:
    at = _library(unit)
    code = Code.from_notes(notes_of(at, lambda: _written(unit)))
    handle = ctypes.CDLL(str(at.path))
    symbols = [getattr(handle, f + code.suffix) for f in code.functions]
    return Loaded(code, tuple(ctypes.cast(f, ctypes.c_void_p).value or 0 for f in symbols))


def _written(unit: Unit) -> tuple[str, Any]:
    text, code = unit.write()
    return f'#include "prelude.h"\n\n{text}', code.notes()


# the files of C by hand in which rows over whole arrays stand, and what each has
FILES = {
    "driver": ("once", "several"),
    "rows": ("clear", "copy", "combine", "weigh", "smaller", "scatter", "gather", "set"),
    "matrices": ("product", "project", "couple", "climb"),
    "solving": ("solve_slopes", "constrain"),
    "sweeps": ("sweep",),
    "descent": ("damped_step",),
}
FILE_OF = {name: file for file, names in FILES.items() for name in names}


def by_hand(file: str) -> str:
    """The text of a file of C by hand."""
    return (resources.files("modurob.kernels") / "c" / file).read_text(encoding="utf-8")


class Driver:
    """A file of C by hand, at one width."""

    def __init__(self, file: str, lanes: int, single: bool):
        text = f'#include "prelude.h"\n{by_hand(f"{file}.c")}'
        # loops over columns of matrices are worth more optimisation than straight lines, but the first answer of all, for one
        # state, should not wait for the longest of them
        at = library(file, text, lanes, single, ("-O1" if file == "sweeps" and lanes == 1 else "-O3",))
        notes_of(at, lambda: (text, None))
        self.library = ctypes.CDLL(str(at.path))
        if file == "driver":
            pointer, long = ctypes.c_void_p, ctypes.c_long
            self.library.make_arena.argtypes, self.library.make_arena.restype = [pointer], pointer
            self.library.free_arena.argtypes, self.library.free_arena.restype = [pointer], None
            self.library.run.argtypes = [pointer, pointer, long, long, pointer, pointer, long, pointer]
            self.library.run.restype = ctypes.c_int
            self.library.work.argtypes, self.library.work.restype = [pointer, long, long, long], ctypes.c_int

    def address(self, name: str) -> int:
        """Of one of its functions."""
        return ctypes.cast(getattr(self.library, name), ctypes.c_void_p).value or 0


def beside(make: Any, *arguments: Any) -> Callable[[], Any]:
    """What a function makes, begun at once in a thread of its own, and waited for when it is asked for; made once."""
    if (make, arguments) not in _BEGUN:

        def begin() -> None:
            with suppress(Exception):  # it is met again, by who asks
                make(*arguments)

        _BEGUN[make, arguments] = Thread(target=begin, name="modurob-compiler", daemon=True)
        _BEGUN[make, arguments].start()

    def made() -> Any:
        _BEGUN[make, arguments].join()
        return make(*arguments)

    return made


_BEGUN: dict[Any, Thread] = {}


@cache
def driver(file: str, lanes: int, single: bool) -> Driver:
    """A file of C by hand at a width, compiled if need be."""
    with announced(f"compiling the {file} of kernels, once on this machine"):
        return Driver(file, lanes, single)


# a fork while code is compiled would leave the child with a lock that nobody opens
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


# where code is traced from, and by: all that kernels may import
ROOMS = ("spatial", "trace", "geometry", "catalogue", "mechanism", "algorithms", "kernels")
FILES_BESIDE = ("errors.py", "caching.py", "registry.py", "tabular.py")


def source_files(*folders: str) -> list[Any]:
    """All files that code is traced from, and by, in one order: those of kernels, and of folders beyond them."""
    package = resources.files("modurob")
    rooms = [f for room in (*ROOMS, *folders) for f in _python_files(package / room)]
    return rooms + [package / name for name in FILES_BESIDE]


def _python_files(folder: Any) -> Iterator[Any]:
    for f in sorted(folder.iterdir(), key=str):
        if f.is_dir():
            yield from _python_files(f)
        elif f.name.endswith(".py"):
            yield f


@cache
def sources(*folders: str) -> str:
    """A hash of these files."""
    return hashlib.sha256(b"\0".join(f.read_bytes() for f in source_files(*folders))).hexdigest()
