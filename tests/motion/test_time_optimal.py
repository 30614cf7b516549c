"""Time-optimal motion: closed forms, TOPP-RA, limits checked densely, friction, rotors, and what is refused."""

import pickle

import numpy as np
import pytest
import toppra
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq
from toppra import algorithm, constraint

import modurob as mr
from modurob.errors import ControlError
from modurob.judges.pinocchio import PinocchioTwin
from modurob.motion import Trajectory, time_optimal
from modurob.motion.fastest import reachability
from modurob.motion.fastest.compiled import passes
from modurob.motion.fastest.limits import Limits, Model, Problem, highest_between
from modurob.motion.fastest.stretch import Stretch
from modurob.motion.fastest.timing import PLACES
from modurob.spatial import inertia, se3
from tests.robots import random_joint

toppra.setup_logging("ERROR")
# how far a limit may be passed, relative to it
PASSED = 1e-6


def random_arm(rng, friction=0.0, damping=0.0):
    """A chain of two to six revolute and sliding joints with rotors, and friction if wanted."""
    builder, n = mr.Builder("arm", gravity=rng.normal(size=3) * 5), int(rng.integers(2, 7))
    for i in range(n):
        own = mr.JointProperties(
            armature=rng.uniform(0, 0.3), friction=friction * rng.uniform(0, 2), damping=damping * rng.uniform(0, 2)
        )
        joint = random_joint(rng, "prismatic" if rng.random() < 0.2 else "revolute")
        parent = f"b{i - 1}" if i else "world"
        builder.body(
            f"b{i}", inertia.random(rng), parent=parent, joint=joint, at=se3.random(rng, reach=0.4), properties=own
        )
    return builder.build()


def random_task(rng, robot, friction=0.0):
    """Points, and limits that the robot can hold itself within."""
    points = rng.normal(size=(5, robot.nv))
    most = np.abs(robot.gravity_forces(rng.uniform(-3, 3, (500, robot.nv)))).max(axis=0)
    torque = most * rng.uniform(1.5, 4, robot.nv) + 2 + 4 * friction
    return points, rng.uniform(2, 6, robot.nv), rng.uniform(10, 60, robot.nv), torque


def drive_torques(robot, q, v, vdot):
    """What the drives give, friction and all."""
    coulomb = np.zeros(robot.nv)
    for row in robot.forces:
        if isinstance(row.force, mr.Friction):
            coulomb[robot.joints[row.joint].v_slice] += row.force.coulomb
    return robot.inverse_dynamics(q, v, vdot) - robot.passive_forces(q, v) + coulomb * np.sign(v)


def used(robot, motion, velocity, acceleration, torque, samples=20011):
    """The largest part of its limits that a motion uses, and how much of them it uses at each time."""
    t = np.linspace(0, motion.duration, samples)[1:-1]
    q, v, vdot = motion(t)
    tau = drive_torques(robot, q, v, vdot)
    parts = [np.abs(v) / velocity, np.abs(vdot) / acceleration, np.abs(tau) / torque]
    each = np.max([x.max(axis=1) for x in parts], axis=0)
    return each.max(), each


def duration_by_toppra(robot, points, velocity, acceleration, torque, coulomb=None):
    """The least time by TOPP-RA, with the inverse dynamics of Pinocchio."""
    twin = PinocchioTwin(robot)
    way = np.append(0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1)))
    path = toppra.SplineInterpolator(way, points, bc_type="natural")
    both = [np.stack([-x, x], axis=1) for x in (velocity, acceleration, torque)]
    dry = np.zeros(robot.nv) if coulomb is None else coulomb
    limits = [
        constraint.JointVelocityConstraint(both[0]),
        constraint.JointAccelerationConstraint(both[1]),
        constraint.JointTorqueConstraint(lambda *state: twin.inverse_dynamics(*state), both[2], dry),
    ]
    for limit in limits[1:]:
        limit.set_discretization_type(constraint.DiscretizationType.Interpolation)
    found = algorithm.TOPPRA(
        limits, path, gridpoints=np.linspace(0, way[-1], 501), parametrizer="ParametrizeConstAccel"
    )
    return found.compute_trajectory().duration


