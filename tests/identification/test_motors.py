"""Constants of motors from voltages, currents and speeds."""

import numpy as np
import pytest
from scipy.stats import chi2

import modurob as mr
from modurob.spatial import inertia

TRUE = np.array([0.8, 1.5e-3, 0.06])


def turned() -> mr.Recording:
    R, L, k = TRUE
    motor = mr.Motor(k, resistance=R, inductance=L, inertia=2e-5, viscous=1e-4)
    b = mr.Builder("wheel", gravity=(0, 0, 0))
    own = mr.JointProperties(drive=mr.Drive(motor, input="voltage"))
    b.body("rim", inertia.sphere(0.01, 0.03), joint=mr.Revolute(), properties=own)

    def volts(t, q, v):
        return np.array([6 * np.sign(np.sin(9 * t)) + 3 * np.sin(150 * t)])

    return mr.simulate(b.build(), duration=2.0, controller=volts, stepper=mr.ExponentialRungeKutta4(2e-4), tick=2e-4)


def test_constants_with_noise_are_within_their_uncertainty():
    """White noise of the current would make R and L too small by least squares; instruments do not let it."""
    run = turned()
    rim, rng = run.drive("rim"), np.random.default_rng(0)
    total, draws = 0.0, 20
    for _ in range(draws):
        current = rim.current + 0.1 * rng.normal(size=rim.current.shape)
        found = mr.identify_motor(run.t, rim.voltage, current, rim.motor_speed)
        e = found.values - TRUE
        total += e @ np.linalg.solve(found.covariance, e)
        assert found.values == pytest.approx(TRUE, rel=0.05)
    assert chi2.ppf(1e-3, 3 * draws) < total < chi2.ppf(1 - 1e-3, 3 * draws)
    assert "R 0.8" in str(found)
    fitted = found.motor(mr.Motor(1.0, supply=24.0))
    assert (fitted.resistance, fitted.inductance, fitted.torque_constant) == pytest.approx(tuple(found.values))
    assert fitted.supply == 24.0


def test_without_noise_to_what_samples_leave():
    run = turned()
    rim = run.drive("rim")
    found = mr.identify_motor(run.t, rim.voltage, rim.current, rim.motor_speed)
    assert found.values == pytest.approx(TRUE, rel=2e-3)
    assert (found.resistance, found.inductance, found.constant) == tuple(found.values)
    assert found.deviations.shape == (3,)


def test_constants_below_zero_are_told():
    """Of noise, and of a speed that is counted the other way."""
    noise = np.random.default_rng(3).normal(size=(3, 200))
    with pytest.warns(mr.ModurobWarning, match="L -.* H; .*expected none below zero"):
        assert mr.identify_motor(np.arange(200.0), *noise).inductance < 0
    run = turned()
    rim = run.drive("rim")
    with pytest.warns(mr.ModurobWarning, match="k -0.06.* N m/A: expected none below zero"):
        mr.identify_motor(run.t, rim.voltage, rim.current, -rim.motor_speed)
