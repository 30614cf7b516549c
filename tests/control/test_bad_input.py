"""Bad input is refused with what was found and what is valid."""

import numpy as np
import pytest

import modurob as mr
from modurob.control import (
    LQR,
    PID,
    ComputedTorque,
    FeedForward,
    GravityCompensation,
    gains_by_damping,
    gains_by_lqr,
    gains_by_poles,
    lqr,
    state_space,
)
from modurob.errors import ControlError, InputError
from modurob.motion import Trajectory
from tests.algorithms.test_loops import four_bar
from tests.oracles.four_bar import FourBar

NAN = float("nan")
JOINTS = "m0/hinge, m2/hinge, m4/hinge"


@pytest.fixture
def crab() -> mr.Mechanism:
    return mr.load("crab").mechanism()


def refused(message):
    return pytest.raises(ControlError, match=message)


# ---- gains and limits ----


@pytest.mark.parametrize(
    ("kp", "message"),
    [
        ([1.0, 2.0], r"kp has shape \(2,\): expected one number or shape \(3,\)"),
        (np.eye(2), r"kp has shape \(2, 2\): expected one number, \(3,\) or \(3, 3\)"),
        (np.ones((3, 2)), r"kp has shape \(3, 2\)"),
        (np.ones((1, 3, 3)), r"kp has shape \(1, 3, 3\)"),
        (-1.0, r"kp = -1 at joint m0/hinge: expected zero or more"),
        ([1.0, 1.0, -2.0], r"kp = -2 at joint m4/hinge: expected zero or more"),
        (np.diag([1.0, -1.0, 1.0]), r"kp has the eigenvalue -1: expected a positive semidefinite matrix"),
        (NAN, r"kp = nan: expected finite numbers"),
        (np.inf, r"kp = inf: expected finite numbers"),
        ("stiff", r"kp = 'stiff': expected numbers"),
        (None, r"kp = None: expected numbers"),
        (True, r"kp = True: expected numbers"),
        ([1.0, [2.0, 3.0]], r"kp = \[1.0, \[2.0, 3.0\]\]: expected numbers"),
        ({"m0/hinge": 1, "m2/hinge": 1}, r"kp has no number for m4/hinge: expected one for every driven joint"),
        (
            {"m0/hing": 1},
            rf"kp: 'm0/hing' is no joint of crab that can be driven: did you mean 'm0/hinge'\? valid: {JOINTS}",
        ),
        ({"m0/hinge": [1, 2]}, r"kp of m0/hinge has shape \(2,\): expected one number or shape \(1,\)"),
    ],
)
def test_gains(crab, kp, message):
    for recipe in (ComputedTorque(kp, 1.0), GravityCompensation(kp), FeedForward(0.0, kp)):
        with refused(message):
            recipe.on(crab)
    # PID has a number for each joint, and None for gains that suit the robot
    if kp is not None and np.ndim(kp if not isinstance(kp, list) else kp[0]) == 0:
        with refused(message):
            PID(kp).on(crab)


def test_other_gains_are_named(crab):
    with refused("kd = -1 at joint"):
        ComputedTorque(1.0, -1.0).on(crab)
    with refused("ki = -1 at joint"):
        PID(1.0, -1.0).on(crab)
    with refused(r"ki has shape \(3, 3\): expected one number or shape \(3,\)"):
        PID(1.0, np.eye(3)).on(crab)
    with refused("velocity = -1 at joint"):
        LQR(velocity=-1.0).on(crab)


@pytest.mark.parametrize(
    ("saturation", "message"),
    [
        (-1.0, "saturation = -1 at joint m0/hinge: expected zero or more"),
        ("torque", "saturation = 'torque': expected 'effort', numbers or None"),
        ([1.0, 2.0], r"saturation has shape \(2,\)"),
        (NAN, "saturation = nan: expected"),
        ({"m1/hinge": 1.0}, f"saturation: 'm1/hinge' is no joint of crab that can be driven: .*valid: {JOINTS}"),
    ],
)
def test_limits(crab, saturation, message):
    with refused(message):
        ComputedTorque(1.0, 1.0, saturation=saturation).on(crab)


@pytest.mark.parametrize("sample_time", [0.0, -1e-3, NAN, "fast", [0.1, 0.2]])
@pytest.mark.parametrize("recipe", [ComputedTorque, GravityCompensation, FeedForward, PID, LQR])
def test_sample_time(recipe, sample_time):
    with refused(f"sample_time = {sample_time!r}".replace("[", r"\[")):
        recipe(*[1.0] * (2 if recipe is ComputedTorque else 1), sample_time=sample_time)


