"""Inverse dynamics as optimisation, and whole-body control of robots with loops and cables."""

from dataclasses import replace

import numpy as np
import pytest

import modurob as mr
from modurob.control import optimal_inputs, optimal_inverse_dynamics
from modurob.errors import ControlError, InputError
from tests.lines.test_actuation import platform
from tests.oracles import strut
from tests.oracles.linkages import four_bar, stewart


def test_the_forms_agree():
    """On random problems where bounds are met and some of them hold; the nonlinear one to what it promises."""
    rng = np.random.default_rng(1)
    tight = 0
    for _ in range(30):
        n, k = int(rng.integers(1, 5)), int(rng.integers(1, 5))
        B, u = rng.normal(size=(n, n + k)), rng.uniform(1, 5, n + k)
        lower, upper = np.zeros(n + k), np.full(n + k, 6.0)
        e = B @ u
        found = [optimal_inputs(B, e, lower, upper, form) for form in ("null-space", "direct", "nonlinear")]
        assert found[1] == pytest.approx(found[0], abs=1e-10)
        assert found[2] == pytest.approx(found[0], abs=1e-6)
        assert np.abs(B @ found[0] - e).max() < 1e-8
        # the conditions of an optimum: u - B^T m is zero inside, of the right sign at the bounds
        inside = (found[0] > lower + 1e-6) & (found[0] < upper - 1e-6)
        tight += not inside.all()
        if not inside.all() and inside.sum() >= n:
            multiplier = np.linalg.lstsq(B[:, inside].T, found[0][inside], rcond=None)[0]
            gradient = found[0] - B.T @ multiplier
            assert np.abs(gradient[inside]).max() < 1e-6
            assert (gradient[found[0] <= 1e-6] > -1e-6).all()
    assert tight > 5


def test_forms_and_solvers_that_are_none_are_refused():
    with pytest.raises(ControlError, match="no form 'best'"):
        optimal_inputs(np.eye(2), np.ones(2), np.zeros(2), np.ones(2), "best")
    with pytest.raises(InputError, match="no solver 'magic'"):
        optimal_inputs(np.ones((1, 2)), np.ones(1), np.zeros(2), np.array([0.1, 1.0]), solver="magic")
    assert optimal_inputs(np.ones((1, 2)), np.array([5.0]), np.zeros(2), np.ones(2)) is None
    assert optimal_inputs(np.zeros((1, 2)), np.array([5.0]), np.zeros(2), np.ones(2)) is None
    assert optimal_inputs(np.eye(2), np.array([5.0, 1.0]), np.zeros(2), np.ones(2)) is None


def test_loops_move_as_asked():
    """The inputs of a linkage bring about the motion; with drives that suffice just so they are those of inverse dynamics."""
    rng = np.random.default_rng(2)
    for linkage in (four_bar(rng), stewart(rng)):
        robot = linkage.robot
        q, v = linkage.state(rng)
        vdot = robot.forward_dynamics(q, v, linkage.drive(rng))
        u = optimal_inverse_dynamics(robot, q, v, vdot)
        tau = np.zeros(robot.nv)
        tau[robot.effort_limit > 0] = u
        assert robot.forward_dynamics(q, v, tau) == pytest.approx(vdot, rel=1e-6, abs=1e-6)
        assert robot.inverse_dynamics(q, v, vdot) == pytest.approx(tau, rel=1e-6, abs=1e-6)


def test_tensions_hold_a_platform():
    robot = platform()
    q = np.array([0.45, 0.6, 0.1])
    u = optimal_inverse_dynamics(robot, q, np.zeros(3), np.zeros(3))
    assert (u >= -1e-9).all()
    assert -robot.line_jacobian(q).T @ u == pytest.approx(robot.gravity_forces(q), abs=1e-7)
    with pytest.raises(ControlError, match="no inputs within their bounds bring about this motion"):
        optimal_inverse_dynamics(robot, np.array([1.6, 0.5, 0.0]), np.zeros(3), np.array([50.0, 0, 0]))


# ---- the single strut ----


