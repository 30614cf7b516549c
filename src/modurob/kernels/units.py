"""Units of compiled code: a few C functions each, kept in the cache under all that makes them, and loaded once."""

import ctypes
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from importlib import resources
from threading import Lock, Thread, current_thread
from typing import Any, NamedTuple

from modurob.kernels import constraint_steps, descent_steps, sweep_steps
from modurob.kernels.compiler import announced, build, library, notes_of
from modurob.kernels.writer import HELPER, Code


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
    """A unit that is in memory, or will be."""

    unit: Unit
    code: Code
    find: Callable[[], tuple[int, ...]]

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """Addresses of its functions, waited for while they are compiled."""
        return self.find()


class Step(NamedTuple):
    """A function of a unit."""

    of: Loaded
    number: int

    @property
    def address(self) -> int:
        return self.of.steps[self.number]


_LOADED: dict[Unit, Loaded] = {}
# units that are being compiled, and what their users wait for
_PENDING: dict[Unit, Future[None]] = {}
_LOCK = Lock()


def loaded(units: Iterable[Unit]) -> list[Loaded]:
    """The units. Those that must be compiled are so side by side from now on, and waited for when their addresses are needed."""
    units = list(units)
    found = {u: _LOADED.get(u) for u in units}
    if None in found.values():
        with _LOCK:
            missing = [u for u in found if u not in _LOADED]
            cold = [u for u in missing if not _library(u).is_whole()]
            _LOADED.update({u: _load(u) for u in missing if u not in cold})
            _LOADED.update({x.unit: x for x in _begin(cold)})
            found = {u: _LOADED[u] for u in found}
    return [found[u] for u in units]  # type: ignore[misc]


def await_all(units: Iterable[Loaded]) -> None:
    """Wait until all of them are compiled; the wait is announced."""
    pending = {u: job for x in units if (job := _PENDING.get(u := x.unit)) is not None}
    if pending:
        with announced(f"compiling {len(pending)} functions, once on this machine"):
            wait(pending.values())


# units, and characters of their text, that one compiler takes at most: to start it takes as long as a short unit
TOGETHER, CHARACTERS = 8, 24_000


class _Waiting(NamedTuple):
    """A unit that is written, and waits for a compiler."""

    unit: Unit
    text: str
    code: Code
    job: Future[None]

    def kind(self) -> Any:
        """Equal for those that one compiler can take."""
        return self.unit.lanes, self.unit.single, self.unit.flags


# what no compiler has taken yet, and the threads that wait for compilers
_QUEUE: list[_Waiting] = []
_WORKERS: set[Thread] = set()
_QUEUE_LOCK = Lock()


def _begin(units: list[Unit]) -> Iterator[Loaded]:
    """Units whose texts are written one after the other; other threads compile them once there is enough text for a compiler."""
    written: list[_Waiting] = []
    for u in units:
        written.append(_Waiting(u, *u.write(), Future()))
        if u is units[-1] or sum(len(w.text) for w in written) > CHARACTERS:
            _enqueue(written)
            yield from (Loaded(w.unit, w.code, partial(_compiled, w.unit, w.job)) for w in written)
            written = []


def _enqueue(written: list[_Waiting]) -> None:
    """Queue these for compilation; threads are started for cores that are free."""
    _PENDING.update({w.unit: w.job for w in written})
    with _QUEUE_LOCK:
        _QUEUE.extend(written)
        for _ in range(min(len(written), (os.cpu_count() or 1) - len(_WORKERS))):
            thread = Thread(target=_work, name="modurob-compiler", daemon=True)
            _WORKERS.add(thread)
            thread.start()


def _work() -> None:
    """Compile until the queue is empty, in a thread that ends then, so that no idle threads are there at a fork."""
    while lot := _taken():
        try:
            build(*_together(lot))
        except Exception as error:  # raised again when the result is asked for
            for w in lot:
                w.job.set_exception(error)
        else:
            for w in lot:
                w.job.set_result(None)


def _taken() -> list[_Waiting]:
    """The longest text that waits, and others that the same compiler takes with it; none where the thread is to end."""
    with _QUEUE_LOCK:
        if not _QUEUE:
            _WORKERS.discard(current_thread())
            return []
        longest = max(_QUEUE, key=lambda w: len(w.text))
        lot, size = [longest], len(longest.text)
        for w in _QUEUE:
            if (
                w is not longest
                and w.kind() == longest.kind()
                and len(lot) < TOGETHER
                and size + len(w.text) < CHARACTERS
            ):
                lot.append(w)
                size += len(w.text)
        _QUEUE[:] = [w for w in _QUEUE if w not in lot]
        return lot


def _together(lot: list[_Waiting]) -> tuple[list[Any], str, list[Any]]:
    """What one compiler builds of units. Their functions have names of their own, and call none but what is inlined or compiled
    apart, so that the code of each is what it is alone."""
    texts, notes = ['#include "prelude.h"'], []
    for k, w in enumerate(lot):
        names = *w.code.functions, HELPER
        texts += [*(f"#define {f} {f}_{k}" for f in names), w.text, *(f"#undef {f}" for f in names)]
        notes.append(replace(w.code, suffix=f"_{k}").notes())
    return [_library(w.unit) for w in lot], "\n".join(texts), notes


def _compiled(unit: Unit, job: Future[None]) -> tuple[int, ...]:
    """Addresses of the functions of a unit once it is compiled; after an error it is compiled again at the next request."""
    try:
        job.result()
    except Exception:
        with _LOCK:
            _LOADED.pop(unit, None)
        raise
    finally:
        _PENDING.pop(unit, None)
    return _load(unit).steps


