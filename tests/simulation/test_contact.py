"""Contact with the ground against closed forms: sliding, sticking, rolling, bouncing, rocking; and what must hold for any robot."""

from contextlib import suppress

import numpy as np
import pytest
import sympy

import modurob as mr
from modurob import kernels
from modurob.algorithms.contact import TWIST_RATES
from modurob.algorithms.forces import acting, stored_energy
from modurob.algorithms.interpreter import NumPyEngine, interpret
from modurob.algorithms.motions import MOTIONS
from modurob.errors import ClashError, GaitError, InputError, SimulationError
from modurob.kinematics.contacts import gaps
from modurob.simulation.stepping import step_flow
from modurob.simulation.system import State, System
from modurob.spatial import inertia, se3, so3

G = 9.81
EDGE, RADIUS = 0.1, 0.05


def thing(kind, size, I):
    """One free body with one shape."""
    b = mr.Builder("thing")
    b.body("b", I, parent="world", joint=mr.Free())
    b.collision(kind, size, on="b")
    return b.build()


def block(edges=(EDGE, EDGE, EDGE)):
    return thing("box", edges, inertia.box(1.0, edges))


def ball():
    return thing("sphere", (RADIUS,), inertia.sphere(1.0, RADIUS))


def wheel():
    return thing("cylinder", (RADIUS, 0.02), inertia.cylinder(1.0, RADIUS, 0.02))


def at(z, R=None, n=(0.0, 0.0, 1.0)):
    """q of a body `z` along n above the origin, turned by R."""
    R = np.eye(3) if R is None else R
    return np.concatenate([z * np.asarray(n), mr.spatial.quaternion.from_matrix(R)])


def on_slope(slope, heading, z):
    """A plane, and q of a body that lies on it."""
    plane = mr.Plane(slope=slope, heading=heading)
    R = so3.about(np.array([-np.sin(heading), np.cos(heading), 0.0]), np.array(-slope))
    return plane, at(z, R, plane.gap(np.zeros(3))[1])


def ring(n=8):
    made = mr.Assembly.single("m0", "backbone")
    for i in range(1, n):
        made = made.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4")
    return made.connect(f"m{n - 1}/3", "m0/4").mechanism(floating=True)


def crab():
    return mr.load("crab").mechanism(floating=True)


def scout():
    """On tracks that are driven."""
    return mr.on_wheels(mr.Assembly.single("s", "scout_drive").mechanism(floating=True), speed=0.1, turn=0.4)


# ---- closed forms ----


@pytest.mark.parametrize(("dt", "speed", "within"), [(2e-3, 0.5, 0.01), (2e-3, 2.0, 0.01), (5e-3, 1.0, 0.01)])
def test_a_block_slides_to_rest(dt, speed, within):
    """After v²/(2 mu g), and then it stands."""
    run = mr.simulate(
        block(),
        at(EDGE / 2),
        [speed, 0, 0, 0, 0, 0],
        2.0,
        stepper=mr.LinearlyImplicit(dt),
        ground=mr.Ground(friction=0.5),
    )
    assert run.q[-1, 0] == pytest.approx(speed**2 / (2 * 0.5 * G), rel=within)
    assert np.abs(run.v[-1]).max() < 1e-12


@pytest.mark.parametrize("heading", [0.0, 0.7, 2.5])
def test_a_block_sticks_on_a_slope(heading):
    """Below the cone it does not creep: less than 1e-9 m/s over 60 s."""
    plane, q = on_slope(np.deg2rad(20.0), heading, EDGE / 2)
    run = mr.simulate(block(), q, duration=60.0, ground=mr.Ground(friction=0.5, surface=plane), tick=1.0)
    assert np.linalg.norm(run.q[-1, :3] - run.q[2, :3]) / 58 < 1e-9
    assert np.linalg.norm(run.q[-1, :3] - q[:3]) < 1e-4


def test_a_block_slides_down_a_steeper_slope():
    """With g (sin - mu cos), once its bristles are bent (some hundredths of a second)."""
    slope = np.deg2rad(35.0)
    plane, q = on_slope(slope, 0.4, EDGE / 2)
    run = mr.simulate(block(), q, duration=1.0, ground=mr.Ground(friction=0.5, surface=plane), tick=0.1)
    speed = np.linalg.norm(np.diff(run.q[:, :3], axis=0), axis=-1) / 0.1
    assert np.diff(speed[3:]) / 0.1 == pytest.approx(G * (np.sin(slope) - 0.5 * np.cos(slope)), rel=5e-3)


