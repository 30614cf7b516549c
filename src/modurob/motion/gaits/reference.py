"""A gait made for one robot: where its joints are to be, as a function of time."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from modurob.caching import frozen
from modurob.errors import GaitError
from modurob.mechanism.tables import Joint
from modurob.motion.gaits.active import Active
from modurob.motion.gaits.waves import Waves
from modurob.motion.numbers import numbers
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array

# q (..., nq), v (..., nv) and vdot (..., nv)
Motion = tuple[Array, Array, Array]

CHECKED = 8  # periods over which speeds are looked at
LOOKS = 64  # at each period


@dataclass(frozen=True, eq=False)
class Reference:
    """q, v and vdot of a robot over time, as a reference for a controller: v and vdot are the derivatives of q.

    Joints that the gait does not move, including the floating base, stay at the posture. A value: equal and picklable as
    the gait and the robot are.
    """

    gait: Any
    joints: Active
    frequency: float  # [Hz]
    centre: Array  # coordinates that the active joints swing about, (n,) [rad or m]
    amplitude: Array  # with signs, (n,) [rad or m]
    phase: Array  # of the pattern, (n,) [rad]
    motion: Callable[[Array], Motion] = field(repr=False)

    def __post_init__(self) -> None:
        frozen((self.centre, self.amplitude, self.phase))

    @property
    def robot(self) -> Mechanism:
        return self.joints.robot

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and (self.gait, self.robot) == (other.gait, other.robot)

    def __hash__(self) -> int:
        return hash((self.gait, self.robot))

    def __reduce__(self) -> tuple[Any, ...]:
        return self.gait.on, (self.robot,)

    def __call__(self, t: float | Array) -> Motion:
        """q, (..., nq), v and vdot, (..., nv), at the times t [s] of shape (...)."""
        return self.motion(numbers(t, "time t [s]"))

    def waves(self, t: float | Array) -> Array:
        """How far the active joints are out, as a part of their amplitude, (..., n)."""
        return (self(t)[0][..., self.joints.q_index] - self.centre) / self.amplitude


@dataclass(frozen=True, eq=False)
class Swing:
    """Active joints at centre + amplitude * wave, all others at rest."""

    joints: Active
    rest: Array  # the posture, (nq,)
    centre: Array
    amplitude: Array
    pulsation: float  # 2 pi f [rad/s]
    waves: Waves

    def __call__(self, t: Array) -> Motion:
        w, dw, ddw = self.waves(self.pulsation * t)
        at = self.joints.v_index
        q = np.empty((*t.shape, len(self.rest)), t.dtype)
        v, vdot = np.zeros((2, *t.shape, self.joints.robot.nv), t.dtype)
        q[...] = self.rest
        q[..., self.joints.q_index] = self.centre + self.amplitude * w
        v[..., at] = self.pulsation * self.amplitude * dw
        vdot[..., at] = self.pulsation**2 * self.amplitude * ddw
        return q, v, vdot


def require_limits(reference: Reference) -> None:
    """Refuse a reference that moves a joint beyond its limits or its top speed: active joints by their amplitude, all
    by the sampled motion.
    """
    q, v, _ = reference(np.arange(CHECKED * LOOKS) / (LOOKS * reference.frequency))
    lowest, highest, fastest = q.min(axis=0), q.max(axis=0), np.abs(v).max(axis=0)
    centre, amplitude, active = (lowest + highest) / 2, np.zeros(len(lowest)), reference.joints.q_index
    centre[active], amplitude[active] = reference.centre, np.abs(reference.amplitude)
    if not reference.robot.loops:
        lowest, highest = np.minimum(lowest, centre - amplitude), np.maximum(highest, centre + amplitude)
    for joint in reference.robot.joints:
        if joint.type.nq == joint.type.nv and not joint.mimics:
            at = joint.q_slice
            _require_room(joint, lowest[at], highest[at], centre[at], amplitude[at])
            _require_speed(joint, fastest[joint.v_slice])


def _require_room(joint: Joint, lowest: Array, highest: Array, centre: Array, amplitude: Array) -> None:
    lower, upper = joint.limits
    if np.all((lower <= lowest) & (highest <= upper)):
        return
    # the part of the amplitude that stays within the limits
    reach = np.maximum(highest - centre, centre - lowest) + 1e-300
    fits = (amplitude / reach * np.minimum(upper - centre, centre - lower)).min()
    hint = f"an amplitude of about {fits:.4g} fits" if fits > 0 else "give it a posture within its limits"
    raise GaitError(
        f"joint {joint.name!r} would swing from {_said(lowest)} to {_said(highest)}, "
        f"its limits are {_said(lower)} to {_said(upper)}: {hint}"
    )


def _said(x: Array) -> str:
    return ", ".join(f"{y:.4g}" for y in x)


def _require_speed(joint: Joint, fastest: Array) -> None:
    limit = joint.velocity_limit
    if np.any(fastest > limit):
        raise GaitError(
            f"joint {joint.name!r} would reach a speed of {fastest}, its limit is {limit}: "
            f"make amplitude or frequency {float((limit / fastest).min()):.3g} times as large"
        )
