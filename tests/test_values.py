"""Robots, assemblies, recordings and laws are values: copied, sent elsewhere and asked from anywhere, they say the same to the
last bit."""

import copy
import faulthandler
import multiprocessing
import os
import pickle
import threading
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import sympy

import modurob as mr
from tests.robots import random_mechanism, random_state
from tests.sampling import sampled

LAWS = [
    mr.PID(kp=20, ki=5, kd=3, reference=0.2),
    mr.ComputedTorque(kp=100, kd=20, reference=0.3),
    mr.GravityCompensation(),
    mr.ExtendedKalmanFilter(mr.HallSensors(noise=1e-3)),
]


def crab():
    return mr.load("crab").mechanism(base="m0")


def used(robot):
    """A robot that has been asked for things."""
    q, v, u = random_state(np.random.default_rng(0), robot)
    for _ in range(3):
        robot.forward_dynamics(q, v, u), robot.mass_matrix(q), robot.frame_pose(q, robot.bodies[-1])
    robot.forward_dynamics(np.tile(q, (20, 1)), np.tile(v, (20, 1)), np.tile(u, (20, 1)))
    return robot


WAYS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
}


@pytest.mark.parametrize("way", WAYS)
def test_copies_are_equal_and_answer_alike(way):
    rng = np.random.default_rng(1)
    rubbed = crab().with_force("r", mr.Friction(1, 2), joint="m0/hinge")
    robots = [used(crab()), used(random_mechanism(rng, 5, floating=True)), rubbed]
    for robot in robots:
        again = WAYS[way](robot)
        assert again == robot
        assert hash(again) == hash(robot)
        q, v, u = random_state(rng, robot)
        assert again.forward_dynamics(q, v, u).tobytes() == robot.forward_dynamics(q, v, u).tobytes()
    run = mr.simulate(crab(), [0.1, 0.2, 0.3], duration=0.05, controller=LAWS[0])
    for value in (
        mr.load("crab"),
        run,
        *LAWS,
        mr.RungeKutta4(1e-3),
        mr.Spring(1.0),
        mr.gait("snake"),
        mr.gait("snake").on(crab()),
    ):
        again = WAYS[way](value)
        assert again == value, value
        assert hash(again) == hash(value)


def test_values_that_differ_are_not_equal():
    robot = crab()
    assert robot != crab().with_force("r", mr.Friction(1), joint="m0/hinge")
    assert robot != mr.load("crab").mechanism(base="m1")
    assert robot != "crab"
    assert mr.PID(kp=20, kd=3) != mr.PID(kp=20, kd=4)
    runs = [mr.simulate(robot, [x, 0, 0], duration=0.01) for x in (0.1, 0.2)]
    assert runs[0] != runs[1]
    assert runs[0] == mr.simulate(crab(), [0.1, 0, 0], duration=0.01)


