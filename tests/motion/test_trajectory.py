"""Trajectories: what they promise at their ends, between, and about limits."""

import pickle

import numpy as np
import pytest
import ruckig
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.interpolate import CubicHermiteSpline, CubicSpline, PPoly

from modurob.errors import ControlError
from modurob.motion import TRAJECTORIES, Trajectory

number = st.floats(-10, 10).map(lambda x: round(x, 3))
above_zero = st.floats(0.05, 20).map(lambda x: round(x, 3))
# positions of order ten on stretches of 0.05 s make accelerations of order 1e5
CLOSE = 1e-8


def vectors(n=3, of=number):
    return arrays(float, n, elements=of)


def assert_rates_fit(trajectory, low, high):
    """Velocity and acceleration are the derivatives of position: by their integrals over short stretches."""
    t = np.linspace(low, high, 4001)
    x, v, a = trajectory(t)
    dt = t[1] - t[0]
    for y, rate in ((x, v), (v, a)):
        # the trapezoid rule is exact to second order where the rate does not jump, that is within a piece
        piece = np.searchsorted(trajectory.breaks, t)
        change = (rate[1:] + rate[:-1]) / 2 * dt
        gap = np.abs(np.diff(y, axis=0) - change)[piece[1:] == piece[:-1]]
        assert gap.max() < 1e-4 * dt * (1 + np.abs(rate).max())


@given(vectors(), vectors(), above_zero, vectors(), vectors())
def test_cubic_meets_its_ends(x0, x1, duration, v0, v1):
    curve = Trajectory.cubic(x0, x1, duration, v0, v1)
    for time, expected in ((0.0, (x0, v0)), (duration, (x1, v1))):
        np.testing.assert_allclose(curve(time)[:2], expected, atol=CLOSE)


@given(vectors(), vectors(), above_zero, vectors(), vectors(), vectors(), vectors())
def test_quintic_meets_its_ends(x0, x1, duration, v0, v1, a0, a1):
    curve = Trajectory.quintic(x0, x1, duration, v0, v1, a0, a1)
    for time, expected in ((0.0, (x0, v0, a0)), (duration, (x1, v1, a1))):
        for found, wanted in zip(curve(time), expected, strict=True):
            np.testing.assert_allclose(found, wanted, atol=CLOSE)


def test_closed_forms():
    s = np.linspace(0, 1, 11)
    np.testing.assert_allclose(Trajectory.cubic(0, 1, 1)(s).position, 3 * s**2 - 2 * s**3, atol=1e-14)
    fifth = 10 * s**3 - 15 * s**4 + 6 * s**5
    np.testing.assert_allclose(Trajectory.quintic(0, 1, 1)(s).position, fifth, atol=1e-14)
    x = Trajectory.minimum_jerk([1, 3], [[2.0, 0.0], [6.0, -1.0]])(1 + 2 * s).position
    np.testing.assert_allclose(x, np.array([2.0, 0.0]) + fifth[:, None] * np.array([4.0, -1.0]), atol=1e-13)


