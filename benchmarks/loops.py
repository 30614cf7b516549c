"""Mechanisms with loops and mimic joints: beside Pinocchio's constraintDynamics, and beside the same arm without fingers."""

import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.metadata import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from rich.console import Console
from rich.table import Table

import modurob as mr
from benchmarks.timing import interleaved
from tests.oracles.linkages import LINKAGES, Linkage
from tests.oracles.pinocchio_loops import ConstraintDynamics

pinocchio: Any = import_module("pinocchio")
BATCH, SINGLE = 4096, 64
# Bennett's linkage is no loop of ball joints or in a plane, which Pinocchio needs
MEASURED = ("four-bar", "slider-crank", "stewart", "delta")


def states(link: Linkage, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """q, v and torques, loops closed: some states, over and over, since times do not depend on them."""
    q, v = (np.stack(x) for x in zip(*[link.state(rng) for _ in range(SINGLE)], strict=True))
    q, v = (np.tile(x, (BATCH // SINGLE, 1)) for x in (q, v))
    return q, v, rng.normal(size=v.shape)


def beside_pinocchio(name: str) -> list[str]:
    """A row of the table: times of one state, and how far the two are apart."""
    rng = np.random.default_rng(0)
    link = LINKAGES[name](rng)
    robot, judge = link.robot, ConstraintDynamics(link.robot, accuracy=1e-12, mu=1e-8, most=10)
    q, v, tau = states(link, rng)
    theirs = [judge.theirs(*x) for x in zip(q[:SINGLE], v[:SINGLE], tau[:SINGLE], strict=True)]
    tree = pinocchio.Data(judge.model)
    pool = pinocchio.ModelPool(judge.model, 1)
    Q, V, U = (np.asfortranarray(np.stack(x).T) for x in zip(*theirs, strict=True))
    out = np.empty_like(V, order="F")
    calls: dict[str, Callable[[], object]] = {
        "ours": lambda: robot.forward_dynamics(q, v, tau),
        "single": lambda: robot.forward_dynamics(q[0], v[0], tau[0]),
        "pinocchio": lambda: [judge(*x) for x in theirs],
        # what a call from Python costs: aba one by one, less aba in one call
        "aba": lambda: [pinocchio.aba(judge.model, tree, *x) for x in theirs],
        "aba at once": lambda: pinocchio.abaInParallel(1, pool, Q, V, U, out),
    }
    for call in calls.values():
        call()  # nothing is compiled while it is timed
    t = interleaved(calls)
    ours, single = t["ours"] / BATCH * 1e6, t["single"] * 1e6
    pin = t["pinocchio"] / SINGLE * 1e6
    inside = pin - max(0.0, t["aba"] - t["aba at once"]) / SINGLE * 1e6
    expected = np.stack([judge.twin.ours(np.array(judge(*x))) for x in theirs])
    error = np.abs(robot.forward_dynamics(q, v, tau)[:SINGLE] - expected).max() / np.abs(expected).max()
    numbers = [f"{x:.2f}" for x in (ours, single, pin, inside)]
    return [
        name,
        str(robot.nv),
        str(link.degrees_of_freedom),
        *numbers,
        f"{single / pin:.2f}",
        f"{pin / ours:.1f}",
        f"{inside / ours:.1f}",
        f"{error:.0e}",
    ]


def loops(console: Console) -> None:
    """All linkages."""
    columns = (
        "linkage",
        "rates",
        "degrees of freedom",
        "batch",
        "single",
        "Pinocchio",
        "less calls",
        "single / Pinocchio",
        "ratio",
        "ratio less calls",
    )
    table = Table(
        *columns,
        "difference",
        title="forward dynamics with loops, µs a state on one core (goals: single / Pinocchio 1.5, ratio 10)",
    )
    for name in MEASURED:
        table.add_row(*beside_pinocchio(name))
    console.print(table)
    console.print("goals: a single call in 1.5 times of Pinocchio's, batches 10 times faster")


def inverse(console: Console) -> None:
    """Inverse dynamics, the torques of the joints with a drive, and their derivatives."""
    for function in ("inverse_dynamics", "inverse_dynamics_derivatives"):
        title = f"{function} with loops, µs a state on one core"
        table = Table("linkage", "one state", "64 states", str(BATCH), title=title)
        for name in LINKAGES:
            rng = np.random.default_rng(0)
            link = LINKAGES[name](rng)
            x = states(link, rng)
            sizes = {1: [a[0] for a in x], SINGLE: [a[:SINGLE] for a in x], BATCH: x}
            calls = {str(n): partial(getattr(link.robot, function), *own) for n, own in sizes.items()}
            for call in calls.values():
                call()  # nothing is compiled while it is timed
            table.add_row(name, *(f"{t / int(n) * 1e6:.2f}" for n, t in interleaved(calls).items()))
        console.print(table)


def panda(fingers: bool) -> mr.Mechanism:
    """Franka's arm from example-robot-data, its second finger a mimic; or with both fingers welded on."""
    at = next(Path(str(f.locate())) for f in files("example-robot-data") or [] if str(f).endswith("urdf/panda.urdf"))
    root = ET.fromstring(at.read_text())
    for joint in root.findall("joint"):
        if "finger" in joint.get("name", "") and not fingers:
            joint.set("type", "fixed")
            for mimic in joint.findall("mimic"):
                joint.remove(mimic)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "panda.urdf"
        path.write_text(ET.tostring(root, encoding="unicode"))
        return mr.Mechanism.from_urdf(path)


def mimics(console: Console) -> None:
    """Forward and inverse dynamics with a mimic finger and without fingers."""
    rng = np.random.default_rng(0)
    calls: dict[str, Callable[[], object]] = {}
    for fingers in (True, False):
        robot = panda(fingers)
        q = np.stack([robot.random_configuration(rng) for _ in range(SINGLE)])
        q, (v, tau) = np.tile(q, (BATCH // SINGLE, 1)), rng.normal(size=(2, BATCH, robot.nv))
        calls[f"forward {fingers}"] = lambda r=robot, x=(q, v, tau): r.forward_dynamics(*x)
        calls[f"inverse {fingers}"] = lambda r=robot, x=(q, v, tau): r.inverse_dynamics(*x)
    t = interleaved(calls)
    for what in ("forward", "inverse"):
        with_, without = (t[f"{what} {fingers}"] / BATCH * 1e9 for fingers in (True, False))
        console.print(
            f"Panda, {what} dynamics: {with_:.0f} ns a state, without fingers {without:.0f}: {with_ / without:.2f} times (goal 1.5)"
        )


def one_second(console: Console) -> None:
    """A four-bar at 1 kHz, from Python."""
    rng = np.random.default_rng(0)
    link = LINKAGES["four-bar"](rng)
    q, v = link.state(rng)
    times = []
    for _ in range(8):
        started = time.process_time()
        mr.simulate(link.robot, q, v, duration=1.0, stepper=mr.RungeKutta4(1e-3))
        times.append(time.process_time() - started)
    console.print(f"1 s of a four-bar at 1 kHz, RungeKutta4: {np.median(times[1:]) * 1e3:.0f} ms (goal 50)")


def main() -> None:
    """Print all of it."""
    console = Console(width=150)
    mr.set_threads(1)
    loops(console)
    inverse(console)
    mimics(console)
    mr.set_threads(None)
    one_second(console)


if __name__ == "__main__":
    main()
