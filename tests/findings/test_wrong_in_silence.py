"""Faults of version 0.1.0 that gave wrong numbers, or corrupted memory, without a word.

Also seen by: tests/simulation/test_recording.py (damaged heads), tests/kernels/test_cache.py (sanitizers over every program),
tests/kernels/test_definition.py (layouts, lanes, degrees of freedom without inertia), tests/algorithms/test_loops.py (linkages
against closed forms and Pinocchio, inverse dynamics of drives alone), tests/simulation/test_forces.py (dry friction under every
stepper), tests/studio/test_carrying.py (no module jumps when a floating robot is undocked or gets another base in a run),
tests/assembly/test_incidence.py and test_matrix_text.py (matrices with last rows), tests/assembly/test_setup.py and test_files.py
(files that say how a robot stands).
"""

import json
import os
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import modurob as mr
from modurob.errors import AimError, InputError, MechanismError, RecordingError, SingularError
from modurob.spatial import inertia, se3, so3
from tests.oracles.four_bar import FourBar

X, Y = mr.Revolute((1, 0, 0)), mr.Prismatic((0, 1, 0))


def crab():
    return mr.load("crab").mechanism(base="m0")


# ---- 1: a recording corrupts memory ----


def joint(key, value):
    return lambda robot: robot["joints"][2].__setitem__(key, value)


