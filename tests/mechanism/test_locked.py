"""Joints held: the reduced robot moves as the whole one with those joints at rest."""

import numpy as np
import pinocchio as pin
import pytest

import modurob as mr
from modurob.errors import InputError, MechanismError
from modurob.judges.pinocchio import PinocchioTwin
from modurob.spatial import inertia, se3
from tests.robots import KINDS, random_mechanism, random_state, shipped

# sums of a dozen bodies in another order
ROUNDING = {"rtol": 1e-10, "atol": 1e-10}


def some_joints(rng: np.random.Generator, robot: mr.Mechanism, share: float = 0.5) -> list[mr.mechanism.Joint]:
    return [j for j in robot.joints if rng.random() < share]


def kept(robot: mr.Mechanism, held: list, slices: str) -> np.ndarray:
    """Places in q or v of the joints that are left."""
    names = {j.name for j in held}
    ranges = [np.arange(s.start, s.stop) for j in robot.joints if j.name not in names for s in (getattr(j, slices),)]
    return np.concatenate([np.zeros(0, dtype=int), *ranges])


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_as_the_whole_robot_with_held_joints_at_rest(seed, floating):
    """M, bias, forward kinematics, energies and centre of mass, for all kinds of joints; the base too may be held."""
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 8, KINDS, floating=floating, armature=True)
    held = some_joints(rng, robot)
    q, v, vdot = random_state(rng, robot)
    v_at, q_at = kept(robot, held, "v_slice"), kept(robot, held, "q_slice")
    still = np.isin(np.arange(robot.nv), v_at)
    v, vdot = v * still, vdot * still
    part = robot.locked({j.name: q[j.q_slice] for j in held})
    assert (part.nq, part.nv) == (len(q_at), len(v_at))
    assert part.held == tuple(j.name for j in held)
    np.testing.assert_allclose(part.mass_matrix(q[q_at]), robot.mass_matrix(q)[np.ix_(v_at, v_at)], **ROUNDING)
    tau = robot.inverse_dynamics(q, v, vdot)[v_at]
    np.testing.assert_allclose(part.inverse_dynamics(q[q_at], v[v_at], vdot[v_at]), tau, **ROUNDING)
    poses = robot.forward_kinematics(q)
    for name, X in part.forward_kinematics(q[q_at]).items():
        np.testing.assert_allclose(X, poses[name], err_msg=name, **ROUNDING)
    assert set(robot.frames) == set(part.frames)
    np.testing.assert_allclose(part.kinetic_energy(q[q_at], v[v_at]), robot.kinetic_energy(q, v), **ROUNDING)


@pytest.mark.parametrize("seed", range(12))
def test_as_pinocchio_reduces_it(seed):
    """`buildReducedModel`, at random references, on trees of joints that both have."""
    rng = np.random.default_rng(seed)
    kinds = ("revolute", "prismatic", "spherical", "helical")
    robot = random_mechanism(rng, 7, kinds, floating=seed % 2 == 0)
    held = some_joints(rng, robot)
    twin = PinocchioTwin(robot)
    q, v, vdot = random_state(rng, robot)
    for number in range(1, twin.model.njoints):  # without which their function reads past its tables
        twin.model.addJointFrame(number)
    ids = [twin.model.getJointId(j.name) for j in held]
    theirs = pin.buildReducedModel(twin.model, ids, twin._q(q))
    part = robot.locked({j.name: q[j.q_slice] for j in held})
    assert theirs.nv == part.nv
    own_q, own_v, own_vdot = (x[kept(robot, held, s)] for x, s in ((q, "q_slice"), (v, "v_slice"), (vdot, "v_slice")))
    # their joints come in another order, and their quaternions as xyzw
    models = [theirs.joints[theirs.getJointId(j.name)] for j in part.joints]
    v_at = np.concatenate([np.zeros(0, dtype=int), *(m.idx_v + np.arange(m.nv) for m in models)])
    their_q, their_v, their_vdot = np.zeros(theirs.nq), np.zeros(theirs.nv), np.zeros(theirs.nv)
    for joint, model in zip(part.joints, models, strict=True):
        own = own_q[joint.q_slice]
        turned = np.concatenate([own[:-4], np.roll(own[-4:], -1)]) if joint.type.nq > joint.type.nv else own
        their_q[model.idx_q : model.idx_q + model.nq] = turned
    their_v[v_at], their_vdot[v_at] = own_v, own_vdot
    data = theirs.createData()
    tau = np.array(pin.rnea(theirs, data, their_q, their_v, their_vdot))
    np.testing.assert_allclose(part.inverse_dynamics(own_q, own_v, own_vdot), tau[v_at], **ROUNDING)
    M = np.triu(pin.crba(theirs, data, their_q))
    M = M + np.triu(M, 1).T
    np.testing.assert_allclose(part.mass_matrix(own_q), M[np.ix_(v_at, v_at)], **ROUNDING)


