"""What a sample of whole-body control is made of: equations with all forces in them, small systems, programmes by their bounds."""

import numpy as np
import pytest
import qpsolvers
from scipy.optimize import linprog
from scipy.sparse import csc_matrix

import modurob as mr
from modurob import kernels
from modurob.algorithms.full_dynamics import full_acceleration, full_equations
from modurob.algorithms.interpreter import interpret
from modurob.control.whole_body import _unseen
from modurob.spatial import small
from modurob.statics import active_set
from modurob.statics.active_set import active_bounds
from tests.oracles import simplex, strut
from tests.oracles.linkages import four_bar
from tests.robots import random_mechanism


def _states():
    rng = np.random.default_rng(0)
    link = four_bar(rng)
    spring = mr.Spring(stiffness=30.0, length=0.2, damping=0.5)
    tied = link.robot.with_line("spring", [("world", (0.3, 0.2, 1.0)), (link.robot.bodies[2], (0.1, 0.0, 0.0))], spring)
    floating = mr.load("crab").mechanism(floating=True)
    q = floating.random_configuration(rng)
    wound, held = strut.stretched(2e9)
    rotors = random_mechanism(rng, 4, armature=True)
    return [
        (tied, *link.state(rng)),
        (floating, q, rng.normal(size=floating.nv)),
        (wound, held + 0.01 * rng.normal(size=5), rng.normal(size=5)),
        (rotors, rotors.random_configuration(rng), rng.normal(size=rotors.nv)),
    ]


@pytest.mark.parametrize(("robot", "q", "v"), _states(), ids=("loop", "floating", "winches", "rotors"))
def test_equations_with_all_forces_in_them(robot, q, v):
    """M vdot = tau + force + K^T lambda, K vdot = k: of the parts that are known one by one, compiled and by NumPy."""
    tau = np.random.default_rng(1).normal(size=robot.nv)
    for run in (kernels.run, interpret):
        M, force, K, k = full_equations(robot, q, v, run=run)
        vdot = full_acceleration(robot, q, v, tau, run=run)
        own = robot.passive_forces(q, v)
        assert np.allclose(M, robot.mass_matrix(q), rtol=1e-10, atol=1e-12)
        assert force == pytest.approx(own - robot.bias_forces(q, v), rel=1e-9, abs=1e-9)
        assert vdot == pytest.approx(robot.forward_dynamics(q, v, tau + own), rel=1e-7, abs=1e-7)
        assert K @ vdot == pytest.approx(k, abs=1e-7 * (1 + np.abs(vdot).max()))
        assert len(K) == sum(c.rows for c in robot.constraints)


def _programme(rng):
    """A strictly convex one of a few unknowns with more rows than those, a point within all of them known."""
    n, rows = int(rng.integers(2, 9)), int(rng.integers(1, 25))
    root, G, within = rng.normal(size=(n, n)), rng.normal(size=(rows, n)), rng.normal(size=n)
    return root @ root.T + 0.1 * np.eye(n), 10 * rng.normal(size=n), G, G @ within - rng.exponential(0.2, rows)


def test_programmes_by_their_bounds(monkeypatch):
    """Against Clarabel; the quick guess of the bounds, often right, and the method that takes them in one by one agree."""
    rng, guessed, guess = np.random.default_rng(2), [], active_set._all_at_once
    for _ in range(200):
        P, c, G, h = _programme(rng)
        monkeypatch.setattr(active_set, "_all_at_once", lambda *given: guessed.append(guess(*given)) or guessed[-1])
        x = active_bounds(P, c, G, h)
        theirs = qpsolvers.solve_qp(csc_matrix(P), c, csc_matrix(-G), -h, solver="clarabel")
        assert x == pytest.approx(theirs, abs=1e-5 * (1 + np.abs(x).max()))
        monkeypatch.setattr(active_set, "_all_at_once", lambda *given: None)
        assert active_bounds(P, c, G, h) == pytest.approx(x, abs=1e-9 * (1 + np.abs(x).max()))
    assert sum(y is not None for y in guessed) > 60


def test_programmes_without_an_answer():
    rng, none = np.random.default_rng(3), 0
    for _ in range(40):
        P, c, G, h = _programme(rng)
        h = h + rng.choice([0.0, 5.0])
        possible = linprog(np.zeros(len(c)), A_ub=-G, b_ub=-h, bounds=(None, None)).status == 0
        assert (active_bounds(P, c, G, h) is not None) == possible
        none += not possible
    assert 5 < none < 35
    assert active_bounds(np.diag([1.0, -1.0]), np.zeros(2), np.eye(2), np.zeros(2)) is None


def test_small_systems():
    rng = np.random.default_rng(4)
    A, b = rng.normal(size=(7, 4)), rng.normal(size=4)
    Q, R = small.complete_qr(A)
    assert np.allclose(Q.T @ Q, np.eye(7), atol=1e-14)
    assert Q[:, :4] @ np.triu(R) == pytest.approx(A, abs=1e-14)
    assert np.triu(R).T @ small.solve_transposed(R, b) == pytest.approx(b)
    M = A.T @ A
    L = small.factor(M)
    assert np.allclose(L @ L.T, M)
    assert M @ small.solve_positive(M, b) == pytest.approx(b)
    assert L.T @ small.solve_factor(L, b, transposed=True) == pytest.approx(b)
    assert small.factor(-M) is None
    assert small.solve_positive(-M, b) is None
    U, s, Vt = small.thin_svd(A)
    assert U * s @ Vt == pytest.approx(A)
    assert [x.shape for x in small.thin_svd(np.zeros((0, 3)))] == [(0, 0), (0,), (0, 3)]


@pytest.mark.parametrize("dependent", [False, True])
def test_motions_that_no_task_sees(dependent):
    """N^T M N by its definition, rows that depend on others among them; J N = 0."""
    rng = np.random.default_rng(5)
    root, J = rng.normal(size=(6, 6)), rng.normal(size=(3, 6))
    M = root @ root.T + np.eye(6)
    J[2] = J[0] + J[1] if dependent else J[2]
    N = np.eye(6) - np.linalg.solve(M, J.T) @ np.linalg.pinv(J @ np.linalg.solve(M, J.T), rcond=1e-9) @ J
    assert np.abs(J @ N).max() < 1e-9
    assert _unseen(M, J) == pytest.approx(N.T @ M @ N, abs=1e-9)


def test_a_plan_is_the_motion_it_says():
    """The manipulator accelerates as a plan says, under its inputs and with the tensions that it wants."""
    model, q = simplex.standing()
    law = simplex.law(simplex.PATHS["horizontal"], cured=True).on(model)
    plan, problem = law.plan(0.0, q, np.zeros(model.nv))
    # those of now, and what they are to pull more
    pulled = model.passive_forces(q, np.zeros(model.nv)) - problem.arms.T @ plan.more
    moved = model.forward_dynamics(q, np.zeros(model.nv), problem.B @ plan.u + pulled)
    assert moved == pytest.approx(plan.vdot, abs=1e-6)
