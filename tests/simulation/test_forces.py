"""Forces of a robot's own in motion: closed forms under every stepper, and the balance of energy on random robots."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import simpson

import modurob as mr
from modurob.simulation.steppers import STEPPERS as REGISTERED
from modurob.spatial import inertia, se3
from tests.algorithms.test_loops import gripper
from tests.oracles.linkages import LINKAGES
from tests.robots import random_mechanism, random_state
from tests.sampling import sampled

# how far a motion may be from its closed form at steps of a millisecond, in parts of its size
STEPPERS = {
    mr.SemiImplicitEuler(1e-3): 3e-3,
    mr.LinearlyImplicit(1e-3): 3e-3,
    mr.RungeKutta4(1e-3): 1e-9,
    mr.ExponentialRungeKutta4(1e-3): 1e-9,
    mr.ImplicitMidpoint(1e-3): 2e-6,
    mr.Variational(1e-3): 2e-6,
    mr.Adaptive(): 1e-8,
}
every_stepper = pytest.mark.parametrize("stepper", STEPPERS, ids=lambda s: s.kind)


def test_no_stepper_is_left_out():
    """MuJoCo's steps have its own friction, which creeps."""
    own = {kind for kind, stepper in REGISTERED.items() if stepper.__module__.startswith("modurob.simulation.steppers")}
    assert {stepper.kind for stepper in STEPPERS} == own


def block(mass=2.0, slope=0.0, **properties):
    """A block that slides along x, on a plane that falls off towards x."""
    down = 9.81 * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    builder = mr.Builder("block", gravity=down)
    own = inertia.spatial_inertia(mass, np.zeros(3), np.eye(3))
    builder.body("block", own, joint=mr.Prismatic((1, 0, 0)), properties=mr.JointProperties(**properties))
    return builder.build()


@every_stepper
def test_a_block_on_an_incline_stays_or_slides(stepper):
    """It holds to the last bit below static friction; above, x = (g sin a - c/m) t²/2."""
    slope, mass = 0.3, 2.0
    pull = mass * 9.81 * np.sin(slope)
    held = mr.simulate(block(mass, slope, friction=0.8 * pull, static=1.001 * pull), duration=0.5, stepper=stepper)
    assert held.status.ok
    assert not held.q.any()
    assert not held.v.any()
    free = mr.simulate(block(mass, slope, friction=0.8 * pull, static=0.999 * pull), duration=0.5, stepper=stepper)
    way = 0.2 * pull / mass * free.t**2 / 2
    np.testing.assert_allclose(free.q[:, 0], way, atol=max(STEPPERS[stepper], 1e-12) * way[-1])


@every_stepper
def test_a_block_that_was_pushed_stops_for_good(stepper):
    """Uphill: it stops after v0/a with a = g sin s + c/m, v0²/2a up, and stays there."""
    slope, mass, speed = 0.3, 2.0, 1.0
    pull = mass * 9.81 * np.sin(slope)
    run = mr.simulate(block(mass, slope, friction=1.2 * pull), v0=[-speed], duration=0.4, stepper=stepper)
    stop, way = speed * mass / (2.2 * pull), speed**2 * mass / (2.2 * pull) / 2
    after = run.t > stop + 2e-3
    assert after.sum() > 10
    assert not run.v[after].any()
    assert np.ptp(run.q[after]) == 0
    # where the last step ends it slides on at the speed of its start, or not: half a step times what is left of the speed
    assert run.q[-1, 0] == pytest.approx(-way, abs=max(5e-6, STEPPERS[stepper] * speed / 5))


@every_stepper
def test_a_hinge_under_load_sticks_or_falls(stepper):
    """A rod held out level: at rest to the last bit; let go, I v²/2 = m g l sin q - c q."""

    def hinge(**properties):
        builder = mr.Builder("hinge")
        own = inertia.spatial_inertia(1.0, (0, -1.0, 0), 0.1 * np.eye(3))
        builder.body("rod", own, joint=mr.Revolute((1, 0, 0)), properties=mr.JointProperties(**properties))
        return builder.build()

    held = mr.simulate(hinge(friction=9.82), duration=0.3, stepper=stepper)
    assert not held.q.any()
    run = mr.simulate(hinge(friction=4.0, static=9.8), duration=0.5, stepper=stepper)
    q, v = run.q[:, 0], run.v[:, 0]
    assert q[-1] > 0.5
    np.testing.assert_allclose(0.5 * 1.1 * v**2, 9.81 * np.sin(q) - 4.0 * q, atol=10 * STEPPERS[stepper])


