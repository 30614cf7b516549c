"""The equations of motion in joint space: mass matrix, bias forces, and the derivatives of inverse dynamics.

All vectors are in world axes at one reference point near the robot, so that the vectors of each rate are computed once, and matrix
entries are inner products with the vectors of the rates above it. Accelerations are those of spatial vectors, dV/dt.
(Carpentier and Mansard, RSS 2018; Singh, Russell and Wensing, IEEE RA-L 7(2), 2022.)
"""

from typing import NamedTuple

import numpy as np

from modurob.algorithms.interpreter import interpret
from modurob.algorithms.kinematics import gravity_acceleration, together, with_pose
from modurob.algorithms.program import Inward, Outward, Pairs, PairView, Program, Run, View
from modurob.algorithms.steps import apply, transposed
from modurob.algorithms.wrenches import External, body_wrenches
from modurob.mechanism.tables import Tables
from modurob.spatial import inertia, se3, so3
from modurob.spatial.scalars import Array, dot


def reference_pose(j: View, X: Array) -> Array:
    """A pose in world axes relative to the reference point, from that in the world, (..., 4, 4) or its first three rows."""
    return se3.pose(se3.rotation(X), se3.position(X) - j.given("reference"))


def world_columns(j: View) -> tuple[Array, Array]:
    """Outward: the vectors S of the rates, (..., nv, 6); returned with the pose of the body from the reference point."""
    X = reference_pose(j, with_pose(j))
    S = transposed(se3.Ad(X) @ j.S)
    j.columns(S=S)
    return X, S


def world_velocity(j: View) -> tuple[Array, Array, Array]:
    """Outward: twist V of the body; the results of `world_columns`, and c = V x S of each rate, (..., nv, 6)."""
    X, S = world_columns(j)
    V = j.parent("V") + apply(transposed(S), j.given("v"))
    j.keep(V=V)
    return X, S, se3.bracket(V[..., None, :], S)


def velocity_products(j: View, X: Array, c: Array) -> Array:
    """The acceleration of the body relative to the one before at constant rates, (..., 6)."""
    drift = apply(transposed(c), j.given("v"))
    return drift + turning_products(j, X) if j.type.turns else drift


def turning_products(j: View, X: Array) -> Array:
    """The part of `velocity_products` of a joint whose S turns in its own frame, (..., 6)."""
    return apply(se3.Ad(X), j.bias(j.given("v")))


def world_motion(j: View) -> tuple[Array, Array, Array]:
    """Outward: twist V and acceleration A of the body; the results of `world_velocity`."""
    X, S, c = world_velocity(j)
    j.keep(A=j.parent("A") + apply(transposed(S), j.given("vdot")) + velocity_products(j, X, c))
    return X, S, c


def world_inertia(j: View) -> Array:
    """The inertial parameters of the body in world axes, (..., 10)."""
    return inertia.moved_parameters(own_pose(j), inertia.parameters(j.inertia))


def own_pose(j: View) -> Array:
    """The pose of the body in world axes relative to the reference point."""
    return reference_pose(j, j.own("X"))


def world_force(j: View, I: Array) -> Array:
    """The wrench that moves the body alone, I A + V x* I V - F_ext."""
    return moving_force(j, I) - external_force(j)


def moving_force(j: View, I: Array) -> Array:
    """I A + V x* I V."""
    V = j.own("V")
    return inertia.momentum(I, j.own("A")) + se3.cobracket(V, inertia.momentum(I, V))


def external_force(j: View) -> Array:
    """The external wrench F_ext on the body in world axes, (..., 6)."""
    return se3.to_parent(own_pose(j), j.given("external"))


def equation_terms(j: View) -> None:
    """Outward: the motion of each body."""
    world_motion(j)


def equation_sums(j: View) -> None:
    """Inward: composite inertia and wrench; M_ab = h_a . S_b with h = I S, and the bias S . f."""
    own, S = world_inertia(j), j.own("S")
    I, f = own + j.children("I"), world_force(j, own) + j.children("f")
    j.columns(h=inertia.momentum(I[..., None, :], S))
    j.emit(bias=dot(S, f[..., None, :]))
    j.send(I=I, f=f)


def inertia_entry(p: PairView) -> None:
    """M_ab = M_ba = h_a . S_b."""
    entry = dot(p.a("h"), p.b("S"))
    p.emit(M=entry)
    p.emit_above(M=entry)


def _world(m: Tables) -> dict[str, Array]:
    return {"X": np.eye(4)[:3], "V": np.zeros(6), "A": gravity_acceleration(m)}


