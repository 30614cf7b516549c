"""Kinematics and dynamics in plain NumPy: the definition of all results.

Every function takes the mechanism first, broadcasts over leading axes and works for floats, complex numbers and
objects.
"""

from modurob.algorithms.base_parameters import BaseParameters, base_parameters, torque_regressor
from modurob.algorithms.closed_form import (
    closed_form_coriolis_matrix,
    closed_form_gravity_forces,
    closed_form_mass_matrix,
    transmission,
)
from modurob.algorithms.composite import mass_matrix
from modurob.algorithms.configuration import bracket, difference, integrate, neutral, random_configuration, rate
from modurob.algorithms.constraints.actuation import actuation, mobility
from modurob.algorithms.constraints.closure import (
    close_loops,
    close_velocity,
    independent_coordinates,
    loop_bias,
    loop_error,
    loop_jacobian,
    loop_rank,
)
from modurob.algorithms.coriolis import coriolis_matrix, two_step_coriolis_matrix
from modurob.algorithms.derivatives import (
    forward_dynamics_derivatives,
    forward_dynamics_regressor,
    inverse_dynamics_derivatives,
    tree_inverse_dynamics_derivatives,
)
from modurob.algorithms.energy import (
    centre_of_mass,
    centre_of_mass_jacobian,
    centroidal_momentum,
    centroidal_momentum_matrix,
    kinetic_energy,
    momentum,
    momentum_matrix,
    potential_energy,
    total_mass,
)
from modurob.algorithms.forces import dry_friction, passive_forces, stored_energy
from modurob.algorithms.forward import forward_dynamics
from modurob.algorithms.frame_slopes import frame_derivatives
from modurob.algorithms.inverse import bias_forces, gravity_forces, inverse_dynamics, tree_inverse_dynamics
from modurob.algorithms.jacobians import (
    body_jacobian,
    body_jacobian_rate,
    centre_of_mass_jacobian_rate,
    frame_acceleration,
    jacobian,
    jacobian_rate,
    point_jacobian,
    point_jacobian_rate,
)
from modurob.algorithms.kinematics import Poses, forward_kinematics, frame_pose, frame_twist
from modurob.algorithms.line_faults import line_faults
from modurob.algorithms.lines import (
    line_jacobian,
    line_lengths,
    line_paths,
    line_strains,
    line_stretches,
    line_tensions,
)
from modurob.algorithms.regressor import inertial_parameters, regressor

__all__ = [
    "BaseParameters",
    "Poses",
    "actuation",
    "base_parameters",
    "bias_forces",
    "body_jacobian",
    "body_jacobian_rate",
    "bracket",
    "centre_of_mass",
    "centre_of_mass_jacobian",
    "centre_of_mass_jacobian_rate",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "close_loops",
    "close_velocity",
    "closed_form_coriolis_matrix",
    "closed_form_gravity_forces",
    "closed_form_mass_matrix",
    "coriolis_matrix",
    "difference",
    "dry_friction",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_dynamics_regressor",
    "forward_kinematics",
    "frame_acceleration",
    "frame_derivatives",
    "frame_pose",
    "frame_twist",
    "gravity_forces",
    "independent_coordinates",
    "inertial_parameters",
    "integrate",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "jacobian",
    "jacobian_rate",
    "kinetic_energy",
    "line_faults",
    "line_jacobian",
    "line_lengths",
    "line_paths",
    "line_strains",
    "line_stretches",
    "line_tensions",
    "loop_bias",
    "loop_error",
    "loop_jacobian",
    "loop_rank",
    "mass_matrix",
    "mobility",
    "momentum",
    "momentum_matrix",
    "neutral",
    "passive_forces",
    "point_jacobian",
    "point_jacobian_rate",
    "potential_energy",
    "random_configuration",
    "rate",
    "regressor",
    "stored_energy",
    "torque_regressor",
    "total_mass",
    "transmission",
    "tree_inverse_dynamics",
    "tree_inverse_dynamics_derivatives",
    "two_step_coriolis_matrix",
]
