"""What holds for every law: pure steps, in batches, saved and resumed, with a model of their own."""

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

import modurob as mr
from modurob.algorithms.forces import acting
from modurob.control import (
    LAWS,
    LQR,
    PID,
    AdaptiveControl,
    Admittance,
    Backstepping,
    Cascade,
    ComputedTorque,
    Delayed,
    DisturbanceObserver,
    ElasticLinearisation,
    FeedForward,
    FrictionCompensation,
    GravityCompensation,
    HybridForcePosition,
    Impedance,
    JointTask,
    KinematicControl,
    OperationalSpace,
    SlidingMode,
    SlotineLi,
    SwingUp,
    WholeBody,
)
from modurob.control.recipe import plain_laws
from modurob.errors import ControlError
from modurob.motion import Trajectory, gait
from modurob.simulation import Measured
from modurob.simulation.law import FunctionController, Seen
from modurob.spatial import inertia
from tests.robots import random_state

CLOSE = 1e-9
CURVE = Trajectory.quintic([0.0, 0.1, -0.1], [0.3, -0.2, 0.4], 1.0)
HINGES = ("m0/hinge", "m2/hinge", "m4/hinge")
SATURATION = {"saturation": dict(zip(HINGES, (5.0, np.inf, 6.0), strict=True))}
COMMON = {"sample_time": 0.01, **SATURATION}
CRAB = mr.load("crab").robot()
INNER = ComputedTorque(30.0, 3.0, CURVE, sample_time=0.01)
ARM = mr.load("lwa4p").robot()
GOAL = ARM.frame_pose([0.2, 0.5, 0.1, 0.9, 0.2, 0.3], "wrist/flange")[:3, 3]
PLACE = {"frame": "wrist/flange", "goal": GOAL, "joint_damping": 0.5, "sample_time": 0.01}
PLACE |= {"saturation": {joint.name: 30.0 for joint in ARM.joints}}


def soft(robot):
    """The robot with a spring between every motor and its joint."""
    gear = mr.Gear(ratio=50.0, stiffness=200.0)
    for joint in robot.joints:
        robot = robot.with_drive(joint.name, mr.Drive(mr.Motor(0.02, inertia=1e-6), gear))
    return robot


# what a law needs that a crab does not have: elastic drives, or a frame that can move in all three directions
ROBOTS = {Backstepping: soft(CRAB), ElasticLinearisation: soft(CRAB), OperationalSpace: ARM, HybridForcePosition: ARM}
RECIPES = {
    "adaptive": AdaptiveControl(CURVE, 5.0, 0.5, 2.0, **COMMON),
    "admittance": Admittance(CURVE, 20.0, 5.0, 0.5, 40.0, 8.0, 10.0, **COMMON),
    "backstepping": Backstepping([0.1, 0.2, -0.1], 4.0, 0.5, 20.0, 0.1, sample_time=0.01),
    "cascade": Cascade(CURVE, settling_time=0.8, feed_forward=("gravity", "speed"), rule="tustin", **COMMON),
    "delayed": Delayed(INNER, samples=2, **SATURATION),
    "disturbance-observer": DisturbanceObserver(INNER, gain=10.0, **SATURATION),
    "elastic-linearisation": ElasticLinearisation([0.1, 0.2, -0.1], pole=4.0, sample_time=0.01),
    "friction-compensation": FrictionCompensation(INNER, share=0.8, **SATURATION),
    "hybrid": HybridForcePosition(normal=(0.0, 1.0, 1.0), force=0.5, kp=20.0, kd=5.0, approach=5.0, **PLACE),
    "impedance": Impedance("m3", [0.1, 0.1, 0.0], stiffness=50.0, damping=[3.0, 2.0, 1.0], **COMMON),
    "operational-space": OperationalSpace(kp=20.0, kd=5.0, **PLACE),
    "sliding-mode": SlidingMode(CURVE, 5.0, 0.5, 0.5, 0.2, **COMMON),
    "slotine-li": SlotineLi(CURVE, 5.0, 0.5, **COMMON),
    "swing-up": SwingUp(2.0, {"m0/hinge": 1.0, "m2/hinge": 0.5, "m4/hinge": 0.2}, **COMMON),
    "whole-body": WholeBody([JointTask(HINGES, reference=CURVE, kp=20.0, kd=5.0)], **COMMON),
    "computed-torque": ComputedTorque(np.diag([30.0, 20, 10]), [3.0, 2, 1], CURVE, **COMMON),
    "feed-forward": FeedForward(CURVE, 3.0, 1.0, **COMMON),
    "gravity": GravityCompensation(5.0, {"m0/hinge": 1.0, "m2/hinge": 0.5, "m4/hinge": 0.2}, CURVE, **COMMON),
    "kinematic": KinematicControl(CURVE, "m3", "position", **COMMON),
    "lqr": LQR([0.1, 0.2, -0.1], 4.0, 1.0, 0.2, **COMMON),
    "pid": PID(20.0, 30.0, 1.0, CURVE, filter_time=0.05, **COMMON),
}


