"""Sensors and filters that make no sense are refused, with what would."""

import numpy as np
import pytest

import modurob as mr
from modurob.errors import EstimateError, InputError
from modurob.estimation import (
    IMU,
    SENSORS,
    ContactSensor,
    ExtendedKalmanFilter,
    HallSensors,
    PoseSensor,
    RateSensors,
    UnscentedKalmanFilter,
    band,
    observability,
)
from tests.estimation.runs import Running


@pytest.fixture
def crab():
    return mr.load("crab").mechanism(base="m0")


@pytest.mark.parametrize(
    ("sensors", "message"),
    [
        ({"noise": -1e-3}, r"noise is -0.001: expected a finite number \[rad or m\], zero or more"),
        ({"noise": np.nan}, "noise is nan"),
        ({"noise": "little"}, "noise is 'little': expected a finite number"),
        ({"resolution": -1.0}, "resolution is -1.0: expected"),
        ({"delay": 1.5}, "delay is 1.5: expected a whole number of samples"),
        ({"delay": -1}, r"delay is -1: expected a finite number \[samples\], zero or more"),
        ({"delay": True}, "delay is True"),
        ({"dropped": 1.0}, r"dropped is 1.0: expected a probability in \[0, 1\)"),
        ({"dropped": -0.1}, "dropped is -0.1"),
    ],
)
def test_sensors(sensors, message):
    with pytest.raises(EstimateError, match=message):
        HallSensors(**sensors)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: IMU(accelerometer_noise=-1.0), r"accelerometer_noise is -1.0: expected a finite number \[m/s²\]"),
        (lambda: IMU(noise=None), r"noise is None: expected a finite number \[rad/s\]"),
        (lambda: PoseSensor(turn_noise=np.inf), r"turn_noise is inf: expected a finite number \[rad\]"),
        (lambda: PoseSensor(resolution=0.1), r"resolution is 0.1: expected 0, as pose sensors have none"),
        (lambda: ContactSensor(resolution=0.1), r"resolution is 0.1: expected 0, as contact sensors have none"),
        (lambda: ContactSensor(ground="floor"), r"ground is 'floor': expected a finite number \[m\]"),
        (lambda: RateSensors(joints=3), r"joints = 3: expected names of joints, or None for all"),
        (lambda: HallSensors(joints=(1, 2)), r"joints = \(1, 2\): expected names of joints, or None for all"),
    ],
)
def test_other_sensors(make, message):
    with pytest.raises(EstimateError, match=message):
        make()


@pytest.mark.parametrize("kind", ["imu", "pose", "contact"])
def test_frames_of_sensors(crab, kind):
    with pytest.raises(EstimateError, match=rf"{kind} sensor on frame 'm3_' of crab: did you mean 'm3'\? valid: "):
        SENSORS[kind](frame="m3_").on(crab)
    with pytest.raises(EstimateError, match=rf"{kind} sensor on frame '' of crab: valid: "):
        SENSORS[kind]().on(crab)


@pytest.mark.parametrize("kind", list(SENSORS))
def test_sensors_on_what_is_no_robot(kind):
    with pytest.raises(
        EstimateError, match=rf"{kind} sensor on Assembly.*: expected a robot, a Mechanism, assembly.robot"
    ):
        SENSORS[kind]().on(mr.load("crab"))


def test_sensors_by_one_name(crab):
    assert HallSensors(joints="m0/hinge") == HallSensors(joints=["m0/hinge"]) == HallSensors(joints=("m0/hinge",))
    assert HallSensors(joints="m0/hinge").on(crab).size == 1


def test_sensors_on_a_robot(crab):
    with pytest.raises(EstimateError, match="joint 'm0/hing' of crab cannot be measured: did you mean 'm0/hinge'"):
        HallSensors(joints=("m0/hing",)).on(crab)
    stone = mr.Builder("stone")
    stone.body("b", np.eye(6), joint=mr.Free())
    with pytest.raises(EstimateError, match="stone has no joint to measure"):
        HallSensors().on(stone.build())


@pytest.mark.parametrize(
    ("noises", "message"),
    [
        (
            {"Q": np.eye(5)},
            r"Q has shape \(5, 5\): expected 2 variances \(positions, velocities\), 6 variances, or a matrix",
        ),
        ({"Q": 1.0}, r"Q has shape \(\): expected 2 variances"),
        ({"Q": (0.1, -1e-4)}, "Q has the eigenvalue -0.0001: expected a covariance, positive semi-definite"),
        ({"Q": np.diag([1.0, 1, 1, 1, 1, -1])}, "Q has the eigenvalue -1"),
        ({"Q": np.triu(np.ones((6, 6)))}, "Q is not symmetric"),
        ({"Q": (np.inf, 1.0)}, "Q has numbers that are not finite"),
        ({"Q": ("a", "b")}, "Q = .*: expected numbers"),
        ({"start": np.eye(3)}, r"start has shape \(3, 3\)"),
        ({"R": np.eye(2)}, r"R has shape \(2, 2\): expected one variance, 3 variances, or a matrix \(3, 3\)"),
        ({"R": -1.0}, "R has the eigenvalue -1"),
        ({"R": 0.0}, "the covariance of measurements has the eigenvalue 0: expected positive definite"),
        ({"sensors": HallSensors(noise=0.0, resolution=0.0)}, "give the sensors noise or a resolution"),
        ({"W": np.eye(3)}, r"W has shape \(3, 3\): expected a matrix with 6 rows"),
        ({"W": np.eye(6, 2), "Q": np.eye(3)}, r"Q has shape \(3, 3\): expected one variance, 2 variances"),
        ({"V": np.ones(3)}, r"V has shape \(3,\): expected a matrix with 3 rows"),
    ],
)
@pytest.mark.parametrize("recipe", [ExtendedKalmanFilter, UnscentedKalmanFilter])
def test_noises(crab, recipe, noises, message):
    with pytest.raises(EstimateError, match=message):
        Running(recipe(**noises), crab, np.zeros(3), np.zeros(3), 1e-3)


