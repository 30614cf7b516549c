"""Derivatives of torques and accelerations by inertial parameters: against Pinocchio, and complex steps through the definition."""

from dataclasses import replace

import numpy as np
import pytest

import modurob as mr
from modurob import algorithms
from modurob.algorithms.complex_steps import TINY
from modurob.errors import SingularError
from modurob.judges.pinocchio import PinocchioTwin
from modurob.judges.verify import relative_error
from modurob.spatial import inertia, se3
from tests.algorithms.test_loop_derivatives import chain
from tests.oracles.linkages import LINKAGES
from tests.robots import random_mechanism, random_state

# Pinocchio has joints of its own for these, in the same frames
KINDS = ("revolute", "prismatic", "spherical", "free")
EXACT = 1e-11


def by_parameters(function, robot):
    """d function(robot)/d pi on a last axis, by complex steps."""
    columns = []
    for k, pi in enumerate(np.eye(10 * len(robot.joints))):
        I = robot.inertia.astype(complex)
        I[1:] += 1j * TINY * inertia.from_parameters(pi.reshape(-1, 10))
        columns.append(np.imag(function(replace(robot, inertia=I, name=f"{robot.name}{k}"))) / TINY)
    return np.stack(columns, axis=-1)


def require_both(robot, q, v, x, external=None):
    """Both regressors in a batch, and alone."""
    expected = by_parameters(lambda m: algorithms.forward_dynamics(m, q, v, x, external), robot)
    torques = by_parameters(lambda m: algorithms.tree_inverse_dynamics(m, q, v, x), robot)
    parts = [(robot.forward_dynamics_regressor(q, v, x, external), expected), (robot.regressor(q, v, x), torques)]
    parts += [(robot.regressor(q[0], v[0], x[0]), torques[0])]
    if external is None:
        parts += [(robot.forward_dynamics_regressor(q[0], v[0], x[0]), expected[0])]
    for found, exact in parts:
        assert found.shape == exact.shape
        assert relative_error(found, exact) < EXACT


def states(robot, rng, n=2):
    return (np.stack(x) for x in zip(*(random_state(rng, robot) for _ in range(n)), strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_regressors_agree_with_pinocchio(seed):
    import pinocchio

    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, int(rng.integers(1, 9)), KINDS, floating=seed % 2 == 0, chain=True)
    twin = PinocchioTwin(robot)
    q, v, vdot = states(robot, rng, 11)
    Y = robot.regressor(q, v, vdot)
    for k in (0, 10):
        theirs = pinocchio.computeJointTorqueRegressor(twin.model, twin.data, twin._q(q[k]), v[k], vdot[k])
        assert relative_error(Y[k], theirs) < EXACT
        assert relative_error(robot.regressor(q[k], v[k], vdot[k]), theirs) < EXACT


@pytest.mark.parametrize("seed", range(4))
def test_they_are_the_derivatives_by_inertial_parameters(seed):
    """Trees of any joints, fixed ones among them, with rotors."""
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 2 + seed, floating=seed % 2 == 1, armature=True)
    require_both(robot, *states(robot, rng))


def test_external_wrenches_move_accelerations(rng):
    robot = random_mechanism(rng, 4, ("revolute", "spherical"))
    require_both(robot, *states(robot, rng), {robot.bodies[-1]: rng.normal(size=6)})


@pytest.mark.parametrize("apart", [False, True])
def test_joints_that_share_a_coordinate(apart, rng):
    """Beside each other, and one behind the other, where articulated bodies do not serve."""
    builder = mr.Builder("sharing", gravity=rng.normal(size=3) * 5)
    for name, parent, ratio in (
        ("a", "world", None),
        ("b", "a", None),
        ("c", "b" if apart else "a", -0.7),
        ("d", "c", None),
    ):
        source = None if ratio is None else mr.Source("b", ratio, 0.2)
        at = se3.random(rng, reach=0.5)
        builder.body(name, inertia.random(rng), parent=parent, joint=mr.Revolute(), at=at, mimic=source)
    robot = builder.build()
    require_both(robot, *states(robot, rng))


@pytest.mark.parametrize("name", ["four-bar", "slider-crank"])
def test_loops(name):
    rng = np.random.default_rng(0)
    link = LINKAGES[name](rng)
    q, v = (np.stack(x) for x in zip(*(link.state(rng) for _ in range(2)), strict=True))
    require_both(link.robot, q, v, rng.normal(size=v.shape))


def test_loops_of_joints_that_share_a_coordinate(rng):
    robot, q = chain(rng, "spherical", mimic=True)
    v, tau = rng.normal(size=(2, robot.nv))
    expected = by_parameters(lambda m: algorithms.forward_dynamics(m, q, v, tau), robot)
    assert relative_error(robot.forward_dynamics_regressor(q, v, tau), expected) < EXACT


def test_single_precision_stays_so(rng):
    robot = random_mechanism(rng, 5, ("revolute",), chain=True)
    q, v, tau = states(robot, rng, 11)
    floats = [x.astype(np.float32) for x in (q, v, tau)]
    for function in (robot.regressor, robot.forward_dynamics_regressor):
        found = function(*floats)
        assert found.dtype == np.float32
        assert relative_error(found, function(q, v, tau)) < 1e-2
    assert robot.torque_regressor(*floats).dtype == np.float32


def test_leading_axes_broadcast(rng):
    robot = random_mechanism(rng, 4)
    q, v, tau = states(robot, rng, 6)
    found = robot.forward_dynamics_regressor(q.reshape(2, 3, -1), v[0], tau[0])
    assert found.shape == (2, 3, robot.nv, 40)
    assert relative_error(found[1, 0], robot.forward_dynamics_regressor(q[3], v[0], tau[0])) < EXACT


def test_what_is_not_a_state_is_refused(rng):
    robot = random_mechanism(rng, 3, ("revolute",))
    q, v, tau = random_state(rng, robot)
    with pytest.raises(mr.ModurobError, match=r"v has shape \(2,\)"):
        robot.forward_dynamics_regressor(q, v[:2], tau)
    with pytest.raises(mr.ModurobError, match="nan: expected finite"):
        robot.forward_dynamics_regressor(q, v, tau * np.nan)
    builder = mr.Builder("empty")
    builder.body("b", np.zeros((6, 6)), joint=mr.Revolute())
    for n in ((), (600,)):
        with pytest.raises(SingularError, match="no inertia"):
            builder.build().forward_dynamics_regressor(np.zeros((*n, 1)), np.zeros((*n, 1)), np.ones((*n, 1)))
