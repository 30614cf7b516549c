"""Closed loops and couplings: against Pinocchio's constraint dynamics, closed forms and the laws of mechanics."""

from dataclasses import replace
from importlib.metadata import files
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import modurob as mr
from modurob import algorithms
from modurob.algorithms.constraints import closure
from modurob.errors import ClosureError, InputError, MechanismError, SingularError
from modurob.judges.verify import relative_error
from modurob.mechanism import Coupling
from modurob.spatial import inertia, se3, so3
from tests.moved import moved
from tests.oracles.four_bar import FourBar
from tests.oracles.linkages import (
    LINKAGES,
    PASSIVE,
    Z,
    along_x,
    bennett_configuration,
    bennett_robot,
    four_bar_robot,
    four_bar_state,
    rod,
)
from tests.oracles.pinocchio_loops import ConstraintDynamics, PinocchioLoops
from tests.robots import random_joint
from tests.sampling import sampled

# solving with Pinocchio's terms and with ours differs by rounding, times the condition of the constraints: at most 1e5 here
JUDGED = 1e-10
EVERY = pytest.mark.parametrize("name", LINKAGES)
four_bar = four_bar_robot


def linkage(name, seed=0):
    """A mechanism with random inertias, and a stream of random numbers for its states."""
    rng = np.random.default_rng([seed, len(name)])
    return LINKAGES[name](rng), rng


# ---- against Pinocchio ----


@EVERY
def test_linkages_close_where_their_closed_forms_say(name):
    link, rng = linkage(name)
    for _ in range(5):
        q, v = link.state(rng)
        assert np.abs(link.robot.loop_error(q)).max() < 1e-12
        assert np.linalg.norm(v) > 1e-3
        K, _ = PinocchioLoops(link.robot).rows(q, v)
        assert np.abs(K @ v).max() < 1e-12 * max(1, np.abs(v).max())
    assert link.robot.nv - link.robot.loop_rank() == link.degrees_of_freedom


@EVERY
@pytest.mark.parametrize("seed", range(3))
def test_forward_dynamics_of_linkages(name, seed):
    """M vdot - K^T lambda = tau - bias and K vdot = k, solved with Pinocchio's terms and rows of geometry."""
    link, rng = linkage(name, seed)
    judge = PinocchioLoops(link.robot)
    for _ in range(5):
        (q, v), tau = link.state(rng), 10 * rng.normal(size=link.robot.nv)
        expected, _ = judge.forward_dynamics(q, 3 * v, tau)
        assert relative_error(link.robot.forward_dynamics(q, 3 * v, tau), expected) < JUDGED


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "stewart", "delta"])
def test_forward_dynamics_as_pinocchio_solves_it(name):
    """Its `constraintDynamics` holds points together: what a ball joint does, and in the plane a hinge."""
    link, rng = linkage(name)
    judge = ConstraintDynamics(link.robot)
    for _ in range(5):
        (q, v), tau = link.state(rng), link.drive(rng)
        expected = judge.forward_dynamics(q, v, tau)
        assert relative_error(link.robot.forward_dynamics(q, v, tau), expected) < JUDGED


@EVERY
@pytest.mark.parametrize("seed", range(3))
def test_inverse_dynamics_of_linkages(name, seed):
    """Torques of the drives alone, as Pinocchio's tree and rows of geometry need them; inverse after forward returns them."""
    link, rng = linkage(name, seed)
    robot, judge = link.robot, PinocchioLoops(link.robot)
    driven = robot.effort_limit > 0
    assert 0 < driven.sum() == link.degrees_of_freedom < robot.nv
    for _ in range(3):
        (q, v), tau = link.state(rng), link.drive(rng)
        vdot = robot.forward_dynamics(q, v, tau)
        found = robot.inverse_dynamics(q, v, vdot)
        assert relative_error(found, tau) < JUDGED
        assert relative_error(found, judge.inverse_dynamics(q, v, vdot, driven)) < JUDGED
        assert not found[~driven].any()


def test_more_drives_than_degrees_of_freedom_share_the_least_torques(rng):
    """With a drive at every joint of a four-bar the torques are the smallest of all that bring about the motion."""
    robot, bar = four_bar(FourBar()), FourBar()
    q, v = four_bar_state(bar, 0.7, 1.3)
    vdot = robot.forward_dynamics(q, v, rng.normal(size=3))
    found = robot.inverse_dynamics(q, v, vdot)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, found), vdot, rtol=1e-9, atol=1e-10)
    expected = PinocchioLoops(robot).inverse_dynamics(q, v, vdot, np.full(3, True))
    # their multipliers are made small too, so theirs is a bound; ours has nothing along K^T
    assert np.linalg.norm(found) <= np.linalg.norm(expected) + 1e-12
    assert np.abs(robot.loop_jacobian(q) @ found).max() < 1e-10


