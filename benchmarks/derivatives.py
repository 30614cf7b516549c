"""Derivatives of dynamics beside Pinocchio's, one state and batches, in one run.

Pinocchio's functions leave three matrices in its `data`, in the nearest cache, symmetric ones whole. Who wants those of a
batch copies them into arrays of the batch, as ours are: in the last columns Pinocchio does, for each of the states in turn.

With loops it is `constraintDynamics` and `computeConstraintDynamicsDerivatives`, whose loops hold points together. These are a
peer in time alone: where both ends of a loop move they are not the differences of `constraintDynamics`. A mimic finger is one
more velocity to Pinocchio. The error is then that against complex steps through the NumPy definition.

By inertial parameters it is `computeJointTorqueRegressor`; for accelerations it follows `aba`, and is multiplied with what
`computeMinverse` returns.
"""

from importlib import import_module
from importlib.metadata import files
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import modurob as mr
from benchmarks.kernels import states
from benchmarks.robots import binary_tree, real_robots, snake
from benchmarks.timing import interleaved
from modurob.judges.pinocchio import PinocchioTwin
from tests.oracles.complex_steps import by_complex_steps
from tests.oracles.linkages import LINKAGES
from tests.oracles.pinocchio_loops import ConstraintDynamics

pinocchio: Any = import_module("pinocchio")
# the results of the first stay in the second-level cache, those of the second do not
BATCHES = (64, 1024)
LOOPS = ("four-bar", "slider-crank", "stewart", "delta")


def stored(function: Any, twin: PinocchioTwin, states: list[Any], out: Any) -> None:
    """A function of Pinocchio for each state, its three matrices kept in arrays of the batch."""
    model, data, (A, B, C) = twin.model, twin.data, out
    for k, state in enumerate(states):
        A[k], B[k], C[k] = function(model, data, *state)


def times_of(robot: mr.Mechanism) -> dict[str, float]:
    """CPU seconds per state, one state at a time and in batches, and the error against Pinocchio."""
    q, v, u = states(robot, max(BATCHES))
    few = tuple(x[: BATCHES[0]].copy() for x in (q, v, u))
    q1, v1, u1 = (np.ascontiguousarray(x[0]) for x in (q, v, u))
    twin = PinocchioTwin(robot)
    model, data, at = twin.model, twin.data, twin.v_index
    p = twin._q(q1), v1[at], u1[at]
    by_v = pinocchio.computeABADerivatives(model, data, *p)[1]
    each = [(twin._q(q[k]), v[k][at], u[k][at]) for k in range(len(q))]
    out = np.zeros((3, len(q), robot.nv, robot.nv))
    ours = robot.forward_dynamics_derivatives(q1, v1, u1).v[np.ix_(at, at)]
    error = float(np.abs(ours - by_v).max() / np.abs(by_v).max())
    times = interleaved(
        {
            "forward": lambda: robot.forward_dynamics_derivatives(q1, v1, u1),
            "inverse": lambda: robot.inverse_dynamics_derivatives(q1, v1, u1),
            "pin forward": lambda: pinocchio.computeABADerivatives(model, data, *p),
            "pin inverse": lambda: pinocchio.computeRNEADerivatives(model, data, *p),
            "stored forward": lambda: stored(pinocchio.computeABADerivatives, twin, each, out),
            "stored inverse": lambda: stored(pinocchio.computeRNEADerivatives, twin, each, out),
            "few forward": lambda: robot.forward_dynamics_derivatives(*few),
            "few inverse": lambda: robot.inverse_dynamics_derivatives(*few),
            "many forward": lambda: robot.forward_dynamics_derivatives(q, v, u),
            "many inverse": lambda: robot.inverse_dynamics_derivatives(q, v, u),
        }
    )
    return per_state(times) | {"error": error}


