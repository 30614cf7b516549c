"""Matsuoka oscillators against the published frequency and SciPy's integration of the published equations."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from modurob.errors import GaitError
from modurob.motion.gaits import Matsuoka
from tests.motion.gaits.bodies import random_network, wrapped

# the formula takes the waves for sines: it is this good where they nearly are
HARMONIC_BALANCE = 0.01
NEARLY_SINES = [(2.0, 2.5, 2.0), (1.6, 2.0, 2.0), (2.5, 2.5, 1.0), (1.8, 2.5, 4.0), (2.2, 3.0, 1.0), (1.6, 1.6, 2.0)]


def published(a, b, T, duration):
    """The equations of Matsuoka (1985) with tau = 1, as printed: when x1 - x2 rises through zero, and how far it swings."""

    def rate(_, z):
        x1, f1, x2, f2 = z
        y1, y2 = max(x1, 0), max(x2, 0)
        return [1 - x1 - b * f1 - a * y2, (y1 - f1) / T, 1 - x2 - b * f2 - a * y1, (y2 - f2) / T]

    def rises(_, z):
        return z[0] - z[2]

    rises.direction = 1  # type: ignore[attr-defined]
    run = solve_ivp(rate, (0, duration), [0.2, 0, 0, 0.1], "RK45", events=rises, rtol=1e-7, atol=1e-9, max_step=0.1)
    late = run.t > duration / 2
    return run.t_events[0], np.ptp((run.y[0] - run.y[2])[late]) / 2


@pytest.mark.parametrize(("a", "b", "T"), NEARLY_SINES)
def test_frequency_is_the_published_one(a, b, T):
    oscillator = Matsuoka(a, b, T)
    assert 2 * np.pi / oscillator.cycle.period == pytest.approx(oscillator.natural_frequency, rel=HARMONIC_BALANCE)


def test_published_frequency_in_figures():
    """tau = 1, T = 12, a = b = 2.5: omega = sqrt((13 * 2.5 - 2.5) / 2.5) / 12 = sqrt(12) / 12."""
    assert Matsuoka(2.5, 2.5, 12.0).natural_frequency == pytest.approx(12**-0.5, rel=1e-14)


@pytest.mark.parametrize(("a", "b", "T"), [NEARLY_SINES[0], (2.5, 2.5, 12.0)])
def test_cycle_is_that_of_the_published_equations(a, b, T):
    times, swing = published(a, b, T, 40 * Matsuoka(a, b, T).cycle.period)
    cycle = Matsuoka(a, b, T).cycle
    assert cycle.period == pytest.approx(np.diff(times)[-3:].mean(), rel=1e-5)
    assert cycle.peak == pytest.approx(swing, rel=1e-3)


def test_one_pair_runs_once_in_two_pi_from_phase_zero(rng):
    network = random_network(rng, 1)
    s = np.linspace(0, 2 * np.pi, 400)
    wave = Matsuoka().waves(network)
    w, _, _ = wave(s)
    later, _, _ = wave(s + 16 * np.pi)
    np.testing.assert_allclose(later, w, atol=1e-5)
    assert np.abs(w).max() == pytest.approx(1, abs=1e-3)
    zero, slope, _ = wave(2 * np.pi - network.phase[0] % (2 * np.pi))
    assert zero[0] == pytest.approx(0, abs=1e-5)
    assert slope[0] > 0


@pytest.mark.parametrize("seed", range(3))
def test_random_starts_lock_near_the_given_phases(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng, 4)
    w, _, _ = Matsuoka(seed=seed).waves(network)(np.arange(0, 40 * 2 * np.pi, 2 * np.pi / 64))
    settled = w[-8 * 64 :]
    # phase of the first harmonic, over eight whole periods
    angle = np.angle((settled * np.exp(-2j * np.pi * np.arange(len(settled)) / 64)[:, None]).sum(axis=0))
    np.testing.assert_allclose(wrapped(angle - angle[0] - network.phase + network.phase[0]), 0, atol=0.05)
    assert np.abs(settled).max() == pytest.approx(1, abs=0.08)
    # it may shoot over a little while it locks
    assert np.abs(w).max() < 1.1


@pytest.mark.parametrize(("a", "b", "T"), [(1.4, 2.5, 2.0), (3.6, 2.5, 2.0)])
def test_pairs_that_do_not_swing_are_refused(a, b, T):
    with pytest.raises(GaitError, match=rf"inhibition {a}: .*1 \+ 1 / slowness = 1.5 and 1 \+ adaptation = 3.5"):
        Matsuoka(a, b, T)
    _, swing = published(a, b, T, 300.0)
    assert swing < 1e-3


@pytest.mark.parametrize("setting", ["inhibition", "adaptation", "slowness", "coupling"])
def test_bad_settings_are_refused(setting):
    with pytest.raises(GaitError, match=f"{setting} -1: expected a finite number above zero"):
        Matsuoka(**{setting: -1})
