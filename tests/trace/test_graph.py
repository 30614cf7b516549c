"""Traced scalars: what they compute, their slopes and their code in C and Python are those of the functions they were made by."""

import ctypes
import math
import subprocess
from dataclasses import replace

import mpmath
import numpy as np
import pytest

from modurob.kernels.compiler import find_compiler
from modurob.kernels.writer import VECTORS
from modurob.spatial import scalars, se3, so3
from modurob.trace import C99, PYTHON, Graph, Listing, Place, c_identifier, harmless, tangent

# functions of two numbers, traced, and by mpmath
FUNCTIONS = {
    "arithmetic": (lambda x, y: (x + 2 * y) * (x - y) / (y * y + 3) - x, lambda x, y: (x + 2 * y) * (x - y) / (y * y + 3) - x),
    "waves": (lambda x, y: scalars.sin(x) * scalars.cos(y), lambda x, y: mpmath.sin(x) * mpmath.cos(y)),
    "sqrt": (lambda x, y: scalars.sqrt(x * x + y * y + 1), lambda x, y: mpmath.sqrt(x * x + y * y + 1)),
    "exp": (lambda x, y: scalars.exp(x * y), lambda x, y: mpmath.exp(x * y)),
    "log": (lambda x, y: scalars.log(x * x + 2 + y), lambda x, y: mpmath.log(x * x + 2 + y)),
    "tanh": (lambda x, y: scalars.tanh(x - y), lambda x, y: mpmath.tanh(x - y)),
    "atan2": (lambda x, y: scalars.atan2(y, x), lambda x, y: mpmath.atan2(y, x)),
    "absolute": (lambda x, y: scalars.absolute(x) * y, lambda x, y: abs(x) * y),
    "sign": (lambda x, y: scalars.sign(x) * y, lambda x, y: mpmath.sign(x) * y),
    "minimum": (lambda x, y: scalars.minimum(x * x, y), lambda x, y: min(x * x, y)),
    "maximum": (lambda x, y: scalars.maximum(x * x, y), lambda x, y: max(x * x, y)),
    "clip": (lambda x, y: scalars.clip(x * y, -0.21, y * y), lambda x, y: max(-0.21, min(x * y, y * y))),
    "powers": (lambda x, y: x**3 - (x * x) ** 0.5 * y**-2, lambda x, y: x**3 - abs(x) / y**2),
    "halves": (lambda x, y: (x * x) ** 1.5 + (y * y) ** -2.5, lambda x, y: abs(x) ** 3 + abs(y) ** -5),
    "exponential": (lambda x, y: 0.7 ** (x * y) * x, lambda x, y: mpmath.mpf(0.7) ** (x * y) * x),
    "root": (lambda x, y: (y * y + 1) ** (1 / 3) + x, lambda x, y: mpmath.cbrt(y * y + 1) + x),
    "select": (lambda x, y: scalars.select(x, y, x * y, x - y), lambda x, y: x * y if x < y else x - y),
    "sinc": (lambda x, y: scalars.sinc(x * x) * y, lambda x, y: mpmath.sinc(x) * y),
    "sinc_defect": (lambda x, y: scalars.sinc_defect(x * x) * y, lambda x, y: (1 - mpmath.sinc(x)) / x**2 * y),
    "versinc": (lambda x, y: scalars.versinc(x * x) * y, lambda x, y: (1 - mpmath.cos(x)) / x**2 * y),
}  # fmt: skip
POINTS = [(0.7, -0.4), (-1.3, 0.9), (2.1, 3.3), (1e-3, 0.5), (-3e-2, -0.2)]


def traced(function):
    graph = Graph()
    x, y = graph.inputs("x", 2)
    return graph, (x, y), function(*(np.array([z], dtype=object) for z in (x, y)))


def value(graph, output, point):
    return float(graph.evaluate([output.index], {"x": point})[output.index])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_slopes_are_those_of_the_function(name):
    """Against mpmath with fifty digits, slopes by its own differentiation."""
    function, exact = FUNCTIONS[name]
    graph, inputs, outputs = traced(function)
    slopes = [tangent(graph, outputs, {x: 1.0})[0] for x in inputs]
    with mpmath.workdps(50):
        for point in POINTS:
            p = [mpmath.mpf(c) for c in point]
            assert value(graph, outputs[0], point) == pytest.approx(float(exact(*p)), rel=1e-13, abs=1e-15)
            for k, slope in enumerate(slopes):
                expected = float(mpmath.diff(exact, p, tuple(int(i == k) for i in range(2))))
                found = slope if isinstance(slope, float) else value(graph, slope, point)
                assert found == pytest.approx(expected, rel=1e-10, abs=1e-12), (name, point, k)


# f(0), f'(0) and f"(0) of functions of the square of an angle, by their series
AT_ZERO = {
    "sinc": (1.0, -1 / 6, 1 / 60),
    "versinc": (1 / 2, -1 / 24, 1 / 360),
    "sinc_defect": (1 / 6, -1 / 120, 1 / 2520),
    "cot_defect": (1 / 12, 1 / 720, 1 / 15120),
}


