"""What sensors say of a state: against values found otherwise, and their slopes against differences."""

import pickle

import numpy as np
import pytest
import scipy.stats
from scipy.spatial.transform import Rotation

import modurob as mr
from modurob.estimation import (
    IMU,
    SENSORS,
    ContactSensor,
    ExtendedKalmanFilter,
    HallSensors,
    PoseSensor,
    RateSensors,
)
from modurob.spatial import inertia, se3
from tests.estimation.runs import Running
from tests.robots import random_mechanism, random_state


@pytest.fixture
def crab():
    return mr.load("crab").mechanism(base="m0")


def test_readings_are_whole_steps_near_the_angle(crab, rng):
    q = rng.uniform(-1, 1, size=(500, 3))
    y = HallSensors(noise=0.0, resolution=0.01).on(crab).sample(q, np.zeros(q.shape), np.zeros(q.shape), rng)
    np.testing.assert_allclose(y / 0.01, np.round(y / 0.01), atol=1e-9)
    assert np.abs(y - q).max() <= 0.005 + 1e-12


def test_noise_is_normal_with_the_variance_the_filter_is_told(crab, rng):
    q = rng.uniform(-1, 1, size=(20_000, 3))
    smooth, rounded = HallSensors(noise=2e-3, resolution=0.0), HallSensors(noise=1e-3, resolution=2e-3)
    assert (
        scipy.stats.kstest(
            ((smooth.on(crab).sample(q, np.zeros(q.shape), np.zeros(q.shape), rng) - q) / 2e-3).ravel(), "norm"
        ).pvalue
        > 1e-3
    )
    for sensors in (smooth, rounded):
        errors = sensors.on(crab).sample(q, np.zeros(q.shape), np.zeros(q.shape), rng) - q
        # the variance of a sample of 60,000 is known to about half a percent
        assert errors.var() == pytest.approx(sensors.variance, rel=0.03)


def test_readings_come_late_by_whole_samples(crab, rng):
    recipe = ExtendedKalmanFilter(HallSensors(noise=0.0, resolution=0.0, delay=3), R=1e-6)
    q = rng.uniform(-1, 1, size=(10, 3))
    sensors = Running(recipe, crab, q[0], np.zeros(3), 1e-3)
    found = [sensors.measured(0.0, x, np.zeros(3), rng) for x in q]
    assert found[:3] == [None] * 3
    np.testing.assert_array_equal([y for (y,) in found[3:]], q[:7])


def test_samples_are_lost_as_often_as_asked(crab, rng):
    sensors = HallSensors(dropped=0.3)
    one = Running(ExtendedKalmanFilter(sensors), crab, np.zeros(3), np.zeros(3), 1e-3)
    lost = sum(one.measured(0.0, np.zeros(3), np.zeros(3), rng) is None for _ in range(1000))
    assert scipy.stats.binomtest(lost, 1000, 0.3).pvalue > 1e-3
    batch = np.isnan(sensors.on(crab).sample(*np.zeros((3, 1000, 3)), rng))
    # whole samples, each run for itself
    assert (batch.all(axis=-1) == batch.any(axis=-1)).all()
    assert scipy.stats.binomtest(int(batch[:, 0].sum()), 1000, 0.3).pvalue > 1e-3


def test_the_seed_decides(crab):
    q = np.full(3, 0.5)
    first, again, other = (
        HallSensors(noise=0.01).on(crab).sample(q, q, q, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_free_joints_have_none_and_balls_do(rng):
    robot = random_mechanism(rng, 3, ("spherical",), floating=True)
    q = robot.random_configuration(rng)
    still = np.zeros(robot.nv)
    y = HallSensors(noise=1e-4, resolution=0.0).on(robot).sample(q, still, still, rng)
    assert np.isnan(y[:7]).all()
    apart = robot.difference(q, np.where(np.isnan(y), q, y))
    assert 0 < np.abs(apart[6:]).max() < 1e-3
    for joint in robot.joints[1:]:
        assert np.linalg.norm(y[joint.q_slice]) == pytest.approx(1, rel=1e-14)


# ---- every sensor on an arm whose poses are products of turns ----

AXES = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.6, 0.0, 0.8]])
LINKS = np.array([[0.0, 0.1, 0.3], [0.5, 0.0, 0.1], [0.2, 0.4, 0.0]])
TOOL = np.array([0.1, -0.2, 0.3])
GRAVITY = np.array([1.0, 2.0, -9.0])


