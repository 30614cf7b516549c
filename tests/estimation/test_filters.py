"""What holds for every filter: pure steps, in batches, saved and resumed, with a model and any sensors of their own."""

import pickle

import numpy as np
import pytest

import modurob as mr
from modurob.estimation import (
    FILTERS,
    IMU,
    ContactSensor,
    ExtendedKalmanFilter,
    HallSensors,
    PoseSensor,
    RateSensors,
    UnscentedKalmanFilter,
    band,
)
from modurob.simulation import Measured
from modurob.spatial import inertia
from tests.estimation.runs import Running, advanced, followed, true_runs
from tests.robots import random_state

DT = 5e-3
EVERY = (
    HallSensors(),
    RateSensors(),
    IMU(frame="m3"),
    PoseSensor(frame="m5"),
    ContactSensor(frame="m4", ground=-100.0),  # never touched: nothing seen
)


@pytest.fixture(params=sorted(FILTERS))
def recipe(request):
    return FILTERS[request.param](EVERY, Q=(1e-10, 1e-5), start=(1e-2, 1e-2))


@pytest.fixture
def crab():
    return mr.load("crab").robot()


def load_on(robot):
    """The robot with half a kilogram more at its end."""
    return robot.with_payload("m3", inertia.box(0.5, (0.1, 0.1, 0.1)))


def readings(rng, robot, estimator, shape, samples=4):
    """Torques and what arrives from the sensors of a filter, along any states."""
    memory, found = estimator.start(np.zeros((*shape, robot.nq)), np.zeros((*shape, robot.nv))), []
    for k in range(samples):
        q, v, vdot, tau = rng.normal(size=(4, *shape, robot.nv)) * 0.3
        memory, y = estimator.measure(memory, k * DT, q, v, vdot, rng)
        found.append((tau, y))
    return found


def updates(estimator, memory, arrived, first=0):
    estimates = []
    for k, (tau, y) in enumerate(arrived):
        memory, estimate = estimator.update(memory, (first + k) * DT, tau, y)
        estimates.append(estimate)
    return memory, estimates