def test_upright_at_rest():
    """u = R T = 4.39823 N m each, nothing more to pull."""
    robot, q = strut.stretched(2e9)
    law = mr.WholeBody([mr.JointTask(["strut"], reference=[0.0, 0.0])], tension=(20e6 * strut.AREA, np.inf)).on(robot)
    plan, _ = law.plan(0.0, q, np.zeros(5))
    assert plan.u == pytest.approx([4.39823] * 3, abs=5e-6)
    assert plan.more == pytest.approx(np.zeros(3), abs=1e-5)
    assert plan.vdot == pytest.approx(np.zeros(5), abs=1e-6)


def followed(E, duration, begin=0.0, **options):
    robot, q = strut.stretched(E)
    task = mr.JointTask(["strut"], reference=lambda t: strut.PATH(t + begin), kp=100.0, kd=20.0)
    law = mr.WholeBody([task], tension=(20e6 * strut.AREA, np.inf), sample_time=1e-3, **options)
    run = mr.simulate(robot, q, duration=duration, controller=law, stepper=mr.RungeKutta4(1e-3))
    assert run.status.ok, run.status
    wanted = strut.PATH(run.t + begin).position
    return np.abs(run.q[:, :2] - wanted).max(axis=0), robot.line_tensions(run.q, run.v)


def test_tracking_with_frozen_strains():
    """The path where it sets out, at 1 kHz with prediction, E 2 GPa; no cable falls below 0.95 of its least tension."""
    errors, tensions = followed(2e9, 0.3, begin=1.0, predict=True)
    assert (errors < 2e-4).all()
    assert tensions.min() > 0.95 * 20e6 * strut.AREA


# largest errors of both angles [rad]: fed forward alone, by an independent model of the same choices, and as printed
TABLE_5_7 = {
    2e8: ((1.81e-2, 1.64e-2), (8.403e-3, 8.293e-3)),
    2e9: ((2.02e-3, 1.55e-3), (1.080e-3, 8.105e-4)),
    2e10: ((2.04e-4, 1.55e-4), (2.162e-4, 1.330e-4)),
}
FED_BACK = {2e8: 2.5e-4, 2e9: 8e-5, 2e10: 1e-5}


@pytest.mark.judge
def test_table_5_7():
    """The controller asked in every stage, fed forward alone: our figures to 3 %, the printed ones within a factor of three, and
    about tenfold less a decade of E."""
    found = {E: np.array(strut.tracked(*strut.stretched(E), 0.0, 0.0)) for E in TABLE_5_7}
    for E, (ours, printed) in TABLE_5_7.items():
        print(f"E {E:.0e} Pa: {found[E]} rad")
        assert found[E] == pytest.approx(ours, rel=0.03)
        assert ((found[E] / printed > 1 / 3) & (found[E] / printed < 3)).all()
    for stiff, soft in ((2e9, 2e8), (2e10, 2e9)):
        ratio = found[soft] / found[stiff]
        assert ((ratio > 7) & (ratio < 11)).all()


@pytest.mark.judge
@pytest.mark.parametrize("E", FED_BACK)
def test_table_5_7_with_errors_fed_back(E):
    """PD(100, 20), asked in every stage."""
    errors = strut.tracked(*strut.stretched(E), 100.0, 20.0)
    print(f"E {E:.0e} Pa: {errors} rad")
    assert max(errors) < FED_BACK[E]


@pytest.mark.judge
@pytest.mark.parametrize(("E", "most"), [(2e8, 4e-4), (2e9, 2e-4), (2e10, 1.5e-4)])
def test_tracking_over_the_whole_path(E, most):
    errors, tensions = followed(E, 9.0, predict=True)
    print(f"E {E:.0e} Pa: largest errors {errors} rad, least tension {tensions.min():.2f} N")
    assert (errors < most).all()
    assert tensions.min() > 0.95 * 20e6 * strut.AREA


# ---- any robot ----


