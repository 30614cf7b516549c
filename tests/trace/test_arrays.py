"""NumPy's functions of traced arrays: what they record is what NumPy computes, for every function that the docs list."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from modurob.trace import Graph, TracedArray, applied, traceable_functions

N = 3
# sums in other orders, and angles by other functions
CLOSE = 1e-13
TABLE = np.array([-1.0, -0.2, 0.4, 2.0])
MATRIX = np.array([[0.0, 2.0, 0.1], [1.0, 0.3, 0.0], [0.2, 0.0, -1.0]])

EXAMPLES = {
    "abs": lambda t, q, v: np.abs(q) + abs(v[0]) + np.absolute(v),
    "add": lambda t, q, v: np.add(q, v) + 1 + q,
    "all": lambda t, q, v: q * np.all(q > v) + np.all(np.stack([q, v]) > -0.5, axis=0),
    "any": lambda t, q, v: q * np.any(q > v) + (q < v).any(),
    "append": lambda t, q, v: np.append(q[:2], v[2]),
    "arccos": lambda t, q, v: np.arccos(q / 2),
    "arcsin": lambda t, q, v: np.arcsin(v / 2),
    "arctan": lambda t, q, v: np.arctan(5 * q),
    "arctan2": lambda t, q, v: np.arctan2(q, v) + np.arctan2(1.0, q) + np.arctan2(v[0], -2.0),
    "atleast_1d": lambda t, q, v: np.atleast_1d(q[0]) + q,
    "atleast_2d": lambda t, q, v: np.atleast_2d(q)[0],
    "average": lambda t, q, v: q * np.average(v),
    "broadcast_to": lambda t, q, v: np.broadcast_to(q[0], (N,)),
    "ceil": lambda t, q, v: np.ceil(3 * q),
    "clip": lambda t, q, v: np.clip(q, -0.3, v) + v.clip(-0.1, 0.1) + np.clip(q, None, 0.2),
    "concatenate": lambda t, q, v: np.concatenate([q[:1], v[1:]]),
    "copy": lambda t, q, v: np.copy(q) + q.copy(),
    "copysign": lambda t, q, v: np.copysign(q, v),
    "cos": lambda t, q, v: np.cos(q) + np.cos(t),
    "cross": lambda t, q, v: np.cross(q, v),
    "cumsum": lambda t, q, v: np.cumsum(q),
    "deg2rad": lambda t, q, v: np.deg2rad(q),
    "degrees": lambda t, q, v: np.degrees(q),
    "diag": lambda t, q, v: np.diag(q) @ v,
    "diff": lambda t, q, v: np.diff(np.append(q, t)),
    "divide": lambda t, q, v: q / (2 + v * v) + np.divide(1.0, 3 + v),
    "dot": lambda t, q, v: np.dot(MATRIX, q) * q.dot(v) * np.dot(q, q),
    "einsum": lambda t, q, v: np.einsum("ij,j->i", MATRIX, q),
    "equal": lambda t, q, v: (q == 0) * v + np.equal(q, v),
    "exp": lambda t, q, v: np.exp(q),
    "fabs": lambda t, q, v: np.fabs(q),
    "flip": lambda t, q, v: np.flip(q) + q[::-1],
    "floor": lambda t, q, v: np.floor(4 * q) + np.floor(t),
    "floor_divide": lambda t, q, v: q // 0.3,
    "fmax": lambda t, q, v: np.fmax(q, 0.1),
    "fmin": lambda t, q, v: np.fmin(q, v),
    "full_like": lambda t, q, v: np.full_like(q, 2.0) * q,
    "greater": lambda t, q, v: (q > v) * q,
    "greater_equal": lambda t, q, v: (q >= 0) * v,
    "heaviside": lambda t, q, v: np.heaviside(q, 0.5),
    "hstack": lambda t, q, v: np.hstack([q[:2], v[:1]]),
    "hypot": lambda t, q, v: np.hypot(q, v),
    "inner": lambda t, q, v: q * np.inner(q, v),
    "interp": lambda t, q, v: np.interp(q, TABLE, TABLE**2) * np.interp(t, [0, 1, 3], [1.0, 0.0, 4.0]),
    "less": lambda t, q, v: np.where(q < v, 1.0, q),
    "less_equal": lambda t, q, v: np.where(q <= 0, v, q),
    "linalg.inv": lambda t, q, v: np.linalg.inv(MATRIX + np.diag(0.1 * q)) @ v + np.linalg.inv(MATRIX) @ q,
    "linalg.norm": lambda t, q, v: q * np.linalg.norm(v) + np.linalg.norm(np.stack([q, v]), axis=0),
    "linalg.solve": lambda t, q, v: np.linalg.solve(MATRIX + 0.1 * np.outer(q, v), q),
    "log": lambda t, q, v: np.log(1 + q * q),
    "log10": lambda t, q, v: np.log10(1 + q * q),
    "log2": lambda t, q, v: np.log2(1 + q * q),
    "logical_and": lambda t, q, v: np.logical_and(q > 0, v > 0) * 1.0 + ((q > 0) & (v < 0)),
    "logical_not": lambda t, q, v: np.logical_not(q > 0) * v + np.where(~(q > 0), 1.0, 2.0),
    "logical_or": lambda t, q, v: np.logical_or(q > 0, v > 0) * 1.0 + ((q > 0) | (v < 0)),
    "matmul": lambda t, q, v: MATRIX @ q,
    "max": lambda t, q, v: np.max(q) * v + q.max(initial=0.1) + np.amax(np.stack([q, v]), axis=0),
    "maximum": lambda t, q, v: np.maximum(q, v) + np.maximum(q[0], 0),
    "mean": lambda t, q, v: np.mean(q) * v + q.mean(),
    "min": lambda t, q, v: np.min(q, keepdims=True) + np.stack([q, v]).min(axis=0),
    "minimum": lambda t, q, v: np.minimum(q, 0.1),
    "mod": lambda t, q, v: np.mod(q, 0.3) + (v + 1) % 2 - 1,
    "multiply": lambda t, q, v: np.multiply(q, v) * 2,
    "negative": lambda t, q, v: -q,
    "not_equal": lambda t, q, v: (q != 0) * v,
    "ones_like": lambda t, q, v: np.ones_like(q) + t,
    "outer": lambda t, q, v: np.outer(q, v) @ q,
    "polyval": lambda t, q, v: np.polyval([1.0, 2.0, 3.0], q),
    "positive": lambda t, q, v: +q,
    "power": lambda t, q, v: q**3 + np.power(np.abs(q), 1.5) + 2.0**q + np.sqrt(2) ** v[0],
    "prod": lambda t, q, v: np.prod(q) * v,
    "rad2deg": lambda t, q, v: np.rad2deg(q),
    "radians": lambda t, q, v: np.radians(q),
    "ravel": lambda t, q, v: np.ravel(np.stack([q, v]))[1:4],
    "reciprocal": lambda t, q, v: np.reciprocal(2 + q),
    "repeat": lambda t, q, v: np.repeat(q[:1], N),
    "reshape": lambda t, q, v: np.reshape(q, (N, 1))[:, 0],
    "rint": lambda t, q, v: np.rint(3 * q),
    "roll": lambda t, q, v: np.roll(q, 1),
    "round": lambda t, q, v: np.round(3 * q),
    "select": lambda t, q, v: np.select([q > 0.3, q > -0.3], [q, v], 0.5),
    "sign": lambda t, q, v: np.sign(q) * v + np.sign(v[0]),
    "sin": lambda t, q, v: np.sin(q) + np.sin(t) + np.sin(np.zeros_like(q)),
    "sqrt": lambda t, q, v: np.sqrt(np.abs(q)),
    "square": lambda t, q, v: np.square(q),
    "squeeze": lambda t, q, v: np.squeeze(q[None]),
    "stack": lambda t, q, v: np.stack([q[0], v[1], t]),
    "subtract": lambda t, q, v: q - v - 1,
    "sum": lambda t, q, v: q * np.sum(v) + q.sum(),
    "take": lambda t, q, v: np.take(q, [2, 0, 1]),
    "tan": lambda t, q, v: np.tan(q),
    "tanh": lambda t, q, v: np.tanh(q),
    "tile": lambda t, q, v: np.tile(q[:1], N),
    "trace": lambda t, q, v: q * np.trace(np.outer(q, v)),
    "transpose": lambda t, q, v: np.transpose(np.stack([q, v]))[:, 0] + np.stack([q, v]).T[:, 1],
    "trunc": lambda t, q, v: np.trunc(3 * q),
    "vstack": lambda t, q, v: np.vstack([q, v])[0],
    "where": lambda t, q, v: np.where(q > v, q, np.where(v > 0.1, 1.0, v)) + np.where(q, v, t),
    "zeros_like": lambda t, q, v: np.zeros_like(q) + v,
}


def half(x):
    filled = np.empty(N)
    filled[:] = x / 2
    return filled


class Gain:
    """A function that is an object, and one that is its method."""

    def __init__(self, k):
        self.k = k

    def __call__(self, t, q, v):
        u = np.ones(N)
        u[0] = self.k * q[0]
        return u

    def turned(self, t, q, v):
        u = np.eye(N)
        u[0] = q
        return u @ v


def filled(t, q, v):
    u = np.zeros(N)
    u[0] = -q[0]
    u[1:] += v[1:]
    return half(u)


def gathered(t, q, v):
    e = np.array([q[0] - 1, v[0], t], dtype=float)
    e[e.shape[0] - 1] *= 2
    return np.clip(np.asarray([e[0], e[1], 0.3]), -0.5, 0.5) + [x * 2 for x in np.array([1, 2, 3])]


def with_helper():
    import numpy as np

    def ramp(x):
        u = np.full(N, 0.5)
        u[1] = x
        return u

    return lambda t, q, v: ramp(np.minimum(t, q[0])) + np.array(q)[np.array([2, 1, 0])]


def with_numbers(t, q, v):
    """Constants may be computed by anything."""
    K = np.diag(np.linalg.eigvalsh(np.eye(N) + np.ones((N, N))))
    return K @ q + np.arctanh(np.zeros(N)) + np.sort(np.zeros(N))


def of_scalars(t, q, v):
    return [np.vectorize(lambda x: 3 * x)(q)[0], q[1], v[2] if N else t]


OBJECTS = [Gain(2.0), Gain(1.0).turned, partial(lambda k, t, q, v: k * half(q), 3.0)]
WHOLE = [filled, gathered, with_helper(), with_numbers, of_scalars, *OBJECTS]


def states():
    rng = np.random.default_rng(3)
    yield from rng.uniform(-1, 1, (6, 2, N))
    yield np.zeros((2, N))
    yield np.array([[0.5, -0.5, 0.0], [0.5, 0.1, -0.2]])


def difference(function):
    """The largest between a function and its trace, over states."""
    graph = Graph()
    t, q, v = graph.input("t"), graph.inputs("q", N), graph.inputs("v", N)
    found = np.asarray(applied(function, t, q, v), dtype=object)
    assert found.shape == (N,)
    assert not isinstance(found, TracedArray)
    nodes = [graph.index(x) for x in found]
    apart = []
    for k, (p, r) in enumerate(states()):
        values = graph.evaluate(nodes, {"t": [0.4 * k], "q": p, "v": r})
        apart.append(np.array([values[i] for i in nodes], dtype=float) - function(0.4 * k, p.copy(), r.copy()))
    return np.abs(apart).max()


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_function_of_numpy_is_traced(name):
    assert difference(EXAMPLES[name]) < CLOSE


@pytest.mark.parametrize("function", WHOLE)
def test_a_function_of_a_user_is_traced(function):
    assert difference(function) < CLOSE


@pytest.mark.parametrize("y", [0.1, 0.2, 0.3, -0.3, 1e-3, 3.0, 2 * np.pi])
def test_quotients_are_whole_where_numpy_has_them(y):
    """Next to multiples of y a rounded product may leave less than nothing, and a clock that wraps there a whole period."""
    graph = Graph()
    t = graph.input("t")
    nodes = [graph.index(x) for x in applied(lambda t: [t % y, t // y], t)]
    k = np.concatenate([np.arange(-3000, 3001), [12345678, -1234567]])
    points = np.concatenate(
        [k * y, *(np.nextafter(k * y, end) for end in (-np.inf, np.inf)), k * 1e-3, [1e-18, -1e-18]]
    )
    values = graph.evaluate(nodes, {"t": points[None]})
    for node, expected in zip(nodes, (points % y, points // y), strict=True):
        np.testing.assert_array_equal(values[node], expected)


def test_every_function_that_can_be_traced_has_an_example():
    assert {f"np.{name}" for name in EXAMPLES} == set(traceable_functions())


def test_the_docs_list_the_functions_that_can_be_traced():
    text = (Path(__file__).parents[2] / "docs" / "control.md").read_text(encoding="utf-8")
    listed = re.search(r"Functions of NumPy that can be traced: (.*?)\.\n\n", text, re.DOTALL)[1]
    assert re.findall(r"`([\w.]+)`", listed) == traceable_functions()


def test_a_function_leaves_its_file_as_it_is():
    """What is rebound is a copy."""
    before = dict(globals())
    difference(filled)
    assert globals() == before
    assert filled(0.0, np.ones(N), np.ones(N)).dtype == float


def test_results_are_put_into_arrays_of_objects_alone():
    graph = Graph()
    q = graph.inputs("q", N).view(TracedArray)
    with pytest.raises(TypeError, match=r"a traced scalar is not a number: .*np.zeros_like\(q\), not np.zeros\(n\)"):
        np.zeros(N)[:] = q
    with pytest.raises(TypeError, match=r"np.maximum.accumulate cannot be traced: expected functions among"):
        np.maximum.accumulate(q)
