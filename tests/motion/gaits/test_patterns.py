"""Who swings when: waves that travel, limbs that take turns, rings that close."""

import numpy as np
import pytest

import modurob as mr
from modurob.errors import GaitError
from modurob.motion.gaits import gait, phases
from modurob.motion.gaits.active import active_joints
from modurob.spatial import inertia, se3
from tests.motion.gaits.bodies import X, Y, Z, fitting, ring, snake, walker, wrapped
from tests.robots import random_assembly


def by_name(reference, t):
    q = reference(t)[0]
    return {name: q[..., i] for name, i in zip(reference.joints.names, reference.joints.q_index, strict=True)}


# ---- the tree of active joints ----


def test_active_joints_of_the_crab():
    joints = active_joints(mr.load("crab").mechanism(floating=True))
    assert joints.names == ("m0/hinge", "m2/hinge", "m4/hinge")
    assert joints.parent == (-1, 0, 0)
    assert joints.edges == ((0, 1), (0, 2))
    assert joints.limbs == ((1,), (2,))
    np.testing.assert_allclose(joints.network(np.zeros(3)).listens, [[0, 0.5, 0.5], [1, 0, 0], [1, 0, 0]])


@pytest.mark.parametrize("seed", range(10))
def test_couplings_make_a_tree_over_neighbours(seed):
    robot = random_assembly(np.random.default_rng(seed), 8).mechanism(keep_idle=True)
    joints = active_joints(robot)
    assert len(joints.edges) == len(joints) - 1
    for a, b in joints.edges:
        above = set(robot.ancestors[joints.body[b]][1:]) & set(joints.body)
        assert not above or joints.body[a] == max(above)
    assert sorted(i for limb in joints.limbs for i in limb if not joints.children[i]) == [
        i for i in range(len(joints)) if not joints.children[i]
    ]


def test_axes_are_those_that_the_bodies_turn_about(rng):
    robot = random_assembly(rng, 6).mechanism(keep_idle=True)
    joints, q, h = active_joints(robot), robot.random_configuration(rng), 1e-6
    for axis, joint, body in zip(joints.axes(q), joints.joints, joints.body, strict=True):
        turned = q.copy()
        turned[joint.q_slice] += h
        R0, R1 = (se3.rotation(robot.forward_kinematics(x).bodies[body]) for x in (q, turned))
        spin = (R1 - R0) @ R0.T / h
        np.testing.assert_allclose([spin[2, 1], spin[0, 2], spin[1, 0]], axis, atol=1e-5)


# ---- snake ----


@pytest.mark.parametrize("waves", [1.0, 0.5, -1.0])
def test_snake_waves_travel_along_the_chain(waves):
    reference = gait("snake", waves=waves, amplitude=0.3, frequency=1.0, generator="hopf").on(snake(9).mechanism())
    t = np.arange(0, 10, 0.01)
    q = reference(t)[0]
    n = q.shape[1]
    for i in range(n - 1):
        # each joint does what the one before it did a little earlier
        lag = waves / n
        np.testing.assert_allclose(reference(t[200:400] + lag)[0][:, i + 1], q[200:400, i], atol=1e-6)
    measured = phases(q)[500]
    np.testing.assert_allclose(wrapped(np.diff(measured)), wrapped(np.full(n - 1, -2 * np.pi * waves / n)), atol=0.02)


@pytest.mark.parametrize("base", ["m2", "m4"])
@pytest.mark.parametrize("preset", ["snake", "wheel"])
def test_a_chain_moves_alike_whichever_module_is_its_base(base, preset):
    chain = snake(7)
    at_end, inside = (gait(preset, amplitude=0.3).on(chain.mechanism(base=b)) for b in ("m0", base))
    t = np.linspace(0, 2, 300, endpoint=False)
    end, within = by_name(at_end, t), by_name(inside, t)
    assert end.keys() == within.keys()
    # the same wave, from another moment on
    shift = min(range(300), key=lambda k: np.abs(np.roll(end[f"{base}/hinge"], k) - within[f"{base}/hinge"]).max())
    for name, course in end.items():
        np.testing.assert_allclose(within[name], np.roll(course, shift), atol=0.02)


def test_snake_joints_across_are_a_quarter_behind():
    builder, parent = mr.Builder("worm"), "world"
    for i, axis in enumerate((Z, Y, -Z, -Y)):
        builder.body(
            f"b{i}", inertia.box(1.0, (1, 1, 1)), parent=parent, joint=mr.Revolute(tuple(axis)), at=se3.pose(None, X)
        )
        parent = f"b{i}"
    reference = gait("snake", amplitude=0.2).on(builder.build())
    np.testing.assert_allclose(reference.phase, -np.pi / 2 * np.array([0, 1 + 1, 2, 3 + 1]))
    np.testing.assert_allclose(reference.amplitude, [0.2, 0.2, -0.2, -0.2])


