"""Runs on the ground: where it lies, what servos give, what touches it, gaits that are tuned and found."""

from dataclasses import replace

import numpy as np
import pytest

import modurob as mr
from modurob.errors import ModurobError, StudioError
from modurob.motion.gaits import gait
from modurob.studio import describe, gait_search, ground, protocol, runs, suggestions
from modurob.studio.design import Design
from modurob.studio.protocol import RunSettings
from modurob.studio.runs import Run
from modurob.studio.session import Session
from tests.studio.test_runs import column, finished

CRAB = mr.load("crab").mechanism(floating=True)
WALKS = RunSettings(
    controller="servos",
    gait="crab",
    amplitude=1.0,
    frequency=1.0,
    stepper="linearly-implicit",
    step=2.5e-3,
    ground=True,
    duration=2.0,
)


def run_of(settings: RunSettings, q: np.ndarray | None = None) -> Run:
    return Run(0, CRAB, CRAB.neutral() if q is None else q, np.zeros(CRAB.nv), settings)


@pytest.mark.parametrize("slope", [0.0, 15.0, -20.0])
def test_the_robot_stays_where_it_is_and_the_ground_comes_to_it(slope: float) -> None:
    """Its lowest corner touches, wherever it stands; held there on a slope below the cone, the forces bear its weight."""
    rng = np.random.default_rng(3)
    q = CRAB.integrate(CRAB.neutral(), np.r_[rng.normal(size=3), 0, 0, 0, rng.uniform(-0.3, 0.3, CRAB.nv - 6)])
    run = run_of(replace(WALKS, slope=slope, reference="hold", duration=3.0), q)
    assert np.allclose(run.state[0], q)
    points = run._simulation.robot.contact_forces(q).points
    height = points @ [-np.tan(np.deg2rad(slope)), 0, 1] - run.summary()["floor"]["height"]
    assert abs(height.min()) < 1e-9
    finished(run)
    touching = run.touching()
    weight = 9.81 * CRAB.total_mass()
    assert np.allclose(touching[:, 3:6].sum(axis=0), [0, 0, weight], atol=0.02 * weight)
    assert touching[:, 6].max() < 0.02


def test_samples_hold_what_the_servos_give_and_lack() -> None:
    """The torques are those of the force that acts, and the crab walks; the recording opens in Python with its contacts."""
    run = finished(run_of(replace(WALKS, duration=4.0)))
    assert run.status == "finished"
    kept = run.recording
    robot, row = kept.segments[0].robot, -1
    t, q, v, x = (getattr(kept, name)[row] for name in ("t", "q", "v", "x"))
    servos = [r for r in robot.forces if r.name.endswith(" servo")]
    assert len(servos) == 3
    for servo in servos:
        joint = robot.joints[servo.joint]
        states = x[mr.motion.gaits.driven.servo_states(robot)[joint.name]]
        expected = servo.force.effort(t, q[joint.q_slice.start], v[joint.v_slice.start], states)
        assert column(run, "tau")[row, joint.v_slice.start] == pytest.approx(float(expected), abs=1e-3)
    way = CRAB.centre_of_mass(column(run, "q")[-1]) - CRAB.centre_of_mass(CRAB.neutral())
    assert np.hypot(*way[:2]) > 0.2
    assert abs(way[2]) < 0.1


def test_a_gait_is_tuned_while_it_runs() -> None:
    """From the moment on: the swing keeps its angle, and has the new amplitude and frequency."""
    run = run_of(replace(WALKS, ground=False, duration=8.0))
    while run.t < 1.7:
        run.advance_to_sample()
    servos, s = run._servos, run._simulation
    before = servos.lacking(s.t, s.q, s.v, s.x)[0]
    run.tune(1.0, 2.0)
    assert np.allclose(servos.lacking(s.t, s.q, s.v, s.x)[0], before, atol=1e-12)
    run.tune(0.5, 2.0)
    finished(run)
    late = column(run, "t")[:, 0] > 4
    wanted = (column(run, "q")[:, 7:] + column(run, "error")[:, 6:])[late]
    assert np.abs(wanted).max() == pytest.approx(0.5, abs=0.01)
    crossings = np.count_nonzero(np.diff(np.sign(wanted[:, 0] + 1e-3)))
    assert crossings == pytest.approx(4.0 * 4, abs=1)
    with pytest.raises(ModurobError, match=r"beyond|limit"):
        run.tune(9.0, 1.0)
    with pytest.raises(StudioError, match="only servos that follow a gait can be tuned"):
        run_of(RunSettings(gait="crab")).tune(0.4, 1.0)


