"""The systems of the sources whose equations are printed."""

import numpy as np
import pytest

import modurob as mr
from tests.moved import moved
from tests.oracles import crane, double_pendulum
from tests.robots import random_assembly

HANGING = (0.0, 9.81, 0.0)
POINT = {"Ixx": 0, "Iyy": 0, "Izz": 0}
# rounding of sums of a few terms
EXACT = 1e-12


def pendulum(l1, l2, m1, m2):
    """Modules m0, m1, m2 in a row; the distance of neighbours is half of both lengths."""
    lengths, masses = (l1, l1, 2 * l2 - l1), (1.0, m1, m2)
    parameters = [{"length": l, "mass": m, **POINT} for l, m in zip(lengths, masses, strict=True)]
    return mr.Assembly.from_aim([[3, 0], [4, 3], [0, 4]], types=["backbone"] * 3, parameters=parameters)


@pytest.mark.parametrize("seed", range(20))
def test_double_pendulum_equals_the_thesis(seed):
    rng = np.random.default_rng(seed)
    l1, l2 = rng.uniform(1.0, 1.9, size=2)
    m1, m2 = rng.uniform(0.5, 3.0, size=2)
    robot = pendulum(l1, l2, m1, m2).mechanism(base="m0", gravity=HANGING)
    q, v = rng.normal(size=(2, 2)) * 2
    size = (l1 + l2) ** 2 * (m1 + m2)
    constants = l1, l2, m1, m2
    np.testing.assert_allclose(robot.mass_matrix(q), double_pendulum.mass_matrix(q, *constants), atol=EXACT * size)
    np.testing.assert_allclose(
        robot.gravity_forces(q), double_pendulum.gravity_forces(q, *constants), atol=EXACT * 10 * size
    )
    C = double_pendulum.two_step_coriolis_matrix(q, v, *constants)
    np.testing.assert_allclose(robot.two_step_coriolis_matrix(q, v), C, atol=EXACT * size)
    bias = C @ v + double_pendulum.gravity_forces(q, *constants)
    np.testing.assert_allclose(robot.bias_forces(q, v), bias, atol=EXACT * 10 * size)


def test_shipped_double_pendulum_has_the_numbers_of_the_thesis(rng):
    robot = mr.load("double_pendulum").mechanism(gravity=HANGING)
    q = rng.normal(size=2)
    np.testing.assert_allclose(robot.mass_matrix(q), double_pendulum.mass_matrix(q, 10, 10, 1, 1), rtol=EXACT)


@pytest.mark.parametrize("seed", range(20))
def test_crane_equals_the_thesis(seed):
    rng = np.random.default_rng(seed)
    length, wagon, load = rng.uniform(1, 5), *rng.uniform(0.5, 3, size=2)
    backbone = [{"length": length, "mass": m, **POINT} for m in (wagon, load)]
    assembly = mr.Assembly.from_aim([[7, 0], [7, 3], [0, 4]], ["virtual", "backbone", "backbone"], [{}, *backbone])
    robot = assembly.mechanism(base="m0", gravity=HANGING)
    (z, phi), (zd, phid), (force, torque) = rng.normal(size=(3, 2))
    found = robot.forward_dynamics([z, phi], [zd, phid], [force, torque])
    expected = crane.accelerations(phi, phid, wagon, load, length, force, torque)
    np.testing.assert_allclose(found, expected, rtol=EXACT, atol=EXACT * 10)


def test_free_organism_keeps_the_velocity_of_its_centre_of_mass(rng):
    """Gutenkunst 5.3: four modules, no gravity, random torques at the joints for ten seconds."""
    organism = random_assembly(rng, 4, ("backbone",), rolls=False)
    robot = organism.mechanism(floating=True, gravity=(0, 0, 0))
    assert robot.nv > 6
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    drift = []
    start = robot.centre_of_mass_jacobian(q) @ v
    for _ in range(20):
        tau = np.concatenate([np.zeros(6), rng.uniform(-0.02, 0.02, size=robot.nv - 6)])
        q, v = moved(robot, q, v, tau, 0.5)
        drift.append(np.abs(robot.centre_of_mass_jacobian(q) @ v - start).max())
    assert max(drift) < 1e-10
    # the organism did move
    assert np.abs(v[6:]).max() > 0.1
