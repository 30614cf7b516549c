"""Forward dynamics of trees by articulated bodies, in time linear in the number of bodies (Featherstone 1983;
von Stryk 5.6.2)."""

from dataclasses import replace

import numpy as np

from modurob.algorithms.kinematics import gravity_acceleration
from modurob.algorithms.program import SYMMETRIC, Inward, Outward, Program, View
from modurob.algorithms.steps import apply, gyroscopic, spin, transposed
from modurob.mechanism.tables import Tables
from modurob.spatial import inertia, se3, so3
from modurob.spatial.scalars import Array, pivots, select, solve


def body_velocity(j: View) -> None:
    """Outward: angular velocity, velocity-product acceleration, and the bias wrench of the body: gyroscopic less external."""
    v = j.given("v")
    w, drift = spin(j.X, j.S, j.parent("w"), v, j.bias(v))
    j.keep(w=w, drift=drift, p=gyroscopic(j.inertia, w) - j.given("external"))


def articulated_inertia(j: View) -> None:
    """Inward: articulated inertia I and bias p of the subtree at its joint, with the joint free to move.

    With A the acceleration of the body if the joint did not move, vdot = k - K A: K = D^-1 U^T, k = D^-1 (tau - S^T p),
    U = I S, and D = S^T U plus the rotors the inertia that the joint moves.
    """
    I, p = j.inertia + j.children("I"), j.own("p") + j.children("p")
    U = I @ j.S
    D = transposed(j.S) @ U + np.diag(j.armature)
    j.require(pivots(D), pivot_scale(I, j.S))
    effort = j.given("tau") - apply(transposed(j.S), p)
    K, k = solve(D, transposed(U)), solve(D, effort[..., None])[..., 0]
    j.keep(K=K, k=k)
    _send_articulated(j, I - U @ K, p + apply(U, k))


def _send_articulated(j: View, I: Array, p: Array) -> None:
    """The contribution to the parent, in its own frame: inertia I and bias p + I drift."""
    I = inertia.mirrored(I)
    p = p + apply(I, j.own("drift"))
    j.send(I=inertia.to_parent(j.X, I), p=se3.to_parent(j.X, p))


def pivot_scale(I: Array, S: Array) -> Array:
    """A bound on the pivot S^T I S of each rate, (..., nv), by the traces of the blocks of I: what a pivot is compared with."""
    linear, angular = (np.asarray(np.trace(I[..., b, b], axis1=-2, axis2=-1)) for b in (slice(3), slice(3, 6)))
    squares = S * S
    return squares[..., :3, :].sum(axis=-2) * linear[..., None] + squares[..., 3:, :].sum(axis=-2) * angular[..., None]


def body_acceleration(j: View) -> None:
    """Outward: vdot of the joint and the acceleration of the body."""
    vdot, A = _accelerations(j)
    j.emit(vdot=vdot)
    j.keep(A=A)


def _accelerations(j: View) -> tuple[Array, Array]:
    A = se3.to_child(j.X, j.parent("A")) + j.own("drift")
    vdot = j.own("k") - apply(j.own("K"), A)
    return vdot, A + apply(j.S, vdot)


def at_rest(m: Tables) -> dict[str, Array]:
    """The world: it does not turn, and accelerates against gravity."""
    return {"w": np.zeros(3), "A": gravity_acceleration(m)}


FORWARD_DYNAMICS = Program(
    "forward_dynamics",
    inputs={"q": "coordinates", "v": "rates", "tau": "rates", "external": "wrenches"},
    results={"vdot": "rates"},
    passes=(Outward(body_velocity), Inward(articulated_inertia), Outward(body_acceleration)),
    shared={"w": (3,), "A": (6,)},
    sent={"I": SYMMETRIC, "p": (6,)},
    world=at_rest,
)


def held_inertia(j: View) -> None:
    """Inward, as `articulated_inertia`, where some rates are held: those are as rigid as a weld.

    `free` is 1 for a rate that moves and 0 for one that is held; `resistance` is inertia in addition to the joint's,
    from stiff forces that a step treats implicitly.
    """
    _send_held(j, j.inertia, j.own("p"))


def _send_held(j: View, own: Array, bias: Array, reactions: bool = True) -> None:
    I, p = own + j.children("I"), bias + j.children("p")
    free, resistance = j.given("free"), j.given("resistance")
    U, s = I @ j.S, apply(transposed(j.S), p)
    D = transposed(j.S) @ U + np.diag(j.armature)
    D = D + resistance[..., None] * np.eye(j.nv)
    moving = free[..., :, None] * free[..., None, :]
    D_free = moving * D + (1 - free)[..., None] * np.eye(j.nv)
    j.require(pivots(D_free), free * pivot_scale(I, j.S))
    K = solve(D_free, free[..., None] * transposed(U))
    k = solve(D_free, (free * (j.given("tau") - s))[..., None])[..., 0]
    j.keep(K=K, k=k, **({"U": U, "s": s} if reactions else {}))
    _send_articulated(j, I - U @ K, p + apply(U, k))