@EVERY
def test_kernels_of_linkages_are_the_definition(name):
    link, rng = linkage(name)
    states = [link.state(rng) for _ in range(9)]
    q, v = (np.stack(x) for x in zip(*states, strict=True))
    tau = rng.normal(size=v.shape)
    expected = algorithms.forward_dynamics(link.robot, q, v, tau)
    assert relative_error(link.robot.forward_dynamics(q, v, tau), expected) < JUDGED
    assert relative_error(link.robot.loop_jacobian(q), algorithms.loop_jacobian(link.robot, q)) < 1e-13
    expected = algorithms.loop_bias(link.robot, q, v)
    assert relative_error(link.robot.loop_bias(q, v), expected, scale=1.0) < 1e-12


@EVERY
def test_batches_of_linkages_are_single_calls(name):
    link, rng = linkage(name)
    robot = link.robot
    states = [link.state(rng) for _ in range(6)]
    q, v = (np.stack(x).reshape(2, 3, -1) for x in zip(*states, strict=True))
    tau = np.where(robot.effort_limit > 0, rng.normal(size=v.shape), 0.0)
    vdot = robot.forward_dynamics(q, v, tau)
    open_q = robot.integrate(q, 1e-2 * rng.normal(size=v.shape))
    calls = {
        "forward": (robot.forward_dynamics, (q, v, tau)),
        "inverse": (robot.inverse_dynamics, (q, v, vdot)),
        "error": (robot.loop_error, (open_q,)),
        "K": (robot.loop_jacobian, (q,)),
        "k": (robot.loop_bias, (q, v)),
        "closed": (robot.close_loops, (open_q,)),
        "velocity": (robot.close_velocity, (q, tau)),
    }
    for what, (f, given) in calls.items():
        batch = f(*given)
        assert batch.shape[:2] == (2, 3), what
        for at in np.ndindex(2, 3):
            assert relative_error(batch[at], f(*(x[at] for x in given)), scale=1.0) < 1e-9, what


@EVERY
def test_independent_coordinates_of_batches(name):
    link, rng = linkage(name)
    robot = link.robot
    q, v = (np.stack(x) for x in zip(*[link.state(rng) for _ in range(3)], strict=True))
    tau = rng.normal(size=v.shape)
    found = robot.independent_coordinates(q, v)
    assert found.G.shape == (3, robot.nv, link.degrees_of_freedom)
    push = np.einsum("...ij,...i->...j", found.G, tau) - found.bias
    ydot = np.linalg.solve(found.inertia, push[..., None])[..., 0]
    vdot = np.einsum("...ij,...j->...i", found.G, ydot) + found.g
    assert relative_error(vdot, robot.forward_dynamics(q, v, tau)) < 1e-8


# ---- energy and closure over time ----


def sprung(link, q, stiffness):
    """The robot with springs at its drives, which keep it away from its singular poses."""
    robot = link.robot
    for joint in robot.joints:
        if np.all(joint.effort_limit > 0):
            spring = mr.JointSpring(stiffness, float(q[joint.q_slice][0]))
            robot = robot.with_force(f"spring at {joint.name}", spring, joint=joint.name)
    return robot


def swing(name, seconds):
    """Largest loop error, and largest change of energy in parts of the largest kinetic energy, on the way."""
    link, rng = linkage(name, 1)
    q, v = link.state(rng)
    stiffness = {"stewart": 2000.0, "delta": 200.0}.get(name, 0.0)
    robot = sprung(link, q, stiffness) if stiffness else link.robot
    run = mr.simulate(robot, q, v * (0.3 if stiffness else 1.0), duration=seconds, stepper=mr.RungeKutta4(1e-3))
    assert run.status.ok
    driven = [j.q_slice.start for j in robot.joints if np.all(j.effort_limit > 0)]
    stored = stiffness / 2 * ((run.q[:, driven] - q[driven]) ** 2).sum(axis=-1)
    kinetic = robot.kinetic_energy(run.q, run.v)
    energy = kinetic + robot.potential_energy(run.q) + stored
    assert np.ptp(run.q, axis=0).max() > 0.1  # it did move
    speed = np.abs(np.einsum("tij,tj->ti", robot.loop_jacobian(run.q), run.v)).max()
    return np.abs(robot.loop_error(run.q)).max(), speed, np.abs(energy - energy[0]).max() / kinetic.max()


# Runge and Kutta's rule at 1 ms: (dt w)^4 of the fastest swings, 20 rad/s here, each second
@EVERY
def test_linkages_keep_energy_and_stay_closed(name):
    error, speed, drift = swing(name, 2.0)
    assert error < 1e-12
    assert speed < 1e-11
    assert drift < 1e-8


@pytest.mark.judge
@EVERY
def test_linkages_keep_energy_and_stay_closed_for_a_minute(name):
    error, speed, drift = swing(name, 60.0)
    assert error < 1e-12
    assert speed < 1e-11
    assert drift < 1e-6


# ---- couplings are rows of the same table ----


