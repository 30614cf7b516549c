"""The judges themselves, against closed forms and each other; and what a line of the table says."""

import numpy as np
import pytest
from scipy.special import ellipk

import modurob as mr
from reproduce import Check, figure_5_4, figure_5_8
from reproduce.engine import Engine
from reproduce.lagrange import GRAVITY, motion, pendulum
from reproduce.step_response import linear_step, step_response


def test_the_pendulum_by_hand_is_that_of_sympy(rng):
    lengths, masses = (1.5, 0.7), (2.0, 0.4)
    hand, derived = pendulum(lengths, masses), figure_5_4.double_pendulum(lengths, masses)
    for q, v in rng.normal(size=(20, 2, 2)):
        np.testing.assert_allclose(hand(q, v), derived(q, v), rtol=1e-11, atol=1e-11)


def test_motion_is_that_of_an_oscillator():
    t = np.linspace(0, 10, 50)
    q, v, vdot = motion(lambda q, v: -4 * q, (1.0,), (0.0,), t)
    for found, right in ((q, np.cos(2 * t)), (v, -2 * np.sin(2 * t)), (vdot, -4 * np.cos(2 * t))):
        np.testing.assert_allclose(found[:, 0], right, atol=1e-10)


def test_the_period_under_a_heavy_wagon_is_that_of_a_pendulum(monkeypatch):
    monkeypatch.setattr(figure_5_8, "WAGON", 1e12)
    right = 4 * np.sqrt(figure_5_8.ROPE / GRAVITY) * ellipk(np.sin(np.pi / 8) ** 2)
    assert figure_5_8.period() == pytest.approx(right, rel=1e-9)


def test_a_linear_step_is_its_closed_form():
    t = np.linspace(0, 3, 40)
    np.testing.assert_allclose(linear_step([6], [1, 5, 6], t), 1 - 3 * np.exp(-2 * t) + 2 * np.exp(-3 * t), atol=1e-12)


def test_extrapolation_takes_away_what_holding_torques_does():
    robot = mr.load("double_pendulum").robot().ideal()
    run, q = step_response(robot, lambda T: mr.ComputedTorque(6.0, 5.0, 1.0, sample_time=T), 1.0, 1e-2)
    right = linear_step([6], [1, 5, 6], run.t)[:, None]
    assert np.abs(run.q - right).max() > 1e-3
    assert np.abs(q - right).max() < 1e-4


PENDULUM = """<mujoco><option gravity="0 0 -9.81" integrator="RK4"><flag energy="enable"/></option><worldbody><body>
    <joint name="hinge" axis="1 0 0"/><inertial pos="0 0 -0.5" mass="2" diaginertia="0.03 0.02 0.01"/>
    <body name="end" pos="0 0 -0.5"/></body></worldbody></mujoco>"""


def test_the_engine_swings_a_pendulum_in_its_period():
    """T = 4 sqrt(I/(m g l)) K(sin(q0/2)²), I about the hinge; a quarter of it brings it to the bottom."""
    engine, inertia = Engine(PENDULUM), 0.03 + 2 * 0.5**2
    period = 4 * np.sqrt(inertia / (2.0 * GRAVITY * 0.5)) * ellipk(np.sin(0.5) ** 2)
    run = engine.run(np.array([1.0]), period / 4, period / 4000, every=10)
    assert run.t[-1] == pytest.approx(period / 4)
    assert run.q[-1, 0] == pytest.approx(0, abs=1e-9)
    assert run.vdot[0, 0] == pytest.approx(-2.0 * GRAVITY * 0.5 * np.sin(1.0) / inertia)
    assert run.energy == pytest.approx(-2.0 * GRAVITY * 0.5 * np.cos(1.0), rel=1e-9)


def test_what_the_engine_says_of_a_pendulum():
    engine, q = Engine(PENDULUM), np.array([0.7])
    hold = engine.gravity_forces(q)
    assert hold == pytest.approx(2.0 * GRAVITY * 0.5 * np.sin(0.7))
    assert engine.accelerations(q, np.array([3.0]), hold) == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(engine.poses(q, ["end"])[0, :, 3], [0, 0.5 * np.sin(0.7), -0.5 * np.cos(0.7)])
    (there,), (rate,) = engine.advanced(q[None], np.zeros((1, 1)), 1.1 * hold[None], 0.01, 10)
    assert rate == pytest.approx(0.01 * 0.1 * hold / 0.53, rel=1e-3)
    assert there - q == pytest.approx(rate * 0.005, rel=1e-3)


def test_locked_joints_of_the_engine_are_gone():
    assert Engine.load("scouts").names == ["hinge0", "disc0", "hinge2", "disc2", "hinge4", "disc4"]
    assert Engine.load("scouts", "disc").names == Engine.load("crab").names == ["hinge0", "hinge2", "hinge4"]


@pytest.mark.parametrize(
    ("expected", "found", "tolerance", "verdict"),
    [
        (6.0, 6.0, 0.0, "pass"),
        (6.0, 6.1, 0.2, "pass"),
        (6.0, 5.7, 0.2, "FAIL"),
        (0.0, 1e-9, 1e-8, "pass"),
        (0.0, 1e-7, 1e-8, "FAIL"),
        (0.0, np.nan, 1.0, "FAIL"),
        (0.0, np.inf, 1.0, "FAIL"),
    ],
)
def test_a_line_passes_within_its_tolerance(expected, found, tolerance, verdict):
    check = Check("Gutenkunst Fig. 5.4", "angles", expected, found, tolerance)
    assert check.verdict == verdict
    assert check.passed == (verdict == "pass")


def test_what_a_line_says():
    def texts(*numbers, unit=""):
        check = Check("Gutenkunst Fig. 5.4", "angles", *numbers, unit)
        return check.expected_text, check.found_text

    assert texts(0.0, 2.345e-9, 1e-8, unit="rad") == ("at most 1e-08 rad", "2.3e-09 rad")
    assert texts(3.535534, 3.53552, 1e-4, unit="m") == ("3.53553 ± 0.0001 m", "3.53552 m")
    assert texts(3.0, 3.0, 0.0) == ("3", "3")
    skipped = Check.skipped("Meister et al. Fig. 11", "angles", "pip install modurob[judges]")
    assert (skipped.expected_text, skipped.found_text) == ("", "skipped: pip install modurob[judges]")
    assert not skipped.passed