def beliefs_close(one, other, atol=0.0):
    for found, expected in zip(one, other, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


def test_all_filters_are_here():
    assert dict(FILTERS) == {"ekf": ExtendedKalmanFilter, "ukf": UnscentedKalmanFilter}


def test_batches_are_their_runs(recipe, crab, rng):
    estimator, shape = recipe.on(crab, DT), (2, 3)
    arrived = readings(rng, crab, estimator, shape)
    together, _ = updates(estimator, estimator.start(np.zeros((*shape, 3)), np.zeros((*shape, 3))), arrived)
    assert together.belief.P.shape == (*shape, 6, 6)
    for k in np.ndindex(shape):
        own = [(tau[k], tuple(y[k] for y in each)) for tau, each in arrived]
        alone, _ = updates(estimator, estimator.start(np.zeros(3), np.zeros(3)), own)
        beliefs_close([x[k] for x in together.belief], alone.belief, 1e-9)


def test_an_update_changes_nothing_it_is_given(recipe, crab, rng):
    estimator = recipe.on(crab, DT)
    arrived = readings(rng, crab, estimator, ())
    memory, _ = updates(estimator, estimator.start(np.zeros(3), np.zeros(3)), arrived[:2])
    before = pickle.dumps((memory, arrived))
    first, again = (estimator.update(memory, 2 * DT, *arrived[2]) for _ in range(2))
    assert pickle.dumps((memory, arrived)) == before
    assert pickle.dumps(first) == pickle.dumps(again)


@pytest.mark.parametrize("delay", [0, 2])
@pytest.mark.parametrize("kind", sorted(FILTERS))
def test_a_saved_filter_goes_on_where_it_was(kind, delay, crab, rng):
    """Measurements on their way are saved with it."""
    recipe = FILTERS[kind]([HallSensors(delay=delay), IMU(frame="m3", delay=delay)], Q=(1e-10, 1e-5))
    estimator = recipe.on(crab, DT)
    states = [(rng.normal(size=3), *rng.normal(size=(3, 3))) for _ in range(6)]

    def go_on(estimator, memory, part, first, seed):
        noise = np.random.default_rng(seed)
        for k, (q, v, vdot, tau) in enumerate(part, first):
            memory, y = estimator.measure(memory, k * DT, q, v, vdot, noise)
            memory, _ = estimator.update(memory, k * DT, tau, y)
        return memory

    half = go_on(estimator, estimator.start(np.zeros(3), np.zeros(3)), states[:3], 0, 1)
    saved, resumed = pickle.loads(pickle.dumps((estimator, half)))
    assert saved == estimator
    assert hash(saved) == hash(estimator)
    assert len(resumed.on_the_way) == delay
    beliefs_close(go_on(saved, resumed, states[3:], 3, 2).belief, go_on(estimator, half, states[3:], 3, 2).belief)


def test_recipes_are_equal_by_what_they_say(recipe):
    twin = pickle.loads(pickle.dumps(recipe))
    assert twin == recipe
    assert hash(twin) == hash(recipe)
    assert recipe != type(recipe)()
    assert recipe != "a filter"
    assert type(recipe)(Q=np.eye(6)) == type(recipe)(Q=np.eye(6))


def test_the_model_is_what_a_filter_believes(recipe, crab, rng):
    """On a robot that carries a load a filter with another model is the other's filter, but for what the sensors see."""
    loaded = load_on(crab)
    believing = type(recipe)(recipe.sensors, Q=recipe.Q, start=recipe.start, model=crab).on(loaded, DT)
    plain, true = recipe.on(crab, DT), recipe.on(loaded, DT)
    arrived = readings(rng, crab, plain, ())
    ends = [updates(x, x.start(np.zeros(3), np.zeros(3)), arrived)[0].belief for x in (believing, plain, true)]
    beliefs_close(ends[0], ends[1])
    assert np.abs(ends[2].v - ends[1].v).max() > 1e-3


def test_sensors_see_the_robot_that_moves(rng):
    """The model has another tool: what is measured is where the true one is."""
    builder = [mr.Builder(name) for name in ("model", "plant")]
    for b, length in zip(builder, (0.0, 1.0), strict=True):
        b.body("b", inertia.point(1.0, (0, 0, 1)), joint=mr.Revolute((1, 0, 0)))
        b.frame("tool", "b", np.block([[np.eye(3), np.array([[0.0], [0.0], [length]])], [np.zeros((1, 3)), 1.0]]))
    model, plant = (b.build() for b in builder)
    estimator = ExtendedKalmanFilter(PoseSensor(0.0, frame="tool", turn_noise=0.0), R=1e-6, model=model).on(plant, DT)
    _, (seen,) = estimator.measure(estimator.start(np.zeros(1), np.zeros(1)), 0.0, *np.zeros((3, 1)), rng)
    np.testing.assert_allclose(seen[:3, 3], [0, 0, 1])


@pytest.mark.parametrize("delay", [0, 1, 3])
def test_accelerations_are_those_under_the_torques_of_their_time(delay, crab):
    """A filter that knows the state exactly expects exactly what an IMU reads, late or not, while torques change."""
    robot = crab.ideal()
    quiet = IMU(0.0, frame="m3", accelerometer_noise=0.0, delay=delay)
    q, v = np.array([0.3, -0.2, 0.1]), np.array([0.5, 1.0, -0.7])
    running = Running(ExtendedKalmanFilter(quiet, Q=(0.0, 0.0), R=1e-4, start=(1e-6, 1e-6)), robot, q, v, DT)
    tau, rng, seen = np.array([1.0, -1.0, 0.5]), np.random.default_rng(0), 0
    for k in range(8):
        y = running.measured(k * DT, q, v, rng, robot.forward_dynamics(q, v, tau))
        running.update(k * DT, tau, y)
        if y is not None:
            seen += 1
            np.testing.assert_allclose(running.innovation.e, 0, atol=1e-9)
        tau = 3 * rng.normal(size=3)
        q, v = advanced(robot, q, v, tau, DT)
    assert seen == 8 - delay


@pytest.mark.parametrize("kind", sorted(FILTERS))
def test_with_all_sensors_a_floating_crab_knows_how_wrong_it_is(kind):
    rng = np.random.default_rng(5)
    robot = mr.load("crab").mechanism(floating=True).ideal()
    runs, samples = 40, 12
    first = random_state(rng, robot)[:2]
    Q, start = np.repeat([1e-10, 1e-6], robot.nv), np.repeat([1e-4, 1e-3], robot.nv)
    truth = true_runs(rng, robot, first, runs, samples, DT, Q, start)
    recipe = FILTERS[kind]([HallSensors(), RateSensors(), IMU(frame="m3"), PoseSensor(frame="m5")], Q=Q, start=start)
    filtered = followed(rng, robot, recipe, first, truth, DT)
    low, high = band(2 * robot.nv, runs, 0.999)
    assert low < filtered.nees.mean() < high
    # and it is better than what it started with, of pose and drift too
    assert np.abs(filtered.dx[-1][:, :6]).max() < 5e-3
    assert np.sqrt((filtered.dx[-1] ** 2).mean()) < 0.3 * np.sqrt(start.mean())


def test_a_foot_on_the_ground_tells_the_height():
    robot = mr.load("crab").mechanism(floating=True)
    sensor = ContactSensor(1e-3, frame="m3", ground=0.5)
    q, v = robot.neutral(), np.zeros(robot.nv)
    q[2] = 0.5 - robot.frame_pose(q, "m3")[2, 3]
    believed = np.array(q)
    believed[2] += 0.005
    running = Running(ExtendedKalmanFilter(sensor, start=(1e-4, 1e-2)), robot, believed, v, DT)
    rng = np.random.default_rng(0)
    running.update(0.0, v, running.measured(0.0, q, v, rng))
    height = robot.frame_pose(running.belief.q, "m3")[2, 3]
    assert height == pytest.approx(0.5, abs=2e-4)
    J = np.concatenate([robot.jacobian(running.belief.q, "m3")[2], np.zeros(robot.nv)])
    assert np.sqrt(J @ running.belief.P @ J) == pytest.approx(1e-3, rel=0.02)
    # in the air it learns nothing
    q[2] += 1.0
    assert running.measured(DT, q, v, rng) is None


def test_a_robot_is_held_from_its_estimate(recipe):
    """In a simulation: friction, stops and effort as the robot has them, rates from the filter."""
    # on earth its drives are too weak to lift all of it
    crab = mr.load("crab").mechanism(gravity=(0, 0, -3.71))
    law = mr.ComputedTorque(100.0, 20.0, 0.2, sample_time=DT)
    run = mr.simulate(crab, duration=1.0, controller=law, estimator=recipe)
    assert run.status.ok, run.status
    np.testing.assert_allclose(run.q[-1], 0.2, atol=0.02)
    again = mr.simulate(crab, duration=0.1, controller=law, estimator=pickle.loads(pickle.dumps(recipe)))
    np.testing.assert_array_equal(run.q[: len(again.q)], again.q)


def test_what_comes_back_is_what_laws_take(recipe, crab):
    estimator = recipe.on(crab, DT)
    _, estimate = estimator.update(estimator.start(np.zeros(3), np.zeros(3)), 0.0, np.zeros(3), None)
    assert isinstance(estimate, Measured)


@pytest.mark.parametrize("kind", sorted(FILTERS))
def test_a_robot_on_the_ground_is_watched_as_one_in_the_air(kind):
    """Explicit steps of a millisecond cannot carry contacts: with them in the model estimates were not finite after ten steps."""
    standing = mr.Assembly.single("m0", "backbone").mechanism(floating=True).on_ground()
    seen = FILTERS[kind](PoseSensor(frame="m0"), Q=(0.0, 1e-2))
    run = mr.simulate(standing, duration=0.1, estimator=seen, tick=2e-3)
    assert run.status.ok
    # in the air it would fall by 0.02 m/s a sample; the height is measured to a millimetre
    assert np.abs(run.q_estimate - run.q).max() < 5e-3
    assert np.abs(run.v_estimate - run.v).max() < 0.5
    free = mr.Assembly.single("m0", "backbone").mechanism(floating=True)
    assert mr.simulate(
        standing, duration=0.1, estimator=FILTERS[kind](PoseSensor(frame="m0"), Q=(0.0, 1e-2), model=free), tick=2e-3
    ).q_estimate == pytest.approx(run.q_estimate, abs=0)
