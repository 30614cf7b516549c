"""Hopf oscillators against their closed forms, alone and coupled."""

import numpy as np
import pytest

from modurob.errors import GaitError
from modurob.motion.gaits import Hopf
from tests.motion.gaits.bodies import random_network, wrapped

# what the integration leaves after some dozen periods
INTEGRATED = 1e-6


@pytest.mark.parametrize("mu", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("seed", range(3))
def test_one_oscillator_follows_its_closed_form(rng, mu, seed):
    """r^2 = mu / (1 + (mu / r0^2 - 1) exp(-2 mu s)), and the angle grows by one a unit of s."""
    wave = Hopf(mu=mu, seed=seed).waves(random_network(rng, 1))
    s = np.linspace(0, 60, 601)
    w, dw, _ = (x[:, 0] for x in wave(s))
    angle = np.arctan2(w[-1], dw[-1]) - s[-1]
    start = w[0] * np.sqrt(mu) / np.sin(angle)
    radius = np.sqrt(mu / (1 + (mu / start**2 - 1) * np.exp(-2 * mu * s)))
    np.testing.assert_allclose(w, radius / np.sqrt(mu) * np.sin(s + angle), atol=INTEGRATED)


@pytest.mark.parametrize("mu", [0.5, 2.0])
def test_limit_cycle_has_radius_sqrt_mu_and_period_two_pi(rng, mu):
    w, dw, ddw = Hopf(mu=mu, seed=5).waves(random_network(rng, 1))(np.linspace(60, 60 + 2 * np.pi, 200))
    # on the cycle dw/ds is the real part: w^2 + dw^2 = |z|^2 / mu
    np.testing.assert_allclose(w**2 + dw**2, 1, atol=INTEGRATED)
    np.testing.assert_allclose(ddw, -w, atol=INTEGRATED)
    np.testing.assert_allclose(w[-1], w[0], atol=INTEGRATED)


@pytest.mark.parametrize("seed", range(6))
def test_random_starts_lock_to_the_given_phases(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng, int(rng.integers(2, 9)))
    w, dw, _ = Hopf(coupling=2.0, seed=seed).waves(network)(np.array(400.0))
    angle = np.arctan2(w, dw)
    np.testing.assert_allclose(wrapped(angle - angle[0] - network.phase + network.phase[0]), 0, atol=INTEGRATED)
    np.testing.assert_allclose(np.hypot(w, dw), 1, atol=INTEGRATED)


def test_they_start_anywhere_and_not_locked(rng):
    network = random_network(rng, 8)
    w, _, _ = Hopf(seed=1).waves(network)(np.array(0.0))
    assert np.abs(w - np.sin(network.phase)).max() > 0.3


@pytest.mark.parametrize("seed", range(4))
def test_waves_stay_within_one(seed):
    network = random_network(np.random.default_rng(seed), 6)
    w, _, _ = Hopf(mu=0.2, coupling=3.0, seed=seed).waves(network)(np.linspace(0, 40, 2000))
    assert np.abs(w).max() <= 1 + INTEGRATED


def test_without_a_seed_they_start_locked_and_stay(rng):
    network = random_network(rng, 7)
    s = np.linspace(0, 100, 500)
    w, _, _ = Hopf().waves(network)(s)
    np.testing.assert_allclose(w, np.sin(s[:, None] + network.phase), atol=INTEGRATED)


@pytest.mark.parametrize("setting", ["mu", "coupling"])
@pytest.mark.parametrize("value", [0, -1, np.nan, 1e4, "strong"])
def test_bad_settings_are_refused(setting, value):
    with pytest.raises(GaitError, match=f"{setting} .*expected a finite number above zero, 100 at most"):
        Hopf(**{setting: value})


def test_there_is_no_time_before_the_start(rng):
    with pytest.raises(GaitError, match=r"time -0\.1 .*oscillators start at zero"):
        Hopf().waves(random_network(rng, 2))(np.array(-0.1))
