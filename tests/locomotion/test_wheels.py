"""Bases on wheels: identities on random ones, closed forms, and noise against samples."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import modurob as mr
from modurob import locomotion as go
from modurob.locomotion import plane
from modurob.spatial import se3

CLOSE = 1e-12
BASES = {
    "differential": (go.differential(0.5, 0.1), (2, 0), (2, 3)),
    "bicycle": (go.tricycle(1.2, 0.1), (1, 1), (2, 3, 4)),
    "tricycle": (go.tricycle(1.2, 0.1, 0.8), (1, 1), (2, 3, 4)),
    "car": (go.ackermann(2.5, 1.5, 0.3), (1, 1), (2, 3, 4)),
    "synchro": (go.synchro(0.4, 0.05), (1, 1), (2, 3)),
    "steerable": (go.steerable(0.4, 0.05), (1, 2), (3, 5)),
    "omni": (go.omni(0.4, 0.05), (3, 0), (3,)),
    "mecanum": (go.mecanum(0.4, 0.3, 0.05), (3, 0), (3,)),
    "one wheel that steers": (mr.WheeledBase([mr.Wheel((0.3, 0.1), 0.1, steered="a")]), (2, 1), (3, 4)),
}
bases = pytest.mark.parametrize(("base", "mobility", "growth"), BASES.values(), ids=BASES)


# ---- the plane ----


def _matrix(pose):
    x, y, theta = pose
    return se3.pose(Rotation.from_euler("z", theta).as_matrix(), [x, y, 0])


def test_poses_are_those_of_matrices():
    rng = np.random.default_rng(1)
    a, b, d = rng.normal(size=(3, 3))
    np.testing.assert_allclose(_matrix(plane.compose(a, b)), _matrix(a) @ _matrix(b), atol=CLOSE)
    np.testing.assert_allclose(_matrix(plane.inverse(a)), np.linalg.inv(_matrix(a)), atol=CLOSE)
    hat = se3.hat(np.array([d[0], d[1], 0, 0, 0, d[2]]))
    np.testing.assert_allclose(_matrix(plane.exp(d)), expm(hat), atol=CLOSE)
    np.testing.assert_allclose(plane.log(plane.exp(d)), d, atol=CLOSE)
    np.testing.assert_allclose(
        plane.compose(plane.compose(a, plane.exp(d)), plane.inverse(a)), plane.exp(plane.adjoint(a) @ d), atol=CLOSE
    )


@pytest.mark.parametrize("turn", [0.0, 1e-9, 0.7, -3.0])
def test_the_slope_of_exp(turn):
    h, d = 1e-5, np.array([0.6, -0.4, turn])
    back = plane.inverse(plane.exp(d))
    columns = [
        plane.log(plane.compose(back, plane.exp(d + h * e))) - plane.log(plane.compose(back, plane.exp(d - h * e)))
        for e in np.eye(3)
    ]
    np.testing.assert_allclose(plane.exp_slope(d), np.stack(columns, axis=-1) / (2 * h), atol=1e-9)


def test_arcs_solve_the_equations_of_motion():
    def rate(_, s):
        return [1.3 * np.cos(s[2]), 1.3 * np.sin(s[2]), -0.9]

    exact = solve_ivp(rate, (0, 2.0), [1.0, 2.0, 0.4], rtol=1e-12, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(plane.moved([1.0, 2.0, 0.4], [1.3, 0.0, -0.9], 2.0), exact, atol=1e-9)
    half = plane.moved([1.0, 2.0, 0.4], [1.3, 0.0, -0.9], np.array([0.0, 2.0]))
    np.testing.assert_allclose(half, [[1.0, 2.0, 0.4], exact], atol=1e-9)


# ---- wheels ----


@bases
def test_mobility_and_brackets(base, mobility, growth):
    """The five useful pairs of Campion and others; cars grow as (2, 3, 4)."""
    assert base.mobility == mobility
    assert go.growth(*go.motions(base)) == growth


def _allowed(base, rng, n=20):
    """Twists that the wheels allow once they are steered for them."""
    fixed = [w for w in base.wheels if w.rollers is None and not w.steered]
    C = base._sides(np.zeros(len(base.motors)), fixed)
    if base.motors == ("column",):
        C = np.array([[0.0, 0.0, 1.0]])
    null = np.linalg.svd(C)[2][np.linalg.matrix_rank(C) if len(C) else 0 :] if len(C) else np.eye(3)
    return rng.normal(size=(n, len(null))) @ null


@pytest.mark.parametrize("name", [n for n in BASES if n != "one wheel that steers"])
def test_rates_there_and_back(name):
    rng = np.random.default_rng(2)
    base = BASES[name][0]
    xi = _allowed(base, rng)
    steering = base.steer(xi) if base.motors else None
    rates = base.rates(xi)
    np.testing.assert_allclose(base.twist(rates, steering), xi, atol=1e-9)
    np.testing.assert_allclose(base.slip(xi, rates, steering), 0, atol=1e-12)
    # each rim is at rest where it touches the ground: velocity of the hub, less that of rolling, along what the wheel holds
    for k, wheel in enumerate(base.driven):
        at = np.array(wheel.at)
        hub = xi[:, :2] + xi[:, 2:] * np.array([-at[1], at[0]])
        psi = wheel.angle + (steering[:, base.motors.index(wheel.steered)] if wheel.steered else 0.0)
        rim = hub - wheel.radius * rates[:, [k]] * np.stack(
            [np.cos(psi) + 0 * xi[:, 0], np.sin(psi) + 0 * xi[:, 0]], -1
        )
        if wheel.rollers is None:
            np.testing.assert_allclose(rim, 0, atol=1e-12)
        else:
            axis = np.array([np.cos(psi + wheel.rollers), np.sin(psi + wheel.rollers)])
            np.testing.assert_allclose(rim @ axis, 0, atol=1e-12)


def test_mecanum_in_closed_form():
    rng = np.random.default_rng(3)
    l, b, r = 0.4, 0.3, 0.05
    x, y, w = rng.normal(size=3)
    turn = (l + b) / 2 * w
    expected = np.array([x - y - turn, x + y + turn, x + y - turn, x - y + turn]) / r
    np.testing.assert_allclose(go.mecanum(l, b, r).rates([x, y, w]), expected)


def test_random_wheels_with_rollers_turn_as_they_should():
    rng = np.random.default_rng(4)
    for _ in range(20):
        wheels = [mr.Wheel(rng.normal(size=2), rng.uniform(0.1, 1), rng.normal(), rng.uniform(-1, 1)) for _ in range(5)]
        base, xi = mr.WheeledBase(wheels), rng.normal(size=3)
        np.testing.assert_allclose(base.twist(base.rates(xi)), xi, atol=1e-8)


def test_slip_takes_its_share():
    base = go.differential(0.5, 0.1)
    np.testing.assert_allclose(base.twist([10, 10], slip=0.3), [0.7, 0, 0], atol=CLOSE)
    np.testing.assert_allclose(base.twist([8, 12], slip=[0, 1 / 3]), [0.8, 0, 0], atol=CLOSE)


def test_growth_of_a_trailer():
    """A car with one trailer: (2, 3, 4, 5) (Laumond)."""
    x, y, t, p, d = sp.symbols("x y t p d")
    drive = sp.Matrix([sp.cos(t), sp.sin(t), sp.tan(p), 0, sp.sin(t - d)])
    assert go.growth([drive, sp.Matrix([0, 0, 0, 1, 0])], [x, y, t, p, d]) == (2, 3, 4, 5)


def test_integrable_constraints_stay_so():
    x, y, z = sp.symbols("x y z")
    # tangent to spheres
    assert go.growth([sp.Matrix([y, -x, 0]), sp.Matrix([0, z, -y]), sp.Matrix([-z, 0, x])], [x, y, z]) == (2,)


# ---- sliding ----


def test_a_skid_steered_base_balances_its_friction():
    rng = np.random.default_rng(5)
    base = mr.WheeledBase([mr.Wheel((x, y), 0.1) for x in (0.25, -0.2) for y in (0.3, -0.3)])
    for _ in range(10):
        rates, loads = rng.normal(size=4) * 5, rng.uniform(20, 80, size=4)
        xi = go.sliding_twist(base, rates, loads, 0.6)

        def dissipation(xi, rates=rates, loads=loads):
            return 0.6 * loads @ np.linalg.norm(base.slip(xi, rates), axis=-1)

        # nothing near it dissipates less
        assert all(dissipation(xi) <= dissipation(xi + d) + 1e-9 for d in rng.normal(size=(200, 3)) * 0.01)


def test_tracks_that_turn_on_the_spot():
    """Many wheels along two tracks: the moment that turns the base against friction across is mu W l / 4 once it turns fast."""
    n, l, b, r = 81, 0.8, 0.6, 0.1
    at = (np.arange(n) + 0.5) / n * l - l / 2
    base = mr.WheeledBase([mr.Wheel((x, y), r) for y in (b / 2, -b / 2) for x in at])
    rates, mu, W = np.repeat([-30.0, 30.0], n), 0.6, 500.0
    xi = go.sliding_twist(base, rates, W / (2 * n), mu)
    assert xi[:2] == pytest.approx(np.zeros(2), abs=1e-9)
    s = base.slip(xi, rates)
    force = -mu * W / (2 * n) * s / np.linalg.norm(s, axis=-1, keepdims=True)
    along, across = force[:, 0] * np.repeat([-b / 2, b / 2], n), force[:, 1] * np.tile(at, 2)
    assert along.sum() + across.sum() == pytest.approx(0.0, abs=1e-4)
    # slower than wheels that roll, by the width that tracks seem to have
    assert 1.0 < 30 * r / (b / 2) / xi[2] < 3.0
    # friction across would be all of mu if nothing slid along
    assert -across.sum() < go.turning_resistance(mu, W, l)


def test_wheels_that_can_roll_do():
    base = go.differential(0.5, 0.1)
    xi = go.sliding_twist(base, [8.0, 12.0], 50.0, 0.5)
    assert xi == pytest.approx(np.array([1.0, 0.0, 0.8]), abs=1e-8)


# ---- odometry ----


def test_uncertainty_of_a_straight_line():
    """White noise of the rate of turn, q = 2 k² / b² per metre: var y = q s³ / 3, cov(y, theta) = q s² / 2, var theta = q s."""
    k, b, s, n = 0.02, 0.5, 8.0, 1000
    run = mr.Odometry(go.differential(b, 0.1), noise=k).run(np.full((n, 2), 10.0), dt=s / n)
    P, q = run.covariance_W[-1], 2 * k * k / b**2
    np.testing.assert_allclose(P[0, 0], k * k * s / 2, rtol=1e-9)
    np.testing.assert_allclose(P[1:, 1:], [[q * s**3 / 3, q * s**2 / 2], [q * s**2 / 2, q * s]], rtol=1e-3)


@pytest.mark.parametrize("name", ["differential", "bicycle", "mecanum", "car"])
def test_uncertainty_against_samples(name):
    base, rng, n, dt, k, runs = BASES[name][0], np.random.default_rng(6), 40, 0.05, 4e-3, 20000
    drive = np.array([12.0, 16.0, 11.0, 15.0])[: len(base.driven)] * 0.5
    steering = None if not base.motors else base.steer([1.0, 0.0, 0.3])
    found = mr.Odometry(base, noise=k).run(
        np.tile(drive, (n, 1)), dt, None if steering is None else np.tile(steering, (n, 1))
    )
    r = np.array([w.radius for w in base.driven])
    spread = k * np.sqrt(drive * dt * r) / r / dt
    pose = np.zeros((runs, 3))
    for _ in range(n):
        pose = plane.moved(pose, base.twist(drive + spread * rng.normal(size=(runs, len(drive))), steering), dt)
    e = plane.log(plane.compose(plane.inverse(found.pose[-1]), pose))
    # samples of a covariance err by sqrt(2 / runs), 1 %
    spread = np.sqrt(np.diag(found.P[-1]) + 1e-12)
    scale = np.outer(spread, spread)
    np.testing.assert_allclose(np.cov(e.T) / scale, found.P[-1] / scale, atol=0.05)
    assert np.abs(e.mean(0) / spread).max() < 0.05


def test_poses_in_one_go_and_in_steps():
    base = go.differential(0.5, 0.1)
    at = mr.Odometry(base).start([1.0, 0.0, 0.3], [0.01, 0.02, 0.03])
    one = mr.Odometry(base).step(at, [8.0, 12.0], 1.0)
    ten = mr.Odometry(base).run(np.tile([8.0, 12.0], (10, 1)), 0.1, start=at)
    np.testing.assert_allclose(ten.pose[-1], one.pose, atol=CLOSE)
    np.testing.assert_allclose(ten.P[-1], one.P, atol=CLOSE)
    # errors of the heading at the start spread with the distance
    lever = one.pose[:2] - at.pose[:2]
    assert one.covariance_W[2, 2] == pytest.approx(0.03)
    assert one.covariance_W[0, 2] == pytest.approx(-0.03 * lever[1])


# ---- ways ----


def test_ways_to_a_pose():
    rng = np.random.default_rng(7)
    for start, goal in rng.normal(size=(20, 2, 3)) * 2:
        pose = start
        for twist, time in go.turn_drive_turn(start, goal, 0.7, 1.1):
            pose = plane.moved(pose, twist, time)
        error = pose - goal
        assert np.abs(error[:2]).max() < 1e-9
        assert abs(np.sin(error[2] / 2)) < 1e-9
        leg = go.arc_to(start, goal[:2], 0.7)
        np.testing.assert_allclose(plane.moved(start, *leg)[:2], goal[:2], atol=1e-9)
        assert leg.twist[0] == 0.7


def test_a_point_abeam_is_reached_by_half_a_circle():
    twist, time = go.arc_to([0, 0, 0], [0, 2.0])
    assert twist == pytest.approx(np.array([1.0, 0.0, 1.0]))
    assert time == pytest.approx(np.pi)
    assert go.turn_drive_turn([1, 2, 3], [1, 2, 3])[1].time == 0


def test_the_law_reaches_its_pose_from_all_around():
    law, dt = go.PoseLaw(), 0.01
    around = np.arange(24) * 2 * np.pi / 24
    pose = np.stack([2 * np.cos(around), 2 * np.sin(around), 2.7 * around], axis=-1)
    goal = np.array([0.3, -0.2, 0.5])
    for _ in range(1800):
        twist = law.twist(pose, goal)
        assert np.all(twist[:, 1] == 0)
        pose = plane.moved(pose, twist, dt)
    assert np.abs(plane.log(plane.compose(plane.inverse(goal), pose))).max() < 1e-5


def test_the_law_near_its_goal_decays_as_its_gains_say():
    """rho with exp(-k_rho t); the slowest root of s² + 3 s + 2 is -1 too."""
    law, dt = go.PoseLaw(1.0, 4.0, -2.0), 1e-3
    pose = np.array([-1.0, 0.0, 0.01])
    for _ in range(2000):
        pose = plane.moved(pose, law.twist(pose), dt)
    assert np.hypot(*pose[:2]) == pytest.approx(np.exp(-2.0), rel=2e-3)
