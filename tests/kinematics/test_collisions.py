"""Collisions against closed forms, MuJoCo's and Pinocchio's distances."""

from importlib.metadata import files
from pathlib import Path

import mujoco
import numpy as np
import pinocchio
import pytest
import sympy

import modurob as mr
from modurob.errors import ClashError, FormatError, InputError, UnknownNameError, UrdfError
from modurob.spatial import se3, so3

# coal's iteration ends at 1e-6 of what it measures
COAL = 2e-6
SIZES = {"box": (0.2, 0.3, 0.4), "cylinder": (0.1, 0.4), "sphere": (0.15,), "capsule": (0.1, 0.3)}


def shipped(name: str) -> Path:
    """A file of example-robot-data."""
    return next(Path(str(f.locate())).resolve() for f in files("example-robot-data") or [] if str(f).endswith(name))


def two(kind_a: str, kind_b: str, size_a: tuple[float, ...] | None = None, size_b: tuple[float, ...] | None = None):
    """A shape in the world, and one that floats."""
    b = mr.Builder("two")
    b.collision(kind_a, size_a or SIZES[kind_a], "world")
    b.body("mover", mr.spatial.inertia.sphere(1.0, 0.1), joint=mr.Free())
    b.collision(kind_b, size_b or SIZES[kind_b], "mover")
    return b.build()


