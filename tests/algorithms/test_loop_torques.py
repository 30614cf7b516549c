"""Derivatives of inverse dynamics with loops and couplings: of the torques of the joints with a drive."""

from dataclasses import replace

import numpy as np
import pytest

import modurob as mr
from modurob.algorithms import inverse_dynamics_derivatives, tree_inverse_dynamics_derivatives
from modurob.algorithms.constraints.torques import free_motions
from modurob.errors import InputError
from modurob.judges.verify import relative_error
from modurob.spatial import inertia, se3
from tests.algorithms.test_loop_derivatives import REGULAR, chain, derivative, worst
from tests.oracles.four_bar import FourBar
from tests.oracles.linkages import LINKAGES, Z, along_x, bennett_configuration, four_bar_robot, rod
from tests.robots import random_joint

# what central differences of eighth order, with steps of 1e-2, leave of the functions here
DIFFERENCES = 1e-8
STEP = 1e-2
# singular value decompositions on one side, solves on the other: rounding, times the condition of the constraints, at most 1e5
EXACT = 1e-10


def by_differences(robot, q, v, vdot, external=None):
    """d `inverse_dynamics` by q, v and vdot, of one state, in all directions: also those that open the loops."""
    weights = np.array([c * s for s in (1, -1) for c in (4 / 5, -1 / 5, 4 / 105, -1 / 280)]) / STEP
    steps = np.array([s * k for s in (1, -1) for k in (1, 2, 3, 4)]) * STEP
    d = steps[:, None, None] * np.eye(robot.nv)
    moves = (
        robot.inverse_dynamics(robot.integrate(q, d), v, vdot, external),
        robot.inverse_dynamics(q, v + d, vdot, external),
        robot.inverse_dynamics(q, v, vdot + d, external),
    )
    return [np.einsum("k,kij->ji", weights, tau) for tau in moves]


def driven(robot, *names):
    """The robot with drives at these joints alone."""
    efforts = (np.full(j.effort_limit.shape, float(j.name in names)) for j in robot.joints)
    return replace(robot, joints=tuple(replace(j, effort_limit=x) for j, x in zip(robot.joints, efforts, strict=True)))


def judged(robot, q, rng, external=None):
    """In a batch and alone, at motions that keep the constraints and others, in all directions."""
    v, vdot = rng.normal(size=(2, 3, robot.nv))
    v[0] = robot.close_velocity(q, v[0])
    vdot[0] = robot.forward_dynamics(q, v[0], rng.normal(size=robot.nv))
    found = robot.inverse_dynamics_derivatives(q, v, vdot, external)
    for k in range(3):
        assert worst([x[k] for x in found], by_differences(robot, q, v[k], vdot[k], external)) < DIFFERENCES
    alone = robot.inverse_dynamics_derivatives(q, v[1], vdot[1], external)
    assert worst(alone, [x[1] for x in found]) < EXACT
    assert all(not np.any(x[..., robot.effort_limit == 0, :]) for x in found)


@pytest.mark.parametrize("name", REGULAR)
@pytest.mark.parametrize("seed", range(2))
def test_linkages(name, seed):
    rng = np.random.default_rng([seed, len(name)])
    link = LINKAGES[name](rng)
    q, _ = link.state(rng)
    judged(link.robot, q, rng, {link.robot.bodies[-1]: rng.normal(size=6)})


@pytest.mark.parametrize("name", LINKAGES)
def test_torques_for_accelerations_give_them_back(name):
    """d vdot/d tau . d tau/d vdot is one for accelerations along motions that keep the loops closed."""
    rng = np.random.default_rng(len(name))
    link = LINKAGES[name](rng)
    (q, v), robot = link.state(rng), link.robot
    vdot = robot.forward_dynamics(q, v, link.drive(rng))
    tau = robot.inverse_dynamics(q, v, vdot)
    G = free_motions(robot.loop_jacobian(q))
    forward, back = robot.forward_dynamics_derivatives(q, v, tau), robot.inverse_dynamics_derivatives(q, v, vdot)
    assert relative_error(forward.tau @ back.vdot @ G, G) < 1e-8


