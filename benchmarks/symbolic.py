"""Closed forms beside SymPy's own mechanics: python -m benchmarks.symbolic [seconds a case may take].

Each case runs in a process of its own, so that time (of the processor) and memory are its own; a method that exceeds the limit is
not tried on longer chains.
"""

import multiprocessing
import sys
import time
from collections.abc import Callable
from importlib.metadata import files
from pathlib import Path

import numpy as np
import sympy
from rich.console import Console
from rich.table import Table
from sympy.physics import mechanics

import modurob as mr
from modurob.spatial import inertia, se3
from modurob.symbolic import Equations

PENDULUMS, ALTERNATING = range(2, 13), range(2, 8)
# theta, d, a, alpha (Sepp, Feldotto, Attawia, Heinze, table 2.1, with the offsets of its upright zero pose)
LWA_4P = [
    (0, 0.205, 0, -np.pi / 2),
    (-np.pi / 2, 0, 0.35, 0),
    (np.pi / 2, 0, 0, np.pi / 2),
    (0, 0.305, 0, -np.pi / 2),
    (0, 0, 0, np.pi / 2),
    (0, 0, 0, 0),
]
# Gutenkunst, section 4.2: symbolic equations of a pendulum of six modules [s]
THESIS = {("pendulum", 6): 480.0}


def ours(n: int, roll: float) -> int:
    """M, C and N in normal form; the number of terms."""
    return _terms(chain(n, roll).equations(symbols=("masses", "lengths", "gravity")))


def _terms(eq: Equations) -> int:
    return sum(len(p.terms) for part in ("M", "C", "N") for p in eq.polynomial(part).ravel())


def arm(n: int, roll: float) -> int:
    """A 6R arm with the geometry of the Schunk LWA 4P and ten symbolic inertial parameters a link."""
    builder, parent = mr.Builder("arm"), "world"
    for i, row in enumerate(LWA_4P):
        spatial = inertia.box(1.0, (0.5, 0.25, 0.125)) + inertia.point(1.0, (0.5, 0.25, 0.125))
        builder.body(f"link{i}", spatial, parent=parent, joint=mr.Revolute(), seat=se3.denavit_hartenberg(*row))
        parent = f"link{i}"
    return _terms(builder.build().equations(symbols=("masses", "centres", "inertias", "gravity")))


def panda(n: int, roll: float) -> int:
    """The Panda arm with its gripper from its URDF file, as `modurob equations` prints it."""
    path = next(f.locate() for f in files("example-robot-data") or [] if f.name == "panda.urdf")
    eq = mr.Mechanism.from_urdf(Path(str(path)).resolve()).equations(symbols=("masses", "lengths", "gravity"))
    str(eq)
    eq.operations()
    return _terms(eq)


def chain(n: int, roll: float) -> mr.Mechanism:
    """n point masses on links of different lengths."""
    assembly = mr.Assembly.single("m0", "backbone")
    for i in range(1, n + 1):
        assembly = assembly.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4", roll=roll)
    return assembly.with_parameters(Ixx=0, Iyy=0, Izz=0, mass=1, length=1).mechanism(gravity=(0, 9.81, 0))


def sympy_chain(n: int, roll: float):
    """The same chain for SymPy: frames, points and masses."""
    q, u = mechanics.dynamicsymbols(f"q:{n}"), mechanics.dynamicsymbols(f"u:{n}")
    masses, length, g, t = sympy.symbols(f"m:{n}"), sympy.Symbol("l"), sympy.Symbol("g"), mechanics.dynamicsymbols._t
    world, point = mechanics.ReferenceFrame("N"), mechanics.Point("O")
    point.set_vel(world, 0)
    frame, particles = world, []
    for i in range(n):
        turned = frame.orientnew(f"F{i}", "Axis", (q[i], frame.z if roll and i % 2 else frame.x))
        after = point.locatenew(f"P{i}", length * turned.y)
        after.v2pt_theory(point, world, turned)
        particles.append(mechanics.Particle(f"b{i}", after, masses[i]))
        frame, point = turned, after
    loads = [(p.point, p.mass * g * world.y) for p in particles]
    return q, u, t, world, particles, loads, g


def kane(n: int, roll: float) -> int:
    """KanesMethod: mass matrix and forcing, as it gives them."""
    q, u, t, world, particles, loads, _ = sympy_chain(n, roll)
    rates = {q_i.diff(t): u_i for q_i, u_i in zip(q, u, strict=True)}
    for p in particles:
        p.point.set_vel(world, p.point.vel(world).subs(rates))
    method = mechanics.KanesMethod(world, q, u, kd_eqs=[u_i - q_i.diff(t) for q_i, u_i in zip(q, u, strict=True)])
    method.kanes_equations(particles, loads)
    return int(sympy.count_ops(method.mass_matrix) + sympy.count_ops(method.forcing))


def lagrange(n: int, roll: float) -> int:
    """LagrangesMethod: mass matrix and forcing, as it gives them."""
    q, _, _, world, particles, loads, _ = sympy_chain(n, roll)
    kinetic = sum(p.kinetic_energy(world) for p in particles)
    method = mechanics.LagrangesMethod(kinetic, q, forcelist=loads, frame=world)
    method.form_lagranges_equations()
    return int(sympy.count_ops(method.mass_matrix) + sympy.count_ops(method.forcing))


METHODS: dict[str, Callable[[int, float], int]] = {"modurob": ours, "KanesMethod": kane, "LagrangesMethod": lagrange}
ARMS: dict[str, Callable[[int, float], int]] = {"LWA 4P arm": arm, "Panda arm, printed": panda}


def _run(method: str, n: int, roll: float, results: multiprocessing.Queue) -> None:
    start = time.process_time()
    size = {**METHODS, **ARMS}[method](n, roll)
    results.put((time.process_time() - start, size, _memory()))


def _memory() -> float:
    """The most memory that this process has had [MB]; `getrusage` would answer with that of the one that started it."""
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) / 1024


def timed(method: str, n: int, roll: float, limit: float) -> tuple[float, int, float] | None:
    """Seconds, size and memory [MB] of one case, or None past the limit."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=_run, args=(method, n, roll, results))
    process.start()
    try:
        return results.get(timeout=limit)
    except Exception:
        return None
    finally:
        process.kill()
        process.join()


def main(limit: float = 60.0) -> None:
    """Print one table."""
    table = Table(
        "chain",
        "joints",
        *METHODS,
        "thesis",
        title=f"seconds of the processor (size, MB); - past {limit:.0f} s; sizes: terms, or operations",
    )
    for name, roll, lengths in (("pendulum", 0.0, PENDULUMS), ("alternating", 90.0, ALTERNATING)):
        alive = set(METHODS)
        for n in lengths:
            cells = []
            for method in METHODS:
                result = timed(method, n, roll, limit) if method in alive else None
                if result is None:
                    alive.discard(method)
                    cells.append("-")
                else:
                    cells.append(_cell(*result))
            published = THESIS.get((name, n))
            table.add_row(name, str(n), *cells, f"over {published:.0f}" if published else "")
    for (name, _), joints in zip(ARMS.items(), (6, 8), strict=True):
        result = timed(name, joints, 0.0, limit)
        table.add_row(name, str(joints), "-" if result is None else _cell(*result), "", "", "")
    Console(width=120).print(table)


def _cell(seconds: float, size: int, memory: float) -> str:
    return f"{seconds:.3f} ({size}, {memory:.0f})"


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0)
