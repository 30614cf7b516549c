"""Fleets that move: each robot as by itself, on the CPU to the last bit, on a GPU to rounding."""

import numpy as np
import pytest

import modurob as mr
from modurob.algorithms.forces import acting
from modurob.errors import InputError, ModurobError, ModurobWarning
from modurob.kernels.cuda import device as gpus
from modurob.kernels.cuda import rows
from modurob.simulation.pilot import input_limit
from modurob.simulation.stepping import Mover
from modurob.simulation.system import State
from tests.kernels.gpu import PlayedGpu
from tests.kernels.test_cuda import Foreign
from tests.robots import random_mechanism

STEPPER = mr.LinearlyImplicit(5e-3)


class OfAnotherLibrary(Foreign):
    """With what arrays of all libraries have."""

    def __init__(self, x):
        super().__init__(x)
        self.dtype, self.shape = x.dtype, x.shape


def snake(n):
    assembly = mr.Assembly.single("m0", "backbone")
    for i in range(1, n):
        assembly = assembly.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4")
    return assembly.mechanism(floating=True)


def sprung():
    """All kinds of joints, with springs and a rope."""
    rng = np.random.default_rng(4)
    robot = random_mechanism(rng, 3, floating=True)
    for n, joint in enumerate(robot.joints):
        if robot.coordinate_of[joint.v_slice.start] >= 0:
            robot = robot.with_force(f"spring {n}", mr.JointSpring(5.0, 0.1, 0.02), joint=joint.name)
    return robot.with_force("rope", mr.Spring(20.0, 0.3, 0.4), a="b2", b="world")


@pytest.fixture(scope="module")
def robots():
    """On the ground, in springs, with stops and a motor, with dry friction, with a loop."""
    ground = mr.Ground()
    loop = mr.Assembly.from_grid([["B", "B"], ["B", "B"]]).mechanism().ideal()
    crab = mr.load("crab").mechanism(base="m0")
    motor = mr.Drive(mr.Motor(0.1, inertia=1e-5), mr.Gear(50.0))
    rubbed = crab.with_force("rub", mr.Friction(0.0, 0.4), joint=crab.joints[1].name)
    return [snake(2).on_ground(ground), sprung(), crab.with_drive("m0/hinge", motor), rubbed, loop]


def starts(robots):
    rng = np.random.default_rng(0)
    q, v, tau = [], [], []
    for k, robot in enumerate(robots):
        states = 1 + 4 * k % 7
        base = robot.standing() if acting(robot).contact_rows else robot.neutral()
        q.append(robot.close_loops(robot.integrate(base, 0.02 * rng.normal(size=(states, robot.nv)))))
        v.append(0.1 * rng.normal(size=(states, robot.nv)) * (not robot.constraints))
        tau.append(0.1 * rng.normal(size=(states, robot.nv)))
    return q, v, tau


def alone(robot, q, v, tau, duration, stepper=STEPPER):
    """The states of one robot after a while, by itself."""
    x = np.broadcast_to(acting(robot).start(), (len(q), acting(robot).nx))
    limit = input_limit(robot)
    return Mover(robot, stepper).advance(0.0, State(q, v, x), np.clip(tau, -limit, limit), duration).state


def test_each_robot_moves_as_by_itself(robots):
    q, v, tau = starts(robots)
    found = mr.advance(mr.Fleet(robots), q, v, 0.05, tau, stepper=STEPPER)
    for robot, state, *given in zip(robots, found, q, v, tau, strict=True):
        for part, expected in zip(state, alone(robot, *given, 0.05), strict=True):
            assert np.array_equal(part, expected), robot.name
            assert np.isfinite(expected).all()
    assert np.abs(found[0].x).max() > 0  # it touches the ground


def test_it_goes_on_from_where_it_was(robots):
    fleet = mr.Fleet(robots[:2])
    q, v, tau = starts(robots[:2])
    half = mr.advance(fleet, q, v, 0.05, tau, stepper=STEPPER)
    q1, v1, x1 = zip(*half, strict=True)
    later = mr.advance(fleet, q1, v1, 0.05, tau, x1, t=0.05, stepper=STEPPER)
    whole = mr.advance(fleet, q, v, 0.1, tau, stepper=STEPPER)
    for a, b in zip(later, whole, strict=True):
        np.testing.assert_allclose(a.q, b.q, rtol=0, atol=1e-13)


