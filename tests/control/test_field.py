"""Laws of the field on random robots: what each promises, measured."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import root

import modurob as mr
from modurob.algorithms.forces import acting
from modurob.algorithms.interpreter import NumPyEngine
from modurob.catalogue.forces import FrameForce
from modurob.control import assumptions, elastic_inverse_dynamics, slotine_li_regressor
from modurob.control.adaptive import dual_of
from modurob.errors import ControlError
from modurob.simulation.system import State, System
from modurob.spatial import inertia
from tests.robots import random_mechanism

KINDS = ("revolute", "prismatic", "helical")


def robots(count, seed=0, least=2, most=9, kinds=KINDS, **how):
    """Random robots of 2 to 9 joints with rotors, so that none is too light for a sample."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        robot = random_mechanism(rng, int(rng.integers(least, most + 1)), kinds, **how).without_forces()
        yield rng, _with_rotors(robot)


def _with_rotors(robot, size=0.3):
    from dataclasses import replace

    joints = tuple(
        replace(j, armature=np.full(j.type.nv, size) if j.type.nv == 1 else j.armature) for j in robot.joints
    )
    return replace(robot, joints=joints)


def waves(rng, n, size=0.5):
    """A smooth motion: sines with other frequencies at each joint, and its derivatives."""
    A, w, p = size * rng.uniform(0.3, 1, n), rng.uniform(0.5, 2.5, n), rng.uniform(0, 6, n)
    turn = (np.sin, np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x), np.sin)

    def motion(t, orders=3):
        return tuple(A * w**k * f(w * t + p) for k, f in zip(range(orders), turn, strict=False))

    return motion


def with_other_masses(robot, rng, share=0.3):
    """The robot with every mass and inertia wrong by up to a share."""
    from dataclasses import replace

    factors = 1 + share * rng.choice([-1.0, 1.0], size=len(robot.inertia))
    return replace(robot, inertia=robot.inertia * factors[:, None, None])


def followed(robot, law, motion, duration, e0=0.1, **how):
    """Errors along a run that starts beside its reference, (ticks, nv)."""
    q0, v0, _ = motion(0.0)
    run = mr.simulate(robot, q0 + e0, v0, duration=duration, controller=law, stepper=mr.RungeKutta4(1e-3), **how)
    assert run.status.ok, run.status
    return run, run.q - np.array([motion(t)[0] for t in run.t])


def count(normal, judged):
    return pytest.param(normal, id="some"), pytest.param(judged, id="many", marks=pytest.mark.judge)


# ---- along s ----


def test_the_regressor_of_slotine_and_li_is_linear_in_the_parameters():
    for rng, robot in robots(20, seed=1):
        q, v, v_r, a = robot.random_configuration(rng), *rng.normal(size=(3, robot.nv))
        Y = slotine_li_regressor(robot, q, v, v_r, a)
        M = robot.mass_matrix(q) - np.diag(robot.armature)
        expected = M @ a + robot.coriolis_matrix(q, v) @ v_r + robot.gravity_forces(q)
        assert np.allclose(Y @ robot.inertial_parameters().ravel(), expected, atol=1e-10)


@pytest.mark.parametrize("number", count(3, 50))
def test_slotine_li_takes_energy_out_of_s(number):
    """V = s^T M s/2 falls with s^T Kd s: along a run, and to zero."""
    for rng, robot in robots(number, seed=2):
        motion = waves(rng, robot.nv)
        kd = 20.0 * robot.mass_matrix(robot.random_configuration(rng)).diagonal()
        law = mr.SlotineLi(lambda t, motion=motion: motion(t), slope=8.0, kd=kd, sample_time=1e-3)
        run, e = followed(robot, law, motion, 1.5)
        bound = law.on(robot)
        s = np.array([bound.sliding(t, q, v).s for t, q, v in zip(run.t, run.q, run.v, strict=True)])
        V = 0.5 * np.einsum("ti,tij,tj->t", s, robot.mass_matrix(run.q), s)
        assert np.all(np.diff(V) < 1e-3 * V[0])
        assert V[-1] < 1e-3 * V[0]
        assert np.abs(e[-1]).max() < 0.01 * 0.1


