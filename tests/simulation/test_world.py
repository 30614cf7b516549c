"""Docking while running: poses stay, momentum stays, and everything goes on for the robot that has become."""

import numpy as np
import pytest

import modurob as mr
from modurob.catalogue.joints import Free
from modurob.errors import SimulationError
from modurob.spatial import se3
from tests.robots import random_assembly

NOWHERE = (0.0, 0.0, 0.0)
HOLD = mr.ComputedTorque(kp=100, kd=20, partial=True)


def chain(prefix, modules=3):
    assembly = mr.Assembly.single(f"{prefix}0", "backbone")
    for i in range(1, modules):
        assembly = assembly.dock(f"{prefix}{i}", "backbone", at=f"{prefix}{i - 1}/3", by="4")
    return assembly


def floating(assembly):
    return assembly.mechanism(base=next(iter(assembly.modules)), floating=True, gravity=NOWHERE)


def meeting(a, b, port_a, port_b, q_a, q_joints_b, rng, shift=se3.IDENTITY):
    """q of b, bent as asked, with its port where that of a fits it, but for a small shift; and random rates of both."""
    robot_a, robot_b = floating(a), floating(b)
    both = floating(a.joined(b, port_a, port_b))
    # the pose of b's port in a's, from the robot of both at any configuration
    q = both.neutral()
    mate = se3.inverse(both.frame_pose(q, port_a)) @ both.frame_pose(q, port_b)
    q_b = robot_b.neutral()
    q_b[7:] = q_joints_b
    wanted = robot_a.frame_pose(q_a, port_a) @ mate @ shift
    q_b[:7] = Free().coordinates(wanted @ se3.inverse(robot_b.frame_pose(q_b, port_b)))
    return q_b, 0.3 * rng.normal(size=robot_a.nv), 0.3 * rng.normal(size=robot_b.nv)


def bent(robot, rng):
    q = robot.neutral()
    q[:7] = robot.random_configuration(rng)[:7]
    q[7:] = rng.uniform(-0.6, 0.6, robot.nq - 7)
    return q


def energy(simulation):
    return float(simulation.robot.kinetic_energy(simulation.q, simulation.v))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("off", [0.0, 5e-4])
def test_merging_keeps_momentum_and_poses_and_accounts_for_energy(seed, off):
    rng = np.random.default_rng(seed)
    a = random_assembly(rng, 3).renamed({f"m{i}": f"a{i}" for i in range(3)})
    b = random_assembly(rng, 3, types=("backbone",)).renamed({f"m{i}": f"b{i}" for i in range(3)})
    port_a, port_b = str(a.free_ports[0]), str(b.free_ports[-1])
    q_a = bent(floating(a), rng)
    shift = se3.pose(None, off * np.array([1.0, -1.0, 1.0]) / np.sqrt(3))
    q_b, v_a, v_b = meeting(a, b, port_a, port_b, q_a, bent(floating(b), rng)[7:], rng, shift)
    world = mr.World({"a": mr.Organism(a, q_a, v_a), "b": mr.Organism(b, q_b, v_b)}, gravity=NOWHERE)
    before = energy(world["a"]) + energy(world["b"])
    poses = {f: world.pose(n, f) for n, x in (("a", a), ("b", b)) for f in x.modules}
    runs = world.run(0.001, [mr.Merge(0.0, "a", "b", port_a, port_b)])
    assert [e.kind for e in world.events] == ["merge"], world.events
    impact = world.impacts[0]
    np.testing.assert_allclose(impact.momentum_after, impact.momentum_before, rtol=0, atol=1e-10)
    assert np.abs(impact.momentum_before).max() > 1e-2
    start = runs["a"].segments[-1]
    assert impact.energy_lost == pytest.approx(before - start.kinetic_energy[0], abs=1e-12)
    assert off or impact.energy_lost > 0
    for frame, X in poses.items():
        now = start.robot.frame_pose(start.q[0], frame)
        assert np.linalg.norm((now - X)[:3, 3]) <= 1e-12 + 2 * off


@pytest.mark.parametrize("reverse", [False, True])
def test_three_that_meet_in_one_tick_become_one(reverse):
    """Whichever of the connectors latches first, the others follow the organisms that it joined."""
    starts, X = {}, chain("a").placements
    for k, name in enumerate("abc"):
        q = floating(chain(name, 1)).neutral()
        q[:3], q[3:7] = X[f"a{k}"][:3, 3], mr.spatial.quaternion.from_matrix(X[f"a{k}"][:3, :3])
        starts[name] = mr.Organism(chain(name, 1), q)
    world = mr.World(starts, gravity=NOWHERE)
    merges = [mr.Merge("met", "a", "b", "a0/3", "b0/4"), mr.Merge("met", "b", "c", "b0/3", "c0/4")]
    world.run(0.002, merges[::-1] if reverse else merges)
    assert [event.kind for event in world.events] == ["merge", "merge"]
    assert list(world) == ["a"]
    assert list(world.assembly("a").modules) == ["a0", "b0", "c0"]
    world.change(mr.Merge(0.0, "a", "a", "a0/4", "c0/3"))
    assert world.events[-1].message == "merge: a0/4 and c0/3 are of one organism, 'a': expected mr.Connect"


