"""The equations as code: NumPy and C99."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from modurob import algorithms as al
from modurob.errors import InputError, blamed
from modurob.spatial.scalars import Array, as_array, sqrt
from modurob.symbolic import describe
from modurob.symbolic.factored import Power, Sum, horner
from modurob.symbolic.ring import Polynomial, polynomials
from modurob.trace import C99, PYTHON, Graph, Listing, Place, Traced, c_identifier, harmless

if TYPE_CHECKING:
    from modurob.symbolic.equations import Equations

# mass matrices with more terms than this are not even tried as code: the recursion is shorter
LONGEST_CLOSED_FORM = 1_500
# a sine or cosine costs about as much as so many multiplications
WAVE = 10


class Program(NamedTuple):
    """Straight-line code for M, C and N or for passive forces, and whether it came from the closed form or the recursion."""

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
            outputs[part][at] = values.sum(horner(eq.displayed(array[at])))
    return Program(graph, outputs, "closed form")


def passive_program(eq: "Equations") -> Program:
    """-(D v + S), the torques of the forces that have a closed form."""
    graph = Graph()
    values = _Values(graph, eq)
    D, S, v = eq.polynomial("D"), eq.polynomial("S"), eq.coordinates.v
    efforts = -(D @ v + S) if eq.robot.nv else S
    out = np.array([values.sum(horner(eq.displayed(p))) for p in polynomials(eq.ring, efforts)], dtype=object)
    return Program(graph, {"F": out}, "closed form")


def _recursion(eq: "Equations") -> Program:
    graph = Graph()
    values = _Values(graph, eq)
    m = eq.tables
    joints = tuple(replace(j, armature=values.array(j.armature), type=values.joint_type(j.type)) for j in m.joints)
    traced = replace(
        m, X_PJ=values.array(m.X_PJ), inertia=values.array(m.inertia), gravity=values.array(m.gravity), joints=joints
    )
    q, v = graph.inputs("q", eq.robot.nq), graph.inputs("v", eq.robot.nv)
    outputs = {"M": al.mass_matrix(traced, q)}
    eq.ring.budget.look()
    outputs["C"] = al.coriolis_matrix(traced, q, v)
    eq.ring.budget.look()
    outputs["N"] = al.gravity_forces(traced, q)
    return Program(graph, {name: np.asarray(a, dtype=object) for name, a in outputs.items()}, "recursion")


class _Values:
    """Polynomials as traced scalars: coordinates q, rates v, parameters p."""

    def __init__(self, graph: Graph, eq: "Equations"):
        self._eq = eq
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
        """The joint with axes of plain numbers, and its parameters traced."""
        axes = {name: getattr(kind, name, ()) for name in ("axis", "axis2")}
        plain = {name: tuple(float(x.expression()) for x in a) for name, a in axes.items() if _is_exact(a)}
        kind = replace(kind, **plain) if plain else kind
        return kind.with_parameters({name: self.polynomial(x) for name, x in kind.numbers.items()})

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
        distance = self._distance(name)
        if distance is not None:
            return distance
        wave = re.fullmatch(r"(cos|sin)\(.*\)", name)
        if not wave:
            return float(p.generator.expression)
        angle: Any = 0.0
        inside: Any = p.generator.expression.args[0]
        for symbol, times in inside.as_coefficients_dict().items():
            angle = angle + float(times) * self._inputs[symbol.name]
        return angle.cos() if wave[1] == "cos" else angle.sin()

    def _distance(self, name: str) -> Any:
        """The length of a spring between frames, or one over it, if that is its name."""
        for _, squared, length, inverse in self._eq.coordinates.distances:
            if name in (length.name, inverse.name):
                root = sqrt(np.array(self.sum(horner(self._eq.displayed(squared))))).item()
                return root if name == length.name else 1.0 / root
        return None


def _is_exact(axis: Any) -> bool:
    return any(isinstance(x, Polynomial) for x in axis)


def operations(program: Program, n: int) -> dict[str, Any]:
    """Counts of the program and, for comparison, of the recursion and of naive Lagrange for inverse dynamics (von Stryk, 5.5.1)."""
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
    """The position of each parameter."""
    return [
        f"p[{i}] = {p}" + (f" = {eq.values[p]!r} in this robot" if p in eq.values else "")
        for i, p in enumerate(eq.parameters)
    ]


def _remarks(eq: "Equations") -> list[str]:
    """The legend of the parameters, and which forces are left out."""
    return [harmless(line) for line in (*(_legend(eq) or ["There are no parameters."]), *describe.notes(eq))]


def _title(eq: "Equations") -> str:
    return harmless(
        f"Equations of motion of {eq.robot.name}: M(q) vdot + C(q, v) v + N(q) = tau + passive_forces(q, v)."
    )


def python_module(eq: "Equations", program: Program, passive: Program) -> str:
    """Source of a module with two functions, `equations` and `passive_forces`."""
    n, k = eq.robot.nv, len(eq.parameters)
    returns = f"M (..., {n}, {n}), C (..., {n}, {n}) and N (..., {n})"
    forces = f"Torques (..., {n}) of viscous friction, dampers and springs"
    lines = [
        f'"""{_title(eq)}"""',
        "",
        "import numpy as np",
        *_python_function("equations", f"{returns} for q and v (..., {n}) and {k} parameters p.", eq, program),
        *_python_function("passive_forces", f"{forces} for q and v (..., {n}) and {k} parameters p.", eq, passive),
    ]
    return "\n".join([*lines, ""])


def _python_function(name: str, words: str, eq: "Equations", program: Program) -> list[str]:
    dialect = replace(PYTHON, place=_python_input)
    stores = [(f"{array}[..., {', '.join(map(str, at))}]", x) for array, at, x in _entries(program)]
    shapes = {array: ", ".join(str(s) for s in values.shape) for array, values in program.outputs.items()}
    n, k = eq.robot.nv, len(eq.parameters)
    return [
        "",
        "",
        f"def {name}(q, v, p=()):",
        f'    """{words}',
        "",
        *(f"    {line}" for line in _remarks(eq)),
        '    """',
        "    q, v = np.asarray(q), np.asarray(v)",
        f"    if (q.shape[-1:], v.shape[-1:], len(p)) != (({n},), ({n},), {k}):",
        '        found = f"q {q.shape}, v {v.shape}, p ({len(p)},)"',
        f'        raise ValueError(f"{{found}}: expected (..., {n}), (..., {n}), ({k},)")',
        "    shape = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])",
        *(f"    {array} = np.empty((*shape, {s}), dtype=np.result_type(q, v, float))" for array, s in shapes.items()),
        *(f"    {line}" for line in Listing(program.graph, stores, dialect).lines()),
        f"    return {', '.join(shapes)}",
    ]


