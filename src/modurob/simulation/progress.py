"""A bar for runs that keep people waiting."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# a run that takes longer than this shows how far it is [s]
PATIENCE = 2.0


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[float], None]]:
    """A function to report the share done; after two seconds it shows a progress bar, if the output is a terminal."""
    started, bar, shown = time.monotonic(), None, sys.stderr.isatty()

    def tell(share: float) -> None:
        nonlocal bar
        if bar is None and shown and time.monotonic() - started > PATIENCE:
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


def _bar(what: str) -> Any:
    # imported where it is shown: a first answer should not wait for it
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    return Progress(TextColumn(what), BarColumn(), TimeRemainingColumn(), console=console, transient=True)
