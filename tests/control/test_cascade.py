"""Nested loops against python-control, matrix exponentials and the figures of the report on the LWA 4P."""

from dataclasses import replace

import control
import numpy as np
import pytest

import modurob as mr
from modurob.control import (
    disturbance_response,
    largest_delay,
    largest_sample_time,
    margins,
    open_loop,
    reference_response,
    sampled_loop,
    step_in,
    step_of,
)
from modurob.errors import ControlError
from reproduce.lwa_arm import GOAL, arm, drive
from tests.catalogue.test_drives import commanded, wheel
from tests.sampling import sampled

# the report's joint: damping 0.9, settled after a second, k_m = 1.25, T_m = 0.30
REPORT = mr.cascade_of(inertia=0.24, viscous=0.8, damping_ratio=0.9, settling_time=1.0)
PRINTED = REPORT._replace(position_gain=3.16)


def test_the_report_has_these_gains_poles_and_steps():
    assert np.allclose([REPORT.speed_integral, REPORT.position_gain], [6.4, 2.469], rtol=1e-3)
    poles = reference_response(REPORT).poles()
    assert np.allclose(np.sort_complex(poles), [-4 - 1.937j, -4 + 1.937j], atol=1e-3)
    found = step_of(reference_response(REPORT), 4.0)
    assert np.allclose(found, [0.00152, 0.766, 1.057], rtol=0.01)
    assert np.isclose(step_of(reference_response(PRINTED), 4.0).overshoot, 0.01616, rtol=0.01)


def test_margins_are_those_of_the_report():
    found = margins(REPORT)
    assert np.allclose([np.rad2deg(found.phase), found.delay, found.crossover], [73.5, 0.154, 8.343], rtol=0.01)
    assert 0.99 < found.sensitivity < 1.01


def pid_loop(gains, filtered=None, two_degrees=True):
    """The equivalent PID around the joint, by python-control."""
    pid, joint = gains.equivalent_pid(), control.tf([1.0], [gains.inertia, gains.viscous, 0.0])
    s = control.tf("s")
    rate = s if filtered is None else s * filtered / (s + filtered)
    back = pid.kp + pid.ki / s + pid.kd * rate
    ahead = pid.kp * pid.weight + pid.ki / s if two_degrees else back
    return control.minreal(ahead * joint / (1 + back * joint), verbose=False)


def test_the_equivalent_pid_is_the_cascade_in_its_feedback_path_alone():
    w = np.logspace(-1, 2, 50) * 1j
    assert np.abs(pid_loop(REPORT)(w) - reference_response(REPORT)(w)).max() < 1e-9
    assert np.isclose(step_of(pid_loop(REPORT, two_degrees=False), 4.0).overshoot, 0.155, rtol=0.01)
    assert np.isclose(step_of(pid_loop(REPORT, 20.0, two_degrees=False), 4.0).overshoot, 0.202, rtol=0.01)
    assert np.isclose(step_of(pid_loop(REPORT, 20.0), 4.0).overshoot, 0.0066, rtol=0.02)


def test_a_torque_step_of_a_half_leaves_no_offset():
    t = np.linspace(0, 8, 8001)
    y = 0.5 * np.asarray(control.step_response(disturbance_response(REPORT), t).outputs)
    assert np.allclose([y.max(), t[np.argmax(y)]], [0.0367, 0.493], rtol=0.01)
    assert abs(y[-1]) < 1e-5


@pytest.mark.parametrize(("u", "i", "overshoot", "rise"), [(19, 3.9, 0.0, 0.747), (64, 18.5, 0.0051, 0.743)])
def test_the_complete_model_of_both_motors(u, i, overshoot, rise):
    """Back-EMF and the PI controller of the current, K_PI = 30 and L = 0.18 H, as one simulated drive."""
    motor = mr.Motor(torque_constant=u / i, resistance=24 / i, inductance=0.18)
    T = 1e-4
    loops = REPORT._replace(current_gain=30.0, current_integral=30.0 * (24 / i) / 0.18).loops(loop_time=T)
    joint = mr.Drive(motor, losses=mr.Losses(viscous=0.8), loops=replace(loops, sample_time=T), input="position")
    run = mr.simulate(wheel(joint), duration=4.0, controller=commanded(1.0), tick=0.002)
    found = step_in(run.t, run.q[:, 0])
    assert abs(max(found.overshoot, 0.0) - overshoot) < 2e-4
    assert np.isclose(found.rise, rise, rtol=0.02)


