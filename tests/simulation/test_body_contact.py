"""Contact between bodies against coal and closed forms: stacks, wedges, cradles, organisms that push, and docking by contact."""

import re
from pathlib import Path

import numpy as np
import pytest

import modurob as mr
from modurob import kernels
from modurob.algorithms.contact import TWIST_RATES
from modurob.algorithms.forces import acting
from modurob.algorithms.interpreter import NumPyEngine, interpret
from modurob.algorithms.motions import MOTIONS
from modurob.algorithms.pairs import mutual_mass
from modurob.catalogue.contact import PAIR_POINTS, Ball, Corners, PairContact, RelativeMotion, Rod
from modurob.errors import InputError, SimulationError
from modurob.kinematics.body_contacts import pair_gaps
from modurob.simulation.stepping import step_flow
from modurob.simulation.system import State, System
from modurob.spatial import inertia, se3, so3
from tests.sampling import sampled

G, EDGE = 9.81, 0.1


def bodies(n, kind="box", gravity=(0, 0, -G), between=None, size=None, mass=1.0):
    """Free bodies that touch each other, the last of the given mass."""
    size = size or {"box": (EDGE,) * 3, "sphere": (EDGE / 2,), "capsule": (EDGE / 4, EDGE)}[kind]
    b = mr.Builder("bodies", gravity=gravity)
    for i in range(n):
        I = inertia.box(1.0, (EDGE,) * 3) if kind != "sphere" else inertia.sphere(1.0, EDGE / 2)
        b.body(f"b{i}", I * (mass if i == n - 1 else 1.0), parent="world", joint=mr.Free())
        b.collision(kind, size, on=f"b{i}")
    return b.build().with_body_contact(between)


def test_the_mass_that_pairs_feel():
    """m_a m_b / (m_a + m_b), as in any collision of two; of what meets something fixed, its own."""
    b = mr.Builder("pair")
    for name, mass, joint in (("a", 2.0, mr.Free()), ("b", 3.0, mr.Free()), ("c", 5.0, None)):
        b.body(name, inertia.sphere(mass, 0.1), joint=joint)
        b.collision("sphere", (0.1,), on=name)
    m = b.build().with_body_contact()
    masses = {row.name: float(mutual_mass(m, row)) for row in m.body_contacts}
    assert sorted(masses.values()) == pytest.approx([6 / 5, 2.0, 3.0]), masses


def apart(m, *positions):
    q = m.neutral().copy()
    for i, p in enumerate(positions):
        q[7 * i : 7 * i + 3] = p
    return q


@pytest.mark.parametrize("dt", [5e-4, 5e-3])
def test_what_is_thrown_does_not_begin_to_spin(dt):
    """Far from everything: a parabola, with the spin of the start."""
    for ground, between in ((None, mr.BodyContact()), (mr.Ground(friction=0.0), None)):
        m = bodies(2, between=between) if between else bodies(2).without_forces()
        v = np.concatenate([[5.0, 1.0, 2.0, 0.0, 0.0, 3.0], np.zeros(6)])
        stepper = mr.LinearlyImplicit(dt)
        run = mr.simulate(m, apart(m, (0, 0, 2), (0, 9, 5)), v, duration=0.5, ground=ground, stepper=stepper)
        np.testing.assert_allclose(run.v[-1, 3:6], v[3:6], atol=1e-6)
        np.testing.assert_allclose(run.q[-1, :3], [2.5, 0.5, 3.0 - G / 8], atol=1e-9)


@pytest.mark.parametrize("kind", ["box", "sphere"])
def test_a_velocity_that_all_share_does_not_matter(kind):
    """A central impact leaves no spin, at rest in the world or not."""
    m = bodies(2, kind, gravity=(0, 0, 0), between=mr.BodyContact(restitution=0.5))
    ends = []
    for shared in (0.0, -2.0):
        v = np.zeros(12)
        v[0], v[[2, 8]] = 5.0, shared
        run = mr.simulate(m, apart(m, (-0.3, 0, 0), (0, 0, 0)), v, duration=0.2)
        ends.append(run.v[-1].reshape(2, 6) - [0, 0, shared, 0, 0, 0])
        assert np.abs(ends[-1][:, 3:]).max() < 1e-8
    np.testing.assert_allclose(*ends, atol=1e-8)
    assert ends[0][1, 0] > 3.0  # they did meet


