"""More of contact with the ground: height fields, hulls of meshes, discs that spin down, and flights between impacts."""

from dataclasses import replace
from importlib.metadata import files
from pathlib import Path

import numpy as np
import pytest

import modurob as mr
from modurob import kernels
from modurob.algorithms.forces import acting, stored_energy
from modurob.algorithms.interpreter import interpret
from modurob.catalogue.contact import Vertices
from modurob.errors import FormatError, InputError, SimulationError
from modurob.kinematics.collisions import _triangles
from modurob.kinematics.contacts import MOST_VERTICES, gaps
from modurob.simulation.stepping import step_flow
from modurob.spatial import inertia, quaternion, so3

G = 9.81


def thing(kind, size, I, file=""):
    b = mr.Builder("thing")
    b.body("b", I, parent="world", joint=mr.Free())
    b.collision(kind, size, on="b", file=file)
    return b.build()


def example(name):
    """A file of example-robot-data."""
    return next(Path(str(f.locate())).resolve() for f in files("example-robot-data") or [] if str(f).endswith(name))


# ---- height fields ----


def test_heights_in_between_are_bilinear(rng):
    """As SciPy has them, and the normal is that of the slopes."""
    from scipy.interpolate import RegularGridInterpolator

    heights = 0.1 * rng.normal(size=(5, 7))
    field = mr.HeightField(heights, x=2.0, y=3.0)
    judge = RegularGridInterpolator((np.linspace(-1, 1, 5), np.linspace(-1.5, 1.5, 7)), heights)
    p = np.concatenate(
        [rng.uniform(-1, 1, (50, 1)), rng.uniform(-1.5, 1.5, (50, 1)), rng.normal(size=(50, 1))], axis=-1
    )
    gap, n = field.gap(p)
    h, step = judge(p[:, :2]), 1e-7 * np.eye(2)
    slopes = np.stack([(judge(p[:, :2] * 0.999 + d) - judge(p[:, :2] * 0.999 - d)) / 2e-7 for d in step], axis=-1)
    there = field.gap(p * [0.999, 0.999, 1])[1]
    assert np.abs(gap - (p[:, 2] - h) * n[:, 2]).max() < 1e-12
    assert np.abs(-there[:, :2] / there[:, 2:] - slopes).max() < 1e-5


def test_a_field_that_is_a_plane_is_that_plane(rng):
    """A block comes to rest on it as on the plane, compiled; and on the edge the ground goes on level."""
    slope, size = 0.2, 4.0
    x = np.linspace(-size / 2, size / 2, 4)
    field = mr.HeightField(np.tan(slope) * x[:, None] * np.ones((1, 3)), x=size, y=size)
    m = thing("box", (0.1, 0.1, 0.1), inertia.box(1.0, (0.1, 0.1, 0.1)))
    runs = [mr.simulate(m, duration=0.4, ground=mr.Ground(surface=s), tick=0.1) for s in (field, mr.Plane(slope=slope))]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-8
    assert field.gap(np.array([9.0, 0.0, 1.0]))[0] == pytest.approx(1 - np.tan(slope) * size / 2)


def test_kernels_on_a_field_are_the_definition(rng):
    m, n = mr.load("crab").mechanism(floating=True), 9
    m = m.on_ground(mr.Ground(surface=mr.HeightField(0.05 * rng.normal(size=(3, 4)), x=1.0, y=1.0)))
    q = np.stack([m.random_configuration(rng) for _ in range(n)])
    q[:, :2], q[:, 2] = 0.4 * rng.normal(size=(n, 2)), rng.uniform(-0.05, 0.15, n)
    nx = acting(m).nx
    flow = step_flow(mr.LinearlyImplicit(2e-3), nx, False)
    inputs = {"t": np.zeros((n, 1)), "dt": np.full((n, 1), 2e-3), "q": q, "v": rng.normal(size=(n, m.nv))}
    inputs |= {"x": 1e-3 * rng.normal(size=(n, nx)), "u": rng.normal(size=(n, m.nv))}
    plain, compiled = interpret(flow, m, inputs), kernels.repeated(flow, m, inputs, 1)
    for name in "qvx":
        scale = np.abs(plain.results[name]).max()
        assert np.abs(plain.results[name] - compiled.results[name]).max() < 1e-10 * scale