@pytest.mark.parametrize(
    "curve",
    [
        Trajectory.cubic([0, 1], [2, -1], 1.5, [1, 0], 0.3),
        Trajectory.quintic([0, 1], [2, -1], 1.5, 0.1, 0.2, 0.3, 0.4),
        Trajectory.trapezoid([0, 1], [2, -1], [1, 2], 3),
        Trajectory.hermite([0, 1, 1.5], [[0, 1], [1, 1], [0, 3]], [[0, 0], [1, -1], [0, 0]]),
        Trajectory.minimum_jerk([0, 1, 1.5], [[0, 1], [1, 1], [0, 3]]),
        Trajectory.through([[0, 1], [1, 1], [0, 3]], 2, 5),
    ],
)
def test_every_kind(curve):
    assert_rates_fit(curve, 0.0, curve.duration)
    # at rest before and after
    for time, end in ((-1.0, 0.0), (curve.duration + 1.0, curve.duration)):
        before = curve(time)
        np.testing.assert_allclose(before.position, curve(end).position, atol=1e-14)
        assert not before.velocity.any()
        assert not before.acceleration.any()
    # one time, many times and SciPy agree
    t = np.linspace(-0.5, curve.duration + 0.5, 40).reshape(8, 5)
    many = curve(t)
    assert many.position.shape == (8, 5, 2)
    for i in np.ndindex(t.shape):
        for one, all_of in zip(curve(float(t[i])), many, strict=True):
            np.testing.assert_allclose(one, all_of[i], rtol=0, atol=1e-12 * (1 + np.abs(all_of).max()))
    inside = t[(t >= 0) & (t < curve.duration)]
    theirs = PPoly(curve.coefficients, curve.breaks)
    for k, found in enumerate(curve(inside)):
        np.testing.assert_allclose(found, theirs.derivative(k)(inside), atol=1e-12 * (1 + np.abs(found).max()))
    # a value: equal by its numbers, and saved as it is
    twin = pickle.loads(pickle.dumps(curve))
    assert twin == curve
    assert hash(twin) == hash(curve)
    assert twin != curve.delayed(1.0)
    # nobody changes it
    for array in (curve.breaks, curve.coefficients):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    # later and slower
    t = np.linspace(0, curve.duration, 50)
    np.testing.assert_allclose(curve.delayed(2.0)(t + 2.0).position, curve(t).position, atol=1e-12)
    x, v, a = curve(t)
    slow = curve.slowed(3.0)(3 * t)
    np.testing.assert_allclose(slow.position, x, atol=1e-12)
    np.testing.assert_allclose(slow.velocity[1:-1], v[1:-1] / 3, atol=1e-12)
    np.testing.assert_allclose(slow.acceleration[1:-1], a[1:-1] / 9, atol=1e-11)


def test_splines_are_those_of_scipy(rng):
    times, points, rates = np.cumsum(rng.uniform(0.2, 1, 6)), rng.normal(size=(6, 3)), rng.normal(size=(6, 3))
    t = rng.uniform(times[0], times[-1], 30)
    ours, theirs = Trajectory.hermite(times, points, rates), CubicHermiteSpline(times, points, rates)
    for k, found in enumerate(ours(t)):
        np.testing.assert_allclose(found, theirs(t, k), atol=1e-10)
    # without limits the stretches of a path are as long as they take at full speed
    free = Trajectory.through(points, 2.0, 1e9)
    knots = np.append(0, np.cumsum(np.abs(np.diff(points, axis=0)).max(axis=1)))
    path = CubicSpline(knots, points, bc_type="clamped")
    s = np.linspace(0, 1, 50)
    np.testing.assert_allclose(free(s * free.duration).position, path(s * knots[-1]), atol=1e-10)


@given(vectors(), vectors(), vectors(of=above_zero), vectors(of=above_zero))
def test_trapezoid_is_within_its_limits_and_meets_one_of_them(x0, x1, velocity, acceleration):
    curve = Trajectory.trapezoid(x0, x1, velocity, acceleration)
    np.testing.assert_allclose(curve(0.0).position, x0, atol=CLOSE)
    np.testing.assert_allclose(curve(curve.duration).position, x1, atol=CLOSE)
    way = np.abs(x1 - x0)
    if not way.any():
        assert curve.duration < 1e-300
        return
    # the time each coordinate would take alone: with and without a stretch of full speed
    alone = np.where(
        velocity**2 / acceleration < way, way / velocity + velocity / acceleration, 2 * np.sqrt(way / acceleration)
    )
    assert curve.duration >= alone.max() * (1 - 1e-9)
    _, v, a = (np.abs(y) for y in curve(np.linspace(0, curve.duration, 500)))
    assert np.all(v <= velocity * (1 + 1e-9))
    assert np.all(a <= acceleration * (1 + 1e-9))
    over = max((v / velocity).max(), (a / acceleration).max())
    assert over == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(("velocity", "duration", "pieces"), [(1.0, 2.5, 3), (10.0, 2.0, 2)])
