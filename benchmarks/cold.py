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
# questions that take longer, and whom they are asked
LONGER = {
    "inverse_kinematics": "robot.inverse_kinematics(end, robot.frame_pose(there, end))",
    "64 derivatives": "robot.forward_dynamics_derivatives(*(np.tile(x, (64, 1)) for x in (q, v, v)))",
    "simulate on ground": "mr.simulate(robot, duration=2e-3, ground=mr.Ground())",
    "simulate, bodies touch": "mr.simulate(robot, duration=2e-3, ground=mr.Ground(), body_contact=mr.BodyContact())",
    "simulate, joints rub": "mr.simulate(rubbing(robot), q, v, 1e-3)",
    "simulate on ground, joints rub": "mr.simulate(rubbing(robot), duration=2e-3, ground=mr.Ground())",
}
ASKED = {
    "inverse_kinematics": ("any 30 joints", "Talos humanoid", "mimic joints", "delta robot"),
    "64 derivatives": ("any 30 joints", "mimic joints", "many mimic joints"),
    "simulate on ground": ("floating crab", "Talos humanoid", "floating ring"),
    "simulate, bodies touch": ("floating crab",),
    "simulate, joints rub": ("crab", "any 30 joints", "many mimic joints", "ring of modules"),
    "simulate on ground, joints rub": ("floating crab", "Talos humanoid", "floating ring"),
}
ROBOTS = {
    "crab": 'mr.load("crab").mechanism(base="m0")',
    "chain 30": "snake(30).mechanism()",
    "any 30 joints": "random_mechanism(np.random.default_rng(0), 30, floating=True)",
    "Talos humanoid": 'dict(real_robots())["Talos humanoid"]',
    "mimic joints": 'gripper(np.random.default_rng(0), "two")',
    "ring of modules": 'mr.Assembly.from_grid("B B\\nB B").mechanism()',
    "many mimic joints": "many_mimics(np.random.default_rng(1), 20)",
    "Stewart platform": "stewart(np.random.default_rng(0)).robot",
    "delta robot": "delta(np.random.default_rng(0)).robot",
}
FLOATING = {
    "floating crab": 'mr.load("crab").mechanism(floating=True)',
    "floating ring": 'mr.Assembly.from_grid("B B\\nB B").mechanism(floating=True)',
}
# a platform is not closed at zero
LEFT_OUT = {("Stewart platform", "simulate, one step"), ("Stewart platform", "inverse_dynamics")}
SCRIPT = """
import os
import time
import numpy as np
import modurob as mr
from benchmarks.robots import many_mimics, real_robots, rubbing, snake
from tests.algorithms.test_loops import gripper
from tests.oracles.linkages import delta, stewart
from tests.robots import random_mechanism
robot = {robot}
q, v, end = robot.neutral(), np.zeros(robot.nv), robot.bodies[-1]
there = robot.random_configuration(np.random.default_rng(1))
start, before = time.perf_counter(), sum(os.times()[:4])
{question}
print(time.perf_counter() - start, sum(os.times()[:4]) - before)
"""


def seconds(robot: str, question: str, cache: str) -> tuple[float, float]:
    """Wall time of the first answer in a process of its own, and processor time of it and its compilers."""
    script = SCRIPT.format(robot={**ROBOTS, **FLOATING}[robot], question={**QUESTIONS, **LONGER}[question])
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "MODUROB_CACHE": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    wall, used = map(float, done.stdout.split())
    return wall, used


def main() -> None:
    """Print the table; the arguments are the robots to ask, all of them if there are none."""
    table = Table(
        "robot",
        "first question",
        "cold, s (goal 2)",
        "processor time, s",
        "warm, ms",
        title="wall time of a first answer, in a new process",
    )
    wanted = sys.argv[1:] or [*ROBOTS, *FLOATING]
    rows = [(robot, question) for robot in ROBOTS for question in QUESTIONS if (robot, question) not in LEFT_OUT]
    rows += [(robot, question) for question, robots in ASKED.items() for robot in robots]
    for robot, question in rows:
        if robot in wanted:
            with tempfile.TemporaryDirectory() as cache:
                os.chmod(cache, 0o700)
                (cold, used), (warm, _) = (seconds(robot, question, cache) for _ in range(2))
            table.add_row(robot, question, f"{cold:.2f}", f"{used:.2f}", f"{warm * 1e3:.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