@pytest.mark.parametrize("seed", range(3))
def test_rigid_organisms_that_meet_become_one_rigid_body(seed):
    """Docked by sides that no hinge moves they have no joints: v = P/m and w = J^-1 L about the common centre of mass."""
    rng = np.random.default_rng(seed)
    a = mr.Assembly.single("m0", "backbone").dock("m1", "scout", "m0/2", "5")
    b = mr.Assembly.single("n0", "backbone").dock("n1", "backbone", "n0/4", "4")
    q_a = bent(floating(a), rng)
    q_b, v_a, v_b = meeting(a, b, "m1/2", "n0/2", q_a, [], rng)
    world = mr.World({"a": mr.Organism(a, q_a, v_a), "b": mr.Organism(b, q_b, v_b)}, gravity=NOWHERE)
    masses, centres, tensors, P, L = [], [], [], np.zeros(3), np.zeros(3)
    for name, assembly in (("a", a), ("b", b)):
        robot, q, v = world[name].robot, world[name].q, world[name].v
        for module in assembly.modules:
            own = assembly.modules[module].parts["A"].inertia
            X, V = robot.frame_pose(q, module), robot.frame_twist(q, v, module)
            R, c = X[:3, :3], X[:3, 3]
            m, linear, angular = own[0, 0], R @ V[:3], R @ V[3:]
            masses.append(m)
            centres.append(c)
            tensors.append(R @ own[3:, 3:] @ R.T)
            P += m * linear
            L += np.cross(c, m * linear) + tensors[-1] @ angular
    total, centre = sum(masses), np.average(centres, axis=0, weights=masses)
    J = sum(
        T + m * ((d := c - centre) @ d * np.eye(3) - np.outer(d, d))
        for m, c, T in zip(masses, centres, tensors, strict=True)
    )
    v, w = P / total, np.linalg.solve(J, L - np.cross(centre, P))
    world.run(0.001, [mr.Merge(0.0, "a", "b", "m1/2", "n0/2")])
    start = world.recordings()["a"].segments[-1]
    assert start.robot.nv == 6
    for module in ("m0", "m1", "n0", "n1"):
        X, V = start.robot.frame_pose(start.q[0], module), start.robot.frame_twist(start.q[0], start.v[0], module)
        np.testing.assert_allclose(X[:3, :3] @ V[3:], w, atol=1e-12)
        np.testing.assert_allclose(X[:3, :3] @ V[:3], v + np.cross(w, X[:3, 3] - centre), atol=1e-12)
    energy_after = total * v @ v / 2 + w @ J @ w / 2
    assert start.kinetic_energy[0] == pytest.approx(energy_after, rel=1e-12)


def test_a_tilted_organism_is_turned_to_fit_and_momentum_stays():
    """Half a degree off at the port: far modules move by more than the tolerance, the ports do not."""
    rng = np.random.default_rng(5)
    a, b = chain("m"), chain("n", 6)
    q_a = bent(floating(a), rng)
    tilt = se3.exp([0, 0, 0, 5e-3, -4e-3, 6e-3])
    q_b, v_a, v_b = meeting(a, b, "m2/3", "n0/4", q_a, bent(floating(b), rng)[7:], rng, tilt)
    world = mr.World({"a": mr.Organism(a, q_a, v_a), "b": mr.Organism(b, q_b, v_b)}, gravity=NOWHERE)
    world.run(0.001, [mr.Merge(0.0, "a", "b", "m2/3", "n0/4")])
    impact = world.impacts[0]
    assert impact.shift[0] > 1e-3
    assert impact.shift[1] == pytest.approx(np.linalg.norm([5e-3, -4e-3, 6e-3]), rel=1e-6)
    np.testing.assert_allclose(impact.momentum_after, impact.momentum_before, rtol=0, atol=1e-10)


def ring(prefix):
    """Six modules in a circle."""
    return chain(prefix, 6).connect(f"{prefix}5/3", f"{prefix}0/4")


def test_rings_stay_closed_when_they_dock():
    rng = np.random.default_rng(6)
    a, b = ring("m"), chain("n")
    robot = floating(a)
    q_a = robot.neutral()
    q_a[7:] = np.pi / 3
    q_a = robot.close_loops(q_a)
    q_b, v_a, v_b = meeting(a, b, "m0/2", "n0/4", q_a, bent(floating(b), rng)[7:], rng)
    world = mr.World({"a": mr.Organism(a, q_a, v_a), "b": mr.Organism(b, q_b, v_b)}, gravity=NOWHERE)
    runs = world.run(0.005, [mr.Merge(0.002, "a", "b", "m0/2", "n0/4", tolerance=(0.1, 0.5))])
    impact = world.impacts[0]
    np.testing.assert_allclose(impact.momentum_after, impact.momentum_before, rtol=0, atol=1e-10)
    for segment in runs["a"].segments:
        closing = segment.robot.loop_jacobian(segment.q) @ segment.v[..., None]
        assert np.abs(closing).max() < 1e-10
        assert np.abs(segment.robot.loop_error(segment.q)).max() < 1e-10


def test_equal_masses_that_meet_head_on_lose_what_the_closed_form_says():
    """m v²/4 for two equal masses of which one rests: half of the energy."""
    a, b = chain("m", 1), chain("n", 1)
    robot = floating(a)
    q_b, _, _ = meeting(a, b, "m0/3", "n0/4", robot.neutral(), [], np.random.default_rng(0))
    v_b = np.zeros(floating(b).nv)
    v_b[1] = -0.2
    world = mr.World({"a": mr.Organism(a), "b": mr.Organism(b, q_b, v_b)}, gravity=NOWHERE)
    mass = robot.total_mass()
    world.run(0.001, [mr.Merge(0.0, "a", "b", "m0/3", "n0/4")])
    # the hinge between their centres is free, and in line with them: it feels nothing
    assert world.impacts[0].energy_lost == pytest.approx(mass * 0.2**2 / 4, rel=1e-9)


def test_letting_go_keeps_momentum_energy_and_every_rate():
    rng = np.random.default_rng(1)
    assembly = chain("m", 5)
    robot = floating(assembly)
    q, v = bent(robot, rng), rng.normal(size=robot.nv)
    world = mr.World({"all": mr.Organism(assembly, q, v)}, gravity=NOWHERE)
    twists = {f: robot.frame_twist(q, v, f) for f in assembly.modules}
    before = energy(world["all"])
    runs = world.run(0.001, [mr.Undock(0.0, "all", "m2/3", "rest")])
    impact = world.impacts[0]
    np.testing.assert_allclose(impact.momentum_after, impact.momentum_before, rtol=0, atol=1e-10)
    assert impact.energy_lost == pytest.approx(0.0, abs=1e-12)
    parts = [runs["all"].segments[-1], runs["rest"].segments[0]]
    assert sum(float(p.kinetic_energy[0]) for p in parts) == pytest.approx(before, abs=1e-12)
    for frame, V in twists.items():
        own = next(p for p in parts if frame in p.robot.frames)
        np.testing.assert_allclose(own.robot.frame_twist(own.q[0], own.v[0], frame), V, atol=1e-12)
    # a hinge that carries nothing any more stays bent as it was
    bend = q[robot.joint("m2/hinge").q_slice]
    left = parts[0].robot
    expected = robot.frame_pose(q, "m2/3")
    np.testing.assert_allclose(left.frame_pose(parts[0].q[0], "m2/3"), expected, atol=1e-12)
    assert "m2/hinge" not in [j.name for j in left.joints]
    assert abs(bend[0]) > 0.01