DAMAGES = {
    "rates far away": joint("v", [2**40, 2**40 + 1]),
    "coordinates far away": joint("q", [2**40, 2**40 + 1]),
    "rates before the first": joint("v", [-1, 0]),
    "rates of another joint": joint("v", [0, 1]),
    "fractions of rates": joint("v", [2.0, 3.0]),
    "steps between rates": joint("v", [2, 3, 1]),
    "armature of no size": joint("armature", []),
    "limits of another size": joint("limits", [[0.0, 0.0], [1.0, 1.0]]),
    "a parent that comes later": lambda robot: robot["parent"].__setitem__(1, 2**40),
    "a parent of fractions": lambda robot: robot["parent"].__setitem__(2, 1.0),
    "a parent too few": lambda robot: robot["parent"].pop(),
    "a frame on no body": lambda robot: robot["frames"]["m3"].__setitem__("body", 2**40),
    "a frame before the world": lambda robot: robot["frames"]["m3"].__setitem__("body", -1),
    "a shape on no body": lambda robot: robot["shapes"][0]["frame"].__setitem__("body", 99),
    "a body too many": lambda robot: robot["bodies"].append("more"),
    "inertias of fewer bodies": lambda robot: robot["inertia"].pop(),
    "an inertia that is no number": lambda robot: robot["inertia"][1][0].__setitem__(0, float("nan")),
    "a force on no joint": lambda robot: robot["forces"][0].__setitem__("joint", 2**40),
    "a force on a fraction of a joint": lambda robot: robot["forces"][0].__setitem__("joint", 0.0),
    "a force on no rate": lambda robot: robot["forces"][0].__setitem__("rate", 2**40),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_recording_with_tables_that_point_elsewhere_is_refused(tmp_path, damage):
    whole, broken = tmp_path / "whole.mrun", tmp_path / "broken.mrun"
    mr.simulate(crab(), [0.1, 0.2, 0.3], duration=0.01).save(whole)
    assert len(mr.Recording.load(whole).energy) == 11
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(broken, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "recording.json":
                head = json.loads(data)
                DAMAGES[damage](head["segments"][0]["robot"])
                data = json.dumps(head).encode()
            new.writestr(name, data)
    with pytest.raises(RecordingError, match="damaged"):
        mr.Recording.load(broken)


def test_a_pickle_with_tables_that_point_elsewhere_is_refused():
    robot = crab()
    object.__setattr__(robot.joints[2], "v_slice", slice(2**40, 2**40 + 1))
    with pytest.raises(MechanismError, match="rates slice"):
        pickle.loads(pickle.dumps(robot))


OUT_OF_BOUNDS = """
import numpy as np
import modurob as mr
from modurob.algorithms.composite import MASS_MATRIX
from modurob.kernels.evaluator import Evaluator
robot = mr.load("crab").mechanism(base="m0")
evaluator = Evaluator(robot, MASS_MATRIX, frozenset(), False, 1)
evaluator.sequence.vectors = evaluator.sequence.vectors // 2
evaluator({"q": np.zeros((1, 3))}, 1)
print("nothing seen")
"""


def test_a_debug_build_sees_a_table_that_points_out_of_the_arena(tmp_path):
    """The arena is a block of its own, so that a sanitizer knows where it ends."""
    from modurob.kernels.compiler import find_compiler

    compiler = find_compiler()
    ask = [*compiler.command, "-print-file-name=libasan.so"]
    runtime = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
    own = {
        "MODUROB_CACHE": str(tmp_path),
        "MODUROB_CC": f"env -u LD_PRELOAD {compiler.command[-1]}",
        "MODUROB_CFLAGS": "-O1 -fsanitize=address -fno-sanitize-recover=all",
        "LD_PRELOAD": runtime,
        "ASAN_OPTIONS": "detect_leaks=0",
    }
    done = subprocess.run(
        [sys.executable, "-c", OUT_OF_BOUNDS], env={**os.environ, **own}, capture_output=True, text=True, timeout=300
    )
    assert "nothing seen" not in done.stdout
    assert "heap-buffer-overflow" in done.stderr


# ---- 2: kernels answer where there is no answer ----


def point_on_arm(distance, slides=False):
    """A point mass of 2 kg so far from the axis of its hinge; or one that slides along its arm."""
    builder = mr.Builder("point", gravity=(0, 0, 0))
    if slides:
        builder.body("arm", joint=X)
    at = inertia.spatial_inertia(2.0, np.array([0, distance, 0]), np.zeros((3, 3)))
    builder.body("mass", at, parent="arm" if slides else "world", joint=Y if slides else X)
    return builder.build()


@pytest.mark.parametrize("states", [(), (1,), (20,), (2000,)])
def test_a_point_mass_on_its_axis_has_no_acceleration(states):
    robot = point_on_arm(0.0)
    with pytest.raises(SingularError, match="moves no inertia"):
        robot.forward_dynamics(*np.ones((3, *states, 1)))
    with pytest.raises(SingularError, match="moves no inertia"):
        robot.forward_dynamics(*np.ones((3, *states, 1), dtype=np.float32))


def point_on_slanted_axis(seed):
    """A point mass on the axis of its hinge, but for rounding."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    builder = mr.Builder("point")
    own = inertia.spatial_inertia(2.0, 0.3 * axis, np.zeros((3, 3)))
    builder.body("mass", own, joint=mr.Revolute(tuple(axis)), at=se3.random(rng, reach=0.5))
    return builder.build()


@pytest.mark.parametrize("seed", range(6))
def test_a_point_mass_on_its_axis_but_for_rounding_has_no_acceleration(seed):
    robot = point_on_slanted_axis(seed)
    for states in ((), (20,), (2000,)):
        with pytest.raises(SingularError, match="moves no inertia"):
            robot.forward_dynamics(*np.ones((3, *states, 1)))
    assert mr.simulate(robot, [0.1], duration=0.01).status.kind == "singular"
    runs = mr.simulate(robot, np.ones((20, 1)), duration=0.01)
    assert [status.kind for status in runs.status] == ["singular"] * 20


def test_a_run_of_a_point_mass_on_its_axis_is_not_done():
    assert mr.simulate(point_on_arm(0.0), [0.1], duration=0.01).status.kind == "singular"


@pytest.mark.parametrize("states", [(), (20,)])
@pytest.mark.parametrize("distance", [1e-12, 1e-9, 1e-8, 1e-7, 1e-3, 1.0, 1e6])
def test_smallness_has_no_scale(distance, states):
    """I vdot = tau at any distance from the axis: a micrometre is no less an arm than a kilometre."""
    found = point_on_arm(distance).forward_dynamics(*np.ones((3, *states, 1)))
    np.testing.assert_allclose(found, 1 / (2.0 * distance**2), rtol=1e-12)


def test_every_state_has_a_status_of_its_own():
    """A mass that slides along its arm, in a batch: only where it is on the axis there is no answer."""
    robot = point_on_arm(0.0, slides=True)
    q = np.zeros((20, 2))
    q[:, 1] = np.linspace(0.1, 2.0, 20)
    fine = robot.forward_dynamics(q, np.zeros(2), np.ones(2))
    np.testing.assert_allclose(fine, np.stack([1 / (2 * q[:, 1] ** 2), np.full(20, 0.5)], axis=-1), rtol=1e-12)
    q[7, 1] = 0.0
    with pytest.raises(SingularError, match="in state 7"):
        robot.forward_dynamics(q, np.zeros(2), np.ones(2))
    run = mr.simulate(robot, q, duration=0.01)
    assert [k for k in range(20) if run.status[k].kind != "done"] == [7]
    assert run.status[7].kind == "singular"


# ---- 3: byte-swapped arrays ----


@pytest.mark.parametrize("dtype", [">f8", "<f8", ">f4", ">i8", "f2", "g"])
@pytest.mark.parametrize("states", [(), (20,)])
def test_numbers_mean_the_same_in_any_order_of_bytes(dtype, states):
    robot = crab()
    q, v, u = np.arange(1.0, 10.0).reshape(3, *[1] * len(states), 3) * np.ones((*states, 1))
    swapped = [x.astype(dtype) for x in (q, v, u)]
    calls = {
        "forward_dynamics": lambda q, v, u: robot.forward_dynamics(q, v, u),
        "inverse_dynamics": lambda q, v, u: robot.inverse_dynamics(q, v, u),
        "mass_matrix": lambda q, v, u: robot.mass_matrix(q),
        "frame_pose": lambda q, v, u: robot.frame_pose(q, "m3"),
        "derivatives": lambda q, v, u: robot.forward_dynamics_derivatives(q, v, u).q,
        "simulate": lambda q, v, u: mr.simulate(robot.without_forces(), q, v, 0.003).q[-1],
    }
    for name, call in calls.items():
        expected = call(q, v, u)
        for _ in range(60):  # also once a function has been asked for often
            found = call(*swapped)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4, err_msg=name)


# ---- 4: rings of shipped modules ----


def ring():
    return mr.Assembly.from_grid("B S B\nS . S\nB S B").mechanism(floating=True).without_forces()


def test_a_ring_of_modules_loses_as_many_degrees_of_freedom_everywhere():
    assert ring().loop_rank() == 4


def test_a_ring_of_modules_runs_with_its_energy():
    run = mr.simulate(ring(), duration=0.5)
    assert run.status.ok
    np.testing.assert_allclose(run.energy, run.energy[0], atol=1e-9)


@pytest.mark.parametrize("size", [1e-8, 1e-6, 1e-4, 1e-2, 0.3])
@pytest.mark.parametrize("seed", range(2))
def test_a_ring_near_a_singular_pose_keeps_its_energy(seed, size):
    """Closed from poses all around the neutral one, which is singular, and set in motion."""
    robot, rng = ring(), np.random.default_rng(seed)
    dq = np.concatenate([np.zeros(6), size * rng.normal(size=robot.nv - 6)])
    q = robot.close_loops(robot.integrate(robot.neutral(), dq))
    v = robot.close_velocity(q, rng.normal(size=robot.nv))
    assert np.abs(v).max() < 100
    run = mr.simulate(robot, q, v, duration=0.5)
    assert run.status.ok
    # a motion through a singular pose is not smooth: steps of 1 ms are not to rounding there
    np.testing.assert_allclose(run.energy, run.energy[0], atol=1e-3 * run.kinetic_energy[0])
    assert np.abs(robot.loop_error(run.q[-1])).max() < 1e-6


# ---- 5: mimic joints lose what they have ----

RATIO = -2.0


def geared(follower=None, **own):
    """Two wheels of 0.5 kg m², of which the second turns twice as fast, the other way round."""
    builder = mr.Builder("gear", gravity=(0, 0, 0))
    wheel = inertia.spatial_inertia(1.0, np.zeros(3), 0.5 * np.eye(3))
    builder.body("first", wheel, joint=X, properties=mr.JointProperties(**own))
    second = mr.JointProperties(**(follower or {}))
    builder.body("second", wheel, joint=X, properties=second, mimic=mr.Source("first", RATIO))
    return builder.build()


INERTIA = 0.5 + 0.5 * RATIO**2


def test_armature_of_a_mimic_counts_with_its_ratio_squared():
    robot = geared({"armature": 0.3}, armature=0.1)
    expected = INERTIA + 0.1 + 0.3 * RATIO**2
    assert robot.mass_matrix([0.2]) == pytest.approx(expected)
    assert robot.forward_dynamics([0.2], [0.0], [1.0]) == pytest.approx(1 / expected)
    assert robot.inverse_dynamics([0.2], [0.0], [1.0]) == pytest.approx(expected)
    assert robot.kinetic_energy([0.2], [2.0]) == pytest.approx(2 * expected)


def test_damping_of_a_mimic_counts_with_its_ratio_squared():
    run = mr.simulate(geared({"damping": 0.3}, damping=0.1), v0=[2.0], duration=1.0)
    rate = (0.1 + 0.3 * RATIO**2) / INERTIA
    np.testing.assert_allclose(run.v[:, 0], 2.0 * np.exp(-rate * run.t), rtol=1e-9)


def test_dry_friction_of_a_mimic_brakes():
    run = mr.simulate(geared({"friction": 0.5}), v0=[0.05], duration=0.2)
    expected = np.maximum(0.05 - 0.5 * abs(RATIO) / INERTIA * run.t, 0.0)
    np.testing.assert_allclose(run.v[:, 0], expected, atol=1e-9)
    assert expected[-1] == 0


def test_limits_of_a_mimic_hold():
    robot = geared({"lower": -0.5, "upper": 3.0}, lower=-1.0, upper=1.0)
    assert robot.limits.lower == -1.0  # -1.5 is beyond
    assert robot.limits.upper == 0.25
    run = mr.simulate(robot, v0=[1.0], duration=1.0)
    assert run.q.max() < 0.27
    assert any("first" in event.message for event in run.events if event.kind == "limit")
    assert all(robot.random_configuration(np.random.default_rng(k))[0] <= 0.25 for k in range(20))


# ---- 6: friction, effort and stops do nothing unless passed by hand ----


def wheel(**properties):
    builder = mr.Builder("wheel", gravity=(0, 0, 0))
    own = inertia.spatial_inertia(1.0, np.zeros(3), 0.5 * np.eye(3))
    builder.body("wheel", own, joint=X, properties=mr.JointProperties(**properties))
    return builder.build()


def test_friction_effort_and_stops_act_without_being_passed():
    braked = mr.simulate(wheel(friction=0.25), v0=[1.0], duration=1.0)
    np.testing.assert_allclose(braked.v[:, 0], 1.0 - 0.5 * braked.t, atol=1e-12)
    pushed = mr.simulate(wheel(effort=0.25), duration=1.0, controller=lambda t, q, v: [1000.0])
    np.testing.assert_allclose(pushed.v[:, 0], 0.5 * pushed.t, rtol=1e-12)
    stopped = mr.simulate(wheel(lower=-1.0, upper=1.0), v0=[2.0], duration=2.0)
    assert 0.99 < stopped.q.max() < 1.02


def test_dry_friction_holds_to_the_last_bit_under_runge_kutta():
    """A rod held out level by 1 percent more friction than its weight: at 1 ms it slipped."""
    builder = mr.Builder("rod")
    own = inertia.spatial_inertia(1.0, np.array([0, -1.0, 0]), 0.1 * np.eye(3))
    builder.body("rod", own, joint=X, properties=mr.JointProperties(friction=1.01 * 9.81))
    run = mr.simulate(builder.build(), duration=1.0, stepper=mr.RungeKutta4(1e-3))
    assert not run.q.any()
    assert not run.v.any()


# ---- 7: a law that writes into q ----


def scribbling(t, q, v):
    q[...], v[...] = 9.0, 9.0
    return np.zeros(3)


def scribbled_push(t, q, v):
    q[...], v[...] = 9.0, 9.0
    return {}


@pytest.mark.parametrize("runs", [(), (4,)])
def test_what_a_law_writes_into_its_arguments_stays_there(runs):
    q0 = np.full((*runs, 3), 0.1)
    quiet, loud = (lambda t, q, v: np.zeros(3), scribbling), (lambda t, q, v: {}, scribbled_push)
    for name, pair in (("controller", quiet), ("external", loud)):
        expected, run = (mr.simulate(crab(), q0, duration=0.02, **{name: function}) for function in pair)
        assert run.q.tobytes() == expected.q.tobytes()
        assert run.v.tobytes() == expected.v.tobytes()
    assert (q0 == 0.1).all()


# ---- 8: angles and quaternions of any size ----


@pytest.mark.parametrize("angle", [1e5, 1e7, 1e8, 1e12, 1e15, 1e16, 1e17, 1e22, 1e300])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_angles_of_any_size_have_their_sine(angle, dtype):
    """One hinge about x: the pose is that of the C library's sine and cosine, alone and in batches."""
    angle = dtype(min(angle, 1e30) if dtype is np.float32 else angle)
    expected = so3.about((1, 0, 0), np.float64(angle))
    tolerance = 1e-14 if dtype is np.float64 else 1e-6
    for states in ((), (20,), (2000,)):
        found = wheel().frame_pose(np.full((*states, 1), angle), "wheel")[..., :3, :3]
        np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), atol=tolerance)


