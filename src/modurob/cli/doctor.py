"""What the machine offers, what is wrong with the user's module types, and kernels made before they are needed."""

import time
from collections.abc import Iterator
from typing import Annotated, Any

import typer

import modurob as mr
from modurob.cli.app import command, console
from modurob.errors import AssemblyError

WIDTHS = {64: "AVX-512", 32: "AVX2", 16: "SSE2 or NEON", 8: "none"}


@command()
def doctor(
    warm_up: Annotated[
        bool,
        typer.Option(
            "--warm-up", help="compile the kernels now, for most ways in which the modules of the package dock"
        ),
    ] = False,
) -> None:
    """Compiler, cache and speed of the kernels on this machine, and module type files that cannot be read."""
    for what, found in diagnosis().items():
        console.print(f"{what:>16}: {found}", soft_wrap=True)
    if warm_up:
        from rich.progress import Progress

        with Progress(console=console) as progress:
            task = progress.add_task("compiling", total=None)
            for done, total in warmed_up():
                progress.update(task, completed=done, total=total)


def diagnosis() -> dict[str, str]:
    """Compiler, vector width, threads, cache, the time of one kernel, and the user's own module types."""
    from modurob.kernels.compiler import cache_folder, find_compiler

    compiler, folder = find_compiler(), cache_folder()
    if compiler is None:
        none = "none: install gcc or clang, or pip install 'modurob[cc]'; NumPy serves until then"
        return {"compiler": none, **_module_types()}
    kept = list(folder.glob("*.so")) if folder.is_dir() else []
    size = sum(f.stat().st_size for f in kept) / 1e6
    return {
        "compiler": f"{compiler.version} ({' '.join(compiler.command)})",
        "vector width": f"{compiler.vector_bytes * 8} bits ({WIDTHS[compiler.vector_bytes]})",
        "threads": str(mr.kernels.thread_count()),
        "cache": f"{folder}, {len(kept)} kernels, {size:.1f} MB",
        "one kernel": _one_kernel(),
        **_module_types(),
    }


def _module_types() -> dict[str, str]:
    folder, wrong = mr.catalogue.user_folder(), mr.catalogue.problems()
    lines = [f"{len(mr.catalogue.names())} available, your own from {folder}"]
    lines += [f"{' ' * 18}{name} describes none: {why}" for name, why in wrong.items()]
    return {"module types": "\n".join(lines)}


def _one_kernel(states: int = 4096, trials: int = 20) -> str:
    """Forward dynamics of a snake of hinges, timed."""
    import numpy as np

    snake = mr.Assembly.single("m0", "backbone")
    for i in range(1, 13):
        snake = snake.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4")
    robot = snake.mechanism()
    q, v, tau = np.random.default_rng(0).normal(size=(3, states, robot.nv))

    def seconds() -> float:
        started = time.perf_counter()
        robot.forward_dynamics(q, v, tau)
        return time.perf_counter() - started

    first, best = seconds(), min(seconds() for _ in range(trials))
    rate = states / best / 1e6
    return f"forward dynamics of {robot.nv} joints: {rate:.2f} million states/s, ready after {first:.2f} s"


# ---- kernels made beforehand ----


def warmed_up(organisms: int = 40, modules: int = 10) -> Iterator[tuple[int, int]]:
    """Compile for organisms of the modules of the package docked at random, covering most ways of docking: (done,
    total) as it proceeds.
    """
    import numpy as np

    rng = np.random.default_rng(0)
    for done in range(organisms):
        yield done, organisms
        robot = _organism(rng, modules).mechanism(floating=bool(done % 2))
        if robot.nv:
            _evaluate(robot)
    yield organisms, organisms


def _evaluate(robot: "mr.Mechanism") -> None:
    """Everything that is compiled, for one state and for many."""
    import numpy as np

    for lead in ((), (64,)):
        q = np.broadcast_to(robot.neutral(), (*lead, robot.nq))
        zero = np.zeros((*lead, robot.nv))
        robot.forward_dynamics(q, zero, zero)
        robot.inverse_dynamics(q, zero, zero)
        robot.forward_dynamics_derivatives(q, zero, zero)
        robot.inverse_dynamics_derivatives(q, zero, zero)
        robot.mass_matrix(q)
        robot.bias_forces(q, zero)
        robot.forward_kinematics(q)
        robot.jacobian(q, robot.bodies[-1])
        robot.kinetic_energy(q, zero)
        robot.potential_energy(q)
        mr.simulate(robot, q, zero, duration=1e-3)


def _organism(rng: Any, modules: int) -> "mr.Assembly":
    """Modules docked one after another at random free ports, wherever there is room."""
    assembly = mr.Assembly.single("m0", "backbone")
    while len(assembly) < modules:
        kind = str(rng.choice(["backbone", "scout"]))
        ports = [p.name for p in mr.module_type(kind).module().ports.values() if not p.connector.virtual]
        at = assembly.free_ports[rng.integers(len(assembly.free_ports))]
        roll = float(rng.choice([0, 90, 180, 270]))
        try:
            assembly = assembly.dock(f"m{len(assembly)}", kind, at, str(rng.choice(ports)), roll)
        except AssemblyError:
            continue
    return assembly
