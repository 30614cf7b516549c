"""The outward recursion over a tree, for algorithms that are not programs."""

from collections.abc import Callable
from typing import TypeVar

from modurob.mechanism.tables import Tables

Value = TypeVar("Value")


def outward(m: Tables, root: Value, step: Callable[[int, Value], Value]) -> list[Value]:
    """From the world to the tips: value[i] = step(i, value[parent[i]]), value[0] = root."""
    values = [root]
    for i in range(1, len(m.parent)):
        values.append(step(i, values[m.parent[i]]))
    return values
