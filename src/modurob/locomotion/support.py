"""Does it tip over? Contact forces, the point where they act together, and the polygon they can act in (von Stryk 5.9.1).

The ground is the plane through `origin` with the upward `normal`, in world axes; z = 0 by default.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob import algorithms
from modurob.errors import InputError, explained
from modurob.locomotion.numbers import numbers, one_positive
from modurob.motion.checks import require_robot
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array, dot

UP, ORIGIN = (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
# step of complex derivatives; cross products below this, relative to the size of the polygon squared, are straight
STEP, STRAIGHT = 1e-30, 1e-12


class Wrench(NamedTuple):
    """Force (..., 3) [N] and moment about the world origin (..., 3) [N m], in world axes."""

    force: Array
    moment: Array


@explained
def ground_wrench(robot: Mechanism, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> Wrench:
    """The wrench that the ground has to exert for a motion: the rate of the robot's momentum minus its weight, whatever
    its contacts are.

    f = dp/dt - m g, n = dL/dt - c x m g about the world origin (von Stryk (5.25)).

    >>> mr.locomotion.ground_wrench(robot, q, np.zeros(3), np.zeros(3)).force.round(3) + 0.0
    array([ 0.   ,  0.   , 49.05])
    """
    robot = require_robot(robot, "ground_wrench", InputError)
    q, v, vdot = robot._q(q), robot._v(v), robot._v(vdot, "vdot")
    shape = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], vdot.shape[:-1])
    q, v, vdot = (np.broadcast_to(x, (*shape, x.shape[-1])) for x in (q, v, vdot))
    there = algorithms.integrate(robot, q, 1j * STEP * v)
    h = np.imag(algorithms.momentum(robot, there, v + 1j * STEP * vdot)) / STEP
    weight = algorithms.total_mass(robot) * robot.gravity
    return Wrench(h[..., :3] - weight, h[..., 3:] - np.cross(algorithms.centre_of_mass(robot, q), weight))


@explained
def zero_moment_point(
    robot: Mechanism, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, origin: ArrayLike = ORIGIN, normal: ArrayLike = UP
) -> Array:
    """The point of the ground at which the moment of the ground reaction has no component along the ground, (..., 3)
    [m] in world axes.

    p = o + n x N_o / (n . f), f and N_o the wrench of the ground about a point o of it (von Stryk 5.9.1; Vukobratović).
    At rest it is below the centre of mass. If the ground would have to pull, there is no such point of support:
    infinite.

    >>> crab = mr.load("crab").mechanism(floating=True)
    >>> still = np.zeros(crab.nv)
    >>> p = mr.zero_moment_point(crab, crab.neutral(), still, still)
    >>> bool(np.abs(p - crab.centre_of_mass(crab.neutral()) * [1, 1, 0]).max() < 1e-12)
    True
    """
    return point_of_wrench(ground_wrench(robot, q, v, vdot), origin, normal)


@explained
def point_of_wrench(wrench: Wrench, origin: ArrayLike = ORIGIN, normal: ArrayLike = UP) -> Array:
    """Where a wrench acts on the ground without a moment along it, (..., 3) [m]; infinite where it does not push.

    >>> mr.locomotion.point_of_wrench(mr.locomotion.Wrench(np.array([0, 0, 10.0]), np.array([2.0, -1.0, 0.0])))
    array([0.1, 0.2, 0. ])
    """
    o, n = numbers(origin, "origin", 3), _unit(normal)
    f, moment = (numbers(x, "wrench", 3) for x in wrench)
    push = dot(f, n)[..., None]
    at = o + np.cross(n, moment - np.cross(o, f)) / np.where(push > 0, push, np.nan)
    return np.where(push > 0, at, np.inf)


@explained
def centre_of_pressure(points: ArrayLike, forces: ArrayLike, normal: ArrayLike = UP) -> Array:
    """sum p_i f_i / sum f_i of contact points (..., k, 3) [m] and their forces, f_i along the normal, (..., 3) (von
    Stryk 5.9.1).

    Forces are (..., k, 3) in world axes, or (..., k) along the normal [N]; they must not pull. On flat ground it is the
    zero-moment point.

    >>> feet = [[0, 0, 0], [0.2, 0, 0], [0.2, 0.1, 0], [0, 0.1, 0]]
    >>> mr.centre_of_pressure(feet, [100, 200, 300, 150]).round(5)
    array([0.13333, 0.06   , 0.     ])
    """
    p, f = numbers(points, "points", 3), numbers(forces, "forces")
    if p.ndim < 2:
        raise InputError(f"points has shape {p.shape}: expected (..., k, 3), one for each contact")
    push = dot(f, _unit(normal)) if f.shape[-1:] == (3,) and f.ndim == p.ndim else f
    if push.shape[-1:] != p.shape[-2:-1]:
        raise InputError(f"forces has shape {f.shape}: expected (..., {p.shape[-2]}, 3), or (..., {p.shape[-2]})")
    if np.any(push < 0) or np.any(push.sum(axis=-1) <= 0):
        raise InputError(f"forces along the normal from {push.min():g} N: expected contacts that push, and do not pull")
    return (p * push[..., None]).sum(axis=-2) / push.sum(axis=-1)[..., None]


def _unit(normal: ArrayLike) -> Array:
    n = numbers(normal, "normal", 3)
    if not np.any(n):
        raise InputError("normal (0, 0, 0): expected a direction, upwards")
    return n / np.linalg.norm(n)


# ---- polygon ----


def _seen_from_above(point: ArrayLike) -> Array:
    """x and y of points, (..., 2)."""
    p = numbers(point, "point")
    if p.shape[-1:] not in ((2,), (3,)):
        raise InputError(f"point has shape {p.shape}: expected (..., 2) or (..., 3)")
    return p[..., :2]


@explained
def support_polygon(points: ArrayLike) -> Array:
    """Corners of the convex hull of contact points, seen from above, (k, 2) [m], counter-clockwise, from (n, 2) or (n,
    3).

    One corner for one point, two for collinear points; points on edges are not corners.

    >>> mr.support_polygon([[0, 0, 0], [1, 0, 0], [0.5, 0.5, 0], [0, 1, 0], [0.5, 0, 0]])
    array([[0., 0.],
           [1., 0.],
           [0., 1.]])
    """
    p = numbers(points, "points")
    if p.ndim != 2 or p.shape[1] not in (2, 3) or not len(p):
        raise InputError(f"points has shape {p.shape}: expected (n, 2) or (n, 3), one or more")
    p = np.unique(p[:, :2], axis=0)
    flat = STRAIGHT * np.ptp(p, axis=0).max() ** 2
    lower, upper = _chain(p, flat), _chain(p[::-1], flat)
    return np.array([*lower[:-1], *upper[:-1]] if len(p) > 1 else p)


def _chain(p: Array, flat: float) -> list[Array]:
    """The hull from the first point to the last, on the right-hand side (Andrew)."""
    chain: list[Array] = []
    for x in p:
        while len(chain) > 1 and _area(chain[-2], chain[-1], x) <= flat:
            chain.pop()
        chain.append(x)
    return chain


def _area(a: Array, b: Array, c: Array) -> float:
    """Twice the area of a triangle, positive counter-clockwise."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


