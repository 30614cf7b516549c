"""Filters over the states of drives, and torques that nobody knows."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import modurob as mr
from modurob.errors import EstimateError
from modurob.simulation.system import State
from modurob.spatial import inertia, se3


def arm(stiffness: float = 400.0) -> mr.Mechanism:
    """Two links on elastic joints, with motors whose windings have an inductance."""
    motor = mr.Motor(0.05, resistance=1.0, inductance=5e-3, inertia=2e-5, viscous=1e-5)
    drive = mr.Drive(motor, mr.Gear(50.0, stiffness=stiffness, damping=0.5), input="voltage")
    b = mr.Builder("soft", gravity=(0, 0, -9.81))
    own = mr.JointProperties(drive=drive)
    b.body("upper", inertia.box(1.0, (0.3, 0.05, 0.05)), joint=mr.Revolute((0, 1, 0)), properties=own)
    at = se3.pose(p=[0.3, 0, 0])
    fore = inertia.box(0.5, (0.3, 0.05, 0.05))
    b.body("fore", fore, parent="upper", joint=mr.Revolute((0, 1, 0)), at=at, properties=own)
    return b.build()


def volts(t, q, v):
    return np.array([4 * np.sin(3 * t), 3 * np.cos(4 * t)])


def watched(method: str, draws: int = 1, push=None, **how):
    """The filter along a run, from a belief that is wrong: states, beliefs and the filter."""
    robot, dt = arm(), 1e-3
    external = None if push is None else (lambda t: {"fore": np.array([0, 0, push, 0, 0, 0])})
    run = mr.simulate(robot, duration=0.6, controller=volts, tick=dt, external=external)
    seen = mr.DriveFilter(robot, dt, encoder=1e-4, current=0.02, method=method, **how)
    rng = np.random.default_rng(0)
    memory, beliefs = seen.start(run.q[0] + 0.005, run.v[0]), []
    width = len(run.x[0])
    for k in range(1, len(run.t)):
        true = np.concatenate([run.x[k], np.zeros(len(memory.x) - width)])
        noise = rng.normal(size=4) * [1e-4, 1e-4, 0.02, 0.02]
        reading = seen.expected(State(run.q[k], run.v[k], true)) + noise
        memory = seen.update(memory, volts(run.t[k - 1], None, None), reading)
        beliefs.append(memory)
    return run, beliefs, seen


@pytest.mark.parametrize("method", ["unscented", "extended"])
def test_rates_and_deflections_are_seen_through_motors(method):
    """From encoders at the motors and currents: joint angles behind the gears, rates, currents, better than their readings."""
    run, beliefs, seen = watched(method, motion=0.02, drive=0.05)
    late = slice(300, None)
    q, v = np.array([b.q for b in beliefs])[late], np.array([b.v for b in beliefs])[late]
    assert np.abs(q - run.q[1:][late]).max() < 2e-3
    assert np.sqrt(np.mean((v - run.v[1:][late]) ** 2)) < 0.02
    place = next(k for name, k in seen.states if name == "upper drive current")
    errors = np.array([b.x[place] for b in beliefs])[late] - run.drive("upper").current[1:][late]
    assert np.sqrt(np.mean(errors**2)) < 0.02
    # and P says how far off it is
    e = np.concatenate([q - run.q[1:][late], v - run.v[1:][late]], axis=1)
    sizes = np.array([np.sqrt(np.diag(b.P)[:4]) for b in beliefs])[late]
    assert np.mean(np.abs(e) < 3 * sizes) > 0.95


def test_both_methods_agree():
    one, other = (watched(m, motion=0.02, drive=0.05)[1][-1] for m in ("unscented", "extended"))
    assert one.q == pytest.approx(other.q, abs=1e-5)
    assert np.abs(one.P - other.P).max() < 0.05 * np.abs(other.P).max()


def slope(f, n, h=1e-3):
    """By differences of order six, (m, n)."""
    weights = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}
    return sum(sign * w / h * f(sign * k * h * np.eye(n)) for k, w in weights.items() for sign in (1, -1)).T


@pytest.mark.parametrize("side", ["motor", "joint"])
@pytest.mark.parametrize("disturbance", [0.0, 1.0])
def test_the_extended_filter_takes_the_slopes_of_the_motion_and_of_the_readings(side, disturbance, rng):
    seen = mr.DriveFilter(arm(), 2e-3, side=side, disturbance=disturbance, method="extended")
    memory, inputs = seen.start(rng.normal(size=2), rng.normal(size=2)), rng.normal(size=2)
    memory = memory._replace(x=memory.x + 0.1 * rng.normal(size=len(memory.x)))
    n = len(memory.P)

    def end(dz):
        s = seen._mover.advance(0.0, seen._moved(memory, dz), np.tile(inputs, (len(dz), 1)), 2e-3).state
        return seen._apart(State(*(0 * x[0] for x in s)), s)

    F = slope(end, n)
    assert np.abs(seen.transition(memory, inputs) - F).max() < 1e-10 * np.abs(F).max()
    reads = seen._readings(*memory[:3])
    H = slope(lambda dz: seen.expected(seen._moved(memory, dz)), n)
    assert np.abs(reads.by @ seen._columns(memory.q) - H).max() < 1e-10 * np.abs(H).max()
    np.testing.assert_allclose(reads.values, seen.expected(memory), atol=1e-14)
    # and uses them
    after = seen.update(memory, inputs, np.full(4, np.nan))
    np.testing.assert_allclose(after.P, F @ memory.P @ F.T + seen._wander, atol=1e-9)


def test_filters_of_both_kinds_can_be_sent_to_other_processes():
    for method in ("extended", "unscented"):
        seen = mr.DriveFilter(arm(), method=method)
        memory = seen.start(np.zeros(2), np.ones(2))
        one, other = (f.update(memory, np.ones(2), np.zeros(4)) for f in (seen, pickle.loads(pickle.dumps(seen))))
        np.testing.assert_array_equal(one.P, other.P)


def test_contacts_have_no_tangents_and_are_no_torques():
    robot = mr.load("crab").mechanism(base="m0", floating=True).with_drive("m0/hinge", "backbone-hinge")
    robot = robot.on_ground(mr.Ground(friction=0.8))
    with pytest.raises(EstimateError, match=r"crab has contacts, .*: expected method='unscented'"):
        mr.DriveFilter(robot, method="extended")
    seen = mr.DriveFilter(robot, disturbance=1.0)
    assert sum(name.endswith(" torque") for name, _ in seen.states) == robot.nv


def test_a_push_is_estimated():
    """Three newtons at the middle of the forearm: torques that no drive gave, J^T F."""
    run, beliefs, seen = watched("unscented", push=3.0, motion=1e-3, drive=0.02, disturbance=5.0)
    expected = run.segments[0].robot.body_jacobian(run.q[-1], "fore").T @ [0, 0, 3.0, 0, 0, 0]
    found = np.mean([seen.disturbance_of(b) for b in beliefs[-100:]], axis=0)
    assert found == pytest.approx(expected, abs=0.15 * np.abs(expected).max())


def test_lost_readings_change_nothing():
    seen = mr.DriveFilter(arm(), 1e-3)
    memory = seen.start(np.zeros(2), np.zeros(2))
    lost = seen.update(memory, np.zeros(2), np.full(4, np.nan))
    assert np.all(np.diag(lost.P)[:2] >= 0.99 * np.diag(memory.P)[:2])
    half = seen.update(memory, np.zeros(2), np.array([0.001, np.nan, 0.0, np.nan]))
    assert half.P[0, 0] < lost.P[0, 0]


def test_encoders_at_joints_read_joints():
    seen = mr.DriveFilter(arm(), 1e-3, side="joint")
    memory = seen.start(np.array([0.1, 0.2]), np.zeros(2))
    places = [k for name, k in seen.states if name.endswith("angle")]
    x = np.array(memory.x)
    x[places] += 0.05
    assert seen.expected(memory._replace(x=x))[:2] == pytest.approx([0.1, 0.2])
    assert replace(seen, side="motor").expected(memory._replace(x=x))[:2] == pytest.approx([0.15, 0.25])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"method": "particle"}, "method 'particle': valid: unscented, extended"),
        ({"side": "left"}, "side 'left': valid: motor, joint"),
        ({"encoder": 0.0}, "encoder is zero: expected a number above zero"),
        ({"motion": -1.0}, "motion is -1.0: expected a finite number"),
        ({"robot": "arm"}, "DriveFilter on 'arm': expected a robot"),
        ({"robot": mr.Assembly.from_grid([["B", "B"], ["B", "B"]]).mechanism()}, "has loops: expected a tree"),
    ],
)
def test_what_cannot_be_is_refused(change, words):
    with pytest.raises(EstimateError, match=words):
        mr.DriveFilter(**{"robot": arm(), **change})


def test_readings_that_do_not_fit():
    seen = mr.DriveFilter(arm())
    memory = seen.start(np.zeros(2), np.zeros(2))
    with pytest.raises(EstimateError, match=r"a reading of shape \(3,\): expected \(4,\), angles and then currents"):
        seen.update(memory, np.zeros(2), np.zeros(3))
    with pytest.raises(EstimateError, match="no torques are estimated: expected disturbance above zero"):
        seen.disturbance_of(memory)


@pytest.mark.parametrize("method", ["unscented", "extended"])
def test_inputs_readings_and_starts_that_cannot_be(method):
    seen = mr.DriveFilter(arm(), method=method)
    memory = seen.start([0.1, 0.2], np.zeros(2))
    expected = seen.expected(memory)
    with pytest.raises(mr.ModurobError, match=r"inputs has shape \(3,\): expected \(..., 2\)"):
        seen.update(memory, np.zeros(3), expected)
    with pytest.raises(mr.ModurobError, match=r"inputs\[0\] is nan"):
        seen.update(memory, [np.nan, 0.0], expected)
    with pytest.raises(EstimateError, match=r"reading\[1\] is infinite"):
        seen.update(memory, np.zeros(2), np.where(np.arange(len(expected)) == 1, np.inf, expected))
    with pytest.raises(EstimateError, match=r"q of shape \(5, 2\).*expected one state"):
        seen.start(np.zeros((5, 2)), np.zeros(2))
    with pytest.raises(EstimateError, match=r"deviations \(-1, 1, 1\): expected three of zero or more"):
        seen.start(np.zeros(2), np.zeros(2), deviations=(-1, 1, 1))
