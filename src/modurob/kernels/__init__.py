"""Compiled evaluation, traced from the algorithms: batches of states in the lanes of vectors, and single states fast."""

from modurob.kernels.doctor import diagnosis, warmed_up
from modurob.kernels.fast import Fast, set_threads, thread_count

__all__ = ["Fast", "diagnosis", "set_threads", "thread_count", "warmed_up"]