@pytest.mark.parametrize("seed", range(4))
def test_letting_go_keeps_the_velocity_of_parts_whose_base_weighs_nothing(seed):
    """The flange by which a powerball was docked turns freely once nothing is docked to it: its motion is not that of the ball."""
    rng = np.random.default_rng(seed)
    arm = random_assembly(rng, 4, ("powerball", "scout", "backbone"))
    arm = arm if seed else mr.Assembly.single("m0", "powerball").dock("m1", "powerball", "m0/out", "in")
    robot = floating(arm)
    world = mr.World({"a": mr.Organism(arm, bent(robot, rng), rng.normal(size=robot.nv))}, gravity=NOWHERE)
    heavy = [f"{m}/{part}" for m, module in arm.modules.items() for part in module.massive_parts]
    twists = lambda: {  # noqa: E731
        part: x.robot.frame_twist(x.q, x.v, part)
        for x in map(world.__getitem__, world)
        for part in heavy
        if part in x.robot.frames
    }
    for k, opened in enumerate(arm.connections):
        before, name = twists(), next(n for n in world if opened.a.module in world.assembly(n).modules)
        assert world.change(mr.Undock(world.t, name, str(opened.a), into=f"b{k}"))
        after, impact = twists(), world.impacts[-1]
        np.testing.assert_allclose([after[x] for x in heavy], [before[x] for x in heavy], atol=1e-12)
        np.testing.assert_allclose(impact.momentum_after, impact.momentum_before, atol=1e-11)


def test_a_hinge_that_was_let_go_goes_on_from_where_it_is():
    """Bent while it carried modules, held while it carries none, and moving again from there with a new one."""
    rng = np.random.default_rng(7)
    assembly = chain("m", 3)
    q = bent(floating(assembly), rng)
    bend = q[floating(assembly).joint("m1/hinge").q_slice]
    world = mr.World({"a": mr.Organism(assembly, q)}, gravity=NOWHERE)
    changes = [mr.Undock(0.0, "a", "m1/3", "rest"), mr.Dock(0.002, "a", "new", "backbone", "m1/3", "4")]
    runs = world.run(0.004, changes)
    assert [e.kind for e in world.events] == ["undock", "dock"]
    without, withit = runs["a"].segments
    assert "m1/hinge" in without.robot.held
    np.testing.assert_allclose(withit.q[0][withit.robot.joint("m1/hinge").q_slice], bend, atol=1e-12)


def test_a_module_that_joins_moves_along():
    rng = np.random.default_rng(2)
    assembly = chain("m", 3)
    robot = floating(assembly)
    q, v = bent(robot, rng), rng.normal(size=robot.nv)
    world = mr.World({"a": mr.Organism(assembly, q, v, controller=HOLD)}, gravity=NOWHERE)
    runs = world.run(0.02, [mr.Dock(0.0, "a", "new", "scout", "m0/2", "4")])
    after = runs["a"].segments[-1]
    assert "new" in after.robot.frames
    for frame in assembly.modules:
        np.testing.assert_allclose(after.robot.frame_pose(after.q[0], frame), robot.frame_pose(q, frame), atol=1e-12)
        np.testing.assert_allclose(
            after.robot.frame_twist(after.q[0], after.v[0], frame), robot.frame_twist(q, v, frame), atol=1e-9
        )
    assert runs["a"].status.ok
    assert world.assembly("a") == assembly.dock("new", "scout", "m0/2", "4")


def test_two_organisms_meet_dock_and_go_on_under_one_law():
    rng = np.random.default_rng(3)
    a, b = chain("m"), chain("n")
    speed, way = 0.1, 0.5
    q_b, v_a, v_b = meeting(a, b, "m2/3", "n0/4", floating(a).neutral(), np.zeros(floating(b).nq - 7), rng)
    v_a[:], v_b[:] = 0, 0
    v_b[1], q_b[1] = -speed, q_b[1] + speed * way
    law = mr.ComputedTorque(100, 20, reference=mr.gait("snake", amplitude=0.3), partial=True)

    class AfterDocking:
        """The gait, once there is a robot of six modules to play it on."""

        sample_time = None

        def on(self, robot):
            return (law if "n0" in robot.frames and "m0" in robot.frames else HOLD).on(robot)

    world = mr.World(
        {"a": mr.Organism(a, controller=AfterDocking()), "b": mr.Organism(b, q_b, v_b, controller=AfterDocking())},
        gravity=NOWHERE,
    )
    ports = lambda w: np.linalg.norm(w.pose("a", "m2/3")[:3, 3] - w.pose("b", "n0/4")[:3, 3])  # noqa: E731
    runs = world.run(1.5, [mr.Merge(lambda w: ports(w) < 1e-9, "a", "b", "m2/3", "n0/4")])
    assert world.impacts[0].t == pytest.approx(way, abs=2e-3)
    assert [s.robot.nv for s in runs["a"].segments] == [8, 11]
    assert runs["b"].status.t == pytest.approx(way, abs=2e-3)
    joined = runs["a"].segments[1]
    # it swings, and moves off with the momentum that was brought
    assert np.ptp(joined.q[:, 7:], axis=0).max() > 0.1
    momenta = joined.robot.momentum(joined.q, joined.v)
    np.testing.assert_allclose(momenta, np.tile(world.impacts[0].momentum_before, (len(momenta), 1)), atol=1e-6)
    with pytest.raises(SimulationError, match="changes its size with the robot"):
        _ = runs["a"].q


