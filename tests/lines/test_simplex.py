"""The manipulator at rest: where its cables can hold it, and with what (Lieskovsky, chapter 5; figures of an independent model)."""

import numpy as np
import pytest
from scipy.optimize import brentq

from tests.oracles import simplex


@pytest.fixture(scope="module")
def model():
    return simplex.robot()


def determinant(model, degrees):
    q, *_ = simplex.pose(model, np.radians(degrees))
    return np.linalg.det(model.line_jacobian(q) @ simplex.motions(model, q))


def test_the_prism(model):
    q, r, h = simplex.pose(model, np.radians(120.0))
    assert np.abs(model.loop_error(q)).max() < 1e-12
    assert (r, h) == pytest.approx((0.40825, 0.70711), abs=5e-6)
    assert model.total_mass() == pytest.approx(9.64, abs=5e-3)
    assert (model.nv, model.loop_rank()) == (15, 9)
    # straight parts of a - R, and arcs from the axis of the strut down to 45 degrees below level
    assert model.line_lengths(q) == pytest.approx(simplex.SIDE - 0.05 + 0.05 * np.pi * 3 / 4, abs=1e-9)
    T = simplex.tensions(model, q)
    assert T[::2] == pytest.approx([0.67] * 3, abs=0.02)
    assert T[1::2] == pytest.approx([-17.3] * 3, abs=0.05)


def test_singular_at_a_twist_of_150_degrees(model):
    """As the plain prism stands at 30 degrees: 180 - 150."""
    found = brentq(lambda t: determinant(model, t), 145, 155, xtol=1e-10)
    assert found == pytest.approx(150.0, abs=0.01)


def test_the_twist_of_the_least_tension(model):
    """With 20 MPa in the upper cables: 153.107 degrees, 62.83 and 88.12 N."""
    least = 20e6 * simplex.AREA

    def lacking(degrees):
        q, *_ = simplex.pose(model, np.radians(degrees))
        return simplex.tensions(model, q).min() - least

    twist = brentq(lacking, 151, 155, xtol=1e-9)
    assert twist == pytest.approx(153.107, abs=0.01)
    q, *_ = simplex.pose(model, np.radians(twist))
    T = simplex.tensions(model, q)
    assert T[::2] == pytest.approx([62.83] * 3, abs=0.05)
    assert T[1::2] == pytest.approx([88.12] * 3, abs=0.05)


def test_actuation(model):
    """Rigid cables: six degrees of freedom, six inputs; deficient where the matrix is singular; never closed by pulling alone."""
    q, *_ = simplex.pose(model, np.radians(140.0))
    found = model.actuation(q)
    assert (found.verdict, found.B.shape, found.closure) == ("properly actuated", (6, 6), False)
    q, *_ = simplex.pose(model, np.radians(150.0))
    assert model.actuation(q).verdict == "deficiently actuated"