EQUATIONS = Program(
    "equations",
    inputs={"q": "coordinates", "v": "rates", "vdot": "rates", "external": "wrenches", "reference": "reference"},
    results={"bias": "rates", "M": "matrix"},
    passes=(Outward(equation_terms), Inward(equation_sums), Pairs(inertia_entry)),
    shared={"X": (3, 4), "V": (6,), "A": (6,)},
    sent={"I": (10,), "f": (6,)},
    columns={"S": 6, "h": 6},
    world=_world,
    in_body_axes=False,
)


def slope_terms(j: View) -> None:
    """Outward: the derivatives of the motion of the subtree by the displacement of each rate, and by the rate.

    With d = V_p x S and dd = A_p x S + V_p x d, a displacement along S changes V by S x V + d and A by S x A + d x V + dd; a rate
    changes V by S and A by S x V + e, e = d + c. A joint whose S turns in its own frame adds to d, dd and e.
    """
    X, S, c = world_motion(j)
    d, dd, e = slopes_of_motion(j, X, S, c, j.given("vdot"))
    j.columns(dd=dd, e=e, dw=d[..., 3:])


def slopes_of_motion(j: View, X: Array, S: Array, c: Array, vdot: Array) -> tuple[Array, Array, Array]:
    """d, dd and e of each rate, (..., nv, 6), at the accelerations vdot of the rates. With one rate V - V_p is along S: d = c."""
    V_P, A_P, V = (x[..., None, :] for x in (j.parent("V"), j.parent("A"), j.own("V")))
    d = c if j.nv == 1 else se3.bracket(V_P, S)
    e, dd = d + c, se3.bracket(A_P, S)
    if j.type.turns:
        turned, d_own, dd_own, e_own = _turning(j, X, vdot)
        d, dd, e = d + d_own, dd + dd_own + se3.bracket(V, d_own), e + e_own
        j.keep(turned=turned)
    return d, dd + se3.bracket(V_P, d), e


def velocity_tensor(I: Array, V: Array) -> Array:
    """N, (..., 3, 3): if V changes by x and A by x x V, I A + V x* I V changes by 2 (x_w x P, N x_w), P = (I V)_linear.

    N = [w](I_o - tr(I_o)/2) - [h][v].
    """
    T = inertia.from_parameters(I)[..., 3:, 3:]
    half = np.asarray(np.trace(T, axis1=-2, axis2=-1) / 2)
    K = T - half[..., None, None] * np.eye(3)
    return so3.skew(V[..., 3:]) @ K - so3.skew(I[..., 1:4]) @ so3.skew(V[..., :3])


class _Turning(NamedTuple):
    """The terms of a joint whose S turns in its own frame, in world axes."""

    turned: Array  # dS_a/dq_k, (..., nv of k, nv of a, 6)
    d: Array  # (..., nv, 6)
    dd: Array
    e: Array


def _turning(j: View, X: Array, vdot: Array) -> _Turning:
    v = j.given("v")
    # (..., 6, nv of a, nv of k) to (..., nv of k, 6, nv of a)
    dS = np.moveaxis(j.slope(lambda q: j.type.motion_subspace(q)), -1, -3)
    db = np.swapaxes(j.slope(lambda q: j.type.bias(q, v)), -1, -2)
    to_world = se3.Ad(X)[..., None, :, :]
    along = (dS @ v[..., None, :, None])[..., 0]
    across = (np.moveaxis(dS, -3, -1) @ v[..., None, :, None])[..., 0]  # (..., 6, nv of a)
    faster = (dS @ vdot[..., None, :, None])[..., 0] + db
    return _Turning(
        np.swapaxes(to_world @ dS, -1, -2),
        apply(to_world, along),
        apply(to_world, faster),
        apply(to_world, along + np.swapaxes(across, -1, -2)),
    )


def slope_sums(j: View) -> None:
    """Inward: composite inertia, wrench and velocity terms, and their products with the vectors of each rate."""
    wrench_slopes(j, external_force(j), j.own("dw"))


def wrench_slopes(j: View, external: Array, dw: Array) -> None:
    """The same, from the external wrench on the body and the angular part of d."""
    S, dd, e = (j.own(name) for name in ("S", "dd", "e"))
    own, V = world_inertia(j), j.own("V")
    alone = own, moving_force(j, own) - external, inertia.momentum(own, V)[..., :3], velocity_tensor(own, V)
    I, f, P, N = (x + j.children(name) for x, name in zip(alone, ("I", "f", "P", "N"), strict=True))
    j.send(I=I, f=f, P=P, N=N)
    j.columns(
        g=2 * (so3.cross(P[..., None, :], S[..., :3]) + S[..., 3:] @ N),
        w=changed_wrench(I, P, N, e, S[..., 3:]),
        u=changed_wrench(I, P, N, dd, dw) + se3.cobracket(S, f[..., None, :]),
        h=inertia.momentum(I[..., None, :], S),
    )
    if j.type.turns:
        # tau_a = S_a . f, and S_a turns with each rate k of its own joint
        j.add_block(by_q=dot(np.swapaxes(j.own("turned"), -2, -3), f[..., None, None, :]))


