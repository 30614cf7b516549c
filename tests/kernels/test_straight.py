"""Straight lines by themselves, at the widths of one state and of batches."""

import ctypes

import numpy as np
import pytest

from modurob.kernels.straight import Lines, batch_lanes, straight
from modurob.spatial.scalars import atan2
from modurob.trace import Graph, Place

# of an angle up to pi, one and a half units in the last place
ANGLE = 6e-16
POINTER = ctypes.c_void_p


def angles_of(c: np.ndarray, s: np.ndarray, lanes: int) -> np.ndarray:
    """The angles of unit vectors by compiled lines, (n,); n is a multiple of the lanes."""
    graph = Graph()
    x = graph.inputs("x", 2)
    lines = Lines("angle", "const vec *x, vec *y", graph, [(Place("y", 0), atan2(x[1], x[0])[()])])
    run = straight("angle", "test", (), "", lambda: [lines], lanes)
    assert run is not None
    # vectors begin at whole vectors
    memory = np.empty(64 * (3 * lanes * 8 + 64), np.uint8)
    start = -memory.ctypes.data % 64
    given, found = memory[start:].view(float)[: 3 * lanes].reshape(3, lanes)[:2], np.empty(len(c))
    result = memory[start:].view(float)[2 * lanes : 3 * lanes]
    for k in range(0, len(c), lanes):
        given[0], given[1] = c[k : k + lanes], s[k : k + lanes]
        run.library.angle(given.ctypes.data_as(POINTER), result.ctypes.data_as(POINTER), None)
        found[k : k + lanes] = result
    return found


@pytest.mark.parametrize("single", [True, False])
def test_angles_of_unit_vectors(single):
    lanes = 1 if single else batch_lanes()
    t = np.concatenate([np.linspace(-np.pi, np.pi, 4001), np.arange(-4, 5) * np.pi / 4, [1e-9, -1e-9, 1e-300, 3.0]])
    t = t[: len(t) // 16 * 16]
    c, s = np.cos(t), np.sin(t)
    assert np.abs(angles_of(c, s, lanes) - np.arctan2(s, c)).max() < ANGLE
    # small angles keep all of their digits
    small = np.array([1e-300, 1e-20, 1e-9, 1e-5, -1e-300, -1e-20, -1e-9, -1e-5] * 2)
    assert angles_of(np.cos(small), np.sin(small), lanes) == pytest.approx(small, rel=4e-16)


@pytest.mark.parametrize("single", [True, False])
def test_the_angle_of_what_is_no_number_is_none(single):
    c, s = np.tile([np.nan, 1.0], 8), np.tile([0.0, np.nan], 8)
    assert np.isnan(angles_of(c, s, 1 if single else batch_lanes())).all()
