"""Steppers against SciPy and MuJoCo: order of convergence, energy over long runs, compiled against plain steps."""

import numpy as np
import pytest

import modurob as mr
from modurob.simulation.external import external_wrenches
from modurob.simulation.stepping import Mover
from modurob.simulation.system import State
from tests.algorithms.test_loops import four_bar
from tests.oracles.four_bar import FourBar
from tests.robots import COORDINATE_RATES, KINDS, random_mechanism, random_state
from tests.sampling import sampled
from tests.simulation.motions import apart, judged, mujoco_poses

ORDERS = {
    mr.SemiImplicitEuler: 1,
    mr.LinearlyImplicit: 1,
    mr.RungeKutta4: 4,
    mr.ExponentialRungeKutta4: 4,
    mr.ImplicitMidpoint: 2,
    mr.Variational: 2,
}
# steps in DURATION at which errors are measured: small enough to show the order, far above rounding
STEPS = {1: (16, 32), 2: (16, 32), 4: (8, 16)}
DURATION = 0.08
VISCOUS = 0.3
SWING = np.array([0.6, -0.4, 0.8]), np.array([1.0, 0.5, -0.5])
TUMBLE = np.array([0.1, 0.2, 0.3, 0.5, -0.4, 0.6, 1.0, 0.5, -0.5])


def wrench(t):
    return np.array([1.0, -2.0, 0.5, 0.3, 0.2, -0.4]) * np.sin(7 * t)


def situation(name, robot, tau):
    """A robot, wrenches on it, and the acceleration under them as equations of motion say."""
    last = robot.bodies[-1]
    if name == "pushed":
        return (
            robot,
            external_wrenches(robot, lambda t: {last: wrench(t)}),
            lambda t, q, v: robot.forward_dynamics(q, v, tau, {last: wrench(t)}),
        )
    if name == "rubbed":
        rubbed = robot
        for joint in robot.joints:
            for k in range(0 if joint.mimics else joint.type.nv):
                rubbed = rubbed.with_force(f"rub {joint.name} {k}", mr.Friction(VISCOUS), joint=joint.name, rate=k)
        return rubbed, None, lambda t, q, v: robot.forward_dynamics(q, v, tau - VISCOUS * v)
    return robot, None, lambda t, q, v: robot.forward_dynamics(q, v, tau)


def advanced(stepper, robot, push, q, v, tau):
    state = State(q, v, np.zeros(0))
    return Mover(robot, stepper, push).advance(0.0, state, tau, DURATION).state[:2]


@pytest.mark.parametrize("name", ["held", "pushed", "rubbed"])
@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_every_fixed_stepper_converges_with_its_order(seed, floating, name):
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 3, KINDS if floating else COORDINATE_RATES, floating)
    (q, v, _), tau = random_state(rng, robot), rng.normal(size=robot.nv)
    robot, push, acceleration = situation(name, robot, tau)
    end = judged(robot, q, v, DURATION, acceleration)
    for stepper in ORDERS:
        assert stepper.order == ORDERS[stepper]
        errors = [
            apart(robot, end, advanced(stepper(DURATION / n), robot, push, q, v, tau)) for n in STEPS[stepper.order]
        ]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(stepper.order, abs=0.1), stepper


@pytest.mark.parametrize("method", ["DOP853", "Radau", "LSODA"])
def test_adaptive_steps_keep_their_tolerance(rng, method):
    robot = random_mechanism(rng, 3, floating=True)
    (q, v, _), tau = random_state(rng, robot), rng.normal(size=robot.nv)
    robot, push, acceleration = situation("pushed", robot, tau)
    end = judged(robot, q, v, DURATION, acceleration)
    errors = []
    for rtol in (1e-4, 1e-8):
        stepper = mr.Adaptive(method, rtol=rtol, atol=rtol)
        errors.append(apart(robot, end, advanced(stepper, robot, push, q, v, tau)))
    # tolerances are those of one step; a few of them add up
    assert errors[0] < 1e-2
    assert errors[1] < min(1e-6, errors[0])


