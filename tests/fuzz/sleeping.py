"""A target that fails in every way there is: for the test of the hunt itself."""

import os
import time
from random import Random

from modurob.errors import InputError

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
            len(b"x" * 1_500_000_000)
        case "crash":
            os.abort()
