"""Sepp et al. Figs. 2.12 and 2.15: block diagrams, drawn, and computed block by block beside the library's own."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from modurob.control import KinematicControl
from modurob.kinematics.jacobians import inverse_rate_map
from modurob.motion import Trajectory
from modurob.robot import Mechanism
from modurob.spatial import angles, se3
from modurob.spatial.scalars import Array
from reproduce.check import Check, Reproduction, apart
from reproduce.lwa4p import GAIN, GOALS, START, WRIST, arm, pose_vector

DURATION = 3.0  # [s]
ROUNDING = 1e-11


def quintic() -> Reproduction:
    """Figure 2.12: from what is asked for at both ends through six coefficients to position, rate and acceleration."""
    name, t = "Sepp et al. Fig. 2.12", np.linspace(0, DURATION, 101)
    ends = np.random.default_rng(12).normal(size=(6, 3))
    a = np.linalg.solve(_conditions(DURATION), ends)
    judged = [np.polynomial.polynomial.polyval(t, np.polynomial.polynomial.polyder(a, k)).T for k in range(3)]
    x0, v0, a0, x1, v1, a1 = ends
    ours = Trajectory.quintic(x0, x1, DURATION, v0, v1, a0, a1)(t)
    checks = [
        Check(name, f"{what} of the blocks against Trajectory.quintic", 0.0, apart(own, other), ROUNDING)
        for what, own, other in zip(("position", "rate", "acceleration"), ours, judged, strict=False)
    ]
    blocks = (
        "x, ẋ, ẍ at\nboth ends",
        "coefficients\n$a = M^{-1} b$",
        "clock\n$t$",
        "$\\sum_k a_k t^k$",
        "$x, \\dot x, \\ddot x$",
    )
    places = ((0, 1), (1, 1), (2, 0), (2, 1), (3, 1))
    return Reproduction(checks, _drawn(name, blocks, places, ((0, 1), (1, 3), (2, 3), (3, 4))))


def _conditions(T: float) -> Array:
    """Rows of position, rate and acceleration at 0 and T over the coefficients a_0 to a_5 (2.34)."""
    row = lambda t, k: [np.prod(np.arange(n, n - k, -1.0)) * t ** max(n - k, 0) if n >= k else 0.0 for n in range(6)]  # noqa: E731
    return np.array([row(t, k) for t in (0.0, T) for k in range(3)])


def kinematic_loop() -> Reproduction:
    """Figure 2.15: the error of the pose, times the gain, through the transposed Jacobian to the rates of the joints, and back."""
    name, robot = "Sepp et al. Fig. 2.15", arm()
    q = START + np.random.default_rng(15).uniform(-0.3, 0.3, (20, 6))
    checks = [
        Check(name, f"goal {k}: rates of the blocks over KinematicControl's", 0.0, _apart(robot, q, goal), ROUNDING)
        for k, goal in GOALS.items()
    ]
    blocks = ("$x_d$", "$e = x_d - x$", "gain $K$", "$J_A^T(q)$", "$\\int$", "$q$", "forward\nkinematics")
    places = ((0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (3, 0))
    return Reproduction(checks, _drawn(name, blocks, places, ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 1))))


def _apart(robot: Mechanism, q: Array, goal: Array) -> float:
    """How far the rates of the blocks are from those of the law, over their size."""
    X = se3.pose(angles.euler("zyx", goal[3:]), goal[:3])
    law = KinematicControl(X, WRIST, "zyx", "transpose", gain=GAIN).on(robot)
    ours = np.array([law.rates(0.0, x) for x in q])
    return apart(ours, np.array([_rates(robot, x, goal) for x in q])) / float(np.abs(ours).max())


def _rates(robot: Mechanism, q: Array, goal: Array) -> Array:
    """J_A^T K e, block by block."""
    x = pose_vector(robot, q)
    e = goal - x
    e[3:] = (e[3:] + np.pi) % (2 * np.pi) - np.pi
    J = robot.jacobian(q, WRIST)
    J_A = np.concatenate([J[:3], inverse_rate_map("zyx", x[3:]) @ J[3:]])
    return J_A.T @ (GAIN * e)


def _drawn(
    title: str, blocks: Sequence[str], places: Sequence[tuple[int, int]], arrows: Sequence[tuple[int, int]]
) -> Figure:
    """Blocks at places of a grid, and arrows between them."""
    columns = max(x for x, _ in places) + 1
    figure = Figure(figsize=(1.9 * columns, 3.2), layout="constrained")
    axis = figure.subplots()
    box = {"boxstyle": "round,pad=0.45", "fc": "white", "ec": "C0", "lw": 1.6}
    drawn = [
        axis.text(x, y, text, ha="center", va="center", bbox=box, fontsize=12)
        for text, (x, y) in zip(blocks, places, strict=True)
    ]
    for a, b in arrows:
        style = {
            "arrowstyle": "-|>",
            "lw": 1.4,
            "color": "0.3",
            "patchA": drawn[a].get_bbox_patch(),
            "patchB": drawn[b].get_bbox_patch(),
        }
        axis.annotate("", places[b], places[a], arrowprops=style, zorder=0)
    axis.set(xlim=(-0.6, columns - 0.4), ylim=(-0.5, 1.5))
    axis.axis("off")
    figure.suptitle(title)
    return figure
