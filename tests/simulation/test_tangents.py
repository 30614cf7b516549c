"""Tangents of steps are what differences of the motion go to, and complex steps through its rule, to rounding."""

import numpy as np
import pytest

import modurob as mr
from modurob.algorithms.complex_steps import TINY
from modurob.algorithms.forces import acting
from modurob.algorithms.interpreter import NumPyEngine
from modurob.kernels import stepped
from modurob.simulation.driving import default_stepper
from modurob.simulation.force_tangents import forces_of
from modurob.simulation.stepping import Mover
from modurob.simulation.system import State, System
from modurob.simulation.tangents import tangents
from tests.estimation.test_drive_filter import arm

# sums in other orders, over the largest tangent
ROUNDING = 1e-11
# what differences of order six leave
DIFFERENCED = 1e-9
STENCIL = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}


def driven(robot, drive="backbone-hinge"):
    for joint in (j for j in robot.joints if j.type.nv == 1):
        robot = robot.with_drive(joint.name, drive)
    return robot


def servo():
    """Position loops inside the drives, which sample."""
    loops = mr.Loops(position_gain=20.0, speed_gain=0.5, speed_integral=2.0, current_gain=1.0, sample_time=1e-3)
    motor = mr.Motor(0.05, resistance=1.0, inductance=1e-4, inertia=2e-5, viscous=1e-5)
    return driven(mr.load("crab").robot().ideal(), mr.Drive(motor, mr.Gear(50.0), input="position", loops=loops))


def sprung():
    """A spring between frames, one along a joint, an end stop that is touched, and viscous friction."""
    robot = mr.load("crab").robot().ideal().with_force("coil", mr.JointSpring(3.0), joint="m0/hinge")
    robot = robot.with_force("tie", mr.Spring(50.0, damping=1.0, length=0.2), a="m4", b="m0")
    robot = robot.with_force("stop", mr.Stop(-2.0, 0.0, 200.0, 1.0), joint="m2/hinge")
    return robot.with_force("oil", mr.Friction(viscous=0.3), joint="m4/hinge")


def rusty():
    """Dry friction that a joint slides against, and that holds another one at rest."""
    rust = mr.Friction(coulomb=0.1, viscous=0.2, static=0.3, stribeck=0.5)
    robot = mr.load("crab").robot().ideal().with_force("rust", rust, joint="m0/hinge")
    return robot.with_force("brake", mr.Friction(coulomb=100.0), joint="m2/hinge")


def floating():
    return driven(mr.load("crab").mechanism(base="m0", floating=True).ideal(), "backbone-hinge")


EXACT = {"elastic": arm, "servo": servo, "sprung": sprung}
OTHERS = {"rusty": rusty, "floating": floating, "driven": lambda: driven(mr.load("crab").robot()), **EXACT}


def start(robot, rng):
    """A state, and unit tangents of all its numbers."""
    q = robot.integrate(robot.neutral(), rng.uniform(-0.4, 0.4, robot.nv))
    v, x = rng.uniform(0.2, 0.5, robot.nv), acting(robot).start_at(q)
    n = 2 * robot.nv + len(x)
    return State(q, v, x + rng.uniform(0, 1e-3, len(x))), State(*np.split(np.eye(n), [robot.nv, 2 * robot.nv], axis=1))


def estimated(robot):
    """Places of what may be wrong: not commands and clocks."""
    return [2 * robot.nv + k for _, k in mr.DriveFilter(robot).states]


def moved(robot, s, dz):
    """States displaced by errors, (..., n)."""
    dq, dv, dx = np.split(dz, [robot.nv, 2 * robot.nv], axis=-1)
    return State(robot.integrate(s.q, dq), s.v + dv, s.x + dx)


def differences(mover, robot, s, u, duration, h=1e-3):
    """Slopes of the motion by differences of order six, (n, n)."""
    n = 2 * robot.nv + len(s.x)
    end = mover.advance(0.0, s, u, duration).state
    total = np.zeros((n, n))
    for k, weight in STENCIL.items():
        for sign in (1, -1):
            far = mover.advance(0.0, moved(robot, s, sign * k * h * np.eye(n)), np.tile(u, (n, 1)), duration).state
            apart = np.concatenate([robot.difference(end.q, far.q), far.v - end.v, far.x - end.x], axis=-1)
            total += sign * weight / h * apart
    return total


