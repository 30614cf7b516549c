"""Drives against closed forms, SciPy's matrix exponential and MuJoCo's motor."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import expm

import modurob as mr
from modurob.catalogue.drives import INPUTS
from modurob.catalogue.drives.library import drive_of
from modurob.errors import CatalogueError, InputError, MechanismError, ModurobError, SimulationError
from modurob.simulation.stepping import Mover
from modurob.simulation.system import State
from modurob.spatial import inertia, se3
from tests.robots import random_mechanism

MOTOR = mr.Motor(torque_constant=0.05, resistance=2.0, inductance=1e-3, inertia=2e-5, supply=24.0)


def wheel(drive, moment=0.24, **properties):
    """A wheel that a drive turns."""
    b = mr.Builder("wheel", gravity=(0, 0, 0))
    own = mr.JointProperties(drive=drive, **properties)
    b.body("rim", inertia.spatial_inertia(1.0, np.zeros(3), moment * np.eye(3)), joint=mr.Revolute(), properties=own)
    return b.build()


def commanded(*u):
    return lambda t, q, v: np.array(u)


# ---- electrics ----


@pytest.mark.parametrize(
    ("u", "i", "speed", "current", "angle"), [(19, 3.9, 4.080, 0.670, 40.59), (64, 18.5, 6.384, 1.476, 63.69)]
)
def test_both_powerballs_at_24_volts_for_ten_seconds(u, i, speed, current, angle):
    motor = mr.Motor(torque_constant=u / i, resistance=24 / i, inductance=1.8e-4, supply=24.0)
    robot = wheel(mr.Drive(motor, losses=mr.Losses(viscous=0.8), input="voltage"))
    run = mr.simulate(
        robot, duration=10.0, controller=commanded(30.0), stepper=mr.ExponentialRungeKutta4(1e-3), tick=1e-2
    )
    assert run.tau.max() == 24.0  # no more than the supply
    found = run.v[-1, 0], run.drive("rim").current[-1], run.q[-1, 0]
    assert np.allclose(found, (speed, current, angle), rtol=5e-4)


@pytest.mark.parametrize("dt", [1e-3, 1e-4])
def test_currents_much_faster_than_a_step_follow_the_matrix_exponential(dt):
    """L/R is 0.03 ms; the rule errs where the back-EMF changes within a step, and not with the stiffness."""
    motor = mr.Motor(torque_constant=4.87, resistance=6.15, inductance=1.8e-4)
    robot = wheel(mr.Drive(motor, losses=mr.Losses(viscous=0.8), input="voltage"))
    run = mr.simulate(robot, duration=0.2, controller=commanded(10.0), stepper=mr.ExponentialRungeKutta4(dt), tick=0.01)
    A = np.array([[-6.15 / 1.8e-4, -4.87 / 1.8e-4], [4.87 / 0.24, -0.8 / 0.24]])
    steady = np.linalg.solve(A, [-10.0 / 1.8e-4, 0.0])
    exact = np.array([steady - expm(A * t) @ steady for t in run.t])
    found = np.stack([run.x[:, 1], run.v[:, 0]], axis=-1)
    # the jump of the voltage at the start is felt as torque with the weights of the rule: kt di dt/I times a tenth
    assert np.abs(found - exact).max() < (5e-3 if dt == 1e-3 else 1e-4)
    assert np.abs(found[-1] - exact[-1]).max() < (5e-4 if dt == 1e-3 else 1e-5)


def test_exponential_steps_converge_in_fourth_order_and_are_runge_kutta_without_decay():
    robot = wheel(mr.Drive(replace(MOTOR, inductance=0.2), mr.Gear(ratio=10.0), input="voltage"))
    ends = [
        mr.simulate(robot, duration=0.4, controller=commanded(9.0), stepper=mr.ExponentialRungeKutta4(h), tick=0.4)
        for h in (0.04, 0.02, 0.01, 1e-3)
    ]
    errors = [np.abs(run.x[-1] - ends[-1].x[-1]).max() for run in ends[:-1]]
    assert np.log2(errors[0] / errors[1]) > 3.5
    assert np.log2(errors[1] / errors[2]) > 3.5
    crab = mr.load("crab").mechanism()
    q = [0.3, -0.2, 0.5]
    plain, same = (
        mr.simulate(crab, q, duration=0.05, stepper=s(1e-3)) for s in (mr.RungeKutta4, mr.ExponentialRungeKutta4)
    )
    assert np.abs(plain.q - same.q).max() < 1e-13


def arm_and_twin(mujoco, motors):
    """An arm of three links with motors, and MuJoCo's."""
    axes, places = ((0, 1, 0), (1, 0, 0), (0, 1, 0)), ((0, 0, 0), (0.1, 0.05, -0.4), (0, -0.05, -0.35))
    b, spec = mr.Builder("arm"), mujoco.MjSpec()
    parent, moments, body = "world", (0.03, 0.02, 0.01), spec.worldbody
    for k, (motor, ratio) in enumerate(motors):
        drive = mr.Drive(motor, mr.Gear(ratio=ratio), input="voltage")
        own, centre = inertia.spatial_inertia(2.0 - k / 2, (0.02, 0.01, -0.2), np.diag(moments)), (0.02, 0.01, -0.2)
        at = se3.pose(p=np.array(places[k], float))
        properties = mr.JointProperties(drive=drive)
        b.body(f"b{k}", own, parent=parent, joint=mr.Revolute(axes[k]), at=at, properties=properties)
        parent = f"b{k}"
        body = body.add_body(pos=places[k], mass=2.0 - k / 2, ipos=centre, inertia=moments, explicitinertial=True)
        body.add_joint(name=f"j{k}", axis=axes[k], armature=drive.armature)
        actuator = spec.add_actuator(target=f"j{k}", trntype=mujoco.mjtTrn.mjTRN_JOINT, gear=[ratio, 0, 0, 0, 0, 0])
        actuator.set_to_dcmotor([motor.torque_constant, 0.0], motor.resistance, inductance=[motor.inductance, 0.0])
    return b.build(), spec.compile()


