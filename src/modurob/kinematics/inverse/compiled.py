"""Closed forms compiled: traced from their definition, with constants of the arm in a table, for one pose and for batches.

Poses near to a double root or to a free angle are left to the definition.
"""

import ctypes
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from modurob.caching import cached_property
from modurob.kernels.evaluator import in_shares
from modurob.kernels.memory import address, room
from modurob.kernels.single import row_function
from modurob.kernels.straight import CONSTANTS, Lines, Straight, batch_lanes, straight
from modurob.kernels.threads import threads_for
from modurob.kernels.writer import Step
from modurob.kinematics.inverse import general_steps
from modurob.kinematics.inverse.arm import EXACT, Arm, closed_form
from modurob.kinematics.inverse.axes import Axis, Motion, moved
from modurob.kinematics.inverse.families import effort
from modurob.kinematics.inverse.finish import error, whole_turns
from modurob.kinematics.inverse.subproblems import ONE
from modurob.spatial import se3
from modurob.spatial.scalars import Array, absolute, maximum, minimum, solve
from modurob.trace import Graph, Place

# rooms and levers (squares of sines and lengths) below which a pose is left to the definition
ROOM, LEVER = 1e-9, 1e-10
STEPS, GENERAL_STEPS = 2, 3
RESIDUAL = 1e-8  # before the last step of Newton's method


# last digits of numbers that are taken for zero or one, a hundredth of those that count
ROUNDED = 1e-15
# what became of a pose: solved, left to the definition, no solution, or solutions beyond limits alone
SOLVED, LEFT, OUT_OF_REACH, BEYOND_LIMITS = range(4)
FATES = f"enum {{ SOLVED = {SOLVED}, LEFT = {LEFT}, OUT_OF_REACH = {OUT_OF_REACH}, BEYOND_LIMITS = {BEYOND_LIMITS} }};"


class Compiled:
    """The closed form of an arm with six joints of a robot, in kernels."""

    def __init__(self, arm: Arm, coordinates: int):
        self.arm, self.nq, self.width, self.off = arm, coordinates, _count(arm), arm.deviation
        self._handles: dict[Any, Any] = {}
        self._structs: dict[Any, _Arm] = {}

    def _constants(self, code: "Pair") -> tuple[Array, Array]:
        """The table of the candidates and that of the true model."""
        true = code.model.constants(0, _numbers(self.arm.solved, self.arm))
        if self.arm.way is None:
            return general_steps.numbers(self.arm), true
        return code.family.constants(0, _numbers(self.arm.way.axes, self.arm)), true

    @cached_property
    def one(self) -> "Pair | None":
        """The code for one pose; None if there is no compiler."""
        return _pair(self.arm, 1)

    @cached_property
    def many(self) -> "Pair | None":
        """That for batches."""
        return _pair(self.arm, batch_lanes())

    @cached_property
    def _call(self) -> Any:
        """`pose_batch` of poses.c."""
        assert self.many is not None
        call = self.many.family.library.pose_batch
        call.argtypes, call.restype = [_P, _L, _L, _P, _P, _L, _P, _P, _P], ctypes.c_int
        return call

    def _struct(self, code: "Pair", lower: Array, upper: Array, sorts: bool, starts: bool) -> "_Arm":
        """The arm as C sees it; what it points to is kept. Without limits and starts angles stay as they are."""
        key = (id(code), lower.tobytes(), upper.tobytes(), sorts, starts)
        if key not in self._structs:
            shifts = starts or not (np.isinf(lower).all() and np.isinf(upper).all())
            self._structs[key] = self._made(code, lower, upper, sorts, shifts)
        return self._structs[key]

    def _made(self, code: "Pair", lower: Array, upper: Array, sorts: bool, shifts: bool) -> "_Arm":
        arm, (c, true) = self.arm, self._constants(code)
        turns = np.array([a.turns for a in arm.solved], dtype=np.int32)
        at = np.array(arm.at, dtype=np.int32)
        arrays = [np.ascontiguousarray(x) for x in (c, true, lower, upper, arm.lengths, 1 / arm.lengths, at, turns)]
        # two angles of a quartic are confirmed by both of their equations; a slide may lean on a long lever
        slides = arm.way is not None and effort(arm.way) > 0 and not turns.all()
        steps = GENERAL_STEPS if arm.way is None else STEPS if self.off >= EXACT else int(slides)
        made = _Arm(
            code.model.address("refined"),
            code.together.address("refined"),
            *(x.ctypes.data for x in arrays),
            *(
                self.nq,
                steps,
                max(ROOM, 1e3 * self.off),
                LEVER,
                RESIDUAL,
                sorts,
                shifts,
                arm.at == tuple(range(self.nq)),
                not turns.all(),
                batch_lanes(),
            ),
        )
        made.kept = arrays  # type: ignore[attr-defined]
        return made

    def handle(self, lower: Array, upper: Array, sorts: bool) -> Any:
        """A function of one pose (4, 4) and a start (nq,), zero unless solutions are sorted, that answers with the solutions, (k,
        nq), or None where the long way must be taken; None if there is none."""
        key = (lower.tobytes(), upper.tobytes(), sorts)
        if key not in self._handles and self.one is not None:
            made = self._struct(self.one, lower, upper, sorts, sorts)
            run, data = self.one.family.address("pose_once"), ctypes.addressof(made)
            self._handles[key] = row_function(run, data, (16, self.nq), (self.width, self.nq), (self, made))
        return self._handles.get(key)

    def batch(
        self, X: Array, start: Array, lower: Array, upper: Array, sorts: bool
    ) -> tuple[Array, Array, Array, bool] | None:
        """Solutions (m, k, nq), the nearest candidate where there are none; how many, (m,); what became of each pose, (m,); whether
        all are solved. None without a compiler. `start` is (m, nq), or (1, nq) for all."""
        if self.many is None:
            return None
        m = len(X)
        X = np.ascontiguousarray(X.reshape(m, 16))
        start = np.ascontiguousarray(start)
        q = room(m, self.width * self.nq, np.dtype(float)).reshape(m, self.width, self.nq)
        count, fate = np.empty(m, np.int64), np.empty(m, np.uint8)
        made = self._struct(self.many, lower, upper, sorts, sorts or bool(start.any()))
        stride = 0 if len(start) == 1 else self.nq
        data = [address(x) for x in (X, start, q, count, fate)]
        call, arm = self._call, ctypes.addressof(made)

        def share(first: int, last: int) -> int:
            return call(arm, first, last, data[0], data[1], stride, *data[2:])

        return q, count, fate, all(in_shares(share, m, batch_lanes(), threads_for(50 * m)))


