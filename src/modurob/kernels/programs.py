"""The algorithms as passes over the tree, made of the local steps of `algorithms.steps`."""

from dataclasses import replace

import numpy as np

from modurob.algorithms.steps import Spin, absorb, apply, grasp, gyroscopic, moved_inertia, release, spin, transposed
from modurob.kernels.local import Local, Pass, Program
from modurob.spatial import inertia, se3, so3
from modurob.spatial.scalars import Array, dot

_UPPER = np.triu_indices(6)


def packed(M: Array) -> Array:
    """The 21 numbers of a symmetric 6x6 matrix."""
    return M[_UPPER]


def unpacked(numbers: Array) -> Array:
    """The symmetric 6x6 matrix of 21 numbers."""
    M = np.empty((6, 6), dtype=object)
    M[_UPPER] = numbers
    M.T[_UPPER] = numbers
    return M


def pushed(program: Program) -> Program:
    """The program with external wrenches, in the frames of the tables, behind each joint's third input."""
    return replace(
        program,
        name=f"{program.name}_pushed",
        third=lambda joint: joint.nv + 6,
        framed=True,
        is_pushed=True,
    )


def _spin(local: Local) -> Spin:
    v = local.joint("v")
    bias = local.constants.joint.bias(local.coordinates(), v)
    return spin(local.link(), local.parent("w"), v, bias)


def _turn(local: Local) -> None:
    w, drift = _spin(local)
    local.keep("w", w)
    local.keep("drift", drift)
    local.keep("p", gyroscopic(local.constants.inertia, w) - local.push(), place="A")


def _hold(local: Local) -> None:
    link, constants = local.link(), local.constants
    I = constants.inertia + unpacked(local.children("I"))
    p = local.own("p") + local.children("p")
    D = moved_inertia(link, I, constants.armature)
    handle = grasp(link, I, p, local.joint("tau"), D)
    local.keep("K", handle.K, place="w")
    local.keep("k", handle.k)
    I_P, p_P = absorb(link, handle, I, p, local.own("drift"))
    local.send("I", packed(I_P))
    local.send("p", p_P)


def _let_go(local: Local) -> None:
    vdot, A = release(local.link(), local.own("K"), local.own("k"), local.parent("A"), local.own("drift"))
    local.emit(local.constants.sign * vdot)
    local.keep("A", A)


FORWARD_DYNAMICS = Program(
    "forward_dynamics",
    ("q", "v", "tau"),
    "vdot",
    lambda joint: joint.nv,
    shared={"w": 3, "A": 6},
    sent={"I": 21, "p": 6},
    passes=(Pass("outward", _turn), Pass("inward", _hold), Pass("outward", _let_go)),
)


def _move(local: Local) -> None:
    (w, drift), link, I = _spin(local), local.link(), local.constants.inertia
    A = se3.to_child(link.X, local.parent("A")) + apply(link.S, local.joint("vdot")) + drift
    local.keep("w", w)
    local.keep("A", A)
    local.keep("F", apply(I, A) + gyroscopic(I, w) - local.push())


def _bear(local: Local) -> None:
    link = local.link()
    F = local.own("F") + local.children("F")
    torques = apply(transposed(link.S), F) + local.constants.armature * local.joint("vdot")
    local.emit(local.constants.sign * torques)
    local.send("F", se3.to_parent(link.X, F))


INVERSE_DYNAMICS = Program(
    "inverse_dynamics",
    ("q", "v", "vdot"),
    "tau",
    lambda joint: joint.nv,
    shared={"w": 3, "A": 6},
    sent={"F": 6},
    passes=(Pass("outward", _move), Pass("inward", _bear)),
)


def _stand(local: Local) -> None:
    local.coordinates()


def _gather(local: Local) -> None:
    link = local.link()
    I = local.constants.inertia + unpacked(local.children("I"))
    local.put(local.constants.sign * (I @ link.S).T)
    local.send("I", packed(inertia.to_parent(link.X, I)))


def _lift(local: Local) -> None:
    local.send("F", se3.to_parent(local.link().X, local.given(6)))


