"""Striding legs: the gait of hexapods, and of all robots on legs with joints that swing and lift them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from modurob.motion.gaits.active import Active
from modurob.motion.gaits.checks import require_number
from modurob.motion.gaits.patterns import ALONG, PRESETS, QUARTER, Score, round_the_body, upwards
from modurob.spatial import inertia, se3
from modurob.spatial.scalars import Array


class _Legs(NamedTuple):
    """Where the joints are, what they turn about, and the foot of each leg, in world axes."""

    at: Array  # (n, 3)
    axes: Array  # (n, 3)
    feet: dict[int, Array]  # by joint of the leg
    up: Array
    ahead: Array


@PRESETS.register("hexapod")
@dataclass(frozen=True)
class Hexapod:
    """Neighbours around the body stride alternately: six legs move as a tripod, four trot. Legs swing forward while
    they are lifted.

    By roles: joints of a leg with a vertical axis swing it, the first of the others lifts it, the rest and the joints
    between legs do not move. Legs are bent down by `stance` [rad]. Forward is across the legs.
    """

    stance: float = 0.5  # [rad]

    def __post_init__(self) -> None:
        require_number("stance", self.stance)

    def on(self, joints: Active, q: Array) -> Score:
        legs = _legs(joints, q)
        sign, centre, phase = np.zeros((3, len(joints)))
        for l, limb in enumerate(round_the_body(joints, q)):
            swings = [k for k in limb if abs(legs.axes[k] @ legs.up) > ALONG]
            lifts = [k for k in limb if k not in swings][:1]
            for k in swings:
                sign[k], phase[k] = np.sign(_motion(legs, k) @ legs.ahead), np.pi * l
            for k in lifts:
                sign[k], phase[k] = np.sign(_motion(legs, k) @ legs.up), np.pi * l + QUARTER
                centre[k] = -sign[k] * self.stance
        return Score(sign, centre, phase)


def _motion(legs: _Legs, k: int) -> Array:
    """How the foot moves as joint k turns."""
    return np.cross(legs.axes[k], legs.feet[k] - legs.at[k])


def _legs(joints: Active, q: Array) -> _Legs:
    robot = joints.robot
    X, axes = robot.forward_kinematics(q).bodies, joints.axes(q)
    at = se3.position(X[list(joints.body)])
    up = upwards(robot)
    feet, spokes = {}, []
    for limb in joints.limbs:
        tip = joints.body[limb[-1]]
        foot = X[tip, :3, :3] @ inertia.centre(robot.inertia[tip]) + X[tip, :3, 3]
        feet |= dict.fromkeys(limb, foot)
        spokes.append(foot - at[limb[0]] - up * (up @ (foot - at[limb[0]])))
    across = np.linalg.svd(np.array(spokes))[2][0]
    return _Legs(at, axes, feet, up, np.cross(up, across))