def rubbing(link, torque):
    """A linkage whose driven joints rub, each with this torque or force."""
    robot = link.robot.without_forces()
    for n, joint in enumerate(robot.joints):
        if robot.effort_limit[joint.v_slice].any():
            for k in range(joint.type.nv):
                robot = robot.with_force(f"rub {n} {k}", mr.Friction(coulomb=torque), joint=joint.name, rate=k)
    return robot


@pytest.mark.parametrize("stepper", sampled([s for s in STEPPERS if s.kind != "variational"], 4), ids=lambda s: s.kind)
@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "delta"])
def test_a_linkage_under_its_weight_sticks_or_moves(name, stepper, rng):
    """Below the torque that holds it no driven joint moves at all, the others by rounding; above, it accelerates under the rest."""
    link = LINKAGES[name](rng)
    q = link.closed(rng)
    needed = link.robot.inverse_dynamics(q, np.zeros(link.robot.nv), np.zeros(link.robot.nv))
    enough, few = 1.001 * np.abs(needed).max(), 0.5 * np.abs(needed[needed != 0]).min()
    held = mr.simulate(rubbing(link, enough), q, duration=0.05, stepper=stepper)
    assert held.status.ok
    assert not held.v[:, link.robot.effort_limit > 0].any()
    assert np.abs(held.v).max() < 1e-12
    np.testing.assert_allclose(held.q, np.broadcast_to(q, held.q.shape), rtol=0, atol=1e-13)
    run = mr.simulate(rubbing(link, few), q, duration=0.01, stepper=stepper, tick=1e-3)
    expected = link.robot.forward_dynamics(q, np.zeros(link.robot.nv), few * np.sign(needed))
    np.testing.assert_allclose(run.v[1] / 1e-3, expected, rtol=0, atol=0.02 * np.abs(expected).max())
    assert run.v[1:].any(axis=1).all()


def test_batches_of_linkages_stick_each_by_itself(rng):
    """Runs of a batch, some held and some not, are those of single runs."""
    link = LINKAGES["four-bar"](rng)
    q = np.stack([link.closed(rng) for _ in range(7)])
    still = np.zeros_like(q)
    robot = rubbing(link, float(np.median(np.abs(link.robot.inverse_dynamics(q, still, still)[:, 0]))))
    runs = mr.simulate(robot, q, duration=0.2, stepper=mr.RungeKutta4(1e-3), tick=0.05)
    rest = np.abs(runs.v).max(axis=(0, 2)) < 1e-12
    assert 0 < rest.sum() < 7
    for k in range(7):
        alone = mr.simulate(robot, q[k], duration=0.2, stepper=mr.RungeKutta4(1e-3), tick=0.05)
        np.testing.assert_allclose(runs.v[:, k], alone.v, atol=1e-9)
        assert (np.abs(alone.v).max() < 1e-12) == rest[k]


def puller(stiffness, static, coulomb, speed):
    """A block on the ground, drawn by a spring whose far end goes on at one speed: the end is as heavy as a mountain."""
    builder = mr.Builder("stick-slip", gravity=(0, 0, 0))
    own = mr.JointProperties(friction=coulomb, static=static)
    builder.body("block", inertia.box(1.0, (0.1, 0.1, 0.1)), joint=mr.Prismatic((1, 0, 0)), properties=own)
    builder.body("end", inertia.box(1e12, (1, 1, 1)), joint=mr.Prismatic((1, 0, 0)), at=se3.pose(None, (1.0, 0, 0)))
    builder.force("rope", mr.Spring(stiffness, length=1.0), a="block", b="end")
    return builder.build()


