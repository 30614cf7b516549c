"""The equations as code: NumPy and C99."""

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from modurob import algorithms as al
from modurob.spatial.scalars import Array
from modurob.symbolic.factored import Power, Sum, horner
from modurob.symbolic.ring import Polynomial
from modurob.trace import C99, PYTHON, Graph, Listing, Place, Traced

if TYPE_CHECKING:
    from modurob.symbolic.equations import Equations

# mass matrices with more terms than this are not even tried as code: the recursion is shorter
LONGEST_CLOSED_FORM = 1_500
# a sine or cosine costs about as much as so many multiplications
WAVE = 10


class Program(NamedTuple):
    """Straight-line code for M, C and N, and whether it came from the closed form or from the recursion."""

    graph: Graph
    outputs: dict[str, Array]
    origin: str

    def cost(self) -> int:
        count = self.operations()
        return sum(n * (WAVE if op in ("sin", "cos") else 1) for op, n in count.items())

    def operations(self) -> Counter[str]:
        return self.graph.operations(x for array in self.outputs.values() for x in array.ravel())


def shortest_program(eq: "Equations") -> Program:
    """From the closed form, factored, or from the recursion on traced scalars: whichever has fewer operations."""
    programs = [_recursion(eq)]
    if sum(len(p.terms) for p in eq.polynomial("M").ravel()) <= LONGEST_CLOSED_FORM:
        programs.append(_closed_form(eq))
    return min(programs, key=Program.cost)


def _closed_form(eq: "Equations") -> Program:
    graph = Graph()
    values = _Values(graph, eq)
    outputs = {}
    for part in ("M", "C", "N"):
        array: Any = eq.polynomial(part)
        outputs[part] = np.empty(array.shape, dtype=object)
        for at in np.ndindex(array.shape):
            outputs[part][at] = values.sum(horner(eq._display.polynomial(array[at])))
    return Program(graph, outputs, "closed form")


def _recursion(eq: "Equations") -> Program:
    graph = Graph()
    values = _Values(graph, eq)
    m = eq.tables
    joints = tuple(replace(j, armature=values.array(j.armature), type=values.joint_type(j.type)) for j in m.joints)
    traced = replace(
        m, X_PJ=values.array(m.X_PJ), inertia=values.array(m.inertia), gravity=values.array(m.gravity), joints=joints
    )
    q, v = graph.inputs("q", eq.robot.nq), graph.inputs("v", eq.robot.nv)
    outputs = {
        "M": al.mass_matrix(traced, q),
        "C": al.coriolis_matrix(traced, q, v),
        "N": al.gravity_forces(traced, q),
    }
    return Program(graph, {name: np.asarray(a, dtype=object) for name, a in outputs.items()}, "recursion")


class _Values:
    """Polynomials as traced scalars: coordinates q, rates v, parameters p."""

    def __init__(self, graph: Graph, eq: "Equations"):
        self._graph = graph
        self._inputs: dict[str, Traced] = {}
        for name, symbols in (("q", eq.q), ("v", eq.v), ("p", eq.parameters)):
            for i, symbol in enumerate(symbols):
                self._inputs[symbol.name] = graph.input(name, i)

    def array(self, a: Any) -> Array:
        """Entries that are polynomials traced, others left."""
        out = np.empty(np.shape(a), dtype=object)
        for at in np.ndindex(out.shape):
            out[at] = self.polynomial(a[at]) if isinstance(a[at], Polynomial) else a[at]
        return out

    def joint_type(self, kind: Any) -> Any:
        """The joint with an axis of plain numbers."""
        axis = getattr(kind, "axis", None)
        if axis is None or not isinstance(axis[0], Polynomial):
            return kind
        return replace(kind, axis=tuple(float(x.expression()) for x in axis))

    def polynomial(self, p: Polynomial) -> Any:
        return self.sum(horner(p))

    def sum(self, s: Sum) -> Any:
        total: Any = 0.0
        for term in s.terms:
            product: Any = float(term.coefficient)
            for factor in term.factors:
                product = product * (self.sum(factor) if isinstance(factor, Sum) else self._power(factor))
            total = total + product
        return total

    def _power(self, p: Power) -> Any:
        base = self._generator(p.generator.name, p)
        value = base
        for _ in range(p.exponent - 1):
            value = value * base
        return value

    def _generator(self, name: str, p: Power) -> Any:
        if name in self._inputs:
            return self._inputs[name]
        wave = re.fullmatch(r"(cos|sin)\(.*\)", name)
        if not wave:
            return float(p.generator.expression)
        angle: Any = 0.0
        inside: Any = p.generator.expression.args[0]
        for symbol, times in inside.as_coefficients_dict().items():
            angle = angle + float(times) * self._inputs[symbol.name]
        return angle.cos() if wave[1] == "cos" else angle.sin()


