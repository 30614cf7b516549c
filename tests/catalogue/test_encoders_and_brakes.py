"""Noise and index of encoders inside servos, and brakes that go on and off, against closed forms."""

from dataclasses import replace

import numpy as np
import pytest

import modurob as mr
from modurob.errors import CatalogueError, SimulationError
from modurob.simulation.stepping import Mover
from modurob.simulation.system import State
from tests.catalogue.test_drives import commanded, wheel

LOOPS = mr.Loops(position_gain=8.0, speed_gain=2.0, speed_integral=8.0, sample_time=1e-3)


def servo(encoder, **motor):
    return mr.Drive(mr.Motor(1.0, inertia=1e-3, **motor), mr.Gear(10.0), encoder=encoder, loops=LOOPS, input="position")


# ---- encoders ----


def test_readings_have_the_noise_of_their_encoder():
    """On a wheel that cannot turn: deviation, mean, white; the same again, another with another seed."""
    runs = [
        mr.simulate(
            wheel(servo(mr.Encoder(2**20, noise=2e-3, seed=seed)), 1e9),
            duration=4.0,
            controller=commanded(0.0),
            tick=1e-3,
        )
        for seed in (1, 1, 7)
    ]
    force = runs[0].robot.forces[0].force
    seen = [run.segments[0].x[1:, force.states.index("last")] for run in runs]
    assert np.std(seen[0]) == pytest.approx(2e-3, rel=0.05)
    assert abs(np.mean(seen[0])) < 4 * 2e-3 / np.sqrt(len(seen[0]))
    assert abs(np.corrcoef(seen[0][1:], seen[0][:-1])[0, 1]) < 4 / np.sqrt(len(seen[0]))
    assert np.array_equal(seen[0], seen[1])
    assert abs(np.corrcoef(seen[0], seen[2])[0, 1]) < 4 / np.sqrt(len(seen[0]))


def test_an_incremental_encoder_knows_its_angle_once_it_has_passed_its_index():
    """From 0.5 it counts from zero: asked for 0.5 it goes on to 1.0, passes its index at 0.8, and comes back to 0.5."""
    run = mr.simulate(
        wheel(servo(mr.Encoder(2**16, index=0.8)), 0.1), [0.5], duration=3.0, controller=commanded(0.5), tick=1e-3
    )
    passed = np.argmax(run.q[:, 0] > 0.8)
    assert run.q[:, 0].max() > 0.8
    assert passed > 0
    assert run.q[-1, 0] == pytest.approx(0.5, abs=1e-3)
    # short of the index it never learns where it is
    short = mr.simulate(
        wheel(servo(mr.Encoder(2**16, index=0.8)), 0.1), [0.5], duration=3.0, controller=commanded(0.1), tick=1e-3
    )
    assert short.q[-1, 0] == pytest.approx(0.6, abs=1e-3)
    # an absolute one knows from the start
    known = mr.simulate(wheel(servo(mr.Encoder(2**16)), 0.1), [0.5], duration=3.0, controller=commanded(0.1), tick=1e-3)
    assert known.q[-1, 0] == pytest.approx(0.1, abs=1e-3)


def test_kernels_read_encoders_as_numpy_does():
    robot = wheel(servo(mr.Encoder(4096, noise=1e-3, seed=5, index=0.2)), 0.1)
    q = np.array([[0.1], [0.15], [-0.3]])
    s, u = State(q, 0 * q + 1.0, mr.Simulation(robot, q).x), np.full((3, 1), 0.4)
    mover = Mover(robot, mr.RungeKutta4(5e-4))
    fast = mover.advance(0.0, s, u, 0.1).state
    begun, torques = mover.commanded(s, u)
    slow = mover._plain_steps(np.zeros((3, 1)), begun, torques, np.full((3, 1), 5e-4), 200, None).state
    for a, b in zip(fast, slow, strict=True):
        assert np.abs(a - b).max() < 1e-9 * max(1.0, np.abs(b).max())


