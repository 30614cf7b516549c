import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import modurob as mr
from modurob.catalogue.joints import KINDS, JointType, Mimic, Reversed
from modurob.errors import InputError
from modurob.spatial import se3, so3
from tests.robots import ONE_RATE, random_joint

# entries of order one after a few products; complex steps lose nothing more
CLOSE = 1e-13
STEP = 1e-30

# every kind as it is, walked backwards, and where it can, following another joint
CASES = [(kind, way) for kind in KINDS for way in ("forward", "reversed", "mimic", "reversed mimic")]
CASES = [(kind, way) for kind, way in CASES if "mimic" not in way or kind in ONE_RATE]
every_case = pytest.mark.parametrize(("kind", "way"), CASES)


def made(rng: np.random.Generator, kind: str, way: str) -> JointType:
    joint = random_joint(rng, kind)
    if "mimic" in way:
        joint = Mimic(joint, ratio=rng.uniform(-3, -0.5), offset=rng.normal())
    return joint.reversed() if "reversed" in way else joint


def unlimited(joint: JointType) -> tuple[np.ndarray, np.ndarray]:
    return np.full(joint.nq, -np.inf), np.full(joint.nq, np.inf)


def drawn(rng: np.random.Generator, kind: str, way: str) -> Iterator[tuple[JointType, np.ndarray, np.ndarray]]:
    """Joints with random axes, q and v."""
    for _ in range(5):
        joint = made(rng, kind, way)
        yield joint, joint.random(rng, *unlimited(joint)), rng.normal(size=joint.nv)


def body_twist(X: np.ndarray, Xdot: np.ndarray) -> np.ndarray:
    """V with X hat(V) = dX/dt."""
    hat = se3.inverse(X) @ Xdot
    V = np.concatenate([hat[:3, 3], so3.vee(hat[:3, :3])])
    assert hat == pytest.approx(se3.hat(V), abs=CLOSE)
    return V


@every_case
def test_subspace_is_the_derivative_of_the_pose(rng: np.random.Generator, kind: str, way: str):
    for joint, q, v in drawn(rng, kind, way):
        X = joint.pose(q)
        Xdot = np.imag(joint.pose(joint.integrate(q, 1j * STEP * v))) / STEP
        assert so3.is_rotation(se3.rotation(X), CLOSE)
        assert joint.motion_subspace(q) @ v == pytest.approx(body_twist(X, Xdot), abs=CLOSE)


@every_case
def test_coordinates_change_at_the_rate_that_moves_the_pose(rng: np.random.Generator, kind: str, way: str):
    for joint, q, v in drawn(rng, kind, way):
        Xdot = np.imag(joint.pose(q + 1j * STEP * joint.rate(q, v))) / STEP
        assert body_twist(joint.pose(q), Xdot) == pytest.approx(joint.motion_subspace(q) @ v, abs=CLOSE)


@every_case
def test_subspace_is_the_finite_difference_of_the_pose(rng: np.random.Generator, kind: str, way: str):
    # the midpoint difference of a smooth motion: 1e-4² and rounding / 1e-4
    h, close = 1e-4, 1e-7
    for joint, q, v in drawn(rng, kind, way):
        before, after = (joint.pose(joint.integrate(q, step * v)) for step in (-h, h))
        assert joint.motion_subspace(q) @ v == pytest.approx(se3.log(se3.inverse(before) @ after) / (2 * h), abs=close)


@every_case
def test_subspace_rate_is_the_derivative_of_the_subspace(rng: np.random.Generator, kind: str, way: str):
    for joint, q, v in drawn(rng, kind, way):
        rate = np.imag(joint.motion_subspace(joint.integrate(q, 1j * STEP * v))) / STEP
        assert joint.subspace_rate(q, v) == pytest.approx(rate, abs=CLOSE)
        assert joint.bias(q, v) == pytest.approx(rate @ v, abs=CLOSE)