def learnt_share(rng, robot, duration=6.0):
    """What is left of the error of 30 % wrong masses in the last second, in parts of what it is without learning."""
    motion, believed = waves(rng, robot.nv), with_other_masses(robot, rng)
    kd = 10.0 * robot.mass_matrix(robot.random_configuration(rng)).diagonal()
    arguments = {"slope": 5.0, "kd": kd, "model": believed, "sample_time": 5e-3}
    plain = mr.SlotineLi(lambda t, m=motion: m(t), **arguments)
    wrong = followed(robot, plain, motion, duration, e0=0.0)[1]
    learnt = followed(robot, mr.AdaptiveControl(lambda t, m=motion: m(t), **arguments), motion, duration, e0=0.0)[1]
    return np.sqrt(np.mean(learnt[-200:] ** 2) / np.mean(wrong[-200:] ** 2))


@pytest.mark.parametrize("number", count(1, 50))
def test_adaptive_control_forgets_wrong_masses(number):
    """30 % wrong masses: without learning an error stays, with it a small part of that is left after six seconds."""
    shares = [learnt_share(*each) for each in robots(number, seed=3, most=5 if number < 50 else 9)]
    assert max(shares) < 0.15
    assert np.median(shares) < 0.06


def test_what_is_learnt_are_bodies_that_can_be():
    """tr(L P) = gradient . pi, both ways; and however wild the motion and the gain, pseudo-inertias stay positive."""
    rng = np.random.default_rng(5)
    pi = np.stack([inertia.parameters(inertia.random(rng)) for _ in range(4)])
    gradient = rng.normal(size=(4, 10))
    L, P = dual_of(gradient), inertia.pseudo_inertia(pi)
    assert np.allclose(np.einsum("kij,kji->k", L, P), np.sum(gradient * pi, axis=-1))
    assert np.allclose(inertia.of_pseudo_inertia(P), pi)
    robot = mr.load("crab").mechanism().ideal()
    law = mr.AdaptiveControl([0.3, 0.2, -0.4], slope=10.0, kd=0.5, gain=1e6, sample_time=0.01).on(robot)
    memory = law.start()
    for _ in range(50):
        measured = mr.simulation.Measured(rng.normal(size=3), 3 * rng.normal(size=3))
        memory, tau = law.step(memory, 0.0, measured)
    bodies = inertia.pseudo_inertia(memory.pi.reshape(-1, 10)) + law._least
    assert np.linalg.eigvalsh(bodies).min() > 0
    assert np.isfinite(tau).all()


@pytest.mark.parametrize("number", count(3, 50))
def test_sliding_modes_stay_in_their_layer(number):
    """Disturbances below what the law reaches for: s gets into its layer and stays, and e below layer/slope."""
    for rng, robot in robots(number, seed=4):
        motion, slope = waves(rng, robot.nv), 6.0
        phase, push = rng.uniform(0, 6, robot.nv), rng.uniform(0.5, 2.0, robot.nv)
        light = np.linalg.eigvalsh(robot.mass_matrix(robot.random_configuration(rng))).min()
        reach, layer = 2.5 * push.max(), np.full(robot.nv, 0.3)
        law = mr.SlidingMode(lambda t, m=motion: m(t), slope, reach, layer, 5.0 * light, sample_time=1e-3)
        bound = law.on(robot)

        def disturbed(t, q, v, bound=bound, push=push, phase=phase):
            return bound.torque(t, q, v) + push * np.sin(7 * t + phase)

        q0, v0, _ = motion(0.0)
        run = mr.simulate(robot, q0, v0, duration=2.0, controller=disturbed)
        s = np.array([bound.sliding(t, q, v).s for t, q, v in zip(run.t, run.q, run.v, strict=True)])
        e = run.q - np.array([motion(t)[0] for t in run.t])
        assert run.status.ok
        assert np.abs(s / layer).max() < 1.0
        assert np.abs(e).max() < (layer / slope).max()


