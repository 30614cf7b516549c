"""Gutenkunst Fig. 6.6: step responses of the double pendulum with its poles placed at -2, -3 and -5, -10."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from modurob.control import ComputedTorque, gains_by_poles
from modurob.robot import Mechanism, load
from modurob.simulation import Law, Measured
from modurob.spatial.scalars import Array
from reproduce.check import Check, Reproduction, apart
from reproduce.pictures import against, judge, legend, panels
from reproduce.step_response import linear_step, on_the_engine, step_response

FIGURE = "Gutenkunst Fig. 6.6"
POLES = np.array([[-2.0, -3.0], [-10.0, -5.0]])  # [1/s], of joint 1 and joint 2
GAINS = {"Kp": (6.0, 50.0), "Kd": (5.0, 15.0)}  # (6.38a-b) compared with l² + l Kd + Kp
SAMPLE_TIME, DURATION = 2e-3, 4.0  # [s]
# what is left of holding torques for 2 ms, after extrapolation
LEFT = 2e-5
SMALL = 1e-4  # a displacement [rad], or a rate [rad/s]


def reproduced() -> Reproduction:
    """Gains from the poles, with Kp and Kd where they belong: (6.39)-(6.42) have them swapped."""
    robot = load("double_pendulum").robot().ideal()
    kp, kd, _ = gains_by_poles(POLES)

    def controller(T: float) -> ComputedTorque:
        return ComputedTorque(kp, kd, 1.0, sample_time=T)

    run, q = step_response(robot, controller, DURATION, SAMPLE_TIME)
    judged = responses(kp, kd, run.t)
    off = apart(poles(robot, ComputedTorque(kp, kd, 1.0).on(robot)), np.sort(POLES.ravel()))
    checks = [
        Check(FIGURE, f"{name} of joint {k + 1}", right[k], float(found[k]), 1e-9, "1/s²" if name == "Kp" else "1/s")
        for (name, right), found in zip(GAINS.items(), (kp, kd), strict=True)
        for k in range(2)
    ]
    checks += [
        Check(FIGURE, "poles of robot and law, off by", 0.0, off, 1e-6, "1/s"),
        Check(FIGURE, "step responses against SciPy", 0.0, apart(q, judged), LEFT, "rad"),
        on_the_engine(
            FIGURE,
            "the same law on MuJoCo's pendulum, against SciPy",
            "double_pendulum",
            robot,
            controller,
            judged,
            SAMPLE_TIME,
            LEFT,
        ),
        Check(FIGURE, "time of joint 2 to 90 %, over that of joint 1", 0.0, risen(q, 1) / risen(q, 0), 1.0),
    ]
    return Reproduction(checks, picture(run.t, q, judged, responses(kd, kp, run.t)))


def responses(kp: Array, kd: Array, t: Array) -> Array:
    """Steps of kp/(s² + kd s + kp), joint by joint, (times, joints)."""
    return np.stack([linear_step([p], [1, d, p], t) for p, d in zip(kp, kd, strict=True)], axis=1)


def risen(q: Array, joint: int) -> int:
    """The first sample at which a joint is within a tenth of its goal."""
    return int(np.argmax(q[:, joint] > 0.9))


def poles(robot: Mechanism, law: Law) -> Array:
    """Eigenvalues of robot and law together away from the goal, by differences, sorted [1/s]."""
    n, x = robot.nv, np.array([0.4, -0.9, 0.7, -0.3])
    around = x + SMALL * np.concatenate([np.eye(2 * n), -np.eye(2 * n)])
    q, v = around[:, :n], around[:, n:]
    _, tau = law.step(law.start(), 0.0, Measured(q, v))
    slope = np.concatenate([v, robot.forward_dynamics(q, v, tau)], axis=1)
    return np.sort(np.linalg.eigvals((slope[: 2 * n] - slope[2 * n :]).T / (2 * SMALL)).real)


def picture(t: Array, q: Array, judged: Array, printed: Array) -> Figure:
    """The responses, and those of the gains as they are printed: there joint 2 would be the slower one."""
    figure, (axis,) = panels(f"{FIGURE}: poles at −2, −3 (joint 1) and −5, −10 (joint 2)", ("angle [rad]",), 4)
    against(axis, t, q, judged)
    for k, response in enumerate(printed.T):
        axis.plot(t, response, color=f"C{k}", lw=1.2, ls=":")
    axis.axhline(1, color="0.6", lw=0.8, zorder=0)
    as_printed = Line2D([], [], color="0.4", lw=1.2, ls=":", label="gains as printed, Kp and Kd swapped")
    legend(figure, ("joint 1", "joint 2"), judge("closed form, SciPy"), as_printed)
    return figure
