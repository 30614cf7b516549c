"""Gutenkunst Fig. 4.2: how long a pendulum of modules takes, symbolic against numeric."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from modurob import algorithms, kernels
from modurob.algorithms.articulated import FORWARD_DYNAMICS
from modurob.robot import Assembly, Mechanism
from modurob.spatial.scalars import Array
from reproduce.check import Check, Reproduction
from reproduce.compiled import CompiledClosedForm
from reproduce.lagrange import GRAVITY, pendulum

FIGURE = "Gutenkunst Fig. 4.2"
MODULES = range(1, 7)  # that move
# what the thesis measured with six: "more than 8 minutes", and 0.011 s
THESIS_SYMBOLIC, THESIS_NUMERIC = 480.0, 0.011  # [s]
STATES = 20
MANY = 2000  # states at once, for compiled code
ROUNDING = 1e-10  # relative

BOTH_COMPILED = "both compiled: numeric over symbolic evaluation"

# q, v, tau -> vdot
Evaluation = Callable[[Array, Array, Array], Any]


class Measured(NamedTuple):
    """Of one pendulum: CPU times until it can be evaluated and of one evaluation [s], and errors, relative."""

    symbolic_setup: float
    numeric_setup: float
    symbolic: float
    numeric: float
    compiled: float  # NaN without a compiler
    symbolic_error: float
    numeric_error: float
    compiled_symbolic_batch: float  # of one state among many, both compiled
    compiled_batch: float
    compiled_symbolic_error: float


def reproduced() -> Reproduction:
    """One to six modules; with six, that both ways give the accelerations of equations written by hand."""
    rows = [measured(n) for n in MODULES]
    six = rows[-1]
    checks = [
        Check(
            FIGURE, "symbolic set-up, six modules (thesis: over 480 s)", 0.0, six.symbolic_setup, THESIS_SYMBOLIC, "s"
        ),
        Check(FIGURE, "numeric set-up, six modules (thesis: 0.011 s)", 0.0, six.numeric_setup, THESIS_NUMERIC, "s"),
        Check(FIGURE, "numeric over symbolic set-up", 0.0, six.numeric_setup / six.symbolic_setup, 1.0),
        Check(FIGURE, "numeric (compiled) over symbolic evaluation", 0.0, six.compiled / six.symbolic, 1.0),
        Check(FIGURE, BOTH_COMPILED, 0.0, six.compiled_batch / six.compiled_symbolic_batch, 1.0),
        Check(
            FIGURE,
            "compiled symbolic accelerations against equations by hand",
            0.0,
            six.compiled_symbolic_error,
            ROUNDING,
        ),
        Check(FIGURE, "symbolic accelerations against equations by hand", 0.0, six.symbolic_error, ROUNDING),
        Check(FIGURE, "numeric accelerations against equations by hand", 0.0, six.numeric_error, ROUNDING),
    ]
    if np.isnan(six.compiled):
        checks[3:6] = [Check.skipped(FIGURE, c.what, "needs a C compiler") for c in checks[3:6]]
    return Reproduction(checks, picture(Measured(*np.transpose(rows))))


def measured(n: int) -> Measured:
    """The row of n modules. Set-up includes a first evaluation."""
    states = np.random.default_rng(42).normal(size=(STATES, 3, n))
    robot = row_of_modules(n)
    start = time.thread_time()
    symbolic = closed_form(row_of_modules(n))
    symbolic(*states[0])
    symbolic_setup = time.thread_time() - start

    def numeric(q: Array, v: Array, tau: Array) -> Array:
        return algorithms.forward_dynamics(robot, q, v, tau)

    compiled = compiled_evaluation(robot, states[0])
    return Measured(
        symbolic_setup,
        min(duration(lambda: algorithms.forward_dynamics(row_of_modules(n), *states[0])) for _ in range(30)),
        evaluation_time(symbolic, states),
        evaluation_time(numeric, states),
        np.nan if compiled is None else evaluation_time(compiled, states),
        error(symbolic, states),
        error(numeric if compiled is None else compiled, states),
        *([np.nan] * 3 if compiled is None else batches(robot, compiled)),
    )


def batches(robot: Mechanism, compiled: Evaluation) -> tuple[float, float, float]:
    """CPU times of a state among many, closed form and recursion, both compiled [s]; and the closed form's error, relative."""
    many = np.random.default_rng(7).normal(size=(3, MANY, robot.nv))
    closed = CompiledClosedForm(robot.equations(symbols=("masses", "lengths", "gravity")))
    symbolic, numeric = (min(process_time(lambda f=f: f(*many)) for _ in range(5)) / MANY for f in (closed, compiled))
    return symbolic, numeric, error(closed, many[:, :STATES].swapaxes(0, 1))


