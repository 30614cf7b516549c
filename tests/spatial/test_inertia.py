import numpy as np
import pytest
import sympy

from modurob.errors import InertiaError
from modurob.spatial import inertia, se3, so3

# sums of a few dozen numbers of order one
CLOSE = 1e-13
SHAPES = [(), (3,), (2, 3)]


def nodes(low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights that integrate polynomials of degree seven exactly."""
    x, w = np.polynomial.legendre.leggauss(4)
    return (high + low) / 2 + (high - low) / 2 * x, (high - low) / 2 * w


def grid(*axes: tuple[np.ndarray, np.ndarray]) -> tuple[list[np.ndarray], np.ndarray]:
    """Coordinates and weights of a product rule, flat."""
    coordinates = [x.ravel() for x in np.meshgrid(*(a[0] for a in axes), indexing="ij")]
    weights = [w.ravel() for w in np.meshgrid(*(a[1] for a in axes), indexing="ij")]
    return coordinates, np.prod(weights, axis=0)


# a whole turn: evenly spaced points integrate trigonometric polynomials exactly
TURN = (np.arange(8) * np.pi / 4, np.full(8, np.pi / 4))


def box_points() -> tuple[np.ndarray, np.ndarray]:
    (x, y, z), w = grid(nodes(-0.1, 0.1), nodes(-0.15, 0.15), nodes(-0.2, 0.2))
    return np.stack([x, y, z], axis=-1), w


def cylinder_points() -> tuple[np.ndarray, np.ndarray]:
    (r, phi, z), w = grid(nodes(0, 0.3), TURN, nodes(-0.25, 0.25))
    return np.stack([r * np.cos(phi), r * np.sin(phi), z], axis=-1), w * r


def sphere_points() -> tuple[np.ndarray, np.ndarray]:
    (r, phi, u), w = grid(nodes(0, 0.4), TURN, nodes(-1, 1))
    s = np.sqrt(1 - u * u)
    return np.stack([r * s * np.cos(phi), r * s * np.sin(phi), r * u], axis=-1), w * r * r


@pytest.mark.parametrize(
    ("solid", "points"),
    [
        (inertia.box(3.0, (0.2, 0.3, 0.4)), box_points()),
        (inertia.cylinder(3.0, 0.3, 0.5), cylinder_points()),
        (inertia.sphere(3.0, 0.4), sphere_points()),
    ],
    ids=["box", "cylinder", "sphere"],
)
def test_solids_are_the_integral_of_their_points(solid: np.ndarray, points: tuple[np.ndarray, np.ndarray]):
    p, w = points
    masses = 3.0 * w / w.sum()
    assert solid == pytest.approx(inertia.spatial_inertia(masses, p, np.zeros((3, 3))).sum(axis=0), abs=CLOSE)


@pytest.mark.parametrize(
    ("solid", "moments"),
    [
        (inertia.box(12.0, (0.2, 0.3, 0.4)), (0.25, 0.20, 0.13)),
        (inertia.cylinder(12.0, 0.2, 0.3), (0.21, 0.21, 0.24)),
        (inertia.sphere(10.0, 0.5), (1.0, 1.0, 1.0)),
        (inertia.point(5.0, (0, 0, 0)), (0.0, 0.0, 0.0)),
    ],
    ids=["box", "cylinder", "sphere", "point"],
)
def test_moments_by_hand(solid: np.ndarray, moments: tuple[float, ...]):
    assert inertia.tensor(solid) == pytest.approx(np.diag(moments), abs=CLOSE)
    assert np.array_equal(inertia.centre(solid), np.zeros(3))


def test_point_mass_by_hand():
    spatial = inertia.point(2.0, (1.0, 2.0, 3.0))
    assert spatial[3:, 3:] == pytest.approx(2 * np.array([[13, -2, -3], [-2, 10, -6], [-3, -6, 5]]), abs=CLOSE)
    assert np.array_equal(spatial[3:, :3], 2 * so3.skew([1, 2, 3]))
    assert np.array_equal(inertia.tensor(spatial), np.zeros((3, 3)))


@pytest.mark.parametrize("shape", SHAPES)
def test_parts_are_given_back(rng: np.random.Generator, shape: tuple[int, ...]):
    mass, centre = rng.uniform(1, 2, size=shape), rng.normal(size=(*shape, 3))
    A = rng.normal(size=(*shape, 3, 3))
    tensor = A @ np.swapaxes(A, -1, -2)
    spatial = inertia.spatial_inertia(mass, centre, tensor)
    assert spatial.shape == (*shape, 6, 6)
    assert np.array_equal(inertia.mass(spatial), mass)
    assert inertia.centre(spatial) == pytest.approx(centre, abs=CLOSE)
    assert inertia.tensor(spatial) == pytest.approx(tensor, abs=CLOSE)
    assert np.array_equal(spatial, np.swapaxes(spatial, -1, -2))


def test_spatial_inertia_broadcasts(rng: np.random.Generator):
    centres = rng.normal(size=(5, 3))
    together = inertia.spatial_inertia(2.0, centres, np.eye(3))
    assert np.array_equal(together[3], inertia.spatial_inertia(2.0, centres[3], np.eye(3)))


def test_centre_of_a_massless_body_is_the_origin():
    assert np.array_equal(inertia.centre(np.zeros((6, 6))), np.zeros(3))


@pytest.mark.parametrize("shape", SHAPES)
def test_moved_is_steiner_then_turn(rng: np.random.Generator, shape: tuple[int, ...]):
    spatial, X = inertia.random(rng), se3.random(rng, shape)
    R, m, c = se3.rotation(X), inertia.mass(spatial), inertia.centre(spatial)
    moved = inertia.moved(spatial, X)
    # the centre moves as a point, the tensor about it turns, and its shift to the origin is m (r.r 1 - r r^T)
    r = (R @ c[:, None])[..., 0] + se3.position(X)
    about_centre = R @ inertia.tensor(spatial) @ np.swapaxes(R, -1, -2)
    steiner = m * ((r * r).sum(axis=-1)[..., None, None] * np.eye(3) - r[..., :, None] * r[..., None, :])
    assert inertia.mass(moved) == pytest.approx(np.full(shape, m), abs=CLOSE)
    assert inertia.centre(moved) == pytest.approx(r, abs=CLOSE)
    assert inertia.tensor(moved) == pytest.approx(about_centre, abs=CLOSE)
    assert moved[..., 3:, 3:] == pytest.approx(about_centre + steiner, abs=10 * CLOSE)


def test_moves_concatenate(rng: np.random.Generator):
    spatial, X_AB, X_BC = inertia.random(rng), *se3.random(rng, (2,))
    assert inertia.moved(inertia.moved(spatial, X_BC), X_AB) == pytest.approx(
        inertia.moved(spatial, X_AB @ X_BC), abs=10 * CLOSE
    )


def test_kinetic_energy_does_not_depend_on_the_frame(rng: np.random.Generator):
    spatial, X_AB, V_B = inertia.random(rng), se3.random(rng), rng.normal(size=6)
    V_A = se3.Ad(X_AB) @ V_B
    assert V_A @ inertia.moved(spatial, X_AB) @ V_A == pytest.approx(V_B @ spatial @ V_B, rel=CLOSE, abs=0)


def test_kinetic_energy_is_that_of_the_points(rng: np.random.Generator):
    masses, points, (v, w) = rng.uniform(1, 2, size=5), rng.normal(size=(5, 3)), rng.normal(size=(2, 3))
    spatial = sum(inertia.point(m, p) for m, p in zip(masses, points, strict=True))
    V = np.concatenate([v, w])
    speeds = v + np.cross(w, points)
    assert V @ spatial @ V == pytest.approx(masses @ (speeds * speeds).sum(axis=-1), rel=CLOSE, abs=0)


@pytest.mark.parametrize("shape", SHAPES)
def test_parameters_round_trip(rng: np.random.Generator, shape: tuple[int, ...]):
    p = rng.normal(size=(*shape, 10))
    assert np.array_equal(inertia.parameters(inertia.from_parameters(p)), p)
    spatial = inertia.random(rng)
    assert inertia.from_parameters(inertia.parameters(spatial)) == pytest.approx(spatial, abs=CLOSE)


def test_parameters_say_what_they_are():
    spatial = inertia.point(2.0, (1.0, 2.0, 3.0))
    assert inertia.parameters(spatial) == pytest.approx(np.array([2, 2, 4, 6, 26, -4, 20, -6, -12, 10]), abs=CLOSE)


def body(mass: float, *moments: float) -> np.ndarray:
    return inertia.spatial_inertia(mass, (0.1, -0.2, 0.3), np.diag(moments))


def spoilt(row: int, column: int, by: float) -> np.ndarray:
    spatial = body(1, 1, 1, 1)
    spatial[row, column] += by
    return spatial


@pytest.mark.parametrize(
    ("spatial", "complaint"),
    [
        (body(-1, 1, 1, 1), "mass -1 kg is negative"),
        (body(0, 1, 1, 1), "it has no mass but a moment of inertia"),
        (body(1, -0.5, 1, 1), "principal moment -0.5 kg m² is negative"),
        (body(1, 1, 1, 2.1), "principal moments (1, 1, 2.1) kg m² break the triangle inequality"),
        (body(np.nan, 1, 1, 1), "it is not finite"),
        (body(1, np.inf, 1, 1), "it is not finite"),
        (spoilt(0, 1, 0.5), "it is not of the form"),
        (spoilt(1, 1, 0.5), "it is not of the form"),
        (spoilt(3, 4, 0.5), "it is not of the form"),
        (spoilt(0, 3, 0.5), "it is not of the form"),
    ],
)
def test_what_no_body_has_is_complained_about(spatial: np.ndarray, complaint: str):
    (found,) = inertia.complaints(spatial)
    assert found.startswith(complaint)
    with pytest.raises(InertiaError) as raised:
        inertia.checked(spatial, "part 'm3/A'")
    assert str(raised.value).startswith(f"part 'm3/A': {complaint}")
    assert "expected mass >= 0" in str(raised.value)


def test_several_complaints_are_listed():
    assert len(inertia.complaints(body(-1, -1, 1, 1))) == 2


@pytest.mark.parametrize(
    "spatial",
    [
        body(1, 1, 1, 1),
        body(1, 1, 1, 2),
        body(1, 1, 1, 2 + 1e-7),
        body(1, 0, 1, 1),
        np.zeros((6, 6)),
        inertia.point(1, (1, 2, 3)),
        inertia.box(3, (1e-4, 2e-4, 3e-4)),
        inertia.cylinder(1, 1e-6, 1),
        inertia.random(np.random.default_rng(1)) + 1e-30j,
        inertia.spatial_inertia(sympy.Symbol("m"), np.zeros(3), np.eye(3)),
    ],
    ids=["body", "disc", "rounded disc", "rod", "nothing", "point", "small", "thin", "complex", "symbolic"],
)
def test_bodies_pass(spatial: np.ndarray):
    assert inertia.complaints(spatial) == []
    assert inertia.checked(spatial, "here") is spatial


def test_random_inertias_are_those_of_bodies(rng: np.random.Generator):
    for _ in range(20):
        spatial = inertia.random(rng)
        assert inertia.complaints(spatial) == []
        assert np.linalg.eigvalsh(spatial)[0] > 0


def test_points_anywhere_are_bodies(rng: np.random.Generator):
    for _ in range(50):
        assert inertia.complaints(inertia.point(rng.uniform(0.1, 3), rng.normal(size=3))) == []


def test_symbols_pass_through():
    m, x = sympy.symbols("m x")
    spatial = inertia.moved(inertia.point(m, (x, 0, 0)), se3.pose(so3.about([0, 0, 1.0], 0.3), [0.1, 0.2, 0]))
    numbers = np.array(sympy.Matrix(spatial).subs({m: 2.0, x: 0.5}).tolist(), dtype=float)
    expected = inertia.moved(inertia.point(2.0, (0.5, 0, 0)), se3.pose(so3.about([0, 0, 1.0], 0.3), [0.1, 0.2, 0]))
    assert numbers == pytest.approx(expected, abs=CLOSE)
