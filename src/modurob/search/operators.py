"""Changes of assemblies that an evolution is made of; each takes an assembly and gives a new one, or an error where it does
not fit."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from modurob.assembly import PortRef
from modurob.catalogue import Module
from modurob.errors import AssemblyError, ModurobError
from modurob.registry import Registry
from modurob.robot import Assembly

Rng = np.random.Generator
TRIES = 100  # at a change that fits


class Parts(NamedTuple):
    """What assemblies may be made of: module types, rolls [degrees] (None: all), and the least and largest number of modules."""

    modules: tuple[Module, ...]
    rolls: tuple[float, ...] | None
    least: int
    most: int


Operator = Callable[[Assembly, Parts, Rng, Sequence[Assembly]], Assembly]
OPERATORS: Registry[Operator] = Registry("operator on assemblies")


@OPERATORS.register("dock")
def dock(assembly: Assembly, parts: Parts, rng: Rng, others: Sequence[Assembly]) -> Assembly:
    """With one more module at a free port."""
    module = _any(parts.modules, rng)
    at, name = _any(assembly.free_ports, rng), next(assembly.new_names())
    port = _any([p for p in module.ports.values() if not p.connector.virtual], rng)
    return assembly.dock(name, module.type, at, port.name, _roll(port.connector.rolls, parts, rng), module.changed)


@OPERATORS.register("undock")
def undock(assembly: Assembly, parts: Parts, rng: Rng, others: Sequence[Assembly]) -> Assembly:
    """Without one of the modules at the ends."""
    return assembly.undock(_any(_ends(assembly), rng))


@OPERATORS.register("swap")
def swap(assembly: Assembly, parts: Parts, rng: Rng, others: Sequence[Assembly]) -> Assembly:
    """With a branch docked by another roll, or at another free port."""
    connection = _any(assembly.connections, rng)
    own, branch = assembly.parted(connection.a)
    at = _any([connection.a, _any(own.free_ports, rng)], rng)
    by = _any([connection.b, _any(branch.free_ports, rng)], rng)
    port = branch.modules[by.module].ports[by.port]
    return own.joined(branch, at, by, _roll(port.connector.rolls, parts, rng))


@OPERATORS.register("mirror")
def mirror(assembly: Assembly, parts: Parts, rng: Rng, others: Sequence[Assembly]) -> Assembly:
    """With the mirror image of a branch on the other side of the module that carries it."""
    return assembly.mirrored(_any(list(assembly.modules)[1:], rng), next(iter(assembly.modules)))


@OPERATORS.register("duplicate")
def duplicate(assembly: Assembly, parts: Parts, rng: Rng, others: Sequence[Assembly]) -> Assembly:
    """With a copy of a branch at a free port."""
    return assembly.duplicated(_any(list(assembly.modules)[1:], rng), _any(assembly.free_ports, rng))


@OPERATORS.register("graft")
def graft(assembly: Assembly, parts: Parts, rng: Rng, others: Sequence[Assembly]) -> Assembly:
    """With a branch of another assembly in place of one of its own."""
    own = assembly.parted(_any(assembly.connections, rng).a)[0]
    other = _any(others, rng)
    found = other.branch(_any(list(other.modules)[1:], rng), next(iter(other.modules)))
    piece = other._part(found.modules).renamed({n: f"new{i}" for i, n in enumerate(found.modules)})
    by = PortRef(f"new{list(found.modules).index(found.by.module)}", found.by.port)
    port = piece.modules[by.module].ports[by.port]
    return own.joined(piece, _any(own.free_ports, rng), by, _roll(port.connector.rolls, parts, rng))


def changed(assembly: Assembly, parts: Parts, rng: Rng, others: Sequence[Assembly]) -> tuple[str, Assembly]:
    """A change that fits, by an operator at random, and its name."""
    for _ in range(TRIES):
        name = _any(list(OPERATORS), rng)
        try:
            made = OPERATORS[name](assembly, parts, rng, others)
        except ModurobError:
            continue
        if parts.least <= len(made) <= parts.most:
            return name, made
    raise AssemblyError(
        f"{assembly!r:.80}: no change in {TRIES} tries: expected module types that can be docked to each other"
    )


def grown(parts: Parts, rng: Rng) -> Assembly:
    """An assembly of a random number of modules, docked one after another."""
    module, n = _any(parts.modules, rng), int(rng.integers(parts.least, parts.most + 1))
    assembly = Assembly({"m0": module})
    for _ in range(TRIES * n):
        if len(assembly) >= n:
            break
        try:
            assembly = dock(assembly, parts, rng, ())
        except ModurobError:
            continue
    if len(assembly) < parts.least:
        raise AssemblyError(f"{len(assembly)} modules could be docked: expected types that fit, for {parts.least}")
    return assembly


def _ends(assembly: Assembly) -> list[str]:
    return [name for name, found in assembly._neighbours.items() if len(found) == 1]


def _any(things: Sequence, rng: Rng):
    if not things:
        raise AssemblyError("nothing to choose from")
    return things[int(rng.integers(len(things)))]


def _roll(rolls: Sequence[float], parts: Parts, rng: Rng) -> float:
    return float(_any([r for r in rolls if parts.rolls is None or r in parts.rolls], rng))