def test_what_flies_far_away_does_not_matter():
    """A heavy ball goes by: one that lies on the ground stays, two that meet centrally do not begin to spin, and what a spring
    does to those that do not touch is what it does without contact."""
    v = np.zeros(12)
    v[6:9] = 20.0, 0.0, 5.0
    m = bodies(2, "sphere", mass=100.0)
    run = mr.simulate(m, apart(m, (0, 0, EDGE / 2), (0, 3, 2)), v, duration=0.3, ground=mr.Ground())
    assert np.abs(run.v[-1, :6]).max() < 1e-9
    m = bodies(3, "sphere", (0, 0, 0), mr.BodyContact(restitution=0.5), mass=100.0)
    v = np.zeros(18)
    v[[0, 13]] = 3.0, 30.0
    run = mr.simulate(m, apart(m, (-0.3, 0, 0), (0, 0, 0), (5, -4, 3)), v, duration=0.2)
    assert np.abs(run.v[-1].reshape(3, 6)[:, 3:]).max() < 1e-6
    assert run.v[-1, 6] > 2.0  # they did meet
    m = bodies(2, "sphere", (0, 0, 0), mass=2.0).with_force("spring", mr.Spring(100.0, 0.3), a="b0", b="b1")
    v = np.array([1.0, 3.0, *np.zeros(4), 1.0, 1.0, *np.zeros(4)])
    each = [
        mr.simulate(robot, apart(m, (-0.4, 0, 0), (0, 0, 0)), v, 0.5, stepper=mr.LinearlyImplicit(2e-3))
        for robot in (m, m.without_forces(m.body_contacts[0].name))
    ]
    np.testing.assert_allclose(each[0].v, each[1].v, atol=1e-9)


def test_a_ball_glances_off_a_heavy_one_as_off_the_ground():
    """Without friction neither spins, to the order of the step; and angular momentum is kept whatever the step."""
    m = bodies(2, "sphere", (0, 0, 0), mr.BodyContact(friction=0.0, restitution=1.0), mass=50.0)
    spins = []
    for dt in (2e-3, 1e-3):
        v, stepper = np.array([5.0, *np.zeros(11)]), mr.LinearlyImplicit(dt)
        run = mr.simulate(m, apart(m, (-0.5, EDGE / 2, 0), (0, 0, 0)), v, duration=0.3, stepper=stepper)
        momenta = m.momentum(run.q, run.v)
        assert np.abs(momenta - momenta[0]).max() < 1e-10
        assert run.v[-1, 0] < 0  # it was turned back
        spins.append(np.abs(run.v[-1].reshape(2, 6)[:, 3:]).max())
    assert spins[0] < 0.5
    assert spins[1] == pytest.approx(spins[0] / 2, rel=0.1)


def test_points_that_do_not_touch_give_no_friction():
    """A box comes down on another at the end of a step: bristles are cut to the cone of the four corners between them."""
    law = PairContact(Corners(0.1, 0.1, 0.1), Corners(0.2, 0.2, 0.2), mr.BodyContact(friction=0.5))
    still, fall, X, dt = np.zeros(6), np.array([0.0, 0.0, -0.1, 0.0, 0.0, 0.0]), np.eye(4), np.array(1e-3)
    X[2, 3] = 0.3 - 1e-4
    spin = np.zeros(3), np.zeros(3)
    met, moves = law.touch(X), RelativeMotion(still, still, np.ones(()), (spin, spin), dt)
    corners, stiffness, depth = 4, law.between.stiffness, 1e-4
    assert (met.gap < 0).sum() == corners
    pressed = stiffness * depth + (stiffness * dt + law.between.damping) * 0.1
    kept = law.end_states(met, moves, fall, np.array([1.0, 0.0, 0.0, 0.0]))
    assert kept == pytest.approx([0.5 * pressed / stiffness, 0.0, 0.0, 0.0], rel=1e-9)


def placed(m, *positions):
    q = m.neutral()
    for k, p in enumerate(positions):
        q[7 * k : 7 * k + 3] = p
    return q


def chain(prefix, n):
    made = mr.Assembly.single(f"{prefix}0", "backbone")
    for i in range(1, n):
        made = made.dock(f"{prefix}{i}", "backbone", at=f"{prefix}{i - 1}/3", by="4")
    return made