@pytest.mark.parametrize("name", AT_ZERO)
def test_removable_singularities_are_exact_also_for_tangents(name):
    function = getattr(scalars, name)
    graph = Graph()
    x = graph.input("x")
    outputs = function(np.array([x], dtype=object))
    first = tangent(graph, outputs, {x: 1.0})
    second = tangent(graph, first, {x: 1.0})
    for output, number in zip((outputs, first, second), AT_ZERO[name], strict=True):
        assert value(graph, output[0], [0.0]) == pytest.approx(number, abs=1e-14)
    # and where the series ends the formula goes on
    below, above = (value(graph, second[0], [t]) for t in (1 - 1e-9, 1 + 1e-9))
    assert below == pytest.approx(above, abs=1e-8)


# functions of a force and their slopes by x and y where roots, logarithms and angles end: at rest, and out of touch
ENDS = {
    "quadratic drag": (lambda x, y: -y * scalars.sqrt(x * x + y * y), (0.0, 0.0), (0.0, 0.0)),
    "law of Hertz": (lambda x, y: -(scalars.maximum(x, np.zeros(())) ** 1.5) - y, (-0.1, 0.2), (0.0, -1.0)),
    "law of Hertz, touching": (lambda x, y: -(scalars.maximum(x, np.zeros(())) ** 1.5), (0.0, 0.2), (0.0, 0.0)),
    "law of Hunt and Crossley": (
        lambda x, y: scalars.maximum(x, np.zeros(())) ** 1.3 * (1 - y),
        (-0.1, 0.2),
        (0.0, 0.0),
    ),
    "quarter powers": (lambda x, y: scalars.absolute(x) ** 2.25 * y + x, (0.0, 2.0), (1.0, 0.0)),
    "slope of a ramp": (lambda x, y: x * scalars.atan2(y * y, x * x), (0.0, 0.0), (0.0, 0.0)),
}


@pytest.mark.parametrize("name", ENDS)
def test_slopes_are_finite_where_roots_and_angles_end(name):
    """Infinite slopes of functions whose arguments stand still count as nothing; second slopes are numbers too."""
    function, point, expected = ENDS[name]
    graph, inputs, outputs = traced(function)
    for x, slope in zip(inputs, expected, strict=True):
        first = tangent(graph, outputs, {x: 1.0})
        assert value(graph, graph.constant(0.0) + first[0], point) == slope
        for y in inputs:
            second = tangent(graph, first, {y: 1.0})
            assert np.isfinite(value(graph, graph.constant(0.0) + second[0], point))


def test_the_exponential_of_no_turn_has_its_slope():
    """d exp(t w)/dt at t = 0 is the matrix of w."""
    graph = Graph()
    w = graph.inputs("w", 6)
    X = se3.exp(w)
    rng = np.random.default_rng(0)
    V = rng.normal(size=6)
    slope = tangent(graph, X, dict(zip(w, V, strict=True)))
    at_zero = {"w": np.zeros(6)}
    found = [x if isinstance(x, float) else float(graph.evaluate([x.index], at_zero)[x.index]) for x in slope.ravel()]
    expected = np.zeros((4, 4))
    expected[:3, :3], expected[:3, 3] = so3.skew(V[3:]), V[:3]
    np.testing.assert_allclose(np.reshape(found, (4, 4)), expected, atol=1e-15)


def test_what_is_the_same_is_one_node_and_nothing_is_no_work():
    graph = Graph()
    x, y = graph.inputs("x", 2)
    assert (x + y).index == (y + x).index
    assert (x * 1).index == x.index == (x + 0).index
    negative = -x
    assert (-negative).index == x.index
    assert graph.number((x * 0).index) == 0
    assert graph.operations([scalars.sin(x) * scalars.sin(x)]) == {"sin": 1, "*": 1}
    assert graph.number((graph.constant(2.0) + 3.0).index) == 5.0


def test_places_are_typed():
    graph = Graph()
    x = graph.input("a b", 3)
    assert graph.nodes[x.index].value == Place("a b", 3)
    assert graph.depends_only_on((x + 1).index, ("a b",))
    assert not graph.depends_only_on((x + graph.input("c")).index, ("a b",))


