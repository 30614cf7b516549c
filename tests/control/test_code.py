"""Controllers as C: every law of the registry, compiled, does what it does in Python, or says why it cannot be written."""

import ctypes
import math
import re
import subprocess
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

import modurob as mr
from modurob.algorithms.forces import acting
from modurob.control import LAWS, algebraic_laws, pid
from modurob.errors import ControlError, SimulationError
from modurob.kernels.compiler import find_compiler
from modurob.simulation.law import Seen, as_controller
from modurob.spatial.scalars import clip
from tests.control.test_laws import soft
from tests.oracles.four_bar import FourBar
from tests.oracles.linkages import four_bar_robot

FLAGS = ["-O2", "-Wall", "-Wextra", "-Werror", "-std=c99", "-pedantic", "-fPIC", "-shared"]
COMPILER = find_compiler()
SAMPLE, SAMPLES = 0.01, 50
# of the largest torque: what other orders of sums and other sines leave
CLOSE = 1e-12
# second differences of torques over short times, which make rounding larger
DIFFERENCED = 1e-9
ROBOTS = {name: mr.load(name).robot() for name in ("crab", "double_pendulum", "lwa4p", "lwa4p_angled")}
# of iterations
REFUSED = {"whole-body"}
# frames that can move in all directions, long code, and what the arm, which has friction, is refused for
ON = dict.fromkeys(("hybrid", "operational-space"), ("lwa4p", "lwa4p_angled"))
ON |= dict.fromkeys(("adaptive", "backstepping", "elastic-linearisation", "swing-up"), ("crab", "double_pendulum"))
ELASTIC = ("backstepping", "elastic-linearisation")

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler")


def bent(robot):
    return np.resize([0.2, 0.5, 0.1, 0.9, 0.2, 0.3], robot.nq)


def recipe(law, robot):
    """A law for a robot, named as in the registry, or with a variant behind a colon; torques of some joints are limited."""
    n, frame = robot.nv, "wrist/flange" if "lwa4p" in robot.name else robot.bodies[-1]
    limit = {"saturation": np.resize([5.0, np.inf, 6.0], n)}
    common, still = {"sample_time": SAMPLE, **limit}, np.resize([0.1, 0.2, -0.1], n)
    curve = mr.Trajectory.quintic(np.zeros(n), np.resize([0.3, -0.2, 0.4], n), 0.3).delayed(0.05)
    inner, pose = mr.ComputedTorque(30.0, 3.0, curve, sample_time=SAMPLE), robot.frame_pose(bent(robot), frame)
    place = {"frame": frame, "goal": pose[:3, 3], "joint_damping": 0.5, **common}
    made = {
        "adaptive": lambda: mr.AdaptiveControl(curve, 5.0, 0.5, 2.0, **common),
        "admittance": lambda: mr.Admittance(curve, 20.0, 5.0, 0.5, 40.0, 8.0, 10.0, **common),
        "backstepping": lambda: mr.Backstepping(still, 4.0, 0.5, 20.0, 0.1, **common),
        "cascade": lambda: mr.Cascade(curve, feed_forward=("gravity", "speed"), rule="tustin", **common),
        "cascade:ahead": lambda: mr.Cascade(curve, feed_forward=("inverse-dynamics",), **common),
        "computed-torque": lambda: mr.ComputedTorque(np.diag(np.resize([30.0, 20, 10], n)), 3.0, curve, **common),
        "delayed": lambda: mr.Delayed(inner, samples=2, **limit),
        "disturbance-observer": lambda: mr.DisturbanceObserver(inner, gain=10.0, **limit),
        "elastic-linearisation": lambda: mr.ElasticLinearisation(still, pole=4.0, **common),
        "feed-forward": lambda: mr.FeedForward(curve, 3.0, 1.0, **common),
        "friction-compensation": lambda: mr.FrictionCompensation(inner, share=0.8, **limit),
        "gravity": lambda: mr.GravityCompensation(5.0, 1.0, curve, **common),
        "gravity:gait": lambda: mr.GravityCompensation(5.0, 1.0, mr.gait("snake", amplitude=0.2), **common),
        "hybrid": lambda: mr.HybridForcePosition(normal=(0.0, 1.0, 1.0), force=0.5, kp=20.0, kd=5.0, **place),
        "impedance": lambda: mr.Impedance(stiffness=50.0, damping=[3.0, 2.0, 1.0], **place),
        "kinematic": lambda: mr.KinematicControl(curve, frame, "position", **common),
        "kinematic:pose": lambda: mr.KinematicControl(pose, frame, scheme="transpose", **common),
        "lqr": lambda: mr.LQR(still, 4.0, 1.0, 0.2, **common),
        "operational-space": lambda: mr.OperationalSpace(kp=20.0, kd=5.0, **place),
        "pid": lambda: mr.PID(20.0, 30.0, 1.0, curve, filter_time=0.05, **common),
        "pid:linearised": lambda: mr.PID(
            20.0, 30.0, 1.0, curve, anti_windup="back-calculation", derivative="measurement", linearise=True, **common
        ),
        "sliding-mode": lambda: mr.SlidingMode(curve, 5.0, 0.5, 0.5, 0.2, **common),
        "slotine-li": lambda: mr.SlotineLi(curve, 5.0, 0.5, **common),
        "swing-up": lambda: mr.SwingUp(2.0, 3.0, **common),
    }
    return made[law]() if law else sorted(made)


