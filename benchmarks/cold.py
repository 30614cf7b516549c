"""How long the first answer takes: with nothing compiled on the machine yet, and with all of it."""

import os
import subprocess
import sys
import tempfile

from rich.console import Console
from rich.table import Table

QUESTIONS = {
    "forward_dynamics": "robot.forward_dynamics(q, v, v)",
    "inverse_dynamics": "robot.inverse_dynamics(q, v, v)",
    "mass_matrix": "robot.mass_matrix(q)",
    "forward_dynamics_derivatives": "robot.forward_dynamics_derivatives(q, v, v)",
    "simulate, one step": "mr.simulate(robot, q, v, 1e-3)",
}
ROBOTS = {
    "crab": 'mr.load("crab").mechanism(base="m0")',
    "chain 30": "snake(30).mechanism()",
    "any 30 joints": "random_mechanism(np.random.default_rng(0), 30, floating=True)",
    "Talos humanoid": 'dict(real_robots())["Talos humanoid"]',
    "mimic joints": 'gripper(np.random.default_rng(0), "two")',
    "ring of modules": 'mr.Assembly.from_grid("B B\\nB B").mechanism()',
}
SCRIPT = """
import time
import numpy as np
import modurob as mr
from benchmarks.robots import real_robots, snake
from tests.algorithms.test_loops import gripper
from tests.robots import random_mechanism
robot = {robot}
q, v = robot.neutral(), np.zeros(robot.nv)
start = time.perf_counter()
{question}
print(time.perf_counter() - start)
"""


def seconds(robot: str, question: str, cache: str) -> float:
    """Wall time of the first answer in a process of its own."""
    script = SCRIPT.format(robot=ROBOTS[robot], question=QUESTIONS[question])
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "MODUROB_CACHE": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def main() -> None:
    """Print the table."""
    table = Table(
        "robot",
        "first question",
        "cold [s] (goal 2)",
        "warm [ms]",
        title="wall time of a first answer, in a new process",
    )
    for robot in ROBOTS:
        for question in QUESTIONS:
            with tempfile.TemporaryDirectory() as cache:
                os.chmod(cache, 0o700)
                cold, warm = (seconds(robot, question, cache) for _ in range(2))
            table.add_row(robot, question, f"{cold:.2f}", f"{warm * 1e3:.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
