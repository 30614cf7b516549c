"""What holds for every robot, on random mechanisms of every joint kind, away from zero."""

import numpy as np
import pytest

from modurob import algorithms as al
from modurob.judges.verify import relative_error
from modurob.spatial import se3
from tests.oracles import maximal
from tests.robots import COORDINATE_RATES, KINDS, random_mechanism, random_state

H = 1e-20
# sums over a few dozen bodies, in double precision
EXACT = 1e-11

SEEDS = range(12)


def robot_and_state(seed, kinds=KINDS, bodies=None, **options):
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, bodies or int(rng.integers(1, 13)), kinds, floating=seed % 3 == 0, **options)
    return robot, *random_state(rng, robot), rng


def along(robot, q, v, f):
    """d/dt f(q(t)) at velocity v, by a complex step."""
    return np.imag(f(robot.integrate(q, 1j * H * v))) / H


def close(found, expected, tolerance=EXACT, scale=1e-3):
    assert relative_error(np.asarray(found), np.asarray(expected), scale) < tolerance


@pytest.mark.parametrize("seed", SEEDS)
def test_columns_of_the_mass_matrix_are_torques(seed):
    robot, q, _, _, _ = robot_and_state(seed, armature=seed % 2 == 0)
    still = np.zeros(robot.nv)
    torques = robot.inverse_dynamics(q, still, np.eye(robot.nv)) - robot.inverse_dynamics(q, still, still)
    M = robot.mass_matrix(q)
    close(torques.T, M)
    close(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_rate_minus_twice_coriolis_is_skew(seed):
    robot, q, v, _, _ = robot_and_state(seed)
    C = robot.coriolis_matrix(q, v)
    close(along(robot, q, v, robot.mass_matrix), C + C.T)


@pytest.mark.parametrize("seed", SEEDS)
def test_coriolis_matrix_is_made_of_christoffel_symbols(seed):
    """C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k / 2, where rates are those of coordinates."""
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 6, COORDINATE_RATES)
    q, v, _ = random_state(rng, robot)
    dM = np.stack([along(robot, q, e, robot.mass_matrix) for e in np.eye(robot.nv)], axis=-1)
    C = (np.einsum("ijk,k->ij", dM, v) + np.einsum("ikj,k->ij", dM, v) - np.einsum("jki,k->ij", dM, v)) / 2
    close(robot.coriolis_matrix(q, v), C)


@pytest.mark.parametrize("seed", SEEDS)
def test_two_coriolis_matrices_differ_and_have_one_product(seed):
    robot, q, v, _, _ = robot_and_state(seed, bodies=6)
    C, C_two_step = robot.coriolis_matrix(q, v), robot.two_step_coriolis_matrix(q, v)
    bias = robot.bias_forces(q, v) - robot.gravity_forces(q)
    close(C @ v, bias)
    close(C_two_step @ v, bias)
    assert relative_error(C_two_step, C) > 1e-3
    rate = along(robot, q, v, robot.mass_matrix)
    assert relative_error(C_two_step + C_two_step.T, rate) > 1e-3


@pytest.mark.parametrize("seed", SEEDS)
def test_closed_form_through_the_transmission_matrix_equals_the_recursions(seed):
    robot, q, v, _, rng = robot_and_state(seed, armature=True)
    close(al.closed_form_mass_matrix(robot, q), robot.mass_matrix(q))
    close(al.closed_form_gravity_forces(robot, q), robot.gravity_forces(q))
    close(al.closed_form_coriolis_matrix(robot, q, v), robot.two_step_coriolis_matrix(q, v))
    close(robot.two_step_coriolis_matrix(q, v) @ v + al.closed_form_gravity_forces(robot, q), robot.bias_forces(q, v))
    wrench = {robot.bodies[-1]: rng.normal(size=6)}
    still = np.zeros(robot.nv)
    close(al.closed_form_gravity_forces(robot, q, wrench), robot.inverse_dynamics(q, still, still, wrench))


@pytest.mark.parametrize("seed", SEEDS)
def test_gravity_forces_are_the_gradient_of_the_potential_energy(seed):
    robot, q, _, _, _ = robot_and_state(seed)
    gradient = [along(robot, q, e, robot.potential_energy) for e in np.eye(robot.nv)]
    close(robot.gravity_forces(q), gradient)


