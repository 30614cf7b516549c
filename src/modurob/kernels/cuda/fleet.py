"""Robots on a device: those of one precision go through one launch."""

from collections.abc import Sequence
from typing import Any

from modurob.algorithms.program import Flow, Program
from modurob.kernels.cuda.arrays import empty_like, given_back, on_device, strides_of
from modurob.kernels.cuda.launching import Device, Resident, entries, obstacle, resident, staying
from modurob.mechanism import Tables


class OnDevice:
    """Some robots on a device; their tables stay there."""

    def __init__(self, device: Device, robots: Sequence[Tables], unrolled: bool):
        self.device, self.robots, self.unrolled = device, tuple(robots), unrolled
        self._resident: dict[Any, Resident] = {}

    def run(self, programs: Sequence[Program | Flow | None], arguments: Sequence[Sequence[Any]]) -> list[Any]:
        """The first result of each robot's program, in the library its arguments came from.

        None where there is no kernel, where arrays do not fit, or where a state has no answer.
        """
        results: list[Any] = [None] * len(self.robots)
        groups: dict[Any, list[tuple[int, list[Any]]]] = {}
        for i, (m, program, given) in enumerate(zip(self.robots, programs, arguments, strict=True)):
            if program is None or obstacle(m, program):
                continue
            arrays = [on_device(self.device, x) for x in given]
            if _fit(m, program, arrays):
                key = (program, arrays[0].dtype.itemsize == 4, i if self.unrolled else -1)
                groups.setdefault(key, []).append((i, arrays))
        for key, members in groups.items():
            self._group(key, members, arguments, results)
        return results

    def _group(
        self, key: Any, members: list[tuple[int, list[Any]]], arguments: Sequence[Sequence[Any]], results: list[Any]
    ) -> None:
        program, single, _ = key
        at = tuple(i for i, _ in members)
        found = self._resident_of((at, *key), [self.robots[i] for i in at], program, single)
        inputs = [arrays for _, arrays in members]
        states = [len(arrays[0]) for arrays in inputs]
        out = [
            [empty_like(self.device, arrays[0], n) for n in entries(program, self.robots[i])[1]]
            for i, arrays in members
        ]
        status = found.run(inputs, states, strides_of, out)
        fine = not bool((status != 0).any())
        first = 0
        for i, k, left in zip(at, states, out, strict=True):
            if fine or not bool((status[first : first + k] != 0).any()):
                results[i] = given_back(self.device, left[0], arguments[i][0])
            first += k

    def _resident_of(self, key: Any, robots: list[Tables], program: Program, single: bool) -> Resident:
        if key not in self._resident:
            self._resident[key] = (
                staying(self.device, robots[0], program, single)
                if self.unrolled
                else resident(self.device, robots, program, single)
            )
        return self._resident[key]


def _fit(m: Tables, program: Any, arrays: list[Any]) -> bool:
    """Whether arrays are (states, entries) of one kind of float."""
    if any(x is None or x.ndim != 2 or x.dtype.name not in ("float32", "float64") for x in arrays):
        return False
    states, dtype = len(arrays[0]), arrays[0].dtype
    sizes = entries(program, m)[0]
    return states > 0 and all(x.dtype == dtype and x.shape == (states, n) for x, n in zip(arrays, sizes, strict=True))