def held_acceleration(j: View) -> None:
    """Outward, as `body_acceleration`, and the reaction at each held rate: the force that holds it in addition to tau."""
    vdot, A = _accelerations(j)
    j.emit(vdot=vdot, reaction=_reaction(j, vdot, A))
    j.keep(A=A)


def _reaction(j: View, vdot: Array, A: Array) -> Array:
    needed = apply(transposed(j.own("U")), A) + j.own("s") + j.armature * vdot
    return (1 - j.given("free")) * (needed - j.given("tau"))


HYBRID_DYNAMICS = Program(
    "hybrid_dynamics",
    inputs={**FORWARD_DYNAMICS.inputs, "free": "rates", "resistance": "rates"},
    results={"vdot": "rates", "reaction": "rates"},
    passes=(Outward(body_velocity), Inward(held_inertia), Outward(held_acceleration)),
    shared=FORWARD_DYNAMICS.shared,
    sent=FORWARD_DYNAMICS.sent,
    world=at_rest,
    general=True,
)


# ---- with contacts ----


def centre_of_mass(I: Array) -> Array:
    """Of a body, (..., 3); of one without mass its origin."""
    m = I[..., 0, 0]
    return so3.vee(I[..., 3:, :3]) / select(np.zeros(()), m, m, 1 + 0 * m)[..., None]


def centripetal(I: Array, w: Array) -> Array:
    """w x (w x c), (..., 3): the centripetal acceleration of a body's centre of mass c relative to its origin."""
    return so3.cross(w, so3.cross(w, centre_of_mass(I)))


def contact_velocity(j: View) -> None:
    """Outward, as `body_velocity`, and the terms of Y at A = 0, where a wrench -`added` Y acts on each body.

    Y is the rate of change of its twist in axes that do not rotate with it, about its centre of mass c: dw/dt and the
    acceleration of c, as a field of the body. In body axes at its origin Y = A + (w x (w x c), 0), gravity left out of A.
    """
    v = j.given("v")
    w, drift = spin(j.X, j.S, j.parent("w"), v, j.bias(v))
    minus_g = apply(transposed(se3.rotation(j.X)), j.parent("minus_g"))
    y = centripetal(j.inertia, w) - minus_g
    j.keep(w=w, minus_g=minus_g, drift=drift, p=gyroscopic(j.inertia, w), y=y)


def contact_inertia(j: View) -> None:
    """Inward, as `held_inertia`, with the inertia that is added to the body."""
    _send_contact(j, reactions=False)


def _send_contact(j: View, reactions: bool) -> None:
    added = j.given("added")
    p = j.own("p") - j.given("external") + apply(added[..., :3], j.own("y"))
    _send_held(j, j.inertia + added, p, reactions)


def contact_acceleration(j: View) -> None:
    """Outward: vdot of the joint, and the rate Y of the body's twist."""
    vdot, A = _accelerations(j)
    j.emit(vdot=vdot, rate=_twist_rate(j, A))
    j.keep(A=A)


def _twist_rate(j: View, A: Array) -> Array:
    y = j.own("y")
    return A + np.concatenate([y, 0 * y], axis=-1)


CONTACT_DYNAMICS = Program(
    "contact_dynamics",
    inputs={**HYBRID_DYNAMICS.inputs, "added": "inertias"},
    results={"vdot": "rates", "rate": "twists"},
    passes=(Outward(contact_velocity), Inward(contact_inertia), Outward(contact_acceleration)),
    shared={"w": (3,), "minus_g": (3,), "A": (6,)},
    sent=FORWARD_DYNAMICS.sent,
    world=lambda m: {"w": np.zeros(3), "minus_g": -m.gravity, "A": gravity_acceleration(m)},
    still=1,
    general=True,
)


def held_contact_inertia(j: View) -> None:
    """Inward, as `contact_inertia`, and what the reactions at held rates follow from."""
    _send_contact(j, reactions=True)


def held_contact_acceleration(j: View) -> None:
    """Outward, as `contact_acceleration`, and the reaction at each held rate."""
    vdot, A = _accelerations(j)
    j.emit(vdot=vdot, rate=_twist_rate(j, A), reaction=_reaction(j, vdot, A))
    j.keep(A=A)


HELD_CONTACT_DYNAMICS = replace(
    CONTACT_DYNAMICS,
    name="held_contact_dynamics",
    results={**CONTACT_DYNAMICS.results, "reaction": "rates"},
    passes=(Outward(contact_velocity), Inward(held_contact_inertia), Outward(held_contact_acceleration)),
)