def changed_wrench(I: Array, P: Array, N: Array, A: Array, w: Array) -> Array:
    """The change of the wrench of the subtree if accelerations change by A and turning velocities by w, (..., nv, 6)."""
    swept = np.concatenate([so3.cross(w, P[..., None, :]), w @ np.swapaxes(N, -1, -2)], axis=-1)
    return inertia.momentum(I[..., None, :], A) + 2 * swept


def slope_entry(p: PairView) -> None:
    """Entries of M, d tau/dq and d tau/dv between a rate a and a rate b between it and the root."""
    inertia_entry(p)
    slope_entries(p, p.b("dw"))


def slope_entries(p: PairView, dw: Array) -> None:
    """Those of d tau/dq and d tau/dv, from the angular part of d of the rate b."""
    h, g, S = p.a("h"), p.a("g"), p.b("S")
    p.emit(
        by_q=dot(g, dw) + dot(h, p.b("dd")),
        by_v=dot(g, S[..., 3:]) + dot(h, p.b("e")),
    )
    p.emit_above(by_q=dot(p.a("u"), S), by_v=dot(p.a("w"), S))


SLOPES = Program(
    "slopes",
    inputs=EQUATIONS.inputs,
    results={"M": "matrix", "by_q": "matrix", "by_v": "matrix"},
    passes=(Outward(slope_terms), Inward(slope_sums), Pairs(slope_entry)),
    shared=EQUATIONS.shared,
    sent={"I": (10,), "f": (6,), "P": (3,), "N": (3, 3)},
    columns={"S": 6, "dd": 6, "e": 6, "dw": 3, "h": 6, "g": 3, "u": 6, "w": 6},
    world=_world,
    in_body_axes=False,
)


class Slopes(NamedTuple):
    """M and the derivatives of tree inverse dynamics by q and v, (..., nv, nv) each."""

    M: Array
    by_q: Array
    by_v: Array


def slopes(m: Tables, q: Array, v: Array, vdot: Array, external: External = None, run: Run = interpret) -> Slopes:
    """The derivatives of tau = M vdot + C v + N - J^T F of the tree; wrenches stay fixed in their frames."""
    M, by_q, by_v = run(SLOPES, m, motion_inputs(m, q, v, vdot, external)).results.values()
    return Slopes(with_rotors(m, M), by_q, by_v)


def with_rotors(m: Tables, M: Array) -> Array:
    """M, (..., nv, nv), with the inertias of rotors, which may be symbols, on its diagonal."""
    if m.armature.dtype != object and not m.armature.any():
        return M
    return M + np.diag(m.armature.astype(np.float32) if M.dtype == np.float32 else m.armature)


def motion_inputs(m: Tables, q: Array, v: Array, vdot: Array, external: External) -> dict[str, Array]:
    """The inputs of inverse dynamics, with equal leading axes."""
    q, v, vdot, *wrenches = together(q, v, vdot, *body_wrenches(m, external))
    inputs = {"q": q, "v": v, "vdot": vdot}
    return {**inputs, "external": np.stack(wrenches, axis=-2)} if wrenches else inputs


# ---- derivatives of kinematics ----


def motion_slope_terms(j: View) -> None:
    """Outward: the vectors S, d, dd and e of `slope_terms`, of the joints that are `on` a path."""
    X, S, c = world_motion(j)
    d, dd, e = slopes_of_motion(j, X, S, c, j.given("vdot"))
    on = j.given("on")[..., None, None]
    j.emit(**{name: on * transposed(x) for name, x in (("S", S), ("d", d), ("dd", dd), ("e", e))})


MOTION_SLOPES = Program(
    "motion_slopes",
    inputs={"q": "coordinates", "v": "rates", "vdot": "rates", "on": "bodies", "reference": "reference"},
    results={"S": "vectors", "d": "vectors", "dd": "vectors", "e": "vectors"},
    passes=(Outward(motion_slope_terms),),
    shared=EQUATIONS.shared,
    columns={"S": 6},
    world=_world,
    in_body_axes=False,
)