def _project(local: Local) -> None:
    local.emit(local.constants.sign * apply(transposed(local.link().S), local.given(6)))


MASS_MATRIX = Program(
    "mass_matrix",
    ("q",),
    "M",
    lambda joint: 0,
    shared={},
    sent={"F": 6, "I": 21},
    passes=(Pass("outward", _stand), Pass("inward", _gather), Pass("climb", _lift), Pass("climb", _project)),
    reserved=lambda joint: 6 * joint.nv,
)


def _place(local: Local) -> Array:
    """The pose of the body in the world, in the chosen frame."""
    X_P = np.eye(4, dtype=object)
    X_P[:3] = local.parent("X").reshape(3, 4)
    X = X_P @ local.link().X
    local.keep("X", X[:3].ravel())
    return X


def _show(local: Local) -> None:
    local.emit((_place(local) @ local.constants.back)[:3])


FORWARD_KINEMATICS = Program(
    "forward_kinematics",
    ("q",),
    "X",
    lambda joint: 12,
    shared={"X": 12},
    sent={},
    passes=(Pass("outward", _show),),
    framed=True,
)


def _reach(local: Local) -> None:
    X, S = _place(local), local.link().S
    R, arm = se3.rotation(X), local.plain("point", 3) - se3.position(X)
    turns = R @ S[3:]
    slides = R @ S[:3] + so3.skew(arm).T @ turns
    local.emit(local.constants.sign * np.concatenate([slides, turns]).T)


JACOBIAN = Program(
    "jacobian",
    ("q", "v", "point"),
    "J",
    lambda joint: 6 * joint.nv,
    shared={"X": 12},
    sent={},
    passes=(Pass("outward", _reach),),
    third=lambda joint: 0,
)


def _kinetic(local: Local) -> None:
    link, v, constants = local.link(), local.joint("v"), local.constants
    V = se3.to_child(link.X, local.parent("V")) + apply(link.S, v)
    local.keep("V", V)
    local.emit(np.array([(dot(V, apply(constants.inertia, V)) + dot(constants.armature * v, v)) / 2], dtype=object))


KINETIC_ENERGY = Program(
    "kinetic_energy",
    ("q", "v"),
    "K",
    lambda joint: 1,
    shared={"V": 6},
    sent={},
    passes=(Pass("outward", _kinetic),),
)


def _potential(local: Local) -> None:
    X, I = _place(local), local.constants.inertia
    first_moment = I[0, 0] * se3.position(X) + apply(se3.rotation(X), so3.vee(I[3:, :3]))
    local.emit(np.array([-dot(first_moment, local.constants.gravity)], dtype=object))


POTENTIAL_ENERGY = Program(
    "potential_energy",
    ("q",),
    "P",
    lambda joint: 1,
    shared={"X": 12},
    sent={},
    passes=(Pass("outward", _potential),),
)


def _advance(local: Local) -> None:
    joint = local.constants.joint
    q, dq = local.plain("q", joint.nq), local.plain("v", joint.nv)
    local.emit(joint.integrate(q, dq))


INTEGRATE = Program(
    "integrate",
    ("q", "v"),
    "moved",
    lambda joint: joint.nq,
    shared={},
    sent={},
    passes=(Pass("outward", _advance),),
)


def _rate(local: Local) -> None:
    joint = local.constants.joint
    local.emit(joint.rate(local.plain("q", joint.nq), local.plain("v", joint.nv)))


RATE = replace(INTEGRATE, name="rate", output="rate", passes=(Pass("outward", _rate),))


PROGRAMS = {
    p.name: p
    for p in (
        FORWARD_DYNAMICS,
        INVERSE_DYNAMICS,
        MASS_MATRIX,
        FORWARD_KINEMATICS,
        JACOBIAN,
        KINETIC_ENERGY,
        POTENTIAL_ENERGY,
        INTEGRATE,
        RATE,
        *(pushed(p) for p in (FORWARD_DYNAMICS, INVERSE_DYNAMICS)),
    )
}
