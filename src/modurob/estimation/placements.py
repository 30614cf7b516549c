"""Errors of a robot's geometry as small twists at its joints: for any mechanism, without singularities at parallel
axes.

The pose of a frame is X = exp(base) ... X_PJ exp(xi) X_J(q) ... X_BF exp(tool): every joint on the path to the frame is
displaced by a twist xi in its predecessor frame, the frame by one of its own. Components are named x, y, z [m] and rx,
ry, rz [rad], z along the axis of a joint that has one. (A product of exponentials; Okamura and Park, Kinematic
calibration using the product of exponentials formula, 1996.)
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from modurob import algorithms
from modurob.errors import EstimateError, choices
from modurob.mechanism import Frame
from modurob.robot import Mechanism
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array

COMPONENTS = ("x", "y", "z", "rx", "ry", "rz")
BASE, TOOL = "base", "tool"
# a twist that a joint's motion changes less commutes with it
COMMUTING = 1e-12


class Parameter(NamedTuple):
    """One component of one displacement."""

    name: str
    place: str  # a joint, BASE or TOOL
    direction: Array  # its twist, (6,)


class Geometry:
    """The displacements of a robot that move one of its frames."""

    def __init__(self, robot: Mechanism, frame: str):
        self.robot, self.frame = robot, frame
        body = robot.frame(frame).body
        self.bodies: list[int] = []
        while body:
            self.bodies.insert(0, body)
            body = robot.parent[body]
        self.axes = {robot.joints[i - 1].name: _axes(robot, i) for i in self.bodies}

    def parameters(self, wanted: Iterable[str] | None = None) -> list[Parameter]:
        """All displacements, or those named: a component, or a joint, `base` or `tool` for its six.

        First those across the axes of joints, then those of the tool and the base; last those along the axes, which are
        equivalent to displacements of the next joint.
        """
        every = {p.name: p for p in self._all()}
        if wanted is None:
            return sorted(every.values(), key=self._rank)
        groups = {place: [p for p in every.values() if p.place == place] for place in (*self.axes, TOOL, BASE)}
        found: list[Parameter] = []
        for name in [wanted] if isinstance(wanted, str) else wanted:
            if name not in every and name not in groups:
                raise EstimateError(
                    f"no parameter {name!r} of {self.robot.name}: {choices(str(name), [*groups, *every])}"
                )
            found += groups[name] if name in groups else [every[name]]
        return list({p.name: p for p in found}.values())

    def _all(self) -> list[Parameter]:
        places = {**self.axes, TOOL: np.eye(6), BASE: np.eye(6)}
        return [
            Parameter(f"{place} {component}", place, axes[:, k])
            for place, axes in places.items()
            for k, component in enumerate(COMPONENTS)
        ]

    def _rank(self, parameter: Parameter) -> int:
        if parameter.place in (TOOL, BASE):
            return 1 if parameter.place == TOOL else 2
        i = next(i for i in self.bodies if self.robot.joints[i - 1].name == parameter.place)
        S = _subspace(self.robot, i)
        return 3 if np.abs(se3.ad(parameter.direction) @ S).max(initial=0.0) < COMMUTING else 0

    def _twists(self, parameters: list[Parameter], values: Array) -> dict[str, Array]:
        """The displacement of each joint, tool and base, (6,)."""
        twists = dict.fromkeys((*self.axes, TOOL, BASE), np.zeros(6))
        for p, value in zip(parameters, values, strict=True):
            twists[p.place] = twists[p.place] + value * p.direction
        return twists

    def displaced(self, parameters: list[Parameter], values: Array) -> Mechanism:
        """The robot with these displacements."""
        twists = self._twists(parameters, values)
        robot, X_PJ = self.robot, np.array(self.robot.X_PJ)
        for i in self.bodies:
            X_PJ[i] = X_PJ[i] @ se3.exp(twists[robot.joints[i - 1].name])
        for i in (i for i, parent in enumerate(robot.parent) if parent == 0):
            X_PJ[i] = se3.exp(twists[BASE]) @ X_PJ[i]
        tool = robot.frame(self.frame)
        frames = {**robot.frames, self.frame: Frame(tool.body, tool.X @ se3.exp(twists[TOOL]))}
        return replace(robot, X_PJ=X_PJ, frames=frames)

    def slopes(self, parameters: list[Parameter], values: Array, q: Array) -> Array:
        """d(body twist of the frame) by the parameters, at these values, (..., 6, parameters)."""
        robot = self.displaced(parameters, values)
        poses = algorithms.forward_kinematics(robot, q)
        X_WF = poses[self.frame]
        moved = {
            robot.joints[i - 1].name: poses.bodies[..., robot.parent[i], :, :] @ robot.X_PJ[i] for i in self.bodies
        }
        twists = self._twists(parameters, values)
        moved |= {TOOL: X_WF, BASE: se3.exp(twists[BASE])}
        to_frame = {place: se3.Ad(se3.inverse(X_WF) @ X) @ _right_jacobian(twists[place]) for place, X in moved.items()}
        columns = [to_frame[p.place] @ p.direction for p in parameters]
        return np.stack(columns, axis=-1) if columns else np.zeros((*q.shape[:-1], 6, 0))


def _subspace(robot: Mechanism, i: int) -> Array:
    """Along what joint i moves at zero, (6, nv)."""
    joint = robot.joints[i - 1].type
    return joint.motion_subspace(joint.neutral())


def _axes(robot: Mechanism, i: int) -> Array:
    """The six directions of a displacement of joint i as columns, z along its axis if it has one."""
    S = _subspace(robot, i)
    if S.shape[-1] != 1:
        return np.eye(6)
    along = S[3:, 0] if S[3:].any() else S[:3, 0]
    axis = along / np.linalg.norm(along)
    R = np.stack([*so3.perpendicular(axis), axis], axis=-1)
    return np.block([[R, np.zeros((3, 3))], [np.zeros((3, 3)), R]])


def _right_jacobian(V: Array) -> Array:
    """Jr with exp(V + dV) = exp(V) exp(Jr dV): the sum of (-ad V)^k/(k + 1)!, for displacements, which are small."""
    total, term, ad = np.eye(6), np.eye(6), se3.ad(V)
    for k in range(1, 30):
        term = -term @ ad / (k + 1)
        total = total + term
    return total
