"""Derivatives of forward dynamics with constraints: accelerations and multipliers move together.

Forward dynamics solves M vdot + c - K^T lambda = tau, K vdot = k. Its derivatives solve the same equations for
(dvdot, dlambda), with the slopes of both at constant vdot and lambda on the right-hand side.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from modurob.algorithms.complex_steps import complex_step
from modurob.algorithms.constraints.rows import CLOSURE, permitted_bias
from modurob.algorithms.constraints.solver import constrained_inverse
from modurob.algorithms.forward import CONSTRAINED_DYNAMICS, forward_inputs, require_regular
from modurob.algorithms.interpreter import reference
from modurob.algorithms.joint_space import MOTION_SLOPES, SLOPES
from modurob.algorithms.kinematics import gravity_acceleration
from modurob.algorithms.motions import ACCELERATIONS
from modurob.algorithms.program import Run
from modurob.algorithms.steps import apply, transposed
from modurob.algorithms.wrenches import External
from modurob.catalogue.joints import JointType
from modurob.mechanism.tables import Loop, Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array


def constrained_slopes(m: Tables, q: Array, v: Array, tau: Array, external: External, run: Run) -> tuple[Array, ...]:
    """d vdot by q, v and tau, (..., nv, nv) each."""
    inputs = forward_inputs(m, q, v, tau, external)
    answer = run(CONSTRAINED_DYNAMICS, m, inputs)
    require_regular(m, answer.singular)
    vdot, multipliers = answer.results["vdot"], answer.results["multipliers"]
    state = {"q": inputs["q"], "v": inputs["v"], "vdot": vdot}
    loops = _loop_slopes(m, state, multipliers, run)
    wrenches = loops.wrenches + inputs["external"] if "external" in inputs else loops.wrenches
    M, by_q, by_v = run(SLOPES, m, {**state, "external": wrenches}).results.values()
    K = run(CLOSURE, m, {"q": state["q"]}).results["K"]
    P, Q = constrained_inverse(M + np.diag(m.armature), K)
    return P @ (loops.turned - by_q) - Q @ loops.by_q, -P @ by_v - Q @ loops.by_v, P


class _LoopSlopes(NamedTuple):
    """What loops add to the slopes of the tree, at constant vdot and multipliers."""

    by_q: Array  # d(K vdot - k)/dq, (..., rows, nv); rows of couplings are zero
    by_v: Array
    turned: Array  # d(K^T lambda)/dq beyond that of wrenches fixed in their bodies, (..., nv, nv)
    wrenches: Array  # of the multipliers on each body, in its own frame, (..., bodies, 6)


def _loop_slopes(m: Tables, state: dict[str, Array], multipliers: Array, run: Run) -> _LoopSlopes:
    """With the vectors of `MOTION_SLOPES` counted as the loop does: less where they move its predecessor."""
    table = _table(m)
    if not table.loops:
        none, square = (np.zeros((*state["v"].shape[:-1], n, m.nv)) for n in (multipliers.shape[-1], m.nv))
        return _LoopSlopes(none, none, square, np.zeros((*state["v"].shape[:-1], len(m.bodies), 6)))
    ends = _ends(m, table, state, run)
    joints = [
        _joint_slopes(c.type, _Ends(*(x[i] for x in ends)), multipliers[..., own])
        for i, (c, own) in enumerate(zip(table.loops, table.rows, strict=True))
    ]
    F = np.stack([apply(joint.T, multipliers[..., own]) for joint, own in zip(joints, table.rows, strict=True)])
    acting = _acting(table, ends, joints, F, multipliers.shape[-1])
    found = (_by_paths if m.coupled else _by_rates)(m, table, state, acting, run)
    return _LoopSlopes(*found, _on_bodies(m, table, ends.X_PS, F))


class _Acting(NamedTuple):
    """What the vectors of a rate are multiplied with, in world axes."""

    by_q: Array  # rows with (S, d, dd), (..., rows, 18)
    by_v: Array  # rows with (S, e), (..., rows, 12)
    carried: Array  # how wrenches on predecessors change with S, (..., loops, 6, 6)
    changed: Array | None  # how wrenches of all joints change with S, (..., loops, 6, 6), if they do


def _acting(table: "_Table", ends: "_Ends", joints: "list[_JointSlopes]", F: Array, rows: int) -> _Acting:
    """Seen from the successor, a displacement changes the twist V_S - V_P by x = d + S x V_P, and the acceleration
    a = A_S - A_P + V_S x V_P by dd + S x A_P + d x V_P - V_S x x; a rate changes a by e + S x (V_S + V_P).

    The wrench on the predecessor is carried along with the successor.
    """
    lead = F.shape[1:-1]
    by_q, by_v = (np.zeros((*lead, rows, n)) for n in (18, 12))
    changed = np.zeros((*lead, len(joints), 6, 6)) if any(joint.moved for joint in joints) else None
    ad_P, ad_S, to_successor = se3.ad(ends.V_P), se3.ad(ends.V_S), se3.Ad_inverse(ends.X_S)
    both, faster = -ad_S - ad_P, ad_S @ ad_P - se3.ad(ends.A_P)
    for i, (joint, own) in enumerate(zip(joints, table.rows, strict=True)):
        T = transposed(joint.T) @ to_successor[i]
        by_q[..., own, :6] = T @ faster[i]
        by_q[..., own, 6:12] = by_v[..., own, :6] = T @ both[i]
        by_q[..., own, 12:] = by_v[..., own, 6:] = T
        if joint.moved and changed is not None:
            pose, twist, wrench = (x @ to_successor[i] for x in joint.moved)
            by_q[..., own, :6] += pose - twist @ ad_P[i]
            by_q[..., own, 6:12] += twist
            by_v[..., own, :6] += twist
            changed[..., i, :, :] = transposed(to_successor[i]) @ wrench
    carried = np.moveaxis(-se3.coad(se3.to_parent(ends.X_S, F)), 0, -3)
    return _Acting(by_q, by_v, carried, changed)


def _by_rates(
    m: Tables, table: "_Table", state: dict[str, Array], acting: _Acting, run: Run
) -> tuple[Array, Array, Array]:
    """d(K vdot - k) by q and v, and what wrenches that turn add to d(K^T lambda)/dq: all loops at once."""
    lead = state["v"].shape[:-1]
    S, d, dd, e = run(MOTION_SLOPES, m, {**state, "on": np.ones((*lead, len(m.bodies)))}).results.values()
    by_q = acting.by_q @ np.concatenate([S, d, dd], axis=-2) * table.signs
    by_v = acting.by_v @ np.concatenate([S, e], axis=-2) * table.signs
    relative, below = (x[:, None, table.rates] for x in (table.relative, table.below))
    each, flat = S[..., None, :, :], (*lead, 6 * len(table.loops), m.nv)

    def felt(on: Array, turning: Array) -> Array:
        return transposed((each * on).reshape(flat)) @ (turning @ each * relative).reshape(flat)

    turned = felt(below, acting.carried)
    return by_q, by_v, turned if acting.changed is None else turned + felt(relative, acting.changed)


def _by_paths(
    m: Tables, table: "_Table", state: dict[str, Array], acting: _Acting, run: Run
) -> tuple[Array, Array, Array]:
    """As `_by_rates`, loop by loop, where joints on different paths share a rate."""
    lead = state["v"].shape[:-1]
    by_q, by_v = np.zeros((2, *acting.by_q.shape[:-1], m.nv))
    turned = np.zeros((*lead, m.nv, m.nv))
    for i, own in enumerate(table.rows):
        on = (np.broadcast_to(x[i], (*lead, len(m.bodies))) for x in (table.relative, table.below))
        relative, below = (run(MOTION_SLOPES, m, {**state, "on": x}).results for x in on)
        S, d, dd, e = relative.values()
        by_q[..., own, :] = acting.by_q[..., own, :] @ np.concatenate([S, d, dd], axis=-2)
        by_v[..., own, :] = acting.by_v[..., own, :] @ np.concatenate([S, e], axis=-2)
        turned += transposed(below["S"]) @ acting.carried[..., i, :, :] @ S
        if acting.changed is not None:
            turned += transposed(S) @ acting.changed[..., i, :, :] @ S
    return by_q, by_v, turned


def _on_bodies(m: Tables, table: "_Table", X_PS: Array, F: Array) -> Array:
    """The wrenches F of loops, in their successor frames, on both bodies, (..., bodies, 6)."""
    out = np.zeros((*F.shape[1:-1], len(m.bodies), 6))
    X_P, X_S = (x.reshape(len(F), *([1] * (F.ndim - 2)), 4, 4) for x in (table.X_P, table.X_S))
    on_P, on_S = se3.to_parent(X_P @ X_PS, F), se3.to_parent(X_S, F)
    for i, c in enumerate(table.loops):
        out[..., c.successor.body, :] += on_S[i]
        out[..., c.predecessor.body, :] -= on_P[i]
    return out


class _JointSlopes(NamedTuple):
    """T of a loop joint, (..., 6, rows), and how its rows T^T (a - c) change with its relative pose and twist, (..., rows, 6)
    each, and its wrench T lambda with its pose, (..., 6, 6), if they do; in the axes of the successor."""

    T: Array
    moved: tuple[Array, Array, Array] | None


def _joint_slopes(kind: JointType, at: "_Ends", multipliers: Array) -> _JointSlopes:
    """By complex steps where T or c depends on the coordinates of the joint."""
    T = kind.constraint_subspace(np.zeros((1, kind.nq)))
    if not kind.turns and T.ndim == 2:
        return _JointSlopes(T, None)
    q, axes, rows = kind.coordinates(at.X_PS), multipliers.ndim - 1, multipliers.shape[-1]
    T = kind.constraint_subspace(q)
    V = se3.to_child(at.X_S, at.V_S - at.V_P)
    a = se3.to_child(at.X_S, at.A_S - at.A_P + se3.bracket(at.V_S, at.V_P))

    def displaced(d: Array) -> Array:
        q = kind.coordinates(at.X_PS @ se3.exp(d))
        T = kind.constraint_subspace(q)
        left = apply(transposed(T), a - permitted_bias(kind, q, V))
        wrench = np.broadcast_to(apply(T, multipliers), (*left.shape[:-1], 6))
        return np.concatenate([left, wrench], axis=-1)

    by_pose = complex_step(displaced, 6, axes)
    by_twist = complex_step(lambda d: apply(transposed(T), -permitted_bias(kind, q, V + d)), 6, axes)
    return _JointSlopes(T, (by_pose[..., :rows, :], by_twist, by_pose[..., rows:, :]))


class _Ends(NamedTuple):
    """Both ends of loops, (loops, ..., ...), from the reference point in world axes."""

    X_S: Array  # successor frames
    X_PS: Array  # successor frames in predecessor frames
    V_S: Array
    V_P: Array
    A_S: Array
    A_P: Array


def _ends(m: Tables, table: "_Table", state: dict[str, Array], run: Run) -> _Ends:
    found = run(ACCELERATIONS, m, state).results
    lead = state["v"].shape[:-1]
    X = np.empty((len(m.bodies), *lead, 4, 4))
    X[...] = np.eye(4)
    X[1:, ..., :3, :] = np.moveaxis(found["X"], -3, 0)
    X[..., :3, 3] -= reference(m, state["q"])
    motion = np.zeros((2, len(m.bodies), *lead, 6))
    motion[0, 1:], motion[1, 1:] = (np.moveaxis(found[name], -2, 0) for name in "VA")
    X_P, X_S = X[table.predecessors], X[table.successors]
    (V_P, A_P), (V_S, A_S) = (
        apply(se3.Ad(X_B), motion[:, bodies]) for X_B, bodies in ((X_P, table.predecessors), (X_S, table.successors))
    )
    # frames of the loops on their bodies
    axes = (len(table.loops), *([1] * len(lead)), 4, 4)
    X_S = X_S @ table.X_S.reshape(axes)
    X_PS = se3.inverse(X_P @ table.X_P.reshape(axes)) @ X_S
    falling = gravity_acceleration(m)
    return _Ends(X_S, X_PS, V_S, V_P, A_S + falling, A_P + falling)


class _Table(NamedTuple):
    """What loops are, in arrays over loops."""

    loops: list[Loop]
    rows: list[slice]
    predecessors: list[int]
    successors: list[int]
    X_P: Array  # frames on their bodies
    X_S: Array
    relative: Array  # bodies above the successor alone count 1, above the predecessor alone -1, (loops, bodies)
    below: Array  # bodies above the predecessor count 1
    rates: Array  # the body that each rate moves; without mimic joints
    signs: Array  # `relative` of each row and rate, (rows, nv)


@lru_cache(maxsize=256)
def _table(m: Tables) -> _Table:
    ends = np.cumsum([c.rows for c in m.constraints])
    kept = [(c, slice(end - c.rows, end)) for c, end in zip(m.constraints, ends, strict=True) if isinstance(c, Loop)]
    loops, rows = [c for c, _ in kept], [own for _, own in kept]
    successor, below = np.zeros((2, len(loops), len(m.bodies)))
    for i, c in enumerate(loops):
        successor[i, list(m.ancestors[c.successor.body])] = 1
        below[i, list(m.ancestors[c.predecessor.body])] = 1
    rates = np.zeros(m.nv, dtype=int)
    for body, joint in enumerate(m.joints, start=1):
        rates[joint.v_slice] = body
    signs = np.zeros((ends[-1], m.nv))
    for i, own in enumerate(rows):
        signs[own] = (successor - below)[i, rates]
    P, S = ([getattr(c, end) for c in loops] for end in ("predecessor", "successor"))
    return _Table(
        loops,
        rows,
        [frame.body for frame in P],
        [frame.body for frame in S],
        np.array([frame.X for frame in P]),
        np.array([frame.X for frame in S]),
        successor - below,
        below,
        rates,
        signs,
    )
