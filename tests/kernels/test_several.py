"""A few states at once, without a detour: the bits of the long way, and errors where it has them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from modurob import kernels
from modurob.algorithms.acceleration_slopes import FORWARD_DERIVATIVES
from modurob.algorithms.forward import CONSTRAINED_DYNAMICS
from modurob.algorithms.interpreter import interpret
from modurob.algorithms.jacobians import JACOBIAN
from modurob.errors import InputError
from modurob.kernels import single, threads
from tests.oracles.linkages import four_bar
from tests.robots import random_mechanism, random_state

CALLS = ("forward_dynamics", "inverse_dynamics", "forward_dynamics_derivatives", "inverse_dynamics_derivatives")


def _few(rng, robot, states):
    return [np.stack(x) for x in zip(*(random_state(rng, robot) for _ in range(states)), strict=True)]


def _long(monkeypatch, call, *arguments):
    with monkeypatch.context() as patch:
        patch.setattr(single, "_several", lambda *given: None)
        return call(*arguments)


def _equal(a, b):
    if isinstance(a, tuple):
        return all(_equal(x, y) for x, y in zip(a, b, strict=True))
    return a.shape == b.shape and np.array_equal(a, b)


@pytest.mark.parametrize("states", [2, 8, 13])
@pytest.mark.parametrize("seed", range(3))
def test_a_few_states_have_the_bits_of_the_long_way(seed, states, monkeypatch):
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 5, floating=seed == 1, armature=seed == 2)
    q, v, tau = _few(rng, robot, states)
    for name in CALLS:
        call = getattr(robot, name)
        assert _equal(call(q, v, tau), _long(monkeypatch, call, q, v, tau)), name
    assert _equal(robot.mass_matrix(q), _long(monkeypatch, robot.mass_matrix, q))
    assert robot.key in single._SEVERAL["forward_dynamics"]


@pytest.mark.parametrize("states", [2, 3000])
def test_states_of_single_precision_and_any_number_of_them_too(states, monkeypatch):
    """With quaternions, and one of no direction; memory of large results is used again."""
    rng = np.random.default_rng(3)
    robot = random_mechanism(rng, 12, floating=True)
    monkeypatch.setattr(threads, "_threads", 1)
    given = [np.tile(x, (-(-states // 50), 1))[:states] for x in _few(rng, robot, 50)]
    for dtype, handles in ((np.float32, single._SEVERAL_FLOATS), (np.float64, single._SEVERAL)):
        arrays = [x.astype(dtype) for x in given]
        for name in ("forward_dynamics", "inverse_dynamics"):
            found = getattr(robot, name)(*arrays)
            assert found.dtype == dtype
            assert _equal(found, _long(monkeypatch, getattr(robot, name), *arrays)), name
        assert robot.key in handles["forward_dynamics"]
        held = robot.forward_dynamics(*arrays)
        copied = held.copy()
        robot.forward_dynamics(*(x[::-1].copy() for x in arrays))
        assert np.array_equal(held, copied)
        arrays[0][1, robot.joints[0].q_slice.stop - 4 : robot.joints[0].q_slice.stop] = 0
        with pytest.raises(InputError, match="quaternion"):
            robot.forward_dynamics(*arrays)


def test_single_precision_with_constraints_takes_the_long_way():
    rng = np.random.default_rng(4)
    linkage = four_bar(rng)
    robot, (q, v) = linkage.robot, linkage.state(rng)
    arrays = [np.tile(x, (4, 1)).astype(np.float32) for x in (q, v, v)]
    assert robot.forward_dynamics(*arrays).dtype == np.float32
    assert single._several(CONSTRAINED_DYNAMICS, robot, tuple(arrays)) is None


def test_rows_at_strides_and_rows_that_stand_still_are_taken_too():
    rng = np.random.default_rng(5)
    robot = random_mechanism(rng, 4)
    q, v, tau = _few(rng, robot, 6)
    found = robot.forward_dynamics(q, v, tau)
    assert np.array_equal(robot.forward_dynamics(q[::-1], v[::-1], tau[::-1]), found[::-1])
    still = robot.forward_dynamics(q[:1], v, tau)
    assert np.array_equal(still, robot.forward_dynamics(np.tile(q[0], (6, 1)), v, tau))


def test_a_few_states_are_checked():
    rng = np.random.default_rng(6)
    robot = random_mechanism(rng, 4)
    q, v, tau = _few(rng, robot, 4)
    robot.forward_dynamics(q, v, tau)
    with pytest.raises(InputError, match="nan"):
        robot.forward_dynamics(np.where(np.arange(4)[:, None] == 2, np.nan, q), v, tau)
    with pytest.raises(InputError, match="shape"):
        robot.forward_dynamics(q, v[:, :-1], tau)
    with pytest.raises(InputError, match="broadcast"):
        robot.forward_dynamics(q, v[:3], tau)


def test_rotors_are_in_the_mass_matrix_of_a_few_states(monkeypatch):
    rng = np.random.default_rng(7)
    robot = random_mechanism(rng, 4, kinds=("revolute", "prismatic"), armature=True)
    q = _few(rng, robot, 5)[0]
    found = robot.mass_matrix(q)
    assert robot.key in single._SEVERAL["mass_matrix"]
    assert _equal(found, _long(monkeypatch, robot.mass_matrix, q))
    assert robot.armature.any()


@pytest.mark.parametrize("states", [1, 5])
def test_programs_over_bodies_too(states, monkeypatch):
    """What kernels read of each body but the world, and vectors of each rate."""
    rng = np.random.default_rng(7)
    robot = random_mechanism(rng, 5, floating=True)
    q, _, _ = _few(rng, robot, states)
    on, point = rng.integers(0, 2, size=(states, len(robot.bodies))).astype(float), rng.normal(size=(states, 3))
    given = {"q": q, "point": point, "on": on}
    J = kernels.run(JACOBIAN, robot, given).results["J"]
    long = _long(monkeypatch, kernels.run, JACOBIAN, robot, given).results["J"]
    assert J.shape == (states, 6, robot.nv)
    assert np.array_equal(J, long)
    assert np.allclose(J, interpret(JACOBIAN, robot, given).results["J"], atol=1e-12)


def test_long_rows_of_a_few_states_begin_with_lines_of_the_cache_as_those_of_many(monkeypatch):
    robot = random_mechanism(np.random.default_rng(8), 13, kinds=("revolute",))
    q = np.random.default_rng(9).normal(size=(5, robot.nq))
    few = robot.mass_matrix(q)
    many = _long(monkeypatch, robot.mass_matrix, q)
    assert few.strides == many.strides == (1408, 104, 8)
    assert few.ctypes.data % 64 == 0
    held = few[3].copy(), few[3]
    del few
    robot.mass_matrix(q[::-1].copy())
    assert np.array_equal(*held)


def test_all_states_that_one_thread_computes_take_the_short_way_beside_other_threads_of_python(monkeypatch):
    """Many numbers let go of the interpreter's lock; who comes meanwhile finds the arena busy, and has the same bits."""
    rng = np.random.default_rng(10)
    robot = random_mechanism(rng, 12, kinds=("revolute",))
    q, v, tau = rng.normal(size=(3, 1000, robot.nv))
    expected = _long(monkeypatch, robot.forward_dynamics_derivatives, q, v, tau)
    monkeypatch.setattr(threads, "_threads", 1)
    assert q.size > 10_000  # MANY_NUMBERS of single.c
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: robot.forward_dynamics_derivatives(q, v, tau), range(12)))
    assert all(_equal(x, expected) for x in found)
    assert single._several(FORWARD_DERIVATIVES, robot, (q, v, tau)) is not None
    with pytest.raises(InputError, match="nan"):
        robot.forward_dynamics_derivatives(np.where(np.arange(1000)[:, None] == 998, np.nan, q), v, tau)


