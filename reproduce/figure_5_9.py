"""Gutenkunst Fig. 5.9: a free organism under random torques, whose centre of mass stays."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from modurob.robot import Assembly, Mechanism, load
from modurob.simulation import Measured, Recording, RungeKutta4, simulate
from modurob.spatial.scalars import Array
from reproduce.check import Check, Reproduction

FIGURE = "Gutenkunst Fig. 5.9"
DURATION = 4.0  # [s]
DRIFT = np.array([0.3, -0.2, 0.1])  # velocity of a free crab [m/s]


@dataclass(frozen=True)
class RandomTorques:
    """Torques drawn anew at every sample for all hinges, none for what sets the organism free."""

    largest: float  # [N m]
    sample_time: float = 0.02  # [s]
    seed: int = 59

    def on(self, robot: Mechanism) -> "RandomLaw":
        return RandomLaw(self, robot)


class RandomLaw:
    """Random torques for one robot; its memory is the number of the sample."""

    def __init__(self, recipe: RandomTorques, robot: Mechanism):
        self._seed, self._largest = recipe.seed, np.zeros(robot.nv)
        for joint in robot.joints:
            self._largest[joint.v_slice] = recipe.largest * joint.name.endswith("/hinge")

    def start(self) -> int:
        return 0

    def step(self, memory: int, t: float, measured: Measured) -> tuple[int, Array]:
        drawn = np.random.default_rng(self._seed).uniform(-1, 1, (memory + 1, len(self._largest)))
        return memory + 1, np.broadcast_to(self._largest * drawn[-1], measured.v.shape)


def reproduced() -> Reproduction:
    """Four modules in a row on virtual joints y, z and X, as in the thesis; then the crab afloat in space, drifting."""
    chain = Assembly.from_aim([[3, 0, 0], [4, 3, 0], [0, 4, 3], [0, 0, 4]], "backbone")
    run = shaken(chain.on_virtual_joints("yzX").mechanism(gravity=(0, 0, 0)))
    centre = centre_of_mass(run, list(chain.modules))
    crab = load("crab")
    afloat = crab.mechanism(floating=True, gravity=(0, 0, 0))
    # at the start its axes are those of the world: every point of it moves with DRIFT
    drifting = shaken(afloat, np.concatenate([DRIFT, np.zeros(afloat.nv - 3)]))
    off = centre_of_mass(drifting, list(crab.modules)) - drifting.t[:, None] * DRIFT
    spin = afloat.centroidal_momentum(drifting.q, drifting.v)[:, 3:]
    checks = [
        Check(FIGURE, "how far the centre of mass moves", 0.0, farthest(centre - centre[0]), 1e-9, "m"),
        Check(FIGURE, "drifting crab: how far from uniform motion", 0.0, farthest(off - off[0]), 1e-9, "m"),
        Check(FIGURE, "drifting crab: largest angular momentum", 0.0, farthest(spin), 1e-9, "N m s"),
    ]
    return Reproduction(checks, top_view(run, centre, list(chain.modules)))


def shaken(robot: Mechanism, v0: Array | None = None) -> Recording:
    """A run under random torques, hinges free to turn all the way round."""
    return simulate(robot.ideal(), None, v0, DURATION, RandomTorques(0.15), RungeKutta4(1e-3))


def centre_of_mass(run: Recording, modules: list[str]) -> Array:
    """Gutenkunst (5.26) for modules of one mass, each at its module's centre, (ticks, 3) [m]."""
    return positions(run, modules).mean(axis=1)


def positions(run: Recording, modules: list[str]) -> Array:
    """Centres of the modules, (ticks, modules, 3) [m]."""
    poses = run.poses()
    return np.stack([poses[name][:, :3, 3] for name in modules], axis=1)


def farthest(x: Array) -> float:
    """The largest length among vectors, (ticks, 3)."""
    return float(np.linalg.norm(x, axis=-1).max())


def top_view(run: Recording, centre: Array, modules: list[str]) -> Figure:
    """The organism at some moments, the paths of its modules, and the centre of mass at every tick."""
    figure = Figure(figsize=(8, 6.4), layout="constrained")
    axis: Any = figure.subplots()
    at = 1e3 * positions(run, modules)[:, :, 1:]
    for path in at.swapaxes(0, 1):
        axis.plot(*path.T, color="0.85", lw=0.8, zorder=1)
    moments = np.linspace(0, len(run.t) - 1, 5).astype(int)
    for k, colour in zip(moments, colormaps["viridis_r"](np.linspace(0.1, 0.9, len(moments))), strict=True):
        axis.plot(*at[k].T, "s-", color=colour, lw=3, ms=10, zorder=2, label=f"at {run.t[k]:.0f} s")
    axis.plot(*(1e3 * centre[:, 1:]).T, "+", color="C3", ms=18, mew=3, zorder=3, label="centre of mass, all the time")
    axis.set(xlabel="y [mm]", ylabel="z [mm]")
    figure.suptitle(f"{FIGURE}: four free modules under random torques, from above")
    axis.set_aspect("equal")
    axis.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=len(moments) + 1, columnspacing=1.2, frameon=False)
    return figure
