"""Motions through way points: every registered interpolation, limits, torques, refusals in words."""

import numpy as np
import pytest

import modurob as mr
from modurob.errors import StudioError
from modurob.motion import TRAJECTORIES
from modurob.studio import motions, offers, protocol
from modurob.studio.design import Design
from modurob.studio.plans import Plan
from modurob.studio.protocol import Motion, RunSettings, WayPoint
from modurob.studio.session import Session
from tests.studio.test_runs import ran

ARM = mr.load("lwa4p").robot()
START = np.array([0.3, 0.5, 1.2, 0.2, 0.9, 0.1])
POSES = START + 0.4 * np.random.default_rng(3).uniform(-1, 1, (4, 6))


def way(poses=POSES, times=None, **more) -> Motion:
    times = np.arange(len(poses), dtype=float) if times is None else times
    return Motion(tuple(WayPoint(float(t), tuple(q)) for t, q in zip(times, poses, strict=True)), **more)


def nearest(plan: Plan, q: np.ndarray) -> float:
    t = np.linspace(0, plan.trajectory.duration, 4001)
    return float(np.abs(plan.trajectory(t).position - q).max(axis=1).min())


@pytest.mark.parametrize("timing", ["listed", "within", "fastest"])
@pytest.mark.parametrize("interpolation", offers.interpolations())
def test_way_points_are_passed_within_limits(interpolation: str, timing: str) -> None:
    motion = way(interpolation=interpolation, timing=timing, velocity=0.8, acceleration=3.0, jerk=30.0)
    plan = Plan(0, ARM, motion)
    own = plan.recording.segments[0]
    assert np.allclose(own.q[[0, -1]], POSES[[0, -1]], atol=1e-6)
    # blends cut corners, by an eighth of the blend times the change of speed
    corner = 0.2 / 8 * np.abs(np.diff(POSES, n=2, axis=0)).max() if interpolation == "blended" else 1e-3
    assert max(nearest(plan, q) for q in POSES) < 1.01 * corner + 1e-3
    if timing != "listed":
        assert np.abs(own.v).max() <= 0.8 * (1 + 1e-6)
        assert plan.trajectory.largest(2).max() <= 3.0 * (1 + 1e-5)
        assert (np.abs(own.tau) <= ARM.effort_limit * (1 + 1e-6)).all()
    # the torques are those that bring these accelerations about, friction and all
    moving = np.abs(own.v).min(axis=1) > 1e-3
    assert np.allclose(own.vdot[moving], plan._vdot[moving], atol=1e-8)


def test_faster_is_not_slower() -> None:
    limits = {"velocity": 0.8, "acceleration": 3.0}
    times = [Plan(0, ARM, way(timing=timing, **limits)).t for timing in ("within", "fastest")]
    assert times[1] < times[0]


def test_what_others_register_is_offered() -> None:
    def straight(points, times):
        return mr.Trajectory.blended(times, points, 0.1)

    TRAJECTORIES.add("straight", straight)
    try:
        assert "straight" in offers.interpolations()
        assert any(x["name"] == "straight" and x["timed"] for x in offers.shown()["interpolations"])
        assert Plan(0, ARM, way(interpolation="straight")).t == pytest.approx(3.1)
    finally:
        del TRAJECTORIES._things["straight"]
    assert "hermite" not in offers.interpolations()  # it asks for velocities


def test_a_law_follows_and_the_plan_is_one() -> None:
    session = Session(None, Design(mr.load("lwa4p")))
    session.plan(way(POSES[:2]))
    with pytest.raises(StudioError, match="1 way point: a motion needs two or more"):
        session.plan(way(POSES[:1]))
    assert not session.runs  # what a refused preview showed before is gone
    session.plan(way(timing="fastest"))
    assert [type(run) for run in session.runs.values()] == [Plan]
    (plan,) = session.runs.values()
    summary = plan.summary()
    assert summary["label"] == "plan, minimum jerk, time-optimal"
    assert summary["limits"]["velocity"] == [1.0] * 6
    run = ran(ARM, POSES[0], reference="motion", motion=way(), duration=3.5, controller="computed-torque", ideal=True)
    assert np.allclose(run.last[0], POSES[-1], atol=5e-3)


@pytest.mark.parametrize(
    ("motion", "words"),
    [
        (Motion(), "no way points: a motion needs two or more"),
        (way(POSES[:2], [1.0, 1.0]), "way point 2 at 1 s: expected a later time than that of the one before, 1 s"),
        (way(POSES[[0, 0]]), "all way points are the same pose"),
        (way(POSES[:, :3]), "a pose of 3 coordinates: this robot has 6"),
        (way(POSES + 9), "cannot be at"),
        (way(timing="within", velocity=1e-5), "takes .* s: the studio runs at most 600 s"),
    ],
)
def test_motions_that_cannot_be(motion: Motion, words: str) -> None:
    with pytest.raises(StudioError, match=words):
        motions.planned(ARM, motion)


def test_robots_that_have_none() -> None:
    crab = mr.load("crab")
    floats = crab.mechanism(floating=True)
    with pytest.raises(StudioError, match="floats or has ball joints: fix its base"):
        motions.planned(floats, way([floats.neutral()] * 2))
    ring = mr.Assembly.from_grid([["B", "B"], ["B", "B"]]).mechanism()
    with pytest.raises(StudioError, match="robots without loops"):
        motions.planned(ring, way([ring.neutral()] * 2))
    with pytest.raises(StudioError, match="servos swing gaits or hold a pose"):
        ran(ARM, START, reference="motion", motion=way(), controller="servos")


def test_motions_come_from_pages() -> None:
    command = protocol.PlanMotion(way(timing="within"))
    assert protocol.decode(protocol.encode(command)) == command
    with pytest.raises(
        StudioError, match=r"plan motion: motion timing 'soon': expected 'listed', 'within' or 'fastest'"
    ):
        protocol.decode('{"type": "plan_motion", "motion": {"timing": "soon"}}')
    with pytest.raises(StudioError, match=r"interpolation 'magic': expected 'cubic'"):
        protocol.decode('{"type": "plan_motion", "motion": {"interpolation": "magic"}}')
    assert RunSettings(reference="motion").motion is None