CASES = [(law, name) for law in recipe("", ROBOTS["crab"]) for name in ON.get(law, ("crab", "lwa4p"))]


class Compiled(NamedTuple):
    """A controller in C: its first memory, and its step."""

    start: np.ndarray
    step: object
    sample_time: float | None = SAMPLE

    def on(self, robot):
        return Law(*self)


class Law:
    def __init__(self, start, step, sample_time):
        self.start, self._step = lambda: start, step

    def step(self, memory, t, measured):
        return self._step(memory, t, q=measured.q, v=measured.v)


def compiled(text, folder, sample_time=SAMPLE):
    """The controller that a C file defines, as a strict compiler makes it."""
    # a library of the same name would be taken for the one that is loaded
    source, made = folder / "law.c", folder / f"law{len(list(folder.iterdir()))}.so"
    source.write_text(text)
    subprocess.run([*COMPILER.command, *FLAGS, str(source), "-o", str(made), "-lm"], check=True)
    library, (name, arguments) = ctypes.CDLL(str(made)), re.search(r"void (\w+)_step\((.*)\);", text).groups()
    n, nv = (int(re.search(rf"#define {name.upper()}_{size} (\d+)", text)[1]) for size in ("MEMORY", "NV"))
    function, order = getattr(library, f"{name}_step"), [a.split("*")[-1] for a in arguments.split(", ")]
    start = np.array((ctypes.c_double * max(1, n)).in_dll(library, f"{name}_start"))[:n]

    def step(memory, t, **inputs):
        given = {"memory": memory, "next_memory": np.empty(n), "u": np.empty(nv), **inputs}
        arrays = {key: np.ascontiguousarray(x, dtype=float) for key, x in given.items()}
        as_c = {key: ctypes.c_void_p(x.ctypes.data) for key, x in arrays.items()}
        function(*(ctypes.c_double(t) if key == "double t" else as_c[key] for key in order))
        return arrays["next_memory"], arrays["u"]

    return Compiled(start, step, sample_time)


def torques(start, step, robot, seed=1):
    """Those of a law over samples of random states, (samples, nv)."""
    rng, memory, found = np.random.default_rng(seed), start, []
    for k in range(SAMPLES):
        q, v, x = (rng.uniform(-0.5, 0.5, n) for n in (robot.nq, robot.nv, acting(robot).nx))
        memory, u = step(memory, SAMPLE * k, q=bent(robot) + q, v=2 * v, x=2 * x)
        found.append(u)
    return np.array(found)


def expected(controller, robot):
    law = as_controller(controller).on(robot)
    return torques(law.start(), lambda m, t, q, v, x: law.step(m, t, Seen.of(q, v, x)), robot)


def difference(controller, robot, folder, text=None):
    """How far C is from Python, as a part of the largest torque."""
    made, true = compiled(text or mr.controller_c(controller, robot), folder), expected(controller, robot)
    return np.abs(torques(*made[:2], robot) - true).max() / np.abs(true).max()


def test_every_law_is_written_or_refused():
    assert {law.partition(":")[0] for law, _ in CASES} | REFUSED == set(LAWS)
    assert set(algebraic_laws()) == set(LAWS) - REFUSED


@pytest.mark.parametrize(("law", "name"), CASES)
def test_c_and_python_agree(law, name, tmp_path):
    robot = soft(ROBOTS[name]) if law in ELASTIC else ROBOTS[name]
    controller = recipe(law, robot)
    true = expected(controller, robot)
    at_limits = np.abs(true) == np.resize([5.0, np.inf, 6.0], robot.nv)
    assert 0 < at_limits.sum() < at_limits.size
    assert difference(controller, robot, tmp_path) < (DIFFERENCED if law in ELASTIC else CLOSE)


