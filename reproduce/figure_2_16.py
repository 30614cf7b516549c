"""Sepp et al. Figs. 2.16 to 2.18: kinematic control by the transposed Jacobian to three goals."""

import numpy as np

from reproduce.check import Check, Reproduction, apart
from reproduce.lwa4p import GOALS, arm, kinematic_control
from reproduce.pictures import legend, panels

# distances to the goal after 0.1, 0.5, 1 and 2 s [m], of the reconstruction; the report's curves have no numbers
TIMES = (0.1, 0.5, 1.0, 2.0)
DISTANCES = {1: (0.447, 0.053, 0.0136, 0.0091), 2: (0.403, 0.099, 0.0307, 0.0092), 3: (0.454, 0.4313, 0.4308, 0.4308)}
DURATIONS = {1: 2.0, 2: 10.0, 3: 2.0}  # [s]
REACHED = np.array([1.5708, 0.3162, 2.148, 1.8794, -2.5044, 0.0835])  # [rad], where goal 2 ends
SHOULDER, REACH = np.array([0, 0, 0.205]), 0.655  # [m]
# half of the last digit
DIGITS = {1: 6e-4, 2: 6e-4, 3: 6e-4}


def goal_1() -> Reproduction:
    """Figure 2.16: on axis 1, a singular goal: slow."""
    return _run("Sepp et al. Fig. 2.16", 1)


def goal_2() -> Reproduction:
    """Figure 2.17: a regular goal."""
    return _run("Sepp et al. Fig. 2.17", 2)


def goal_3() -> Reproduction:
    """Figure 2.18: out of reach: the arm stretches towards it."""
    return _run("Sepp et al. Fig. 2.18", 3)


def _run(name: str, goal: int) -> Reproduction:
    x_d = GOALS[goal]
    run = kinematic_control(arm(), x_d, DURATIONS[goal])
    e = np.linalg.norm(run.x[:, :3] - x_d[:3], axis=1)
    checks = [
        Check(name, f"goal {goal}: distance after {s:g} s", d, float(np.interp(s, run.t, e)), DIGITS[goal], "m")
        for s, d in zip(TIMES, DISTANCES[goal], strict=True)
    ]
    if goal == 2:
        checks.append(Check(name, "goal 2: joint angles at the end", 0.0, apart(run.q[-1], REACHED), 1e-3, "rad"))
    if goal == 3:
        short = float(np.linalg.norm(x_d[:3] - SHOULDER) - REACH)
        checks.append(Check(name, "goal 3: beyond the reach of 0.655 m by", 0.43083, short, 1e-5, "m"))
        checks.append(Check(name, "goal 3: stalls short of it by", 0.43083, float(e[-1]), 1e-4, "m"))
    figure, axes = panels(f"{name}: goal {goal}", ("position [m]", "angles [rad]"))
    for axis, part in zip(axes, (slice(0, 3), slice(3, 6)), strict=True):
        axis.plot(run.t, run.x[:, part], lw=2)
        for value in x_d[part]:
            axis.axhline(value, color="0.6", lw=0.8, zorder=0)
    legend(figure, ["x, about z", "y, about y", "z, about x"])
    return Reproduction(checks, figure)
