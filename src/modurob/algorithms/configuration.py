"""Configurations: points q of the manifold that a robot's joints span."""

import numpy as np

from modurob.algorithms.interpreter import interpret
from modurob.algorithms.kinematics import together
from modurob.algorithms.program import Outward, Program, Run, View
from modurob.mechanism.tables import Joint, Tables
from modurob.spatial.scalars import Array


def _owners(m: Tables) -> list[Joint]:
    return [joint for joint in m.joints if not joint.mimics]


def neutral(m: Tables) -> Array:
    """The zero configuration: every joint at zero, quaternions at the identity, (nq,)."""
    return np.concatenate([np.zeros(0), *(j.type.neutral() for j in _owners(m))])


def random_configuration(m: Tables, rng: np.random.Generator) -> Array:
    """A configuration drawn uniformly within the joint limits, (nq,); loops may be open."""
    return np.concatenate([np.zeros(0), *(j.type.random(rng, *_bounds(m, j)) for j in _owners(m))])


def _bounds(m: Tables, j: Joint) -> tuple[Array, Array]:
    """Limits of a joint and of those that mimic it."""
    if j.type.nq != j.type.nv:
        return j.limits
    return m.limits.lower[j.v_slice], m.limits.upper[j.v_slice]


RATE = Program(
    "rate",
    inputs={"q": "coordinates", "v": "rates"},
    results={"rate": "coordinates"},
    passes=(Outward(lambda j: j.emit(rate=j.type.rate(j.given("q"), j.given("v")))),),
    in_body_axes=False,
)
INTEGRATE = Program(
    "integrate",
    inputs={"q": "coordinates", "dq": "rates"},
    results={"q": "coordinates"},
    passes=(Outward(lambda j: j.emit(q=j.type.integrate(j.given("q"), j.given("dq")))),),
    in_body_axes=False,
)


def _stepped(j: View) -> None:
    v, dq = j.type.stepped(j.given("v"), j.given("vdot"), j.given("dt"))
    # a joint that shares its rate with another leaves it to that one
    own = 0 if j.follows else 1
    j.emit(v=own * v, dq=own * dq)


STEPPED = Program(
    "stepped",
    inputs={"q": "coordinates", "v": "rates", "vdot": "rates", "dt": 1},
    results={"v": "rates", "dq": "rates"},
    passes=(Outward(_stepped),),
    in_body_axes=False,
    mimics=True,
)


def rate(m: Tables, q: Array, v: Array, run: Run = interpret) -> Array:
    """dq/dt, (..., nq)."""
    q, v = together(q, v)
    if m.nq == m.nv:
        return np.array(v)
    return run(RATE, m, {"q": q, "v": v}).results["rate"]


def integrate(m: Tables, q: Array, dq: Array, run: Run = interpret) -> Array:
    """q moved for one second with the constant velocity dq: (..., nq) and (..., nv) give (..., nq)."""
    q, dq = together(q, dq)
    if m.nq == m.nv:
        return q + dq
    return run(INTEGRATE, m, {"q": q, "dq": dq}).results["q"]


def difference(m: Tables, q0: Array, q1: Array) -> Array:
    """dq, (..., nv), with integrate(q0, dq) = q1: the shortest rotation for quaternions."""
    q0, q1 = together(q0, q1)
    moved = [j.type.difference(q0[..., j.q_slice], q1[..., j.q_slice]) for j in _owners(m)]
    return np.concatenate([q0[..., :0], *moved], axis=-1)


def bracket(m: Tables, v: Array) -> Array:
    """The matrix of x -> [v, x], (..., nv, nv): ad(v) of the joints with quaternions, zero for coordinates.

    A small displacement dq of a configuration that moves with v changes by d(dq)/dt = dv - [v, dq].
    """
    B = np.zeros((*v.shape, m.nv), dtype=v.dtype)
    for j in _owners(m):
        if j.type.nq != j.type.nv:
            B[..., j.v_slice, j.v_slice] = j.type.bracket(v[..., j.v_slice])
    return B
