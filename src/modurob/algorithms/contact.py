"""Contacts of a mechanism with the ground, as the steppers that fold them into articulated inertias read them.

`modurob.catalogue.contact` has the law of one shape; here are their sums over bodies, and what an inertia that is added to bodies
makes of the mass matrix where joints share coordinates or close loops.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.forces import acting
from modurob.algorithms.joint_space import inertia_entry, world_columns
from modurob.algorithms.kinematics import at_origin, rigid
from modurob.algorithms.program import SYMMETRIC, Inward, Outward, Pairs, Program, View
from modurob.algorithms.steps import transposed
from modurob.catalogue.contact import Contact, Touch
from modurob.mechanism.tables import Tables
from modurob.spatial import inertia
from modurob.spatial.scalars import Array


class Met(NamedTuple):
    """A contact in a configuration: its law, its points, the place of its body among those that move, and of its states."""

    law: Contact
    touch: Touch
    body: int
    x: slice


def met(m: Tables, X: Array) -> Iterator[Met]:
    """The contacts, from poses of the bodies that move, (..., bodies, 3, 4)."""
    own = acting(m)
    for k, row in own.contact_rows:
        pose = rigid(X[..., row.frame.body - 1, :, :])
        first = own.x_starts[k]
        place = slice(first, first + row.force.nx)
        yield Met(row.force, row.force.touch(pose, row.frame.X), row.frame.body - 1, place)


class Pressed(NamedTuple):
    """Wrenches on all bodies, (..., bodies, 6), and how they fall with the twists of the bodies, (..., bodies, 6, 6); the world
    first."""

    wrenches: Array
    damping: Array


def contact_pushes(m: Tables, start: Any, known: Any, x: Array, dt: Array, last: bool) -> Pressed:
    """What all contacts do to first order about the twists `known` so far, in a step of dt, (...), from `start`: results of
    `MOTIONS`. The wrenches are those at the twists of the start."""
    shape = (*start["V"].shape[:-2], len(m.bodies))
    F, H = np.zeros((*shape, 6)), np.zeros((*shape, 6, 6))
    for c in met(m, start["X"]):
        V0, V = (found["V"][..., c.body, :] for found in (start, known))
        push = c.law.push(c.touch, V0, V, x[..., c.x], dt, last)
        F[..., c.body + 1, :] += push.F - (push.H @ (V0 - V)[..., None])[..., 0]
        H[..., c.body + 1, :, :] += push.H
    return Pressed(F, H)


def contact_states(m: Tables, start: Any, known: Any, end: Any, x: Array, dt: Array) -> Array:
    """States of the forces with the bristles as they are at the end of a step, (..., nx)."""
    new = np.array(x)
    for c in met(m, start["X"]):
        V0, V, V1 = (found["V"][..., c.body, :] for found in (start, known, end))
        new[..., c.x] = c.law.settled(c.touch, V0, V, V1, x[..., c.x], dt)
    return new


def added_term(j: View) -> None:
    """Outward: the inertia that is added to a body, in world axes at the reference point."""
    X, _ = world_columns(j)
    j.keep(G=inertia.to_parent(X, j.given("added")))


def added_sum(j: View) -> None:
    """Inward: what is added to all that a rate moves, times its vector S."""
    G = j.own("G") + j.children("G")
    j.columns(h=j.own("S") @ transposed(G))
    j.send(G=G)


# sum of J^T G J over bodies with inertias G that are added to them
ADDED_MASS = Program(
    "added_mass",
    inputs={"q": "coordinates", "added": "inertias", "reference": "reference"},
    results={"M": "matrix"},
    passes=(Outward(added_term), Inward(added_sum), Pairs(inertia_entry)),
    shared={"X": (3, 4)},
    sent={"G": SYMMETRIC},
    columns={"S": 6, "h": 6},
    world=at_origin,
    in_body_axes=False,
)
