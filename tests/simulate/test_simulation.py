"""Runs: ticks, holds, ends, friction, limits, payloads, and what is refused."""

import mujoco
import numpy as np
import pytest

import modurob as mr
from modurob.errors import SimulationError
from modurob.interop.mujoco import MujocoTwin
from modurob.spatial import inertia
from tests.robots import random_mechanism

START = np.array([0.4, -0.7, 0.9])


def crab(**options):
    return mr.load("crab").mechanism(base="m0", **options)


def wheel(**properties):
    """A hinge with moment of inertia 2 kg m² about z, in no gravity."""
    builder = mr.Builder("wheel", gravity=(0, 0, 0))
    solid = inertia.spatial_inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 2.0]))
    builder.body("disc", solid, joint=mr.Revolute((0, 0, 1)), properties=mr.JointProperties(**properties))
    return builder.build()


class Law:
    """A controller from a function."""

    def __init__(self, function, sample_time=None):
        self.function, self.sample_time = function, sample_time

    def on(self, robot):
        return self

    def torque(self, t, q, v):
        return self.function(t, q, v)


# ---- against another engine ----


@pytest.mark.parametrize("seed", [None, 1])
def test_five_seconds_are_mujocos_five_seconds(seed):
    """Damped, so that no chaos magnifies rounding; MuJoCo's own fourth order steps."""
    if seed is None:
        robot = mr.load("crab").with_parameters(damping=0.05).mechanism(base="m0")
    else:
        robot = random_mechanism(np.random.default_rng(seed), 3, kinds=("revolute",))
        object.__setattr__(robot, "damping", np.full(robot.nv, 2.0))
    q0 = 0.3 * np.ones(robot.nq)
    twin = MujocoTwin(robot)
    model = twin.model
    model.opt.timestep, model.opt.integrator = 5e-4, mujoco.mjtIntegrator.mjINT_RK4
    model.dof_damping[:] = robot.damping
    data = mujoco.MjData(model)
    data.qpos[:] = q0
    for _ in range(10_000):
        mujoco.mj_step(model, data)
    run = mr.simulate(robot, q0, duration=5.0, stepper=mr.RungeKutta4(5e-4), tick=0.05)
    assert run.status.ok
    np.testing.assert_allclose(run.q[-1], data.qpos, atol=1e-6)


# ---- ticks and holds ----


def test_torques_are_held_from_tick_to_tick():
    """A wheel under a torque that changes at every sample: between them, the motion is uniformly accelerated."""
    times = []

    def torque(t, q, v):
        times.append(t)
        return np.array([2.0 * len(times)])

    run = mr.simulate(wheel(), duration=0.5, controller=Law(torque, 0.1), stepper=mr.RungeKutta4(1e-3))
    np.testing.assert_allclose(times, [0.0, 0.1, 0.2, 0.3, 0.4], atol=1e-15)
    # tau / I = 1, 2, 3, 4, 5 rad/s² for a tenth of a second each
    np.testing.assert_allclose(run.v[:, 0], [0, 0.1, 0.3, 0.6, 1.0, 1.5], atol=1e-12)
    np.testing.assert_allclose(run.tau[:, 0], [2, 4, 6, 8, 10, 10])
    np.testing.assert_allclose(run.vdot[:, 0], [1, 2, 3, 4, 5, 5], atol=1e-12)


def test_computed_torque_from_an_estimate_tracks():
    """003 Figures 14 and 15: angles alone are measured, noisily."""
    robot = crab()
    way = mr.Trajectory.quintic(np.zeros(3), np.array([0.3, -0.4, 0.5]), 1.0)
    law = mr.ComputedTorque(kp=100, kd=20, reference=way, sample_time=2e-3)
    eyes = mr.ExtendedKalmanFilter(mr.HallSensors(noise=1e-3, dropped=0.2))
    run = mr.simulate(robot, duration=1.5, controller=law, estimator=eyes, stepper=mr.RungeKutta4(1e-3))
    assert run.status.ok
    np.testing.assert_allclose(run.q[-1], [0.3, -0.4, 0.5], atol=5e-3)
    assert 0 < np.abs(run.q_estimate - run.q)[100:].max() < 5e-3