def test_sampling_changes_the_step_a_little_until_it_is_unstable():
    for T, overshoot in ((1e-3, 0.00148), (1e-2, 0.00114)):
        A, B = sampled_loop(REPORT, T)
        x, seen = np.zeros(len(A)), []
        for _ in range(round(4 / T)):
            seen.append(x[0])
            x = A @ x + B
        assert np.isclose(max(seen) - 1, overshoot, rtol=0.01)
    assert np.isclose(largest_sample_time(REPORT), 0.2537, rtol=0.01)
    assert np.isclose(largest_sample_time(REPORT, delay=1), 0.1019, rtol=0.01)
    assert np.isclose(largest_sample_time(REPORT, differenced=True), 0.1807, rtol=0.01)
    # continuous loops bear the delay margin; late by k samples and half a sample more
    assert abs(largest_delay(REPORT, 1e-3) * 1e-3 - margins(REPORT).delay) < 2e-3


@pytest.mark.parametrize("rule", ["backward", "tustin"])
@pytest.mark.parametrize("delay", [0, 3])
def test_the_law_is_the_sampled_loop(rule, delay):
    T = 5e-3
    A, B = sampled_loop(REPORT, T, rule, delay)
    x, expected = np.zeros(len(A)), []
    for _ in range(200):
        expected.append(x[0])
        x = A @ x + B * 0.2
    law = mr.Cascade(0.2, REPORT.position_gain, REPORT.speed_gain, REPORT.speed_integral, rule=rule, sample_time=T)
    law = mr.Delayed(law, samples=delay) if delay else law
    run = mr.simulate(wheel(None, damping=0.8), duration=1.0, controller=law, stepper=mr.RungeKutta4(1e-3))
    assert np.abs(run.q[:-1, 0] - expected).max() < 1e-9


@pytest.mark.parametrize(
    ("encoder", "rms"),
    sampled([(mr.Encoder(80000, ratio=3, side="joint"), 0.019), (mr.Encoder(500, side="joint"), 2.16)], 1),
)
def test_counts_of_an_encoder_shake_the_torque(encoder, rms):
    """A ramp of 0.1 rad/s for 20 s; 80000 counts at the joint are 500 at the motor behind a gear of 160."""
    seen = []
    for own in (encoder, mr.Encoder(1e12, side="joint")):
        loops = REPORT.loops(sample_time=1e-3)
        joint = mr.Drive(mr.Motor(1.0), losses=mr.Losses(viscous=0.8), encoder=own, loops=loops, input="position")
        run = mr.simulate(wheel(joint), duration=20.0, controller=lambda t, q, v: np.array([0.1 * t]), tick=1e-3)
        seen.append(run.drive("rim").current[10001:])
    assert np.isclose(np.sqrt(np.mean((seen[0] - seen[1]) ** 2)), rms, rtol=0.2)


def test_other_designs_have_the_poles_they_promise():
    poles = [-2.0, -8 + 4j, -8 - 4j]
    gains = mr.cascade_of(0.3, 0.5, "poles", poles=poles)
    loop = open_loop(gains)
    assert np.allclose(np.sort_complex((1 + loop).zeros()), np.sort_complex(poles))
    lag = 2e-3
    best = mr.cascade_of(0.3, 0.0, "symmetric", lag=lag)
    speed = (
        control.tf([best.speed_gain, best.speed_integral], [1, 0])
        * control.tf([1], [0.3, 0])
        * control.tf([1], [lag, 1])
    )
    # the symmetric optimum: phase margin 37 degrees where the phase is largest, 1/(2 lag)
    _, phase, _, _, crossover, _ = control.stability_margins(speed)
    assert np.allclose([phase, crossover], [36.87, 1 / (2 * lag)], rtol=1e-3)
    own = mr.cascade(mr.load_drive("powerball-large"), 0.8, settling_time=0.5, current_time=1e-3)
    motor = mr.load_drive("powerball-large").motor
    inner = control.tf([own.current_gain, own.current_integral], [1, 0]) * control.tf(
        [1], [motor.inductance, motor.resistance]
    )
    assert np.allclose(control.minreal(inner / (1 + inner), verbose=False).poles(), [-1000.0])
    assert np.isclose(own.inertia, 0.8 + 1.33888)


