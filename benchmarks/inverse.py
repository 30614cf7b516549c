"""Inverse kinematics with all solutions: closed forms beside EAIK, general 6R by itself; one pose and batches on one core."""

from collections.abc import Callable

import numpy as np
from eaik.IK_DH import DhRobot
from rich.console import Console
from rich.table import Table

import modurob as mr
from benchmarks.timing import interleaved

BATCH = 4096
GENERAL_BATCH = 512
# the best of so many rounds counts: other work on the machine takes the cache from batches
ROUNDS = 25
H = np.pi / 2
# distal rows (a, alpha, d, offset) [m, rad]
CLOSED = {
    "PUMA 560": [(0, H, 0), (0.4318, 0, 0), (0.0203, -H, 0.15005), (0, H, 0.4318), (0, -H, 0), (0, 0, 0)],
    "UR5": [(0, H, 0.089159), (-0.425, 0, 0), (-0.39225, 0, 0), (0, H, 0.10915), (0, -H, 0.09465), (0, 0, 0.0823)],
    "wrist, 1 and 2 meet": [(0, H, 0), (0.3, 0.7, 0.2), (0.1, -H, 0.1), (0, H, 0.4), (0, -H, 0), (0, 0, 0)],
    "wrist alone": [(0.2, 0.9, 0.3), (0.5, -0.4, 0.1), (0.3, 1.2, -0.2), (0, 0.8, 0.4), (0, -0.7, 0), (0, 0, 0.1)],
    "1, 2, 3 parallel, 5 and 6 meet": [
        (0.4, 0, 0.1),
        (0.35, 0, 0.2),
        (0.1, 0.9, 0.1),
        (0.2, -H, 0.15),
        (0, 0.8, 0.3),
        (0, 0, 0.1),
    ],
    "2, 3, 4 parallel": [(0.1, H, 0.2), (0.4, 0, 0.1), (0.35, 0, 0), (0.1, 0.8, 0.1), (0.15, -H, 0.2), (0, 0, 0.1)],
}
GENERAL = {
    "general 6R": [
        (0.2, 0.9, 0.3),
        (0.5, -0.4, 0.1),
        (0.3, 1.2, -0.2),
        (0.4, -0.8, 0.25),
        (0.1, 0.6, 0.35),
        (0.15, 0.3, 0.2),
    ],
    "LWA 4P, wrist offset": [
        (0, -H, 0.205),
        (0.35, 0, 0, -H),
        (0, H, 0, H),
        (0, -H, 0.305),
        (0, H, 0.005263),
        (0, 0, 0),
    ],
    "CRX-10iA": [(0, -H, 0), (0.54, np.pi, 0), (0, -H, 0), (0, H, -0.54), (0, -H, 0.15), (0, 0, -0.16)],
}


def poses(robot: mr.Mechanism, count: int) -> np.ndarray:
    """Poses of random configurations, (count, 4, 4)."""
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (count, 6))
    return np.ascontiguousarray(robot.frame_pose(q, "tip"))


def times(robot: mr.Mechanism, batch: int, judge: DhRobot | None = None) -> dict[str, float]:
    """Microseconds a pose: one at a time over some poses, and in a batch."""
    X = poses(robot, batch)
    some = [x.copy() for x in X[:32]]
    calls: dict[str, Callable[[], object]] = {
        "one": lambda: [robot.inverse_kinematics("tip", x) for x in some],
        "batch": lambda: robot.inverse_kinematics("tip", X),
    }
    if judge is not None:
        calls["eaik"] = lambda: [judge.IK(x) for x in some]
    counts = {"one": len(some), "eaik": len(some), "batch": batch}
    return {name: t / counts[name] * 1e6 for name, t in interleaved(calls, ROUNDS, of=min).items()}


def main() -> None:
    """Print the tables."""
    mr.set_threads(1)
    table = Table(title="closed forms, all solutions [µs a pose]")
    for head in ("arm", "one pose", "EAIK", "ratio", "in a batch", "EAIK over it"):
        table.add_column(head)
    for name, rows in CLOSED.items():
        a, alpha, d = np.array(rows, dtype=float).T.copy()
        t = times(mr.Mechanism.from_dh(rows), BATCH, DhRobot(alpha, a, d))
        cells = (t["one"], t["eaik"], t["eaik"] / t["one"], t["batch"], t["eaik"] / t["batch"])
        table.add_row(name, *(f"{x:.3g}" for x in cells))
    Console().print(table)
    table = Table(title="eigenproblem, all solutions [µs a pose]")
    for head in ("arm", "one pose", "in a batch"):
        table.add_column(head)
    for name, rows in GENERAL.items():
        t = times(mr.Mechanism.from_dh(rows), GENERAL_BATCH)
        table.add_row(name, f"{t['one']:.3g}", f"{t['batch']:.3g}")
    Console().print(table)
    mr.set_threads(None)


if __name__ == "__main__":
    main()