def test_swapped_arguments_are_told():
    with pytest.raises(ControlError, match=r"with the robot crab first: expected controller_c\(controller, robot\)"):
        mr.controller_c(ROBOTS["crab"], mr.PID())


@pytest.mark.parametrize("law", sorted(REFUSED))
def test_laws_of_iterations_are_refused(law):
    robot = ROBOTS["crab"]
    made = mr.WholeBody([mr.JointTask([j.name for j in robot.joints], reference=np.zeros(3))])
    with pytest.raises(
        ControlError,
        match=f"'{law}' on crab cannot be written as C: its step solves a quadratic programme by iterations; laws",
    ) as error:
        mr.controller_c(made, robot)
    assert str(error.value).endswith(", ".join(algebraic_laws()))


def test_a_forgotten_anti_windup_is_noticed(tmp_path, monkeypatch):
    robot = ROBOTS["crab"]
    controller = recipe("pid", robot)
    with monkeypatch.context() as changed:
        changed.setattr(pid, "select", lambda a, b, x, y: y)
        text = mr.controller_c(controller, robot)
    assert difference(controller, robot, tmp_path, text) > 1e-3


def test_a_forgotten_limit_is_noticed(tmp_path):
    text = mr.controller_c(recipe("computed-torque", ROBOTS["crab"]), ROBOTS["crab"])
    without = re.sub(r"\(5\.0 < [^?]*\?", "(5.0 < 0.0 ?", text)
    assert without != text
    assert difference(recipe("computed-torque", ROBOTS["crab"]), ROBOTS["crab"], tmp_path, without) > 1e-3


@pytest.mark.parametrize(("law", "name"), [("pid", "crab"), ("computed-torque", "lwa4p"), ("kinematic", "crab")])
def test_a_closed_loop_is_the_same(law, name, tmp_path):
    robot = ROBOTS[name]
    controller = recipe(law, robot)
    made = compiled(mr.controller_c(controller, robot), tmp_path)
    one, other = (mr.simulate(robot, bent(robot), duration=0.3, controller=c) for c in (controller, made))
    assert one.status.ok
    assert np.abs(one.q[-1] - bent(robot)).max() > 0.05
    for run in (one.q - other.q, one.v - other.v):
        assert np.abs(run).max() < 1e-10


@pytest.mark.parametrize("law", ["pid", "slotine-li", "computed-torque", "gravity"])
def test_a_floating_robot(law, tmp_path):
    robot = mr.load("crab").mechanism(base="m0", floating=True)
    given = {} if law == "slotine-li" else {"kp": 30.0, "kd": 3.0}
    given |= {"partial": True} if law == "computed-torque" else {}
    made = LAWS[law](reference=0.2, saturation=4.0, sample_time=SAMPLE, **given)
    assert difference(made, robot, tmp_path) < CLOSE


def test_a_robot_with_friction_and_springs(tmp_path):
    robot = ROBOTS["crab"].with_force("rust", mr.Friction(coulomb=0.5, viscous=0.2), joint="m0/hinge")
    robot = robot.with_force("spring", mr.JointSpring(3.0), joint="m2/hinge")
    inner = mr.ComputedTorque(30.0, 3.0, 0.2, sample_time=SAMPLE)
    assert difference(mr.FrictionCompensation(inner), robot, tmp_path) < CLOSE


def test_a_plain_function(tmp_path):
    def law(t, q, v):
        return clip(-20.0 * q**3 - np.sin(t) * v * np.abs(v), -2.0, 2.0)

    assert difference(law, ROBOTS["crab"], tmp_path) < CLOSE


def test_a_reference_from_outside(tmp_path):
    """The same law for any reference: as one that has it."""
    robot, there = ROBOTS["crab"], np.array([0.3, 0.2, -0.4])
    for law in (
        lambda x: mr.PID(20.0, 5.0, 1.0, x),
        lambda x: mr.Delayed(mr.ComputedTorque(9.0, 3.0, x, sample_time=SAMPLE)),
    ):
        text = mr.controller_c(law(0.0), robot, reference_input=True)
        assert "const double *q_d, const double *v_d, const double *vdot_d, double *next_memory" in text
        start, step, _ = compiled(text, tmp_path)
        given = partial(step, q_d=there, v_d=np.zeros(3), vdot_d=np.zeros(3))
        found = torques(start, given, robot)
        true = expected(law(there), robot)
        assert np.abs(found - true).max() < CLOSE * np.abs(true).max()


