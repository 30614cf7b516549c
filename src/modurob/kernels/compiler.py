"""The C compiler of the machine, and a cache of what it made."""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from platformdirs import user_cache_path

from modurob.errors import KernelError

FLAGS = (
    "-std=gnu11",
    "-O3",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-signed-zeros",
    "-ffp-contract=fast",
    "-fPIC",
    "-shared",
)
# bytes of the widest vector that the processor computes with at once, by the macro the compiler defines for it
WIDTHS = (("__AVX512F__", 64), ("__AVX2__", 32), ("__SSE2__", 16), ("__ARM_NEON", 16))


@dataclass(frozen=True)
class Compiler:
    """A C compiler that builds for this machine."""

    command: tuple[str, ...]
    version: str
    vector_bytes: int

    def lanes(self, item_bytes: int) -> int:
        """How many numbers of that size are computed at once."""
        return max(1, self.vector_bytes // item_bytes)


@cache
def find_compiler() -> Compiler | None:
    """The compiler named by MODUROB_CC, and no other; else that of CC, cc, gcc, clang, or that of `modurob[cc]`; None if none works."""
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
        return Compiler(command, version, width)
    return None


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def cache_folder() -> Path:
    """Where compiled kernels are kept: MODUROB_CACHE, or the user's cache folder."""
    given = os.environ.get("MODUROB_CACHE")
    return Path(given) if given else user_cache_path("modurob") / "kernels"


def library(text: str, name: str, lanes: int, single: bool, extra: tuple[str, ...] = ()) -> Path:
    """The shared library of a C text, from the cache or made now.

    The file name is the hash of all that makes it; beside it stands the hash of its content, so that a file that was cut short or
    changed is made again. Files appear whole, under any number of processes.
    """
    compiler = find_compiler()
    if compiler is None:
        raise KernelError("no C compiler found: install gcc or clang, or pip install modurob[cc]")
    own = os.environ.get("MODUROB_CFLAGS", "").split()
    flags = (*FLAGS, "-march=native", f"-DLANES={lanes}", *(("-DSINGLE",) if single else ()), *extra, *own)
    prelude = (resources.files("modurob.kernels") / "c" / "prelude.h").read_text(encoding="utf-8")
    content = "\0".join((text, prelude, compiler.version, str(compiler.vector_bytes), *flags))
    key = f"{name}-{hashlib.sha256(content.encode()).hexdigest()[:32]}"
    folder = _usable_folder()
    target = folder / f"{key}.so"
    if not _is_whole(target):
        _build(compiler, text, prelude, flags, target)
    return target


def _is_whole(path: Path) -> bool:
    try:
        return path.with_suffix(".sha256").read_text() == hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return False


@cache
def _usable_folder_of(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile(dir=folder):
            return folder
    except OSError:
        # nothing can be kept: a folder of this process alone
        return Path(tempfile.mkdtemp(prefix="modurob-kernels-"))


def _usable_folder() -> Path:
    return _usable_folder_of(cache_folder())


def _build(compiler: Compiler, text: str, prelude: str, flags: tuple[str, ...], target: Path) -> None:
    """Compile beside the target and move it there when it is whole."""
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix="building-") as work:
            source, made = Path(work, "kernel.c"), Path(work, "kernel.so")
            source.write_text(text, encoding="utf-8")
            Path(work, "prelude.h").write_text(prelude, encoding="utf-8")
            command = [*compiler.command, *flags, str(source), "-o", str(made), "-lm"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise KernelError(f"{compiler.command[0]} could not compile a kernel: {done.stderr.strip()[:2000]}")
            digest = Path(work, "kernel.sha256")
            digest.write_text(hashlib.sha256(made.read_bytes()).hexdigest())
            os.replace(made, target)
            os.replace(digest, target.with_suffix(".sha256"))
    except OSError as error:
        raise KernelError(f"kernels cannot be written to {target.parent}: {error.strerror or error}") from None
