"""Runs of a session: what the settings mean, samples, going on through changes of shape, failures."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modurob as mr
from modurob.errors import ModurobError, StudioError
from modurob.simulation import Measured, Recording
from modurob.studio import downloads, protocol, runs, suggestions
from modurob.studio.autosave import Autosave
from modurob.studio.design import Design
from modurob.studio.protocol import RunSettings
from modurob.studio.runs import Run
from modurob.studio.session import MOST_RUNS, Session
from modurob.studio.twins import Twin, accelerations

CRAB = mr.load("crab").mechanism()


def finished(run: Run) -> Run:
    for _ in range(10_000):
        if run.ended:
            return run
        run.advance(0.1)
    raise AssertionError("it does not end")


def ran(robot: mr.Mechanism = CRAB, q: Any = None, **settings: Any) -> Run:
    q = robot.neutral() if q is None else np.asarray(q)
    return finished(Run(0, robot, q, np.zeros(robot.nv), RunSettings(**settings)))


def column(run: Run, name: str) -> np.ndarray:
    """A part of the samples, (rows, ...)."""
    nq, nv = run.robot.nq, run.robot.nv
    starts = {"t": (0, 1), "q": (1, nq), "v": (1 + nq, nv), "vdot": (1 + nq + nv, nv)}
    starts |= {"tau": (1 + nq + 2 * nv, nv), "error": (1 + nq + 3 * nv, nv), "energy": (1 + nq + 4 * nv, 2)}
    start, size = starts[name]
    return run.samples[:, start : start + size].astype(float)


def test_placed_poles_give_the_step_response_of_those_poles() -> None:
    """e(t) = (p2 exp(p1 t) - p1 exp(p2 t)) / (p2 - p1) of the step, sampled finely."""
    run = ran(
        controller="pole-placement",
        ideal=True,
        reference="set_point",
        amplitude=0.3,
        gains={"pole1": -4.0, "pole2": -9.0},
        sample_time=1e-3,
        duration=1.0,
    )
    t = column(run, "t")[:, 0]
    expected = 0.3 * (-9 * np.exp(-4 * t) + 4 * np.exp(-9 * t)) / (-9 + 4)
    assert np.allclose(column(run, "error"), expected[:, None], atol=2e-3)


def test_computed_torque_follows_a_gait() -> None:
    run = ran(controller="computed-torque", gains={"kp": 400.0, "kd": 40.0}, ideal=True, sample_time=1e-3, duration=3.0)
    assert run.status == "finished"
    assert np.abs(column(run, "error")[-60:]).max() < 2e-3
    assert np.abs(column(run, "q")).max() > 0.3


def test_free_motion_keeps_its_energy() -> None:
    run = ran(
        q=[0.4, -0.3, 0.2], controller="none", ideal=True, stepper="runge-kutta-4", sample_time=1e-3, duration=2.0
    )
    total = column(run, "energy").sum(axis=1)
    assert np.ptp(column(run, "energy")[:, 0]) > 0.1
    assert np.ptp(total) < 1e-4
    assert not column(run, "tau").any()


@pytest.mark.parametrize(
    "stepper", ["semi-implicit-euler", "runge-kutta-4", "implicit-midpoint", "variational", "adaptive"]
)
def test_all_steppers_agree(stepper: str) -> None:
    """Free motion for a quarter of a second, against the exact one of DOP853."""
    start = {"q": [0.4, -0.3, 0.2], "controller": "none", "sample_time": 1e-3, "duration": 0.25}
    expected = ran(**start, stepper="adaptive").recording.q[-1]
    assert np.allclose(ran(**start, stepper=stepper).recording.q[-1], expected, atol=0.01)


def test_pid_holds_and_limits_are_kept() -> None:
    held = ran(
        q=[0.2, 0.1, -0.1], controller="pid", gains={"kp": 8.0, "ki": 6.0, "kd": 0.6}, ideal=True, reference="hold"
    )
    assert np.abs(column(held, "error")[-1]).max() < 0.02
    limited = ran(controller="computed-torque", reference="set_point", amplitude=1.5, duration=1.0)
    efforts = np.array([j.effort_limit[0] for j in CRAB.joints])
    assert np.all(np.abs(column(limited, "tau")) <= efforts * (1 + 1e-6))


def test_the_filter_sees_angles_only_and_still_follows() -> None:
    run = ran(filter="ekf", ideal=True, noise=2e-3, duration=1.5, sample_time=0.01)
    assert run.status == "finished"
    assert np.abs(column(run, "error")[-20:]).max() < 0.05
    assert run.recording.v_estimate.shape == run.recording.v.shape
    assert not np.array_equal(run.recording.q_estimate, run.recording.q)


def test_samples_are_what_happened() -> None:
    run = ran(duration=1.0)
    t, q = column(run, "t")[:, 0], column(run, "q")
    record = run.recording
    at = np.searchsorted(record.t, t - 1e-6)
    assert np.allclose(q, record.q[at], atol=1e-6)
    assert np.allclose(column(run, "v"), record.v[at], atol=1e-5)
    assert np.allclose(np.diff(t)[:-1], 1 / 60, atol=0.003)
    middle, sample = run.at(0.5)
    assert abs(sample[0] - 0.5) <= 1 / 60
    assert np.array_equal(middle, sample[1 : 1 + CRAB.nq])


@pytest.mark.parametrize("controller", ["computed-torque", "pid", "pole-placement"])
def test_the_torque_at_the_start_is_that_of_the_law(controller: str) -> None:
    """Not zero, which no law asked for; before the law was asked it is not a number."""
    settings = {"controller": controller, "reference": "set_point", "amplitude": 0.3, "duration": 0.2}
    fresh = Run(0, CRAB, CRAB.neutral(), np.zeros(3), RunSettings(**settings))
    assert np.isnan(column(fresh, "tau")).all()
    run = ran(**settings)
    first = column(run, "tau")[0]
    law = runs.controller(run.settings, 0.3)
    assert law is not None
    made = law.on(CRAB)
    _, expected = made.step(made.start(), 0.0, Measured(CRAB.neutral(), np.zeros(3)))
    assert np.allclose(first, expected, rtol=1e-5)
    assert np.abs(first).max() > 0.1
    assert np.allclose(column(run, "vdot")[0], CRAB.forward_dynamics(CRAB.neutral(), np.zeros(3), expected), rtol=1e-4)
    assert np.allclose(run.recording.tau[0], first, rtol=1e-5)


@pytest.mark.parametrize("floating", [False, True])
def test_any_robot_runs(floating: bool) -> None:
    # the pendulum and the crane have point masses: they cannot float
    for name in ("crab", "tree9") if floating else mr.shipped_robots():
        robot = mr.load(name).mechanism(floating=floating)
        run = ran(robot, duration=0.2, reference="hold", step=suggestions.settings(robot)["step"])
        assert run.status == "finished"
        assert run.samples.shape[1] == 3 + robot.nq + 4 * robot.nv


def test_what_fails_is_a_status(monkeypatch: pytest.MonkeyPatch) -> None:
    wild = ran(controller="pid", gains={"kp": 1e6, "kd": 1e5}, ideal=True, duration=5.0)
    assert "at t = " in wild.status
    assert wild.t < 5

    def crash(*_: Any) -> None:
        raise ZeroDivisionError("by chance")

    run = Run(0, CRAB, CRAB.neutral(), np.zeros(3), RunSettings())
    monkeypatch.setattr(run._simulation, "step", crash)
    run.advance(0.1)
    assert run.status == "failed at 0 s: by chance"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (RunSettings(amplitude=3.0), "limits"),
        (RunSettings(sample_time=0.0035), "multiple"),
        (RunSettings(controller="pole-placement", gains={"pole1": 1.0, "pole2": -2.0}), "below zero"),
        (RunSettings(duration=600.0, sample_time=1e-4, step=1e-4), "too much to keep"),
    ],
)
def test_wrong_settings_are_refused_before_anything_runs(settings: RunSettings, message: str, tmp_path: Path) -> None:
    session = Session(Autosave(tmp_path), Design(mr.load("crab")))
    running = session.start(RunSettings())
    with pytest.raises(ModurobError, match=message):
        session.start(settings)
    assert session.active is running


def test_patience_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is slower than time does not pile up what it owes."""
    monkeypatch.setattr(runs, "PATIENCE", 0.0)
    run = Run(0, CRAB, CRAB.neutral(), np.zeros(3), RunSettings())
    run.advance(100.0)
    assert run.t == 0
    monkeypatch.setattr(runs, "PATIENCE", 10.0)
    run.advance(0.0)
    assert run.t < 0.3


