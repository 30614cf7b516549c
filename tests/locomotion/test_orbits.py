"""Periodic motions: rimless wheel, simplest walker, compass gait, springs; published figures and closed forms."""

import numpy as np
import pytest

import modurob as mr
from modurob import locomotion as go
from modurob.locomotion.orbits import slopes
from modurob.spatial import inertia, se3

# ---- rimless wheel ----

WHEEL = mr.RimlessWheel(half_angle=np.pi / 8, slope=0.1)


def test_the_rimless_wheel_in_closed_form_and_by_integration():
    def by_integration(w):
        return go.stride([WHEEL.phase()], [WHEEL.slope - WHEEL.half_angle, w[0]]).end[1:]

    assert by_integration([1.7])[0] == pytest.approx(float(WHEEL.map(1.7)), abs=1e-10)
    w = mr.fixed_point(by_integration, [1.5])
    assert w[0] == pytest.approx(WHEEL.fixed_point, abs=1e-10)
    assert mr.multipliers(by_integration, w)[0] == pytest.approx(WHEEL.multiplier, abs=1e-7)
    assert WHEEL.multiplier == pytest.approx(np.cos(np.pi / 4) ** 2)


def test_a_rimless_wheel_stops():
    assert np.isnan(WHEEL.map(0.99 * WHEEL.least))
    assert np.isfinite(WHEEL.map(1.01 * WHEEL.least))
    assert np.isnan(mr.RimlessWheel(np.pi / 8, 0.02).fixed_point)
    assert mr.RimlessWheel(np.pi / 8, 0.5).least == 0


# ---- simplest walker ----


@pytest.mark.parametrize(
    ("guess", "gait", "found"),
    [
        # of the simulation by Garcia and Ruina, gamma = 0.009; its multipliers are from coarser differences
        ([0.2, -0.2], (0.20031090049483, -0.19983247291764), (-0.19120868949940 + 0.55633363687106j, 2e-3)),
        ([0.194, -0.204], (0.19393736960624, -0.2038669), (4.000, 5e-3)),
    ],
    ids=["long", "short"],
)
def test_the_simplest_walker(guess, gait, found):
    walker = mr.Compass(slope=0.009, gravity=1.0)
    angle, rate = guess
    x = mr.fixed_point(walker.map, [angle - 0.009, rate * np.cos(2 * angle), rate])
    assert x[0] + 0.009 == pytest.approx(gait[0], abs=3e-10)
    assert x[2] == pytest.approx(gait[1], abs=1e-7 if angle < 0.2 else 2e-10)
    values, (expected, tolerance) = mr.multipliers(walker.map, x), found
    assert np.abs(values - expected).min() < tolerance
    # the rate of the swing leg follows from the impact: one multiplier is zero
    assert np.abs(values).min() < 1e-7
    assert (np.abs(values).max() < 1) == (angle == 0.2)


def test_the_simplest_walker_on_gentle_slopes():
    """theta = 0.970956 gamma^(1/3), rate = -1.045203 theta, time 3.812092, of the stable gait (Garcia and others, Table 1)."""
    slope = 1e-5
    walker, angle = mr.Compass(slope=slope, gravity=1.0), 0.970956 * slope ** (1 / 3)
    x = mr.fixed_point(walker.map, [angle - slope, -1.045203 * angle, -1.045203 * angle])
    # terms of the order gamma^(2/3) are left out
    assert (x[0] + slope) / slope ** (1 / 3) == pytest.approx(0.970956, abs=5e-4)
    assert x[2] / (x[0] + slope) == pytest.approx(-1.045203, abs=1e-3)
    assert walker.step(x).duration == pytest.approx(3.812092, abs=2e-3)


# ---- compass gait ----

COMPASS = mr.Compass(slope=np.radians(3), hip=10.0, leg=5.0, below=0.4, above=0.6)


def leg_robot(floating):
    """The same walker as a robot: its stance foot on a hinge, or free to move in the plane."""
    a, b = COMPASS.below, COMPASS.above
    builder, parent = mr.Builder("compass"), "world"
    for name, axis in (("x", (1, 0, 0)), ("z", (0, 0, 1))) if floating else ():
        builder.body(name, np.zeros((6, 6)), parent=parent, joint=mr.Prismatic(axis))
        parent = name
    hip = inertia.point(COMPASS.hip, (0, 0, a + b)) + inertia.point(COMPASS.leg, (0, 0, a))
    builder.body("stance", hip, parent=parent, joint=mr.Revolute((0, 1, 0)))
    seat = se3.pose(None, np.array([0, 0, a + b]))
    builder.body(
        "swing", inertia.point(COMPASS.leg, (0, 0, -b)), parent="stance", joint=mr.Revolute((0, 1, 0)), at=seat
    )
    return builder.build()


