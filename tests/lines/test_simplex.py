"""The manipulator at rest: where its cables can hold it, and with what (Lieskovsky, chapter 5; figures of an independent model)."""

import numpy as np
import pytest
from scipy.optimize import brentq

import modurob as mr
from tests.oracles import simplex
from tests.oracles.pinocchio_loops import PinocchioLoops


@pytest.fixture(scope="module")
def model():
    return simplex.robot()


def determinant(model, degrees):
    q, *_ = simplex.pose(model, np.radians(degrees))
    return np.linalg.det(model.line_jacobian(q) @ simplex.motions(model, q))


def test_the_prism(model):
    q, r, h = simplex.pose(model, np.radians(120.0))
    assert np.abs(model.loop_error(q)).max() < 1e-12
    assert (r, h) == pytest.approx((0.40825, 0.70711), abs=5e-6)
    assert model.total_mass() == pytest.approx(9.64, abs=5e-3)
    assert (model.nv, model.loop_rank()) == (15, 9)
    # straight parts of a - R, and arcs from the axis of the strut down to 45 degrees below level
    assert model.line_lengths(q) == pytest.approx(simplex.SIDE - 0.05 + 0.05 * np.pi * 3 / 4, abs=1e-9)
    T = simplex.tensions(model, q)
    assert T[::2] == pytest.approx([0.67] * 3, abs=0.02)
    assert T[1::2] == pytest.approx([-17.3] * 3, abs=0.05)


def test_singular_at_a_twist_of_150_degrees(model):
    """As the plain prism stands at 30 degrees: 180 - 150."""
    found = brentq(lambda t: determinant(model, t), 145, 155, xtol=1e-10)
    assert found == pytest.approx(150.0, abs=0.01)


def test_the_twist_of_the_least_tension(model):
    """With 20 MPa in the upper cables: 153.107 degrees, 62.83 and 88.12 N."""
    least = 20e6 * simplex.AREA

    def lacking(degrees):
        q, *_ = simplex.pose(model, np.radians(degrees))
        return simplex.tensions(model, q).min() - least

    twist = brentq(lacking, 151, 155, xtol=1e-9)
    assert twist == pytest.approx(153.107, abs=0.01)
    q, *_ = simplex.pose(model, np.radians(twist))
    T = simplex.tensions(model, q)
    assert T[::2] == pytest.approx([62.83] * 3, abs=0.05)
    assert T[1::2] == pytest.approx([88.12] * 3, abs=0.05)


def test_the_documents_tree():
    """39 rates, 27 constraints, 12 degrees of freedom; closed; K and k are slopes; Pinocchio accelerates it alike."""
    tree, rng = simplex.tree(), np.random.default_rng(3)
    q = simplex.tree_pose(np.radians(140.0), rng.uniform(0.005, 0.02, 6))
    assert (tree.nv, tree.loop_rank()) == (39, 27)
    assert np.abs(tree.loop_error(q)).max() < 1e-12
    v = tree.close_velocity(q, 0.3 * rng.normal(size=39))
    h = 1e-6

    def slope(f, way):
        return (f(tree.integrate(q, h * way)) - f(tree.integrate(q, -h * way))) / (2 * h)

    K = np.array([slope(tree.loop_error, e) for e in np.eye(39)]).T
    assert tree.loop_jacobian(q) == pytest.approx(K, abs=1e-7)
    assert tree.loop_bias(q, v) == pytest.approx(-slope(lambda x: tree.loop_jacobian(x) @ v, v), abs=1e-7)
    tau = tree.passive_forces(q, v) + rng.normal(size=39)
    judged, _ = PinocchioLoops(simplex.tree(plain=True)).forward_dynamics(q, v, tau)
    assert tree.forward_dynamics(q, v, tau) == pytest.approx(judged, rel=1e-8, abs=1e-8 * np.abs(judged).max())


def test_compliant_cables_leave_it_under_actuated():
    """12 degrees of freedom, 6 inputs."""
    compliant, q = simplex.standing()
    found = compliant.actuation(q)
    assert (found.verdict, found.B.shape) == ("under-actuated", (12, 6))
    T = compliant.line_tensions(q, np.zeros(compliant.nv))
    assert T[::2] == pytest.approx([62.83] * 3, abs=0.05)
    assert T[1::2] == pytest.approx([88.12] * 3, abs=0.05)


