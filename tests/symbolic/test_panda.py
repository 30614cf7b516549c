"""The Panda arm from its URDF file, with its gripper: equal to the numeric model, and derived and printed with bounded work."""

from importlib.metadata import files

import numpy as np
import pytest

import modurob as mr
from modurob import algorithms as al
from modurob.symbolic import factored, ring

# products of two terms, and terms looked through for factors, when 235,000 terms are derived and the short entries are written;
# about half as many are needed
MOST_PRODUCTS, MOST_LOOKS = 1_500_000, 500_000


@pytest.fixture(scope="module")
def panda() -> mr.Mechanism:
    path = next(f.locate() for f in files("example-robot-data") or [] if f.name == "panda.urdf")
    return mr.Mechanism.from_urdf(str(path))


def test_the_work_is_bounded(panda, monkeypatch):
    work = {"products": 0, "looks": 0}
    product, content = ring.Ring.product, factored._Nesting._content

    def counted_product(self, a, b):
        work["products"] += len(a) * len(b)
        return product(self, a, b)

    def counted_content(self, terms):
        work["looks"] += len(terms)
        return content(self, terms)

    monkeypatch.setattr(ring.Ring, "product", counted_product)
    monkeypatch.setattr(factored._Nesting, "_content", counted_content)
    eq = panda.equations(("masses", "lengths", "gravity"))
    assert eq.terms() > 200_000
    assert "only counted" in str(eq)
    eq.operations()
    assert work["products"] < MOST_PRODUCTS
    assert 10_000 < work["looks"] < MOST_LOOKS


def test_the_closed_form_is_the_numeric_model(panda, rng):
    eq = panda.equations(("masses", "lengths", "gravity"))
    q, v = rng.normal(size=(2, 20, panda.nv))
    M, C, N = eq.function(q, v)
    np.testing.assert_allclose(M, panda.mass_matrix(q), atol=1e-12)
    np.testing.assert_allclose(C, panda.coriolis_matrix(q, v), atol=1e-11)
    np.testing.assert_allclose(N, panda.gravity_forces(q), atol=1e-11)
    viscous = panda.without_forces(*(row.name for row in panda.forces if row.force.kind == "stop"))
    names: dict = {}
    exec(eq.python(), names)
    found = names["passive_forces"](q, v, [eq.values[s] for s in eq.parameters])
    expected = al.passive_forces(viscous, q, v)
    assert np.abs(expected).max() > 1
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert len(eq.left_out) == sum(row.force.kind == "stop" for row in panda.forces) > 0
