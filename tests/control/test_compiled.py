"""Controllers whose step is compiled: the same torques for one robot and for batches, with a compiler and without."""

import pickle

import numpy as np
import pytest

import modurob as mr
from modurob.control import compiled as module
from modurob.errors import ControlError
from modurob.simulation import Measured
from modurob.simulation.law import Seen
from tests.control.test_code import CLOSE, ROBOTS, SAMPLE, bent, expected, recipe, torques
from tests.control.test_laws import soft

LAWS = [("pid", "crab"), ("kinematic", "crab"), ("operational-space", "lwa4p"), ("elastic-linearisation", "soft")]


def robot_of(name):
    return soft(ROBOTS["crab"]) if name == "soft" else ROBOTS[name]


def found(law, robot):
    made = mr.Compiled(law).on(robot)
    return torques(made.start(), lambda m, t, q, v, x: made.step(m, t, Seen.of(q, v, x)), robot)


@pytest.mark.parametrize("compiler", [True, False])
@pytest.mark.parametrize(("law", "name"), LAWS)
def test_torques_are_those_of_the_law(law, name, compiler, monkeypatch):
    if not compiler:
        monkeypatch.setattr(module, "stepped", lambda *given: None)
    robot = robot_of(name)
    controller = recipe(law, robot)
    true = expected(controller, robot)
    # differences of torques over short times make rounding larger
    close = 1e-9 if name == "soft" else CLOSE
    assert np.abs(found(controller, robot) - true).max() < close * np.abs(true).max()


@pytest.mark.parametrize("shape", [(1,), (7,), (2, 3)])
@pytest.mark.parametrize("law", ["pid", "computed-torque"])
def test_batches_are_their_rows(law, shape, rng):
    robot = ROBOTS["crab"]
    made = mr.Compiled(recipe(law, robot)).on(robot)
    memory, rows = made.start(), {at: made.start() for at in np.ndindex(shape)}
    for k in range(5):
        q, v = rng.normal(size=(2, *shape, 3))
        memory, tau = made.step(memory, SAMPLE * k, Measured(q, v))
        assert tau.shape == (*shape, 3)
        for at in rows:
            rows[at], alone = made.step(rows[at], SAMPLE * k, Measured(q[at], v[at]))
            np.testing.assert_array_equal(tau[at], alone)


@pytest.mark.parametrize("law", ["pid", "kinematic"])
def test_a_run_is_the_same(law):
    robot = ROBOTS["crab"]
    controller = recipe(law, robot)
    starts = bent(robot) + np.array([[0.0, 0, 0], [0.1, -0.1, 0.2]])
    for q in (starts[0], starts):
        runs = [mr.simulate(robot, q, duration=0.3, controller=c) for c in (controller, mr.Compiled(controller))]
        assert runs[0].status.ok
        assert np.abs(runs[0].q - runs[1].q).max() < 1e-10


def test_it_may_stand_inside_another_law():
    robot, inner = ROBOTS["crab"], recipe("pid", ROBOTS["crab"])
    one, other = (
        mr.simulate(robot, bent(robot), duration=0.1, controller=mr.Delayed(c)) for c in (inner, mr.Compiled(inner))
    )
    assert np.abs(one.q - other.q).max() < 1e-10
    with pytest.raises(
        ControlError, match=r"'delayed' on crab .*compiled step cannot be traced again: expected its controller"
    ):
        mr.controller_c(mr.Delayed(mr.Compiled(inner)), robot)


def test_compiled_laws_are_values():
    robot = ROBOTS["crab"]
    made = mr.Compiled(recipe("pid", robot))
    law = made.on(robot)
    assert made == mr.Compiled(recipe("pid", robot)) != mr.Compiled(recipe("lqr", robot))
    assert made.sample_time == SAMPLE
    again = pickle.loads(pickle.dumps(law))
    assert again == law
    assert hash(again) == hash(law)
    state = Measured(bent(robot), np.ones(3))
    np.testing.assert_array_equal(again.step(again.start(), 0.0, state)[1], law.step(law.start(), 0.0, state)[1])


def test_what_is_not_finite_stays_so():
    law = mr.Compiled(mr.PID(reference=0.1)).on(ROBOTS["crab"])
    tau = law.step(law.start(), 0.0, Measured(np.array([0.1, np.nan, 0.2]), np.zeros(3)))[1]
    np.testing.assert_array_equal(np.isnan(tau), [False, True, False])


def test_a_law_that_needs_more_than_is_measured():
    law = mr.Compiled(recipe("elastic-linearisation", robot_of("soft"))).on(robot_of("soft"))
    with pytest.raises(ControlError, match="measures states of forces, x, which an estimator"):
        law.step(law.start(), 0.0, Measured(np.zeros(3), np.zeros(3)))


def test_what_is_no_controller():
    with pytest.raises(ControlError, match="controller None: expected one such as"):
        mr.Compiled(None)
    law = mr.WholeBody([mr.JointTask(["m0/hinge"], reference=[0.0])], sample_time=SAMPLE)
    with pytest.raises(ControlError, match=r"'delayed' on crab cannot be written as C: its step solves"):
        mr.Compiled(mr.Delayed(law)).on(ROBOTS["crab"])