def test_drives(crab):
    with refused(f"actuated: 'm1/hinge' is no joint of crab that can be driven: .*valid: {JOINTS}"):
        ComputedTorque(1.0, 1.0, actuated=["m0/hinge", "m1/hinge"]).on(crab)
    with refused(r"PID\(linearise=True\) on crab: no drive at m2/hinge \(revolute\), m4/hinge \(revolute\)"):
        PID(1.0, linearise=True, actuated="m0/hinge").on(crab)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample_time": None}, "sample_time = None: expected numbers"),
        (
            {"anti_windup": "clamp"},
            "anti_windup 'clamp': did you mean 'clamping'. valid: clamping, back-calculation, or None",
        ),
        ({"derivative": "errors"}, "derivative on 'errors': did you mean 'error'. valid: error, measurement"),
        ({"tracking_time": 0.0}, "tracking_time = 0.0: expected more than zero"),
        ({"filter_time": -1.0}, "filter_time = -1.0: expected more than zero"),
    ],
)
def test_pid(options, message):
    with refused(message):
        PID(1.0, **options)


# ---- references ----


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ([0.0, 0.0], r"reference of crab: position has shape \(2,\): expected one number or \(..., 3\)"),
        (NAN, "reference of crab: position = nan: expected finite numbers"),
        ("home", "reference of crab: position = 'home': expected numbers"),
        ({"m9/hinge": 0.0}, f"reference: 'm9/hinge' is no joint of crab that can be driven: .*valid: {JOINTS}"),
        (
            {"m0/hinge": [0.0, 1.0]},
            r"reference of m0/hinge: position has shape \(2,\): expected one number or \(..., 1\)",
        ),
        ({"m0/hinge": {}}, "reference of m0/hinge: position = {}: expected numbers"),
        (np.sin, r"reference of crab gives .*: expected \(position, velocity, acceleration\)"),
        (lambda t: (0.0, 0.0), r"reference of crab gives \(0.0, 0.0\): expected \(position, velocity, acceleration\)"),
        (lambda t: (0.0, np.zeros(2), 0.0), r"reference of crab: velocity has shape \(2,\): expected one number or"),
        (lambda t: (0.0, 0.0, NAN), "reference of crab: acceleration = nan"),
        (Trajectory.cubic([0, 0], 1, 1), r"reference of crab: position has shape \(2,\)"),
        ({"m2/hinge": 45}, r"reference: m2/hinge at 45 is beyond .* \(45 degrees are 0.785398 rad\): expected radians"),
        (
            lambda t: (np.full(3, 30.0), np.zeros(3), np.zeros(3)),
            "reference at t = 0: m0/hinge at 30 is beyond its limits",
        ),
    ],
)
def test_references(crab, reference, message):
    for recipe in (ComputedTorque(1.0, 1.0, reference), PID(1.0, reference=reference), FeedForward(reference)):
        with refused(message):
            recipe.on(crab)


def test_references_of_other_robots(rng):
    robot = mr.load("crab").mechanism(floating=True)
    with refused(r"position has shape \(4,\): expected one number or \(..., 3\) or \(..., 10\)"):
        GravityCompensation(1.0, 1.0, np.zeros(4)).on(robot)
    base = robot.joints[0].name
    with refused(f"reference: '{base}' is no joint of crab that can be driven"):
        GravityCompensation(1.0, 1.0, {base: 0.0}).on(robot)
    with pytest.raises(InputError, match=r"the quaternion of joint 'floating_base' has length 0"):
        GravityCompensation(reference=np.zeros(10), actuated=[j.name for j in robot.joints]).on(robot)


# ---- state feedback ----


def test_lqr_recipe(crab):
    with refused("LQR holds one set point: expected numbers"):
        LQR(Trajectory.cubic(0, 1, 1)).on(crab)
    with refused("LQR holds one set point"):
        LQR(np.zeros((5, 3))).on(crab)
    with refused("LQR on crab: joint m4/hinge has no drive, but needs 1.03 to rest at the set point: expected an equi"):
        LQR(actuated=["m0/hinge", "m2/hinge"]).on(crab)
    with refused("LQR on four-bar, which has loops: expected a tree"):
        LQR(actuated=["crank"]).on(four_bar(FourBar()))
    with refused("no optimal gains"):
        LQR(effort=0.0, sample_time=None).on(crab)
    # the momentum of a robot in space is out of its drives' reach
    with refused("no optimal gains .*: expected Q .* inputs and weights that reach every motion"):
        LQR().on(mr.load("crab").mechanism(floating=True, gravity=(0, 0, 0)))


@pytest.mark.parametrize(
    ("matrices", "message"),
    [
        ((np.eye(2), np.ones(2), np.eye(2), np.eye(1)), r"A \(2, 2\), B \(2,\), Q \(2, 2\), R \(1, 1\): expected"),
        ((np.eye(2), np.ones((2, 1)), np.eye(3), np.eye(1)), r"Q \(3, 3\), R \(1, 1\): expected \(n, n\), \(n, m\)"),
        ((np.eye(2), np.zeros((2, 1)), np.eye(2), np.eye(1)), "no optimal gains"),
        ((np.full((2, 2), NAN), np.ones((2, 1)), np.eye(2), np.eye(1)), "A = .*: expected finite numbers"),
    ],
)
def test_lqr(matrices, message):
    with refused(message):
        lqr(*matrices)
    with refused(message):
        lqr(*matrices, sample_time=0.1)