# ---- where shapes meet ----

SHAPES = {
    "ball": (lambda a: Ball(a[0]), lambda coal, a: coal.Sphere(a[0])),
    "rod": (lambda a: Rod(a[0], a[1]), lambda coal, a: coal.Capsule(a[0], 2 * a[1])),
    "corners": (lambda a: Corners(*a), lambda coal, a: coal.Box(*(2 * a))),
}


@pytest.mark.parametrize(("first", "second"), PAIR_POINTS)
def test_depths_are_those_of_coal(first, second, rng):
    """Of random pairs that touch, to what a bias towards faces lets pass; and nothing touches that is apart."""
    import coal

    touching = 0
    for _ in range(300):
        a, b = rng.uniform(0.03, 0.2, 3), rng.uniform(0.03, 0.2, 3)
        X = se3.random(rng, (), 0.3)
        met = PAIR_POINTS[first, second][1](SHAPES[first][0](a), SHAPES[second][0](b), X)
        ends = coal.Transform3s(X[:3, :3], X[:3, 3]), coal.Transform3s()
        solids = [SHAPES[kind][1](coal, size) for kind, size in ((first, a), (second, b))]
        d = coal.distance(solids[0], ends[0], solids[1], ends[1], coal.DistanceRequest(), coal.DistanceResult())
        # a ball whose centre is in a box goes out another way
        if -0.02 < d < 0:
            assert met.gap.min() == pytest.approx(d, abs=1.5e-4)
            touching += 1
        elif d > 0:
            assert met.gap.min() > 0
    assert touching > 10


# ---- the definition ----


def rolled_up(m, rng):
    """A configuration of a snake that just touches itself, in any attitude."""
    q = np.tile(m.random_configuration(rng), (300, 1))
    q[:, 2], turns = 0.1, 1 + 0.1 * rng.normal(size=m.nq - 7)
    q[:, 7:] = np.linspace(0.6, 2.2, 300)[:, None] * turns
    return q[np.flatnonzero(pair_gaps(m, q).min(axis=-1) < -1e-3)[0]]


def tangle(rng, kind):
    """A robot of each kind, and states in which its bodies stand in each other."""
    if kind == "snake":
        m = chain("m", 6).mechanism(floating=True).on_ground().with_body_contact()
        return m, np.stack([rolled_up(m, rng) for _ in range(9)])
    m = bodies(3, kind, between=mr.BodyContact(friction=0.5, restitution=0.3))
    q = np.stack([m.random_configuration(rng) for _ in range(9)])
    for k in range(3):
        q[:, 7 * k : 7 * k + 3] = 0.03 * rng.normal(size=(9, 3)) + [0.05 * k, 0, 0]
    return m, q


@pytest.mark.parametrize("kind", sampled(["sphere", "capsule", "snake"], 2))
def test_kernels_are_the_definition(kind, rng):
    """A step of random states, compiled and by NumPy."""
    m, q = tangle(rng, kind)
    n, nx = len(q), acting(m).nx
    flow = step_flow(mr.LinearlyImplicit(2e-3), nx, False)
    inputs = {"t": np.zeros((n, 1)), "dt": np.full((n, 1), 2e-3), "q": q, "v": rng.normal(size=(n, m.nv))}
    inputs |= {"x": 1e-3 * rng.normal(size=(n, nx)), "u": rng.normal(size=(n, m.nv))}
    plain, compiled = interpret(flow, m, inputs), kernels.repeated(flow, m, inputs, 1)
    assert (plain.results["x"][:, -4 * len(m.body_contacts) :] != 0).any()
    for name in "qvx":
        scale = np.abs(plain.results[name]).max()
        assert np.abs(plain.results[name] - compiled.results[name]).max() < 1e-9 * scale


