"""Laws of the field on robots whose base floats in free space, falling and turning: what each promises, in simulations.

What holds at every instant is measured on more robots in test_promises.py.
"""

import math

import numpy as np
import pytest

import modurob as mr
from modurob.algorithms.forces import acting
from modurob.control import slotine_li_regressor
from modurob.control.christoffel import brackets
from modurob.control.coupling import coupling
from modurob.control.drives import Drives
from modurob.errors import ControlError
from modurob.simulation import Measured
from modurob.spatial import inertia, se3
from tests.control.loops import run as run_continuously
from tests.control.test_backstepping import closed_loop, energy
from tests.control.test_field import count, robots, waves, with_other_masses
from tests.robots import KINDS, random_mechanism

BASE = slice(6)


def floats(number, seed, most=9, moving=True):
    """Random robots of 2 to `most` joints beside a floating base, with the pose and the twist that their base starts with."""
    for rng, robot in robots(number, seed, least=3, most=most + 1, floating=True):
        base = robot.random_configuration(rng)[:7], 0.3 * moving * rng.normal(size=6)
        yield rng, robot, base


def followed(robot, base, law, motion, duration, e0=0.0, h=1e-3):
    """A run in steps of h that starts beside its reference, and errors of the joints along it, (ticks, joints)."""
    q0, v0, _ = motion(0.0)
    q, v = np.concatenate([base[0], q0 + e0]), np.concatenate([base[1], v0])
    run = mr.simulate(robot, q, v, duration=duration, controller=law, stepper=mr.RungeKutta4(h), tick=h)
    assert run.status.ok, run.status
    return run, run.q[:, 7:] - np.array([motion(t)[0] for t in run.t])


def felt_inertia(robot, q):
    """What drives move, M_dd - M_dp M_pp^-1 M_pd, as the inverse of a part of the inverse, (..., n, n)."""
    return np.linalg.inv(np.linalg.inv(robot.mass_matrix(q))[..., 6:, 6:])


# ---- what laws are made of ----


@pytest.mark.parametrize("seed", range(3))
def test_driven_rates_carry_the_others_along(seed):
    """P^T M P is the inertia that drives move; M P leaves others without momentum; P^T N is zero, since all fall alike."""
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 6, KINDS[:-1], floating=True, armature=True)
    q, u = robot.random_configuration(rng), rng.normal(size=robot.nv)
    M, at = robot.mass_matrix(q), coupling(Drives.of(robot))(q)
    assert np.allclose((at.P.T @ M @ at.P)[6:, 6:], felt_inertia(robot, q))
    assert np.allclose((M @ at.motion(u))[BASE], 0.0, atol=1e-12)
    assert np.array_equal(at.motion(u)[6:], u[6:])
    assert np.allclose(at.torque(robot.gravity_forces(q)), 0.0, atol=1e-12)
    assert coupling(Drives.of(robot.locked({}), [j.name for j in robot.joints]))(q).P is None


@pytest.mark.parametrize("seed", range(3))
def test_the_regressor_of_slotine_and_li_holds_for_rates_of_bodies(seed):
    """Against C as a matrix, whose dM/dt - 2 C is skew, on robots with ball joints and free bodies."""
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 5, KINDS, floating=True)
    q, (v, w, a) = robot.random_configuration(rng), rng.normal(size=(3, robot.nv))
    expected = robot.mass_matrix(q) @ a + robot.coriolis_matrix(q, v) @ w + robot.gravity_forces(q)
    Y = slotine_li_regressor(robot, q, v, w, a)
    assert np.allclose(Y @ robot.inertial_parameters().ravel(), expected, atol=1e-9)
    assert np.allclose(brackets(robot, v) @ w, -brackets(robot, w) @ v)


# ---- joints ----


@pytest.mark.judge
@pytest.mark.parametrize("number", [50])
def test_computed_torque_makes_the_joints_linear(number):
    """(1 + 10 t) exp(-10 t) e0, whatever the base does."""
    for rng, robot, base in floats(number, 31):
        motion = waves(rng, robot.nv - 6)
        law = mr.ComputedTorque(100.0, 20.0, lambda t, m=motion: m(t), partial=True, sample_time=1e-3)
        run, e = followed(robot, base, law, motion, 1.0, e0=0.1)
        assert np.abs(e - 0.1 * ((1 + 10 * run.t) * np.exp(-10 * run.t))[:, None]).max() < 0.01 * 0.1


