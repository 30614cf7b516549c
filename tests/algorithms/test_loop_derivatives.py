"""Derivatives of forward dynamics with loops and couplings: against complex steps through all of it, differences, Pinocchio."""

from dataclasses import replace

import numpy as np
import pytest

import modurob as mr
from modurob.algorithms.constraints.torques import free_motions
from modurob.judges.verify import relative_error
from modurob.mechanism import Loop
from modurob.spatial import inertia, se3
from tests.algorithms.test_loops import JUDGED, LOOP_KINDS, closed_chain
from tests.oracles.complex_steps import by_complex_steps
from tests.oracles.linkages import LINKAGES, bennett_configuration
from tests.oracles.pinocchio_loops import ConstraintDynamics
from tests.robots import random_joint

# both solve with the same matrices: rounding, times the condition of the constraints, at most 1e5 here
EXACT = 1e-10
# central differences of step 1e-6
DIFFERENCES = 1e-6
# all but Bennett's, whose constraints depend on each other where it is closed and nowhere else
REGULAR = [name for name in LINKAGES if name != "bennett"]


def by_differences(robot, q, v, tau, external=None, h=1e-6):
    moves = (
        lambda d: robot.forward_dynamics(robot.integrate(q, d), v, tau, external),
        lambda d: robot.forward_dynamics(q, v + d, tau, external),
        lambda d: robot.forward_dynamics(q, v, tau + d, external),
    )
    return [np.stack([(f(h * e) - f(-h * e)) / (2 * h) for e in np.eye(robot.nv)], axis=-1) for f in moves]


