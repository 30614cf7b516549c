"""Fleets: the bits of single robots, whatever the order, the threads and the states of others."""

import pickle

import numpy as np
import pytest

import modurob as mr
from modurob.algorithms.forward import FORWARD_DYNAMICS
from modurob.errors import CallError, InputError, SingularError
from modurob.judges.pinocchio import PinocchioTwin
from modurob.kernels import memory
from modurob.kernels.evaluator import Evaluator
from tests.robots import random_assembly, random_mechanism

FUNCTIONS = {
    "forward_dynamics": 3,
    "inverse_dynamics": 3,
    "forward_dynamics_derivatives": 3,
    "inverse_dynamics_derivatives": 3,
    "mass_matrix": 1,
    "forward_kinematics": 1,
}


def random_robots(rng: np.random.Generator, n: int) -> list[mr.Mechanism]:
    """Trees of all joint kinds, fixed and floating, with and without rotors, and organisms."""
    trees = [
        random_mechanism(rng, int(rng.integers(1, 7)), floating=i % 2 == 0, armature=i % 3 == 0) for i in range(n // 2)
    ]
    return [*trees, *(random_assembly(rng, int(rng.integers(2, 6))).mechanism() for _ in range(n - n // 2))]


def random_states(rng: np.random.Generator, robots: list[mr.Mechanism], most: int) -> tuple[list[np.ndarray], ...]:
    """q, v and torques, 1 to `most` states a robot."""
    counts = [int(rng.integers(1, most + 1)) for _ in robots]
    q = [r.integrate(r.neutral(), rng.normal(size=(k, r.nv))) for r, k in zip(robots, counts, strict=True)]
    return q, *([rng.normal(size=(k, r.nv)) for r, k in zip(robots, counts, strict=True)] for _ in range(2))


def same(a: object, b: object) -> bool:
    """Equal to the last bit."""
    a, b = getattr(a, "bodies", a), getattr(b, "bodies", b)
    return (
        all(np.array_equal(x, y) for x, y in zip(a, b, strict=True)) if isinstance(a, tuple) else np.array_equal(a, b)
    )  # type: ignore[arg-type]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equals_single_robots(name: str, rng: np.random.Generator) -> None:
    robots = random_robots(rng, 24)
    states = random_states(rng, robots, 20)[: FUNCTIONS[name]]
    found = getattr(mr.Fleet(robots), name)(*states)
    alone = [getattr(r, name)(*(x[i] for x in states)) for i, r in enumerate(robots)]
    assert all(map(same, found, alone))


def test_order_and_threads_do_not_count(rng: np.random.Generator) -> None:
    robots = [r for r in random_robots(rng, 24) if r.nv]
    q, v, u = random_states(rng, robots, 1200)
    found = {}
    for threads in (1, 2, 3):
        mr.set_threads(threads)
        found[threads] = mr.Fleet(robots).forward_dynamics(q, v, u)
    mr.set_threads(None)
    shuffled = rng.permutation(len(robots))
    again = mr.Fleet([robots[i] for i in shuffled]).forward_dynamics(*([x[i] for i in shuffled] for x in (q, v, u)))
    for i, k in enumerate(shuffled):
        assert all(np.array_equal(found[1][k], x) for x in (found[2][k], found[3][k], again[i]))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_states_beside_do_not_count(name: str, rng: np.random.Generator) -> None:
    """Two states or more of a robot, in any order: each has the bits that it has among others."""
    robots = [r for r in random_robots(rng, 12) if r.nv]
    states = [[np.concatenate([s] * 2) for s in x] for x in random_states(rng, robots, 20)[: FUNCTIONS[name]]]
    fleet = mr.Fleet(robots)
    orders = [rng.permutation(len(x)) for x in states[0]]
    found = getattr(fleet, name)(*states)
    mixed = getattr(fleet, name)(*([s[o] for s, o in zip(x, orders, strict=True)] for x in states))
    few = getattr(fleet, name)(*([s[:2] for s in x] for x in states))
    for all_, other, first, order in zip(found, mixed, few, orders, strict=True):
        for whole, shuffled, two in zip(*map(_arrays, (all_, other, first)), strict=True):
            assert np.array_equal(whole[order], shuffled)
            assert np.array_equal(whole[:2], two)


def _arrays(x: object) -> list[np.ndarray]:
    x = getattr(x, "bodies", x)
    return list(x) if isinstance(x, tuple) else [x]  # type: ignore[list-item]


@pytest.mark.parametrize("floating", [False, True])
def test_lanes_do_not_count(floating: bool, rng: np.random.Generator) -> None:
    """Processors with vectors of two, four and eight numbers find the same bits."""
    robot = random_mechanism(rng, 4, floating=floating)
    (q,), (v,), (u,) = (x[:1] for x in random_states(rng, [robot], 1))
    q, v, u = (np.tile(x, (11, 1)) * rng.uniform(0.5, 2.0, size=(11, 1)) for x in (q, v, u))
    found = [
        Evaluator(robot, FORWARD_DYNAMICS, frozenset(), False, lanes)({"q": q, "v": v, "tau": u}, 11)[0][0].tobytes()
        for lanes in (2, 4, 8)
    ]
    assert len(set(found)) == 1


def test_pinocchio_agrees(rng: np.random.Generator) -> None:
    robots = [random_assembly(rng, 8).mechanism(floating=i % 2 == 0) for i in range(10)]
    q, v, u = random_states(rng, robots, 12)
    for i, vdot in enumerate(mr.Fleet(robots).forward_dynamics(q, v, u)):
        twin = PinocchioTwin(robots[i])
        for k in range(len(vdot)):
            theirs = twin.forward_dynamics(q[i][k], v[i][k], u[i][k])
            np.testing.assert_allclose(vdot[k], theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max())


@pytest.mark.judge
def test_a_thousand_robots() -> None:
    """Organisms and trees of all joint kinds: the bits of single robots, and on a sample the numbers of Pinocchio."""
    rng = np.random.default_rng(11)
    robots = [r for r in random_robots(rng, 1300) if r.nv][:1000]
    q, v, u = random_states(rng, robots, 20)
    found = mr.Fleet(robots).forward_dynamics(q, v, u)
    assert len(found) == 1000
    assert all(np.array_equal(x, r.forward_dynamics(*s)) for r, x, *s in zip(robots, found, q, v, u, strict=True))
    for i in range(0, 1000, 20):
        theirs = PinocchioTwin(robots[i]).forward_dynamics(q[i][0], v[i][0], u[i][0])
        np.testing.assert_allclose(found[i][0], theirs, rtol=1e-7, atol=1e-8 * np.abs(theirs).max())


def test_odd_arguments_are_for_the_robot_alone(rng: np.random.Generator) -> None:
    crab, crane = mr.load("crab").robot(), mr.load("crane").robot()
    fleet = mr.Fleet([crab, crane, crab, crab, crab])
    states = [
        rng.normal(size=(3, 4, 3)),
        rng.normal(size=(3, 2)),
        rng.normal(size=(3, 9, 3)).astype(np.float32),
        rng.normal(size=(3, 2, 2, 3)),
        np.zeros((3, 0, 3)),
    ]
    found = fleet.forward_dynamics(*zip(*states, strict=True))
    assert [x.shape for x in found] == [(4, 3), (2,), (9, 3), (2, 2, 3), (0, 3)]
    assert found[2].dtype == np.float32
    for robot, x, vdot in zip(fleet, states, found, strict=True):
        assert np.array_equal(vdot, robot.forward_dynamics(*x))


def test_without_headers_of_python(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays are described to the driver without the extension module, also where rows are not in one piece."""
    robots = [r for r in random_robots(rng, 12) if r.nv]
    states = [[np.asfortranarray(x) for x in xs] for xs in random_states(rng, robots, 20)]
    found = mr.Fleet(robots).forward_dynamics(*states)
    monkeypatch.setattr("modurob.kernels.fleet._filling", lambda: None)
    assert all(map(same, found, mr.Fleet(robots).forward_dynamics(*states)))


def test_memory_of_results_is_used_again_only_when_nobody_holds_it(rng: np.random.Generator) -> None:
    fleet = mr.Fleet([random_assembly(rng, 4).mechanism() for _ in range(40)])
    states = [[rng.normal(size=(1000, r.nv)) for r in fleet] for _ in range(3)]
    first = fleet.forward_dynamics(*states)
    kept, last = [x.copy() for x in first], first[-1]
    fleet.forward_dynamics(states[0], states[1], states[0])
    assert all(map(np.array_equal, first, kept))
    del first
    fleet.forward_dynamics(states[1], states[2], states[0])
    assert np.array_equal(last, kept[-1])  # the last view of the block holds all of it
    again = fleet.forward_dynamics(*states)[-1].base
    assert any(again is spare for spare in memory._SPARE)


def test_robots_with_loops_and_without(rng: np.random.Generator) -> None:
    linkage = mr.Assembly.from_grid([["B", "B"], ["B", "B"]]).mechanism()
    fleet = mr.Fleet([linkage, mr.load("crab"), linkage])
    q = [np.tile(r.neutral(), (6, 1)) for r in fleet]
    v = [np.zeros((6, r.nv)) for r in fleet]
    u = [rng.normal(size=(6, r.nv)) for r in fleet]
    for name in ("forward_dynamics", "forward_dynamics_derivatives"):
        found = getattr(fleet, name)(q, v, u)
        assert all(
            same(x, getattr(r, name)(q[i], v[i], u[i])) for i, (r, x) in enumerate(zip(fleet, found, strict=True))
        )


def test_a_value() -> None:
    fleet = mr.Fleet([mr.load("crab"), mr.load("crane")])
    copy = pickle.loads(pickle.dumps(fleet))
    assert copy == fleet
    assert hash(copy) == hash(fleet)
    assert fleet != mr.Fleet([mr.load("crab")])
    with pytest.raises(InputError, match="a fleet of no robots: expected one Mechanism or Assembly at least"):
        mr.Fleet([])
    with pytest.raises(InputError, match=r"robot 0 of the fleet is 'crab': expected .*, such as mr.load\('crab'\)"):
        mr.Fleet(["crab"])  # type: ignore[list-item]
    assert fleet[1:] == mr.Fleet([fleet[1]])


def test_what_is_refused() -> None:
    fleet = mr.Fleet([mr.load("crab"), mr.load("crane")])
    good = [np.zeros((2, 3)), np.zeros((2, 2))]
    with pytest.raises(InputError, match="q has 1 arrays for 2 robots"):
        fleet.mass_matrix(good[:1])
    with pytest.raises(InputError, match="q is 3: expected a list"):
        fleet.mass_matrix(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="robot 1 of the fleet: q has shape"):
        fleet.mass_matrix([good[0], good[0]])
    with pytest.raises(InputError, match=r"robot 0 of the fleet: v\[1, 2\] is nan"):
        fleet.forward_dynamics(good, [np.array([[0, 0, 0], [0, 0, np.nan]]), good[1]], good)
    with pytest.raises(InputError, match="robot 1 of the fleet is 'crab'"):
        mr.Fleet([mr.load("crab"), "crab"])  # type: ignore[list-item]
    with pytest.raises(CallError, match=r"forward_dynamics needs .*tau"):
        fleet.forward_dynamics(good, good)  # type: ignore[call-arg]
    with pytest.raises(AttributeError, match="call coriolis_matrix of each robot"):
        fleet.coriolis_matrix  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean 'mass_matrix'"):
        fleet.mass_matrx  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(InputError, match="robots is"):
        mr.Fleet(mr.load("crab"))  # type: ignore[arg-type]


def test_a_state_without_an_answer_is_named() -> None:
    builder = mr.Builder("massless")
    builder.body("a", np.zeros((6, 6)), joint=mr.Revolute((0.0, 0.0, 1.0)), joint_name="spin")
    fleet = mr.Fleet([mr.load("crab"), builder.build()])
    states = [np.zeros((2, 3)), np.zeros((2, 1))]
    with pytest.raises(SingularError, match="robot 1 of the fleet: joint 'spin' moves no inertia in state 0"):
        fleet.forward_dynamics(states, states, states)


def test_a_quaternion_without_direction_is_named() -> None:
    floating = mr.load("crab").mechanism(floating=True)
    q = np.tile(floating.neutral(), (3, 1))
    q[1, 3:7] *= 1e-9
    with pytest.raises(InputError, match="robot 0 of the fleet: q: the quaternion"):
        mr.Fleet([floating]).mass_matrix([q])