def test_a_ball_that_slides_comes_to_roll():
    """With 5/7 of its speed: its momentum about the point it touches stays."""
    run = mr.simulate(ball(), at(RADIUS), [1.0, 0, 0, 0, 0, 0], 1.0, ground=mr.Ground(friction=0.2))
    R = run.poses()["b"][-1, :3, :3]
    assert (R @ run.v[-1, :3])[0] == pytest.approx(5 / 7, rel=1e-9)
    assert (R @ run.v[-1, 3:])[1] * RADIUS == pytest.approx(5 / 7, rel=1e-9)


def test_a_ball_rolls_down_a_slope():
    """With 5/7 g sin."""
    plane, q = on_slope(0.2, 1.0, RADIUS)
    run = mr.simulate(ball(), q, duration=1.0, ground=mr.Ground(friction=0.5, surface=plane))
    assert np.linalg.norm(run.q[-1, :3] - q[:3]) == pytest.approx(5 / 7 * G * np.sin(0.2) / 2, rel=1e-4)


@pytest.mark.parametrize("rate", [5.0, 60.0])
def test_a_wheel_rolls_without_slip(rate):
    """At constant speed, r w, and without loss or gain."""
    R = so3.about(np.array([1.0, 0, 0]), np.array(np.pi / 2))
    v = np.concatenate([R.T @ [rate * RADIUS, 0, 0], R.T @ [0, rate, 0]])
    run = mr.simulate(wheel(), at(RADIUS, R), v, 2.0, ground=mr.Ground(friction=0.5))
    assert run.q[-1, 0] == pytest.approx(rate * RADIUS * 2, rel=1e-3)
    assert run.energy[-1] == pytest.approx(run.energy[0], abs=1e-3)


def test_a_wheel_stands_on_its_face():
    """On its rim, also where nothing but the rim is there."""
    run = mr.simulate(wheel(), at(0.01), [0, 0, 0, 0.5, 0, 0], 2.0, ground=mr.Ground())
    assert np.abs(run.v[-1]).max() < 1e-9
    assert run.q[-1, 2] == pytest.approx(0.01, abs=1e-4)


def test_rolling_resistance_stops_a_ball():
    """With the deceleration (5/7) g rolling / r."""
    lever, speed = 2e-3, 0.5
    v = [speed, 0, 0, 0, speed / RADIUS, 0]
    run = mr.simulate(ball(), at(RADIUS), v, 3.0, ground=mr.Ground(rolling=lever))
    assert np.linalg.norm(run.q[-1, :2]) == pytest.approx(speed**2 / (2 * 5 / 7 * G * lever / RADIUS), rel=0.02)


@pytest.mark.parametrize("e", [1.0, 0.8, 0.5])
def test_a_ball_bounces(e):
    """To e² of the height it fell from, and never higher."""
    run = mr.simulate(
        ball(), at(RADIUS + 0.5), duration=1.2, stepper=mr.LinearlyImplicit(5e-4), ground=mr.Ground(restitution=e)
    )
    z = run.q[:, 2] - RADIUS
    peaks = z[1:-1][(z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:])]
    assert peaks[0] / 0.5 == pytest.approx(e**2, rel=0.01)
    assert peaks[0] <= 0.5 * e**2
    assert z.min() > -1e-3


def test_a_block_rocks_with_the_period_of_housner():
    """T = 4/p arccosh(1 / (1 - th/a)), p² = m g R / I_o, until it first hits the ground again: a quarter of it."""
    b, h, tilt = 0.05, 0.25, 0.05
    tall = block((2 * b, 0.4, 2 * h))
    R, slender = np.hypot(b, h), np.arctan2(b, h)
    p = np.sqrt(3 * G / (4 * R))
    quarter = np.arccosh(1 / (1 - tilt / slender)) / p
    turn = so3.about(np.array([0, 1.0, 0]), np.array(tilt))
    # on its edge x = b
    corner = turn @ np.array([b, 0, -h])
    q = at(0.0, turn)
    q[:3] = -corner
    run = mr.simulate(tall, q, duration=1.0, stepper=mr.LinearlyImplicit(5e-4), ground=mr.Ground(stiffness=1e6))
    angle = 2 * np.arctan2(run.q[:, 5], run.q[:, 3])
    first = run.t[np.flatnonzero(angle <= 0)[0]]
    assert first == pytest.approx(quarter, rel=0.02)


