"""Meister et al. Fig. 13: step responses of the crab's active joints under computed torque."""

import numpy as np

from modurob.control import ComputedTorque, gains_by_poles
from modurob.robot import load
from reproduce.check import Check, Reproduction, apart
from reproduce.engine import MISSING, engine_run, installed
from reproduce.pictures import against, judge, legend, panels
from reproduce.step_response import linear_step, step_response

FIGURE = "Meister et al. Fig. 13"
# the paper gives neither gains nor steps
POLES = (-5.0, -5.0)  # [1/s], of every joint
GOAL = np.array([0.5, -0.4, 0.3])  # [rad]
SAMPLE_TIME, DURATION = 2e-3, 3.0  # [s]
# what is left of holding torques for 2 ms, after extrapolation
LEFT = 1e-4


def reproduced() -> Reproduction:
    """Three active joints, each beside e'' + K1 e' + K0 e = 0 (Meister et al. (36)); then the same law on MuJoCo's crab."""
    crab = load("crab").robot().ideal()
    kp, kd, _ = gains_by_poles(POLES)
    run, q = step_response(crab, lambda T: ComputedTorque(kp, kd, GOAL, sample_time=T), DURATION, SAMPLE_TIME)
    judged = linear_step([float(kp)], [1.0, float(kd), float(kp)], run.t)[:, None] * GOAL
    checks = [
        Check(FIGURE, "active joints", 3.0, float(crab.nv), 0.0),
        Check(FIGURE, "step responses against SciPy", 0.0, apart(q, judged), LEFT, "rad"),
    ]
    what = "the same law on MuJoCo's crab, difference"
    if installed():
        law = ComputedTorque(kp, kd, GOAL).on(crab)
        theirs = engine_run(crab, np.zeros(3), DURATION, SAMPLE_TIME, law=law)
        checks.append(Check(FIGURE, what, 0.0, apart(theirs.q, run.q), 1e-9, "rad"))
    else:
        checks.append(Check.skipped(FIGURE, what, MISSING))
    figure, axes = panels(f"{FIGURE}: computed torque on the crab", ("angle [rad]", "torque [N m]"), 2.6)
    against(axes[0], run.t, q, judged)
    axes[1].plot(run.t, run.tau, lw=1.5, drawstyle="steps-post")
    for goal in GOAL:
        axes[0].axhline(goal, color="0.6", lw=0.8, zorder=0)
    legend(figure, [j.name for j in crab.joints], judge("closed form, SciPy"))
    return Reproduction(checks, figure)
