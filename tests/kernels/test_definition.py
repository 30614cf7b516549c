"""Compiled code equals the definition in NumPy, which the judges have judged."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modurob.kernels.kernel import Kernel
from modurob.kernels.programs import FORWARD_DYNAMICS, PROGRAMS

import modurob as mr
from modurob import algorithms
from modurob.algorithms import LimitSprings
from modurob.kernels import Fast, compiler, kernel
from modurob.spatial import inertia, se3
from tests.robots import KINDS, random_assembly, random_mechanism, random_state

STATES = 11  # a whole block of lanes and some more
SPRINGS = LimitSprings(stiffness=50.0, damping=0.5)


def states(rng: np.random.Generator, robot: mr.Mechanism, n: int = STATES) -> list[np.ndarray]:
    """q, v and a third vector, (n, ...) each."""
    return [np.stack(x) for x in zip(*(random_state(rng, robot) for _ in range(n)), strict=True)]


def close(found, expected, tolerance=1e-12):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= tolerance * max(1e-3, np.abs(expected).max())


def check_all(robot: mr.Mechanism, rng: np.random.Generator, dtype=np.float64, tolerance=1e-12):
    q, v, u = (x.astype(dtype) for x in states(rng, robot))
    fast = Fast(robot, patient=False)
    wrenches = rng.normal(size=(STATES, len(robot.bodies), 6)).astype(dtype)
    frame = robot.bodies[-1]
    # the definition computes in double whatever it is given
    calls = {
        "forward_dynamics": (q, v, u),
        "inverse_dynamics": (q, v, u),
        "mass_matrix": (q,),
        "bias_forces": (q, v),
        "gravity_forces": (q,),
        "jacobian": (q, frame),
        "kinetic_energy": (q, v),
        "potential_energy": (q,),
    }
    for name, arguments in calls.items():
        found = getattr(fast, name)(*arguments)
        assert found is not None, name
        assert found.dtype == dtype, name
        close(found, getattr(algorithms, name)(robot, *arguments), tolerance)
    for name in ("forward_dynamics", "inverse_dynamics"):
        found = getattr(fast, name)(q, v, u, wrenches)
        close(found, getattr(algorithms, name)(robot, q, v, u, wrenches), tolerance)
    if robot.nq > robot.nv:
        for name in ("integrate", "rate"):
            close(getattr(fast, name)(q, v), getattr(algorithms, name)(robot, q, v), tolerance)
    poses = fast.forward_kinematics(q)
    close(poses.bodies, algorithms.forward_kinematics(robot, q).bodies, tolerance)
    for method in ("semi_implicit_euler", "runge_kutta_4"):
        table = rng.normal(size=(STATES, 4, robot.nv)).astype(dtype)
        for torques, tabulated in ((u, False), (table, True)):
            arguments = (q, v, torques, 2e-3, 4, method, SPRINGS, tabulated)
            found, expected = fast.advance(*arguments), algorithms.advance(robot, *arguments)
            close(found[0], expected[0], tolerance)
            close(found[1], expected[1], tolerance)


@settings(max_examples=6, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000), bodies=st.integers(1, 9))
def test_any_mechanism_in_double(seed, bodies):
    rng = np.random.default_rng(seed)
    check_all(random_mechanism(rng, bodies, floating=bool(seed % 2), armature=bool(seed % 3)), rng)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_joint_in_single(kind):
    rng = np.random.default_rng(3)
    check_all(random_mechanism(rng, 3, kinds=(kind,)), rng, np.float32, 1e-5)


@settings(max_examples=4, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000), modules=st.integers(2, 12))
def test_any_organism(seed, modules):
    rng = np.random.default_rng(seed)
    robot = random_assembly(rng, modules).mechanism(floating=bool(seed % 2))
    if robot.nv and not robot.loops:
        check_all(robot, rng)


@pytest.mark.parametrize(
    ("name", "floating"), [*((name, False) for name in mr.shipped_robots()), ("crab", True), ("tree9", True)]
)
def test_every_shipped_robot(name, floating):
    check_all(mr.load(name).mechanism(floating=floating), np.random.default_rng(9))


def test_joints_walked_through_from_their_successor():
    """The base of an organism decides the way through its joints."""
    rng = np.random.default_rng(5)
    builder = mr.Builder("backwards")
    for i, joint in enumerate((mr.Spherical(), mr.Planar(), mr.Universal(), mr.Free())):
        builder.body(
            f"b{i}",
            inertia.random(rng),
            parent=f"b{i - 1}" if i else "world",
            joint=joint.reversed(),
            at=se3.random(rng, reach=0.5),
        )
    check_all(builder.build(), rng)


def test_robots_that_have_no_kernels_are_answered_by_the_definition():
    robot = mr.Mechanism.from_assembly(mr.load("crab"), base="m0")
    fast = Fast(robot, patient=False)
    assert fast.forward_dynamics(robot.neutral()[None] + 0j, np.zeros((1, 3)), np.zeros((1, 3))) is None
    still = random_mechanism(np.random.default_rng(0), 3, kinds=("fixed",))
    assert Fast(still, patient=False).mass_matrix(np.zeros((2, 0))) is None
    assert still.mass_matrix(np.zeros((2, 0))).shape == (2, 0, 0)


def test_a_freedom_without_inertia_is_refused_in_a_batch_too():
    builder = mr.Builder("empty")
    builder.body("b", np.zeros((6, 6)), joint=mr.Revolute())
    robot = builder.build()
    with pytest.raises(mr.ModurobError, match="no inertia"):
        robot.forward_dynamics(np.zeros((600, 1)), np.zeros((600, 1)), np.ones((600, 1)))


def test_a_freedom_without_inertia_is_refused_where_joints_mimic():
    builder = mr.Builder("empty")
    builder.body("a", np.zeros((6, 6)), joint=mr.Revolute())
    builder.body("b", np.zeros((6, 6)), joint=mr.Revolute(), parent="a", mimic=mr.Source("a"))
    with pytest.raises(mr.ModurobError, match="no inertia"):
        builder.build().forward_dynamics([0.0], [0.0], [1.0])


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 4097])
def test_batches_of_any_size(n):
    robot = mr.load("crab").mechanism(base="m0")
    q, v, u = np.random.default_rng(n).normal(size=(3, n, robot.nv))
    fast = Fast(robot, patient=False)
    vdot = fast.forward_dynamics(q, v, u)
    assert vdot.shape == (n, robot.nv)
    if n:
        rows = [0, n // 2, n - 1]
        close(vdot[rows], algorithms.forward_dynamics(robot, q[rows], v[rows], u[rows]))
        close(fast.mass_matrix(q)[rows], algorithms.mass_matrix(robot, q[rows]))


def test_inputs_of_any_layout():
    rng = np.random.default_rng(1)
    robot = random_mechanism(rng, 5, kinds=("revolute", "prismatic"))
    q, v, u = states(rng, robot, 64)
    expected = algorithms.forward_dynamics(robot, q, v, u)
    wide = np.zeros((64, 3 * robot.nv))
    wide[:, ::3] = q
    every_other = np.repeat(v, 2, axis=0)[::2]
    layouts = [
        (wide[:, ::3], every_other, np.asfortranarray(u)),
        (q[::-1][::-1], v.T.copy().T, u),
        (q.reshape(4, 16, -1), v.reshape(4, 16, -1), u.reshape(4, 16, -1)),
    ]
    fast = Fast(robot, patient=False)
    for layout in layouts:
        close(fast.forward_dynamics(*layout).reshape(64, -1), expected)
    # one torque, and one configuration, for all
    close(fast.forward_dynamics(q, v, u[0]), algorithms.forward_dynamics(robot, q, v, u[0]))
    close(
        fast.forward_dynamics(q[:, None], v[None, :3], u[0]),
        algorithms.forward_dynamics(robot, q[:, None], v[None, :3], u[0]),
    )
    with pytest.raises(mr.ModurobError, match="leading axes that broadcast"):
        robot.forward_dynamics(q, v[:3], u)


def test_wrong_types_are_refused():
    robot = mr.load("crab").mechanism(base="m0")
    compiled = Kernel(robot, FORWARD_DYNAMICS)
    x = np.zeros((4, 3))
    for bad in (x.astype(np.float32), x.astype(int), x.astype(complex)):
        with pytest.raises(mr.ModurobError, match=f"an array of {bad.dtype}: expected float64"):
            compiled(x, x, bad, np.empty((4, 3)))
    with pytest.raises(mr.ModurobError, match="expected rows of"):
        compiled(x, x[:, :2], x, np.empty((4, 3)))
    with pytest.raises(mr.ModurobError, match="expected rows of"):
        compiled(x, x[:2], x, np.empty((4, 3)))
    with pytest.raises(mr.ModurobError, match="expected numbers"):
        robot.forward_dynamics([["a", "b", "c"]], x, x)
    assert robot.forward_dynamics(x.astype(int), x, x).dtype == np.float64
    with pytest.raises(mr.ModurobError, match=r"q\[2, 1\] is nan"):
        robot.forward_dynamics(np.where(np.arange(12).reshape(4, 3) == 7, np.nan, 0.0), x, x)


@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_dynamics", "mass_matrix", "forward_kinematics"])
def test_nan_in_one_lane_touches_no_other(name):
    rng = np.random.default_rng(2)
    robot = random_mechanism(rng, 6, floating=True)
    compiled = Kernel(robot, PROGRAMS[name])
    inputs = states(rng, robot, 19)
    arrays = [x if k < len(compiled.program.inputs) else np.zeros((19, 0)) for k, x in enumerate(inputs)]
    clean, spoiled = np.empty((2, 19, compiled.entries))
    compiled(*arrays, clean)
    arrays[0] = arrays[0].copy()
    arrays[0][5] = np.nan
    compiled(*arrays, spoiled)
    others = np.arange(19) != 5
    assert np.array_equal(clean[others], spoiled[others])
    assert np.isnan(spoiled[5]).any()


def test_results_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(4)
    robot = random_mechanism(rng, 6)
    q, v, u = states(rng, robot, 1003)
    for name in ("forward_dynamics", "inverse_dynamics"):
        compiled = Kernel(robot, PROGRAMS[name])
        results = np.empty((4, 1003, compiled.entries))
        for out, threads in zip(results, (1, 2, 3, 16), strict=True):
            compiled(q, v, u, out, threads)
        assert all(np.array_equal(results[0], other) for other in results[1:])


def test_small_batches_are_compiled_after_a_while(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel, "_LOADED", {})
    monkeypatch.setenv("MODUROB_CACHE", str(tmp_path))
    robot = mr.load("crab").mechanism(base="m0")
    q, v, u = np.random.default_rng(0).normal(size=(3, 200, robot.nv))
    answers = [robot._fast.inverse_dynamics(q, v, u) for _ in range(4)]
    assert [x is None for x in answers] == [True, True, False, False]
    close(answers[-1], robot.inverse_dynamics(q, v, u))
    # what was compiled for one robot is there for the next at once
    again = mr.load("crab").mechanism(base="m0")
    assert again._fast.inverse_dynamics(q[:1], v[:1], u[:1]) is not None
    monkeypatch.setattr(kernel, "_LOADED", {})
    again = mr.load("crab").mechanism(base="m0")
    assert again._fast.inverse_dynamics(q[:1], v[:1], u[:1]) is not None


def test_single_states_are_compiled_after_a_while_and_say_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel, "_LOADED", {})
    monkeypatch.setenv("MODUROB_CACHE", str(tmp_path))
    rng = np.random.default_rng(6)
    robot = random_mechanism(rng, 3, kinds=("revolute", "prismatic"), floating=True)
    q, v, u = random_state(rng, robot)
    wrenches = rng.normal(size=(len(robot.bodies), 6))
    frame = robot.bodies[-1]
    calls = {
        "forward_dynamics": (q, v, u),
        "inverse_dynamics": (q, v, u, wrenches),
        "mass_matrix": (q,),
        "gravity_forces": (q,),
        "jacobian": (q, frame),
        "kinetic_energy": (q, v),
        "advance": (q, v, u, 1e-3, 5),
    }
    for name, arguments in calls.items():
        assert getattr(robot._fast, name)(*arguments) is None
        for _ in range(2):  # a Jacobian needs poses first
            for _ in range(70):
                getattr(robot, name)(*arguments)
            robot._fast.wait()
        found = getattr(robot._fast, name)(*arguments)
        assert found is not None, name
        expected = getattr(algorithms, name)(robot, *arguments)
        close(*(np.hstack(x) if isinstance(x, tuple) else x for x in (found, expected)))
    # what it cannot take goes the long way, and is checked there
    close(
        robot.forward_dynamics(list(q), v.astype(np.float32), u),
        algorithms.forward_dynamics(robot, q, v.astype(np.float32), u),
    )
    with pytest.raises(mr.ModurobError, match=r"q has shape \(2,\)"):
        robot.forward_dynamics(q[:2], v, u)
    with pytest.raises(mr.ModurobError, match="inf: expected finite"):
        robot.forward_dynamics(q, v * np.inf, u)


def test_threads_that_step_one_robot_do_not_disturb_each_other():
    robot = mr.load("crab").mechanism(base="m0")
    fast = Fast(robot, patient=False)
    q, v, tau = np.random.default_rng(7).normal(size=(3, 2048, robot.nv))
    steps = [1e-4, 3e-3]
    expected = [np.hstack(fast.advance(q, v, tau, dt, 20)) for dt in steps]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: np.hstack(fast.advance(q, v, tau, steps[k % 2], 20)), range(40)))
    assert all(np.array_equal(x, expected[k % 2]) for k, x in enumerate(found))


def test_docking_runs_no_compiler_where_its_joints_are_known(monkeypatch):
    def snake(n):
        assembly = mr.Assembly.single("m0", "backbone")
        for i in range(1, n + 1):
            assembly = assembly.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4")
        return assembly

    known = snake(4)
    for lanes in (1, None):
        Fast(known.mechanism()).kernel("forward_dynamics", lanes=lanes)

    def forbidden(*_):
        raise AssertionError("the compiler was run")

    monkeypatch.setattr(compiler, "_build", forbidden)
    robot = known.dock("m5", "backbone", at="m4/3", by="4").mechanism()
    q, v, tau = np.random.default_rng(0).normal(size=(3, 5, robot.nv))
    assert robot._fast.forward_dynamics(q, v, tau) is not None
    assert robot._fast.forward_dynamics(q[0], v[0], tau[0]) is not None


def test_steps_stay_on_the_manifold_and_keep_energy():
    rng = np.random.default_rng(8)
    robot = random_mechanism(rng, 4, kinds=("spherical", "free", "revolute"))
    q, v, _ = states(rng, robot, 9)
    tau = np.zeros((9, robot.nv))
    before = robot.kinetic_energy(q, v) + robot.potential_energy(q)
    q1, v1 = robot.advance(q, v, tau, 1e-4, 500)
    after = robot.kinetic_energy(q1, v1) + robot.potential_energy(q1)
    assert np.abs(after - before).max() < 1e-7 * np.abs(before).max()
    for joint in robot.joints:
        if joint.type.nq > joint.type.nv:
            lengths = np.linalg.norm(q1[:, joint.q_slice][:, -4:], axis=-1)
            assert np.abs(lengths - 1).max() < 1e-14


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dt": 0.0}, "a step of 0.0 s: expected a positive"),
        ({"dt": np.nan}, "a step of nan s"),
        ({"steps": -1}, "-1 steps: expected a whole number"),
        ({"steps": 1.5}, "1.5 steps"),
        ({"method": "euler"}, "valid: semi_implicit_euler, runge_kutta_4"),
        ({"steps": 3, "tabulated": True}, r"a table of torques of shape \(3,\): expected \(..., 3, 3\)"),
    ],
)
def test_bad_steps_are_refused(change, message):
    robot = mr.load("crab").mechanism(base="m0")
    x = np.zeros(3)
    with pytest.raises(mr.ModurobError, match=message):
        robot.advance(x, x, x, **({"dt": 1e-3} | change))
    with pytest.raises(mr.ModurobError, match="expected finite numbers, zero or more"):
        LimitSprings(stiffness=-1.0)
