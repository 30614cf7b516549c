"""Torques that make accelerations of a robot what one wants: the inverse of its equations of motion (Gutenkunst 6.1)."""

from collections.abc import Callable
from dataclasses import replace

from modurob import kernels
from modurob.algorithms import passive_forces
from modurob.catalogue.forces import Stop
from modurob.control.coupling import coupling
from modurob.control.drives import Drives, movable
from modurob.errors import ControlError
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array

# q, v, u -> tau
Inverse = Callable[[Array, Array, Array], Array]


def without_stops(robot: Mechanism) -> Mechanism:
    """The model of the robot for control laws, without end stops."""
    return replace(robot, forces=tuple(row for row in robot.forces if not isinstance(row.force, Stop)))


def inverse_model(robot: Mechanism) -> Inverse:
    """tau = M u + C v + N - passive(q, v), (..., nv), with the forces of the robot's own: vdot becomes u (Gutenkunst (6.23)).

    Stops are left out: a law that cancelled them would drive the robot through its limits.
    """
    model = without_stops(robot)
    if not model.forces:
        return robot.inverse_dynamics
    return lambda q, v, u: robot.inverse_dynamics(q, v, u) - passive_forces(model, q, v, run=kernels.run)


def feedback_linearisation(drives: Drives, partial: bool, what: str) -> Inverse:
    """The inverse model; with drives missing, if `partial`, the one that gives vdot = u at the driven joints alone."""
    model = inverse_model(drives.robot)
    if not len(drives.passive):
        return model
    passive = ", ".join(f"{j.name} ({j.kind})" for j in movable(drives.robot) if j not in drives.joints)
    if not partial:
        raise ControlError(
            f"{what} on {drives.robot.name}: no drive at {passive}: expected one at every joint; "
            "partial=True linearises the driven joints alone, actuated names them"
        )
    if drives.robot.constraints:
        raise ControlError(
            f"{what} on {drives.robot.name}: no drive at {passive}: partial=True is for robots without loops"
        )
    return partial_inverse(model, drives)


def partial_inverse(model: Inverse, drives: Drives) -> Inverse:
    """tau with vdot = u at the driven joints and tau = 0 at the passive ones (collocated partial linearisation).

    The passive joints get no torque: P^T (M u + h), see `Coupling`.
    """
    at = coupling(drives)
    return lambda q, v, u: at(q).torque(model(q, v, u))
