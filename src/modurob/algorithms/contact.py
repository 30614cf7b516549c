"""Contacts of a mechanism with the ground, for steppers that add them to articulated inertias.

The law of one shape is in `modurob.catalogue.contact`; here are the sums over all contacts of a body, and the terms of an inertia
that is added to bodies in the equations of motion of joints that share coordinates or close loops.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.articulated import centripetal
from modurob.algorithms.forces import acting
from modurob.algorithms.joint_space import inertia_entry, world_columns
from modurob.algorithms.kinematics import at_origin, rigid
from modurob.algorithms.program import SYMMETRIC, Inward, Outward, Pairs, Program, View
from modurob.algorithms.steps import apply, spin, transposed
from modurob.catalogue.contact import Contact, StepMotion, Touch
from modurob.mechanism.tables import Tables
from modurob.spatial import inertia, se3
from modurob.spatial.scalars import Array, dot


class PlacedContact(NamedTuple):
    """A contact in a configuration: its law, its points, the mass and centre of mass of its body, the index of that body among
    those that move, and the slice of its states."""

    law: Contact
    touch: Touch
    mass_and_centre: tuple[Array, Array]
    body: int
    x: slice


def placed_contacts(m: Tables, X: Array) -> Iterator[PlacedContact]:
    """The contacts, from poses of the bodies that move, (..., bodies, 3, 4)."""
    own = acting(m)
    for k, row in own.contact_rows:
        pose = rigid(X[..., row.frame.body - 1, :, :])
        first = own.x_starts[k]
        place = slice(first, first + row.force.nx)
        own_inertia = m.inertia[row.frame.body]
        mass_and_centre = inertia.mass(own_inertia), inertia.centre(own_inertia)
        yield PlacedContact(row.force, row.force.touch(pose, row.frame.X), mass_and_centre, row.frame.body - 1, place)


class ContactWrenches(NamedTuple):
    """Wrenches F on all bodies, (..., bodies, 6), and the inertias -dt dF/dV that they add to them, (..., bodies, 6, 6), V the
    twists of the bodies; the world first."""

    wrenches: Array
    added: Array


def contact_wrenches(m: Tables, start: Any, known: Any, x: Array, dt: Array, last: bool) -> ContactWrenches:
    """The wrenches of all contacts in a step of dt, (...), linearised about the twists `known` so far of its end, (..., bodies, 6),
    at those of its start, and the inertias they add; `start` are the results of `MOTIONS`."""
    shape = (*start["V"].shape[:-2], len(m.bodies))
    F, added = np.zeros((*shape, 6)), np.zeros((*shape, 6, 6))
    for c in placed_contacts(m, start["X"]):
        V0, V = start["V"][..., c.body, :], known[..., c.body, :]
        wrench = c.law.wrench(c.touch, StepMotion(V0, V, *c.mass_and_centre, dt), x[..., c.x], last)
        F[..., c.body + 1, :] += wrench.F
        added[..., c.body + 1, :, :] += wrench.added
    return ContactWrenches(F, added)


def contact_states(m: Tables, start: Any, known: Any, end: Any, x: Array, dt: Array) -> Array:
    """States of the forces with the bristles as they are at the end of a step, (..., nx)."""
    new = np.array(x)
    for c in placed_contacts(m, start["X"]):
        V0, V, V1 = (found[..., c.body, :] for found in (start["V"], known, end))
        new[..., c.x] = c.law.end_states(c.touch, StepMotion(V0, V, *c.mass_and_centre, dt), V1, x[..., c.x])
    return new


# ---- where joints share coordinates or close loops ----


def _twist_rate(j: View) -> Array:
    """Outward: the rate Y of `contact_velocity` at given vdot, in body axes."""
    v = j.given("v")
    w, drift = spin(j.X, j.S, j.parent("w"), v, j.bias(v))
    A = se3.to_child(j.X, j.parent("A")) + drift + apply(j.S, j.given("vdot"))
    j.keep(w=w, A=A)
    y = centripetal(j.inertia, w)
    return A + np.concatenate([y, 0 * y], axis=-1)


def twist_rate(j: View) -> None:
    """Outward: the rate of the body's twist."""
    j.emit(rate=_twist_rate(j))


def _still(m: Tables) -> dict[str, Array]:
    return {"w": np.zeros(3), "A": np.zeros(6)}


TWIST_RATES = Program(
    "twist_rates",
    inputs={"q": "coordinates", "v": "rates", "vdot": "rates"},
    results={"rate": "twists"},
    passes=(Outward(twist_rate),),
    shared={"w": (3,), "A": (6,)},
    world=_still,
)


def added_term(j: View) -> None:
    """Outward: the inertia G that is added to a body, and G Y, in world axes at the reference point."""
    X, _ = world_columns(j)
    G = j.given("added")
    j.keep(G=inertia.to_parent(X, G), f=se3.to_parent(X, apply(G, _twist_rate(j))))


def added_sum(j: View) -> None:
    """Inward: the added inertia of all bodies that a rate moves, times its vector S."""
    G, f, S = j.own("G") + j.children("G"), j.own("f") + j.children("f"), j.own("S")
    j.columns(h=S @ transposed(G))
    j.emit(bias=dot(S, f[..., None, :]))
    j.send(G=G, f=f)


# sum of J^T G J over bodies with inertias G that are added to them, and of J^T G Y
ADDED_MASS = Program(
    "added_mass",
    inputs={**TWIST_RATES.inputs, "added": "inertias", "reference": "reference"},
    results={"bias": "rates", "M": "matrix"},
    passes=(Outward(added_term), Inward(added_sum), Pairs(inertia_entry)),
    shared={"X": (3, 4), "w": (3,), "A": (6,)},
    sent={"G": SYMMETRIC, "f": (6,)},
    columns={"S": 6, "h": 6},
    world=lambda m: {**at_origin(m), **_still(m)},
    in_body_axes=False,
)
