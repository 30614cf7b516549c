"""Which joints dry friction holds and which move, beside a quadratic programme that another library solves."""

import numpy as np
import pytest
import qpsolvers
from scipy.sparse import csc_matrix

import modurob as mr
from modurob.algorithms.friction import limited_friction
from modurob.spatial import inertia, se3, so3
from tests.algorithms.test_loops import gripper
from tests.oracles.linkages import LINKAGES, rod
from tests.robots import random_mechanism

DT = 1e-7  # s; accelerations are those of the first instant to a part of it
Y = mr.Revolute((0, 1, 0))
EACH = pytest.mark.parametrize(
    "stepper", [mr.RungeKutta4(1e-3), mr.SemiImplicitEuler(1e-3), mr.LinearlyImplicit(1e-3)], ids=lambda s: s.kind
)


@pytest.mark.parametrize("rank", [1, 82])
def test_friction_is_opposed_to_what_moves_and_holds_the_rest(rank, rng):
    """The conditions that define it, for joints that move independently and for those that share motions."""
    B = rng.normal(size=(500, 8, rank)) * rng.choice([1e-3, 1.0, 1e3], size=(500, 8, 1))
    A = B @ B.swapaxes(-1, -2)
    a = (B @ rng.normal(size=(500, rank, 1)))[..., 0] * 10 ** rng.uniform(-2, 2, (500, 1))
    y, w = limited_friction(A, a, np.ones(a.shape))
    assert np.abs(y).max() <= 1 + 1e-11
    np.testing.assert_allclose((y + np.sign(w))[w != 0], 0, atol=1e-11)
    assert (w == 0).any()
    assert (w != 0).any()
    scale = np.abs(A).sum(axis=-1) + np.abs(a)
    assert (np.abs((A @ y[..., None])[..., 0] + a - w) <= 1e-9 * scale).all()


def rubbed(robot, limits):
    """Dry friction of so much in each joint but free ones."""
    for joint in robot.joints:
        for k in range(joint.type.nv if joint.kind != "free" else 0):
            own = mr.Friction(coulomb=limits[joint.v_slice.start + k])
            robot = robot.with_force(f"rub {joint.name} {k}", own, joint=joint.name, rate=k)
    return robot


def begun(robot, limits, q, tau):
    """vdot that minimises vdot^T M vdot / 2 + (bias - tau) vdot + limits |vdot| over all that keeps the constraints."""
    n, still = robot.nv, np.zeros(robot.nv)
    M, bias = robot.mass_matrix(q), robot.bias_forces(q, still)
    K = robot.loop_jacobian(q)
    P = np.zeros((2 * n, 2 * n))
    P[:n, :n] = M
    one = np.eye(n)
    solved = qpsolvers.solve_qp(
        csc_matrix(P),
        np.concatenate([bias - tau, limits]),
        csc_matrix(np.block([[one, -one], [-one, -one]])),
        np.zeros(2 * n),
        csc_matrix(np.hstack([K, np.zeros_like(K)])) if len(K) else None,
        np.zeros(len(K)) if len(K) else None,
        solver="clarabel",
        tol_gap_abs=1e-13,
        tol_gap_rel=1e-13,
        tol_feas=1e-13,
    )
    assert solved is not None
    return solved[:n]


def robots(rng):
    """Trees, robots whose joints share coordinates, and linkages, each in a state and with a drive."""
    for seed in range(3):
        robot = random_mechanism(np.random.default_rng(seed), 6).without_forces()
        yield robot, robot.random_configuration(rng), rng.normal(size=robot.nv)
    robot = gripper(rng, "two").without_forces()
    yield robot, robot.random_configuration(rng), rng.normal(size=robot.nv)
    for name in ("four-bar", "slider-crank", "stewart", "delta"):
        link = LINKAGES[name](rng)
        yield link.robot.without_forces(), link.closed(rng), link.drive(rng)
    yield geared(), np.zeros(3), rng.normal(size=3)


def geared():
    """Three wheels, coupled in pairs: one degree of freedom."""
    builder = mr.Builder("gears", gravity=(0, 0, 0))
    for k in range(3):
        builder.body(f"wheel {k}", rod(1.0 + k, 0.2), joint=Y, at=se3.pose(None, (k, 0, 0)))
    builder.coupling("first", {"wheel 0": 1.0, "wheel 1": 2.0})
    builder.coupling("second", {"wheel 1": 1.0, "wheel 2": -0.5})
    return builder.build()


