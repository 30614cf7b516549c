"""The two walks over a tree, written once. An algorithm is only its local step."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from modurob.mechanism.tables import Tables
from modurob.spatial.scalars import Array

Value = TypeVar("Value")
Sums = tuple[Array, ...]


def outward(m: Tables, root: Value, step: Callable[[int, Value], Value]) -> list[Value]:
    """From the world to the tips: value[i] = step(i, value[parent[i]]), value[0] = root."""
    values = [root]
    for i in range(1, len(m.parent)):
        values.append(step(i, values[m.parent[i]]))
    return values


def inward(m: Tables, own: Sequence[Sums], step: Callable[[int, Sums], Sums]) -> list[Sums]:
    """From the tips to the world: total[i] = own[i] + sum over the children j of step(j, total[j])."""
    totals = list(own)
    for i in reversed(range(1, len(m.parent))):
        p = m.parent[i]
        totals[p] = tuple(a + b for a, b in zip(totals[p], step(i, totals[i]), strict=True))
    return totals