def geared_pendulums(ratio, loads):
    """Two pendulums on one beam, the second turns by `ratio` for one turn of the first."""
    builder = mr.Builder("gear", gravity=(0, -9.81, 0))
    for k, own in enumerate(loads):
        builder.body(f"p{k}", own, joint=Z, at=along_x(float(k)), joint_name=f"j{k}")
    builder.coupling("gear", {"j0": ratio, "j1": -1.0}, offset=-0.3)
    return builder.build()


def test_a_gear_is_one_row(rng):
    """q1 = ratio q0 + 0.3: one degree of freedom of inertia J0 + ratio² J1, pulled by both weights."""
    ratio, lengths, masses = -2.5, (0.6, 0.4), (1.3, 0.9)
    loads = [inertia.point(m, (length, 0, 0)) for m, length in zip(masses, lengths, strict=True)]
    robot = geared_pendulums(ratio, loads)
    q0, v0 = rng.normal(size=2)
    q, v = np.array([q0, ratio * q0 + 0.3]), np.array([v0, ratio * v0])
    assert np.abs(robot.loop_error(q)).max() < 1e-15
    np.testing.assert_allclose(robot.loop_jacobian(q), [[ratio, -1.0]])
    tau = rng.normal(size=2)
    J = [m * length**2 for m, length in zip(masses, lengths, strict=True)]
    weight = [9.81 * m * length * np.cos(x) for m, length, x in zip(masses, lengths, q, strict=True)]
    push = tau[0] - weight[0] + ratio * (tau[1] - weight[1])
    vdot0 = push / (J[0] + ratio**2 * J[1])
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), [vdot0, ratio * vdot0], rtol=1e-12)
    np.testing.assert_allclose(algorithms.forward_dynamics(robot, q, v, tau), [vdot0, ratio * vdot0], rtol=1e-12)
    found = robot.inverse_dynamics(q, v, [vdot0, ratio * vdot0])
    assert found[0] + ratio * found[1] == pytest.approx(tau[0] + ratio * tau[1], rel=1e-12)
    with pytest.raises(InputError, match="no torques at the joints"):
        replace(robot, joints=tuple(replace(j, effort_limit=np.zeros(1)) for j in robot.joints)).inverse_dynamics(
            q, v, [vdot0, ratio * vdot0]
        )


def test_gears_and_loops_share_one_solve(rng):
    """A flywheel geared to the crank of a four-bar adds ratio² times its inertia to the crank's."""
    bar, ratio, J = FourBar(), 3.0, 0.2
    builder = mr.Builder("pump", gravity=(0, -bar.g, 0))
    for name, mass, length, parent, at in (
        ("crank", bar.masses[0], bar.a, "world", 0.0),
        ("coupler", bar.masses[1], bar.b, "crank", bar.a),
        ("rocker", bar.masses[2], bar.c, "world", bar.d),
    ):
        builder.body(name, rod(mass, length), parent=parent, joint=Z, at=along_x(at))
    wheel = inertia.spatial_inertia(2.0, np.zeros(3), np.diag([J / 2, J / 2, J]))
    builder.body("wheel", wheel, joint=Z)
    builder.loop("pin", Z, "coupler", "rocker", along_x(bar.b), along_x(bar.c))
    builder.coupling("belt", {"crank": ratio, "wheel": -1.0})
    robot = builder.build()
    assert [c.rows for c in robot.constraints] == [5, 1]
    for _ in range(5):
        t, td, tau = rng.normal(size=3)
        q, v = (np.array([*x, ratio * y]) for x, y in zip(four_bar_state(bar, t, td), (t, td), strict=True))
        plain = bar.acceleration(t, td, tau) * bar.inertia(t)
        expected = plain / (bar.inertia(t) + ratio**2 * J)
        vdot = robot.forward_dynamics(q, v, [tau, 0, 0, 0])
        assert vdot[0] == pytest.approx(expected, rel=1e-9)
        assert vdot[3] == pytest.approx(ratio * expected, rel=1e-9)


def panda(tmp_path, mimics=True):
    """Franka's arm with its gripper from example-robot-data; without mimics its fingers have coordinates of their own."""
    at = next(Path(str(f.locate())) for f in files("example-robot-data") or [] if str(f).endswith("urdf/panda.urdf"))
    root = ET.fromstring(at.read_text())
    for joint in root.findall("joint"):
        for mimic in () if mimics else joint.findall("mimic"):
            joint.remove(mimic)
    path = tmp_path / f"panda{mimics}.urdf"
    path.write_text(ET.tostring(root, encoding="unicode"))
    return mr.Mechanism.from_urdf(path)


