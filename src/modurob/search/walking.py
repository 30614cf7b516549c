"""Walking: how fast, and at what cost, the best gait that is found carries an organism over the ground."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from modurob.catalogue.contact import Ground
from modurob.errors import InputError, ModurobError
from modurob.kinematics.contacts import standing
from modurob.motion.gaits.driven import driven
from modurob.motion.gaits.patterns import PRESETS
from modurob.motion.gaits.recipe import Gait, gait
from modurob.motion.gaits.search import Candidates
from modurob.motion.gaits.travel import Travel, travel
from modurob.robot import Assembly, Mechanism
from modurob.search.clearance import Clearance
from modurob.search.task import TASKS, Measures, Refused, Task
from modurob.simulation import LinearlyImplicit, Recording, simulate
from modurob.spatial.scalars import Array

PHASES = 16  # moments of a period that a gait is looked at for parts that meet
KEPT = 6  # gaits of a round that the next one starts from
INSIDE = 0.01  # how far numbers of a gait stay from 0 and 1, where a joint would stand at its limit
AMPLITUDES = (0.4, 1.0)  # of the gaits that go by a name [rad]
RUNS = 3  # gaits that are run anew
FINE = 2e-3  # steps of the run that counts [s]


@TASKS.register("walk")
@dataclass(frozen=True)
class Walk(Task):
    """The speed of the centre of mass along the ground by the best of `rounds` x `gaits` gaits, [m/s], and its cost of
    transport.

    A gait has an amplitude, a centre and a phase for each joint and one frequency, up to `fastest` [Hz]; the first
    round consists of the named gaits and random ones, later rounds of variations of the best. Servos are limited to the
    efforts of the joints; gaits at which modules collide do not count. The runs of a round take `duration` [s] at steps
    of `step` [s]; the best three are run again at 2 ms and at 1 ms, and the slower of both runs counts, without its
    first quarter: a result that depends on the time step does not count as walking.

    >>> walk = mr.Walk(gaits=8, rounds=1, duration=2.0)
    >>> found = walk.measures(mr.load("crab"))
    >>> found["refused"], bool(found["speed"] > 0), found["modules"]
    ('', True, 6)
    """

    gaits: int = 32
    rounds: int = 3
    duration: float = 6.0
    fastest: float = 3.0
    friction: float = 0.8
    step: float = 5e-3
    kind: ClassVar[str] = "walk"
    goals: ClassVar[Mapping[str, int]] = {"speed": 1, "cost_of_transport": -1}
    units: ClassVar[Mapping[str, str]] = {"speed": "m/s", "first_speed": "m/s"}

    def __post_init__(self) -> None:
        for name in ("gaits", "rounds", "duration", "fastest", "friction", "step"):
            x = getattr(self, name)
            if not isinstance(x, int | float) or isinstance(x, bool) or not 0 < x < np.inf:
                raise InputError(f"{name} {x!r:.40} of a walk: expected a positive number")

    def measured(self, assembly: Assembly) -> Measures:
        robot, own = self._candidates(assembly)
        gaits, speeds = self._best(own, Clearance(assembly, robot))
        went, k = self._steadiest(assembly, gaits[:RUNS])
        numbers, reached = gaits[k], speeds[k]
        return {
            "speed": float(went.speed),
            "cost_of_transport": float(went.cost_of_transport),
            "slip": float(went.slip),
            "first_speed": float(reached),
            "gait": [float(x) for x in numbers],
        }

    def harder(self, times: int) -> "Walk":
        """The task with the given multiple of rounds, of which the first are those of this task."""
        return replace(self, rounds=self.rounds * times)

    def _steadiest(self, assembly: Assembly, gaits: Array) -> tuple[Travel, int]:
        """The gait that is the fastest where it is slower: in a run at fine steps, and in one at half of them."""
        both = [[self._went(assembly, numbers, step) for step in (FINE, FINE / 2)] for numbers in gaits]
        found = [(min(a, b, key=_speed), k) for k, (a, b) in enumerate(both) if a and b]
        if not found:
            raise Refused("the runs of the best gaits ended early")
        return max(found, key=lambda pair: pair[0].speed)

    def _went(self, assembly: Assembly, numbers: Array, step: float) -> Travel | None:
        """The distance that a gait travels; None if its run ends early."""
        run = self.run(assembly, numbers, step)
        return travel(run, since=self.duration / 4) if run.status.ok else None

    def posed(self, assembly: Assembly, measures: Mapping[str, Any]) -> tuple[Mechanism, Array | None]:
        """The robot at the start of its gait, on the ground."""
        robot, own = self._candidates(assembly)
        q = own.gait_of(np.asarray(measures["gait"])).on(robot)(0.0)[0]
        return robot, standing(robot.on_ground(own.ground), q)

    def gait_of(self, assembly: Assembly, numbers: Any) -> Gait:
        """The gait of the measure `gait`, to walk with."""
        return self._candidates(assembly)[1].gait_of(np.asarray(numbers, dtype=float))

    def run(self, assembly: Assembly, numbers: Any, step: float = FINE) -> Recording:
        """The run of a gait on the ground, at fine steps [s]."""
        robot, own = self._candidates(assembly)
        walker = driven(robot, own.gait_of(np.asarray(numbers, dtype=float)))
        walker = walker.on_ground(own.ground)
        return simulate(walker, own.q0, duration=self.duration, tick=0.02, stepper=LinearlyImplicit(step))

    def _candidates(self, assembly: Assembly) -> tuple[Mechanism, Candidates]:
        robot = assembly.mechanism(floating=True)
        try:
            first = gait("snake", amplitude=0.1, frequency=self.fastest / 2)
            return robot, Candidates(
                robot, first, Ground(friction=self.friction), self.duration, LinearlyImplicit(self.step)
            )
        except ModurobError as error:
            raise Refused(f"no gait: {error}"[:120]) from None

    def _best(self, own: Candidates, clearance: Clearance) -> tuple[Array, Array]:
        """The fastest gaits at which nothing meets, and their speeds, round by round."""
        rng = np.random.default_rng(0)
        kept, speeds = np.zeros((0, len(own.start))), np.zeros(0)
        for k in range(self.rounds):
            asked = rng.uniform(INSIDE, 1 - INSIDE, size=(self.gaits, len(own.start)))
            if not k:
                asked = np.concatenate([self._named(own), asked[: (self.gaits + 1) // 2]])
            elif len(kept):
                parents = kept[rng.integers(len(kept), size=self.gaits)]
                other = kept[rng.integers(len(kept), size=self.gaits)]
                mixed = np.where(rng.uniform(size=asked.shape) < 0.3, other, parents)
                asked = np.clip(mixed + rng.normal(size=asked.shape) * 0.2 / k, INSIDE, 1 - INSIDE)
            asked = asked[~self._meets(own, clearance, asked)]
            if not len(asked):
                continue
            kept, speeds = np.concatenate([kept, asked]), np.concatenate([speeds, own.speeds(asked)])
            order = np.argsort(-speeds, kind="stable")[:KEPT]
            kept, speeds = kept[order], speeds[order]
        if not len(kept):
            raise Refused("modules meet in every gait that was tried")
        return kept, speeds

    def _named(self, own: Candidates) -> Array:
        """The named gaits that move all joints of this robot, large and small, (gaits, numbers)."""
        found = [own.start]
        for name in PRESETS:
            for amplitude in AMPLITUDES:
                try:
                    known = gait(name, amplitude=amplitude, frequency=self.fastest / 2).on(own.robot)
                except ModurobError:
                    break
                if known.joints.names == own.names:
                    found.append(own.numbers_of(known))
        return np.clip(np.unique(found, axis=0), INSIDE, 1 - INSIDE)

    def _meets(self, own: Candidates, clearance: Clearance, numbers: Array) -> Array:
        """Whether modules meet at some moment of each gait, (gaits,) bool."""
        robot, waves = own.robot, own.waves(numbers)
        q = np.array(np.broadcast_to(own.q0, (PHASES, len(numbers), robot.nq)))
        turn = 2 * np.pi * np.arange(PHASES)[:, None] / PHASES
        for joint in robot.joints:
            if joint.name in waves:
                centre, amplitude, _, phase = np.moveaxis(waves[joint.name], -1, 0)
                q[..., joint.q_slice.start] = centre + amplitude * np.sin(turn + phase)
        return np.asarray(clearance.meets(q).any(axis=0))


def _speed(went: Travel) -> float:
    return float(went.speed)
