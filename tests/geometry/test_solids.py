"""Solids against points drawn from them."""

import numpy as np
import pytest

from modurob.errors import InputError
from modurob.geometry import SOLIDS, Mesh, solid

SIZES = {"box": (0.2, 0.4, 0.6), "cylinder": (0.1, 0.5), "sphere": (0.3,), "capsule": (0.1, 0.5)}


def points(kind: str, size: tuple[float, ...], rng: np.random.Generator, n: int = 40_000) -> np.ndarray:
    """Points of a solid's surface, dense."""
    d = rng.normal(size=(n, 3))
    d /= np.linalg.norm(d, axis=-1, keepdims=True)
    if kind == "sphere":
        return size[0] * d
    if kind == "box":
        return np.sign(d) * np.array(size) / 2
    ends = np.sign(d[:, 2:]) * [0, 0, size[1] / 2]
    if kind == "capsule":
        return size[0] * d + ends
    round_ = np.concatenate([d[:, :2] / np.linalg.norm(d[:, :2], axis=-1, keepdims=True), 0 * d[:, 2:]], axis=-1)
    return size[0] * round_ + ends


@pytest.mark.parametrize("kind", SIZES)
def test_support_is_the_farthest_point(kind, rng):
    shape, cloud = solid(kind, SIZES[kind]), points(kind, SIZES[kind], rng)
    d = rng.normal(size=(20, 3))
    # a cloud of points misses the farthest by the angle between neighbours, squared
    np.testing.assert_allclose(shape.support(d), (cloud @ d.T).max(axis=0), rtol=2e-3)
    assert np.all(shape.support(d) >= (cloud @ d.T).max(axis=0) - 1e-12)
    assert np.linalg.norm(cloud, axis=-1).max() <= shape.radius + 1e-12
    np.testing.assert_allclose(np.abs(cloud).max(axis=0), shape.half_edges, rtol=2e-3)


def test_mesh_supports_with_its_points(rng):
    p = rng.normal(size=(50, 3))
    mesh, d = Mesh(1, 1, 1, "cloud.stl", p), rng.normal(size=(7, 3))
    np.testing.assert_allclose(mesh.support(d), (p @ d.T).max(axis=0))
    assert mesh.radius == np.linalg.norm(p, axis=-1).max()
    np.testing.assert_allclose(mesh.half_edges, np.abs(p).max(axis=0))


def test_bad_solids():
    with pytest.raises(InputError, match=r"box of size \(1.0,\): expected 3 numbers"):
        solid("box", (1.0,))
    with pytest.raises(InputError, match=r"no kind of shape 'ball'.*valid: box, cylinder, sphere, capsule, mesh"):
        solid("ball", (1.0,))
    with pytest.raises(InputError, match=r"'a.stl' has not been read"):
        solid("mesh", (1, 1, 1), "a.stl").support(np.ones(3))
    assert list(SOLIDS) == ["box", "cylinder", "sphere", "capsule", "mesh"]
