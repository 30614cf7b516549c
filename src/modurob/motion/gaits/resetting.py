"""A gait from oscillators on board, one for each limb, whose phases are reset when feet touch down."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from modurob.catalogue.contact import Plane
from modurob.errors import GaitError
from modurob.kinematics.contacts import least_gaps
from modurob.motion.checks import require_robot
from modurob.motion.gaits.checks import require_number, require_positive
from modurob.motion.gaits.driven import driven, with_drives
from modurob.motion.gaits.recipe import Gait
from modurob.robot import Mechanism
from modurob.simulation import Measured, simulate
from modurob.simulation.steppers import LinearlyImplicit
from modurob.spatial.scalars import Array

# periods on even ground in which touch-downs are looked for, after the first ones, and how often in each
SETTLING, LOOKED, LOOKS = 3, 4, 100
# steps meanwhile [s]
LONGEST = 2e-3
# a foot that was off the ground for less than this part of a period did not step
LEAST_STEP = 0.15
# mean of exp(i phase) over touch-downs below which a foot has no rhythm
LEAST_RHYTHM = 0.8


@dataclass(frozen=True)
class PhaseResetting:
    """The joints of limb l follow a gait at a phase φ_l of their own, which is reset by the foot (Aoi and Tsuchiya):

        dφ_l/dt = 2 pi f + coupling mean_m sin(φ_m - φ_l),    φ_l -> τ_l when its foot touches down within `window` of τ_l
        q_d = centre + amplitude sin(φ_l + phase),    tau = kp (q_d - q) + kd (v_d - v), at most the effort of the joint

    τ_l is the phase at which the foot touches down on even ground, measured in a few periods of `mr.driven`; a foot
    without a periodic touch-down is not reset. Limbs are the unbranched ends of the robot, feet their last bodies;
    joints between limbs have the mean of all phases. An early or late touch-down shifts the phase of that limb, and the
    coupling synchronises the others with it. A window of zero never resets. A controller:
    `memory, tau = law.step(memory, t, measured)`, for any floating robot on the ground.

    >>> crab = mr.load("crab").mechanism(floating=True)
    >>> law = mr.PhaseResetting(mr.gait("crab", amplitude=0.3, frequency=1.0))
    >>> mr.simulate(crab, duration=0.2, controller=law, ground=mr.Ground()).status.ok
    True
    """

    gait: Gait
    kp: float = 60.0  # [N m/rad]
    kd: float = 2.0  # [N m s/rad]
    coupling: float = 4.0  # [1/s]
    window: float = 1.0  # [rad]
    sample_time: float = 2e-3  # [s]

    def __post_init__(self) -> None:
        if not isinstance(self.gait, Gait):
            raise GaitError(f"gait {self.gait!r:.60}: expected one such as mr.gait('hexapod')")
        for name in ("kp", "kd", "sample_time"):
            require_positive(name, getattr(self, name))
        for name in ("coupling", "window"):
            require_number(name, getattr(self, name))
            if getattr(self, name) < 0:
                raise GaitError(f"{name} {getattr(self, name)!r}: expected 0 or more")

    def on(self, robot: Mechanism) -> "PhaseResettingLaw":
        """The law for this robot."""
        require_robot(robot, "PhaseResetting", GaitError)
        return PhaseResettingLaw(self, robot)


class Rhythm(NamedTuple):
    """What the law remembers: when, the phase of each limb, (..., limbs) [rad], and when its foot was last down [s]."""

    t: float
    phase: Array
    down: Array


class PhaseResettingLaw:
    """The oscillators of one robot."""

    def __init__(self, recipe: PhaseResetting, robot: Mechanism):
        if not robot.contacts:
            raise GaitError(
                f"PhaseResetting: {robot.name} knows of no ground for feet to touch: expected robot.on_ground(...)"
            )
        self.recipe, self.robot, self._reference = recipe, robot, recipe.gait.on(robot)
        joints = self._reference.joints
        self.feet = tuple(joints.body[limb[-1]] for limb in joints.limbs)
        # row of a joint: the phases that it follows
        self._shares = np.full((len(joints), len(self.feet)), 1 / len(self.feet))
        for l, limb in enumerate(joints.limbs):
            self._shares[list(limb)] = np.eye(len(self.feet))[l]
        self.touchdown = touchdowns(recipe, robot, self.feet)
        self._drives = [j for _, j in with_drives(robot)]
        self._effort = np.array([j.effort_limit[0] for j in self._drives])

    def __reduce__(self) -> tuple:
        return PhaseResettingLaw, (self.recipe, self.robot)

    def start(self) -> Rhythm:
        """All limbs in phase with the gait, all feet down."""
        return Rhythm(0.0, np.zeros(len(self.feet)), np.zeros(len(self.feet)))

    def step(self, memory: Rhythm, t: float, measured: Measured) -> tuple[Rhythm, Array]:
        """The memory after this sample, and the torques, (..., nv)."""
        phase = memory.phase + (t - memory.t) * self._rates(memory.phase)
        down, missing = _down(self.robot, measured.q, self.feet), _wrapped(self.touchdown - phase)
        stepped = t - memory.down > LEAST_STEP / self._reference.frequency
        phase = phase + np.where(down & stepped & (np.abs(missing) < self.recipe.window), missing, 0.0)
        return Rhythm(t, phase, np.where(down, t, memory.down)), self._torque(t, phase, measured)

    def _rates(self, phase: Array) -> Array:
        pull = np.sin(phase[..., None, :] - phase[..., :, None]).mean(axis=-1)
        return 2 * np.pi * self._reference.frequency + self.recipe.coupling * pull

    def _torque(self, t: float, phase: Array, measured: Measured) -> Array:
        own, angle = self._reference, phase @ self._shares.T + self._reference.phase
        swing = own.amplitude * min(t, 1.0)
        q, v = np.array(np.broadcast_to(own.motion(np.zeros(()))[0], measured.q.shape)), np.zeros_like(measured.v)
        q[..., own.joints.q_index] = own.centre + swing * np.sin(angle)
        v[..., own.joints.v_index] = 2 * np.pi * own.frequency * swing * np.cos(angle)
        at_q, at_v = ([getattr(j, name).start for j in self._drives] for name in ("q_slice", "v_slice"))
        wanted = self.recipe.kp * (q - measured.q)[..., at_q] + self.recipe.kd * (v - measured.v)[..., at_v]
        tau = np.zeros_like(measured.v)
        tau[..., at_v] = np.clip(wanted, -self._effort, self._effort)
        return tau


def _down(robot: Mechanism, q: Array, feet: tuple[int, ...]) -> Array:
    """Which feet are in the ground, as measured by a switch in each, (..., limbs)."""
    return least_gaps(robot, q, feet) < 0


@lru_cache(maxsize=32)
def touchdowns(recipe: PhaseResetting, robot: Mechanism, feet: tuple[int, ...]) -> Array:
    """The mean phase at which each foot touches down on even ground, (limbs,) [rad]; nan where it has no rhythm."""
    period, ground = 1 / recipe.gait.frequency, robot.contacts[0].force.ground
    walker = driven(robot, recipe.gait, recipe.kp, recipe.kd).on_ground(replace(ground, surface=Plane()))
    start = walker.standing(recipe.gait.on(robot)(0.0)[0])
    tick = period / LOOKS
    stepper = LinearlyImplicit(tick / np.ceil(tick / LONGEST))
    run = simulate(walker, start, duration=(SETTLING + LOOKED) * period, tick=tick, stepper=stepper)
    late = run.t > SETTLING * period
    landed = _stepped(_down(walker, run.q[late], feet), round(LEAST_STEP * LOOKS))
    turn = np.exp(2j * np.pi * run.t[late, None] / period)
    mean = (turn * landed).sum(axis=0) / np.maximum(landed.sum(axis=0), 1)
    return np.where(np.abs(mean) > LEAST_RHYTHM, np.angle(mean), np.nan)


def _stepped(down: Array, least: int) -> Array:
    """Where feet touch down that were off the ground for more than `least` moments before, (moments, limbs)."""
    moments = np.arange(len(down))[:, None]
    last = np.maximum.accumulate(np.where(down, moments, 0), axis=0)
    return down & (moments - np.concatenate([last[:1], last[:-1]]) > least)


def _wrapped(angle: Array) -> Array:
    """Within half a turn; what is not a number is beyond all windows."""
    return np.nan_to_num((angle + np.pi) % (2 * np.pi) - np.pi, nan=np.inf)