def quintic(t):
    s = min(t / 3, 1.0)
    shape = (
        10 * s**3 - 15 * s**4 + 6 * s**5,
        (30 * s**2 - 60 * s**3 + 30 * s**4) / 3,
        (60 * s - 180 * s**2 + 120 * s**3) / 9,
    )
    return tuple(GOAL * x for x in shape)


I = np.array([2.176, 2.521, 1.591, 1.346, 0.175, 0.170])
VISCOUS = np.array([15.68, 13.91, 17.89, 13.63, 4.45, 4.67])


@pytest.mark.parametrize(
    ("words", "peaks"),
    [
        (("gravity",), [15.59, 8.66, 22.20, 13.89, 0.03, 6.95]),
        (("gravity", "speed", "acceleration"), [0.232, 0.321, 0.047, 0.013, 0.029, 0.000]),
        (("inverse-dynamics", "speed"), np.zeros(6)),
    ],
)
def test_the_arm_follows_the_quintic_of_the_report(words, peaks):
    """Loops at 1 kHz stand for continuous ones."""
    robot = arm()
    law = mr.Cascade(quintic, 2.469, 8 * I, 8 * VISCOUS, feed_forward=words)
    if "acceleration" in words:
        law = _with_inertia(law)
    run = mr.simulate(robot, duration=3.0, controller=law, stepper=mr.RungeKutta4(1e-3))
    errors = np.rad2deg(np.abs(run.q - np.array([quintic(t)[0] for t in run.t]))).max(axis=0)
    assert np.allclose(errors, peaks, rtol=0.02, atol=0.02)


def _with_inertia(law):
    """The law with the inertias at the goal, as the report's design has them, in its feed-forward."""

    class Fixed(mr.control.Recipe):
        sample_time = law.sample_time

        def on(self, robot):
            bound = law.on(robot)
            bound.gains = bound.gains._replace(inertia=I)
            return bound

    return Fixed()


def test_gains_follow_the_organism_and_the_drive():
    alone, docked = (
        mr.load("crab").mechanism(),
        mr.load("crab").mechanism().with_payload("m5", mr.spatial.inertia.sphere(3.0, 0.05)),
    )
    law = mr.Cascade(0.0)
    light, heavy = law.on(alone).gains, law.on(docked).gains
    assert heavy.speed.max() > 1.5 * light.speed.max()
    assert np.allclose(heavy.position, light.position)
    driven = alone.with_drive("m0/hinge", "backbone-hinge")
    assert law.on(driven).gains.inertia[0] > light.inertia[0]


def test_torque_drives_take_laws_and_others_refuse_them():
    robot = arm([drive(k) for k in range(6)])
    run = mr.simulate(
        robot, duration=1.0, controller=mr.Cascade(0.1 * GOAL, settling_time=0.4, feed_forward=("gravity",))
    )
    assert np.abs(run.q[-1] - 0.1 * GOAL).max() < 5e-3
    volts = robot.with_drive("joint1", drive(0).with_input("voltage"))
    with pytest.raises(
        ControlError, match=r"PID works with torques, and joint1 drive takes \[V\]: expected a drive with_input"
    ):
        mr.PID().on(volts)


