"""The single strut of Lieskovsky, chapter 5: three winches on swivels hold a strut upright.

`tree` is built of involute joints and spherical loops, `strung` of lines with winches; `Minimal` is a third model, in
independent coordinates (two angles, three strains), written down by hand.
"""

import itertools
from dataclasses import dataclass, replace

import numpy as np

import modurob as mr
from modurob.spatial import inertia, se3, so3

DENSITY, LENGTH, WIDTH, RADIUS, THICKNESS, CABLE = 2.7e3, 1.0, 0.04, 0.07, 0.01, 1e-3
SIDE = np.sqrt(2) * RADIUS
BASE = LENGTH - SIDE
AREA = np.pi * CABLE**2
VARIANTS = {"strain": mr.InvoluteStrain, "stretch": mr.InvoluteStretch, "length": mr.InvoluteLength}
PULLEY_AXES = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
STENCIL = {-2: 1.0, -1: -8.0, 1: 8.0, 2: -1.0}
STRUT_MASS = DENSITY * np.pi * (WIDTH / 2) ** 2 * LENGTH
PULLEY_MASS = DENSITY * np.pi * RADIUS**2 * THICKNESS
BLOCK_MASS = DENSITY * SIDE**3


def block_frame(i, start):
    """Of swivel i: on the base, z up, x inward."""
    angle = start + 2 * np.pi / 3 * i
    turn = so3.about(np.array([0.0, 0, 1]), np.array(angle + np.pi))
    return se3.pose(turn, BASE * np.array([np.cos(angle), np.sin(angle), 0.0]))


def add_strut(b):
    own = inertia.moved(inertia.cylinder(STRUT_MASS, WIDTH / 2, LENGTH), se3.pose(None, (0, 0, LENGTH / 2)))
    b.body("strut", own, joint=mr.Universal((1, 0, 0), (0, 1, 0)))


def tree(variant="strain", E=200e6, mu=0.0, start=0.0, gravity=9.81, block_mass=BLOCK_MASS):
    """The document's model: 14 rates, 9 constraints."""
    b = mr.Builder("single strut", gravity=(0, 0, -gravity))
    add_strut(b)
    for i in range(3):
        b.body(
            f"block{i}", inertia.box(block_mass, (SIDE,) * 3), joint=mr.Revolute((0, 0, 1)), at=block_frame(i, start)
        )
        own = inertia.cylinder(PULLEY_MASS, RADIUS, THICKNESS)
        b.body(f"pulley{i}", own, parent=f"block{i}", joint=mr.Revolute((0, 0, 1)), at=se3.pose(PULLEY_AXES))
        b.body(f"cable{i}", parent=f"pulley{i}", joint=VARIANTS[variant](RADIUS))
        b.force(f"rope{i}", mr.WoundCable(E * AREA, mu * AREA), joint=f"cable{i}")
        b.loop(f"tip{i}", mr.Spherical(), "strut", f"cable{i}", se3.pose(None, (0, 0, LENGTH)))
    return b.build()


def strung(E=200e6, mu=0.0, start=0.0, gravity=9.81):
    """The same with lines: 5 rates, no constraints; the blocks have no inertia."""
    b = mr.Builder("single strut", gravity=(0, 0, -gravity))
    add_strut(b)
    for i in range(3):
        at = block_frame(i, start)
        own = inertia.cylinder(PULLEY_MASS, RADIUS, THICKNESS)
        # what turns with the swivel in the other model stands still here
        b.body(f"pulley{i}", own, joint=mr.Revolute((0, 0, 1)), at=at @ se3.pose(PULLEY_AXES))
        winch = mr.Winch(f"pulley{i}", RADIUS, mr.Swivel(RADIUS))
        # elevation zero and angle zero: nothing is unwound
        law = mr.Elastic(E * AREA, RADIUS * np.pi / 2, mu * AREA)
        b.line(f"rope{i}", [("world", at, winch), ("strut", (0, 0, LENGTH))], law)
    return b.build()


