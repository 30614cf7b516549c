"""Runs: how they end, what they refuse, controllers and filters in them, and what acts on a robot, against closed forms."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import modurob as mr
from modurob.errors import ControlError, InputError, SimulationError
from modurob.simulation.limits import _round_below
from modurob.spatial import inertia, se3
from tests.algorithms.test_loops import four_bar, four_bar_state
from tests.oracles.four_bar import FourBar
from tests.robots import random_mechanism, random_state
from tests.simulation.motions import apart, judged, mujoco_poses

STEPPERS = [
    mr.SemiImplicitEuler(1e-3),
    mr.RungeKutta4(1e-3),
    mr.ImplicitMidpoint(1e-3),
    mr.Variational(1e-3),
    mr.Adaptive(),
]


@pytest.fixture(scope="module")
def crab() -> mr.Mechanism:
    return mr.load("crab").mechanism(base="m0").ideal()


def wheel(moment=0.5, **properties) -> mr.Mechanism:
    """One body that turns about z: I qdd = tau."""
    builder = mr.Builder("wheel", gravity=(0, 0, 0))
    own = inertia.spatial_inertia(1.0, np.zeros(3), moment * np.diag([0.6, 0.6, 1.0]))
    builder.body(
        "disc", own, joint=mr.Revolute((0, 0, 1)), joint_name="axle", properties=mr.JointProperties(**properties)
    )
    return builder.build()


def sticks(t, q, v):
    raise RuntimeError("the joint sticks")


# ---- how runs end ----


def needle() -> mr.Mechanism:
    """A point on the axis it turns about."""
    builder = mr.Builder("needle")
    builder.body("rod", inertia.random(np.random.default_rng(1)), joint=mr.Revolute((0, 1, 0)))
    builder.body("tip", inertia.point(1.0, (0, 0, 0.3)), parent="rod", joint=mr.Revolute((0, 0, 1)))
    return builder.build()


def ended(kind, message, run):
    """The run ended that way, and what it holds can be read, drawn and written."""
    assert run.status.kind == kind
    assert not run.status.ok
    assert message in run.status.message
    assert run.t[-1] == run.status.t
    assert all(np.isfinite(x).all() for x in (run.q, run.v, run.tau))
    assert run.vdot.shape == run.v.shape
    return run


@pytest.mark.parametrize(
    ("law", "kind", "message", "rows"),
    [
        (lambda t, q, v: np.full(3, np.nan if t > 0.0495 else 0.0), "not finite", "torque is [nan nan nan]", 51),
        (lambda t, q, v: np.full(3, np.inf), "not finite", "torque is [inf inf inf]", 1),
        (sticks, "controller failed", "RuntimeError: the joint sticks", 1),
        (lambda t, q, v: np.zeros(4), "controller failed", "shape (4,): expected (3,) for crab", 1),
        (lambda t, q, v: 0.0, "controller failed", "shape (): expected (3,)", 1),
        (lambda t, q, v: "much", "controller failed", "could not convert string", 1),
        (lambda t, q, v: np.full(3, 1 + 2j), "controller failed", "are complex: expected real numbers", 1),
        (lambda t, q, v: v > 0, "controller failed", "are True or False: expected real numbers", 1),
    ],
)
def test_a_law_that_fails_ends_the_run(crab, law, kind, message, rows):
    run = ended(kind, message, mr.simulate(crab, duration=0.1, controller=law))
    assert len(run.t) == rows


@pytest.mark.parametrize("stepper", STEPPERS, ids=lambda s: type(s).__name__)
def test_divergence_ends_the_run(crab, stepper):
    run = mr.simulate(crab, duration=1.0, controller=lambda t, q, v: 1e12 * (v + 1), stepper=stepper)
    assert run.status.kind in ("diverged", "not finite", "step limit")
    assert ended(run.status.kind, "", run).t[-1] < 1


def test_rates_beyond_all_bounds_are_named(crab):
    run = mr.simulate(crab, duration=1.0, controller=lambda t, q, v: 1e9 * np.ones(3))
    ended("diverged", "a rate reached", run)


@pytest.mark.parametrize("stepper", STEPPERS, ids=lambda s: type(s).__name__)
def test_a_degree_of_freedom_without_inertia_ends_the_run(stepper):
    run = ended("singular", "joint 'tip' moves no inertia", mr.simulate(needle(), duration=0.1, stepper=stepper))
    assert len(run.t) == 1
    assert np.isnan(run.vdot).all()


def test_a_step_that_cannot_be_made_ends_the_run(crab):
    run = mr.simulate(crab, [0.6, -0.4, 0.8], duration=10.0, stepper=mr.ImplicitMidpoint(0.5))
    ended("step limit", "expected steps shorter than 0.5 s", run)


def test_adaptive_steps_that_become_too_small_end_the_run(rng):
    noise = mr.simulate(
        wheel(),
        duration=1.0,
        stepper=mr.Adaptive(),
        external=lambda t: {"disc": [0, 0, 0, 0, 0, 1e6 * (t > 0.5) * rng.normal()]},
    )
    ended("step limit", "Required step size is less than spacing between numbers", noise)


def test_a_motion_too_fast_to_follow_ends_the_run(crab):
    run = mr.simulate(crab, v0=[1e7, 0, 0], duration=1.0, stepper=mr.Adaptive(), tick=1e-3)
    ended("step limit", "DOP853 took 1100 steps from t = 0 s", run)


def test_loops_that_cannot_be_closed_end_the_run():
    bar = FourBar()
    stuck = mr.simulate(four_bar(bar), *four_bar_state(bar, 1.0, 300.0), 1.0, stepper=mr.SemiImplicitEuler(0.1))
    assert stuck.status.kind in ("step limit", "not finite", "diverged")
    ended(stuck.status.kind, "", stuck)


@pytest.mark.parametrize(
    ("wrenches", "message"),
    [
        (lambda t: {"nose": np.zeros(6)}, "InputError: no frame 'nose' in crab"),
        (lambda t: {"m3": np.zeros(3)}, "InputError: external wrench on 'm3' has shape (3,)"),
        (lambda t: np.zeros((2, 6)), "InputError: external wrenches of shape (2, 6)"),
        (lambda t: 1 / 0, "ZeroDivisionError"),
        (lambda t: {"m3": np.full(6, 1j)}, "TypeError: wrenches are complex: expected real numbers"),
    ],
)
def test_wrenches_that_are_none_end_the_run(crab, wrenches, message):
    ended("wrench failed", message, mr.simulate(crab, duration=0.1, external=wrenches))


def test_wrenches_that_are_not_finite_end_the_run(crab):
    ended("not finite", "", mr.simulate(crab, duration=0.1, external=lambda t: {"m3": np.full(6, np.nan)}))


def test_arguments_with_defaults_are_the_functions_own(crab):
    """As loops bind them; those that are called q and v are the state."""
    push = {"m3": np.array([0.0, 0, 5, 0, 0, 0])}
    plain, bound = (
        mr.simulate(crab, duration=0.01, external=f).q[-1]
        for f in (lambda t: push, lambda t, F=push["m3"], tip="m3": {tip: F})
    )
    state = mr.simulate(crab, duration=0.01, external=lambda t, q=None, v=None: {} if q is None else push).q[-1]
    assert np.array_equal(plain, bound)
    assert np.array_equal(plain, state)


def test_a_limit_that_is_passed_is_noted_and_ends_the_run_if_asked(crab):
    passed = mr.simulate(crab, duration=0.5)
    assert passed.status.ok
    first = passed.events[0]
    assert (first.kind, first.message) == ("limit", "joint m0/hinge passed its limit")
    stopped = ended("limit hit", "joint m0/hinge", mr.simulate(crab, duration=0.5, stop_at_limits=True))
    assert stopped.status.t == first.t
    lower, upper = crab.joint("m0/hinge").limits
    inside = (lower <= stopped.q[:, 0]) & (stopped.q[:, 0] <= upper)
    assert inside[:-1].all()
    assert not inside[-1]


def test_a_run_can_be_cancelled_and_tells_how_far_it_is(crab):
    shares = []
    run = mr.simulate(crab, duration=0.1, progress=shares.append, cancelled=lambda: len(shares) == 30)
    ended("cancelled", "asked to stop", run)
    np.testing.assert_allclose(shares, np.arange(1, 31) / 100)
    assert len(run.t) == 31


@pytest.mark.parametrize("stepper", STEPPERS, ids=lambda s: type(s).__name__)
def test_a_robot_that_cannot_move_stands_still(stepper):
    run = mr.simulate(mr.Assembly.single("m0", "backbone").mechanism(), duration=0.1, stepper=stepper)
    assert run.status.ok
    assert run.q.shape == (len(run.t), 0)


def test_steps_of_our_own_choice_fill_the_samples_of_a_law():
    run = mr.simulate(mr.load("crab").mechanism(), duration=0.01, controller=mr.GravityCompensation(sample_time=0.0025))
    assert run.segments[0].settings.stepper.dt == pytest.approx(0.0025 / 3)
    assert len(run.t) == 5


# ---- what is refused ----


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duration": 0}, r"duration 0: expected a positive finite number"),
        ({"duration": -1.0}, r"duration -1.0: expected"),
        ({"duration": np.nan}, r"duration nan: expected"),
        ({"duration": 0.0105}, r"duration 0.0105 s is not a multiple of 0.001 s: the nearest is 0.01 s"),
        ({"tick": 0}, r"tick 0: expected a positive finite number"),
        ({"tick": -0.01}, r"tick -0.01: expected"),
        ({"tick": 0.0015}, r"sample time 0.0015 s is not a multiple of 0.001 s"),
        (
            {"controller": mr.GravityCompensation(sample_time=0.0025), "stepper": mr.RungeKutta4(1e-3)},
            r"sample time 0.0025 s is not a multiple of 0.001 s",
        ),
        (
            {"controller": mr.GravityCompensation(sample_time=0.01), "tick": 0.02},
            r"tick 0.02 s and .* sample time 0.01 s",
        ),
        ({"q0": np.zeros(4)}, r"q0 has shape \(4,\): expected \(\.\.\., 3\) for crab"),
        ({"q0": [0, np.nan, 0]}, r"q0\[1\] is nan"),
        ({"v0": np.zeros((2, 2))}, r"v0 has shape \(2, 2\)"),
        ({"external": {"m3": np.zeros(6)}}, r"external wrenches \{.*: expected a function of t, or of t, q and v"),
        ({"controller": mr.ComputedTorque([1, 2], 1)}, r"kp"),
    ],
)
def test_bad_input_is_refused(crab, options, message):
    with pytest.raises((SimulationError, InputError, ControlError), match=message):
        mr.simulate(crab, **{"duration": 0.1, **options})


# ---- controllers and filters ----


def test_torques_are_held_for_a_sample_time(rng):
    """The law is asked at its ticks alone, and in between the robot moves as SciPy says it does under a constant torque."""
    robot = random_mechanism(rng, 3, ("revolute", "spherical"))
    (q, v, _), asked = random_state(rng, robot), []

    def law(t, q, v):
        asked.append(t)
        return np.sin(9 * t + np.arange(robot.nv))

    run = mr.simulate(robot, q, v, 0.2, controller=law, tick=0.05, stepper=mr.RungeKutta4(1e-3))
    np.testing.assert_allclose(asked, [0, 0.05, 0.1, 0.15], atol=1e-15)
    np.testing.assert_array_equal(run.t[:-1], asked)
    for k in range(4):
        end = judged(robot, run.q[k], run.v[k], 0.05, lambda t, q, v, k=k: robot.forward_dynamics(q, v, run.tau[k]))
        np.testing.assert_array_equal(run.tau[k], np.sin(9 * run.t[k] + np.arange(robot.nv)))
        assert apart(robot, end, (run.q[k + 1], run.v[k + 1])) < 1e-8


def test_a_run_in_two_pieces_is_one_run(crab):
    law = mr.PID(4.0, 1.0, 0.5, 0.3, sample_time=2e-3)
    whole = mr.simulate(crab, duration=0.4, controller=law)
    pieces = mr.Simulation(crab, controller=law).advance(0.1).advance(0.3).recording
    for name in ("t", "q", "v", "tau"):
        np.testing.assert_array_equal(getattr(pieces, name), getattr(whole, name))


WAVE = np.array([0.4, 0.3, -0.5])


def wave(t):
    """Position, velocity and acceleration of a reference for the crab."""
    return WAVE * np.sin(2 * t), 2 * WAVE * np.cos(2 * t), -4 * WAVE * np.sin(2 * t)


def test_computed_torque_with_a_filter_tracks_on_the_crab(crab):
    """Meister, Gutenkunst, Levi Figures 14 and 15: angles alone are measured; the law gets what the filter makes of them."""
    sensors = mr.HallSensors(noise=1e-3)
    law = mr.ComputedTorque(100.0, 20.0, wave, sample_time=2e-3)
    filtered = mr.ExtendedKalmanFilter(sensors, Q=(0.0, 1e-6))
    run = mr.simulate(crab, [0.2, -0.2, 0.1], duration=2.5, controller=law, estimator=filtered, seed=3)
    assert run.status.ok
    late = run.t > 1.5
    desired = np.array([wave(t)[0] for t in run.t])
    assert np.abs(run.q - desired)[0].max() > 0.1
    assert np.abs(run.q - desired)[late].max() < 5e-3
    assert np.abs(run.q_estimate - run.q)[late].max() < 2e-3
    # fifty times better than differences of readings, which are wrong by sqrt(2) 1e-3 rad / 2 ms
    assert np.sqrt(np.mean((run.v_estimate - run.v)[late] ** 2)) < np.sqrt(2) * 1e-3 / 2e-3 / 50


def test_seeds_make_the_noise(crab):
    runs = [
        mr.simulate(
            crab, duration=0.02, controller=mr.GravityCompensation(), estimator=mr.ExtendedKalmanFilter(), seed=seed
        )
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(runs[0].q_estimate, runs[1].q_estimate)
    assert np.abs(runs[0].q_estimate - runs[2].q_estimate).max() > 1e-5


def test_random_torques_do_not_move_the_centre_of_mass(rng):
    """Gutenkunst 5.3: a free organism of four modules; inner forces leave its momentum alone."""
    chain = mr.Assembly.single("m0", "backbone").dock("m1", "backbone", "m0/3", "4")
    chain = chain.dock("m2", "backbone", "m1/3", "2").dock("m3", "backbone", "m2/3", "4")
    robot = chain.mechanism(floating=True, gravity=(0, 0, 0))

    def inner(t, q, v):
        return np.concatenate([np.zeros(6), 0.02 * rng.normal(size=robot.nv - 6)])

    run = mr.simulate(robot, v0=0.2 * rng.normal(size=robot.nv), duration=2.0, controller=inner, tick=0.01)
    assert np.ptp(run.q[:, 7:], axis=0).max() > 0.3
    centre = robot.centre_of_mass(run.q)
    rate = robot.momentum(run.q[0], run.v[0])[:3] / robot.total_mass()
    np.testing.assert_allclose(centre, centre[0] + run.t[:, None] * rate, atol=1e-9)


# ---- friction, limits, payloads ----


def test_viscous_friction_lets_a_wheel_run_down():
    """v = v0 exp(-d t/I)."""
    run = mr.simulate(wheel(damping=0.2), v0=[3.0], duration=2.0)
    np.testing.assert_allclose(run.v[:, 0], 3 * np.exp(-0.2 / 0.5 * run.t), rtol=1e-12)


def test_stops_throw_a_wheel_back():
    """Half a damped swing at the limit: depth v0/w exp(-z acos z/s) with s² = 1 - z², and v0 exp(-pi z/s) on leaving."""
    stiffness, loss, moment, speed = 50.0, 1.0, 0.5, 2.0
    robot = wheel(moment, lower=-1.0, upper=1.0, stop_stiffness=stiffness, stop_damping=loss)
    w, z = np.sqrt(stiffness / moment), loss / (2 * np.sqrt(stiffness * moment))
    s = np.sqrt(1 - z * z)
    stepper = mr.Adaptive(max_step=1e-3)
    run = mr.simulate(robot, v0=[speed], duration=1.5, stepper=stepper)
    assert run.q.max() - 1 == pytest.approx(speed / w * np.exp(-z * np.arccos(z) / s), rel=1e-3)
    # a stop that never pulls lets go where its push has fallen to zero, a little before the limit
    angle = np.arctan2(2 * z * s, 2 * z * z - 1)
    out = speed * np.exp(-z * angle / s) * np.hypot(np.cos(angle) - z / s * np.sin(angle), 0)
    assert run.v[-1, 0] == pytest.approx(-out, rel=1e-3)
    assert [e.message for e in run.events] == ["joint axle passed its limit"]


@pytest.mark.parametrize("speed", [0.5, 5.0, 50.0])
def test_stops_hold_without_being_asked_for(speed):
    """Within a degree or so at any speed a joint has, whatever the inertia behind it."""
    for moment in (1e-4, 0.5, 200.0):
        run = mr.simulate(wheel(moment, lower=-1.0, upper=1.0), v0=[speed], duration=3.0)
        assert run.status.ok
        assert np.abs(run.q).max() < 1 + 0.004 * speed
        assert abs(run.v[-1, 0]) < 0.5 * speed


def test_drives_give_no_more_than_their_effort():
    """I qdd = effort, whatever the law asks for; a joint with effort zero has no drive."""
    run = mr.simulate(wheel(effort=0.25), duration=1.0, controller=lambda t, q, v: [1000.0])
    np.testing.assert_allclose(run.v[:, 0], 0.25 / 0.5 * run.t, rtol=1e-12)
    assert np.abs(run.tau).max() == 0.25
    still = mr.simulate(wheel(effort=0.0), duration=0.1, controller=lambda t, q, v: [1000.0])
    assert not still.q.any()
    free = mr.simulate(wheel(effort=0.25).ideal(), duration=0.1, controller=lambda t, q, v: [1000.0])
    assert free.v[-1, 0] == pytest.approx(200.0)


def test_wrenches_of_some_runs_are_asked_for_in_states_of_all():
    """Runs in which a joint stops within a step are asked for apart; the others are in some configuration then, not in none."""
    robot = mr.load("crab").mechanism(floating=True).without_forces()
    for joint in robot.joints[1:]:
        robot = robot.with_force(f"rub {joint.name}", mr.Friction(coulomb=0.05), joint=joint.name)
    v = np.zeros((3, robot.nv))
    v[1, 6:], v[2, 7] = 0.3, -0.2

    def wind(t, q, v):
        np.testing.assert_allclose((q[..., 3:7] ** 2).sum(axis=-1), 1, atol=1e-6)
        return {"m3": mr.InWorld([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])}

    run = mr.simulate(robot, np.tile(robot.neutral(), (3, 1)), v, duration=0.05, external=wind)
    for k in range(3):
        alone = mr.simulate(robot, robot.neutral(), v[k], duration=0.05, external=wind)
        assert alone.status.ok
        np.testing.assert_allclose(run.q[:, k], alone.q, atol=1e-12)


@pytest.mark.parametrize("axes", ["frame", "world"])
def test_wrenches_may_depend_on_the_state_and_stand_in_world_axes(axes):
    """A weight m g at the tip of a turning rod: as if gravity pulled there; a drag -c v on a wheel: as if it were damping."""
    builder = mr.Builder("rod", gravity=(0, 0, 0))
    builder.body("rod", inertia.spatial_inertia(1.0, np.zeros(3), 0.5 * np.eye(3)), joint=mr.Revolute((0, 0, 1)))
    builder.frame("tip", "rod", se3.pose(None, (0.7, 0.0, 0.0)))
    robot, F = builder.build(), np.array([0.0, -3.0, 0, 0, 0, 0])

    def push(t, q, v):
        c, s = np.cos(q[..., 0]), np.sin(q[..., 0])
        turned = np.stack([-3.0 * s, -3.0 * c, *np.zeros((4, *c.shape))], axis=-1)
        return {"tip": mr.InWorld(F) if axes == "world" else turned}

    run = mr.simulate(robot, [0.4], duration=0.5, external=push)
    swing = solve_ivp(
        lambda _, x: [x[1], -3.0 * 0.7 * np.cos(x[0]) / 0.5], (0, 0.5), [0.4, 0], "DOP853", rtol=1e-12, atol=1e-12
    )
    assert run.q[-1, 0] == pytest.approx(swing.y[0, -1], abs=1e-9)
    dragged = mr.simulate(
        wheel(), v0=[3.0], duration=0.2, external=lambda t, q, v: {"disc": [0, 0, 0, 0, 0, -0.2 * v[0]]}
    )
    np.testing.assert_allclose(dragged.v[:, 0], 3 * np.exp(-0.4 * dragged.t), rtol=1e-10)


# ---- many runs ----


def test_one_run_that_fails_does_not_end_the_others():
    """Of six wheels one is given nonsense, one diverges; the others go on as they would alone."""
    robot, speeds = wheel(), np.arange(6.0)[:, None]

    def law(t, q, v):
        tau = 0.1 * np.ones_like(v)
        if t > 0.0495:
            tau[2], tau[4] = np.nan, 1e12
        return tau

    run = mr.simulate(robot, np.zeros((6, 1)), speeds, 0.1, controller=law)
    kinds = ["done", "done", "not finite", "done", "diverged", "done"]
    assert [s.kind for s in run.status] == kinds
    assert not run.status.ok
    assert str(run.status).startswith("6 runs: 4 done, 1 not finite, 1 diverged; run 2: not finite at t = 0.05 s")
    for k in (0, 1, 3, 5):
        np.testing.assert_allclose(run.v[:, k, 0], speeds[k] + 0.2 * run.t, rtol=1e-12)
    lost = run.of_run(2)
    assert lost.t[-1] == lost.status.t == pytest.approx(0.05)
    assert np.isfinite(run.q).all()


def arm(load=None) -> mr.Mechanism:
    """Two links about crossed axes; the load is welded to a frame of the second, by hand."""
    rng = np.random.default_rng(8)
    builder = mr.Builder("arm")
    own, hand = inertia.random(rng), se3.random(rng, reach=0.3)
    builder.body("upper", inertia.random(rng), joint=mr.Revolute((1, 0, 0)))
    total = own if load is None else own + inertia.moved(load, hand)
    builder.body("lower", total, parent="upper", joint=mr.Revolute((0, 1, 0)), at=se3.random(rng, reach=0.3))
    builder.frame("hand", "lower", hand)
    return builder.build()


def test_a_payload_is_mass_in_the_hand():
    """Equal to the same mass built into the link, in MuJoCo."""
    load = inertia.moved(inertia.box(0.7, (0.1, 0.2, 0.15)), se3.pose(None, (0.0, 0.1, 0.2)))
    q, v, times = np.array([0.3, -0.5]), np.array([0.2, 0.4]), np.array([0.5, 1.0])
    theirs = mujoco_poses(arm(load), q, v, times, 1e-3)
    poses = {}
    for name, robot in (("loaded", arm().with_payload("hand", load)), ("empty", arm())):
        run = mr.simulate(robot, q, v, 1.0, tick=0.5)
        poses[name] = robot.forward_kinematics(run.q[1:]).bodies
    assert np.abs(poses["loaded"] - theirs).max() < 1e-7
    assert np.abs(poses["empty"] - theirs).max() > 1e-2


# ---- loops, and runs side by side ----


def test_a_four_bar_moves_as_its_closed_form():
    bar = FourBar()
    start = np.array([0.7, 1.5])
    run = mr.simulate(four_bar(bar), *four_bar_state(bar, *start), 1.0, stepper=mr.RungeKutta4(5e-3), tick=0.1)
    closed = solve_ivp(
        lambda _, x: [x[1], bar.acceleration(*x, 0.0)], (0, 1), start, "DOP853", t_eval=run.t, rtol=1e-11, atol=1e-11
    )
    np.testing.assert_allclose(run.q[:, 0], closed.y[0], atol=1e-7)
    np.testing.assert_allclose(run.v[:, 0], closed.y[1], atol=1e-6)
    assert np.abs(run.robot.loop_error(run.q)).max() < 1e-12


def test_a_start_that_leaves_loops_open_is_closed_first():
    robot = four_bar(FourBar())
    run = mr.simulate(robot, [1.0, 0.0, 2.0], [1.0, 0.0, 0.0], 0.01, stepper=mr.RungeKutta4(5e-3))
    assert np.abs(robot.loop_error(run.q)).max() < 1e-12
    assert np.abs(robot.loop_jacobian(run.q) @ run.v[..., None]).max() < 1e-12


# adaptive steps carry one run, variational ones no loops
SIDE_BY_SIDE = [(which, s) for which in ("crab", "random") for s in STEPPERS[:4]] + [
    ("four-bar", s) for s in STEPPERS[:3]
]


@pytest.mark.parametrize(
    ("which", "stepper"), SIDE_BY_SIDE, ids=lambda x: x if isinstance(x, str) else type(x).__name__
)
def test_runs_side_by_side_are_single_runs(rng, crab, which, stepper):
    if which == "four-bar":
        bar = FourBar()
        robot = four_bar(bar)
        q, v = (np.stack(x) for x in zip(*(four_bar_state(bar, t, 1.0) for t in (0.4, 0.9)), strict=True))
    else:
        robot = crab if which == "crab" else random_mechanism(rng, 3, floating=True)
        q, v = np.stack([robot.random_configuration(rng) for _ in range(3)]), rng.normal(size=(3, robot.nv))
    law = mr.GravityCompensation(sample_time=2e-3) if which == "crab" else None
    together = mr.simulate(robot, q, v, 0.02, controller=law, stepper=stepper)
    assert together.q.shape == (len(together.t), *q.shape)
    for i in range(len(q)):
        alone = mr.simulate(robot, q[i], v[i], 0.02, controller=law, stepper=stepper)
        one = together.of_run(i)
        np.testing.assert_allclose(one.q, alone.q, atol=1e-11)
        np.testing.assert_allclose(one.v, alone.v, atol=1e-9)
        np.testing.assert_allclose(one.tau, alone.tau, atol=1e-9)
        np.testing.assert_allclose(one.energy, together.energy[:, i], rtol=1e-12, atol=1e-12)


# ---- accelerations of a recording ----


def test_accelerations_are_those_of_servos_at_their_time():
    """A servo's wave goes on while it runs: its torque is that of the tick, not that of the start."""
    crab = mr.load("crab").mechanism(base="m1")
    run = mr.simulate(mr.driven(crab, mr.gait("crab")), duration=0.2, stepper=mr.RungeKutta4(1e-4), tick=1e-4)
    slopes = (run.v[2:] - run.v[:-2]) / 2e-4
    assert run.vdot[1:-1] == pytest.approx(slopes, abs=2e-3 * np.abs(slopes).max())


