"""Kernels for GPUs: every line of them, compiled for the CPU and run with real threads in each block."""

from typing import Any

import numpy as np
import pytest

import modurob as mr
from modurob.algorithms.articulated import FORWARD_DYNAMICS
from modurob.algorithms.composite import MASS_MATRIX
from modurob.algorithms.inverse import INVERSE_DYNAMICS
from modurob.algorithms.kinematics import FORWARD_KINEMATICS
from modurob.errors import InputError, ModurobWarning
from modurob.kernels.cuda import device as gpus
from modurob.kernels.cuda.arrays import strides_of
from modurob.kernels.cuda.launching import (
    Need,
    Shape,
    chosen_shape,
    entries,
    obstacle,
    resident,
    staying,
    unrolled_shape,
)
from modurob.kernels.cuda.layout import FLAGS, OWN, PUT, PUTS, Course, course_of, laid
from modurob.kernels.cuda.lean import Area
from modurob.kernels.cuda.scratch import EVERY
from tests.kernels.gpu import PlayedGpu
from tests.robots import random_assembly, random_mechanism
from tests.sampling import sampled

# relative to the largest entry of a result, as on the GPU
BOUND = {np.float64: 1e-12, np.float32: 1e-5}


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> PlayedGpu:
    return PlayedGpu(tmp_path_factory.mktemp("gpu"))


@pytest.fixture(scope="module")
def robots() -> list[mr.Mechanism]:
    """All kinds of joints, floating and fixed, rotors, branches, organisms."""
    rng = np.random.default_rng(3)
    trees = [random_mechanism(rng, 5, floating=i == 0, armature=i == 1) for i in range(2)]
    return [*trees, *(random_assembly(rng, n).mechanism() for n in (8, 12))]


def states_of(robot: mr.Mechanism, k: int, dtype: Any) -> list[np.ndarray]:
    """q, v and torques; q entry by entry, the others state by state."""
    rng = np.random.default_rng(k)
    q = robot.integrate(robot.neutral(), rng.normal(size=(k, robot.nv)))
    return [np.asfortranarray(q.astype(dtype)), *rng.normal(size=(2, k, robot.nv)).astype(dtype)]


