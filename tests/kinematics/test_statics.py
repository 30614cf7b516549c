"""Static torques and loads: against Pinocchio's Jacobian transpose, virtual work and printed numbers."""

import numpy as np
import pinocchio as pin
import pytest

import modurob as mr
from modurob.errors import InputError
from tests.robots import random_mechanism

CLOSE = 1e-10
HORIZONTAL = np.array([0, np.pi / 2, 0, 0, 0, 0])
KILOGRAM = np.array([0, 0, -9.81, 0, 0, 0])


def test_x19_the_planar_arm_pushes():
    """von Stryk 4.6: the robot pushes with (10, -5) N, so the world pushes back."""
    arm = mr.Mechanism.from_dh([(1.0, 0, 0), (0.8, 0, 0)])
    tau = arm.static_torques([0.3, -0.7], {"tip": [-10, 5, 0, 0, 0, 0]})
    assert tau == pytest.approx([-8.3007817498, -0.5688972375], abs=0.51e-10)


def test_loads_do_virtual_work(rng: np.random.Generator):
    """tau . dq = dV - sum F . dx along any small motion, of trees with every kind of joint."""
    robot = random_mechanism(rng, 7)
    q, dq, h = robot.random_configuration(rng), rng.normal(size=robot.nv), 1e-6
    loads = {"b4": rng.normal(size=6), "b6": rng.normal(size=6)}
    tau = robot.static_torques(q, loads)
    ends = [robot.integrate(q, s * h * dq) for s in (1, -1)]
    potential = (robot.potential_energy(ends[0]) - robot.potential_energy(ends[1])) / (2 * h)
    work = sum(F @ robot.jacobian(q, name) @ dq for name, F in loads.items())
    assert tau @ dq == pytest.approx(potential - work, rel=1e-6)


def test_it_is_inverse_dynamics_at_rest(rng: np.random.Generator):
    robot = random_mechanism(rng, 6)
    q = np.stack([robot.random_configuration(rng) for _ in range(3)])
    F = rng.normal(size=(3, 6))
    X = robot.frame_pose(q, "b5")
    own = np.concatenate(
        [(np.swapaxes(X[:, :3, :3], -1, -2) @ f[..., None])[..., 0] for f in (F[:, :3], F[:, 3:])], axis=-1
    )
    still = np.zeros((3, robot.nv))
    expected = robot.inverse_dynamics(q, still, still, {"b5": own})
    assert robot.static_torques(q, {"b5": F}) == pytest.approx(expected, abs=CLOSE)


def test_against_pinocchio(rng: np.random.Generator, tmp_path):
    arm = mr.load("lwa4p").robot()
    with pytest.warns(mr.ModurobWarning, match="rotor inertia"):  # statics need none
        mr.save(arm, tmp_path / "arm.urdf")
    model = pin.buildModelFromUrdf(str(tmp_path / "arm.urdf"))
    data, q, F = model.createData(), rng.uniform(-2, 2, size=6), rng.normal(size=6)
    frame = model.njoints - 1
    J = pin.computeJointJacobian(model, data, q, frame)
    pin.forwardKinematics(model, data, q)
    R, o = data.oMi[frame].rotation, data.oMi[frame].translation
    p = arm.frame_pose(q, "wrist/out")[:3, 3]
    body = np.concatenate([R.T @ F[:3], R.T @ (F[3:] + np.cross(p - o, F[:3]))])
    expected = pin.computeGeneralizedGravity(model, data, q) - J.T @ body
    assert arm.static_torques(q, {"wrist/out": F}) == pytest.approx(expected, abs=1e-9)


def test_holding_torques_and_payload_of_the_lwa4p():
    """Joint 2 needs 77.5 N m with 6 kg on the flange; the static payload is 5.72 kg at 75.5 N m and 4.12 kg at 64 N m."""
    arm = mr.load("lwa4p").robot()
    assert arm.static_torques(HORIZONTAL) == pytest.approx([0, -34.534, -8.405, 0.680, -0.292, 0], abs=1e-3)
    assert abs(arm.static_torques(HORIZONTAL, {"wrist/out": 6 * KILOGRAM})[1]) == pytest.approx(77.5, abs=0.05)
    assert arm.largest_load(HORIZONTAL, "wrist/out", KILOGRAM) == pytest.approx(5.72, abs=0.005)
    weaker = mr.load("lwa4p").with_parameters({"shoulder": {"effort": 64}}).robot()
    assert weaker.largest_load(HORIZONTAL, "wrist/out", KILOGRAM) == pytest.approx(4.12, abs=0.005)


def test_the_largest_load_is_just_held(rng: np.random.Generator):
    arm = mr.load("lwa4p").robot()
    q, F = rng.uniform(-2, 2, size=(20, 6)), rng.normal(size=6)
    s = arm.largest_load(q, "wrist/out", F)
    for k in range(20):
        part = np.abs(arm.static_torques(q[k], {"wrist/out": s[k] * F})) / arm.effort_limit
        assert part.max() == pytest.approx(1, abs=1e-9)


def test_loads_without_bounds_and_robots_that_cannot_hold_themselves():
    arm = mr.load("lwa4p").robot()
    # a pull along axis 1, in the upright pose, is taken by the structure
    assert arm.largest_load(np.zeros(6), "wrist/out", [0, 0, 1, 0, 0, 0]) == np.inf
    weak = mr.load("lwa4p").with_parameters({"shoulder": {"effort": 10}}).robot()
    assert weak.largest_load(HORIZONTAL, "wrist/out", KILOGRAM) == 0


def test_what_is_refused():
    arm = mr.load("lwa4p").robot()
    with pytest.raises(InputError, match=r"load on 'wrist' is .*expected"):
        arm.static_torques(np.zeros(6), {"wrist": [1, 2, 3]})
    with pytest.raises(InputError, match="no frame 'wrst'"):
        arm.static_torques(np.zeros(6), {"wrst": np.zeros(6)})