@pytest.mark.parametrize("states", [(), (20,)])
@pytest.mark.parametrize("size", [1e-200, 1e-155, 1e-100, 1e100, 1e150, 1e155, 1e200, 1e308])
def test_long_quaternions_are_right_or_refused(size, states):
    robot, rng = mr.load("crab").mechanism(floating=True), np.random.default_rng(0)
    q, v, u = robot.random_configuration(rng), *rng.normal(size=(2, robot.nv))
    scaled = q.copy()
    scaled[3:7] *= size
    calls = {
        "forward_kinematics": lambda q: robot.frame_pose(q, "m3"),
        "forward_dynamics": lambda q: robot.forward_dynamics(q, v, u),
        "inverse_dynamics": lambda q: robot.inverse_dynamics(q, v, u),
        "mass_matrix": lambda q: robot.mass_matrix(q),
        "potential_energy": lambda q: robot.potential_energy(q),
        "simulate": lambda q: mr.simulate(robot, q, v, 0.002).q[-1],
    }
    for name, call in calls.items():
        expected = call(q)
        found = unless_refused(call, np.broadcast_to(scaled, (*states, robot.nq)).copy())
        if found is not None:
            np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), atol=1e-9, err_msg=name)


def unless_refused(call, q):
    """What a call gives; None if it names the quaternion in q."""
    try:
        return call(q)
    except InputError as error:
        if "quaternion" in str(error):
            return None
        raise


