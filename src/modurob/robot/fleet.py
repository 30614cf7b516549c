"""Many robots at once, each with states of its own."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from modurob import algorithms
from modurob.algorithms.checks import require_quaternions
from modurob.algorithms.composite import MASS_MATRIX
from modurob.algorithms.derivatives import (
    FORWARD_DERIVATIVES,
    ForwardDerivatives,
    InverseDerivatives,
    derivatives_of,
    inverse_derivatives_of,
)
from modurob.algorithms.forward import dynamics_of
from modurob.algorithms.inverse import INVERSE_DYNAMICS
from modurob.algorithms.joint_space import SLOPES
from modurob.algorithms.kinematics import FORWARD_KINEMATICS, Poses
from modurob.algorithms.program import Answer, Flow, Program
from modurob.errors import EntryError, InputError, ModurobError, absent, explained, warn_user
from modurob.kernels.evaluator import Evaluator, evaluator, lanes_of
from modurob.kernels.fleet import Group, named_results
from modurob.robot import Assembly, Mechanism
from modurob.spatial.scalars import Array

DEVICES = ("cpu", "cuda")
NO_STATUS = np.zeros((), dtype=int)
# the program, whether in float32, and the lanes of the kernels that some robots go through at once
Kind = tuple[Program | Flow, bool, int]
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


class Function(NamedTuple):
    """A function of robots: the method it is of one, its arguments, the program that is it, and how its results are given."""

    name: str
    arguments: tuple[str, ...]
    program: Callable[[Mechanism], Program | Flow | None]  # None: the robot alone has an answer
    finished: Callable[[Mechanism, Sequence[Array], list[Array], Program | Flow], Any]
    alone: Callable[..., Any] | None = None  # of a robot, its arrays and how often: its own way, where it is no method
    on_gpu: "OnGpu | bool" = False  # whether it runs on a GPU too, and how where that is another way


class OnGpu(NamedTuple):
    """A function on a GPU: its program there, the parts of its results, made on the device, and how these are given."""

    program: Callable[[Mechanism], Program | Flow | None]
    parts: Callable[[Any, Mechanism, list[Any]], list[Any]]
    finished: Callable[[list[Any]], Any]


def _as_they_are(robot: Mechanism, given: Sequence[Array], raw: list[Array], program: Program | Flow) -> Array:
    return raw[0]


def _through(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of `algorithms` applied to results that are already computed."""

    def finished(robot: Mechanism, given: Sequence[Array], raw: list[Array], program: Program | Flow) -> Any:
        answer = Answer(named_results(program, robot, raw), NO_STATUS)
        return function(robot, *given, run=lambda *_: answer)

    return finished


def _mass_on_gpu(device: Any, m: Mechanism, raw: list[Any]) -> list[Any]:
    """M with the rotors, (k, nv, nv)."""
    M = raw[0].reshape(-1, m.nv, m.nv)
    return [M + device.array(np.diag(m.armature).astype(M.dtype.name)) if m.armature.any() else M]


def _inverse_slopes_on_gpu(device: Any, m: Mechanism, raw: list[Any]) -> list[Any]:
    return [*(x.reshape(-1, m.nv, m.nv) for x in raw[1:]), *_mass_on_gpu(device, m, raw)]


def _forward_slopes_on_gpu(device: Any, m: Mechanism, raw: list[Any]) -> list[Any]:
    whole = raw[0].reshape(-1, m.nv, 3 * m.nv)
    return [whole[..., k * m.nv : (k + 1) * m.nv] for k in range(3)]