@pytest.mark.judge
@pytest.mark.parametrize("number", [50])
def test_gravity_is_not_felt_and_joints_go_to_their_reference(number):
    """Let go at rest, falling: (v^T M v + e^T Kp e)/2, with the inertia that drives move, falls to nothing."""
    for rng, robot, base in floats(number, 32, moving=False):
        goal, q0 = 0.5 * rng.normal(size=(2, robot.nv - 6))
        M = np.diagonal(felt_inertia(robot, np.concatenate([base[0], goal])))
        kp = 25.0 * M
        law = mr.GravityCompensation(kp, 10.0 * M, goal, sample_time=2e-3)
        run = mr.simulate(
            robot, np.concatenate([base[0], q0]), duration=2.0, controller=law, stepper=mr.RungeKutta4(2e-3)
        )
        e, v = run.q[:, 7:] - goal, run.v[:, 6:]
        V = np.einsum("ti,tij,tj->t", v, felt_inertia(robot, run.q), v) / 2 + e**2 @ kp / 2
        assert np.linalg.norm(run.v[-1, :3]) > 1.0
        assert np.all(np.diff(V) < 1e-4 * V[0])
        assert V[-1] < 0.02 * V[0]


@pytest.mark.judge
@pytest.mark.parametrize("number", [50])
def test_feed_forward_alone_follows(number):
    """Nothing is measured of the joints: what is off grows from rounding and samples alone."""
    for rng, robot, base in floats(number, 33):
        motion = waves(rng, robot.nv - 6, 0.3)
        _, e = followed(robot, base, mr.FeedForward(lambda t, m=motion: m(t)), motion, 0.5)
        assert np.abs(e).max() < 2e-3


@pytest.mark.judge
@pytest.mark.parametrize("number", [50])
def test_slotine_li_takes_energy_out_of_s(number):
    for rng, robot, base in floats(number, 34):
        motion = waves(rng, robot.nv - 6)
        kd = 20.0 * np.diagonal(felt_inertia(robot, robot.random_configuration(rng)))
        law = mr.SlotineLi(lambda t, m=motion: m(t), slope=8.0, kd=kd, sample_time=2e-3)
        run, e = followed(robot, base, law, motion, 1.0, e0=0.1, h=2e-3)
        s = sliding(law.on(robot), run)
        V = np.einsum("ti,tij,tj->t", s, felt_inertia(robot, run.q), s) / 2
        assert np.all(np.diff(V) < 1e-3 * V[0])
        assert V[-1] < 1e-3 * V[0]
        assert np.abs(e[-1]).max() < 0.02 * 0.1


def sliding(bound, run):
    """s of the joints along a run, (ticks, joints)."""
    return np.array([bound.sliding(t, q, v).s for t, q, v in zip(run.t, run.q, run.v, strict=True)])[:, 6:]


@pytest.mark.judge
@pytest.mark.parametrize("number", [50])
def test_sliding_modes_stay_in_their_layer(number):
    """Pushes at joints, below what the law reaches for."""
    for rng, robot, base in floats(number, 35):
        n, slope, layer = robot.nv - 6, 6.0, 0.3
        motion, phase, push = waves(rng, n), rng.uniform(0, 6, n), rng.uniform(0.5, 2.0, n)
        light = np.linalg.eigvalsh(felt_inertia(robot, robot.random_configuration(rng))).min()
        law = mr.SlidingMode(lambda t, m=motion: m(t), slope, 2.5 * push.max(), layer, 5.0 * light)
        bound = law.on(robot)

        def disturbed(t, q, v, bound=bound, push=push, phase=phase):
            return bound.torque(t, q, v) + np.concatenate([np.zeros(6), push * np.sin(7 * t + phase)])

        run, e = followed(robot, base, disturbed, motion, 1.0, h=2e-3)
        assert np.abs(sliding(bound, run)).max() < layer
        assert np.abs(e).max() < layer / slope