_P, _L = ctypes.c_void_p, ctypes.c_long


class _Arm(ctypes.Structure):
    _fields_ = [
        *(
            (name, _P)
            for name in ("refined", "together", "c", "true_c", "lower", "upper", "lengths", "shares", "at", "turns")
        ),
        ("coordinates", _L),
        ("steps", _L),
        *((name, ctypes.c_double) for name in ("room", "lever", "residual")),
        *((name, _L) for name in ("sorted", "shifted", "plain", "slides", "width")),
    ]


def compiled(arm: Arm, coordinates: int) -> Compiled | None:
    """The compiled solution of an arm whose six joints all are coordinates of a robot; None if they are not, or if one of an
    eigenproblem slides."""
    known = arm.way is not None or all(a.turns for a in arm.chain.axes)
    return Compiled(arm, coordinates) if known and min(arm.chain.at) >= 0 else None


class Pair(NamedTuple):
    """The code of a family, that of the true model, which all families share, and the latter at the width of batches."""

    family: Straight
    model: Straight
    together: Straight


def _pair(arm: Arm, lanes: int) -> Pair | None:
    """The code for an arm at a width, side by side compiled if need be; None without a compiler."""
    kinds, key = _kinds(arm), _key(arm)
    define = f"enum {{ JOINTS = 6, CANDIDATES = {_count(arm)} }};\n{FATES}"
    drivers = ("poses.c",) if arm.way else ("general.c", "poses.c")
    define += "" if arm.way else "\n#define GENERAL\nenum { GROUPS = CANDIDATES };\n#define GROUP(k) (k)"
    lines = [
        lambda: [*([_candidate_lines(arm)] if arm.way else general_steps.steps()), _limit_step()],
        lambda: [_refined_lines(arm)],
    ]
    wanted = [(key, lanes, drivers, define, lines[0])]
    wanted += [(kinds, width, (), "", lines[1]) for width in dict.fromkeys((lanes, batch_lanes()))]
    with ThreadPoolExecutor(3, thread_name_prefix="modurob-compiler") as pool:
        found = [x.result() for x in [pool.submit(_library, *each) for each in wanted]]
    return None if None in found else Pair(found[0], found[1], found[-1])  # type: ignore[arg-type]


def _kinds(arm: Arm) -> str:
    return "".join("R" if a.turns else "P" for a in arm.chain.axes)


def _key(arm: Arm) -> str:
    """What two arms share whose candidates have one code."""
    return f"{arm.family} {_kinds(arm)} {f'{arm.way.detail} {_pattern(arm)}' if arm.way else ''}"


_LIBRARIES: dict[tuple[str, int], Straight | None] = {}
# where the lines are traced from, beyond what kernels import
FOLDERS = ("kinematics",)


def _library(key: str, lanes: int, drivers: tuple[str, ...], define: str, lines: Any) -> Straight | None:
    if (key, lanes) not in _LIBRARIES:
        _LIBRARIES[key, lanes] = straight("inverse", key, drivers, define, lines, lanes, FOLDERS)
    return _LIBRARIES[key, lanes]


