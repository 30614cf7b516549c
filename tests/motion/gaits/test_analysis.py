"""Phases, locking and spectra of signals whose answers are known; pictures with units."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import modurob as mr
from modurob.errors import GaitError
from modurob.motion.gaits import (
    Gait,
    Logistic,
    Snake,
    gait,
    phase_locking,
    phases,
    plot_phases,
    plot_spectrum,
    spectrum,
)
from tests.motion.gaits.bodies import snake, wrapped

T = np.arange(0, 20, 0.01)


def test_phases_of_sines():
    lag = np.array([0.0, 0.7, -2.0])
    phase = phases(3 + 0.2 * np.sin(2 * np.pi * 1.5 * T[:, None] + lag))
    middle = slice(200, -200)
    np.testing.assert_allclose(wrapped(phase - lag - 2 * np.pi * 1.5 * T[:, None])[middle], 0, atol=1e-6)
    np.testing.assert_allclose(np.diff(phase, axis=0)[middle], 2 * np.pi * 1.5 * 0.01, atol=1e-6)


def test_phase_locking_of_drifting_phases():
    """Phases that drift apart by a turns in all: |sin(pi a) / (pi a)|."""
    turns = np.array([0.0, 0.5, 1.0, 2.7])
    drift = 2 * np.pi * turns * np.linspace(0, 1, 20001)[:, None]
    locking = phase_locking(drift)
    np.testing.assert_allclose(locking[0], np.abs(np.sinc(turns)), atol=1e-4)
    np.testing.assert_allclose(np.diag(locking), 1)
    np.testing.assert_allclose(locking, locking.T)


def test_locking_tells_synchronised_maps_from_free_ones():
    robot = snake(5).mechanism()
    t = np.arange(0, 400, 1 / 16)
    coupled = gait("snake", generator=Logistic(), frequency=1.0).on(robot).waves(t)
    free = gait("snake", generator=Logistic(coupling=1e-6, seed=0), frequency=1.0).on(robot).waves(t)
    assert phase_locking(phases(coupled)).min() > 0.95
    assert phase_locking(phases(free))[0, 1:].max() < 0.7


@pytest.mark.parametrize("frequency", [0.8, 1.2345])
def test_spectrum_of_a_sine(frequency):
    motion = np.stack(
        [0.3 * np.sin(2 * np.pi * frequency * T) + 5, 0.1 * np.cos(2 * np.pi * 2 * frequency * T)], axis=1
    )
    parts = spectrum(T, motion)
    # lines are 1/20 Hz apart; the parabola finds the place between them
    np.testing.assert_allclose(parts.peak, [frequency, 2 * frequency], atol=2e-3)
    np.testing.assert_allclose(parts.amplitude.max(axis=0), [0.3, 0.1], rtol=0.15)
    assert parts.frequency[1] == pytest.approx(1 / 20)


def test_spectral_amplitude_is_exact_on_a_line():
    parts = spectrum(T, 0.3 * np.sin(2 * np.pi * 1.0 * T)[:, None])
    assert parts.amplitude[20, 0] == pytest.approx(0.3, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: phases(np.zeros(20)), r"motion of shape \(20,\): expected \(T, n\)"),
        (lambda: phases(np.zeros((3, 2))), r"eight or more rows"),
        (lambda: phase_locking(np.full((20, 2), np.nan)), r"finite numbers"),
        (lambda: spectrum(T[:-1], np.zeros((len(T), 1))), r"expected one time a row, evenly rising"),
        (lambda: spectrum(T**2, np.zeros((len(T), 1))), r"evenly rising"),
        (lambda: plot_phases(gait("snake").on(snake(3).mechanism()), -1.0), r"duration -1.0: expected .* in s"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(GaitError, match=message):
        call()


def labels(figure):
    return [f"{ax.get_xlabel()} {ax.get_ylabel()}" for ax in figure.axes]


@pytest.mark.parametrize("modules", [3, 20])
def test_pictures_have_units_and_one_line_a_joint(modules):
    robot = snake(modules).mechanism()
    reference = gait("snake", amplitude=0.3).on(robot)
    orbits, lines = plot_phases(reference), plot_spectrum(reference, duration=60.0)
    text = " ".join(labels(orbits) + labels(lines))
    for label in (
        "time [s]",
        "joint coordinate [rad]",
        "joint rate [rad/s]",
        "m0/hinge [rad]",
        "frequency [Hz]",
        "amplitude [rad]",
    ):
        assert label in text
    assert [len(ax.lines) for ax in orbits.axes] == [robot.nv] * 3
    course, orbit, phase = orbits.axes
    assert "time [s]" not in orbit.get_xlabel()
    assert course.get_xlim() == phase.get_xlim() == pytest.approx((0, 20), abs=0.1)
    assert orbits.get_suptitle() == lines.get_suptitle() == f"gait of {robot.name}, 0.5 Hz"
    shown = lines.axes[0].lines[0].get_xydata()
    assert shown[shown[:, 1].argmax(), 0] == pytest.approx(0.5, abs=1e-3)
    assert len(orbits.legends[0].texts) == min(robot.nv, 3 if robot.nv > 12 else robot.nv)
    plt.close("all")


def test_curves_on_each_other_are_all_seen():
    """Joints that swing alike: every colour is in the picture, of the course, of the phases and of the orbits."""
    robot = snake(5).mechanism()
    reference = gait("snake", amplitude=0.3, waves=0.0).on(robot)
    assert np.ptp(reference(T)[0][:, reference.joints.q_index], axis=1).max() < 1e-12
    figure = plot_phases(reference)
    figure.canvas.draw()
    picture = np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(int)
    for ax in figure.axes:
        (left, low), (right, high) = ax.get_window_extent().get_points().astype(int)
        inside = picture[len(picture) - high : len(picture) - low, left:right].reshape(-1, 3)
        for line in ax.lines:
            ink = np.round(255 * np.array(line.get_color()[:3]))
            assert (np.abs(inside - ink).max(axis=1) < 8).sum() > 20
    plt.close(figure)


def test_pictures_of_sliding_joints_say_metres():
    robot = mr.load("crane").mechanism()
    for amplitude, unit in (({"m0/joint": 0.1}, "[m]"), ({"m0/joint": 0.1, "m1/hinge": 0.1}, "[rad or m]")):
        figure = plot_spectrum(Gait(Snake(), amplitude=amplitude).on(robot))
        assert figure.axes[0].get_ylabel() == f"amplitude {unit}"
    plt.close("all")