def test_an_elastic_arm_is_seen_as_stiff_by_laws():
    stiff = arm([drive(k) for k in range(6)])
    soft = arm([replace(d, gear=replace(d.gear, stiffness=2e4, damping=20.0)) for d in map(drive, range(6))])
    laws = [mr.Cascade(0.0).on(robot).gains for robot in (stiff, soft)]
    assert np.allclose(laws[0], laws[1])
    assert np.allclose(laws[0].viscous, VISCOUS)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mr.cascade_of(0.0), "inertia"),
        (lambda: mr.cascade("powerball-large", inertia=-0.8), "inertia = -0.8: expected zero or more"),
        (lambda: mr.cascade_of(1.0), "needs viscous friction above zero"),
        (lambda: mr.cascade_of(1.0, 1.0, "guess"), "method 'guess'"),
        (lambda: mr.cascade_of(1.0, 1.0, "poles", poles=[-1.0, -2.0]), "expected three"),
        (lambda: mr.cascade_of(1.0, 9.0, "poles", poles=[-1.0, -2.0, -3.0]), "slower than the joint's own friction"),
        (lambda: mr.cascade_of(1.0, 1.0, "poles", poles=[-3.0, -8 + 4j, -8 - 4j]), "no cascade has them"),
        (lambda: mr.Cascade(feed_forward=("torque",)), "feed_forward 'torque'"),
        (lambda: mr.Cascade(rule="euler"), "rule 'euler'"),
        (lambda: sampled_loop(REPORT, 1e-3, "euler"), "rule 'euler'"),
        (lambda: mr.Delayed(3), "controller 3: expected one with a sample time"),
        (lambda: mr.Delayed(mr.PID(), samples=0.5), "samples = 0.5"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused(make, message):
    with pytest.raises(ControlError, match=message):
        make()


def test_a_page_shows_the_loop(tmp_path):
    page = mr.control.cascade_report(REPORT, tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 10_000
    # the locus passes the closed loop's poles
    ends = {
        complex(round(x, 3), round(y, 3)) for line in page.axes[1].lines for x, y in zip(*line.get_data(), strict=True)
    }
    assert complex(-4, 1.937) in ends
    assert "73.5 degrees" in page.get_suptitle()
    with pytest.raises(mr.ModurobError, match="cannot be written"):
        mr.control.cascade_report(REPORT, tmp_path / "page.txt")


def test_robustness_is_a_table_of_laws_and_troubles():
    from modurob.control.robustness import Trial, drawn, robustness, table_of

    robot = mr.load("crab").mechanism()
    trials = {
        "as believed": (Trial(),),
        "mass": (Trial(mass=0.3),),
        "delay": (Trial(delay=5),),
        "friction": (Trial(friction=0.2),),
    }
    trials |= {"limit": (Trial(limit=0.5),), "noise": (Trial(noise=1e-3),), "sample time": (Trial(sample_time=5e-3),)}
    rows = robustness(robot, trials, duration=0.2)
    right = {row.law: row.error for row in rows if row.what == "as believed"}
    assert right["computed"] < 2e-3 < right["pid"]
    for row in rows:
        if row.what in ("mass", "friction", "limit") and row.law not in ("pid", "gravity"):
            assert row.error > 20 * right[row.law]
    # masses are learnt, and an observer sees what is missing
    wrong = {row.law: row.error for row in rows if row.what == "mass"}
    assert wrong["adaptive"] < 0.8 * wrong["slotine-li"]
    assert wrong["observer"] < 0.8 * wrong["computed"]
    # without a model masses are not believed in, and the arm sags: friction holds it up, limits let it fall
    pid = {row.what: row.error for row in rows if row.law == "pid"}
    assert pid["friction"] < pid["mass"] == right["pid"] < pid["limit"]
    head, lines = table_of(rows)
    assert head[1:] == list(right)
    assert [line[0] for line in lines][:3] == ["as believed", "mass 0.3", "delay 5"]
    assert len(drawn(rows).axes[0].patches) == len(rows)
    with pytest.raises(ControlError, match="expected a drive at every joint"):
        robustness(mr.load("crab").mechanism(floating=True))


def test_filters_see_torque_drives_as_stiff_and_refuse_others():
    robot = arm([replace(d, gear=replace(d.gear, stiffness=5e4, damping=100.0)) for d in map(drive, range(6))])
    recipe = mr.ExtendedKalmanFilter(mr.HallSensors(noise=1e-3))
    law = mr.Cascade(0.2 * GOAL, settling_time=0.5, feed_forward=("gravity",))
    run = mr.simulate(
        robot.with_payload("link6", mr.spatial.inertia.sphere(1.0, 0.08)),
        duration=0.2,
        controller=law,
        # what damps the gears on the lightest axis decays with 6e4/s
        stepper=mr.RungeKutta4(2.5e-5),
        estimator=recipe,
    )
    assert run.status.ok
    assert np.abs(run.q_estimate - run.q[: len(run.q_estimate)]).max() < 5e-3
    with pytest.raises(ControlError, match=r"ExtendedKalmanFilter works with torques, and joint1 drive takes \[V\]"):
        recipe.on(robot.with_drive("joint1", drive(0).with_input("voltage")), 1e-3)
