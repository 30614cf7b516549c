"""The examples of von Stryk's Foundations of Robotics, 4.5 and 5.9, by their numbers."""

import numpy as np
import pytest
import sympy as sp

import modurob as mr
from modurob import locomotion as go
from modurob.locomotion import plane

# half of the last of the ten decimals that are given
DIGITS = 0.51e-10
CLOSE = 1e-12


def digits(*printed):
    return pytest.approx(np.array(printed, dtype=float), abs=DIGITS)


def test_holonomic_and_other_constraints():
    """sqrt(x² + y²) = 1.5 leaves one direction at a point, tangent to the cylinder, and no bracket leads off it: holonomic. A wheel
    that does not slide sideways leaves two, whose bracket is the third: not holonomic."""
    x, y, z, th = sp.symbols("x y z theta")
    F = sp.sqrt(x**2 + y**2) - sp.Rational(3, 2)
    tangents = [sp.Matrix([-y, x, 0]), sp.Matrix([0, 0, 1])]
    assert all(sp.simplify(sp.Matrix([F]).jacobian([x, y, z]) * t) == sp.zeros(1, 1) for t in tangents)
    assert go.growth(tangents, [x, y, z]) == (2,)
    rolling = [sp.Matrix([sp.cos(th), sp.sin(th), 0]), sp.Matrix([0, 0, 1])]
    assert go.growth(rolling, [x, y, th]) == (2, 3)


def test_differential_drive():
    """b = 0.5, v_l = 0.8, v_r = 1.2: R = 1.25, omega = 0.8, V = 1."""
    base = go.differential(width=0.5, radius=0.1)
    twist = base.twist([8.0, 12.0])
    assert twist == pytest.approx(np.array([1.0, 0.0, 0.8]), abs=CLOSE)
    assert go.centre_of_rotation(twist) == pytest.approx(np.array([0.0, 1.25]), abs=CLOSE)
    assert base.rates(twist) == pytest.approx(np.array([8.0, 12.0]), abs=CLOSE)
    assert plane.moved(np.zeros(3), twist, 1.9634954085) == digits(1.25, 1.25, np.pi / 2)
    start = np.array([1.0, 2.0, np.pi / 6])
    icc = plane.compose(start, [*go.centre_of_rotation(twist), 0.0])
    assert icc[:2] == digits(0.375, 3.0825317547)
    assert plane.moved(start, twist, 0.5) == digits(1.3722208427, 2.3288404446, 0.9235987756)
    assert np.isinf(go.centre_of_rotation(base.twist([1.0, 1.0])).max())
    assert go.centre_of_rotation(base.twist([-1.0, 1.0])) == pytest.approx(np.zeros(2), abs=CLOSE)


def test_three_steered_wheels():
    """Sideways all angles are equal; on the spot the front wheel stands across; with rear wheels ahead it is a tricycle."""
    wheels = [mr.Wheel(at, 0.1, steered=f"{i}") for i, at in enumerate([(1.0, 0.0), (0.0, 0.4), (0.0, -0.4)])]
    base = mr.WheeledBase(wheels)
    assert np.ptp(base.steer([np.cos(0.7), np.sin(0.7), 0.0])) < CLOSE
    assert abs(base.steer([0.0, 0.0, 1.0])[0]) == pytest.approx(np.pi / 2)
    front = base.steer([2.0, 0.0, 0.5])
    assert front == pytest.approx(np.array([np.arctan(0.5 / 2.0), 0.0, 0.0]), abs=CLOSE)


def test_tricycle_and_car():
    a, v, l, b = 0.3, 2.0, 2.5, 1.5
    twist = go.tricycle(length=l, radius=0.3, width=b).twist([v / 0.3], [a])
    assert twist == pytest.approx(np.array([v * np.cos(a), 0.0, v * np.sin(a) / l]), abs=CLOSE)
    left, right = go.ackermann(l, b, 0.3).steer(twist)
    assert 1 / np.tan(right) - 1 / np.tan(left) == pytest.approx(b / l)
    assert 2 / (1 / np.tan(right) + 1 / np.tan(left)) == pytest.approx(np.tan(a))


def test_tracks():
    """mu = 0.6, W = 500 N, l = 0.8, b = 0.6: M_r = 60 N m needs F_r - F_l >= 200 N."""
    moment = go.turning_resistance(friction=0.6, weight=500.0, length=0.8)
    assert moment == pytest.approx(60.0)
    assert moment / (0.6 / 2) == pytest.approx(200.0)
    # at the longest track full traction, mu W b / 2, is just what it takes
    l = go.longest_track(width=0.6, traction=0.5, friction=0.6)
    assert go.turning_resistance(0.6, 500.0, l) == pytest.approx(0.5 * 500.0 * 0.6 / 2)


