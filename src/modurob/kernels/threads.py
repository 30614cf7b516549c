"""The number of threads that share a batch."""

import os

from modurob.errors import InputError

_threads = 0


def set_threads(threads: int | None) -> None:
    """Use so many threads for batches, leading axes of q, v, tau; None for all cores. Results do not depend on it, to the last bit.

    >>> mr.set_threads(2)
    >>> mr.set_threads(None)
    """
    global _threads
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
        raise InputError(f"{threads!r} threads: expected one or more, or None for all cores")
    _threads = threads or 0


def thread_count() -> int:
    """Threads used for large batches: those of `set_threads`, else of MODUROB_THREADS, else all cores."""
    if _threads:
        return _threads
    asked = os.environ.get("MODUROB_THREADS", "").strip()
    if asked and not (asked.isdecimal() and int(asked) > 0):
        raise InputError(f"MODUROB_THREADS is {asked!r}: expected a whole number above zero")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(asked) if asked else cores


# fewer states times rates are not worth a second thread
WORTH_A_THREAD = 20_000


def threads_for(work: int) -> int:
    """Threads that so many states times rates are worth."""
    return thread_count() if work >= WORTH_A_THREAD else 1