FORWARD = Function("forward_dynamics", ("q", "v", "tau"), dynamics_of, _as_they_are, on_gpu=True)
INVERSE = Function(
    "inverse_dynamics",
    ("q", "v", "vdot"),
    lambda m: None if m.constraints else INVERSE_DYNAMICS,
    _as_they_are,
    on_gpu=True,
)
KINEMATICS = Function(
    "forward_kinematics", ("q",), lambda m: FORWARD_KINEMATICS, _through(algorithms.forward_kinematics)
)
MASS = Function(
    "mass_matrix",
    ("q",),
    lambda m: MASS_MATRIX,
    _through(algorithms.mass_matrix),
    on_gpu=OnGpu(lambda m: MASS_MATRIX, _mass_on_gpu, lambda parts: parts[0]),
)
FORWARD_SLOPES = Function(
    "forward_dynamics_derivatives",
    ("q", "v", "tau"),
    derivatives_of,
    _through(algorithms.forward_dynamics_derivatives),
    on_gpu=OnGpu(
        lambda m: None if m.constraints or m.coupled else FORWARD_DERIVATIVES,
        _forward_slopes_on_gpu,
        lambda parts: ForwardDerivatives(*parts),
    ),
)
INVERSE_SLOPES = Function(
    "inverse_dynamics_derivatives",
    ("q", "v", "vdot"),
    inverse_derivatives_of,
    _through(algorithms.inverse_dynamics_derivatives),
    on_gpu=OnGpu(
        lambda m: None if m.constraints else SLOPES, _inverse_slopes_on_gpu, lambda parts: InverseDerivatives(*parts)
    ),
)