def test_the_compass_moves_like_the_robot():
    rng = np.random.default_rng(1)
    robot = leg_robot(floating=False)
    for swing, stance, w, s in rng.normal(size=(10, 4)):
        vdot = robot.forward_dynamics([stance, swing - stance], [s, w - s], [0, 0])
        rate = COMPASS.rate(np.array([swing, stance, w, s]))
        np.testing.assert_allclose(rate, [w, s, vdot[0] + vdot[1], vdot[0]], atol=1e-10)


def test_its_impact_is_that_of_the_robot():
    """The free robot's swing foot is stopped by an impulse; the stance foot leaves the ground without one."""
    rng = np.random.default_rng(2)
    robot, l = leg_robot(floating=True), COMPASS.below + COMPASS.above
    for swing, stance, w, s in rng.normal(size=(10, 4)) * 0.5:
        q, v = np.array([0, 0, stance, swing - stance]), np.array([0, 0, s, w - s])
        M, J = robot.mass_matrix(q), robot.point_jacobian(q, "swing", [0, 0, -l])[[0, 2]]
        lost = np.linalg.solve(M, J.T) @ np.linalg.solve(J @ np.linalg.solve(M, J.T), J @ v)
        after = v - lost
        expected = [stance, swing, after[2], after[2] + after[3]]
        np.testing.assert_allclose(COMPASS.impact(np.array([swing, stance, w, s])), expected, atol=1e-10)


def test_the_published_gait():
    """Down 3 degrees, a = b, leg and hip 5 and 10 kg, g = 9.8: (-0.3234, 0.2187, -0.3772, -1.0918) after impact, stable."""
    walker = mr.Compass(np.radians(3), hip=10.0, leg=5.0, below=0.5, above=0.5, gravity=9.8)
    x = mr.fixed_point(walker.map, [0.22, -0.38, -1.1])
    assert walker.state(x) == pytest.approx(np.array([-0.3234, 0.2187, -0.3772, -1.0918]), abs=5.1e-5)
    assert np.abs(mr.multipliers(walker.map, x)).max() < 1
    # a step gives as much energy as its impact takes: the hip goes down by the step, 2 l sin(angle), times the slope
    step = walker.step(x)
    assert step.end == pytest.approx(step.x[0], abs=1e-9)


def test_errors_of_a_stable_gait_die_out():
    walker = mr.Compass(np.radians(3), hip=10.0, leg=5.0, below=0.5, above=0.5)
    x = mr.fixed_point(walker.map, [0.2187, -0.3774, -1.0924])
    d = np.array([1e-4, -2e-4, 1e-4])
    y, slope = x + d, slopes(walker.map, x)
    for _ in range(8):
        y = walker.map(y)
    np.testing.assert_allclose(y - x, np.linalg.matrix_power(slope, 8) @ d, atol=1e-6)
    for _ in range(30):
        y = walker.map(y)
    assert np.abs(y - x).max() < 1e-8


# ---- springs ----


def test_hopping_on_the_spot_in_closed_form():
    """Time on the ground 2 (pi - atan(v omega / g)) / omega; the height stays."""
    runner, drop = mr.SpringMass(70.0, 15000.0, 0.9), 0.1
    hop = runner.hop(0.9 + drop, 0.0, np.pi / 2)
    omega, v = np.sqrt(15000 / 70), np.sqrt(2 * 9.81 * drop)
    assert hop.t[-1] == pytest.approx(2 * (np.pi - np.arctan(v * omega / 9.81)) / omega, abs=1e-9)
    assert (hop.height, hop.speed) == pytest.approx((0.9 + drop, 0.0), abs=1e-9)


def test_running_backwards_in_time():
    """A leg that touches down as another took off, mirrored, leads back to the first apex."""
    runner = mr.SpringMass()
    out = runner.hop(1.0, 5.0, np.radians(67))
    x, y = out.x[-1, :2]
    back = runner.hop(out.height, out.speed, np.arctan2(y, x))
    assert (back.height, back.speed) == pytest.approx((1.0, 5.0), abs=1e-8)


def test_running_stabilises_itself():
    """80 kg, 20 kN/m, 5 m/s, 67 degrees: one stable and one unstable height of the apex (Seyfarth and others; Geyer and others)."""
    runner = mr.SpringMass()

    def f(y):
        return runner.apex_map(y, 1785.0, np.radians(67))

    stable, unstable = mr.fixed_point(f, [0.95]), mr.fixed_point(f, [1.22])
    assert abs(mr.multipliers(f, stable)[0]) < 1 < abs(mr.multipliers(f, unstable)[0])
    y = np.array([1.15])
    for _ in range(40):
        y = np.array([f(y)])
    assert y == pytest.approx(stable, abs=1e-3)
    # symmetric contact: it leaves the ground as it came
    contact = runner.hop(stable[0], np.sqrt(2 * (1785 / 80 - 9.81 * stable[0])), np.radians(67)).x
    assert contact[-1] == pytest.approx(contact[0] * [-1, 1, 1, -1], abs=1e-6)


