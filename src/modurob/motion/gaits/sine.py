"""Sine waves: the rhythmic functions of Meister, Gutenkunst, Levi, section VI, that need no network to keep their phases."""

from dataclasses import dataclass

import numpy as np

from modurob.motion.gaits.active import Network
from modurob.motion.gaits.waves import GENERATORS, Jet, Waves
from modurob.spatial.scalars import Array


@GENERATORS.register("sine")
@dataclass(frozen=True)
class Sine:
    """w_i = sin(s + phase_i)."""

    def waves(self, network: Network) -> Waves:
        def wave(s: Array) -> Jet:
            turned = np.asarray(s)[..., None] + network.phase
            w = np.sin(turned)
            return w, np.cos(turned), -w

        return wave