# ---- any robot ----


@pytest.mark.parametrize("heading", [0.0, 2.0])
def test_a_crab_sticks_on_a_slope(heading):
    """Its servos hold its joints; nothing creeps."""
    robot = mr.driven(crab(), mr.gait("crab", amplitude=1e-9))
    plane = mr.Plane(slope=0.2, heading=heading)
    m = robot.on_ground(mr.Ground(surface=plane))
    run = mr.simulate(m, m.standing(), duration=20.0, tick=1.0)
    assert np.abs(run.q[-1] - run.q[10]).max() / 10 < 1e-9


def thrown(seed, **feel):
    """A random organism above the ground, in any attitude, and moving."""
    rng = np.random.default_rng(seed)
    made = mr.Assembly.single("m0", "backbone")
    for i in range(1, int(rng.integers(2, 7))):
        free = [port for port in made.free_ports if not str(port).endswith("/7")]
        port = free[int(rng.integers(len(free)))]
        with suppress(ClashError):
            made = made.dock(f"m{i}", "backbone", at=str(port), by="4")
    robot = made.with_parameters(damping=0.05).mechanism(floating=True)
    m = robot.on_ground(mr.Ground(friction=float(rng.uniform(0.2, 1.0)), **feel))
    q = m.random_configuration(rng)
    q[7:] *= 0.3
    v = rng.normal(size=m.nv) * 0.5
    return m, m.standing(q, gap=0.1), v


def energies(m, run):
    x = run.x
    return m.kinetic_energy(run.q, run.v) + m.potential_energy(run.q) + stored_energy(m, run.q, x, kernels.run)


# ground of another kind, and the steps that it needs
HARD = {"stiffness": 1e6, "damping": 3e3, "dt": 5e-4}


def fall(seed, dt=2e-3, duration=3.0, **feel):
    """Greatest gain of energy within 10 ms in parts of the whole, depth at any time and at the end, and speed there."""
    m, q, v = thrown(seed, **feel)
    run = mr.simulate(m, q, v, duration=duration, stepper=mr.LinearlyImplicit(dt), tick=dt)
    assert run.status.ok
    E, depth = energies(m, run)[:: round(0.01 / dt)], -gaps(m, run.q).min(axis=-1)
    return np.diff(E).max() / (E[0] - E.min()), depth.max(), depth[-1], np.abs(run.v[-1]).max()


@pytest.mark.parametrize(("seed", "feel"), [(33, {}), (95, {}), (2, {"dt": 1e-3}), (3, HARD)])
def test_thrown_organisms_lose_energy_and_come_to_rest(seed, feel):
    """Impacts of up to 3 m/s on ground as it is by default, at the default step, and others: nothing is ever 2 mm deep. The first
    is the one of two hundred that comes deepest, the second the one that gains most."""
    gain, deepest, depth, _ = fall(seed, **feel)
    assert gain < 1e-3
    assert deepest < 2e-3
    assert depth < 0.5e-3


@pytest.mark.judge
@pytest.mark.parametrize("feel", [{}, {"dt": 1e-3}, HARD])
def test_two_hundred_organisms_lose_energy(feel):
    """The worst of them, impacts of up to 3 m/s and more: on ground as it is by default, at the default step of 2 ms and at 1 ms,
    and on hard ground. All but one or two are at rest after 3 s, and those that still rock then, after 10 s."""
    falls = {seed: fall(seed, **feel) for seed in range(6, 206)}
    gain, deepest, depth, _ = np.max(list(falls.values()), axis=0)
    assert gain < 1e-3
    assert deepest < 2e-3
    assert depth < 0.5e-3
    rocking = [seed for seed, (*_, speed) in falls.items() if speed > 1e-6]
    assert len(rocking) <= 2
    assert all(fall(seed, duration=10.0, **feel)[-1] < 1e-6 for seed in rocking)