# ---- in a session ----


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(Autosave(tmp_path), Design(mr.load("crab")))


def test_a_run_goes_on_while_modules_dock_and_undock(session: Session) -> None:
    first = session.start(RunSettings(duration=2.0))
    first.advance(0.5)
    q, t = first.state[0], first.t
    session.edit(protocol.Dock("backbone", "m3/3", "4"))
    second = session.active
    assert second is not None
    assert first.status == "the robot changed"
    assert (second.before, second.t) == (first.number, t)
    # the joints stand where they stood
    joints = {j.name: second.state[0][j.q_slice][0] for j in session.robot.joints}
    assert [joints[j.name] for j in CRAB.joints] == q.tolist()
    assert joints["m3/hinge"] == 0
    second.advance(0.2)
    session.edit(protocol.Undock("m6"))
    third = session.active
    assert third is not None
    assert np.array_equal(third.robot.parent, CRAB.parent)
    assert finished(third).t == pytest.approx(2.0)


def test_another_robot_ends_the_run(session: Session) -> None:
    run = session.start(RunSettings())
    session.edit(protocol.OpenShipped("tree9"))
    assert session.active is None
    assert run.ended


def test_a_robot_that_does_not_move_cannot_run(session: Session) -> None:
    session.edit(protocol.New("backbone"))
    with pytest.raises(StudioError, match="nothing moves"):
        session.start(RunSettings())