# ---- 10: from_aim drops rows ----


def test_a_last_row_of_joint_types_is_read():
    """Chen and Yang: two links with a joint between them."""
    arm = mr.Assembly.from_aim([[1, "L"], [6, "L"], ["R", 0]])
    assert [m.type.name for m in arm.modules.values()] == ["cube_link", "cube_link", "revolute_joint"]
    assert arm.mechanism().nv == 1


@pytest.mark.parametrize(
    ("last", "complaint"),
    [
        (["P", "R"], "column 0 of the AIM says 'P', but backbone m0 and backbone m1 have joints of type R"),
        (["R", "P"], "column 1 of the AIM says 'P', but backbone m1 and backbone m2 have joints of type R"),
        (["DO", "DP"], "column 0 of the AIM says DO, but the geometry of m0/3 - m1/4 gives DP"),
        (["?", "R"], r"column 0 of the AIM says '\?'"),
    ],
)
def test_a_last_row_that_contradicts_the_matrix_is_refused(last, complaint):
    matrix = [[3, 0, "B"], [4, 2, "B"], [0, 5, "B"]]
    assert mr.Assembly.from_aim(matrix).dyad_classes()[0] == "DP"
    with pytest.raises(AimError, match=complaint):
        mr.Assembly.from_aim([*matrix, [*last, 0]])


