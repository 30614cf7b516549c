"""Constraints as rows: K v = 0 and K vdot = k where they hold, and how far they are from holding.

A loop joint adds 6 - nv rows, T^T (twist of the successor - twist of the predecessor) with T its constraint subspace (Lieskovsky
chapter 1; Featherstone 2008, chapter 8); a coupling adds one.
"""

from typing import NamedTuple

from modurob.algorithms.joint_space import EQUATIONS, equation_sums, equation_terms, inertia_entry, world_columns
from modurob.algorithms.program import Constraints, Inward, LoopView, Outward, Pairs, Program, View
from modurob.algorithms.steps import apply, transposed
from modurob.catalogue.joints import JointType
from modurob.spatial import se3
from modurob.spatial.scalars import Array, solve


class _Closing(NamedTuple):
    """A loop joint at a configuration of the tree."""

    X_S: Array  # successor frame, from the reference point in world axes
    q: Array  # its own coordinates
    T: Array  # constraint subspace, (..., 6, rows)


def _closing(c: LoopView) -> _Closing:
    """The rows of a loop: its wrenches T in world axes, (..., rows, 6), and the error along them."""
    X_S = c.pose("successor")
    X_PS = se3.inverse(c.pose("predecessor")) @ X_S
    q = c.type.coordinates(X_PS)
    T = c.type.constraint_subspace(q)
    gap = se3.log(se3.inverse(c.type.pose(q)) @ X_PS)
    c.project(K=(world_wrenches(X_S, T),))
    c.emit(error=apply(transposed(T), gap))
    return _Closing(X_S, q, T)


def world_wrenches(X_S: Array, T: Array) -> Array:
    """The wrenches T of a joint, (..., 6, rows), in world axes, (..., rows, 6)."""
    return se3.to_parent(X_S[..., None, :, :], transposed(T))


def loop_closure(c: LoopView) -> None:
    """K and the error of a loop."""
    _closing(c)


def loop_acceleration(c: LoopView) -> None:
    """K, the error, and k with K vdot = k (Lieskovsky (1.2.27), corrected).

    The successor accelerates against the predecessor by J vdot + a, the joint allows S qddot + c: k = -T^T (a - c), with
    a = A_S - A_P + V_S x V_P in world axes.
    """
    X_S, q, T = _closing(c)
    (V_P, A_P), (V_S, A_S) = c.motion("predecessor"), c.motion("successor")
    a = se3.to_child(X_S, A_S - A_P + se3.bracket(V_S, V_P))
    if c.type.turns:
        a = a - permitted_bias(c.type, q, se3.to_child(X_S, V_S - V_P))
    c.emit(k=-apply(transposed(T), a))


def permitted_bias(kind: JointType, q: Array, V: Array) -> Array:
    """c of a joint whose successor moves by V against its predecessor, (..., 6): at the rates nearest to V."""
    S = kind.motion_subspace(q)
    rate = solve(transposed(S) @ S, transposed(S) @ V[..., None])[..., 0]
    return kind.bias(q, rate)


def _columns(j: View) -> None:
    world_columns(j)


CLOSURE = Program(
    "closure",
    inputs={"q": "coordinates", "reference": "reference"},
    results={"error": "rows", "K": "row matrix"},
    passes=(Outward(_columns), Constraints(loop_closure, {"K": ("S",)})),
    shared={"X": (3, 4)},
    columns={"S": 6},
    world=lambda m: {"X": EQUATIONS.world(m)["X"]},
    in_body_axes=False,
)
CONSTRAINED = Program(
    "constrained",
    inputs=EQUATIONS.inputs,
    results={**EQUATIONS.results, "error": "rows", "K": "row matrix", "k": "rows"},
    passes=(
        Outward(equation_terms),
        Inward(equation_sums),
        Pairs(inertia_entry),
        Constraints(loop_acceleration, {"K": ("S",)}),
    ),
    shared=EQUATIONS.shared,
    sent=EQUATIONS.sent,
    columns=EQUATIONS.columns,
    world=EQUATIONS.world,
    in_body_axes=False,
)