@pytest.mark.parametrize("stepper", sampled(STEPPERS, 6), ids=lambda s: s.kind)
def test_a_block_on_a_spring_sticks_and_slips(stepper):
    """Slips last (pi - atan(d w/s)) 2/w with d = (static - coulomb)/k, sticks 2 d/s; a cycle carries the block s times its length.

    In a frame that goes on with the rest point, a slip is part of a harmonic swing about the balance of coulomb
    friction and the spring.
    """
    k, static, coulomb, speed = 100.0, 6.0, 3.0, 0.2
    w, d = np.sqrt(k), (static - coulomb) / k
    slip, stick = 2 * (np.pi - np.arctan(d * w / speed)) / w, 2 * d / speed
    first, cycles = static / k / speed, 2 if stepper.compiled else 1
    run = mr.simulate(
        puller(k, static, coulomb, speed),
        v0=[0.0, speed],
        duration=round(first + cycles * (slip + stick), 2),
        stepper=stepper,
        tick=1e-3,
    )
    assert run.status.ok
    moves = run.v[:, 0] > 0
    starts, ends = (run.t[1:][change] for change in (~moves[:-1] & moves[1:], moves[:-1] & ~moves[1:]))
    # every start and every end is found at the end of a step
    near = (2e-3 + 20 * STEPPERS[stepper]) * np.arange(1, cycles + 1)
    assert (np.abs(starts[:cycles] - first - (slip + stick) * np.arange(cycles)) < near).all()
    assert (np.abs(ends[:cycles] - first - slip - (slip + stick) * np.arange(cycles)) < near).all()
    rest = run.q[np.searchsorted(run.t, ends[0] + stick / 2), 0]
    assert rest == pytest.approx((slip + stick) * speed, abs=2 * speed * near[0])


# ---- the balance of energy ----


def laden(rng, floating, dry):
    """A random robot with every kind of force on it."""
    robot = random_mechanism(rng, 4, floating=floating)
    for n, joint in enumerate(robot.joints):
        for k in range(joint.type.nv):
            friction = mr.Friction(0.2, 0.4, 0.6, 0.3) if dry and n else mr.Friction(0.2)
            robot = robot.with_force(f"rub {n} {k}", friction, joint=joint.name, rate=k)
            if robot.coordinate_of[joint.v_slice.start + k] >= 0:
                robot = robot.with_force(f"spring {n} {k}", mr.JointSpring(3.0, 0.1, 0.05), joint=joint.name, rate=k)
                robot = robot.with_force(f"stop {n} {k}", mr.Stop(-0.2, 0.2, 40.0, 0.5), joint=joint.name, rate=k)
    robot = robot.with_force("rope", mr.Spring(20.0, 0.3, 0.4), a="b3", b="world")
    return robot.with_force("band", mr.Spring(10.0, 0.1, 0.2), a="b1", b="b2")


def law(t, q, v):
    return 0.5 * np.sin(3 * t + np.arange(v.shape[-1]))


def imbalance(robot, run):
    """Work of drives and a pushing hand, less what is stored, less what is lost, in parts of all that is turned over.

    Of all forces by their formulas, at the ticks; integrals by Simpson's rule.
    """
    joints = [(row.force, robot.joints[row.joint], row.rate) for row in robot.forces if hasattr(row, "joint")]
    stored, lost = run.kinetic_energy + robot.potential_energy(run.q), np.zeros(len(run.t))
    for force, joint, rate in joints:
        v = run.v[:, joint.v_slice.start + rate]
        place = robot.coordinate_of[joint.v_slice.start + rate]
        q = run.q[:, place]
        match force:
            case mr.Friction():
                dry = force.coulomb + (force.static - force.coulomb) * np.exp(-np.abs(v) / (force.stribeck or 1.0))
                lost += force.viscous * v**2 + dry * np.abs(v)
            case mr.JointSpring():
                stored += force.stiffness * (q - force.rest) ** 2 / 2
                lost += force.damping * v**2
            case mr.Stop():
                depth = np.maximum(q - force.upper, 0) + np.minimum(q - force.lower, 0)
                stored += force.stiffness * depth**2 / 2
                lost += np.where(depth * (force.stiffness * depth + force.damping * v) > 0, force.damping * v**2, 0.0)
                # a stop that would pull lets go: what it has stored is gone
                gone = (depth != 0) & (depth * (force.stiffness * depth + force.damping * v) <= 0)
                lost += np.where(gone, -force.stiffness * depth * v, 0.0)
    for row in robot.forces:
        if isinstance(row.force, mr.Spring):
            p, u = zip(*(_point(robot, run, frame) for frame in (row.a, row.b)), strict=True)
            way = p[1] - p[0]
            distance = np.linalg.norm(way, axis=-1)
            closing = (way * (u[1] - u[0])).sum(axis=-1) / distance
            stored += row.force.stiffness * (distance - row.force.length) ** 2 / 2
            lost += row.force.damping * closing**2
    # drives hold their torque from tick to tick, where displacements are what counts
    driven = np.array([run.tau[k] @ robot_difference(robot, run, k) for k in range(len(run.t) - 1)]).sum()
    total = driven - (stored[-1] - stored[0]) - simpson(lost, x=run.t)
    return total / (np.ptp(stored) + simpson(lost, x=run.t))