def compare(rng, friction=0.0):
    """Our time by theirs less one, and how far our limits are passed."""
    robot = random_arm(rng, friction)
    points, *limits = random_task(rng, robot, friction)
    ours = time_optimal(robot, points, velocity=limits[0], acceleration=limits[1], torque=limits[2])
    coulomb = np.zeros(robot.nv)
    for row in robot.forces:
        coulomb[robot.joints[row.joint].v_slice] += row.force.coulomb
    theirs = duration_by_toppra(robot, points, *limits, coulomb)
    return ours.duration / theirs - 1, used(robot, ours.trajectory, *limits)[0] - 1


@pytest.mark.parametrize("friction", [0.0, 1.0])
def test_it_takes_the_time_of_toppra_and_keeps_its_limits(friction, rng):
    for _ in range(3):
        longer, passed = compare(rng, friction)
        assert abs(longer) < 1e-3
        assert passed < PASSED


@pytest.mark.judge
@pytest.mark.parametrize("friction", [0.0, 1.0])
def test_it_takes_the_time_of_toppra_on_a_hundred_paths(friction):
    rng = np.random.default_rng(2)
    found = np.array([compare(rng, friction) for _ in range(100)])
    assert np.abs(found[:, 0]).max() < 0.01
    assert found[:, 1].max() < PASSED


def paths_that_stand(rng, points):
    """Paths whose first derivatives vanish at their ends, and one that is smooth there alone."""
    times = np.arange(len(points)) * rng.uniform(0.3, 2)
    yield Trajectory.minimum_jerk(times, points)
    yield Trajectory.quintic(points[0], points[1], 1.0)
    yield from (Trajectory.spline(times, points, continuity=k) for k in (6, 2))