def test_a_filter_goes_on_from_what_it_believed():
    a, b = chain("m", 2), chain("n", 2)
    q_b, _, _ = meeting(
        a, b, "m1/3", "n0/4", floating(a).neutral(), np.zeros(floating(b).nq - 7), np.random.default_rng(4)
    )
    eyes = mr.ExtendedKalmanFilter(mr.HallSensors(noise=1e-2))
    world = mr.World(
        {"a": mr.Organism(a, controller=HOLD, estimator=eyes), "b": mr.Organism(b, q_b, estimator=eyes)},
        gravity=NOWHERE,
    )
    world.run(0.02)
    believed, true = world["a"].pilot.estimate.q, world["a"].q
    here = world["a"].robot.joint("m0/hinge").q_slice
    assert abs(believed[here] - true[here]) > 1e-5
    assert world.change(mr.Merge(0.02, "a", "b", "m1/3", "n0/4"))
    there = world["a"].robot.joint("m0/hinge").q_slice
    assert world["a"].pilot.estimate.q[there] == pytest.approx(believed[here], abs=1e-12)
    run = world.run(0.02)["a"]
    assert run.status.ok
    estimate = run.segments[-1].q_estimate[:, there]
    assert np.abs(estimate - run.segments[-1].q[:, there]).max() < 0.05


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (mr.Merge(0.0, "a", "b", "m1/3", "n0/4"), "ports are 1e+03 mm"),
        (mr.Merge(0.0, "a", "b", "m0/3", "n0/4"), "m0/3"),
        (mr.Undock(0.0, "a", "m1/3", "c"), "nothing is docked at m1/3"),
        (mr.Undock(0.0, "a", "m0/3", "b"), "choose another name"),
        (mr.Dock(0.0, "a", "m0", "backbone", "m1/3", "4"), "m0"),
        (mr.Connect(0.0, "a", "m0/4", "n0/4"), "no module 'n0'"),
        (mr.Connect("met", "a", "m0/4", "n0/4"), "its moment did not come"),
    ],
)
def test_what_cannot_be_is_missed_and_nothing_changes(change, message):
    a, b = chain("m", 2), chain("n", 2)
    far = floating(b).neutral()
    far[1] = 1.21
    world = mr.World({"a": mr.Organism(a), "b": mr.Organism(b, far)}, gravity=NOWHERE)
    world.run(0.01, [change])
    assert [e.kind for e in world.events] == ["missed"]
    assert message in world.events[0].message
    assert world.assembly("a") == a
    assert world["b"].status is None
    assert world["a"].ticks == 10


ROPE = mr.Elastic(stiffness=100.0, rest=0.1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            mr.Connect(0.1, "a", "m0/1", "m1/2", tolerance=0.1),
            "connect with tolerance 0.1: expected two numbers of zero or",
        ),
        (
            mr.Connect(0.1, "a", "m0/1", "m1/2", tolerance=(-1, 0)),
            r"connect with tolerance \(-1, 0\): expected two numbers",
        ),
        (mr.Reroot(-1.0, "a", "m1"), "reroot when -1.0: expected a time of zero or more .s. or a function"),
        (mr.Reroot(np.nan, "a", "m1"), "reroot when nan: expected a time"),
        (mr.Reroot(np.inf, "a", "m1"), "reroot when inf: expected a time"),
        (mr.Reroot(None, "a", "m1"), "reroot when None: expected a time"),
        (mr.Reroot("met", "a", "m1"), "reroot when 'met': expected a time"),
        (mr.Merge(0.5, "a", "c", "m1/3", "n0/4"), "merge at 0.5 s: no organism 'c': valid: a, b"),
        (mr.Connect("met", "a", "m0/4", "m7/3"), "connect when met: no module 'm7': valid: m0, m1"),
        (mr.Connect(0.5, "a", "m0/4", "m1/9"), "connect at 0.5 s: backbone 'm1' has no port '9': valid: 2, 3, 4, 5, 7"),
        (mr.Disconnect(lambda w: False, "a", "m9/3"), "disconnect on a condition: no module 'm9': valid: m0, m1"),
        (mr.Disconnect(0.5, "a", "m0"), "disconnect at 0.5 s: port 'm0': expected module/port"),
        (mr.Reroot(0.5, "a", "m9"), "reroot at 0.5 s: no module 'm9': valid: m0, m1"),
        (
            mr.Dock(0.5, "a", "x", "bakbone", "m1/3", "4"),
            "dock at 0.5 s: no module type 'bakbone': did you mean 'backbone'",
        ),
        (mr.Dock(0.5, "a", "x", "backbone", "m1/3", "9"), "dock at 0.5 s: backbone 'x' has no port '9'"),
        (mr.Tie(0.5, "a", "rope", ["m0/3", "m9/3"], ROPE), "tie at 0.5 s: line 'rope': no port 'm9/3'"),
        (mr.Untie(0.5, "a", "rope"), "untie at 0.5 s: no line 'rope': valid: none"),
    ],
)
def test_what_can_never_be_is_refused_before_anything_moves(change, message):
    world = mr.World({"a": mr.Organism(chain("m", 2))}, gravity=NOWHERE)
    with pytest.raises(mr.ModurobError, match=message):
        world.run(0.01, [mr.Undock(0.001, "a", "m0/3", into="b"), change])
    assert world.t == 0
    assert world.events == []


def test_changes_may_name_what_others_bring():
    world = mr.World({"a": mr.Organism(chain("m", 2))}, gravity=NOWHERE)
    world.run(
        0.01,
        [
            mr.Untie(0.008, "a", "rope"),
            mr.Reroot(0.007, "b", "x"),
            mr.Undock(0.006, "a", "m1/3", into="b"),
            mr.Dock(0.005, "a", "x", "backbone", "m1/3", "4"),
            mr.Tie(0.004, "a", "rope", ["m0/3", "m1/3"], ROPE),
        ],
    )
    assert [e.kind for e in world.events] == ["tie", "dock", "undock", "reroot", "untie"]


def test_a_world_has_an_organism_and_says_which():
    with pytest.raises(SimulationError, match=r"organisms \{\}: expected a mapping, .* of at least one"):
        mr.World({})
    world = mr.World({"a": mr.Organism(chain("m", 2)), "b": mr.Organism(chain("n", 2))}, gravity=NOWHERE)
    world.step()
    assert repr(world) == "World(a, b, t = 0.001 s)"


def test_a_change_whose_moment_does_not_come_is_missed():
    world = mr.World({"a": mr.Organism(chain("m", 3))}, gravity=NOWHERE)
    late, never = mr.Undock(0.5, "a", "m1/3", "b"), mr.Undock(lambda w: w.t > 9, "a", "m0/3", "c")
    world.run(0.01, [late, never])
    assert [(e.kind, e.message) for e in world.events] == [("missed", "undock: its moment did not come")] * 2


def test_a_change_at_the_end_is_made():
    world = mr.World({"a": mr.Organism(chain("m", 3))}, gravity=NOWHERE)
    runs = world.run(0.01, [mr.Undock(0.01, "a", "m1/3", "b")])
    assert world.impacts[0].t == 0.01
    assert sorted(runs) == ["a", "b"]
    assert [len(s.t) for s in runs["a"].segments] == [11, 1]
    assert world.run(0.01)["b"].status.t == 0.02


