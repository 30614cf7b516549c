"""Robots, assemblies, recordings and laws are values: copied, sent elsewhere and asked from anywhere, they say the same to the
last bit."""

import copy
import multiprocessing
import os
import pickle
import threading

import numpy as np
import pytest

import modurob as mr
from tests.robots import random_mechanism, random_state

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
    for value in (mr.load("crab"), run, *LAWS, mr.RungeKutta4(1e-3), mr.Spring(1.0), mr.gait("snake")):
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


def test_a_robot_cannot_be_changed():
    robot = crab()
    with pytest.raises(AttributeError):
        robot.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        robot.inertia[0] = 0
    with pytest.raises(TypeError):
        robot.frames["m9"] = None


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


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_eight_processes_say_the_same(method):
    """Robots that were used here are sent there, while threads of this process hold on to theirs."""
    if method == "fork" and not hasattr(os, "fork"):
        pytest.fail("this system forks no processes: the test cannot judge it")
    robot = used(crab())
    work = [(robot, seed) for seed in range(8)]
    expected = [_elsewhere(w) for w in work]
    stop = threading.Event()

    def busy():
        while not stop.is_set():
            asked(99)

    threads = [threading.Thread(target=busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        with multiprocessing.get_context(method).Pool(8) as pool:
            assert pool.map(_elsewhere, work, chunksize=1) == expected
    finally:
        stop.set()
        for thread in threads:
            thread.join()