# ---- disturbances ----


@pytest.mark.parametrize("number", count(3, 50))
def test_a_momentum_observer_sees_external_torques(number):
    for rng, robot in robots(number, seed=5):
        push = rng.normal(size=robot.nv)
        hold = mr.GravityCompensation(kp=30.0, kd=10.0, sample_time=1e-3).on(robot)
        seen = mr.MomentumObserver(robot, gain=40.0)
        state = {"memory": seen.start(), "r": []}

        def law(t, q, v, hold=hold, push=push, seen=seen, state=state):
            tau = hold.torque(t, q, v)
            state["memory"], r = seen.step(state["memory"], q, v, tau)
            state["r"].append(r)
            return tau + push * (t >= 0.1)

        run = mr.simulate(robot, duration=0.5, controller=law)
        r, t = np.array(state["r"]), run.t[:-1]
        expected = push * np.where(t > 0.1, 1 - np.exp(-40.0 * (t - 0.1)), 0.0)[:, None]
        assert np.abs(run.v).max() > 1e-3
        assert np.abs(r - expected).max() < 0.02 * np.abs(push).max()


@pytest.mark.parametrize("number", count(1, 50))
def test_a_disturbance_observer_leaves_no_offset(number):
    for rng, robot in robots(number, seed=6):
        push, goal = rng.normal(size=robot.nv), robot.random_configuration(rng) * 0.2
        M = robot.mass_matrix(goal).diagonal()
        base = mr.GravityCompensation(kp=60 * M, kd=15 * M, reference=goal, sample_time=1e-3)
        errors = []
        for law in (base, mr.DisturbanceObserver(base, gain=30.0)):
            bound = law.on(robot)
            memory = {"m": bound.start()}

            def pushed(t, q, v, bound=bound, memory=memory, push=push):
                memory["m"], tau = bound.step(memory["m"], t, mr.simulation.Measured(q, v))
                return tau + push

            errors.append(np.abs(mr.simulate(robot, goal, duration=3.0, controller=pushed).q[-1] - goal).max())
        assert errors[1] < 1e-3 * errors[0]


# ---- elastic joints ----


def pendulum_of_the_book():
    """tau_El = m l² qdd + m g l cos q, J = 0.3, k = 200 (von Stryk 5.8.2)."""
    b = mr.Builder("pendulum")
    own = mr.JointProperties(drive=mr.Drive(mr.Motor(1.0, inertia=0.3), mr.Gear(stiffness=200.0)))
    b.body("rod", inertia.point(2.0, (0.5, 0, 0)), joint=mr.Revolute((0, -1, 0)), properties=own)
    return b.build()


def test_elastic_inverse_dynamics_is_the_closed_form():
    q = 0.6 * np.sin(0.8)
    motion = tuple(np.array([x]) for x in (q, 1.2 * np.cos(0.8), -4 * q, -4.8 * np.cos(0.8), 16 * q))
    found = elastic_inverse_dynamics(pendulum_of_the_book(), motion)
    assert np.allclose(
        [found.gear, found.angle, found.tau], [[8.0544342911], [0.4706858260], [7.5443261252]], rtol=1e-9
    )


def elastic(robot, rng, damping=0.0):
    for joint in robot.joints:
        motor, k = mr.Motor(1.0, inertia=rng.uniform(0.1, 0.5), viscous=rng.uniform(0, 0.3)), rng.uniform(200, 800)
        robot = robot.with_drive(joint.name, mr.Drive(motor, mr.Gear(stiffness=k, damping=damping)))
    return robot


def slope_of(robot, t, q, v, x):
    system = System(NumPyEngine(robot, (1,)))
    k = system.slope(np.zeros((1, 1)), State(q[None], v[None], x[None]), np.zeros((1, robot.nv)))
    return np.concatenate([k.q[0], k.v[0], k.x[0]])