def test_some_subspaces_turn(rng: np.random.Generator):
    turning = set()
    for kind, way in CASES:
        for joint, q, v in drawn(rng, kind, way):
            if np.abs(joint.subspace_rate(q, v)).max(initial=0) > 1e-3:
                turning.add((kind, way))
    involutes = {kind for kind in KINDS if kind.startswith("involute")}
    backwards = {(kind, "reversed") for kind in ("universal", "planar", "spherical", "free", *involutes)}
    assert turning == {(kind, "forward") for kind in ("universal", "planar", *involutes)} | backwards


@every_case
def test_constraints_do_no_work_and_fill_the_rest(rng: np.random.Generator, kind: str, way: str):
    for joint, q, _ in drawn(rng, kind, way):
        S, T = joint.motion_subspace(q), joint.constraint_subspace(q)
        assert S.shape == (6, joint.nv)
        assert T.shape == (6, 6 - joint.nv)
        assert pytest.approx(np.zeros((joint.nv, 6 - joint.nv)), abs=CLOSE) == S.T @ T
        assert np.linalg.matrix_rank(np.hstack([S, T]), tol=1e-6) == 6


@every_case
def test_integrate_and_difference_are_inverse(rng: np.random.Generator, kind: str, way: str):
    for joint, q, v in drawn(rng, kind, way):
        dq = 0.5 * v
        assert joint.difference(q, joint.integrate(q, dq)) == pytest.approx(dq, abs=CLOSE)
        other = joint.random(rng, *unlimited(joint))
        reached = joint.integrate(q, joint.difference(q, other))
        assert joint.pose(reached) == pytest.approx(joint.pose(other), abs=CLOSE)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical", "cylindrical", "spherical", "free"])
def test_constant_subspaces_integrate_to_exponentials(rng: np.random.Generator, kind: str):
    for joint, q, v in drawn(rng, kind, "forward"):
        expected = joint.pose(q) @ se3.exp(joint.motion_subspace(q) @ v)
        assert joint.pose(joint.integrate(q, v)) == pytest.approx(expected, abs=CLOSE)


@every_case
def test_coordinates_give_back_the_pose(rng: np.random.Generator, kind: str, way: str):
    for joint, q, _ in drawn(rng, kind, way):
        X = joint.pose(q)
        found = joint.coordinates(X)
        assert found.shape == (joint.nq,)
        assert joint.pose(found) == pytest.approx(X, abs=CLOSE)


@pytest.mark.parametrize("turns", [-3.4, 0.2, 7.9])
def test_a_screw_counts_its_turns(turns: float):
    q = np.array([2 * np.pi * turns])
    joint = mr.Helical((1, 2, 3), 0.05)
    assert joint.coordinates(joint.pose(q)) == pytest.approx(q, rel=CLOSE, abs=0)
    flat = mr.Helical((1, 2, 3), 0.0)
    assert flat.pose(flat.coordinates(flat.pose(q))) == pytest.approx(flat.pose(q), abs=CLOSE)


def test_a_plane_normal_to_z_has_coordinates_x_and_y():
    found = mr.Planar().pose(np.array([0.3, -0.4, 0.5]))
    assert found == pytest.approx(se3.pose(so3.about(np.eye(3)[2], 0.5), np.array([0.3, -0.4, 0])), abs=CLOSE)


def test_coordinates_of_a_pose_out_of_reach_are_the_nearest(rng: np.random.Generator):
    for joint, _, _ in drawn(rng, "revolute", "forward"):
        X = se3.random(rng)
        q = joint.coordinates(X)
        gaps = [np.linalg.norm(se3.rotation(joint.pose(q + d) - X)) for d in (0.0, -1e-3, 1e-3, 1.0, 3.0)]
        assert np.argmin(gaps) == 0