def learnt_share(rng, robot, base, duration=2.0):
    """What is left of the error of 30 % wrong masses in the last half second, in parts of what it is without learning."""
    motion, believed = waves(rng, robot.nv - 6, 1.0), with_other_masses(robot, rng)
    kd = 10.0 * np.diagonal(felt_inertia(robot, robot.random_configuration(rng)))
    arguments = {"slope": 5.0, "kd": kd, "model": believed, "sample_time": 2e-3}
    plain = mr.SlotineLi(lambda t, m=motion: m(t), **arguments)
    # joints that feel no weight are off by little, and learn little from it
    learning = mr.AdaptiveControl(lambda t, m=motion: m(t), gain=500.0, **arguments)
    wrong, learnt = (followed(robot, base, law, motion, duration, h=2e-3)[1][-250:] for law in (plain, learning))
    return np.sqrt(np.mean(learnt**2) / np.mean(wrong**2))


@pytest.mark.judge
@pytest.mark.parametrize("number", [50])
def test_adaptive_control_forgets_wrong_masses(number):
    shares = [learnt_share(*each) for each in floats(number, 36)]
    assert max(shares) < 0.3
    assert np.median(shares) < 0.1


# ---- pushes ----


@pytest.mark.parametrize("number", count(1, 50))
def test_a_momentum_observer_sees_what_pushes_joints_and_base(number):
    for rng, robot, base in floats(number, 37):
        push = rng.normal(size=robot.nv)
        hold = mr.GravityCompensation(kp=30.0, kd=10.0, sample_time=1e-3).on(robot)
        seen = mr.MomentumObserver(robot, gain=40.0)
        state = {"memory": seen.start(), "r": []}

        def law(t, q, v, hold=hold, push=push, seen=seen, state=state):
            tau = hold.torque(t, q, v)
            state["memory"], r = seen.step(state["memory"], q, v, tau)
            state["r"].append(r)
            return tau + push * (t >= 0.05)

        run, _ = followed(robot, base, law, lambda t, n=robot.nv - 6: (np.full(n, 0.2), np.zeros(n), None), 0.3)
        r, t = np.array(state["r"]), run.t[:-1]
        expected = push * np.where(t > 0.05, 1 - np.exp(-40.0 * (t - 0.05)), 0.0)[:, None]
        assert np.abs(r - expected).max() < 0.03 * np.abs(push).max()


@pytest.mark.judge
@pytest.mark.parametrize("number", [50])
def test_a_disturbance_observer_leaves_no_offset(number):
    """Constant pushes at joints and, in its own axes, against the base, which turns faster and faster."""
    for rng, robot, base in floats(number, 38):
        push, goal, errors = rng.normal(size=robot.nv), 0.3 * rng.normal(size=robot.nv - 6), []
        plain = mr.ComputedTorque(64.0, 16.0, goal, partial=True, sample_time=1e-3)
        for law in (plain, mr.DisturbanceObserver(plain, gain=30.0)):
            bound = law.on(robot)
            memory = {"m": bound.start()}

            def pushed(t, q, v, bound=bound, memory=memory, push=push):
                memory["m"], tau = bound.step(memory["m"], t, Measured(q, v))
                return tau + push

            still = np.zeros_like(goal)
            errors.append(np.abs(followed(robot, base, pushed, lambda t, g=goal, s=still: (g, s, s), 1.2)[1][-1]).max())
        assert errors[1] < 0.02 * errors[0]


@pytest.mark.judge
@pytest.mark.parametrize("number", [50])
def test_joints_give_way_by_the_commanded_stiffness(number):
    """Constant pushes between the bodies: tau_ext/stiffness at every joint, at last."""
    for rng, robot, base in floats(number, 39):
        n = robot.nv - 6
        q0, K, push = 0.3 * rng.normal(size=n), rng.uniform(20, 60, n), rng.normal(size=n)
        bound = mr.Admittance(q0, stiffness=K, damping=8.0, inertia=0.5).on(robot)
        memory = {"m": bound.start()}

        def pushed(t, q, v, bound=bound, memory=memory, push=push):
            memory["m"], tau = bound.step(memory["m"], t, Measured(q, v))
            return tau + np.concatenate([np.zeros(6), push])

        _, y = followed(robot, base, pushed, lambda t, q0=q0, n=n: (q0, np.zeros(n), np.zeros(n)), 2.0)
        assert np.allclose(y[-1], push / K, atol=0.01 * np.abs(push / K).max())