@pytest.mark.parametrize("number", count(1, 20))
def test_elastic_linearisation_tracks_to_eight_digits(number):
    """On the nominal model, asked all the time, by SciPy's integrator; and errors at the start die out as their poles say."""
    for rng, stiff in robots(number, seed=7, most=2 if number < 5 else 4):
        robot = elastic(stiff, rng)
        motion = waves(rng, robot.nv, 0.3)
        law = mr.ElasticLinearisation(lambda t, m=motion: m(t, 5), pole=8.0).on(robot)
        along = elastic_inverse_dynamics(robot, motion(0.0, 5))
        x0, n = acting(robot).start_at(motion(0.0)[0]), robot.nv
        x0[law._own.angle], x0[law._own.speed] = along.angle, along.speed
        commands = acting(robot).commanded[1]

        def f(t, y, law=law, robot=robot, n=n, commands=commands):
            q, v, x = y[:n], y[n : 2 * n], np.array(y[2 * n :])
            x[commands] = law.torque(t, q, v, x)
            rate = slope_of(robot, t, q, v, x)
            rate[2 * n + commands] = 0.0
            return rate

        start = np.concatenate([*motion(0.0)[:2], x0])
        run = solve_ivp(f, (0, 0.3), start, rtol=1e-10, atol=1e-12, t_eval=[0.1, 0.3])
        assert np.abs(run.y[:n].T - [motion(t)[0] for t in run.t]).max() < 1e-8
        start[:n] += 1e-3  # joints and motors
        start[2 * n + law._own.angle] += 1e-3
        end = solve_ivp(f, (0, 1.5), start, rtol=1e-8, atol=1e-10).y[:n, -1]
        assert np.abs(end - motion(1.5)[0]).max() < 1e-4


def test_elastic_linearisation_runs_sampled_in_a_simulation():
    robot = pendulum_of_the_book()
    law = mr.ElasticLinearisation([0.4], pole=10.0, sample_time=1e-3)
    run = mr.simulate(robot, [0.0], duration=2.0, controller=law)
    assert abs(run.q[-1, 0] - 0.4) < 1e-3


# ---- frames ----


def arm_with_tip(rng, joints=6):
    """An arm of hinges whose tip can move in all directions."""
    while True:
        robot = _with_rotors(random_mechanism(rng, joints, ("revolute",), chain=True).without_forces(), 0.2)
        q = rng.normal(size=robot.nq)
        if np.linalg.svd(robot.jacobian(q, robot.bodies[-1]))[1].min() > 0.15:
            return robot, q, robot.bodies[-1]


@pytest.mark.parametrize("number", count(3, 50))
def test_a_frame_under_impedance_has_the_commanded_stiffness(number):
    rng = np.random.default_rng(8)
    for _ in range(number):
        robot, q, tip = arm_with_tip(rng, int(rng.integers(6, 9)))
        X, A = robot.frame_pose(q, tip), rng.normal(size=(6, 6))
        K = 300.0 * (A @ A.T / 6 + np.eye(6))
        F = rng.normal(size=6) * 0.05
        law = mr.Impedance(
            frame=tip, goal=X, task="pose", stiffness=K, damping=2 * np.sqrt(K.max()) * np.eye(6), joint_damping=2.0,
            sample_time=1e-3,
        ).on(robot)  # fmt: skip

        def pushed(t, q, v, law=law, robot=robot, tip=tip, F=F):
            return law.torque(t, q, v) + robot.jacobian(q, tip).T @ F

        run = mr.simulate(robot, q, duration=1.0, controller=pushed)
        still = np.zeros(robot.nv)

        def unbalanced(q, pushed=pushed, robot=robot, still=still):
            return pushed(0.0, q, still) - robot.gravity_forces(q)

        rest = root(unbalanced, run.q[-1], method="lm", tol=1e-15).x
        e = law.state(0.0, rest, still)[0]
        assert np.abs(run.q[-1] - rest).max() < np.abs(q - rest).max()
        assert np.abs(K @ e + F).max() < 1e-6 * np.abs(F).max()