def mujocos_angles(mujoco, model, dt, integrator, command, times):
    """q at these times, commands held from one to the next."""
    model.opt.timestep, model.opt.integrator = dt, getattr(mujoco.mjtIntegrator, integrator)
    data = mujoco.MjData(model)
    found = [np.array(data.qpos)]
    for t, until in pairwise(times):
        data.ctrl[:] = command(t, None, None)
        mujoco.mj_step(model, data, nstep=round((until - t) / dt))
        found.append(np.array(data.qpos))
    return np.array(found)


VOLTS = np.array([12.0, -9.0, 6.0])


def waving(t, q, v):
    return VOLTS * np.sin(2.0 * np.arange(1, 4) * t)


@pytest.mark.parametrize("inductive", [False, True])
def test_mujocos_motors_move_an_arm_the_same(inductive):
    """Five seconds without inductance, by MuJoCo's Runge-Kutta; its currents are of first order in the step: three steps of one
    second, extrapolated twice."""
    mujoco = pytest.importorskip("mujoco")
    constants = ((0.05, 1e-3, 60.0), (0.04, 2e-3, 50.0), (0.03, 1.5e-3, 40.0))
    motors = [(replace(MOTOR, torque_constant=kt, inductance=L * inductive), ratio) for kt, L, ratio in constants]
    robot, model = arm_and_twin(mujoco, motors)
    duration = 1.0 if inductive else 5.0
    run = mr.simulate(robot, duration=duration, controller=waving, stepper=mr.RungeKutta4(2.5e-4), tick=1e-2)
    if inductive:
        a, b, c = (mujocos_angles(mujoco, model, h, "mjINT_EULER", waving, run.t) for h in (1e-4, 5e-5, 2.5e-5))
        theirs = ((2 * c - b) * 4 - (2 * b - a)) / 3
    else:
        theirs = mujocos_angles(mujoco, model, 5e-4, "mjINT_RK4", waving, run.t)
    assert np.abs(run.q).max() > 0.05
    assert np.abs(run.q - theirs).max() < 1e-6