@pytest.mark.judge
@pytest.mark.parametrize("number", [50])
def test_friction_that_is_compensated_hardly_shows(number):
    for rng, robot, base in floats(number, 40, most=5):
        motion, rusty, errors = waves(rng, robot.nv - 6), robot, []
        for joint in robot.joints[1:]:
            rusty = rusty.with_force(f"{joint.name} rust", mr.Friction(coulomb=0.6), joint=joint.name)
        plain = mr.ComputedTorque(60.0, 12.0, lambda t, m=motion: m(t), partial=True, sample_time=1e-3)
        for law in (plain, mr.FrictionCompensation(plain, share=1.0, width=0.005)):
            errors.append(np.sqrt(np.mean(followed(rusty, base, law, motion, 1.0)[1] ** 2)))
        assert errors[1] < errors[0] / 3


# ---- frames ----


def arm_with_tip(rng, joints=7):
    """A floating arm of hinges whose tip can be moved in all directions by its joints alone."""
    while True:
        robot = random_mechanism(rng, joints + 1, ("revolute",), floating=True, chain=True, armature=True)
        robot, tip = robot.without_forces(), robot.bodies[-1]
        q = np.concatenate([robot.random_configuration(rng)[:7], rng.normal(size=joints)])
        J = coupling(Drives.of(robot))(q).jacobian(robot.jacobian(q, tip)[:3])
        if np.linalg.svd(J)[1].min() > 0.15:
            return robot, q, tip


@pytest.mark.judge
@pytest.mark.parametrize("number", [50])
def test_operational_space_makes_the_tip_linear(number):
    """The tip goes to a point of the world, while the base falls, turns and is pushed about, until the arm is stretched: by the
    generalised Jacobian."""
    rng, times = np.random.default_rng(41), np.linspace(0, 0.4, 9)
    for _ in range(number):
        robot, q, tip = arm_with_tip(rng)
        v = np.concatenate([0.1 * rng.normal(size=6), np.zeros(robot.nv - 6)])
        start, rate = robot.frame_pose(q, tip)[:3, 3], robot.jacobian(q, tip)[:3] @ v
        goal = start + 0.02 * rng.normal(size=3)
        law = mr.OperationalSpace(frame=tip, goal=goal, kp=64.0, kd=16.0, joint_damping=0.3).on(robot)

        def stretched(q, robot=robot, tip=tip):
            J = coupling(Drives.of(robot))(q).jacobian(robot.jacobian(q, tip)[:3])
            return np.linalg.svd(J)[1].min() - 0.02

        found, _ = run_continuously(robot, law, q, v, times, tolerance=1e-9, until=stretched)
        t, e0 = times[: len(found)], start - goal
        assert t[-1] >= 0.2
        expected = goal + np.exp(-8 * t)[:, None] * (e0 + t[:, None] * (rate + 8 * e0))
        assert np.abs(robot.frame_pose(found, tip)[:, :3, 3] - expected).max() < 1e-7
        assert np.abs(law.torque(0.0, q, v)[BASE]).max() == 0


FLOATING = mr.load("crab").mechanism(floating=True)


@pytest.mark.parametrize("law", [mr.Impedance, mr.HybridForcePosition])
def test_laws_that_hold_forces_want_a_base_that_is_held(law):
    """A constant force moves what floats faster and faster: nothing comes to rest under it."""
    with pytest.raises(ControlError, match=f"{law.__name__} assumes a base that is held.*: crab floats by .*free"):
        law(frame="m3", goal=[0.1, 0.1, 0.0]).on(FLOATING)


def test_a_base_that_stands_on_a_ground_lets_joints_feel_their_weight():
    q = FLOATING.neutral()
    law = mr.GravityCompensation()
    assert np.allclose(law.on(FLOATING).torque(0.0, q, np.zeros(9)), 0.0, atol=1e-12)
    standing = law.on(FLOATING.on_ground()).torque(0.0, q, np.zeros(9))
    assert np.allclose(standing[6:], FLOATING.gravity_forces(q)[6:])


# ---- energy ----


@pytest.mark.judge
@pytest.mark.parametrize("number", [50])
def test_energy_comes_nearer_to_what_is_wanted(number):
    for rng, robot, base in floats(number, 42, most=5):
        q = np.concatenate([base[0], 0.3 * rng.normal(size=robot.nv - 6)])
        v = 0.3 * rng.normal(size=robot.nv)
        E = float(robot.kinetic_energy(q, v) + robot.potential_energy(q))
        law = mr.SwingUp(energy=E + 3.0, gain=1.0, kick=0.5, sample_time=1e-3)
        left = np.abs(mr.simulate(robot, q, v, duration=2.0, controller=law).energy - (E + 3.0))
        assert np.all(np.diff(left) < 1e-6)
        assert left[-1] < 0.1 * left[0]


