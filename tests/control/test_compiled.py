"""Controllers whose step is compiled: the same torques for one robot and for batches, with a compiler and without."""

import pickle
from functools import partial

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


def law_of(n, t, q, v):
    """A plain function of any batch."""
    return -n * q - np.sin(t) * v


TWICE = partial(law_of, 2.0)


@pytest.mark.parametrize("compiler", [True, False])
def test_what_the_law_takes_is_taken(compiler, monkeypatch, rng):
    """Lists, whole numbers, other axes of q and v, no runs at all, a time for each run, complex numbers."""
    if not compiler:
        monkeypatch.setattr(module, "stepped", lambda *given: None)
    robot, controller = ROBOTS["crab"], mr.PID(20.0, 0.0, 1.0, 0.1)
    made, law = mr.Compiled(controller).on(robot), controller.on(robot)
    one, four = rng.normal(size=3), rng.normal(size=(4, 3))
    states = [
        ([0.1, 0.2, 0.3], [0, 1, 0]), (one, four), (four, one), (four[:0], four[:0]), (four[None], four[:, None]),
        (np.arange(3), np.ones(3, dtype=int)), (one.astype(np.float32), one), (one + 1e-20j, four), (four.T[:, :3][:, 0], one),
    ]  # fmt: skip
    for q, v in states:
        for t in (0.0, 1, np.float64(2.0), np.array(3.0)):
            memory, tau = made.step(made.start(), t, Measured(q, v))
            expected = law.step(law.start(), t, Measured(np.asarray(q), np.asarray(v)))[1]
            assert tau.shape == expected.shape
            assert memory.shape == (*tau.shape[:-1], len(made.start()))
            np.testing.assert_allclose(tau, expected, rtol=1e-14, atol=1e-14)
            np.testing.assert_allclose(tau.imag, expected.imag, rtol=1e-14)


@pytest.mark.parametrize("compiler", [True, False])
def test_each_run_may_have_its_time(compiler, monkeypatch, rng):
    if not compiler:
        monkeypatch.setattr(module, "stepped", lambda *given: None)
    made, times, (q, v) = mr.Compiled(TWICE).on(ROBOTS["crab"]), np.arange(4.0), rng.normal(size=(2, 4, 3))
    tau = made.step(made.start(), times, Measured(q, v))[1]
    np.testing.assert_allclose(tau, law_of(2.0, times[:, None], q, v), rtol=1e-14)


@pytest.mark.parametrize("compiler", [True, False])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"q": np.zeros(5)}, r"q has shape \(5,\): expected \(3,\) or \(..., 3\)"),
        ({"q": np.zeros(2)}, r"q has shape \(2,\): expected \(3,\)"),
        ({"q": 1.0}, r"q has shape \(\): expected \(3,\)"),
        ({"v": np.zeros((4, 5))}, r"v has shape \(4, 5\): expected \(3,\)"),
        ({"memory": np.zeros(2)}, r"memory has shape \(2,\): expected \(7,\)"),
        ({"memory": None}, "memory = None: expected numbers"),
        ({"q": [[1.0], [1.0, 2.0]]}, r"q = \[\[1.0\], .*: expected numbers"),
        ({"t": "now"}, "t = 'now': expected numbers"),
        (
            {"q": np.zeros((4, 3)), "v": np.zeros((2, 3))},
            r"axes of runs are memory \(\), t \(\), q \(4,\), v \(2,\): expected the same for all, or none",
        ),
    ],
)
def test_what_fits_no_robot_is_refused(change, words, compiler, monkeypatch):
    if not compiler:
        monkeypatch.setattr(module, "stepped", lambda *given: None)
    law = mr.Compiled(mr.PID()).on(ROBOTS["crab"])
    given = {"memory": law.start(), "t": 0.0, "q": np.zeros(3), "v": np.zeros(3)} | change
    with pytest.raises(ControlError, match=f"compiled step of 'pid' on crab: {words}"):
        law.step(given["memory"], given["t"], Measured(given["q"], given["v"]))


def test_functions_make_values():
    robot, function = ROBOTS["crab"], np.add
    for f in (law_of, TWICE, lambda t, q, v: function(q, v)):
        a, b = (mr.Compiled(partial(f, 1.0) if f is law_of else f) for _ in range(2))
        if f is not law_of:
            assert a == b
            assert hash(a) == hash(b)
            assert a.on(robot) == b.on(robot)
        assert a != mr.Compiled(partial(law_of, 3.0))
    assert a.controller.on(robot) == b.controller.on(robot)


def proportional(t, q, v):
    return -q


def test_functions_are_equal_in_another_process():
    made = mr.Compiled(proportional)
    assert pickle.loads(pickle.dumps(made)) == made
    assert hash(pickle.loads(pickle.dumps(made))) == hash(made)
    assert len({made, mr.Compiled(proportional)}) == 1


def test_what_is_no_number_in_python_is_none_in_c():
    """Outside the domain of a root."""
    law = mr.Compiled(lambda t, q, v: np.sqrt(q) + v).on(ROBOTS["crab"])
    tau = law.step(law.start(), 0.0, Measured(np.array([4.0, -1.0, 9.0]), np.ones(3)))[1]
    np.testing.assert_array_equal(tau, [3.0, np.nan, 4.0])


def ramp(t):
    q = np.zeros(3)
    q[0] = np.where(t < 0.02, 0.1 * np.floor(50 * t), np.clip(t, 0.0, 0.3))
    return q, np.zeros(3), np.zeros(3)


@pytest.mark.parametrize("reference", [ramp, {"m0/hinge": lambda t: (np.maximum(t, 0.1), 0.0, 0.0)}])
def test_references_may_be_functions_of_numpy(reference):
    robot, law = ROBOTS["crab"], mr.PID(20.0, 5.0, 1.0, reference, sample_time=SAMPLE)
    one, other = (mr.simulate(robot, duration=0.5, controller=c) for c in (law, mr.Compiled(law)))
    assert np.abs(one.q[-1]).max() > 0.01
    assert np.abs(one.q - other.q).max() < 1e-10


class Filtered:
    """A law of a user's own, with a memory, that chooses as NumPy does."""

    sample_time = SAMPLE

    def on(self, robot):
        return self

    def start(self):
        return {"rate": np.zeros(3), "largest": 0.0}

    def step(self, memory, t, measured):
        rate = np.where(measured.q > 0, 0.9 * memory["rate"], memory["rate"]) + 0.1 * measured.v
        largest = np.maximum(memory["largest"], np.max(np.abs(rate)))
        return {"rate": rate, "largest": largest}, -np.clip(5 * measured.q + rate, -2, 2) * (largest < 3)


def test_laws_of_users_choose_as_numpy_does():
    robot = ROBOTS["crab"]
    true = expected(Filtered(), robot)
    assert np.abs(found(Filtered(), robot) - true).max() < CLOSE * np.abs(true).max()


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
