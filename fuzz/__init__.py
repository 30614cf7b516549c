"""Fuzzing: valid inputs of every reader, mutated at random; each must end in a result or in a library error.

`python -m fuzz` mutates the inputs of all targets; a target is a module of `fuzz.targets` with `inputs`, `mutated` and `run`. What
fails is kept as a file in tests/fuzz/cases, where the tests run it again.
"""

from fuzz.hunting import TARGETS, Failure, address, hunt, kept

__all__ = ["TARGETS", "Failure", "address", "hunt", "kept"]
