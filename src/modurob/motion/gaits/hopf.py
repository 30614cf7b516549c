"""Hopf oscillators, coupled so that they lock at given phase differences."""

from dataclasses import dataclass

import numpy as np

from modurob.motion.gaits.active import Network
from modurob.motion.gaits.checks import FASTEST, require_positive, require_seed
from modurob.motion.gaits.waves import GENERATORS, Flow
from modurob.spatial.scalars import Array


@GENERATORS.register("hopf")
@dataclass(frozen=True)
class Hopf:
    """dz_i/ds = (mu - |z_i|^2 + i) z_i + coupling mean_j(exp(i (phase_i - phase_j)) z_j - z_i), over the neighbours j.

    A single oscillator moves on the circle of radius sqrt(mu), with the period 2 pi, and returns to it as exp(-2 mu s).
    Coupled, the locked motion is z_i = sqrt(mu) exp(i (s + phase_i)), exactly; the wave is the imaginary part, divided
    by sqrt(mu). Without a seed they start locked, with a seed anywhere within the circle, which they never leave.
    """

    mu: float = 1.0
    coupling: float = 1.0
    seed: int | None = None

    def __post_init__(self) -> None:
        require_positive("mu", self.mu, most=FASTEST)
        require_positive("coupling", self.coupling, most=FASTEST)
        require_seed(self.seed)

    def waves(self, network: Network) -> Flow:
        turns = np.exp(1j * (network.phase[:, None] - network.phase)) * network.listens

        def coupled(z: Array) -> Array:
            return self.coupling * (z @ turns.T - z)

        def growth(z: Array) -> Array:
            return self.mu - np.abs(z) ** 2 + 1j

        def rate(z: Array) -> Array:
            return growth(z) * z + coupled(z)

        def read(z: Array) -> Array:
            dz = rate(z)
            ddz = growth(z) * dz - 2 * np.real(z.conj() * dz) * z + coupled(dz)
            return np.imag(np.stack([z, dz, ddz], axis=-2)) / np.sqrt(self.mu)

        # the integrator needs real states: real and imaginary parts alternate
        return Flow(
            lambda state: rate(state.view(complex)).view(float),
            lambda state: read(state.view(complex)),
            np.sqrt(self.mu) * self._start(network.phase).view(float),
        )

    def _start(self, phase: Array) -> Array:
        """States on or within the circle of radius one, (n,)."""
        if self.seed is None:
            return np.exp(1j * phase)
        radius, turn = np.random.default_rng(self.seed).uniform(size=(2, len(phase)))
        return np.sqrt(radius) * np.exp(2j * np.pi * turn)