def robot_difference(robot, run, k):
    """What the torques of a tick act along: the integral of v, by Simpson's rule with the middle from Hermite's."""
    v0, v1, a0, a1 = run.v[k], run.v[k + 1], run.vdot[k], run.vdot[k + 1]
    h = run.t[k + 1] - run.t[k]
    return h * (v0 + v1) / 2 + h**2 * (a0 - a1) / 12


def _point(robot, run, frame):
    """Position and velocity of the origin of a frame, (ticks, 3) each."""
    if frame.body == 0:
        return np.zeros((len(run.t), 3)), np.zeros((len(run.t), 3))
    name = robot.bodies[frame.body]
    J = robot.jacobian(run.q, name)
    return robot.forward_kinematics(run.q)[name][:, :3, 3], (J @ run.v[..., None])[:, :3, 0]


@pytest.mark.parametrize(("seed", "floating"), sampled([(1, True), (1, False), (0, False), (0, True)], 1))
def test_work_in_is_stored_and_lost_to_the_order_of_the_stepper(seed, floating):
    """Every kind of force but dry friction, on a random robot: halving steps lowers the imbalance by two to the order."""
    rng = np.random.default_rng(seed)
    robot = laden(rng, floating, dry=False)
    robot = robot.without_forces(*(row.name for row in robot.forces if row.name.startswith("stop ")))
    q, v, _ = random_state(rng, robot)
    for stepper in (mr.SemiImplicitEuler, mr.LinearlyImplicit, mr.ImplicitMidpoint, mr.Variational, mr.RungeKutta4):
        sizes = []
        for dt in (4e-3, 2e-3):
            run = mr.simulate(robot, q, 0.5 * v, 0.2, controller=law, stepper=stepper(dt), tick=4e-3)
            assert run.status.ok
            sizes.append(abs(imbalance(robot, run)))
        assert sizes[1] < {1: 0.1, 2: 1e-3, 4: 5e-6}[stepper.order], stepper
        # what is left by the rule of order four is that of the integrals
        assert sizes[1] < max(5e-6, 2.0 ** -(stepper.order - 0.4) * sizes[0]), stepper


# where friction turns over its power has a kink, and stops are hit between ticks; the rule of first order is off by 30 per second
# of its step (0.0063, 0.0032, 0.0016 at 0.2, 0.1, 0.05 ms)
KINKS = {mr.RungeKutta4(2e-4): 1e-3, mr.ImplicitMidpoint(5e-4): 1e-3, mr.LinearlyImplicit(1e-4): 4e-3}


@pytest.mark.parametrize("stepper", KINKS, ids=lambda s: s.kind)
@pytest.mark.parametrize("seed", sampled((1, 0), 1))
def test_work_in_is_stored_and_lost_with_dry_friction_and_stops(seed, stepper):
    rng = np.random.default_rng(10 + seed)
    robot = laden(rng, bool(seed % 2), dry=True)
    q, v, _ = random_state(rng, robot)
    run = mr.simulate(robot, q, 0.5 * v, 0.4, controller=law, stepper=stepper, tick=1e-3)
    assert run.status.ok
    assert abs(imbalance(robot, run)) < KINKS[stepper]


# ---- every kind of force, on trees, grippers and linkages ----