def operations(program: Program, n: int) -> dict[str, Any]:
    """Counts of the program and, for comparison, of the recursion and of naive Lagrange for inverse dynamics (001 5.5.1)."""
    count = program.operations()
    return {
        "origin": program.origin,
        "multiplications": count["*"] + count["reciprocal"],
        "additions": count["+"],
        "sines and cosines": count["sin"] + count["cos"],
        "Newton-Euler": (126 * n - 99, 106 * n - 92),
        "naive Lagrange": (
            32 * n**4 + 86 * n**3 + 171 * n**2 + 53 * n - 128,
            25 * n**4 + 66 * n**3 + 129 * n**2 + 42 * n - 96,
        ),
    }


def _legend(eq: "Equations") -> list[str]:
    """Which parameter stands where."""
    return [
        f"p[{i}] = {p}" + (f" = {eq.values[p]!r} in this robot" if p in eq.values else "")
        for i, p in enumerate(eq.parameters)
    ]


def python_module(eq: "Equations", program: Program) -> str:
    """Source of a module with one function."""
    dialect = replace(PYTHON, place=_python_input)
    stores = [(f"{name}[..., {', '.join(map(str, at))}]", x) for name, at, x in _entries(program)]
    n, k = eq.robot.nv, len(eq.parameters)
    shapes = {name: ", ".join(str(s) for s in array.shape) for name, array in program.outputs.items()}
    lines = [
        f'"""Equations of motion of {eq.robot.name}: M(q) vdot + C(q, v) v + N(q) = tau."""',
        "",
        "import numpy as np",
        "",
        "",
        "def equations(q, v, p=()):",
        f'    """M (..., {n}, {n}), C (..., {n}, {n}) and N (..., {n}) for q and v (..., {n}) and {k} parameters p.',
        "",
        *(f"    {line}" for line in _legend(eq) or ["There are no parameters."]),
        '    """',
        "    q, v = np.asarray(q), np.asarray(v)",
        "    shape = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])",
        *(f"    {name} = np.empty((*shape, {s}), dtype=np.result_type(q, v, float))" for name, s in shapes.items()),
        *(f"    {line}" for line in Listing(program.graph, stores, dialect).lines()),
    ]
    return "\n".join([*lines, "    return M, C, N", ""])


def _entries(program: Program) -> list[tuple[str, tuple[int, ...], Any]]:
    """All results: their array, their index, their value."""
    return [(name, at, array[at]) for name, array in program.outputs.items() for at in np.ndindex(array.shape)]


def _python_input(place: Place) -> str:
    return f"p[{place.index}]" if place.array == "p" else f"{place.array}[..., {place.index}]"


def c_file(eq: "Equations", program: Program) -> str:
    """Source of a C99 file with one function; nothing is allocated."""
    stores = [(f"{part}{''.join(f'[{i}]' for i in at)}", x) for part, at, x in _entries(program)]
    n, k = max(eq.robot.nv, 1), max(len(eq.parameters), 1)
    name = re.sub(r"\W", "_", eq.robot.name)
    head = [
        f"void {name}_equations(const double q[{n}], const double v[{n}], const double p[{k}],",
        f"    double M[{n}][{n}], double C[{n}][{n}], double N[{n}])",
    ]
    lines = [
        f"/* Equations of motion of {eq.robot.name}: M(q) vdot + C(q, v) v + N(q) = tau.",
        *(f" * {line}" for line in _legend(eq)),
        " */",
        "#include <math.h>",
        "",
        head[0],
        f"{head[1]};",
        "",
        *head,
        "{",
        "    (void)q; (void)v; (void)p;",
        *(f"    {line}" for line in Listing(program.graph, stores, C99).lines()),
    ]
    return "\n".join([*lines, "}", ""])