def test_pairs_solve_the_dense_equations(rng):
    """M vdot + bias = u + sum of J^T F over bodies, F of a pair opposite in world axes, and linear in the rates of both twists."""
    m, q = tangle(rng, "snake")
    m = m.with_body_contact(mr.BodyContact(friction=0.4))
    n = len(q)
    v, u, x = rng.normal(size=(n, m.nv)), rng.normal(size=(n, m.nv)), np.zeros((n, acting(m).nx))
    engine, dt = NumPyEngine(m, (n,)), np.full((n, 1), 2e-3)
    start, state = engine.run(MOTIONS, q=q, v=v), State(q, v, x)
    still = np.zeros_like(v)
    ground, added = engine.contact_wrenches(start, start["V"], x, dt, True)
    F, _, coupling = engine.pair_wrenches(q, start, start["V"], x, dt, True)
    assert np.abs(coupling).max() > 1
    vdot, _, rate = System(engine).contact_acceleration(state, u, ground + F, still, added, None, (start, coupling))
    # forces at the end of the step, body by body
    after = F + engine.pair_bias(q, start, coupling, rate)
    ground = ground - np.einsum("nbij,nbj->nbi", added, np.concatenate([np.zeros((n, 1, 6)), rate], axis=1))
    J = np.stack([[m.body_jacobian(one, b) for b in m.bodies[1:]] for one in q])
    pushed = np.einsum("nbij,nbi->nj", J, (after + ground)[:, 1:])
    left = (m.mass_matrix(q) @ vdot[..., None])[..., 0] + m.bias_forces(q, v)
    assert np.abs(left - u - pushed).max() < 1e-9 * np.abs(pushed).max()
    # the rates of the twists are those of this vdot, and pairs push each other alone
    assert np.abs(rate - engine.run(TWIST_RATES, q=q, v=v, vdot=vdot)["rate"]).max() < 1e-9 * np.abs(rate).max()
    X = np.stack([m.forward_kinematics(one).bodies for one in q])
    total = (np.swapaxes(se3.Ad(se3.inverse(X)), -1, -2) @ after[..., None])[..., 0].sum(axis=1)
    assert np.abs(total).max() < 1e-9 * np.abs(after).max()


# ---- closed forms ----


@pytest.mark.parametrize("duration", sampled([15.0, 60.0], 1))
def test_a_stack_of_ten_boxes_rests(duration):
    """For a minute, and after it has settled by the compression of its points it does not move; boxes a micrometre aside too."""
    m = bodies(10).on_ground()
    aside = 1e-6 * np.random.default_rng(0).normal(size=10)
    q = placed(m, *((aside[k], 0, EDGE * (k + 0.5)) for k in range(10)))
    run = mr.simulate(m, q, duration=duration, stepper=mr.LinearlyImplicit(5e-3), tick=1.0)
    assert run.status.ok
    assert np.abs(run.q[-1] - q).max() < 1e-3
    assert np.abs(run.q[-1] - run.q[5]).max() < 1e-6


@pytest.mark.parametrize("n", [2, 5])
def test_a_cradle_hands_its_momentum_on(n):
    """Balls with a little air between them and restitution 1: the last one leaves with all of it."""
    m = bodies(n, "sphere", (0, 0, 0), mr.BodyContact(restitution=1.0, friction=0.3))
    q, v = placed(m, *((1.01 * EDGE * k, 0, 0) for k in range(n))), np.zeros(m.nv)
    v[0] = 1.0
    run = mr.simulate(m, q, v, duration=0.1, stepper=mr.LinearlyImplicit(1e-3))
    assert run.v[-1, 6 * (n - 1)] == pytest.approx(1.0, abs=0.005 * n)
    P = m.momentum(run.q, run.v)
    assert np.abs(P - P[0]).max() < 1e-12
    assert np.diff(m.kinetic_energy(run.q, run.v)).max() < 1e-12


def wedge(angle):
    """A wedge of 2 kg that slides on the ground, and a block of 1 kg on its slope; q of both at the start."""
    b = mr.Builder("wedge")
    b.body("wedge", inertia.box(2.0, (0.6, 0.3, 0.1)), parent="world", joint=mr.Free())
    R = so3.about(np.array([0.0, 1.0, 0.0]), np.array(angle))
    b.collision("box", (0.6, 0.3, 0.04), on="wedge", X=se3.pose(np.eye(3), np.array([0.0, 0.0, -0.2])))
    b.collision("box", (0.5, 0.3, 0.02), on="wedge", X=se3.pose(R))
    b.body("block", inertia.box(1.0, (EDGE,) * 3), parent="world", joint=mr.Free())
    b.collision("box", (EDGE,) * 3, on="block")
    m = b.build()
    q = m.neutral()
    q[2] = 0.22
    q[7:10] = q[:3] + R @ [0.0, 0.0, 0.01 + EDGE / 2]
    q[10:14] = mr.spatial.quaternion.from_matrix(R)
    return m, q


