"""Compiled evaluation, traced from the algorithms: batches of states in the lanes of vectors, and single states fast."""

from modurob.kernels.running import NOT_FINITE, begin, prepare, repeated, run, run_any, run_singly
from modurob.kernels.single import once
from modurob.kernels.threads import set_threads, thread_count, threads_for

__all__ = [
    "NOT_FINITE",
    "begin",
    "once",
    "prepare",
    "repeated",
    "run",
    "run_any",
    "run_singly",
    "set_threads",
    "thread_count",
    "threads_for",
]
