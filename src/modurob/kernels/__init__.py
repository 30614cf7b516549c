"""Compiled evaluation, traced from the algorithms: batches of states in the lanes of vectors, and single states fast."""

from modurob.kernels.evaluator import run
from modurob.kernels.single import once
from modurob.kernels.threads import set_threads, thread_count, threads_for

__all__ = ["once", "run", "set_threads", "thread_count", "threads_for"]