def test_what_starts_to_move_is_what_gauss_says(rng):
    """Random loads beside random friction in all joints at once, so that some joints hold and some move."""
    moved = held = 0
    for robot, q, tau in robots(rng):
        for scale in (0.1, 0.5, 1.0, 3.0):
            own = np.abs(robot.bias_forces(q, np.zeros(robot.nv)) - tau)
            limits = scale * own.mean() * rng.uniform(0.2, 1.0, robot.nv)
            for joint in robot.joints:
                if joint.kind == "free":
                    limits[joint.v_slice] = 0.0
            run = mr.simulate(
                rubbed(robot, limits),
                q,
                duration=DT,
                controller=lambda t, q, v, u=tau: u,
                stepper=mr.SemiImplicitEuler(DT),
            )
            assert run.status.ok
            expected = begun(robot, limits, q, tau)
            found = run.v[-1] / DT
            np.testing.assert_allclose(
                found, expected, rtol=0, atol=1e-5 * (1 + np.abs(expected).max()), err_msg=robot.name
            )
            moved += int((np.abs(expected) > 1e-3).sum())
            held += int((found[limits > 0] == 0).sum())
    assert moved > 30
    assert held > 30


def parallelogram(limits, gravity=(0, 0, -9.81), coupler=Y):
    """A four-bar whose joints turn equally fast, which swings under its weight."""
    builder = mr.Builder("parallelogram", gravity=gravity)
    for name, parent, x, limit in (
        ("a", "world", 0, limits[0]),
        ("c", "a", 0.2, limits[1]),
        ("d", "world", 0.3, limits[2]),
    ):
        own = mr.JointProperties(friction=limit)
        builder.body(
            name,
            rod(1.0, 0.3 if name == "c" else 0.2),
            parent=parent,
            joint=coupler if name == "c" else Y,
            at=se3.pose(None, (x, 0, 0)),
            properties=own,
        )
    builder.loop("pin", Y, "c", "d", se3.pose(None, (0.3, 0, 0)), se3.pose(None, (0.2, 0, 0)))
    return builder.build()


@EACH
def test_it_does_not_matter_which_joints_of_a_loop_rub(stepper):
    """Where joints turn equally fast, only the sum of their friction counts: in motion, at each turn, and at the end."""
    ends = [
        mr.simulate(parallelogram(limits), [0.3, -0.3, 0.3], duration=4.0, stepper=stepper)
        for limits in ((0.3, 0, 0), (0.1, 0.1, 0.1), (0, 0.2, 0.1))
    ]
    for run in ends:
        assert run.status.ok
        assert np.abs(run.v[-1]).max() < 1e-15
        np.testing.assert_allclose(run.q, ends[0].q, rtol=0, atol=1e-9)


def sledge(*friction):
    """A block on a sledge, 1 kg each, whose slides have these coefficients (coulomb, static) [N]."""
    builder = mr.Builder("sledge", gravity=(0, 0, 0))
    for name, parent in (("sledge", "world"), ("block", "sledge")):
        builder.body(name, np.diag([1.0, 1, 1, 0.1, 0.1, 0.1]), parent=parent, joint=mr.Prismatic((1, 0, 0)))
    robot = builder.build()
    for k, (coulomb, static) in enumerate(friction):
        robot = robot.with_force(f"rub {k}", mr.Friction(coulomb=coulomb, static=static), joint=robot.joints[k].name)
    return robot


def pushed(robot, *tau, stepper):
    """The rates after 0.1 s."""
    run = mr.simulate(robot, duration=0.1, controller=lambda t, q, v: np.array(tau), stepper=stepper)
    assert run.status.ok
    return run.v[-1]


@EACH
def test_what_a_joint_loses_when_it_moves_can_be_too_much_for_another(stepper):
    """A block on a sledge is pushed by 3 N. Static friction of 2 N between them would leave 1 N to the sledge, which 1.5 N hold;
    but in motion it is 1 N, and the sledge slides back under the other 2 N, braked by 1 N."""
    robot = sledge((1.0, 1.5), (1.0, 2.0))
    np.testing.assert_allclose(pushed(robot, 0.0, 3.0, stepper=stepper), [-0.1, 0.3], atol=1e-12)
    assert not pushed(robot, 0.0, 1.999, stepper=stepper).any()


@EACH
@pytest.mark.parametrize("force", [3.0, 4.0])
def test_what_a_joint_loses_when_it_moves_can_leave_another_at_rest(stepper, force):
    """A force from outside pushes the block. 2 N of static friction would take the sledge along, against 1.5 N; but the 1 N that
    is left of it when the block slides does not."""
    robot = sledge((1.4, 1.5), (1.0, 2.0))
    np.testing.assert_allclose(pushed(robot, force, force, stepper=stepper), [0.0, (force - 1) / 10], atol=1e-12)


