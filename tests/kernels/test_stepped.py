"""Plain C functions of arrays, for one state and for many."""

import numpy as np
import pytest

from modurob.kernels import evaluator
from modurob.kernels import stepped as module
from modurob.kernels.compiler import find_compiler
from modurob.kernels.stepped import stepped

# rows longer than a kilobyte begin with a line of the cache
LONG = 150
TEXT = f"""
void scaled(const double *x, double by, double *y, double *total)
{{
    *total = 0;
    for (int i = 0; i < {LONG}; ++i) {{
        y[i] = by * x[i];
        *total += y[i];
    }}
}}
"""


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_one_state_and_many():
    function = stepped("scaled", TEXT, "scaled", [1], [LONG, 1], [LONG, 1])
    x, by = np.random.default_rng(0).normal(size=(5, LONG)), np.arange(1.0, 6.0)[:, None]
    y, total = function.many((x, by))
    np.testing.assert_array_equal(y, by * x)
    np.testing.assert_allclose(total, y.sum(axis=-1, keepdims=True), rtol=1e-12)
    for k in range(5):
        for many, one in zip((y, total), function.one((x[k], by[k])), strict=True):
            np.testing.assert_array_equal(one, many[k])
    assert function.one((np.full(LONG, np.nan), by[0])) is None
    assert function.one((x[0, :-1], by[0])) is None


def test_without_a_compiler(monkeypatch):
    monkeypatch.setattr(evaluator, "_unavailable", "")
    monkeypatch.setattr(module, "library", lambda *given: (_ for _ in ()).throw(OSError("no compiler here")))
    with pytest.warns(match="NumPy serves: no compiler here"):
        assert stepped("scaled", TEXT, "scaled", [1], [LONG, 1], [LONG, 1]) is None