def test_a_corner_comes_to_rest_where_the_ground_is():
    """A ball that hits anywhere within a step of 2 ms is stopped at the ground, not above it and not in it."""
    m = ball().on_ground()
    q = at(RADIUS) + np.linspace(0.02, 0.026, 13)[:, None] * np.eye(7)[2]
    v = np.tile([0, 0, -3.0, 0, 0, 0], (13, 1))
    run = mr.simulate(m, q, v, duration=0.03, tick=2e-3)
    assert -gaps(m, run.q).min() < 1e-3
    assert np.abs(gaps(m, run.q[-1])).max() < 0.5e-3


def test_stops_push_within_the_step_that_reaches_them():
    """A hinge that runs into its stop at 8 rad/s keeps no more than the energy that it has, wherever in a step of 2 ms that is."""
    stops = mr.JointProperties(lower=-1.0, upper=0.2)
    b = mr.Builder("door", gravity=(0, 0, 0))
    b.body("leaf", inertia.box(1.0, (0.1, 0.1, 0.1)), parent="world", joint=mr.Revolute((0, 0, 1)), properties=stops)
    m = b.build()
    q, v = np.linspace(0.16, 0.176, 9)[:, None], np.full((9, 1), 8.0)
    run = mr.simulate(m, q, v, duration=0.05, stepper=mr.LinearlyImplicit(2e-3), tick=2e-3)
    E = m.kinetic_energy(run.q, run.v) + stored_energy(m, run.q)
    assert E.max() <= E[0].max() * (1 + 1e-9)


# ---- the definition ----

SURFACES = [mr.Plane(0.1, 0.3, -0.01), mr.Stairs(0.03, 0.2, count=5), mr.Hills(0.03, 0.5)]


@pytest.mark.parametrize(
    ("robot", "ground", "solves"),
    [
        (crab, mr.Ground(), 2),
        (crab, mr.Ground(restitution=0.5, rolling=0.01, surface=SURFACES[0]), 2),
        (crab, mr.Ground(surface=SURFACES[1]), 1),
        (crab, mr.Ground(surface=SURFACES[2]), 3),
        (ring, mr.Ground(), 2),
        (wheel, mr.Ground(rolling=0.01), 2),
        (crab, mr.Ground(friction=0.0), 2),
        (scout, mr.Ground(), 2),
    ],
)
def test_kernels_are_the_definition(robot, ground, solves, rng):
    """A step of random states, deep in the ground and above it, compiled and by NumPy."""
    m, n = robot().on_ground(ground), 9
    q = np.stack([m.random_configuration(rng) for _ in range(n)])
    q[:, :2], q[:, 2] = rng.normal(size=(n, 2)), rng.uniform(-0.05, 0.15, n)
    q = m.close_loops(q) if m.constraints else q
    nx = acting(m).nx
    flow = step_flow(mr.LinearlyImplicit(2e-3, solves), nx, False)
    inputs = {"t": np.zeros((n, 1)), "dt": np.full((n, 1), 2e-3), "q": q, "v": rng.normal(size=(n, m.nv))}
    inputs |= {"x": 1e-3 * rng.normal(size=(n, nx)), "u": rng.normal(size=(n, m.nv))}
    plain, compiled = interpret(flow, m, inputs), kernels.repeated(flow, m, inputs, 1)
    assert (plain.results["x"] != 0).any() == bool(ground.friction)
    for name in "qvx":
        scale = np.abs(plain.results[name]).max()
        assert np.abs(plain.results[name] - compiled.results[name]).max() <= 1e-10 * scale


def test_folded_contacts_solve_the_dense_equations(rng):
    """(M + J^T G J) vdot = u - bias + J^T (F - G Y0), Y = Y0 + J vdot."""
    m, n = crab().on_ground(mr.Ground()), 5
    q = np.stack([m.random_configuration(rng) for _ in range(n)])
    q[:, 2] = rng.uniform(-0.02, 0.05, n)
    v, u, x = rng.normal(size=(n, m.nv)), rng.normal(size=(n, m.nv)), 1e-4 * rng.normal(size=(n, acting(m).nx))
    engine, dt = NumPyEngine(m, (n,)), np.full((n, 1), 2e-3)
    start = engine.run(MOTIONS, q=q, v=v)
    F, added = engine.contact_wrenches(start, start["V"], x, dt, True)
    vdot, _, rate = System(engine).contact_acceleration(State(q, v, x), u, F, np.zeros_like(v), added, None)
    J = np.stack([[m.body_jacobian(one, b) for b in m.bodies[1:]] for one in q])
    still = engine.run(TWIST_RATES, q=q, v=v, vdot=np.zeros_like(v))["rate"]
    inert = m.mass_matrix(q) + np.einsum("nbij,nbik,nbkl->njl", J, added[:, 1:], J)
    push = F[:, 1:] - np.einsum("nbij,nbj->nbi", added[:, 1:], still)
    wanted = np.linalg.solve(inert, (u - m.bias_forces(q, v) + np.einsum("nbij,nbi->nj", J, push))[..., None])[..., 0]
    assert np.abs(vdot - wanted).max() < 1e-10 * np.abs(wanted).max()
    assert np.abs(rate - still - np.einsum("nbij,nj->nbi", J, vdot)).max() < 1e-9 * np.abs(rate).max()


