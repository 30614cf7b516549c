"""MuJoCo moves a robot: the same motion as ours where both have the same equations, the same laws and recordings."""

import numpy as np
import pytest

import modurob as mr
from modurob.errors import MjcfError, SimulationError
from modurob.spatial import inertia, se3
from tests.robots import random_mechanism

FINE = mr.MujocoSteps(5e-4, "rk4")


def apart(robot, a, b):
    return np.abs(robot.difference(a.q[-1], b.q[-1])).max()


@pytest.mark.parametrize("seed", range(3))
def test_random_robots_move_the_same(seed):
    """Both rules are of fourth order: they differ by less than the steps allow."""
    rng = np.random.default_rng(seed)
    kinds = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "free")
    robot = random_mechanism(rng, 4, kinds, floating=True)
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    ours = mr.simulate(robot, q, v, duration=0.2, stepper=mr.RungeKutta4(5e-4))
    theirs = mr.simulate(robot, q, v, duration=0.2, engine="mujoco", stepper=FINE)
    assert theirs.status.ok
    assert theirs.t.shape == ours.t.shape
    assert apart(robot, ours, theirs) < 1e-8
    assert np.abs(ours.vdot[0] - theirs.vdot[0]).max() < 1e-8 * np.abs(ours.vdot[0]).max()


def test_laws_wrenches_and_runs_side_by_side(rng):
    robot = mr.load("crab").mechanism(floating=True).ideal()
    q = np.stack([robot.random_configuration(rng) for _ in range(2)])
    arguments = {
        "duration": 0.1,
        "controller": mr.PID(kp=5.0, kd=0.5),
        "external": lambda t: {"m3": mr.InWorld([0.0, 20.0 * t, 1.0, 0.1, 0.0, 0.3])},
    }
    ours = mr.simulate(robot, q, stepper=mr.RungeKutta4(1e-3), **arguments)
    theirs = mr.simulate(robot, q, engine="mujoco", stepper=mr.MujocoSteps(1e-3, "rk4"), **arguments)
    assert theirs.q.shape == (101, 2, robot.nq)
    assert np.abs(ours.tau[0] - theirs.tau[0]).max() < 1e-9
    # MuJoCo holds wrenches over a step, so they lag by half of one
    assert apart(robot, ours, theirs) < 1e-3


def test_springs_losses_mimics_and_screws_move_the_same(rng):
    """A mimic joint is held by a constraint there: it follows the better, the shorter the steps."""
    b, own = mr.Builder("equipped"), inertia.box(1.0, (0.3, 0.2, 0.1))
    springs = mr.JointProperties(stiffness=30.0, rest=0.2, damping=0.4, armature=0.05)
    b.body("a", own, joint=mr.Revolute((0, 1, 0)), properties=springs)
    b.body("b", own, parent="a", joint=mr.Helical((0, 0, 1), 0.05), at=se3.pose(p=np.array([0.3, 0, 0])))
    b.body("c", own, parent="b", joint=mr.Prismatic((1, 0, 0)), mimic=mr.Source("a", 0.5, 0.1))
    robot = b.build()
    ours = mr.simulate(robot, [0.4, 0.2], [1.0, -2.0], duration=0.3)
    errors = []
    for dt in (1e-3, 2.5e-4):
        steps = mr.MujocoSteps(dt, "rk4")
        theirs = mr.simulate(robot, [0.4, 0.2], [1.0, -2.0], duration=0.3, engine="mujoco", stepper=steps, tick=1e-3)
        errors.append(apart(robot, ours, theirs))
    assert errors[1] < 1e-7
    assert errors[1] < errors[0] / 3


def test_a_linkage_moves_the_same():
    b = mr.Builder("four bars")

    def rod(length):
        return inertia.moved(inertia.box(1.0, (length, 0.05, 0.05)), se3.pose(p=np.array([length / 2, 0, 0])))

    b.body("crank", rod(0.3), joint=mr.Revolute((0, 1, 0)))
    b.body("rod", rod(0.8), parent="crank", joint=mr.Revolute((0, 1, 0)), at=se3.pose(p=np.array([0.3, 0, 0])))
    b.body("rocker", rod(0.5), joint=mr.Revolute((0, 1, 0)), at=se3.pose(p=np.array([0.7, 0, 0])))
    ends = (se3.pose(p=np.array([x, 0, 0])) for x in (0.8, 0.5))
    b.loop("pin", mr.Revolute((0, 1, 0)), "rod", "rocker", *ends)
    robot = b.build()
    q = robot.close_loops([-1.0, 0.3, -1.5])
    ours = mr.simulate(robot, q, duration=0.3)
    theirs = mr.simulate(robot, q, duration=0.3, engine="mujoco", stepper=FINE, tick=1e-3)
    assert np.abs(ours.q[-1] - q).max() > 0.5
    assert apart(robot, ours, theirs) < 2e-5
    assert np.abs(robot.loop_error(theirs.q[-1])).max() < 1e-6