def test_recordings_on_a_field_can_be_repeated(tmp_path):
    m = thing("sphere", (0.05,), inertia.sphere(1.0, 0.05))
    run = mr.simulate(m, duration=0.1, ground=mr.Ground(surface=mr.HeightField([[0.0, 0.1], [0.1, 0.3]], x=1.0, y=2.0)))
    run.save(tmp_path / "roll.mrun")
    loaded = mr.Recording.load(tmp_path / "roll.mrun")
    assert loaded.robot == run.robot
    assert np.array_equal(loaded.repeated().q, run.q)


# ---- hulls of meshes ----


@pytest.mark.parametrize("heading", [0.0, 2.0])
@pytest.mark.parametrize("slope", [0.0, 0.3, 1.4])
def test_robots_stand_on_steep_slopes_level_or_tilted(slope, heading):
    """Level, one edge or corner of a box touches; tilted, its whole face does, whatever way it looked."""
    size = (0.2, 0.1, 0.05)
    m = thing("box", size, inertia.box(1.0, size)).on_ground(mr.Ground(surface=mr.Plane(slope, heading)))
    q = np.array([0.4, -0.3, 0.0, np.cos(0.4), 0.0, 0.0, np.sin(0.4)])
    level, tilted = m.standing(q), m.standing(q, gap=0.01, tilted=True)
    np.testing.assert_array_equal(level[3:], q[3:])
    np.testing.assert_array_equal(tilted[:2], q[:2])
    # moves end below 1e-12 m
    assert gaps(m, level).min() == pytest.approx(0.0, abs=1e-11)
    lowest, highest = np.sort(gaps(m, tilted)).reshape(2, 4)
    np.testing.assert_allclose(lowest, 0.01, atol=1e-11)
    np.testing.assert_allclose(highest, 0.06, atol=1e-11)
    # the turn is about a level axis, by the slope
    turned = quaternion.multiply(tilted[3:], quaternion.conjugate(q[3:]))
    assert turned[3] == pytest.approx(0.0, abs=1e-12)
    assert 2 * np.arccos(min(1.0, turned[0])) == pytest.approx(slope, abs=1e-7)
    several = m.standing(np.stack([q, q]), tilted=True)
    np.testing.assert_array_equal(several[0], several[1])


def test_a_robot_of_meshes_stands_on_its_hulls():
    """With the deepest vertex of the hulls at the ground, to what leaving out all but 64 of them costs."""
    m = mr.Mechanism.from_urdf(example("solo12.urdf"), floating=True).on_ground()
    hulls = [row.force.shape for row in m.contacts if isinstance(row.force.shape, Vertices)]
    assert hulls
    assert max(shape.count for shape in hulls) <= MOST_VERTICES
    q = m.standing()
    assert gaps(m, q).min() == pytest.approx(0.0, abs=1e-9)
    points = [(row.frame, np.array(shape.numbers).reshape(-1, 3)) for row, shape in zip(m.contacts, hulls, strict=True)]
    X = m.forward_kinematics(q).bodies
    lowest = [(X[f.body] @ f.X @ np.append(p, np.ones((len(p), 1)), axis=-1).T)[2].min() for f, p in points]
    assert min(lowest) == pytest.approx(0.0, abs=1e-9)
    # all vertices of the files, not only those that are kept
    files = [np.array(_triangles(s.file, s.size).vertices()) for s in m.collisions]
    places = [X[s.frame.body] @ s.in_body for s in m.collisions]
    whole = min((P[:3, :3] @ p.T)[2].min() + P[2, 3] for P, p in zip(places, files, strict=True))
    assert -1e-3 < whole <= min(lowest) + 1e-9