@pytest.mark.parametrize("elastic", [False, True])
def test_energy_from_the_supply_is_heat_and_motion(elastic):
    """Random arms in gravity: what motors take is the heat of their windings and what the robot holds."""
    rng = np.random.default_rng(5)
    motor = replace(MOTOR, heat_capacity=1.0)  # its temperature is the heat so far
    gear = mr.Gear(ratio=40.0, stiffness=300.0) if elastic else mr.Gear(ratio=40.0)
    for bodies in (2, 4):
        robot = random_mechanism(rng, bodies, ("revolute",)).without_forces()
        for joint in robot.joints:
            robot = robot.with_drive(joint.name, mr.Drive(motor, gear, input="voltage"))
        q0 = rng.normal(size=robot.nq)
        volts = rng.normal(size=(robot.nv,)) * 8
        run = mr.simulate(robot, q0, duration=1.0, controller=commanded(*volts), stepper=mr.RungeKutta4(1e-4), tick=0.1)
        drives = [run.drive(j.name) for j in robot.joints]
        taken = sum(d.energy - d.temperature for d in drives)
        held = run.energy  # with what currents, springs and rotors hold
        assert np.abs(run.v).max() > 0.1
        assert np.abs(taken - (held - held[0])).max() < 1e-6 * np.abs(taken).max() + 1e-9


def test_heat_takes_the_current_away():
    motor = replace(MOTOR, inductance=0.0, current_limit=5.0, heat_capacity=2.0, heat_resistance=2.0, heat_limit=40.0)
    run = mr.simulate(wheel(mr.Drive(motor, input="current"), 1e3), duration=20.0, controller=commanded(5.0), tick=0.1)
    own = run.drive("rim")
    # where R i² = T/Rth with i = 5 (40 - T)/4
    T = own.temperature[-1]
    assert own.current[0] == 5.0
    assert np.isclose(2.0 * (5 * (40 - T) / 4) ** 2, T / 2, rtol=1e-3)
    assert own.temperature.max() < 40.0


def test_a_current_is_no_larger_than_the_supply_can_drive():
    robot = wheel(
        mr.Drive(replace(MOTOR, inductance=0.0, current_limit=9.0), mr.Gear(ratio=20.0), input="torque"), 0.02
    )
    run = mr.simulate(robot, duration=3.0, controller=commanded(100.0), tick=0.01)
    assert np.isclose(run.drive("rim").current[1], 9.0)
    assert np.isclose(run.v[-1, 0], 24.0 / (20 * 0.05), rtol=1e-6)  # no-load speed
    assert np.abs(run.drive("rim").voltage).max() < 24 + 1e-9


# ---- gears ----


def test_an_elastic_drive_swings_with_the_frequency_of_two_inertias():
    gear = mr.Gear(ratio=100.0, stiffness=500.0)
    robot = wheel(mr.Drive(replace(MOTOR, inductance=0.0), gear, input="current"), 0.3)
    J, w = 100.0**2 * 2e-5, np.sqrt(500.0 * (1 / 0.3 + 1 / (100.0**2 * 2e-5)))
    x0 = robot.drive("rim").start_at(np.zeros(()))
    x0[robot.drive("rim").states.index("angle")] = 0.02
    simulation = mr.Simulation(robot, x0=x0, stepper=mr.RungeKutta4(1e-4), tick=1e-3)
    run = simulation.advance(1.0).recording
    own = run.drive("rim")
    assert np.abs(own.motor_angle - run.q[:, 0] - 0.02 * np.cos(w * run.t)).max() < 1e-8
    assert np.abs(0.3 * run.v[:, 0] + J * own.motor_speed).max() < 1e-12  # momentum


def test_within_its_play_a_gear_carries_nothing():
    gear = mr.Gear(ratio=10.0, stiffness=2e3, damping=5.0, backlash=0.1)
    robot = wheel(mr.Drive(replace(MOTOR, inductance=0.0), gear, input="torque"), 0.3)
    run = mr.simulate(robot, duration=0.2, controller=commanded(0.05), tick=1e-3)
    play = run.drive("rim").motor_angle - run.q[:, 0]
    inside = play < 0.05
    touch = run.t[np.argmax(~inside)]
    assert np.all(run.q[inside & (run.t < touch)] == 0)
    assert np.isclose(touch, np.sqrt(2 * 0.05 * 2e-3 / 0.05), atol=2e-3)  # J = 10² 2e-5
    assert run.q[-1, 0] > 0