@pytest.mark.parametrize("stepper", [mr.SemiImplicitEuler, mr.LinearlyImplicit, mr.RungeKutta4])
@pytest.mark.parametrize("floating", [False, True])
def test_compiled_steps_are_the_plain_ones(rng, stepper, floating):
    """A wrench of nothing sends the same run through plain steps. Damping and stops are in both."""
    assembly = mr.load("crab").with_parameters(damping=0.02)
    robot = assembly.mechanism(base="m0", floating=floating)
    # beyond the limits of half a turn, so that springs push
    q, v = robot.integrate(robot.neutral(), np.r_[np.zeros(robot.nv - 3), 1.5, -1.6, 0.4]), rng.normal(size=robot.nv)
    runs = [
        mr.simulate(robot, q, v, 0.3, stepper=stepper(1e-3), external=external) for external in (None, lambda t: None)
    ]
    # rounding grows by less than a factor of ten thousand in 300 steps
    assert apart(robot, *((run.q, run.v) for run in runs)) < 1e-12 * np.abs(runs[0].v).max()


def test_quaternions_stay_of_length_one(rng):
    robot = random_mechanism(rng, 2, ("spherical",), floating=True)
    q, v, _ = random_state(rng, robot)
    for stepper in (mr.SemiImplicitEuler(5e-3), mr.RungeKutta4(5e-3), mr.ImplicitMidpoint(5e-3), mr.Adaptive()):
        run = mr.simulate(robot, q, 5 * v, 0.5, stepper=stepper)
        for joint in robot.joints:
            lengths = np.linalg.norm(run.q[:, joint.q_slice][:, -4:], axis=-1)
            np.testing.assert_allclose(lengths, 1, atol=1e-14)


# ---- energy ----


def drift(run):
    """The largest change of energy, in parts of the largest kinetic energy."""
    return np.abs(run.energy - run.energy[0]).max() / run.kinetic_energy.max()


def free_crab():
    """The floating crab in free space, turning and bending."""
    robot = mr.load("crab").mechanism(floating=True, gravity=(0, 0, 0)).ideal()
    return robot, robot.integrate(robot.neutral(), np.r_[np.zeros(6), SWING[0]])


def test_adaptive_steps_keep_the_energy_of_the_swinging_crab():
    run = mr.simulate(
        mr.load("crab").mechanism(base="m0").ideal(), *SWING, 5.0, stepper=mr.Adaptive(rtol=1e-11), tick=0.1
    )
    assert run.status.ok
    assert np.ptp(run.kinetic_energy) > 1
    assert drift(run) < 1e-9


def test_adaptive_steps_keep_the_energy_and_momentum_of_the_floating_crab():
    robot, q = free_crab()
    run = mr.simulate(robot, q, TUMBLE, 10.0, stepper=mr.Adaptive(rtol=1e-11), tick=0.5)
    assert np.ptp(run.q[:, -3:], axis=0).min() > 1
    assert drift(run) < 1e-9
    momenta = robot.momentum(run.q, run.v)
    assert np.abs(momenta - momenta[0]).max() < 1e-9 * np.abs(momenta).max()


def minute(run, k, lasts=60.0):
    """The error of energy during a minute of a run [J], or what is taken for one: its mean and its band."""
    during = (run.t >= lasts * k) & (run.t <= lasts * (k + 1))
    change = (run.energy - run.energy[0])[during]
    return change.mean(), np.ptp(change)


def trend(run, minutes, lasts=60.0):
    """How far the mean error of energy has moved from the first minute to the last, in widths of the first minute's band."""
    assert run.status.ok
    (first, width), (last, _) = minute(run, 0, lasts), minute(run, minutes - 1, lasts)
    return abs(last - first) / width


def swung(stepper, duration):
    """The crab swings about hanging down, by more than half a radian."""
    robot = mr.load("crab").mechanism(base="m0").ideal()
    run = mr.simulate(robot, [-np.pi / 2, 0, 0] + 0.5 * SWING[0], None, duration, stepper=stepper)
    assert np.ptp(run.q, axis=0).min() > 0.5
    return run


