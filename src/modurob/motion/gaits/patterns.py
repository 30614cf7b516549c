"""Which joint swings when, about which angle and in which sense: the presets, for any tree of joints.

A pattern reads the tree of active joints, their axes and the robot's weight, and gives each joint a sign, an angle to
swing about and a phase: q = centre + sign * amplitude * wave, where the wave runs as sin(2 pi f t + phase).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from modurob.errors import GaitError
from modurob.motion.gaits.active import BASE, Active, require_movable
from modurob.motion.gaits.checks import require_number
from modurob.registry import Registry
from modurob.robot import Mechanism
from modurob.spatial import se3
from modurob.spatial.scalars import Array

QUARTER = np.pi / 2
# axes closer than 45 degrees count as one direction
ALONG = np.sqrt(0.5)
# cosine between axes that count as parallel
PARALLEL = 0.999


class Score(NamedTuple):
    """What each active joint plays, (n,) each."""

    sign: Array  # +1 or -1; 0: it stands still
    centre: Array  # added to the posture [rad or m]
    phase: Array  # [rad]


class Pattern(Protocol):
    """A pattern of motion, for any robot."""

    def on(self, joints: Active, q: Array) -> Score:
        """The score for these joints; q is the posture, (nq,)."""
        ...


PRESETS: Registry[type] = Registry("gait", GaitError)


@PRESETS.register("snake")
@dataclass(frozen=True)
class Snake:
    """A bending wave that travels along the body: phase = -2 pi `waves` (position along the body) / (positions).

    It travels from the base to the tip (if two chains leave the base: from the tip of the second to that of the first),
    and in the opposite direction for negative `waves`. Joints across the first joint's axis lag by a quarter period, so
    that a body of alternating axes winds sideways. Branches repeat the wave of their depth.
    """

    waves: float = 1.0  # on the body at a time

    def __post_init__(self) -> None:
        require_number("waves", self.waves)

    def on(self, joints: Active, q: Array) -> Score:
        place, direction = places(joints)
        sign, across = senses(joints.axes(q))
        behind = 2 * np.pi * self.waves * place / (np.ptp(place) + 1) + QUARTER * across
        return Score(sign * direction, np.zeros(len(joints)), -behind)


@PRESETS.register("crab")
@dataclass(frozen=True)
class Crab:
    """Limbs lift in turn; the next joint of a limb is a quarter period behind, so that feet run round.

    A positive swing lifts the limb against gravity, left and right alike. Joints between limbs swing with the first one.
    """

    def on(self, joints: Active, q: Array) -> Score:
        lift = joints.robot.gravity_forces(q)[joints.v_index]
        weightless = np.abs(lift) < 1e-9 * max(np.abs(lift).max(), 1e-9)
        sign = np.where(weightless, senses(joints.axes(q))[0], np.sign(lift))
        return Score(sign, np.zeros(len(joints)), _limb_phases(joints, q))


@PRESETS.register("quadruped")
@dataclass(frozen=True)
class Quadruped:
    """Limbs swing back and forth in one direction, neighbours around the body alternately: four limbs trot, six move as
    a tripod.

    The next joint of a limb lags by a quarter period. Joints between limbs swing with the first limb.
    """

    def on(self, joints: Active, q: Array) -> Score:
        return Score(senses(joints.axes(q))[0], np.zeros(len(joints)), _limb_phases(joints, q))


@PRESETS.register("wheel")
@dataclass(frozen=True)
class Wheel:
    """A chain bent to a ring, each of its n joints by 2 pi / n, and deformed by waves that travel around it, so that it
    rolls.

    Two `lobes` make the ring an ellipse; with two or more, and more joints than lobes, the ends stay together to first
    order in the amplitude. Negative lobes roll in the opposite direction. It needs one chain of parallel axes.
    """

    lobes: int = 2

    def __post_init__(self) -> None:
        if not isinstance(self.lobes, int) or self.lobes == 0:
            raise GaitError(
                f"lobes {self.lobes!r}: expected a whole number, 2 for an ellipse, negative to roll the other way"
            )

    def on(self, joints: Active, q: Array) -> Score:
        axes = joints.axes(q)
        chains = len(joints.children[BASE])
        if len(joints.limbs) != chains or chains > 2 or np.any(np.abs(axes @ axes[0]) < PARALLEL):
            raise GaitError(
                f"{joints.robot.name} cannot roll as a wheel: expected one chain of joints with parallel axes, "
                f"found {len(joints)} joints in {len(joints.limbs)} limbs"
            )
        place, direction = places(joints)
        sign, n = senses(axes)[0] * direction, len(joints)
        return Score(sign, sign * 2 * np.pi / n, -2 * np.pi * self.lobes * place / n)


@dataclass(frozen=True)
class Phases:
    """Phases by joint name, zero for the others; the joints swing as their own signs say."""

    phase: Mapping[str, float]  # [rad]

    def __post_init__(self) -> None:
        for name, value in self.phase.items():
            require_number(f"phase of {name!r}", value)

    def on(self, joints: Active, q: Array) -> Score:
        require_movable(joints.robot, self.phase)
        phase = np.array([self.phase.get(name, 0.0) for name in joints.names])
        return Score(np.ones(len(joints)), np.zeros(len(joints)), phase)


def places(joints: Active) -> tuple[Array, Array]:
    """The position of each joint along the body, and +1 or -1 whether it is traversed outwards or towards the base.

    Two chains that leave the base are one body, which starts at the tip of the second chain.
    """
    place, direction = joints.depth.copy(), np.ones(len(joints))
    if len(joints.limbs) == len(joints.children[BASE]) == 2:
        second = list(joints.limbs[1])
        place[second], direction[second] = -1 - place[second], -1.0
    return place, direction


def senses(axes: Array) -> tuple[Array, Array]:
    """+1 or -1 against the first axis, or for axes across it against the first of those; and which are across, (n,) each."""
    along = axes @ axes[0]
    across = np.abs(along) < ALONG
    other = axes @ axes[np.argmax(across)]
    return np.where(np.where(across, other, along) < 0, -1.0, 1.0), across


def _limb_phases(joints: Active, q: Array) -> Array:
    """Limb l of L, counted round the body, at 2 pi l [L / 2] / L; each further joint a quarter period behind, (n,)."""
    phase = np.zeros(len(joints))
    limbs = round_the_body(joints, q)
    for l, limb in enumerate(limbs):
        phase[list(limb)] = 2 * np.pi * l * (len(limbs) // 2) / len(limbs) - QUARTER * np.arange(len(limb))
    return phase


def round_the_body(joints: Active, q: Array) -> list[tuple[int, ...]]:
    """The limbs in their order around the vertical through their middle, the first one first."""
    robot = joints.robot
    feet = se3.position(robot.forward_kinematics(q).bodies[[joints.body[limb[0]] for limb in joints.limbs]])
    up = upwards(robot)
    spoke = feet - feet.mean(axis=0)
    ahead = np.cross(up, np.cross(spoke[0], up))
    left = np.cross(up, ahead)
    angle = np.round(np.arctan2(spoke @ left, spoke @ ahead) % (2 * np.pi), 9) % (2 * np.pi)
    return [joints.limbs[i] for i in np.argsort(angle, kind="stable")]


def upwards(robot: Mechanism) -> Array:
    """Against gravity, in world axes, (3,); along z where there is none."""
    weight = np.linalg.norm(robot.gravity)
    return -robot.gravity / weight if weight else np.array([0.0, 0.0, 1.0])
