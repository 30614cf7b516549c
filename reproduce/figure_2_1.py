"""Sepp et al. Figs. 2.1 to 2.4 and 2.11: joint limits, frames, two poses, both assemblies."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation

from modurob.draw import draw
from modurob.robot import Mechanism, load
from modurob.spatial import angles, se3
from modurob.spatial.scalars import Array
from reproduce.check import Check, Reproduction, apart
from reproduce.lwa4p import WRIST, arm

# table 2.1 with its offsets, (a, alpha, d, offset); printed without offsets
HALF = np.pi / 2
TABLE = (
    (0, -HALF, 0.205, 0),
    (0.35, 0, 0, -HALF),
    (0, HALF, 0, HALF),
    (0, -HALF, 0.305, 0),
    (0, HALF, 0, 0),
    (0, 0, 0, 0),
)
# table 2.2: joint angles, and the position that is printed to three digits; its angles are wrong
POSE = np.array([-np.pi / 4, np.pi / 2, -np.pi / 4, np.pi / 8, np.pi / 6, np.pi / 2])
PRINTED = (0.4, -0.4, 0.421)
# the joints in between, from the base on, and the report's colours
STICKS = (
    ("world", "shoulder/centre", "black"),
    ("shoulder/centre", "elbow/centre", "C0"),
    ("elbow/centre", WRIST, "C3"),
)
ROUNDING = 1e-12


def limits() -> Reproduction:
    """Figure 2.1: every joint turns by 170 degrees each way."""
    robot = arm()
    figure = Figure(figsize=(8, 3), layout="constrained")
    checks = []
    for i, (low, high) in enumerate(zip(*robot.limits, strict=True)):
        axis: Any = figure.add_subplot(1, 6, i + 1, projection="polar")
        axis.bar((low + high) / 2, 1.0, width=high - low, color="C0", alpha=0.6)
        axis.set(title=f"joint {i + 1}", yticks=[], xticks=[low % (2 * np.pi), 0, high])
        axis.set_thetalim(-np.pi, np.pi)
        checks.append(
            Check("Sepp et al. Fig. 2.1", f"limit of joint {i + 1}", 170.0, float(np.rad2deg(high)), 1e-9, "°")
        )
    return Reproduction(checks, figure)


def frames() -> Reproduction:
    """Figure 2.2: the table that is found from the docked modules is the printed one, with the offsets that it lacks."""
    name, robot = "Sepp et al. Fig. 2.2", arm()
    found = np.array([row[:4] for row in robot.dh(WRIST).rows])
    checks = [Check(name, "table 2.1, found from the docked modules", 0.0, apart(found, TABLE), ROUNDING)]
    axis = _picture(name)
    _sticks(axis, robot, robot.neutral())
    X = np.eye(4)
    for row in robot.dh(WRIST).rows:
        X = X @ row.pose(0.0)
        for direction, colour in zip(X[:3, :3].T, ("C3", "C2", "C0"), strict=True):
            axis.quiver(*X[:3, 3], *(0.08 * direction), color=colour, lw=1.2)
    return Reproduction(checks, axis.figure)


def zero_pose() -> Reproduction:
    """Figure 2.3: all joints at zero."""
    name, robot = "Sepp et al. Fig. 2.3", arm()
    X = robot.frame_pose(robot.neutral(), WRIST)
    checks = [Check(name, "upright: pose of the wrist", 0.0, apart(X, se3.pose(p=np.array([0, 0, 0.86]))), ROUNDING)]
    axis = _picture(name)
    _sticks(axis, robot, robot.neutral())
    return Reproduction(checks, axis.figure)


def bent_pose() -> Reproduction:
    """Figure 2.4: the pose of table 2.2, its angles by SciPy: Rz(q1) Ry(q2 + q3) Rz(q4) Ry(q5) Rz(q6)."""
    name, robot = "Sepp et al. Fig. 2.4", arm()
    X, q = robot.frame_pose(POSE, WRIST), POSE
    turns = [Rotation.from_euler(k, a) for k, a in zip("zyzyz", (q[0], q[1] + q[2], q[3], q[4], q[5]), strict=True)]
    R = turns[0] * turns[1] * turns[2] * turns[3] * turns[4]
    ours = angles.euler_angles("zyx", X[:3, :3]).first
    checks = [
        Check(name, "table 2.2: position", 0.0, apart(X[:3, 3], PRINTED), 5e-4, "m"),
        Check(name, "table 2.2: angles about z, y, x, by SciPy", 0.0, apart(ours, R.as_euler("ZYX")), ROUNDING, "rad"),
    ]
    axis = _picture(name)
    _sticks(axis, robot, POSE)
    return Reproduction(checks, axis.figure)


def assemblies() -> Reproduction:
    """Figure 2.11: both assemblies; the report has no table for the second, which is taken with another link."""
    name = "Sepp et al. Fig. 2.11"
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    expected = {"lwa4p": (0.0, 0.0, 0.9348), "lwa4p_angled": (0.0, 0.5972, 0.2053)}
    checks = []
    for i, (robot_name, flange) in enumerate(expected.items()):
        robot = load(robot_name).robot()
        draw(robot, ax=figure.add_subplot(1, 2, i + 1, projection="3d"), title=robot_name)
        p = robot.frame_pose(robot.neutral(), "wrist/out")[:3, 3]
        checks.append(Check(name, f"{robot_name}: flange at zero", 0.0, apart(p, flange), 1e-9, "m"))
    return Reproduction(checks, figure)


def _picture(title: str) -> Any:
    figure = Figure(figsize=(6, 5), layout="constrained")
    axis = figure.add_subplot(projection="3d")
    axis.set(
        title=title, xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", xlim=(-0.5, 0.5), ylim=(-0.5, 0.5), zlim=(0, 1)
    )
    return axis


def _sticks(axis: Any, robot: Mechanism, q: Array) -> None:
    """Base black, upper arm blue, forearm red."""
    X = robot.forward_kinematics(q)
    for a, b, colour in STICKS:
        axis.plot(*np.stack([X[a][:3, 3], X[b][:3, 3]], axis=-1), color=colour, lw=3)