def under_ramp(robot, stepper, torque):
    """The first rate after 0.2 s under a wrench on the first body that grows by `torque` per second."""
    name = robot.joints[0].name
    q = [0.3, -0.3, 0.3] if robot.constraints else None
    run = mr.simulate(
        robot,
        q,
        duration=0.2,
        stepper=stepper,
        tick=stepper.dt or 0.04,
        external=lambda t: {name: mr.InWorld(t * np.array(torque))},
    )
    assert run.status.ok
    assert not run.v[run.t < 0.151].any()
    return run.v[-1, 0]


@pytest.mark.parametrize(
    "stepper",
    [
        mr.RungeKutta4(0.04),
        mr.ExponentialRungeKutta4(0.05),
        mr.ImplicitMidpoint(0.04),
        mr.Variational(0.05),
        mr.Adaptive(),
    ],
)
def test_a_joint_gives_way_when_its_load_exceeds_friction(stepper):
    """Within a step or as it begins: 20 N/s exceed 3 N after 0.15 s, and 1 N is left of friction; the block moves along."""
    v = under_ramp(sledge((1.0, 3.0), (5.0, 5.0)), stepper, (20, 0, 0, 0, 0, 0))
    assert v == pytest.approx((20 * (0.2**2 - 0.15**2) / 2 - 0.05) / 2, abs=1e-7)


@pytest.mark.parametrize("stepper", [mr.RungeKutta4(0.04), mr.ExponentialRungeKutta4(0.05), mr.ImplicitMidpoint(0.04)])
def test_a_loop_gives_way_when_its_load_exceeds_friction(stepper):
    """Its three joints share the load, however: 20 N m/s exceed 1 N m in each after 0.15 s; 1/15 kg m² turn."""
    v = under_ramp(parallelogram((1.0, 1.0, 1.0), gravity=(0, 0, 0)), stepper, (0, 0, 0, 0, 20, 0))
    assert v == pytest.approx(20 * 0.05**2 / 2 * 15, abs=1e-7)


@pytest.mark.parametrize("tick", [0.01, 0.1])
def test_adaptive_steps_see_every_turn(tick):
    """A swing at 200 Hz, of which each half loses 2 c/k: it rests after five of them, however long ticks are."""
    pulsation, lost = 2 * np.pi * 200, 0.19
    own = mr.JointProperties(friction=lost / 2 * pulsation**2, stiffness=pulsation**2)
    builder = mr.Builder("swing", gravity=(0, 0, 0))
    builder.body("mass", np.eye(6), joint=mr.Prismatic((1, 0, 0)), properties=own)
    run = mr.simulate(builder.build(), [1.0], duration=0.1, stepper=mr.Adaptive(rtol=1e-8, atol=1e-9), tick=tick)
    assert run.status.ok
    assert run.q[-1, 0] == pytest.approx(-1 + 5 * lost, abs=1e-6)
    assert run.v[-1, 0] == 0


@pytest.mark.parametrize("dt", [2e-3, 1e-2])
def test_a_free_body_that_is_held_along_one_axis_may_turn(dt):
    """Its rate along this axis is zero to the last bit, also where the stepper moves free bodies in axes that do not turn."""
    builder = mr.Builder("body", gravity=(0, 0, 0))
    builder.body(
        "body", inertia.moved(inertia.box(1.0, (0.3, 0.4, 0.5)), se3.pose(None, (0.1, 0.2, 0))), joint=mr.Free()
    )
    robot = builder.build()
    robot = robot.with_force("rub", mr.Friction(coulomb=50.0), joint=robot.joints[0].name, rate=0)
    push = np.array([0.0, 2, 1, 1, -2, 3])
    run = mr.simulate(robot, duration=0.5, controller=lambda t, q, v: push, stepper=mr.LinearlyImplicit(dt))
    assert run.status.ok
    assert not run.v[:, 0].any()
    assert np.abs(run.v[-1, 1:]).min() > 0.1


