"""Bodies that bound: what is ahead swings together, what is behind follows by a lag, on trees of any shape."""

from dataclasses import dataclass

import numpy as np

from modurob.motion.gaits.active import Active
from modurob.motion.gaits.checks import require_number
from modurob.motion.gaits.patterns import PRESETS, Score, senses, upwards
from modurob.spatial import se3
from modurob.spatial.scalars import Array


@PRESETS.register("bound")
@dataclass(frozen=True)
class Bound:
    """Joints with axes across the direction of travel swing `lag` [rad] later the farther ahead they are: 0 for the
    last, `lag` for the first ones.

    Ahead is across the first joint's axis, in the ground plane. Joints with other axes do not move. Limbs are bent down
    by `stance` [rad]. In this way the crab of Meister, Gutenkunst, Levi throws its arms forward and pulls its tail
    along.
    """

    lag: float = 2.0  # [rad]
    stance: float = 0.0  # [rad]

    def __post_init__(self) -> None:
        require_number("lag", self.lag)
        require_number("stance", self.stance)

    def on(self, joints: Active, q: Array) -> Score:
        axes, up = joints.axes(q), upwards(joints.robot)
        sign, across = senses(axes)
        ahead = np.cross(up, axes[0])
        place = se3.position(joints.robot.forward_kinematics(q).bodies[list(joints.body)]) @ ahead
        share = (place - place.min()) / max(np.ptp(place), 1e-9)
        sign = np.where(across, 0.0, sign)
        return Score(sign, -self.stance * sign, -self.lag * share)