def placed(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.concatenate([p, mr.spatial.quaternion.from_matrix(R)])


def test_spheres_in_closed_form(rng):
    robot = two("sphere", "sphere", (0.1,), (0.2,))
    p = rng.normal(size=(20, 3))
    q = np.stack([placed(so3.random(rng), x) for x in p])
    model = robot.collision_model(ground=-0.5)
    apart = np.linalg.norm(p, axis=-1) - 0.3
    np.testing.assert_allclose(model.distances(q), np.stack([apart, p[:, 2] - 0.2 + 0.5], axis=-1), atol=1e-9)
    np.testing.assert_allclose(model.distance(q), np.minimum(apart, p[:, 2] + 0.3), atol=1e-9)
    assert np.array_equal(model.clear(q, margin=0.1), np.minimum(apart, p[:, 2] + 0.3) >= 0.1 - 1e-5)
    assert not model.clear(q).all()
    assert model.clear(q).any()


def test_boxes_in_closed_form():
    robot = two("box", "box", (1.0, 1.0, 1.0), (1.0, 1.0, 1.0))
    model = robot.collision_model(ground=-2.0)
    turned = so3.about(np.array([0.0, 0.0, 1.0]), np.pi / 4)
    beside, inside = placed(np.eye(3), np.array([1.25, 0.0, 0.0])), placed(np.eye(3), np.array([0.9, 0.0, 0.0]))
    corner = placed(turned, np.array([2.0, 0.0, 0.0]))
    expected = [0.25, -0.1, 1.5 - np.sqrt(0.5)]
    np.testing.assert_allclose(model.distances([beside, inside, corner])[:, 0], expected, atol=COAL)
    near = model.closest(corner)
    assert (near.a, near.b) == ("world", "mover")
    np.testing.assert_allclose(near.point_b, [2 - np.sqrt(0.5), 0, near.point_b[2]], atol=COAL)
    low = model.closest(placed(np.eye(3), np.array([3.0, 0.0, -1.0])))
    assert low.b == "ground"
    assert low.distance == pytest.approx(0.5)
    assert low.point_a[2] == pytest.approx(-1.5)


@pytest.mark.parametrize("b", SIZES)
@pytest.mark.parametrize("a", SIZES)
def test_mujoco_measures_the_same(a, b, rng):
    def geom(kind: str, body: str) -> str:
        size = SIZES[kind]
        half = [x / 2 for x in size] if kind == "box" else [size[0], *(x / 2 for x in size[1:])]
        return f'<geom name="{body}" type="{kind}" size="{" ".join(map(str, half))}"/>'

    xml = f'<mujoco><worldbody>{geom(a, "a")}<body name="b"><freejoint/>{geom(b, "b")}</body></worldbody></mujoco>'
    model = mujoco.MjModel.from_xml_string(xml)
    data, ours = mujoco.MjData(model), two(a, b).collision_model()
    for _ in range(6):
        q = placed(so3.random(rng), rng.normal(size=3) * 0.6)
        d = ours.distances(q)[0]
        data.qpos[:] = q
        mujoco.mj_forward(model, data)
        theirs = mujoco.mj_geomDistance(model, data, 0, 1, 10.0, np.zeros(6))
        if theirs > 1e-3:  # MuJoCo's depths of shapes that stand in each other are those of its contacts
            assert d == pytest.approx(theirs, abs=1e-5)
        else:
            assert d < 1e-3


@pytest.mark.parametrize("hulls", [False, True])
def test_pinocchio_measures_meshes_the_same(hulls, rng):
    """By triangles the distances are Pinocchio's; hulls are never farther."""
    path = shipped("ur_description/urdf/ur5_robot.urdf")
    robot = mr.Mechanism.from_urdf(path)
    ours = robot.collision_model(hulls=hulls)
    model = pinocchio.buildModelFromUrdf(str(path))
    packages = [str(p) for p in path.parents]
    geometry = pinocchio.buildGeomFromUrdf(model, str(path), pinocchio.GeometryType.COLLISION, package_dirs=packages)
    data, number = model.createData(), {g.name.rpartition("_")[0]: i for i, g in enumerate(geometry.geometryObjects)}
    for a, b in ours.pair_names:
        geometry.addCollisionPair(pinocchio.CollisionPair(number[a], number[b]))
    found = geometry.createData()
    for _ in range(3):
        q = robot.random_configuration(rng)
        pinocchio.computeDistances(model, data, geometry, found, q)
        theirs, d = np.array([r.min_distance for r in found.distanceResults]), ours.distances(q)
        apart = theirs > 0
        assert apart.sum() >= 10
        if hulls:
            assert np.all(d[apart] <= theirs[apart] + COAL)
        else:
            np.testing.assert_allclose(d[apart], theirs[apart], atol=COAL)


def test_pairs_that_matter():
    crab = mr.load("crab").robot()
    model = crab.collision_model()
    modules = [(a.split("/")[0], b.split("/")[0]) for a, b in model.pair_names]
    assert all(a != b for a, b in modules)  # parts of one module are kept apart by its joint
    bodies = {name: f.body for name, f in crab.frames.items()}
    assert all(bodies[a] != bodies[b] for a, b in model.pair_names)  # what is welded never meets
    fewer = crab.collision_model(ignore=[("m1/A", "m5/A")])
    assert {*model.pair_names} - {*fewer.pair_names} == {("m1/A", "m5/A")}


def test_a_clash_away_from_zero():
    """A ring of hinges that are folded onto each other: clear at zero, where docking looks, and not beyond."""
    assembly = mr.Assembly.single("m0", "backbone")
    for i in range(1, 5):
        assembly = assembly.dock(f"m{i}", "backbone", f"m{i - 1}/3", "4")
    robot = assembly.mechanism()
    model = robot.collision_model()
    assert model.clear(robot.neutral())
    folded = np.full(robot.nq, np.pi / 2)
    assert not model.clear(folded)
    assert model.closest(folded).distance < -0.01
    X = robot.forward_kinematics(folded)
    assert np.linalg.norm(X["m0"][:3, 3] - X["m4"][:3, 3]) < 0.1  # there they stand in one place


def test_solutions_that_clash_do_not_count(rng):
    """An arm whose elbow is up or down, a floor that is in the way of one of them."""
    b = mr.Builder("elbow")
    mass = mr.spatial.inertia.sphere(1.0, 0.1)
    b.body("upper", mass, joint=mr.Revolute((0, 1, 0)))
    b.body("lower", mass, parent="upper", joint=mr.Revolute((0, 1, 0)), at=se3.pose(None, np.array([1.0, 0, 0])))
    b.frame("tip", "lower", se3.pose(None, np.array([1.0, 0, 0])))
    b.collision("sphere", (0.05,), "lower")
    robot = b.build()
    goal = mr.PointGoal("tip", np.array([1.2, 0.0, 0.0]))
    model = robot.collision_model(ground=-0.1)
    sides = {float(np.sign(robot.reach(goal, q0=[s, -s]).q[0, 0])) for s in (0.5, -0.5)}
    assert sides == {1.0, -1.0}
    for s in (0.5, -0.5):
        found = robot.reach(goal, q0=[s, -s], avoid=model)
        assert found.reached
        assert found.q[0, 0] < 0  # turning up is negative about y
        assert model.clear(found.q[0])
    blocked = robot.reach(goal, avoid=robot.collision_model(ground=5.0), attempts=4)
    assert not blocked.reached
    assert "every configuration found clashes" in blocked.note


def test_files_and_values_keep_collisions(tmp_path):
    robot = two("capsule", "box")
    locked = mr.Mechanism.from_urdf(shipped("ur_description/urdf/ur5_robot.urdf")).locked(["elbow_joint"])
    assert len(locked.collisions) == 8
    assert locked.collision_model().solids[0].kind == "mesh"
    assert robot != two("capsule", "sphere")
    b = mr.Builder("arm")
    b.body("rod", mr.spatial.inertia.sphere(1.0, 0.1), joint=mr.Revolute((0, 1, 0)))
    b.collision("capsule", (0.1, 0.3), "rod", se3.pose(None, np.array([0, 0, 0.2])))
    b.collision("box", (0.1, 0.3, 0.2), "rod")
    arm = b.build()
    mr.save(arm, tmp_path / "arm.urdf")
    again = mr.Mechanism.from_urdf(tmp_path / "arm.urdf")
    assert [(s.kind, s.size) for s in again.collisions] == [(s.kind, s.size) for s in arm.collisions]
    np.testing.assert_allclose(again.collisions[0].in_body, arm.collisions[0].in_body, atol=1e-15)


URDF = """<robot name="bad"><link name="base"><collision><origin xyz="0 0 1"/><geometry>{}</geometry></collision></link></robot>"""


@pytest.mark.parametrize(
    ("geometry", "words"),
    [
        ("<cone radius='1'/>", r"<collision> of link 'base' has <cone>: expected one of box, cylinder"),
        ("<capsule radius='1'/>", "<capsule> of size '1': expected numbers for radius, length"),
        ("<capsule radius='wide' length='1'/>", "expected numbers for radius, length"),
    ],
)
def test_bad_collision_geometry(tmp_path, geometry, words):
    path = tmp_path / "bad.urdf"
    path.write_text(URDF.format(geometry))
    with pytest.raises(UrdfError, match=words):
        mr.Mechanism.from_urdf(path)


def test_meshes_that_are_not_there(tmp_path):
    path = tmp_path / "bad.urdf"
    path.write_text(URDF.format("<mesh filename='package://nowhere/hand.stl'/>"))
    robot = mr.Mechanism.from_urdf(path)
    with pytest.raises(FormatError, match=r"no mesh 'package://nowhere/hand.stl'"):
        robot.collision_model()
    path.write_text(URDF.format("<mesh filename='bad.urdf'/>"))
    with pytest.raises(FormatError, match="cannot be read as a mesh"):
        mr.Mechanism.from_urdf(path).collision_model()


def test_bad_questions():
    robot = mr.load("crab").robot()
    model = robot.collision_model()
    with pytest.raises(InputError, match="no shape on 'm9/A'"):
        robot.collision_model(ignore=[("m9/A", "m1/A")])
    with pytest.raises(InputError, match="expected pairs of names"):
        robot.collision_model(ignore=[("m1/A",)])
    with pytest.raises(InputError, match=r"expected \(..., 3\)"):
        model.clear([0.0, 0.0])
    with pytest.raises(InputError, match="expected one configuration"):
        model.closest(np.zeros((2, 3)))
    b = mr.Builder("bare")
    b.body("rod", mr.spatial.inertia.sphere(1.0, 0.1), joint=mr.Revolute((0, 1, 0)))
    bare = b.build().collision_model()
    assert bare.clear([0.0])
    assert bare.distance([0.0]) == np.inf
    with pytest.raises(InputError, match="no shapes that can meet"):
        bare.closest([0.0])


def test_symbols_have_no_place():
    robot = mr.load("crab").with_parameters(length=sympy.Symbol("l", positive=True)).mechanism()
    with pytest.raises(InputError, match="has symbols for lengths: give them values"):
        robot.collision_model()


def test_without_coal(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "coal", None)
    with pytest.raises(InputError, match=r"pip install modurob\[collision\]"):
        two("box", "box").collision_model().distance(placed(np.eye(3), np.zeros(3)))


# ---- docking ----


def curled(count):
    chain = mr.Assembly.single("m0", "backbone")
    for i in range(1, count):
        chain = chain.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4")
    return chain


def test_docking_is_refused_where_shapes_meet_away_from_zero():
    """Four turns of 86 degrees bring the fifth module back to the first."""
    chain, q = curled(4), {f"m{i}/hinge": 1.5 for i in range(4)}
    assert chain.clashes(q) == []
    with pytest.raises(ClashError, match=r"with 'm4' docked 'm0/.' would meet 'm4/.' at m0/hinge 1\.5, m1/hinge 1\.5"):
        chain.dock("m4", "backbone", at="m3/3", by="4", clear_at=q)
    docked = chain.dock("m4", "backbone", at="m3/3", by="4", clear_at=dict.fromkeys(q, 1.2))
    assert {frozenset(n.split("/")[0] for n in pair) for pair in docked.clashes(q)} == {frozenset({"m0", "m4"})}
    # as the robot itself says
    robot = docked.mechanism(keep_idle=True)
    model = robot.collision_model()
    assert not model.clear([1.5] * 4 + [0.0])
    assert model.clear([1.2] * 4 + [0.0])


def test_clashes_of_joints_that_are_not_there():
    with pytest.raises(UnknownNameError, match=r"no joint 'm9/hinge': .*valid: m0/hinge"):
        curled(2).clashes({"m9/hinge": 1.0})