def test_one_trapezoid_takes_the_least_time(velocity, duration, pieces):
    """2 m at 2 m/s²: 0.5 s + 1.5 s + 0.5 s at 1 m/s, or a triangle."""
    curve = Trajectory.trapezoid(0.0, 2.0, velocity, 2.0)
    assert curve.duration == pytest.approx(duration, rel=1e-12)
    assert len(curve.breaks) == pieces + 1


@given(arrays(float, (5, 2), elements=number), vectors(2, above_zero), vectors(2, above_zero))
def test_way_points_are_met_within_the_limits(points, velocity, acceleration):
    points = points + 30.0 * np.arange(5)[:, None]
    curve = Trajectory.through(points, velocity, acceleration)
    at = curve(curve.breaks)
    np.testing.assert_allclose(at.position, points, atol=1e-7)
    np.testing.assert_allclose(at.velocity[[0, -1]], 0, atol=1e-7)
    _, v, a = (np.abs(y) for y in curve(np.linspace(0, curve.duration, 2000)))
    assert np.all(v <= velocity)
    assert np.all(a <= acceleration * (1 + 1e-9))
    # no slower than need be, and the extremes are where they were said to be
    over = max((curve.largest(1) / velocity).max(), (curve.largest(2) / acceleration).max())
    assert over == pytest.approx(1, abs=1e-9)
    for k, sampled in ((1, v), (2, a)):
        assert np.all(curve.largest(k) >= sampled.max(axis=0) * (1 - 1e-9))
        np.testing.assert_allclose(curve.largest(k), sampled.max(axis=0), rtol=0.02)


def test_slow_enough_stays_as_it_is():
    curve = Trajectory.quintic(0, 1, 1)
    assert curve.within(2.0, 6.0) is curve
    # a quintic from rest to rest reaches 15/8 and 10/sqrt(3) of the unit step
    assert curve.largest(1) == pytest.approx(15 / 8)
    assert curve.largest(2) == pytest.approx(10 / np.sqrt(3))
    assert curve.within(15 / 16, 1e9).duration == pytest.approx(2.0)
    assert curve.within(1e9, 10 / np.sqrt(3) / 4).duration == pytest.approx(2.0)


def jerk_cost(curve):
    """Integral of jerk squared, exact for polynomials."""
    jerk = PPoly(curve.coefficients, curve.breaks).derivative(3)
    squared = PPoly(np.stack([np.polymul(c, c) for c in jerk.c.T], axis=1), jerk.x)
    return squared.integrate(jerk.x[0], jerk.x[-1])


def test_no_other_way_through_the_points_has_less_jerk(rng):
    """Any motion that is zero, and at the ends at rest, in the points adds to the cost, and adds its own cost alone."""
    times, points = np.cumsum(rng.uniform(0.3, 1, 5)), rng.normal(size=5)
    best = Trajectory.minimum_jerk(times, points)
    np.testing.assert_allclose(best(times).position, points, atol=1e-12)
    for _ in range(5):
        rates = rng.normal(size=(2, 5))
        rates[:, [0, -1]] = 0
        ends = [np.array([[0.0, v, a] for v, a in rates.T])[i : i + 2] for i in range(4)]
        bumps = [
            Trajectory.quintic(0, 0, h, e[0, 1], e[1, 1], e[0, 2], e[1, 2])
            for h, e in zip(np.diff(times), ends, strict=True)
        ]
        bump = Trajectory(times, np.concatenate([b.coefficients for b in bumps], axis=1))
        both = Trajectory(times, best.coefficients + bump.coefficients)
        assert jerk_cost(both) == pytest.approx(jerk_cost(best) + jerk_cost(bump), rel=1e-9)
        assert jerk_cost(bump) > 0


