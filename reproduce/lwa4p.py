"""The arm of Sepp et al. and its kinematic laws, as the report has them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from modurob.kinematics.jacobians import inverse_rate_map
from modurob.robot import Mechanism, load
from modurob.spatial import angles
from modurob.spatial.scalars import Array

WRIST = "wrist/centre"  # where frame 6 of the report sits
START = np.array([0.5, 1.0, 1.5, 1.0, 0.0, 0.5])  # (2.37), which is a joint vector
TARGET = np.array([0.2, 0.4, 0.3])  # [m], that fits every printed digit; printed as (0.4, 0.2, 0.3)
STOP = 1e-3  # [m]
REPORTED = np.array([1.11, 0.634, 1.6, 1.0, 0.0, 0.5])  # (2.25)
# poses (x, y, z, phi, theta, psi) of (2.38)-(2.40), angles about z, y, x
GOALS = {
    1: np.array([0.0, 0.0, 0.3, 0.0, 0.0, 0.0]),
    2: np.array([0.0, 0.3, 0.3, 0.3, 0.6, 0.9]),
    3: np.array([0.9, 0.6, 0.3, 0.9, 0.6, 0.3]),
}
GAIN = 100.0  # [1/s]


def arm() -> Mechanism:
    """The arm without stops: the report's laws know none."""
    return load("lwa4p").robot().ideal()


class Descent(NamedTuple):
    """Configurations from the start on, (steps + 1, 6), and whether the last is close enough."""

    q: Array
    converged: bool

    @property
    def steps(self) -> int:
        return len(self.q) - 1


def descent(
    robot: Mechanism, step: Callable[[Array, Array], Array], target: Array = TARGET, most: int = 500
) -> Descent:
    """q += step(J_P, p_d - p(q)) until the distance is below 1 mm (Sepp et al. (2.22)-(2.24))."""
    path = [START]
    for _ in range(most + 1):
        q = path[-1]
        e = target - robot.frame_pose(q, WRIST)[:3, 3]
        if np.linalg.norm(e) < STOP:
            return Descent(np.array(path), True)
        path.append(q + step(robot.jacobian(q, WRIST)[:3], e))
    return Descent(np.array(path), False)


def transpose(alpha: float) -> Callable[[Array, Array], Array]:
    """The step alpha J^T e."""
    return lambda J, e: alpha * J.T @ e


def pose_vector(robot: Mechanism, q: Array) -> Array:
    """x = (p, phi, theta, psi), (..., 6)."""
    X = robot.frame_pose(q, WRIST)
    return np.concatenate([X[..., :3, 3], angles.euler_angles("zyx", X[..., :3, :3]).first], axis=-1)


class Controlled(NamedTuple):
    """A run of kinematic control: times, configurations and pose vectors."""

    t: Array
    q: Array
    x: Array


def kinematic_control(robot: Mechanism, goal: Array, duration: float, samples: int = 401) -> Controlled:
    """qdot = J_A^T K (x_d - x(q)), K = 100, integrated by SciPy's LSODA (Sepp et al., figure 2.15)."""

    def rate(t: float, q: Array) -> Array:
        X = robot.frame_pose(q, WRIST)
        a = angles.euler_angles("zyx", X[:3, :3]).first
        e = goal - np.concatenate([X[:3, 3], a])
        e[3:] = (e[3:] + np.pi) % (2 * np.pi) - np.pi
        J = robot.jacobian(q, WRIST)
        J[3:] = inverse_rate_map("zyx", a) @ J[3:]
        return J.T @ (GAIN * e)

    t = np.linspace(0, duration, samples)
    found = solve_ivp(rate, (0, duration), START, "LSODA", t, rtol=1e-7, atol=1e-9).y.T
    return Controlled(t, found, pose_vector(robot, found))