def test_a_block_slides_down_a_wedge_that_gives_way():
    """Without friction the wedge gets the acceleration m g sin cos / (M + m sin²)."""
    angle = 0.4
    m, q = wedge(angle)
    m = m.on_ground(mr.Ground(friction=0.0)).with_body_contact(mr.BodyContact(friction=0.0))
    run = mr.simulate(m, q, duration=0.2, tick=0.05)
    s, c = np.sin(angle), np.cos(angle)
    expected = -G * s * c / (2 + s * s)
    v = [(run.poses()["wedge"][k, :3, :3] @ run.v[k, :3])[0] for k in (1, 4)]
    assert (v[1] - v[0]) / 0.15 == pytest.approx(expected, rel=0.02)


def test_a_block_rests_on_a_wedge():
    """With friction above the tangent of the slope neither creeps."""
    m, q = wedge(0.3)
    m = m.on_ground(mr.Ground(friction=0.6)).with_body_contact(mr.BodyContact(friction=0.6))
    run = mr.simulate(m, q, duration=60.0, stepper=mr.LinearlyImplicit(5e-3), tick=1.0)
    assert np.abs(run.q[-1] - q).max() < 1e-3
    assert np.abs(run.q[-1] - run.q[5]).max() < 1e-6


def test_a_ball_rolls_on_a_box_that_stands_in_the_world():
    """As on the ground: a shape on the world is a place to stand on. It comes to roll with 5/7 of its speed."""
    b = mr.Builder("table")
    b.collision("box", (4.0, 1.0, 0.1), on="world")
    b.body("ball", inertia.sphere(1.0, EDGE / 2), parent="world", joint=mr.Free())
    b.collision("sphere", (EDGE / 2,), on="ball")
    m = b.build().with_body_contact(mr.BodyContact(friction=0.2))
    q, v = placed(m, (-1.0, 0.0, 0.05 + EDGE / 2)), [1.0, 0, 0, 0, 0, 0]
    run = mr.simulate(m, q, v, duration=1.0)
    R = run.poses()["ball"][-1, :3, :3]
    assert (R @ run.v[-1, :3])[0] == pytest.approx(5 / 7, rel=1e-3)
    assert (R @ run.v[-1, 3:])[1] * EDGE / 2 == pytest.approx(5 / 7, rel=1e-3)


# ---- forces ----


def test_each_contact_of_a_stack_bears_what_stands_above_it():
    """k boxes of 1 kg; at the middle of the face, without a torque, for many states at once."""
    n = 5
    m = bodies(n).on_ground()
    q = placed(m, *((0, 0, EDGE * (k + 0.5)) for k in range(n)))
    run = mr.simulate(m, q, duration=2.0, stepper=mr.LinearlyImplicit(5e-3), tick=0.5)
    felt = m.body_contact_forces(run.q, run.v, run.x)
    pairs = [(row.a.body - 1, row.b.body - 1) for row in m.body_contacts]
    assert felt.forces.shape == (len(run.t), len(pairs), 3)
    for k, (a, b) in enumerate(pairs):
        above = n - max(a, b) if abs(a - b) == 1 else 0
        # on the first body: up if it is the upper one
        assert felt.forces[-1, k] == pytest.approx([0, 0, np.sign(a - b) * above * G], abs=1e-6)
        assert felt.torques[-1, k] == pytest.approx([0, 0, 0], abs=1e-6)
        if above:
            assert felt.points[-1, k] == pytest.approx([0, 0, EDGE * max(a, b)], abs=1e-3)