@pytest.mark.parametrize("number", count(2, 50))
def test_operational_space_makes_the_tip_linear(number):
    rng = np.random.default_rng(9)
    for _ in range(number):
        robot, q, tip = arm_with_tip(rng, 7)
        start = robot.frame_pose(q, tip)[:3, 3]
        goal = start + 0.02 * rng.normal(size=3)
        law = mr.OperationalSpace(frame=tip, goal=goal, kp=64.0, kd=16.0, joint_damping=3.0, sample_time=1e-3).on(robot)

        def f(t, y, law=law, robot=robot):
            q, v = y[: robot.nv], y[robot.nv :]
            return np.concatenate([v, robot.forward_dynamics(q, v, law.torque(t, q, v))])

        t = np.linspace(0, 0.5, 6)
        run = solve_ivp(f, (0, 0.5), np.r_[q, np.zeros(robot.nv)], rtol=1e-9, atol=1e-11, t_eval=t)
        tips = robot.frame_pose(run.y[: robot.nv].T, tip)[:, :3, 3]
        expected = goal + ((1 + 8 * t) * np.exp(-8 * t))[:, None] * (start - goal)
        assert np.abs(tips - expected).max() < 1e-7


@dataclass(frozen=True)
class Wall(FrameForce):
    """A wall at x = place that pushes back along -x."""

    place: float
    stiffness: float = 2e4
    damping: float = 200.0
    kind = "test wall"

    def wrenches(self, t, a, b, x):
        from modurob.spatial.scalars import maximum, select

        depth = a.X[..., 0, 3] - self.place
        rate = (a.X[..., :3, :3] @ a.V[..., :3, None])[..., 0, 0]
        push = select(0 * depth, depth, maximum(self.stiffness * depth + self.damping * rate, 0 * depth), 0 * depth)
        f = -push[..., None] * a.X[..., 0, :3]
        return np.concatenate([f, 0 * f], axis=-1), np.concatenate([0 * f, 0 * f], axis=-1)


@pytest.mark.parametrize("number", count(1, 50))
def test_a_hybrid_law_holds_its_force_while_sliding_along_a_wall(number):
    rng = np.random.default_rng(10)
    for _ in range(number):
        robot, q, tip = arm_with_tip(rng, 6 if number == 1 else int(rng.integers(6, 9)))
        start = robot.frame_pose(q, tip)[:3, 3]
        walled = robot.with_force("wall", Wall(float(start[0]) + 1e-3), a=tip)

        def goal(t, start=start):
            w = 2.5
            rate, acceleration = (
                np.array([0, 0.03 * w * np.cos(w * t), 0]),
                np.array([0, -0.03 * w * w * np.sin(w * t), 0]),
            )
            return start + np.array([0, 0.03 * np.sin(w * t), 0]), rate, acceleration

        law = mr.HybridForcePosition(
            frame=tip,
            goal=goal,
            normal=(1, 0, 0),
            force=4.0,
            kp=100.0,
            kd=20.0,
            joint_damping=3.0,
            model=robot,
            sample_time=1e-3,
        )
        run = mr.simulate(walled, q, duration=2.0, controller=law, stepper=mr.RungeKutta4(5e-4))
        X = robot.frame_pose(run.q, tip)
        rate = np.einsum("tij,tj->ti", robot.jacobian(run.q, tip), run.v)[:, 0]
        force = 2e4 * (X[:, 0, 3] - start[0] - 1e-3) + 200.0 * rate
        late = run.t > 1.0
        assert run.status.ok
        assert np.abs(force[late] - 4.0).max() < 0.04
        assert np.ptp(X[late, 1, 3]) > 0.03
        assert np.abs(X[late, 1, 3] - [goal(t)[0][1] for t in run.t[late]]).max() < 1e-3


# ---- energy ----