@pytest.mark.parametrize("angle", [0.8, 1.9])
def test_bennett_along_its_motion(angle, rng):
    """Along the closed configurations, the only ones that it can move to, torques change as their derivatives say."""
    robot = LINKAGES["bennett"](rng).robot
    pull, tau = rng.normal(size=(2, 3))
    beta = float(np.arcsin(0.7 * np.sin(1.1)))

    def q(t):
        return bennett_configuration(t, 1.1, beta)

    def v(t):
        return robot.close_velocity(q(t), pull)

    def vdot(t):
        return robot.forward_dynamics(q(t), v(t), (1 + t) * tau)

    found = robot.inverse_dynamics_derivatives(q(angle), v(angle), vdot(angle))
    along = sum(slope @ derivative(path, angle) for slope, path in zip(found, (q, v, vdot), strict=True))
    expected = derivative(lambda t: robot.inverse_dynamics(q(t), v(t), vdot(t)), angle)
    assert relative_error(along, expected) < 1e-8


def test_more_drives_than_degrees_of_freedom(rng):
    """The smallest torques of three drives of a four-bar."""
    bar = FourBar()
    robot = four_bar_robot(bar, tuple(inertia.random(rng) for _ in range(3)))
    q = LINKAGES["four-bar"](rng).closed(rng)
    judged(robot, q, rng)


@pytest.mark.parametrize("kind", ["universal", "planar", "spherical", "helical", "fixed"])
@pytest.mark.parametrize("mimic", [False, True])
def test_loop_joints_of_many_kinds(kind, mimic, rng):
    robot, q = chain(rng, kind, mimic=mimic, gear=kind == "spherical")
    judged(robot, q, rng, {name: rng.normal(size=6) for name in robot.bodies[1:]})


@pytest.mark.parametrize("drives", [("motor", "hand"), ("arm", "hand"), ("motor", "arm", "hand")])
def test_gears(drives, rng):
    builder = mr.Builder("geared")
    for name, parent in (("motor", "world"), ("arm", "motor"), ("hand", "arm")):
        joint, rotor = random_joint(rng, "revolute"), mr.JointProperties(armature=0.2)
        builder.body(name, inertia.random(rng), parent=parent, joint=joint, at=se3.random(rng), properties=rotor)
    builder.coupling("gear", {"motor": 1.0, "arm": -5.0})
    judged(driven(builder.build(), *drives), rng.normal(size=3), rng)


def test_mimic_grippers(rng):
    """A finger that follows the other one adds to its torque; nothing is left out."""
    builder = mr.Builder("gripper")
    builder.body("arm", inertia.random(rng), joint=Z)
    slide = mr.Prismatic((0, 1, 0))
    builder.body("left", inertia.random(rng), parent="arm", joint=slide, at=along_x(0.3))
    builder.body(
        "right", inertia.random(rng), parent="arm", joint=slide, at=along_x(0.3), mimic=mr.Source("left", -1.0)
    )
    judged(builder.build(), rng.normal(size=2), rng)


def test_ring_of_modules(rng):
    ring = mr.Assembly.single("m0", "backbone")
    for i in range(1, 6):
        ring = ring.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4")
    ring = ring.connect("m5/3", "m0/4")
    robot = ring.mechanism(base="m0")
    judged(robot, robot.close_loops(np.pi / 3 + 0.05 * rng.normal(size=robot.nq)), rng)


def test_leading_axes(rng):
    robot, q = chain(rng, "planar")
    v, vdot = rng.normal(size=(2, 2, 3, robot.nv))
    found = robot.inverse_dynamics_derivatives(q, v, vdot)
    alone = robot.inverse_dynamics_derivatives(q, v[1, 2], vdot[1, 2])
    assert worst([x[1, 2] for x in found], alone) < EXACT
    empty = robot.inverse_dynamics_derivatives(q, v[0, :0], vdot[0, :0])
    assert [x.shape for x in empty] == [(0, robot.nv, robot.nv)] * 3


def test_fleets_answer_as_their_robots(rng):
    robots = [LINKAGES["four-bar"](rng).robot, mr.load("crane").robot()]
    states = [[rng.normal(size=(4, n)) for n in (robot.nq, robot.nv, robot.nv)] for robot in robots]
    found = mr.Fleet(robots).inverse_dynamics_derivatives(*map(list, zip(*states, strict=True)))
    for robot, state, slopes in zip(robots, states, found, strict=True):
        assert worst(slopes, robot.inverse_dynamics_derivatives(*state)) < EXACT


