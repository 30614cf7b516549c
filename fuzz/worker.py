"""python -m fuzz.worker TARGET SEED FIRST LAST, or TARGET FILE ...: run inputs under limits and print how each ended.

One line of JSON each: its number, "result", "refused" or "raised", and what was said. An input that takes more than 5 s of
processor time ends the process (SIGPROF), as does one that reads or writes where it must not; whoever started it sees that.
"""

import json
import logging
import re
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

from modurob.errors import ModurobError

SECONDS = 5.0  # of processor time
MEMORY = 1_000_000_000  # bytes more than before it, unless a target has a MEMORY of its own


def outcome(run: Any, data: bytes) -> tuple[str, str]:
    """How an input ends, and what was said."""
    try:
        run(data)
    except ModurobError as error:
        return "refused", f"{type(error).__name__}: {error}"[:200]
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return "raised", f"{type(error).__name__}: {error}"[:200] + f" ({Path(where.filename).name}:{where.lineno})"
    return "result", ""


def mutation(target: Any, seed: int, number: int) -> bytes:
    """One mutation of a target's inputs: the same whenever it is asked for."""
    return target.mutated(Random(f"{seed} {target.__name__} {number}"))


def _inputs(target: Any, arguments: list[str]) -> Iterator[tuple[int, bytes]]:
    if arguments and arguments[0].isdecimal():
        seed, first, last = map(int, arguments)
        yield from ((number, mutation(target, seed, number)) for number in range(first, last))
    else:
        yield from ((number, Path(file).read_bytes()) for number, file in enumerate(arguments))


def _memory(line: str) -> int:
    """What the system says of this process: VmRSS is in use now, VmHWM the most so far, VmSize mapped [bytes]."""
    found = re.search(rf"{line}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0


def _limited(run: Any, data: bytes, memory: int) -> tuple[str, str]:
    """How an input ends within the limits: processor time, and bytes of memory."""
    Path("/proc/self/clear_refs").write_text("5")  # the most so far is what it is now
    before = _memory("VmRSS")
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    ended = outcome(run, data)
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    more = _memory("VmHWM") - before
    if more > memory:
        return "raised", f"{more / 1e9:.1f} GB of memory: expected at most {memory / 1e9:g} GB"
    return ended


def main(name: str, *arguments: str) -> None:
    """Run the inputs that the arguments name."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    target: Any = import_module(name)
    for data in target.inputs():
        outcome(target.run, data)  # what is loaded once is loaded now
    memory = getattr(target, "MEMORY", MEMORY)
    resource.setrlimit(resource.RLIMIT_AS, (_memory("VmSize") + 3 * memory, resource.RLIM_INFINITY))
    for number, data in _inputs(target, list(arguments)):
        print(json.dumps([number, *_limited(target.run, data, memory)]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
