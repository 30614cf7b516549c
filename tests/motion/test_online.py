"""Jerk-limited motion from any state: Ruckig's, as a trajectory of ours."""

import builtins
import pickle

import numpy as np
import pytest
import ruckig

from modurob.errors import ControlError
from modurob.motion import Online, Trajectory, jerk_limited


def test_it_is_the_motion_that_ruckig_finds(rng):
    for _ in range(20):
        x0, x1, v0, a0, v1 = rng.normal(size=(5, 3)) * [[1], [1], [0.5], [0.5], [0.3]]
        v, a, j = rng.uniform([[1], [2], [5]], [[2], [5], [20]], (3, 3))
        ours = jerk_limited(x0, x1, v, a, j, v0, a0, v1)
        given = ruckig.InputParameter(3)
        given.current_position, given.current_velocity, given.current_acceleration = x0, v0, a0
        given.target_position, given.target_velocity = x1, v1
        given.max_velocity, given.max_acceleration, given.max_jerk = v, a, j
        theirs = ruckig.Trajectory(3)
        ruckig.Ruckig(3).calculate(given, theirs)
        assert ours.duration == pytest.approx(theirs.duration)
        for t in rng.uniform(0, ours.duration, 20):
            np.testing.assert_allclose(np.array(ours(float(t))), np.array(theirs.at_time(t)), atol=1e-7)
        assert np.all(ours.largest(3) <= j * (1 + 1e-6))
        assert np.all(ours.largest(2) <= np.maximum(a, np.abs(a0)) * (1 + 1e-6))


def test_from_rest_to_rest_one_coordinate_takes_an_s_curve():
    ours, line = jerk_limited(0.0, 1.0, 0.5, 1.0, 4.0), Trajectory.s_curve(0.0, 1.0, 0.5, 1.0, 4.0)
    assert ours.shape == ()
    assert ours.duration == pytest.approx(line.duration)
    t = np.linspace(0, line.duration, 50)
    np.testing.assert_allclose(ours(t).position, line(t).position, atol=1e-9)
    # nothing to do
    np.testing.assert_allclose(jerk_limited([1.0, 2.0], [1.0, 2.0], 1, 1, 1)(0.0).position, [1, 2])


def test_goals_may_change_on_the_way():
    online = Online(velocity=1.0, acceleration=[2.0, 3.0], jerk=20.0, sample_time=0.01)
    state = online.at([0.0, 0.0])
    passed = []
    for k in range(300):
        state = online.step(state, goal=[1.0, -1.0] if k < 40 else [-0.5, 0.2])
        passed.append(state)
    x, v, a = (np.array(y) for y in zip(*passed, strict=True))
    np.testing.assert_allclose(x[-1], [-0.5, 0.2], atol=1e-9)
    np.testing.assert_allclose(v[-1], 0, atol=1e-9)
    assert np.abs(v).max() <= 1.0 + 1e-9
    assert np.all(np.abs(a) <= [2.0 + 1e-9, 3.0 + 1e-9])
    assert np.abs(np.diff(a, axis=0)).max() <= 20.0 * 0.01 + 1e-9
    # no jump: positions are the integral of velocities
    np.testing.assert_allclose(np.diff(x, axis=0), (v[1:] + v[:-1]) / 2 * 0.01, atol=20 * 0.01**3)
    twin = pickle.loads(pickle.dumps(online))
    assert twin == online
    assert hash(twin) == hash(online)
    assert online != Online(1.0, 1.0, 1.0)


def test_a_goal_that_moves_is_met_and_followed():
    online, dt = Online(1.0, 2.0, 20.0, 0.01), 0.01
    state = online.at([0.5, -0.2])
    for k in range(250):
        state = online.step(state, [0.3 * k * dt, 0.0], [0.3, 0.0])
        assert np.abs(state.velocity).max() <= 1 + 1e-9
    np.testing.assert_allclose(state.position, [0.3 * 250 * dt, 0.0], atol=1e-9)
    np.testing.assert_allclose(state.velocity, [0.3, 0.0], atol=1e-9)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: jerk_limited(0.0, 1.0, 0.0, 1.0, 1.0), "velocity = 0.0: expected more than zero"),
        (lambda: jerk_limited(0.0, 1.0, 1.0, 1.0, 1.0, end_velocity=3.0), "no jerk-limited motion: .*exceeds"),
        (lambda: jerk_limited([0.0, 1.0], [0.0, 1.0, 2.0], 1, 1, 1), "shapes that do not fit together"),
        (
            lambda: Online(1.0, 1.0, 1.0).step(Online(1, 1, 1).at([0.0]), [1.0], [2.0]),
            r"goal_velocity \[2.0\]: expected less than",
        ),
        (lambda: Online(1.0, 1.0, -1.0), "jerk = -1.0: expected more than zero"),
    ],
)
def test_what_cannot_be_is_refused(make, words):
    with pytest.raises(ControlError, match=words):
        make()


def test_without_ruckig_the_extra_is_named(monkeypatch):
    whole = builtins.__import__

    def without(name, *rest):
        if name == "ruckig":
            raise ImportError
        return whole(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ControlError, match=r"pip install 'modurob\[planning\]'"):
        jerk_limited(0.0, 1.0, 1.0, 1.0, 1.0)