def test_pandas_mimic_finger_is_a_coupling(rng, tmp_path):
    """A finger that shares a coordinate moves as one with a coordinate of its own and a row that ties it to the other."""
    robot, apart = panda(tmp_path), panda(tmp_path, mimics=False)
    assert (robot.nv, apart.nv) == (8, 9)
    names = [j.name for j in apart.joints]
    fingers = tuple(names.index(f"panda_finger_joint{k}") for k in (1, 2))
    tied = replace(apart, constraints=(Coupling("fingers", fingers, (1.0, -1.0), 0.0),))
    q, v, tau = robot.random_configuration(rng), *rng.normal(size=(2, 8))
    both = [np.array([*x, x[7]]) for x in (q, v)]
    vdot = robot.forward_dynamics(q, v, tau)
    found = tied.forward_dynamics(*both, [*tau, 0.0])
    np.testing.assert_allclose(found, [*vdot, vdot[7]], rtol=1e-9, atol=1e-9 * np.abs(vdot).max())
    torques = tied.inverse_dynamics(*both, found)
    np.testing.assert_allclose([*torques[:7], torques[7] + torques[8]], tau, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, vdot), tau, rtol=1e-8, atol=1e-8)


def gripper(rng, case):
    """A random tree with mimic joints, limbs and rotors on them: beside their source, on two hubs, or where no body can be one."""
    builder = mr.Builder("gripper", gravity=rng.normal(size=3) * 5)

    def add(name, parent, kind, mimic=None, rotor=0.0):
        own = {"parent": parent, "joint": random_joint(rng, kind), "at": se3.random(rng, reach=0.5), "mimic": mimic}
        builder.body(name, inertia.random(rng), **own, properties=mr.JointProperties(armature=rotor))

    add("base", "world", "free")
    add("hand", "base", "spherical")
    add("left", "hand", "prismatic", rotor=0.3)
    add("palm", "hand", "revolute")
    on = {"chain": "left", "world": "world", "apart": "base"}.get(case, "hand")
    add("right", on, "revolute", mr.Source("left", -1.7, 0.2), rotor=0.1)
    add("third", on, "helical", mr.Source("left", 0.6))
    add("nail", "right", "universal")
    if case == "two":
        add("thumb", "palm", "revolute")
        add("ring", "palm", "prismatic", mr.Source("thumb", 0.5, -0.1))
    return builder.build()


def test_independent_coordinates_are_those_at_rest_without_rates():
    robot = mr.Assembly.from_grid([["B", "B"], ["B", "B"]]).mechanism()
    q = robot.neutral()
    for mine, told in zip(robot.independent_coordinates(q), robot.independent_coordinates(q, np.zeros(2)), strict=True):
        np.testing.assert_array_equal(mine, told)
    with pytest.raises(mr.ModurobError, match="independent_coordinates needs 'q': expected q, v"):
        robot.independent_coordinates()


@pytest.mark.parametrize("case", sampled(["two", "world", "one", "chain", "apart"], 2))
def test_mimic_joints_are_eliminated_where_they_hang(case, rng):
    """The recursion, in NumPy and in kernels, gives what mass matrix and bias forces do."""
    robot = gripper(rng, case)
    assert len(robot.hubs) == {"one": 1, "two": 2}.get(case, 0)
    q = np.stack([robot.random_configuration(rng) for _ in range(9)])
    v, tau = rng.normal(size=(2, 9, robot.nv))
    push = rng.normal(size=(9, len(robot.bodies), 6))
    for external in (None, push):
        bias = np.stack(
            [robot.inverse_dynamics(q[k], v[k], 0 * v[k], None if external is None else push[k]) for k in range(9)]
        )
        expected = np.linalg.solve(robot.mass_matrix(q), (tau - bias)[..., None])[..., 0]
        assert relative_error(algorithms.forward_dynamics(robot, q, v, tau, external), expected) < JUDGED
        assert relative_error(robot.forward_dynamics(q, v, tau, external), expected) < JUDGED
    assert (
        relative_error(
            robot.forward_dynamics(q[0], v[0], tau[0]), algorithms.forward_dynamics(robot, q[0], v[0], tau[0])
        )
        < 1e-11
    )
    run = mr.simulate(robot, q[0], 0.3 * v[0], duration=0.2, stepper=mr.RungeKutta4(1e-3))
    energy = robot.kinetic_energy(run.q, run.v) + robot.potential_energy(run.q)
    np.testing.assert_allclose(energy, energy[0], atol=1e-8 * np.abs(energy).max())


def test_weightless_fingers_are_named():
    builder = mr.Builder("weightless")
    builder.body("hand", rod(1.0, 1.0), joint=Z)
    for name, mimic in (("left", None), ("right", mr.Source("left", -1.0))):
        builder.body(name, parent="hand", joint=mr.Prismatic((1, 0, 0)), mimic=mimic)
    robot = builder.build()
    for forward in (robot.forward_dynamics, lambda *state: algorithms.forward_dynamics(robot, *state)):
        with pytest.raises(SingularError, match="joint 'left' moves no inertia"):
            forward(np.zeros(2), np.zeros(2), np.zeros(2))
    run = mr.simulate(robot, duration=0.01)
    assert run.status.kind == "singular"
    assert "'left' moves no inertia" in run.status.message