def test_losses_of_a_gear_are_a_share_of_its_torque():
    motor = replace(MOTOR, inductance=0.0)
    run = {}
    for way in (1.0, -1.0):
        robot = wheel(mr.Drive(motor, mr.Gear(ratio=10.0, efficiency=0.8), input="torque"), 0.3)
        simulation = mr.Simulation(robot, v0=[3.0], controller=commanded(2.0 * way), tick=1e-3)
        run[way] = simulation.advance(0.01).recording.drive("rim").torque[1:]
    assert np.allclose(run[1.0], 1.6)
    assert np.allclose(run[-1.0], -2.4)


# ---- friction ----


def drawn(dt, duration, k=200.0, I=0.3, hold=3.0, slide=2.0, w0=0.4):
    """A wheel with static friction, drawn through a spring by a motor that nothing slows down; and its closed form."""
    motor = mr.Motor(torque_constant=1.0, inertia=1e9)
    robot = wheel(mr.Drive(motor, mr.Gear(stiffness=k), input="torque"), I, friction=slide, static=hold)
    x0 = robot.drive("rim").start_at(np.zeros(()))
    x0[robot.drive("rim").states.index("speed")] = w0
    run = mr.Simulation(robot, x0=x0, stepper=mr.RungeKutta4(dt), tick=1e-3).advance(duration).recording
    w, jump, first = np.sqrt(k / I), (hold - slide) / k, hold / (k * w0)
    slips = 2 / w * (np.pi - np.arctan(jump * w / w0))
    s = run.t - first
    angle = w0 * run.t - (slide / k + jump * np.cos(w * s) + w0 / w * np.sin(w * s))
    return run, first, slips, 2 * jump / w0, np.where((s > 0) & (s < slips), angle, np.nan)


def test_stick_slip_has_the_period_of_its_closed_form():
    run, first, slips, sticks, _ = drawn(1e-3, 1.2)
    moving = run.v[:, 0] > 0
    starts = run.t[1:][moving[1:] & ~moving[:-1]]
    assert len(starts) > 2
    assert np.allclose(starts, first + np.arange(len(starts)) * (slips + sticks), atol=1.1e-3 * len(starts))


def test_slipping_follows_its_closed_form_to_the_step_in_which_it_gives_way():
    for dt in (1e-3, 1e-4):
        run, *_, exact = drawn(dt, 0.15)
        assert np.isfinite(exact).sum() > 50
        assert np.nanmax(np.abs(run.q[:, 0] - exact)) < 0.2 * dt


@pytest.mark.parametrize(("breakaway", "creeps"), [(0.7, False), (0.0, True)])
def test_bristles_hold_without_creep_where_they_should(breakaway, creeps):
    """A torque that wavers below the friction, for 8 s: LuGre's plain bristles let the motor drift, the others do not."""
    losses = mr.Losses(coulomb=2.0, static=2.5, stribeck=0.05, bristle_damping=5.0, breakaway=breakaway)
    drive = mr.Drive(mr.Motor(torque_constant=1.0, inertia=0.1), mr.Gear(stiffness=2e3, damping=10.0), losses)
    robot = wheel(drive, 0.3)
    run = mr.simulate(robot, duration=8.0, controller=lambda t, q, v: np.array([0.9 + 0.5 * np.sin(20 * t)]), tick=1e-3)
    angle = run.drive("rim").motor_angle
    turn = len(angle) - 1 - 2 * 314  # whole periods
    assert (abs(angle[-1] - angle[turn - 14 * 314]) > 3e-5) == creeps
    slid = mr.simulate(robot, duration=1.0, controller=commanded(3.5), tick=1e-3)
    assert slid.v[-1, 0] > 1.0


# ---- servos ----


def linear_cascade(kp, kv, ki, I, viscous):
    """d/dt (q, v, z) = A (q, v, z) + B r of a servo on a wheel."""
    A = np.array([[0, 1, 0], [-kv * kp / I, -(kv + viscous) / I, 1 / I], [-ki * kp, -ki, 0]])
    return A, np.array([0, kv * kp / I, ki * kp])


