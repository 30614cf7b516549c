"""Lines in closed form: the lengths of cables over points, swivelling pulleys and winches."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from modurob.catalogue.lines import Swivel
from modurob.catalogue.lines.law import Stretch
from modurob.errors import EquationsError, UnknownNameError, choices
from modurob.mechanism import LineRow
from modurob.symbolic.loops import frame_pose
from modurob.symbolic.model import ExactTables
from modurob.symbolic.ring import Expr, Matrix
from modurob.trace import Graph, Traced

if TYPE_CHECKING:
    from modurob.symbolic.equations import Equations

# numbers up to this guard against division by zero: closed forms are without them
GUARD = 1e-8
OPERATIONS: dict[str, Any] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "negate": lambda x: -x,
    "reciprocal": lambda x: 1 / x,
}


@dataclass(frozen=True, eq=False)
class LineEquations:
    """A line in closed form: expressions in q1, ... [m, rad] and qd1, ... in SI units.

    `length` L over its route, `stretch` u = L - rest + what its drums took in, `natural` length l0 of the free part, `tension`
    [N] and, under a conservative law, `winding` [N]; `arms` = du/dq and `wound` = dl0/dq, 1 x nv.
    """

    length: Expr
    stretch: Expr
    natural: Expr
    tension: Expr
    winding: Expr
    arms: Matrix
    wound: Matrix

    @property
    def forces(self) -> Matrix:
        """Torques on the joints, -T du/dq + winding dl0/dq, nv x 1."""
        return (self.wound * self.winding - self.arms * self.tension).T


def line_equations(eq: "Equations", name: str, numbers: ExactTables) -> LineEquations:
    """The line of that name."""
    rows = {row.name: row for row in eq.robot.lines}
    if name not in rows:
        raise UnknownNameError(f"no line {name!r}: {choices(name, list(rows))}")
    length, u, natural = _standing(eq, rows[name], numbers)
    q, v = sympy.Matrix(eq.q), sympy.Matrix(eq.v)
    by_u, by_natural = (sympy.Matrix([x]).jacobian(q) for x in (u, natural))
    graph = Graph()
    pull = rows[name].force.law.pull(Stretch(*graph.inputs("s", (4, 1))))
    given = [u, (by_u * v)[0], natural, (by_natural * v)[0]]
    tension, winding = _written(graph, list(pull), {"s": given})
    return LineEquations(length, u, natural, tension, winding, by_u, by_natural)


def _standing(eq: "Equations", row: LineRow, numbers: ExactTables) -> tuple[Expr, Expr, Expr]:
    """Length, stretch and natural length."""
    nodes, line = row.force.nodes, row.force
    poses = [
        frame_pose(eq.tables, eq.coordinates, numbers, frame, f"place {k} of line {row.name!r}")
        for k, frame in enumerate(row.frames)
    ]
    length = on_drums = sympy.Integer(0)
    for k in range(len(nodes) - 1):
        span, arc, drum = _span(eq, row.name, nodes[k], poses[k], nodes[k + 1], poses[k + 1], k == len(nodes) - 2)
        length, on_drums = length + span + arc, on_drums + (arc if drum else 0)
    u = length - short(line.law.rest)
    for k, i in zip(line.drums, row.joints, strict=True):
        joint = eq.robot.joints[i]
        turned = eq.q[joint.q_slice.start] * short(joint.ratio) + short(joint.offset) if i >= 0 else 0
        u = u + short(nodes[k].drum) * turned
    return length, u, length - on_drums - u


def _span(eq: "Equations", name: str, a: Any, X_a: Any, b: Any, X_b: Any, last: bool) -> tuple[Expr, Expr, bool]:
    """A straight part, the arc on the swivel that faces it, if there is one, and whether that is a drum."""
    facing = isinstance(a, Swivel), last and isinstance(b, Swivel)
    if a.turns or b.turns or all(facing):
        raise EquationsError(
            f"line {name!r}: closed forms are of lines over points, and swivels that face a point; found {a.kind} - {b.kind}"
        )
    here, there, node = (X_b, X_a, b) if facing[1] else (X_a, X_b, a)
    way = there[:3, 3] - here[:3, 3]
    if not any(facing):
        return sympy.sqrt(eq.expression(way @ way)), sympy.Integer(0), False
    # rho from the axis of the swivel, z along it
    x, y, z = (eq.expression(p) for p in here[:3, :3].T @ way)
    h, R = sympy.sqrt(sympy.expand(x**2 + y**2)) - short(node.offset), short(node.radius)
    free = sympy.sqrt(h**2 + z**2 - R**2)
    elevation = sympy.atan2(z, h) - sympy.atan2(R, free)
    return free, R * (sympy.pi / 2 - elevation), bool(node.drum)


def _written(graph: Graph, outputs: list[Any], given: dict[str, list[Expr]]) -> list[Expr]:
    """What a graph computes, as expressions."""
    wanted = [graph.index(np.asarray(x, dtype=object).item()) for x in outputs]
    values: dict[int, Any] = {}
    for i in graph.needed(Traced(graph, w) for w in wanted):
        op, args, value = graph.nodes[i]
        if op == "input":
            values[i] = sympy.sympify(given[value.array][value.index])
        elif op == "constant":
            values[i] = short(value)
        elif op == "select":
            values[i] = _chosen(*(values[a] for a in args))
        else:
            values[i] = OPERATIONS[op](*(values[a] for a in args))
    return [values[w] for w in wanted]


def _chosen(a: Expr, b: Expr, x: Expr, y: Expr) -> Expr:
    """x where a < b, else y; without guards."""
    for one, other in ((x, y), (y, x)):
        if one.is_number and 0 < abs(one) <= GUARD:
            return other
    return sympy.Piecewise((x, sympy.StrictLessThan(a, b, evaluate=False)), (y, True), evaluate=False)


def short(x: Any) -> Expr:
    """A number as a short fraction if it is one."""
    near = Fraction(float(x)).limit_denominator(10**6)
    return sympy.Rational(near.numerator, near.denominator) if float(near) == float(x) else sympy.Float(float(x))
