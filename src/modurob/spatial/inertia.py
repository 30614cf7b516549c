"""Spatial inertia: the 6x6 matrix [[m 1, -m [c]], [m [c], I_o]] that takes a body twist to its momentum.

`c` is the centre of mass, `I_o` the inertia tensor about the frame's origin (with negative products off the diagonal,
von Stryk 5.2).
"""

import numpy as np
from numpy.typing import ArrayLike

from modurob.errors import InertiaError
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array, as_array, is_numeric

# relative slack of the physical checks: data files carry about seven digits
SLACK = 1e-6
# what is left of a moment about the centre of mass when all of it cancels, relative to that about the origin
ROUNDING = 1e-12


def spatial_inertia(mass: ArrayLike, centre: ArrayLike, tensor: ArrayLike) -> Array:
    """From mass [kg], centre of mass [m] and inertia tensor about the centre of mass [kg m²], all in one frame."""
    mass, centre, tensor = as_array(mass), as_array(centre), as_array(tensor)
    m = mass[..., None, None]
    C = so3.skew(centre)
    shape = np.broadcast_shapes(m.shape, C.shape, tensor.shape)
    spatial = np.zeros((*shape[:-2], 6, 6), dtype=np.result_type(m, C, tensor))
    spatial[..., :3, :3] = m * np.eye(3)
    spatial[..., :3, 3:], spatial[..., 3:, :3] = -m * C, m * C
    spatial[..., 3:, 3:] = tensor - m * (C @ C)
    return spatial


def _require(what: str, mass: object, **lengths: object) -> None:
    """An error for words, nothing, and lengths below zero; symbols and arrays pass, and a mass that is taken away."""
    if mass is None or isinstance(mass, str):
        raise InertiaError(f"mass {mass!r:.60} of a {what}: expected a number [kg]")
    for name, x in lengths.items():
        if x is None or isinstance(x, str) or (isinstance(x, int | float | np.number) and not x >= 0):
            raise InertiaError(f"{name} {x!r:.60} of a {what}: expected a number, zero or more [m]")


def box(mass: float, size: ArrayLike) -> Array:
    """Homogeneous box with edges `size` along the axes, centred."""
    edges = as_array(size)
    if edges.shape != (3,):
        raise InertiaError(f"size {size!r:.60} of a box: expected its edges along the axes, (x, y, z) [m]")
    x, y, z = edges
    _require("box", mass, x=x, y=y, z=z)
    return spatial_inertia(mass, np.zeros(3), mass / 12 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y]))


def cylinder(mass: float, radius: float, length: float) -> Array:
    """Homogeneous cylinder along z, centred."""
    _require("cylinder", mass, radius=radius, length=length)
    across = mass * (3 * radius**2 + length**2) / 12
    return spatial_inertia(mass, np.zeros(3), np.diag([across, across, mass * radius**2 / 2]))


def sphere(mass: float, radius: float) -> Array:
    """Homogeneous sphere, centred."""
    _require("sphere", mass, radius=radius)
    return spatial_inertia(mass, np.zeros(3), 0.4 * mass * radius**2 * np.eye(3))


def point(mass: float, centre: ArrayLike) -> Array:
    """Point mass at `centre`."""
    return spatial_inertia(mass, centre, np.zeros((3, 3)))


def mirrored(M: Array) -> Array:
    """The symmetric matrix with the upper triangle of M."""
    return np.triu(M) + np.swapaxes(np.triu(M, 1), -1, -2)


def to_parent(X: Array, I: Array) -> Array:
    """Ad(X^-1)^T I Ad(X^-1): any symmetric 6x6 inertia taken from the frame of X to the frame X is given in.

    With the blocks [[A, B], [B^T, C]] turned by R, then shifted by p: A, B - A [p], C - B^T [p] + [p] (B - A [p]).
    """
    R, p = se3.rotation(X), so3.skew(se3.position(X))
    Rt = np.swapaxes(R, -1, -2)
    A, B, C = (R @ block @ Rt for block in (I[..., :3, :3], I[..., :3, 3:], I[..., 3:, 3:]))
    shifted = B - A @ p
    total = np.empty((*A.shape[:-2], 6, 6), dtype=np.result_type(A, shifted))
    total[..., :3, :3], total[..., :3, 3:] = A, shifted
    total[..., 3:, 3:] = C - np.swapaxes(B, -1, -2) @ p + p @ shifted
    total[..., 3:, :3] = np.swapaxes(shifted, -1, -2)
    return mirrored(total)


def moved(spatial: Array, X: Array) -> Array:
    """Inertia in frame A of a body known in frame B, X = X_AB: shift (Steiner) and turn in one (Gutenkunst (3.17a))."""
    A = se3.Ad_inverse(X)
    return np.swapaxes(A, -1, -2) @ spatial @ A


def mass(spatial: Array) -> Array:
    """Mass [kg]."""
    return spatial[..., 0, 0]


def centre(spatial: Array) -> Array:
    """Centre of mass [m]; the origin for a massless body."""
    m = mass(spatial)[..., None]
    first_moment = so3.vee(spatial[..., 3:, :3])
    return first_moment / np.where(m == 0, 1, m)


def tensor(spatial: Array) -> Array:
    """Inertia tensor about the centre of mass [kg m²]."""
    C = so3.skew(centre(spatial))
    return spatial[..., 3:, 3:] + mass(spatial)[..., None, None] * (C @ C)


