"""Gaits that are found: amplitudes, centres, phases and frequency of all joints, by evolution, generations as batches of runs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from modurob.catalogue.contact import Ground
from modurob.errors import GaitError, explained
from modurob.kinematics.contacts import standing
from modurob.motion.gaits.driven import driven, with_servos
from modurob.motion.gaits.patterns import Phases
from modurob.motion.gaits.recipe import Gait
from modurob.robot import Mechanism
from modurob.simulation import LinearlyImplicit, Simulation
from modurob.spatial.scalars import Array

# frequencies are looked for between these parts of that of the first gait
SLOWEST, FASTEST = 0.5, 2.0
FULL = 2 * np.pi  # a turn


@dataclass(frozen=True, eq=False)
class Found:
    """The best gait of a search, its speed [m/s], and the best speed of each generation, (generations,)."""

    gait: Gait
    speed: float
    history: Array
    x: Array  # states of the servos of the driven robot


class Candidates:
    """Numbers between 0 and 1 as gaits of one robot, and the speeds that they reach; a row is a candidate.

    The numbers are the frequency, then amplitude, centre and phase of each joint that swings.
    """

    def __init__(self, robot: Mechanism, gait: Gait, ground: Ground, duration: float, stepper: Any):
        self.robot, self.gait, self.ground = driven(robot, gait), gait, ground
        self.duration, self.stepper, reference = duration, stepper, gait.on(robot)
        self.names, self.first = reference.joints.names, reference
        v = reference.joints.v_index
        lower, upper = robot.limits.lower[v], robot.limits.upper[v]
        self.room = np.minimum(np.where(np.isfinite(upper - lower), (upper - lower) / 2, np.pi), np.pi)
        self.middle = np.where(np.isfinite(upper + lower), (upper + lower) / 2, reference.centre)
        self.q0 = standing(robot.on_ground(ground), reference(0.0)[0])

    @property
    def start(self) -> Array:
        """The numbers of the first gait, (n,)."""
        return self.numbers_of(self.first)

    def numbers_of(self, r: Any) -> Array:
        """The numbers of a gait that swings the same joints, at the frequency of the first one, (n,)."""
        phase = (r.phase + np.where(r.amplitude < 0, np.pi, 0.0)) % FULL / FULL
        left = np.maximum(self.room - np.abs(r.centre - self.middle), 1e-9)
        per_joint = np.stack([np.abs(r.amplitude) / left, (r.centre - self.middle) / self.room / 2 + 0.5, phase])
        return np.clip(np.concatenate([[(1 - SLOWEST) / (FASTEST - SLOWEST)], per_joint.T.ravel()]), 0.0, 1.0)

    def waves(self, numbers: Array) -> dict[str, Array]:
        """Centre, amplitude, frequency and phase of each joint, (..., 4)."""
        frequency = self.gait.frequency * (SLOWEST + (FASTEST - SLOWEST) * numbers[..., 0])
        out = {}
        for k, name in enumerate(self.names):
            a, c, p = (numbers[..., 1 + 3 * k + i] for i in range(3))
            centre = self.middle[k] + (2 * c - 1) * self.room[k]
            # no farther than the nearer limit
            amplitude = a * (self.room[k] - np.abs(centre - self.middle[k]))
            out[name] = np.stack([centre, amplitude, frequency, FULL * p], axis=-1)
        return out

    def speeds(self, numbers: Array) -> Array:
        """Of the centre of mass along the ground, straight, after the first quarter of a run, (runs,) [m/s]; 0 for runs that ended
        early."""
        robot, waves = self.robot.on_ground(self.ground), self.waves(numbers)
        x = with_servos(robot, waves)
        runs = Simulation(robot, self._starts(robot, waves), x0=x, stepper=self.stepper, tick=self.duration / 4)
        before = robot.centre_of_mass(runs.advance(self.duration / 4).q)
        time = 0.75 * self.duration
        way = np.linalg.norm((robot.centre_of_mass(runs.advance(time).q) - before)[..., :2], axis=-1) / time
        lost = [] if runs.status is None else [k for k, s in enumerate(runs.status) if not s.ok]  # type: ignore[arg-type]
        way[lost] = 0.0
        return way

    def _starts(self, robot: Mechanism, waves: dict[str, Array]) -> Array:
        """The initial configuration of each candidate at the start of its gait, (runs, nq); for a robot with loops that
        of the first gait.
        """
        if robot.constraints:
            return self.q0
        q = np.tile(self.q0, (len(next(iter(waves.values()))), 1))
        for name, wave in waves.items():
            centre, amplitude, _, phase = np.moveaxis(wave, -1, 0)
            q[:, robot.joint(name).q_slice.start] = centre + amplitude * np.sin(phase)
        return standing(robot, q)

    def gait_of(self, numbers: Array) -> Gait:
        """The gait of one candidate, for other uses."""
        waves = self.waves(numbers)
        frequency = float(next(iter(waves.values()))[2])
        return Gait(
            Phases({name: float(w[3]) for name, w in waves.items()}),
            amplitude={name: max(float(w[1]), 1e-6) for name, w in waves.items()},
            frequency=frequency,
            posture={name: float(w[0]) for name, w in waves.items()},
        )


@explained
def search_gait(
    robot: Mechanism,
    gait: Gait,
    ground: Ground | None = None,
    duration: float = 12.0,
    generations: int = 30,
    population: int = 64,
    seed: int = 0,
    stepper: Any = None,
    progress: Callable[[int, float], None] | None = None,
) -> Found:
    """A faster gait than `gait`, by CMA-ES (Hansen, The CMA evolution strategy) over `generations` of `population` runs
    each.

    Needs the extra `search`. Every generation is one batch of runs of `duration` [s]. `progress` is called with the
    number of the generation and the best speed so far.

    A generation is evaluated like this:

    >>> from modurob.motion.gaits.search import Candidates
    >>> crab = mr.load("crab").mechanism(floating=True)
    >>> own = Candidates(crab, mr.gait("crab", frequency=1.0), mr.Ground(), 1.0, mr.LinearlyImplicit(5e-3))
    >>> own.speeds(np.stack([own.start, 0.9 * own.start])).shape
    (2,)
    """
    try:
        import cma  # pyright: ignore
    except ImportError:
        raise GaitError("searching for gaits needs cma: pip install modurob[search]") from None
    own = Candidates(robot, gait, Ground() if ground is None else ground, duration, stepper or LinearlyImplicit(2e-3))
    options = {"bounds": [0.0, 1.0], "popsize": population, "seed": seed + 1, "verbose": -9, "maxiter": generations}
    evolution = cma.CMAEvolutionStrategy(own.start, 0.2, options)
    best, speed, history = own.start, float(own.speeds(own.start[None])[0]), []
    for k in range(generations):
        asked = np.array(evolution.ask())
        reached = own.speeds(asked)
        evolution.tell(list(asked), list(-reached))
        if reached.max() > speed:
            best, speed = asked[reached.argmax()], float(reached.max())
        history.append(speed)
        if progress is not None:
            progress(k, speed)
    x = with_servos(own.robot, own.waves(best))
    return Found(own.gait_of(best), speed, np.array(history), x)
