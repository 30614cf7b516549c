"""Compiled evaluation, traced from the algorithms: batches of states in the lanes of vectors, and single states fast."""

from modurob.kernels.fast import Fast, set_threads, thread_count

__all__ = ["Fast", "set_threads", "thread_count"]
