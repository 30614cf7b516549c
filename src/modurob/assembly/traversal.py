"""The walk over an assembly from its base, depth first, connections in their order (000 3.3.3, 003 Figure 6)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from modurob.assembly.connection import Connection, PortRef


class Edge(NamedTuple):
    """A connection walked from `out` on the parent to `into` on the child."""

    out: PortRef
    into: PortRef
    connection: Connection


class Traversal(NamedTuple):
    """Modules in the order they are reached, the edges that reach them, and the connections left over, which close loops."""

    order: tuple[str, ...]
    edges: tuple[Edge, ...]
    loops: tuple[Connection, ...]


def neighbours(modules: Sequence[str], connections: Sequence[Connection]) -> dict[str, list[Connection]]:
    """The connections at each module, in order."""
    at: dict[str, list[Connection]] = {name: [] for name in modules}
    for connection in connections:
        at[connection.a.module].append(connection)
        at[connection.b.module].append(connection)
    return at


def traverse(at: Mapping[str, Sequence[Connection]], connections: Sequence[Connection], base: str) -> Traversal:
    """Depth-first walk from `base`; it reaches only what is connected to it."""
    reached = {base}
    order, edges = [base], []
    stack = [(base, iter(at[base]))]
    while stack:
        module, rest = stack[-1]
        connection = next(rest, None)
        if connection is None:
            stack.pop()
            continue
        into = connection.other(module)
        if into.module in reached:
            continue
        reached.add(into.module)
        order.append(into.module)
        edges.append(Edge(connection.end(module), into, connection))
        stack.append((into.module, iter(at[into.module])))
    walked = {edge.connection for edge in edges}
    return Traversal(
        tuple(order), tuple(edges), tuple(c for c in connections if c not in walked and c.a.module in reached)
    )
