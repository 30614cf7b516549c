"""Elastic joints step by step: what joints need from gears, gears from motors, motors from currents (Lozano and Brogliato 1992)."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from modurob import kernels
from modurob.algorithms import passive_forces
from modurob.control.christoffel import polarised
from modurob.control.drives import Drives
from modurob.control.elastic import BETWEEN, ElasticLaw, differences, moments, spacing
from modurob.control.feedback_linearisation import without_stops
from modurob.control.recipe import LAWS, Recipe
from modurob.control.values import PerJoint, gain, per_rate
from modurob.motion.numbers import one_positive
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array, clip, largest


class Stages(NamedTuple):
    """The error of each stage relative to the command of the previous one, (..., nv) each."""

    s: Array  # of the joints' rates, v_r - v [rad/s]
    angle: Array  # of the motors' angles [rad]
    speed: Array  # of the motors' rates [rad/s]


@LAWS.register("backstepping")
@dataclass(frozen=True, eq=False)
class Backstepping(Recipe):
    """Tracking with elastic joints without inverting their dynamics: V = (s^T M s + z1^T k z1 + z2^T J z2)/2 always
    decreases.

    The joints require the torque of `SlotineLi`, tau_d = M vdot_r + C v_r + N - passive + Kd s, hence the motor angles
    theta_d = q + tau_d/k and the motor rates w_d = d theta_d/dt + pace z1 + s, with z1 = theta_d - theta, z2 = w_d -
    theta'. The torque tau = J dw_d/dt + b theta' + k (theta - q) + k z1 + pace J z2 + reach sat(z2/layer) gives V' =
    -s^T Kd s - pace z1^T k z1 - pace z2^T J z2; unknown friction of the motors is dominated if it is below `reach`.
    `reference` is an array, or a function of time that returns q and its first four derivatives. For robots with an
    elastic drive at every joint; on a floating base M is the inertia that the drives move, as in `SlotineLi`.

    >>> law = mr.Backstepping([0.3, 0.2, -0.4], slope=10.0, kd=2.0, pace=50.0)
    """

    reference: Any = 0.0
    slope: PerJoint = 10.0  # [1/s]
    kd: PerJoint = 1.0  # [N m s/rad]
    pace: float = 50.0  # of the motors [1/s]
    reach: PerJoint = 0.0  # [N m]
    layer: PerJoint = 0.1  # [rad/s]
    needs: ClassVar[str] = "a robot with an elastic drive at every joint"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_positive(self.pace, "pace")

    def drives(self, robot: Mechanism) -> Drives:
        return Drives.of(self.believed(robot), self.actuated)

    def on(self, robot: Mechanism) -> "BacksteppingLaw":
        return BacksteppingLaw(self, robot)


class BacksteppingLaw(ElasticLaw):
    """The law for one robot."""

    def __init__(self, recipe: Backstepping, robot: Mechanism):
        super().__init__(recipe, robot, BETWEEN)
        drives = self.drives
        self._slope, self._kd = gain(recipe.slope, drives, "slope"), gain(recipe.kd, drives, "kd")
        self._reach = per_rate(recipe.reach, drives, "reach")
        self._layer = np.maximum(per_rate(recipe.layer, drives, "layer"), 1e-12)
        self._passive = without_stops(self._own.links)

    def stages(self, t: float, q: Array, v: Array, x: Array) -> Stages:
        """The errors of the three stages."""
        return self._found(t, q, v, x)[0]

    def torque(self, t: float, q: Array, v: Array, x: Array) -> Array:
        own, pace = self._own, self.recipe.pace
        z, acceleration = self._found(t, q, v, x)
        switched = self._reach * clip(z.speed / self._layer, -1.0, 1.0)
        known = own.viscous * own.speeds(x) + own.stiffness * own.twist(q, x)
        asked = own.rotor * (acceleration + pace * z.speed) + own.stiffness * z.angle
        return self._limited(asked + known + switched)

    def _found(self, t: float, q: Array, v: Array, x: Array) -> tuple[Stages, Array]:
        """The errors, and the required acceleration of the motors, dw_d/dt."""
        own, pace = self._own, self.recipe.pace
        speed, (vdot, jerk) = own.speeds(x), self.motion(q, v, x)
        e, e_v, *ahead = self.ahead(t, q, v)
        late, later = (d - own.at_rates(now[..., own.v]) for d, now in zip(ahead, (vdot, jerk), strict=False))
        errors = e, e_v, late, later, ahead[2]
        f, first, second = self._asked((q, v, vdot, jerk, np.zeros_like(v)), errors, (e, e_v, *ahead))
        s, s_rate = e_v + self._slope(e), late + self._slope(e_v)
        rate, angle = v + first / own.stiffness, f / own.stiffness - own.twist(q, x)
        found = Stages(s, angle, rate + pace * angle + s - speed)
        return found, vdot + second / own.stiffness + pace * (rate - speed) + s_rate

    def _asked(
        self, motion: tuple[Array, ...], errors: tuple[Array, ...], ahead: tuple[Array, ...]
    ) -> tuple[Array, ...]:
        """The torque that joints require through their gears, and its first and second derivative along the motion."""
        h = 1 / largest(np.array([1 / spacing(*x[1:]) for x in (motion, errors, ahead)]), 0.0)
        (q, v, _), (e, e_v, _), (_, _, vdot_d) = (
            moments(motion, h, self._own.links),
            moments(errors, h),
            moments(ahead, h),
        )
        return differences(self._law(q, v, e, e_v, vdot_d), h)

    def _law(self, q: Array, v: Array, e: Array, e_v: Array, vdot_d: Array) -> Array:
        """That of `SlotineLi`, (..., nv)."""
        links, between, s = self._own.links, self._coupling(q), e_v + self._slope(e)
        f = polarised(links, links.inverse_dynamics, q, v, v + between.motion(s), vdot_d + self._slope(e_v))
        passive = passive_forces(self._passive, q, v, run=kernels.run) if self._passive.forces else 0.0
        return between.torque(f - passive) + self._kd(s)