@given(vectors(), vectors(), vectors(of=above_zero), vectors(of=above_zero), vectors(of=above_zero))
def test_s_curve_is_within_its_limits_and_takes_the_least_time(x0, x1, velocity, acceleration, jerk):
    curve = Trajectory.s_curve(x0, x1, velocity, acceleration, jerk)
    np.testing.assert_allclose(curve(0.0).position, x0, atol=CLOSE)
    np.testing.assert_allclose(curve(curve.duration).position, x1, atol=CLOSE)
    np.testing.assert_allclose(curve(curve.duration - 1e-13).velocity, 0, atol=1e-6)
    for k, limit in ((1, velocity), (2, acceleration), (3, jerk)):
        assert np.all(curve.largest(k) <= limit * (1 + 1e-9))
    moved = np.abs(x1 - x0)
    if moved.any():
        # the progress along the line alone, in the hands of others
        one = ruckig.InputParameter(1)
        one.target_position = [1.0]
        for name, limit in (("max_velocity", velocity), ("max_acceleration", acceleration), ("max_jerk", jerk)):
            setattr(one, name, [float(np.min(limit[moved > 0] / moved[moved > 0]))])
        theirs = ruckig.Trajectory(1)
        ruckig.Ruckig(1).calculate(one, theirs)
        assert curve.duration == pytest.approx(theirs.duration, rel=1e-6)


def jumps(curve, derivative):
    """The largest jump of a derivative between pieces."""
    y = PPoly(curve.coefficients, curve.breaks).derivative(derivative)
    ends = np.array([[np.polyval(c, h) for c in y.c[:, i].T] for i, h in enumerate(np.diff(curve.breaks))])
    return np.abs(ends[:-1] - y(curve.breaks[1:-1])).max()