def test_a_continuous_servo_is_its_linear_system():
    loops = mr.Loops(position_gain=2.469, speed_gain=1.92, speed_integral=6.4)
    drive = mr.Drive(mr.Motor(torque_constant=1.0), losses=mr.Losses(viscous=0.8), loops=loops, input="position")
    run = mr.simulate(wheel(drive), duration=2.0, controller=commanded(0.5), stepper=mr.RungeKutta4(1e-3), tick=0.01)
    A, B = linear_cascade(2.469, 1.92, 6.4, 0.24, 0.8)
    exact = [np.linalg.solve(A, (expm(A * t) - np.eye(3)) @ B * 0.5)[0] for t in run.t]
    assert np.abs(run.q[:, 0] - exact).max() < 1e-9
    assert np.isclose((run.q.max() - 0.5) / 0.5, 0.00152, rtol=0.02)


def test_a_sampled_servo_is_its_recursion():
    """Loops at 5 ms inside a drive, a current loop at 0.5 ms: states against a loop of matrix exponentials written here."""
    T, t_c = 5e-3, 5e-4
    loops = mr.Loops(
        current_gain=1.2, current_integral=800.0, loop_time=t_c, position_gain=8.0, speed_gain=1.5, speed_integral=5.0,
        sample_time=T,
    )  # fmt: skip
    motor = mr.Motor(torque_constant=2.0, resistance=2.0, inductance=2e-3, supply=100.0)
    robot = wheel(mr.Drive(motor, losses=mr.Losses(viscous=0.3), loops=loops, input="position"), 0.2)
    run = mr.simulate(robot, duration=0.5, controller=commanded(0.3), stepper=mr.ExponentialRungeKutta4(1e-4), tick=T)
    # i, v, q with V held
    A = np.zeros((4, 4))
    A[0] = [-2.0 / 2e-3, -2.0 / 2e-3, 0, 1 / 2e-3]
    A[1, :2] = [2.0 / 0.2, -0.3 / 0.2]
    A[2, 1] = 1
    E, s, total, z, seen = expm(A * t_c), np.zeros(4), 0.0, 0.0, []
    for k in range(1000):
        if k % 10 == 0:
            seen.append(s[2])
            e = 8.0 * (0.3 - s[2]) - s[1]
            z += 5.0 * T * e
            asked = (1.5 * e + z) / 2.0
        total += 800.0 * t_c * (asked - s[0])
        s[3] = 1.2 * (asked - s[0]) + total
        s = E @ s
    assert np.abs(run.q[:-1, 0] - seen).max() < 1e-7


def test_a_servo_counts_with_its_encoder():
    own = mr.load_drive("dynamixel-mx64")
    run = mr.simulate(wheel(own, 0.02), duration=1.5, controller=commanded(0.4), tick=1e-3)
    assert abs(run.q[-1, 0] - 0.4) < 2 * own.quantum
    assert np.abs(run.drive("rim").current).max() <= 4.1


def test_encoders_of_the_report_have_the_quanta_of_its_table():
    joint, motor = mr.Encoder(500, side="joint"), mr.Encoder(500)
    quanta = [joint.quantum(), motor.quantum(160), mr.Encoder(500, ratio=3).quantum(160)]
    quanta.append(mr.Encoder(500, ratio=3, quadrature=True).quantum(160))
    assert np.allclose(np.rad2deg(quanta), [0.72, 0.0045, 0.0015, 0.000375], rtol=1e-12)
    assert np.allclose(np.array(quanta) / 1e-3, [12.57, 0.0785, 0.0262, 0.00654], rtol=2e-3)
    assert np.allclose(1.92 * np.array(quanta) / 1e-3, [24.1, 0.151, 0.0503, 0.0126], rtol=5e-3)


