"""Meister et al. Fig. 8: positions, velocities and accelerations of the double pendulum, against Lagrange's equations."""

import numpy as np

from modurob.robot import load
from modurob.simulation import Adaptive, simulate
from reproduce.check import Check, Reproduction, apart
from reproduce.lagrange import motion, pendulum
from reproduce.pictures import against, judge, legend, panels

FIGURE = "Meister et al. Fig. 8"
# the paper gives no numbers: start, size and duration of the listing in Gutenkunst 4.1
START = (np.pi / 4, np.pi / 4)  # [rad], at rest
LENGTHS, MASSES, DURATION = (10.0, 10.0), (1.0, 1.0), 10.0  # [m], [kg], [s]
# two integrations, each good to 1e-12 a step
APART = 1e-9


def reproduced() -> Reproduction:
    """The shipped pendulum beside Gutenkunst (5.8a-b), written by hand in absolute angles."""
    robot = load("double_pendulum").robot().ideal()
    run = simulate(robot, np.array(START), duration=DURATION, stepper=Adaptive(rtol=1e-12), tick=0.02)
    judged = motion(pendulum(LENGTHS, MASSES), START, (0.0, 0.0), run.t)
    rows = {"angle": "rad", "rate": "rad/s", "acceleration": "rad/s²"}
    figure, axes = panels(
        f"{FIGURE}: double pendulum, released at 45° and 45°", [f"{name} [{unit}]" for name, unit in rows.items()]
    )
    checks = []
    for axis, (name, unit), own, other in zip(axes, rows.items(), (run.q, run.v, run.vdot), judged, strict=True):
        against(axis, run.t, own, other)
        what = f"{name}s against (5.8a-b), written by hand"
        checks.append(Check(FIGURE, what, 0.0, apart(own, other), APART, unit))
    legend(figure, ("$q_1$", "$q_2$"), judge("Lagrange, by hand in absolute angles"))
    return Reproduction(checks, figure)