def test_states_and_times(crab):
    recipe, zero = ExtendedKalmanFilter(), np.zeros(3)
    for dt in (0.0, -1e-3, np.inf, np.nan, "fast", None):
        with pytest.raises(EstimateError, match=r"sample time .*: expected a positive finite number"):
            recipe.on(crab, dt)
    with pytest.raises(InputError, match=r"q has shape \(2,\)"):
        recipe.on(crab, 1e-3).start(np.zeros(2), zero)
    with pytest.raises(InputError, match=r"v has shape \(4,\)"):
        recipe.on(crab, 1e-3).start(zero, np.zeros(4))


def test_updates_that_fail_leave_no_trace(crab):
    zero, y = np.zeros(3), np.full(3, 0.1)
    recipe = ExtendedKalmanFilter(HallSensors(delay=1))
    estimator, clean = (Running(recipe, crab, zero, zero, 1e-3) for _ in range(2))
    with pytest.raises(
        EstimateError, match=r"a measurement array\(\[0., 0.\]\) of joint angles: expected .* of shape \(3,\)"
    ):
        estimator.update(0.0, zero, np.zeros(2))
    for k in range(3):
        with pytest.raises(EstimateError, match=r"a measurement .*inf"):
            estimator.update(k * 1e-3, zero, np.array([0.0, np.inf, 0.0]))
        for each in (estimator, clean):
            each.update(k * 1e-3, np.ones(3), y)
        with pytest.raises(
            EstimateError, match=f"an update at 0.005 s after one at {k * 1e-3} s: expected one every 0.001 s"
        ):
            estimator.update(0.005, zero, None)
        with pytest.raises(InputError, match=r"tau has shape \(2,\)"):
            estimator.update((k + 1) * 1e-3, np.zeros(2), None)
    for found, expected in zip(estimator.belief, clean.belief, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_bands_and_reports(crab):
    for degrees, runs, level in ((0, 1, 0.95), (6, 0, 0.95), (6, 1, 1.0)):
        with pytest.raises(EstimateError, match="a band for"):
            band(degrees, runs, level)
    with pytest.raises(EstimateError, match=r"expected one state, \(3,\) and \(3,\)"):
        observability(crab, np.zeros((2, 3)), np.zeros(3), np.zeros(3), 1e-3)


def test_recipes_on_what_does_not_fit(crab):
    with pytest.raises(
        EstimateError, match=r"ExtendedKalmanFilter on Assembly.*: expected a robot, a Mechanism, assembly.robot"
    ):
        ExtendedKalmanFilter().on(mr.load("crab"), 1e-3)
    with pytest.raises(EstimateError, match="model 'crab': expected a Mechanism"):
        UnscentedKalmanFilter(model="crab")
    with pytest.raises(EstimateError, match="model crane has nq = 2, nv = 2: expected 3, 3, as crab has"):
        ExtendedKalmanFilter(model=mr.load("crane").robot()).on(crab, 1e-3)
    with pytest.raises(
        EstimateError, match="has the joints m2/hinge, m0/hinge, m4/hinge: expected those of crab in its"
    ):
        ExtendedKalmanFilter(model=mr.load("crab").mechanism(base="m2")).on(mr.load("crab").mechanism(base="m0"), 1e-3)
    for sensors in ("hall", None, ["hall"], HallSensors):
        with pytest.raises(EstimateError, match=r"sensor .*: expected one of mr.ContactSensor\(...\), mr.IMU"):
            ExtendedKalmanFilter(sensors).on(crab, 1e-3)
    with pytest.raises(EstimateError, match="sensors with delays of none: expected one or more, all equally late"):
        ExtendedKalmanFilter([]).on(crab, 1e-3)
    with pytest.raises(
        EstimateError, match="delays joint angles 1, joint rates 0: expected one or more, all equally late"
    ):
        ExtendedKalmanFilter([HallSensors(delay=1), RateSensors()]).on(crab, 1e-3)


@pytest.mark.parametrize(
    ("sensor", "shape"),
    [
        (RateSensors(), (3,)),
        (IMU(frame="m3"), (6,)),
        (PoseSensor(frame="m3"), (4, 4)),
        (ContactSensor(frame="m3"), (1,)),
    ],
)
def test_measurements_that_do_not_fit(crab, sensor, shape):
    estimator = Running(ExtendedKalmanFilter(sensor), crab, np.zeros(3), np.zeros(3), 1e-3)
    for y in (np.zeros(2), "up", np.full(shape, np.inf)):
        with pytest.raises(EstimateError) as refusal:
            estimator.update(0.0, np.zeros(3), (y,))
        assert f"of {sensor.kind}: expected finite numbers, or NaN if lost, of shape {shape}" in str(refusal.value)
    with pytest.raises(
        EstimateError, match=f"a measurement of 2 readings: expected a tuple of one for each sensor, {sensor.kind}"
    ):
        estimator.update(0.0, np.zeros(3), (np.zeros(shape), np.zeros(shape)))
