"""The walk over an assembly from its base, connections in their order: depth first (Gutenkunst 3.3.3) or breadth first."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from modurob.assembly.connection import Connection, PortRef
from modurob.errors import InputError, choices

ORDERS = ("depth", "breadth")


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


def traverse(
    at: Mapping[str, Sequence[Connection]], connections: Sequence[Connection], base: str, order: str = "depth"
) -> Traversal:
    """The walk from `base`; it reaches only what is connected to it."""
    if order not in ORDERS:
        raise InputError(f"order {order!r}: {choices(str(order), ORDERS)}")
    reached, edges = {base}, []
    waiting = deque([(base, iter(at[base]))])
    # depth first continues from the module reached last, breadth first from the earliest in the queue
    place = -1 if order == "depth" else 0
    while waiting:
        module, rest = waiting[place]
        connection = next(rest, None)
        if connection is None:
            del waiting[place]
            continue
        into = connection.other(module)
        if into.module not in reached:
            reached.add(into.module)
            edges.append(Edge(connection.end(module), into, connection))
            waiting.append((into.module, iter(at[into.module])))
    walked = {edge.connection for edge in edges}
    loops = tuple(c for c in connections if c not in walked and c.a.module in reached)
    return Traversal((base, *(e.into.module for e in edges)), tuple(edges), loops)
