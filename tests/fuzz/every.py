"""All targets as one, for one process: an input is the name of its target, a line end, and what that target is given."""

from importlib import import_module
from random import Random

from fuzz import TARGETS, address


def packed(target: str, data: bytes) -> bytes:
    return target.encode() + b"\n" + data


def inputs() -> list[bytes]:
    return [packed(target, data) for target in TARGETS for data in import_module(address(target)).inputs()]


def mutated(rng: Random) -> bytes:
    raise NotImplementedError("the files of the test are run instead")


def run(data: bytes) -> None:
    target, _, own = data.partition(b"\n")
    import_module(address(target.decode())).run(own)
