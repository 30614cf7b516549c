"""Gains against python-control, SciPy and the figures of the sources."""

import control
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

from modurob.control import gains_by_damping, gains_by_lqr, gains_by_poles, lqr

real = st.floats(-20, -0.3)


@st.composite
def stable_poles(draw, n):
    """n poles, real or in conjugate pairs."""
    pair = complex(draw(real), draw(st.floats(0, 20)))
    two = [pair, pair.conjugate()] if draw(st.booleans()) else [draw(real), draw(real)]
    return two + [draw(real)] * (n - 2)


@given(st.one_of(stable_poles(2), stable_poles(3)))
def test_poles_are_the_roots_of_the_error_equation(wanted):
    kp, kd, ki = gains_by_poles(wanted)
    found = [1, kd, kp] if len(wanted) == 2 else [1, kd, kp, ki]
    np.testing.assert_allclose(found, np.real(np.poly(wanted)), rtol=1e-12)


@given(st.one_of(stable_poles(2), stable_poles(3)), st.floats(1e-3, 0.1))
def test_sampled_poles_are_exact(wanted, T):
    """The sampled double integrator by the matrix exponential, the integral by its sum: eigenvalues exp(pole T)."""
    kp, kd, ki = gains_by_poles(wanted, T)
    held = expm(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]) * T)
    A, B = held[:2, :2], held[:2, 2]
    closed = A - np.outer(B, [kp, kd])
    if len(wanted) == 3:
        closed = np.block([[np.ones((1, 1)), np.array([[T, 0.0]])], [-ki * B[:, None], closed]])
    expected = np.real(np.poly(np.exp(np.array(wanted) * T)))
    np.testing.assert_allclose(np.poly(closed), expected, atol=1e-11)


def test_many_joints_at_once():
    """Gutenkunst (6.38), with the gains that (6.39)-(6.42) swap."""
    gains = gains_by_poles([[-2, -3], [-10, -5]])
    np.testing.assert_allclose(gains.kp, [6, 50])
    np.testing.assert_allclose(gains.kd, [5, 15])
    np.testing.assert_array_equal(gains.ki, [0, 0])


@pytest.mark.parametrize("damping", [0.1, 0.3, 0.5, 0.7, 0.78, 0.9, 0.999, 1.0, 1.3, 4.0])
def test_steps_settle_in_the_time_asked_for(damping):
    kp, kd, _ = gains_by_damping(damping, 2.0)
    assert kd / (2 * np.sqrt(kp)) == pytest.approx(damping)
    t = np.linspace(0, 4, 40_001)
    y = control.step_response(control.tf([kp], [1, kd, kp]), t).outputs
    settled = t[np.abs(y - 1) > 0.02][-1]
    assert settled == pytest.approx(2.0, abs=2e-4)


def test_rules_of_thumb():
    """4/(z w) of Sepp et al. to a tenth at z = 0.7; at z = 1 its time is too short by a third."""
    w = np.sqrt(gains_by_damping(0.7, 1.0).kp)
    assert 4 / (0.7 * w) == pytest.approx(1.0, rel=0.1)
    assert np.sqrt(gains_by_damping(1.0, 1.0).kp) == pytest.approx(5.834, abs=1e-3)


def test_damping_in_sampled_time_keeps_the_poles():
    kp, kd, _ = gains_by_damping(0.6, 1.5)
    expected = np.exp(np.roots([1, kd, kp]) * 0.02)
    kp, kd, _ = gains_by_damping(0.6, 1.5, 0.02)
    A = np.array([[1, 0.02], [0, 1]]) - np.outer([0.02**2 / 2, 0.02], [kp, kd])
    np.testing.assert_allclose(np.poly(A), np.real(np.poly(expected)), atol=1e-12)


def test_lqr_is_that_of_python_control(rng):
    A, B = rng.normal(size=(5, 5)), rng.normal(size=(5, 2))
    Q, R = np.diag(rng.uniform(0.1, 2, 5)), np.diag(rng.uniform(0.5, 2, 2))
    np.testing.assert_allclose(lqr(A, B, Q, R), control.lqr(A, B, Q, R)[0], rtol=1e-8)
    sampled = control.sample_system(control.ss(A, B, np.eye(5), 0), 0.05)
    expected = control.dlqr(sampled.A, sampled.B, Q * 0.05, R * 0.05)[0]
    np.testing.assert_allclose(lqr(A, B, Q, R, 0.05), expected, rtol=1e-8)
    np.testing.assert_allclose(lqr(A, B, Q, R, 1e-6), lqr(A, B, Q, R), rtol=1e-3)


def test_lqr_of_a_joint_has_a_closed_form():
    """kp = sqrt(position/acceleration), kd = sqrt(velocity/acceleration + 2 kp)."""
    kp, kd, ki = gains_by_lqr(9.0, 2.0, 0.25)
    assert kp == pytest.approx(6)
    assert kd == pytest.approx(np.sqrt(8 + 12))
    assert ki == 0
    coarse, fine = gains_by_lqr(9.0, 2.0, 0.25, 0.1), gains_by_lqr(9.0, 2.0, 0.25, 1e-4)
    assert fine.kp == pytest.approx(6, rel=1e-3)
    assert coarse.kp < 5
