"""The slopes of forward dynamics, (..., nv, 3 nv), in time that grows with nv².

A displacement along a rate, or a rate, changes all wrenches below it as an acceleration and a turning velocity of the whole subtree
would (`joint_space.slope_terms`). What the robot makes of that is found as forward dynamics is, by articulated bodies: the
inertia I and the velocity terms B of a subtree as its joints leave them, rate by rate, then one way in and one way out for
each column. (Featherstone 1983 for the elimination; Carpentier and Mansard, RSS 2018, for what the columns are.)
"""

import numpy as np

from modurob.algorithms.joint_space import EQUATIONS, slope_terms
from modurob.algorithms.program import SYMMETRIC, Inward, Outward, Program, Sweep, View
from modurob.algorithms.steps import apply, transposed
from modurob.spatial import inertia, se3, so3
from modurob.spatial.scalars import Array, dot


def slope_elimination(j: View) -> None:
    """Inward: the wrenches that each rate's column begins with, and what each rate leaves of I and B when it is free to move.

    With U = I S, C = S^T B and r = 1/(S . U + rotor), I loses r U U^T and B loses r U C.
    """
    S, dw, dd, e = (j.own(name) for name in ("S", "dw", "dd", "e"))
    I = inertia.from_parameters(j.own("I")) + j.children("I")
    B, f = _velocity_terms(j) + j.children("B"), j.own("f") + j.children("f")
    j.columns(
        by_q=dd @ I + dw @ transposed(B),
        by_v=e @ I + S[..., 3:] @ transposed(B),
        F=se3.cobracket(S, f[..., None, :]),
    )
    if j.type.turns:
        j.add_block(slopes=dot(np.swapaxes(j.own("turned"), -2, -3), f[..., None, None, :]))
    I, B = _eliminated(j, S, I, B)
    j.send(I=I, B=B, f=f)


def _velocity_terms(j: View) -> Array:
    """B, (..., 6, 3): the change of wrench when the velocity of a body changes by one that turns with w is B w."""
    return 2 * np.concatenate([-so3.skew(j.own("P")), j.own("N")], axis=-2)


def _eliminated(j: View, S: Array, I: Array, B: Array) -> tuple[Array, Array]:
    left = []
    for k in reversed(range(j.nv)):
        s = S[..., k, :]
        U = apply(I, s)
        r = np.asarray(1 / (dot(s, U) + j.armature[k]))[..., None]
        C, K = apply(transposed(B), s), (r * U)[..., :, None]
        I, B = I - K * U[..., None, :], B - K * C[..., None, :]
        left.append((U, C, r))
    j.columns(**{n: np.stack(x[::-1], axis=-2) for n, x in zip("UCr", zip(*left, strict=True), strict=True)})
    return I, B


ACCELERATION_SLOPES = Program(
    "acceleration_slopes",
    inputs=EQUATIONS.inputs,
    results={"slopes": "slopes"},
    passes=(Outward(slope_terms), Inward(slope_elimination), Sweep()),
    shared=EQUATIONS.shared,
    sent={"I": SYMMETRIC, "B": (6, 3), "f": (6,)},
    # in the order of `rate` in sweeps.c
    columns={"S": 6, "U": 6, "C": 3, "r": 1, "dd": 6, "e": 6, "dw": 3, "by_q": 6, "by_v": 6, "F": 6},
    world=EQUATIONS.world,
    in_body_axes=False,
)
