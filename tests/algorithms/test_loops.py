"""Closed loops: four-bar, Bennett and others against closed forms."""

import numpy as np
import pytest

import modurob as mr
from modurob.errors import ClosureError
from modurob.judges.verify import relative_error
from modurob.spatial import inertia, se3, so3
from tests.moved import moved
from tests.oracles.four_bar import FourBar
from tests.robots import random_joint

Z = mr.Revolute((0, 0, 1))


def rod(mass, length):
    """A rod along x from the origin, its mass in the middle."""
    own = inertia.spatial_inertia(mass, np.zeros(3), mass * length**2 / 12 * np.diag([0.0, 1.0, 1.0]))
    return inertia.moved(own, se3.pose(None, (length / 2, 0, 0)))


def along_x(length):
    return se3.pose(None, (length, 0, 0))


def four_bar(bar: FourBar) -> mr.Mechanism:
    """Crank and coupler as one chain, the rocker as another, pinned together."""
    builder = mr.Builder("four-bar", gravity=(0, -bar.g, 0))
    builder.body("crank", rod(bar.masses[0], bar.a), joint=Z)
    builder.body("coupler", rod(bar.masses[1], bar.b), parent="crank", joint=Z, at=along_x(bar.a))
    builder.body("rocker", rod(bar.masses[2], bar.c), joint=Z, at=along_x(bar.d))
    builder.loop("pin", Z, "coupler", "rocker", along_x(bar.b), along_x(bar.c))
    return builder.build()


def four_bar_state(bar, t, td):
    """Joint coordinates and rates for the crank angle and rate."""
    (p, r), (pd, rd) = bar.angles(t), bar.rates(t)
    return np.array([t, p - t, r]), td * np.array([1, pd - 1, rd])


def bennett(a=1.0, b=0.7, alpha=1.1):
    """Four links with lengths a, b, a, b and twists alpha, beta, alpha, beta; sin(alpha)/a = sin(beta)/b."""
    beta = np.arcsin(b * np.sin(alpha) / a)
    links = [(a, alpha), (b, beta), (a, alpha), (b, beta)]
    builder = mr.Builder("bennett", gravity=(0, 0, -9.81))
    parent = "world"
    for i, (length, twist) in enumerate(links[:3]):
        seat = se3.denavit_hartenberg(0.0, 0.0, length, twist)
        own = inertia.moved(inertia.box(1.0, (length, 0.1, 0.1)), along_x(-length / 2))
        builder.body(f"l{i}", own, parent=parent, joint=Z, seat=seat)
        parent = f"l{i}"
    last = se3.denavit_hartenberg(0.0, 0.0, *links[3])
    builder.loop("closing", Z, parent, "world", seat=se3.inverse(last))
    return builder.build(), beta


def bennett_configuration(t1, alpha, beta):
    t2 = 2 * np.arctan(np.sin((alpha + beta) / 2) / np.sin((beta - alpha) / 2) / np.tan(t1 / 2))
    return np.array([t1, t2, -t1])