def test_priorities():
    """Two tasks that contradict each other: the first is met, the second as well as it can be."""
    robot = mr.load("crab").mechanism().ideal()
    q, v = np.array([0.3, -0.2, 0.5]), np.zeros(3)
    names = ["m0/hinge", "m2/hinge", "m4/hinge"]
    first = mr.JointTask(names[:2], reference=[0.3, 0.1], kp=1.0, kd=0.0)
    second = mr.JointTask(names, reference=[1.0, 1.0, 1.0], kp=1.0, kd=0.0, priority=2)
    plan, _ = mr.WholeBody([second, first]).on(robot).plan(0.0, q, v)
    assert plan.vdot == pytest.approx([0.0, 0.3, 0.5], abs=1e-6)
    assert plan.u == pytest.approx(robot.inverse_dynamics(q, v, plan.vdot), abs=1e-6)


def test_a_point_and_a_pose_are_followed():
    rng = np.random.default_rng(5)
    from tests.robots import random_mechanism

    robot = random_mechanism(rng, 7, kinds=("revolute",), chain=True).ideal()
    q = robot.random_configuration(rng)
    tip = robot.bodies[-1]
    X = robot.frame_pose(q, tip) @ mr.spatial.se3.exp(0.05 * rng.normal(size=6))
    run = mr.simulate(
        robot,
        q,
        duration=1.0,
        controller=mr.WholeBody([mr.PoseTask(tip, reference=X)], damping=10.0, weight=1.0, sample_time=5e-3),
    )
    assert run.status.ok
    assert robot.frame_pose(run.q[-1], tip) == pytest.approx(X, abs=2e-3)
    spot = X[:3, 3] + [0.0, 0.02, 0.0]
    law = mr.WholeBody([mr.PointTask(tip, reference=spot)], damping=10.0, weight=1.0, sample_time=5e-3)
    run = mr.simulate(robot, q, duration=1.0, controller=law)
    assert robot.frame_pose(run.q[-1], tip)[:3, 3] == pytest.approx(spot, abs=2e-3)


def test_bounds_are_kept_and_tasks_give_way():
    robot = mr.load("crab").mechanism().ideal()
    weak = replace(robot, joints=tuple(replace(j, effort_limit=np.array([8.0])) for j in robot.joints))
    task = mr.JointTask(["m0/hinge", "m2/hinge", "m4/hinge"], reference=[2.0, 2.0, 2.0], kp=1e4)
    plan, _ = mr.WholeBody([task]).on(weak).plan(0.0, np.zeros(3), np.zeros(3))
    assert (np.abs(plan.u) <= 8 + 1e-6).all()
    assert np.abs(plan.u).max() == pytest.approx(8.0, abs=1e-5)
    assert weak.forward_dynamics(np.zeros(3), np.zeros(3), plan.u) == pytest.approx(plan.vdot, rel=1e-5, abs=1e-5)


def test_bad_tasks():
    with pytest.raises(ControlError, match="task 3: expected a JointTask"):
        mr.WholeBody([3])
    with pytest.raises(ControlError, match="there is no sample_time"):
        mr.WholeBody([], predict=True)
    robot = mr.load("crab").mechanism()
    floating = mr.load("crab").mechanism(floating=True)
    still = np.zeros(3)
    with pytest.raises(ControlError, match=r"reference of shape \(2,\): expected \(1,\)"):
        mr.JointTask(["m0/hinge"], reference=[1.0, 2.0]).rows(robot, 0.0, still, still)
    base = floating.joints[0].name
    with pytest.raises(ControlError, match="expected joints without quaternions"):
        mr.JointTask([base], reference=np.zeros(6)).rows(floating, 0.0, floating.neutral(), np.zeros(9))
    with pytest.raises(ControlError, match="the reference is no pose"):
        mr.PoseTask("m3", reference=np.ones((4, 4))).rows(robot, 0.0, still, still)
    tied, q = strut.stretched(2e9)
    law = mr.WholeBody([mr.JointTask(["strut"], reference=[0.0, 0.0])], tension=(20.0, 10.0)).on(tied)
    with pytest.raises(ControlError, match="no inputs within their bounds keep this robot moving"):
        law.plan(0.0, q, np.zeros(5))
