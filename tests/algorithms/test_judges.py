"""A thousand random mechanisms of every joint kind, against Pinocchio and MuJoCo."""

import numpy as np
import pytest

from modurob.judges.mujoco import MujocoTwin
from modurob.judges.pinocchio import PinocchioTwin
from modurob.judges.twin import Twin
from modurob.judges.verify import relative_error
from tests.robots import KINDS, random_mechanism, random_state
from tests.sampling import sampled

BATCHES, EACH = 40, 25
MOST_BODIES = 60
# what MuJoCo has no joint for
MUJOCO_KINDS = tuple(k for k in KINDS if k not in ("helical", "free"))


def require_agreement(robot, twin: Twin, rng: np.random.Generator) -> None:
    """Kinematics and dynamics at one state away from zero.

    Forward dynamics must give back the acceleration the judge's inverse dynamics had, to the tolerance or to
    what the conditioning of the mass matrix leaves to double precision; and agree with the judge's own wherever that does so
    (on ill-conditioned chains of 60 bodies Pinocchio's is off by up to 4e-9 itself).
    """
    q, v, vdot = random_state(rng, robot)
    M, tau = twin.mass_matrix(q), twin.inverse_dynamics(q, v, vdot)
    body = int(rng.integers(1, len(robot.bodies)))
    found, theirs = robot.forward_dynamics(q, v, tau), twin.forward_dynamics(q, v, tau)
    pairs = {
        "poses": (robot.forward_kinematics(q).bodies, twin.body_poses(q)),
        "Jacobian": (robot.body_jacobian(q, robot.bodies[body]), twin.body_jacobian(q, body)),
        "inverse dynamics": (robot.inverse_dynamics(q, v, vdot), tau),
        "mass matrix": (robot.mass_matrix(q), M),
        "torques of forward dynamics": (twin.inverse_dynamics(q, v, found), tau),
    }
    errors = {name: relative_error(*pair) for name, pair in pairs.items()}
    allowed = max(twin.tolerance, np.finfo(float).eps * np.linalg.cond(M))
    errors["forward dynamics"] = relative_error(found, vdot) * twin.tolerance / allowed
    if relative_error(theirs, vdot) < twin.tolerance / 10:
        errors["their forward dynamics"] = relative_error(found, theirs) * twin.tolerance / allowed
    worst = max(errors, key=lambda name: errors[name])
    assert errors[worst] < twin.tolerance, (robot, worst, errors[worst])


@pytest.mark.parametrize("batch", sampled(range(BATCHES), 3))
def test_thousand_mechanisms_agree_with_pinocchio(batch):
    rng = np.random.default_rng(batch)
    for _ in range(EACH):
        bodies = int(rng.integers(1, MOST_BODIES + 1))
        robot = random_mechanism(
            rng, bodies, floating=rng.random() < 0.3, chain=rng.random() < 0.4, armature=rng.random() < 0.3
        )
        require_agreement(robot, PinocchioTwin(robot), rng)


def test_one_joint_agrees_with_pinocchio(rng):
    """For which Pinocchio returns vectors in place of matrices."""
    robot = random_mechanism(rng, 1, ("revolute",))
    require_agreement(robot, PinocchioTwin(robot), rng)


@pytest.mark.parametrize("batch", sampled(range(10), 4))
def test_mechanisms_agree_with_mujoco(batch):
    rng = np.random.default_rng(1000 + batch)
    for _ in range(10):
        bodies = int(rng.integers(1, 31))
        floating = rng.random() < 0.5
        robot = random_mechanism(
            rng, bodies, MUJOCO_KINDS, floating, chain=rng.random() < 0.3, armature=rng.random() < 0.3
        )
        require_agreement(robot, MujocoTwin(robot), rng)


@pytest.mark.parametrize("seed", range(4))
def test_momenta_and_coriolis_matrix_agree_with_pinocchio(seed):
    """In a batch and alone; where rates are those of coordinates both C are that of Christoffel symbols."""
    import pinocchio

    rng = np.random.default_rng(seed)
    floating = seed % 2 == 1
    robot = random_mechanism(rng, 8, ("revolute", "prismatic"), floating=floating, chain=True)
    twin = PinocchioTwin(robot)
    q, v, _ = (np.stack(x) for x in zip(*(random_state(rng, robot) for _ in range(9)), strict=True))
    state = twin.model, twin.data, twin._q(q[0])
    pairs = [
        (robot.centroidal_momentum_matrix, (q,), pinocchio.computeCentroidalMap(*state)),
        (robot.centre_of_mass_jacobian, (q,), pinocchio.jacobianCenterOfMass(*state)),
    ]
    if not floating:
        pairs.append((robot.coriolis_matrix, (q, v), pinocchio.computeCoriolisMatrix(*state, v[0])))
    for function, arguments, theirs in pairs:
        for found in (function(*arguments)[0], function(*(x[0] for x in arguments))):
            assert relative_error(found, theirs) < twin.tolerance


@pytest.mark.judge
@pytest.mark.parametrize("batch", range(100))
def test_five_thousand_more_agree_with_pinocchio(batch):
    rng = np.random.default_rng(10_000 + batch)
    for _ in range(50):
        robot = random_mechanism(rng, int(rng.integers(1, 31)), floating=rng.random() < 0.3, chain=rng.random() < 0.4)
        require_agreement(robot, PinocchioTwin(robot), rng)