def test_a_recording_on_the_ground_can_be_repeated(tmp_path):
    m = mr.driven(crab(), mr.gait("crab", amplitude=0.3, frequency=1.0)).on_ground(mr.Ground(surface=SURFACES[1]))
    run = mr.simulate(m, m.standing(), duration=0.5)
    run.save(tmp_path / "walk.mrun")
    loaded = mr.Recording.load(tmp_path / "walk.mrun")
    assert loaded.segments[0].robot == m
    assert np.array_equal(loaded.repeated().q, run.q)


def test_runs_side_by_side_are_runs_alone():
    m = mr.driven(crab(), mr.gait("crab", amplitude=0.3, frequency=1.0)).on_ground()
    q = np.stack([m.standing(), m.standing(gap=0.05)])
    both = mr.simulate(m, q, duration=0.5, tick=0.1)
    for k in range(2):
        alone = mr.simulate(m, q[k], duration=0.5, tick=0.1)
        assert np.abs(both.q[:, k] - alone.q).max() < 1e-6


# ---- gaits ----


def walk(robot, gait):
    """20 s of it; what organisms do by their gaits is in tests/motion/gaits/test_walking.py."""
    m = mr.driven(robot, gait).on_ground(mr.Ground(friction=0.8))
    return mr.simulate(m, m.standing(gait.on(robot)(0.0)[0]), duration=20.0, tick=0.02)


def test_a_robot_that_is_given_no_start_stands():
    """Also on hills; and on the ground that it is told of."""
    for surface in (mr.Plane(height=0.5), *SURFACES):
        run = mr.simulate(crab(), duration=0.01, ground=mr.Ground(surface=surface))
        assert gaps(run.robot, run.q[0]).min() == pytest.approx(0.0, abs=1e-9)


# ---- forces of the ground ----


@pytest.mark.parametrize(("make", "friction"), [(block, 0.5), (wheel, 0.3), (lambda: crab(), 0.8)])
def test_forces_of_the_ground_change_momentum(make, friction):
    """Sliding, rolling and walking: their impulse is what weight leaves of the change of momentum; each is within its cone."""
    robot = make()
    q = robot.on_ground().standing()
    run = mr.simulate(robot, q, np.r_[0.8, 0.3, np.zeros(robot.nv - 2)], 1.0, ground=mr.Ground(friction), tick=2e-3)
    robot = run.segments[0].robot
    felt = robot.contact_forces(run.q, run.v, run.x)
    # wrenches in the world, as the momentum is
    impulse = np.trapezoid(felt.forces.sum(axis=1), run.t, axis=0)
    mass, ends = robot.total_mass(), run.q[[0, -1]]
    velocity = robot.momentum(ends, run.v[[0, -1]])[..., :3] / mass
    gained = velocity[1] - velocity[0] + np.array([0, 0, G]) * run.t[-1]
    assert np.allclose(impulse / mass, gained, atol=0.02)
    normal, along = felt.forces[..., 2], np.linalg.norm(felt.forces[..., :2], axis=-1)
    assert (normal >= 0).all()
    assert (along <= friction * normal + 1e-9).all()
    assert (felt.points[normal > 0][:, 2] < 1e-9).all()


