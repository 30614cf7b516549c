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
PASSIVE = mr.JointProperties(effort=0.0)


def foot(i):
    return SIDE / np.sqrt(3) * np.array([np.cos(2 * np.pi * i / 3), np.sin(2 * np.pi * i / 3), 0.0])


def tube(length):
    across = TUBE * length * (3 * (OUTER**2 + INNER**2) / 4 + length**2) / 12
    along = TUBE * length * (OUTER**2 + INNER**2) / 8
    own = inertia.spatial_inertia(TUBE * length, np.zeros(3), np.diag([across, across, along]))
    return inertia.moved(own, se3.pose(None, (0, 0, length / 2)))


def robot():
    b = mr.Builder("simplex")
    universal = mr.Universal((1, 0, 0), (0, 1, 0))
    flipped = np.diag([1.0, -1.0, -1.0])
    for i in range(3):
        b.body(f"strut{i}", tube(LENGTH), joint=universal, at=se3.pose(None, foot(i)), properties=PASSIVE)
        for k, height in enumerate((LENGTH - Q, Q)):
            b.body(
                f"block{i}{k}",
                inertia.point(BLOCK + PULLEY, (0, 0, 0)),
                parent=f"strut{i}",
                at=se3.pose(None, (0, 0, height)),
            )
    b.body("x", joint=mr.Prismatic((1, 0, 0)), properties=PASSIVE)
    b.body("y", parent="x", joint=mr.Prismatic((0, 1, 0)), properties=PASSIVE)
    b.body("EE", inertia.point(0.05, (0, 0, 0)), parent="y", joint=mr.Prismatic((0, 0, 1)), properties=PASSIVE)
    top = se3.pose(None, (0, 0, LENGTH))
    for i in range(3):
        b.body(f"link{i}", tube(SIDE), parent="EE", joint=universal, properties=PASSIVE)
        b.loop(f"top{i}", mr.Spherical(), f"strut{i}", f"link{i}", top, se3.pose(None, (0, 0, SIDE)))
        target = (f"strut{(i + 2) % 3}", (0, 0, LENGTH))
        upper, lower = se3.pose(None, (0, 0, LENGTH - Q)), se3.pose(flipped, (0, 0, Q))
        b.line(f"upper{i}", [(f"strut{i}", upper, mr.Swivel(RADIUS)), target], mr.Tension())
        b.line(f"lower{i}", [(f"strut{i}", lower, mr.Swivel(RADIUS)), target], mr.Tension())
    return b.build()


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