@explained
def stability_margin(polygon: ArrayLike, point: ArrayLike) -> Array:
    """The distance of a point (..., 2) or (..., 3) from the edge of a support polygon, negative outside of it, (...)
    [m].

    `polygon` is that of `support_polygon`, or the contact points themselves.

    For the zero-moment point: the robot starts to tip where the margin is zero. For the centre of mass: the static
    margin.

    >>> square = mr.support_polygon([[0, 0], [1, 0], [1, 1], [0, 1]])
    >>> mr.stability_margin(square, [[0.5, 0.4], [0.9, 0.5], [4.0, 5.0]]).round(9)
    array([ 0.4,  0.1, -5. ])
    """
    corners, p = support_polygon(polygon), _seen_from_above(point)[..., None, :]
    edges = np.roll(corners, -1, axis=0) - corners
    length2 = np.maximum((edges**2).sum(-1), np.finfo(float).tiny)
    along = np.clip(((p - corners) * edges).sum(-1) / length2, 0.0, 1.0)
    distance = np.linalg.norm(p - corners - along[..., None] * edges, axis=-1).min(axis=-1)
    away = p - corners
    left = edges[:, 0] * away[..., 1] - edges[:, 1] * away[..., 0]
    inside = (left > 0).all(axis=-1) & (len(corners) > 2)
    return np.where(inside, distance, -distance)


@explained
def tipping_energy(points: ArrayLike, centre: ArrayLike, weight: float) -> float:
    """The least work that tips a robot at rest over an edge of its support, `weight` [N] at `centre` (3,) [J] (Messuri and Klein).

    For each edge of the polygon of contact points (n, 3), at one height, weight times how much the centre rises as it turns
    about the edge until it is above it; zero where it is not over the polygon.

    >>> feet = [[-0.3, -0.2, 0], [0.3, -0.2, 0], [0.3, 0.2, 0], [-0.3, 0.2, 0]]
    >>> round(mr.locomotion.tipping_energy(feet, [0, 0, 0.5], weight=100.0), 4)  # 100 (sqrt(0.5² + 0.2²) - 0.5)
    3.8516
    """
    p, c = numbers(points, "points", 3), numbers(centre, "centre", 3)
    corners = support_polygon(p)
    if stability_margin(corners, c) <= 0:
        return 0.0
    ahead = np.roll(corners, -1, axis=0) - corners
    ahead /= np.linalg.norm(ahead, axis=-1, keepdims=True)
    reach = ahead[:, 0] * (c[1] - corners[:, 1]) - ahead[:, 1] * (c[0] - corners[:, 0])
    height = c[2] - p[:, 2].mean()
    return float(one_positive(weight, "weight") * (np.hypot(reach, height) - height).min())