@pytest.mark.parametrize("seed", SEEDS)
def test_power_is_the_rate_of_energy(seed):
    robot, q, v, vdot, _ = robot_and_state(seed, armature=True)
    later, faster = robot.integrate(q, 1j * H * v), v + 1j * H * vdot
    rate = np.imag(robot.kinetic_energy(later, faster) + robot.potential_energy(later)) / H
    close(robot.inverse_dynamics(q, v, vdot) @ v, rate)
    close(robot.kinetic_energy(q, v), v @ robot.mass_matrix(q) @ v / 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_dynamics_undoes_inverse_dynamics(seed):
    robot, q, v, vdot, rng = robot_and_state(seed, armature=seed % 2 == 0)
    wrenches = {name: rng.normal(size=6) for name in robot.bodies[1:]}
    close(robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, vdot, wrenches), wrenches), vdot)


@pytest.mark.parametrize("seed", SEEDS)
def test_tree_equals_maximal_coordinates(seed):
    robot, q, v, tau, _ = robot_and_state(seed)
    close(robot.forward_dynamics(q, v, tau), maximal.forward_dynamics(robot, q, v, tau), 1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_jacobians_are_the_velocities_of_poses(seed):
    robot, q, v, _, rng = robot_and_state(seed)
    frame, point = robot.bodies[-1], rng.normal(size=3)
    X = robot.frame_pose(q, frame)
    R, p = se3.rotation(X), se3.position(X)
    Xdot = along(robot, q, v, lambda q: robot.frame_pose(q, frame))
    body = se3.inverse(X) @ Xdot
    twist = np.concatenate([body[:3, 3], [body[2, 1], body[0, 2], body[1, 0]]])
    close(robot.body_jacobian(q, frame) @ v, twist)
    close(robot.frame_twist(q, v, frame), twist)
    close(robot.jacobian(q, frame) @ v, np.concatenate([R @ twist[:3], R @ twist[3:]]))
    close(robot.jacobian(q, frame)[:3] @ v, Xdot[:3, 3])
    close(robot.point_jacobian(q, frame, point) @ v, Xdot[:3] @ [*point, 1])
    close(robot.centre_of_mass_jacobian(q) @ v, along(robot, q, v, robot.centre_of_mass))
    assert p.shape == (3,)


@pytest.mark.parametrize("seed", SEEDS)
def test_jacobian_rates_are_derivatives_of_jacobians(seed):
    robot, q, v, vdot, rng = robot_and_state(seed)
    frame, point = robot.bodies[-1], rng.normal(size=3)
    close(robot.body_jacobian_rate(q, v, frame), along(robot, q, v, lambda q: robot.body_jacobian(q, frame)))
    close(robot.jacobian_rate(q, v, frame), along(robot, q, v, lambda q: robot.jacobian(q, frame)))
    moving = along(robot, q, v, lambda q: robot.point_jacobian(q, frame, point))
    close(robot.point_jacobian_rate(q, v, frame, point), moving)
    close(robot.centre_of_mass_jacobian_rate(q, v), along(robot, q, v, robot.centre_of_mass_jacobian))
    acceleration = robot.body_jacobian(q, frame) @ vdot + robot.body_jacobian_rate(q, v, frame) @ v
    close(robot.frame_acceleration(q, v, vdot, frame), acceleration)


@pytest.mark.parametrize("seed", SEEDS)
def test_external_wrenches_act_through_the_jacobian(seed):
    robot, q, v, vdot, rng = robot_and_state(seed)
    wrenches = {name: rng.normal(size=6) for name in robot.bodies[1:]}
    through = sum(robot.body_jacobian(q, name).T @ wrench for name, wrench in wrenches.items())
    close(robot.inverse_dynamics(q, v, vdot) - through, robot.inverse_dynamics(q, v, vdot, wrenches))
    as_array = np.stack([np.zeros(6), *wrenches.values()])
    close(robot.inverse_dynamics(q, v, vdot, as_array), robot.inverse_dynamics(q, v, vdot, wrenches))


@pytest.mark.parametrize("seed", SEEDS)
def test_momentum_changes_by_what_acts_on_a_free_robot(seed):
    """Only gravity acts: dp/dt = m g, dL/dt = c x m g; about the centre of mass nothing changes L."""
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 6, floating=True)
    q, v, tau = random_state(rng, robot)
    tau[:6] = 0
    vdot = robot.forward_dynamics(q, v, tau)
    later, faster = robot.integrate(q, 1j * H * v), v + 1j * H * vdot
    weight = robot.total_mass() * robot.gravity
    rate = np.imag(robot.momentum(later, faster)) / H
    close(rate, np.concatenate([weight, np.cross(robot.centre_of_mass(q), weight)]), 1e-9)
    central = np.imag(robot.centroidal_momentum(later, faster)) / H
    close(central, np.concatenate([weight, np.zeros(3)]), 1e-9)
    close(robot.momentum(q, v)[:3], robot.total_mass() * robot.centre_of_mass_jacobian(q) @ v)
    close(robot.centroidal_momentum_matrix(q) @ v, robot.centroidal_momentum(q, v))


