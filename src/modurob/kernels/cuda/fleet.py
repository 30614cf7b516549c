"""Robots on a device: those of one program and precision go through one launch."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from modurob.algorithms.program import Flow, Program
from modurob.errors import KernelError
from modurob.kernels.cuda.arrays import empty_like, given_back, on_device, pattern, strides_of
from modurob.kernels.cuda.launching import Device, Resident, entries, obstacle, resident, staying
from modurob.kernels.cuda.lean import supported
from modurob.kernels.cuda.rows import Laid, Walker, laid_for, walker
from modurob.mechanism import Tables
from modurob.spatial.scalars import Array

# float32 leaves these programs less than five digits of larger robots: they are computed in float64, and rounded
IN_DOUBLE = ("forward_dynamics_derivatives",)


class OnDevice:
    """Some robots on a device; their tables stay there."""

    def __init__(self, device: Device, robots: Sequence[Tables], unrolled: bool):
        self.device, self.robots, self.unrolled = device, tuple(robots), unrolled
        self._resident: dict[Any, Resident | Walker] = {}
        self._laid: dict[Any, Laid | None] = {}

    def run(
        self,
        programs: Sequence[Program | Flow | None],
        arguments: Sequence[Sequence[Any]],
        repeats: Array,
        parts: Callable[[Device, Any, list[Any]], list[Any]] | None = None,
    ) -> list[Any]:
        """The results of each robot's program, run so often, or the parts that are made of them on the device, in the library that
        its arguments came from.

        None where there is no kernel, where arrays do not fit, or where a state has no answer. A robot with a state for which
        float32 is too little is computed in float64.
        """
        results: list[Any] = [None] * len(self.robots)
        given = [
            None if program is None else [on_device(self.device, x) for x in own]
            for program, own in zip(programs, arguments, strict=True)
        ]
        for dtype in (np.float32, np.float64):
            groups: dict[Any, list[tuple[int, list[Any], Any]]] = {}
            for i, (program, arrays) in enumerate(zip(programs, given, strict=True)):
                if results[i] is None and program is not None and arrays is not None and _alike(arrays):
                    self._grouped(groups, i, program, arrays, np.dtype(dtype))
            for key, members in groups.items():
                self._group(key, members, programs, arguments, repeats, results, parts)
        return results

    def _grouped(self, groups: Any, i: int, program: Program | Flow, arrays: list[Any], dtype: Any) -> None:
        """Put a robot with those that go through the same launch, if it has a kernel of that precision, and need of it."""
        single, lean = dtype.itemsize == 4, supported(program)
        if single and (arrays[0].dtype != dtype or program.name in IN_DOUBLE):
            return
        sizes = self._sizes(i, program, single)
        if sizes is not None and [x.shape[1] for x in arrays] == sizes[0]:
            key = (program if lean else tuple(map(len, sizes)), single, i if self.unrolled and lean else -1)
            groups.setdefault(key, []).append((i, [x.astype(dtype, copy=False) for x in arrays], arrays[0].dtype))

    def _sizes(self, i: int, program: Program | Flow, single: bool) -> tuple[list[int], list[int]] | None:
        """Entries of the inputs and results of a robot; None if there is no kernel for it."""
        m = self.robots[i]
        if isinstance(program, Program) and supported(program):
            return None if obstacle(m, program) else entries(program, m)
        if (i, program, single) not in self._laid:
            self._laid[i, program, single] = _rows(m, program, single)
        laid = self._laid[i, program, single]
        return None if laid is None else ([n for _, n in laid.inputs], [n for _, n in laid.results])

    def _group(
        self,
        key: Any,
        members: list[tuple[int, list[Any], Any]],
        programs: Sequence[Any],
        arguments: Sequence[Sequence[Any]],
        repeats: Array,
        results: list[Any],
        parts: Callable[[Device, Any, list[Any]], list[Any]] | None,
    ) -> None:
        at, inputs, dtypes = zip(*members, strict=True)
        found = self._resident_of((at, *key), tuple(programs[i] for i in at), key[1])
        states = [len(arrays[0]) for arrays in inputs]
        out = [
            [empty_like(self.device, arrays[0], n) for n in self._sizes(i, programs[i], key[1])[1]]  # type: ignore[index]
            for i, arrays in zip(at, inputs, strict=True)
        ]
        often = (repeats[list(at)],) if isinstance(found, Walker) else ()
        status = found.run(inputs, states, strides_of, out, *often)
        fine = not bool((status != 0).any())
        first = 0
        for i, k, left, dtype in zip(at, states, out, dtypes, strict=True):
            if fine or not bool((status[first : first + k] != 0).any()):
                made = left if parts is None else parts(self.device, self.robots[i], left)
                rounded = [x.astype(dtype, copy=False) for x in made]
                results[i] = [given_back(self.device, x, pattern(arguments[i])) for x in rounded]
            first += k

    def _resident_of(self, key: Any, programs: tuple[Any, ...], single: bool) -> Resident | Walker:
        key = (*key, programs)
        if key not in self._resident:
            robots = [self.robots[i] for i in key[0]]
            if not supported(programs[0]):
                laid = [self._laid[i, program, single] for i, program in zip(key[0], programs, strict=True)]
                self._resident[key] = walker(self.device, laid, single)  # type: ignore[arg-type]
            elif self.unrolled:
                self._resident[key] = staying(self.device, robots[0], programs[0], single)
            else:
                self._resident[key] = resident(self.device, robots, programs[0], single)
        return self._resident[key]


def _rows(m: Tables, program: Program | Flow, single: bool) -> Laid | None:
    """The rows of a robot; None if it does not move, or there is no compiler to lay them with."""
    try:
        return laid_for(m, program, single) if m.nv else None
    except KernelError:
        return None


def _alike(arrays: list[Any]) -> bool:
    """Whether arrays are (states, entries) of one kind of float."""
    if any(x is None or x.ndim != 2 or x.dtype.name not in ("float32", "float64") for x in arrays):
        return False
    states, dtype = len(arrays[0]), arrays[0].dtype
    return states > 0 and all(x.dtype == dtype and len(x) == states for x in arrays)
