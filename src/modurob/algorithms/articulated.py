"""Forward dynamics of trees by articulated bodies, in time linear in the number of bodies (Featherstone 1983;
von Stryk 5.6.2)."""

import numpy as np

from modurob.algorithms.kinematics import gravity_acceleration
from modurob.algorithms.program import SYMMETRIC, Inward, Outward, Program, View
from modurob.algorithms.steps import apply, gyroscopic, spin, transposed
from modurob.mechanism.tables import Tables
from modurob.spatial import inertia, se3, so3
from modurob.spatial.scalars import Array, pivots, select, solve


def body_velocity(j: View) -> None:
    """Outward: angular velocity, velocity-product acceleration, and the wrench that turning takes."""
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
    j.require(pivots(D), left_from(I, j.S))
    push = j.given("tau") - apply(transposed(j.S), p)
    K, k = solve(D, transposed(U)), solve(D, push[..., None])[..., 0]
    j.keep(K=K, k=k)
    _send_articulated(j, I - U @ K, p + apply(U, k))


def _send_articulated(j: View, I: Array, p: Array) -> None:
    """The contribution to the parent, in its own frame: inertia I and bias p + I drift."""
    I = inertia.mirrored(I)
    p = p + apply(I, j.own("drift"))
    j.send(I=inertia.to_parent(j.X, I), p=se3.to_parent(j.X, p))


def left_from(I: Array, S: Array) -> Array:
    """The inertias that a pivot along each rate is left over from, (..., nv):
    traces of the blocks of I, in the units of the pivot."""
    linear, angular = (np.asarray(np.trace(I[..., b, b], axis1=-2, axis2=-1)) for b in (slice(3), slice(3, 6)))
    squares = S * S
    return squares[..., :3, :].sum(axis=-2) * linear[..., None] + squares[..., 3:, :].sum(axis=-2) * angular[..., None]


def body_acceleration(j: View) -> None:
    """Outward: vdot of the joint and the acceleration of the body."""
    A = se3.to_child(j.X, j.parent("A")) + j.own("drift")
    vdot = j.own("k") - apply(j.own("K"), A)
    j.emit(vdot=vdot)
    j.keep(A=A + apply(j.S, vdot))


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
    """Inward, as `articulated_inertia`, for joints of which some rates are held: these transmit everything they carry.

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
    j.require(pivots(D_free), free * left_from(I, j.S))
    K = solve(D_free, free[..., None] * transposed(U))
    k = solve(D_free, (free * (j.given("tau") - s))[..., None])[..., 0]
    j.keep(K=K, k=k, **({"U": U, "s": s} if reactions else {}))
    _send_articulated(j, I - U @ K, p + apply(U, k))


def held_acceleration(j: View) -> None:
    """Outward, as `body_acceleration`; and the force that holds each held rate, beside tau."""
    A = se3.to_child(j.X, j.parent("A")) + j.own("drift")
    vdot = j.own("k") - apply(j.own("K"), A)
    A = A + apply(j.S, vdot)
    needed = apply(transposed(j.own("U")), A) + j.own("s") + j.armature * vdot
    j.emit(vdot=vdot, reaction=(1 - j.given("free")) * (needed - j.given("tau")))
    j.keep(A=A)


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


def swing(I: Array, w: Array) -> Array:
    """What the acceleration of a body's origin has less than that of its centre of mass c because it turns with w: w x (w x c)."""
    return so3.cross(w, so3.cross(w, centre_of_mass(I)))


def pressed_velocity(j: View) -> None:
    """Outward, as `body_velocity`, where inertia that is `added` to bodies resists the rate of change of their twist.

    That rate Y is dw/dt and the acceleration of the centre of mass, in axes that do not rotate with the body: in body
    axes, at its origin, Y = A + (w x (w x c), 0) without gravity. It is the same field in every frame of the body, and
    the one that contact forces depend on.
    """
    v = j.given("v")
    w, drift = spin(j.X, j.S, j.parent("w"), v, j.bias(v))
    fall = apply(transposed(se3.rotation(j.X)), j.parent("fall"))
    y = swing(j.inertia, w) - fall
    j.keep(w=w, fall=fall, drift=drift, p=gyroscopic(j.inertia, w), y=y)


def pressed_inertia(j: View) -> None:
    """Inward, as `held_inertia`, with what is added to the body."""
    added = j.given("added")
    p = j.own("p") - j.given("external") + apply(added[..., :3], j.own("y"))
    _send_held(j, j.inertia + added, p, reactions=False)


def pressed_acceleration(j: View) -> None:
    """Outward: vdot of the joint, and the rate Y of the body's twist."""
    A = se3.to_child(j.X, j.parent("A")) + j.own("drift")
    vdot = j.own("k") - apply(j.own("K"), A)
    A = A + apply(j.S, vdot)
    y = j.own("y")
    j.emit(vdot=vdot, rate=A + np.concatenate([y, 0 * y], axis=-1))
    j.keep(A=A)


PRESSED_DYNAMICS = Program(
    "pressed_dynamics",
    inputs={**HYBRID_DYNAMICS.inputs, "added": "inertias"},
    results={"vdot": "rates", "rate": "twists"},
    passes=(Outward(pressed_velocity), Inward(pressed_inertia), Outward(pressed_acceleration)),
    shared={"w": (3,), "fall": (3,), "A": (6,)},
    sent=FORWARD_DYNAMICS.sent,
    world=lambda m: {"w": np.zeros(3), "fall": -m.gravity, "A": gravity_acceleration(m)},
    still=1,
    general=True,
)