def test_laws_without_a_reference_of_joints_have_no_input_for_it():
    with pytest.raises(
        ControlError, match="reference_input: 'swing-up' has no reference of joints: expected a law such as"
    ):
        mr.controller_c(mr.SwingUp(1.0), ROBOTS["crab"], reference_input=True)


def test_the_file_says_how_it_is_used():
    text = mr.controller_c(mr.PID(3.0, 2.0, 1.0, 0.1, filter_time=0.1, sample_time=0.002), ROBOTS["crab"])
    head = text.partition("*/")[0]
    assert "Call crab_pid_step every 0.002 s and hold u until the next call." in head
    for line in ("q[1]           m2/hinge [rad]", "v[2]           m4/hinge [rad/s]", "u[0]           m0/hinge [N m]"):
        assert f" * {line}\n" in head
    assert "memory[0]      0 before the first call, 1 after it" in head
    assert "memory[4]      rate[0]" in head
    for line in ("NQ 3", "NV 3", "MEMORY 7", "PERIOD 0.002 /* [s] */"):
        assert f"#define CRAB_PID_{line}\n" in text
    assert re.findall(r"#include.*", text) == ["#include <math.h>"]
    often = mr.controller_c(mr.GravityCompensation(), ROBOTS["crab"], name="2 crab/hold")
    assert "Call law_2_crab_hold_step as often as torques are set" in often
    assert "PERIOD" not in often


def test_the_same_law_gives_the_same_text():
    law = lambda: mr.PID(reference=lambda t: (0.1 * np.ones(3), np.zeros(3), np.zeros(3)))  # noqa: E731
    assert mr.controller_c(law(), ROBOTS["crab"]) == mr.controller_c(law(), ROBOTS["crab"])


def test_the_next_memory_may_be_written_over_the_memory(tmp_path):
    robot = ROBOTS["crab"]
    start, step, _ = compiled(mr.controller_c(recipe("cascade", robot), robot), tmp_path)

    def in_place(memory, t, **x):
        return step(memory, t, next_memory=memory, **x)

    np.testing.assert_array_equal(torques(np.array(start), in_place, robot), torques(start, step, robot))


def test_names_of_users_end_no_comment(tmp_path):
    b = mr.Builder("*/ int x; /*")
    b.body("a", mr.spatial.inertia.box(1.0, (0.1, 0.1, 0.1)), joint=mr.Revolute((0, 1, 0)))
    assert difference(mr.GravityCompensation(2.0, 1.0, 0.3), b.build(), tmp_path) < CLOSE


def choice(t, q, v):
    return -5 * q if t < 1 else -4 * q


def equality(t, q, v):
    return 0 * q if t == 0 else -q


def one_choice(t, q, v):
    return -v if q[0] == 0 else -2 * v


def larger(t, q, v):
    return max(q[0], 0.0) * v


def singular_values(t, q, v):
    return np.linalg.svd(np.outer(q, v))[1]


def hyperbolic(t, q, v):
    return np.sinh(q)


def masked(t, q, v):
    v[q > 0] = 0.0
    return v


def of_math(t, q, v):
    return math.sin(t) * q


def filled_elsewhere(t, q, v):
    import numpy

    u = numpy.zeros(3)
    u[0] = q[0]
    return u


def both_traced(t, q, v):
    return np.abs(q) ** v


def of_order_one(t, q, v):
    return q * np.linalg.norm(v, ord=1)


def misfit(t, q, v):
    return np.concatenate([q, np.eye(2)])


def mistaken(t, q, v):
    return {}["gain"] * q


def imaginary(t, q, v):
    return np.sqrt(-1 - q * q)


