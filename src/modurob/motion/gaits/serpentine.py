"""Gaits of snakes: waves of bending up and down and sideways, each by its share, one ahead of the other.

A compound serpenoid curve (Hirose, Biologically Inspired Robots; Tesch and others, Parameterized and scripted gaits for modular
snake robots). Joints that turn about the vertical bend the body sideways, the others up and down.
"""

from dataclasses import dataclass

import numpy as np

from modurob.motion.gaits.active import Active
from modurob.motion.gaits.checks import require_number
from modurob.motion.gaits.patterns import ALONG, PRESETS, QUARTER, Score, places, senses, upwards
from modurob.spatial.scalars import Array


@dataclass(frozen=True)
class Serpentine:
    """Bending at position s of S: vertical by `pitch` sin(w t - a), lateral by `yaw` sin(w t - a - lag), a = 2 pi
    `waves` s / S.

    With zero shares the joints stay in the posture.
    """

    waves: float = 1.0  # on the body at a time; negative: towards the base
    pitch: float = 1.0  # share of the amplitude
    yaw: float = 1.0
    lag: float = QUARTER  # [rad]

    def __post_init__(self) -> None:
        for name in ("waves", "pitch", "yaw", "lag"):
            require_number(name, getattr(self, name))

    def on(self, joints: Active, q: Array) -> Score:
        place, direction = places(joints)
        axes = joints.axes(q)
        sideways = np.abs(axes @ upwards(joints.robot)) > ALONG
        share = np.where(sideways, self.yaw, self.pitch)
        behind = 2 * np.pi * self.waves * place / (np.ptp(place) + 1) + self.lag * sideways
        return Score(senses(axes)[0] * direction * share, np.zeros(len(joints)), -behind)


@PRESETS.register("inchworm")
@dataclass(frozen=True)
class Inchworm(Serpentine):
    """Waves of bending up and down alone; joints that bend sideways are free to steer."""

    yaw: float = 0.0


@PRESETS.register("undulation")
@dataclass(frozen=True)
class Undulation(Serpentine):
    """Waves of bending sideways alone: lateral undulation, which needs ground or skin that resists sideways."""

    pitch: float = 0.0


@PRESETS.register("sidewinding")
@dataclass(frozen=True)
class Sidewinding(Serpentine):
    """Both waves, a quarter period apart: the lifted parts move sideways, the others stay in place."""

    pitch: float = 0.4


@PRESETS.register("rolling")
@dataclass(frozen=True)
class Rolling(Serpentine):
    """The whole body bent to an arc that turns about itself, so that it rolls across its length."""

    waves: float = 0.0
