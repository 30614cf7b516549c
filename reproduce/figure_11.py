"""Meister et al. Fig. 11: the crab's motion beside that of an independent engine, MuJoCo in place of SimMechanics."""

import numpy as np

from modurob.robot import Assembly, Mechanism, load
from modurob.simulation import Adaptive, Recording, simulate
from modurob.spatial.scalars import Array
from reproduce.check import Check, Reproduction, apart
from reproduce.engine import MISSING, Engine, EngineRun, installed
from reproduce.pictures import JUDGE, judge, legend, panels

FIGURE = "Meister et al. Fig. 11"
# the paper gives no start: bent for the picture, and flat, as it was docked, for a longer run
BENT, FLAT = np.array([0.3, -0.2, 0.1]), np.zeros(3)  # [rad], at rest
TURNED = np.array([0.3, 0.4, -0.2, -0.5, 0.1, 0.6])  # [rad], hinges and discs of Scouts in turn
TICK, STEP = 0.005, 2.5e-4  # [s]
MODULES = ["m1", "m2", "m3", "m4", "m5"]  # that move
ROWS = {"angle": "rad", "rate": "rad/s", "acceleration": "rad/s²", "energy": "J"}
# MuJoCo's steps are of order four; the crab's motion makes errors grow some hundredfold a second
APART = {"angle": 1e-6, "rate": 1e-5, "acceleration": 1e-3, "energy": 1e-6}
SCOUTS_APART = 1e-6  # [rad]
PLACES = 1e-6  # [m], and entries of rotation matrices


def reproduced() -> Reproduction:
    """Falling and swinging about its base, no torques: ours by SciPy's adaptive steps, theirs by its own of 0.25 ms."""
    crab = load("crab").robot().ideal()
    run = fallen(crab, BENT, 2.0)
    figure, axes = panels(
        f"{FIGURE}: the crab let go, its base fixed, its hinges free to spin",
        [f"{n} [{unit}]" for n, unit in ROWS.items()],
    )
    ours = run.q, run.v, run.vdot, run.energy
    for axis, x in zip(axes, ours, strict=True):
        axis.plot(run.t, x, lw=2.2)
    names = [j.name for j in crab.joints]
    if not installed():
        legend(figure, names)
        return Reproduction([Check.skipped(FIGURE, "crab against MuJoCo", MISSING)], figure)
    engine = Engine.load("crab")
    theirs = let_go(engine, BENT, 2.0)
    checks = []
    for axis, (name, unit), own, other in zip(axes, ROWS.items(), ours, theirs[1:], strict=True):
        axis.plot(theirs.t, other, **JUDGE)
        what = f"{name.removesuffix('y')}{'ies' if name.endswith('y') else 's'} against MuJoCo, bent, 2 s"
        checks.append(Check(FIGURE, what, 0.0, apart(own, other), APART[name], unit))
    legend(figure, names, judge("MuJoCo"))
    off = places_apart(run, engine, theirs)
    return Reproduction([*checks, Check(FIGURE, "poses of the modules", 0.0, off, PLACES, "m"), *longer(crab)], figure)


def fallen(robot: Mechanism, q0: Array, duration: float) -> Recording:
    """Ours."""
    return simulate(robot, q0, duration=duration, stepper=Adaptive(rtol=1e-12), tick=TICK)


def let_go(engine: Engine, q0: Array, duration: float) -> EngineRun:
    """Theirs."""
    return engine.run(q0, duration, STEP, round(TICK / STEP))


def places_apart(run: Recording, engine: Engine, theirs: EngineRun) -> float:
    """The largest difference between poses of modules at every 20th tick, in metres and entries of rotation matrices."""
    poses = run.poses()
    own = np.stack([poses[name][::20, :3] for name in MODULES], axis=1)
    return apart(own, [engine.poses(q, MODULES) for q in theirs.q[::20]])


def longer(crab: Mechanism) -> list[Check]:
    """Five seconds of the crab from the pose it is docked in, and the crab of Scouts, its discs locked and free."""
    scouts = Assembly.from_aim(load("crab").aim(), "scout")
    locked = scouts.mechanism(locked=[f"{name}/turn" for name in scouts.modules]).ideal()
    free = scouts.mechanism().ideal()
    runs = {
        "angles against MuJoCo, flat, 5 s": (crab, Engine.load("crab"), FLAT, 5.0, APART["angle"]),
        "Scouts, discs locked: angles, 2 s": (locked, Engine.load("scouts", "disc"), BENT, 2.0, SCOUTS_APART),
        "Scouts, discs free: angles, 1 s": (free, Engine.load("scouts"), TURNED, 1.0, SCOUTS_APART),
    }
    return [
        Check(FIGURE, what, 0.0, apart(fallen(robot, q0, T).q, let_go(engine, q0, T).q), tolerance, "rad")
        for what, (robot, engine, q0, T, tolerance) in runs.items()
    ]