def test_forces_between_bodies_change_their_momenta():
    """A box thrown askew on another that floats: their impulse is what each gains, up to the sign, linear and angular about the
    origin, and friction is within its cone while it slides. Steps are short beside the impact."""
    m = bodies(2, gravity=(0, 0, 0), between=mr.BodyContact(friction=0.4))
    q, v = placed(m, (0, 0, 0), (0.02, 0.01, EDGE + 1e-5)), np.zeros(12)
    v[6:9] = 0.3, 0.1, -0.4
    run = mr.simulate(m, q, v, duration=2e-3, stepper=mr.LinearlyImplicit(5e-7))
    felt = m.body_contact_forces(run.q, run.v, run.x)
    row = m.body_contacts[0]
    on_first = np.concatenate(
        [felt.forces[:, 0], felt.torques[:, 0] + np.cross(felt.points[:, 0], felt.forces[:, 0])], axis=-1
    )
    impulse = np.trapezoid(on_first, run.t, axis=0)
    assert np.abs(impulse[:3]).max() > 0.1
    X = run.poses()
    for body, sign in ((row.a.body, 1), (row.b.body, -1)):
        own = slice(6 * (body - 1), 6 * body)
        p = run.v[:, own] @ m.inertia[body].T
        gained = [(np.swapaxes(se3.Ad(se3.inverse(X[m.bodies[body]][k])), -1, -2) @ p[k]) for k in (0, -1)]
        assert sign * impulse == pytest.approx(gained[1] - gained[0], abs=0.02 * np.abs(impulse).max())
    slides = felt.slip[:, 0] > 0.05
    f = felt.forces[slides, 0]
    assert slides.any()
    assert (np.hypot(f[:, 0], f[:, 1]) <= 0.42 * np.abs(f[:, 2]) + 1e-6).all()


# ---- organisms ----


def pushing(t, q, v):
    """Torques that swing all joints."""
    return np.concatenate([np.zeros(6), 0.4 * np.sin(8 * t + np.arange(len(v) - 6))])


def test_organisms_that_push_each_other_keep_their_momentum():
    """Without gravity and ground, whatever their joints do."""
    q = chain("a", 3).mechanism(floating=True).neutral()
    beside = q.copy()
    beside[2] = 0.097
    organisms = {
        "a": mr.Organism(chain("a", 3), q, controller=pushing),
        "b": mr.Organism(chain("b", 3), beside, controller=pushing),
    }
    world = mr.World(organisms, gravity=(0, 0, 0), body_contact=mr.BodyContact())
    world.run(0.5)
    m, s = world.mechanism, world.state
    assert np.abs(m.momentum(s.q, s.v)).max() < 1e-10
    # they did push: each has momentum of its own
    assert np.abs(world["a"].robot.momentum(world["a"].q, world["a"].v)).max() > 1e-3


def test_connectors_latch_when_they_meet_and_the_organism_stands_on():
    """A module slides on the ground towards another; their ports come together, and one organism stands there."""
    a, b = mr.Assembly.single("a0", "backbone"), mr.Assembly.single("b0", "backbone")
    X = a.dock("b0", "backbone", at="a0/3", by="4").placements["b0"]
    first, second = (x.mechanism(floating=True).on_ground().standing() for x in (a, b))
    second[:2] += X[:2, 3] * 1.2
    second[3:7] = mr.spatial.quaternion.from_matrix(X[:3, :3])
    way = -X[:3, 3] / np.linalg.norm(X[:3, 3])
    organisms = {
        "a": mr.Organism(a, first),
        "b": mr.Organism(b, second, np.concatenate([X[:3, :3].T @ way * 0.5, np.zeros(3)])),
    }
    world = mr.World(organisms, ground=mr.Ground(friction=0.1), body_contact=mr.BodyContact(friction=0.1))
    merge = mr.Merge("met", "a", "b", "a0/3", "b0/4", tolerance=(2e-3, 0.05))
    runs = world.run(0.6, [merge])
    assert [x.kind for x in world.impacts] == ["merge"]
    assert 0.01 < world.impacts[0].t < 0.3
    assert len(world.assembly("a").modules) == 2
    assert runs["a"].status.ok
    assert abs(world["a"].q[2] - first[2]) < 1e-3


def test_a_world_in_which_nothing_can_meet_yet_goes_on():
    """One module alone has nothing to touch."""
    world = mr.World({"a": mr.Organism(mr.Assembly.single("a0", "backbone"))}, body_contact=mr.BodyContact())
    assert world.run(0.01)["a"].status.ok
    assert world.mechanism.body_contacts == ()


def test_organisms_stand_where_nothing_is_said():
    world = mr.World({"crab": mr.Organism(mr.load("crab"))}, ground=mr.Ground())
    world.run(0.02)
    assert world["crab"].q[2] == pytest.approx(0.04725, abs=1e-3)
    assert isinstance(world.stepper, mr.LinearlyImplicit)