def assert_exact_extremes(seeds):
    """Of velocities and accelerations, which are polynomials of time in each interval, and torques where they are sampled."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        robot = random_arm(rng)
        points, velocity, acceleration, torque = random_task(rng, robot)
        slow = velocity * rng.choice([0.1, 0.3, 1.0])
        path = list(paths_that_stand(rng, points))[rng.integers(4)]
        motion = time_optimal(robot, path, velocity=slow, acceleration=acceleration, torque=torque).trajectory
        assert (motion.largest(1) / slow).max() < 1 + PASSED
        assert (motion.largest(2) / acceleration).max() < 1 + PASSED
        assert used(robot, motion, slow, acceleration, torque)[0] < 1 + PASSED


def test_nothing_is_passed_between_samples():
    # of random paths those on which samples missed a speed, where rounding spoilt the end of a path, where the peak of an
    # interval lay between the places that its rows look at, and where the zeros of q' at the end came apart by rounding
    assert_exact_extremes((18, 13, 21, 81))


def test_a_zero_of_high_order_is_one_point_of_the_grid():
    """Rounding splits it; turns that are near each other, and those of one coordinate at equal distances, remain."""
    ways = np.random.default_rng(0).normal(size=(5, 4))
    smooth = Trajectory.spline(np.arange(5.0), ways, continuity=6)
    s = Stretch.of(smooth, 500).s
    assert np.diff(s).min() > 0.01 * np.diff(s).max()
    # q' = (s - 0.6) (s - 0.8) (s - 0.8 - 1e-3)
    rate = np.poly([0.6, 0.8, 0.8 + 1e-3])
    turning = Trajectory([0.0, 1.0], np.polyint(rate)[:, None, None])
    s = Stretch.of(turning, 10).s
    for turn in (0.6, 0.8, 0.8 + 1e-3):
        assert np.abs(s - turn).min() < 1e-8


def test_ends_where_the_path_stands_cost_little():
    """A cubic, a quintic and a septic from rest to rest of one mass take the time of the straight line, 2 sqrt(way / a)."""
    for rate, longer in (
        ([-6, 6, 0], 3.5e-3),
        ([30, -60, 30, 0, 0], 3.5e-3),
        ([-140, 420, -420, 140, 0, 0, 0], 4.5e-3),
    ):
        path = Trajectory([0.0, 1.0], np.polyint(rate)[:, None, None])
        assert 1 <= time_optimal(slider(), path, torque=6.0).duration / (2 * np.sqrt(1 / 3.0)) < 1 + longer


@pytest.mark.judge
@pytest.mark.parametrize("piece", range(4))
def test_nothing_is_passed_on_paths_that_stand_at_their_ends(piece):
    assert_exact_extremes(range(50 * piece, 50 * piece + 50))


def slider(**own):
    """A mass of 2 kg on a slide along x."""
    builder = mr.Builder("slider")
    builder.body(
        "mass", inertia.point(2.0, (0, 0, 0)), joint=mr.Prismatic((1, 0, 0)), properties=mr.JointProperties(**own)
    )
    return builder.build()


def test_a_mass_on_a_slide_takes_as_long_as_it_must():
    """Full force half of the way and back; with a limit of velocity a trapezoid; with a rotor heavier by it."""
    way = Trajectory.cubic(0.0, 1.5, 1.0, 1.5, 1.5)
    line = Trajectory([0.0, 1.5], np.array([[[1.0]], [[0.0]]]))
    assert time_optimal(slider(), line, torque=6.0).duration == pytest.approx(2 * np.sqrt(1.5 / 3.0), rel=1e-5)
    fast = time_optimal(slider(), line, torque=6.0, velocity=1.0)
    assert fast.duration == pytest.approx(1.5 + 1 / 3, rel=1e-5)
    assert time_optimal(slider(armature=1.0), line, torque=6.0).duration == pytest.approx(
        2 * np.sqrt(1.5 / 2), rel=1e-5
    )
    # however the path is written
    bent = Trajectory(way.breaks, way.coefficients[..., None])
    assert time_optimal(slider(), bent, torque=6.0).duration == pytest.approx(2 * np.sqrt(0.5), rel=1e-5)
    # in motion at its ends, ds/dt
    assert time_optimal(
        slider(), line, torque=6.0, velocity=1.001, start_speed=1.0, end_speed=1.0
    ).duration == pytest.approx(1.5, rel=2e-3)


def test_friction_slows_down_and_helps_to_brake():
    line = Trajectory([0.0, 1.5], np.array([[[1.0]], [[0.0]]]))
    found = time_optimal(slider(friction=2.0), line, torque=6.0)
    # a = (F - C)/m up to v, (F + C)/m down: v²/2 (1/a + 1/b) = 1.5
    a, b = 2.0, 4.0
    v = np.sqrt(3.0 / (1 / a + 1 / b))
    assert found.duration == pytest.approx(v / a + v / b, rel=1e-5)
    # viscous: m v' = F - d v, then -F - d v, in closed form
    m, d, F = 2.0, 3.0, 6.0

    def over(t):
        """How far beyond the end it stops, if it brakes at t."""
        fast = F / d * (1 - np.exp(-d * t / m))
        up = F / d * t - m / d * fast
        brake = m / d * np.log(1 + d * fast / F)
        return up + m / d * fast - F / d * brake - 1.5, t + brake

    t = brentq(lambda t: over(t)[0], 0.1, 5.0)
    # torques are constant in no interval, but only its ends and its middle are looked at: first order in their length
    for intervals, close in ((500, 2e-3), (2000, 5e-4)):
        found = time_optimal(slider(damping=d), line, torque=F, intervals=intervals)
        assert found.duration == pytest.approx(over(t)[1], rel=close)
        assert found.duration > over(t)[1]


def test_with_viscous_friction_a_limit_is_met_all_the_time(rng):
    for _ in range(3):
        robot = random_arm(rng, 1.0, 1.0)
        points, *limits = random_task(rng, robot, 1.0)
        found = time_optimal(robot, points, velocity=limits[0], acceleration=limits[1], torque=limits[2])
        most, each = used(robot, found.trajectory, *limits)
        assert most < 1 + PASSED
        # bang-bang, but for a few intervals where it changes from one limit to another
        assert np.mean(each > 0.99) > 0.95


def test_with_stribeck_friction_the_limits_hold():
    robot = slider(friction=2.0, static=3.0, stribeck=0.1)
    found = time_optimal(robot, [[0.0], [1.0]], torque=6.0).trajectory
    t = np.linspace(0, found.duration, 5001)[1:-1]
    _, v, vdot = found(t)
    tau = 2.0 * vdot[:, 0] + (2.0 + np.exp(-np.abs(v[:, 0]) / 0.1)) * np.sign(v[:, 0])
    assert np.abs(tau).max() < 6.0 * (1 + PASSED)
    assert np.mean(np.abs(tau) > 5.94) > 0.97


def test_the_motion_is_on_its_path_and_a_reference(rng):
    robot = mr.load("crab").robot()
    points = rng.uniform(0.5, 1.0, (4, 3))  # where it can hold itself
    found = time_optimal(robot, points, acceleration=30.0)
    way = np.append(0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1)))
    t = np.linspace(0, found.duration, 500)
    s = found.progress(t).position
    np.testing.assert_allclose(found.trajectory(t).position, CubicSpline(way, points, bc_type="natural")(s), atol=1e-10)
    assert np.all(np.diff(s) > 0)
    np.testing.assert_allclose(found.trajectory(0.0).velocity, 0, atol=1e-12)
    np.testing.assert_allclose(found.trajectory(found.duration).velocity, 0, atol=1e-6)
    assert np.all(np.array(found.speed) <= np.array(found.highest) * (1 + 1e-9))
    # a value, as all trajectories are
    twin = pickle.loads(pickle.dumps(found))
    assert twin == found
    assert hash(twin) == hash(found)
    law = mr.ComputedTorque(400.0, 40.0, found.trajectory)
    run = mr.simulate(robot, points[0], duration=np.ceil(found.duration * 1e3) / 1e3, controller=law)
    np.testing.assert_allclose(run.q[-1], points[-1], atol=5e-3)
    assert np.abs(run.tau).max() <= 7.0 + 1e-9


ARM = mr.load("double_pendulum").robot()
WAY = [[0.0, 0.0], [1.0, 0.5]]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: time_optimal("arm", WAY), "time_optimal on 'arm': expected a robot"),
        (
            lambda: time_optimal(mr.load("crab").mechanism(floating=True), np.zeros((2, 10))),
            "it has quaternions: expected",
        ),
        (lambda: time_optimal(ARM, [0.0, 1.0]), r"path of shape \(2,\): expected points, \(k, nv\)"),
        (lambda: time_optimal(ARM, [[0.0], [1.0]]), r"path of shape \(1,\): expected \(2,\), the coordinates"),
        (lambda: time_optimal(ARM, [[0, 0], [0, 0], [1, 1]]), "points 0 and 1 coincide"),
        (lambda: time_optimal(ARM, WAY, torque="all"), "torque = 'all': expected 'effort', numbers or None"),
        (
            lambda: time_optimal(ARM, WAY, torque=[1, 2, 3]),
            r"torque limit has shape \(3,\): expected one number or \(2,\)",
        ),
        (lambda: time_optimal(ARM, WAY, acceleration=-1.0), "acceleration limit -1.0: expected more than zero"),
        (
            lambda: time_optimal(ARM, WAY, acceleration=1.0, start_speed=-1.0),
            "start_speed = -1.0: expected zero or more",
        ),
        (
            lambda: time_optimal(ARM, WAY, torque=None, acceleration=1.0, start_speed=99.0),
            "start_speed = 99: expected 0 to .*, from which the end",
        ),
        (
            lambda: time_optimal(ARM, WAY, acceleration=1.0, intervals=1),
            "intervals = 1: expected a whole number, 2 or more",
        ),
        (
            lambda: time_optimal(mr.load("crab").robot(), [[0, 0, 0], [0.1, 0.1, 0.1]], torque=2.0, velocity=1.0),
            r"no motion within the limits near s = [0-9.]*, where at rest m0/hinge needs 7\.\d+ of 2 N m: expected",
        ),
        (
            lambda: time_optimal(ARM, WAY, torque=None, velocity=2.0),
            "time_optimal on double_pendulum: nothing bounds its accelerations: expected acceleration=",
        ),
        (
            lambda: time_optimal(mr.load("crab").robot(), [[0, 0, 0], [45.0, 30, 30]], acceleration=9.0),
            r"path: m0/hinge at 45 is beyond its limits, -1.5.* to 1.5.* \(45 degrees are 0.785398 rad\): expected",
        ),
        (
            lambda: time_optimal(mr.load("crab").robot(), [[0, 0, 0], [2.0, 0, 0]], acceleration=9.0),
            r"path: m0/hinge at 2 is beyond its limits, -1.5[0-9]* to 1.5[0-9]*: expected a path within them",
        ),
        # too weak to hold itself at the start, but not to swing through
        (
            lambda: time_optimal(mr.load("crab").robot(), [[0, 0, 0], [1, 1, 1]], torque=2.0),
            "start_speed = 0: expected .* to .*, from which the end is reached; at rest m0/hinge needs 7.21 of 2 N m there",
        ),
    ],
)
def test_what_cannot_be_is_refused(make, words):
    with pytest.raises(ControlError, match=words):
        make()


def test_compiled_passes_equal_their_definition(rng):
    """On limits of random arms, where the end is reached, and where it is not since no torque is left."""
    for seed in range(4):
        robot = random_arm(np.random.default_rng(seed))
        points, velocity, acceleration, torque = random_task(np.random.default_rng(seed), robot)
        spline = CubicSpline(np.arange(5.0), points, bc_type="natural")
        stretch = Stretch.of(Trajectory(spline.x, spline.c), 60)
        model = Model(robot, Limits(velocity, acceleration, torque * (0.3 if seed == 3 else 1.0)))
        h = np.diff(stretch.s)
        rows = Problem(model, stretch.at(PLACES), PLACES, h).rows(np.zeros((len(h), 3)), np.ones(len(h)))
        rows = rows.without_falls(h) if seed == 1 else rows  # one lower bound more
        ours, theirs = passes(rows, h).controllable(0.0, 1e6), reachability._controllable(rows, h, 0.0, 1e6)
        assert ours[1] == theirs[1]
        assert (ours[1] >= 0) == (seed == 3)
        np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-9, atol=1e-12)
        if ours[1] < 0:
            speeds = passes(rows, h).fastest_speeds(ours[0], 0.0), reachability._fastest_speeds(rows, h, ours[0], 0.0)
            for own, other in zip(*speeds, strict=True):
                np.testing.assert_allclose(own, other, rtol=1e-9, atol=1e-9)


def test_numpy_alone_takes_the_same_time(monkeypatch, rng):
    robot = random_arm(rng)
    points, velocity, acceleration, torque = random_task(rng, robot)
    limits = {"velocity": velocity, "acceleration": acceleration, "torque": torque}
    compiled = time_optimal(robot, points, intervals=60, **limits).duration
    monkeypatch.setattr(reachability, "passes", lambda rows, h: None)
    assert time_optimal(robot, points, intervals=60, **limits).duration == pytest.approx(compiled, rel=1e-9)


def test_peaks_between_samples():
    """Of cosines whose peaks lie between nine samples, also next to the ends: the samples alone are short of them."""
    t, at = np.linspace(0, 1, 9), np.array([0.03, 0.31, 0.5, 0.72, 0.97])
    waves = -np.cos(0.1 * (t[:, None] - at)) * np.array([1.0, 1.1, 1.2, 1.3, 1.4])
    assert highest_between(waves) == pytest.approx(1.4, rel=1e-9)
    assert highest_between(waves[:, :2]) == pytest.approx(1.1, rel=1e-9)
    assert np.abs(waves).max() < 1.4 * (1 - 1e-6)
    assert highest_between(np.stack([t, 1 - t], axis=-1)) == 1.0
