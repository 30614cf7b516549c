"""A bar, or lines of text, for runs that keep people waiting."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# a run that takes longer than this shows how far it is, as a bar on a terminal [s]
PATIENCE = 2.0
# elsewhere a line is written so long after the last one [s], at most one for each of so many parts
PAUSE, PARTS = 5.0, 10


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[float], None]]:
    """A function to report the share done: after two seconds it shows a progress bar, if the error output is a terminal. If it is
    none, it writes a line there every five seconds, or for each tenth, whichever takes longer."""
    if sys.stderr is None:
        yield lambda share: None
    elif sys.stderr.isatty():
        with _bar_on_terminal(what) as tell:
            yield tell
    else:
        yield _lines(what)


@contextmanager
def _bar_on_terminal(what: str) -> Iterator[Callable[[float], None]]:
    started, bar = time.monotonic(), None

    def tell(share: float) -> None:
        nonlocal bar
        if bar is None and time.monotonic() - started > PATIENCE:
            bar = _bar(what)
            bar.start()
            bar.add_task(what, total=1.0)
        if bar is not None:
            bar.update(bar.task_ids[0], completed=share)

    try:
        yield tell
    finally:
        if bar is not None:
            bar.stop()


def _lines(what: str) -> Callable[[float], None]:
    started = last = time.monotonic()
    told = -1

    def tell(share: float) -> None:
        nonlocal told, last
        part, now = int(share * PARTS + 1e-9), time.monotonic()
        if part > told and now - last > PAUSE:
            print(f"{what}: {100 * share:.0f} % after {now - started:.0f} s", file=sys.stderr, flush=True)
            told, last = part, now

    return tell


def _bar(what: str) -> Any:
    # imported where it is shown: a first answer should not wait for it
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    return Progress(TextColumn(what), BarColumn(), TimeRemainingColumn(), console=console, transient=True)