def test_nothing_and_everything_held(rng):
    robot = mr.load("tree9").mechanism(floating=True)
    assert robot.locked({}) == robot
    q = robot.random_configuration(rng)
    stone = robot.locked({j.name: q[j.q_slice] for j in robot.joints})
    assert (stone.nq, stone.nv, stone.bodies) == (0, 0, ("world",))
    np.testing.assert_allclose(stone.frame_pose([], "m5"), robot.frame_pose(q, "m5"), atol=1e-14)


@pytest.mark.parametrize("name", [name for name, robot in shipped().items() if robot.joints[-1].type.nv == 1])
def test_as_the_assembly_locks_it(name):
    """Two ways to one robot: joints held while it is built, and afterwards."""
    assembly = mr.load(name)
    robot = assembly.robot()
    joints = {robot.joints[-1].name: 0.4}
    for part in (robot.locked(joints), mr.lock(robot, joints)):
        whole = mr.lock(assembly, joints)
        assert (part.held, part.bodies, part.parent) == (whole.held, whole.bodies, whole.parent)
        np.testing.assert_allclose(part.inertia, whole.inertia, atol=1e-14)
        np.testing.assert_allclose(part.X_PJ, whole.X_PJ, atol=1e-14)
        assert [row.name for row in part.forces] == [row.name for row in whole.forces]


def test_names_alone_hold_at_zero():
    robot = mr.load("crab").mechanism()
    assert robot.locked(["m2/hinge"]) == robot.locked({"m2/hinge": 0.0}) == robot.locked("m2/hinge")
    assert mr.lock(mr.load("crab"), ["m2/hinge"]).held == ("m2/hinge",)


def test_the_assembly_stands_as_its_file_says_while_joints_are_held():
    """Idle joints stay at their initial coordinates, the base and gravity are those of the setup."""
    crab = mr.load("crab").with_setup(base="m1", floating=True, gravity=(0, 1, 2), coordinates={"m3/hinge": 0.5})
    robot = crab.robot()
    assert "m3/hinge" in robot.idle
    part = mr.lock(crab, {robot.joints[-1].name: 0.1})
    np.testing.assert_array_equal(part.gravity, (0, 1, 2))
    assert part.nv == robot.nv - 1
    q = np.concatenate([robot.neutral()[:-1], [0.1]])
    np.testing.assert_allclose(part.frame_pose(q[:-1], "m3/3"), robot.frame_pose(q, "m3/3"), atol=1e-14)


# ---- forces, mimics, couplings, loops ----


def hinged(names: str, **mimics: mr.Source) -> mr.Builder:
    """A chain of hinges about x, one metre apart."""
    builder, parent = mr.Builder("chain"), "world"
    for name in names:
        at = se3.pose(p=(0.0, float(parent != "world"), 0.0))
        load = inertia.point(1.0, (0.0, 0.5, 0.1))
        builder.body(name, load, parent=parent, joint=mr.Revolute((1, 0, 0)), at=at, mimic=mimics.get(name))
        parent = name
    return builder


def test_forces_of_the_joints_that_are_left(rng):
    robot = hinged("abc").build()
    robot = robot.with_force("a oil", mr.Friction(viscous=0.3), joint="a").with_force(
        "c", mr.JointSpring(2.0), joint="c"
    )
    robot = robot.with_force("rope", mr.Spring(100.0, 0.2, 3.0), a="c", b="world")
    part = robot.locked({"b": 0.4})
    q, v = rng.normal(size=(2, 3))
    q[1], v[1] = 0.4, 0.0
    found = part.passive_forces(q[[0, 2]], v[[0, 2]])
    np.testing.assert_allclose(found, robot.passive_forces(q, v)[[0, 2]], **ROUNDING)
    assert [row.name for row in robot.locked({"a": 0.1}).forces] == ["c", "rope"]


