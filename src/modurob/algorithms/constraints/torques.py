"""Torques that produce a motion of a robot with constraints, and their derivatives.

Torques K^T lambda have no effect on the motion; only G^T tau has, with K G = 0. Of all torques u at the joints with a drive,
tau = E u, the smallest with G^T E u = G^T tau are taken.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from modurob.algorithms.checks import first_state
from modurob.algorithms.constraints.closure import loop_error, loop_jacobian
from modurob.algorithms.constraints.rows import CONSTRAINED
from modurob.algorithms.constraints.slopes import CONSTRAINED_SLOPES
from modurob.algorithms.interpreter import interpret
from modurob.algorithms.program import Engine, Flow, Run
from modurob.algorithms.steps import apply, transposed
from modurob.errors import InputError
from modurob.mechanism.tables import Tables
from modurob.spatial.scalars import Array

# loops farther apart than this are open [m, rad]
OPEN = 1e-6
# singular values of the constraints this much smaller than the largest are none
RANK = 1e-7
# drives that follow unit motions by less than this do not move: what is left is rounding
STILL = 1e-12
# torques that no drive can give, of all torques, before a motion is refused
MISSING = 1e-6
# a largest rate of driven joints below this part of the largest rate of the motion: the solve loses digits twice
FOLLOWED = 1e-2
# below this part derivatives have lost half of all digits
HARDLY = 1e-5


def driven_torques(m: Tables, inputs: dict[str, Array], of_tree: Callable[[], Array], run: Run = interpret) -> Array:
    """The torques of the joints with a drive for a motion, the inputs of `CONSTRAINED`, (..., nv).

    Where these joints do not move all degrees of freedom, or hardly do, singular values find them from those of the tree.
    """
    try:
        answer = run(DRIVEN_TORQUES, m, inputs)
    except np.linalg.LinAlgError:
        return least_torques(m, inputs["q"], of_tree(), run)
    tau, y = answer.results["tau"], answer.results["y"]
    doubtful = (answer.singular != 0) | ~(np.abs(tau).max(axis=-1) >= FOLLOWED * np.abs(y).max(axis=-1))
    if np.any(doubtful):
        tau = np.array(tau)
        tau[doubtful] = least_torques(m, inputs["q"][doubtful], of_tree()[doubtful], run)
    return tau


def least_torques(m: Tables, q: Array, tau: Array, run: Run = interpret) -> Array:
    """The torques of the joints with a drive that do what torques tau at all joints of the tree would do, (..., nv); refused if
    there are none."""
    driven = m.effort_limit > 0
    G = free_motions(loop_jacobian(m, q, run))
    wanted = apply(transposed(G), tau)
    B = transposed(G)[..., driven]
    U, s, Vt = np.linalg.svd(B, full_matrices=False)
    given = apply(transposed(Vt), _inverted(s, STILL) * apply(transposed(U), wanted))
    missing = np.abs(apply(B, given) - wanted).max(axis=-1, initial=0.0)
    if np.any(missing > MISSING * np.maximum(np.abs(tau).max(axis=-1, initial=0.0), 1e-300)):
        _refuse_motion(m, q, run)
    out = np.zeros(tau.shape)
    out[..., driven] = given
    return out


def _refuse_motion(m: Tables, q: Array, run: Run) -> NoReturn:
    told = f"{m.name}: no torques at the joints with a drive bring about this motion"
    gap = float(np.abs(loop_error(m, q, run)).max(initial=0.0))
    if gap > OPEN:
        raise InputError(
            f"{told}: at q its loops are {gap:.3g} m or rad apart; expected a closed one, as robot.close_loops(q)"
        )
    raise InputError(f"{told}; without one are {_without_drive(m)}: give more of them an effort above zero")


class TorqueSlopes(NamedTuple):
    """d `driven_torques` by q, v and vdot, (..., nv, nv) each; rows of joints without a drive are zero."""

    q: Array
    v: Array
    vdot: Array


def driven_torque_slopes(m: Tables, inputs: dict[str, Array], run: Run = interpret) -> TorqueSlopes:
    """The derivatives of the torques of the joints with a drive, at the inputs of `CONSTRAINED`; see `_slopes`."""
    try:
        answer = run(DRIVEN_SLOPES, m, inputs)
    except np.linalg.LinAlgError:
        _require_drives(m, inputs["q"], run)
        raise
    if np.any(answer.singular):
        _require_drives(m, inputs["q"], run)
    return torques_by(m, answer.results["slopes"], answer.results["M"])


def torques_by(m: Tables, slopes: Array, M: Array) -> TorqueSlopes:
    """The derivatives from the results of `DRIVEN_SLOPES`."""
    n, by = m.nv, driven_rates(m)[:, None] * slopes
    moved, driven = (np.abs(x[..., 2 * n :]).max(axis=(-2, -1)) for x in (slopes, by))
    if np.any(driven < HARDLY * moved):
        _refuse_dead_points(m, driven / moved)
    return TorqueSlopes(by[..., :n], by[..., n : 2 * n], by[..., 2 * n :] @ (M + np.diag(m.armature)))


def driven_rates(m: Tables) -> Array:
    """One for rates with a drive, zero for others, (nv,)."""
    return np.where(m.effort_limit > 0, 1.0, 0.0)


class Followed(NamedTuple):
    """The multipliers y with u = E^T y, a motion that keeps the constraints, and the terms of its equations: E E^T, `CONSTRAINED`,
    lambda."""

    y: Any
    drives: Any
    terms: dict[str, Any]
    multipliers: Any


def _followed(engine: Engine, inputs: dict[str, Any]) -> Followed:
    """With multipliers y of G^T E u = G^T tau the torques solve E E^T y + K^T lambda = tau, K y = 0, u = E^T y: the equations of
    constrained motion, with E E^T for M."""
    m, terms = engine.m, engine.run(CONSTRAINED, **inputs)
    tau = terms["bias"] + engine.times(engine.constant("rates", m.armature), inputs["vdot"])
    # solves add the armature
    drives = engine.with_diagonal(terms["M"] * 0.0, engine.constant("rates", driven_rates(m) - m.armature))
    y, multipliers = engine.constrained(drives, terms["K"], (tau, engine.zeros("rates")), terms["k"] * 0.0)
    return Followed(y, drives, terms, multipliers)


def _torques(engine: Engine, inputs: dict[str, Any]) -> dict[str, Any]:
    y = _followed(engine, inputs).y
    return {"tau": engine.times(engine.constant("rates", driven_rates(engine.m)), y), "y": y}


DRIVEN_TORQUES = Flow("driven_torques", CONSTRAINED.inputs, {"tau": "rates", "y": "rates"}, _torques)


def _slopes(engine: Engine, inputs: dict[str, Any]) -> dict[str, Any]:
    """The motions by what torques and rows do, and M. The derivatives solve the same equations, with d tau - d(K^T) lambda and
    -dK y on the right-hand side."""
    y, drives, terms, multipliers = _followed(engine, inputs)
    still = engine.zeros("rates")
    loaded = engine.run(CONSTRAINED_SLOPES, **inputs, multipliers=multipliers * -1.0)
    turned = engine.run(CONSTRAINED_SLOPES, q=inputs["q"], v=still, vdot=y, multipliers=multipliers * 0.0)
    by_q, by_v = ((loaded[name] * -1.0, turned[f"rows_{name}"]) for name in ("by_q", "by_v"))
    return {"slopes": engine.constrained_slopes(drives, terms["K"], by_q, by_v), "M": terms["M"]}


DRIVEN_SLOPES = Flow("driven_torque_slopes", CONSTRAINED.inputs, {"slopes": "slopes", "M": "matrix"}, _slopes)


def _require_drives(m: Tables, q: Array, run: Run) -> None:
    """An error where the joints with a drive do not move all degrees of freedom."""
    G = free_motions(loop_jacobian(m, q, run))
    t = np.linalg.svd(driven_rates(m)[:, None] * G, compute_uv=False)
    rank, degrees = (_inverted(t, STILL) > 0).sum(axis=-1), np.abs(G).any(axis=-2).sum(axis=-1)
    if np.any(rank < degrees):
        _refuse_derivatives(m, rank, degrees)


def _refuse_derivatives(m: Tables, rank: Array, degrees: Array) -> NoReturn:
    at, where = first_state(rank < degrees)
    raise InputError(
        f"{m.name}: the joints with a drive move only {np.asarray(rank)[at]} of {np.asarray(degrees)[at]} degrees of "
        f"freedom{where}, so that the torques for motions nearby do not exist, and have no derivatives; without a drive are "
        f"{_without_drive(m)}: give more of them an effort above zero, or take `algorithms.tree_inverse_dynamics_derivatives`"
    )


def _refuse_dead_points(m: Tables, followed: Array) -> NoReturn:
    _, where = first_state(followed == followed.min())
    raise InputError(
        f"{m.name}: the joints with a drive move {followed.min():.1g} times as far as others{where}, next to a dead point, so that "
        f"the derivatives of their torques have lost their digits: expected at least {HARDLY:g}, in states further away from it"
    )


def _without_drive(m: Tables) -> str:
    names = [j.name for j in m.joints if not j.mimics and not np.any(j.effort_limit > 0)]
    return ", ".join(names) or "none"


def free_motions(K: Array) -> Array:
    """Orthonormal velocities that keep the constraints, (..., nv, n); states with fewer than others have zero columns."""
    _, s, Vt = np.linalg.svd(np.real(K), full_matrices=True)
    return _free(s, Vt)


def _free(s: Array, Vt: Array) -> Array:
    n, nv = s.shape[-1], Vt.shape[-1]
    bound = np.zeros((*s.shape[:-1], nv), dtype=bool)
    bound[..., :n] = _inverted(s) > 0
    free = np.where(bound[..., None], 0.0, Vt)
    least = int(bound.sum(axis=-1).min(initial=nv))
    return transposed(free[..., least:, :])


def _inverted(s: Array, least: float = 0.0) -> Array:
    """1 / s of singular values, zero where they are none."""
    largest = np.maximum(s.max(axis=-1, initial=0.0), 1e-300)[..., None]
    counts = s > np.maximum(RANK * largest, least)
    return np.where(counts, 1 / np.where(counts, s, 1.0), 0.0)