def test_what_constraints_hold_still_does_not_rub():
    """Friction along a joint that can slide as well as turn, of any size, changes nothing in a tilted planar linkage."""
    R = so3.exp(np.array([0.5, -0.7, 1.1]))
    builder = mr.Builder("tilted", gravity=R @ [0, 0, -9.81])
    turns, slides = mr.Revolute(R[:, 1]), mr.Cylindrical(R[:, 1])
    for name, parent, at, length, joint in (
        ("a", "world", 0.0, 0.2, turns),
        ("c", "a", 0.2, 0.5, slides),
        ("d", "world", 0.45, 0.4, turns),
    ):
        own = inertia.moved(rod(1.0, length), se3.pose(R, np.zeros(3)))
        builder.body(name, own, parent=parent, joint=joint, at=se3.pose(None, R @ [at, 0, 0]))
    builder.loop("pin", turns, "c", "d", se3.pose(None, R @ [0.5, 0, 0]), se3.pose(None, R @ [0.4, 0, 0]))
    robot = builder.build().with_force("turn", mr.Friction(coulomb=0.05), joint="c", rate=1)
    q = robot.close_loops([0.6, -0.4, -0.4, 0.9])
    runs = [
        mr.simulate(
            robot.with_force("slide", mr.Friction(coulomb=limit), joint="c", rate=0),
            q,
            duration=1.0,
            stepper=mr.RungeKutta4(5e-3),
        )
        for limit in (0.0, 1e-3, 1e3)
    ]
    assert np.ptp(runs[0].q[:, 0]) > 0.3
    for run in runs:
        assert run.status.ok
        np.testing.assert_allclose(run.q, runs[0].q, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    "stepper", [mr.RungeKutta4(5e-3), mr.LinearlyImplicit(5e-3), mr.ImplicitMidpoint(5e-3), mr.Variational(5e-3)]
)
def test_runs_of_a_batch_do_not_know_of_each_other(stepper, rng):
    """To the last bit: joints stop, rest and give way in each at other times."""
    robot = mr.load("crab").mechanism(base="m0").without_forces()
    robot = rubbed(robot, np.array([0.6, 0.4, 0.2]))
    q, size = rng.uniform(-0.5, 0.5, (6, 3)), rng.uniform(0.2, 0.6, (6, 1))

    def runs(of):
        def law(t, q, v):
            return size[of] * np.sin(20 * t + np.arange(3))

        return mr.simulate(robot, q[of], duration=0.3, controller=law, stepper=stepper)

    every = runs(np.arange(6))
    assert every.status.ok
    assert 0.05 < (every.v == 0).mean() < 0.95
    for of in ([0, 1], [5, 2, 4]):
        found = runs(np.array(of))
        np.testing.assert_array_equal(found.v, every.v[:, of])
        np.testing.assert_array_equal(found.q, every.q[:, of])


@EACH
def test_friction_that_only_sticks(stepper):
    """Nothing brakes what has broken loose."""
    robot = sledge((0.0, 1.0), (0.0, 2.0))
    np.testing.assert_allclose(pushed(robot, 1.5, 0.0, stepper=stepper), [0.075, 0.0], atol=1e-12)
    np.testing.assert_allclose(pushed(robot, 0.0, 3.0, stepper=stepper), [-0.3, 0.6], atol=1e-12)


@EACH
def test_a_joint_that_moves_no_inertia_may_rest(stepper):
    """Only what would move it has no answer."""
    builder = mr.Builder("weightless tip", gravity=(0, 0, 0))
    own = mr.JointProperties(friction=1.0)
    builder.body("slide", np.eye(6), joint=mr.Prismatic((1, 0, 0)), properties=own)
    builder.body("tip", np.zeros((6, 6)), parent="slide", joint=mr.Prismatic((0, 1, 0)), properties=own)
    robot = builder.build()
    for _ in range(2):
        np.testing.assert_allclose(pushed(robot, 3.0, 0.5, stepper=stepper), [0.2, 0.0], atol=1e-12)
        run = mr.simulate(robot, duration=0.1, controller=lambda t, q, v: np.array([0.5, 2.0]), stepper=stepper)
        assert run.status.kind == "singular"
        assert "'tip' moves no inertia" in str(run.status)


@pytest.mark.parametrize("stepper", [mr.RungeKutta4(0.05), mr.RungeKutta4(0.02)], ids=lambda s: str(s.dt))
@pytest.mark.filterwarnings("ignore:.*too stiff")
def test_steps_too_long_for_stops_diverge_and_are_not_singular(stepper):
    """Far away nothing is left of the inertia of a finger beside that of the arm which carries it."""
    builder, out = mr.Builder("hand"), se3.pose(None, (0.3, 0, 0))
    link = inertia.moved(inertia.box(1.0, (0.3, 0.05, 0.05)), se3.pose(None, (0.15, 0, 0)))
    rubs = mr.JointProperties(friction=0.3, lower=-1, upper=1)
    finger = {"joint": mr.Prismatic((0, 1, 0)), "properties": mr.JointProperties(lower=0, upper=0.04)}
    builder.body("pan", link, joint=mr.Revolute((0, 0, 1)))
    builder.body("elbow", link, parent="pan", joint=mr.Revolute((0, 1, 0)), at=out, properties=rubs)
    builder.body("left", link / 20, parent="elbow", at=out, joint_name="left", **finger)
    builder.body("right", link / 20, parent="elbow", at=out, mimic=mr.Source("left", ratio=-1.0), **finger)
    for v in ([0.0, 0.0, 0.0], [1.0, -1.0, 0.2], [0.0, 0.0, 3.0]):
        run = mr.simulate(builder.build(), [0.1, 0.5, 0.02], v, duration=3, stepper=stepper, tick=0.1)
        assert run.status.kind in ("done", "diverged", "not finite"), str(run.status)