def test_a_law_without_a_sample_time_is_asked_at_every_step():
    run = mr.simulate(wheel(), duration=0.01, controller=Law(lambda t, q, v: -v), stepper=mr.SemiImplicitEuler(1e-3))
    assert len(run.t) == 11


# ---- forces ----


def test_viscous_friction_slows_exponentially():
    for robot, options in ((wheel(damping=0.5), {}), (wheel(), {"friction": mr.Friction(viscous=0.5)})):
        run = mr.simulate(robot, None, [3.0], 2.0, **options)
        np.testing.assert_allclose(run.v[:, 0], 3 * np.exp(-0.25 * run.t), rtol=1e-9)


def test_coulomb_friction_stops_a_wheel_where_energy_says():
    run = mr.simulate(wheel(), None, [3.0], 8.0, friction=mr.Friction(coulomb=1.0), tick=0.01)
    # kinetic energy 9 J, 1 N m: stops after 9 rad and 6 s
    assert run.q[-1, 0] == pytest.approx(9.0, abs=0.01)
    assert abs(run.v[-1, 0]) < 1e-3
    assert run.v[run.t < 5.9][:, 0].min() > 0


def test_springs_turn_a_wheel_back_at_its_limit():
    robot = wheel(lower=-1.0, upper=1.0)
    run = mr.simulate(robot, None, [1.0], 2.0, springs=mr.LimitSprings(stiffness=200.0))
    # an oscillator while it is beyond: depth v0 sqrt(I / k)
    assert run.q.max() == pytest.approx(1 + np.sqrt(2 / 200), abs=1e-5)
    assert run.v[-1, 0] == pytest.approx(-1.0, abs=1e-4)
    assert [e.kind for e in run.events] == ["limit"]


def test_a_wrench_from_outside_pushes():
    run = mr.simulate(wheel(), duration=1.0, external=lambda t: {"disc": np.array([0, 0, 0, 0, 0, 4 * t])})
    np.testing.assert_allclose(run.v[:, 0], run.t**2, atol=1e-9)


def test_a_payload_is_the_mass_it_is():
    robot = crab()
    load = inertia.point(0.7, (0.02, 0.0, 0.01))
    heavy = robot.with_payload("m3", load)
    assert heavy.total_mass() == pytest.approx(robot.total_mass() + 0.7)
    q = START
    X = robot.frame_pose(q, "m3")
    point = X[:3, :3] @ [0.02, 0.0, 0.01] + X[:3, 3]
    lever = robot.point_jacobian(q, "m3", [0.02, 0.0, 0.01])
    # a point mass adds m J^T J and m g z
    np.testing.assert_allclose(heavy.mass_matrix(q) - robot.mass_matrix(q), 0.7 * lever[:3].T @ lever[:3], atol=1e-12)
    lifted = heavy.potential_energy(q) - robot.potential_energy(q)
    assert lifted == pytest.approx(0.7 * 9.81 * point[2], abs=1e-12)
    with pytest.raises(mr.ModurobError, match="payload at m3"):
        robot.with_payload("m3", -load)


# ---- how runs end ----


def ended(kind, message="", **options):
    run = mr.simulate(options.pop("robot", crab()), options.pop("start", START), duration=0.1, **options)
    assert run.status.kind == kind
    assert message in run.status.message
    assert not run.status.ok
    assert len(run.t) == len(run.q) == len(run.tau) >= 1
    return run


def after(t0, function):
    return Law(lambda t, q, v: np.zeros(3) if t < t0 else function())


def test_a_law_that_raises_ends_the_run_and_keeps_it():
    def fail():
        raise ZeroDivisionError("no way")

    run = ended("controller failed", "ZeroDivisionError: no way", controller=after(0.0495, fail))
    assert run.t[-1] == pytest.approx(0.05)


