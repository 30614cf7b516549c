"""Reach maps against what is known of the planar arm and of the LWA 4P."""

import matplotlib as mpl
import numpy as np
import pytest

import modurob as mr
from modurob.errors import InputError

mpl.use("Agg")
PLANAR = mr.Mechanism.from_dh([(1.0, 0, 0), (0.8, 0, 0)])


@pytest.fixture(scope="module")
def lwa4p() -> mr.Mechanism:
    return mr.load("lwa4p").robot()


def test_the_planar_arm_reaches_a_ring():
    """von Stryk 3.2.1: |l1 - l2| <= r <= l1 + l2; volume of the cells is its area times the height of a cell."""
    found = PLANAR.reach_map("tip", samples=1 << 16, cell=0.04)
    assert found.count.sum() == found.samples == 1 << 16
    assert found.volume / found.cell == pytest.approx(np.pi * (1.8**2 - 0.2**2), rel=0.06)
    radius = np.array([0.1, 0.3, 1.0, 1.7, 1.9])
    points = np.stack([radius * np.cos(0.7), radius * np.sin(0.7), 0 * radius], axis=-1)
    assert found.reached(points).tolist() == [False, True, True, True, False]
    # all of it is seen from one direction only
    assert set(np.unique(found.dexterity)) == {0.0, 1 / 64}


def test_manipulability_is_the_best_in_each_cell():
    """0.8 |sin q2| at the distance r, the same for both elbows."""
    found = PLANAR.reach_map("tip", samples=1 << 16, cell=0.05, rows="x y")
    nx, ny = found.count.shape[:2]
    x, y = (found.lower[k] + found.cell * (np.arange(n) + 0.5) for k, n in ((0, nx), (1, ny)))
    r = np.hypot(*np.meshgrid(x, y, indexing="ij"))
    cosine = (r**2 - 1 - 0.64) / 1.6
    inner = (r > 0.4) & (r < 1.6) & (found.count[..., 0] > 5)
    expected = 0.8 * np.sqrt(1 - cosine[inner] ** 2)
    assert found.manipulability[..., 0][inner] == pytest.approx(expected, abs=0.06)


def test_extent_of_the_lwa4p(lwa4p):
    """From the shoulder 0.655 m down to 0.0726 m, where q3 is at 170 degrees."""
    shoulder = np.array([0, 0, 0.205])
    distance = np.concatenate(
        [
            np.linalg.norm(lwa4p.frame_pose(q, "wrist/centre")[:, :3, 3] - shoulder, axis=1)
            for q in mr.kinematics.reach.configurations(lwa4p, "wrist/centre", 1 << 15, seed=0)
        ]
    )
    assert distance.max() == pytest.approx(0.655, abs=1e-6)
    assert distance.min() == pytest.approx(0.0726, abs=1e-4)
    found = lwa4p.reach_map("wrist/centre", samples=1 << 16)
    assert found.reached([[0.9, 0.6, 0.3], [0.3, 0.3, 0.3]]).tolist() == [False, True]
    assert found.volume == pytest.approx(4 / 3 * np.pi * 0.655**3, rel=0.3)  # cells on the boundary count whole


def test_dexterity_grows_with_joints(lwa4p):
    whole = lwa4p.reach_map("wrist/out", samples=1 << 16)
    stiff = lwa4p.locked(["wrist/pan", "elbow/tilt"]).reach_map("wrist/out", samples=1 << 16)
    mean = [x.dexterity[x.count > 50].mean() for x in (whole, stiff)]
    assert mean[0] > 1.5 * mean[1]


def test_a_map_is_the_same_for_the_same_seed():
    one, two, other = (PLANAR.reach_map("tip", samples=256, seed=s) for s in (1, 1, 2))
    assert np.array_equal(one.count, two.count)
    assert not np.array_equal(one.count, other.count)


def test_joints_before_the_frame_alone_are_moved(rng: np.random.Generator):
    crab = mr.load("crab").mechanism()
    for q in mr.kinematics.reach.configurations(crab, "m3", 64, seed=0):
        assert q.shape == (64, 3)
        assert np.all(q[:, 2] == 0)
        assert np.all(np.abs(q[:, :2]) <= np.pi / 2)
        assert np.ptp(q[:, :2], axis=0).min() > 2


def test_slices_and_pictures(tmp_path, lwa4p):
    found = lwa4p.reach_map("wrist/centre", samples=4096)
    for axis, what in (("x", "count"), ("y", "dexterity"), ("z", "manipulability")):
        path = tmp_path / f"{axis}.png"
        ax = found.plot(path, axis=axis, at=0.3, what=what)
        assert path.read_bytes().startswith(b"\x89PNG")
        assert ax.get_xlabel() == ("y [m]" if axis == "x" else "x [m]")
    assert found.slice("x", 0.0).shape == found.count.shape[1:]
    middles = found.lower[2] + found.cell * (np.arange(found.count.shape[2]) + 0.5)
    assert sum(found.slice("z", z).sum() for z in middles) == found.samples


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: PLANAR.reach_map("tip", samples=0), "samples 0: expected a whole number"),
        (lambda: PLANAR.reach_map("tip", samples=10, cell=-1), "cell -1: expected an edge"),
        (lambda: PLANAR.reach_map("tip", samples=10, cell=1e-9), "expected at most 20000000, so larger cells"),
        (lambda: PLANAR.reach_map("base", samples=10), "no joint moves frame 'base'"),
        (lambda: PLANAR.reach_map("tipp", samples=10), "no frame 'tipp'"),
        (
            lambda: mr.load("crab").mechanism(floating=True).reach_map("m3", samples=8),
            r"joint 'floating_base' \(free\)",
        ),
        (lambda: mr.Assembly.from_grid("B B\nB B").mechanism().reach_map("m3", samples=8), "has loops"),
        (lambda: PLANAR.reach_map("tip", samples=8).slice("w"), "axis 'w': valid: x, y, z"),
        (lambda: PLANAR.reach_map("tip", samples=8).slice("x", 5.0), "x = 5 m is outside the map"),
        (lambda: PLANAR.reach_map("tip", samples=8).slice("z", 0.0, "cost"), "no quantity 'cost'"),
    ],
)
def test_what_is_refused(call, words: str):
    with pytest.raises(InputError, match=words):
        call()