# ---- limbs ----


def test_crab_limbs_lift_in_turn():
    robot = mr.load("crab").mechanism()
    reference = gait("crab", amplitude=0.3, frequency=1.0).on(robot)
    assert np.cos(reference.phase[1] - reference.phase[2]) == pytest.approx(-1)
    for joint, amplitude in zip(reference.joints.joints, reference.amplitude, strict=True):
        lifted = robot.neutral()
        lifted[joint.q_slice] = 0.1 * np.sign(amplitude)
        assert robot.potential_energy(lifted) > robot.potential_energy(robot.neutral())


def test_crab_lifts_mirrored_limbs_alike():
    """Legs spread along +y and -y, hinges both along +x: to lift, they turn against each other."""
    builder = mr.Builder("spread")
    builder.body("trunk", inertia.box(1.0, (1, 1, 1)), joint=mr.Free())
    for side in (1, -1):
        leg = inertia.point(1.0, (0, side, 0))
        builder.body(f"leg{side}", leg, parent="trunk", joint=mr.Revolute((1, 0, 0)), at=se3.pose(None, side * Y))
    reference = gait("crab", amplitude=0.2).on(builder.build())
    np.testing.assert_allclose(reference.amplitude, [0.2, -0.2])
    np.testing.assert_allclose(reference.phase, [0, np.pi])


def test_weightless_crabs_go_by_their_axes():
    reference = gait("crab", amplitude=0.2).on(walker(4, gravity=(0, 0, 0)))
    np.testing.assert_allclose(reference.amplitude, 0.2)


@pytest.mark.parametrize(("legs", "turns"), [(2, 0.5), (3, 1 / 3), (4, 0.5), (6, 0.5)])
@pytest.mark.parametrize("preset", ["crab", "quadruped"])
def test_limbs_take_turns_round_the_body(legs, turns, preset):
    reference = gait(preset, amplitude=0.2).on(walker(legs))
    phase = dict(zip(reference.joints.names, reference.phase, strict=True))
    for i in range(legs):
        # neighbours are apart by the same part of a turn, one way round or the other
        apart = wrapped(phase[f"thigh{(i + 1) % legs}"] - phase[f"thigh{i}"])
        assert abs(apart) == pytest.approx(2 * np.pi * turns)
        assert wrapped(phase[f"shank{i}"] - phase[f"thigh{i}"]) == pytest.approx(-np.pi / 2)


def test_quadrupeds_trot():
    """Diagonal legs swing together, in one sense about the world's y axis."""
    robot = walker(4)
    course = by_name(gait("quadruped", amplitude=0.2).on(robot), np.linspace(0, 2, 50))
    np.testing.assert_allclose(course["thigh0"], course["thigh2"], atol=1e-12)
    np.testing.assert_allclose(course["thigh0"], -course["thigh1"], atol=1e-12)
    np.testing.assert_allclose(course["thigh1"], course["thigh3"], atol=1e-12)


# ---- wheel ----


@pytest.mark.parametrize("n", [6, 7, 9])
@pytest.mark.parametrize("floating", [False, True])
def test_wheels_stay_closed(n, floating):
    robot = ring(n).mechanism(base="m2", floating=floating)
    reference = gait("wheel", amplitude=0.2, frequency=1.0).on(robot)
    # moments between those that were closed one by one
    q, v, vdot = reference(np.random.default_rng(n).uniform(0, 3, 40))
    assert np.abs(robot.loop_error(q)).max() < 1e-6
    np.testing.assert_allclose((robot.loop_jacobian(q) @ v[..., None])[..., 0], 0, atol=1e-5)
    np.testing.assert_allclose((robot.loop_jacobian(q) @ vdot[..., None])[..., 0], robot.loop_bias(q, v), atol=1e-3)
    assert np.ptp(q[:, reference.joints.q_index], axis=0).min() > 0.25
    if floating:
        np.testing.assert_array_equal(q[:, :7], np.tile(robot.neutral()[:7], (40, 1)))


def test_wheels_repeat_and_are_derivatives():
    reference = gait("wheel", amplitude=0.25, frequency=2.0).on(ring(7).mechanism())
    t, h = np.linspace(0.01, 0.49, 30), 1e-5
    for now, later in zip(reference(t), reference(t + 0.5), strict=True):
        np.testing.assert_allclose(now, later, atol=1e-9)
    (before, vb, _), (after, va, _) = reference(t - h), reference(t + h)
    _, v, vdot = reference(t)
    np.testing.assert_allclose(v, (after - before) / (2 * h), atol=1e-5)
    np.testing.assert_allclose(vdot, (va - vb) / (2 * h), atol=1e-4)


