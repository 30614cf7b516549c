"""Derivatives of the dynamics against Pinocchio's and against finite differences."""

import numpy as np
import pytest

from modurob.algorithms.acceleration_slopes import (
    UPPER,
    acceleration_past_rate,
    inverse_inertia_past_rate,
    symmetric_product,
    torque_response,
    wrench_past_rate,
)
from modurob.judges.pinocchio import PinocchioTwin
from modurob.judges.verify import relative_error
from tests.robots import random_mechanism, random_state
from tests.sampling import sampled

# Pinocchio has analytic derivatives for these
KINDS = ("revolute", "prismatic", "helical", "spherical", "free")


@pytest.mark.parametrize("seed", range(10))
def test_derivatives_agree_with_pinocchio(seed):
    import pinocchio

    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, int(rng.integers(1, 13)), KINDS, floating=seed % 2 == 0, chain=True)
    twin = PinocchioTwin(robot)
    q, v, u = random_state(rng, robot)
    model, data = twin.model, twin.data
    theirs = pinocchio.computeRNEADerivatives(model, data, twin._q(q), v, u)
    ours = robot.inverse_dynamics_derivatives(q, v, u)
    for found, expected in zip(ours[:2], theirs[:2], strict=True):
        assert relative_error(found, expected) < 1e-10
    pinocchio.computeABADerivatives(model, data, twin._q(q), v, u)
    inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
    for found, expected in zip(
        robot.forward_dynamics_derivatives(q, v, u), (data.ddq_dq, data.ddq_dv, inverse), strict=True
    ):
        assert relative_error(found, expected) < 1e-9


@pytest.mark.parametrize(
    ("seed", "floating", "chain"), sampled([(1, True, False), (0, False, False), (2, True, True)], 1)
)
def test_batches_on_large_robots_agree_with_pinocchio(seed, floating, chain):
    """Branches that hang on branches, joints of several rates between them, and a batch that does not fill its vectors."""
    import pinocchio

    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 24, KINDS, floating=floating, chain=chain)
    twin = PinocchioTwin(robot)
    at, model, data = twin.v_index, twin.model, twin.data
    q, v, u = (np.stack(x) for x in zip(*(random_state(rng, robot) for _ in range(11)), strict=True))
    ours = robot.forward_dynamics_derivatives(q, v, u)
    for k in (0, 10):
        pinocchio.computeABADerivatives(model, data, twin._q(q[k]), v[k][at], u[k][at])
        inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
        for found, expected in zip(ours, (data.ddq_dq, data.ddq_dv, inverse), strict=True):
            assert relative_error(found[k][np.ix_(at, at)], expected) < 1e-9


@pytest.mark.parametrize("seed", sampled(range(6), 3))
def test_derivatives_agree_with_differences(seed):
    """Every joint kind, with external wrenches; central differences are good to about 1e-8."""
    rng = np.random.default_rng(100 + seed)
    robot = random_mechanism(rng, 6)
    q, v, u = random_state(rng, robot)
    wrenches = {name: rng.normal(size=6) for name in robot.bodies[1:]}
    h = 1e-6
    for f, derivatives in (
        (robot.inverse_dynamics, robot.inverse_dynamics_derivatives(q, v, u, wrenches)),
        (robot.forward_dynamics, robot.forward_dynamics_derivatives(q, v, u, wrenches)),
    ):
        moves = {
            0: lambda d, f=f: f(robot.integrate(q, d), v, u, wrenches),
            1: lambda d, f=f: f(q, v + d, u, wrenches),
            2: lambda d, f=f: f(q, v, u + d, wrenches),
        }
        for k, move in moves.items():
            slopes = np.stack([(move(h * e) - move(-h * e)) / (2 * h) for e in np.eye(robot.nv)], axis=-1)
            assert relative_error(derivatives[k], slopes) < 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_derivatives_of_frames_agree_with_differences(seed):
    """Of the functions of the same names, in gravity, also of frames that stand still."""
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 6, floating=seed % 2 == 0)
    q, v, vdot = random_state(rng, robot)
    steps = 1e-5 * np.eye(robot.nv)

    def difference(f):
        return np.stack([(f(d) - f(-d)) / 2e-5 for d in steps], axis=-1)

    for frame in (robot.bodies[-1], "b0", "world"):
        expected = [
            difference(lambda d, f=frame: robot.frame_twist(robot.integrate(q, d), v, f)),
            difference(lambda d, f=frame: robot.frame_twist(q, v + d, f)),
            difference(lambda d, f=frame: robot.frame_acceleration(robot.integrate(q, d), v, vdot, f)),
            difference(lambda d, f=frame: robot.frame_acceleration(q, v + d, vdot, f)),
            difference(lambda d, f=frame: robot.frame_acceleration(q, v, vdot + d, f)),
        ]
        batch = robot.frame_derivatives(q, np.stack([v, v]), vdot, frame)
        for found, slope in zip(batch, expected, strict=True):
            assert relative_error(found[1], slope, scale=1.0) < 1e-8


def test_inverse_inertias_are_accelerations_by_wrenches_with_the_rate_free_to_move():
    """(1 + S K^T) M (1 + K S^T) + r S S^T, by matrices; and the response to a torque, by reciprocity, to a wrench."""
    S, K, r, root = (rng := np.random.default_rng(0)).normal(size=6), rng.normal(size=6), 0.7, rng.normal(size=(6, 6))
    M = root @ root.T
    u, x, A = torque_response(S, K, np.array([r]), M[UPPER])
    behind = (np.eye(6) + np.outer(S, K)) @ M @ (np.eye(6) + np.outer(K, S)) + r * np.outer(S, S)
    assert inverse_inertia_past_rate(S, M[UPPER], u, x) == pytest.approx(behind[UPPER], rel=1e-13, abs=1e-13)
    assert symmetric_product(M[UPPER], np.eye(6)) == pytest.approx(M, rel=1e-15)
    # a wrench on the body behind the rate, passed inward, times the inverse inertia of the body before, and passed outward
    moved, left = wrench_past_rate(S, K, np.array([r]), -np.eye(6))
    rows, motion = acceleration_past_rate(S, K, M @ -left, np.zeros(3), np.zeros((3, 6)), moved)
    assert motion == pytest.approx(behind, rel=1e-13, abs=1e-13)
    assert rows == pytest.approx(A[:, 0], rel=1e-13, abs=1e-13)
