"""The manipulator of Lieskovsky, chapter 5: three struts, six cables from pulleys on swivels, three links to an end effector.

Struts stand on universal joints; the end effector slides along x, y and z; the links hang on it by universal joints and end at the
struts' tops by spherical loops. Blocks and pulleys are fixed on their struts: what they weigh counts, how they turn does not.
"""

from dataclasses import replace

import numpy as np
from scipy.optimize import brentq, fsolve

import modurob as mr
from modurob.spatial import inertia, se3, so3
from tests.oracles.linkages import universal_angles, universal_turn

DENSITY, LENGTH, RADIUS, THICKNESS = 2.7e3, 1.0, 0.05, 0.01
SIDE, OUTER, INNER, Q = 1 / np.sqrt(2), 0.035, 0.032, np.sqrt(2) * 0.05
HEIGHT = SIDE * (1 + np.sqrt(2 / 3))
AREA = np.pi * 1e-6
TUBE = DENSITY * np.pi * (OUTER**2 - INNER**2) / 4
BLOCK, PULLEY = DENSITY * 3 * THICKNESS * 2 * Q * Q, DENSITY * np.pi * RADIUS**2 * 2 * THICKNESS
TOP, FLIPPED = se3.pose(None, (0, 0, LENGTH)), np.diag([1.0, -1.0, -1.0])
BLOCKS = {"upper": se3.pose(None, (0, 0, LENGTH - Q)), "lower": se3.pose(FLIPPED, (0, 0, Q))}
AXLE = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
PASSIVE = mr.JointProperties(effort=0.0)


def foot(i):
    return SIDE / np.sqrt(3) * np.array([np.cos(2 * np.pi * i / 3), np.sin(2 * np.pi * i / 3), 0.0])


def tube(length):
    across = TUBE * length * (3 * (OUTER**2 + INNER**2) / 4 + length**2) / 12
    along = TUBE * length * (OUTER**2 + INNER**2) / 8
    own = inertia.spatial_inertia(TUBE * length, np.zeros(3), np.diag([across, across, along]))
    return inertia.moved(own, se3.pose(None, (0, 0, length / 2)))


def robot(E=None, mu=0.0, least=0.0):
    """With cables under given tensions, `least` or more [N]; or, given Young's modulus and viscosity [Pa, Pa s], on winches, whose
    drums the struts carry."""
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
        for name, at in BLOCKS.items():
            cable(b, f"{name}{i}", f"strut{i}", at, (f"strut{(i + 2) % 3}", TOP[:3, 3]), E, mu, least)
    return b.build()


def cable(b, name, strut, at, target, E, mu, least):
    """A block on a strut, and a cable from it; on a winch its pulley is a drum of fixed axis, nothing unwound at zero."""
    held = BLOCK + (PULLEY if E is None else 0.0)
    b.body(f"block {name}", inertia.point(held, (0, 0, 0)), parent=strut, at=at)
    if E is None:
        b.line(name, [(strut, at, mr.Swivel(RADIUS)), target], mr.Tension(lower=least))
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
    # some of each cable unwound: u = L - rest + r theta, and the free part is (1 + strain) times its natural length
    q[drums] = -20.0
    stretch = model.line_stretches(q)
    free = stretch + stretch / model.line_strains(q)
    q[drums] += (free * strain / (1 + strain) - stretch) / RADIUS
    return q


def tree(E=2e9, mu=10e6, plain=False):
    """The document's model: 39 rates, 27 constraints; a floating end effector, links on hinges, cables as involutes of lengths.

    `plain` has a hinge and a slide in place of each involute, and no law: for tools that know no involutes.
    """
    b = mr.Builder("simplex")
    b.body("EE", inertia.point(0.05, (0, 0, 0)), joint=mr.Free())
    for i in range(3):
        hinge = se3.pose(so3.about(np.array([0.0, 0, 1]), np.array(2 * np.pi * i / 3)))
        b.body(f"link{i}", tube(SIDE), parent="EE", joint=mr.Revolute((0, 1, 0)), at=hinge)
        b.body(f"strut{i}", tube(LENGTH), joint=mr.Universal((1, 0, 0), (0, 1, 0)), at=se3.pose(None, foot(i)))
        b.loop(f"top{i}", mr.Spherical(), f"strut{i}", f"link{i}", TOP, se3.pose(None, (0, 0, SIDE)))
    for i in range(3):
        for name, at in BLOCKS.items():
            _unwinding(b, f"{name}{i}", f"strut{i}", at, f"strut{(i + 2) % 3}", (E * AREA, mu * AREA), plain)
    return b.build()