# ---- what is refused ----


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: mr.Ground(friction=-0.1), "friction is -0.1: expected a finite number, 0 or more"),
        (lambda: mr.Ground(restitution=-0.5), "restitution is -0.5"),
        (lambda: mr.Ground(restitution=1.5), "expected 0 .plastic. to 1"),
        (lambda: mr.Ground(stiffness=0.0), "stiffness 0.0: expected more than zero"),
        (lambda: mr.Ground(surface="flat"), "surface 'flat': expected one such as mr.Plane"),
        (lambda: mr.Plane(slope=2.0), "expected less than a right angle"),
        (lambda: mr.Stairs(0.1, 0.3, edge=0.5), "expected 0 < edge < run"),
        (lambda: mr.Hills(0.1, 0.0), "length 0.0: expected more than zero"),
        (lambda: mr.Oscillator(1.0, limit=0.0), "limit 0.0: expected more than zero"),
        (lambda: crab().on_ground("floor"), "ground 'floor': expected one such as mr.Ground"),
        (lambda: crab().standing(), "knows of no ground"),
        (lambda: crab().contact_forces(crab().neutral()), "knows of no ground: expected robot.on_ground"),
        (lambda: crab().on_ground().contact_forces(crab().neutral(), x=[1.0]), r"x has shape \(1,\): expected"),
        (lambda: mr.load("crab").mechanism().on_ground().standing(), "does not float"),
        (lambda: mr.load("double_pendulum").mechanism().without_forces().on_ground().contacts, ""),
    ],
)
def test_bad_grounds_are_refused(make, says):
    if not says:
        assert make()
        return
    with pytest.raises(InputError, match=says):
        make()


def test_a_robot_without_shapes_cannot_stand():
    b = mr.Builder("ghost")
    b.body("b", inertia.box(1.0, (1, 1, 1)), parent="world", joint=mr.Free())
    with pytest.raises(InputError, match="no shapes that move, so nothing of it can touch the ground"):
        b.build().on_ground()


def test_steppers_that_carry_no_contacts_are_refused():
    with pytest.raises(SimulationError, match=r"RungeKutta4 does not carry contacts .* expected LinearlyImplicit"):
        mr.simulate(crab(), stepper=mr.RungeKutta4(1e-3), ground=mr.Ground())
    with pytest.raises(SimulationError, match="solves 0: expected a whole number from 1 to 8"):
        mr.LinearlyImplicit(1e-3, solves=0)


def test_a_start_deep_in_the_ground_is_refused():
    with pytest.raises(SimulationError, match=r"m\d/.* stands 0\.5\d* m deep in the ground .*standing"):
        mr.simulate(crab(), crab().neutral(), ground=mr.Ground(surface=mr.Plane(height=0.5)))


def test_gaits_that_are_no_sines_are_refused():
    with pytest.raises(GaitError, match="expected a gait whose generator is 'sine'"):
        mr.driven(crab(), mr.gait("crab", generator="hopf"))


def test_travel_needs_a_recording_on_the_ground():
    run = mr.simulate(crab(), duration=0.01)
    with pytest.raises(GaitError, match="expected a recording of one robot on the ground"):
        mr.travel(run)
    with pytest.raises(GaitError, match=r"since 9\.0 s: expected a time before the last tick"):
        mr.travel(mr.simulate(crab(), duration=0.01, ground=mr.Ground(surface=mr.Plane(height=-1))), since=9.0)


def test_walks_that_mujoco_cannot_judge_are_refused():
    from modurob.judges.walking import MujocoWalker

    with pytest.raises(InputError, match="expected a robot on flat ground"):
        MujocoWalker(crab().on_ground(mr.Ground(surface=mr.Plane(slope=0.1))), 1e-3)
    hinged = mr.Builder("hinged")
    for name in ("a", "b"):
        hinged.body(
            name,
            inertia.box(1.0, (0.1, 0.1, 0.1)),
            parent="world",
            joint=mr.Free() if name == "a" else mr.Revolute((1, 0, 0)),
        )
        hinged.collision("box", (0.1, 0.1, 0.1), on=name)
    hinged.loop("pin", mr.Revolute((1, 0, 0)), "a", "b")
    with pytest.raises(InputError, match="expected welds alone"):
        MujocoWalker(hinged.build().on_ground(), 1e-3)


def test_symbols_for_lengths_cannot_stand():
    robot = mr.load("crab").with_parameters(length=sympy.Symbol("l", positive=True)).mechanism(floating=True)
    with pytest.raises(InputError, match="has symbols for lengths: give them values to set it on the ground"):
        robot.on_ground()


def test_a_search_without_cma_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cma", None)
    with pytest.raises(GaitError, match=r"pip install modurob\[search\]"):
        mr.search_gait(crab(), mr.gait("crab"))