@pytest.mark.parametrize(("minutes", "lasts"), sampled([(2, 15.0), (2, 60.0), (10, 60.0)], 1))
def test_energy_of_the_swinging_crab_is_bounded(minutes, lasts):
    """Symmetric rules hold the error in one band; the error of Runge and Kutta's rule leaves its own at once."""
    for stepper in (mr.Variational, mr.ImplicitMidpoint)[: 1 if minutes == 2 else 2]:
        run = swung(stepper(0.04), lasts * minutes)
        assert trend(run, minutes, lasts) < 0.01
        assert minute(run, minutes - 1, lasts)[1] < 0.002 * run.kinetic_energy.max()
    assert trend(swung(mr.RungeKutta4(0.04), lasts * minutes), minutes, lasts) > 0.9


@pytest.mark.parametrize(("minutes", "lasts"), sampled([(2, 30.0), (2, 60.0), (10, 60.0)], 1))
def test_energy_of_the_floating_crab_is_bounded_and_its_momentum_stays(minutes, lasts):
    robot, q = free_crab()
    run = mr.simulate(robot, q, 0.25 * TUMBLE, lasts * minutes, stepper=mr.Variational(0.2))
    # the motion is chaotic: what a minute shows of the band differs
    assert trend(run, minutes, lasts) < 0.3
    assert drift(run) < 0.001
    momenta = robot.momentum(run.q, run.v)
    # rounding errors of some thousand steps
    assert np.abs(momenta - momenta[0]).max() < 1e-10 * np.abs(momenta).max()


@pytest.mark.parametrize("duration", sampled((120.0, 600.0), 1))
def test_energy_of_the_floating_crab_wanders_little_with_implicit_midpoint_steps(duration):
    robot, q = free_crab()
    run = mr.simulate(robot, q, 0.25 * TUMBLE, duration, stepper=mr.ImplicitMidpoint(0.2))
    assert drift(run) < 2e-3


# ---- another engine ----


@pytest.mark.parametrize("which", ["crab", "floating crab", "random"])
def test_motion_is_that_of_mujoco(rng, which):
    """Poses of all bodies over five seconds, by MuJoCo's Runge-Kutta rule at 0.5 ms and by ours."""
    if which == "random":
        robot = random_mechanism(rng, 4, ("revolute", "prismatic", "spherical", "universal"))
        q, v = robot.neutral(), 0.1 * rng.normal(size=robot.nv)
    else:
        robot = mr.load("crab").mechanism(base="m0", floating=which != "crab").ideal()
        v = 0.5 * TUMBLE[-robot.nv :]
        q = robot.integrate(robot.neutral(), np.r_[np.zeros(robot.nv - 3), 0.3 * SWING[0]])
    times = np.arange(1.0, 6.0)
    theirs = mujoco_poses(robot, q, v, times, 5e-4)
    run = mr.simulate(robot, q, v, 5.0, stepper=mr.RungeKutta4(5e-4), tick=1.0)
    np.testing.assert_allclose(run.t[1:], times)
    ours = robot.forward_kinematics(run.q[1:]).bodies
    assert np.abs(ours - theirs).max() < 1e-6
    assert np.abs(theirs[1:] - theirs[:-1])[:, 1:].max() > 0.1


# ---- refusals ----


@pytest.mark.parametrize("dt", [0, -1e-3, np.nan, np.inf])
@pytest.mark.parametrize("stepper", ORDERS)
def test_a_step_must_be_a_time(stepper, dt):
    with pytest.raises(mr.ModurobError, match=r"a step of .*: expected a positive finite number"):
        stepper(dt)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "dop853"}, r"method 'dop853': valid: DOP853, Radau, LSODA"),
        ({"rtol": 0}, r"rtol 0: expected a positive number"),
        ({"atol": -1}, r"atol -1"),
        ({"max_step": np.nan}, r"max_step nan"),
    ],
)
def test_adaptive_options_are_checked(options, message):
    with pytest.raises(mr.ModurobError, match=message):
        mr.Adaptive(**options)


def test_variational_steps_refuse_loops():
    with pytest.raises(
        mr.ModurobError, match=r"without loops and mimic joints, and .* has some; valid: ImplicitMidpoint"
    ):
        mr.simulate(four_bar(FourBar()), [1.0, 0.0, 2.0], duration=0.1, stepper=mr.Variational(0.01))


def test_adaptive_steps_refuse_runs_side_by_side():
    with pytest.raises(mr.ModurobError, match=r"one run at a time"):
        mr.simulate(mr.load("crab").mechanism(), np.zeros((4, 3)), duration=0.1, stepper=mr.Adaptive())