def test_names_of_organisms_are_not_used_twice():
    """What has merged is still among the recordings."""
    a, b = chain("m", 2), chain("n", 2)
    q_b, _, _ = meeting(a, b, "m1/3", "n0/4", floating(a).neutral(), np.zeros(1), np.random.default_rng(0))
    world = mr.World({"a": mr.Organism(a), "b": mr.Organism(b, q_b)}, gravity=NOWHERE)
    runs = world.run(0.01, [mr.Merge(0.002, "a", "b", "m1/3", "n0/4"), mr.Undock(0.005, "a", "m1/3", "b")])
    assert [e.kind for e in world.events] == ["merge", "missed"]
    assert "'b' is or was there already" in world.events[1].message
    assert runs["b"].status.t == 0.002


class Fails:
    """A law that cannot be made for more than two modules, or that fails after a while."""

    sample_time = None

    def __init__(self, when=np.inf):
        self.when = when

    def on(self, robot):
        if robot.nv > 7:
            raise mr.ModurobError("too many modules")
        return self

    def start(self):
        return None

    def step(self, memory, t, measured):
        return None, np.zeros(7) if t < self.when else 1 / 0


def test_a_controller_that_cannot_be_made_stops_the_docking():
    a = chain("m", 2)
    world = mr.World({"a": mr.Organism(a, controller=Fails())}, gravity=NOWHERE)
    runs = world.run(0.01, [mr.Dock(0.005, "a", "new", "backbone", "m1/3", "4")])
    assert world.events[0].message == "dock: too many modules"
    assert world.assembly("a") == a
    assert runs["a"].status.ok
    assert len(runs["a"].segments) == 1


def test_an_organism_whose_run_has_ended_is_left_alone():
    world = mr.World(
        {"a": mr.Organism(chain("m", 2), controller=Fails(0.003)), "b": mr.Organism(chain("n", 2))}, gravity=NOWHERE
    )
    runs = world.run(0.01, [mr.Undock(0.006, "a", "m0/3", "c")])
    assert runs["a"].status.kind == "controller failed"
    np.testing.assert_allclose(runs["a"].t, [0.0, 0.001, 0.002, 0.003], rtol=1e-12)
    assert runs["b"].status.ok
    assert runs["b"].t[-1] == 0.01
    assert "organism 'a' moves no more: controller failed at t = 0.003 s" in world.events[0].message


def test_organisms_end_as_they_do_alone():
    """One that diverged keeps its last state, one that moves no inertia has none: no row of a recording is after its end."""
    two, push = chain("a", 2), lambda t: {"a1": np.array([1e12, 0, 0, 1e13, 0, 0])}
    alone = mr.simulate(two.mechanism(gravity=NOWHERE), duration=0.01, external=push)
    void = mr.Assembly.single("v", "virtual")
    singular = mr.simulate(void.mechanism(floating=True), duration=0.01)
    assert (alone.status.kind, singular.status.kind) == ("diverged", "singular")
    given = {"a": mr.Organism(two, stands=np.eye(4)), "v": mr.Organism(void), "b": mr.Organism(chain("b"))}
    for name, expected, wrench in (("a", alone, push), ("v", singular, None)):
        for names in (name, name + "b"):
            runs = mr.World({x: given[x] for x in names}, gravity=NOWHERE, external=wrench).run(0.01)
            assert (runs[name].status.kind, runs[name].status.t) == (expected.status.kind, expected.status.t)
            np.testing.assert_array_equal(runs[name].t, expected.t)
            np.testing.assert_allclose(runs[name].q, expected.q, rtol=1e-9)
            assert names == name or runs["b"].status.ok


def test_organisms_that_end_in_one_tick_end_each_for_its_own_reason():
    """Two that move no inertia, two that diverge, each at its own rate, and one that goes on, with a force to one that ended."""
    void, force = mr.Assembly.single("v0", "virtual"), np.array([1e12, 0, 0, 0, 0, 0])
    parts = {"v": void, "a": chain("a", 1), "w": void.renamed({"v0": "w0"}), "b": chain("b", 1), "c": chain("c", 1)}
    world = mr.World(
        {name: mr.Organism(assembly) for name, assembly in parts.items()},
        gravity=NOWHERE,
        forces={"spring": (mr.Spring(2.0), "v0", "c0")},
        external=lambda t: {"a0": force, "b0": 2 * force},
    )
    ends = {name: run.status for name, run in world.run(0.005).items()}
    assert {name: end.kind for name, end in ends.items()} == {
        **dict.fromkeys("vw", "singular"),
        **dict.fromkeys("ab", "diverged"),
        "c": "done",
    }
    assert "v/floating_base" in ends["v"].message
    assert "w/floating_base" in ends["w"].message
    slow, fast = (float(ends[name].message.split()[-1]) for name in "ab")
    assert fast == pytest.approx(2 * slow, rel=1e-2)


def test_limits_that_organisms_pass_are_among_their_events(tmp_path):
    a = chain("m", 3)
    q = floating(a).neutral()
    q[7:] = 1.5
    v = np.zeros(floating(a).nv)
    v[6:] = 10.0
    world = mr.World({"a": mr.Organism(a, q, v)}, gravity=NOWHERE)
    with pytest.warns(mr.ModurobWarning, match="ran into a stop that is too stiff"):
        run = world.run(0.03, [mr.Undock(0.015, "a", "m1/3", "b")])["a"]
    assert [e.kind for e in run.events][:2] == ["limit", "limit"]
    assert [e.t for e in run.events] == sorted(e.t for e in run.events)
    assert "undock" in [e.kind for e in run.events]
    run.save(tmp_path / "a.mrun")
    again = mr.Recording.load(tmp_path / "a.mrun")
    assert again.events == run.events
    assert [s.robot.key for s in again.segments] == [s.robot.key for s in run.segments]
    for mine, other in zip(run.segments, again.segments, strict=True):
        np.testing.assert_array_equal(mine.q, other.q)
    with pytest.raises(SimulationError, match="repeat its segments one by one"):
        again.repeated()
    assert run.plot(tmp_path / "a.png").axes[0].get_ylabel() == "position [rad]"


def test_organisms_have_one_state():
    with pytest.raises(SimulationError, match=r"organism 'a': q and v have leading axes: expected one state"):
        mr.World({"a": mr.Organism(chain("m", 2), np.tile(floating(chain("m", 2)).neutral(), (3, 1)))})
    with pytest.raises(mr.ModurobError, match=r"q0 has shape \(3,\)"):
        mr.World({"a": mr.Organism(chain("m", 2), np.zeros(3))})