def anything(rng, seed):
    """A robot with joints of all kinds and rotors, with mimic joints, or with loops; and a state of it."""
    match seed % 3:
        case 0:
            robot = random_mechanism(rng, 5, floating=seed % 2 == 0, armature=True)
        case 1:
            robot = gripper(rng, ("two", "world", "one", "chain", "apart")[seed // 3 % 5])
        case _:
            link = list(LINKAGES.values())[seed // 3 % len(LINKAGES)](rng)
            return link.robot.without_forces(), *link.state(rng)
    return robot.without_forces(), robot.random_configuration(rng), 0.5 * rng.normal(size=robot.nv)


def with_every_force(rng, robot):
    """Forces on every joint, and springs and a cable between points of bodies."""
    bodies = [name for name in robot.bodies if name != "world"]
    for n, joint in enumerate(robot.joints):
        for k in range(joint.type.nv):
            own = [mr.Friction(float(rng.uniform(0.1, 0.5)))]
            if robot.coordinate_of[joint.v_slice.start + k] >= 0:
                more = [mr.JointSpring(float(rng.uniform(1, 5)), 0.2, 0.1), mr.SpeedServo(0.7, 0.5), mr.Disturbance()]
                own += [force for force in more if rng.random() < 0.6]
            for force in own:
                robot = robot.with_force(f"{force.kind} {n} {k}", force, joint=joint.name, rate=k)
    a, b = rng.choice(bodies, 2, replace=False)
    points = {name: robot.frame(body)._replace(X=se3.random(rng, reach=0.3)) for name, body in (("a", a), ("b", b))}
    robot = replace(robot, frames={**robot.frames, **points})
    robot = robot.with_force("rope", mr.Spring(20.0, 0.3, 0.4), a="a", b="world")
    robot = robot.with_force("band", mr.Spring(10.0, 0.1, 0.2), a="b", b="a")
    way = [("world", tuple(rng.normal(size=3))), (str(a), (0.1, 0.0, 0.2)), (str(b), (0.0, 0.1, -0.1))]
    return robot.with_line("cable", way, mr.Elastic(stiffness=15.0, rest=0.2, damping=0.5))


def power(robot, run):
    """Of all forces of the robot, by their formulas, (ticks,) [W]."""
    total = np.zeros(len(run.t))
    for row in robot.forces:
        if hasattr(row, "joint"):
            joint = robot.joints[row.joint]
            at = joint.v_slice.start + row.rate
            place = robot.coordinate_of[at]
            q, v = joint.ratio * run.q[:, place] + joint.offset, joint.ratio * run.v[:, at]
            match row.force:
                case mr.Friction(viscous):
                    total -= viscous * v**2
                case mr.JointSpring(stiffness, rest, damping):
                    total -= (stiffness * (q - rest) + damping * v) * v
                case mr.SpeedServo(kd, speed):
                    total += kd * (speed * run.t - v) * v  # in its first second
                case other:
                    assert isinstance(other, mr.Disturbance)  # which is zero
        elif isinstance(row.force, mr.Spring):
            (p, u), (r, w) = (moving_point(robot, run, frame) for frame in (row.a, row.b))
            distance, closing = apart_by(r - p, w - u)
            total -= (20.0 * (distance - 0.3) + 0.4 * closing) * closing if row.name == "rope" else 0.0
            total -= (10.0 * (distance - 0.1) + 0.2 * closing) * closing if row.name == "band" else 0.0
        else:
            points = [moving_point(robot, run, frame) for frame in row.frames]
            pieces = [apart_by(r - p, w - u) for (p, u), (r, w) in pairwise(points)]
            length, rate = (sum(x) for x in zip(*pieces, strict=True))
            total -= np.maximum(15.0 * (length - 0.2) + 0.5 * rate, 0.0) / 0.2 * rate
    return total


def apart_by(way, rate):
    """The length of a way, and how fast it grows."""
    distance = np.linalg.norm(way, axis=-1)
    return distance, (way * rate).sum(axis=-1) / distance


def moving_point(robot, run, frame):
    """Position and velocity of the origin of a frame that lies anywhere on its body."""
    if frame.body == 0:
        return np.broadcast_to(frame.X[:3, 3], (len(run.t), 3)), np.zeros((len(run.t), 3))
    name = robot.bodies[frame.body]
    X, twist = robot.forward_kinematics(run.q)[name], (robot.jacobian(run.q, name) @ run.v[..., None])[..., 0]
    arm = X[:, :3, :3] @ (se3.inverse(robot.frame(name).X) @ frame.X)[:3, 3]
    return X[:, :3, 3] + arm, twist[:, :3] + np.cross(twist[:, 3:], arm)


@pytest.mark.parametrize("seed", sampled(range(15), (0, 1, 2, 4)))
def test_the_work_of_every_force_changes_the_energy(seed):
    """On any robot, with torques, and every other time with wrenches in world and in body axes: T + V grows by the work of all.

    Runge and Kutta's rule and Simpson's are off by 1e-10 of the energy at these steps.
    """
    rng = np.random.default_rng([seed, 3])
    robot, q, v = anything(rng, seed)
    robot = with_every_force(rng, robot)
    first, last = robot.bodies[1], robot.bodies[-1]
    tau = np.where(robot.effort_limit > 0, rng.normal(size=robot.nv), 0.0)
    own, world = rng.normal(size=(2, 6))

    def push(t):
        return {first: np.cos(2 * t) * own, last: mr.InWorld(np.sin(3 * t) * world)}

    given = {"external": push} if seed % 2 else {}
    run = mr.simulate(robot, q, v, 0.2, lambda t, q, v: tau, stepper=mr.RungeKutta4(5e-4), tick=5e-4, **given)
    assert run.status.ok
    work = power(robot, run) + run.v @ tau
    if given:
        twists = [(robot.jacobian(run.q, name) @ run.v[..., None])[..., 0] for name in (first, last)]
        turned = robot.forward_kinematics(run.q)[first][:, :3, :3]
        felt = np.concatenate([turned @ own[:3], turned @ own[3:]], axis=-1)
        work += np.cos(2 * run.t) * (felt * twists[0]).sum(axis=-1) + np.sin(3 * run.t) * (twists[1] @ world)
    energy = run.kinetic_energy + robot.potential_energy(run.q)
    assert np.ptp(energy) > 0.01
    assert energy[-1] - energy[0] == pytest.approx(simpson(work, x=run.t), abs=1e-8 * simpson(np.abs(work), x=run.t))


def test_stops_that_are_too_stiff_for_the_steps_are_told() -> None:
    """A floating crab yields far more to its stops than one that stands: steps of a millisecond make energy there."""
    robot = mr.load("crab").mechanism(floating=True, gravity=(0, 0, 0))
    v = np.array([0.0] * 6 + [3.0, 1.0, 4.0])
    with pytest.warns(mr.ModurobWarning, match=r"crab: joint 'm0/hinge'.* too stiff for RungeKutta4\(dt=0.001\)"):
        mr.simulate(robot, None, v, 0.6, stepper=mr.RungeKutta4(1e-3))
    mr.simulate(robot, None, v, 0.2, stepper=mr.RungeKutta4(1e-3))  # has not reached a stop
    fine = mr.simulate(robot, None, v, 0.6, stepper=mr.RungeKutta4(5e-5), tick=1e-3)
    assert np.abs(fine.q[..., 7:]).max() > np.pi / 2  # it has, and
    assert fine.energy.max() <= fine.energy[0] * (1 + 1e-9)


def test_stops_that_are_too_stiff_are_told_by_all_that_moves_robots() -> None:
    assembly = mr.load("crab")
    robot = assembly.mechanism(floating=True, gravity=(0, 0, 0))
    v = np.array([0.0] * 6 + [3.0, 1.0, 4.0])
    told = {"match": r"crab: joint 'm0/hinge'.* too stiff for RungeKutta4\(dt=0.001\)"}
    with pytest.warns(mr.ModurobWarning, **told):
        mr.advance(mr.Fleet([robot]), [robot.neutral()], [v], 0.499, stepper=mr.RungeKutta4(1e-3))
    world = mr.World({"crab": mr.Organism(assembly, v=v, base=assembly.base)}, gravity=(0, 0, 0))
    with pytest.warns(mr.ModurobWarning, **told):
        world.run(0.6)
