"""Meister et al. Fig. 11: the crab's motion beside that of an independent engine, MuJoCo in place of SimMechanics."""

import numpy as np

from modurob.robot import load
from modurob.simulation import Adaptive, simulate
from reproduce.check import Check, Reproduction, apart
from reproduce.engine import MISSING, engine_run, installed
from reproduce.pictures import JUDGE, judge, legend, panels

FIGURE = "Meister et al. Fig. 11"
# the paper gives no start: bent for the picture, and flat, as it was docked, for a longer run
BENT, FLAT = np.array([0.3, -0.2, 0.1]), np.zeros(3)  # [rad], at rest
TICK, STEP = 0.005, 2.5e-4  # [s]
ROWS = {"angle": "rad", "rate": "rad/s", "acceleration": "rad/s²"}
# MuJoCo's steps are of order four; the crab's motion makes errors grow some hundredfold a second
APART = {"angle": 1e-6, "rate": 1e-5, "acceleration": 1e-3}


def reproduced() -> Reproduction:
    """Falling and swinging about its base, no torques: ours by SciPy's adaptive steps, theirs by its own of 0.25 ms."""
    crab = load("crab").robot().ideal()
    run = simulate(crab, BENT, duration=2.0, stepper=Adaptive(rtol=1e-12), tick=TICK)
    figure, axes = panels(
        f"{FIGURE}: the crab let go, its base fixed, its hinges free to spin",
        [f"{n} [{unit}]" for n, unit in ROWS.items()],
    )
    ours = run.q, run.v, run.vdot
    for axis, x in zip(axes, ours, strict=True):
        axis.plot(run.t, x, lw=2.2)
    names = [j.name for j in crab.joints]
    if not installed():
        legend(figure, names)
        return Reproduction([Check.skipped(FIGURE, "crab against MuJoCo", MISSING)], figure)
    theirs = engine_run(crab, BENT, 2.0, STEP, round(TICK / STEP))
    checks = []
    for axis, (name, unit), own, other in zip(axes, ROWS.items(), ours, theirs[1:], strict=True):
        axis.plot(theirs.t, other, **JUDGE)
        checks.append(Check(FIGURE, f"{name}s against MuJoCo, bent, 2 s", 0.0, apart(own, other), APART[name], unit))
    legend(figure, names, judge("MuJoCo"))
    longer = simulate(crab, FLAT, duration=5.0, stepper=Adaptive(rtol=1e-12), tick=TICK)
    error = apart(longer.q, engine_run(crab, FLAT, 5.0, STEP, round(TICK / STEP)).q)
    checks.append(Check(FIGURE, "angles against MuJoCo, flat, 5 s", 0.0, error, APART["angle"], "rad"))
    return Reproduction(checks, figure)