@dataclass(frozen=True)
class Geometry:
    """Of one cable: swivel, elevation and length of the free part, for a tip in world axes."""

    swivel: np.ndarray
    elevation: np.ndarray
    free: np.ndarray


def geometry(tip, i, start):
    X = block_frame(i, start)
    d = se3.rotation(X).T @ (tip - se3.position(X))
    rho = np.sqrt(d[0] ** 2 + d[1] ** 2)
    free = np.sqrt(rho**2 + d[2] ** 2 - RADIUS**2)
    return Geometry(_angle(d[1], d[0]), _angle(d[2], rho) - _angle(RADIUS, free), free)


def _angle(y, x):
    """atan2 that a complex step passes through."""
    if np.iscomplexobj(y) or np.iscomplexobj(x):
        at = np.arctan2(np.real(y), np.real(x))
        return at + 1j * (np.real(x) * np.imag(y) - np.real(y) * np.imag(x)) / (np.real(x) ** 2 + np.real(y) ** 2)
    return np.arctan2(y, x)


def tip(angles):
    a, b = angles
    return LENGTH * np.array([np.sin(b), -np.sin(a) * np.cos(b), np.cos(a) * np.cos(b)])


def tree_state(y, ydot=None, variant="strain", start=0.0):
    """q and v of `tree` for y = (angles, strains)."""
    q = tree_coordinates(y, variant, start)
    if ydot is None:
        return q, np.zeros(14)
    return q, np.imag(tree_coordinates(y + 1e-30j * np.asarray(ydot), variant, start)) / 1e-30


def tree_coordinates(y, variant, start):
    parts = [y[:2]]
    for i in range(3):
        g, strain = geometry(tip(y[:2]), i, start), y[2 + i]
        unwound = g.free / (RADIUS * (1 + strain))
        second = {"strain": strain, "stretch": strain * RADIUS * unwound, "length": g.free}[variant]
        parts.append(np.array([g.swivel, g.elevation - unwound, unwound, second]))
    return np.concatenate(parts)


class Minimal:
    """M ydot' + c = tau in y = (two angles, three strains), by Lagrange from the kinetic and potential energy."""

    def __init__(self, E, mu=0.0, start=0.0, gravity=9.81, block_mass=BLOCK_MASS):
        self.EA, self.muA, self.start, self.gravity = E * AREA, mu * AREA, start, gravity
        swivelled = block_mass * SIDE**2 / 6 + PULLEY_MASS * (RADIUS**2 / 4 + THICKNESS**2 / 12)
        self.swivelled, self.axial = swivelled, PULLEY_MASS * RADIUS**2 / 2
        self.foot = STRUT_MASS * (LENGTH**2 / 3 + (WIDTH / 2) ** 2 / 4)
        self.along = STRUT_MASS * (WIDTH / 2) ** 2 / 2

    def joints(self, y):
        """(swivel, pulley angle) of the winches, (6,)."""
        q = tree_coordinates(y, "strain", self.start)
        return np.concatenate([q[2 + 4 * i : 4 + 4 * i] for i in range(3)])

    def mass(self, y):
        J = np.array([np.imag(self.joints(y + 1e-30j * e)) / 1e-30 for e in np.eye(5)]).T
        M = J.T @ np.diag([self.swivelled, self.axial] * 3) @ J
        # angular velocity in body axes (a' cos b, b', a' sin b)
        c, s = np.cos(y[1]), np.sin(y[1])
        M[0, 0] += self.foot * c**2 + self.along * s**2
        M[1, 1] += self.foot
        return M

    def acceleration(self, y, ydot, torques):
        # differences of fourth order: complex steps are spent on the masses
        h = 1e-3
        slopes = np.array([sum(w * self.mass(y + k * h * e) for k, w in STENCIL.items()) / (12 * h) for e in np.eye(5)])
        coriolis = np.einsum("kij,k,j->i", slopes, ydot, ydot) - np.einsum("ijk,j,k->i", slopes, ydot, ydot) / 2
        height = np.array([np.imag(tip(y[:2] + 1e-30j * e)[2]) / 1e-30 for e in np.eye(2)]) / 2
        force = np.concatenate([-STRUT_MASS * self.gravity * height, np.zeros(3)])
        for i in range(3):
            turn = np.array([np.imag(self.joints(y + 1e-30j * e)[2 * i + 1]) / 1e-30 for e in np.eye(5)])
            force = force + torques[i] * turn - self.pull(y, ydot, i)
        return np.linalg.solve(self.mass(y), force - coriolis)

    def pull(self, y, ydot, i):
        """T du/dy, with u = e l / (1 + e)."""
        strain = y[2 + i]
        tension = self.EA * strain + self.muA * ydot[2 + i]

        def stretch(y):
            free = geometry(tip(y[:2]), i, self.start).free
            unwound = free / (1 + y[2 + i])
            return free - unwound

        def natural(y):
            return geometry(tip(y[:2]), i, self.start).free / (1 + y[2 + i])

        return tension * np.array([np.imag(stretch(y + 1e-30j * e)) / 1e-30 for e in np.eye(5)])


