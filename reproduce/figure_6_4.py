"""Gutenkunst Fig. 6.4: step responses of the double pendulum, linearised by feedback, under PID with 10, 1, 4."""

import numpy as np

from modurob.control import PID
from modurob.robot import load
from reproduce.check import Check, Reproduction, apart
from reproduce.pictures import JUDGE, judge, legend, panels
from reproduce.step_response import linear_step, on_the_engine, step_response

FIGURE = "Gutenkunst Fig. 6.4"
KP, KI, KD = 10.0, 1.0, 4.0  # [1/s²], [1/s³], [1/s]
DURATION, SAMPLE_TIME = 8.0, 2e-3  # [s]
# what is left of holding torques for 2 ms, after extrapolation
LEFT = 2e-5


def controller(sample_time: float) -> PID:
    """The law of Gutenkunst 6.2 for a step of 1 rad."""
    return PID(KP, KI, KD, 1.0, sample_time=sample_time, linearise=True)


def reproduced() -> Reproduction:
    """Both joints beside the transfer function of one, with s³ + 4 s² + 10 s + 1 below.

    Above stands 10 s + 1 where the derivative is taken of the angle, and 4 s² + 10 s + 1 where it is taken of the step too: that
    is a kick at the start, after which the joints move at kd rad/s.
    """
    robot = load("double_pendulum").robot().ideal()
    ways = {"derivative of the angle": [KP, KI], "derivative of the error, with its kick": [KD, KP, KI]}
    figure, axes = panels(
        f"{FIGURE}: PID on the linearised double pendulum, a step of 1 rad", ["angle [rad]"] * len(ways), 2.6
    )
    checks = []
    for axis, (name, above) in zip(axes, ways.items(), strict=True):
        kick = np.full(2, KD if len(above) == 3 else 0.0)
        run, q = step_response(robot, controller, DURATION, SAMPLE_TIME, kick)
        judged = linear_step(above, [1, KD, KP, KI], run.t)
        both = np.stack([judged, judged], axis=1)
        overshoot = float(q.max() - 1)
        checks += [
            Check(FIGURE, f"{name}: both joints against SciPy", 0.0, apart(q, both), LEFT, "rad"),
            Check(FIGURE, f"{name}: overshoot", 100 * float(judged.max() - 1), 100 * overshoot, 100 * LEFT, "%"),
            on_the_engine(
                FIGURE,
                f"{name}: the same law on MuJoCo's pendulum",
                "double_pendulum",
                robot,
                controller,
                both,
                SAMPLE_TIME,
                LEFT,
                kick,
            ),
        ]
        axis.plot(run.t, q[:, 0], color="C0", lw=6)
        axis.plot(run.t, q[:, 1], color="C1", lw=2.2)
        axis.plot(run.t, judged, **JUDGE)
        axis.axhline(1, color="0.6", lw=0.8, zorder=0)
        axis.set_title(name, fontsize="medium")
    legend(figure, ("joint 1", "joint 2"), judge("transfer function, SciPy"))
    return Reproduction(checks, figure)
