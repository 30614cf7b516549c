"""Base parameters: how many there are, against Pinocchio's regressor; exact and numeric ones are the same."""

import numpy as np
import pytest
import sympy

import modurob as mr
from modurob.algorithms.base_parameters import TERMS, parameter_names
from modurob.errors import ClosureError, InputError
from modurob.judges.pinocchio import PinocchioTwin
from modurob.spatial import se3
from modurob.symbolic.base import inertial_symbols
from tests.identification.motions import lwa
from tests.robots import random_mechanism, random_state

FRICTION = ("inertia", "rotor", "viscous", "coulomb")


def test_the_lwa_4p_has_36_and_52():
    robot = lwa()
    assert robot.base_parameters().rank == 36
    assert robot.base_parameters(FRICTION).rank == 52
    # the shipped arm, of modules
    assert mr.load("lwa4p").robot().base_parameters().rank == 36


def pinocchio_rank(robot: mr.Mechanism, rng: np.random.Generator) -> int:
    import pinocchio

    twin = PinocchioTwin(robot)
    states = [random_state(rng, robot) for _ in range(3 * len(robot.joints) + 4)]
    W = np.vstack([pinocchio.computeJointTorqueRegressor(twin.model, twin.data, *s) for s in states])
    return int(np.linalg.matrix_rank(W / np.maximum(np.linalg.norm(W, axis=0), 1e-300), tol=1e-7))


def test_as_many_as_the_rank_of_pinocchios_regressor(rng):
    for bodies in range(1, 9):
        robot = random_mechanism(rng, bodies, ("revolute", "prismatic"), chain=bool(bodies % 2))
        assert robot.base_parameters().rank == pinocchio_rank(robot, rng)


@pytest.mark.parametrize("floating", [False, True])
def test_torques_depend_on_base_parameters_alone(rng, floating):
    """Y pi = Y[:, kept] K pi for any pi, on trees of all kinds of joints."""
    for bodies in (2, 5, 8):
        robot = random_mechanism(rng, bodies, floating=floating)
        base = robot.base_parameters(TERMS)
        Y = robot.torque_regressor(*random_state(rng, robot), TERMS)
        pi = rng.normal(size=len(base.names))
        assert Y[:, base.kept] @ base.K @ pi == pytest.approx(Y @ pi, abs=1e-7)
        assert Y.shape[1] == len(parameter_names(robot, TERMS))


def test_the_regressor_has_rotors_and_friction(rng):
    robot = random_mechanism(rng, 4, ("revolute", "prismatic"), armature=True)
    for joint in robot.joints:
        robot = robot.with_force(f"{joint.name} oil", mr.Friction(viscous=0.3, coulomb=0.2), joint=joint.name)
    q, v, vdot = random_state(rng, robot)
    pi = np.concatenate([robot.inertial_parameters(), robot.armature, np.full(4, 0.3), np.full(4, 0.2)])
    expected = robot.inverse_dynamics(q, v, vdot) - robot.passive_forces(q, v) + 0.2 * np.sign(v)
    assert robot.torque_regressor(q, v, vdot, FRICTION) @ pi == pytest.approx(expected)


def test_torques_of_batches_are_those_of_their_states(rng):
    """Whichever of q, v and vdot has leading axes."""
    robot = random_mechanism(rng, 4, ("revolute", "spherical"))
    states = [np.stack(x) for x in zip(*(random_state(rng, robot) for _ in range(3)), strict=True)]
    for several in range(3):
        given = [x if k == several else x[1] for k, x in enumerate(states)]
        found = robot.torque_regressor(*given, TERMS)
        np.testing.assert_allclose(found[1], robot.torque_regressor(*(x[1] for x in states), TERMS), atol=1e-12)


def test_loops_leave_fewer():
    """Of a parallelogram: what depends on its one degree of freedom alone."""
    linkage = mr.Assembly.from_grid([["B", "B"], ["B", "B"]]).mechanism()
    tree = linkage.base_parameters()
    assert tree.rank == 3
    assert "3 base parameters of 20" in str(tree)


def test_loops_that_never_close():
    b = mr.Builder("open")
    I = mr.spatial.inertia.sphere(1.0, 0.1)
    b.body("a", I, joint=mr.Revolute((0, 0, 1)))
    b.body("b", I, parent="a", joint=mr.Revolute((0, 0, 1)), at=se3.pose(p=[0.1, 0, 0]))
    b.loop("far", mr.Spherical(), "b", "world", seat=se3.pose(p=[5.0, 0, 0]))
    with pytest.raises(ClosureError, match="no configuration found at which its loops hold"):
        b.build().base_parameters()


def test_exact_ones_are_the_numeric_ones():
    """With their lengths put in, the exact sums span what the numeric ones do."""
    b = mr.Builder("elbow")
    I = mr.spatial.inertia.box(1.0, (0.1, 0.2, 0.3))
    b.body("upper", I, joint=mr.Revolute((0, 0, 1)))
    b.body("fore", I, parent="upper", joint=mr.Revolute((0, 1, 0)), at=se3.pose(p=[0.25, 0, 0.5]))
    b.body("hand", I, parent="fore", joint=mr.Prismatic((1, 0, 0)), at=se3.pose(p=[0.125, 0, 0]))
    for robot in (b.build(), mr.load("double_pendulum").robot(), mr.load("crab").robot()):
        eq = robot.equations("lengths")
        exact = [e.subs(eq.values) for e in eq.base_parameters()]
        pi = inertial_symbols(len(robot.joints))
        rows = np.array([[float(e.coeff(s)) for s in pi] for e in map(sympy.expand, exact)])
        numeric = robot.base_parameters()
        assert len(rows) == numeric.rank
        assert np.linalg.matrix_rank(np.vstack([rows, numeric.K]), tol=1e-7) == numeric.rank


def test_a_term_that_is_none():
    with pytest.raises(InputError, match="term 'rotors' of torques: did you mean 'rotor'"):
        lwa().base_parameters(["inertia", "rotors"])
