"""Mechanisms with loops, for tests and benchmarks: four-bar, slider-crank, Stewart platform, delta robot, Bennett's linkage.

Each stands at configurations that are known in closed form. Driven joints have a drive of any strength, all others have none.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import modurob as mr
from modurob.spatial import inertia, quaternion, se3, so3
from tests.oracles.four_bar import FourBar

X, Y, Z = mr.Revolute((1, 0, 0)), mr.Revolute((0, 1, 0)), mr.Revolute((0, 0, 1))
PASSIVE = mr.JointProperties(effort=0.0)


@dataclass(frozen=True)
class Linkage:
    """A robot with loops, how many degrees of freedom it has, and closed configurations drawn at random, (nq,)."""

    robot: mr.Mechanism
    degrees_of_freedom: int
    closed: Callable[[np.random.Generator], np.ndarray]

    def state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """A closed configuration and a velocity that keeps the loops closed."""
        q = self.closed(rng)
        return q, self.robot.close_velocity(q, rng.normal(size=self.robot.nv))

    def drive(self, rng: np.random.Generator) -> np.ndarray:
        """Torques of the driven joints, (nv,)."""
        return np.where(self.robot.effort_limit > 0, rng.normal(size=self.robot.nv), 0.0)


def along_x(length: float) -> np.ndarray:
    return se3.pose(None, (length, 0, 0))


def rod(mass: float, length: float) -> np.ndarray:
    """A rod along x from the origin, its mass in the middle."""
    own = inertia.spatial_inertia(mass, np.zeros(3), mass * length**2 / 12 * np.diag([0.0, 1.0, 1.0]))
    return inertia.moved(own, along_x(length / 2))


# ---- planar ----


def four_bar_robot(bar: FourBar, bodies: tuple[np.ndarray, ...] | None = None, passive: bool = False) -> mr.Mechanism:
    """Crank and coupler as one chain, the rocker as another, pinned together; links are rods, or as given."""
    crank, coupler, rocker = bodies or tuple(rod(m, x) for m, x in zip(bar.masses, (bar.a, bar.b, bar.c), strict=True))
    free = PASSIVE if passive else mr.JointProperties()
    builder = mr.Builder("four-bar", gravity=(0, -bar.g, 0))
    builder.body("crank", crank, joint=Z)
    builder.body("coupler", coupler, parent="crank", joint=Z, at=along_x(bar.a), properties=free)
    builder.body("rocker", rocker, joint=Z, at=along_x(bar.d), properties=free)
    builder.loop("pin", Z, "coupler", "rocker", along_x(bar.b), along_x(bar.c))
    return builder.build()


def four_bar_state(bar: FourBar, t: float, td: float) -> tuple[np.ndarray, np.ndarray]:
    """Joint coordinates and rates for the crank angle and rate."""
    (p, r), (pd, rd) = bar.angles(t), bar.rates(t)
    return np.array([t, p - t, r]), td * np.array([1, pd - 1, rd])


def four_bar(rng: np.random.Generator) -> Linkage:
    """Four links that turn in a plane; the crank is driven."""
    bar = FourBar()
    robot = four_bar_robot(bar, tuple(inertia.random(rng) for _ in range(3)), passive=True)
    return Linkage(robot, 1, lambda rng: four_bar_state(bar, rng.uniform(-np.pi, np.pi), 0.0)[0])


def slider_crank(rng: np.random.Generator, crank: float = 0.3, length: float = 0.8, offset: float = 0.1) -> Linkage:
    """A driven crank, a connecting rod, and a piston that slides along x at the height `offset`."""
    builder = mr.Builder("slider-crank", gravity=(0, -9.81, 0))
    builder.body("crank", inertia.random(rng), joint=Z)
    builder.body("rod", inertia.random(rng), parent="crank", joint=Z, at=along_x(crank), properties=PASSIVE)
    slide, rail = mr.Prismatic((1, 0, 0)), se3.pose(None, (0, offset, 0))
    builder.body("piston", inertia.random(rng), joint=slide, at=rail, properties=PASSIVE)
    builder.loop("pin", Z, "rod", "piston", along_x(length))

    def closed(rng: np.random.Generator) -> np.ndarray:
        t = rng.uniform(-np.pi, np.pi)
        lean = np.arcsin((offset - crank * np.sin(t)) / length)
        return np.array([t, lean - t, crank * np.cos(t) + length * np.cos(lean)])

    return Linkage(builder.build(), 1, closed)


# ---- in space ----


def universal_angles(direction: np.ndarray) -> np.ndarray:
    """Angles of a joint about x, then y, that takes z to a unit vector."""
    x, y, z = direction
    return np.array([np.arctan2(-y, z), np.arcsin(x)])


def universal_turn(angles: np.ndarray) -> np.ndarray:
    return so3.about(np.eye(3)[0], angles[0]) @ so3.about(np.eye(3)[1], angles[1])


def on_circle(radius: float, angles: np.ndarray, height: float = 0.0) -> np.ndarray:
    return np.stack([radius * np.cos(angles), radius * np.sin(angles), np.full(len(angles), height)], axis=-1)


def at_point(point: np.ndarray) -> np.ndarray:
    return se3.pose(None, point)


def stewart(rng: np.random.Generator) -> Linkage:
    """A platform on six legs that lengthen by drives, on universal joints below and ball joints above."""
    below = on_circle(0.6, np.radians([-15, 15, 105, 135, 225, 255]))
    above = on_circle(0.4, np.radians([-45, 45, 75, 165, 195, 285]))
    builder = mr.Builder("stewart", gravity=(0, 0, -9.81))
    for i, point in enumerate(below):
        builder.body(f"leg{i}", inertia.random(rng), joint=mr.Universal(), at=at_point(point), properties=PASSIVE)
        builder.body(f"rod{i}", inertia.random(rng), parent=f"leg{i}", joint=mr.Prismatic((0, 0, 1)))
    ball, seat = mr.Spherical(), at_point(-above[0])
    builder.body("platform", inertia.random(rng), parent="rod0", joint=ball, seat=seat, properties=PASSIVE)
    for i in range(1, 6):
        builder.loop(f"ball{i}", ball, f"rod{i}", "platform", seat=at_point(above[i]))

    def closed(rng: np.random.Generator) -> np.ndarray:
        R, p = so3.exp(0.2 * rng.normal(size=3)), np.array([0, 0, 0.9]) + 0.05 * rng.normal(size=3)
        ways = p + above @ R.T - below
        lengths = np.linalg.norm(ways, axis=-1)
        angles = [universal_angles(way / length) for way, length in zip(ways, lengths, strict=True)]
        legs = [x for turn, length in zip(angles, lengths, strict=True) for x in (*turn, length)]
        return np.array([*legs, *quaternion.from_matrix(universal_turn(angles[0]).T @ R)])

    return Linkage(builder.build(), 6, closed)


def delta(rng: np.random.Generator, arm: float = 0.3, length: float = 0.7, wide: float = 0.05) -> Linkage:
    """Clavel's robot: three driven arms, on each two parallel rods that keep the platform level."""
    turns = np.radians([0, 120, 240])
    spins = [so3.about(np.eye(3)[2], t) for t in turns]
    base, small = 0.25, 0.1
    sides = np.array([[0, -wide, 0], [0, wide, 0]])
    builder = mr.Builder("delta", gravity=(0, 0, -9.81))
    for i, R in enumerate(spins):
        shoulder = se3.pose(R, R @ [base, 0, 0])
        builder.body(f"arm{i}", inertia.random(rng), joint=Y, at=shoulder)
        for k, side in enumerate(sides):
            elbow = at_point(np.array([arm, 0, 0]) + side)
            at = {"parent": f"arm{i}", "joint": mr.Universal(), "at": elbow, "properties": PASSIVE}
            builder.body(f"rod{i}{k}", inertia.random(rng), **at)
    ends = [[R @ (np.array([small, 0, 0]) + side) for side in sides] for R in spins]
    ball, tip = mr.Spherical(), at_point(np.array([0, 0, length]))
    seat = at_point(-ends[0][0])
    builder.body("platform", inertia.random(rng), parent="rod00", joint=ball, at=tip, seat=seat, properties=PASSIVE)
    for i, k in [(0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]:
        builder.loop(f"ball{i}{k}", ball, f"rod{i}{k}", "platform", tip, at_point(ends[i][k]))

    def arm_and_rods(R: np.ndarray, p: np.ndarray) -> tuple[float, np.ndarray]:
        """The angle of an arm, elbow outward, and those of its two rods, for the platform at p."""
        x, y, z = R.T @ p + [small - base, 0, 0]
        # arm (cos t, 0, -sin t) and a rod of the given length: x cos t - z sin t = reach
        reach = (x * x + y * y + z * z + arm**2 - length**2) / (2 * arm)
        t = np.arctan2(-z, x) - np.arccos(reach / np.hypot(x, z))
        way = so3.about(np.eye(3)[1], -t) @ (np.array([x, y, z]) - arm * np.array([np.cos(t), 0, -np.sin(t)]))
        return t, universal_angles(way / length)

    def closed(rng: np.random.Generator) -> np.ndarray:
        p = np.array([0, 0, -0.6]) + 0.06 * rng.normal(size=3)
        found = [arm_and_rods(R, p) for R in spins]
        limbs = [x for t, rods in found for x in (t, *rods, *rods)]
        t, rods = found[0]
        turned = spins[0] @ so3.about(np.eye(3)[1], t) @ universal_turn(rods)
        return np.array([*limbs, *quaternion.from_matrix(turned.T)])

    return Linkage(builder.build(), 3, closed)


def bennett_robot(
    bodies: list[np.ndarray] | None = None, a: float = 1.0, b: float = 0.7, alpha: float = 1.1, passive: bool = False
) -> tuple[mr.Mechanism, float]:
    """Four links with lengths a, b, a, b and twists alpha, beta, alpha, beta; sin(alpha)/a = sin(beta)/b. And beta."""
    beta = float(np.arcsin(b * np.sin(alpha) / a))
    links = [(a, alpha), (b, beta), (a, alpha), (b, beta)]
    builder = mr.Builder("bennett", gravity=(0, 0, -9.81))
    parent = "world"
    for i, (length, twist) in enumerate(links[:3]):
        seat = se3.denavit_hartenberg(0.0, 0.0, length, twist)
        own = inertia.moved(inertia.box(1.0, (length, 0.1, 0.1)), along_x(-length / 2))
        free = PASSIVE if passive and i else mr.JointProperties()
        builder.body(f"l{i}", bodies[i] if bodies else own, parent=parent, joint=Z, seat=seat, properties=free)
        parent = f"l{i}"
    last = se3.denavit_hartenberg(0.0, 0.0, *links[3])
    builder.loop("closing", Z, parent, "world", seat=se3.inverse(last))
    return builder.build(), beta


def bennett_configuration(t1: float, alpha: float, beta: float) -> np.ndarray:
    """tan(t1/2) tan(t2/2) = sin((alpha + beta)/2) / sin((beta - alpha)/2), and t3 = -t1."""
    t2 = 2 * np.arctan(np.sin((alpha + beta) / 2) / np.sin((beta - alpha) / 2) / np.tan(t1 / 2))
    return np.array([t1, t2, -t1])


def bennett(rng: np.random.Generator) -> Linkage:
    """The linkage of four hinges that moves only by its special shape; the first hinge is driven."""
    robot, beta = bennett_robot([inertia.random(rng) for _ in range(3)], passive=True)
    return Linkage(robot, 1, lambda rng: bennett_configuration(rng.uniform(0.3, 2.8), 1.1, beta))


LINKAGES: dict[str, Callable[[np.random.Generator], Linkage]] = {
    "four-bar": four_bar,
    "slider-crank": slider_crank,
    "stewart": stewart,
    "delta": delta,
    "bennett": bennett,
}