def test_a_torque_that_is_no_number_ends_the_run():
    run = ended("not finite", "nan", controller=after(0.0495, lambda: np.full(3, np.nan)))
    assert run.t[-1] == pytest.approx(0.05)
    assert np.isfinite(run.q).all()


def test_a_torque_of_the_wrong_shape_ends_the_run():
    ended("controller failed", "expected shape (3,)", controller=after(0.0, lambda: np.zeros(2)))


def test_divergence_ends_the_run():
    ended("diverged", "a rate reached", controller=Law(lambda t, q, v: 1e9 * np.ones(3)))


def test_a_joint_at_its_limit_ends_the_run_if_asked():
    robot = wheel(lower=-1.0, upper=0.0205)
    run = mr.simulate(robot, None, [1.0], 0.1, stop_at_limits=True)
    assert run.status.kind == "limit hit"
    assert run.t[-1] == pytest.approx(0.021, abs=1e-9)
    assert mr.simulate(robot, None, [1.0], 0.1).status.ok


def test_a_freedom_without_inertia_ends_the_run():
    builder = mr.Builder("empty")
    builder.body("b", np.zeros((6, 6)), joint=mr.Revolute())
    ended("singular", "moves no inertia", robot=builder.build(), start=[0.0])


def test_cancelling_ends_the_run():
    calls = iter(range(100))
    run = ended("cancelled", cancelled=lambda: next(calls) > 20)
    assert len(run.t) == 22


def test_progress_is_told():
    shares = []
    mr.simulate(wheel(), duration=0.01, progress=shares.append)
    assert shares == pytest.approx(np.arange(1, 11) / 10)


def test_an_ended_run_can_be_saved(tmp_path):
    run = ended("diverged", controller=Law(lambda t, q, v: 1e9 * np.ones(3)))
    run.save(tmp_path / "a.mrun")
    assert mr.Recording.load(tmp_path / "a.mrun").status == run.status


# ---- what is refused ----


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duration": 0.0}, "duration 0.0 s: expected a positive"),
        ({"duration": -1.0}, "duration -1.0 s"),
        ({"duration": np.nan}, "duration nan s"),
        ({"duration": 0.0105}, "duration 0.0105 s is not a multiple of 0.001 s: the nearest is"),
        (
            {"controller": mr.ComputedTorque(1, 1, sample_time=2.5e-3)},
            "sample time 0.0025 s is not a multiple of 0.001 s",
        ),
        ({"controller": mr.ComputedTorque(1, 1, sample_time=2e-3), "tick": 1e-3}, "expected one of them"),
        ({"tick": -1.0}, "expected a positive"),
        ({"q0": [0.0, 0.0]}, r"q0 has shape \(2,\)"),
        ({"v0": [0.0, 0.0, np.inf]}, r"v0\[2\] is inf"),
        ({"external": 3}, "expected a function of time"),
        ({"q0": np.zeros((2, 3)), "stepper": mr.Adaptive()}, "one run at a time"),
    ],
)
def test_what_cannot_be_run_is_refused(options, message):
    with pytest.raises(mr.ModurobError, match=message):
        mr.simulate(crab(), **{"duration": 0.1, **options})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mr.RungeKutta4(0.0), "a step of 0.0 s"),
        (lambda: mr.Adaptive("Euler"), "valid: DOP853, Radau, LSODA"),
        (lambda: mr.Adaptive(rtol=-1.0), "rtol -1.0: expected a positive number"),
        (lambda: mr.LimitSprings(stiffness=-1.0), "expected finite numbers, zero or more"),
        (lambda: mr.Friction(viscous=-1.0), "expected finite numbers, zero or more"),
    ],
)
def test_what_cannot_be_made_is_refused(make, message):
    with pytest.raises(mr.ModurobError, match=message):
        make()


def test_errors_are_simulation_errors():
    with pytest.raises(SimulationError):
        mr.simulate(crab(), duration=0)