def arm() -> mr.Mechanism:
    builder = mr.Builder("arm", gravity=GRAVITY)
    for i, (axis, link) in enumerate(zip(AXES, LINKS, strict=True)):
        builder.body(
            f"b{i}",
            inertia.box(1.0, (0.3, 0.2, 0.1)),
            parent=f"b{i - 1}" if i else "world",
            joint=mr.Revolute(tuple(axis)),
            at=se3.pose(None, link),
        )
    builder.frame("tool", "b2", se3.pose(None, TOOL))
    return builder.build()


def tool(q):
    """Rotation and position of the tool, by SciPy's rotations."""
    R, p = Rotation.identity(), np.zeros(3)
    for axis, link, angle in zip(AXES, LINKS, q, strict=True):
        p = p + R.apply(link)
        R = R * Rotation.from_rotvec(axis * angle)
    return R, p + R.apply(TOOL)


def noise_free(kind, **settings):
    quiet = {"imu": {"accelerometer_noise": 0.0}, "pose": {"turn_noise": 0.0}, "joint angles": {"resolution": 0.0}}
    return SENSORS[kind](noise=0.0, **quiet.get(kind, {}), **settings)


def read(kind, robot, q, v, vdot, **settings):
    return noise_free(kind, **settings).on(robot).sample(q, v, vdot, np.random.default_rng(0))


def moving(t):
    """Angles, rates and accelerations of a motion."""
    phase = np.array([0.3, 1.1, 2.0]) + np.array([1.0, 1.7, 0.6]) * t
    w = np.array([1.0, 1.7, 0.6])
    return np.sin(phase), w * np.cos(phase), -w * w * np.sin(phase)


H = 1e-4  # s; second differences leave h² / 12 of a fourth derivative, and rounding over h²


def test_angles_turn_the_arm():
    y = read("joint angles", arm(), *moving(0.4))
    R, _ = tool(y)
    X = arm().frame_pose(moving(0.4)[0], "tool")
    np.testing.assert_allclose(R.as_matrix(), X[:3, :3], atol=1e-14)


def test_rates_are_those_of_the_angles():
    ahead, behind = moving(0.4 + H)[0], moving(0.4 - H)[0]
    np.testing.assert_allclose(read("joint rates", arm(), *moving(0.4)), (ahead - behind) / (2 * H), atol=1e-7)


def test_an_imu_feels_how_its_frame_turns_and_speeds_up():
    (before, p0), (R, p1), (after, p2) = (tool(moving(0.4 + h)[0]) for h in (-H, 0.0, H))
    turning = R.inv().apply((after * before.inv()).as_rotvec() / (2 * H))
    felt = R.inv().apply((p2 - 2 * p1 + p0) / H**2 - GRAVITY)
    y = read("imu", arm(), *moving(0.4), frame="tool")
    np.testing.assert_allclose(y[:3], turning, atol=1e-7)
    np.testing.assert_allclose(y[3:], felt, atol=1e-6)


def test_an_imu_at_rest_feels_its_weight_and_falling_nothing():
    robot = random_mechanism(np.random.default_rng(3), 1, floating=True)
    q, still = robot.random_configuration(np.random.default_rng(4)), np.zeros(6)
    y = read("imu", robot, q, still, still, frame="b0")
    assert np.linalg.norm(y[3:]) == pytest.approx(np.linalg.norm(robot.gravity))
    # a box has its centre where its frame is
    builder = mr.Builder("stone")
    builder.body("b", inertia.box(2.0, (0.1, 0.2, 0.3)), joint=mr.Free())
    stone = builder.build()
    q, v = stone.neutral(), np.array([1.0, 2.0, 3.0, 0.3, -0.2, 0.5])
    falling = stone.forward_dynamics(q, v, still)
    np.testing.assert_allclose(read("imu", stone, q, v, falling, frame="b")[3:], 0, atol=1e-13)


def test_a_pose_is_that_of_the_turns():
    R, p = tool(moving(0.4)[0])
    y = read("pose", arm(), *moving(0.4), frame="tool")
    np.testing.assert_allclose(y[:3, :3], R.as_matrix(), atol=1e-14)
    np.testing.assert_allclose(y[:3, 3], p, atol=1e-14)