def test_the_gait_that_is_found_goes_farther_than_the_suggested_one() -> None:
    found = gait_search.best_gait(CRAB, CRAB.neutral(), WALKS)
    suggested = finished(run_of(replace(WALKS, duration=found["duration"])))
    best = finished(run_of(replace(WALKS, duration=found["duration"], **found["settings"])))
    ends = [CRAB.centre_of_mass(column(r, "q")[-1]) - CRAB.centre_of_mass(CRAB.neutral()) for r in (suggested, best)]
    distances = [np.hypot(*end[:2]) for end in ends]
    assert distances[1] > distances[0]
    assert found["distance"] > 0.3


def test_gaits_are_tried_on_robots_that_can_walk_only(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StudioError, match="fixed in the world: let it stand on the ground"):
        gait_search.best_gait(mr.load("crab").mechanism(), np.zeros(3), WALKS)
    single = mr.Assembly.single("m0", "backbone").mechanism(floating=True)
    with pytest.raises(StudioError, match="no gait fits this robot"):
        gait_search.best_gait(single, single.neutral(), WALKS)
    monkeypatch.setattr(gait_search, "MOST_RATES", 5)
    with pytest.raises(StudioError, match="9 degrees of freedom are too many to try gaits on: at most 5"):
        gait_search.best_gait(CRAB, CRAB.neutral(), WALKS)


def test_docking_on_the_ground_goes_on_upon_the_same_ground() -> None:
    session = Session(None, Design(mr.load("crab").with_setup(base="m0", floating=True)))
    run = session.start(replace(WALKS, duration=20.0))
    for _ in range(20):
        run.advance_to_sample()
    session.edit(protocol.Dock("backbone", "m3/3", "4"))
    assert session.active is not run
    assert session.active.before == run.number
    assert session.active.ground == run.ground
    session.active.advance_to_sample()
    assert session.active.status == ""


def test_floating_robots_with_weight_are_suggested_to_stand_on_the_ground() -> None:
    found = suggestions.settings(CRAB)
    assert found["ground"]
    assert found["on_ground"]["controller"] == "servos"
    assert not suggestions.settings(mr.load("crab").mechanism())["ground"]
    weightless = mr.load("crab").with_setup(gravity=(0, 0, 0), floating=True).robot()
    assert not suggestions.settings(weightless)["ground"]


@pytest.mark.parametrize("name", ["hexapod", "crab", "convoy"])
def test_organisms_are_suggested_to_walk_by_their_own_gait(name: str) -> None:
    """However they stand, and whatever they are called."""
    organism = mr.walking_robot(name).labelled("mine")
    suggested = describe.robot(Design(organism.with_setup(floating=False)))["suggested"]
    session = Session(None, Design(organism))
    settings = RunSettings(**suggested["on_ground"], gains=dict(suggested["servos"]), ground=True, duration=3.0)
    run = finished(session.start(settings))
    start, end = (session.robot.centre_of_mass(q.astype(float)) for q in (run.at(0.0)[0], run.last[0]))
    assert np.hypot(*(end - start)[:2]) > 0.3
    assert describe.robot(Design(mr.load("tree9")))["suggested"]["on_ground"]["options"] == {}


def test_options_and_joints_of_a_gait_reach_it() -> None:
    settings = RunSettings(gait="wheel", options={"lobes": 3}, amplitude=0.3, joints=("m0/hinge",))
    made = ground.rhythm(settings)
    assert made == gait("wheel", lobes=3, amplitude={"m0/hinge": 0.3})
    with pytest.raises(StudioError, match="gait crab has no option 'amplitude'"):
        ground.rhythm(RunSettings(gait="crab", options={"amplitude": 1.0}))
    assert runs.suited(settings, CRAB).joints == ("m0/hinge",)
    assert runs.suited(settings, mr.load("lwa4p").robot()).joints == ()