def test_each_has_its_own_steps_if_none_are_given(robots):
    q, v, _ = starts(robots)
    found = mr.advance(mr.Fleet(robots), q, v, 0.05)
    for robot, state, q0, v0 in zip(robots, found, q, v, strict=True):
        run = mr.simulate(robot, q0, v0, 0.05)
        np.testing.assert_allclose(state.q, run.q[-1], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("dtype", "bound", "some"), [(np.float64, 1e-12, slice(0, 5)), (np.float32, 2e-5, slice(2, 4))]
)
def test_on_a_gpu(robots, tmp_path, monkeypatch, dtype, bound, some):
    robots = robots[some]
    device = PlayedGpu(tmp_path)
    monkeypatch.setattr(gpus, "cuda_device", lambda: device)
    monkeypatch.setattr(rows, "THREADS", 4)
    q, v, tau = ([x.astype(dtype) for x in part] for part in starts(robots))
    fleet = mr.Fleet(robots, device="cuda")
    found = mr.advance(fleet, q, v, 0.05, tau, stepper=STEPPER)
    assert device.compiled == 1  # all in one launch, but the last two
    for robot, state, *given in zip(robots, found, q, v, tau, strict=True):
        expected = alone(robot, *(x.astype(float) for x in given), 0.05)
        assert state.q.dtype == dtype
        np.testing.assert_allclose(state.q, expected.q, rtol=0, atol=bound)
        np.testing.assert_allclose(state.v, expected.v, rtol=0, atol=200 * bound)
    if dtype is np.float64:
        theirs = [[OfAnotherLibrary(x) for x in part] for part in (q, v, tau)]
        foreign = mr.advance(fleet[:2], *(x[:2] for x in theirs[:2]), 0.05, theirs[2][:2], stepper=STEPPER)
        assert np.array_equal(foreign[0].q, found[0].q)
        with pytest.raises(InputError, match="go to its drives: expected arrays of NumPy"):
            mr.advance(fleet[2:3], *(x[2:3] for x in theirs[:2]), 0.05, theirs[2][2:3], stepper=STEPPER)


def test_tables_too_large_to_share_are_read_where_they_are(robots, tmp_path, monkeypatch):
    monkeypatch.setattr(PlayedGpu, "shared_bytes", 1000)
    device = PlayedGpu(tmp_path)
    monkeypatch.setattr(gpus, "cuda_device", lambda: device)
    monkeypatch.setattr(rows, "THREADS", 4)
    q, v, tau = starts(robots[2:3])
    (state,) = mr.advance(mr.Fleet(robots[2:3], device="cuda"), q, v, 0.05, tau, stepper=STEPPER)
    expected = alone(robots[2], q[0], v[0], tau[0], 0.05)
    np.testing.assert_allclose(state.q, expected.q, rtol=0, atol=1e-12)


def test_states_that_a_gpu_has_no_answer_for_are_taken_by_the_cpu(robots, tmp_path, monkeypatch):
    """Angles of millions of turns are not numbers to a kernel, whose states are then stepped by the CPU."""
    monkeypatch.setattr(gpus, "cuda_device", lambda: PlayedGpu(tmp_path))
    monkeypatch.setattr(rows, "THREADS", 4)
    robot = robots[2].ideal()
    q, v, tau = starts([robot])
    far = q[0] + 2 * np.pi * 1e6
    (state,) = mr.advance(mr.Fleet([robot], device="cuda"), [far], v, 0.05, tau, stepper=STEPPER)
    assert np.isfinite(state.q).all()
    np.testing.assert_allclose(state.q, alone(robot, far, v[0], tau[0], 0.05).q, rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"q": []}, r"q has 0 arrays for 1 robots: expected a list with one array for each"),
        ({"tau": []}, r"tau has 0 arrays for 1 robots"),
        (
            {"duration": 0.0071},
            r"robot 0 of the fleet: duration 0.0071 s is not a multiple of 0.005 s: the nearest is 0.005 s",
        ),
        ({"duration": -1.0}, r"duration -1.0: expected a positive finite number \[s\]"),
        ({"duration": "a"}, r"duration 'a': expected a positive finite number \[s\]"),
        ({"duration": np.nan}, r"duration nan: expected a positive finite number \[s\]"),
        ({"t": "a"}, r"t 'a': expected a finite number \[s\]"),
        ({"q": None}, r"q is None: expected a list with one entry for each robot"),
        ({"tau": 0}, r"tau is 0: expected a list with one entry for each robot"),
        (
            {"stepper": "rk4"},
            r"robot 0 of the fleet: stepper 'rk4': expected one such as mr.RungeKutta4\(1e-3\); valid: ",
        ),
        ({"stepper": mr.LinearlyImplicit}, r"stepper <class .*: expected one such as"),
        ({"q": [np.full((2, 3), 90.0)]}, r"robot 0 of the fleet: q0 has 90 rad for m0/hinge, .* expected radians"),
        ({"v": [np.zeros((3, 3))]}, r"q of shape \(2, 3\) and v of shape \(3, 3\): expected as many states"),
        ({"tau": [np.zeros((3, 3))]}, r"tau has shape \(3, 3\): expected \(2, 3\)"),
        ({"x": [3]}, r"x has shape \(\): expected \(2, 0\)"),
        ({"stepper": mr.Adaptive()}, r"Adaptive chooses its steps: expected a stepper with steps of one length"),
        ({"q": [np.zeros((2, 5))]}, r"q has shape \(2, 5\)"),
        ({"tau": [np.zeros((2, 5))]}, r"tau has shape \(2, 5\)"),
        ({"x": [np.zeros((2, 5))]}, r"x has shape \(2, 5\): expected \(2, 0\)"),
    ],
)
def test_wrong_arguments_are_told(change, words):
    robot = mr.load("crab").mechanism().ideal()
    given = {"q": [np.zeros((2, 3))], "v": [np.zeros((2, 3))], "duration": 0.1, "stepper": STEPPER, **change}
    with pytest.raises(ModurobError, match=words):
        mr.advance(mr.Fleet([robot]), **given)


