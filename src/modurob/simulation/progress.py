"""A bar, or lines of text, for runs that keep people waiting."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# a run that takes longer than this shows how far it is [s], as a bar, or as a line for each of so many parts
PATIENCE, PARTS = 2.0, 10


@contextmanager
def progress_bar(what: str, lines: bool = False) -> Iterator[Callable[[float], None]]:
    """A function to report the share done; after two seconds it shows a progress bar, if the error output is a terminal. With
    `lines` it writes a line for each tenth there, if it is none."""
    if sys.stderr.isatty():
        with _bar_on_terminal(what) as tell:
            yield tell
    else:
        yield _lines(what) if lines else lambda share: None


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
    started, told = time.monotonic(), -1

    def tell(share: float) -> None:
        nonlocal told
        part, spent = int(share * PARTS + 1e-9), time.monotonic() - started
        if part > told and spent > PATIENCE:
            print(f"{what}: {100 * share:.0f} % after {spent:.0f} s", file=sys.stderr, flush=True)
            told = part

    return tell


def _bar(what: str) -> Any:
    # imported where it is shown: a first answer should not wait for it
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    return Progress(TextColumn(what), BarColumn(), TimeRemainingColumn(), console=console, transient=True)
