"""The C functions of loop joints, one for each kind of joint that closes a loop; and the order in which constraints are solved."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.constraints.slopes import moves
from modurob.algorithms.pairs import signs
from modurob.algorithms.program import Constraints, Program
from modurob.catalogue.joints import JointType
from modurob.kernels.anatomy import filled_pattern, listed, paths_of
from modurob.kernels.constraint_steps import TILE
from modurob.kernels.dyad import joint_text
from modurob.kernels.lowering import Store, size
from modurob.kernels.units import Unit
from modurob.kernels.writer import Code, Layout, Table, function
from modurob.mechanism import Loop, Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array
from modurob.trace import Graph, Place, substituted, tangent


def slots_of(program: Program, walk: Constraints) -> list[str]:
    """The places that a function reads and writes: the fields of both bodies, the reference point, its rows of inputs and results,
    vectors that are projected, and the matrices of `turn`."""
    rows = [name for kinds in (program.inputs, program.results) for name, kind in kinds.items() if kind == "rows"]
    return ["predecessor", "successor", "reference", *rows, *(f"T {name}" for name in walk.projected), "turned"]


class _TracedLoop:
    """A loop joint, as `LoopView` says, with one leading axis; its table contains its two frames."""

    def __init__(self, joint: JointType, program: Program):
        self.graph, self.program, self.stores = Graph(), program, list[Store]()
        self.type = joint.with_parameters({p: self.graph.input("parameter", i) for i, p in enumerate(joint.parameters)})

    def pose(self, end: str) -> Array:
        X, frame = np.eye(4, dtype=object), np.eye(4, dtype=object)
        X[:3] = self.graph.inputs(f"{end} X", (3, 4))
        X[:3, 3] = X[:3, 3] - self.graph.inputs("reference", 3)
        frame[:3] = self.graph.inputs("back" if end == "predecessor" else "frame", (3, 4))
        return (X @ frame)[None]

    def motion(self, end: str) -> tuple[Array, Array]:
        return self.graph.inputs(f"{end} V", (1, 6)), self.graph.inputs(f"{end} A", (1, 6))

    def given(self, name: str) -> Array:
        return self.graph.inputs(name, (1, 6 - self.type.nv))

    def project(self, **vectors: tuple[Array, ...]) -> None:
        for name, T in vectors.items():
            self._store(f"T {name}", np.concatenate(T, axis=-1))

    def add_wrench(self, F: Array) -> None:
        self._store("successor F", F, add=True)
        self._store("predecessor F", -F, add=True)

    def turn(self, carried: Array, changed: Array | None) -> None:
        self._store("turned", np.stack([carried] if changed is None else [carried, changed]))

    def slopes(self, function: Callable[[Array, Array], Array], X: Array, V: Array) -> tuple[Array, Array]:
        """By the tangents of the function's own trace, at a pose and a twist of its own, for which X and V are substituted."""
        pose, twist = np.eye(4, dtype=object)[None], self.graph.inputs("twist", (1, 6))
        pose[:, :3] = self.graph.inputs("pose", (1, 3, 4))
        value = function(pose, twist)
        known = dict(zip([*pose[:, :3].ravel(), *twist.ravel()], [*X[:, :3].ravel(), *V.ravel()], strict=True))

        def moved(at: Array, rate: Array) -> Array:
            return substituted(self.graph, tangent(self.graph, value, dict(zip(at, rate, strict=True))), known)

        by_pose = [moved(pose[:, :3].ravel(), (pose @ se3.hat(d))[:, :3].ravel()) for d in np.eye(6)]
        by_twist = [moved(twist.ravel(), d) for d in np.eye(6)]
        return np.stack(by_pose, axis=-1), np.stack(by_twist, axis=-1)

    def emit(self, **rows: Array) -> None:
        for name, x in rows.items():
            self._store(name, x)

    def _store(self, array: str, value: Array, add: bool = False) -> None:
        self.stores += [Store(Place(array, k), x, add) for k, x in enumerate(np.asarray(value, dtype=object).ravel())]


def loop_unit(joint: JointType, program: Program, walk: Constraints, lanes: int, single: bool) -> Unit:
    """The function of a loop joint in a program."""
    joint = joint.with_parameters(dict.fromkeys(joint.parameters, 0.0))

    def write() -> tuple[str, Code]:
        loop = _TracedLoop(joint, program)
        walk.step(loop)
        offsets = field_offsets(program)
        layout = Layout(
            {name: k for k, name in enumerate(slots_of(program, walk))},
            {f"{end} {name}": at for end in ("predecessor", "successor") for name, at in offsets.items()},
            {},
        )
        table = Table(loop.graph)
        text = function("loop", loop.graph, loop.stores, layout, table)
        return text, Code(["loop"], loop.graph, table.nodes, 0)

    return Unit(f"{program.name}-loop", f"loop {joint_text(joint)} in {program.name}", lanes, single, write)


def field_offsets(program: Program) -> dict[str, int]:
    """Where the shared fields of a body stand among its vectors."""
    starts = np.cumsum([0, *(size(shape) for shape in program.shared.values())])
    return dict(zip(program.shared, starts.tolist(), strict=False))


def loop_constants(joint: JointType, X_P: Array, X_S: Array) -> dict[str, Any]:
    """The table of a loop: the frames at its ends, in the chosen frames of their bodies."""
    parameters = [getattr(getattr(joint, "original", joint), p) for p in joint.parameters]
    return {"back": X_P[:3].ravel(), "frame": X_S[:3].ravel(), "parameter": np.array(parameters, dtype=float)}