# ---- singular poses ----


def parallelogram():
    """A four-bar of equal opposite sides: laid flat it can go on as a parallelogram or as a butterfly. And that pose."""
    robot = four_bar(FourBar(a=0.5, b=1.0, c=0.5, d=1.0))
    return robot, np.zeros(3)


def test_reduced_equations_of_a_singular_pose_are_refused():
    robot, flat = parallelogram()
    away = robot.close_loops([0.6, -0.6, 0.6])
    assert robot.nv - robot.loop_rank() == 1
    assert len(robot.independent_coordinates(away, np.zeros(3)).rates) == 1
    with pytest.raises(SingularError, match=r"four-bar: .*pin.* rank 1 instead of 2"):
        robot.independent_coordinates(flat, np.zeros(3))
    with pytest.raises(SingularError, match=r"in state 1 the constraints"):
        robot.independent_coordinates(np.stack([away, flat]), np.zeros((2, 3)))


def test_forward_dynamics_at_a_singular_pose_at_rest(rng):
    """The rows still agree with each other there, and the accelerations are those of least squares."""
    robot, flat = parallelogram()
    tau = rng.normal(size=3)
    expected, _ = PinocchioLoops(robot).forward_dynamics(flat, np.zeros(3), tau)
    assert relative_error(robot.forward_dynamics(flat, np.zeros(3), tau), expected) < 1e-9


def test_motions_beyond_the_drives_are_refused():
    """A piston at its dead centre has no hold on the crank."""
    builder = mr.Builder("engine", gravity=(0, -9.81, 0))
    idle = mr.JointProperties(effort=0.0)
    builder.body("crank", rod(1.0, 0.3), joint=Z, properties=idle)
    builder.body("rod", rod(1.0, 0.8), parent="crank", joint=Z, at=along_x(0.3), properties=idle)
    builder.body("piston", inertia.box(1.0, (0.1, 0.1, 0.1)), joint=mr.Prismatic((1, 0, 0)))
    builder.loop("pin", Z, "rod", "piston", along_x(0.8))
    robot, still = builder.build(), np.zeros(3)
    q = robot.close_loops([0.5, -0.7, 1.0])
    vdot = robot.forward_dynamics(q, still, [0, 0, 3.0])
    assert robot.inverse_dynamics(q, still, vdot)[2] == pytest.approx(3.0, rel=1e-9)
    dead = np.array([0.0, 0.0, 1.1])
    with pytest.raises(InputError, match=r"no torques at the joints with a drive.*crank, rod"):
        robot.inverse_dynamics(dead, still, robot.close_velocity(dead, np.array([1.0, 0.0, 0.0])))


def test_loops_that_carry_no_inertia_are_refused():
    builder = mr.Builder("weightless")
    builder.body("a", joint=Z)
    builder.body("b", parent="a", joint=Z, at=along_x(1.0))
    builder.body("c", parent="b", joint=Z, at=along_x(1.0))
    builder.body("d", rod(1.0, 1.0), joint=Z, at=along_x(1.5))
    builder.loop("pin", Z, "c", "d", along_x(1.0))
    robot = builder.build()
    q = robot.close_loops([0.4, 0.9, 1.2, 1.0])
    still = np.zeros(4)
    for refused in (robot.forward_dynamics, robot.forward_dynamics_derivatives):
        with pytest.raises(SingularError, match="moves no inertia"):
            refused(q, still, still)
    with pytest.raises(SingularError, match="moves no inertia in state 0, so an impulse at the loops has no answer"):
        robot.close_velocity(np.stack([q, q]), still)
    assert mr.simulate(robot, q, duration=0.01).status.kind == "singular"


def test_reduced_equations_where_closed_configurations_are_not_found(rng, monkeypatch):
    """The rank is then that of the given state: a four-bar has rows that say nothing new."""
    robot = four_bar(FourBar(a=0.4, b=1.0, c=0.8, d=1.0))
    q = robot.close_loops([0.6, -0.6, 0.6])
    monkeypatch.setattr(closure, "closed_configurations", lambda m: iter(()))
    closure._regular_rank.cache_clear()
    assert robot.independent_coordinates(q, np.zeros(3)).G.shape == (3, 1)
    closure._regular_rank.cache_clear()


# ---- closed forms ----


