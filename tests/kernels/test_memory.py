"""Memory for results: in lines of the cache, and used again only once nobody holds it."""

import gc

import numpy as np
import pytest

import modurob as mr
from modurob.kernels import evaluator, memory
from modurob.kernels.memory import LARGE, LINE, LONG, room
from tests.robots import random_mechanism

DOUBLE = np.dtype(np.float64)
BEYOND_CACHE = 1 << 22  # as in driver.c
# states of rows of 129 numbers that take a little more memory than is worth keeping
MANY = LARGE // (129 * 8) + 1


@pytest.fixture(autouse=True)
def nothing_spare(monkeypatch):
    monkeypatch.setattr(memory, "_SPARE", [])


def address(x):
    return x.__array_interface__["data"][0]


@pytest.mark.parametrize("n", [1, 3, 127, 128, 129, 300])
@pytest.mark.parametrize("dtype", [np.dtype(np.float32), DOUBLE])
def test_arrays_have_their_shape_and_long_rows_begin_with_a_line(n, dtype):
    x = room(5, n, dtype)
    assert x.shape == (5, n)
    assert x.dtype == dtype
    assert address(x) % LINE == 0
    assert x.strides[1] == dtype.itemsize
    if n * dtype.itemsize >= LONG:
        assert x.strides[0] % LINE == 0
    else:
        assert x.flags.c_contiguous


def test_memory_that_nobody_holds_is_used_again():
    x = room(MANY, 129, DOUBLE)
    before = address(x)
    del x
    gc.collect()
    assert address(room(MANY, 129, DOUBLE)) == before


@pytest.mark.parametrize(
    "part", [lambda x: x, lambda x: x[3:5, 7], lambda x: x.reshape(MANY, 3, 43)[..., 0], memoryview]
)
def test_memory_that_a_view_still_holds_is_not(part):
    x = room(MANY, 129, DOUBLE)
    x[:] = 1.0
    held = part(x)
    del x
    gc.collect()
    for _ in range(3):
        room(MANY, 129, DOUBLE)[:] = 2.0
    assert (np.asarray(held) == 1.0).all()


def test_no_more_is_kept_than_may_be():
    held = [room(MANY, 129, DOUBLE) for _ in range(2 * memory.KEPT // LARGE)]
    assert sum(x.size for x in memory._SPARE) <= memory.KEPT
    assert len({address(x) for x in held}) == len(held)


def test_results_stay_what_they_are_when_more_are_asked_for():
    robot = mr.load("crab").mechanism(base="m0")
    q, v, u = np.random.default_rng(0).normal(size=(3, 4096, robot.nv))
    first = robot.forward_dynamics_derivatives(q, v, u)
    copies = [x.copy() for x in first]
    for _ in range(3):
        robot.forward_dynamics_derivatives(u, q, v)
    assert all((x == y).all() for x, y in zip(first, copies, strict=True))


def test_large_results_of_a_few_states_are_in_memory_that_is_used_again():
    robot = random_mechanism(np.random.default_rng(4), 13, kinds=("revolute",))
    q = np.random.default_rng(5).normal(size=(500, robot.nq))
    first = robot.mass_matrix(q)
    assert len(first) * first.strides[0] >= LARGE
    before, copy = address(first), first.copy()
    second = robot.mass_matrix(-q)
    assert address(second) != before
    assert np.array_equal(first, copy)
    del first
    gc.collect()
    assert address(robot.mass_matrix(q)) == before
    assert np.array_equal(robot.mass_matrix(q), copy)


@pytest.mark.parametrize("joints", [13, 16])
def test_results_that_pass_the_caches_by_are_those_of_a_few_states(joints):
    """Rows of whole lines, and rows whose last vector is none."""
    robot = random_mechanism(np.random.default_rng(joints), joints, kinds=("revolute",))
    states = 2 * BEYOND_CACHE // (8 * robot.nv**2) + 3
    q = np.random.default_rng(0).normal(size=(states, robot.nq))
    M = robot.mass_matrix(q)
    assert M.nbytes > BEYOND_CACHE
    pieces = [robot.mass_matrix(q[k : k + 500]) for k in range(0, states, 500)]
    assert np.array_equal(M, np.concatenate(pieces))


@pytest.mark.parametrize("states", [64, 67])
def test_entries_that_are_always_zero_are_written_too(states):
    """Between branches nothing is computed; what was in the memory before must not stay."""
    rng = np.random.default_rng(3)
    robot = random_mechanism(rng, 40, kinds=("revolute",), floating=True)
    q = np.stack([robot.random_configuration(rng) for _ in range(states)])
    v, vdot = rng.normal(size=(2, states, robot.nv))
    found = robot.inverse_dynamics_derivatives(q, v, vdot)
    expected = [x.copy() for x in found]
    for x in found:
        x[:] = np.nan
    before = {address(x) for x in found}
    del found, x
    again = robot.inverse_dynamics_derivatives(q, v, vdot)
    assert {address(x) for x in again} & before
    assert all(np.array_equal(x, y) for x, y in zip(again, expected, strict=True))
    assert (expected[2] == 0).mean() > 0.3
    assert any(e.sequence.empty for k, e in evaluator._TABLE.items() if k[:2] == (robot.key, "slopes"))