def test_runs_are_kept_and_forgotten(session: Session) -> None:
    for _ in range(MOST_RUNS + 3):
        session.start(RunSettings()).advance(0.05)
    assert list(session.runs) == list(range(3, MOST_RUNS + 3))
    session.delete_run(5)
    with pytest.raises(StudioError, match="no run 5"):
        session.run(5)
    newest = session.active
    assert newest is not None
    session.delete_run(newest.number)
    assert session.active is None


def test_files_of_a_run(session: Session, tmp_path: Path) -> None:
    run = finished(session.start(RunSettings(duration=0.3)))
    path = tmp_path / "run.mrun"
    path.write_bytes(downloads.content(session, "run-0.mrun", {}))  # type: ignore[arg-type]
    again = Recording.load(path)
    assert np.array_equal(again.q, run.recording.q)
    assert np.array_equal(again.repeated().q, again.q)
    text = downloads.content(session, "run-0.csv", {})
    assert isinstance(text, bytes)
    head, first, *_ = text.decode().splitlines()
    assert head.startswith("t,q m0/hinge,q m2/hinge")
    assert first.split(",")[0] == "0.0"
    assert downloads.content(session, "run-0.parquet", {})[:4] == b"PAR1"
    for name in ("run-7.csv", "run-0.exe", "run-..csv"):
        with pytest.raises(StudioError, match=r"no run|no file"):
            downloads.content(session, name, {})


def test_what_a_filter_believes_is_in_the_samples_and_follows_q_and_r() -> None:
    """R far above the noise, and no Q: it trusts its model, and is smoother than what it measures."""
    common = {"filter": "ekf", "noise": 0.05, "duration": 1.0, "sample_time": 0.01, "ideal": True, "reference": "hold"}
    trusting = ran(process=0.0, believed=100.0, **common)
    doubting = ran(process=10.0, believed=1e-6, **common)
    assert trusting.summary()["filtered"]
    wrong = []
    for run in (trusting, doubting):
        believed, q = run.samples[:, -CRAB.nq :], column(run, "q")
        assert run.samples.shape[1] == 3 + 2 * CRAB.nq + 4 * CRAB.nv
        wrong.append(np.sqrt(np.mean((believed - q) ** 2)))
    assert wrong[0] < 0.005
    assert 0.02 < wrong[1] < 0.1  # the noise itself
    assert ran(duration=0.05).samples.shape[1] == 3 + CRAB.nq + 4 * CRAB.nv


# ---- set points, trails, and the twin by Lagrange's equations ----


def completed(session: Session, **settings: Any) -> Run:
    run = session.start(RunSettings(**settings))
    while not run.ended:
        run.advance_to_sample()
    session.stop()
    return run


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ({"m2/hinge": 2.0}, "set point 2 of joint m2/hinge: expected -1.571 to 1.571"),
        ({"m9/hinge": 0.1}, "no joint 'm9/hinge'"),
    ],
)
def test_set_points_that_cannot_be(points: dict[str, float], words: str) -> None:
    session = Session(None, Design(mr.load("crab")))
    with pytest.raises(StudioError, match=re.escape(words)):
        session.start(RunSettings(reference="set_point", set_points=points))