def test_a_world_can_be_cancelled():
    world = mr.World({"a": mr.Organism(chain("m", 2))}, gravity=NOWHERE)
    calls = iter(range(100))
    world.run(1.0, cancelled=lambda: next(calls) >= 5)
    assert world.ticks == 5


# ---- loops that close and open, other bases, organisms that stand, forces between them ----


def test_a_ring_that_opened_and_has_come_apart_a_little_closes_again():
    """Ports meet within the tolerance; closed, they stay so; momentum stays, and energy is not made."""
    rng = np.random.default_rng(8)
    closed = ring("m")
    robot = floating(closed)
    q = robot.neutral()
    q[7:] = np.pi / 3

    def bending(t, q, v):
        return np.concatenate([np.zeros(6), 0.5 * np.cos(np.arange(len(v) - 6))])

    start = mr.Organism(closed, q, 0.5 * rng.normal(size=robot.nv), controller=bending)
    world = mr.World({"a": start}, gravity=NOWHERE)
    again = mr.Connect(0.01, "a", "m5/3", "m0/4", tolerance=(5e-3, 5e-2))
    runs = world.run(0.02, [mr.Disconnect(0.002, "a", "m5/3"), again])
    assert [e.kind for e in world.events] == ["disconnect", "connect"], world.events
    opening, closing = world.impacts
    assert opening.energy_lost == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(opening.momentum_after, opening.momentum_before, rtol=0, atol=1e-12)
    assert closing.energy_lost > 1e-6
    assert 1e-6 < closing.shift[0] < 5e-3
    np.testing.assert_allclose(closing.momentum_after, closing.momentum_before, rtol=0, atol=1e-9)
    assert [len(s.robot.loops) for s in runs["a"].segments] == [1, 0, 1]
    segment = runs["a"].segments[-1]
    assert np.abs(segment.robot.loop_error(segment.q)).max() < 1e-10
    assert world.assembly("a") == closed


def test_ports_too_far_apart_do_not_connect():
    world = mr.World({"a": mr.Organism(chain("m", 6))}, gravity=NOWHERE)
    world.run(0.001, [mr.Connect(0.0, "a", "m5/3", "m0/4")])
    assert [e.kind for e in world.events] == ["missed"]
    assert "mm and" in world.events[0].message
    assert "expected at most 1 mm" in world.events[0].message


def test_another_base_is_the_same_motion_in_other_coordinates():
    rng = np.random.default_rng(9)
    assembly = chain("m", 4)
    robot = floating(assembly)
    q, v = bent(robot, rng), rng.normal(size=robot.nv)
    plain = mr.World({"a": mr.Organism(assembly, q, v)}).run(0.05)["a"]
    world = mr.World({"a": mr.Organism(assembly, q, v)})
    changed = world.run(0.05, [mr.Reroot(0.02, "a", "m3")])["a"]
    assert [e.kind for e in world.events] == ["reroot"]
    assert world.impacts[0].energy_lost == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(world.impacts[0].momentum_after, world.impacts[0].momentum_before, atol=1e-12)
    last, other = plain.segments[-1], changed.segments[-1]
    assert other.robot != last.robot
    for module in assembly.modules:
        here, there = (s.robot.frame_pose(s.q[-1], module) for s in (last, other))
        np.testing.assert_allclose(there, here, atol=1e-9)


def test_an_organism_that_stands_is_a_robot_on_its_base():
    """And where it stands on another module from now on, that module stays where it was."""
    assembly = chain("m", 3)
    at = se3.pose(None, (0.3, -0.2, 0.5))
    world = mr.World({"a": mr.Organism(assembly, stands=at)})
    run = world.run(0.05, [mr.Reroot(0.03, "a", "m2")])["a"]
    fixed = mr.simulate(assembly.mechanism(base="m0"), duration=0.03)
    before, after = run.segments
    np.testing.assert_allclose(before.q[-1], fixed.q[-1], atol=1e-12)
    np.testing.assert_allclose(before.robot.frame_pose(before.q[-1], "m0"), at, atol=1e-12)
    tip = before.robot.frame_pose(before.q[-1], "m2")
    np.testing.assert_allclose(after.robot.frame_pose(after.q[-1], "m2"), tip, atol=1e-12)


def test_a_spring_between_organisms_pulls_both_and_keeps_momentum_and_energy():
    a, b = chain("m", 2), chain("n", 2)
    far = floating(b).neutral()
    far[:3] = (0.1, 0.4, 0.2)
    rope = {"rope": (mr.Spring(30.0, 0.1), "m1", "n0")}
    world = mr.World({"a": mr.Organism(a), "b": mr.Organism(b, far)}, gravity=NOWHERE, forces=rope)

    def total(w):
        reach = np.linalg.norm(w.pose("a", "m1")[:3, 3] - w.pose("b", "n0")[:3, 3])
        return energy(w["a"]) + energy(w["b"]) + 30.0 * (reach - 0.1) ** 2 / 2

    before = total(world)
    world.run(0.3)
    moved = [np.linalg.norm(world.pose(n, m)[:3, 3] - x) for n, m, x in (("a", "m1", 0), ("b", "n0", far[:3]))]
    assert min(moved) > 1e-3
    assert energy(world["a"]) > 1e-3
    assert total(world) == pytest.approx(before, rel=1e-8)
    momentum = sum(world[n].robot.momentum(world[n].q, world[n].v) for n in world)
    np.testing.assert_allclose(momentum, 0, atol=1e-9)
    assert np.abs(world["a"].robot.momentum(world["a"].q, world["a"].v)).max() > 1e-2


def test_wrenches_friction_and_stops_act_in_a_world_as_alone():
    rng = np.random.default_rng(10)
    assembly = chain("m", 4)
    robot = assembly.mechanism(base="m0", floating=True)
    q, v = bent(robot, rng), 3 * rng.normal(size=robot.nv)

    def push(t, q, v):
        return {"m3": mr.InWorld([1.0, np.sin(9 * t), 0, 0, 0, 0.1])}

    world = mr.World({"a": mr.Organism(assembly, q, v)}, external=push)
    run = world.run(0.1)["a"]
    alone = mr.simulate(robot, q, v, 0.1, external=push)
    np.testing.assert_allclose(run.q, alone.q, atol=1e-9)
    assert np.abs(run.q - mr.simulate(robot, q, v, 0.1).q).max() > 1e-4