@pytest.fixture(params=sorted(LAWS))
def recipe(request):
    return RECIPES[request.param]


@pytest.fixture
def robot(recipe):
    return ROBOTS.get(type(recipe), CRAB)


def start(robot):
    """Bent a little, each joint otherwise."""
    return np.resize([0.1, 0.2, 0.3, 0.5], robot.nq)


def load_on(robot):
    """The robot with half a kilogram more at an end."""
    return robot.with_payload({"crab": "m3"}.get(robot.name, robot.bodies[-1]), inertia.box(0.5, (0.1, 0.1, 0.1)))


def steps(law, states, memory=None):
    """What the law remembers after these states, a hundredth of a second apart, and all torques."""
    memory, torques = law.start() if memory is None else memory, []
    for k, state in enumerate(states):
        memory, tau = law.step(memory, 0.01 * k, state)
        torques.append(tau)
    return memory, np.array(torques)


def states_of(rng, robot, shape, samples=5):
    """What a law may measure, springs a little twisted and all."""
    q = np.array([robot.random_configuration(rng) for _ in range(samples * int(np.prod(shape)))])
    q, v = q.reshape(samples, *shape, -1), rng.normal(size=(samples, *shape, robot.nv))
    x = acting(robot).start_at(q)
    x = x + 0.01 * rng.normal(size=x.shape)
    return [Seen.of(*state) for state in zip(q, v, x, strict=True)]


def one_of(seen, k):
    return Seen.of(seen.q[k], seen.v[k], seen.x[k])


def test_all_laws_are_here():
    assert set(RECIPES) == set(LAWS)
    for name, recipe in RECIPES.items():
        assert type(recipe) is LAWS[name]


@pytest.mark.parametrize("shape", [(4,), (2, 3)])
def test_batches_of_any_shape_are_their_runs(recipe, robot, shape, rng):
    law, states = recipe.on(robot), states_of(rng, robot, shape)
    _, together = steps(law, states)
    assert together.shape == (5, *shape, robot.nv)
    for k in np.ndindex(shape):
        _, alone = steps(law, [one_of(s, k) for s in states])
        np.testing.assert_allclose(together[:, *k], alone, atol=CLOSE)


def test_a_step_changes_nothing_it_is_given(recipe, robot, rng):
    law, states = recipe.on(robot), states_of(rng, robot, (3,))
    memory, _ = steps(law, states[:2])
    before = pickle.dumps((memory, states[2]))
    first = law.step(memory, 0.1, states[2])
    again = law.step(memory, 0.1, states[2])
    assert pickle.dumps((memory, states[2])) == before
    assert pickle.dumps(first) == pickle.dumps(again)


def test_a_saved_law_goes_on_where_it_was(recipe, robot, rng):
    law, states = recipe.on(robot), states_of(rng, robot, ())
    _, whole = steps(law, states)
    memory, _ = steps(law, states[:3])
    saved, remembered = pickle.loads(pickle.dumps((law, memory)))
    assert saved == law
    assert hash(saved) == hash(law)
    for k in (3, 4):
        remembered, tau = saved.step(remembered, 0.01 * k, states[k])
        np.testing.assert_array_equal(tau, whole[k])


def test_recipes_are_equal_by_what_they_say(recipe):
    twin = pickle.loads(pickle.dumps(recipe))
    assert twin == recipe
    assert hash(twin) == hash(recipe)
    assert recipe != "a law"
    for field in fields(recipe):
        other = copy.copy(recipe)
        object.__setattr__(other, field.name, "something else")
        assert recipe != other


def test_the_model_is_what_a_law_believes(recipe, robot, rng):
    """On a robot that carries a load a law with the model of another is the other's law."""
    loaded, states = load_on(robot), states_of(rng, robot, (4,))
    believing = replace(recipe, model=robot)
    _, believed = steps(believing.on(loaded), states)
    _, plain = steps(recipe.on(robot), states)
    np.testing.assert_array_equal(believed, plain)
    if not isinstance(
        recipe, PID
    ):  # with gains that are given it believes in nothing; the next test is about its others
        _, true = steps(recipe.on(loaded), states)
        assert np.abs(true - plain).max() > 0.1