def test_a_recording_is_written_and_read(tmp_path):
    robot = mr.load("crab").mechanism()
    run = mr.simulate(robot, [0.3, 0.0, 0.2], duration=0.05, engine="mujoco", controller=mr.GravityCompensation())
    mr.save(run, tmp_path / "run.mrun")
    again = mr.load(tmp_path / "run.mrun")
    assert again.segments[0].settings.stepper == mr.MujocoSteps(1e-3)
    assert np.array_equal(again.q, run.q)
    assert np.allclose(again.vdot, run.vdot)
    assert np.abs(run.segments[0].at(0.0105)[0] - run.q[10]).max() < 1e-3


# ---- on the ground ----


def ground(friction=0.5, slope=0.0, height=0.0, **own):
    return mr.Ground(friction, surface=mr.Plane(slope, height=height), **own)


def block():
    b = mr.Builder("block")
    b.body("block", inertia.box(2.0, (0.2, 0.2, 0.1)), joint=mr.Free())
    b.shape("box", (0.2, 0.2, 0.1), "block")
    return b.build()


def test_a_block_slides_to_rest():
    """Over v² / (2 mu g), to two percent at steps of half a millisecond."""
    q, v = np.array([0, 0, 0.25, 1.0, 0, 0, 0]), np.array([1.0, 0, 0, 0, 0, 0])
    steps = mr.MujocoSteps(5e-4)
    run = mr.simulate(block(), q, v, 0.8, engine="mujoco", stepper=steps, ground=ground(0.5, height=0.2), tick=1e-3)
    assert abs(run.q[-1, 0] - 1 / (2 * 0.5 * 9.81)) < 0.02 * run.q[-1, 0]
    assert np.abs(run.v[-1]).max() < 1e-3
    assert abs(run.q[-1, 2] - 0.25) < 1e-4


@pytest.mark.parametrize(("friction", "slides"), [(0.3, False), (0.1, True)])
def test_a_block_on_a_slope_sticks_below_the_cone(friction, slides):
    slope = 0.2
    R = mr.spatial.so3.about(np.array([0, 1.0, 0]), np.array(-slope))
    q = block().joints[0].type.coordinates(se3.pose(R, R @ np.array([0, 0, 0.05])))
    run = mr.simulate(block(), q, duration=0.5, engine="mujoco", ground=ground(friction, slope))
    way = np.linalg.norm(run.q[-1, :3] - run.q[0, :3])
    closed_form = 9.81 * (np.sin(slope) - friction * np.cos(slope)) * 0.5**2 / 2
    assert abs(way - closed_form) < 0.02 * closed_form if slides else way < 1e-3


def test_a_ground_that_the_robot_stands_on_is_mujocos():
    robot = block()
    standing = robot.on_ground(ground(0.5))
    q = np.array([0, 0, 0.05, 1.0, 0, 0, 0])
    given = mr.simulate(robot, q, duration=0.05, engine="mujoco", ground=ground(0.5))
    own = mr.simulate(standing, q, duration=0.05, engine="mujoco")
    assert np.array_equal(given.q, own.q)
    assert abs(own.q[-1, 2] - 0.05) < 1e-4


# ---- refused ----


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"engine": "bullet"}, "engine 'bullet': valid: modurob, mujoco"),
        ({"engine": "mujoco", "stepper": mr.RungeKutta4(1e-3)}, "expected mr.MujocoSteps"),
        (
            {"engine": "mujoco", "ground": mr.Ground(surface=mr.Stairs(0.1, 0.3))},
            "expected a plane with friction for MuJoCo",
        ),
        ({"engine": "mujoco", "ground": ground(restitution=0.5)}, "restitution 0.5: MuJoCo has none"),
    ],
)
def test_what_no_engine_does_is_refused(arguments, message):
    with pytest.raises(SimulationError, match=message):
        mr.simulate(block(), duration=0.01, **arguments)


def test_integrators_have_names():
    with pytest.raises(SimulationError, match="integrator 'heun': valid: euler, rk4, implicit, implicitfast"):
        mr.MujocoSteps(1e-3, "heun")
    with pytest.raises(SimulationError, match="MuJoCo carries a robot by itself"):
        FINE.step(None, 0.0, None, None, 1e-3)  # type: ignore[arg-type]


def test_a_robot_that_mujoco_cannot_hold_is_refused_at_once():
    robot = mr.load("crab").mechanism().with_drive("m0/hinge", mr.load_drive("powerball-small"))
    with pytest.raises(MjcfError, match=r"'m0/hinge .*drive' .* which MuJoCo's joints do not have"):
        mr.simulate(robot, duration=0.01, engine="mujoco")


def test_a_lost_state_is_a_status():
    robot = mr.load("crab").mechanism().ideal()
    run = mr.simulate(robot, duration=0.1, engine="mujoco", controller=lambda t, q, v: 1e30 * np.ones(3))
    assert run.status.kind in ("diverged", "not finite")