def test_accelerations_beside_a_ground_are_what_its_steps_made():
    crab = mr.walking_robot("crab").robot()
    run = mr.simulate(mr.driven(crab, mr.found_gait("crab")), duration=0.2, ground=mr.Ground(), tick=2e-3)
    assert np.diff(run.v, axis=0) == pytest.approx(run.vdot[:-1] * 2e-3, abs=1e-9)


def test_an_assembly_moves_and_starts_as_its_file_says():
    crane = mr.load("crane")
    assert crane.setup.coordinates  # it says something of its own
    alike = mr.simulate(crane.robot(), *crane.initial_state(), duration=0.01)
    assert mr.simulate(crane, duration=0.01) == alike
    assert mr.simulate(crane, [0.1, 0.2], duration=0.01) == mr.simulate(crane.robot(), [0.1, 0.2], duration=0.01)
    assert [robot.key for robot in mr.Fleet([crane])] == [alike.robot.key]


def test_an_assembly_starts_on_its_ground():
    crab = mr.load("crab").with_setup(base="m1", floating=True)
    ground = mr.Ground(surface=mr.Plane(0.1))
    expected = mr.simulate(crab.robot(), duration=0.01, ground=ground)
    assert mr.simulate(crab, duration=0.01, ground=ground) == expected
    assert mr.Simulation(crab, ground=ground).advance(0.01).recording == expected


class Forgetful:
    """A controller whose `on` returns nothing, or a law whose step returns no memory."""

    sample_time = None

    def __init__(self, law=None):
        self.law = law

    def on(self, robot):
        return self.law


class NoMemory:
    def start(self):
        return None

    def step(self, memory, t, measured):
        return np.zeros(3)


def test_what_is_no_law_is_told():
    robot = mr.load("crab").robot()
    with pytest.raises(
        SimulationError, match=r"Forgetful.on\(robot\) returned None: expected a law with start\(\) and step"
    ):
        mr.simulate(robot, duration=0.01, controller=Forgetful())
    run = mr.simulate(robot, duration=0.01, controller=Forgetful(NoMemory()))
    assert "its step returned array([0., 0., 0.]): expected (memory, torques)" in str(run.status)
    nothing = mr.simulate(robot, duration=0.01, controller=lambda t, q, v: None)
    assert "the function returned None: expected torques" in str(nothing.status)


@pytest.mark.parametrize(("x", "below"), [(8.8e-5, 5e-5), (2e-4, 2e-4), (0.99e-3, 5e-4), (1e-3, 1e-3), (0.3, 0.2)])
def test_steps_that_are_advised_fill_a_run(x, below):
    assert _round_below(x) == below
