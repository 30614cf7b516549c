"""Closed mechanisms drawn at random: planar and in space, one to four loops, on the ground or floating, with and without cables.

Every loop has a branch of its own with at least as many rates as the loop takes, so that loops can move; where they stand closed
is drawn first, and the loop is put there.
"""

from dataclasses import dataclass, replace

import numpy as np

import modurob as mr
from modurob.spatial import inertia, se3, so3
from tests.robots import random_joint

AXIS_Z = np.array([0.0, 0.0, 1.0])
Z = mr.Revolute((0, 0, 1))
# kinds of joints of the tree and of the loops
PLANAR, SPATIAL = ("revolute", "revolute", "revolute", "prismatic"), ("revolute", "prismatic", "universal", "spherical")
CLOSING = ("spherical", "spherical", "universal", "revolute")


@dataclass(frozen=True)
class Closed:
    """A closed mechanism, and a configuration at which it stands closed, (nq,)."""

    robot: mr.Mechanism
    q: np.ndarray
    planar: bool
    floating: bool
    loops: int
    cables: int

    @property
    def free(self) -> mr.Mechanism:
        """Without its cables."""
        return self.robot.without_forces(*(row.name for row in self.robot.lines)) if self.cables else self.robot

    def velocity(self, rng: np.random.Generator) -> np.ndarray:
        """One that keeps the loops closed, (nv,)."""
        return self.robot.close_velocity(self.q, rng.normal(size=self.robot.nv))


def closed_mechanism(seed: int) -> Closed:
    """The mechanism of that number."""
    rng = np.random.default_rng([13, seed])
    planar, floating = bool(seed % 2), bool(seed // 2 % 3 == 0)
    loops, cables = 1 + seed // 6 % 4, seed // 24 % 4 if seed >= 24 else seed % 3
    tree = _Tree(rng, planar, floating)
    tree.branch(int(rng.integers(1, 4)), "base" if floating else "world")
    for k in range(loops):
        joint = Z if planar else random_joint(rng, str(rng.choice(CLOSING)))
        tree.close(f"loop{k}", joint)
    robot, q = _sprung(*tree.built())
    for k in range(cables):
        robot = _tied(rng, robot, q, f"cable{k}", slack=k == 1, floating=floating)
    return Closed(_driven(robot, q), q, planar, floating, loops, cables)


class _Tree:
    """Branches, and loops that are put where the tree stands in a configuration that grows with it."""

    def __init__(self, rng: np.random.Generator, planar: bool, floating: bool):
        self.rng, self.planar, self.floating = rng, planar, floating
        # what floats would fall out of sight
        pull = np.zeros(3) if floating else rng.normal(size=3) * 3
        self.builder = mr.Builder("closed", gravity=(*pull[:2], 0.0) if planar else pull)
        self.q: list[np.ndarray] = []
        self.bodies = [] if floating else ["world"]
        if floating:
            self.body("base", "world", mr.Free())

    def body(self, name: str, parent: str, joint: mr.catalogue.joints.JointType) -> None:
        self.builder.body(name, inertia.random(self.rng), parent=parent, joint=joint, at=self.place(0.8))
        self.q.append(self._coordinates(joint))
        self.bodies.append(name)

    def branch(self, rates: int, root: str) -> str:
        """A chain of at least so many rates; its last body."""
        while rates > 0:
            kind = str(self.rng.choice(PLANAR if self.planar else SPATIAL))
            joint = self._planar(kind) if self.planar else random_joint(self.rng, kind)
            root, parent = f"b{len(self.bodies)}", root
            self.body(root, parent, joint)
            rates -= joint.nv
        return root

    def close(self, name: str, joint: mr.catalogue.joints.JointType) -> None:
        """A new branch, and a loop from its end to a body that was there."""
        target, root = (str(x) for x in self.rng.choice(self.bodies, 2))
        takes = 2 if self.planar else 6 - joint.nv
        tip = self.branch(takes + int(target == root) + int(self.rng.integers(2)), root)
        robot, q = self.built()
        beside = self.place(0.5)
        meeting = robot.frame_pose(q, target) @ beside
        at = beside @ se3.inverse(joint.pose(self._coordinates(joint)))
        self.builder.loop(name, joint, target, tip, at, se3.inverse(robot.frame_pose(q, tip)) @ meeting)

    def built(self) -> tuple[mr.Mechanism, np.ndarray]:
        return self.builder.build(), np.concatenate(self.q)

    def place(self, reach: float) -> np.ndarray:
        if not self.planar:
            return se3.random(self.rng, reach=reach)
        turn = so3.about(AXIS_Z, self.rng.uniform(-np.pi, np.pi))
        return se3.pose(turn, (*self.rng.uniform(-reach, reach, 2), 0.0))

    def _planar(self, kind: str) -> mr.catalogue.joints.JointType:
        return mr.Prismatic((*self.rng.normal(size=2), 0.0)) if kind == "prismatic" else Z

    def _coordinates(self, joint: mr.catalogue.joints.JointType) -> np.ndarray:
        bounds = np.full(joint.nq, 0.7)
        return joint.random(self.rng, -bounds, bounds) if joint.nq else np.zeros(0)


def _sprung(robot, q):
    """With springs along slides, which else go on for ever; and the configuration, where they hold nothing."""
    for joint in robot.joints:
        if joint.kind == "prismatic":
            spring = mr.JointSpring(20.0, float(q[joint.q_slice][0]))
            robot = robot.with_force(f"spring at {joint.name}", spring, joint=joint.name)
    return robot, q


def _tied(rng, robot, q, name, slack, floating):
    """With one more cable, taut or slack at q, from the world or, where it floats, from its base."""
    bodies = list(robot.bodies[1:])
    start = bodies[0] if floating else "world"
    route = [(start, rng.normal(size=3) * 2), *((str(rng.choice(bodies)), rng.normal(size=3) * 0.5) for _ in range(2))]
    length = float(robot.with_line(name, route, mr.Elastic(1.0, 1.0)).line_lengths(q)[0])
    return robot.with_line(name, route, mr.Elastic(stiffness=30.0, rest=length * (1.05 if slack else 0.8)))


def _driven(robot, q):
    """With drives at as many rates as there are degrees of freedom, independent ones."""
    rates = robot.independent_coordinates(q, np.zeros(robot.nv)).rates
    limit = np.zeros(robot.nv)
    limit[rates] = np.inf
    return replace(robot, joints=tuple(replace(j, effort_limit=limit[j.v_slice]) for j in robot.joints))
