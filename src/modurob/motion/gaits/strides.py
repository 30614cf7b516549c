"""Settings of walking gaits: those set by hand for the organisms, and the widest stride within the limits of a robot."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from modurob.errors import ModurobError
from modurob.motion.gaits.found import ORGANISMS, walking_robot
from modurob.motion.gaits.recipe import gait
from modurob.robot import Assembly, Mechanism

SWINGS = (0.4, 0.2, 0.1, 0.05)  # amplitudes that are tried, the widest first [rad]
STRIDES = (1.0, 0.8, 0.6, *SWINGS)  # on the ground, where small swings only slip
SMALL = 0.1  # [rad]
FREQUENCY = 1.0  # on the ground [Hz]
MOST_RATES = 60  # degrees of freedom of robots that are looked at this closely


class Stride(NamedTuple):
    """A preset, its amplitude [rad], its frequency [Hz], its options, and the joints that swing, all if none are named."""

    gait: str
    amplitude: float
    frequency: float = FREQUENCY
    options: Mapping[str, float] = MappingProxyType({})
    joints: tuple[str, ...] = ()


# those of docs/walking.md, on which MuJoCo agrees
SET_BY_HAND: Mapping[str, Stride] = {
    "crab": Stride("bound", 1.1, 1.5, {"lag": 2.4, "stance": -0.3}),
    "snake": Stride("inchworm", 0.8),
    "caterpillar": Stride("inchworm", 0.6, options={"waves": 2.0}),
    "quadruped": Stride("hexapod", 0.25, options={"stance": 1.0}),
    "hexapod": Stride("hexapod", 0.35, options={"stance": 1.2}),
    "wheel": Stride("wheel", 0.25, 0.5),
    "convoy": Stride("inchworm", 0.6, joints=tuple(f"m{i}/hinge" for i in range(5))),
}


def organism(assembly: Assembly) -> str:
    """The name of the organism that an assembly is, whatever its setup; empty if there is none."""
    alike = [name for name, (modules, _) in _organisms().items() if modules == len(assembly)]
    return next((name for name in alike if _organisms()[name][1] == assembly.key), "") if alike else ""


@cache
def _organisms() -> dict[str, tuple[int, str]]:
    return {name: (len(made), made.key) for name in ORGANISMS for made in [walking_robot(name)]}


def stride(robot: Mechanism, pattern: str, own: str = "") -> Stride:
    """The settings at which that gait walks: those set by hand if it is that of the organism `own`, otherwise the
    widest swing at 1 Hz.
    """
    by_hand = SET_BY_HAND.get(own)
    if by_hand is not None and by_hand.gait == pattern:
        return by_hand
    return Stride(pattern, widest(robot, pattern, STRIDES) or SWINGS[0])


def widest(robot: Mechanism, pattern: str, swings: tuple[float, ...] = SWINGS) -> float:
    """The widest swing that the limits allow [rad]; none if the gait does not fit the robot at all."""
    if robot.loops:  # to close them all along a gait takes long: a small swing mostly can
        return SMALL
    if robot.nv > MOST_RATES:
        return swings[-len(SWINGS)]
    return next((amplitude for amplitude in swings if _fits(robot, pattern, amplitude)), 0.0)


def _fits(robot: Mechanism, pattern: str, amplitude: float) -> bool:
    try:
        gait(pattern, amplitude=amplitude).on(robot)
    except ModurobError:
        return False
    return True


def options_of(stride: Stride) -> dict[str, Any]:
    """What `gait` takes of it."""
    amplitude = dict.fromkeys(stride.joints, stride.amplitude) if stride.joints else stride.amplitude
    return {"amplitude": amplitude, "frequency": stride.frequency, **stride.options}