# ---- the path of Table 5.6 ----

KNOTS = np.array([0.0, 1, 3, 7, 9])
ANGLES = np.array([[0, 0], [0, 0], [0, np.pi / 4], [np.pi / 4, 0], [0, 0]])
PATH = mr.Trajectory.hermite(KNOTS, ANGLES, 0 * ANGLES)


def stretched(E, start=np.pi, mu=10e6):
    """The strut with lines, upright, every cable at the strain of 20 MPa, with drives on its winches alone."""
    robot = strung(E, mu, start)
    limits = {j.name: np.inf if j.name.startswith("pulley") else 0.0 for j in robot.joints}
    joints = tuple(replace(j, effort_limit=np.full(j.type.nv, limits[j.name])) for j in robot.joints)
    q, _ = tree_state(np.array([0, 0, *[20e6 / E] * 3]), start=start)
    return replace(robot, joints=joints), q[[0, 1, 3, 7, 11]]


def tracked(robot, q, kp, kd, dt=1e-3):
    """Largest errors of both angles along the path, the controller asked in every stage of RK4, no step across a knot."""
    worst = np.zeros(2)
    y = np.concatenate([q, np.zeros(5)])
    for k, (begin, end) in enumerate(itertools.pairwise(KNOTS)):
        piece = _cubic(begin, end, *ANGLES[k : k + 2])
        task = mr.JointTask(["strut"], reference=piece, kp=kp, kd=kd)
        law = mr.WholeBody([task], tension=(20e6 * AREA, np.inf)).on(robot)
        for t in begin + dt * np.arange(round((end - begin) / dt)):
            y = _step(robot, law, t, y, dt)
            worst = np.maximum(worst, np.abs(y[:2] - piece(t + dt)[0]))
    return worst


def _cubic(begin, end, a, b):
    """One piece of the path, which goes on beyond its ends: the last stage of a step still sees its own piece."""
    h = end - begin

    def piece(t):
        s = (t - begin) / h
        return a + (b - a) * (3 * s**2 - 2 * s**3), (b - a) * (6 * s - 6 * s**2) / h, (b - a) * (6 - 12 * s) / h**2

    return piece


def _step(robot, law, t, y, dt):
    def slope(t, y):
        q, v = y[:5], y[5:]
        plan, problem = law.plan(t, q, v)
        return np.append(v, robot.forward_dynamics(q, v, problem.B @ plan.u + robot.passive_forces(q, v)))

    k1 = slope(t, y)
    k2 = slope(t + dt / 2, y + dt / 2 * k1)
    k3 = slope(t + dt / 2, y + dt / 2 * k2)
    k4 = slope(t + dt, y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
