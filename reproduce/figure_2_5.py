"""Sepp et al. Figs. 2.5 to 2.7: the position of the wrist by steps alpha J^T e."""

import numpy as np
from matplotlib.figure import Figure

from modurob.spatial.scalars import Array
from reproduce.check import Check, Reproduction, apart
from reproduce.lwa4p import REPORTED, START, TARGET, WRIST, arm, descent, transpose

ALPHAS = np.concatenate([np.arange(0.5, 5.6, 0.5), np.arange(5.8, 7.75, 0.1)])
# iterations that the start and the target of the report give, where the report has a curve
STEPS = {1.0: 86, 2.0: 42, 4.0: 19, 6.0: 11, 6.2: 10, 7.0: 21}
BEST = 6.2
# half of the last printed digit of (2.25)
DIGITS = (5e-3, 5e-4, 5e-2, 5e-2, 5e-1, 5e-2)


def convergence() -> Reproduction:
    """Figure 2.5: iterations over alpha are fewest at 6.2; from 2 / sigma_max(J_P)² on the steps diverge."""
    name, robot = "Sepp et al. Fig. 2.5", arm()
    steps = np.array([descent(robot, transpose(a)).steps for a in ALPHAS])
    best = descent(robot, transpose(BEST))
    checks = [
        Check(name, f"alpha {a:g}: iterations", float(n), float(descent(robot, transpose(a)).steps), 0.0)
        for a, n in STEPS.items()
    ]
    checks += [
        Check(name, "alpha of the fewest iterations", 6.15, float(ALPHAS[steps == steps.min()].mean()), 0.06),
        Check(name, "alpha 7.8: steps that diverge", 1.0, float(not descent(robot, transpose(7.8)).converged), 0.0),
        Check(name, "limit of alpha, 2 / sigma²", 7.75, _limit(best.q[-1]), 1e-2),
        Check(
            name,
            "pseudo-inverse: iterations",
            3.0,
            float(descent(robot, lambda J, e: np.linalg.pinv(J) @ e).steps),
            0.0,
        ),
        Check(
            name,
            "joint angles (2.25), in units of their last digit",
            0.0,
            apart(best.q[-1] / DIGITS, REPORTED / np.array(DIGITS)),
            1.0,
        ),
    ]
    figure = Figure(figsize=(7, 4), layout="constrained")
    axis = figure.add_subplot()
    axis.plot(ALPHAS, steps, "o-", ms=3)
    axis.axvline(_limit(best.q[-1]), color="0.5", ls="--", lw=1)
    axis.set(title=f"{name}: steps until the wrist is within 1 mm", xlabel="alpha", ylabel="iterations", yscale="log")
    axis.grid(alpha=0.3)
    return Reproduction(checks, figure)


def _limit(q: Array) -> float:
    """Where steps along the steepest direction turn over, alpha sigma² = 2, at the solution next to q."""
    robot = arm()
    for _ in range(5):
        q = q + np.linalg.pinv(robot.jacobian(q, WRIST)[:3]) @ (TARGET - robot.frame_pose(q, WRIST)[:3, 3])
    return float(2 / np.linalg.svd(robot.jacobian(q, WRIST)[:3])[1][0] ** 2)


def side_view() -> Reproduction:
    """Figure 2.6: the result, seen along y."""
    return _view("Sepp et al. Fig. 2.6", 0)


def front_view() -> Reproduction:
    """Figure 2.7: the result, seen along x."""
    return _view("Sepp et al. Fig. 2.7", 1)


def _view(name: str, across: int) -> Reproduction:
    robot = arm()
    found = descent(robot, transpose(BEST))
    figure = Figure(figsize=(5, 5), layout="constrained")
    axis = figure.add_subplot()
    for q, colour in ((START, "0.7"), (found.q[-1], "C0")):
        X = robot.forward_kinematics(q)
        points = np.array([X[f][:3, 3] for f in ("world", "shoulder/centre", "elbow/centre", WRIST)])
        axis.plot(points[:, across], points[:, 2], "o-", lw=3, color=colour)
    axis.plot(TARGET[across], TARGET[2], "x", color="C3", ms=10)
    axis.set(title=name, xlabel=f"{'xy'[across]} [m]", ylabel="z [m]", aspect="equal")
    axis.grid(alpha=0.3)
    p = robot.frame_pose(found.q[-1], WRIST)[:3, 3]
    checks = [
        Check(name, "distance to the target", 0.0, float(np.linalg.norm(p - TARGET)), 1e-3, "m"),
        Check(name, "joint angles of the wrist that do not move", 0.0, apart(found.q[-1][3:], START[3:]), 1e-12, "rad"),
    ]
    return Reproduction(checks, figure)
