"""The same lines run on floats, complex numbers, and objects of other libraries."""

import mpmath
import numpy as np
import pytest
import sympy

from modurob import algorithms as al
from modurob.judges.verify import relative_error
from tests.robots import random_mechanism, random_state

FUNCTIONS = {
    "inverse_dynamics": al.inverse_dynamics,
    "forward_dynamics": al.forward_dynamics,
    "mass_matrix": lambda m, q, v, u: al.mass_matrix(m, q),
    "coriolis_matrix": lambda m, q, v, u: al.coriolis_matrix(m, q, v),
    "two_step_coriolis_matrix": lambda m, q, v, u: al.two_step_coriolis_matrix(m, q, v),
    "jacobian_rate": lambda m, q, v, u: al.jacobian_rate(m, q, v, m.bodies[-1]),
    "point_jacobian_rate": lambda m, q, v, u: al.point_jacobian_rate(m, q, v, m.bodies[-1], np.ones(3)),
    "kinetic_energy": lambda m, q, v, u: al.kinetic_energy(m, q, v),
    "potential_energy": lambda m, q, v, u: al.potential_energy(m, q),
    "regressor": al.regressor,
    "momentum": lambda m, q, v, u: al.momentum(m, q, v),
    "poses": lambda m, q, v, u: al.forward_kinematics(m, q).bodies,
    "integrate": lambda m, q, v, u: al.integrate(m, q, v),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_fifty_digits_agree_with_doubles(name, rng):
    robot = random_mechanism(rng, 5)
    state = random_state(rng, robot)
    with mpmath.workdps(50):
        exact = FUNCTIONS[name](robot, *(np.array([mpmath.mpf(x) for x in part], dtype=object) for part in state))
        exact = np.asarray(exact).astype(float)
    assert relative_error(FUNCTIONS[name](robot, *state), exact) < 1e-12


def test_derivatives_by_complex_steps_refuse_other_scalars(rng):
    """Imaginary parts of other scalars are no slopes."""
    robot = random_mechanism(rng, 2, ("universal",))
    q, v, u = random_state(rng, robot)
    for other in (q + 1e-20j, np.array([mpmath.mpf(x) for x in q], dtype=object)):
        with pytest.raises(
            TypeError, match=r"derivatives at j?b0\S*, whose .* turns: expected real numbers, found .* (complex|object)"
        ):
            al.forward_dynamics_derivatives(robot, other, v, u)


def test_symbols_give_formulas(rng):
    robot = random_mechanism(rng, 2, ("revolute", "prismatic"), chain=True)
    symbols = np.array(sympy.symbols("q1 q2"))
    M = al.mass_matrix(robot, symbols)
    q = rng.normal(size=2)
    numbers = dict(zip(symbols, q, strict=True))
    found = np.array([[float(sympy.sympify(e).subs(numbers)) for e in row] for row in M])
    np.testing.assert_allclose(found, robot.mass_matrix(q), rtol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_complex_numbers_with_no_imaginary_part_change_nothing(name, rng):
    robot = random_mechanism(rng, 5)
    state = random_state(rng, robot)
    found = FUNCTIONS[name](robot, *(part.astype(complex) for part in state))
    assert relative_error(found, FUNCTIONS[name](robot, *state)) < 1e-13