# ---- any robot ----


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("elastic", [False, True])
def test_kernels_step_drives_as_numpy_does(kind, elastic):
    rng = np.random.default_rng(3)
    robot = random_mechanism(rng, 4, ("revolute", "prismatic"), floating=True).without_forces()
    motor = replace(MOTOR, heat_capacity=3.0, heat_limit=50.0, current_limit=6.0)
    loops = mr.Loops(2.0, 50.0, 2e-4, 0.0, 5.0, 2.0, 1.0, 9.0, 4e-4)
    gear = mr.Gear(20.0, 0.9, 300.0, 2.0, 0.01) if elastic else mr.Gear(20.0, 0.9)
    losses = mr.Losses(0.1, 0.5, 0.6, 0.1) if elastic else mr.Losses(0.1)
    encoder = mr.Encoder(4096) if kind == "position" else None
    for joint in robot.joints[1:]:
        robot = robot.with_drive(joint.name, mr.Drive(motor, gear, losses, encoder, loops, input=kind))
    q = np.stack([robot.random_configuration(rng) for _ in range(5)])
    x = mr.Simulation(robot, q).x + 0.05 * rng.normal(size=(5, mr.Simulation(robot).x.shape[-1]))
    s, u = State(q, rng.normal(size=(5, robot.nv)), x), rng.normal(size=(5, robot.nv))
    for stepper in (mr.RungeKutta4(1e-4), mr.ExponentialRungeKutta4(1e-4), mr.LinearlyImplicit(1e-4)):
        mover = Mover(robot, stepper)
        fast = mover.advance(0.0, s, u, 1e-3).state
        begun, torques = mover.commanded(s, u)
        slow = mover._plain_steps(np.zeros((5, 1)), begun, torques, np.full((5, 1), 1e-4), 10, None).state
        one = mover.advance(0.0, State(q[2], s.v[2], x[2]), u[2], 1e-3).state
        for a, b, c in zip(fast, slow, one, strict=True):
            assert np.abs(a - b).max() < 1e-9 * max(1.0, np.abs(b).max())
            assert np.abs(a[2] - c).max() < 1e-9 * max(1.0, np.abs(b).max())


def test_drives_survive_files_and_docking(tmp_path):
    kind = mr.catalogue.library.from_text(
        """
format: modurob module 1
name: driven
parts: {A: {mass: 1, inertia: [0.01, 0.01, 0.01]}, B: {mass: 0.5, centre: [0, 0, 0.1], inertia: [0.01, 0.01, 0.01]}}
joints:
  hinge: {kind: revolute, from: A, to: B, axis: [1, 0, 0], drive: {like: powerball-small, gear: {ratio: 50, stiffness: 2000}}}
connectors: {face: {}}
ports:
  "1": {part: A, at: [0, 0, -0.1], normal: [0, 0, -1], connector: face}
  "2": {part: B, at: [0, 0, 0.2], connector: face}
"""
    )
    assert mr.catalogue.library.from_text(mr.catalogue.library.to_text(kind)) == kind
    two = mr.Assembly({"a": kind.module()}).dock("b", kind, at="a/2", by="1")
    robot = two.mechanism(base="a")
    assert [robot.drive(f"{m}/hinge").stiffness for m in "ab"] == [2000, 2000]
    run = mr.simulate(robot, duration=0.01, controller=commanded(1.0, 2.0), stepper=mr.RungeKutta4(1e-5), tick=1e-3)
    run.save(tmp_path / "run.mrun")
    again = mr.load(tmp_path / "run.mrun")
    assert again.robot == robot
    assert np.array_equal(again.drive("b/hinge").energy, run.drive("b/hinge").energy)
    assert np.array_equal(again.repeated().q, run.q)


@pytest.mark.parametrize("name", mr.drive_names())
def test_shipped_drives_turn_a_wheel(name):
    own = mr.load_drive(name)
    top = own.motor.no_load_speed / own.gear.ratio
    run = mr.simulate(
        wheel(own.with_input("voltage"), 1e-4),
        duration=0.5,
        controller=commanded(own.motor.supply),
        stepper=mr.ExponentialRungeKutta4(1e-4),
        tick=0.01,
    )
    assert run.status.ok
    assert 0.2 * top < run.v[-1, 0] <= 1.0001 * top


def test_a_drive_takes_the_place_of_another_and_goes_with_its_rotor():
    robot = mr.load("crab").mechanism()
    twice = robot.with_drive("m0/hinge", "powerball-large").with_drive("m0/hinge", "backbone-hinge")
    assert twice == robot.with_drive("m0/hinge", "backbone-hinge")
    assert np.isclose(twice.armature[0], 200**2 * 1.2e-6)
    assert (
        twice.with_drive("m0/hinge", mr.load_drive("backbone-hinge").with_input("current")).drive("m0/hinge").input
        == "A"
    )


