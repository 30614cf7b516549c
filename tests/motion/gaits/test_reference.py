"""References of any gait on any robot: smooth, deterministic, within limits, at the asked frequency."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.interpolate import BPoly

import modurob as mr
from modurob.errors import GaitError
from modurob.motion.gaits import PRESETS, Gait, Hopf, Logistic, Matsuoka, Phases, Snake, gait, spectrum
from modurob.motion.gaits.waves import QUINTIC, Flow, powers
from modurob.spatial import inertia
from tests.motion.gaits.bodies import fitting, snake, walker
from tests.robots import random_mechanism

GENERATORS = ["sine", "hopf", "matsuoka", "logistic"]
SEEDED = ["sine", Hopf(seed=1), Matsuoka(seed=1), Logistic(seed=1)]


def robots(seed):
    """A tree with joints of all kinds, some of which turn about an axis."""
    rng = np.random.default_rng(seed)
    return random_mechanism(
        rng, 7, ("revolute", "helical", "prismatic", "universal", "spherical", "planar"), seed % 2 == 1
    )


def test_quintic_is_that_of_scipy(rng):
    ends = rng.normal(size=(2, 3))
    ours = powers(np.linspace(0, 1, 11)) @ QUINTIC @ ends.ravel()
    theirs = BPoly.from_derivatives([0, 1], ends)
    for k in range(3):
        np.testing.assert_allclose(ours[:, k], theirs(np.linspace(0, 1, 11), nu=k), atol=1e-12)


def test_systems_that_cannot_be_integrated_are_reported():
    flow = Flow(lambda x: np.full(1, np.nan), lambda x: np.stack([x, x, x], axis=-2), np.ones(1))
    with pytest.raises(GaitError, match="oscillators cannot be followed"):
        flow(np.array(2.0))


@pytest.mark.parametrize("generator", SEEDED, ids=GENERATORS)
@pytest.mark.parametrize("seed", range(3))
def test_rates_and_accelerations_are_derivatives(generator, seed):
    robot = robots(seed)
    reference = gait("snake", generator=generator, frequency=0.7).on(robot)
    t, h = np.random.default_rng(seed).uniform(0.1, 6, 40), 1e-5
    q, v, vdot = reference(t)
    assert q.shape == (40, robot.nq)
    assert v.shape == vdot.shape == (40, robot.nv)
    before, after = reference(t - h), reference(t + h)
    # central differences leave h^2 / 6 of the third derivative, which is large where a neuron starts to fire
    np.testing.assert_allclose(v, robot.difference(before[0], after[0]) / (2 * h), atol=1e-6)
    np.testing.assert_allclose(vdot, (after[1] - before[1]) / (2 * h), atol=1e-5)
    assert np.abs(vdot).max() > 0.1


@pytest.mark.parametrize("generator", SEEDED, ids=GENERATORS)
def test_the_same_gait_is_the_same_whenever_and_however_it_is_asked(generator):
    robot, times = snake(5).mechanism(), np.array([0.0, 17.3, 2.5, 0.1])
    recipe = gait("snake", generator=generator)
    reference = recipe.on(robot)
    together = reference(times)
    for other in (reference, recipe.on(robot)):
        for i in (2, 3, 1, 0):
            for ours, theirs in zip(together, other(float(times[i])), strict=True):
                np.testing.assert_array_equal(ours[i], theirs)
    assert reference(np.zeros((2, 3)))[0].shape == (2, 3, robot.nq)


@pytest.mark.parametrize("generator", SEEDED, ids=GENERATORS)
def test_threads_ask_one_gait_and_get_what_one_would(generator):
    robot, recipe = snake(5).mechanism(), gait("snake", generator=generator)
    reference, times = recipe.on(robot), [40.0, 3.0, 55.0, 21.0, 60.0, 8.0, 33.0, 47.0]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda t: reference(t)[0], times))
    alone = recipe.on(robot)
    for t, q in zip(times, found, strict=True):
        np.testing.assert_array_equal(q, alone(t)[0])


def test_gaits_are_values():
    one, two = (
        Gait(Phases({"m0/hinge": 0.5}), Hopf(seed=2), {"m0/hinge": 0.2}, 0.7, {"m1/hinge": 0.1}) for _ in range(2)
    )
    assert one == two == pickle.loads(pickle.dumps(one))
    assert hash(one) == hash(two)
    assert one != Gait(Phases({"m0/hinge": 0.6}), Hopf(seed=2), {"m0/hinge": 0.2}, 0.7, {"m1/hinge": 0.1})


@pytest.mark.parametrize("generator", ["hopf", "matsuoka", "logistic"])
def test_seeds_differ(generator):
    robot = snake(6).mechanism()
    kind = {"hopf": Hopf, "matsuoka": Matsuoka, "logistic": Logistic}[generator]
    one, two = (gait("snake", generator=kind(seed=i)).on(robot)(1.0)[0] for i in (1, 2))
    assert np.abs(one - two).max() > 0.01


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("preset", ["snake", "crab", "quadruped"])
def test_the_spectrum_peaks_at_the_asked_frequency(preset, generator):
    robot = mr.load("crab").mechanism(floating=True)
    reference = gait(preset, generator=generator, frequency=0.8, amplitude=0.3).on(robot)
    t = np.arange(0, 25, 1 / 64)
    parts = spectrum(t, reference(t)[0][:, reference.joints.q_index])
    # a hundredth for coupled neurons, whose frequency the coupling moves a little
    np.testing.assert_allclose(parts.peak, 0.8, rtol=0.01 if generator == "matsuoka" else 1e-4)
    assert parts.amplitude.max() == pytest.approx(0.3, rel=0.12)


@pytest.mark.parametrize("generator", GENERATORS)
def test_what_is_not_active_stands_still(generator):
    robot = robots(1)
    q, v, vdot = gait("crab", generator=generator).on(robot)(np.linspace(0, 5, 50))
    for joint in robot.joints:
        if joint.kind not in ("revolute", "helical"):
            np.testing.assert_array_equal(q[:, joint.q_slice], np.tile(joint.type.neutral(), (50, 1)))
            assert not np.any(v[:, joint.v_slice])
            assert not np.any(vdot[:, joint.v_slice])
        else:
            assert np.ptp(q[:, joint.q_slice]) > 0.2


@pytest.mark.parametrize("preset", ["snake", "crab", "quadruped"])
@pytest.mark.parametrize("seed", range(8))
def test_every_turning_joint_of_any_robot_swings_by_the_amplitude(preset, seed):
    robot = random_mechanism(np.random.default_rng(seed), 9, floating=seed % 2 == 0)
    turning = [j for j in robot.joints if j.kind in ("revolute", "helical")]
    if not turning:
        with pytest.raises(GaitError, match="has no joint to move"):
            gait(preset).on(robot)
        return
    reference = gait(preset, amplitude=0.25, frequency=2.0).on(robot)
    assert reference.joints.names == tuple(j.name for j in turning)
    q, _, _ = reference(np.linspace(0, 0.5, 1000))
    np.testing.assert_allclose(np.ptp(q[:, reference.joints.q_index], axis=0), 0.5, rtol=1e-4)


def test_amplitudes_by_name_move_just_these_joints_sliding_ones_too():
    robot = mr.load("crane").mechanism()
    slides = Gait(Snake(), amplitude={"m0/joint": 0.02}).on(robot)
    q, _, _ = slides(np.linspace(0, 2, 500))
    np.testing.assert_allclose(np.ptp(q, axis=0), [0.04, 0], atol=1e-5)
    both = Gait(Snake(), amplitude={"m1/hinge": 0.3, "m0/joint": 0.02}).on(robot)
    np.testing.assert_allclose(np.abs(both.amplitude), [0.02, 0.3])


def test_joints_swing_about_the_posture():
    robot = snake(4).mechanism()
    q, _, _ = gait("snake", amplitude=0.1, posture={"m1/hinge": 0.7}).on(robot)(np.linspace(0, 2, 400, endpoint=False))
    np.testing.assert_allclose(q.mean(axis=0), [0, 0.7, 0], atol=1e-12)


def test_own_phases():
    robot = mr.load("crab").mechanism()
    reference = Gait(Phases({"m2/hinge": 0.5, "m4/hinge": -1.0}), Hopf(), 0.2).on(robot)
    np.testing.assert_allclose(reference(0.0)[0], 0.2 * np.sin([0, 0.5, -1.0]), atol=1e-12)


def test_a_controller_can_track_it():
    """With a rigid robot and no error the torque of inverse dynamics keeps the robot on the reference."""
    robot = snake(4).mechanism()
    reference = gait("snake", generator="hopf", frequency=0.5).on(robot)
    q, v, _ = reference(0.0)
    h = 1e-3

    def rate(t, q, v):
        q_d, v_d, vdot_d = reference(t)
        tau = robot.inverse_dynamics(q, v, vdot_d + 100 * (q_d - q) + 20 * (v_d - v))
        return v, robot.forward_dynamics(q, v, tau)

    for i in range(1000):
        t = i * h
        a = rate(t, q, v)
        b = rate(t + h / 2, q + h / 2 * a[0], v + h / 2 * a[1])
        c = rate(t + h / 2, q + h / 2 * b[0], v + h / 2 * b[1])
        d = rate(t + h, q + h * c[0], v + h * c[1])
        q, v = (x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4) for x, k1, k2, k3, k4 in zip((q, v), a, b, c, d, strict=True))
    np.testing.assert_allclose(q, reference(1.0)[0], atol=1e-8)


@pytest.mark.parametrize("preset", ["snake", "crab", "quadruped"])
@pytest.mark.parametrize("generator", SEEDED, ids=GENERATORS)
def test_limits_are_kept_to_the_edge_and_refused_beyond(preset, generator):
    robot = mr.load("crab").mechanism()
    # neurons may shoot over by some hundredths while they lock
    edge = np.pi / 2 * (0.9 if isinstance(generator, Matsuoka) else 1)
    q, _, _ = gait(preset, generator=generator, amplitude=edge).on(robot)(np.linspace(0, 40, 4000))
    assert np.abs(q).max() <= np.pi / 2
    with pytest.raises(
        GaitError, match=r"joint 'm0/hinge' would swing from .* an amplitude of about 1\.[45]\d* fits"
    ) as refusal:
        gait(preset, generator=generator, amplitude=1.7).on(robot)
    # of neurons another joint may shoot over further
    if not isinstance(generator, Matsuoka):
        gait(preset, generator=generator, amplitude=fitting(refusal)).on(robot)


def test_a_posture_beyond_the_limits_is_refused():
    with pytest.raises(GaitError, match=r"joint 'm1/hinge' would swing .*: give it a posture within its limits"):
        gait("snake", posture={"m1/hinge": 2.0}).on(snake(4).mechanism())


def test_speeds_beyond_the_limit_are_refused():
    slow = walker(4, limit=1.0)
    gait("quadruped", amplitude=0.3, frequency=0.5).on(slow)
    with pytest.raises(
        GaitError, match=r"would reach a speed of \[1\.88\d*\], its limit is \[1\.\]: make .* 0\.53\d* times"
    ):
        gait("quadruped", amplitude=0.3, frequency=1.0).on(slow)


def test_held_joints_must_be_within_their_limits_too():
    builder = mr.Builder("arm")
    builder.body("a", inertia.point(1.0, (0, 0, 1)), joint=mr.Revolute((1, 0, 0)))
    raised = mr.JointProperties(lower=0.1, upper=0.2)
    builder.body("b", inertia.point(1.0, (0, 0, 1)), parent="a", joint=mr.Prismatic((0, 0, 1)), properties=raised)
    robot = builder.build()
    with pytest.raises(GaitError, match=r"joint 'b' .* give it a posture within its limits"):
        gait("snake").on(robot)
    assert gait("snake", posture={"b": 0.15}).on(robot)(0.0)[0][1] == 0.15


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gait("snek"), r"no gait 'snek': did you mean 'snake'\? valid: snake, crab, quadruped, wheel"),
        (lambda: gait("snake", generator="hopff"), r"no generator 'hopff': did you mean 'hopf'\? valid: hopf, logistic"),
        (lambda: gait("snake", wave=2), r"gait 'snake' has no option 'wave': did you mean 'waves'\?"),
        (lambda: gait("crab", waves=2), r"gait 'crab' has no option 'waves': valid: amplitude, frequency"),
        (lambda: gait("snake", amplitude=0), r"amplitude 0: expected a finite number above zero, in rad or m"),
        (lambda: gait("snake", amplitude={"a": -1}), r"amplitude of 'a' -1: expected"),
        (lambda: gait("snake", frequency=np.inf), r"frequency inf: expected a finite number above zero, in Hz"),
        (lambda: gait("snake", frequency="fast"), r"frequency 'fast': expected"),
        (lambda: gait("snake", amplitude={"m9/hinge": 0.1}).on(snake(3).mechanism()), r"no joint 'm9/hinge' with one coordinate"),
        (lambda: gait("snake", posture={"floating_base": 0}).on(snake(3).mechanism(floating=True)), r"valid: m0/hinge, m1/hinge"),
        (lambda: Gait(Phases({"m7": 1.0})).on(snake(3).mechanism()), r"no joint 'm7' with one coordinate in robot"),
        (lambda: gait("crab").on(snake(1).mechanism()), r"robot has no joint to move, only none: expected a joint that turns"),
        (lambda: gait("snake", posture={"m0/hinge": np.nan}).on(snake(3).mechanism()), r"posture of 'm0/hinge' nan: expected"),
        (lambda: gait("snake", waves=np.nan), r"waves nan: expected a finite number"),
        (lambda: gait("wheel", lobes=1.5), r"lobes 1.5: expected a whole number"),
        (lambda: Gait(Phases({"m0/hinge": "late"})), r"phase of 'm0/hinge' 'late': expected a finite number"),
        (lambda: gait("snake", generator=7), r"no generator 7: valid: hopf, logistic, matsuoka, sine"),
        (lambda: gait("snake", generator=Hopf), r"generator Hopf: expected one with its settings, such as Hopf\(\)"),
        (lambda: Gait("snake"), r"pattern 'snake': expected Snake\(\), Crab\(\), .*Wheel\(\), .*Hexapod\(\) or Phases"),
        (lambda: Gait(Snake), r"pattern <class .*Snake'>: expected Snake\(\)"),
        (lambda: Gait(Snake(), "hopf"), r"generator 'hopf': expected one such as Sine\(\) or Hopf\(seed=1\)"),
        (lambda: Gait(Snake(), "hopff"), r"no generator 'hopff': did you mean 'hopf'"),
        (lambda: Gait(Snake(), posture=[0.1]), r"posture \[0.1\]: expected coordinates by joint name"),
        (lambda: gait("snake").on(snake(3)), r"a gait on Assembly.*: expected a robot, a Mechanism, assembly.robot\(\)"),
        (lambda: Hopf(seed=-1), r"seed -1: expected a whole number from zero on, or None"),
        (lambda: Matsuoka(seed="x"), r"seed 'x'"),
        (lambda: Logistic(seed=0.5), r"seed 0.5"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(call, message):
    with pytest.raises(mr.ModurobError, match=message):
        call()


def test_presets_are_those_of_the_function():
    assert {"snake", "crab", "quadruped", "wheel", "hexapod", "bound", "inchworm", "sidewinding"} < set(PRESETS)
    for name in PRESETS:
        assert isinstance(gait(name), Gait)