def engine():
    """A crank that the piston drives: dead at zero."""
    builder = mr.Builder("engine", gravity=(0, 0, 0))
    idle = mr.JointProperties(effort=0.0)
    builder.body("crank", rod(1.0, 0.3), joint=Z, properties=idle)
    builder.body("rod", rod(1.0, 0.8), parent="crank", joint=Z, at=along_x(0.3), properties=idle)
    builder.body("piston", inertia.box(1.0, (0.1, 0.1, 0.1)), joint=mr.Prismatic((1, 0, 0)))
    builder.loop("pin", Z, "rod", "piston", along_x(0.8))
    return builder.build()


def test_forces_keep_their_digits_near_a_dead_point():
    """Rounding counts by one over the way of the piston, not by its square; alone and among others."""
    robot, force = engine(), np.array([0.0, 0.0, 2.0])
    angles = np.array([0.5, 0.1, 1e-2, 1e-3, 1e-4, 1e-5])
    rod_angle = -np.arcsin(0.3 * np.sin(angles) / 0.8)
    reach = 0.3 * np.cos(angles) + 0.8 * np.cos(rod_angle)
    q = robot.close_loops(np.stack([angles, rod_angle - angles, reach], axis=-1))
    vdot = robot.forward_dynamics(q, np.zeros(3), force)
    found = robot.inverse_dynamics(q, np.zeros(3), vdot)
    each = np.stack([robot.inverse_dynamics(*own) for own in zip(q, np.zeros(q.shape), vdot, strict=True)])
    for tau in (found, each):
        assert (np.abs(tau - force).max(axis=-1) < 1e-14 / angles).all()


def test_drives_that_the_loop_holds_give_no_torque(rng):
    """A hinge across the plane of a four-bar: what is left of the motion of its drive is rounding."""
    builder, idle, at = mr.Builder("held"), mr.JointProperties(effort=0.0), se3.random(rng)
    hinges = {"crank": (Z, 0.3, idle), "rod": (Z, 0.8, idle), "across": (mr.Revolute((0, 1, 0)), 0.1, None)}
    on, place = "world", at
    for name, (joint, length, own) in hinges.items():
        builder.body(name, rod(1.0, length), parent=on, joint=joint, at=place, properties=own or mr.JointProperties())
        on, place = name, along_x(length)
    builder.body("rocker", rod(1.0, 0.7), joint=Z, at=at @ along_x(0.9), properties=idle)
    builder.loop("pin", Z, "across", "rocker", along_x(0.1), along_x(0.7))
    robot, still = builder.build(), np.zeros(4)
    q = robot.close_loops(np.array([0.7, -0.5, 0.0, 1.2]))
    assert robot.nv - robot.loop_rank() == 1
    falling = robot.forward_dynamics(q, still, still)
    for states in (q, np.stack([q, q])):
        assert np.abs(robot.inverse_dynamics(states, still, falling)).max() < 1e-9
        with pytest.raises(InputError, match="no torques at the joints with a drive bring about this motion"):
            robot.inverse_dynamics(states, still, 0.5 * falling)
    with pytest.raises(InputError, match="move only 0 of 1 degrees of freedom"):
        robot.inverse_dynamics_derivatives(q, still, falling)
    found = robot.actuation(q)
    assert (found.verdict, found.rank) == ("deficiently actuated", 0)


def at_crank(robot, angle):
    rod_angle = -np.arcsin(0.3 * np.sin(angle) / 0.8)
    return robot.close_loops([angle, rod_angle - angle, 0.3 * np.cos(angle) + 0.8 * np.cos(rod_angle)])


def test_derivatives_next_to_a_dead_point_are_refused():
    """Virtual work: the force of the piston for the motion of the crank grows with one over the angle."""
    robot, still = engine(), np.zeros(3)
    far = robot.inverse_dynamics_derivatives(at_crank(robot, 1e-4), still, still).vdot[2, :2] * 1e-4
    further = robot.inverse_dynamics_derivatives(at_crank(robot, 1e-2), still, still).vdot[2, :2] * 1e-2
    np.testing.assert_allclose(far, further, rtol=1e-3, atol=1e-3)
    near = at_crank(robot, 1e-8)
    with pytest.raises(
        InputError, match=r"move [\de-]+ times as far as others, next to a dead point.*expected at least"
    ):
        robot.inverse_dynamics_derivatives(near, still, still)
    both = np.stack([at_crank(robot, 0.3), near])
    with pytest.raises(InputError, match="times as far as others in state 1, next to a dead point"):
        robot.inverse_dynamics_derivatives(both, still, still)