def worst(found, expected):
    return max(relative_error(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("name", REGULAR)
@pytest.mark.parametrize("seed", range(2))
def test_linkages(name, seed):
    """Closed, in a batch and alone, with velocities that keep the loops closed and others."""
    rng = np.random.default_rng([seed, len(name)])
    link = LINKAGES[name](rng)
    q, v = (np.stack(x) for x in zip(*(link.state(rng) for _ in range(3)), strict=True))
    v[2] = rng.normal(size=link.robot.nv)
    tau = rng.normal(size=v.shape)
    found = link.robot.forward_dynamics_derivatives(q, v, tau)
    assert worst(found, by_complex_steps(link.robot, q, v, tau)) < EXACT
    assert worst([x[1] for x in found], link.robot.forward_dynamics_derivatives(q[1], v[1], tau[1])) < EXACT


@pytest.mark.parametrize("name", REGULAR)
def test_open_linkages(name):
    rng = np.random.default_rng(len(name))
    link = LINKAGES[name](rng)
    q, v = link.state(rng)
    q = link.robot.integrate(q, 1e-3 * rng.normal(size=v.shape))
    tau = rng.normal(size=v.shape)
    found = link.robot.forward_dynamics_derivatives(q, v, tau)
    assert worst(found, by_complex_steps(link.robot, q, v, tau)) < EXACT


def derivative(path, t, h=1e-2):
    """d path/dt by central differences of eighth order."""
    weights = enumerate((4 / 5, -1 / 5, 4 / 105, -1 / 280), start=1)
    return np.sum([c * (path(t + k * h) - path(t - k * h)) for k, c in weights], axis=0) / h


@pytest.mark.parametrize("angle", [0.8, 1.9])
def test_bennett_along_its_motion(angle, rng):
    """Along the closed configurations, with velocities that keep them, vdot changes as its derivatives by q and v say."""
    link = LINKAGES["bennett"](rng)
    robot, pull, tau = link.robot, rng.normal(size=3), rng.normal(size=3)
    beta = float(np.arcsin(0.7 * np.sin(1.1)))

    def q(t):
        return bennett_configuration(t, 1.1, beta)

    def v(t):
        return robot.close_velocity(q(t), pull)

    found = robot.forward_dynamics_derivatives(q(angle), v(angle), tau)
    along = found.q @ derivative(q, angle) + found.v @ derivative(v, angle)
    expected = derivative(lambda t: robot.forward_dynamics(q(t), v(t), tau), angle)
    assert relative_error(along, expected) < 1e-9
    # steps that leave the closed configurations are filtered by the solver, to the accuracy of its iteration
    assert worst(found, by_complex_steps(robot, q(angle), v(angle), tau)) < 1e-6


@pytest.mark.parametrize("name", ["four-bar", "stewart", "delta"])
def test_differences_of_pinocchio(name):
    """Along motions that keep the loops closed, of its `constraintDynamics`.

    (Its `computeConstraintDynamicsDerivatives` are not those of points held together on two moving bodies.)
    """
    rng = np.random.default_rng(len(name))
    link = LINKAGES[name](rng)
    robot, judge, h = link.robot, ConstraintDynamics(link.robot), 1e-5
    (q, v), tau = link.state(rng), link.drive(rng)
    rest = 0 * v
    found, still = (robot.forward_dynamics_derivatives(q, x, tau) for x in (v, rest))
    for d in free_motions(robot.loop_jacobian(q)).T:
        one, other = (judge.forward_dynamics(q, v + s * h * d, tau) for s in (1, -1))
        assert relative_error(found.v @ d, (one - other) / (2 * h), scale=1.0) < DIFFERENCES
        # at rest velocities stay closed too
        one, other = (judge.forward_dynamics(robot.integrate(q, s * h * d), rest, tau) for s in (1, -1))
        assert relative_error(still.q @ d, (one - other) / (2 * h), scale=1.0) < DIFFERENCES
    for d in np.eye(robot.nv):
        one, other = (judge.forward_dynamics(q, v, tau + s * d) for s in (1, -1))
        assert relative_error(found.tau @ d, (one - other) / 2, scale=1.0) < JUDGED


def chain(rng, kind, floating=False, mimic=False, gear=False):
    """Two branches of joints of many kinds that meet in a loop joint; and a closed configuration."""
    builder = mr.Builder("chain", gravity=rng.normal(size=3) * 5)

    def add(name, parent, kind, source=None):
        joint, at = random_joint(rng, kind), np.eye(4) if kind == "free" else se3.random(rng, reach=0.5)
        rotor = mr.JointProperties(armature=0.1 if joint.nv == 1 else 0.0)
        builder.body(name, inertia.random(rng), parent=parent, joint=joint, at=at, mimic=source, properties=rotor)

    add("trunk", "world", "free" if floating else "revolute")
    add("a0", "trunk", "revolute")
    add("a1", "a0", "universal")
    add("a2", "a1", "prismatic")
    add("a3", "a2", "helical", mr.Source("a0", 0.7, 0.1) if mimic else None)
    add("b0", "trunk", "spherical")
    add("b1", "b0", "revolute", mr.Source("a0", -0.4) if mimic else None)
    add("b2", "b1", "planar")
    free, joint = builder.build(), random_joint(rng, kind)
    q = free.random_configuration(rng)
    closing = joint.random(rng, np.full(joint.nq, -np.inf), np.full(joint.nq, np.inf))
    poses, seat = free.forward_kinematics(q), se3.random(rng, reach=0.3)
    at = se3.inverse(poses["a3"]) @ poses["b2"] @ seat @ se3.inverse(joint.pose(closing))
    builder.loop("closing", joint, "a3", "b2", at=at, seat=seat)
    if gear:
        builder.coupling("gear", {"a0": 1.0, "a2": -3.0})
    return builder.build(), q


def judged(robot, q, rng):
    """Closed and slightly open, in a batch, with external wrenches."""
    v, tau = rng.normal(size=(2, 2, robot.nv))
    q = np.stack([q, robot.integrate(q, 1e-2 * rng.normal(size=robot.nv))])
    push = {name: rng.normal(size=6) for name in robot.bodies[1:]}
    found = robot.forward_dynamics_derivatives(q, v, tau, push)
    assert worst(found, by_complex_steps(robot, q, v, tau, push)) < EXACT
    alone = robot.forward_dynamics_derivatives(q[1], v[1], tau[1], push)
    assert worst(alone, [x[1] for x in found]) < EXACT
    assert worst(alone, by_differences(robot, q[1], v[1], tau[1], push)) < DIFFERENCES


@pytest.mark.parametrize("kind", [*LOOP_KINDS, "free", "involute", "involute strain"])
@pytest.mark.parametrize("mimic", [False, True])
def test_loop_joints_of_every_kind(kind, mimic, rng):
    judged(*chain(rng, kind, floating=kind in ("universal", "revolute"), mimic=mimic), rng)


def test_reversed_loop_joints(rng):
    robot, q = closed_chain(rng, "universal")
    (loop,) = robot.constraints
    back = Loop(loop.name, loop.type.reversed(), loop.successor, loop.predecessor)
    judged(replace(robot, constraints=(back,)), q, rng)


@pytest.mark.parametrize("mimic", [False, True])
def test_couplings_beside_loops(mimic, rng):
    judged(*chain(rng, "spherical", mimic=mimic, gear=True), rng)


def test_couplings_alone(rng):
    builder = mr.Builder("geared")
    for name, parent in (("motor", "world"), ("arm", "motor"), ("hand", "arm")):
        joint = random_joint(rng, "revolute")
        builder.body(name, inertia.random(rng), parent=parent, joint=joint, at=se3.random(rng))
    builder.coupling("gear", {"motor": 1.0, "arm": -5.0})
    judged(builder.build(), rng.normal(size=3), rng)


@pytest.mark.parametrize("floating", [False, True])
def test_ring_of_modules(floating, rng):
    ring = mr.Assembly.single("m0", "backbone")
    for i in range(1, 6):
        ring = ring.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4")
    ring = ring.connect("m5/3", "m0/4")
    robot = ring.mechanism(floating=True) if floating else ring.mechanism(base="m0")
    q = robot.neutral()
    q[..., -6:] = np.pi / 3 + 0.05 * rng.normal(size=6)
    judged(robot, robot.close_loops(q), rng)


def test_far_from_the_origin(rng):
    """A floating robot a thousand kilometres away has the derivatives it has here."""
    robot, q = chain(rng, "universal", floating=True)
    v, tau = rng.normal(size=(2, robot.nv))
    far = q + np.concatenate([[2.0**20, 0.0, 0.0], np.zeros(robot.nq - 3)])
    here, there = (robot.forward_dynamics_derivatives(x, v, tau) for x in (q, far))
    # of the position nine digits behind the point are left
    assert worst(there, here) < 1e-7


def test_leading_axes(rng):
    """Axes of a batch stay, none at all and empty ones too; arguments broadcast."""
    robot, q = chain(rng, "planar")
    v, tau = rng.normal(size=(2, 2, 3, robot.nv))
    found = robot.forward_dynamics_derivatives(q, v, tau)
    alone = robot.forward_dynamics_derivatives(q, v[1, 2], tau[1, 2])
    assert worst([x[1, 2] for x in found], alone) < EXACT
    push = np.zeros((0, len(robot.bodies), 6))
    for external in (None, push):
        empty = robot.forward_dynamics_derivatives(q, v[0, :0], tau[0, :0], external)
        assert [x.shape for x in empty] == [(0, robot.nv, robot.nv)] * 3


@pytest.mark.parametrize("name", ["four-bar", "stewart", "coupled"])
def test_no_state_knows_of_others(name, rng):
    """In several blocks of lanes, in single states one after the other, and again: to the last bit but for the width."""
    if name == "coupled":
        robot, q = chain(rng, "spherical", mimic=True)
        q = robot.integrate(q, 1e-2 * rng.normal(size=(20, robot.nv)))
    else:
        link = LINKAGES[name](rng)
        robot, q = link.robot, np.stack([link.closed(rng) for _ in range(20)])
    v, tau = rng.normal(size=(2, 20, robot.nv))
    whole, again = (robot.forward_dynamics_derivatives(q, v, tau) for _ in range(2))
    alone = [np.stack(x) for x in zip(*map(robot.forward_dynamics_derivatives, q, v, tau), strict=True)]
    turned = robot.forward_dynamics_derivatives(q[::-1].copy(), v[::-1].copy(), tau[::-1].copy())
    assert worst(whole, alone) < EXACT
    for one, same, back in zip(whole, again, turned, strict=True):
        np.testing.assert_array_equal(one, same)
        np.testing.assert_array_equal(one, back[::-1])


def test_singular_states_leave_others_alone(rng):
    """A stretched arm, which cannot be pulled any further, among bent ones: these have the bits that they have without it."""
    builder = mr.Builder("tied")
    ends = (
        ("a", "world", (0, 0, 1), 0.0),
        ("b", "a", (0, 0, 1), 1.0),
        ("c", "b", (0, 1, 0), 0.0),
        ("d", "c", (1, 0, 0), 0.5),
    )
    for name, parent, axis, length in ends:
        builder.body(
            name, inertia.random(rng), parent=parent, joint=mr.Revolute(axis), at=se3.pose(None, (length, 0, 0))
        )
    builder.loop(
        "tip", mr.Spherical(), "world", "d", at=se3.pose(None, (1.0, 1.0, 0.0)), seat=se3.pose(None, (0.5, 0, 0))
    )
    robot, q = builder.build(), rng.uniform(0.5, 1.5, size=(16, 4))
    v, tau = rng.normal(size=(2, 16, 4))
    whole = robot.forward_dynamics_derivatives(q, v, tau)
    q[3] = 0.0
    among = robot.forward_dynamics_derivatives(q, v, tau)
    bent = np.arange(16) != 3
    assert np.linalg.matrix_rank(robot.loop_jacobian(q[3])) == 2
    for one, other in zip(whole, among, strict=True):
        np.testing.assert_array_equal(one[bent], other[bent])


@pytest.mark.parametrize("name", LINKAGES)
def test_single_precision(name, rng):
    """Also where rows depend on each other: found in double precision, and rounded."""
    link = LINKAGES[name](rng)
    (q, v), tau = link.state(rng), link.drive(rng)
    given = [x.astype(np.float32) for x in (q, v, tau)]
    found = link.robot.forward_dynamics_derivatives(*given)
    expected = link.robot.forward_dynamics_derivatives(*(x.astype(float) for x in given))
    assert {x.dtype for x in found} == {np.dtype(np.float32)}
    assert worst(found, expected) < np.finfo(np.float32).eps
    fleet = mr.Fleet([link.robot]).forward_dynamics_derivatives(*([x[None]] for x in given))[0]
    assert worst([x[0] for x in fleet], found) < np.finfo(np.float32).eps
    vdot = link.robot.forward_dynamics(*given)
    wanted = link.robot.forward_dynamics(*(x.astype(float) for x in given))
    together = mr.Fleet([link.robot]).forward_dynamics(*([np.stack([x] * 2)] for x in given))[0]
    assert vdot.dtype == together.dtype == np.float32
    for one in (vdot, *together):
        assert np.abs(one - wanted).max() <= 2 * np.finfo(np.float32).eps * np.abs(wanted).max()