@pytest.mark.parametrize("continuity", [1, 2, 4, 6])
def test_splines_are_as_smooth_as_asked_and_no_smoother(continuity, rng):
    times, points = np.cumsum(rng.uniform(0.5, 1, 8)), rng.normal(size=(8, 3))
    curve = Trajectory.spline(times, points, continuity)
    np.testing.assert_allclose(curve(times).position, points, atol=1e-10)
    for k in range(continuity + 1):
        assert jumps(curve, k) < 1e-6 * np.abs(points).max() * 10**k
    assert jumps(curve, continuity + 1) > 1e-2
    for k in range(1, 1 + max(1, continuity // 2)):  # from rest to rest
        ends = PPoly(curve.coefficients, curve.breaks).derivative(k)(times[[0, -1]])
        np.testing.assert_allclose(ends, 0, atol=1e-8)


@pytest.mark.parametrize("continuity", [1, 2, 3])
def test_hermite_splines_have_the_derivatives_they_are_given(continuity, rng):
    times, given_rates = np.cumsum(rng.uniform(0.5, 1, 5)), rng.normal(size=(continuity + 1, 5, 2))
    curve = Trajectory.hermite(times, *given_rates)
    y = PPoly(curve.coefficients, curve.breaks)
    for k, wanted in enumerate(given_rates):
        np.testing.assert_allclose(y.derivative(k)(times[:-1]), wanted[:-1], atol=1e-9)
        assert jumps(curve, k) < 1e-8
    assert jumps(curve, continuity + 1) > 1e-3


@pytest.mark.parametrize("smooth", [False, True])
def test_blends_follow_the_lines_and_round_the_corners(smooth, rng):
    times, points, b = np.array([0.0, 1.0, 1.7, 3.0]), rng.normal(size=(4, 3)), 0.5
    curve = Trajectory.blended(times, points, b, smooth)
    assert curve.duration == pytest.approx(3.0 + b)
    np.testing.assert_allclose(curve(0.0).position, points[0], atol=1e-12)
    np.testing.assert_allclose(curve(curve.duration).position, points[-1], atol=1e-12)
    V = np.diff(points, axis=0) / np.diff(times)[:, None]
    # in the middle of a line, and in the middle of a corner
    np.testing.assert_allclose(curve(0.5 + b / 2).position, points[:2].mean(axis=0), atol=1e-12)
    cut = (3 / 32 if smooth else 1 / 8) * b * (V[1] - V[0])
    np.testing.assert_allclose(curve(1.0 + b / 2).position, points[1] + cut, atol=1e-12)
    assert max(jumps(curve, 0), jumps(curve, 1)) < 1e-12
    assert bool(jumps(curve, 2) < 1e-10) is smooth
    # blends as long as a stretch touch each other
    assert Trajectory.blended(times, points, 0.7).duration == pytest.approx(3.7)


def test_limits_of_jerk_are_kept(rng):
    curve = Trajectory.spline(np.arange(5.0), rng.normal(size=(5, 2)), 4)
    slow = curve.within(10.0, 10.0, 0.5)
    assert slow.largest(3).max() == pytest.approx(0.5)
    t = np.linspace(0, slow.duration, 3000)
    assert np.abs(slow.jerk(t)).max() == pytest.approx(0.5, rel=1e-3)
    np.testing.assert_allclose(
        np.diff(slow(t).acceleration, axis=0)[100] / t[1], slow.jerk(t[100] + t[1] / 2), atol=1e-4
    )
    assert not slow.jerk([-1.0, slow.duration + 1]).any()


def test_makers_are_found_by_name():
    assert TRAJECTORIES["s-curve"](0.0, 1.0, 0.5, 1.0, 4.0) == Trajectory.s_curve(0.0, 1.0, 0.5, 1.0, 4.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Trajectory.spline([0, 1], [0, 1], 3), r"continuity 3: expected .* one of 1, 2, 4, 6"),
        (lambda: Trajectory.hermite([0, 1], [0, 1], 0, None, 1), "jerks without accelerations"),
        (
            lambda: Trajectory.quintic([0, 1], [1], 1),
            r"do not fit together: start \(2,\), .*end \(1,\), .*: expected one shape",
        ),
        (
            lambda: Trajectory.s_curve([0, 1], [1, 2], [1], 1, 1),
            r"start \(2,\), end \(2,\), velocity \(1,\), .*: expected",
        ),
        (lambda: Trajectory.blended([0, 1], [0, 1], 2.0), "blend = 2 s: expected at most 1 s"),
        (lambda: Trajectory.s_curve(0, 1, 1, 1, 0), "jerk = 0.0: expected more than zero"),
        (lambda: TRAJECTORIES["scurve"], "no trajectory 'scurve': did you mean 's-curve'"),
    ],
)
def test_what_cannot_be_is_refused(make, words):
    with pytest.raises(ControlError, match=words):
        make()


# ---- Sepp, Feldotto, Attawia, Heinze 2.4: the move of the LWA 4P ----

SPEED = np.deg2rad(72)


def test_the_quintic_of_a_unit_move_and_what_a_misprint_makes_of_it():
    np.testing.assert_allclose(Trajectory.quintic(0, 1, 1).coefficients[:3, 0], [6, -15, 10], atol=1e-12)
    # rows of the printed listing have 21 for 20 in the last acceleration
    A = np.array([[1, 1, 1], [3, 4, 5], [6, 12, 21.0]])
    wrong = np.linalg.solve(A, [1, 0, 0])
    np.testing.assert_allclose(wrong, [8, -11, 4], atol=1e-12)
    curve = Trajectory([0.0, 1.0], np.array([[4.0], [-11.0], [8.0], [0.0], [0.0], [0.0]]))
    assert float(curve(0.5).position) == pytest.approx(0.4375)
    assert float(curve(1.0).acceleration) == pytest.approx(-4)


@pytest.mark.parametrize(("make", "least"), [(Trajectory.cubic, 1.910), (Trajectory.quintic, 2.387)])
def test_the_move_takes_as_long_as_72_degrees_a_second_ask(make, least):
    move = make(np.zeros(6), [1.11, 0.634, 1.6, 1.0, 0.0, 0.5], 1.0).within(SPEED, 1e9)
    assert move.duration == pytest.approx(least, abs=1e-3)
    assert move.largest(1).max() == pytest.approx(SPEED)
