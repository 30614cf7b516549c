"""In which order solutions come: the first is the best."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from modurob.kinematics.collisions import CollisionModel, collision_model
from modurob.kinematics.inverse.axes import Chain, twists
from modurob.mechanism.tables import Tables
from modurob.registry import Registry
from modurob.spatial.scalars import Array


class Choice(NamedTuple):
    """What an order looks at: solutions q (m, k, n) of the joints of a chain, where they started, and limits."""

    chain: Chain
    at: tuple[int, ...]  # the coordinate of each joint, in the order of q
    q: Array
    near: Array  # (m, 1, n)
    lower: Array
    upper: Array
    robot: Tables
    whole: Array  # the solutions as configurations of the robot, (m, k, nq)


ORDERS: Registry[Any] = Registry("order of solutions")


@ORDERS.register("nearest")
def nearest(c: Choice) -> Array:
    """The squared distance from the start, slides over the size of the chain, (m, k)."""
    return (((c.q - c.near) * _weights(c)) ** 2).sum(axis=-1)


@ORDERS.register("limits")
def far_from_limits(c: Choice) -> Array:
    """How near the joint nearest to a limit is to it, one at the limit and zero in the middle, (m, k)."""
    middle, half = (c.lower + c.upper) / 2, (c.upper - c.lower) / 2
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(half), np.abs(c.q - middle) / half, 0.0).max(axis=-1)


@ORDERS.register("manipulability")
def manipulability(c: Choice) -> Array:
    """Minus the product of the singular values of the Jacobian, lengths over the size of the chain, (m, k) (Yoshikawa)."""
    place = {at: k for k, at in enumerate(c.at)}
    own = [k for k, at in enumerate(c.chain.at) if at >= 0]
    scaled = c.chain.scaled(1 / c.chain.size)
    q = np.zeros((*c.q.shape[:-1], len(c.chain.at)))
    for k in own:
        q[..., k] = c.q[..., place[c.chain.at[k]]] * (1.0 if scaled.axes[k].turns else 1 / c.chain.size)
    J = twists(scaled.axes, q)[1][..., own]
    return -np.prod(np.linalg.svd(J, compute_uv=False), axis=-1)


@ORDERS.register("collisions")
def far_from_collisions(c: Choice) -> Array:
    """Minus the distance of the shapes that are closest [m], below zero where they overlap, (m, k); needs the extra `collision`."""
    return -_shapes(c.robot).distance(c.whole)


@lru_cache(maxsize=64)
def _shapes(m: Tables) -> CollisionModel:
    return collision_model(m, None, (), True)


def _weights(c: Choice) -> Array:
    slides = {at: 1 / c.chain.size for a, at in zip(c.chain.axes, c.chain.at, strict=True) if not a.turns}
    return np.array([slides.get(at, 1.0) if at >= 0 else 0.0 for at in c.at])
