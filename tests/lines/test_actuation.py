"""Verdicts, wrench closure and mobility, against what is known of these machines."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import modurob as mr
from modurob.errors import InputError
from modurob.spatial import inertia, se3
from tests.oracles import strut
from tests.oracles.four_bar import FourBar
from tests.oracles.linkages import bennett, four_bar, four_bar_robot, four_bar_state, stewart


def driven(robot, names):
    """The robot with drives at these joints alone."""
    limit = {j.name: np.inf if j.name in names else 0.0 for j in robot.joints}
    return replace(
        robot, joints=tuple(replace(j, effort_limit=np.full(j.type.nv, limit[j.name])) for j in robot.joints)
    )


PULLEYS = ("pulley0", "pulley1", "pulley2")


def rigid_strut():
    b = mr.Builder("rigid")
    strut.add_strut(b)
    for i in range(3):
        b.body(f"block{i}", inertia.box(1.0, (0.1,) * 3), joint=mr.Revolute((0, 0, 1)), at=strut.block_frame(i, 0.0))
        own = inertia.cylinder(1.0, strut.RADIUS, 0.01)
        b.body(f"pulley{i}", own, parent=f"block{i}", joint=mr.Revolute((0, 0, 1)), at=se3.pose(strut.PULLEY_AXES))
        b.body(f"cable{i}", parent=f"pulley{i}", joint=mr.Involute(strut.RADIUS))
        b.loop(f"tip{i}", mr.Spherical(), "strut", f"cable{i}", se3.pose(None, (0, 0, 1.0)))
    return driven(b.build(), PULLEYS)


def test_verdicts_of_the_single_strut():
    """Rigid cables: 2 degrees of freedom, 3 inputs; compliant ones: 5 and 3."""
    q, _ = strut.tree_state(np.array([0.2, -0.3, 0.05, 0.08, 0.11]))
    compliant = driven(strut.tree(), PULLEYS).actuation(q)
    assert (compliant.verdict, compliant.B.shape) == ("under-actuated", (5, 3))
    still, _ = strut.tree_state(np.array([0.2, -0.3, 0.0, 0.0, 0.0]))
    rigid = rigid_strut().actuation(np.delete(still, [5, 9, 13]))
    assert (rigid.verdict, rigid.B.shape) == ("redundantly actuated", (2, 3))
    # what winds in one cable unwinds the others: torques of one sign have no effect together
    null = np.linalg.svd(rigid.B)[2][-1]
    assert (null > 0.1).all() or (null < -0.1).all()


def test_involute_joints_close_loops_too():
    """The rigid strut with the involutes in the loops accelerates as the one with involutes in the tree."""
    tree = rigid_strut()
    b = mr.Builder("closed by involutes")
    strut.add_strut(b)
    for i in range(3):
        b.body(f"block{i}", inertia.box(1.0, (0.1,) * 3), joint=mr.Revolute((0, 0, 1)), at=strut.block_frame(i, 0.0))
        own = inertia.cylinder(1.0, strut.RADIUS, 0.01)
        b.body(f"pulley{i}", own, parent=f"block{i}", joint=mr.Revolute((0, 0, 1)), at=se3.pose(strut.PULLEY_AXES))
        b.body(f"end{i}", parent="strut", joint=mr.Spherical(), at=se3.pose(None, (0, 0, 1.0)))
        b.loop(f"cable{i}", mr.Involute(strut.RADIUS), f"pulley{i}", f"end{i}")
    loops = b.build()
    y, ydot = np.array([0.2, -0.3, 0.0, 0, 0]), np.array([0.4, -0.7, 0, 0, 0])
    whole, rates = strut.tree_state(y, ydot)
    kept = np.delete(np.arange(14), [5, 9, 13])
    q, v = whole[kept], rates[kept]
    poses = tree.forward_kinematics(q)
    angles = [0, 1]
    start = loops.neutral()
    for i in range(3):
        for name, x in ((f"block{i}", q[2 + 3 * i]), (f"pulley{i}", q[3 + 3 * i])):
            start[loops.joint(name).q_slice] = x
    start[:2] = q[angles]
    for i in range(3):
        X = se3.inverse(poses["strut"] @ se3.pose(None, (0, 0, 1.0))) @ poses[f"cable{i}"]
        start[loops.joint(f"end{i}").q_slice] = mr.Spherical().coordinates(X)
    assert np.abs(loops.loop_error(start)).max() < 1e-12
    assert loops.nv - loops.loop_rank() == 2
    places = [loops.joint(name).v_slice.start for name in PULLEYS]
    tau = np.zeros(loops.nv)
    tau[places] = [3.0, 2.0, 1.0]
    K = loops.loop_jacobian(start)
    rest = np.setdiff1d(np.arange(loops.nv), [0, 1])
    w = np.zeros(loops.nv)
    w[:2] = v[:2]
    w[rest] = -np.linalg.pinv(K[:, rest]) @ K[:, :2] @ v[:2]
    assert np.abs(K @ w).max() < 1e-12
    theirs = np.zeros(tree.nv)
    theirs[[3, 6, 9]] = [3.0, 2.0, 1.0]
    assert loops.forward_dynamics(start, w, tau)[:2] == pytest.approx(tree.forward_dynamics(q, v, theirs)[:2], rel=1e-9)


def test_other_verdicts():
    bar = FourBar()
    robot = four_bar_robot(bar)
    q, _ = four_bar_state(bar, 0.7, 0.0)
    assert robot.actuation(q).verdict == "redundantly actuated"
    assert driven(robot, ["crank"]).actuation(q).verdict == "properly actuated"
    assert driven(robot, []).actuation(q).verdict == "under-actuated"
    chain = mr.load("crab").mechanism()
    assert chain.actuation(chain.neutral()).verdict == "properly actuated"


def platform(angle=0.0):
    """A platform in a plane, held by four cables: CASPR's planar case."""
    b = mr.Builder("planar", gravity=(0, -9.81, 0))
    none = mr.JointProperties(effort=0.0)
    b.body("platform", inertia.box(1.0, (0.25, 0.05, 0.05)), joint=mr.Planar((0, 0, 1)), properties=none)
    for k, (corner, at) in enumerate(
        ((x, y, 0), (-0.125 if x == 0 else 0.125, 0, 0)) for x in (0.0, 1.0) for y in (0.0, 1.0)
    ):
        b.line(f"cable{k}", [("world", corner), ("platform", at)], mr.Tension())
    return b.build()