@every_case
def test_neutral_is_the_zero_pose(rng: np.random.Generator, kind: str, way: str):
    joint = made(rng, kind, way.replace("mimic", "").strip() or "forward")
    if kind.startswith("involute"):
        # the end of a cable is never in the centre of its pulley: it is unwound by one radian, not stretched
        original = getattr(joint, "original", joint)
        turn = so3.about(np.array([0.0, 0, 1]), np.array(1.0))
        end = turn @ (original.radius, original.radius, 0.0)
        assert se3.position(original.pose(joint.neutral())) == pytest.approx(end)
        return
    assert joint.pose(joint.neutral()) == pytest.approx(np.eye(4), abs=CLOSE)


@every_case
def test_reversed_is_the_inverse_with_the_same_coordinates(rng: np.random.Generator, kind: str, way: str):
    for joint, q, _ in drawn(rng, kind, way):
        back = joint.reversed()
        assert back.kind == joint.kind
        assert back.pose(q) == pytest.approx(se3.inverse(joint.pose(q)), abs=CLOSE)
        assert back.reversed() == joint


@every_case
@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_batches_are_stacks(rng: np.random.Generator, kind: str, way: str, shape: tuple[int, ...]):
    joint = made(rng, kind, way)
    q = np.array([joint.random(rng, *unlimited(joint)) for _ in range(int(np.prod(shape)))]).reshape(*shape, joint.nq)
    v = rng.normal(size=(*shape, joint.nv))
    for found, one in [
        (joint.pose(q), lambda q, v: joint.pose(q)),
        (joint.coordinates(joint.pose(q)), lambda q, v: joint.coordinates(joint.pose(q))),
        (joint.integrate(q, v), joint.integrate),
        (joint.difference(q, joint.integrate(q, v)), lambda q, v: joint.difference(q, joint.integrate(q, v))),
        (joint.bias(q, v), joint.bias),
    ]:
        each = np.array([one(q[i], v[i]) for i in np.ndindex(shape)])
        assert found == pytest.approx(each.reshape(*shape, *each.shape[1:]), abs=CLOSE)
    # what is constant may have no leading axes
    for found, one in [
        (joint.motion_subspace(q), lambda q, v: joint.motion_subspace(q)),
        (joint.constraint_subspace(q), lambda q, v: joint.constraint_subspace(q)),
        (joint.subspace_rate(q, v), joint.subspace_rate),
    ]:
        for i in np.ndindex(shape):
            assert np.broadcast_to(found, (*shape, *found.shape[-2:]))[i] == pytest.approx(one(q[i], v[i]), abs=CLOSE)


@every_case
def test_random_coordinates_keep_the_limits(rng: np.random.Generator, kind: str, way: str):
    joint = made(rng, kind, way)
    assert joint.random(rng, *unlimited(joint)).shape == (joint.nq,)
    if kind in ("spherical", "free"):
        assert np.linalg.norm(joint.random(rng, *unlimited(joint))[-4:]) == pytest.approx(1, abs=CLOSE)
        return
    q = np.array([joint.random(rng, np.full(joint.nq, 0.2), np.full(joint.nq, 0.3)) for _ in range(50)])
    assert np.all((q >= 0.2) & (q <= 0.3))


def test_mimic_reads_ratio_and_offset():
    follower = mr.Revolute((0, 1, 0))
    joint = Mimic(follower, ratio=-2.0, offset=0.3)
    q = np.array([0.7])
    assert joint.pose(q) == pytest.approx(follower.pose(np.array([-1.1])), abs=CLOSE)
    assert np.array_equal(joint.motion_subspace(q), -2 * follower.motion_subspace(q))
    assert joint.coordinates(joint.pose(q)) == pytest.approx(q, abs=CLOSE)


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in ONE_RATE])
def test_only_joints_with_one_coordinate_can_mimic(rng: np.random.Generator, kind: str):
    with pytest.raises(InputError, match=f"a {kind} joint cannot mimic"):
        Mimic(random_joint(rng, kind))


