"""The NumPy definition beside Pinocchio, and how long a robot takes to change shape."""

import numpy as np
import pinocchio
from rich.console import Console
from rich.table import Table

import modurob as mr
from benchmarks.timing import interleaved
from modurob.interop.pinocchio import PinocchioTwin

BATCH = 1024


def snake(n: int) -> mr.Assembly:
    """A chain of n + 1 Backbones: n freedoms."""
    assembly = mr.Assembly.single("m0", "backbone")
    for i in range(1, n + 1):
        assembly = assembly.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4")
    return assembly


def dynamics(n: int) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds for each state: modurob's NumPy over a batch, Pinocchio in a loop."""
    robot = snake(n).mechanism()
    rng = np.random.default_rng(0)
    q, v, u = rng.normal(size=(3, BATCH, n)) * 0.5
    twin = PinocchioTwin(robot)
    model, data = twin.model, twin.data
    states = [tuple(np.ascontiguousarray(x[i]) for x in (q, v, u)) for i in range(64)]
    times = interleaved(
        {
            "inverse dynamics": lambda: robot.inverse_dynamics(q, v, u),
            "forward dynamics": lambda: robot.forward_dynamics(q, v, u),
            "mass matrix": lambda: robot.mass_matrix(q),
            "pin inverse dynamics": lambda: [pinocchio.rnea(model, data, *state) for state in states],
            "pin forward dynamics": lambda: [pinocchio.aba(model, data, *state) for state in states],
            "pin mass matrix": lambda: [pinocchio.crba(model, data, state[0]) for state in states],
        },
        rounds=3,
    )
    ours = {k: t / BATCH for k, t in times.items() if not k.startswith("pin")}
    theirs = {k.removeprefix("pin "): t / len(states) for k, t in times.items() if k.startswith("pin")}
    return ours, theirs


def reshaping(n: int) -> float:
    """Seconds from docking one more module to the new mass matrix."""
    assembly = snake(n)

    def once() -> None:
        robot = assembly.dock("new", "backbone", at=f"m{n}/3", by="4").mechanism()
        robot.gravity_forces(robot.neutral())

    return interleaved({"dock": once}, rounds=5)["dock"]


def main() -> None:
    """Print both tables."""
    console = Console()
    table = Table(
        "joints", "quantity", "modurob NumPy, batch [µs]", "Pinocchio, from Python [µs]", "ratio", title="one state"
    )
    for n in (3, 6, 12, 30):
        ours, theirs = dynamics(n)
        for name in ours:
            ratio = theirs[name] / ours[name]
            table.add_row(str(n), name, f"{ours[name] * 1e6:.1f}", f"{theirs[name] * 1e6:.1f}", f"{ratio:.2f}")
    console.print(table)
    docking = Table("modules", "dock one more and evaluate [ms]")
    for n in (6, 30, 100, 300):
        docking.add_row(str(n), f"{reshaping(n) * 1e3:.1f}")
    console.print(docking)


if __name__ == "__main__":
    main()