def least_twist(model, height):
    """Where the upper cables pull with the least tension [rad]."""
    return brentq(
        lambda t: simplex.tensions(model, simplex.pose(model, t, height)[0]).min() - simplex.LEAST,
        np.radians(150.5),
        np.radians(160),
    )


@pytest.mark.parametrize(("rise", "growth", "turn"), [(0.0, 1.034, 6.918), (-0.5, 6.70, 6.65), (0.25, 2.39, 11.2)])
def test_flutter(model, rise, growth, turn):
    """With the end effector held, the document's programme lets the motions that it does not see grow: figures of an independent
    model, whose blocks have an inertia where ours are points."""
    q, *_ = simplex.pose(model, least_twist(model, simplex.HEIGHT + rise), simplex.HEIGHT + rise)
    found = simplex.exponents(q)
    worst = found[np.argmax(found.real)]
    assert worst.real == pytest.approx(growth, abs=0.05)
    assert abs(worst.imag) == pytest.approx(turn, rel=0.01)
    if not rise:
        # the mode of its symmetry swings for ever
        assert np.abs(found.imag).max() == pytest.approx(14.16, abs=0.15)


def test_damped_motions_decay(model):
    """Without bounds of the tensions the document's programme loses the pose too; with damping every motion decays."""
    q, *_ = simplex.pose(model, least_twist(model, simplex.HEIGHT))
    assert simplex.exponents(q, least=0.0).real.max() > 3.0
    assert simplex.exponents(q, cured=True, least=0.0).real.max() < -0.25


def test_the_cured_controller_sets_out():
    """The first 0.3 s of the horizontal path."""
    run, off = simplex.followed(simplex.PATHS["horizontal"], cured=True, duration=0.3)
    assert run.status.ok
    assert off.max() < 2.5e-4


def test_long_steps_follow_short_ones():
    """Out of balance by 2 % of one torque, all cables taut: steps of 5 ms, 100 times faster than time, against 0.2 ms."""
    model, q = simplex.standing()
    tau = np.zeros(model.nv)
    tau[-6:] = simplex.RADIUS * model.line_tensions(q, np.zeros(model.nv)) * [1.02, 1, 1, 1, 1, 1]
    held = {"duration": 0.4, "tick": 2e-2, "controller": lambda t, q, v: tau}
    long, short = (mr.simulate(model, q, stepper=mr.RungeKutta4(dt), **held) for dt in (5e-3, 2e-4))
    assert model.line_tensions(long.q, long.v).min() > 50
    assert np.abs(short.q[-1] - q)[:-6].max() > 0.04
    assert np.abs(long.q - short.q)[:, :-6].max() < 2e-7


@pytest.mark.judge
@pytest.mark.parametrize("path", simplex.PATHS)
def test_the_paths_under_the_cured_controller(path):
    """20 s within 2.5e-4 m, no cable below 0.95 of its least tension."""
    run, off = simplex.followed(simplex.PATHS[path], cured=True, duration=20.0)
    assert run.status.ok
    print(f"{path}: off by {off.max():.2e} m")
    assert off.max() < 2.5e-4
    assert simplex.standing()[0].line_tensions(run.q, run.v).min() > 0.95 * simplex.LEAST


@pytest.mark.judge
@pytest.mark.parametrize("path", simplex.PATHS)
def test_the_paths_are_lost_under_the_documents_controller(path):
    """Off by more than 5 cm, or at an end, before 12 s."""
    run, off = simplex.followed(simplex.PATHS[path], cured=False, duration=12.0)
    print(f"{path}: {run.status}, off by 5 cm at {run.t[np.argmax(off > 0.05)]:.2f} s")
    assert off.max() > 0.05


def test_actuation(model):
    """Rigid cables: six degrees of freedom, six inputs; deficient where the matrix is singular; never closed by pulling alone."""
    q, *_ = simplex.pose(model, np.radians(140.0))
    found = model.actuation(q)
    assert (found.verdict, found.B.shape, found.closure) == ("properly actuated", (6, 6), False)
    q, *_ = simplex.pose(model, np.radians(150.0))
    assert model.actuation(q).verdict == "deficiently actuated"