LAID = {
    "by columns": np.asfortranarray,
    "every second": lambda x: np.repeat(np.repeat(x, 2, 0), 2, -1)[::2, ::2] if x.ndim > 1 else np.repeat(x, 2)[::2],
    "backwards": lambda x: x[..., ::-1].copy()[..., ::-1],
    "other order of bytes": lambda x: x.astype(x.dtype.newbyteorder()),
    "read-only": lambda x: np.broadcast_to(x, (1, *x.shape))[0],
    "more axes": lambda x: x[None],
}
ASKED = {
    "dynamics": lambda r, q, v: r.forward_dynamics(q, v, v),
    "mass matrix": lambda r, q, v: r.mass_matrix(q),
    "derivatives": lambda r, q, v: np.stack(r.inverse_dynamics_derivatives(q, v, v)),
    "momentum": lambda r, q, v: r.momentum(q, v),
    "Coriolis": lambda r, q, v: r.coriolis_matrix(q, v),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("way", LAID)
def test_where_numbers_lie_changes_no_bit(way, dtype, rng):
    robot = random_mechanism(rng, 4, floating=True)
    geared = replace(robot, joints=tuple(replace(j, armature=np.full(j.type.nv, 0.1)) for j in robot.joints))
    for r in (robot, geared):
        states = [random_state(rng, r)[:2] for _ in range(11)]
        q, v = (np.array(x).astype(dtype) for x in zip(*states, strict=True))
        for ask in ASKED.values():
            for x, y in ((q, v), (q[3], v[3])):
                found, expected = ask(r, LAID[way](x), LAID[way](y)), ask(r, x, y)
                assert found.dtype == expected.dtype
                assert found.tobytes() == expected.tobytes()