def _unwinding(b, name, strut, at, target, numbers, plain):
    turn = mr.Revolute((0, 0, 1))
    b.body(f"block {name}", inertia.box(BLOCK, (Q, 3 * THICKNESS, 2 * Q)), parent=strut, joint=turn, at=at)
    drum = inertia.cylinder(PULLEY, RADIUS, 2 * THICKNESS)
    b.body(f"drum {name}", drum, parent=f"block {name}", joint=turn, at=se3.pose(AXLE))
    if plain:
        b.body(f"leaving {name}", parent=f"drum {name}", joint=turn)
        slide, at = mr.Prismatic((1, 0, 0)), se3.pose(None, (0, RADIUS, 0))
        b.body(f"end {name}", parent=f"leaving {name}", joint=slide, at=at)
    else:
        b.body(f"end {name}", parent=f"drum {name}", joint=mr.InvoluteLength(RADIUS))
        b.force(name, mr.WoundCable(*numbers), joint=f"end {name}")
    b.loop(f"anchor {name}", mr.Spherical(), target, f"end {name}", TOP)


def tree_pose(twist, strains, height=HEIGHT):
    """q of `tree` in the symmetric pose, (40,), for six strains."""
    q, r, h = pose(robot(), twist, height)
    struts = q[:6].reshape(3, 2)
    frames = [se3.pose(universal_turn(angles), foot(i)) for i, angles in enumerate(struts)]
    way = np.arctan2(r, h - height)
    limbs = [x for angles in struts for x in (way, *angles)]
    cables = []
    for k, (i, name) in enumerate((i, name) for i in range(3) for name in BLOCKS):
        X = frames[i] @ BLOCKS[name]
        d = se3.rotation(X).T @ ((frames[(i + 2) % 3] @ TOP)[:3, 3] - se3.position(X))
        free = np.sqrt(d @ d - RADIUS**2)
        elevation = np.arctan2(d[2], np.hypot(d[0], d[1])) - np.arctan2(RADIUS, free)
        unwound = free / (RADIUS * (1 + strains[k]))
        cables += [np.arctan2(d[1], d[0]), elevation - unwound, unwound, free]
    return np.array([0, 0, height, np.cos(twist / 2), 0, 0, np.sin(twist / 2), *limbs, *cables])


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


# ---- control ----

LEAST = 20e6 * AREA
TIMES = [0, 5, 15, 20]


def _along(axis, ways):
    points = np.array([0, 0, HEIGHT]) + np.outer(ways, np.eye(3)[axis])
    return mr.Trajectory.hermite(TIMES, points, np.zeros((4, 3)))


# tables 5.8 and 5.9
PATHS = {"vertical": _along(2, [0, -0.5, 0.25, 0]), "horizontal": _along(1, [0, -0.35, 0.35, 0])}


def standing(E=2e9, mu=10e6):
    """The robot on winches, and where it rests with the least tension in its upper cables."""
    rigid, model = robot(), robot(E, mu)
    twist = brentq(lambda t: tensions(rigid, pose(rigid, t)[0]).min() - LEAST, np.radians(151), np.radians(155))
    held, *_ = pose(rigid, twist)
    q = np.append(held, np.zeros(6))
    return model, wound(model, q, tensions(rigid, held), E)


def law(reference, cured):
    """The document's programme, which costs inputs alone; or with errors fed back and the motions that no task sees braked."""
    more = {"damping": 10.0, "weight": 1.0} if cured else {}
    task = mr.PointTask("EE", reference=reference, kp=25.0 if cured else 0.0, kd=10.0 if cured else 0.0)
    return mr.WholeBody([task], tension=(LEAST, np.inf), predict=True, sample_time=1e-3, **more)


def followed(reference, cured, duration, start=None, most=np.inf):
    """A run along a path, cables bound to pull with `most` [N], and how far the end effector is off at each time, (n,) [m]."""
    model, q = start or standing()
    controller = replace(law(reference, cured), tension=(LEAST, most))
    run = mr.simulate(model, q, duration=duration, controller=controller, stepper=mr.RungeKutta4(1e-3))
    at = [model.joint(name).q_slice.start for name in ("x", "y", "EE")]
    return run, np.linalg.norm(run.q[:, at] - reference(run.t).position, axis=-1)


def exponents(q, cured=False, least=LEAST):
    """Of small motions about a pose at rest under the controller, cables rigid and bound to pull with `least`, (12,) [1/s]."""
    model = robot(least=least)
    # inputs are tensions here, torques elsewhere
    recipe = law(lambda t: (q[6:9], np.zeros(3), np.zeros(3)), cured)
    controller = replace(recipe, weight=recipe.weight / RADIUS**2).on(model)
    G = motions(model, q)

    def acceleration(x):
        at = model.close_loops(model.integrate(q, G @ x[:6]))
        return controller.plan(0.0, at, motions(model, at) @ x[6:])[0].vdot[:6]

    h = 1e-5
    slopes = np.array([(acceleration(h * e) - acceleration(-h * e)) / (2 * h) for e in np.eye(12)]).T
    return np.linalg.eigvals(np.vstack([np.eye(6, 12, 6), slopes]))
