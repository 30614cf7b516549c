"""Controllers, trajectories and gains, for any robot.

A controller is a recipe: `on(robot)` makes the law for one robot, `memory, tau = law.step(memory, t, measured)`. What it tracks,
its `reference`, is a number, numbers by joint name, an array, a Trajectory or a function of time.
"""

from modurob.control.compensation import FeedForward, GravityCompensation
from modurob.control.computed_torque import ComputedTorque
from modurob.control.design import Gains, gains_by_damping, gains_by_lqr, gains_by_poles, lqr
from modurob.control.linear import Linear, linearised, state_space
from modurob.control.optimal_inverse import optimal_inputs, optimal_inverse_dynamics
from modurob.control.pid import PID
from modurob.control.recipe import LAWS, Recipe
from modurob.control.state_feedback import LQR
from modurob.control.tasks import JointTask, PointTask, PoseTask, Task
from modurob.control.whole_body import WholeBody

__all__ = [
    "LAWS",
    "LQR",
    "PID",
    "ComputedTorque",
    "FeedForward",
    "Gains",
    "GravityCompensation",
    "JointTask",
    "Linear",
    "PointTask",
    "PoseTask",
    "Recipe",
    "Task",
    "WholeBody",
    "gains_by_damping",
    "gains_by_lqr",
    "gains_by_poles",
    "linearised",
    "lqr",
    "optimal_inputs",
    "optimal_inverse_dynamics",
    "state_space",
]