# ---- refusals ----


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mr.Motor(torque_constant=0.0), "torque_constant is 0: expected a number above zero"),
        (lambda: mr.Motor(1.0, inductance=1e-3), "resistance is 0: expected a number above zero"),
        (lambda: mr.Motor("x"), "torque_constant is 'x': expected a number"),
        (lambda: mr.Motor(1.0, inertia=np.inf), "inertia is inf: expected a finite number"),
        (lambda: mr.Gear(efficiency=1.2), "efficiency is 1.2: expected a number up to 1"),
        (lambda: mr.Gear(backlash=0.1), "expected a stiffness"),
        (lambda: mr.Encoder(500, side="rotor"), "side 'rotor'"),
        (lambda: mr.Encoder(500, quadrature=4), "quadrature 4: expected true or false"),
        (lambda: mr.Losses(coulomb=2.0, static=1.0), "expected static >= coulomb"),
        (lambda: mr.Loops(loop_time=-1.0), "loop_time is -1"),
        (lambda: mr.Drive("maxon"), r"motor is 'maxon': expected mr.Motor"),
        (lambda: mr.Drive(MOTOR, encoder=500), r"encoder is 500: expected mr.Encoder"),
        (lambda: mr.Drive(MOTOR, input="power"), "input 'power'.*valid: voltage, current"),
        (lambda: mr.Drive(mr.Motor(1.0), mr.Gear(stiffness=1.0)), "needs a motor with inertia"),
        (lambda: mr.Drive(mr.Motor(1.0), input="voltage"), "resistance above zero"),
        (lambda: mr.Drive(MOTOR, input="position"), "position_gain and speed_gain"),
        (
            lambda: mr.Drive(
                MOTOR, encoder=mr.Encoder(500), loops=mr.Loops(position_gain=1, speed_gain=1), input="position"
            ),
            "needs loops with a sample_time",
        ),
        (lambda: mr.load_drive("maxon"), "no drive 'maxon'"),
        (lambda: drive_of(3), "expected the name of a drive"),
        (lambda: drive_of({"gear": {}}), "expected a motor"),
        (lambda: drive_of({"motor": 3}), "motor: 3: expected a mapping"),
        (lambda: drive_of({"motor": {}}), "torque_constant"),
        (lambda: drive_of({"motor": {"resistence": 1}}), "unknown key 'resistence'.*resistance"),
        (lambda: drive_of({"engine": {}}), "unknown key 'engine'"),
    ],
)
def test_drives_that_make_no_sense_are_refused(make, message):
    with pytest.raises(ModurobError, match=f"(?s){message}"):
        make()


def test_places_without_a_drive_are_refused(tmp_path):
    robot = mr.load("crab").mechanism(floating=True)
    with pytest.raises(InputError, match="no joint 'knee'"):
        robot.with_drive("knee", "maxon-re40")
    with pytest.raises(MechanismError, match="has 6 rates: a drive moves a joint with one"):
        robot.with_drive(robot.joints[0].name, "maxon-re40")
    with pytest.raises(InputError, match="no drive at 'm0/hinge'"):
        robot.drive("m0/hinge")
    with pytest.raises(InputError, match="no drive at 'm0/hinge'"):
        mr.simulate(robot, duration=0.01).drive("m0/hinge")
    b = mr.Builder()
    b.body("ball", joint=mr.Spherical(), properties=mr.JointProperties(drive=mr.load_drive("maxon-re40")))
    with pytest.raises(MechanismError, match="the joint has 3: expected a joint with one"):
        b.build()
    b = mr.Builder()
    b.body("rim", joint=mr.Revolute(), properties=mr.JointProperties(drive="maxon-re40"))  # type: ignore[arg-type]
    with pytest.raises(MechanismError, match=r"drive 'maxon-re40': expected mr.Drive"):
        b.build()
    with pytest.raises(InputError, match="no brake at 'm0/hinge'"):
        robot.with_drive("m0/hinge", "maxon-re40").with_brakes("m0/hinge")
    (tmp_path / "mine.yaml").write_text("name: x")
    with pytest.raises(CatalogueError, match="expected format: modurob drive 1"):
        mr.load_drive(tmp_path / "mine.yaml")


def test_steps_that_do_not_fit_a_drive_are_refused():
    fast = wheel(mr.Drive(replace(MOTOR, inductance=1e-5), input="voltage"))
    with pytest.raises(SimulationError, match="ExponentialRungeKutta4"):
        mr.simulate(fast, duration=0.1, stepper=mr.RungeKutta4(1e-3))
    sampled = wheel(mr.Drive(MOTOR, loops=mr.Loops(1.0, 0.0, 1e-4), input="current"))
    with pytest.raises(SimulationError, match=r"sample every 0\.0001 s"):
        mr.simulate(sampled, duration=0.1, stepper=mr.ExponentialRungeKutta4(1e-3))


