"""Forward dynamics by articulated bodies (Featherstone 1983; 001 5.6.2)."""

import numpy as np

from modurob.algorithms.inverse import External, body_wrenches, gather
from modurob.algorithms.kinematics import body_spins, dyads, gravity_acceleration, together
from modurob.algorithms.recursion import inward, outward
from modurob.algorithms.steps import Handle, absorb, grasp, gyroscopic, moved_inertia, release
from modurob.errors import SingularError
from modurob.mechanism.tables import Tables
from modurob.spatial.scalars import Array, is_numeric

# a joint-space inertia below this fraction of the body's inertia is none
_NOTHING = 1e-14


def articulated_dynamics(m: Tables, q: Array, v: Array, tau: Array, external: External = None) -> Array:
    """vdot of a tree, (..., nv), in time linear in the number of bodies.

    Inward, the articulated inertia I and bias p of each subtree as its joint feels it; outward, the accelerations. The local
    steps are `spin`, `grasp`, `absorb` and `release`.
    """
    q, v, tau = together(q, v, tau)
    links = dyads(m, q)
    spins = body_spins(m, links, q, v)
    own = [
        (I, gyroscopic(I, s.w) - F_ext)
        for I, s, F_ext in zip(m.inertia, spins, body_wrenches(m, external), strict=True)
    ]
    handles: dict[int, Handle] = {}

    def step_in(i: int, total: tuple[Array, ...]) -> tuple[Array, ...]:
        joint, (I, p) = m.joints[i - 1], total
        D = moved_inertia(links[i], I, joint.armature)
        _require_inertia(joint.name, D, I)
        handles[i] = grasp(links[i], I, p, tau[..., joint.v_slice], D)
        return absorb(links[i], handles[i], I, p, spins[i].drift)

    inward(m, own, step_in)
    rates: list[Array] = []

    def step_out(i: int, A_P: Array) -> Array:
        vdot, A = release(links[i], handles[i].K, handles[i].k, A_P, spins[i].drift)
        rates.append(vdot)
        return A

    outward(m, gravity_acceleration(m), step_out)
    return gather(m, rates, v)


def _require_inertia(name: str, D: Array, inertia: Array) -> None:
    """An error where a freedom moves nothing."""
    if not is_numeric(D) or not D.size:
        return
    smallest = (np.linalg.eigvalsh(np.real(D)) if D.shape[-1] > 1 else np.real(D)).min()
    if smallest <= _NOTHING * max(float(np.abs(inertia).max()), 1e-300):
        raise SingularError(
            f"joint {name!r} moves no inertia, so forward dynamics has no answer: give the bodies it carries mass and "
            f"extent, set an armature, or lock the joint"
        )