@pytest.mark.parametrize("seed", range(10))
def test_four_bar_accelerates_as_its_closed_form(seed):
    rng = np.random.default_rng(seed)
    bar = FourBar()
    robot = four_bar(bar)
    t, td, tau = rng.uniform(-np.pi, np.pi), *rng.normal(size=2)
    q, v = four_bar_state(bar, t, td)
    assert np.abs(robot.loop_error(q)).max() < 1e-14
    assert np.abs(robot.loop_jacobian(q) @ v).max() < 1e-14
    vdot = robot.forward_dynamics(q, v, [tau, 0, 0])
    assert vdot[0] == pytest.approx(bar.acceleration(t, td, tau), rel=1e-10)
    reduced = robot.independent_coordinates(q, v)
    assert len(reduced.rates) == 1
    ydot = np.linalg.solve(reduced.inertia, reduced.G.T @ [tau, 0, 0] - reduced.bias)
    np.testing.assert_allclose(reduced.G @ ydot + reduced.g, vdot, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_bennett_linkage_closes_along_its_curve(seed):
    """tan(t1/2) tan(t2/2) = sin((alpha + beta)/2) / sin((beta - alpha)/2), and t3 = -t1."""
    robot, beta = bennett()
    q = bennett_configuration(np.random.default_rng(seed).uniform(0.3, 2.8), 1.1, beta)
    t1, t2, _ = q
    assert np.abs(robot.loop_error(q)).max() < 1e-14
    # one freedom although counting gives none
    assert np.linalg.matrix_rank(robot.loop_jacobian(q), tol=1e-9) == robot.loop_rank() == 2
    nearby = robot.close_loops(q + 0.02)
    assert np.tan(nearby[0] / 2) * np.tan(nearby[1] / 2) == pytest.approx(np.tan(t1 / 2) * np.tan(t2 / 2), rel=1e-9)


def run_closed(robot, q, v, seconds, every=0.5):
    """Largest loop error and relative change of energy on the way, loops projected closed every half second."""
    scale = energy = robot.kinetic_energy(q, v) + robot.potential_energy(q)
    errors, drift = [], []
    for _ in range(round(seconds / every)):
        q, v = moved(robot, q, v, np.zeros(robot.nv), every, tolerance=1e-9)
        errors.append(np.abs(robot.loop_error(q)).max())
        q = robot.close_loops(q)
        v = robot.close_velocity(q, v)
        scale = max(scale, robot.kinetic_energy(q, v))
        drift.append(abs(robot.kinetic_energy(q, v) + robot.potential_energy(q) - energy))
    return max(errors), max(drift) / abs(scale)


def test_four_bar_stays_closed_for_a_minute():
    bar = FourBar(g=2.0)
    robot = four_bar(bar)
    error, drift = run_closed(robot, *four_bar_state(bar, 0.4, 0.5), 60.0)
    assert error < 1e-8
    assert drift < 1e-7


def test_bennett_linkage_stays_closed_for_a_minute():
    robot, beta = bennett()
    q = bennett_configuration(0.9, 1.1, beta)
    v = robot.close_velocity(q, np.array([0.3, 0.0, 0.0]))
    error, drift = run_closed(robot, q, v, 60.0)
    assert error < 1e-8
    assert drift < 1e-7


LOOP_KINDS = ("fixed", "revolute", "prismatic", "helical", "cylindrical", "universal", "spherical", "planar")


def closed_chain(rng, kind):
    """Seven revolute joints in a row, the tip held by a joint of that kind where it happens to be; and that configuration."""
    builder = mr.Builder("ring")
    for i in range(7):
        axis = tuple(rng.normal(size=3))
        parent = f"b{i - 1}" if i else "world"
        builder.body(
            f"b{i}", inertia.random(rng), parent=parent, joint=mr.Revolute(axis), at=se3.random(rng, reach=0.5)
        )
    q, closing = rng.normal(size=7), random_joint(rng, kind)
    tip = builder.build().frame_pose(q, "b6")
    q_closing = closing.random(rng, np.full(closing.nq, -np.inf), np.full(closing.nq, np.inf))
    builder.loop("closing", closing, "world", "b6", at=tip @ se3.inverse(closing.pose(q_closing)))
    return builder.build(), q


@pytest.mark.parametrize("kind", LOOP_KINDS)
def test_loop_joints_of_every_kind(kind, rng):
    """K is the derivative of the loop error, and K vdot = k is its second derivative, along the motion."""
    robot, q = closed_chain(rng, kind)
    assert np.abs(robot.loop_error(q)).max() < 1e-13
    slopes = [np.imag(robot.loop_error(robot.integrate(q, 1e-20j * e))) / 1e-20 for e in np.eye(7)]
    np.testing.assert_allclose(np.transpose(slopes), robot.loop_jacobian(q), atol=1e-12)
    v = robot.close_velocity(q, rng.normal(size=7))
    vdot = robot.forward_dynamics(q, v, rng.normal(size=7))
    h = 1e-3
    error = [np.abs(robot.loop_error(q + s * h * v + (s * h) ** 2 / 2 * vdot)).max() for s in (1, 2)]
    # without the right bias the error would grow with the square of time, not the cube
    assert error[1] < 9.5 * error[0] + 1e-12
    assert error[0] < 100 * h**3 * max(1, np.abs(v).max() ** 3, np.abs(vdot).max() ** 1.5)


@pytest.mark.parametrize("kind", LOOP_KINDS)
def test_constraint_forces_do_no_work(kind, rng):
    robot, q = closed_chain(rng, kind)
    v, tau = robot.close_velocity(q, rng.normal(size=7)), rng.normal(size=7)
    vdot = robot.forward_dynamics(q, v, tau)
    push = robot.inverse_dynamics(q, v, vdot) - tau
    assert abs(push @ v) < 1e-10 * max(np.abs(push).max() * np.abs(v).max(), 1)


@pytest.mark.parametrize("kind", LOOP_KINDS)
def test_derivatives_of_constrained_dynamics(kind, rng):
    robot, q = closed_chain(rng, kind)
    v, tau, h = robot.close_velocity(q, rng.normal(size=7)), rng.normal(size=7), 1e-6
    found = robot.forward_dynamics_derivatives(q, v, tau)
    slopes = [
        (robot.forward_dynamics(q, v, tau + h * e) - robot.forward_dynamics(q, v, tau - h * e)) / (2 * h)
        for e in np.eye(7)
    ]
    assert relative_error(found.tau, np.transpose(slopes)) < 1e-6
    slopes = [
        (robot.forward_dynamics(q, v + h * e, tau) - robot.forward_dynamics(q, v - h * e, tau)) / (2 * h)
        for e in np.eye(7)
    ]
    assert relative_error(found.v, np.transpose(slopes)) < 1e-5


def test_closing_velocity_is_what_an_impulse_leaves(rng):
    """M (v+ - v) = K^T impulse, K v+ = 0: kinetic energy falls by that of the difference."""
    robot, q = closed_chain(rng, "revolute")
    v = rng.normal(size=7)
    after = robot.close_velocity(q, v)
    assert np.abs(robot.loop_jacobian(q) @ after).max() < 1e-12
    lost = robot.kinetic_energy(q, v) - robot.kinetic_energy(q, after)
    assert lost == pytest.approx(robot.kinetic_energy(q, v - after), rel=1e-9)


def test_batches_of_loops(rng):
    robot, q = closed_chain(rng, "spherical")
    v, tau = rng.normal(size=(2, 3, 7))
    batch = robot.forward_dynamics(q, v, tau)
    for i in range(3):
        np.testing.assert_allclose(batch[i], robot.forward_dynamics(q, v[i], tau[i]), rtol=1e-9)


def test_loops_out_of_reach_are_refused():
    builder = mr.Builder("short")
    builder.body("arm", rod(1.0, 1.0), joint=Z)
    builder.loop("far", mr.Spherical(), "arm", "world", along_x(1.0), along_x(3.0))
    with pytest.raises(ClosureError, match=r"far.*stay open by 2"):
        builder.build().close_loops([0.3])


def test_ring_of_modules_closes(rng):
    """Six Backbones in a ring close as a hexagon and leave the three freedoms of a planar six-bar."""
    ring = mr.Assembly.single("m0", "backbone")
    for i in range(1, 6):
        ring = ring.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4")
    robot = ring.connect("m5/3", "m0/4").mechanism(base="m0")
    assert [loop.name for loop in robot.loops] == ["m5/3 - m0/4"]
    assert robot.nv == 6
    q = robot.close_loops(np.full(6, np.pi / 3) + rng.normal(size=6) * 0.05)
    assert np.abs(robot.loop_error(q)).max() < 1e-12
    # around the ring the turns add up to a full one
    assert q.sum() == pytest.approx(2 * np.pi)
    assert len(robot.independent_coordinates(q, np.zeros(6)).rates) == 3
    assert so3.is_rotation(robot.frame_pose(q, "m5")[:3, :3])
