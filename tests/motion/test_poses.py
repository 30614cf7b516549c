"""Motions of a frame: paths, their exact derivatives, limits, and values."""

import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from modurob.errors import ControlError
from modurob.motion import PATHS, TRAJECTORIES, PoseTrajectory, Trajectory
from modurob.motion.paths import Circle, Line, Poses, Screw
from modurob.motion.turning import Jet, power, squad, still
from modurob.spatial import quaternion, se3, so3


def every(rng):
    """One of each kind, with a progress of another."""
    X = se3.random(rng, (6,))
    curve = Trajectory.s_curve(0.0, 1.0, 0.8, 2.0, 10.0)
    return {
        "line": PoseTrajectory.line(X[0], X[1], 2.0),
        "circle": PoseTrajectory.circle(X[0], X[1, :3, 3], X[2, :3, 3], curve, angle=5.0),
        "circle without turning": PoseTrajectory.circle(X[0], X[1, :3, 3], X[2, :3, 3], 1.0, turning=False),
        "screw": PoseTrajectory.screw(X[0], X[1], curve),
        "poses": PoseTrajectory.through(X, 3.0),
    }


KINDS = ("line", "circle", "circle without turning", "screw", "poses")


@pytest.mark.parametrize("kind", KINDS)
def test_twists_are_the_derivatives_of_poses(kind, rng):
    motion, h = every(rng)[kind], 1e-5
    t = rng.uniform(0.02, 0.98, (7, 5)) * motion.duration
    before, now, after = motion(t - h), motion(t), motion(t + h)
    assert now.pose.shape == (7, 5, 4, 4)
    size = 1 + np.abs(now.acceleration).max()
    np.testing.assert_allclose(se3.log(se3.inverse(before.pose) @ after.pose) / (2 * h), now.twist, atol=1e-6 * size)
    np.testing.assert_allclose((after.twist - before.twist) / (2 * h), now.acceleration, atol=1e-5 * size)
    # one time, many times
    one = motion(float(t[2, 3]))
    for a, b in zip(one, now, strict=True):
        np.testing.assert_allclose(a, b[2, 3], atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_they_are_values_at_rest_at_their_ends(kind, rng):
    motion = every(rng)[kind]
    twin = pickle.loads(pickle.dumps(motion))
    assert twin == motion
    assert hash(twin) == hash(motion)
    assert motion != motion.slowed(2.0)
    assert len({motion, twin, motion.delayed(1.0)}) == 2
    for t in (-1.0, motion.duration + 1.0):
        assert not motion(t).twist.any()
    np.testing.assert_allclose(motion(-1.0).pose, motion(0.0).pose)
    np.testing.assert_allclose(motion.delayed(2.0)(3.0).pose, motion(1.0).pose, atol=1e-12)
    slow = motion.slowed(3.0)(1.5)
    np.testing.assert_allclose(slow.twist, motion(0.5).twist / 3, atol=1e-9)
    np.testing.assert_allclose(slow.acceleration, motion(0.5).acceleration / 9, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_limits_are_kept_and_met(kind, rng):
    motion = every(rng)[kind]
    limits = {"speed": 0.3, "acceleration": 0.4, "turn_rate": 0.8, "turn_acceleration": 0.9}
    kept = motion.within(**limits)
    t = np.unique(np.concatenate([np.linspace(0, kept.duration, 20001), kept.progress.breaks]))
    x = kept(t)
    speed, rate = (np.linalg.norm(x.twist[:, part], axis=1) for part in (slice(3), slice(3, 6)))
    linear = x.acceleration[:, :3] + np.cross(x.twist[:, 3:], x.twist[:, :3])
    used = [
        speed.max() / 0.3,
        np.linalg.norm(linear, axis=1).max() / 0.4,
        rate.max() / 0.8,
        np.linalg.norm(x.acceleration[:, 3:], axis=1).max() / 0.9,
    ]
    assert max(used) <= 1 + 1e-6
    assert max(used) >= 1 - 1e-4
    assert kept.within(**limits).duration == pytest.approx(kept.duration)


def test_turns_are_those_of_scipy(rng):
    X0, X1 = se3.random(rng, (2,))
    s = np.linspace(0, 1, 11)
    theirs = Slerp([0, 1], Rotation.from_matrix([X0[:3, :3], X1[:3, :3]]))(s).as_matrix()
    np.testing.assert_allclose(Line(X0, X1)(s).pose[:, :3, :3], theirs, atol=1e-12)
    np.testing.assert_allclose(Line(X0, X1)(0.25).pose[:3, 3], 0.75 * X0[:3, 3] + 0.25 * X1[:3, 3])


def test_a_screw_has_one_axis_and_meets_its_ends(rng):
    X0, X1 = se3.random(rng, (2,))
    path = Screw.between(X0, X1)
    np.testing.assert_allclose(path([0, 1]).pose, [X0, X1], atol=1e-12)
    s, world = np.linspace(0, 1, 5), se3.Ad(X0) @ path.twist
    for X, V, _ in zip(*path(s), strict=True):
        np.testing.assert_allclose(se3.Ad(X) @ V, world, atol=1e-12)


def test_a_circle_is_one(rng):
    X0, centre, axis = se3.random(rng), rng.normal(size=3), rng.normal(size=3)
    path = Circle(X0, centre, axis, angle=3 * np.pi)
    s = np.linspace(0, 1, 25)
    X = path(s).pose
    axis = axis / np.linalg.norm(axis)
    arm = X[:, :3, 3] - centre
    np.testing.assert_allclose(np.linalg.norm(arm, axis=1), np.linalg.norm(arm[0]), atol=1e-12)
    np.testing.assert_allclose(arm @ axis, arm[0] @ axis, atol=1e-12)
    # a turn and a half: the frame with it, or as it was
    np.testing.assert_allclose(X[-1, :3, :3], so3.about(axis, np.pi) @ X0[:3, :3], atol=1e-12)
    np.testing.assert_allclose(
        Circle(X0, centre, axis, turning=False)(s).pose[:, :3, :3], np.tile(X0[:3, :3], (25, 1, 1)), atol=1e-12
    )


def test_squad_goes_through_all_poses_without_a_jerk_of_the_turn(rng):
    X = se3.random(rng, (7,))
    path = Poses(X)
    np.testing.assert_allclose(path(np.arange(7) / 6).pose, X, atol=1e-12)
    for knot in path.knots:
        before, after = path(knot - 1e-9), path(knot + 1e-9)
        np.testing.assert_allclose(before.twist, after.twist, atol=1e-5)
        # places have two continuous derivatives
        R = before.pose[:3, :3]
        bends = [R @ (y.bend[:3] + np.cross(y.twist[3:], y.twist[:3])) for y in (before, after)]
        np.testing.assert_allclose(bends[0], bends[1], atol=1e-4)


def test_squad_with_its_inner_points_on_the_arc_is_slerp(rng):
    q0, q1 = quaternion.random(rng, (2,))
    q1 = q1 if q0 @ q1 > 0 else -q1
    h = np.linspace(0, 1, 9)
    jet = Jet(h, np.ones(9), np.zeros(9))
    a, b = (np.broadcast_to(q, (9, 4)) for q in (q0, q1))
    x = squad(a, b, a, b, jet)
    way = quaternion.log(quaternion.multiply(quaternion.conjugate(q0), q1))
    np.testing.assert_allclose(x.value, quaternion.multiply(q0, quaternion.exp(h[:, None] * way)), atol=1e-12)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 0.3, 0.9, 1.0, 3.0, 3.14])
