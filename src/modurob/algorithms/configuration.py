"""Configurations: points q of the manifold that a robot's joints span."""

import numpy as np

from modurob.algorithms.kinematics import together
from modurob.mechanism.tables import Joint, Tables
from modurob.spatial.scalars import Array


def _owners(m: Tables) -> list[Joint]:
    return [joint for joint in m.joints if not joint.mimics]


def neutral(m: Tables) -> Array:
    """The zero configuration: every joint at zero, quaternions at the identity, (nq,)."""
    return np.concatenate([np.zeros(0), *(j.type.neutral() for j in _owners(m))])


def random_configuration(m: Tables, rng: np.random.Generator) -> Array:
    """A configuration drawn uniformly within the joint limits, (nq,)."""
    return np.concatenate([np.zeros(0), *(j.type.random(rng, *j.limits) for j in _owners(m))])


def rate(m: Tables, q: Array, v: Array) -> Array:
    """dq/dt, (..., nq)."""
    q, v = together(q, v)
    rates = [j.type.rate(q[..., j.q_slice], v[..., j.v_slice]) for j in _owners(m)]
    return np.concatenate([q[..., :0], *rates], axis=-1)


def integrate(m: Tables, q: Array, dq: Array) -> Array:
    """q moved for one second with the constant velocity dq: (..., nq) and (..., nv) give (..., nq)."""
    q, dq = together(q, dq)
    moved = [j.type.integrate(q[..., j.q_slice], dq[..., j.v_slice]) for j in _owners(m)]
    return np.concatenate([q[..., :0], *moved], axis=-1)


def difference(m: Tables, q0: Array, q1: Array) -> Array:
    """dq, (..., nv), with integrate(q0, dq) = q1: the short way round for quaternions."""
    q0, q1 = together(q0, q1)
    moved = [j.type.difference(q0[..., j.q_slice], q1[..., j.q_slice]) for j in _owners(m)]
    return np.concatenate([q0[..., :0], *moved], axis=-1)