def test_laws_in_a_world_sample_at_their_own_times():
    law = mr.ComputedTorque(kp=100, kd=20, partial=True, sample_time=5e-3)
    a = chain("m", 3)
    q = floating(a).neutral()
    q[7:] = 0.3
    run = mr.World({"a": mr.Organism(a, q, controller=law)}, gravity=NOWHERE).run(0.02)["a"]
    changes = np.flatnonzero(np.any(np.diff(run.tau[:-1], axis=0) != 0, axis=-1)) + 1
    assert changes.tolist() == [5, 10, 15]
    alone = mr.simulate(a.mechanism(base="m0", floating=True, gravity=NOWHERE), q, duration=0.02, controller=law)
    np.testing.assert_allclose(run.q[::5], alone.q, atol=1e-10)


def test_a_condition_that_fails_loses_nothing():
    world = mr.World({"crab": mr.Organism(mr.load("crab"))}, gravity=(0, 0, 0))
    run = world.run(0.003, mr.Reroot(lambda w: 1 / 0, "crab", "m3"))["crab"]
    assert run.status.ok
    assert [e.message for e in world.events] == ["reroot: its condition failed: ZeroDivisionError: division by zero"]


# ---- what a recording of a world holds, and what it does not ----


def test_recordings_of_organisms_that_others_push_say_so():
    """The robot of a recording has no ground and no springs to others: without them its accelerations would be those of free
    fall, and a repetition another motion."""
    block = mr.World({"a": mr.Organism(chain("m", 2))}, ground=mr.Ground()).run(0.2)["a"]
    np.testing.assert_allclose(block.vdot[-1], 0, atol=1e-3)
    far = floating(chain("n", 2)).neutral()
    far[:3] = (0.1, 0.6, 0.2)
    rope = {"rope": (mr.Spring(30.0, 0.1), "m1", "n0")}
    both = {"a": mr.Organism(chain("m", 2)), "b": mr.Organism(chain("n", 2), far)}
    pulled = mr.World(both, gravity=NOWHERE, forces=rope).run(0.02)["a"]
    np.testing.assert_allclose(pulled.vdot[10], (pulled.v[11] - pulled.v[9]) / 2e-3, rtol=1e-12)
    for run in (block, pulled):
        with pytest.raises(SimulationError, match="in a world its ground, contacts and forces between organisms"):
            run.repeated()
        with pytest.raises(SimulationError, match="states are known at ticks alone"):
            run.segments[0].at(0.0105)
    alone = mr.World(both, gravity=NOWHERE).run(0.02)["a"]
    np.testing.assert_array_equal(alone.repeated().q, alone.q)


def test_an_acceleration_that_nothing_says_is_not_a_number():
    world = mr.World({"a": mr.Organism(chain("m", 3))}, ground=mr.Ground())
    runs = world.run(0.01, mr.Undock(0.01, "a", "m1/3", "b"))
    assert np.isnan(runs["b"].vdot).all()


@pytest.fixture
def soft(tmp_path):
    """A module whose hinge has an elastic drive."""
    path = tmp_path / "soft.yaml"
    path.write_text(
        """
format: modurob module 1
name: soft
parts:
  A: {mass: 1.0, inertia: [0.002, 0.002, 0.002]}
  B: {mass: 0.5, inertia: [0.001, 0.001, 0.001], centre: [0, 0.05, 0]}
joints:
  hinge:
    kind: revolute
    from: A
    to: B
    axis: [1, 0, 0]
    drive:
      motor: {torque_constant: 0.03, resistance: 0.3, inertia: 1.42e-5, supply: 24.0, current_limit: 15.0}
      gear: {ratio: 100.0, stiffness: 500.0}
      input: torque
connectors:
  cobold: {gender: none}
ports:
  "3": {part: B, at: [0, 0.05, 0], normal: [0, 1, 0], up: [0, 0, 1], connector: cobold}
  "4": {part: A, at: [0, -0.05, 0], normal: [0, -1, 0], up: [0, 0, 1], connector: cobold}
"""
    )
    return mr.module_type(path)


def test_states_of_drives_are_recorded_carried_over_and_seen_by_laws(soft):
    """As alone: motor angles, energies, laws that measure them; the usual stepper is the one that the drives need."""
    assembly = mr.Assembly.single("m0", soft).dock("m1", soft, "m0/3", "4")
    law = mr.ElasticLinearisation(0.2, pole=8.0, sample_time=1e-3)
    alone = mr.simulate(assembly.mechanism(gravity=NOWHERE), [0.1, 0.3], duration=0.05, controller=law)
    standing = {"a": mr.Organism(assembly, [0.1, 0.3], controller=law, stands=np.eye(4))}
    run = mr.World(standing, gravity=NOWHERE).run(0.05)["a"]
    np.testing.assert_allclose(run.q, alone.q, atol=1e-12)
    np.testing.assert_allclose(run.x, alone.x, atol=1e-12)
    np.testing.assert_allclose(run.energy, alone.energy, atol=1e-9)
    assert run.segments[0].settings.stepper == alone.segments[0].settings.stepper
    world = mr.World(standing, gravity=NOWHERE)
    runs = world.run(0.05, mr.Undock(0.02, "a", "m0/3", "b"))
    before, after = runs["a"].segments
    assert before.x.shape[-1] == 2 * after.x.shape[-1] > 0
    np.testing.assert_array_equal(after.x[0], before.x[-1][: after.x.shape[-1]])
    np.testing.assert_array_equal(runs["b"].segments[0].x[0], before.x[-1][after.x.shape[-1] :])


def test_steps_that_a_drive_does_not_allow_are_refused(tmp_path):
    """Its current decays within a tenth of a millisecond: at the start an error, later a missed change."""
    (tmp_path / "fast.yaml").write_text(
        """
format: modurob module 1
name: fast
parts: {A: {mass: 1.0, inertia: [0.002, 0.002, 0.002]}, B: {mass: 0.5, inertia: [0.001, 0.001, 0.001]}}
joints:
  hinge:
    kind: revolute
    from: A
    to: B
    axis: [1, 0, 0]
    drive:
      motor: {torque_constant: 0.03, resistance: 0.3, inductance: 3e-5, inertia: 1.42e-5, supply: 24.0}
      gear: {ratio: 100.0}
      input: voltage
connectors: {cobold: {gender: none}}
ports: {"4": {part: A, at: [0, -0.05, 0], normal: [0, -1, 0], up: [0, 0, 1], connector: cobold}}
"""
    )
    fast, steps = mr.module_type(tmp_path / "fast.yaml"), mr.RungeKutta4(1e-3)
    single = mr.Assembly.single("f", fast)
    with pytest.raises(SimulationError, match=r"its current decays with .* too fast for RungeKutta4"):
        mr.World({"f": mr.Organism(single)}, stepper=steps)
    assert isinstance(mr.World({"f": mr.Organism(single)}).stepper, mr.ExponentialRungeKutta4)
    world = mr.World({"a": mr.Organism(chain("m", 2))}, stepper=steps)
    assert not world.change(mr.Dock(0.0, "a", "f", fast, "m1/3", "4"))
    assert "its current decays" in world.events[0].message
    assert world.assembly("a") == chain("m", 2)


