"""A program laid out for one mechanism: units, places and constants of each joint, and the rows in their order."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from modurob.algorithms.constraints.slopes import moves
from modurob.algorithms.interpreter import floats
from modurob.algorithms.program import Constraints, Flow, Inward, Outward, Pairs, Paths, Program, Sweep
from modurob.kernels.constraint_units import loop_constants, loop_unit
from modurob.kernels.dyad_units import OPTIONAL, dyad_unit, kinds_for, slot_names
from modurob.kernels.lowering import size
from modurob.kernels.pair_units import column_offsets, matrices, pair_unit
from modurob.kernels.path_units import path_unit, regressors
from modurob.kernels.registers import Register, Rows
from modurob.kernels.sweeping import spots_of
from modurob.kernels.units import Loaded, Step, Unit, loaded
from modurob.mechanism import Coupling, Loop
from modurob.spatial.scalars import Array

if TYPE_CHECKING:
    from modurob.kernels.arena import Arena


# vectors that a rate takes in sweeps.c: in `node`, in `response`, for shares, and for a number
SWEPT = 21 + 28 + 15 + 1
# bytes of columns that stay in the first-level cache while inner products with others are taken
NEAR = 1 << 14
# the C by hand that a pass needs: it is compiled beside the units
FILES_FOR = {Constraints: "matrices", Sweep: "sweeps"}


def units_of(e: "Arena", program: Program, given: frozenset[str]) -> list[Unit]:
    """The code of a program, that of each joint first; what it needs of C by hand is compiled beside it from now on."""
    walks = program.passes
    for walk in walks:
        if type(walk) in FILES_FOR:
            e.need(FILES_FOR[type(walk)])
        if isinstance(walk, Constraints) and walk.turned:
            e.need("constrained")
    if "k" in program.results:  # accelerations are solved for with constraints
        e.need("constraining")
    kinds, _ = kinds_for(e.anatomy.kinds, program, floats(e.m))
    units = [dyad_unit(kind, program, given, e.lanes, e.single) for kind in kinds]
    units += [pair_unit(program, w, e.m.coupled, e.lanes, e.single) for w in walks if isinstance(w, Pairs)]
    units += [
        path_unit(program, w, e.m.coupled and not w.weights, e.lanes, e.single) for w in walks if isinstance(w, Paths)
    ]
    units += [
        loop_unit(c.type, program, w, e.lanes, e.single) for w in walks if isinstance(w, Constraints) for c in e.m.loops
    ]
    return units


def given_of(program: Program | Flow, inputs: Iterable[str]) -> frozenset[str]:
    """Those inputs that may be left out and are not."""
    return frozenset(name for name in inputs if program.inputs[name] in OPTIONAL)


class Laid:
    """A program laid out in the arena of an engine."""

    def __init__(self, engine: "Arena", program: Program, inputs: dict[str, Register], again: bool = False):
        self.engine, self.program, self.inputs, self.a = engine, program, inputs, engine.anatomy
        self._left_out = program.still if again else 0
        self.given = given_of(program, inputs)
        self.units = self._units()
        self.out = {name: engine.allocate(engine.entries(kind)) for name, kind in program.results.items()}
        self.columns = self._scratch("columns", int(self.a.tree_starts[-1]) * self._width)
        self.fields = self._fields()
        self.blocks: dict[str, int] = {}
        self._turned: list[list[int]] = []  # rows that add to a matrix once its pairs are there
        self._constants()
        self._lay()

    def results(self) -> dict[str, Register]:
        entries = self.engine.entries
        return {n: self.engine._at(self.out[n], entries(kind)) for n, kind in self.program.results.items()}

    def _scratch(self, what: str, n: int) -> int:
        """Memory for intermediate numbers; a program that runs again reuses it, so that it stays in the cache."""
        return self.engine.scratch((self.program.name, self.given, what), n)

    @property
    def _width(self) -> int:
        return sum(self.program.columns.values())

    def _units(self) -> list[Loaded]:
        """All code that the program needs, compiled in one go where it is not there."""
        found = loaded(units_of(self.engine, self.program, self.given))
        self._more = found[len(self.a.kinds) :]
        return found[: len(self.a.kinds)]

    def _fields(self) -> Array:
        """Where the fields of each body begin, the world first."""
        shared = sum(size(shape) for shape in self.program.shared.values())
        sizes = [shared, *(u.code.size for u in self.units)]
        start = self._scratch("fields", int(sum(sizes)))
        world = self.program.world(self.engine.m)
        at = start
        for name, shape in self.program.shared.items():
            values = np.ravel(world[name])
            self.engine.start |= {at + k: float(x) for k, x in enumerate(values) if x}
            at += size(shape)
        return (start + np.concatenate([[0], np.cumsum(sizes)[:-1]])).astype(np.int32)

    def _constants(self) -> None:
        _, anywhere = kinds_for(self.a.kinds, self.program, floats(self.engine.m))
        rows = self.a.rows([unit.code for unit in self.units], anywhere)
        self.table = np.concatenate([np.zeros(0), *rows])
        self.starts = (
            np.concatenate([[0], np.cumsum([len(r) for r in rows])[:-1]]).astype(np.int64)
            if rows
            else np.zeros(0, np.int64)
        )

    # ---- places of each joint ----

    def _places(self) -> Array:
        """(joints, slots)."""
        e, a, n = self.engine, self.a, len(self.a.kinds)
        names = slot_names(self.program, self.given)
        at = np.zeros((n, len(names)), dtype=np.int32)
        slot_size = sum(size(shape) for shape in self.program.sent.values())
        slots = self._scratch("slots", a.slots.number * slot_size)
        columns: dict[str, Any] = {
            "parent": self.fields[a.parents],
            "own": self.fields[1:],
            "children": slots + a.slots.children * slot_size,
            "sent": slots + a.slots.sent * slot_size,
            "before": slots + a.slots.before * slot_size,
            "columns": self.columns + a.tree_starts[:-1] * self._width,
        }
        for k, name in enumerate(names):
            what, _, array = name.partition(" ")
            if what == "in":
                at[:, k] = self._input_places(array)
            elif what == "out":
                at[:, k] = self._output_places(array)
            elif what == "block":
                at[:, k] = self._block_places(array)
            else:
                at[:, k] = columns[name]
        return at * e.vector_bytes

    def _input_places(self, name: str) -> Any:
        a, kind, bodies = self.a, self.program.inputs[name], np.arange(len(self.a.kinds))
        if kind == "reference":
            return self._reference
        place = self.inputs[name].place
        steps = {
            "coordinates": a.q_starts,
            "rates": a.v_starts,
            "wrenches": 6 * (bodies + 1),
            "inertias": 21 * (bodies + 1),
        }
        return place + (bodies if kind == "bodies" else steps.get(str(kind), 0))

    @property
    def _reference(self) -> int:
        """A point near the robot: its floating base, or where it stands."""
        return self.inputs["q"].place if floats(self.engine.m) else self.engine.stand()

    def _output_places(self, name: str) -> Array:
        a, bodies = self.a, np.arange(len(self.a.kinds))
        steps = {
            "rates": a.v_starts,
            "coordinates": a.q_starts,
            "vectors": 6 * a.v_starts,
            "poses": 12 * bodies,
            "twists": 6 * bodies,
            "bodies": bodies,
        }
        return self.out[name] + steps[self.program.results[name]]

    def _block_places(self, name: str) -> Array:
        squares = np.array([k.joint.nv**2 if k.joint.turns else 0 for k in self.a.kinds])
        self.blocks[name] = self.engine.allocate(int(squares.sum()))
        return self.blocks[name] + np.concatenate([[0], np.cumsum(squares)[:-1]]).astype(np.int32)

    # ---- rows ----

    def _lay(self) -> None:
        self.at = self._places()
        self._clear_sums()
        function, order = 0, np.array(self.a.order, dtype=int) - 1
        matrices_alone = {*self.program.results.values()} <= {
            "matrix",
            "slopes",
            "regressor",
        } and not self.engine.m.coupled
        for walk in self.program.passes:
            if matrices_alone and not self.engine.idle and not isinstance(walk, Outward | Inward):
                self.engine.idle = sum(len(r.at) for r in self.engine.rows)
            if isinstance(walk, Outward | Inward):
                if function >= self._left_out:
                    self._pass(function, order if isinstance(walk, Outward) else order[::-1])
                function += 1
            elif isinstance(walk, Pairs):
                self._pairs()
            elif isinstance(walk, Paths):
                self._paths(walk)
            elif isinstance(walk, Sweep):
                self._sweep()
            else:
                assert isinstance(walk, Constraints), "climbs are for the interpreter alone"
                self._constraints(walk)
        for at in self._turned:
            self.engine.op("turn", at)

    def _clear_sums(self) -> None:
        """Clear the results that joints with a common coordinate add to."""
        if self.engine.m.coupled:
            for name, kind in self.program.results.items():
                if kind in ("rates", "vectors", "matrix", "regressor", "row matrix"):
                    self.engine.op("clear", [self.out[name], self.engine.entries(kind)])
            return
        # pairs write entries between rates of one branch; `turn` adds to others too, which begin at zero
        for name in (w.turned for w in self.program.passes if isinstance(w, Constraints) and w.turned):
            self.engine.op("clear", [self.out[name], self.engine.entries("matrix")])

    def _pass(self, function: int, order: Array) -> None:
        steps = [Step(self.units[i], function) for i in order]
        self.engine.rows.append(Rows(steps, self.at[order], self.table, self.starts[order]))

    def _pairs(self) -> None:
        """Rows for each rate of the tree and groups of the rates above it, which stay in the first-level cache for the next."""
        e, a, n = self.engine, self.a, self.engine.m.nv
        bases = [self.out[name] for name in matrices(self.program)]
        place = self.columns + np.arange(a.tree_starts[-1]) * self._width
        above: list[list[int]] = [[]]  # for each body the rates that move it
        for i in range(1, len(e.m.bodies)):
            above.append([*above[e.m.parent[i]], *range(a.tree_starts[i - 1], a.tree_starts[i])])
        coordinate = [c for _, c in a.rate_names]
        written = np.zeros(n * n, dtype=bool)
        e.written |= dict.fromkeys(bases, written)
        # half of the columns of a rate are read by the rates below it
        some = max(1, 2 * NEAR // int(self._width * e.vector_bytes))
        for first in range(0, max(map(len, above)), some):
            for rate, (i, c) in enumerate(a.rate_names):
                higher = above[e.m.parent[i + 1]][first : first + some]
                own = range(a.tree_starts[i], a.tree_starts[i + 1]) if not first else ()
                if not higher and not own:
                    continue
                lists = [x for b in higher for x in (place[b], c * n + coordinate[b], coordinate[b] * n + c)]
                lists += [x for b in own for x in (place[b], c * n + coordinate[b])]
                for b in (*higher, *own):
                    written[[c * n + coordinate[b], coordinate[b] * n + c]] = True
                self._row("pairs", [place[rate], len(higher), len(own), *bases, *lists])
        self._add_blocks()

    def _paths(self, walk: Paths) -> None:
        """A row for each body and the rates on its path; with weights it follows those that sum the columns of its path."""
        e, wide = self.engine, 10 * len(self.a.kinds)
        bases = [self.out[name] for name in regressors(self.program)]
        written = np.zeros((e.m.nv, wide), dtype=bool)
        rates_of = self._weighted_rates(walk.weights) if walk.weights else self._path_rates
        for body in self.a.order:
            rates, first = rates_of(body), 10 * (body - 1)
            written[[c for _, c in rates], first : first + 10] = True
            lists = [x for place, c in rates for x in (place, c * wide)]
            self._row("paths", [self.fields[body], len(rates), *(base + first for base in bases), *lists])
        e.written |= dict.fromkeys(bases, written.ravel())

    def _row(self, function: str, at: list[int]) -> None:
        """A row of a function that is not of joints."""
        unit = next(u for u in self._more if function in u.code.functions)
        step, places = Step(unit, unit.code.functions.index(function)), np.array([at], dtype=np.int32)
        self.engine.rows.append(Rows([step], places, np.zeros(0), np.zeros(1, np.int64), in_bytes=False))

    def _path_rates(self, body: int) -> list[tuple[int, int]]:
        """Columns and coordinate of each rate on the path of a body."""
        return [x for i in self.engine.m.ancestors[body] for x in self._own_rates(i)]

    def _own_rates(self, body: int) -> list[tuple[int, int]]:
        starts, names = self.a.tree_starts, self.a.rate_names
        return [(self.columns + r * self._width, names[r][1]) for r in range(starts[body - 1], starts[body])]

    def _weighted_rates(self, weights: str) -> Callable[[int], list[tuple[int, int]]]:
        """Rows for each body in turn, parents first, that sum the columns of its path for every rate; it returns where they stand.

        The last child of a body takes its place, so that a chain has one that stays in the cache.
        """
        n, parent, W, width = self.engine.m.nv, self.engine.m.parent, self.inputs[weights].place, self._width
        last = {parent[i]: i for i in self.a.order}
        places = {0: (self.engine.allocate(n * width), False)}  # of each body, and whether they may be written over

        def sums(body: int) -> list[tuple[int, int]]:
            own = self._own_rates(body)
            before, free = places[parent[body]]
            free = free and last[parent[body]] == body
            to = before if free or not own else self.engine.allocate(n * width)
            places[body] = to, free or bool(own)
            for columns, c in own:
                self._row("weigh_columns", [n, before, columns, W + c, to])
                before = to
            return [(to + i * width, i) for i in range(n)]

        return sums

    def _sweep(self) -> None:
        e, (name,) = self.engine, self.program.results
        spots = spots_of(e.m)
        row, at = spots["row"], self.columns + self._width * spots["rate"]
        block = np.where(spots["turns"], self.blocks[name] + spots["block"], 0)
        names = ("first", "last", "end", "before")
        table = np.stack([row, at, *(spots[k] for k in names), block, spots["stop"], spots["free"]])
        work, zeros = e.allocate(SWEPT * len(row)), e.allocate(21)
        e.op("sweep", [e.m.nv, self.out[name], work, len(row), zeros, *table.T.ravel()])

    def _add_blocks(self) -> None:
        """Add the blocks between the own rates of joints whose S turns."""
        n = self.engine.m.nv
        for name, place in self.blocks.items():
            ends: list[int] = []
            for i, kind in enumerate(self.a.kinds):
                nv, v = kind.joint.nv, int(self.a.v_starts[i])
                if kind.joint.turns:
                    for r in range(nv):
                        ends += [
                            x for c in range(nv) for x in (place + r * nv + c, self.out[name] + (v + r) * n + v + c)
                        ]
                    place += nv * nv
            if ends:
                self.engine.op("scatter", [len(ends) // 2, *ends])

    def _constraints(self, walk: Constraints) -> None:
        row, units = 0, [u for u in self._more if u.code.functions == ["loop"]]
        for c in self.engine.m.constraints:
            if isinstance(c, Loop):
                self._loop(walk, c, units.pop(0), row)
            elif "K" in self.out:
                self._couple(c, row)
            row += c.rows

    def _loop(self, walk: Constraints, c: Loop, unit: Loaded, row: int) -> None:
        e, a, m = self.engine, self.a, self.engine.m
        T = {name: e.allocate(6 * len(columns) * c.rows) for name, columns in walk.projected.items()}
        turned = e.allocate(72) if walk.turned else 0
        ends = c.predecessor, c.successor
        places = [self.fields[f.body] for f in ends]
        rows = [self.inputs[name].place + row for name, kind in self.program.inputs.items() if kind == "rows"]
        rows += [self.out[name] + row for name, kind in self.program.results.items() if kind == "rows"]
        e.row(
            unit,
            [*places, self._reference, *rows, *T.values(), turned],
            loop_constants(c.type, *(a.chosen(f.body, f.X) for f in ends)),
        )
        above, below = (set(m.ancestors[f.body]) for f in ends)
        between = [*self._rates_of(below - above, 1), *self._rates_of(above - below, -1)]
        for name, columns in walk.projected.items():
            out = self.out[name] + row * m.nv
            self._project(c.rows, T[name], out, [column_offsets(self.program)[x] for x in columns], between)
        if walk.turned:
            turns = [(turned, self._rates_of(above, 1)), (turned + 36, between if moves(c.type) else [])]
            for W, rates in turns:
                at = [m.nv, self.out[walk.turned], W, len(rates) // 3, len(between) // 3, *rates, *between]
                self._turned += [at] if rates else []

    def _rates_of(self, bodies: Iterable[int], sign: int) -> list[int]:
        """For each rate of the joints of these bodies its columns, its coordinate, and the sign."""
        a = self.a
        rates = (r for i in sorted(bodies) for r in range(a.tree_starts[i - 1], a.tree_starts[i]))
        return [x for r in rates for x in (self.columns + r * self._width, a.rate_names[r][1], sign)]

    def _project(self, rows: int, T: int, out: int, columns: list[int], rates: list[int]) -> None:
        head = [rows, self.engine.m.nv, T, out, int(self.engine.m.coupled)]
        if columns == [0]:
            self.engine.op("project", [*head, len(rates) // 3, *rates])
        else:
            self.engine.op("project_sum", [*head, len(columns), len(rates) // 3, *columns, *rates])

    def _couple(self, c: Coupling, row: int) -> None:
        """sum of ratio times coordinate = offset."""
        e, m = self.engine, self.engine.m
        K = self.out["K"] + row * m.nv
        joints = [m.joints[i] for i in c.joints]
        weights: dict[int, float] = {}
        for j, ratio in zip(joints, c.ratios, strict=True):
            weights[j.v_slice.start] = weights.get(j.v_slice.start, 0.0) + ratio * j.ratio
        e.op("set", [len(weights), *(K + v for v in weights)], list(weights.values()))
        offset = -c.offset + sum(ratio * j.offset for j, ratio in zip(joints, c.ratios, strict=True))
        if "error" in self.out:
            q = self.inputs["q"].place
            terms = [x for j in joints for x in (q + j.q_slice.start, 0)]
            factors = [ratio * j.ratio for j, ratio in zip(joints, c.ratios, strict=True)]
            e.op("combine", [self.out["error"] + row, 1, len(joints) + 1, *terms, e.one(), 0], [*factors, offset])