@pytest.mark.parametrize("fleet", [mr.load("crab").robot(), [mr.load("crab").robot()], [mr.load("crab")]])
def test_what_is_no_fleet_is_told(fleet):
    with pytest.raises(InputError, match=r"fleet is .*: expected a fleet, such as mr.Fleet\(\[robot, robot\]\)"):
        mr.advance(fleet, [np.zeros((2, 3))], [np.zeros((2, 3))], 0.1)


def test_no_states_are_fine():
    fleet = mr.Fleet([mr.load("crab").robot(), mr.load("crab").robot().ideal()])
    none = [np.zeros((0, 3))] * 2
    assert [[x.shape for x in state] for state in mr.advance(fleet, none, none, 0.1)] == [[(0, 3), (0, 3), (0, 0)]] * 2


def test_ground_is_carried_and_robots_start_on_it():
    robot = mr.load("crab").mechanism(floating=True).on_ground(mr.Ground())
    fleet, v = mr.Fleet([robot, robot]), [np.zeros((2, robot.nv))] * 2
    q = [np.tile(robot.standing(), (2, 1))] * 2
    with pytest.raises(ModurobError, match="robot 0 of the fleet: RungeKutta4 does not carry contacts"):
        mr.advance(fleet, q, v, 0.1, stepper=mr.RungeKutta4(1e-3))
    q[1] = q[1] - np.eye(robot.nq)[2] * 0.5
    with pytest.raises(ModurobError, match=r"robot 1 of the fleet: .* m deep in the ground at the start"):
        mr.advance(fleet, q, v, 0.1, stepper=STEPPER)


def driven():
    """With dry friction, without any, and with a drive that has an input of its own."""
    crab = mr.load("crab").robot()
    return [crab, crab.ideal(), crab.with_drive("m0/hinge", "backbone-hinge")]


@pytest.mark.parametrize("size", [3.0, 100.0])
def test_drives_give_what_a_law_would_get_from_them(size):
    robots = driven()
    tau = [np.full((2, 3), size) * [1, -0.5, 0.2]] * 3
    start = [np.full((2, 3), 0.1)] * 3
    found = mr.advance(mr.Fleet(robots), start, [np.zeros((2, 3))] * 3, 0.05, tau, stepper=mr.RungeKutta4(1e-3))
    for robot, state, u in zip(robots, found, tau, strict=True):
        law, steps = (lambda t, q, v, u=u: u[0]), mr.RungeKutta4(1e-3)
        run = mr.simulate(robot, start[0][0], duration=0.05, controller=law, stepper=steps)
        np.testing.assert_allclose(state.q[0], run.q[-1], rtol=0, atol=1e-12)
        assert np.abs(run.q[-1] - 0.1).max() > 1e-3


def test_a_state_that_is_lost_is_named_and_the_others_go_on():
    robot = mr.load("crab").mechanism(floating=True)
    q, v = np.tile(robot.neutral(), (10, 1)), np.zeros((10, robot.nv))
    v[7, 6:] = [5, 8, -8]
    with pytest.warns(
        ModurobWarning, match=r"robot 1 of the fleet: crab has no finite state after 1 s in 1 of 10 states, "
    ):
        still, moved = mr.advance(mr.Fleet([robot] * 2), [q] * 2, [0 * v, v], 1.0, stepper=mr.RungeKutta4(1e-3))
    assert np.isfinite(still.q).all()
    assert np.flatnonzero(np.isnan(moved.v).any(axis=-1)).tolist() == [7]