def test_a_search_finds_a_gait_that_is_twice_as_fast_for_longer_too():
    """Six generations of 24; what was found walks a new run at shorter steps, longer than those of the search."""
    told, first = [], mr.gait("crab", frequency=1.0)
    found = mr.search_gait(
        crab(),
        first,
        generations=6,
        population=24,
        duration=8.0,
        stepper=mr.LinearlyImplicit(5e-3),
        progress=lambda k, speed: told.append(speed),
    )
    assert told == found.history.tolist() == sorted(told)
    before, after = (mr.travel(walk(crab(), gait)).distance for gait in (first, found.gait))
    assert after > 2 * before


def scraping(gears):
    """A floating pair of links that spins over the ground; beside it, out of touch, two wheels that a belt may join."""
    b = mr.Builder("scraping")
    for name in ("turn", "other"):
        own = inertia.spatial_inertia(1.0, np.zeros(3), 0.1 * np.eye(3))
        b.body(name, own, joint=mr.Revolute((1.0, 0.0, 0.0)), at=se3.pose(None, (0.0, 5.0, 5.0)))
    b.body("base", inertia.box(1.0, (0.3, 0.1, 0.1)), joint=mr.Free())
    hinge = {"parent": "base", "joint": mr.Revolute((0.0, 1.0, 0.0)), "at": se3.pose(None, (0.2, 0.0, 0.0))}
    b.body("arm", inertia.box(0.5, (0.3, 0.05, 0.05)), **hinge, seat=se3.pose(None, (0.15, 0.0, 0.0)))
    b.collision("box", (0.3, 0.1, 0.1), on="base")
    b.collision("box", (0.3, 0.05, 0.05), on="arm")
    if gears:
        b.coupling("belt", {"turn": 2.0, "other": -1.0})
    return b.build().on_ground(mr.Ground(friction=0.6))


def test_what_is_joined_elsewhere_changes_no_contact():
    """Robots with loops and couplings are solved by their mass matrices, others by recursion: what touches moves the same."""
    tree, joined = (scraping(gears) for gears in (False, True))
    q = tree.neutral()
    q[4], q[-1] = 0.07, 0.05
    v = np.array([0.0, 0.0, 1.0, 0.5, -0.5, 2.0, -3.0, 5.0, -6.0])
    runs = [mr.simulate(r, q, v, 0.3, stepper=mr.LinearlyImplicit(2e-3)) for r in (tree, joined)]
    assert all(run.status.ok for run in runs)
    assert np.abs(runs[0].x).max() > 0  # it touches
    np.testing.assert_allclose(runs[1].q[:, 2:], runs[0].q[:, 2:], rtol=0, atol=1e-9)
    np.testing.assert_allclose(runs[1].v[:, 2:], runs[0].v[:, 2:], rtol=0, atol=1e-7)


@pytest.mark.parametrize("between", [False, True])
def test_a_joint_that_friction_holds_gives_way_to_a_blow(between):
    """A limb at rest in its joint as its robot falls; friction next to nothing is as none, on ground and on a body."""
    ends = []
    for friction in (0.0, 1e-6):
        b = mr.Builder("limb")
        b.body("trunk", inertia.box(1.0, (0.1, 0.1, 0.1)), joint=mr.Free())
        b.collision("box", (0.1, 0.1, 0.1), on="trunk")
        own, hinge = inertia.spatial_inertia(1.0, (0.1, 0, 0), np.diag([1e-3, 4e-3, 4e-3])), mr.Revolute((0, 1, 0))
        at, properties = se3.pose(None, (0.06, 0, 0)), mr.JointProperties(friction=friction)
        b.body("limb", own, parent="trunk", joint=hinge, joint_name="hinge", at=at, properties=properties)
        if between:
            b.collision("box", (2.0, 2.0, 0.2), on="world", X=se3.pose(None, (0, 0, -0.1)))
        robot, q = b.build(), [0, 0, 0.15, 1, 0, 0, 0, 0]
        given = {"body_contact": mr.BodyContact()} if between else {"ground": mr.Ground()}
        run = mr.simulate(robot, q, duration=0.16, stepper=mr.LinearlyImplicit(1e-3), **given)
        assert not run.v[run.t < 0.1, 6].any() or not friction  # held in free fall
        ends.append(run.v[-1])
    assert ends[0][6] > 5.0
    np.testing.assert_allclose(*ends, atol=1e-3)
