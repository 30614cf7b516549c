"""Contacts between the bodies of a mechanism, for steppers that solve them with the mass matrix.

The force on the first body of a pair is F - H (V - V̄), V the relative twist, and its opposite acts on the second. So G = dt H, in
world axes at the reference point, adds D^T G D to the mass matrix, D = J_a - J_b, and -D^T G (Y_a - Y_b) to the forces, with Y the
rates of the twists at vdot = 0. G couples the two bodies, which articulated inertias of single bodies cannot represent.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.forces import acting
from modurob.algorithms.interpreter import reference
from modurob.algorithms.joint_space import world_columns
from modurob.algorithms.kinematics import at_origin, rigid
from modurob.algorithms.program import Outward, Program, View
from modurob.algorithms.steps import apply, transposed
from modurob.catalogue.contact import PairContact, PairPoints, RelativeMotion, Side, relative
from modurob.mechanism.tables import Frame, PairRow, Tables
from modurob.spatial import inertia, se3
from modurob.spatial.scalars import Array


def columns(j: View) -> None:
    """Outward: the vectors of the rates in world axes at the reference point."""
    _, S = world_columns(j)
    j.emit(S=transposed(S))


COLUMNS = Program(
    "columns",
    inputs={"q": "coordinates", "reference": "reference"},
    results={"S": "vectors"},
    passes=(Outward(columns),),
    shared={"X": (3, 4)},
    columns={"S": 6},
    world=at_origin,
    in_body_axes=False,
)


class PairWrench(NamedTuple):
    """A pair: wrenches on both bodies at the twists of the start, in their frames, and G in world axes at the reference point."""

    on_a: Array
    on_b: Array
    G: Array


def pair_wrench(
    law: PairContact, touch: PairPoints, motion: RelativeMotion, a: Side, b: Side, at: Array, x: Array, last: bool
) -> PairWrench:
    """The contact wrenches between two bodies in a step, linearised about the twists known so far; `at` is the reference point."""
    F, added = law.wrench(touch, motion, x, last)
    in_a = se3.inverse(a.X) @ b.X @ b.frame
    seen = b.X @ b.frame
    seen = se3.pose(se3.rotation(seen), se3.position(seen) - at)
    G = inertia.to_parent(seen, added)
    return PairWrench(se3.to_parent(in_a, F), se3.to_parent(b.frame, -F), G)


def bias(G: Array, a: tuple[Array, Array], b: tuple[Array, Array], at: Array) -> tuple[Array, Array]:
    """Wrenches -G (Y_a - Y_b) on the first body and its opposite on the second, in their own frames, from the pose and the rate of
    the twist of each."""
    (X_a, Y_a), (X_b, Y_b) = a, b
    seen = [se3.pose(se3.rotation(X), se3.position(X) - at) for X in (X_a, X_b)]
    W = apply(G, _to_world(seen[0], Y_a) - _to_world(seen[1], Y_b))
    return _from_world(seen[0], -W), _from_world(seen[1], W)


def _to_world(X: Array, V: Array) -> Array:
    return se3.to_child(se3.inverse(X), V)


def _from_world(X: Array, F: Array) -> Array:
    return se3.to_parent(se3.inverse(X), F)


def end_states(
    law: PairContact, touch: PairPoints, motion: RelativeMotion, a: Side, b: Side, ends: tuple[Array, Array], x: Array
) -> Array:
    """The bristles at the end of a step that ends with these twists of the bodies, (..., 4)."""
    _, after = relative(a._replace(known=ends[0]), b._replace(known=ends[1]), motion.dt, motion.mass)
    return law.end_states(touch, motion, after.known, x)


# ---- all pairs ----


def mass_and_centre(m: Tables, body: int) -> tuple[Array, Array]:
    """Mass and centre of mass of a body; the world has neither."""
    return (inertia.mass(m.inertia[body]), inertia.centre(m.inertia[body])) if body else (np.zeros(()), np.zeros(3))


def mutual_mass(m: Tables, row: PairRow) -> Array:
    """m_a m_b / (m_a + m_b), or that of the one that moves [kg]."""
    a, b = (mass_and_centre(m, frame.body)[0] for frame in (row.a, row.b))
    total = a + b
    return total if row.a.body * row.b.body == 0 else a * b / np.where(total > 0, total, 1.0)


@lru_cache(maxsize=128)
def signs(m: Tables) -> Array:
    """1 for the rates that move the first body of a pair alone, -1 for those that move the second, else 0, (pairs, nv)."""
    out = np.zeros((len(m.body_contacts), m.nv))
    for k, row in enumerate(m.body_contacts):
        for frame, sign in ((row.a, 1), (row.b, -1)):
            for i in m.ancestors[frame.body]:
                out[k, m.joints[i - 1].v_slice] += sign
    return out


class Paired(NamedTuple):
    """A pair in a step: its law, its row, its two bodies, and the index of its states."""

    law: PairContact
    row: PairRow
    a: Side
    b: Side
    x: slice


def paired(m: Tables, start: Any, known: Any) -> Iterator[Paired]:
    """The pairs, from the results of `MOTIONS` at the start of a step and the twists known so far."""
    own = acting(m)
    for k, row in own.pair_rows:
        a, b = (_side(m, frame, start, known) for frame in (row.a, row.b))
        yield Paired(row.force, row, a, b, slice(own.x_starts[k], own.x_starts[k] + row.force.nx))


def _side(m: Tables, frame: Frame, start: Any, known: Any) -> Side:
    V0, V = (twist_of(V, frame.body) for V in (start["V"], known))
    return Side(pose_of(start["X"], frame.body), frame.X, V0, V, *mass_and_centre(m, frame.body))


def twist_of(V: Array, body: int) -> Array:
    """The twist of one body, from those of all moving bodies, (..., bodies, 6)."""
    return V[..., body - 1, :] if body else np.zeros((*V.shape[:-2], 6))


def pose_of(X: Array, body: int) -> Array:
    """The pose of one body, from those of all moving bodies, (..., bodies, 3, 4)."""
    return rigid(X[..., body - 1, :, :]) if body else np.eye(4)


def pair_wrenches(m: Tables, q: Array, start: Any, known: Any, x: Array, dt: Array, last: bool) -> tuple[Array, Array]:
    """Wrenches on all bodies, (..., bodies, 6), the world first; and G of each pair, (..., pairs, 6, 6)."""
    F = np.zeros((*start["V"].shape[:-2], len(m.bodies), 6), dtype=np.result_type(start["V"], x))
    G = [np.zeros((*start["V"].shape[:-2], 0, 6, 6))]
    for pair in paired(m, start, known):
        X, motion = relative(pair.a, pair.b, dt, mutual_mass(m, pair.row) + 0 * dt)
        touch = pair.law.touch(X)
        found = pair_wrench(pair.law, touch, motion, pair.a, pair.b, reference(m, q), x[..., pair.x], last)
        F[..., pair.row.a.body, :] += found.on_a
        F[..., pair.row.b.body, :] += found.on_b
        G.append(found.G[..., None, :, :])
    return F, np.concatenate(G, axis=-3)


def pair_bias(m: Tables, q: Array, start: Any, G: Array, rates: Array) -> Array:
    """The wrenches of `bias` on all bodies, (..., bodies, 6), from the rates of their twists at vdot = 0."""
    F = np.zeros((*rates.shape[:-2], len(m.bodies), 6))
    for k, (_, row) in enumerate(acting(m).pair_rows):
        i, j = row.a.body, row.b.body
        a, b = ((pose_of(start["X"], body), twist_of(rates, body)) for body in (i, j))
        on_a, on_b = bias(G[..., k, :, :], a, b, reference(m, q))
        F[..., i, :] += on_a
        F[..., j, :] += on_b
    return F


def coupling(m: Tables, S: Array, G: Array) -> Array:
    """Sum of D^T G D over pairs, (..., nv, nv), from the vectors S of `COLUMNS`, (..., 6, nv)."""
    total = np.zeros((*S.shape[:-2], m.nv, m.nv))
    for k, sign in enumerate(signs(m)):
        D = S * sign
        total = total + transposed(D) @ G[..., k, :, :] @ D
    return total


def pair_states(m: Tables, start: Any, known: Any, end: Array, x: Array, dt: Array) -> Array:
    """States of the forces with the bristles of pairs as they are at the end of a step, (..., nx)."""
    new = np.array(x)
    for pair in paired(m, start, known):
        ends = twist_of(end, pair.row.a.body), twist_of(end, pair.row.b.body)
        X, motion = relative(pair.a, pair.b, dt, mutual_mass(m, pair.row) + 0 * dt)
        new[..., pair.x] = end_states(pair.law, pair.law.touch(X), motion, pair.a, pair.b, ends, x[..., pair.x])
    return new


def pair_energy(m: Tables, X: Array, x: Array) -> Array:
    """The energy that contacts between bodies store, (...) [J], from poses of the bodies that move."""
    own, total = acting(m), np.zeros(X.shape[:-3])
    for k, row in own.pair_rows:
        a, b = (pose_of(X, frame.body) @ frame.X for frame in (row.a, row.b))
        states = x[..., own.x_starts[k] : own.x_starts[k] + row.force.nx]
        total = total + row.force.energy(row.force.touch(se3.inverse(b) @ a), states)
    return total