def test_the_model_of_pid_is_in_its_linearisation_and_its_default_gains(rng):
    robot = mr.load("crab").robot()
    loaded, states = load_on(robot), states_of(rng, robot, (4,))
    for options in ({"linearise": True}, {}):
        _, believed = steps(PID(reference=0.3, model=robot, **options).on(loaded), states)
        _, plain = steps(PID(reference=0.3, **options).on(robot), states)
        _, true = steps(PID(reference=0.3, **options).on(loaded), states)
        np.testing.assert_array_equal(believed, plain)
        assert np.abs(true - plain).max() > 0.1


def test_torques_stay_within_saturation(recipe, robot, rng):
    """Those of a tenth of what the law would do without; and all torques of joints that are not limited may be there."""
    states = states_of(rng, robot, (20,))
    _, free = steps(replace(recipe, saturation=None).on(robot), states)
    most = np.abs(free).max(axis=(0, 1)) / 10
    _, limited = steps(replace(recipe, saturation=most).on(robot), states)
    assert np.all(np.abs(limited) <= most + 1e-12)
    assert np.allclose(np.abs(limited).max(axis=(0, 1)), most)


def test_runs_side_by_side_are_the_runs_alone(recipe, robot):
    q0 = np.array([start(robot), -start(robot) / 2])
    stepper = mr.RungeKutta4(1e-3)
    together = mr.simulate(robot, q0, duration=0.2, controller=recipe, stepper=stepper)
    for k in range(2):
        alone = mr.simulate(robot, q0[k], duration=0.2, controller=recipe, stepper=stepper)
        assert alone.status.ok
        np.testing.assert_allclose(together.q[:, k], alone.q, atol=1e-9)
        np.testing.assert_allclose(together.tau[:, k], alone.tau, atol=1e-7)