# ---- changes that fail lose nothing ----


class Picky:
    """A controller that some robots make raise whatever it is."""

    sample_time = None

    def on(self, robot):
        if robot.nv < 8:
            raise KeyError("m9/hinge")
        return mr.GravityCompensation().on(robot)


def test_a_controller_that_raises_at_a_change_is_an_event():
    world = mr.World({"a": mr.Organism(chain("m", 4), controller=Picky())}, gravity=NOWHERE)
    run = world.run(0.01, mr.Undock(0.005, "a", "m1/3", "b"))["a"]
    assert run.status.ok
    assert "on(robot) failed: KeyError: 'm9/hinge'" in world.events[0].message
    assert list(world) == ["a"]
    with pytest.raises(SimulationError, match=r"on\(robot\) failed: KeyError"):
        mr.World({"a": mr.Organism(chain("m", 2), controller=Picky())})


def test_a_change_that_the_stepper_cannot_follow_is_missed_as_a_whole():
    ring = mr.Assembly.from_grid([["B", "B"], ["B", "B"]])
    world = mr.World({"a": mr.Organism(ring.disconnect("m0/4"))}, gravity=NOWHERE, stepper=mr.Variational(1e-3))
    run = world.run(0.01, mr.Connect(0.005, "a", "m0/4", "m2/3"))["a"]
    assert [e.kind for e in world.events] == ["missed"]
    assert "Variational steps are for robots without loops" in world.events[0].message
    assert run.status.ok
    assert len(run.segments) == 1
    assert world.impacts == []
    assert world.assembly("a") == ring.disconnect("m0/4")


def test_changes_in_the_past_are_refused():
    world = mr.World({"a": mr.Organism(chain("m", 3))}, gravity=NOWHERE)
    world.run(0.01)
    with pytest.raises(SimulationError, match=r"undock at 0\.005 s: that is past"):
        world.run(0.01, mr.Undock(0.005, "a", "m1/3", "b"))
    assert sorted(world.run(0.01, mr.Undock(0.01, "a", "m1/3", "b"))) == ["a", "b"]


def test_a_wrench_on_an_organism_whose_run_has_ended_ends_no_other():
    def fails(t, q, v):
        return np.zeros(len(v)) if t < 0.003 else 1 / 0

    organisms = {"a": mr.Organism(chain("m", 2)), "b": mr.Organism(chain("n", 2), controller=fails)}
    runs = mr.World(organisms, gravity=NOWHERE, external=lambda t: {"n0": np.ones(6), "m1/3": np.ones(6)}).run(0.01)
    assert runs["b"].status.kind == "controller failed"
    assert runs["a"].status.ok
    assert np.abs(runs["a"].v[-1]).max() > 1e-3


def test_a_force_between_frames_may_be_named_as_one_along_a_joint():
    world = mr.World({"a": mr.Organism(chain("m", 3))}, forces={"m0/hinge stop": (mr.Spring(2.0), "m0", "m2")})
    assert world.run(0.005)["a"].status.ok


def test_recordings_of_a_cancelled_world_say_so():
    world = mr.World({"a": mr.Organism(chain("m", 2))}, gravity=NOWHERE)
    run = world.run(1.0, cancelled=lambda: world.ticks >= 5)["a"]
    assert str(run.status) == "cancelled at t = 0.005 s: asked to stop"
    assert world.run(0.005)["a"].status.ok


@pytest.mark.parametrize(
    ("organisms", "settings", "message"),
    [
        (
            {"a": mr.Organism(chain("m", 2), stands=[0, 0, 1])},
            {},
            r"organism 'a' stands at \[0, 0, 1\]: expected a pose",
        ),
        ({"a": mr.Organism(chain("m", 2), stands=2 * np.eye(4))}, {}, "expected a pose"),
        ({"a": mr.Organism(chain("m", 2), stands="here")}, {}, "stands at 'here': expected a pose"),
        ({"a": mr.Organism(chain("m", 2), [0, 0, 0, 1, 0, 0, 0, 30])}, {}, "expected radians; np.deg2rad"),
        ({1: mr.Organism(chain("m", 2))}, {}, "organism 1: expected a name"),
        ({"a": mr.Organism(chain("m", 2))}, {"stepper": 1e-3}, "stepper 0.001: expected one such as mr.RungeKutta4"),
    ],
)
def test_organisms_are_checked_as_robots_are(organisms, settings, message):
    with pytest.raises(SimulationError, match=message):
        mr.World(organisms, **settings)


UNDOCKED, REROOTED = mr.Undock(0.002, "b", "b0/3", "c"), mr.Reroot(0.002, "a", "a1")


@pytest.mark.parametrize(("change", "touch"), [(UNDOCKED, None), (REROOTED, None), (UNDOCKED, mr.BodyContact())])
def test_friction_holds_on_while_organisms_change(change, touch):
    """Friction holds modules against a push: their bristles stay as they are whatever happens to others, or to their base."""
    flying = mr.Organism(chain("b", 2), [2.0, 0, 3, 1, 0, 0, 0, 0.3])
    orgs = {"b": flying, "a": mr.Organism(chain("a", 1 if touch else 2))}

    def pushed(changes):
        push = lambda t: {"a0": mr.InWorld([4.0, 0, 0, 0, 0, 0])}  # noqa: E731
        world = mr.World(orgs, ground=mr.Ground(friction=0.8), external=push, body_contact=touch)
        world.run(0.004, changes)
        assert [e.kind for e in world.events] == [type(x).__name__.lower() for x in changes]
        return world.pose("a", "a0"), world["a"].robot.frame_twist(world["a"].q, world["a"].v, "a0")

    for held, still in zip(pushed([change]), pushed([]), strict=True):
        # steps of first order differ by this with the base; without their bristles modules would move by 1e-6
        np.testing.assert_allclose(held, still, atol=1e-7)