@pytest.mark.parametrize("seed", SEEDS)
def test_torques_are_linear_in_the_inertial_parameters(seed):
    robot, q, v, vdot, _ = robot_and_state(seed)
    Y = robot.regressor(q, v, vdot)
    assert Y.shape == (robot.nv, 10 * (len(robot.bodies) - 1))
    close(Y @ robot.inertial_parameters(), robot.inverse_dynamics(q, v, vdot))


@pytest.mark.parametrize("seed", SEEDS)
def test_integrate_and_difference_are_inverse(seed):
    robot, q, v, _, rng = robot_and_state(seed)
    step = v / 3
    close(robot.difference(q, robot.integrate(q, step)), step)
    other = robot.random_configuration(rng)
    reached = robot.forward_kinematics(robot.integrate(q, robot.difference(q, other))).bodies
    close(reached, robot.forward_kinematics(other).bodies)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3)])
def test_leading_axes_broadcast(shape, rng):
    robot = random_mechanism(rng, 8)
    q = np.stack([robot.random_configuration(rng) for _ in range(int(np.prod(shape, dtype=int)))]).reshape(
        *shape, robot.nq
    )
    v, vdot = rng.normal(size=(2, robot.nv))
    frame = robot.bodies[-1]
    functions = {
        "inverse_dynamics": lambda q: robot.inverse_dynamics(q, v, vdot),
        "forward_dynamics": lambda q: robot.forward_dynamics(q, v, vdot),
        "mass_matrix": robot.mass_matrix,
        "coriolis_matrix": lambda q: robot.coriolis_matrix(q, v),
        "two_step_coriolis_matrix": lambda q: robot.two_step_coriolis_matrix(q, v),
        "bias_forces": lambda q: robot.bias_forces(q, v),
        "gravity_forces": robot.gravity_forces,
        "jacobian": lambda q: robot.jacobian(q, frame),
        "jacobian_rate": lambda q: robot.jacobian_rate(q, v, frame),
        "point_jacobian_rate": lambda q: robot.point_jacobian_rate(q, v, frame, np.ones(3)),
        "centre_of_mass_jacobian_rate": lambda q: robot.centre_of_mass_jacobian_rate(q, v),
        "regressor": lambda q: robot.regressor(q, v, vdot),
        "kinetic_energy": lambda q: robot.kinetic_energy(q, v),
        "potential_energy": robot.potential_energy,
        "momentum": lambda q: robot.momentum(q, v),
        "centroidal_momentum": lambda q: robot.centroidal_momentum(q, v),
        "centre_of_mass": robot.centre_of_mass,
        "bodies": lambda q: robot.forward_kinematics(q).bodies,
        "integrate": lambda q: robot.integrate(q, v),
        "closed_form": lambda q: al.closed_form_gravity_forces(robot, q),
        "derivatives": lambda q: robot.forward_dynamics_derivatives(q, v, vdot).q,
    }
    for name, f in functions.items():
        batch = f(q)
        assert batch.shape[: len(shape)] == shape, name
        for at in np.ndindex(shape):
            assert relative_error(batch[at], f(q[at]), 1e-3) < EXACT, name