@pytest.mark.parametrize("seed", range(10))
def test_four_bar_accelerates_as_its_closed_form(seed):
    rng = np.random.default_rng(seed)
    bar = FourBar()
    robot = four_bar(bar)
    t, td, tau = rng.uniform(-np.pi, np.pi), *rng.normal(size=2)
    q, v = four_bar_state(bar, t, td)
    assert np.abs(robot.loop_error(q)).max() < 1e-14
    assert np.abs(robot.loop_jacobian(q) @ v).max() < 1e-14
    vdot = robot.forward_dynamics(q, v, [tau, 0, 0])
    assert vdot[0] == pytest.approx(bar.acceleration(t, td, tau), rel=1e-10)
    reduced = robot.independent_coordinates(q, v)
    assert len(reduced.rates) == 1
    ydot = np.linalg.solve(reduced.inertia, reduced.G.T @ [tau, 0, 0] - reduced.bias)
    np.testing.assert_allclose(reduced.G @ ydot + reduced.g, vdot, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_bennett_linkage_closes_along_its_curve(seed):
    """tan(t1/2) tan(t2/2) = sin((alpha + beta)/2) / sin((beta - alpha)/2), and t3 = -t1."""
    robot, beta = bennett_robot()
    q = bennett_configuration(np.random.default_rng(seed).uniform(0.3, 2.8), 1.1, beta)
    t1, t2, _ = q
    assert np.abs(robot.loop_error(q)).max() < 1e-14
    # one degree of freedom although counting gives none
    assert np.linalg.matrix_rank(robot.loop_jacobian(q), tol=1e-9) == robot.loop_rank() == 2
    nearby = robot.close_loops(q + 0.02)
    assert np.tan(nearby[0] / 2) * np.tan(nearby[1] / 2) == pytest.approx(np.tan(t1 / 2) * np.tan(t2 / 2), rel=1e-9)


def run_closed(robot, q, v, seconds, every=0.5):
    """Largest loop error and relative change of energy on the way, loops projected closed every half second."""
    scale = energy = robot.kinetic_energy(q, v) + robot.potential_energy(q)
    errors, drift = [], []
    for _ in range(round(seconds / every)):
        q, v = moved(robot, q, v, np.zeros(robot.nv), every, tolerance=1e-9)
        errors.append(np.abs(robot.loop_error(q)).max())
        q = robot.close_loops(q)
        v = robot.close_velocity(q, v)
        scale = max(scale, robot.kinetic_energy(q, v))
        drift.append(abs(robot.kinetic_energy(q, v) + robot.potential_energy(q) - energy))
    return max(errors), max(drift) / abs(scale)


def test_four_bar_stays_closed_for_a_minute():
    bar = FourBar(g=2.0)
    robot = four_bar(bar)
    error, drift = run_closed(robot, *four_bar_state(bar, 0.4, 0.5), 60.0)
    assert error < 1e-8
    assert drift < 1e-7


def test_bennett_linkage_stays_closed_for_a_minute():
    robot, beta = bennett_robot()
    q = bennett_configuration(0.9, 1.1, beta)
    v = robot.close_velocity(q, np.array([0.3, 0.0, 0.0]))
    error, drift = run_closed(robot, q, v, 60.0)
    assert error < 1e-8
    assert drift < 1e-7


LOOP_KINDS = ("fixed", "revolute", "prismatic", "helical", "cylindrical", "universal", "spherical", "planar")


def closed_chain(rng, kind):
    """Seven revolute joints in a row, the tip held by a joint of that kind where it happens to be; and that configuration."""
    builder = mr.Builder("ring")
    for i in range(7):
        axis = tuple(rng.normal(size=3))
        parent = f"b{i - 1}" if i else "world"
        builder.body(
            f"b{i}", inertia.random(rng), parent=parent, joint=mr.Revolute(axis), at=se3.random(rng, reach=0.5)
        )
    q, closing = rng.normal(size=7), random_joint(rng, kind)
    tip = builder.build().frame_pose(q, "b6")
    q_closing = closing.random(rng, np.full(closing.nq, -np.inf), np.full(closing.nq, np.inf))
    builder.loop("closing", closing, "world", "b6", at=tip @ se3.inverse(closing.pose(q_closing)))
    return builder.build(), q


@pytest.mark.parametrize("kind", LOOP_KINDS)
def test_loop_joints_of_every_kind(kind, rng):
    """K is the derivative of the loop error, and K vdot = k is its second derivative, along the motion."""
    robot, q = closed_chain(rng, kind)
    assert np.abs(robot.loop_error(q)).max() < 1e-13
    slopes = [np.imag(robot.loop_error(robot.integrate(q, 1e-20j * e))) / 1e-20 for e in np.eye(7)]
    np.testing.assert_allclose(np.transpose(slopes), robot.loop_jacobian(q), atol=1e-12)
    v = robot.close_velocity(q, rng.normal(size=7))
    vdot = robot.forward_dynamics(q, v, rng.normal(size=7))
    h = 1e-3
    error = [np.abs(robot.loop_error(q + s * h * v + (s * h) ** 2 / 2 * vdot)).max() for s in (1, 2)]
    # without the right bias the error would grow with the square of time, not the cube
    assert error[1] < 9.5 * error[0] + 1e-12
    assert error[0] < 100 * h**3 * max(1, np.abs(v).max() ** 3, np.abs(vdot).max() ** 1.5)


@pytest.mark.parametrize("kind", LOOP_KINDS)
def test_constraint_forces_do_no_work(kind, rng):
    robot, q = closed_chain(rng, kind)
    v, tau = robot.close_velocity(q, rng.normal(size=7)), rng.normal(size=7)
    vdot = robot.forward_dynamics(q, v, tau)
    push = robot.inverse_dynamics(q, v, vdot) - tau
    assert abs(push @ v) < 1e-10 * max(np.abs(push).max() * np.abs(v).max(), 1)


@pytest.mark.parametrize("kind", LOOP_KINDS)
def test_derivatives_of_constrained_dynamics(kind, rng):
    robot, q = closed_chain(rng, kind)
    v, tau, h = robot.close_velocity(q, rng.normal(size=7)), rng.normal(size=7), 1e-6
    found = robot.forward_dynamics_derivatives(q, v, tau)
    slopes = [
        (robot.forward_dynamics(q, v, tau + h * e) - robot.forward_dynamics(q, v, tau - h * e)) / (2 * h)
        for e in np.eye(7)
    ]
    assert relative_error(found.tau, np.transpose(slopes)) < 1e-6
    slopes = [
        (robot.forward_dynamics(q, v + h * e, tau) - robot.forward_dynamics(q, v - h * e, tau)) / (2 * h)
        for e in np.eye(7)
    ]
    assert relative_error(found.v, np.transpose(slopes)) < 1e-5


def test_closing_velocity_is_what_an_impulse_leaves(rng):
    """M (v+ - v) = K^T impulse, K v+ = 0: kinetic energy falls by that of the difference."""
    robot, q = closed_chain(rng, "revolute")
    v = rng.normal(size=7)
    after = robot.close_velocity(q, v)
    assert np.abs(robot.loop_jacobian(q) @ after).max() < 1e-12
    lost = robot.kinetic_energy(q, v) - robot.kinetic_energy(q, after)
    assert lost == pytest.approx(robot.kinetic_energy(q, v - after), rel=1e-9)


def test_batches_of_loops(rng):
    robot, q = closed_chain(rng, "spherical")
    v, tau = rng.normal(size=(2, 3, 7))
    batch = robot.forward_dynamics(q, v, tau)
    for i in range(3):
        np.testing.assert_allclose(batch[i], robot.forward_dynamics(q, v[i], tau[i]), rtol=1e-9)


def test_loops_out_of_reach_are_refused():
    builder = mr.Builder("short")
    builder.body("arm", rod(1.0, 1.0), joint=Z)
    builder.loop("far", mr.Spherical(), "arm", "world", along_x(1.0), along_x(3.0))
    with pytest.raises(ClosureError, match=r"far.*stay open by 2"):
        builder.build().close_loops([0.3])


def test_only_the_loops_that_are_open_are_named():
    builder = mr.Builder("two")
    for name in ("held", "short"):
        builder.body(name, rod(1.0, 1.0), joint=Z)
    builder.loop("fits", mr.Spherical(), "held", "world", along_x(1.0), along_x(1.0))
    builder.loop("far", mr.Spherical(), "short", "world", along_x(1.0), along_x(3.0))
    with pytest.raises(ClosureError, match=r"^loops far stay open by 2 .* in state 0 after"):
        builder.build().close_loops([[0.0, 0.0], [0.0, 0.3]])


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_loops_of_any_size_close(size):
    """A link on a carriage, whose tip is pinned to another carriage that stands away from it by more than their size."""
    builder, slide = mr.Builder("gantry"), mr.Prismatic((1, 2, 0))
    builder.body("carriage", rod(1.0, 0.1 * size), joint=slide)
    builder.body("link", rod(1.0, 0.8 * size), parent="carriage", joint=Z)
    builder.body("other", rod(1.0, 0.1 * size), joint=slide)
    builder.loop("pin", Z, "link", "other", along_x(0.8 * size), along_x(-0.3 * size))
    robot = builder.build()
    closed = robot.close_loops(np.array([[0.0, 1.2, 1.5 * size], [0.0, -1.2, -2.5 * size]]))
    assert np.abs(robot.loop_error(closed)).max() < 1e-11 * max(1.0, size)


def slides_and_hinges(seed, size):
    """A chain of a few, whose tip is tied to the world where it is, and a configuration beside that one."""
    rng, builder = np.random.default_rng(seed), mr.Builder("chain")
    for i in range(n := int(rng.integers(3, 7))):
        joint = (mr.Prismatic if rng.random() < 0.4 else mr.Revolute)(rng.normal(size=3))
        at = se3.pose(None, size * rng.normal(size=3) / 2)
        builder.body(f"b{i}", inertia.random(rng), parent=f"b{i - 1}" if i else "world", joint=joint, at=at)
    unit = np.array([size if joint.kind == "prismatic" else 1.0 for joint in builder.build().joints])
    q = rng.normal(size=n) * unit
    tip = builder.build().frame_pose(q, f"b{n - 1}")
    builder.loop("tie", mr.Spherical(), "world", f"b{n - 1}", at=tip)
    return builder.build(), q + rng.normal(size=n) * unit / 2, unit


@pytest.mark.parametrize("seed", range(6))
def test_loops_close_at_any_size_as_they_do_at_one(seed):
    robot, q, unit = slides_and_hinges(seed, 1.0)
    closed = robot.close_loops(q)
    for size in (1e-6, 1e-4, 1e4, 1e6):
        other, start, unit = slides_and_hinges(seed, size)
        np.testing.assert_allclose(other.close_loops(start) / unit, closed, atol=1e-7)


def small_slider_crank(size):
    """Links of size times 0.3 and 0.8 m, and of size times one kilogram, under gravity that moves it as at one metre."""
    builder = mr.Builder("slider-crank", gravity=(0, -9.81 * size, 0))
    builder.body("crank", rod(size, 0.3 * size), joint=Z)
    builder.body("rod", rod(size, 0.8 * size), parent="crank", joint=Z, at=along_x(0.3 * size), properties=PASSIVE)
    piston = inertia.box(size, (0.1 * size,) * 3)
    builder.body("piston", piston, joint=mr.Prismatic((1, 0, 0)), properties=PASSIVE)
    builder.loop("pin", Z, "rod", "piston", along_x(0.8 * size))
    return builder.build(), np.array([1.0, 1.0, size])


@pytest.mark.parametrize("run", [algorithms.forward_dynamics, mr.Mechanism.forward_dynamics])
def test_linkages_accelerate_at_any_size_as_at_one(run):
    """Inertia along angles is far less than along lengths in small ones, and far more in large ones."""
    q, w = np.array([0.7, -0.7 - np.arcsin(0.3 * np.sin(0.7) / 0.8), 0.0]), np.array([1.3, 0.2, 0.5])
    q[2] = 0.3 * np.cos(0.7) + 0.8 * np.cos(q[0] + q[1])
    expected = None
    for size in (1.0, 1e-6, 1e-4, 1e4, 1e6):
        robot, unit = small_slider_crank(size)
        v = robot.close_velocity(q * unit, w * unit)
        tau = size**3 * np.array([1.0, 0.0, 0.0])
        vdot = run(robot, q * unit, v, tau)
        expected = vdot if expected is None else expected
        np.testing.assert_allclose(vdot, expected * unit, rtol=1e-10)
        np.testing.assert_allclose(robot.inverse_dynamics(q * unit, v, vdot), tau, rtol=1e-10)


def test_loops_that_never_close_are_told_so():
    off = mr.Builder("out of plane")
    off.body("crank", rod(1.0, 1.0), joint=Z)
    off.loop("pin", mr.Spherical(), "crank", "world", along_x(1.0), se3.pose(None, (1.0, 0.0, 0.1)))
    gears = mr.Builder("gears")
    for name in ("a", "b"):
        gears.body(name, rod(1.0, 1.0), joint=Z)
    gears.coupling("one", {"a": 1.0, "b": -2.0})
    gears.coupling("two", {"a": 1.0, "b": -2.0}, 0.3)
    for builder in (off, gears):
        with pytest.raises(ClosureError, match="and do not close from 15 other starts: check frames"):
            builder.build().close_loops(np.zeros(len(builder.build().joints)))


def test_what_is_no_joint_or_no_ratio_is_refused():
    builder = mr.Builder("odd")
    builder.body("a", rod(1.0, 1.0), joint=Z)
    for joint in (mr.Revolute, None, "hinge"):
        with pytest.raises(MechanismError, match=r"loop 'pin': joint .*: expected one such as mr.Revolute"):
            builder.loop("pin", joint, "a", "world")
    for ratios, offset in (({"a": "x"}, 0.0), (["a"], 0.0), ({"a": 1.0}, None)):
        with pytest.raises(
            MechanismError, match=r"coupling 'gear': ratios .*: expected numbers by the names of joints"
        ):
            builder.coupling("gear", ratios, offset)


def test_ring_of_modules_closes(rng):
    """Six Backbones in a ring close as a hexagon and leave the three degrees of freedom of a planar six-bar."""
    ring = mr.Assembly.single("m0", "backbone")
    for i in range(1, 6):
        ring = ring.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4")
    robot = ring.connect("m5/3", "m0/4").mechanism(base="m0")
    assert [loop.name for loop in robot.loops] == ["m5/3 - m0/4"]
    assert robot.nv == 6
    q = robot.close_loops(np.full(6, np.pi / 3) + rng.normal(size=6) * 0.05)
    assert np.abs(robot.loop_error(q)).max() < 1e-12
    # around the ring the turns add up to a full one
    assert q.sum() == pytest.approx(2 * np.pi)
    assert len(robot.independent_coordinates(q, np.zeros(6)).rates) == 3
    assert so3.is_rotation(robot.frame_pose(q, "m5")[:3, :3])
