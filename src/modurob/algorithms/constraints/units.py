"""In what lengths and angles of a mechanism are compared."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from modurob.mechanism.tables import Constraint, Loop, Tables
from modurob.spatial.scalars import Array, read_only


class Units(NamedTuple):
    """The mechanism's size for lengths, one for angles: what rates and rows are compared in."""

    rates: Array  # (nv,)
    rows: Array  # (rows,)
    turns: Array  # which rates are angles, (nv,)


@lru_cache(maxsize=256)
def units_of(m: Tables) -> Units:
    """Those of a mechanism."""
    size = _size(m)
    turns = np.array([unit == "rad" for j in m.joints if not j.mimics for unit in j.type.units])
    rates = np.where(turns, 1.0, size)
    rows = np.array([x for c in m.constraints for x in _row_units(m, c, rates, size)])
    return Units(*map(read_only, (rates, rows, turns)))


def _row_units(m: Tables, c: Constraint, rates: Array, size: float) -> Array:
    """The size for equations of forces, one for those of torques; for a coupling what its largest term has."""
    if isinstance(c, Loop):
        T = c.type.constraint_subspace(c.type.neutral())
        return np.where(np.any(T[:3] != 0, axis=0), size, 1.0)
    coordinates = [m.joints[i].v_slice.start for i in c.joints]
    return np.abs(c.ratios * rates[coordinates]).max(keepdims=True)


def _size(m: Tables) -> float:
    """The longest way between two joints on one body [m]; one if there is none."""
    points = [[np.zeros(3)] if body else [] for body in range(len(m.bodies))]
    for i, parent in enumerate(m.parent[1:], 1):
        points[parent].append(m.X_PJ[i][:3, 3])
    for end in (end for c in m.constraints if isinstance(c, Loop) for end in (c.predecessor, c.successor)):
        points[end.body].append(end.X[:3, 3])
    ways = [np.linalg.norm(np.array(x)[:, None] - np.array(x), axis=-1).max() for x in points if x]
    return float(max(ways, default=0.0)) or 1.0