def test_a_body_without_joints_is_moved_by_nothing():
    b = mr.Builder("stone")
    b.body("stone", inertia.sphere(1.0, 0.1), joint=mr.Free(), at=se3.pose())
    law = mr.SlotineLi().on(b.build())
    assert not law.torque(0.0, np.array([0.0, 0, 0, 1, 0, 0, 0]), np.ones(6)).any()


# ---- elastic joints, on a base that is held or floats ----


def elastic_robots(number, seed, floating, most):
    """Robots with a spring between every motor and its joint, and states (q, v, x) of theirs, far from rest."""
    for rng, robot in robots(number, seed, least=2 + floating, most=most + floating, floating=floating):
        for joint in robot.joints[int(floating) :]:
            motor = mr.Motor(1.0, inertia=rng.uniform(0.1, 0.5), viscous=rng.uniform(0, 0.3))
            robot = robot.with_drive(joint.name, mr.Drive(motor, mr.Gear(stiffness=rng.uniform(200, 800))))
        q, v = robot.random_configuration(rng), 0.5 * rng.normal(size=robot.nv)
        yield rng, robot, (q, v, acting(robot).start_at(q)), waves(rng, len(robot.joints) - floating, 0.5)


def shaken(rng, law, q, v, x):
    """The state (q, v, x) with gears that are wound up, and motors that turn."""
    own = law._own
    x[own.angle], x[own.speed] = q[own.q] + 0.02 * rng.normal(size=len(own.q)), rng.normal(size=len(own.q))
    return np.concatenate([q, v, x])


def rate_along(f, rate, t, y, h=1e-5):
    """df(t, y)/dt where y moves at that rate: differences of fourth order."""
    at = [f(t + k * h, y + k * h * rate) for k in (-2, -1, 1, 2)]
    return (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h)


ON = pytest.mark.parametrize("floating", [False, True], ids=["held", "floating"])


@ON
@pytest.mark.parametrize("number", count(2, 50))
def test_elastic_joints_become_chains_of_four_integrators(number, floating):
    """The fourth derivative of the joints is what the law asks for, wherever they are: that of the jerk along the motion."""
    for rng, robot, state, motion in elastic_robots(number, 43, floating, 3 if number < 5 else 9):
        law = mr.ElasticLinearisation(lambda t, m=motion: m(t, 5), pole=8.0).on(robot)
        y, (nq, n) = shaken(rng, law, *state), (robot.nq, robot.nq + robot.nv)

        def moved(y, law=law, nq=nq, n=n):
            return [each[law._own.v] for each in law.motion(y[:nq], y[nq:n], y[n:])]

        now = y[law._own.q], y[nq + law._own.v], *moved(y)
        errors = [want - have for want, have in zip(motion(0.3, 4), now, strict=True)]
        snap = motion(0.3, 5)[4] + sum(math.comb(4, k) * 8.0 ** (4 - k) * e for k, e in enumerate(errors))
        found = rate_along(lambda t, y, moved=moved: moved(y)[1], closed_loop(robot, law)(0.3, y), 0.3, y)
        assert np.abs(found - snap).max() < 1e-6 * np.abs(snap).max()


@ON
@pytest.mark.parametrize("number", count(2, 50))
def test_energy_of_backstepping_falls_as_promised(number, floating):
    for rng, robot, state, motion in elastic_robots(number, 44, floating, 3 if number < 5 else 9):
        law = mr.Backstepping(lambda t, m=motion: m(t, 5), slope=6.0, kd=3.0, pace=30.0).on(robot)
        y = shaken(rng, law, *state)
        slope = rate_along(
            lambda t, y, robot=robot, law=law: energy(robot, law, t, y)[0], closed_loop(robot, law)(0.3, y), 0.3, y
        )
        assert slope == pytest.approx(-energy(robot, law, 0.3, y)[1], rel=1e-5)
        assert not law.torque(0.3, y[: robot.nq], y[robot.nq : robot.nq + robot.nv], y[robot.nq + robot.nv :])[
            law.drives.passive
        ].any()