def test_many_joints_may_stop_in_one_step():
    """Each comes to rest by itself, and what none of them touches moves on."""
    n = 40
    builder = mr.Builder("sliders", gravity=(0, 0, 0))
    for k in range(n + 1):
        own = mr.JointProperties(friction=10.0 if k else 0.0)
        builder.body(f"slider {k}", np.eye(6), joint=mr.Prismatic((1, 0, 0)), properties=own)
    v = np.concatenate([[1.0], np.linspace(0.05, 0.9, n)])
    run = mr.simulate(builder.build(), v0=v, duration=0.2, stepper=mr.RungeKutta4(0.1))
    assert run.status.ok
    np.testing.assert_allclose(run.q[-1], [0.2, *(v[1:] ** 2 / 20)], atol=1e-12)


@pytest.mark.parametrize("seed", [1, 55])
def test_what_rests_on_the_ground_gets_through_every_step(seed):
    """Joints that begin to move one way in a short part of a step, and the other way in all of it, rest in this step: time went
    on without them."""
    robot = mr.load("crab").mechanism(floating=True).without_forces()
    rng = np.random.default_rng(seed)
    tau = np.concatenate([np.zeros(6), rng.normal(size=robot.nv - 6)])
    limits = np.abs(tau) * rng.uniform(0.3, 2, robot.nv)
    run = mr.simulate(
        rubbed(robot, limits).on_ground(mr.Ground(friction=0.8)),
        duration=0.6,
        controller=lambda t, q, v: 3 * tau * np.maximum(0.0, t - 0.2),
        stepper=mr.LinearlyImplicit(1e-2),
    )
    assert run.status.ok
    assert (run.v[:, 6:] != 0).any()


def crawler(gears):
    """Three legs of two links, whose joints rub, on the ground; and, out of touch, two wheels that a belt may join."""
    builder = mr.Builder("crawler")
    for name in ("turn", "other"):
        builder.body(name, rod(1.0, 0.2), joint=Y, at=se3.pose(None, (0, 5, 5)))
    builder.body("base", inertia.box(1.0, (0.3, 0.3, 0.1)), joint=mr.Free())
    builder.collision("box", (0.3, 0.3, 0.1), on="base")
    for k in range(3):
        R = so3.about(np.array([0.0, 0, 1]), 2 * np.pi * k / 3)
        for name, parent, length, at, limit in (
            (f"thigh {k}", "base", 0.3, se3.pose(R, 0.2 * R[:, 0]), 0.8),
            (f"shin {k}", f"thigh {k}", 0.2, se3.pose(None, (0.3, 0, 0)), 0.4),
        ):
            own = inertia.moved(inertia.box(0.4, (length, 0.05, 0.05)), along := se3.pose(None, (length / 2, 0, 0)))
            builder.body(name, own, parent=parent, joint=Y, at=at, properties=mr.JointProperties(friction=limit))
            builder.collision("box", (length, 0.05, 0.05), on=name, X=along)
    if gears:
        builder.coupling("belt", {"turn": 2.0, "other": -1.0})
    return builder.build().on_ground(mr.Ground(friction=0.6))


def test_what_is_joined_elsewhere_changes_no_friction():
    """Joints of a tree rest and move on the ground as they do beside a loop: also those that begin to move and stop at once."""
    runs = []
    for robot in (crawler(gears=False), crawler(gears=True)):
        q, limits = robot.neutral(), np.zeros(robot.nv)
        q[4], limits[8:] = 0.1, np.tile([0.8, 0.4], 3)

        def law(t, q, v, size=1.3 * limits):
            return size * np.sin(6 * t + np.arange(len(size)))

        runs.append(mr.simulate(robot, q, duration=0.6, controller=law, stepper=mr.LinearlyImplicit(5e-3)))
        assert runs[-1].status.ok, runs[-1].status
    assert 0.2 < (runs[0].v[:, 8:] == 0).mean() < 0.8
    np.testing.assert_allclose(runs[1].q[:, 2:], runs[0].q[:, 2:], rtol=0, atol=1e-8)