def accelerations_by_parameters(twin: PinocchioTwin, q: Any, v: Any, tau: Any) -> Any:
    """-M^-1 Y at the accelerations, as Pinocchio's functions give it."""
    model, data = twin.model, twin.data
    Y = pinocchio.computeJointTorqueRegressor(model, data, q, v, pinocchio.aba(model, data, q, v, tau))
    return -pinocchio.computeMinverse(model, data, q) @ Y


def times_by_parameters(robot: mr.Mechanism) -> dict[str, float]:
    """As `times_of`, of the derivatives by inertial parameters."""
    q, v, u = states(robot, max(BATCHES))
    few, one = (tuple(np.ascontiguousarray(x[at]) for x in (q, v, u)) for at in (slice(BATCHES[0]), 0))
    twin = PinocchioTwin(robot)
    at = twin.v_index
    each = [(twin._q(q[k]), v[k][at], u[k][at]) for k in range(len(q))]
    out = np.zeros((len(q), robot.nv, 10 * len(robot.joints)))

    def torques(state: Any) -> Any:
        return pinocchio.computeJointTorqueRegressor(twin.model, twin.data, *state)

    def accelerations(state: Any) -> Any:
        return accelerations_by_parameters(twin, *state)

    def kept(function: Any) -> None:
        for k, state in enumerate(each):
            out[k] = function(state)

    columns = np.concatenate([np.arange(10 * i - 10, 10 * i) for i in twin.order])
    ours, theirs = robot.forward_dynamics_regressor(*one)[np.ix_(at, columns)], accelerations(each[0])
    times = interleaved(
        {
            "inverse by pi": lambda: robot.regressor(*one),
            "forward by pi": lambda: robot.forward_dynamics_regressor(*one),
            "pin inverse by pi": lambda: torques(each[0]),
            "pin forward by pi": lambda: accelerations(each[0]),
            "stored inverse by pi": lambda: kept(torques),
            "stored forward by pi": lambda: kept(accelerations),
            "few inverse by pi": lambda: robot.regressor(*few),
            "few forward by pi": lambda: robot.forward_dynamics_regressor(*few),
            "many inverse by pi": lambda: robot.regressor(q, v, u),
            "many forward by pi": lambda: robot.forward_dynamics_regressor(q, v, u),
        }
    )
    return per_state(times) | {"error": float(np.abs(ours - theirs).max() / np.abs(theirs).max())}


