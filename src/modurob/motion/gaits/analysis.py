"""Phases, phase locking and spectra of motions: of references, and of recordings just as well."""

from typing import Any, NamedTuple

import numpy as np

from modurob.errors import GaitError
from modurob.spatial.scalars import Array, as_array


class Spectrum(NamedTuple):
    """What a motion is made of."""

    frequency: Array  # (F,) [Hz]
    amplitude: Array  # of the sine of that frequency, (F, n), in the unit of the motion

    @property
    def peak(self) -> Array:
        """The frequency of the strongest part, (n,) [Hz], between the lines where it falls there."""
        top = np.clip(self.amplitude.argmax(axis=0), 1, len(self.frequency) - 2)
        column = np.arange(self.amplitude.shape[1])
        left, middle, right = (np.log(self.amplitude[top + i, column] + 1e-300) for i in (-1, 0, 1))
        # the vertex of the parabola through the logarithms of three lines
        shift = (left - right) / np.minimum(2 * (left - 2 * middle + right), -1e-12)
        return self.frequency[top] + shift * self.frequency[1]


def phases(motion: Array) -> Array:
    """Phase of each column over time, unwrapped, (T, n) [rad], such that sin(phase) times an envelope is the motion.

    By the Hilbert transform of the motion without its mean; the first and last period are less exact.
    """
    motion = _columns(motion)
    from scipy import signal  # slow to import

    analytic: Any = signal.hilbert(motion - motion.mean(axis=0), axis=0)
    return np.unwrap(np.angle(analytic), axis=0) + np.pi / 2


def phase_locking(phase: Array) -> Array:
    """|mean over time of exp(i (phase_j - phase_k))|, (n, n): one where two joints keep step, near zero where they drift."""
    turns = np.exp(1j * _columns(phase))
    return np.abs(turns.T @ turns.conj()) / len(turns)


def spectrum(t: Array, motion: Array) -> Spectrum:
    """Amplitudes over frequency of a motion (T, n), the mean left out, through a Hann window; `t` are even times, (T,) [s]."""
    t, motion = as_array(t), _columns(motion)
    step = np.diff(t)
    if t.shape != motion.shape[:1] or not np.allclose(step, step[0], rtol=1e-6) or step[0] <= 0:
        raise GaitError(
            f"times of shape {t.shape} for a motion of shape {motion.shape}: expected one time a row, evenly rising"
        )
    from scipy import signal  # slow to import

    frequency, power = signal.periodogram(motion, 1 / step[0], "hann", scaling="spectrum", axis=0)
    return Spectrum(frequency, np.sqrt(2 * power))


def _columns(motion: Array) -> Array:
    motion = as_array(motion)
    if motion.ndim != 2 or len(motion) < 8 or not np.all(np.isfinite(motion)):
        raise GaitError(f"a motion of shape {motion.shape}: expected (T, n), eight or more rows of finite numbers")
    return motion
