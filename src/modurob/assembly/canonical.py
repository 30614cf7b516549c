"""Equality of assemblies up to the names and the order of their modules."""

import hashlib
from collections import Counter

from modurob.assembly.graph import Graph

Code = tuple

# so many walks are cheaper than telling their starts apart
FEW = 4


def canonical_order(assembly: Graph) -> tuple[str, ...]:
    """The modules in an order that does not depend on their names: equal assemblies give the same connections in it.

    Ports are named by the module types, so a walk from a given module is determined. Of all walks the least is taken; only
    modules whose surroundings are rarest need to be tried as its start.
    """
    if not assembly.modules:
        return ()
    return min((_walk(assembly, start) for start in _starts(assembly)), key=lambda walk: walk[0])[1]


def canonical_key(assembly: Graph) -> str:
    """Equal for two assemblies exactly if they are the same up to module names and order (64 hexadecimal digits)."""
    code = _code(assembly, canonical_order(assembly))
    return hashlib.sha256(repr(code).encode()).hexdigest()


def isomorphism(first: Graph, second: Graph) -> dict[str, str] | None:
    """A mapping from the modules of `first` to those of `second`, or None if the two are not the same robot."""
    one, two = canonical_order(first), canonical_order(second)
    if _code(first, one) != _code(second, two):
        return None
    return dict(zip(one, two, strict=True))


def _code(assembly: Graph, order: tuple[str, ...]) -> Code:
    """Everything about the assembly but names, modules counted in the given order."""
    index = {name: i for i, name in enumerate(order)}
    kinds = tuple(assembly.modules[name].key for name in order)
    docked = sorted(
        (*sorted([(index[c.a.module], c.a.port), (index[c.b.module], c.b.port)]), c.roll) for c in assembly.connections
    )
    return kinds, tuple(docked)


def _walk(assembly: Graph, start: str) -> tuple[Code, tuple[str, ...]]:
    """Breadth-first walk from `start`, ports in the order of the module type, and the code it gives."""
    order, reached = [start], {start}
    for name in order:
        for port in assembly.modules[name].ports:
            end = assembly.docked_at(name, port)
            if end is not None and end.module not in reached:
                reached.add(end.module)
                order.append(end.module)
    return _code(assembly, tuple(order)), tuple(order)


def _starts(assembly: Graph) -> list[str]:
    """The modules whose surroundings are rarest: coloured by what they are, then by what they touch, until few share a colour."""
    colours = _numbered({name: (module.key,) for name, module in assembly.modules.items()})
    while True:
        count = Counter(colours.values())
        rarest = min(count, key=lambda c: (count[c], c))
        seen = {}
        for name, module in assembly.modules.items():
            ends = ((port, assembly.docked_at(name, port)) for port in module.ports)
            seen[name] = (colours[name], *((p, end.port, colours[end.module]) for p, end in ends if end is not None))
        refined = _numbered(seen)
        if count[rarest] <= FEW or len(set(refined.values())) == len(count):
            return [name for name, colour in colours.items() if colour == rarest]
        colours = refined


def _numbered(labels: dict[str, tuple]) -> dict[str, int]:
    rank = {label: i for i, label in enumerate(sorted(set(labels.values())))}
    return {name: rank[label] for name, label in labels.items()}
