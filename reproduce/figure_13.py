"""Meister et al. Fig. 13: step responses of the crab's active joints under computed torque, PD and PID around it."""

from collections.abc import Callable

import numpy as np

from modurob.control import PID, ComputedTorque, gains_by_poles
from modurob.robot import Assembly, load
from modurob.simulation import Controller
from reproduce.check import Check, Reproduction, apart
from reproduce.pictures import against, judge, legend, panels
from reproduce.step_response import linear_step, on_the_engine, step_response

FIGURE = "Meister et al. Fig. 13"
# the paper gives neither gains nor steps
POLES = (-5.0, -5.0)  # [1/s], of every joint
KI = 20.0  # [1/s³], of PID beside the same kp and kd
GOAL = np.array([0.5, -0.4, 0.3])  # [rad]
SCOUTS_GOAL = np.array([0.5, 0.6, -0.4, -0.3, 0.3, 0.8])  # [rad], hinges and discs in turn
SAMPLE_TIME, DURATION = 2e-3, 3.0  # [s]
# what is left of holding torques for 2 ms, after extrapolation
LEFT = 2e-5


def reproduced() -> Reproduction:
    """Three active joints, each beside e'' + K1 e' + K0 e = 0 (Meister et al. (36)), on our crab and on that of MuJoCo.

    The paper's text has PID in place of PD: then e''' + K1 e'' + K0 e' + Ki e = 0 from the first sample on.
    """
    crab = load("crab").robot().ideal()
    kp, kd, _ = (float(gain) for gain in gains_by_poles(POLES))
    laws: dict[str, tuple[Callable[[float], Controller], list[float], list[float]]] = {
        "PD": (lambda T: ComputedTorque(kp, kd, GOAL, sample_time=T), [kp], [1.0, kd, kp]),
        "PID": (lambda T: PID(kp, KI, kd, GOAL, sample_time=T, linearise=True), [kp, KI], [1.0, kd, kp, KI]),
    }
    checks = [Check(FIGURE, "active joints", 3.0, float(crab.nv), 0.0)]
    figure, axes = panels(f"{FIGURE}: computed torque on the crab", ("PD: angle [rad]", "PID", "PD: torque [N m]"))
    runs = []
    for axis, (name, (controller, above, below)) in zip(axes, laws.items(), strict=False):
        run, q = step_response(crab, controller, DURATION, SAMPLE_TIME)
        judged = linear_step(above, below, run.t)[:, None] * GOAL
        checks.append(Check(FIGURE, f"{name}: step responses against SciPy", 0.0, apart(q, judged), LEFT, "rad"))
        what = f"{name}: the same law on MuJoCo's crab, against SciPy"
        checks.append(on_the_engine(FIGURE, what, "crab", crab, controller, judged, SAMPLE_TIME, LEFT))
        against(axis, run.t, q, judged)
        for goal in GOAL:
            axis.axhline(goal, color="0.6", lw=0.8, zorder=0)
        runs.append(run)
    checks.append(scouts(kp, kd))
    axes[2].plot(runs[0].t, runs[0].tau, lw=1.5, drawstyle="steps-post")
    legend(figure, [j.name for j in crab.joints], judge("transfer function, SciPy"))
    return Reproduction(checks, figure)


def scouts(kp: float, kd: float) -> Check:
    """PD on the crab of Scouts, whose discs turn: six joints, and a motion that is not plane."""
    robot = Assembly.from_aim(load("crab").aim(), "scout").mechanism().ideal()
    t = SAMPLE_TIME * np.arange(round(DURATION / SAMPLE_TIME) + 1)
    judged = linear_step([kp], [1.0, kd, kp], t)[:, None] * SCOUTS_GOAL
    what = "Scouts, discs free: PD on MuJoCo's crab, against SciPy"
    return on_the_engine(
        FIGURE,
        what,
        "scouts",
        robot,
        lambda T: ComputedTorque(kp, kd, SCOUTS_GOAL, sample_time=T, actuated=[j.name for j in robot.joints]),
        judged,
        SAMPLE_TIME,
        LEFT,
    )
