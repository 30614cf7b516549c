"""What the machine offers, and kernels made before they are needed."""

import time
from collections.abc import Iterator

import numpy as np

from modurob.assembly import Assembly
from modurob.catalogue import module_type
from modurob.errors import AssemblyError
from modurob.kernels.compiler import cache_folder, find_compiler
from modurob.kernels.fast import Fast, thread_count
from modurob.kernels.programs import PROGRAMS
from modurob.mechanism import Builder, Tables, from_assembly

WIDTH_NAMES = {64: "AVX-512", 32: "AVX2", 16: "SSE2 or NEON", 8: "none"}


def _snake(modules: int) -> Tables:
    assembly = Assembly.single("m0", "backbone")
    for i in range(1, modules):
        assembly = assembly.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4")
    return _built(assembly)


def diagnosis() -> dict[str, str]:
    """Compiler, vector width, threads, cache, and the time of one kernel."""
    compiler, folder = find_compiler(), cache_folder()
    if compiler is None:
        return {"compiler": "none: install gcc or clang, or pip install modurob[cc]; NumPy serves until then"}
    kept = list(folder.glob("*.so")) if folder.is_dir() else []
    size = sum(f.stat().st_size for f in kept) / 1e6
    robot = _snake(13)
    fast, states = Fast(robot, patient=False), 4096
    q, v, tau = np.random.default_rng(0).normal(size=(3, states, robot.nv))
    started = time.perf_counter()
    fast.forward_dynamics(q, v, tau)
    first = time.perf_counter() - started
    times = []
    for _ in range(20):
        started = time.perf_counter()
        fast.forward_dynamics(q, v, tau)
        times.append(time.perf_counter() - started)
    rate = states / min(times)
    return {
        "compiler": f"{compiler.version} ({' '.join(compiler.command)})",
        "vector width": f"{compiler.vector_bytes * 8} bits ({WIDTH_NAMES[compiler.vector_bytes]})",
        "threads": str(thread_count()),
        "cache": f"{folder}, {len(kept)} kernels, {size:.1f} MB",
        "one kernel": f"forward dynamics of {robot.nv} joints: {rate / 1e6:.2f} million states/s, ready after {first:.2f} s",
    }


def warmed_up(organisms: int = 40, modules: int = 10) -> Iterator[tuple[int, int]]:
    """Compile for organisms of the shipped modules docked at random, most ways of docking among them: (done, total) as it goes."""
    rng = np.random.default_rng(0)
    for done in range(organisms):
        yield done, organisms
        robot = _built(_organism(rng, modules), floating=bool(done % 2))
        for name in PROGRAMS if robot.nv else ():
            for lanes in (1, None):
                Fast(robot, patient=False).kernel(name, lanes=lanes)
    yield organisms, organisms


def _organism(rng: np.random.Generator, modules: int) -> Assembly:
    """Modules docked one after another at random free ports, wherever there is room."""
    assembly = Assembly.single("m0", "backbone")
    while len(assembly) < modules:
        kind = str(rng.choice(["backbone", "scout"]))
        ports = [p.name for p in module_type(kind).module().ports.values() if not p.connector.virtual]
        at = assembly.free_ports[rng.integers(len(assembly.free_ports))]
        try:
            assembly = assembly.dock(
                f"m{len(assembly)}", kind, at, str(rng.choice(ports)), float(rng.choice([0, 90, 180, 270]))
            )
        except AssemblyError:
            continue
    return assembly


def _built(assembly: Assembly, floating: bool = False) -> Tables:
    return from_assembly.fill(Builder(assembly.name), assembly, None, floating, (), False)