@pytest.mark.parametrize("kind", ["voltage", "current", "torque", "position"])
def test_states_that_stand_still_have_no_rate(kind):
    """What only commands and samples change is not carried through the stages of a step."""
    loops = replace(LOOPS, current_gain=2.0, current_integral=50.0, loop_time=1e-3)
    motor = mr.Motor(0.1, resistance=1.0, inductance=1e-3, inertia=1e-4)
    encoder = mr.Encoder(100, noise=1e-3, index=0.1)
    drive = mr.Drive(motor, mr.Gear(10.0, stiffness=50.0), mr.Losses(0.1, 0.2), encoder, loops, input=kind)
    force, rng = drive.force(), np.random.default_rng(0)
    rate = force.rate(0.0, *rng.normal(size=(2, 5)), rng.normal(size=(5, force.nx)))
    still = list(force.still)
    assert np.all(rate[:, still] == 0)
    assert np.all(np.abs(np.delete(rate, still, axis=1)).max(axis=0) > 0)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"seed": 0}, "seed 0"),
        ({"seed": 1.5}, "seed 1.5"),
        ({"index": "x"}, "index 'x'"),
        ({"noise": -1.0}, "noise is -1"),
    ],
)
def test_encoders_that_make_no_sense_are_refused(numbers, message):
    with pytest.raises(CatalogueError, match=message):
        mr.Encoder(500, **numbers)


# ---- brakes ----


def braked(brake=5.0, moment=0.5):
    return wheel(mr.Drive(mr.Motor(1.0), brake=brake), moment)


def test_a_brake_stops_a_wheel_as_its_closed_form_says_and_lets_it_go_again():
    """From 2 rad/s: B acts from 0.1 s on, the wheel rests after I w/B, exactly; let go, the torque turns it again."""
    run = mr.simulate(
        braked(), [0.0], [2.0], duration=1.0, controller=lambda t, q, v: np.array([0.5 * (t > 0.45)]), tick=1e-2,
        brakes=lambda t, q, v: "rim" if 0.095 < t < 0.695 else None,
    )  # fmt: skip
    t, q, v = run.t, run.q[:, 0], run.v[:, 0]
    on = (t > 0.1) & (t < 0.3)
    assert v[on] == pytest.approx(2.0 - 10.0 * (t[on] - 0.1), abs=1e-12)
    rests = (t > 0.305) & (t < 0.7)
    assert np.all(v[rests] == 0)
    assert np.all(q[rests] == q[rests][0])
    assert q[rests][0] == pytest.approx(0.2 + 2.0**2 * 0.5 / (2 * 5.0), abs=1e-12)
    assert v[-1] == pytest.approx(0.3 * 0.5 / 0.5, abs=1e-12)
    assert [(e.kind, e.message) for e in run.events] == [("brake", "rim on"), ("brake", "rim off")]
    assert [round(s.t[0], 9) for s in run.segments] == [0.0, 0.1, 0.7]
    assert np.all(run.segments[1].vdot[21:-1] == 0)


def test_a_brake_slips_under_more_than_it_holds():
    run = mr.simulate(braked(), duration=0.5, controller=commanded(6.0), tick=1e-2, brakes=lambda t, q, v: True)
    assert run.v[-1, 0] == pytest.approx((6.0 - 5.0) / 0.5 * 0.5, abs=1e-12)
    held = mr.simulate(braked(), duration=0.5, controller=commanded(4.999), tick=1e-2, brakes=lambda t, q, v: ["rim"])
    assert np.all(held.v == 0)


def test_an_arm_is_held_under_its_weight():
    """The large Powerballs of the LWA 4P: brakes on after 0.1 s of falling, and all of it rests where it stopped."""
    from reproduce.lwa_arm import arm, drive

    robot = arm([drive(k) for k in range(6)])
    run = mr.simulate(robot, [0.0, 0.6, 0.4, 0.0, 0.3, 0.0], duration=0.25, tick=1e-2, brakes=lambda t, q, v: t > 0.095)
    assert np.abs(run.v[9]).max() > 0.01
    assert np.all(run.v[run.t > 0.2] == 0)


def test_brakes_that_are_none_are_refused():
    with pytest.raises(SimulationError, match="expected a drive with a brake"):
        mr.simulate(wheel(mr.Drive(mr.Motor(1.0))), duration=0.1, brakes=lambda t, q, v: True)
    with pytest.raises(SimulationError, match="expected a function of t, q and v"):
        mr.simulate(braked(), duration=0.1, brakes="rim")
    with pytest.raises(SimulationError, match="no brake at 'rum' of wheel"):
        mr.simulate(braked(), duration=0.1, brakes=lambda t, q, v: "rum")
    run = mr.simulate(braked(), duration=0.1, brakes=lambda t, q, v: 1 / 0)
    assert run.status.kind == "controller failed"
    assert "brakes: ZeroDivisionError" in run.status.message