def times_of_loops(name: str) -> dict[str, float]:
    """As `times_of`, forward alone, of a mechanism with loops."""
    rng = np.random.default_rng(0)
    link = LINKAGES[name](rng)
    robot, judge = link.robot, ConstraintDynamics(link.robot, accuracy=1e-12, mu=1e-8, most=10)
    q, v = (np.stack(x) for x in zip(*[link.state(rng) for _ in range(BATCHES[0])], strict=True))
    q, v = (np.tile(x, (max(BATCHES) // BATCHES[0], 1)) for x in (q, v))
    u = rng.normal(size=v.shape)
    few, one = (tuple(x[at].copy() for x in (q, v, u)) for at in (slice(BATCHES[0]), 0))
    p, out = judge.theirs(*one), np.zeros((3, *v.shape, robot.nv))
    each = [judge.theirs(*x) for x in zip(q, v, u, strict=True)]

    def kept() -> None:
        for k, state in enumerate(each):
            out[:, k] = judge.derivatives(*state)

    times = interleaved(
        {
            "forward": lambda: robot.forward_dynamics_derivatives(*one),
            "pin forward": lambda: judge.derivatives(*p),
            "stored forward": kept,
            "few forward": lambda: robot.forward_dynamics_derivatives(*few),
            "many forward": lambda: robot.forward_dynamics_derivatives(q, v, u),
        }
    )
    return per_state(times) | {"error": exactness(robot, one)}


def exactness(robot: mr.Mechanism, state: tuple[Any, ...]) -> float:
    """The largest error of derivatives of forward dynamics against complex steps, relative."""
    ours, exact = robot.forward_dynamics_derivatives(*state), by_complex_steps(robot, *state)
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(ours, exact, strict=True))


def times_of_mimic() -> dict[str, float]:
    """As `times_of`, of a Panda whose fingers move together; Pinocchio moves them apart."""
    path = str(next(f.locate() for f in files("example-robot-data") or [] if f.name == "panda.urdf"))
    robot, model = mr.Mechanism.from_urdf(path), pinocchio.buildModelFromUrdf(path)
    rng, data = np.random.default_rng(0), model.createData()
    q, v, u = rng.normal(size=(3, max(BATCHES), robot.nv))
    few, one = (tuple(x[at].copy() for x in (q, v, u)) for at in (slice(BATCHES[0]), 0))
    each = list(zip(*rng.normal(size=(3, max(BATCHES), model.nv)), strict=True))
    out = np.zeros((3, len(q), model.nv, model.nv))

    def kept(function: Any) -> None:
        for k, state in enumerate(each):
            out[0, k], out[1, k], out[2, k] = function(model, data, *state)

    forward, inverse = pinocchio.computeABADerivatives, pinocchio.computeRNEADerivatives
    times = interleaved(
        {
            "forward": lambda: robot.forward_dynamics_derivatives(*one),
            "inverse": lambda: robot.inverse_dynamics_derivatives(*one),
            "pin forward": lambda: forward(model, data, *each[0]),
            "pin inverse": lambda: inverse(model, data, *each[0]),
            "stored forward": lambda: kept(forward),
            "stored inverse": lambda: kept(inverse),
            "few forward": lambda: robot.forward_dynamics_derivatives(*few),
            "few inverse": lambda: robot.inverse_dynamics_derivatives(*few),
            "many forward": lambda: robot.forward_dynamics_derivatives(q, v, u),
            "many inverse": lambda: robot.inverse_dynamics_derivatives(q, v, u),
        }
    )
    return per_state(times) | {"error": exactness(robot, one)}


def per_state(times: dict[str, float]) -> dict[str, float]:
    """Seconds of one state, from those of calls by their names."""
    number: dict[str, int] = {"few": BATCHES[0], "many": BATCHES[1], "stored": BATCHES[1]}
    return {name: t / number.get(name.split()[0], 1) for name, t in times.items()}


def rows_of(name: str, t: dict[str, float]) -> list[list[str]]:
    """Rows of the table."""
    rows = []
    for kind in (kind for kind in ("forward", "inverse", "forward by pi", "inverse by pi") if kind in t):
        one, theirs, few, many, kept = (t[f"{w}{kind}"] * 1e6 for w in ("", "pin ", "few ", "many ", "stored "))
        row = [f"{one:.1f}", f"{theirs:.1f}", f"{theirs / one:.1f}"]
        row += [text for x in (few, many) for text in (f"{x:.2f}", f"{theirs / x:.1f}")]
        rows.append([name, kind, *row, f"{kept:.1f}", f"{kept / many:.1f}", f"{t['error']:.0e}"])
    return rows


def main() -> None:
    """Print the table."""
    table = Table(
        "robot", "function", "one state [µs]", "Pinocchio [µs]", "ratio",
        *(x for n in BATCHES for x in (f"of {n} [µs]", "ratio")), "Pinocchio, stored [µs]", "ratio", "error",
        title="derivatives by q, v and tau, and by inertial parameters (pi): one state from Python, and batches on one core",
    )  # fmt: skip
    mr.set_threads(1)
    robots = [(f"chain {n}", snake(n).mechanism()) for n in (6, 30)]
    for name, robot in [*robots, ("binary tree 30", binary_tree(30)), *real_robots()]:
        for row in (*rows_of(name, times_of(robot)), *rows_of(name, times_by_parameters(robot))):
            table.add_row(*row)
    for row in rows_of("Panda, mimic finger", times_of_mimic()):
        table.add_row(*row)
    for name in LOOPS:
        for row in rows_of(name, times_of_loops(name)):
            table.add_row(*row)
    mr.set_threads(None)
    Console().print(table)


if __name__ == "__main__":
    main()