def expected(program: Any, robot: mr.Mechanism, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
    if program is FORWARD_KINEMATICS:
        return robot.forward_kinematics(q).bodies[:, 1:, :3].reshape(len(q), -1)
    return getattr(robot, program.name)(q, v, u)


def run(found: Any, program: Any, robots: list[mr.Mechanism], dtype: Any) -> float:
    """The largest relative error of any robot; one to nine states each."""
    device = found.device
    counts = [1 + 4 * i % 9 for i in range(len(robots))]
    given = [states_of(r, k, dtype) for r, k in zip(robots, counts, strict=True)]
    inputs = [x[: len(entries(program, r)[0])] for r, x in zip(robots, given, strict=True)]
    out = [[device.empty((k, n), dtype) for n in entries(program, r)[1]] for r, k in zip(robots, counts, strict=True)]
    status = found.run(inputs, counts, strides_of, out)
    assert not status.any()
    right = [expected(program, r, *(x.astype(float) for x in g)) for r, g in zip(robots, given, strict=True)]
    return max(float(np.abs(o[0] - x).max() / np.abs(x).max()) for o, x in zip(out, right, strict=True))


@pytest.mark.parametrize(
    ("program", "dtype", "near", "fetches", "waves"),
    sampled(
        [
            (FORWARD_DYNAMICS, np.float64, 40, False, False),
            (FORWARD_DYNAMICS, np.float32, 20, True, True),
            (FORWARD_KINEMATICS, np.float64, EVERY, True, True),
            (FORWARD_DYNAMICS, np.float32, 0, False, True),
            (FORWARD_DYNAMICS, np.float64, EVERY, True, True),
            (FORWARD_DYNAMICS, np.float64, EVERY, True, False),
            (FORWARD_DYNAMICS, np.float64, 0, False, False),
            (INVERSE_DYNAMICS, np.float64, 0, False, True),
            (INVERSE_DYNAMICS, np.float64, 40, True, True),
            (INVERSE_DYNAMICS, np.float64, 20, False, False),
            (FORWARD_KINEMATICS, np.float32, EVERY, True, True),
        ],
        3,
    ),
)
def test_unlike_robots_in_one_launch(
    program: Any,
    dtype: Any,
    near: int,
    fetches: bool,
    waves: bool,
    device: PlayedGpu,
    robots: list[mr.Mechanism],
) -> None:
    shape = Shape(4, near, 1, fetches, waves, in_step=not waves)
    found = resident(device, robots, program, dtype is np.float32, shape)
    # robots of one launch may have all, some or nothing in shared memory
    assert (found.near > 0, found.far > 0) == (near > 0, near < EVERY)
    assert run(found, program, robots, dtype) < BOUND[dtype]


def test_slots_over_words_that_are_idle(device: PlayedGpu) -> None:
    robot = random_mechanism(np.random.default_rng(0), 24, ("revolute",))
    tables, kept = (laid(robot, FORWARD_DYNAMICS, EVERY, False, waves) for waves in (False, True))
    slots = {row[PUT] for row in tables.rows if row[FLAGS] & PUTS}
    sent = Area(FORWARD_DYNAMICS).width("sent")
    assert any(slot <= own < slot + sent for slot in slots for own in tables.rows[:, OWN])
    assert tables.words < kept.words
    found = resident(device, [robot], FORWARD_DYNAMICS, False, Shape(4, 60, 1, waves=False, in_step=True))
    assert run(found, FORWARD_DYNAMICS, [robot], np.float64) < BOUND[np.float64]


@pytest.mark.parametrize(
    ("program", "dtype", "which"),
    [(FORWARD_DYNAMICS, np.float64, 0), (FORWARD_DYNAMICS, np.float32, -1), (INVERSE_DYNAMICS, np.float64, -1)],
)
def test_unrolled(program: Any, dtype: Any, which: int, device: PlayedGpu, robots: list[mr.Mechanism]) -> None:
    robot = robots[which]
    found = staying(device, robot, program, dtype is np.float32, Shape(4, 30 if dtype is np.float32 else 0))
    assert run(found, program, [robot], dtype) < BOUND[dtype]


def test_a_new_robot_of_known_types_is_not_compiled_for(device: PlayedGpu) -> None:
    rng = np.random.default_rng(5)
    many = [random_assembly(rng, 7, ("backbone",)).mechanism() for _ in range(12)]
    shape = Shape(4, EVERY, 1)
    resident(device, many, FORWARD_DYNAMICS, False, shape)
    compiled = device.compiled
    mixed = [many[3], many[8].locked([many[8].joints[-1].name])]
    found = resident(device, mixed[:1], FORWARD_DYNAMICS, False, shape)
    assert device.compiled == compiled
    assert run(found, FORWARD_DYNAMICS, mixed[:1], np.float64) < BOUND[np.float64]


@pytest.mark.parametrize("seed", range(20))
def test_a_course_needs_few_slots(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 30
    parent = (-1, 0, *(int(rng.integers(0, i)) for i in range(2, n + 1)))
    course = course_of(parent)
    place = {body: k for k, body in enumerate(course.order)}
    assert sorted(course.order) == list(range(1, n + 1))
    assert all(parent[b] == 0 or place[parent[b]] < place[b] for b in course.order)
    # a slot is one more for every second branching at most (Strahler)
    assert slots_of(course) <= np.log2(n + 1)


def slots_of(course: Course) -> int:
    """How many slots are in use at a time."""
    first = {p: k for k, p in enumerate(course.put) if p > 0}
    place = {body: k for k, body in enumerate(course.order)}
    return max((sum(place[p] < t <= k for p, k in first.items()) for t in range(len(place))), default=0)


def test_a_chain_needs_no_slot() -> None:
    assert slots_of(course_of((-1, 0, 1, 2, 3))) == 0


class Foreign:
    """An array of another library."""

    def __init__(self, x: np.ndarray, kind: int = 1):
        self.x, self.kind = x, kind

    def __dlpack__(self, **how: Any) -> Any:
        return self.x.__dlpack__(**how)

    def __dlpack_device__(self) -> Any:
        return self.kind, 0


def test_fleets_go_to_the_gpu(device: PlayedGpu, robots: list[mr.Mechanism], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "cuda_device", lambda: device)
    linkage = mr.Assembly.from_grid([["B", "B"], ["B", "B"]]).mechanism()
    mixed = [robots[2], robots[3], linkage, robots[2], robots[3]]
    given = [states_of(r, k, float) for r, k in zip(mixed, (3, 130, 2, 4, 5), strict=True)]
    given[2][0] = np.tile(linkage.neutral(), (2, 1))
    given[2][1] *= 0
    given[3][0] = given[3][0] + 2e6  # angles too far for a kernel
    q, v, u = (list(x) for x in zip(*given, strict=True))
    q[4] = Foreign(np.ascontiguousarray(q[4]))
    found = mr.Fleet(mixed, device="cuda").forward_dynamics(q, v, u)
    q[4] = q[4].x
    for x, y in zip(found, mr.Fleet(mixed).forward_dynamics(q, v, u), strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-12 * np.abs(y).max())
    fleet = mr.Fleet(robots[3:], device="cuda", unrolled=True)
    tau = fleet.inverse_dynamics(q[1:2], v[1:2], u[1:2])[0]
    np.testing.assert_allclose(
        tau, robots[3].inverse_dynamics(q[1], v[1], u[1]), rtol=0, atol=1e-12 * np.abs(tau).max()
    )
    with pytest.raises(InputError, match=r"robot 0 of the fleet: v\[0, 0\] is nan"):
        fleet.forward_dynamics(q[1:2], [v[1] * np.nan], u[1:2])
    assert np.array_equal(
        fleet.forward_kinematics(q[1:2])[0].bodies, robots[3].forward_kinematics(np.ascontiguousarray(q[1])).bodies
    )
    with pytest.raises(
        InputError, match=r"on another device .DLPack's kind 10.: expected one on the GPU .kind 1., or a NumPy"
    ):
        fleet.forward_dynamics([Foreign(q[1], 10)], v[1:2], u[1:2])
    # what is no array of floats is for the robot
    zeros = np.zeros((3, robots[3].nv), int)
    assert np.array_equal(
        fleet.forward_dynamics([zeros], [zeros], [zeros])[0], robots[3].forward_dynamics(*[zeros] * 3)
    )
    alone = Foreign(np.zeros(robots[3].nv))
    assert np.array_equal(
        fleet.forward_dynamics([alone], [alone], [alone])[0], robots[3].forward_dynamics(*[alone.x] * 3)
    )


def test_where_float32_is_too_little(device: PlayedGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "cuda_device", lambda: device)
    rng = np.random.default_rng(42)
    robot = random_assembly(rng, int(rng.integers(6, 14))).mechanism(floating=True)
    given = states_of(robot, 9, np.float32)
    exact = robot.forward_dynamics(*(x.astype(float) for x in given))
    out = device.empty((9, robot.nv), np.float32)
    resident(device, [robot], FORWARD_DYNAMICS, True).run([given], [9], strides_of, [[out]])
    assert np.abs(out - exact).max() > 1e-5 * np.abs(exact).max()
    fleet = mr.Fleet([robot], device="cuda")
    monkeypatch.setattr(fleet, "_back", None)  # none goes back to the CPU
    (found,) = fleet.forward_dynamics(*([x] for x in given))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-6 * np.abs(exact).max())


MATRICES = ("mass_matrix", "inverse_dynamics_derivatives", "forward_dynamics_derivatives")


@pytest.mark.parametrize(("names", "dtype"), sampled([(MATRICES[1:], np.float64), (MATRICES, np.float32)], 1))
def test_matrices_on_the_gpu(
    names: tuple[str, ...], dtype: Any, device: PlayedGpu, robots: list[mr.Mechanism], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpus, "cuda_device", lambda: device)
    fleet = mr.Fleet(robots[:3], device="cuda")
    monkeypatch.setattr(fleet, "_back", None)  # none goes back to the CPU
    for name in names:
        given = [states_of(r, k, dtype)[: 1 if name == "mass_matrix" else 3] for k, r in enumerate(fleet, start=1)]
        found = getattr(fleet, name)(*(list(x) for x in zip(*given, strict=True)))
        for robot, x, seen in zip(fleet, given, found, strict=True):
            right = getattr(robot, name)(*(a.astype(float) for a in x))
            assert type(seen) is type(right)
            parts = [(seen, right)] if name == "mass_matrix" else list(zip(seen, right, strict=True))
            assert all(a.dtype == dtype for a, _ in parts)
            # relative to the largest entry of all: some of a robot's matrices are zero
            largest = max(np.abs(b).max() for _, b in parts)
            assert max(np.abs(a - b).max() for a, b in parts) < BOUND[dtype] * largest


def test_without_a_gpu_the_cpu_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "cuda_device", lambda: "no CuPy: pip install modurob[gpu]")
    with pytest.warns(ModurobWarning, match="no CuPy: pip install modurob.gpu.; the CPU serves"):
        fleet = mr.Fleet([mr.load("crab")], device="cuda")
    assert repr(fleet) == "Fleet(1 robot, nv 3, on the CPU)"
    zeros = [np.zeros((2, 3))]
    assert np.array_equal(
        fleet.forward_dynamics(zeros, zeros, zeros), mr.Fleet(fleet).forward_dynamics(zeros, zeros, zeros)
    )


