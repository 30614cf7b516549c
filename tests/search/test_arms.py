"""Sets of arms against the arms one by one, the solver of one arm, and Pinocchio."""

import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import modurob as mr
from modurob.errors import ClashError, InputError
from modurob.judges.pinocchio import PinocchioTwin
from modurob.search import ArmSet
from modurob.search.balls import _pair, centres, solutions
from modurob.search.reaching import held
from modurob.spatial import se3, so3

IMPROV = Path(__file__).parents[1] / "formats" / "improv.json"
LINKS = ("L1", "L2", "L4", "L5", "L6", "L8", "L9")
DOWN = np.array([0.0, 0.0, -9.81])


@pytest.fixture(scope="module")
def improv() -> ArmSet:
    """All arms of three balls with a link, or none, before each: (8 x 4)^3 = 32,768."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mr.ModurobWarning)
        types = mr.timor_modules(IMPROV)
    links = [(), *((types[name],) for name in LINKS)]
    slot = [(*link, types[f"PB2{k}"]) for link in links for k in (1, 2, 3, 4)]
    return ArmSet([[types["base"]], slot, slot, slot])


def robot(arms: ArmSet, i: int) -> mr.Mechanism:
    return arms[i].mechanism(keep_idle=True)


def built(arms: ArmSet, chosen, n: int) -> list[int]:
    """The first n arms of which no modules stand in each other with all joints at zero: others are no assemblies."""
    found: list[int] = []
    for i in map(int, chosen):
        with suppress(ClashError):
            found += [i] if arms[i] else []
        if len(found) == n:
            break
    return found


def poses_at(places, rng: np.random.Generator) -> np.ndarray:
    return se3.pose(so3.exp(rng.normal(size=(len(places), 3))), np.asarray(places, dtype=float))


def test_tables_are_those_of_the_arms(improv: ArmSet, rng: np.random.Generator):
    assert len(improv) == 32768
    chosen = rng.integers(len(improv), size=8)
    tables = improv.tables(chosen)
    for k, i in enumerate(chosen.tolist()):
        own = robot(improv, i)
        assert tables.X[k] == pytest.approx(own.frame_pose(own.neutral(), improv.tip(i)), abs=1e-12)
        assert tables.limits[k, :, 2] == pytest.approx(own.effort_limit)
        assert tables.limits[k, :, 0] == pytest.approx(own.limits.lower)


def test_solutions_reach_and_weigh(improv: ArmSet, rng: np.random.Generator):
    """Each arm reaches poses it was seen at, and torques are those of the arm."""
    chosen = rng.integers(len(improv), size=10)
    robots, tables = [robot(improv, i) for i in chosen.tolist()], improv.tables(chosen)
    tips = [improv.tip(i) for i in chosen.tolist()]
    poses = np.stack([r.frame_pose(rng.uniform(-2.5, 2.5, 6), tip) for r, tip in zip(robots, tips, strict=True)])
    found = solutions(tables, poses)
    tau = held(tables, found, 0.0, DOWN)
    for k, own in enumerate(robots):
        mine = found.arm == k
        assert (mine & (found.pose == k)).any()
        assert own.frame_pose(found.q[mine], tips[k]) == pytest.approx(poses[found.pose[mine]], abs=1e-8)
        assert tau[mine] == pytest.approx(own.gravity_forces(found.q[mine]), abs=1e-10)


def test_turns_about_axes_at_any_angle(rng: np.random.Generator):
    """The axes of balls that are shipped are at right angles: here they are not. One of the two pairs of turns is the given one."""
    h1, h2 = (x / np.linalg.norm(x, axis=0) for x in rng.normal(size=(2, 3, 50)))
    p, (q1, q2) = rng.normal(size=(3, 50)), rng.uniform(-np.pi, np.pi, size=(2, 50))
    R1, R2 = (so3.about(h.T, q) for h, q in ((h1, q1), (h2, q2)))
    w = (R1 @ R2 @ p.T[..., None])[..., 0].T
    hits = []
    for side in (1.0, -1.0):
        turns = _pair(h1, h2, p, w, side)
        found = [np.arctan2(s, c) for c, s in turns]
        again = (so3.about(h1.T, found[0]) @ so3.about(h2.T, found[1]) @ p.T[..., None])[..., 0].T
        np.testing.assert_allclose(again, w, atol=1e-9)
        hits.append(np.abs(np.exp(1j * found[0]) - np.exp(1j * q1)) < 1e-6)
    assert (hits[0] | hits[1]).all()


@pytest.mark.parametrize("seed", [1])
def test_solutions_are_those_of_the_general_solver(improv: ArmSet, seed: int):
    mismatched, compared = _mismatches(improv, seed, 12)
    assert compared > 5
    assert not mismatched


@pytest.mark.judge
def test_more_solutions_are_those_of_the_general_solver(improv: ArmSet):
    """Pairs of close roots within a step of the scan are missed: a few in a thousand."""
    mismatched, compared = _mismatches(improv, 2, 300)
    assert compared > 100
    assert mismatched <= 0.01 * compared


def _mismatches(arms: ArmSet, seed: int, n: int) -> tuple[int, int]:
    """At how many poses an arm has another number of solutions than the general solver is certain of."""
    rng = np.random.default_rng(seed)
    every = (i for i in rng.integers(len(arms), size=4 * n) if not _on_one_line(arms, int(i)))
    chosen = np.array(built(arms, every, n))
    poses = poses_at(rng.uniform((-0.4, -0.4, 0.0), (0.4, 0.4, 0.8), size=(2, 3)), rng)
    found = solutions(arms.tables(chosen), poses)
    wrong = compared = 0
    for k, i in enumerate(chosen.tolist()):
        exact = robot(arms, i).inverse_kinematics(arms.tip(i), poses, limits=False)
        for p in range(len(poses)):
            if exact.certain[p]:
                compared += 1
                wrong += int(exact.count[p]) != int(((found.arm == k) & (found.pose == p)).sum())
    return wrong, compared


def _on_one_line(arms: ArmSet, i: int) -> bool:
    """Whether axes 2 and 3, or 4 and 5, are on one line."""
    own = centres(arms.tables(np.array([i])))
    h, between = own.h[..., 0], ((1, 2, own.B - own.A), (3, 4, own.C - own.B))
    return any(
        np.linalg.norm(np.cross(h[a], h[b])) < 1e-9 and np.linalg.norm(np.cross(h[a], d[:, 0])) < 1e-9
        for a, b, d in between
    )


def test_verdicts_of_a_small_set():
    """A load beyond all efforts is too heavy; far away is out of reach."""
    arms = ArmSet([["straight_link"], *[["powerball"], [(), "elbow_link"]] * 3])
    X = robot(arms, 3).frame_pose([0.3, -0.8, 0.9, 0.4, 0.7, -0.2], arms.tip(3))
    far = X + np.array([[0.0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 9], [0, 0, 0, 0]])
    light, heavy = arms.reach([X, far]), arms.reach([X, far], load=500.0)
    assert light.verdict[3].tolist() == [2, 0]
    assert heavy.verdict[3].tolist() == [1, 0]
    assert 3 not in light.arms
    assert robot(arms, 3).frame_pose(light.q[3, 0], arms.tip(3)) == pytest.approx(X, abs=1e-8)


@pytest.mark.judge
def test_verdicts_by_pinocchio(improv: ArmSet):
    """500 arms and three poses: Pinocchio confirms each solution, and none of those that Newton's method finds from 8 random
    starts where we say there is none."""
    rng = np.random.default_rng(0)
    poses = poses_at([[0.3, 0.2, 0.5], [-0.2, 0.35, 0.3], [0.1, -0.4, 0.6]], rng)
    found = improv.reach(poses, load=0.0)
    wrong = 0
    for i in built(improv, rng.permutation(len(improv)), 500):
        own = robot(improv, i)
        twin, tip = PinocchioTwin(own), improv.tip(i)
        for p, X in enumerate(poses):
            verdict = int(found.verdict[i, p])
            tried = found.q[i, p][None] if verdict else _newton(own, tip, X, rng)
            wrong += verdict != max((_judged(own, twin, tip, X, q) for q in tried), default=0)
    assert wrong == 0


def _judged(own, twin, tip: str, X, q) -> int:
    """The verdict on a solution by Pinocchio."""
    frame = own.frames[tip]
    beyond = (q < own.limits.lower - 1e-9).any() or (q > own.limits.upper + 1e-9).any()
    if beyond or np.abs(twin.body_poses(q)[frame.body] @ frame.X - X).max() > 1e-6:
        return 0
    tau = twin.inverse_dynamics(q, np.zeros(6), np.zeros(6))
    return 2 if (np.abs(tau) <= own.effort_limit + 1e-9).all() else 1


def _newton(own, tip: str, X, rng) -> np.ndarray:
    """What damped Newton steps from eight random starts end at, (k, 6)."""
    q = rng.uniform(own.limits.lower, own.limits.upper, size=(8, 6))
    for _ in range(30):
        error = se3.log(se3.inverse(own.frame_pose(q, tip)) @ X)
        J = own.body_jacobian(q, tip)
        J_T = np.swapaxes(J, -1, -2)
        step = J_T @ np.linalg.solve(J @ J_T + 1e-6 * np.eye(6), error[..., None])
        q = q + np.clip(step[..., 0], -0.5, 0.5)
    there = np.abs(se3.log(se3.inverse(own.frame_pose(q, tip)) @ X)).max(axis=-1) < 1e-9
    return (q[there] + np.pi) % (2 * np.pi) - np.pi


@pytest.mark.parametrize(
    ("slots", "words"),
    [
        ([], "needs slots with at least one option each"),
        ([["straight_link"], []], "needs slots with at least one option each"),
        ([[()]], "expected a module in each of its options"),
        ([["virtual"]], "'virtual' has 0 docking ports: expected two or more"),
        ([["straight_link"], ["powerball", "elbow_link"]], "slot 1 has options with 0 and 2 joints"),
        ([["straight_link"], ["revolute_joint"]], "no port of 'revolute_joint' fits"),
        ([["prismatic_joint"]], "expected revolute joints in a row"),
    ],
)
def test_sets_that_cannot_be(slots, words: str):
    with pytest.raises(InputError, match=words):
        ArmSet(slots)


def test_questions_that_have_no_answer():
    arms = ArmSet([["straight_link"], ["powerball"], ["powerball"]])
    with pytest.raises(InputError, match="arms with 4 joints: expected six"):
        arms.reach([np.eye(4)])
    with pytest.raises(InputError, match=r"poses have shape \(4, 4\)"):
        arms.reach(np.eye(4))
    with pytest.raises(InputError, match="load -1"):
        arms.reach([np.eye(4)], load=-1)
    with pytest.raises(InputError, match="arm 1: expected 0 to 0"):
        arms.options(1)
