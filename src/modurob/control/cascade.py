"""Nested loops around speed and angle of every joint, with feed-forward."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from modurob.control.cascade_analysis import DIFFERENCES
from modurob.control.default_gains import inertias
from modurob.control.drives import Drives
from modurob.control.feedback_linearisation import inverse_model
from modurob.control.recipe import LAWS, BoundLaw, Recipe
from modurob.control.reference import Reference, target
from modurob.control.tracking import errors_of
from modurob.control.values import PerJoint, limiter, per_rate
from modurob.errors import ControlError, choices
from modurob.motion.numbers import one_positive
from modurob.robot import Mechanism
from modurob.simulation import Measured
from modurob.spatial.scalars import Array, select

FEED_FORWARD = ("speed", "acceleration", "gravity", "inverse-dynamics")
# where a joint has no friction to say so, the integral of its speed takes so many times 1/w
INTEGRAL_TIME = 4.0


@LAWS.register("cascade")
@dataclass(frozen=True, eq=False)
class Cascade(Recipe):
    """tau = K e + integral of Ki e + feed-forward, e = Kp (q_d - q) - v, for each joint.

    Gains that are not given are chosen for the robot in its present shape: with I the inertia behind a joint including
    its rotor, b its viscous friction and w = 4/(damping_ratio settling_time), K = 2 z w I, Ki = 2 z w b (or K w/4 if
    that is larger) and Kp = w/(2 z): `cascade_of`. `feed_forward` names the terms that are added: "speed" (v_d in e),
    "acceleration" (I vdot_d + b v_d), "gravity" (N(q)), "inverse-dynamics" (of the whole reference motion, instead of
    the last two). The integral is a sum over samples, by the backward or Tustin's rule, and stops while torques are
    saturated.

    >>> law = mr.Cascade([0.3, 0.2, -0.4], settling_time=0.3, feed_forward=("speed", "gravity"))
    >>> bool(abs(mr.simulate(robot.ideal(), q, duration=1.0, controller=law).q[-1] - [0.3, 0.2, -0.4]).max() < 0.02)
    True
    """

    reference: Reference = 0.0
    position_gain: PerJoint | None = None  # [1/s]
    speed_gain: PerJoint | None = None  # [N m s/rad or N s/m]
    speed_integral: PerJoint | None = None  # [N m/rad or N/m]
    damping_ratio: float = 0.9
    settling_time: float = 0.5  # [s]
    feed_forward: Sequence[str] = ()
    rule: Literal["backward", "tustin"] = "backward"
    sample_time: float = field(default=1e-3, kw_only=True)  # type: ignore[assignment]  # [s]
    saturation: PerJoint | None = field(default="effort", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("sample_time", "damping_ratio", "settling_time"):
            one_positive(getattr(self, name), name)
        for word in (self.feed_forward,) if isinstance(self.feed_forward, str) else self.feed_forward:
            if word not in FEED_FORWARD:
                raise ControlError(f"feed_forward {word!r:.60}: {choices(str(word), FEED_FORWARD)}")
        if self.rule not in DIFFERENCES:
            raise ControlError(f"rule {self.rule!r:.60}: {choices(str(self.rule), DIFFERENCES)}")

    def on(self, robot: Mechanism) -> "CascadeLaw":
        return CascadeLaw(self, robot)


class JointGains(NamedTuple):
    """Gains and the joints they are for, (nv,) each."""

    position: Array
    speed: Array
    integral: Array
    inertia: Array
    viscous: Array


def joint_gains(recipe: Cascade, drives: Drives) -> JointGains:
    """Gains of each rate; those that are not given from the robot's own inertia and friction."""
    z, w = recipe.damping_ratio, 4 / (recipe.damping_ratio * recipe.settling_time)
    driven = np.isin(np.arange(drives.robot.nv), drives.v).astype(float)
    I, b = inertias(drives).joint, drives.robot.damping * driven
    speed = 2 * z * w * I
    suiting = (driven * w / (2 * z), speed, np.maximum(2 * z * w * b, speed * w / INTEGRAL_TIME))
    names = ("position_gain", "speed_gain", "speed_integral")
    given = [getattr(recipe, name) for name in names]
    k_position, k_speed, k_integral = (
        own if k is None else per_rate(k, drives, name) for k, own, name in zip(given, suiting, names, strict=True)
    )
    return JointGains(k_position, k_speed, k_integral, I, b)


class CascadeMemory(NamedTuple):
    """The integral of the speed loop [N m or N], and the last error [rad/s or m/s], (..., nv) each."""

    integral: Array
    error: Array


class CascadeLaw(BoundLaw):
    """Nested loops for one robot."""

    def __init__(self, recipe: Cascade, robot: Mechanism):
        super().__init__(recipe, robot)
        drives, words = self.drives, recipe.feed_forward
        self.gains = joint_gains(recipe, drives)
        self._target, self._errors = target(recipe.reference, drives), errors_of(drives)
        self._limited = limiter(recipe.saturation, drives)
        self._inverse, self._gravity = inverse_model(drives.robot), drives.robot.gravity_forces
        self._ahead = {word: word in words for word in FEED_FORWARD}
        self._driven = np.isin(np.arange(drives.robot.nv), drives.v)

    def start(self) -> CascadeMemory:
        still = np.zeros(self.drives.robot.nv)
        return CascadeMemory(still, still)

    def step(self, memory: CascadeMemory, t: float, measured: Measured) -> tuple[CascadeMemory, Array]:
        g, motion, T = self.gains, self._target(t), self.recipe.sample_time
        e_q, e_v, vdot_d = self._errors(motion, *measured)
        e = g.position * e_q + (e_v if self._ahead["speed"] else -measured.v)
        e = np.where(self._driven, e, 0.0)
        mean = e if self.recipe.rule == "backward" else (e + memory.error) / 2
        total = memory.integral + g.integral * T * mean
        wanted = g.speed * e + total + self._forward(motion, measured.q, measured.v, vdot_d, e_v)
        possible = self._limited(wanted)
        kept = select(0.0, (wanted - possible) * e, memory.integral, total)
        return CascadeMemory(kept, e), possible

    def _forward(self, motion: tuple[Array, Array, Array], q: Array, v: Array, vdot_d: Array, e_v: Array) -> Array:
        """What the model adds, (..., nv)."""
        if self._ahead["inverse-dynamics"]:
            return self._inverse(*motion)
        ahead = self._gravity(q) if self._ahead["gravity"] else np.zeros_like(v)
        if self._ahead["acceleration"]:
            ahead = ahead + self.gains.inertia * vdot_d + self.gains.viscous * (e_v + v)
        return ahead