def _library(unit: Unit) -> Any:
    return library(unit.name, f"{sources()} {unit.identity}", unit.lanes, unit.single, unit.flags)


def _load(unit: Unit) -> Loaded:
    at = _library(unit)
    code = Code.from_notes(notes_of(at, lambda: _written(unit)))
    handle = ctypes.CDLL(str(at.path))
    symbols = [getattr(handle, f + code.suffix) for f in code.functions]
    steps = tuple(ctypes.cast(f, ctypes.c_void_p).value or 0 for f in symbols)
    return Loaded(unit, code, lambda: steps)


def _written(unit: Unit) -> tuple[str, Any]:
    text, code = unit.write()
    return f'#include "prelude.h"\n\n{text}', code.notes()


# the hand-written C files with rows over whole arrays, and the functions of each
FILES = {
    "driver": ("once", "several"),
    "rows": ("clear", "copy", "combine", "weigh", "smaller", "scatter", "gather", "set"),
    "matrices": ("product", "project", "project_sum", "turn", "couple"),
    "holding": ("product_transposed", "free_inertia", "free_rows"),
    "solving": ("solve_slopes", "invert_inertia"),
    "constraining": ("constrain",),
    "constrained": ("constrain_slopes",),
    "sweeps": ("sweep",),
    "descent": ("damped_step",),
}
FILE_OF = {name: file for file, names in FILES.items() for name in names}
# files that others are preceded by
BEHIND = {
    "solving": ("patterns.h", "elimination.c"),
    "constraining": ("patterns.h", "elimination.c"),
    "constrained": ("patterns.h",),
}


# and those behind the steps that they walk with
WRITTEN_BEFORE = {
    "constraining": constraint_steps.of_rows,
    "constrained": constraint_steps.numbers,
    "holding": constraint_steps.of_held_rates,
    "sweeps": sweep_steps.text,
    "descent": descent_steps.text,
}


def by_hand(file: str) -> str:
    """The text of a file of C by hand."""
    return (resources.files("modurob.kernels") / "c" / file).read_text(encoding="utf-8")


def text_of(file: str) -> str:
    """The text of such a file, with all that stands before it."""
    return "\n".join([*([WRITTEN_BEFORE[file]()] if file in WRITTEN_BEFORE else []), *_by_hand(file)])


def _by_hand(file: str) -> list[str]:
    return [by_hand(x) for x in (*BEHIND.get(file, ()), f"{file}.c")]


def _identity(file: str) -> str:
    """All that the text depends on: what is written is not, unless it must be compiled."""
    return "\n".join([*([sources()] if file in WRITTEN_BEFORE else []), *_by_hand(file)])


class Driver:
    """A file of C by hand, at one width."""

    def __init__(self, file: str, lanes: int, single: bool):
        at = library(file, _identity(file), lanes, single, _optimised(file, lanes))
        notes_of(at, lambda: ('#include "prelude.h"\n' + text_of(file), None))
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


def _optimised(file: str, lanes: int) -> tuple[str, ...]:
    """Flags for a file of C by hand: loops over columns of matrices are worth more optimisation than straight lines, but first
    answers should not wait for the longest of them, least of all that for one state.

    States are in lanes already, and what is long in one state is in runs of few numbers: there the compiler's own vectors take half
    the time of compiling and make no code faster, except where the driver copies whole arrays and where few constraints are
    solved for.
    """
    match file:
        case "sweeps":
            return ("-O2" if lanes > 1 else "-O1",)
        case "rows":
            return ("-O2",)
        case "driver":
            return ("-O3",)
        case "constraining" if lanes > 1:
            return ("-O3",)
        case "constrained" if lanes == 1:
            return ("-O2",)
    return ("-O3", "-fno-tree-vectorize")


def beside(make: Any, *arguments: Any) -> Callable[[], Any]:
    """The result of a function that starts now in a thread of its own, and is waited for when it is asked for; computed once."""
    thread = _begun(make, arguments)

    def made() -> Any:
        thread.join()
        return make(*arguments)

    return made


def _begun(make: Any, arguments: tuple[Any, ...]) -> Thread:
    """The thread that computes this: one that runs or has run, as threads can be waited for only once they have started."""

    def begin() -> None:
        with suppress(Exception):  # raised again when the result is asked for
            make(*arguments)

    with _QUEUE_LOCK:
        if (make, arguments) not in _BEGUN:
            thread = Thread(target=begin, name="modurob-compiler", daemon=True)
            thread.start()
            _BEGUN[make, arguments] = thread
        return _BEGUN[make, arguments]


_BEGUN: dict[Any, Thread] = {}


@cache
def driver(file: str, lanes: int, single: bool) -> Driver:
    """A file of C by hand at a width, compiled if need be."""
    with announced(f"compiling the {file} of kernels, once on this machine"):
        return Driver(file, lanes, single)


def _before_fork() -> None:
    """Wait for compilers: a fork meanwhile would leave the child with locks that are never released."""
    _LOCK.acquire()
    wait(list(_PENDING.values()))
    _QUEUE_LOCK.acquire()


def _after_fork() -> None:
    _QUEUE_LOCK.release()
    _LOCK.release()


def _in_child() -> None:
    """Threads do not exist in the child."""
    _WORKERS.clear()
    _after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_child)


# where code is traced from, and by: all that kernels may import
ROOMS = ("spatial", "trace", "geometry", "catalogue", "mechanism", "algorithms", "kernels")
FILES_BESIDE = ("errors.py", "caching.py", "fingerprints.py", "registry.py", "tabular.py", "values.py")


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