# ---- the order of the solve ----


class Elimination(NamedTuple):
    """The order in which rates are eliminated, and the patterns of entries that are not zero.

    Places are those in `order`, of which the last goes first. All lists as `anatomy.listed` has them.
    """

    order: Array  # coordinates, (nv,)
    in_row: Array  # for each row of K the places it has entries at
    sides: Array  # for each place which of (force, rows of K) are not zero there after the outward half of the solve
    of_rows: Array  # the pattern of the matrix between rows
    of_M: Array  # that of the mass matrix and the inertia against moving the constraints


@lru_cache(maxsize=128)
def elimination(m: Tables) -> Elimination:
    """Minimum-degree elimination of M + K^T W K: next is the rate with the fewest entries left; of equals the one farthest out."""
    meeting = [set(path) for path in paths_of(m)]
    rows = [x for c in m.constraints for x in [_coordinates(m, c)] * c.rows]
    # contacts between bodies have entries between all rates that move one of the two alone
    meeting += [set(np.flatnonzero(sign).tolist()) for sign in signs(m)]
    order = _fewest_first(m.nv, [*meeting, *rows])
    place = {coordinate: k for k, coordinate in enumerate(order)}
    of_M = filled_pattern(m.nv, [{place[c] for c in clique} for clique in (*meeting, *rows)])
    at = [sorted(place[c] for c in row) for row in rows]
    reached = [_reached(of_M, row) for row in at]
    sides = [[0, *(a + 1 for a, row in enumerate(reached) if k in row)] for k in range(m.nv)]
    of_rows = filled_pattern(len(rows), [{a - 1 for a in side[1:]} for side in sides])
    return Elimination(np.array(order, dtype=np.int32), listed(at), listed(sides), of_rows, of_M)


def _coordinates(m: Tables, c: Any) -> set[int]:
    """The coordinates that a constraint has entries at."""
    if not isinstance(c, Loop):
        return {m.joints[i].v_slice.start for i in c.joints}
    return _moving(m, set(m.ancestors[c.predecessor.body]) ^ set(m.ancestors[c.successor.body]))


def _moving(m: Tables, bodies: Iterable[int]) -> set[int]:
    """The coordinates of the joints of bodies."""
    slices = [m.joints[i - 1].v_slice for i in bodies]
    return {k for s in slices for k in range(s.start, s.stop)}


def _fewest_first(n: int, cliques: Iterable[set[int]]) -> list[int]:
    """The order of minimum degree, the first to go last."""
    meets: list[set[int]] = [set() for _ in range(n)]
    for clique in cliques:
        for k in clique:
            meets[k] |= clique
    left, order = set(range(n)), []
    while left:
        k = min(left, key=lambda k: (len(meets[k] & left), -k))
        left.remove(k)
        order.append(k)
        around = meets[k] & left
        for other in around:
            meets[other] |= around
    return order[::-1]


def _reached(pattern: Array, places: Iterable[int]) -> set[int]:
    """The places, and those of the fill-in when they are eliminated."""
    found, waiting = set[int](), set(places)
    while waiting:
        k = waiting.pop()
        found.add(k)
        start = int(pattern[k])
        waiting |= set(pattern[start + 1 : start + 1 + int(pattern[start])].tolist()) - found
    return found


# ---- the pattern of derivatives of constrained motion ----


class SlopedEntries(NamedTuple):
    """For each coordinate the rows of the tree's slopes by it that are not zero, and those of the constraints."""

    of_tree: list[set[int]]
    of_rows: list[set[int]]


def sloped_entries(m: Tables) -> tuple[SlopedEntries, SlopedEntries]:
    """The pattern of the results of `constraints.slopes.CONSTRAINED_SLOPES`, by q and by v."""
    by_q, by_v = (SlopedEntries(*([set() for _ in range(m.nv)] for _ in range(2))) for _ in range(2))
    for path in paths_of(m):
        for c in path:
            by_q.of_tree[c].update(path)
            by_v.of_tree[c].update(path)
    row = 0
    for constraint in m.constraints:
        if isinstance(constraint, Loop):
            between, rows = _coordinates(m, constraint), range(row, row + constraint.rows)
            above = _moving(m, m.ancestors[constraint.predecessor.body])
            for c in between:
                by_q.of_rows[c].update(rows)
                by_v.of_rows[c].update(rows)
                by_q.of_tree[c].update(above | between if moves(constraint.type) else above)
        row += constraint.rows
    return by_q, by_v


def sloped_tiles(n: int, of_tree: list[set[int]], of_rows: list[set[int]], start: int) -> Array:
    """Columns of results from `start` on, a few that are alike at a time, as `sloped_columns` in constrained.c has them."""
    order = sorted(range(n), key=lambda c: (sorted(of_rows[c]), sorted(of_tree[c]), c))
    tiles: list[int] = [-(-n // TILE)]
    for k in range(0, n, TILE):
        some = [order[min(k + x, n - 1)] for x in range(TILE)]
        own, others = (sorted(set().union(*(x[c] for c in some))) for x in (of_tree, of_rows))
        tiles += [*(start + c for c in some), *some, len(own), len(others), *own, *others]
    return np.array(tiles, dtype=np.int32)