# ---- 11: saved files lose how a robot stands ----


def test_a_saved_robot_stands_as_before(tmp_path):
    before = mr.load("crab").with_setup(base="m3", floating=True, gravity=(1.0, 2.0, 3.0))
    mr.save(before, tmp_path / "a.yaml")
    after = mr.load(tmp_path / "a.yaml")
    assert after == before
    robot = after.robot()
    assert robot.joints[0].kind == "free"
    assert robot.bodies[1] == "m3/A"
    np.testing.assert_array_equal(robot.gravity, [1, 2, 3])


def test_the_crane_stays_on_its_rail():
    """Its load swings, and the wagon under it by a few metres; falling it would have come 19.6 m."""
    crane = mr.load("crane")
    run = mr.simulate(crane.robot(), *crane.initial_state(), duration=2.0)
    assert np.abs(run.q[:, 0]).max() < 4.0
    assert run.energy[-1] == pytest.approx(run.energy[0], rel=1e-9)


# ---- 12: inverse dynamics of the cut tree ----


def test_inverse_dynamics_with_a_loop_is_that_of_the_drives():
    """A four-bar with a drive at its crank: power of the crank = rate of the energy, and no torque where there is no drive."""
    from tests.oracles.linkages import four_bar_robot, four_bar_state

    bar = FourBar()
    robot = four_bar_robot(bar, passive=True)
    q, v = four_bar_state(bar, 0.7, 1.3)
    for vdot in (robot.forward_dynamics(q, v, np.array([tau, 0, 0])) for tau in (-3.0, 0.0, 5.0)):
        tau = robot.inverse_dynamics(q, v, vdot)
        assert not tau[1:].any()
        eps = 1e-6
        moved = [(q + s * eps * v, v + s * eps * vdot) for s in (-1, 1)]
        energy = [robot.kinetic_energy(*x) + robot.potential_energy(x[0]) for x in moved]
        assert tau @ v == pytest.approx((energy[1] - energy[0]) / (2 * eps), abs=1e-6)