def test_a_flag_is_up_at_and_below_the_ground():
    q, v, vdot = moving(0.4)
    height = tool(q)[1][2]
    assert read("contact", arm(), q, v, vdot, frame="tool", ground=height + 1e-9).tolist() == [1.0]
    assert np.isnan(read("contact", arm(), q, v, vdot, frame="tool", ground=height - 1e-9)).all()
    # what an up flag tells: the height is that of the ground
    reading = ContactSensor(frame="tool", ground=0.2).on(arm())
    assert reading.innovation(np.ones(1), q, v, vdot) == pytest.approx([0.2 - height])
    assert np.isnan(reading.innovation(np.full(1, np.nan), q, v, vdot)).all()


@pytest.mark.parametrize("kind", list(SENSORS))
@pytest.mark.parametrize("seed", range(3))
def test_slopes_are_those_of_the_readings(kind, seed):
    """By central differences along errors of the state, on robots with joints of every kind, two states at once."""
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 4, floating=seed % 2 == 0)
    q, v, vdot = (np.stack(x) for x in zip(*(random_state(rng, robot) for _ in range(2)), strict=True))
    settings = {} if kind.startswith("joint") else {"frame": "b3"}
    if kind == "contact":
        settings["ground"] = 100.0
    reading = noise_free(kind, **settings).on(robot)
    y = reading.sample(q, v, vdot, rng)
    nv, h = robot.nv, 1e-6

    def innovation(d):
        dq, dv, da = np.split(d, 3)
        return reading.innovation(y, robot.integrate(q, dq), v + dv, vdot + da)

    differences = np.stack([innovation(-h * e) - innovation(h * e) for e in np.eye(3 * nv)], axis=-1) / (2 * h)
    slope, by_vdot = reading.slope(q, v, vdot)
    by_vdot = np.zeros((2, reading.size, nv)) if by_vdot is None else by_vdot
    assert reading.accelerates == bool(np.abs(by_vdot).max() > 0)
    expected = np.concatenate([np.broadcast_to(slope, (2, reading.size, 2 * nv)), by_vdot], axis=-1)
    assert np.abs(slope).max() > 0.1
    np.testing.assert_allclose(differences, expected, atol=1e-7 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("kind", list(SENSORS))
def test_noise_has_the_covariance_that_the_filter_is_told(kind, rng):
    settings = {} if kind.startswith("joint") else {"frame": "tool"}
    if kind == "contact":
        settings["ground"] = 100.0
    robot, reading = arm(), SENSORS[kind](**settings).on(arm())
    q, v, vdot = (np.tile(x, (20_000, 1)) for x in moving(0.4))
    # rounding spreads evenly only over many steps
    q = q + rng.normal(size=q.shape) * 0.1
    e = reading.innovation(reading.sample(q, v, vdot, rng), q, v, vdot)
    if kind == "contact":
        # a flag has no noise: the filter is told how uneven the ground is
        np.testing.assert_array_equal(e, 100.0 - robot.frame_pose(q, "tool")[:, 2, 3:])
        np.testing.assert_allclose(reading.covariance, [[1e-6]])
        return
    expected = np.diagonal(reading.covariance)
    np.testing.assert_allclose(e.var(axis=0), expected, rtol=0.05)
    correlations = np.cov(e.T) / np.sqrt(np.outer(expected, expected))
    np.testing.assert_allclose(correlations, np.eye(reading.size), atol=0.05)


@pytest.mark.parametrize("kind", list(SENSORS))
def test_each_sensor_loses_and_resists(kind, rng):
    """Lost samples are NaN as a whole, and a sensor is a value."""
    settings = {} if kind.startswith("joint") else {"frame": "tool"}
    if kind == "contact":
        settings["ground"] = 100.0
    sensor = SENSORS[kind](dropped=0.4, **settings)
    assert pickle.loads(pickle.dumps(sensor)) == sensor
    assert hash(SENSORS[kind](dropped=0.4, **settings)) == hash(sensor)
    q, v, vdot = (np.tile(x, (1000, 1)) for x in moving(0.4))
    reading = sensor.on(arm())
    e = np.isnan(reading.innovation(reading.sample(q, v, vdot, rng), q, v, vdot))
    assert (e.all(axis=-1) == e.any(axis=-1)).all()
    assert scipy.stats.binomtest(int(e[:, 0].sum()), 1000, 0.4).pvalue > 1e-3


def test_a_sensor_of_ones_own_is_a_file():
    """Each kind has a file of its own, and is found by name."""
    files = {SENSORS[kind].__module__ for kind in SENSORS}
    assert len(files) == len(SENSORS) == 5
    assert {SENSORS[kind] for kind in SENSORS} == {HallSensors, RateSensors, IMU, PoseSensor, ContactSensor}
    for kind, sensor in SENSORS.items():
        assert sensor.kind == kind