def test_zero_moment_point():
    feet = [[0, 0, 0], [0.2, 0, 0], [0.2, 0.1, 0], [0, 0.1, 0]]
    assert mr.centre_of_pressure(feet, [100, 200, 300, 150]) == pytest.approx(np.array([2 / 15, 0.06, 0.0]), abs=CLOSE)
    m, c, a, Ldot, g = 50.0, np.array([0.1, 0.05, 0.8]), np.array([0.5, -0.3, 0.2]), np.array([2, -1.5, 0.0]), 9.81
    f = m * (a + np.array([0, 0, g]))
    wrench = go.Wrench(f, Ldot + np.cross(c, f))
    assert go.point_of_wrench(wrench)[:2] == digits(0.0630369630, 0.0779720280)


def test_the_same_motion_by_a_robot():
    """A floating body whose acceleration and rate of angular momentum are those of the example."""
    b = mr.Builder("body")
    b.body("body", mr.spatial.inertia.spatial_inertia(50.0, (0, 0, 0), np.diag([2.0, 1.5, 1.0])), joint=mr.Free())
    q = np.array([0.1, 0.05, 0.8, 1, 0, 0, 0])
    vdot = np.array([0.5, -0.3, 0.2, 2.0 / 2.0, -1.5 / 1.5, 0.0])
    p = mr.zero_moment_point(b.build(), q, np.zeros(6), vdot)
    assert p == digits(0.0630369630, 0.0779720280, 0.0)


def test_simplified_model():
    assert mr.LinearPendulum(0.8).omega == digits(3.5017852590)
    assert mr.LinearPendulum(0.8, rise=0.2).omega == pytest.approx(np.sqrt(10.01 / 0.8))


def test_inverted_pendulum_on_a_cart():
    """l th'' - g sin th = - x'' cos th, and (m_w + m_p) x'' + m_p l (cos th th'' - sin th th'²) = f."""
    l, mw, mp, g = 0.7, 2.0, 0.4, 9.81
    b = mr.Builder("cart")
    b.body("cart", mr.spatial.inertia.point(mw, (0, 0, 0)), joint=mr.Prismatic((1, 0, 0)))
    b.body("pole", mr.spatial.inertia.point(mp, (0, 0, l)), parent="cart", joint=mr.Revolute((0, 1, 0)))
    th, thd, f = 0.4, 1.3, 5.0
    xdd, thdd = b.build().forward_dynamics([0.2, th], [0.5, thd], [f, 0.0])
    assert l * thdd - g * np.sin(th) == pytest.approx(-xdd * np.cos(th), abs=CLOSE * 10)
    assert (mw + mp) * xdd + mp * l * (np.cos(th) * thdd - np.sin(th) * thd**2) == pytest.approx(f)


def test_spring_mass_in_stance():
    runner = mr.SpringMass(mass=80.0, stiffness=20000.0)
    r, phi, rd, phid = 0.95, 1.4, -0.5, -4.0
    out, across = np.array([np.cos(phi), np.sin(phi)]), np.array([-np.sin(phi), np.cos(phi)])
    a = runner.acceleration(r * out, [[0.0, 0.0]])
    assert a @ out + r * phid**2 == digits(18.0327381488)
    assert (a @ across - 2 * rd * phid) / r == digits(-5.9656607072)
    contact = runner.hop(1.0, 5.0, np.radians(68)).x
    assert np.ptp(runner.energy(contact, [[0.0, 0.0]])) < 1e-7


def test_van_der_pol():
    """Stable by its multipliers, though eigenvalues of df/dx are to the right of the axis on the way."""
    orbit = mr.periodic_orbit(lambda x: [x[1], (1 - x[0] ** 2) * x[1] - x[0]], [2.0, 0.0], 6.5)
    assert orbit.period == pytest.approx(6.6632868593, abs=1e-9)
    assert np.abs(orbit.multipliers - [1, 8.596951e-4]) == pytest.approx(0.0, abs=1e-8)
    assert orbit.stable


def test_hopf():
    def hopf(x):
        r2 = x @ x
        return [x[0] * (1 - r2) - x[1], x[1] * (1 - r2) + x[0]]

    orbit = mr.periodic_orbit(hopf, [1.1, 0.0], 6.0)
    assert orbit.period == pytest.approx(2 * np.pi)
    assert orbit.multipliers.real == pytest.approx(np.array([1.0, np.exp(-4 * np.pi)]), abs=1e-9)