def test_a_run_is_resumed_with_what_the_law_remembers(recipe, robot):
    """Half a run, its state and the law's memory saved, and the other half from these: the same as the whole."""
    q0 = start(robot)
    whole = mr.Simulation(robot, q0, controller=recipe).advance(0.2)
    assert whole.recording.status.ok
    half = mr.Simulation(robot, q0, controller=recipe).advance(0.1)
    q, v, x, memory = pickle.loads(pickle.dumps((half.q, half.v, half.x, half.pilot.memory)))
    rest = mr.Simulation(robot, q, v, controller=recipe, t0=half.t, x0=x)
    rest.pilot.memory = memory
    rest.advance(0.1)
    np.testing.assert_allclose(rest.q, whole.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(rest.tau, whole.tau, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "law", [ComputedTorque(100.0, 20.0, 1.7), PID(reference=1.7, linearise=True), FeedForward(1.7, 5.0, 1.0), LQR(1.7)]
)
def test_stops_are_not_cancelled(law):
    """A set point beyond the limits: the law pushes, the stops hold, and the robot stays about there."""
    robot = mr.load("crab").mechanism(gravity=(0, 0, 0))
    run = mr.simulate(robot, duration=3.0, controller=law)
    assert run.status.ok
    beyond = run.q[-1] - np.pi / 2
    assert np.all(beyond > 0)
    assert np.all(beyond < 0.05)


def test_a_gait_is_tracked_by_name_and_saved(rng):
    robot = mr.load("crab").mechanism(floating=True)
    recipe = ComputedTorque(100.0, 20.0, gait("crab", generator="hopf", amplitude=0.3), partial=True)
    twin = pickle.loads(pickle.dumps(recipe))
    assert twin == recipe
    q, v, _ = random_state(rng, robot)
    laws = [r.on(robot) for r in (recipe, twin)]
    one, other = (law.step(law.start(), 1.3, Measured(q, v))[1] for law in laws)
    np.testing.assert_array_equal(one, other)


# ---- what is refused ----


def test_what_is_no_robot_is_refused(recipe):
    with pytest.raises(
        ControlError, match=rf"{type(recipe).__name__} on Assembly.*: expected a robot, a Mechanism, assembly.robot\(\)"
    ):
        recipe.on(mr.load("crab"))
    with pytest.raises(ControlError, match=rf"{type(recipe).__name__} on 'crab': expected a robot, a Mechanism"):
        recipe.on("crab")


def test_models_that_do_not_fit_are_refused(recipe, robot):
    with pytest.raises(ControlError, match="model 'crab': expected a Mechanism"):
        replace(recipe, model="crab")
    other = replace(recipe, model=mr.load("crane").robot())
    with pytest.raises(
        ControlError, match=rf"model crane has nq = 2, nv = 2: expected {robot.nq}, {robot.nv}, as {robot.name} has"
    ):
        other.on(robot)


def test_a_model_with_the_joints_in_another_order_is_refused():
    """The crab on another base has the same three joints, the first two of them exchanged."""
    crab = mr.load("crab")
    with pytest.raises(
        ControlError,
        match="model crab has the joints m2/hinge, m0/hinge, m4/hinge: expected those of crab in its order, m0/hinge, m2",
    ):
        mr.ComputedTorque(100, 20, model=crab.mechanism(base="m2")).on(crab.mechanism(base="m0"))
    mr.ComputedTorque(100, 20, model=crab.mechanism(base="m1")).on(crab.mechanism(base="m0"))


@pytest.mark.parametrize("name", plain_laws())
@pytest.mark.parametrize("floating", [False, True])
def test_a_module_alone_has_nothing_to_drive(name, floating):
    """What is left of an organism that separated: its law goes on and gives no torque."""
    alone = mr.Assembly.single("m0", "backbone").mechanism(floating=floating, gravity=(0, 0, 0))
    about = {"partial": True} if LAWS[name] in (ComputedTorque, KinematicControl) else {}
    gains = {"kp": 1.0, "kd": 1.0} if LAWS[name] is ComputedTorque else {}
    run = mr.simulate(alone, duration=0.005, controller=LAWS[name](reference=0.1, **gains, **about))
    assert run.status.ok, run.status
    assert not run.tau.any()


@pytest.mark.parametrize("law", [Backstepping, ElasticLinearisation])
def test_a_module_alone_has_no_elastic_drive(law):
    with pytest.raises(ControlError, match="an elastic drive at every joint: robot has no joint with a drive"):
        law(0.1).on(mr.Assembly.single("m0", "backbone").mechanism(floating=True))


@pytest.mark.parametrize("around", [Delayed, DisturbanceObserver])
def test_what_is_handed_on_needs_a_controller_that_takes_it(around):
    plain = FunctionController(lambda t, q, v: 0 * v, 0.01)
    assert around(plain).inner is plain
    with pytest.raises(ControlError, match=r"saturation is handed on to controller .*: expected one such as mr.PID"):
        around(plain, saturation=1.0)


@pytest.mark.parametrize("law", [OperationalSpace, HybridForcePosition])
def test_frames_that_cannot_move_in_all_directions_are_refused(law):
    """A crab's ends move in a plane."""
    recipe = law(frame="m3", goal=[0.1, 0.1, 0.0])
    with pytest.raises(
        ControlError, match=rf"{law.__name__}: m3 of crab cannot move in all 3 directions .*: expected ano"
    ):
        recipe.on(CRAB).step(None, 0.0, Measured(np.array([0.1, 0.2, 0.3]), np.zeros(3)))


def test_drives_that_are_no_names_are_refused():
    with pytest.raises(ControlError, match="actuated = 3: expected names of joints, m0/hinge, m2/hinge, m4/hinge"):
        ComputedTorque(1.0, 1.0, actuated=3).on(mr.load("crab").robot())


FLOATING = mr.load("crab").mechanism(floating=True)
# laws that must be told to be partial, that want a base that is held, or, lqr, a reference of the base
REFUSED = (
    "computed-torque",
    "delayed",
    "disturbance-observer",
    "friction-compensation",
    "impedance",
    "kinematic",
    "lqr",
)


@pytest.mark.parametrize("name", REFUSED)
def test_a_floating_base_is_refused_in_words(name):
    with pytest.raises(ControlError, match=r"(assumes|no drive at floating_base|has shape) .*(free|expected)"):
        RECIPES[name].on(FLOATING)


@pytest.mark.parametrize("name", [n for n, r in sorted(RECIPES.items()) if type(r) not in ROBOTS and n not in REFUSED])
def test_other_laws_move_the_joints_of_a_floating_robot_alone(name):
    law = RECIPES[name].on(FLOATING)
    q, v = FLOATING.neutral(), np.linspace(-0.2, 0.3, FLOATING.nv)
    _, tau = law.step(law.start(), 0.0, Seen.of(q, v, np.zeros(0)))
    assert np.isfinite(tau).all()
    assert np.all(tau[:6] == 0)
    assert np.any(tau[6:] != 0)