def concrete(cls: type) -> Iterator[type]:
    """All classes below `cls` in the package that can be made."""
    for below in cls.__subclasses__():
        if below.__module__.startswith("modurob.") and not inspect.isabstract(below):
            yield below
        yield from concrete(below)


def test_kinds_are_complete():
    assert set(KINDS.values()) == set(concrete(JointType)) - {Reversed, Mimic}
    assert all(cls.kind == kind for kind, cls in KINDS.items())
    conventions = Path(__file__).parents[2] / "docs" / "conventions.md"
    table = conventions.read_text().split("| kind | q | v | motion |")[1].split("\n\n")[0]
    assert sorted(re.findall(r"^\| (\w[\w ]*) \|", table, re.MULTILINE)) == sorted(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_of_coordinates(rng: np.random.Generator, kind: str):
    joint = random_joint(rng, kind)
    assert joint.kind == kind
    assert joint.neutral().shape == (joint.nq,)
    assert joint.nq - joint.nv == (1 if kind in ("spherical", "free") else 0)


@every_case
def test_equal_joints_are_equal_and_hash_alike(kind: str, way: str):
    one, same, other = (made(np.random.default_rng(seed), kind, way) for seed in (1, 1, 2))
    assert one == same
    assert hash(one) == hash(same)
    assert repr(one) == repr(same)
    assert (one != other) == (kind not in ("fixed", "spherical", "free"))
    assert one != object()


def test_kinds_and_directions_differ():
    axis = (0, 0, 1)
    joints = [mr.Revolute(axis), mr.Prismatic(axis), mr.Cylindrical(axis), mr.Planar(axis), mr.Helical(axis, 0.1)]
    joints += [mr.Helical(axis, 0.2), mr.Universal(), mr.Spherical(), mr.Free(), mr.Fixed(), Mimic(mr.Revolute(axis))]
    joints += [Mimic(mr.Revolute(axis), 2.0), *(j.reversed() for j in joints if not isinstance(j, mr.Fixed))]
    assert len(set(joints)) == len(joints)
    assert mr.Fixed().reversed() == mr.Fixed()


@pytest.mark.parametrize("make", [mr.Revolute, mr.Prismatic, mr.Helical, mr.Cylindrical, mr.Planar])
def test_axes_are_normalised(make: type):
    joint = make((0, -3, 4))
    assert joint.axis == pytest.approx((0, -0.6, 0.8), abs=CLOSE)
    assert joint == make((0, -6, 8))
    assert make((0, 0, 1e-50)).axis == (0, 0, 1)


def test_equal_axes_are_written_alike():
    # keys are made from what is written: -0.0 must not differ from 0.0
    assert repr(mr.Revolute((0, 0, 1)).reversed()) == repr(mr.Revolute((0, 0, -1)))


BAD_AXES = [
    (0, 0, 0),
    (1e-200, 0, 0),
    (0, 1e200, 0),
    (1, 0),
    (1, 0, 0, 0),
    (np.nan, 0, 1),
    (0, np.inf, 0),
    1.0,
    ((1, 0, 0),),
]


@pytest.mark.parametrize("axis", BAD_AXES)
@pytest.mark.parametrize("make", [mr.Revolute, mr.Prismatic, mr.Helical, mr.Cylindrical, mr.Planar, mr.Universal])
def test_bad_axes_are_refused(make: type, axis):
    with pytest.raises(InputError, match=r"axis.*expected three finite numbers, not all zero"):
        make(axis)


@pytest.mark.parametrize("axis", BAD_AXES)
def test_bad_second_axes_are_refused(axis):
    with pytest.raises(InputError, match="universal second axis"):
        mr.Universal((1, 0, 0), axis)


@pytest.mark.parametrize("axis2", [(1, 0, 0), (1, 1, 0), (1e-6, 1, 0)])
def test_axes_of_a_universal_joint_must_cross_at_right_angles(axis2: tuple[float, ...]):
    with pytest.raises(InputError, match="expected perpendicular axes"):
        mr.Universal((1, 0, 0), axis2)