def test_wheels_roll():
    """The lobes run round the ring: after a period over n joints each joint does what its neighbour did."""
    n = 8
    robot = ring(n).mechanism()
    reference = gait("wheel", amplitude=0.2, frequency=1.0).on(robot)
    t = np.linspace(0, 1, 25)
    np.testing.assert_allclose(reference(t + 2 / n)[0][:, 1:], reference(t)[0][:, :-1], atol=1e-6)


def test_open_chains_curl_up_to_a_ring():
    reference = gait("wheel", amplitude=0.1).on(snake(9).mechanism())
    q = reference(np.linspace(0, 2, 50))[0]
    np.testing.assert_allclose(q.sum(axis=1), 2 * np.pi, atol=1e-12)


@pytest.mark.parametrize("robot", [mr.load("crab").mechanism(), walker(4)], ids=["crab", "walker"])
def test_branched_robots_are_no_wheels(robot):
    with pytest.raises(
        GaitError, match=r"cannot roll as a wheel: expected one chain of joints with parallel axes, found"
    ):
        gait("wheel").on(robot)


def test_chains_of_crossed_axes_are_no_wheels():
    crossed = mr.Assembly.single("m0", "backbone").dock("m1", "backbone", at="m0/3", by="2")
    robot = crossed.dock("m2", "backbone", at="m1/3", by="4").mechanism()
    assert len(active_joints(robot)) == 2
    with pytest.raises(GaitError, match="parallel axes"):
        gait("wheel").on(robot)


# ---- other gaits of robots with loops ----


def test_snake_waves_on_a_ring_are_closed_too():
    robot = ring(6).mechanism()
    hexagon = {f"m{i}/hinge": np.pi / 3 for i in range(6)}
    reference = gait("snake", waves=2, amplitude=0.1, posture=hexagon).on(robot)
    assert np.abs(robot.loop_error(reference(np.linspace(0, 2, 31))[0])).max() < 1e-6


def test_loops_that_cannot_follow_are_refused():
    builder = mr.Builder("torn")
    builder.body("a", inertia.box(1.0, (1, 1, 1)), joint=mr.Revolute((0, 0, 1)))
    builder.body("b", inertia.box(1.0, (1, 1, 1)), parent="a", joint=mr.Revolute((0, 0, 1)), at=se3.pose(None, X))
    builder.loop("pin", mr.Revolute((0, 0, 1)), "b", "world", at=se3.pose(None, X), seat=se3.pose(None, 5 * X))
    with pytest.raises(
        GaitError, match=r"torn cannot follow this gait: loops pin stay open .* try a smaller amplitude"
    ):
        gait("snake").on(builder.build())
    with pytest.raises(GaitError, match=r"loops of robot would open by .* try a smaller amplitude or a posture"):
        gait("snake").on(ring(6).mechanism())


def test_loops_through_ball_joints_are_refused():
    """A four-bar with a ball in place of a pin: what the ball does is no coordinate to draw a spline through."""
    bar = inertia.box(1.0, (1, 1, 1))
    builder = mr.Builder("balls")
    builder.body("a", bar, joint=mr.Revolute((0, 0, 1)))
    builder.body("b", bar, parent="a", joint=mr.Spherical(), at=se3.pose(None, Y))
    builder.body("c", bar, joint=mr.Revolute((0, 0, 1)), at=se3.pose(None, X))
    builder.loop("pin", mr.Revolute((0, 0, 1)), "b", "c", at=se3.pose(None, X), seat=se3.pose(None, Y))
    with pytest.raises(GaitError, match="a loop of balls goes through a joint with quaternions"):
        gait("snake", amplitude=0.2).on(builder.build())


@pytest.mark.parametrize("generator", ["hopf", "matsuoka", "logistic"])
def test_loops_need_waves_that_repeat(generator):
    with pytest.raises(GaitError, match=r"has loops, .*expected generator 'sine'"):
        gait("wheel", generator=generator).on(ring(8).mechanism())


def test_wheels_keep_limits():
    robot = ring(5).mechanism()
    with pytest.raises(
        GaitError, match=r"joint 'm0/hinge' would swing from .* an amplitude of about 0\.3\d* fits"
    ) as refusal:
        gait("wheel", amplitude=0.4).on(robot)
    gait("wheel", amplitude=fitting(refusal)).on(robot)