def test_a_tetrahedron_of_a_mesh_comes_to_rest_on_its_face(tmp_path):
    """Its hull has four vertices; three of them are on the ground in the end."""
    corners = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) * 0.05
    faces = [(0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2)]
    text = ["solid t"]
    for face in faces:
        text += ["facet normal 0 0 0", "outer loop", *("vertex {} {} {}".format(*corners[i]) for i in face)]
        text += ["endloop", "endfacet"]
    (tmp_path / "t.stl").write_text("\n".join([*text, "endsolid t", ""]))
    m = thing("mesh", (1.0, 1.0, 1.0), inertia.sphere(1.0, 0.05), str(tmp_path / "t.stl")).on_ground()
    assert [row.force.shape.count for row in m.contacts] == [4]
    q = m.neutral()
    q[4] = 0.3
    run = mr.simulate(m, m.standing(q, gap=0.02), duration=3.0, tick=0.5)
    resting = np.sort(gaps(m, run.q[-1]))
    assert np.abs(resting[:3]).max() < 1e-3
    assert resting[3] == pytest.approx(0.1 * 2 / np.sqrt(3), rel=0.01)


def test_meshes_that_are_missing_are_named(tmp_path):
    m = thing("mesh", (1.0, 1.0, 1.0), inertia.sphere(1.0, 0.05), str(tmp_path / "none.stl"))
    for make in (m.on_ground, lambda: mr.simulate(m, duration=0.1, ground=mr.Ground())):
        with pytest.raises(FormatError, match=r"no mesh .*none\.stl"):
            make()
    (tmp_path / "bad.stl").write_text("no triangles")
    with pytest.raises((FormatError, InputError), match=r"bad\.stl"):
        thing("mesh", (1.0, 1.0, 1.0), inertia.sphere(1.0, 0.05), str(tmp_path / "bad.stl")).on_ground()


# ---- closed forms ----


def test_a_disc_spins_down():
    """With mu m g R / I = 2 mu g / R times what its rim carries, eight points of nine, the other in the middle; and it never gains
    energy."""
    R, rate, mu = 0.1, 20.0, 0.3
    slower = 8 / 9 * 2 * mu * G / R
    m = thing("cylinder", (R, 0.02), inertia.cylinder(1.0, R, 0.02)).on_ground(mr.Ground(friction=mu))
    stops = rate / slower
    run = mr.simulate(m, m.standing(), [0, 0, 0, 0, 0, rate], duration=0.5)
    half = np.flatnonzero(run.t >= stops / 2)[0]
    assert run.v[half, 5] == pytest.approx(rate - slower * run.t[half], rel=0.02)
    assert np.abs(run.v[run.t > 1.05 * stops]).max() < 1e-2
    assert np.abs(run.v[-1]).max() < 1e-6
    E = run.robot.kinetic_energy(run.q, run.v) + run.robot.potential_energy(run.q)
    E = E + stored_energy(run.robot, run.q, run.x, kernels.run)
    assert np.diff(E).max() < 1e-4 * E[0]


def test_a_flight_between_impacts_is_poinsots():
    """Angular momentum in world axes and the energy stay from one impact to the next, of a block that tumbles and bounces."""
    edges = (0.06, 0.1, 0.16)
    m = thing("box", edges, inertia.box(1.0, edges)).on_ground(mr.Ground(restitution=0.6, friction=0.4))
    turn = so3.about(np.array([1.0, 0.0, 0.0]), np.array(0.7))
    q = np.concatenate([[0, 0, 0.5], mr.spatial.quaternion.from_matrix(turn)])
    run = mr.simulate(m, q, [0.3, 0, 0, 2.0, 6.0, -3.0], duration=1.5, stepper=mr.LinearlyImplicit(2.5e-4))
    L = run.robot.momentum(run.q, run.v)[:, 3:] - np.cross(run.q[:, :3], run.robot.momentum(run.q, run.v)[:, :3])
    E = run.robot.kinetic_energy(run.q, run.v) + run.robot.potential_energy(run.q)
    flying = (gaps(m, run.q) > 2e-3).all(axis=-1)
    ends = np.flatnonzero(np.diff(flying.astype(int)))
    flights = [
        (a + 1, b) for a, b in zip([-1, *ends], [*ends, len(E) - 1], strict=True) if flying[a + 1] and b - a > 200
    ]
    assert len(flights) >= 2
    for a, b in flights:
        assert np.abs(L[a:b] - L[a]).max() < 2e-3 * np.linalg.norm(L[a])
        assert np.abs(E[a:b] - E[a]).max() < 1e-3 * (E[a] - E.min())