def _entries(program: Program) -> list[tuple[str, tuple[int, ...], Any]]:
    """All results: their array, their index, their value."""
    return [(name, at, array[at]) for name, array in program.outputs.items() for at in np.ndindex(array.shape)]


def _python_input(place: Place) -> str:
    return f"p[{place.index}]" if place.array == "p" else f"{place.array}[..., {place.index}]"


def numpy_function(eq: "Equations") -> Callable[..., tuple[Array, Array, Array]]:
    """The function `equations` of the Python module; without p the numbers of this robot are taken."""
    names: dict[str, Any] = {}
    exec(compile(eq.python(), "<equations>", "exec"), names)
    generated, parameters, values = names["equations"], eq.parameters, eq.values

    def function(q: Any, v: Any, p: Sequence[float] | None = None) -> tuple[Array, Array, Array]:
        return generated(coordinates(eq, q, "q"), coordinates(eq, v, "v"), _parameter_values(parameters, values, p))

    return function


def coordinates(eq: "Equations", x: Any, name: str) -> Array:
    """q or v as given, (..., nv)."""
    n = eq.robot.nv
    with blamed(InputError, f"{name} of {eq.robot.name}", f"numbers of shape (..., {n})"):
        x = as_array(x)
        if x.dtype.kind not in "fcO" or x.shape[-1:] != (n,):
            raise InputError(f"{name} has shape {x.shape}: expected (..., {n}) for {eq.robot.name}")
    return x


def _parameter_values(parameters: list[Any], values: Mapping[Any, float], given: Any) -> Sequence[float]:
    """The given numbers, if there is one for each parameter; else those that the robot has."""
    if given is None:
        missing = [str(s) for s in parameters if s not in values]
        if missing:
            raise InputError(f"no numbers for {', '.join(missing)}: expected p with {len(parameters)} parameters")
        return [values[s] for s in parameters]
    if len(given) != len(parameters):
        names = ", ".join(map(str, parameters)) or "none"
        raise InputError(f"p has {len(given)} entries: expected {len(parameters)}, those of {names}")
    return given


def c_file(eq: "Equations", program: Program, passive: Program) -> str:
    """Source of a C99 file with two functions; nothing is allocated."""
    lines = [
        f"/* {_title(eq)}",
        *(f" * {line}" for line in _remarks(eq)),
        " */",
        "#include <math.h>",
        *_c_function("equations", eq, program),
        *_c_function("passive_forces", eq, passive),
    ]
    return "\n".join([*lines, ""])


def _c_function(what: str, eq: "Equations", program: Program) -> list[str]:
    stores = [(f"{part}{''.join(f'[{i}]' for i in at)}", x) for part, at, x in _entries(program)]
    n, k = max(eq.robot.nv, 1), max(len(eq.parameters), 1)
    name = c_identifier(eq.robot.name, "robot")
    results = ", ".join(f"double {part}{f'[{n}]' * array.ndim}" for part, array in program.outputs.items())
    head = [
        f"void {name}_{what}(const double q[{n}], const double v[{n}], const double p[{k}],",
        f"    {results})",
    ]
    return [
        "",
        head[0],
        f"{head[1]};",
        "",
        *head,
        "{",
        "    (void)q; (void)v; (void)p;",
        *(f"    {line}" for line in Listing(program.graph, stores, C99).lines()),
        "}",
    ]