def test_why_there_is_no_gpu() -> None:
    gpus.cuda_device.cache_clear()
    assert gpus.cuda_device() == "no CuPy: pip install modurob[gpu]" or "GPU" in str(gpus.cuda_device())


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"device 'gpu': .*cpu, cuda"):
        mr.Fleet([], device="gpu")
    with pytest.raises(InputError, match="unrolled kernels are for GPUs"):
        mr.Fleet([], unrolled=True)


def test_what_does_not_go_to_a_gpu(robots: list[mr.Mechanism]) -> None:
    linkage = mr.Assembly.from_grid([["B", "B"], ["B", "B"]]).mechanism()
    assert obstacle(robots[0], FORWARD_DYNAMICS) == ""
    assert "no kernel for GPUs" in obstacle(robots[0], MASS_MATRIX)
    assert "loops" in obstacle(linkage, FORWARD_DYNAMICS)
    assert "does not move" in obstacle(mr.Assembly.single("m0", "backbone").mechanism(), FORWARD_DYNAMICS)


def test_more_states_than_addresses(device: PlayedGpu, robots: list[mr.Mechanism]) -> None:
    found = resident(device, robots[-1:], FORWARD_DYNAMICS, False)
    few = [np.zeros((1, 1))] * 3
    with pytest.raises(InputError, match="300000000 numbers apart: a GPU takes 268435455 states of a robot at once"):
        found.bound([few], [1], lambda x: (1, 300_000_000), [few[:1]])