def energy_left(robot, q, v, wanted, duration, **how):
    """|E - energy| along a run that starts that much [J] away."""
    E = float(robot.kinetic_energy(q, v) + robot.potential_energy(q)) + wanted
    law = mr.SwingUp(energy=E, sample_time=1e-3, actuated=[robot.joints[0].name], **how)
    run = mr.simulate(robot, q, v, duration=duration, controller=law)
    assert run.status.ok
    return np.abs(run.energy - E)


@pytest.mark.parametrize("number", count(3, 50))
def test_energy_never_goes_away_from_what_is_wanted(number):
    """With one drive, whatever swings and slides along: to the errors of steps, which grow as joints fall and turn faster."""
    for rng, robot in robots(number, seed=11, most=5 if number < 5 else 9):
        q, v = robot.random_configuration(rng) * 0.3, 0.3 * rng.normal(size=robot.nv)
        for wanted in (3.0, -0.5):
            left = energy_left(robot, q, v, wanted, 1.5)
            assert np.all(np.diff(left) < 1e-6)
            assert left[-1] < left[0]


@pytest.mark.parametrize("number", count(2, 50))
def test_one_drive_swings_up_robots_of_hinges_from_rest(number):
    """Nothing slides away for ever, so that the driven joint keeps moving, and energy comes: how fast is up to how it moves, at the
    rate gain (v² + kick |v|); nearly all of it within four seconds for most, and some of it for all."""
    shares = []
    for rng, robot in robots(number, seed=12, most=4 if number < 5 else 9, kinds=("revolute",)):
        q, v = robot.random_configuration(rng), np.zeros(robot.nv)
        left = energy_left(robot, q, v, 3.0, 4.0, gain=1.0, kick=0.5)
        assert np.all(np.diff(left) < 1e-5)
        shares.append(left[-1] / left[0])
    assert np.median(shares) < 0.05
    assert max(shares) < 0.9


def test_a_pendulum_that_hangs_at_rest_is_brought_upright():
    """Where nothing moves v says nothing: the kick starts it, and it arrives at the top, slowly."""
    b = mr.Builder("pendulum")
    b.body("rod", inertia.point(1.0, (0, 0, -0.5)), joint=mr.Revolute((0, 1, 0)))
    robot = b.build()
    law = mr.SwingUp(energy=0.5 * 9.81, gain=0.5, saturation=1.0, sample_time=1e-3)
    run = mr.simulate(robot, [0.0], duration=5.0, controller=law)
    assert np.abs(run.tau).max() <= 1.0
    assert np.abs(run.q).max() > 3.0
    assert abs(run.energy[-1] - 0.5 * 9.81) < 1e-3
    assert not np.any(mr.simulate(robot, [0.0], duration=0.1, controller=mr.SwingUp(energy=4.9, kick=0.0)).v)


# ---- what is assumed ----


FLOATING = mr.load("crab").mechanism(floating=True)


def closed_loop_of_bars():
    b = mr.Builder("bars")
    for name, parent in (("a", "world"), ("b", "a"), ("c", "b")):
        b.body(name, inertia.sphere(1.0, 0.1), parent=parent, joint=mr.Revolute((0, 0, 1)))
    b.loop("pin", mr.Revolute((0, 0, 1)), "world", "c")
    return b.build()


@pytest.mark.parametrize(
    ("law", "robot", "message"),
    [
        (
            mr.SlidingMode(actuated=["m0/hinge"]),
            mr.load("crab").mechanism(),
            "SlidingMode assumes a drive at every joint but a floating base: no drive at m2/hinge",
        ),
        (
            mr.SlotineLi(actuated=[j.name for j in FLOATING.joints]),
            FLOATING,
            "assumes driven joints whose rates are those of their coordinates",
        ),
        (
            mr.DisturbanceObserver(mr.PID(actuated=["m0/hinge"]), actuated=["m0/hinge"]),
            FLOATING,
            "DisturbanceObserver assumes a drive at every joint but a floating base: no drive at m2/hinge",
        ),
        (
            mr.SwingUp(energy=1.0),
            mr.load("crab").mechanism().with_force("oil", mr.Friction(viscous=1.0), joint="m0/hinge"),
            "SwingUp assumes no forces of its own but stops",
        ),
        (mr.ElasticLinearisation(), mr.load("crab").mechanism(), "assumes an elastic drive at every joint: m0/hinge"),
    ],
)
def test_assumptions_that_do_not_hold_are_refused(law, robot, message):
    with pytest.raises(ControlError, match=message):
        law.on(robot)


