"""Tracking errors of laws if the robot differs from their model: masses, sampling, delay, limits, friction and noise."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from modurob.catalogue.forces import Friction
from modurob.control.adaptive import AdaptiveControl
from modurob.control.cascade import Cascade
from modurob.control.compensation import GravityCompensation
from modurob.control.computed_torque import ComputedTorque
from modurob.control.default_gains import inertias
from modurob.control.delayed import Delayed
from modurob.control.drives import Drives
from modurob.control.momentum import DisturbanceObserver
from modurob.control.passivity import SlidingMode, SlotineLi
from modurob.control.pid import PID
from modurob.errors import ControlError
from modurob.robot import Mechanism
from modurob.simulation import Measured, simulate
from modurob.simulation.progress import progress_bar
from modurob.simulation.steppers import RungeKutta4
from modurob.spatial.scalars import Array

# pulsation of the errors under all laws, so that they can be compared [rad/s]
PULSATION = 12.0
STEP = 1e-3


class Trial(NamedTuple):
    """What is wrong in a run, and by how much."""

    mass: float = 0.0  # share by which the law believes masses to be too small
    sample_time: float = STEP  # [s]
    delay: int = 0  # samples
    limit: float = np.inf  # largest torque, in parts of the largest that the motion needs
    friction: float = 0.0  # dry friction that the law knows nothing of, in the same parts
    noise: float = 0.0  # of measured angles [rad], and twenty times that of rates [rad/s]


TRIALS: dict[str, tuple[Trial, ...]] = {
    "as believed": (Trial(),),
    "mass": tuple(Trial(mass=x) for x in (0.1, 0.3, 0.5)),
    "sample time": tuple(Trial(sample_time=x) for x in (2e-3, 5e-3, 1e-2)),
    "delay": tuple(Trial(delay=x) for x in (1, 3, 10)),
    "limit": tuple(Trial(limit=x) for x in (1.2, 0.9, 0.7)),
    "friction": tuple(Trial(friction=x) for x in (0.02, 0.1, 0.2)),
    "noise": tuple(Trial(noise=x) for x in (1e-4, 1e-3, 1e-2)),
}


class Row(NamedTuple):
    """One run: the error of tracking, root of the mean square over joints and time [rad or m]; infinite where it was lost."""

    law: str
    what: str
    trial: Trial
    error: float


def laws_for(
    robot: Mechanism, motion: Callable[[float], tuple[Array, Array, Array]], believed: Mechanism
) -> dict[str, Any]:
    """One recipe of each kind with errors of one pulsation, as functions of the sample time."""
    w, I = PULSATION, inertias(Drives.of(robot)).joint
    own: dict[str, Any] = {"model": believed}
    return {
        "gravity": lambda T: GravityCompensation(w * w * I, 2 * w * I, motion, sample_time=T, **own),
        "pid": lambda T: PID(w * w * I, 0.2 * w**3 * I, 2 * w * I, motion, sample_time=T, **own),
        "cascade": lambda T: Cascade(
            motion, settling_time=4 / w, feed_forward=("inverse-dynamics", "speed"), sample_time=T, **own
        ),
        "computed": lambda T: ComputedTorque(w * w, 2 * w, motion, sample_time=T, **own),
        "observer": lambda T: DisturbanceObserver(
            ComputedTorque(w * w, 2 * w, motion, sample_time=T, **own), 2 * w, **own
        ),
        "slotine-li": lambda T: SlotineLi(motion, w, w * I, sample_time=T, **own),
        "sliding": lambda T: SlidingMode(motion, w, 2 * w * I * 0.2, 0.2, w * I, sample_time=T, **own),
        "adaptive": lambda T: AdaptiveControl(motion, w, w * I, sample_time=T, **own),
    }


def robustness(
    robot: Mechanism,
    trials: Mapping[str, Sequence[Trial]] = TRIALS,
    duration: float = 2.0,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> list[Row]:
    """Errors of tracking of each law in each trial, along sines at all joints. `progress` is told the share done;
    without it, a bar appears on the terminal after two seconds.

    >>> rows = mr.control.robustness(robot, {"as believed": (mr.control.Trial(),)}, duration=0.2)
    >>> [row.law for row in rows]
    ['gravity', 'pid', 'cascade', 'computed', 'observer', 'slotine-li', 'sliding', 'adaptive']
    """
    robot = robot.ideal()
    if len(Drives.of(robot).passive) or robot.nq != robot.nv or robot.constraints:
        raise ControlError(
            f"robustness of {robot.name}: expected a drive at every joint, joints with coordinates, and no loops"
        )
    motion, rows = sines(robot, seed), []
    need = np.abs([robot.inverse_dynamics(*motion(t)) for t in np.linspace(0, duration, 50)]).max(axis=0)
    listed = [(what, trial) for what, each in trials.items() for trial in each]
    with progress_bar(f"robustness of {robot.name}") as bar:
        tell = progress or bar
        for k, (what, trial) in enumerate(listed):
            believed = replace(robot, inertia=robot.inertia * (1 - trial.mass))
            world, laws = _world(robot, trial, need), laws_for(robot, motion, believed)
            for i, (name, recipe) in enumerate(laws.items()):
                tell((k + i / len(laws)) / len(listed))
                law: Any = recipe(trial.sample_time)
                law = Delayed(law, samples=trial.delay) if trial.delay else law
                law = Noisy(law, trial.noise, seed) if trial.noise else law
                rows.append(Row(name, what, trial, _error(world, law, motion, duration)))
    return rows


def sines(robot: Mechanism, seed: int = 0) -> Callable[[float], tuple[Array, Array, Array]]:
    """Sines of about half a radian and a second around zero, with other frequencies at each joint."""
    rng = np.random.default_rng(seed)
    A, w, p = rng.uniform(0.2, 0.4, robot.nv), rng.uniform(2.0, 4.0, robot.nv), rng.uniform(0, 6, robot.nv)
    return lambda t: (A * np.sin(w * t + p), A * w * np.cos(w * t + p), -A * w * w * np.sin(w * t + p))


def _world(robot: Mechanism, trial: Trial, need: Array) -> Mechanism:
    """The robot with the limits and the friction of a trial."""
    joints = tuple(replace(j, effort_limit=trial.limit * need[j.v_slice]) for j in robot.joints)
    robot = replace(robot, joints=joints)
    for joint in robot.joints if trial.friction else ():
        force = Friction(coulomb=float(trial.friction * need[joint.v_slice.start]))
        robot = robot.with_force(f"{joint.name} unknown", force, joint=joint.name)
    return robot


def _error(robot: Mechanism, law: Any, motion: Callable[[float], tuple[Array, Array, Array]], duration: float) -> float:
    q, v, _ = motion(0.0)
    run = simulate(
        robot, q, v, duration=duration, controller=law, stepper=RungeKutta4(STEP), progress=lambda share: None
    )
    if not run.status.ok:
        return np.inf
    return float(np.sqrt(np.mean((run.q - np.array([motion(t)[0] for t in run.t])) ** 2)))


@dataclass(frozen=True)
class Noisy:
    """Another controller that measures with white noise."""

    controller: Any
    noise: float  # [rad or m]
    seed: int = 0

    @property
    def sample_time(self) -> float:
        return self.controller.sample_time

    def on(self, robot: Mechanism) -> "NoisyLaw":
        return NoisyLaw(self, robot)


class NoisyLaw:
    """The law for one robot; its memory holds the number of the sample, so that the same call gives the same noise."""

    def __init__(self, recipe: Noisy, robot: Mechanism):
        self._recipe, self._law = recipe, recipe.controller.on(robot)

    def start(self) -> tuple[Any, int]:
        return self._law.start(), 0

    def step(self, memory: tuple[Any, int], t: float, measured: Measured) -> tuple[Any, Array]:
        inner, k = memory
        rng, size = np.random.default_rng((self._recipe.seed, k)), self._recipe.noise
        q, v = (x + scale * rng.normal(size=x.shape) for x, scale in zip(measured, (size, 20 * size), strict=True))
        inner, tau = self._law.step(inner, t, Measured(q, v))
        return (inner, k + 1), tau


# ---- shown ----


def table_of(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """A head of laws and a line for each trial."""
    laws = list(dict.fromkeys(row.law for row in rows))
    lines: dict[str, list[str]] = {}
    for row in rows:
        lines.setdefault(_name(row), []).append(f"{row.error:.2g}" if np.isfinite(row.error) else "lost")
    return ["what", *laws], [[name, *errors] for name, errors in lines.items()]


def _name(row: Row) -> str:
    wrong = {name: x for name, x in row.trial._asdict().items() if x != Trial._field_defaults[name]}
    return ", ".join(f"{name.replace('_', ' ')} {x:g}" for name, x in wrong.items()) or row.what


def drawn(rows: Sequence[Row]) -> Any:
    """The errors as bars over the trials, on a logarithmic scale; what was lost has none."""
    head, lines = table_of(rows)
    from matplotlib.figure import Figure  # slow to import, and only pictures need it

    figure = Figure(figsize=(14, 5), layout="constrained")
    axis, width = figure.subplots(), 0.8 / (len(head) - 1)
    for k, law in enumerate(head[1:]):
        errors = [row.error if np.isfinite(row.error) else np.nan for row in rows if row.law == law]
        axis.bar(np.arange(len(lines)) + k * width, errors, width, label=law)
    axis.set_xticks(np.arange(len(lines)) + 0.4 - width / 2, [line[0] for line in lines], rotation=30, ha="right")
    axis.set(yscale="log", ylabel="error of tracking [rad or m]")
    axis.margins(x=0.01)
    axis.grid(axis="y", alpha=0.3)
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", frameon=False, ncols=len(head) - 1)
    return figure