def by_complex_steps(mover, robot, s, u, steps):
    """The same rule by NumPy, of complex states, (n, n)."""
    n, dt = 2 * robot.nv + len(s.x), mover.stepper.dt
    s, u = mover.commanded(s, u)
    dq, dv, dx = np.split(1j * TINY * np.eye(n), [robot.nv, 2 * robot.nv], axis=1)
    dx[:, acting(robot).commanded[1]] = 0.0
    now, system = State(s.q + dq, s.v + dv, s.x + dx), System(NumPyEngine(robot, (n,)))
    for k in range(steps):
        h = np.full((n, 1), dt)
        now = mover.stepper.step(system, k * h, system.sampled(now, h), np.tile(u, (n, 1)), h)
    return np.concatenate([np.imag(x) for x in now], axis=-1) / TINY


def carried(mover, s, ds, u, duration):
    return np.concatenate(tangents(mover, 0.0, s, ds, u, duration)[1], axis=-1)


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_tangents_are_complex_steps_through_the_rule(name, steps, rng):
    robot = EXACT[name]()
    mover = Mover(robot, default_stepper(robot))
    s, ds = start(robot, rng)
    u, duration = rng.uniform(-0.2, 0.2, robot.nv), steps * mover.stepper.dt
    found, true = carried(mover, s, ds, u, duration), by_complex_steps(mover, robot, s, u, steps)
    assert np.isfinite(true).all()
    assert np.abs(found - true).max() < ROUNDING * np.abs(true).max()
    end, expected = tangents(mover, 0.0, s, ds, u, duration)[0], mover.advance(0.0, s, u, duration).state
    for a, b in zip(end, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", OTHERS)
def test_tangents_are_what_differences_go_to(name, rng):
    robot = OTHERS[name]()
    mover = Mover(robot, default_stepper(robot))
    s, ds = start(robot, rng)
    u, duration = rng.uniform(-0.2, 0.2, robot.nv), 2 * mover.stepper.dt
    still = [j.v_slice.start for j in robot.joints if name == "rusty" and j.name == "m2/hinge"]
    s.v[still] = 0.0
    found, true = carried(mover, s, ds, u, duration), differences(mover, robot, s, u, duration)
    # what is at rest is stopped within the step, whichever way it was pushed; clocks count
    clocks = [2 * robot.nv + k for k in range(len(s.x)) if 2 * robot.nv + k not in estimated(robot)]
    kept = np.delete(np.arange(len(true)), [robot.nv + k for k in still] + clocks)
    assert np.abs(found - true)[kept].max() < DIFFERENCED * np.abs(true).max()
    assert not found[:, [robot.nv + k for k in still]].any()


def test_what_friction_stops_has_no_tangent(rng):
    """Within the step: the state is that of the motion, and the rate is zero, whatever it was."""
    robot = rusty()
    mover, (s, ds), u = Mover(robot, default_stepper(robot)), start(robot, rng), np.zeros(robot.nv)
    end, by = tangents(mover, 0.0, s, ds, u, 3 * mover.stepper.dt)
    expected = mover.advance(0.0, s, u, 3 * mover.stepper.dt).state
    for a, b in zip(end, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    stopped = [j.v_slice.start for j in robot.joints if j.name == "m2/hinge"]
    assert s.v[stopped] > 0
    assert end.v[stopped] == 0
    assert not by.v[:, stopped].any()


def test_what_begins_to_slide_has_the_tangent_of_the_way_it_slides(rng):
    """At rest under more than friction holds: differences are taken in that direction."""
    robot = rusty()
    mover, (s, ds), u = Mover(robot, default_stepper(robot)), start(robot, rng), np.array([20.0, 0.0, 0.0])
    s.v[:] = 0.0
    duration, h = 2 * mover.stepper.dt, 1e-7
    found = tangents(mover, 0.0, s, ds, u, duration)[1]
    one, other = (mover.advance(0.0, s._replace(v=s.v + d), u, duration).state for d in ([h, 0, 0], np.zeros(3)))
    assert found.v[robot.nv, 0] > 0.9
    np.testing.assert_allclose(found.v[robot.nv], (one.v - other.v) / h, atol=1e-6)
    np.testing.assert_allclose(found.q[robot.nv], (one.q - other.q) / h, atol=1e-6)


def test_code_of_forces_is_evaluated_without_a_compiler(rng, monkeypatch):
    robot = sprung()
    mover, (s, ds), u = Mover(robot, default_stepper(robot)), start(robot, rng), np.zeros(robot.nv)
    expected = carried(mover, s, ds, u, mover.stepper.dt)
    forces_of.cache_clear()
    monkeypatch.setattr(stepped, "stepped", lambda *given: None)
    assert carried(mover, s, ds, u, mover.stepper.dt) == pytest.approx(expected, abs=1e-14)
    forces_of.cache_clear()