def parameters(spatial: Array) -> Array:
    """The ten numbers (m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz), tensor about the origin: the inertia is linear in them."""
    T = spatial[..., 3:, 3:]
    entries = [T[..., i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]
    return np.concatenate(
        [mass(spatial)[..., None], so3.vee(spatial[..., 3:, :3]), np.stack(entries, axis=-1)], axis=-1
    )


def from_parameters(p: Array) -> Array:
    """The spatial inertia of ten `parameters`."""
    p = as_array(p)
    spatial = np.zeros((*p.shape[:-1], 6, 6), dtype=p.dtype)
    C = so3.skew(p[..., 1:4])
    spatial[..., :3, :3] = p[..., :1, None] * np.eye(3)
    spatial[..., :3, 3:], spatial[..., 3:, :3] = -C, C
    for k, (i, j) in enumerate(((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))):
        spatial[..., 3 + i, 3 + j] = spatial[..., 3 + j, 3 + i] = p[..., 4 + k]
    return spatial


def pseudo_inertia(p: Array) -> Array:
    """Sigma, (..., 4, 4), of the ten `parameters` of a body: [[tr(I_o)/2 1 - I_o, m c], [m c^T, m]], positive definite for every
    body that has volume (Wensing, Kim, Slotine 2018)."""
    xx, xy, yy, xz, yz, zz = np.moveaxis(p[..., 4:], -1, 0)
    m, x, y, z = np.moveaxis(p[..., :4], -1, 0)
    half = (xx + yy + zz) / 2
    rows = [[half - xx, -xy, -xz, x], [-xy, half - yy, -yz, y], [-xz, -yz, half - zz, z], [x, y, z, m]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def of_pseudo_inertia(P: Array) -> Array:
    """The ten `parameters`, (..., 10), of a pseudo-inertia (..., 4, 4)."""
    S = P[..., :3, :3]
    T = np.trace(S, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - S
    entries = [T[..., i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]
    return np.concatenate([P[..., 3, 3:], P[..., :3, 3], np.stack(entries, axis=-1)], axis=-1)


_SYMMETRIC = np.array([[0, 1, 3], [1, 2, 4], [3, 4, 5]])  # place of each entry of a tensor among its six numbers


def moved_parameters(X: Array, p: Array) -> Array:
    """The ten `parameters` of a body, given in the frame of X, in the frame X is given in: (m, R h + m p, ...), h = m c.

    The tensor about the new origin is R I_o R^T - [p][R h] - [R h][p] - m [p][p].
    """
    R, at = se3.rotation(X), se3.position(X)
    m, h = p[..., :1], (R @ p[..., 1:4, None])[..., 0]
    T = R @ p[..., 4:][..., _SYMMETRIC] @ np.swapaxes(R, -1, -2)
    P, H = so3.skew(at), so3.skew(h + m * at / 2)
    T = T - P @ H - H @ P
    six = np.stack([T[..., i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))], axis=-1)
    mass = np.broadcast_to(m, (*six.shape[:-1], 1))
    return np.concatenate([mass, h + m * at, six], axis=-1)


def momentum(p: Array, V: Array) -> Array:
    """I V of ten `parameters` and a twist, or I A of an acceleration, (..., 6): (m v + w x h, h x v + I_o w)."""
    m, h, T = p[..., :1], p[..., 1:4], p[..., 4:][..., _SYMMETRIC]
    v, w = V[..., :3], V[..., 3:]
    return np.concatenate([m * v + so3.cross(w, h), so3.cross(h, v) + (T @ w[..., None])[..., 0]], axis=-1)


def complaints(spatial: Array) -> list[str]:
    """What keeps this matrix from being the inertia of a rigid body; empty if nothing does, or if it is symbolic."""
    if not is_numeric(spatial):
        return []
    if not np.all(np.isfinite(spatial)):
        return ["it is not finite"]
    spatial = np.real(spatial)
    if np.abs(spatial - from_parameters(parameters(spatial))).max() > SLACK * np.abs(spatial).max():
        return ["it is not of the form [[m 1, -m [c]], [m [c], I_o]] with a symmetric I_o"]
    m = float(mass(spatial))
    moments = np.linalg.eigvalsh(tensor(spatial))
    scale = SLACK * np.abs(moments).max() + ROUNDING * np.abs(spatial[3:, 3:]).max()
    found = []
    if m < 0:
        found.append(f"mass {m:g} kg is negative")
    if m == 0 and np.abs(spatial).max() > 0:
        found.append("it has no mass but a moment of inertia")
    if moments[0] < -scale:
        found.append(f"principal moment {moments[0]:g} kg m² is negative")
    elif moments[2] > moments[0] + moments[1] + scale:
        listed = ", ".join(f"{x:g}" for x in moments)
        found.append(
            f"principal moments ({listed}) kg m² break the triangle inequality: the largest exceeds the sum of the others"
        )
    return found


def checked(spatial: Array, where: str) -> Array:
    """`spatial` itself, or an error that says what no rigid body has."""
    found = complaints(spatial)
    if found:
        raise InertiaError(
            f"{where}: {'; '.join(found)}; expected mass >= 0 and principal moments a <= b <= c with c <= a + b"
        )
    return spatial


def random(rng: np.random.Generator) -> Array:
    """A consistent inertia: that of a few random point masses about a random centre."""
    points = rng.normal(size=(8, 3)) * rng.uniform(0.1, 0.5, size=3)
    masses = rng.uniform(0.1, 1.0, size=8)
    return sum((point(m, p) for m, p in zip(masses, points, strict=True)), start=np.zeros((6, 6)))
