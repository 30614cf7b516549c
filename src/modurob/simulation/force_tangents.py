"""Forces along joints with their tangents, as straight-line code of one state: traced, differentiated and compiled."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.forces import acting, dry_friction, force_rates, joint_efforts, sampled_states
from modurob.kernels.stepped import CompiledGraph
from modurob.mechanism.tables import Tables
from modurob.spatial.scalars import Array
from modurob.trace import Graph, tangent


class Moved(NamedTuple):
    """Numbers at a state, and how they move with it: d = by (dq, dv, dx), dq of the coordinates."""

    values: Array  # (k,)
    by: Array  # (k, nq + nv + nx)


class Sparse:
    """A function of q, v, x and other numbers, with the slopes that are not zero at places that are known."""

    def __init__(self, name: str, m: Tables, function: Any, **others: int):
        graph, sizes = Graph(), {"q": m.nq, "v": m.nv, "x": acting(m).nx, **others}
        named = {array: graph.inputs(array, n) for array, n in sizes.items()}
        values = np.asarray(function(**named), dtype=object)
        moved = [x for array in ("q", "v", "x") for x in named[array]]
        by = np.stack([tangent(graph, values, {x: 1.0}) for x in moved], axis=-1)
        self._at = np.nonzero(np.array([[not _is_zero(graph, x) for x in row] for row in by], dtype=bool))
        self._shape = by.shape
        self._run = CompiledGraph(name, graph, sizes, {"values": values, "slopes": by[self._at]})

    def __call__(self, *given: Array) -> Moved:
        values, slopes = self._run(*given)
        by = np.zeros(self._shape)
        by[self._at] = slopes
        return Moved(values, by)


def _is_zero(graph: Graph, x: Any) -> bool:
    return graph.number(graph.index(x)) == 0


@lru_cache(maxsize=64)
def forces_of(m: Tables) -> Sparse:
    """Efforts along joints and rates of the states of forces, (nv + nx,), of q, v, x, t (1,), and slide, (nv,)."""
    return Sparse("force tangents", m, lambda q, v, x, t, slide: _forces(m, t[0], q, v, x, slide), t=1, slide=m.nv)


def _forces(m: Tables, t: Any, q: Array, v: Array, x: Array, slide: Array) -> Array:
    efforts = joint_efforts(m, t, q, v, x) - slide * dry_friction(m, v)
    return np.concatenate([efforts, force_rates(m, t, q, v, x)])


@lru_cache(maxsize=64)
def samples_of(m: Tables) -> Sparse:
    """States of forces after their own loops have sampled, (nx,), of q, v, x and the step, (1,)."""
    return Sparse("sample tangents", m, lambda q, v, x, dt: sampled_states(m, q, v, x, dt), dt=1)