def test_the_page_does_what_it_says():
    """The stack rests, and the two organisms become one."""
    page = (Path(__file__).parents[2] / "docs" / "contact.md").read_text(encoding="utf-8")
    stack, latch = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[1:3]
    names: dict = {"np": np, "mr": mr}
    exec(stack, names)
    assert abs(names["run"].v[-1]).max() < 1e-9
    exec(latch, names)
    assert len(names["world"].assembly("one").modules) == 2


# ---- values ----


def test_recordings_of_bodies_that_touch_can_be_repeated(tmp_path):
    m = bodies(2, "capsule", between=mr.BodyContact(friction=0.4, restitution=0.2)).on_ground()
    q = placed(m, (0, 0, 0.2), (0.01, 0, 0.4))
    run = mr.simulate(m, q, duration=0.3)
    run.save(tmp_path / "fall.mrun")
    loaded = mr.Recording.load(tmp_path / "fall.mrun")
    assert loaded.segments[0].robot == m
    assert np.array_equal(loaded.repeated().q, run.q)


# ---- what is refused ----


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: mr.BodyContact(friction=-0.1), "friction is -0.1: expected a finite number, 0 or more"),
        (lambda: mr.BodyContact(restitution=-0.5), "restitution is -0.5"),
        (lambda: mr.BodyContact(restitution=1.5), "expected 0 .plastic. to 1"),
        (lambda: mr.BodyContact(stiffness=0.0), "stiffness 0.0: expected more than zero"),
        (lambda: bodies(2).with_body_contact("hard"), "body contact 'hard': expected its law, such as mr.BodyContact"),
        (lambda: mr.simulate(bodies(2), body_contact=True), "body contact True: expected its law, such as mr.BodyCon"),
        (
            lambda: bodies(2).without_forces().body_contact_forces(np.zeros(14)),
            "touch nothing: expected robot.with_body_contact",
        ),
        (lambda: bodies(1), "has no shapes that can meet: expected at least two"),
        (lambda: bodies(2).with_body_contact(ignore=[("b0", "b7")]), "no shape on 'b7'"),
    ],
)
def test_bad_body_contacts_are_refused(make, says):
    with pytest.raises(InputError, match=says):
        make()


def test_bodies_that_start_deep_in_each_other_are_refused():
    m = bodies(2)
    with pytest.raises(SimulationError, match=r"b0 and b1 of bodies stand 0\.05\d* m deep in each other .*ignore"):
        mr.simulate(m, placed(m, (0, 0, 0), (0.05, 0, 0)))


def test_joints_that_share_a_coordinate_are_refused():
    b = mr.Builder("gripper")
    for name in ("left", "right"):
        follows = None if name == "left" else mr.Source("left", ratio=-1.0)
        b.body(name, inertia.box(1.0, (0.1, 0.1, 0.1)), joint=mr.Prismatic((0, 1, 0)), mimic=follows)
        b.collision("box", (0.1, 0.1, 0.1), on=name)
    with pytest.raises(InputError, match="joints that share a coordinate: contact between its bodies is not offered"):
        b.build().with_body_contact()


def test_mujoco_is_not_handed_contacts_between_bodies():
    with pytest.raises(SimulationError, match="contacts between bodies, which are not handed to MuJoCo"):
        mr.simulate(bodies(2), placed(bodies(2), (0, 0, 1), (0, 0, 2)), engine="mujoco")


def test_only_ports_can_have_met():
    world = mr.World({"crab": mr.Organism(mr.load("crab"))}, gravity=(0, 0, 0))
    with pytest.raises(
        SimulationError, match=r"undock when 'met': expected a time .* mr.Merge and mr.Connect also 'met'"
    ):
        world.run(0.01, [mr.Undock("met", "crab", "m3/2", into="leg")])


def test_worlds_need_steps_that_carry_contacts():
    with pytest.raises(SimulationError, match="RungeKutta4 does not carry contacts"):
        mr.World({"crab": mr.Organism(mr.load("crab"))}, mr.RungeKutta4(1e-3), ground=mr.Ground())


def test_organisms_that_start_deep_in_the_ground_are_refused():
    crab = mr.load("crab")
    q = crab.mechanism(floating=True).neutral()
    q[2] = -0.3
    with pytest.raises(SimulationError, match="deep in the ground at the start"):
        mr.World({"crab": mr.Organism(crab, q)}, ground=mr.Ground())