@explained
class Fleet:
    """A fleet of different robots, each with its own number of states, evaluated in one call on all cores.

    Arguments are lists with an array for each robot, q[i] (k_i, nq_i), v[i], vdot[i], tau[i] (k_i, nv_i) [rad, rad/s,
    rad/s², N m; m, m/s, m/s², N]; so are results. They equal those of `fleet[i]` alone to the last bit, independently
    of the order of the robots and the number of threads. Float arrays (k, n) are evaluated by the kernels; any other
    argument that a robot accepts (one state, lists, other scalars) is evaluated by that robot alone. `robots` are
    mechanisms, or assemblies with their setup.

    With `device="cuda"` everything but kinematics is computed on an NVIDIA GPU, to 1e-12 (float64) or some 1e-5
    (float32), for arrays of NumPy, and of CuPy, JAX or PyTorch without a copy; without a GPU it is computed on the CPU,
    with a warning. `unrolled` compiles a separate kernel for each robot, in about a second: about twice as fast, for
    robots that do not change.

    >>> fleet = mr.Fleet([robot, mr.load("crane"), robot])
    >>> fleet
    Fleet(3 robots, nv 2 to 3)
    >>> rng = np.random.default_rng(0)
    >>> states = [rng.normal(size=(3, k, r.nv)) for k, r in zip((5, 1000, 20), fleet)]
    >>> vdots = fleet.forward_dynamics(*zip(*states))
    >>> [vdot.shape for vdot in vdots]
    [(5, 3), (1000, 2), (20, 3)]
    """

    def __init__(self, robots: Iterable[Mechanism | Assembly], device: str = "cpu", unrolled: bool = False):
        if device not in DEVICES:
            raise InputError(f"device {device!r:.40}: valid: {', '.join(DEVICES)}")
        if unrolled and device == "cpu":
            raise InputError("unrolled kernels are for GPUs: expected device='cuda'")
        self.robots = tuple(_robot(i, x) for i, x in enumerate(_listed(robots, "robots")))
        if not self.robots:
            raise InputError("a fleet of no robots: expected one Mechanism or Assembly at least")
        self._programs: dict[Function, list[Program | Flow | None]] = {}
        self._evaluators: dict[Kind, dict[int, Evaluator | None]] = {}
        self._groups: dict[Kind, tuple[tuple[int, ...], Group]] = {}
        self.device, self.unrolled = device, unrolled
        self._gpu: Any = self._moved() if device == "cuda" else None

    # ---- a list of robots ----

    def __len__(self) -> int:
        return len(self.robots)

    def __iter__(self) -> Iterator[Mechanism]:
        return iter(self.robots)

    @overload
    def __getitem__(self, i: int) -> Mechanism: ...
    @overload
    def __getitem__(self, i: slice) -> "Fleet": ...
    def __getitem__(self, i: int | slice) -> "Mechanism | Fleet":
        if isinstance(i, slice):
            return Fleet(self.robots[i], self.device, self.unrolled)
        try:
            return self.robots[i]
        except (IndexError, TypeError):
            raise EntryError(
                f"no robot {i!r:.60} in a fleet of {len(self)}: expected a place from 0 to {len(self) - 1}, or a slice"
            ) from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fleet) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash(self.robots)

    def __reduce__(self) -> tuple[Any, ...]:
        return Fleet, (self.robots, self.device, self.unrolled)

    def __repr__(self) -> str:
        rates = sorted({r.nv for r in self.robots})
        span = f", nv {rates[0]} to {rates[-1]}" if len(rates) > 1 else f", nv {rates[0]}"
        where = "" if self.device == "cpu" else ", on a GPU" if self._gpu is not None else ", on the CPU"
        return f"Fleet({len(self)} robot{'s' * (len(self) != 1)}{span}{where})"

    if not TYPE_CHECKING:  # a checker that saw it would take any name for one of ours

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            own = [n for n in dir(type(self)) if not n.startswith("_")]
            hint = (
                f"call {name} of each robot: [robot.{name}(...) for robot in fleet]" if hasattr(Mechanism, name) else ""
            )
            raise absent("a fleet", name, own, hint)

    # ---- functions ----

    @explained
    def forward_dynamics(self, q: Sequence[Any], v: Sequence[Any], tau: Sequence[Any]) -> list[Array]:
        """vdot of each robot, (k_i, nv_i) [rad/s² or m/s²]; see `Mechanism.forward_dynamics`.

        >>> fleet = mr.Fleet([robot, mr.load("crane")])
        >>> qs, taus = [np.full((4, r.nq), 0.2) for r in fleet], [np.ones((4, r.nv)) for r in fleet]
        >>> vdots = fleet.forward_dynamics(qs, taus, taus)
        >>> bool(np.array_equal(vdots[0], robot.forward_dynamics(qs[0], taus[0], taus[0])))
        True
        """
        return self._run(FORWARD, q, v, tau)

    @explained
    def inverse_dynamics(self, q: Sequence[Any], v: Sequence[Any], vdot: Sequence[Any]) -> list[Array]:
        """tau of each robot, (k_i, nv_i) [N m or N]; see `Mechanism.inverse_dynamics`.

        >>> fleet = mr.Fleet([robot, mr.load("crane")])
        >>> zeros = [np.zeros((2, r.nv)) for r in fleet]
        >>> fleet.inverse_dynamics(zeros, zeros, zeros)[0].round(3)
        array([[7.21, 1.03, 1.03],
               [7.21, 1.03, 1.03]])
        """
        return self._run(INVERSE, q, v, vdot)

    @explained
    def forward_kinematics(self, q: Sequence[Any]) -> list[Poses]:
        """Poses of the bodies and frames of each robot by name, (k_i, 4, 4) each [m]; see `Mechanism.forward_kinematics`.

        >>> fleet = mr.Fleet([robot, mr.load("crane")])
        >>> fleet.forward_kinematics([np.zeros((9, r.nq)) for r in fleet])[0]["m3"].shape
        (9, 4, 4)
        """
        return self._run(KINEMATICS, q)

    @explained
    def mass_matrix(self, q: Sequence[Any]) -> list[Array]:
        """M of each robot, (k_i, nv_i, nv_i) [kg m², kg m or kg]; see `Mechanism.mass_matrix`.

        >>> fleet = mr.Fleet([robot, mr.load("crane")])
        >>> [M.shape for M in fleet.mass_matrix([np.zeros((9, r.nq)) for r in fleet])]
        [(9, 3, 3), (9, 2, 2)]
        """
        return self._run(MASS, q)

    @explained
    def forward_dynamics_derivatives(
        self, q: Sequence[Any], v: Sequence[Any], tau: Sequence[Any]
    ) -> list[ForwardDerivatives]:
        """Derivatives of forward dynamics of each robot with respect to q, v and tau, (k_i, nv_i, nv_i) each; see
        `Mechanism.forward_dynamics_derivatives`.

        >>> fleet = mr.Fleet([robot, mr.load("crane")])
        >>> zeros = [np.zeros((2, r.nv)) for r in fleet]
        >>> fleet.forward_dynamics_derivatives(zeros, zeros, zeros)[1].tau.shape
        (2, 2, 2)
        """
        return self._run(FORWARD_SLOPES, q, v, tau)

    @explained
    def inverse_dynamics_derivatives(
        self, q: Sequence[Any], v: Sequence[Any], vdot: Sequence[Any]
    ) -> list[InverseDerivatives]:
        """Derivatives of inverse dynamics of each robot with respect to q, v and vdot, (k_i, nv_i, nv_i) each; see
        `Mechanism.inverse_dynamics_derivatives`.

        >>> fleet = mr.Fleet([robot, mr.load("crane")])
        >>> zeros = [np.zeros((2, r.nv)) for r in fleet]
        >>> fleet.inverse_dynamics_derivatives(zeros, zeros, zeros)[1].vdot.shape
        (2, 2, 2)
        """
        return self._run(INVERSE_SLOPES, q, v, vdot)

    # ---- one list of work ----

    def _run(self, function: Function, *given: Sequence[Any], repeats: Sequence[int] = ()) -> list[Any]:
        """A function of all robots: robots of one program and width are evaluated together, and robots without a kernel
        by themselves.

        `repeats` is the number of times that the program of each robot runs on its own results, by default once.
        """
        lists = [self._argument(x, name) for name, x in zip(function.arguments, given, strict=True)]
        arguments = list(zip(*lists, strict=True))
        times = np.array(list(repeats) or [1] * len(self), dtype=np.int64)
        if self._gpu is not None and function.on_gpu:
            return self._on_gpu(function, arguments, times)
        kinds: dict[tuple[Program | Flow, bool, bool], list[int]] = {}
        for i, (program, arrays) in enumerate(zip(self._programs_of(function), arguments, strict=True)):
            width = _width(arrays)
            # constraints are solved for in double precision, by the robot alone
            if program is not None and width is not None and not (width[0] and self.robots[i].constraints):
                kinds.setdefault((program, *width), []).append(i)
        results: list[Any] = [None] * len(self)
        for (program, single, alone), members in kinds.items():
            kind = program, single, 1 if alone else lanes_of(single)
            self._compiled(function, kind, members, arguments, times, results)
        return [self._alone(function, i, arguments[i], times[i]) if x is None else x for i, x in enumerate(results)]

    def _on_gpu(self, function: Function, arguments: list[Any], times: Array) -> list[Any]:
        own = function.on_gpu if isinstance(function.on_gpu, OnGpu) else None
        programs = [own.program(robot) for robot in self.robots] if own else self._programs_of(function)
        found = self._gpu.run(programs, arguments, times, own.parts if own else None)

        def finished(i: int, raw: list[Any]) -> Any:
            return own.finished(raw) if own else function.finished(self.robots[i], arguments[i], raw, programs[i])  # type: ignore[arg-type]

        return [
            self._back(function, i, arguments[i], times[i]) if raw is None else finished(i, raw)
            for i, raw in enumerate(found)
        ]

    def _programs_of(self, function: Function) -> list[Program | Flow | None]:
        if function not in self._programs:
            self._programs[function] = [function.program(robot) for robot in self.robots]
        return self._programs[function]

    def _compiled(
        self, function: Function, kind: Kind, members: list[int], arguments: list[Any], times: Array, results: list[Any]
    ) -> None:
        """Fill in the results of those members that have a kernel, fitting arrays, and no state without an answer."""
        evaluators = self._evaluators_of(kind, members)
        fits = [i for i in members if (e := evaluators[i]) is not None and _fits(e, arguments[i])]
        if not fits:
            return
        group = self._group(kind, tuple(fits))
        states = np.array([len(arguments[i][0]) for i in fits])
        raw, troubled = group.run([arguments[i] for i in fits], states, times[fits])
        for i, x, bad in zip(fits, raw, troubled.tolist(), strict=True):
            if not bad:
                results[i] = function.finished(self.robots[i], arguments[i], x, kind[0])

    def _evaluators_of(self, kind: Kind, members: list[int]) -> dict[int, Evaluator | None]:
        known = self._evaluators.setdefault(kind, {})
        for i in members:
            if i not in known:
                known[i] = evaluator(self.robots[i], kind[0], frozenset(), *kind[1:])
        return known

    def _group(self, kind: Kind, members: tuple[int, ...]) -> Group:
        """The group of some robots; the last one is kept."""
        last = self._groups.get(kind)
        if last is None or last[0] != members:
            self._groups[kind] = last = members, Group.of([self._evaluators[kind][i] for i in members])  # type: ignore[misc]
        return last[1]

    def _moved(self) -> Any:
        """The robots on the GPU; None, and a warning, if there is none."""
        from modurob.kernels.cuda.device import cuda_device
        from modurob.kernels.cuda.fleet import OnDevice

        device = cuda_device()
        if isinstance(device, str):
            warn_user(f"device='cuda': {device}; the CPU serves")
            return None
        return OnDevice(device, self.robots, self.unrolled)

    def _back(self, function: Function, i: int, arrays: Sequence[Any], repeats: int) -> Any:
        """What no GPU takes, by the robot itself on the CPU."""
        from modurob.kernels.cuda.arrays import given_back, on_host, pattern

        device, like = self._gpu.device, pattern(arrays)
        result = self._alone(function, i, [on_host(device, x) for x in arrays], repeats)
        if isinstance(like, np.ndarray):
            return result
        if not isinstance(result, tuple):
            return given_back(device, device.array(result), like)
        return type(result)(*(given_back(device, device.array(np.asarray(x)), like) for x in result))

    def _alone(self, function: Function, i: int, arrays: Sequence[Any], repeats: int) -> Any:
        """One robot by itself, which says what is wrong if anything is."""
        if function.alone is not None:
            return self._of(i, function.alone, self.robots[i], arrays, int(repeats))
        return self._of(i, getattr(self.robots[i], function.name), *arrays)

    def _of(self, i: int, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function returns; its errors name robot i."""
        try:
            return function(*arguments)
        except ModurobError as error:
            raise type(error)(f"robot {i} of the fleet: {error}") from None

    def _argument(self, x: Any, name: str) -> list[Any]:
        found = _listed(x, name)
        if len(found) != len(self):
            raise InputError(
                f"{name} has {len(found)} arrays for {len(self)} robots: expected a list with one array for each"
            )
        return found


def _listed(x: Any, name: str) -> list[Any]:
    if isinstance(x, str | bytes | dict | Mechanism | Assembly) or not isinstance(x, Iterable):
        raise InputError(f"{name} is {x!r:.60}: expected a list with one entry for each robot")
    return list(x)


def _robot(i: int, x: Any) -> Mechanism:
    if isinstance(x, Assembly):
        return x.robot()
    if not isinstance(x, Mechanism):
        hint = f", such as mr.load({x!r:.60})" if isinstance(x, str) else ""
        raise InputError(f"robot {i} of the fleet is {x!r:.60}: expected a Mechanism or an Assembly{hint}")
    return x


def _width(arrays: Sequence[Any]) -> tuple[bool, bool] | None:
    """Whether arrays are in single precision, and of one state; None if they are not (states, entries) of one kind of float."""
    first = arrays[0]
    if type(first) is not np.ndarray or first.ndim != 2 or not len(first) or first.dtype not in FLOATS:
        return None
    dtype, states = first.dtype, len(first)
    for x in arrays[1:]:
        if type(x) is not np.ndarray or x.ndim != 2 or len(x) != states or x.dtype != dtype:
            return None
    return dtype == FLOATS[1], states == 1


def _fits(e: Evaluator, arrays: Sequence[Array]) -> bool:
    """Whether the arrays are what the kernel reads; a quaternion without direction is said by the robot itself."""
    if [x.shape[1] for x in arrays] != e.sizes:
        return False
    return not e.has_quaternions or _directed(e, arrays[0])


def _directed(e: Evaluator, q: Array) -> bool:
    try:
        require_quaternions(e.m, q)
    except InputError:
        return False
    return True