@pytest.mark.parametrize("as_traced", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_text_in_python_says_the_same(name, as_traced):
    graph, _, outputs = traced(FUNCTIONS[name][0])
    lines = list(Listing(graph, [("out", outputs[0])], PYTHON, as_traced=as_traced).lines())
    for point in POINTS:
        names = {"np": np, "x": np.array(point)}
        exec("\n".join(lines), names)
        assert float(names["out"]) == pytest.approx(value(graph, outputs[0], point), rel=1e-15)


def test_statements_stand_in_the_order_of_the_trace_and_inputs_where_they_are_first_used():
    graph = Graph()
    a, b, c = graph.inputs("x", 3)
    sums = [a * b, a * c]
    sums = [s + b * c for s in sums]
    stores = [(f"out[{k}]", x) for k, x in enumerate([*sums, c])]
    dialect = replace(PYTHON, read="{0} = held({1})", unnamed=("constant", "negate"))
    lines = list(Listing(graph, stores, dialect, as_traced=True).lines())
    assert [line for line in lines if "held" in line] == [f"t{k} = held(x[{k}])" for k in range(3)]
    assert lines[:3] == ["t0 = held(x[0])", "t1 = held(x[1])", "t3 = t0 * t1"]
    assert lines[3:6] == ["t2 = held(x[2])", "out[2] = t2", "t4 = t0 * t2"]
    out = np.zeros(3)
    exec("\n".join(lines), {"x": np.array([2.0, 3.0, 5.0]), "held": float, "out": out})
    assert out.tolist() == [21.0, 25.0, 5.0]


def test_the_text_in_c_says_the_same(tmp_path):
    """All functions and their slopes in one file, compiled as plain C99."""
    bodies = []
    expected = []
    for name, (function, _) in FUNCTIONS.items():
        graph, inputs, outputs = traced(function)
        slopes = [tangent(graph, outputs, {x: 1.0})[0] for x in inputs]
        wanted = (outputs[0], *slopes)
        text = "\n".join(Listing(graph, [(f"out[{k}]", x) for k, x in enumerate(wanted)], C99).lines())
        bodies.append(f"void of_{name}(const double *x, double *out) {{\n{text}\n}}")
        expected.append([[x if isinstance(x, float) else value(graph, x, p) for x in wanted] for p in POINTS])
    source, made = tmp_path / "all.c", tmp_path / "all.so"
    source.write_text("#include <math.h>\n" + "\n".join(bodies))
    compiler = find_compiler()
    assert compiler is not None
    command = [*compiler.command, "-std=c99", "-Wall", "-Werror", "-pedantic", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run([*command, str(source), "-o", str(made), "-lm"], check=True)
    library = ctypes.CDLL(str(made))
    for name, rows in zip(FUNCTIONS, expected, strict=True):
        for point, row in zip(POINTS, rows, strict=True):
            out = (ctypes.c_double * 3)()
            getattr(library, f"of_{name}")((ctypes.c_double * 2)(*point), out)
            np.testing.assert_allclose(list(out), row, rtol=1e-14, atol=1e-15, err_msg=name)


def test_numbers_read_back_as_themselves():
    for x in (0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -0.0, 3.0):
        assert math.copysign(1, float(C99.number(x))) == math.copysign(1, x)
        assert float(C99.number(x)) == x
        assert any(c in C99.number(x) for c in ".e")
    infinite = (math.inf, -math.inf, math.nan)
    assert [C99.number(x) for x in infinite] == ["INFINITY", "-INFINITY", "NAN"]
    assert [VECTORS.number(x) for x in infinite] == ["V(INFINITY)", "V(-INFINITY)", "V(NAN)"]
    assert [PYTHON.number(x) for x in infinite] == ["np.inf", "-np.inf", "np.nan"]


def test_comparisons_with_infinity_need_no_choice():
    graph = Graph()
    x = graph.input("x")
    assert scalars.clip(x, -math.inf, math.inf).item().index == x.index
    assert graph.number((x**0).index) == 1.0


CHOICES = [
    bool,
    float,
    abs,
    lambda x: x < 1,
    lambda x: x >= 1,
    lambda x: x == 0,
    lambda x: x != x.graph.input("y"),
    lambda x: np.where(np.array([x]) == 0, 1, 2),
    lambda x: np.clip(x, 0, 1),
]


@pytest.mark.parametrize("choice", CHOICES)
def test_choices_in_python_are_refused_and_not_taken_for_true(choice):
    x = Graph().input("x")
    if choice is abs:
        assert choice(x).graph is x.graph
    else:
        with pytest.raises(TypeError, match=r"traced scalar.*: expected .*modurob.spatial.scalars"):
            choice(x)


def test_powers_of_traced_scalars_whose_exponents_are_traced_are_refused():
    x = Graph().input("x")
    with pytest.raises(TypeError, match=r"base and exponent are traced: expected np.exp"):
        x**x


def test_names_and_words_of_users_are_harmless_in_code():
    assert [c_identifier(x, "robot") for x in ("3R arm", "bras à 2", "_x", "")] == [
        "robot_3R_arm",
        "bras___2",
        "_x",
        "robot_",
    ]
    assert harmless('a */ /* \\ """ ??/') == "a * / / * / ''' ? ?/"


def test_sums_over_points_are_linear_and_those_of_what_is_the_same_are_multiples():
    graph = Graph(times=5, varying=frozenset({"p"}))
    p, r, c = graph.input("p", 0), graph.input("p", 1), graph.input("c")
    assert (p.total() + r.total()).index == (p + r).total().index
    assert (-p).total().index == (-p.total()).index
    assert c.total().index == (5 * c).index
    assert [graph.varies(x.index) for x in (p * c, (p * c).total(), c)] == [True, False, False]
    assert scalars.total(np.array([[p]]), -1).item().index == p.total().index
    assert scalars.total(np.arange(6.0).reshape(2, 3), -1).tolist() == [3.0, 12.0]
