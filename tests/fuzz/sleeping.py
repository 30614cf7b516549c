"""A target that fails in every way there is: for the test of the hunt itself."""

import os
import time
from random import Random

from modurob.errors import InputError

MEMORY = 100_000_000  # a machine that is slow to give memory may need 5 s for a gigabyte
WAYS = ("result", "refused", "raw", "hang", "memory", "crash", "result")


def inputs() -> list[bytes]:
    return [b"result"]


def mutated(rng: Random) -> bytes:
    raise NotImplementedError("the files of the test are run instead")


def run(data: bytes) -> None:
    match data.decode():
        case "refused":
            raise InputError("found this: expected that")
        case "raw":
            raise KeyError("raw")
        case "hang":
            while True:
                time.perf_counter()
        case "memory":
            len(b"x" * 200_000_000)
        case "crash":
            os.abort()