# ---- gains from wishes ----


@pytest.mark.parametrize(
    ("poles", "message"),
    [
        ([-1], r"poles have shape \(1,\): expected \(..., 2\) for kp and kd, or \(..., 3\) for ki too"),
        (-1, r"poles have shape \(\)"),
        ([-1, 0.5], r"poles = \[-1, 0.5\]: expected finite numbers with a real part below zero"),
        ([-1, NAN], "expected finite numbers"),
        ([-1 + 1j, -1], "expected complex poles in conjugate pairs"),
        (["a", "b"], "poles = .*: expected numbers"),
    ],
)
def test_poles(poles, message):
    with refused(message):
        gains_by_poles(poles)


def test_wishes():
    with refused("damping_ratio = 0.0: expected more than zero"):
        gains_by_damping(0, 1.0)
    with refused("settling_time = -1.0: expected more than zero"):
        gains_by_damping(0.7, -1.0)
    with refused("sample_time = 0.0: expected more than zero"):
        gains_by_damping(0.7, 1.0, 0)
    with refused("no optimal gains"):
        gains_by_lqr(-1.0)


def test_state_space(crab):
    with refused("sample_time = -1"):
        state_space(crab, np.zeros(3), sample_time=-1)
    with pytest.raises(InputError, match=r"q has shape \(2,\)"):
        state_space(crab, np.zeros(2))


# ---- trajectories ----


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Trajectory(np.array([0, 1]), np.ones((2, 2))),
            r"breaks .* of shape \(2, 2\): expected times that increase",
        ),
        (
            lambda: Trajectory(np.array([1, 0]), np.ones((2, 1))),
            r"breaks \[1.0, 0.0\] and coefficients of shape \(2, 1\)",
        ),
        (
            lambda: Trajectory(1.0, np.ones((2, 1))),
            r"breaks 1.0 and coefficients of shape \(2, 1\): expected times that incr",
        ),
        (lambda: Trajectory([0, "b"], np.ones((2, 1))), r"breaks = \[0, 'b'\]: expected numbers"),
        (lambda: Trajectory([0, 1], np.full((2, 1), NAN)), "coefficients = .*: expected finite numbers"),
        (lambda: Trajectory.cubic(0, 1, 1)("now"), "t = 'now': expected numbers"),
        (lambda: Trajectory.cubic(0, 1, 1).largest(4), r"derivative 4: expected one of 0 \(position\), 1 \(velocity\)"),
        (lambda: Trajectory.cubic(0, 1, 0), "duration = 0.0: expected more than zero"),
        (lambda: Trajectory.cubic(0, 1, NAN), "duration = nan: expected finite"),
        (lambda: Trajectory.cubic("a", 1, 1), "start = 'a': expected numbers"),
        (
            lambda: Trajectory.quintic([0, 0], [1, 1, 1], 1),
            r"shapes that do not fit together: start \(2,\), .*end \(3,\), .*: expected one shape, or numbers",
        ),
        (lambda: Trajectory.trapezoid(0, 1, 0, 1), r"velocity = 0.0: expected more than zero"),
        (lambda: Trajectory.trapezoid(0, 1, 1, -1), r"acceleration = -1.0: expected more than zero"),
        (
            lambda: Trajectory.hermite([0, 1], [0, 1, 2], 0),
            r"times of shape \(2,\) and points of shape \(3,\): expected \(k,\)",
        ),
        (lambda: Trajectory.hermite([0], [0], 0), r"k at least 2"),
        (
            lambda: Trajectory.hermite([0, 2, 1], [0, 1, 2], 0),
            r"times\[1\] = 2, times\[2\] = 1: expected every time after",
        ),
        (lambda: Trajectory.minimum_jerk([0, 0], [0, 1]), r"times\[0\] = 0, times\[1\] = 0: expected every time after"),
        (lambda: Trajectory.through([1, 2, 2], 1, 1), "points 1 and 2 coincide: expected every point to differ"),
        (lambda: Trajectory.through([1], 1, 1), "k at least 2"),
        (lambda: Trajectory.through(1, 1, 1), "k at least 2"),
        (lambda: Trajectory.through([1, 2], 0, 1), "velocity = .*: expected more than zero"),
        (
            lambda: Trajectory.through([[1, 2], [3, 4]], [1, 1, 1], 1),
            r"shapes that do not fit together: point \(2,\), velo",
        ),
        (
            lambda: Trajectory.through([[1, 2], [3, 4]], 1, [1, 1, 1]),
            r"acceleration limit has shape \(3,\): expected one",
        ),
        (lambda: Trajectory.cubic(0, 1, 1).within(1, 0), "acceleration = 0.0: expected more than zero"),
        (lambda: Trajectory.cubic(0, 1, 1).slowed(0), "factor = 0.0: expected more than zero"),
        (lambda: Trajectory.cubic(0, 1, 1).delayed("later"), "seconds = 'later': expected numbers"),
    ],
)
def test_trajectories(make, message):
    with refused(message):
        make()