RESULTS = {
    "forward derivatives": lambda robot, q: robot.forward_dynamics_derivatives(q, q, q),
    "inverse derivatives": lambda robot, q: robot.inverse_dynamics_derivatives(q, q, q),
    "actuation": lambda robot, q: robot.actuation(q),
    "ellipsoid": lambda robot, q: robot.velocity_ellipsoid(q, "m3"),
    "linear": mr.linearised,
    "one goal": lambda robot, q: robot.inverse_kinematics("m3", robot.frame_pose(q, "m3")),
    "goals": lambda robot, q: robot.inverse_kinematics("m3", robot.frame_pose([q, 0 * q, 3 * q], "m3")),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", RESULTS)
def test_results_are_compared_by_their_numbers(kind, way):
    robot, q = crab(), np.array([0.1, 0.2, -0.3])
    found, again, other = (RESULTS[kind](robot, x) for x in (q, q, 2 * q))
    for same in (again, WAYS[way](found)):
        assert found == same
        assert (found != same) is False
        assert hash(found) == hash(same)
    assert found != (again, again)
    assert found != "found"
    assert (found == other) is (kind == "actuation")


def other_words(robot):
    """The robot with one thing changed that compiled code does not depend on: a name, a frame, what is drawn or touched."""
    shape, (first, frame) = robot.shapes[0], next(iter(robot.frames.items()))
    moved = np.diag([1.0, 1.0, 1.0, 1.0]) + np.eye(4, k=3) * 1e-12
    yield replace(robot, name="other")
    yield replace(robot, bodies=(*robot.bodies[:-1], "other"))
    yield replace(robot, joints=(replace(robot.joints[0], name="other"), *robot.joints[1:]))
    yield replace(robot, held=("other",))
    yield replace(robot, frames={**robot.frames, "other": frame})
    yield replace(robot, frames={**robot.frames, first: frame._replace(X=frame.X @ moved)})
    yield replace(robot, shapes=robot.shapes[1:])
    yield replace(robot, shapes=robot.shapes[1:], collisions=robot.shapes[:1])
    for own in ({"colour": "#123456"}, {"size": (9.0, *shape.size[1:])}, {"X": shape.X @ moved}, {"file": "a.stl"}):
        yield replace(robot, shapes=(shape._replace(**own), *robot.shapes[1:]))


@pytest.mark.parametrize("way", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_equations_are_values(way):
    eq = crab().equations("masses")
    assert eq.M is not None  # derived, and kept
    assert way(eq) == eq == crab().equations("masses")
    assert hash(way(eq)) == hash(eq)
    others = [crab().equations(), crab().equations("masses", method="lagrange"), crab().equations("masses", digits=3)]
    others += [mr.load("crab").mechanism(base="m3").equations("masses"), None]
    assert all(eq != other for other in others)


def test_robots_with_other_names_or_shapes_have_the_same_code_and_are_not_equal():
    robot, others = crab(), list(other_words(crab()))
    assert all(other.key == robot.key and other != robot for other in others)
    assert len(set(others)) == len(others) == 12


def test_numbers_are_compared_by_value():
    robot = crab()
    negative = {name: frame._replace(X=np.where(frame.X == 0, -0.0, frame.X)) for name, frame in robot.frames.items()}
    whole = tuple(s._replace(size=tuple(int(x) if x == int(x) else x for x in s.size)) for s in robot.shapes)
    assert replace(robot, frames=negative, shapes=whole) == robot


@pytest.mark.parametrize("way", ["deepcopy", "pickle"])
@pytest.mark.parametrize("generator", ["", "hopf"])
def test_a_simulation_half_way_goes_on_alike(way, generator):
    law = LAWS[0]
    if generator:
        law = replace(law, reference=mr.gait("snake", generator=generator, amplitude=0.1).on(crab()))
    simulation = mr.Simulation(crab(), [0.1, 0.2, 0.3], controller=law, estimator=LAWS[3], seed=4)
    simulation.advance(0.02)
    again = WAYS[way](simulation)
    runs = [x.advance(0.02).recording for x in (simulation, again)]
    assert len(runs[0].t) == 41
    assert runs[0] == runs[1]


def test_a_robot_cannot_be_changed():
    robot = crab()
    with pytest.raises(AttributeError):
        robot.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        robot.inertia[0] = 0
    with pytest.raises(TypeError):
        robot.frames["m9"] = None


def arrays_in(x, seen):
    """All arrays that a value is made of."""
    if id(x) in seen or isinstance(x, type):
        return
    seen[id(x)] = x
    if isinstance(x, np.ndarray):
        yield x
    elif isinstance(x, tuple | list):
        yield from (a for y in x for a in arrays_in(y, seen))
    elif type(x).__module__.startswith("modurob"):
        yield from arrays_in(getattr(x, "__dict__", {}), seen)
    elif isinstance(x, Mapping):
        yield from (a for y in x.values() for a in arrays_in(y, seen))


def linkage():
    robot = mr.Assembly.from_grid([["B", "B"], ["B", "B"]]).mechanism()
    return robot.with_line("rope", [("world", (0, 0, 0.2)), ("m3", (0, 0, 0))], mr.Elastic(stiffness=100.0, rest=0.2))


WITH_ARRAYS = {
    "robot": lambda: used(crab().with_force("s", mr.Spring(1.0), a="m3", b="world")),
    "linkage": linkage,
    "on ground": lambda: mr.load("crab").mechanism(floating=True).on_ground(mr.Ground()).with_body_contact(),
    "joint": lambda: mr.Universal((1, 0, 0), (0, 1, 0)),
    "recording": lambda: mr.simulate(crab(), [0.1, 0.2, 0.3], duration=0.005),
    "law": lambda: mr.PID(kp=np.ones(3), reference=mr.Trajectory.cubic(np.zeros(3), np.ones(3), 1.0)),
    "tasks": lambda: mr.KinematicControl([mr.PointTask("m3", reference=np.ones(3))]),
    "filter": lambda: mr.ExtendedKalmanFilter(Q=np.eye(6)),
    "path": lambda: mr.PoseTrajectory.line(np.eye(4), np.eye(4), 1.0),
    "goals": lambda: (
        mr.PoseGoal("m3", np.eye(4)),
        mr.PointGoal("m3", [1.0, 0, 0]),
        mr.DirectionGoal("m3", [1.0, 0, 0]),
        mr.JointGoal({"m0/hinge": 0.1}),
    ),
    "observers": lambda: (
        mr.MomentumObserver(crab()),
        mr.CollisionDetector(crab(), np.ones(3)),
        mr.RecursiveIdentification(crab(), noise=np.ones(3)),
        mr.DriveFilter(crab().with_drive("m0/hinge", "backbone-hinge")),
    ),
    "measurements": lambda: mr.MotionData(np.arange(3.0), np.ones((3, 3)), np.ones((3, 3))),
    "organism": lambda: mr.Organism(mr.load("crab"), q=np.ones(10)),
    "wrench": lambda: mr.InWorld(np.ones(6)),
    "framework": lambda: mr.prism(3),
    "arm": lambda: (crab().dh("m3"), crab().screws("m3")),
}


@pytest.mark.parametrize("way", [lambda x: x, *WAYS.values()], ids=["itself", *WAYS])
@pytest.mark.parametrize("kind", WITH_ARRAYS)
def test_no_array_of_a_value_can_be_written(kind, way):
    value = WITH_ARRAYS[kind]()
    again = way(value)
    found = list(arrays_in(again, {}))
    assert found
    assert not any(a.flags.writeable for a in found)
    assert again == value == WITH_ARRAYS[kind]()
    assert hash(again) == hash(value) == hash(WITH_ARRAYS[kind]())


def test_a_frame_that_is_moved_does_not_move_the_robot():
    robot, q = crab(), np.zeros(3)
    before = robot.frame_pose(q, "m1/B").tobytes()
    with pytest.raises(ValueError, match="read-only"):
        robot.frames["m1/B"].X[:3, 3] += 1.0
    assert robot.frame_pose(q, "m1/B").tobytes() == before


def test_arrays_of_users_are_copied_into_robots():
    inertia = mr.spatial.inertia.point(1.0, (0.1, 0.2, 0.3))
    own = {name: np.eye(4) for name in ("at", "seat", "frame", "shape", "touched", "predecessor", "successor")}
    builder = mr.Builder("mine", gravity=(g := np.array([0.0, 0.0, -9.81])))
    builder.body("a", inertia, joint=mr.Spherical(), at=own["at"], seat=own["seat"])
    builder.frame("tip", "a", own["frame"])
    builder.shape("box", (1.0, 1.0, 1.0), "a", own["shape"])
    builder.collision("box", (1.0, 1.0, 1.0), "a", own["touched"])
    builder.loop("on", mr.Spherical(), "world", "tip", own["predecessor"], own["successor"])
    robot = builder.build()
    sent = pickle.dumps(robot)
    for x in (g, inertia, *own.values()):
        assert x.flags.writeable
        x += 0.5
    assert builder.build() == robot == pickle.loads(sent)
    assert pickle.loads(pickle.dumps(robot)) == robot


def test_arrays_of_users_in_tables_are_copied():
    """A view of an array that is written later, too."""
    robot, own = crab(), np.zeros((2, 3))
    own[0] = 0, 0, -1.0
    hung = replace(robot, gravity=own[0])
    before, own[:] = hung.gravity_forces([0.1, 0.2, 0.3]), 5.0
    assert replace(robot, gravity=np.array([0, 0, -1.0])) == hung
    assert hung.gravity_forces([0.1, 0.2, 0.3]).tobytes() == before.tobytes()
    assert not hung.gravity.flags.writeable


def test_arrays_and_lists_of_users_are_copied_into_recipes():
    k, weights, amplitude = np.ones(3), [1.0, 2.0], {"m0/hinge": 0.2}
    values = [mr.PID(kp=k), mr.PointGoal("m3", k), mr.InWorld(k), mr.JointTask(["m0/hinge"], reference=k)]
    values += [mr.motion.Online(velocity=k, acceleration=1.0, jerk=1.0), mr.LQR(position=weights)]
    values += [mr.Gait(mr.motion.gaits.Snake(), amplitude=amplitude), mr.JointProperties(lower=k, upper=weights)]
    values += [mr.Tie(1.0, "crab", "rope", ["m0/3", ("m1", k)], mr.Tension()), mr.Organism(mr.load("crab"), q=k)]
    values += [mr.CollisionDetector(crab(), threshold=k), mr.RecursiveIdentification(crab(), noise=k)]
    before = copy.deepcopy(values)
    k[0], weights[0], amplitude["m0/hinge"] = 9.0, 9.0, 0.9
    assert values == before
    assert [*map(hash, values)] == [*map(hash, before)]
    assert mr.PID(kp=[1, 2, 3]) == mr.PID(kp=(1, 2, 3)) != mr.PID(kp=(1, 2, 4))


def test_numbers_of_a_robot_may_be_complex():
    """Kernels are for real numbers; the derivative by a mass is that by differences."""

    def pendulum(mass, stiffness=1.0):
        builder = mr.Builder("pendulum")
        builder.body("rod", mr.spatial.inertia.point(mass, (0, 0.3, -1)), joint=mr.Revolute((1, 0, 0)))
        builder.force("spring", mr.JointSpring(stiffness), joint="rod")
        return builder.build()

    tau = [pendulum(m).inverse_dynamics([0.3], [0.2], [0.1]) for m in (2.0 + 1e-20j, 3.0, 1.0)]
    assert np.allclose(tau[0].imag / 1e-20, (tau[1] - tau[2]) / 2, rtol=1e-12)
    springs = [np.complex128(1 + 1j), np.complex128(1 + 2j), 1 + 1j]
    first, other, same = (pendulum(2.0, k) for k in springs)
    assert first.key != other.key
    assert first == same


def test_symbols_are_told_apart():
    def point(mass):
        builder = mr.Builder("point")
        builder.body("m", mr.spatial.inertia.point(mass, (0, 0, -1)), joint=mr.Revolute((1, 0, 0)))
        return builder.build()

    masses = [sympy.Symbol("m"), sympy.Symbol("m", positive=True), sympy.Dummy("m"), sympy.Float(0.1), 0.1 + 2e-17]
    robots = [point(m) for m in masses]
    assert all(a == b if i == k else a != b for i, a in enumerate(robots) for k, b in enumerate(robots))
    assert robots[0] == point(sympy.Symbol("m"))


def asked(seed, out=None):
    """Answers of a robot that was never asked before, as bytes."""
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 3, kinds=("revolute", "prismatic"))
    q, v, u = random_state(rng, robot)
    found = b"".join(
        x.tobytes()
        for x in (
            robot.forward_dynamics(q, v, u),
            robot.inverse_dynamics(q, v, u),
            robot.mass_matrix(np.tile(q, (9, 1))),
            mr.simulate(robot, q, 0.1 * v, 0.004).q,
        )
    )
    if out is not None:
        out.append(found)
    return found


def test_eight_threads_on_fresh_robots_say_the_same():
    """A thousand trials: 125 robots, each new to all of eight threads that meet at it."""
    for seed in range(125):
        answers, barrier = [], threading.Barrier(8)

        def trial(seed=seed, answers=answers, barrier=barrier):
            barrier.wait()
            asked(seed, answers)

        threads = [threading.Thread(target=trial) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(answers) == 8
        assert len(set(answers)) == 1


def _elsewhere(robot_and_seed):
    robot, seed = robot_and_seed
    q, v, u = random_state(np.random.default_rng(seed), robot)
    return robot.forward_dynamics(q, v, u).tobytes() + asked(seed)


@contextmanager
def busy_threads():
    """Two threads that ask without a pause."""
    stop = threading.Event()

    def ask():
        while not stop.is_set():
            asked(99)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _forked(work):
    """A child process that answers with its exit status: 0 if it found these bytes; one that hangs is ended."""
    arguments, expected = work
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(100, exit=True)
        os._exit(0 if _elsewhere(arguments) == expected else 3)
    return child


def eight_forked(robot, seeds):
    """Eight children at once, while threads of this process ask and compile: each finds the bytes that this process found."""
    work = [((robot, seed), _elsewhere((robot, seed))) for seed in seeds]
    with busy_threads():
        children = [_forked(w) for w in work]
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8


def spawned(robot, seeds, processes=8):
    """A pool of processes that start from nothing, beside busy threads."""
    work = [(robot, seed) for seed in seeds]
    with busy_threads(), multiprocessing.get_context("spawn").Pool(processes) as pool:
        found = pool.map_async(_elsewhere, work, chunksize=1).get(timeout=1000)
    assert found == [_elsewhere(w) for w in work]


def test_eight_forked_processes_say_the_same():
    """Robots that were used here go on there."""
    eight_forked(used(crab()), range(8))


@pytest.mark.parametrize("processes", sampled((2, 8), 1))
def test_spawned_processes_say_the_same(processes):
    spawned(used(crab()), range(8), processes)


@pytest.mark.judge
def test_a_thousand_trials_in_forked_processes():
    for first in range(0, 1000, 8):
        eight_forked(used(crab()), range(first, first + 8))


@pytest.mark.judge
def test_a_thousand_trials_in_spawned_processes():
    spawned(used(crab()), range(1000))
