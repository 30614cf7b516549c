"""Robots on a device: those of one program and precision go through one launch."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from modurob.algorithms.configuration import random_configuration
from modurob.algorithms.program import Flow, Program
from modurob.errors import KernelError
from modurob.kernels.cuda.arrays import empty_like, given_back, on_device, pattern, strides_of
from modurob.kernels.cuda.launching import Device, Resident, entries, obstacle, resident, staying
from modurob.kernels.cuda.lean import supported
from modurob.kernels.cuda.rows import Laid, Walker, laid_for, walker
from modurob.mechanism import Tables
from modurob.spatial.scalars import Array

# programs of which float32 leaves less than five digits: for some robots, which are found by trial, and for most
DELICATE, IN_DOUBLE = "forward_dynamics", "forward_dynamics_derivatives"
# the largest difference of float32 and float64 in some states; that of all states is some times larger
TRIALS, TOLERATED = 64, 1.5e-6


class OnDevice:
    """Some robots on a device; their tables stay there."""

    def __init__(self, device: Device, robots: Sequence[Tables], unrolled: bool):
        self.device, self.robots, self.unrolled = device, tuple(robots), unrolled
        self._resident: dict[Any, Resident | Walker] = {}
        self._laid: dict[Any, Laid | None] = {}
        self._errors: dict[int, float] | None = None  # of float32, by robot

    def run(
        self,
        programs: Sequence[Program | Flow | None],
        arguments: Sequence[Sequence[Any]],
        repeats: Array,
        parts: Callable[[Device, Any, list[Any]], list[Any]] | None = None,
    ) -> list[Any]:
        """The results of each robot's program, run so often, or the parts that are made of them on the device, in the library that
        its arguments came from.

        None where there is no kernel, where arrays do not fit, or where a state has no answer. Robots for which float32 is too
        little are computed in float64, and rounded.
        """
        results: list[Any] = [None] * len(self.robots)
        groups: dict[Any, list[tuple[int, list[Any]]]] = {}
        dtypes: dict[int, Any] = {}
        for i, (program, given) in enumerate(zip(programs, arguments, strict=True)):
            arrays = [on_device(self.device, x) for x in given] if program is not None else []
            if program is None or not _alike(arrays):
                continue
            dtypes[i] = arrays[0].dtype
            single, lean = dtypes[i].itemsize == 4 and self._enough(i, program), supported(program)
            sizes = self._sizes(i, program, single)
            if sizes is not None and [x.shape[1] for x in arrays] == sizes[0]:
                key = (program if lean else tuple(map(len, sizes)), single, i if self.unrolled and lean else -1)
                groups.setdefault(key, []).append((i, arrays if single else _in_double(arrays)))
        for key, members in groups.items():
            out, status = self._launched(key, members, programs, repeats)
            for (i, _), left, lost in zip(members, out, status, strict=True):
                if not bool((lost != 0).any()):
                    made = left if parts is None else parts(self.device, self.robots[i], left)
                    rounded = [x.astype(dtypes[i], copy=False) for x in made]
                    results[i] = [given_back(self.device, x, pattern(arguments[i])) for x in rounded]
        return results

    def _enough(self, i: int, program: Program | Flow) -> bool:
        """Whether float32 is enough for a robot."""
        if program.name != DELICATE or not isinstance(program, Program):
            return program.name != IN_DOUBLE
        if self._errors is None:
            fit = [k for k, m in enumerate(self.robots) if not obstacle(m, program)]
            errors = errors_of_single(self.device, [self.robots[k] for k in fit], program)
            self._errors = dict(zip(fit, errors, strict=True))
        return self._errors.get(i, 0.0) < TOLERATED

    def _sizes(self, i: int, program: Program | Flow, single: bool) -> tuple[list[int], list[int]] | None:
        """Entries of the inputs and results of a robot; None if there is no kernel for it."""
        m = self.robots[i]
        if isinstance(program, Program) and supported(program):
            return None if obstacle(m, program) else entries(program, m)
        if (i, program, single) not in self._laid:
            self._laid[i, program, single] = _rows(m, program, single)
        laid = self._laid[i, program, single]
        return None if laid is None else ([n for _, n in laid.inputs], [n for _, n in laid.results])

    def _launched(
        self, key: Any, members: list[tuple[int, list[Any]]], programs: Sequence[Any], repeats: Array
    ) -> tuple[list[list[Any]], list[Any]]:
        """Results and status of some robots, by one launch."""
        at, inputs = zip(*members, strict=True)
        found = self._resident_of((at, *key), tuple(programs[i] for i in at), key[1])
        states = [len(arrays[0]) for arrays in inputs]
        out = [
            [empty_like(self.device, arrays[0], n) for n in self._sizes(i, programs[i], key[1])[1]]  # type: ignore[index]
            for i, arrays in members
        ]
        often = (repeats[list(at)],) if isinstance(found, Walker) else ()
        status = found.run(inputs, states, strides_of, out, *often)
        ends = np.cumsum(states).tolist()
        return out, [status[end - k : end] for k, end in zip(states, ends, strict=True)]

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


def errors_of_single(device: Device, robots: Sequence[Tables], program: Program) -> list[float]:
    """How far float32 and float64 are from each other in some states of robots, relative to the largest entry of each state."""
    if not robots:
        return []
    rng = np.random.default_rng(0)
    given = [
        [np.stack([random_configuration(m, rng) for _ in range(TRIALS)]), *rng.normal(size=(2, TRIALS, m.nv))]
        for m in robots
    ]
    exact = _tried(device, robots, program, [[x.astype(np.float32).astype(np.float64) for x in own] for own in given])
    found = _tried(device, robots, program, [[x.astype(np.float32) for x in own] for own in given])
    return [
        float((np.abs(x - y).max(axis=-1) / np.abs(y).max(axis=-1)).max()) for x, y in zip(found, exact, strict=True)
    ]


def _tried(device: Device, robots: Sequence[Tables], program: Program, given: list[list[Array]]) -> list[Array]:
    """The first result of robots, on the host."""
    inputs = [[device.array(x) for x in own] for own in given]
    out = [
        [device.empty((TRIALS, n), own[0].dtype) for n in entries(program, m)[1]]
        for m, own in zip(robots, given, strict=True)
    ]
    resident(device, robots, program, given[0][0].itemsize == 4).run(inputs, [TRIALS] * len(robots), strides_of, out)
    return [device.host(left[0]) for left in out]


def _rows(m: Tables, program: Program | Flow, single: bool) -> Laid | None:
    """The rows of a robot; None if it does not move, or there is no compiler to lay them with."""
    try:
        return laid_for(m, program, single) if m.nv else None
    except KernelError:
        return None


def _in_double(arrays: list[Any]) -> list[Any]:
    return [x.astype(np.float64, copy=False) for x in arrays]


def _alike(arrays: list[Any]) -> bool:
    """Whether arrays are (states, entries) of one kind of float."""
    if any(x is None or x.ndim != 2 or x.dtype.name not in ("float32", "float64") for x in arrays):
        return False
    states, dtype = len(arrays[0]), arrays[0].dtype
    return states > 0 and all(x.dtype == dtype and len(x) == states for x in arrays)