def test_powers_of_quaternions_are_exact_for_any_angle(angle, rng):
    """q^h of a quaternion that changes itself: by differences, also near the identity and near a half turn."""
    axis, w = (x / np.linalg.norm(x) for x in rng.normal(size=(2, 3)))

    def turned(s):
        return quaternion.multiply(quaternion.exp(angle * axis), quaternion.exp(s * 1e-3 * w))

    def jet(s):
        q, half = turned(s), np.concatenate([[0.0], 1e-3 * w / 2])
        return power(
            Jet(q, quaternion.multiply(q, half), quaternion.multiply(quaternion.multiply(q, half), half)),
            Jet(*np.array([0.3 + s, 1.0, 0.0])),
        )

    h = 1e-4
    before, now, after = jet(-h), jet(0.0), jet(h)
    np.testing.assert_allclose(now.rate, (after.value - before.value) / (2 * h), atol=1e-7)
    np.testing.assert_allclose(now.bend, (after.rate - before.rate) / (2 * h), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(now.value), 1, atol=1e-14)
    assert not still(now.value).rate.any()


def test_kinds_are_found_by_name(rng):
    X = se3.random(rng, (2,))
    assert TRAJECTORIES["line"](X[0], X[1], 1.0) == PoseTrajectory.line(X[0], X[1], 1.0)
    assert set(PATHS) == {"line", "circle", "screw", "poses"}
    for name, kind in PATHS.items():
        assert kind.kind == name


I = np.eye(4)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PoseTrajectory.line(I[:3], I, 1.0), r"start has shape \(3, 4\): expected a pose"),
        (lambda: PoseTrajectory.line(I, 2 * I, 1.0), "end = .*: expected a pose .* with a rotation R"),
        (lambda: PoseTrajectory.line([I, I], I, 1.0), r"start has shape \(2, 4, 4\): expected one pose"),
        (lambda: PoseTrajectory.line(I, I, -1.0), "progress = -1.0: expected more than zero"),
        (
            lambda: PoseTrajectory.line(I, I, Trajectory.cubic(0, 2, 1)),
            r"progress of shape \(\) from 0.0 to 2.0: expected .* 0 to 1",
        ),
        (lambda: PoseTrajectory.circle(I, [0, 0], [0, 0, 1], 1.0), "circle about .*: expected a direction and a point"),
        (
            lambda: PoseTrajectory.circle(I, [0, 0, 0], [0, 0, 0], 1.0),
            "circle about .*: expected a direction and a point",
        ),
        (lambda: Screw(I, [1, 2]), r"twist has shape \(2,\): expected \(6,\), linear first"),
        (lambda: PoseTrajectory.through(I, 1.0), r"poses have shape \(4, 4\): expected \(k, 4, 4\)"),
        (lambda: PoseTrajectory("line", 1.0), "path 'line': expected a path of poses"),
        (lambda: PoseTrajectory.line(I, I, 1.0).within(sped=1.0), "no quantity 'sped' .* did you mean 'speed'"),
        (lambda: PoseTrajectory.line(I, I, 1.0).within(speed=0.0), "speed = 0.0: expected more than zero"),
    ],
)
def test_what_cannot_be_is_refused(make, words):
    with pytest.raises(ControlError, match=words):
        make()