@pytest.mark.parametrize(("angle", "count"), [(0.0, 961), (0.1, 961), (0.3, 931), (0.6, 479)])
def test_wrench_closure_of_the_planar_case_of_caspr(angle, count):
    robot = platform()
    x, y = np.meshgrid(np.linspace(0.2, 0.8, 31), np.linspace(0.2, 0.8, 31))
    q = np.stack([x, y, np.full_like(x, angle)], axis=-1).reshape(-1, 3)
    assert mr.wrench_closure(robot, q).sum() == count
    few = q[::97]
    assert [robot.actuation(x).closure for x in few] == mr.wrench_closure(robot, few).tolist()


def test_feasible_tensions():
    robot = platform()
    q = np.array([0.5, 0.5, 0.05])
    found = robot.actuation(q)
    assert found.closure
    u = found.feasible(found.G.T @ robot.gravity_forces(q))
    assert u is not None
    assert (u >= -1e-12).all()
    assert found.B @ u == pytest.approx(found.G.T @ robot.gravity_forces(q), abs=1e-9)
    outside = robot.actuation(np.array([1.5, 0.5, 0.0]))
    assert not outside.closure
    assert outside.feasible(outside.G.T @ np.array([1.0, 0, 0])) is None
    with pytest.raises(InputError, match=r"expected \(3,\), one for each degree of freedom"):
        found.feasible(np.zeros(2))


def stretched(beside=0):
    """Two links pinned at their full reach, and so many pendulums that nothing else holds."""
    b = mr.Builder("stretched")
    rod = inertia.point(1.0, (0.5, 0, 0))
    for k in range(beside):
        b.body(f"pendulum{k}", rod, joint=mr.Revolute((0, 0, 1)))
    b.body("a", rod, joint=mr.Revolute((0, 0, 1)))
    b.body("b", rod, parent="a", joint=mr.Revolute((0, 0, 1)), at=se3.pose(None, (1.0, 0, 0)))
    b.loop("pin", mr.Revolute((0, 0, 1)), "world", "b", se3.pose(None, (2.0, 0, 0)), se3.pose(None, (1.0, 0, 0)))
    return b.build(), np.zeros(2 + beside)


