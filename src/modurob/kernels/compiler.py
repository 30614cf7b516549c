"""The C compiler of the machine, and the cache of compiled libraries."""

import atexit
import hashlib
import importlib.util
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from threading import Timer
from typing import Any, NamedTuple

from platformdirs import user_cache_path

from modurob.errors import KernelError

FLAGS = (
    "-std=gnu11",
    "-O2",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-signed-zeros",
    "-ffp-contract=fast",
    "-fPIC",
    "-shared",
)
# bytes of the widest vector that the processor computes with at once, by the macro the compiler defines for it
WIDTHS = (("__AVX512F__", 64), ("__AVX2__", 32), ("__SSE2__", 16), ("__ARM_NEON", 16))
# gcc before 13 takes an AMD processor with AVX-512 for one without, and schedules for vectors of half the width: 2 to 5 % slower
UNAWARE, TUNED = ("#define __tune_znver3__ ", "#define __AVX512F__ "), "-mtune=icelake-server"
# a compiler that takes longer than this for one unit is taken for broken [s]
PATIENCE = 120
# a wait longer than this is announced [s]
NOTICED = 0.3


@dataclass(frozen=True)
class Compiler:
    """A C compiler that builds for this machine."""

    command: tuple[str, ...]
    version: str
    vector_bytes: int
    processor: str  # a hash of all it says of the processor
    native: tuple[str, ...] = ("-march=native",)  # flags to build for it

    def lanes(self, item_bytes: int) -> int:
        """How many numbers of that size are computed at once."""
        return max(1, self.vector_bytes // item_bytes)


def quick_flags() -> tuple[str, ...]:
    """Flags for quick compilation of long straight-line code: gcc spends a third of its time on colouring register graphs, without
    which the code is as fast."""
    compiler = find_compiler()
    return ("-O1", "-fira-algorithm=priority") if compiler and "clang" not in compiler.version else ("-O1",)


@cache
def find_compiler() -> Compiler | None:
    """The compiler that MODUROB_CC names; without it that of CC, cc, gcc, clang, or `modurob[cc]`; None if none works."""
    given = os.environ.get("MODUROB_CC")
    names = [given] if given else [os.environ.get("CC"), "cc", "gcc", "clang"]
    commands = [(*name.split()[:-1], path) for name in names if name and (path := shutil.which(name.split()[-1]))]
    if not given and importlib.util.find_spec("ziglang"):
        commands.append((sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=undefined"))
    for command in commands:
        try:
            macros = _output(*command, "-march=native", "-dM", "-E", "-x", "c", os.devnull)
            version = _output(*command, "--version").splitlines()[0]
        except (OSError, subprocess.SubprocessError, IndexError):
            continue
        width = next((w for macro, w in WIDTHS if f"#define {macro} " in macros), 8)
        native = ("-march=native", *((TUNED,) if all(x in macros for x in UNAWARE) else ()))
        return Compiler(command, version, width, hashlib.sha256(macros.encode()).hexdigest(), native)
    return None


def without_compiler() -> str:
    """Why there is none, and what to do."""
    given = os.environ.get("MODUROB_CC")
    reason = f"MODUROB_CC is {given!r}, which is no C compiler that works here" if given else "no C compiler found"
    return f"{reason}: install gcc or clang, or pip install modurob[cc]"


def _output(*command: str) -> str:
    done = _apart(command, 60)
    done.check_returncode()
    return done.stdout


def _apart(command: Sequence[str], timeout: float) -> "subprocess.CompletedProcess[str]":
    """Run a compiler apart from the terminal, whose interrupts are for Python: it would end, and be taken for broken."""
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout, start_new_session=True)


def cache_folder() -> Path:
    """Where compiled kernels are kept: MODUROB_CACHE, or the user's cache folder."""
    given = os.environ.get("MODUROB_CACHE")
    return Path(given) if given else user_cache_path("modurob") / "kernels"


class Library(NamedTuple):
    """A shared library in the cache, whether it is there or not."""

    path: Path
    flags: tuple[str, ...]
    compiler: Compiler

    def is_whole(self) -> bool:
        """Whether it and its notes exist; `notes_of` checks their content."""
        return self.path.exists() and self.path.with_suffix(".json").exists()


def library(name: str, identity: str, lanes: int, single: bool, extra: tuple[str, ...] = ()) -> Library:
    """Where the library of that name and identity stands, for this compiler, processor and width.

    `identity` says all that its C text depends on. The file name is a hash of everything that makes the file.
    """
    compiler = find_compiler()
    if compiler is None:
        raise KernelError(without_compiler())
    own = os.environ.get("MODUROB_CFLAGS", "").split()
    flags = (*FLAGS, *compiler.native, f"-DLANES={lanes}", *(("-DSINGLE",) if single else ()), *extra, *own)
    content = "\0".join((identity, prelude(), compiler.version, compiler.processor, *flags))
    key = f"{name}-{hashlib.sha256(content.encode()).hexdigest()[:32]}"
    return Library(_usable_folder(cache_folder()) / f"{key}.so", flags, compiler)


def notes_of(library: Library, write: Callable[[], tuple[str, Any]]) -> Any:
    """The notes of a library, which is complete in the cache afterwards.

    If it is not, `write` gives its C text and the notes, and it is compiled. Beside it stands the hash of its content, so that
    a file that was cut short or changed is made again. Files appear whole, under any number of processes.
    """
    known = _read_notes(library.path)
    if known is not None:
        return known["notes"]
    text, notes = write()
    build([library], text, [notes])
    return notes


def _read_notes(path: Path) -> Any:
    try:
        notes = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        return notes if notes["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


@cache
def prelude() -> str:
    """prelude.h."""
    return (resources.files("modurob.kernels") / "c" / "prelude.h").read_text(encoding="utf-8")


@cache
def _usable_folder(folder: Path) -> Path:
    """The folder, if this user alone may write to it; else one of this process alone, which is gone when it ends.

    What lies there is executed: a folder that others may write to, or that is another user's, is not trusted.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = folder.stat()
        own = not hasattr(os, "getuid") or found.st_uid == os.getuid()
        if own and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            with tempfile.NamedTemporaryFile(dir=folder):
                return folder
    except OSError:
        pass
    private = Path(tempfile.mkdtemp(prefix="modurob-kernels-"))
    atexit.register(_remove, private, os.getpid())
    return private


def _remove(folder: Path, owner: int) -> None:
    """Remove a folder at the end of the process that made it, not of those it forked."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def build(libraries: list[Library], text: str, notes: list[Any]) -> None:
    """Compile a text that is all of these libraries, of equal flags: a copy for each, moved to its place when it is whole."""
    folder = libraries[0].path.parent
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix="building-") as work:
            source, made = Path(work, "kernel.c"), Path(work, "kernel.so")
            source.write_text(text, encoding="utf-8")
            Path(work, "prelude.h").write_text(prelude(), encoding="utf-8")
            _compile([*libraries[0].compiler.command, *libraries[0].flags, str(source), "-o", str(made), "-lm"])
            digest = hashlib.sha256(made.read_bytes()).hexdigest()
            for library, own in zip(libraries, notes, strict=True):
                copy, beside = Path(work, library.path.name), Path(work, "kernel.json")
                shutil.copyfile(made, copy)
                beside.write_text(json.dumps({"sha256": digest, "notes": own}), encoding="utf-8")
                os.replace(copy, library.path)
                os.replace(beside, library.path.with_suffix(".json"))
    except OSError as error:
        raise KernelError(f"kernels cannot be written to {folder}: {error.strerror or error}") from None


def _compile(command: list[str]) -> None:
    try:
        done = _apart(command, PATIENCE)
    except subprocess.TimeoutExpired:
        raise KernelError(f"{command[0]} took more than {PATIENCE} s for one kernel") from None
    if done.returncode != 0:
        raise KernelError(f"{command[0]} could not compile a kernel: {done.stderr.strip()[:2000]}")


@contextmanager
def announced(what: str) -> Iterator[None]:
    """Announce a wait on a terminal and to the log, once it is longer than `NOTICED`."""
    import logging

    logger = logging.getLogger("modurob")
    started = time.monotonic()

    def tell() -> None:
        logger.info("%s", what)
        if sys.stderr is not None and sys.stderr.isatty():
            print(f"modurob: {what} ...", file=sys.stderr, flush=True)

    timer = Timer(NOTICED, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        logger.debug("%s: %.2f s", what, time.monotonic() - started)