def test_servos_go_to_their_set_points() -> None:
    session = Session(None, Design(mr.load("crab")))
    own = {"kp": 40.0, "kd": 2.0}
    points = {"m0/hinge": 0.2, "m2/hinge": -0.3, "m4/hinge": 0.1}
    run = completed(session, controller="servos", gains=own, reference="set_point", set_points=points, duration=0.1)
    x = run._states[-1]
    assert np.allclose(x.reshape(3, 4)[:, 0], [0.2, -0.3, 0.1])


def test_a_run_with_set_points_goes_on_without_the_joints_that_are_gone() -> None:
    session = Session(None, Design(mr.load("crab")))
    session.start(RunSettings(reference="set_point", set_points={"m4/hinge": 0.1, "m2/hinge": 0.3}))
    session.edit(protocol.Undock("m5"))
    assert session.active is not None
    assert session.active.settings.set_points == {"m2/hinge": 0.3}


TWINS = {
    "servos": ("crab", {"controller": "servos"}, "servos, lines or contacts"),
    "ground": ("crab", {"ground": True, "stepper": "linearly-implicit"}, "the robot floats"),
}


@pytest.mark.parametrize(("robot", "settings", "words"), TWINS.values(), ids=TWINS)
def test_runs_that_lagranges_equations_cannot_repeat(robot: str, settings: dict[str, Any], words: str) -> None:
    session = Session(None, Design(mr.load(robot)))
    if settings.get("ground"):
        session.edit(protocol.SetBase("m0", floating=True))
    run = session.start(RunSettings(duration=0.1, **settings))
    with pytest.raises(StudioError, match="goes on: stop it first"):
        session.compare(0)
    while not run.ended:
        run.advance_to_sample()
    with pytest.raises(StudioError, match=words):
        session.compare(0)


def test_a_twin_needs_the_robot_and_a_short_run(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(None, Design(mr.load("crab")))
    completed(session, duration=0.1)
    monkeypatch.setattr("modurob.studio.twins.MOST", 10)
    with pytest.raises(StudioError, match="too long to be repeated"):
        session.compare(0)
    session.edit(protocol.Undock("m5"))
    for ask in (lambda: session.compare(0), lambda: session.trails(0, ["m0"])):
        with pytest.raises(StudioError, match="of another shape of the robot"):
            ask()


@pytest.mark.parametrize("stepper", ["semi-implicit-euler", "runge-kutta-4"])
def test_a_twin_is_another_way_to_the_same_numbers(stepper: str) -> None:
    """With friction, which both have, under a law, step by step; a mistake in either would be seen."""
    pair = mr.Assembly.from_aim([[3, 0], [4, 3], [0, 4]], types="backbone").with_parameters(damping=0.2)
    session = Session(None, Design(pair))
    completed(session, controller="pid", ideal=False, stepper=stepper, duration=0.2, amplitude=0.3)
    session.compare(0)
    twin = session.runs[1]
    assert isinstance(twin, Twin)
    assert twin.apart < 1e-11
    assert np.ptp(twin.samples[:, 1]) > 0.01
    assert np.allclose(twin.samples[:, :5], session.runs[0].samples[:, :5], atol=1e-6)


def test_springs_are_not_repeated() -> None:
    robot = mr.load("crab").mechanism()
    soft = robot.with_force("soft", mr.JointSpring(2.0), joint=robot.joints[1].name)
    with pytest.raises(StudioError, match="springs act on this robot"):
        accelerations(soft.equations(method="lagrange"))


def test_no_place_for_a_virtual_joint() -> None:
    session = Session(None, Design(mr.load("crane")))
    session.edit(protocol.SetBase("m1"))
    with pytest.raises(StudioError, match="base m1 has no free place for a virtual joint"):
        session.edit(protocol.Mount("prismatic", "x"))


def test_a_base_without_inertia_neither_floats_nor_stands_on_the_ground() -> None:
    session = Session(None, Design(mr.load("crab")))
    session.edit(protocol.Mount("prismatic", "x"))
    session.edit(protocol.Mount("revolute", "z"))
    with pytest.raises(StudioError, match=r"its base m7 lacks mass .* Leave it Fixed, or undock .*: m6, m7"):
        session.edit(protocol.SetBase("m7", floating=True))
    assert not session.design.floating
    # as a file may have it
    session = Session(None, Design(session.design.assembly.with_setup(floating=True)))
    with pytest.raises(StudioError, match="crab can neither stand on the ground nor float"):
        session.start(protocol.RunSettings(ground=True))
    with pytest.raises(StudioError, match=r"its base m0 lacks mass .* give its base mass and moments of inertia"):
        Session(None, Design(mr.load("double_pendulum"))).edit(protocol.SetBase("m0", floating=True))
