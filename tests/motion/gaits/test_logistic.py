"""Lattices of logistic maps: when they synchronise, into what, and the waves they make."""

from itertools import islice

import numpy as np
import pytest

from modurob.errors import GaitError
from modurob.motion.gaits import Logistic
from modurob.motion.gaits.logistic import alternation
from tests.motion.gaits.bodies import random_network


def lyapunov(r):
    """Mean of ln |f'| along one map."""
    x, total, count = 0.37, 0.0, 20000
    for _ in range(count):
        total += np.log(abs(r * (1 - 2 * x)))
        x = r * x * (1 - x)
    return total / count


def after(maps, listens, x, count):
    return next(islice(maps.iterates(listens, x), count, None))


def test_lyapunov_exponent_at_four_is_ln_two():
    assert lyapunov(4.0) == pytest.approx(np.log(2), abs=0.01)


@pytest.mark.parametrize("r", [3.9, 4.0])
@pytest.mark.parametrize("n", [3, 8])
def test_maps_coupled_to_all_run_in_unison_above_the_threshold_only(r, n):
    """The unison state is stable where (1 - coupling) exp(Lyapunov exponent) < 1."""
    threshold = 1 - np.exp(-lyapunov(r))
    everyone = np.full((n, n), 1 / n)
    apart = np.random.default_rng(n).uniform(0.1, 0.9, n)
    together = 0.4 + 1e-9 * np.arange(n)
    above = Logistic(r, threshold + 0.06, "all")
    assert np.ptp(after(above, everyone, apart, 4000)) < 1e-12
    assert np.ptp(after(above, everyone, together, 4000)) < 1e-12
    below = Logistic(r, threshold - 0.06, "all")
    tails = list(islice(below.iterates(everyone, together), 2000, 2200))
    assert max(np.ptp(x) for x in tails) > 0.01


@pytest.mark.parametrize("seed", range(5))
def test_alternation_is_an_orbit_of_every_tree_and_draws_it_in(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng, int(rng.integers(2, 15)))
    low, high = alternation(4.0, 0.15)
    x = np.where(network.depth % 2, high, low)
    maps = Logistic(4.0, 0.15)
    np.testing.assert_allclose(after(maps, network.listens, x, 1), np.where(network.depth % 2, low, high), atol=1e-14)
    np.testing.assert_allclose(after(maps, network.listens, x + 1e-4 * rng.normal(size=len(x)), 200), x, atol=1e-9)


@pytest.mark.parametrize(("coupling", "stable"), [(0.13, False), (0.15, True), (0.18, True), (0.2, False)])
def test_alternation_is_stable_where_its_jacobian_says(coupling, stable):
    network = random_network(np.random.default_rng(3), 9)
    low, high = alternation(4.0, coupling)
    x = np.where(network.depth % 2, high, low)
    step = (1 - coupling) * np.eye(9) + coupling * network.listens
    jacobian = step @ np.diag(4 - 8 * (low + high - x)) @ step @ np.diag(4 - 8 * x)
    assert (np.abs(np.linalg.eigvals(jacobian)).max() < 1) == stable
    end = after(Logistic(4.0, coupling), network.listens, x + 1e-7 * np.arange(9), 1000)
    assert (np.abs(end - x).max() < 1e-9) == stable


@pytest.mark.parametrize("seed", range(4))
def test_chaotic_maps_fall_into_step_from_anywhere(seed):
    """A row of six maps, each chaotic alone, ends in the closed form of the alternation."""
    network = random_network(np.random.default_rng(seed), 6, chain=True)
    start = np.random.default_rng(seed).uniform(0.1, 0.9, 6)
    end = after(Logistic(), network.listens, start, 6000)
    low, high = alternation(4.0, 0.15)
    odd = (network.depth % 2).astype(bool)
    np.testing.assert_allclose(end, np.where(odd == (end[0] > 0.6), low, high), atol=1e-9)
    # alone they wander: no value comes back
    lonely = list(islice(Logistic(4.0, 0.15).iterates(np.eye(6), start), 6000, 6100))
    assert np.abs(np.diff(lonely, axis=0)[::2].std(axis=0)).min() > 0.05


def test_waves_in_step_have_their_phases(rng):
    network = random_network(rng, 7)
    s = np.arange(0, 16 * np.pi, np.pi / 64)
    w, _, _ = Logistic().waves(network)(s)
    first = 2 * np.mean(w * np.exp(-1j * s)[:, None], axis=0)
    np.testing.assert_allclose(first, np.abs(first) * np.exp(1j * (network.phase - np.pi / 2)), atol=1e-6)
    assert np.abs(first).min() > 1
    np.testing.assert_allclose([w.min(axis=0), w.max(axis=0)], [[-1] * 7, [1] * 7], atol=1e-3)


@pytest.mark.parametrize(
    "maps", [Logistic(seed=1), Logistic(4.0, 0.6, "all", seed=1), Logistic(3.3, 0.6, "all", seed=1)]
)
def test_waves_stay_within_one_and_reach_each_iterate_at_rest(rng, maps):
    network = random_network(rng, 5)
    waves = maps.waves(network)
    assert np.abs(waves(np.linspace(0, 200, 4000))[0]).max() <= 1 + 1e-12
    arrival = np.pi * 20 - (network.phase[2] + np.pi / 2) % np.pi
    for rate in waves(np.array(arrival))[1:]:
        assert rate[2] == pytest.approx(0, abs=1e-9)


def test_maps_in_unison_give_one_wave_shifted_by_the_phases(rng):
    network = random_network(rng, 5)
    waves = Logistic(4.0, 0.6, "all", seed=2).waves(network)
    s = 2000 + np.linspace(0, 40, 300)
    # the shifts are taken once round: joint i reads (phase_i + pi / 2) mod 2 pi ahead
    ahead = (network.phase + np.pi / 2) % (2 * np.pi)
    alike = [waves(s - ahead[i])[0][:, i] for i in range(5)]
    np.testing.assert_allclose(alike, np.broadcast_to(alike[0], (5, 300)), atol=1e-9)
    assert np.std(alike[0]) > 0.2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"r": 4.2}, r"r 4.2, coupling 0.15: expected r above 3 and up to 4"),
        ({"r": 2.9}, r"expected r above 3"),
        ({"coupling": 1.2}, r"coupling up to 1"),
        ({"coupling": 0}, r"coupling 0: expected a finite number above zero"),
        ({"coupling": 0.4}, r"neighbours do not alternate at r 4.0, coupling 0.4: expected a weaker coupling"),
        ({"graph": "neighbors"}, r"graph 'neighbors': did you mean 'neighbours'\? valid: neighbours, all"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(GaitError, match=message):
        Logistic(**settings)


def test_there_is_no_time_before_the_start(rng):
    with pytest.raises(GaitError, match="maps start at zero"):
        Logistic().waves(random_network(rng, 2))(np.array(-10.0))
