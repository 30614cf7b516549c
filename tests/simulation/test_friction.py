"""Joint friction against the figures of foundations X24, its symmetries and its limits."""

import numpy as np
import pytest
from modurob.simulation.friction import Friction

import modurob as mr
from modurob.errors import SimulationError
from modurob.spatial import inertia

X24 = Friction(viscous=0.5, coulomb=2, static=3, stribeck_velocity=0.1)


def printed(value):
    return f"{float(value):.10f}"


def test_stribeck_meets_the_printed_figures():
    assert printed(X24.torque(0.1, 0.0)) == "2.4178794412"
    assert printed(X24.torque(1.0, 0.0)) == "2.5000453999"


def test_simple_law_meets_the_printed_figure():
    assert printed(Friction(viscous=0.5, coulomb=2).torque(0.1, 0.0)) == "2.0500000000"


@pytest.mark.parametrize(("applied", "held"), [(2.9, 2.9), (-2.9, -2.9), (0.0, 0.0), (5.0, 3.0), (-5.0, -3.0)])
def test_a_joint_at_rest_is_held_up_to_static_friction(applied, held):
    assert X24.torque(0.0, applied) == held


def test_friction_is_odd_and_takes_energy(rng):
    v, applied = rng.normal(size=(2, 50, 4))
    friction = Friction(*np.abs(rng.normal(size=(2, 4))), static=5.0, stribeck_velocity=rng.uniform(0.01, 1, size=4))
    F = friction.torque(v, applied)
    assert F.shape == (50, 4)
    np.testing.assert_array_equal(friction.torque(-v, -applied), -F)
    assert np.all(F * v > 0)
    np.testing.assert_array_equal(friction.torque(v, applied)[7], friction.torque(v[7], applied[7]))


def test_without_a_stribeck_velocity_friction_falls_at_once():
    friction = Friction(coulomb=2, static=3)
    assert friction.torque(1e-12, 0.0) == 2
    mixed = Friction(coulomb=2, static=3, stribeck_velocity=[0.0, 1e9])
    np.testing.assert_allclose(mixed.torque([0.1, 0.1], 0.0), [2, 3], rtol=1e-9)


def test_smooth_law_becomes_the_sharp_one(rng):
    v = rng.uniform(1e-3, 2, size=(100, 3)) * rng.choice([-1, 1], size=(100, 3))
    errors = [np.abs(X24.smooth(v, s) - X24.torque(v, 0.0)).max() for s in (1e-2, 1e-3, 1e-4)]
    assert errors[0] > errors[1] > errors[2]
    # tanh(10) is 4e-9 short of one
    assert errors[2] < 1e-8 * 3


def test_smooth_law_is_odd_with_the_slope_of_its_tanh_at_rest():
    assert X24.smooth(0.0, 1e-3) == 0
    v = np.linspace(-1, 1, 201)
    np.testing.assert_allclose(X24.smooth(v, 0.01), -X24.smooth(-v, 0.01), atol=1e-15)
    # F = static tanh(v / s) + viscous v to first order
    slope = np.imag(X24.smooth(1e-20j, 1e-3)) / 1e-20
    assert slope == pytest.approx(3 / 1e-3 + 0.5, rel=1e-12)


def test_a_sliding_block_stops_when_its_closed_form_says():
    """Coulomb friction alone: v falls along a straight line and stays at zero."""
    mass, start, h = 2.0, 1.5, 1e-4
    friction, v = Friction(coulomb=3.0), 1.5
    for _ in range(12000):
        v -= h * float(friction.smooth(v, 1e-3)) / mass
    assert abs(v) < 1e-6
    stop, v, t = mass * start / 3.0, 1.5, 0.0
    while v > 0.05:
        v, t = v - h * float(friction.smooth(v, 1e-3)) / mass, t + h
    assert t + mass * v / 3.0 == pytest.approx(stop, abs=2 * h)


def test_friction_of_a_robot():
    builder = mr.Builder("arm")
    builder.body("a", inertia.point(1.0, (0, 0, 1)), joint=mr.Free(), properties=mr.JointProperties(damping=0.1))
    own = mr.JointProperties(damping=0.3, friction=0.7)
    builder.body("b", inertia.point(1.0, (0, 0, 1)), parent="a", joint=mr.Revolute((1, 0, 0)), properties=own)
    builder.body("c", parent="b", joint=mr.Revolute((1, 0, 0)), properties=own, mimic=mr.Source("b"))
    friction = Friction.of(builder.build())
    np.testing.assert_array_equal(friction.viscous, [0.1] * 6 + [0.3])
    np.testing.assert_array_equal(friction.coulomb, [0.0] * 6 + [0.7])
    np.testing.assert_allclose(friction.torque(np.full(7, 2.0), np.zeros(7)), [0.2] * 6 + [1.3], rtol=1e-15)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"viscous": -1}, r"viscous -1: expected finite numbers, zero or more"),
        ({"coulomb": np.nan}, r"coulomb nan"),
        ({"coulomb": "much"}, r"coulomb 'much': expected a number, or one for each rate"),
        ({"coulomb": 2, "static": 1}, r"static friction 1.0 is below coulomb 2.0"),
        ({"stribeck_velocity": [[0.1]]}, r"stribeck_velocity \[\[0.1\]\].*one or \(nv,\)"),
    ],
)
def test_bad_coefficients_are_refused(arguments, message):
    with pytest.raises(SimulationError, match=message):
        Friction(**arguments)


@pytest.mark.parametrize("smoothing", [0, -1, np.inf])
def test_smoothing_must_be_a_velocity(smoothing):
    with pytest.raises(SimulationError, match=r"smoothing .*expected a velocity above zero"):
        X24.smooth(0.1, smoothing)