def sarrus(t=0.7):
    """Base and platform held by two chains of three parallel hinges each, at right angles: it goes straight up and down."""
    b, own = mr.Builder("sarrus"), inertia.box(1.0, (0.3, 0.2, 0.1))
    X, Y, at = mr.Revolute((1, 0, 0)), mr.Revolute((0, 1, 0)), lambda *p: se3.pose(None, p)
    b.body("a1", own, joint=Y, at=at(0.5, 0, 0))
    b.body("a2", own, parent="a1", joint=Y, at=at(1.0, 0, 0))
    b.body("platform", own, parent="a2", joint=Y, at=at(1.0, 0, 0), seat=at(-0.5, 0, 0))
    b.body("c1", own, joint=X, at=at(0, 0.5, 0))
    b.body("c2", own, parent="c1", joint=X, at=at(0, 1.0, 0))
    b.loop("hinge", X, "c2", "platform", at(0, 1.0, 0), at(0, 0.5, 0))
    return b.build(), np.array([-t, 2 * t - np.pi, np.pi - t, t, np.pi - 2 * t])


def parallelogram():
    return four_bar_robot(FourBar(a=0.5, b=1.0, c=0.5, d=1.0)), np.zeros(3)


def flat_truss():
    """Three bars in a plane that hold a node: across the plane it gives, to first order."""
    b = mr.Builder("truss")
    for k, angle in enumerate(np.radians([0, 120, 240])):
        c, s = np.cos(angle), np.sin(angle)
        inward = np.array([[-c, s, 0], [-s, -c, 0], [0, 0, 1.0]])
        b.body(
            f"bar{k}",
            inertia.box(1.0, (1, 0.1, 0.1)),
            joint=mr.Universal((0, 1, 0), (0, 0, 1)),
            at=se3.pose(inward, (c, s, 0)),
        )
    tip = se3.pose(None, (1.0, 0, 0))
    for k in (1, 2):
        b.loop(f"node{k}", mr.Spherical(), "bar0", f"bar{k}", tip, tip)
    return b.build(), np.zeros(6)


def stout_four_bar():
    linkage, rng = four_bar(np.random.default_rng(1)), np.random.default_rng(1)
    return linkage.robot, linkage.closed(rng)


def bennett_linkage():
    linkage, rng = bennett(np.random.default_rng(1)), np.random.default_rng(1)
    return linkage.robot, linkage.closed(rng)


def platform_on_legs():
    linkage, rng = stewart(np.random.default_rng(1)), np.random.default_rng(1)
    return linkage.robot, linkage.closed(rng)


@pytest.mark.parametrize(
    ("made", "expected", "verdict"),
    [
        (
            stout_four_bar,
            (1, 1, 3, ("pin",)),
            "over-constrained: a mechanism of 1 degree of freedom, 3 rows of pin say nothing new",
        ),
        (bennett_linkage, (1, 1, 3, ("closing",)), "over-constrained: a mechanism of 1 degree"),
        (sarrus, (1, 1, 1, ("hinge",)), "over-constrained: a mechanism of 1 degree of freedom, 1 rows of hinge"),
        (platform_on_legs, (6, 6, 0, ()), "regular: a mechanism of 6 degrees of freedom"),
        (
            parallelogram,
            (2, 1, 4, ("pin",)),
            "singular: a mechanism of 1 degree of freedom with 2 motions to first order",
        ),
        (stretched, (1, 0, 4, ("pin",)), "singular: a structure with 1 motions to first order"),
        (
            partial(stretched, beside=2),
            (3, 2, 4, ("pin",)),
            "singular: a mechanism of 2 degrees of freedom with 3 motions to first order",
        ),
        (flat_truss, (1, 0, 1, ("node2",)), "singular: a structure with 1 motions to first order"),
    ],
)
def test_mobility(made, expected, verdict):
    """Known linkages: those that move in spite of their rows, and those that only seem to."""
    robot, q = made()
    assert np.abs(robot.loop_error(q)).max() < 1e-12
    found = robot.mobility(q)
    assert found == expected
    assert found.verdict.startswith(verdict)


def test_a_loop_that_is_open_has_no_mobility():
    robot, q = parallelogram()
    with pytest.raises(InputError, match=r"its loops are .* m or rad apart.*robot.close_loops\(q\) closes them"):
        robot.mobility(q + 0.3 * np.arange(len(q)))
