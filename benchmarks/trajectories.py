"""The fastest motion along a path beside TOPP-RA: how long the motions take, and how long it takes to find them; one core.

Limits of velocity, acceleration and torque of random arms with rotors, 500 intervals each. TOPP-RA calls Pinocchio's inverse
dynamics and checks its limits at the points of the grid; ours are kept between them too.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import toppra
from rich.console import Console
from rich.table import Table
from toppra import algorithm, constraint

import modurob as mr
from benchmarks.timing import interleaved
from modurob.judges import PinocchioTwin
from modurob.spatial import inertia, se3

INTERVALS, PATHS = 500, 8


def arm(rng: np.random.Generator, joints: int) -> mr.Mechanism:
    """A chain of revolute joints with rotors."""
    builder = mr.Builder("arm")
    for i in range(joints):
        axis = rng.normal(size=3)
        builder.body(
            f"b{i}",
            inertia.random(rng),
            parent=f"b{i - 1}" if i else "world",
            joint=mr.Revolute(tuple(axis / np.linalg.norm(axis))),
            at=se3.random(rng, reach=0.4),
            properties=mr.JointProperties(armature=rng.uniform(0, 0.3)),
        )
    return builder.build()


def limits_of(robot: mr.Mechanism, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Velocities, accelerations and torques within which the robot can stand anywhere."""
    most = np.abs(robot.gravity_forces(rng.uniform(-3, 3, (500, robot.nv)))).max(axis=0)
    torque = most * rng.uniform(1.5, 4, robot.nv) + 2
    return {
        "velocity": rng.uniform(2, 6, robot.nv),
        "acceleration": rng.uniform(10, 60, robot.nv),
        "torque": torque,
    }


def by_toppra(robot: mr.Mechanism, points: np.ndarray, limits: dict[str, np.ndarray]) -> Callable[[], float]:
    """TOPP-RA's duration on the natural spline through the points."""
    twin = PinocchioTwin(robot)
    way = np.append(0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1)))
    both = {name: np.stack([-x, x], axis=1) for name, x in limits.items()}

    def solve() -> float:
        path = toppra.SplineInterpolator(way, points, bc_type="natural")
        rows = [
            constraint.JointVelocityConstraint(both["velocity"]),
            constraint.JointAccelerationConstraint(both["acceleration"]),
            constraint.JointTorqueConstraint(
                lambda *state: twin.inverse_dynamics(*state), both["torque"], np.zeros(robot.nv)
            ),
        ]
        for row in rows[1:]:
            row.set_discretization_type(constraint.DiscretizationType.Interpolation)
        grid = np.linspace(0, way[-1], INTERVALS + 1)
        found: Any = algorithm.TOPPRA(rows, path, gridpoints=grid, parametrizer="ParametrizeConstAccel")
        return found.compute_trajectory().duration

    return solve


def main() -> None:
    """Print the table."""
    toppra.setup_logging("ERROR")
    mr.set_threads(1)
    table = Table(title="time-optimal along a path, 500 intervals")
    for head in ("joints", "duration over TOPP-RA's", "ours [ms]", "TOPP-RA [ms]", "ratio"):
        table.add_column(head)
    for joints in (3, 6):
        ratios, times = [], []
        for seed in range(PATHS):
            rng = np.random.default_rng(seed)
            robot = arm(rng, joints)
            points, limits = rng.normal(size=(5, joints)), limits_of(robot, rng)
            ours = partial(mr.time_optimal, robot, points, intervals=INTERVALS, **limits)
            theirs = by_toppra(robot, points, limits)
            ratios.append(ours().duration / theirs())
            times.append(interleaved({"ours": ours, "toppra": theirs}, rounds=3))
        own, other = (float(np.median([t[name] for t in times])) * 1e3 for name in ("ours", "toppra"))
        spread = f"{min(ratios):.5f} to {max(ratios):.5f}"
        table.add_row(str(joints), spread, f"{own:.1f}", f"{other:.1f}", f"{other / own:.1f}")
    Console().print(table)
    mr.set_threads(None)


if __name__ == "__main__":
    main()