def _count(arm: Arm) -> int:
    """How many candidates there are."""
    if arm.way is None:
        return 16
    if (key := _key(arm)) not in _COUNTS:
        _COUNTS[key] = closed_form(arm.way, se3.IDENTITY[None]).room.shape[-1]
    return _COUNTS[key]


_COUNTS: dict[str, int] = {}


# ---- what is traced ----


def _numbers(axes: tuple[Axis, ...], arm: Arm) -> Array:
    """The constants of an arm: h, o, u of each axis in the base and as the frame sees it, X_0^-1, 1 / size."""
    Y = se3.inverse(arm.chain.X0)
    seen = [_plain(moved(a, Y)) for a in axes]
    own = [x for a in (*axes, *seen) for x in (a.h, a.o, a.u)]
    return np.concatenate([*own, Y[:3].ravel(), [1 / arm.size]])


def _plain(a: Axis) -> Axis:
    """An axis whose numbers are zero or one where they are so but for the last digits."""
    near = lambda x: np.where(np.abs(x - np.round(x)) < ROUNDED, np.round(x), x) + 0.0  # noqa: E731
    return Axis(a.turns, near(a.h), near(a.o), near(a.u))


def _pattern(arm: Arm) -> str:
    """Which constants of a closed form are zero or one: they are written into the code."""
    assert arm.way is not None
    return "".join(LETTERS.get(x, "x") for x in _numbers(arm.way.axes, arm).tolist())


LETTERS = {0.0: "0", 1.0: "1", -1.0: "m"}


def _traced_arm(graph: Graph, arm: Arm, pattern: str) -> tuple[list[Axis], Motion]:
    """The axes and the motion, traced."""
    c = graph.inputs("constants", 121)
    for number, letter in LETTERS.items():
        c[[k for k, x in enumerate(pattern) if x == letter]] = number
    turns = [a.turns for a in arm.chain.axes]
    traced = [Axis(turn, *row) for turn, row in zip(turns * 2, c[:108].reshape(12, 3, 3), strict=True)]
    X, Y = general_steps.scaled_motion(graph.inputs("x", (3, 4)), c[108:])
    return traced[:6], Motion(X, Y, traced[6:])


def _candidate_lines(arm: Arm) -> Lines:
    """Least room and least lever of each group of candidates that share them, the sum of all coordinates, then those of each."""
    graph = Graph()
    assert arm.way is not None
    every = list(arm.way.solve(*_traced_arm(graph, arm, _pattern(arm))))
    margins = [[_least(graph, xs) for xs in zip(*((t.room, t.lever) for t in found), strict=True)] for found in every]
    names = [tuple(map(graph.index, pair)) for pair in margins]
    groups = list(dict.fromkeys(names))
    shared = [margins[names.index(name)] for name in groups]
    values = [_scalar(t.value) for found in every for t in found]
    total = sum({graph.index(x): x for x in values}.values())
    stores = [(Place("y", k), x) for k, x in enumerate([*(x for pair in shared for x in pair), total, *values])]
    places = ", ".join(str(groups.index(name)) for name in names)
    words = f"enum {{ GROUPS = {len(groups)} }};\nstatic const int GROUP_OF[] = {{ {places} }};\n#define GROUP(k) GROUP_OF[k]"
    return Lines("candidates", "const vec *x, vec *y", graph, stores, words)


def _limit_step() -> Step:
    """Angles by whole turns."""
    given = dict.fromkeys(["q", "turning", "lower", "upper", "near"], 1)
    return Step.of("whole_turns", given, "turned room", whole_turns, "vec")


def _least(graph: Graph, numbers: Sequence[Array]) -> Any:
    """The least of them, or one if there are none; those that are constants of the arm first, which are compared but once."""
    known = [_scalar(x) for x in numbers if x is not ONE]
    known.sort(key=lambda x: not graph.depends_only_on(graph.index(x), CONSTANTS))
    return _scalar(reduce(minimum, [np.asarray(x, dtype=object) for x in known], *(() if known else (ONE,))))


def _scalar(x: Any) -> Any:
    return np.asarray(x, dtype=object)[()]


def _refined_lines(arm: Arm) -> Lines:
    """One step of Newton's method on the true model, in place, and how far it was before."""
    graph = Graph()
    axes, to = _traced_arm(graph, arm, "")
    q = graph.inputs("q", 6)
    e, J = error(axes, q, to.T)
    step = J.T @ solve(J @ J.T + 1e-18 * np.eye(6), e[:, None])[:, 0]
    size = reduce(maximum, absolute(e))
    stores = [(Place("q", k), _scalar(q[k] + step[k])) for k in range(6)]
    return Lines(
        "refined", "vec *q, const vec *x, vec *residual", graph, [*stores, (Place("residual", 0), _scalar(size))]
    )