class Growing:
    """A law that remembers everything."""

    sample_time = SAMPLE

    def on(self, robot):
        return self

    def start(self):
        return ()

    def step(self, memory, t, measured):
        return (*memory, t), -measured.q


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (choice, "'choice' .*test_code.py, line .*, `return -5.*: a choice that depends on a traced scalar: expected np.where"),
        (equality, "'equality' .*, line .*: a choice that depends on a traced scalar: expected np.where"),
        (one_choice, "'one_choice' .*, line .*: a choice that depends on a traced scalar: expected np.where"),
        (larger, "'larger' .*, line .*: a choice that depends on a traced scalar: expected np.where, np.minimum, np.maximum"),
        (singular_values, "'singular_values' .*: np.linalg.svd cannot be traced: expected functions among np.abs, .*np.where, "),
        (hyperbolic, "'hyperbolic' .*`return np.sinh.*: np.sinh cannot be traced: expected functions among np.abs, .*np.tanh"),
        (masked, "'masked' .*`v.q > 0.*: entries that are chosen by a traced array: expected np.where"),
        (of_math, "'of_math' .*`return math.*: a traced scalar is not a number: expected .* np.sin and not math.sin"),
        (filled_elsewhere, "'filled_elsewhere' .*`u.0. = q.0.`.*: expected .* u = np.zeros_like.q., not np.zeros"),
        (both_traced, "'both_traced' .*: a power whose base and exponent are traced: expected np.exp"),
        (of_order_one, "'of_order_one' .*: np.linalg.norm of order 1: expected the square root"),
        (misfit, "'misfit' .*: all the input arrays must have same number of dimensions"),
        (mistaken, "'mistaken' .*`return {}.*: KeyError: 'gain'"),
        (imaginary, "'imaginary' .*: its torques are not finite in any state that was tried, the last of which is q = "),
        (Growing(), "'Growing' on crab .*: its memory has another form after every sample"),
    ],
)  # fmt: skip
def test_what_cannot_be_traced_is_refused(law, words):
    with pytest.raises(ControlError, match=f"controller {words}"):
        mr.controller_c(law, ROBOTS["crab"])


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (mr.KinematicControl(0.1, scheme="inverse"), "'kinematic' on crab .*kinematic.py, line .*np.linalg.pinv"),
        (
            mr.PID(reference=mr.gait("snake", generator="hopf")),
            "'pid' on crab .*waves.py, line .*: a traced scalar is not",
        ),
        (
            mr.PID(reference=np.zeros((4, 3))),
            r"'pid' on crab .*torques of shape \(4, 3\), as of references or gains for each of 4 runs: expected those of one",
        ),
    ],
)
def test_laws_that_cannot_be_traced_are_refused(law, words):
    with pytest.raises(ControlError, match=f"controller {words}.*; laws that can: adaptive, .*swing-up$"):
        mr.controller_c(law, ROBOTS["crab"])
    with pytest.raises(ControlError, match=f"controller {words}"):
        mr.Compiled(law).on(ROBOTS["crab"])


@pytest.mark.filterwarnings("ignore:reference of four-bar")
def test_robots_with_loops_are_refused_in_words():
    robot = four_bar_robot(FourBar())
    with pytest.raises(
        ControlError, match=r"'computed-torque' on .* robots with loops have no straight-line model, and"
    ):
        mr.controller_c(mr.ComputedTorque(9.0, 3.0), robot)
    assert "four_bar_pid_step" in mr.controller_c(mr.PID(9.0, 1.0, 1.0), robot, name="four_bar_pid")


def test_a_law_of_one_robot_is_no_controller():
    robot = ROBOTS["crab"]
    made = mr.PID().on(robot), mr.Compiled(mr.PID()).on(robot)
    for law, words in zip(made, (r"PID\(...\).on\(crab\)", "compiled step of 'pid' on crab"), strict=True):
        with pytest.raises(
            SimulationError, match=f"controller {words} is a law that on.robot. made for one robot: expected"
        ):
            mr.controller_c(law, robot)


def test_what_a_law_refuses_is_refused():
    with pytest.raises(ControlError, match="OperationalSpace: m4/B of crab cannot move in all 3 directions"):
        mr.controller_c(mr.OperationalSpace("m4/B", [0, 0, 0.1]), ROBOTS["crab"])
    with pytest.raises(ControlError, match="controller None: expected one such as"):
        mr.controller_c(None, ROBOTS["crab"])


def swallowed(t, q, v):
    try:
        sign = 1.0 if q[0] > 0 else -1.0
    except Exception:
        sign = 1.0
    return -sign * v


def random(t, q, v):
    return -np.random.default_rng().uniform() * v


@pytest.mark.parametrize("function", [swallowed, random])
def test_choices_that_a_trace_does_not_have_are_found(function):
    with pytest.raises(ControlError, match="its results are others than those of its trace"):
        mr.controller_c(function, mr.load("crab").robot())


def test_torques_of_another_shape_are_refused():
    with pytest.raises(ControlError, match=r"torques of shape \(\): expected \(3,\)"):
        mr.controller_c(lambda t, q, v: -q[0], mr.load("crab").robot())


def test_the_start_of_a_compiled_law_is_nobodys():
    law = mr.Compiled(mr.PID(60.0, 200.0, 6.0, 0.2)).on(mr.load("crab").robot())
    first = law.start()
    first += 1
    assert not np.array_equal(first, law.start())