def test_the_examples_of_the_page_run():
    names: dict = {}
    for code in re.findall(
        r"```python\n(.*?)```", (Path(__file__).parents[2] / "docs" / "drives.md").read_text(), re.S
    ):
        exec(compile(code, "drives.md", "exec"), names)
    assert names["run"].status.ok
    assert names["late"].samples == 2


def test_steps_suit_stiff_gears_by_themselves():
    """A gear of high stiffness swings faster than a millisecond resolves: without being told, `simulate` takes shorter steps, and
    the swing has the pulsation of the closed form."""
    k, J, I = 2e4, 0.02, 0.05
    b = mr.Builder("soft", gravity=(0, 0, 0))
    motor = mr.Motor(1.0, inertia=J)
    own = mr.JointProperties(drive=mr.Drive(motor, mr.Gear(1.0, stiffness=k)))
    b.body(
        "rim", mr.spatial.inertia.spatial_inertia(1.0, np.zeros(3), I * np.eye(3)), joint=mr.Revolute(), properties=own
    )
    w = np.sqrt(k / J + k / I)
    assert w * 1e-3 > 1
    run = mr.simulate(b.build(), [0.0], [1.0], duration=0.05)
    # the twist q - theta swings as sin(w t)/w; the whole goes on with the mean momentum
    twist = run.q[:, 0] - run.drive("rim").motor_angle
    assert run.status.ok
    assert np.abs(twist - np.sin(w * run.t) / w).max() < 0.02 / w
    assert np.abs((I * run.v[:, 0] + J * run.drive("rim").motor_speed) / I - 1).max() < 1e-6


@pytest.mark.parametrize("inductance", [0.0, 8e-5])
@pytest.mark.parametrize("dt", [None, 1e-4])
def test_volts_never_drive_more_than_the_limit_of_current(inductance: float, dt: float | None):
    """A motor with a heavy load: 40 A would flow at first, 15 A do, and V = R i + ke w is at its terminals."""
    motor = mr.Motor(torque_constant=0.03, resistance=0.3, inductance=inductance, supply=24.0, current_limit=15.0)
    b = mr.Builder("bar")
    b.body("bar", mr.spatial.inertia.point(100.0, (0, 0, -2.0)), joint=mr.Revolute((0, 1, 0)))
    driven = b.build().with_drive("bar", mr.Drive(motor, mr.Gear(ratio=100.0), input="voltage"))
    stepper = None if dt is None else mr.ExponentialRungeKutta4(dt)
    run = mr.simulate(driven, [0.0], duration=0.05, controller=lambda t, q, v: np.array([12.0]), stepper=stepper)
    seen = run.drive("bar")
    assert seen.current.max() <= 15.0 * (1 + 1e-9)
    assert seen.current[-1] == pytest.approx(15.0, rel=1e-3)
    assert seen.voltage[-1] == pytest.approx(0.3 * 15.0 + 0.03 * 100.0 * run.v[-1, 0], rel=1e-6)


def test_a_hasty_loop_drives_no_more_than_the_limit_of_current():
    """Its gain would overshoot by half: the amplifier cuts the volts off."""
    motor = mr.Motor(torque_constant=0.03, resistance=0.3, inductance=8e-5, supply=24.0, current_limit=15.0)
    loops = mr.Loops(current_gain=2.0, current_integral=500.0, loop_time=1e-4)
    b = mr.Builder("bar")
    b.body("bar", mr.spatial.inertia.point(100.0, (0, 0, -2.0)), joint=mr.Revolute((0, 1, 0)))
    driven = b.build().with_drive("bar", mr.Drive(motor, mr.Gear(ratio=100.0), loops=loops, input="current"))
    run = mr.simulate(driven, [0.0], duration=0.02, controller=lambda t, q, v: np.array([15.0]), tick=1e-4)
    assert run.drive("bar").current.max() <= 15.0 * (1 + 1e-9)
    assert run.drive("bar").current[-1] == pytest.approx(15.0, rel=0.02)