def test_shapes(device: PlayedGpu) -> None:
    # half a megabyte of shared memory: all of the scratch with inputs, else some of less scratch; in step if that pays
    def chosen(words: int, item: int, types: int) -> Shape:
        return chosen_shape(
            device, lambda fetches, waves: Need(words + 10 * fetches - 10 * (not waves), 4000), item, types
        )

    assert chosen(100, 4, 3) == Shape(128, EVERY, 6, True)
    assert chosen(300, 4, 3) == Shape(128, EVERY, 3, True)
    assert chosen(100, 8, 3) == Shape(128, EVERY, 4, True)
    assert chosen(220, 8, 3) == Shape(128, 123, 4, True)
    assert chosen(500, 4, 3) == Shape(128, 118, 8, waves=False)
    assert chosen(1000, 8, 3) == Shape(128, 123, 4, waves=False)
    assert chosen(500, 4, 20) == Shape(256, 166, 3, waves=False, in_step=True)
    assert chosen(500, 8, 20) == Shape(256, 125, 2, waves=False)
    assert unrolled_shape(device, 45, True, 3) == Shape(128, 30, 5)
    assert unrolled_shape(device, 99, True, 3) == Shape(128, 66, 4)
    assert unrolled_shape(device, 99, False, 3) == Shape(128, 66, 3)
    assert unrolled_shape(device, 99, False, 2) == Shape(128, 66, 2)
    assert unrolled_shape(device, 300, False, 3) == Shape(128, 200, 2)
