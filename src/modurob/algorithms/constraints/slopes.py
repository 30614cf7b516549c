"""Derivatives of forward dynamics with constraints, of accelerations and multipliers together.

Forward dynamics solves M vdot + c - K^T lambda = tau, K vdot = k. Its derivatives solve the same equations for
(dvdot, dlambda), with the slopes of both at constant vdot and lambda on the right-hand side.
"""

from typing import Any

import numpy as np

from modurob.algorithms.articulated import FORWARD_DYNAMICS
from modurob.algorithms.constraints.rows import CONSTRAINED, permitted_bias, world_wrenches
from modurob.algorithms.joint_space import (
    EQUATIONS,
    SLOPES,
    slope_entries,
    slopes_of_motion,
    world_motion,
    wrench_slopes,
)
from modurob.algorithms.program import (
    Constraints,
    Engine,
    Flow,
    Inward,
    LoopView,
    Outward,
    Pairs,
    PairView,
    Program,
    View,
)
from modurob.algorithms.steps import apply, transposed
from modurob.catalogue.joints import JointType
from modurob.spatial import se3
from modurob.spatial.scalars import Array


def loaded_terms(j: View) -> None:
    """Outward: the terms of `joint_space.slope_terms`, d as a whole, and the wrench F on the body, to which loops add theirs."""
    X, S, c = world_motion(j)
    d, dd, e = slopes_of_motion(j, X, S, c, j.given("vdot"))
    j.columns(d=d, dd=dd, e=e)
    j.keep(F=se3.to_parent(X, j.given("external")))


def loop_slopes(c: LoopView) -> None:
    """The derivatives of the rows K vdot - k of a loop by the displacement of each rate and by the rate, and of K^T lambda by a
    displacement.

    Relative to the successor, a displacement changes the twist V_S - V_P by x = d + S x V_P, and the acceleration
    a = A_S - A_P + V_S x V_P by dd + S x A_P + d x V_P - V_S x x; a rate changes a by e + S x (V_S + V_P). The wrench of
    the multipliers is fixed in the successor, and so is its opposite on the predecessor, where `slope_sums` has it move with
    the predecessor.
    """
    X_S, multipliers = c.pose("successor"), c.given("multipliers")
    (V_P, A_P), (V_S, A_S) = c.motion("predecessor"), c.motion("successor")
    X_PS = se3.inverse(c.pose("predecessor")) @ X_S
    T = c.type.constraint_subspace(c.type.coordinates(X_PS))
    W = world_wrenches(X_S, T)
    F = apply(transposed(W), multipliers)
    ad_P, ad_S = se3.ad(V_P), se3.ad(V_S)
    by_S, by_d, changed = W @ (ad_S @ ad_P - se3.ad(A_P)), -W @ (ad_S + ad_P), None
    if moves(c.type):
        a = se3.to_child(X_S, A_S - A_P + se3.bracket(V_S, V_P))
        V = se3.to_child(X_S, V_S - V_P)
        by_pose, by_twist = c.slopes(_moved(c.type, a, multipliers), X_PS, V)
        to_successor, rows = se3.Ad_inverse(X_S), multipliers.shape[-1]
        pose, twist, wrench = (
            x @ to_successor for x in (by_pose[..., :rows, :], by_twist[..., :rows, :], by_pose[..., rows:, :])
        )
        by_S, by_d = by_S + pose - twist @ ad_P, by_d + twist
        changed = transposed(to_successor) @ wrench
    c.add_wrench(F)
    c.project(rows_by_q=(by_S, by_d, W), rows_by_v=(by_d, W))
    c.turn(-se3.coad(F), changed)


def moves(kind: JointType) -> bool:
    """Whether the wrenches of a loop joint, or what its velocities add to accelerations, change with its coordinates."""
    return kind.turns or kind.constraint_subspace(np.zeros((1, kind.nq))).ndim > 2


def _moved(kind: JointType, a: Array, multipliers: Array) -> Any:
    """The rows T^T (a - c) and the wrench T lambda of a joint in the axes of the successor, (..., rows + 6), by its pose and
    its twist."""

    def rows(X_PS: Array, V: Array) -> Array:
        q = kind.coordinates(X_PS)
        T = kind.constraint_subspace(q)
        left = apply(transposed(T), a - permitted_bias(kind, q, V))
        wrench = apply(T, multipliers) + 0 * left[..., :1]
        return np.concatenate([left, wrench], axis=-1)

    return rows


def loaded_sums(j: View) -> None:
    """Inward: as `joint_space.slope_sums`, with the wrenches F on bodies."""
    wrench_slopes(j, j.own("F"), j.own("d")[..., 3:])


def loaded_entry(p: PairView) -> None:
    """Entries of d tau/dq and d tau/dv between a rate a and a rate b between it and the root."""
    slope_entries(p, p.b("d")[..., 3:])


CONSTRAINED_SLOPES = Program(
    "constrained_slopes",
    inputs={**EQUATIONS.inputs, "multipliers": "rows"},
    results={"by_q": "matrix", "by_v": "matrix", "rows_by_q": "row matrix", "rows_by_v": "row matrix"},
    passes=(
        Outward(loaded_terms),
        Constraints(loop_slopes, {"rows_by_q": ("S", "d", "dd"), "rows_by_v": ("S", "e")}, "by_q"),
        Inward(loaded_sums),
        Pairs(loaded_entry),
    ),
    shared={**EQUATIONS.shared, "F": (6,)},
    sent=SLOPES.sent,
    # those that rows are multiplied with first
    columns={"S": 6, "d": 6, "dd": 6, "e": 6, "h": 6, "g": 3, "u": 6, "w": 6},
    world=lambda m: {**EQUATIONS.world(m), "F": np.zeros(6)},
    in_body_axes=False,
)


def _constrained_derivatives(engine: Engine, inputs: dict[str, Any]) -> dict[str, Any]:
    tau = inputs.pop("tau")
    terms = engine.run(CONSTRAINED, **inputs, vdot=engine.zeros("rates"))
    M, K = terms["M"], terms["K"]
    vdot, multipliers = engine.constrained(M, K, (tau, terms["bias"]), terms["k"])
    found = engine.run(CONSTRAINED_SLOPES, **inputs, vdot=vdot, multipliers=multipliers)
    by_q, by_v = ((found[name], found[f"rows_{name}"]) for name in ("by_q", "by_v"))
    return {"slopes": engine.constrained_slopes(M, K, by_q, by_v)}


CONSTRAINED_DERIVATIVES = Flow(
    "constrained_dynamics_derivatives", FORWARD_DYNAMICS.inputs, {"slopes": "slopes"}, _constrained_derivatives
)