def test_a_mimic_stays_with_its_source(rng):
    robot = hinged("abc", c=mr.Source("a", ratio=-2.0, offset=0.3)).build()
    part = robot.locked({"a": 0.2})
    assert (part.nv, part.held) == (1, ("a", "c"))
    q = np.array([0.2, 0.7])
    np.testing.assert_allclose(part.frame_pose(q[1:], "c"), robot.frame_pose(q, "c"), atol=1e-14)
    other = robot.locked({"b": 0.7})
    np.testing.assert_allclose(other.mass_matrix(q[:1]), robot.mass_matrix(q)[:1, :1], **ROUNDING)
    with pytest.raises(InputError, match="joint 'c' mimics 'a': lock that one, and this one stays too"):
        robot.locked(["c"])


def test_couplings_lose_what_is_held():
    builder = hinged("abc")
    builder.coupling("gear", {"a": 1.0, "b": 2.0, "c": -3.0}, offset=0.5)
    robot = builder.build()
    part = robot.locked({"b": 0.2})
    q = np.array([0.7, 0.2, 0.9])
    np.testing.assert_allclose(part.loop_error(q[[0, 2]]), robot.loop_error(q), atol=1e-14)
    np.testing.assert_allclose(part.loop_jacobian(q[[0, 2]]), robot.loop_jacobian(q)[:, [0, 2]], atol=1e-14)
    decided = robot.locked({"a": 0.1, "b": 0.5, "c": 0.2})
    assert (decided.constraints, decided.redundant) == ((), ("gear",))
    with pytest.raises(
        MechanismError, match=r"constraint 'gear' is 0.5 \[m or rad\] from holding with these joints held"
    ):
        robot.locked(["a", "b", "c"])


def test_loops_that_held_joints_decide():
    ring = mr.Assembly.from_grid("B B B\nB . B\nB B B").mechanism()
    assert ring.nv > 2
    assert ring.constraints
    stone = ring.locked([j.name for j in ring.joints])
    assert (stone.constraints, stone.redundant[-1]) == ((), ring.constraints[0].name)
    part = ring.locked([ring.joints[0].name])
    q = np.zeros(part.nq)
    np.testing.assert_allclose(part.loop_jacobian(q), ring.loop_jacobian(np.zeros(ring.nq))[:, 1:], atol=1e-14)
    with pytest.raises(
        MechanismError, match="from holding with these joints held: expected coordinates at which it holds"
    ):
        ring.locked({j.name: 0.1 * k for k, j in enumerate(ring.joints)})


def test_symbols_can_be_held():
    import sympy

    a = sympy.Symbol("a")
    part = hinged("ab").build().locked({"b": a})
    assert part.nv == 1
    assert part.inertia.dtype == object
    at = sympy.lambdify(a, sympy.Matrix(part.inertia[1]))(0.3)
    np.testing.assert_allclose(at, hinged("ab").build().locked({"b": 0.3}).inertia[1], atol=1e-14)


# ---- refused ----


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        ({"m9/hinge": 0.0}, "no joint 'm9/hinge' in crab: did you mean"),
        ({"m2/hinge": [0.0, 1.0]}, r"joint 'm2/hinge' \(revolute\) is to be held at \[0.0, 1.0\]: expected 1 number$"),
        ({"m2/hinge": "zero"}, r"joint 'm2/hinge' \(revolute\) is to be held at \['zero'\]: expected 1 number$"),
        ({"m2/hinge": np.nan}, r"q\[8\] is nan: expected finite numbers"),
        ({"floating_base": [0.0] * 7}, "quaternion of joint 'floating_base' has length 0: expected length one"),
        ({"floating_base": 0.0}, r"joint 'floating_base' \(free\) is to be held at \[0.0\]: expected 7 numbers"),
    ],
)
def test_what_cannot_be_held(joints, message):
    with pytest.raises(InputError, match=message):
        mr.load("crab").mechanism(floating=True).locked(joints)


def test_only_robots_have_joints_to_lock():
    with pytest.raises(InputError, match="str has no joints to lock: expected a Mechanism or an Assembly"):
        mr.lock("crab", ["m0/hinge"])  # type: ignore[arg-type]