def test_open_loops_are_not_blamed_on_drives():
    with pytest.raises(InputError, match=r"at q its loops are .* m or rad apart; expected a closed one"):
        engine().inverse_dynamics([0.5, 0.5, 0.0], np.zeros(3), [1.0, 0.0, 0.0])


def test_motions_without_a_drive_are_refused(rng):
    """Also where the torques of this one motion exist: those of motions nearby do not."""
    robot, still, dead = engine(), np.zeros(3), np.array([0.0, 0.0, 1.1])
    q = robot.close_loops([0.5, -0.7, 1.0])
    judged(robot, q, rng)
    np.testing.assert_array_equal(robot.inverse_dynamics(dead, still, still), still)
    with pytest.raises(InputError, match=r"only 0 of 1 degrees of freedom, so.*without a drive are crank, rod"):
        robot.inverse_dynamics_derivatives(dead, still, still)
    with pytest.raises(InputError, match=r"only 0 of 1 degrees of freedom in state 1, so"):
        robot.inverse_dynamics_derivatives(np.stack([q, dead]), still, still)
    # those of the tree remain
    tree = tree_inverse_dynamics_derivatives(robot, dead, still, still)
    assert relative_error(tree.vdot, robot.mass_matrix(dead)) < EXACT


@pytest.mark.parametrize("name", LINKAGES)
def test_compiled_derivatives_are_those_of_numpy(name, rng):
    """One state, a few and many; the same flow by NumPy. Rows of Bennett's linkage depend on each other but for rounding."""
    close = 1e-7 if name == "bennett" else EXACT
    link = LINKAGES[name](rng)
    (q, v), robot = link.state(rng), link.robot
    vdot = rng.normal(size=(20, robot.nv))
    expected = inverse_dynamics_derivatives(robot, q, v, vdot)
    for k in (1, 3, 20):
        found = robot.inverse_dynamics_derivatives(q, v, vdot[:k])
        assert worst(found, [x[:k] for x in expected]) < close
    assert worst(robot.inverse_dynamics_derivatives(q, v, vdot[0]), [x[0] for x in expected]) < close


def test_robots_that_differ_in_their_drives_alone(rng):
    """Code of one is not taken for that of the other; nor in a fleet."""
    link = LINKAGES["four-bar"](rng)
    (q, v), vdot = link.state(rng), rng.normal(size=3)
    names = [j.name for j in link.robot.joints]
    robots = [driven(link.robot, *own) for own in (names[:1], names[1:2], names)]
    found = [r.inverse_dynamics_derivatives(q, v, vdot) for r in robots]
    for robot, slopes in zip(robots, found, strict=True):
        assert worst(slopes, by_differences(robot, q, v, vdot)) < DIFFERENCES
    states = [[np.tile(x, (5, 1))] * 3 for x in (q, v, vdot)]
    for alone, together in zip(found, mr.Fleet(robots).inverse_dynamics_derivatives(*states), strict=True):
        assert worst([x[4] for x in together], alone) < EXACT


def test_a_state_without_derivatives_is_found_among_others(rng):
    """Of a fleet too: a four-bar whose drive moves nothing, next to one that does."""
    robot = LINKAGES["four-bar"](rng).robot
    q, v = LINKAGES["four-bar"](rng).state(rng)
    idle = driven(robot)
    with pytest.raises(InputError, match="the joints with a drive move only 0 of 1 degrees of freedom in state 0"):
        idle.inverse_dynamics_derivatives(np.tile(q, (3, 1)), v, v)
    with pytest.raises(InputError, match="the joints with a drive move only 0 of 1 degrees of freedom, so"):
        idle.inverse_dynamics_derivatives(q, v, v)
    states = [[np.tile(x, (5, 1))] * 2 for x in (q, v, v)]
    with pytest.raises(InputError, match="the joints with a drive move only 0 of 1 degrees of freedom"):
        mr.Fleet([robot, idle]).inverse_dynamics_derivatives(*states)
