"""The manipulator of Lieskovsky, chapter 5: three struts, six cables from pulleys on swivels, three links to an end effector.

Struts stand on universal joints; the end effector slides along x, y and z; the links hang on it by universal joints and end at the
struts' tops by spherical loops. Blocks and pulleys are fixed on their struts: what they weigh counts, how they turn does not.
"""

import numpy as np
from scipy.optimize import fsolve

import modurob as mr
from modurob.spatial import inertia, se3
from tests.oracles.linkages import universal_angles

DENSITY, LENGTH, RADIUS, THICKNESS = 2.7e3, 1.0, 0.05, 0.01
SIDE, OUTER, INNER, Q = 1 / np.sqrt(2), 0.035, 0.032, np.sqrt(2) * 0.05
HEIGHT = SIDE * (1 + np.sqrt(2 / 3))
AREA = np.pi * 1e-6
TUBE = DENSITY * np.pi * (OUTER**2 - INNER**2) / 4
BLOCK, PULLEY = DENSITY * 3 * THICKNESS * 2 * Q * Q, DENSITY * np.pi * RADIUS**2 * 2 * THICKNESS
TOP, FLIPPED = se3.pose(None, (0, 0, LENGTH)), np.diag([1.0, -1.0, -1.0])
AXLE = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
PASSIVE = mr.JointProperties(effort=0.0)


def foot(i):
    return SIDE / np.sqrt(3) * np.array([np.cos(2 * np.pi * i / 3), np.sin(2 * np.pi * i / 3), 0.0])


def tube(length):
    across = TUBE * length * (3 * (OUTER**2 + INNER**2) / 4 + length**2) / 12
    along = TUBE * length * (OUTER**2 + INNER**2) / 8
    own = inertia.spatial_inertia(TUBE * length, np.zeros(3), np.diag([across, across, along]))
    return inertia.moved(own, se3.pose(None, (0, 0, length / 2)))


def robot(E=None, mu=0.0):
    """With cables under given tensions, or, given Young's modulus and viscosity [Pa, Pa s], on winches; then struts carry drums."""
    b = mr.Builder("simplex")
    universal = mr.Universal((1, 0, 0), (0, 1, 0))
    for i in range(3):
        b.body(f"strut{i}", tube(LENGTH), joint=universal, at=se3.pose(None, foot(i)), properties=PASSIVE)
    b.body("x", joint=mr.Prismatic((1, 0, 0)), properties=PASSIVE)
    b.body("y", parent="x", joint=mr.Prismatic((0, 1, 0)), properties=PASSIVE)
    b.body("EE", inertia.point(0.05, (0, 0, 0)), parent="y", joint=mr.Prismatic((0, 0, 1)), properties=PASSIVE)
    for i in range(3):
        b.body(f"link{i}", tube(SIDE), parent="EE", joint=universal, properties=PASSIVE)
        b.loop(f"top{i}", mr.Spherical(), f"strut{i}", f"link{i}", TOP, se3.pose(None, (0, 0, SIDE)))
    for i in range(3):
        for name, at in (("upper", se3.pose(None, (0, 0, LENGTH - Q))), ("lower", se3.pose(FLIPPED, (0, 0, Q)))):
            cable(b, f"{name}{i}", f"strut{i}", at, (f"strut{(i + 2) % 3}", TOP[:3, 3]), E, mu)
    return b.build()


def cable(b, name, strut, at, target, E, mu):
    """A block on a strut, and a cable from it; on a winch its pulley is a drum of fixed axis, nothing unwound at zero."""
    held = BLOCK + (PULLEY if E is None else 0.0)
    b.body(f"block {name}", inertia.point(held, (0, 0, 0)), parent=strut, at=at)
    if E is None:
        b.line(name, [(strut, at, mr.Swivel(RADIUS)), target], mr.Tension())
        return
    drum = inertia.cylinder(PULLEY, RADIUS, 2 * THICKNESS)
    b.body(f"drum {name}", drum, parent=strut, joint=mr.Revolute((0, 0, 1)), at=at @ se3.pose(AXLE))
    winch = mr.Winch(f"drum {name}", RADIUS, mr.Swivel(RADIUS))
    b.line(name, [(strut, at, winch), target], mr.Elastic(E * AREA, RADIUS * np.pi / 2, mu * AREA))


def wound(model, q, tensions, E):
    """The configuration with the drums turned so that cables pull with these tensions [N]."""
    q = np.array(q)
    drums = [model.joint(f"drum {row.name}").q_slice.start for row in model.lines]
    strain = np.asarray(tensions) / (E * AREA)
    q[drums] = 0.0
    # u = L - rest + r theta, and the free part is (1 + strain) times its natural length
    free = model.line_stretches(q) + natural(model, q)
    q[drums] = (free * strain / (1 + strain) - model.line_stretches(q)) / RADIUS
    return q


def natural(model, q):
    """Natural lengths of the free parts, (6,) [m]."""
    return model.line_stretches(q) / model.line_strains(q)


def pose(model, twist, height=HEIGHT):
    """The symmetric pose, end effector at a height, tops turned by `twist` [rad]: q, radius and height of the tops."""

    def gaps(x):
        r, h = x
        flat = r**2 + SIDE**2 / 3 - 2 * r * SIDE / np.sqrt(3) * np.cos(twist)
        return [h - height + np.sqrt(SIDE**2 - r**2), h**2 + flat - LENGTH**2]

    r, h = fsolve(gaps, (0.4, 0.7), xtol=1e-13)
    tip, q = np.array([0.0, 0, height]), np.zeros(model.nq)
    for i in range(3):
        angle = 2 * np.pi * i / 3 + twist
        top = np.array([r * np.cos(angle), r * np.sin(angle), h])
        q[model.joint(f"strut{i}").q_slice] = universal_angles(top - foot(i))
        q[model.joint(f"link{i}").q_slice] = universal_angles((top - tip) / SIDE)
    q[model.joint("EE").q_slice] = height
    return q, r, h


def motions(model, q):
    """G with the six angles of the struts as rates, (nv, 6)."""
    K = model.loop_jacobian(q)
    G = np.zeros((model.nv, 6))
    G[:6] = np.eye(6)
    G[6:] = -np.linalg.solve(K[:, 6:], K[:, :6])
    return G


def tensions(model, q):
    """Those that hold its weight, unique: (J G)^T T = -G^T N."""
    G = motions(model, q)
    return np.linalg.solve((model.line_jacobian(q) @ G).T, -G.T @ model.gravity_forces(q))