def test_runners_fall():
    runner = mr.SpringMass()
    assert np.isnan(runner.hop(0.8, 5.0, np.radians(67)).height)
    assert np.isnan(runner.hop(1.0, 5.0, np.radians(30)).height)
    assert np.isnan(runner.apex_map(3.0, 100.0, 1.2))


def test_walking_on_springs():
    """80 kg, 14 kN/m, 69 degrees, 816 J: steady walking (Geyer, Seyfarth and Blickhan 2006), with two humps of force a step."""
    walker, angle = mr.SpringMass(80.0, 14000.0), np.radians(69)

    def f(s):
        return walker.walking_map(s, 816.0, angle)

    s = mr.fixed_point(f, [0.97, 0.0])
    assert np.abs(mr.multipliers(f, s)).max() < 1
    v = np.sqrt(2 / 80 * (816 - walker.energy([0, s[0], 0, s[1]], [[0, 0]])))
    step = walker.step([0, s[0], v, s[1]], angle)
    assert step.end == pytest.approx(np.array([0, s[0], v, s[1]]), abs=1e-8)
    assert 0.9 < v < 1.3
    # lowest in double support, highest above the foot
    assert step.x[:, 1].min() < s[0] - 0.01


# ---- any motion ----


def test_slopes_of_a_stride_that_bounces():
    """A ball that bounces with restitution e: speeds go on by e, a multiplier."""
    ball = go.Phase(lambda x: [x[1], -9.81], lambda x: x[0], lambda x: [0.0, -0.6 * x[1]])
    assert go.stride([ball], [0.0, 2.0]).duration == pytest.approx(4 / 9.81)

    def bounce(v):
        return go.stride([ball], [0.0, v[0]]).end[1:]

    assert mr.multipliers(bounce, [2.0])[0] == pytest.approx(0.6, abs=1e-8)


def test_a_driven_robot_swings_in_step():
    """A damped pendulum under a periodic torque: errors shrink in volume by exp(-d T / (m l²)) a period (Liouville)."""
    b = mr.Builder("pendulum")
    T, d = 1.2, 0.4
    lossy = mr.JointProperties(damping=d)
    b.body("rod", inertia.point(2.0, (0, 0, -0.5)), joint=mr.Revolute((0, 1, 0)), properties=lossy)
    robot = b.build()

    def later(x):
        push = lambda t, q, v: [1.5 * np.sin(2 * np.pi * t / T)]  # noqa: E731
        run = mr.simulate(robot, x[:1], x[1:], duration=T, controller=push, stepper=mr.RungeKutta4(T / 150))
        return np.array([run.q[-1, 0], run.v[-1, 0]])

    x = mr.fixed_point(later, [0.0, 0.0])
    np.testing.assert_allclose(later(later(x)), x, atol=1e-9)
    assert np.abs(x).max() > 0.1
    assert np.prod(mr.multipliers(later, x)).real == pytest.approx(np.exp(-d * T / (2.0 * 0.25)), abs=1e-5)


def test_a_robot_in_a_limit_cycle():
    """A pendulum with torque d (E0 - E) v: its multiplier is exp of the mean divergence."""
    b = mr.Builder("pendulum")
    b.body("rod", inertia.point(1.0, (0, 0, -1.0)), joint=mr.Revolute((0, 1, 0)))
    robot = b.build()

    def rate(x):
        energy = x[1] ** 2 / 2 - 9.81 * np.cos(x[0])
        return [x[1], robot.forward_dynamics(x[:1], x[1:], [0.05 * (-5.0 - energy) * x[1]])[0]]

    orbit = mr.periodic_orbit(rate, [0.0, 3.1], 2.2)
    assert orbit.stable
    assert orbit.x[1] ** 2 / 2 - 9.81 * np.cos(orbit.x[0]) == pytest.approx(-5.0, abs=1e-8)
    # Liouville: on the orbit the divergence is -0.05 v²
    t = np.linspace(0, orbit.period, 400, endpoint=False)
    x, mean = orbit.x, 0.0
    h = t[1]
    for _ in t:
        k1 = np.array(rate(x))
        k2 = np.array(rate(x + h / 2 * k1))
        k3 = np.array(rate(x + h / 2 * k2))
        k4 = np.array(rate(x + h * k3))
        mean -= 0.05 * x[1] ** 2 * h
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    assert np.abs(orbit.multipliers).min() == pytest.approx(np.exp(mean), abs=1e-6)