def process_time(f: Callable[[], object]) -> float:
    """CPU time of one call over all threads [s]."""
    start = time.process_time()
    f()
    return time.process_time() - start


def row_of_modules(n: int) -> Mechanism:
    """n point masses of 1 kg, 1 m apart, from the matrix of Gutenkunst A.1."""
    aim = 3 * np.eye(n + 1, n, dtype=int) + 4 * np.eye(n + 1, n, k=-1, dtype=int)
    point = {"length": 1, "mass": 1, "Ixx": 0, "Iyy": 0, "Izz": 0}
    return Assembly.from_aim(aim, "backbone", point).mechanism(gravity=(0, GRAVITY, 0))


def closed_form(robot: Mechanism) -> Evaluation:
    """Accelerations from M, C and N in closed form, written out as Python."""
    eq = robot.equations(symbols=("masses", "lengths", "gravity"))
    names: dict[str, Any] = {}
    exec(eq.python(), names)
    parameters = [eq.values[p] for p in eq.parameters]

    def accelerations(q: Array, v: Array, tau: Array) -> Array:
        M, C, N = names["equations"](q, v, parameters)
        return np.linalg.solve(M, tau - C @ v - N)

    return accelerations


def compiled_evaluation(robot: Mechanism, state: Array) -> Evaluation | None:
    """What a robot uses; None without a compiler."""
    return None if kernels.once(FORWARD_DYNAMICS, robot, *state) is None else robot.forward_dynamics


def duration(f: Callable[[], object]) -> float:
    """CPU time of one call [s], which others on the machine disturb little."""
    start = time.thread_time()
    f()
    return time.thread_time() - start


def evaluation_time(f: Evaluation, states: Array) -> float:
    """CPU time of one evaluation [s], the shortest of several rounds."""
    return min(duration(lambda: [f(*x) for x in states]) for _ in range(5)) / len(states)


def error(f: Evaluation, states: Array) -> float:
    """The largest difference from the pendulum written by hand, relative to its largest acceleration."""
    n = states.shape[-1]
    hand, still = pendulum(np.ones(n), np.ones(n)), np.zeros(n)
    right = [hand(q, v) for q, v, _ in states]
    off = [np.abs(f(q, v, still) - a).max() / np.abs(a).max() for (q, v, _), a in zip(states, right, strict=True)]
    return float(max(off))


def picture(rows: Measured) -> Figure:
    """Set-up and evaluation over the number of modules."""
    figure = Figure(figsize=(10, 5), layout="constrained")
    setup, evaluation = axes = figure.subplots(1, 2)
    n = list(MODULES)
    setup.semilogy(n, rows.symbolic_setup, "o-", color="C0", label="symbolic")
    setup.semilogy(n, rows.numeric_setup, "o-", color="C1", label="numeric")
    setup.semilogy(6, THESIS_SYMBOLIC, "^", color="C0", ms=9, mfc="white", label="symbolic, thesis: over 8 minutes")
    setup.semilogy(6, THESIS_NUMERIC, "D", color="C1", ms=7, mfc="white", label="numeric, thesis: 0.011 s")
    evaluation.semilogy(n, 1e6 * np.array(rows.numeric), "o-", color="C1", label="numeric, as Python")
    evaluation.semilogy(n, 1e6 * np.array(rows.symbolic), "o-", color="C0", label="symbolic, as Python")
    evaluation.semilogy(n, 1e6 * np.array(rows.compiled), "s--", color="C1", label="numeric, compiled")
    evaluation.semilogy(
        n, 1e6 * np.array(rows.compiled_symbolic_batch), "^:", color="C0", label="symbolic, compiled, in a batch"
    )
    evaluation.semilogy(n, 1e6 * np.array(rows.compiled_batch), "^:", color="C1", label="numeric, compiled, in a batch")
    for axis, title, label in zip(axes, ("set-up", "one evaluation"), ("CPU time [s]", "CPU time [µs]"), strict=True):
        axis.set(title=title, xlabel="modules that move", ylabel=label)
        axis.grid(alpha=0.3)
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, frameon=False)
    figure.suptitle(f"{FIGURE}: a pendulum of modules, symbolic and numeric")
    return figure