def test_springs_with_damping_are_no_chain_of_integrators():
    rng = np.random.default_rng(0)
    robot = elastic(mr.load("crab").mechanism().without_forces(), rng, damping=1.0)
    with pytest.raises(ControlError, match="assumes springs alone between motors and joints: m0/hinge has damping"):
        mr.ElasticLinearisation().on(robot)
    soft = elastic(mr.load("crab").mechanism().without_forces(), rng)
    with pytest.raises(ControlError, match="an estimator of"):
        mr.ElasticLinearisation().on(soft).step(None, 0.0, mr.simulation.Measured(np.zeros(3), np.zeros(3)))
    with pytest.raises(ControlError, match="q and its first four derivatives"):
        mr.ElasticLinearisation(lambda t: (0.0, 0.0, 0.0)).on(soft)


def test_every_law_says_what_it_assumes():
    for law in (mr.SlotineLi, mr.AdaptiveControl, mr.SlidingMode, mr.OperationalSpace, mr.Impedance, mr.SwingUp):
        assert assumptions(law)
    assert assumptions(mr.PID) == ()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mr.OperationalSpace(frame="m3"), "goal is missing"),
        (lambda: mr.Impedance(frame="m3", goal=[0, 0, 0], task="force"), "task 'force'"),
        (
            lambda: mr.Impedance(frame="m3", goal=[0, 0], task="pose").on(mr.load("crab").mechanism()),
            r"goal has shape \(2,\)",
        ),
        (
            lambda: mr.Impedance(frame="m3", goal=[0, 0, 0], stiffness=[1, 2]).on(mr.load("crab").mechanism()),
            r"stiffness has shape \(2,\)",
        ),
        (
            lambda: mr.Impedance(frame="m3", goal=[0, 0, 0], stiffness=-np.eye(3)).on(mr.load("crab").mechanism()),
            "positive semidefinite",
        ),
        (
            lambda: mr.HybridForcePosition(frame="m3", goal=[0, 0, 0], normal=(0, 0, 0)).on(
                mr.load("crab").mechanism()
            ),
            "normal",
        ),
        (lambda: mr.SwingUp(), "energy is missing"),
        (lambda: mr.SwingUp(energy="high"), "energy = 'high': expected numbers"),
        (lambda: mr.SwingUp(energy=[1.0, 2.0]), r"energy = \[1\.0, 2\.0\]: expected one number"),
        (lambda: mr.HybridForcePosition(frame="m3", goal=[0, 0, 0], force="8"), "force = '8': expected numbers"),
        (lambda: mr.OperationalSpace(frame="m3", goal=[0, 0, 0], kp=-1.0), "kp = -1: expected zero or more"),
        (
            lambda: mr.Impedance(frame="m3", goal=[0, 0, 0], joint_damping=np.nan),
            "joint_damping = nan: expected finite",
        ),
        (lambda: mr.ElasticLinearisation(pole=0.0), "pole = 0.0"),
        (lambda: mr.DisturbanceObserver(3), "controller 3"),
        (lambda: mr.AdaptiveControl(gain=0.0), "gain"),
        (lambda: mr.AdaptiveControl(kd=0.0).on(mr.load("crab").mechanism()), "expected above zero at every joint"),
        (lambda: mr.MomentumObserver(closed_loop_of_bars()), "MomentumObserver assumes no loops"),
        (
            lambda: mr.HybridForcePosition(frame="m3", goal=[0, 0, 0], wall=0.0),
            r"wall = 0\.0",
        ),
    ],
)
def test_laws_that_make_no_sense_are_refused(make, message):
    with pytest.raises(ControlError, match=message):
        make()
