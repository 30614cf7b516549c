"""Controllers, trajectories and gains, for any robot.

A controller is a recipe: `on(robot)` makes the law for one robot, `memory, tau = law.step(memory, t, measured)`. Its
`reference` is a number, numbers by joint name, an array, a Trajectory or a function of time.
"""

from modurob.control.adaptive import AdaptiveControl
from modurob.control.admittance import Admittance
from modurob.control.assumptions import assumptions
from modurob.control.backstepping import Backstepping
from modurob.control.cascade import Cascade
from modurob.control.cascade_analysis import (
    Margins,
    Step,
    disturbance_response,
    largest_delay,
    largest_sample_time,
    margins,
    open_loop,
    reference_response,
    sampled_loop,
    step_in,
    step_of,
)
from modurob.control.cascade_design import CascadeGains, TwoDegreePID, cascade, cascade_of
from modurob.control.cascade_report import cascade_report
from modurob.control.code import controller_c
from modurob.control.collision import CollisionDetector
from modurob.control.compensation import FeedForward, GravityCompensation
from modurob.control.compiled import Compiled
from modurob.control.computed_torque import ComputedTorque
from modurob.control.delayed import Delayed
from modurob.control.design import Gains, gains_by_damping, gains_by_lqr, gains_by_poles, lqr
from modurob.control.elastic import ElasticLinearisation, elastic_inverse_dynamics
from modurob.control.energy import SwingUp
from modurob.control.friction_compensation import FrictionCompensation
from modurob.control.kinematic import SCHEMES, KinematicControl
from modurob.control.linear import Linear, linearised, state_space
from modurob.control.momentum import DisturbanceObserver, MomentumObserver
from modurob.control.optimal_inverse import optimal_inputs, optimal_inverse_dynamics
from modurob.control.passivity import SlidingMode, SlotineLi, slotine_li_regressor
from modurob.control.pid import PID
from modurob.control.recipe import LAWS, Recipe, plain_law, plain_laws
from modurob.control.robustness import Row, Trial, robustness
from modurob.control.state_feedback import LQR
from modurob.control.task_space import HybridForcePosition, Impedance, OperationalSpace
from modurob.control.tasks import JointTask, PointTask, PoseTask, Task
from modurob.control.tracing import algebraic_laws
from modurob.control.whole_body import WholeBody

__all__ = [
    "LAWS",
    "LQR",
    "PID",
    "SCHEMES",
    "AdaptiveControl",
    "Admittance",
    "Backstepping",
    "Cascade",
    "CascadeGains",
    "CollisionDetector",
    "Compiled",
    "ComputedTorque",
    "Delayed",
    "DisturbanceObserver",
    "ElasticLinearisation",
    "FeedForward",
    "FrictionCompensation",
    "Gains",
    "GravityCompensation",
    "HybridForcePosition",
    "Impedance",
    "JointTask",
    "KinematicControl",
    "Linear",
    "Margins",
    "MomentumObserver",
    "OperationalSpace",
    "PointTask",
    "PoseTask",
    "Recipe",
    "Row",
    "SlidingMode",
    "SlotineLi",
    "Step",
    "SwingUp",
    "Task",
    "Trial",
    "TwoDegreePID",
    "WholeBody",
    "algebraic_laws",
    "assumptions",
    "cascade",
    "cascade_of",
    "cascade_report",
    "controller_c",
    "disturbance_response",
    "elastic_inverse_dynamics",
    "gains_by_damping",
    "gains_by_lqr",
    "gains_by_poles",
    "largest_delay",
    "largest_sample_time",
    "linearised",
    "lqr",
    "margins",
    "open_loop",
    "optimal_inputs",
    "optimal_inverse_dynamics",
    "plain_law",
    "plain_laws",
    "reference_response",
    "robustness",
    "sampled_loop",
    "slotine_li_regressor",
    "state_space",
    "step_in",
    "step_of",
]