# ---- what is refused ----


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: mr.HeightField([1.0, 2.0], 1.0, 1.0), "expected rows of heights, 2 x 2 to 20 x 20"),
        (lambda: mr.HeightField([[0.0, 1.0], [2.0]], 1.0, 1.0), "expected rows of equally many numbers"),
        (lambda: mr.HeightField(np.zeros((30, 30)), 1.0, 1.0), "expected rows of heights, 2 x 2 to 20 x 20"),
        (lambda: mr.HeightField([[0.0, np.nan], [0.0, 0.0]], 1.0, 1.0), "height 1 is nan: expected a finite number"),
        (lambda: mr.HeightField([[0.0, 0.0], [0.0, 0.0]], 0.0, 1.0), "x 0.0: expected more than zero"),
    ],
)
def test_bad_fields_are_refused(make, says):
    with pytest.raises(InputError, match=says):
        make()


def test_ice_is_no_error():
    """Without friction a block keeps its speed."""
    m = thing("box", (0.1, 0.1, 0.1), inertia.box(1.0, (0.1, 0.1, 0.1)))
    run = mr.simulate(m, v0=[1.0, 0, 0, 0, 0, 0], duration=0.5, ground=mr.Ground(friction=0.0))
    assert run.q[-1, 0] == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize(("name", "within"), [("crab", 1e-10), ("wheel", 1e-5)])
def test_organisms_on_ice_keep_their_momentum(name, within):
    """Whatever their joints do: linear momentum along the ground to rounding (where they close a loop, to what closing it again
    after each step moves), and the centre of mass where it was, to what a step of second order leaves."""
    robot = mr.walking_robot(name).robot()
    gait = mr.gait(name, amplitude=0.8 if name == "crab" else 0.25, frequency=1.0)
    m = mr.driven(robot, gait).on_ground(mr.Ground(friction=0.0))
    run = mr.simulate(m, m.standing(gait.on(robot)(0.0)[0]), duration=5.0, tick=0.02)
    P, c = m.momentum(run.q, run.v), m.centre_of_mass(run.q)
    assert np.abs(run.v).max() > 0.5
    assert np.abs(P[:, :2]).max() < within
    assert np.abs(c - c[0])[:, :2].max() < 2e-3


def test_steps_that_are_far_too_long_end_with_words():
    """A run with steps of a second over the ground has a status, whatever happens in it."""
    m = thing("box", (0.1, 0.1, 0.1), inertia.box(1.0, (0.1, 0.1, 0.1))).on_ground()
    run = mr.simulate(
        m, m.standing(gap=3.0), [0, 0, -50.0, 300.0, 200.0, 100.0], 20.0, stepper=mr.LinearlyImplicit(1.0)
    )
    assert str(run.status)
    with pytest.raises(SimulationError, match="deep in the ground"):
        mr.simulate(m, m.standing(gap=-0.5), duration=0.1)


@pytest.mark.parametrize("rolling", [0.0, 0.01])
def test_a_hull_in_kernels_is_that_of_numpy(rolling, rng):
    """Vertices a few at a time, those left over one by one, or all at once where they roll."""
    box = thing("box", (0.2, 0.1, 0.05), inertia.box(1.0, (0.2, 0.1, 0.05))).on_ground(mr.Ground(rolling=rolling))
    (row,) = box.contacts
    hull = Vertices((*rng.uniform(-0.1, 0.1, 27).tolist(), 0.1, 0.0, 0.05))
    m = replace(box, forces=(row._replace(force=replace(row.force, shape=hull)),))
    q = np.stack([m.random_configuration(rng) for _ in range(9)])
    q[:, 2] = rng.uniform(-0.02, 0.05, 9)
    flow, nx = step_flow(mr.LinearlyImplicit(2e-3), acting(m).nx, False), acting(m).nx
    given = {"t": np.zeros((9, 1)), "dt": np.full((9, 1), 2e-3), "q": q, "v": rng.normal(size=(9, 6))}
    given |= {"x": 1e-3 * rng.normal(size=(9, nx)), "u": np.zeros((9, 6))}
    for states in (slice(0, 9), slice(0, 1)):
        some = {name: x[states] for name, x in given.items()}
        plain, compiled = interpret(flow, m, some).results, kernels.repeated(flow, m, some, 1).results
        for name in "qvx":
            assert np.abs(plain[name] - compiled[name]).max() <= 1e-10 * np.abs(plain[name]).max()
    assert nx == 20
