"""Many mutations of one target, in processes that may die, and what failed."""

import hashlib
import json
import select
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from fuzz.worker import mutation

TARGETS = ("assembly", "module", "urdf", "matrix", "recording", "share", "message")
AT_A_TIME = 2000  # mutations of one process
PATIENCE = 60.0  # seconds without an answer: the process waits for something that does not come


class Failure(NamedTuple):
    """A mutation that ended neither in a result nor in a library error."""

    target: str
    seed: int
    number: int
    what: str

    @property
    def data(self) -> bytes:
        """The input itself."""
        return mutation(import_module(address(self.target)), self.seed, self.number)


def address(target: str) -> str:
    """The module of a target: one of `fuzz.targets`, or any other by its full name."""
    return target if "." in target else f"fuzz.targets.{target}"


def hunt(
    target: str, mutations: int, seed: int, tell: Callable[[int], None] = lambda done: None
) -> tuple[Counter[str], list[Failure]]:
    """How many mutations of a target ended how, and those that failed. `tell` is told how many are done."""
    counts, failures, done = Counter[str](), list[Failure](), 0
    while done < mutations:
        last = min(mutations, done + AT_A_TIME)
        for number, kind, what in answers(address(target), seed, done, last):
            counts[kind] += 1
            failures += [Failure(target, seed, number, what)] if kind == "raised" else []
            done = number + 1
            tell(done)
    return counts, failures


def answers(name: str, *arguments: object) -> Iterator[tuple[int, str, str]]:
    """What a worker says of each input; of the one that ended it, how. That is the last."""
    command = [sys.executable, "-m", "fuzz.worker", name, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        number = arguments[1] - 1 if len(arguments) > 1 and isinstance(arguments[1], int) else -1
        try:
            while select.select([worker.stdout], [], [], PATIENCE)[0] and (line := worker.stdout.readline()):
                number, kind, what = json.loads(line)
                yield number, kind, what
            waits = worker.poll() is None and not select.select([worker.stdout], [], [], 0)[0]
        finally:
            worker.kill()
        if waits:
            yield number + 1, "raised", f"no answer for {PATIENCE:g} s"
        elif worker.wait() < 0:
            yield number + 1, "raised", _death(worker.returncode)
        elif worker.returncode > 0:  # of a target that cannot be loaded, or makes no mutation
            raise RuntimeError(f"{name}: {worker.stderr.read() if worker.stderr else ''}")


def _death(code: int) -> str:
    name = signal.Signals(-code).name
    return "more than 5 s of processor time" if name == "SIGPROF" else f"killed by {name}"


def kept(failure: Failure, folder: Path) -> Path:
    """The file that keeps the input of a failure."""
    data = failure.data
    path = folder / failure.target.rpartition(".")[2] / hashlib.sha256(data).hexdigest()[:12]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
