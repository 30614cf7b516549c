"""Laws along the sliding variable s = v_r - v: passivity-based and robust (Slotine and Li, Applied Nonlinear Control)."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from modurob import kernels
from modurob.algorithms import passive_forces
from modurob.control.assumptions import require
from modurob.control.christoffel import polarised
from modurob.control.coupling import coupling
from modurob.control.feedback_linearisation import without_stops
from modurob.control.recipe import LAWS, BoundLaw, Recipe
from modurob.control.reference import Reference, target
from modurob.control.tracking import errors_of
from modurob.control.values import PerJoint, gain, limiter, per_rate
from modurob.robot import Mechanism
from modurob.simulation import Memoryless
from modurob.spatial.scalars import Array, clip


class Sliding(NamedTuple):
    """The reference rate and its derivative, and how far the robot is from it, (..., nv) each."""

    rate: Array  # v_r = v_d + slope e
    acceleration: Array  # vdot_d + slope e_v
    s: Array  # v_r - v


class SlidingLaw(BoundLaw):
    """What laws along s share."""

    def __init__(self, recipe: Any, robot: Mechanism):
        super().__init__(recipe, robot)
        drives = self.drives
        require(drives, type(recipe).__name__, *recipe.assumes)
        self._target, self._errors = target(recipe.reference, drives), errors_of(drives)
        self._slope, self._kd = gain(recipe.slope, drives, "slope"), gain(recipe.kd, drives, "kd")
        self._limited = limiter(recipe.saturation, drives)
        self._model, self._own, self._coupling = drives.robot, without_stops(drives.robot), coupling(drives)

    def sliding(self, t: float, q: Array, v: Array) -> Sliding:
        """v_r, its derivative and s."""
        e, e_v, vdot_d = self._errors(self._target(t), q, v)
        s = e_v + self._slope(e)
        return Sliding(s + v, vdot_d + self._slope(e_v), s)

    def model_torque(self, q: Array, v: Array, along: Sliding) -> Array:
        """P^T (M vdot_r + C(q, v) (v + P s) + N - passive(q, v)), with C of Christoffel, (..., nv).

        For V = s^T P^T M P s/2: the rates without a drive that correspond to s follow from `Coupling`.
        """
        between = self._coupling(q)
        rate = v + between.motion(along.s)
        tau = polarised(self._model, self._model.inverse_dynamics, q, v, rate, along.acceleration)
        return between.torque(tau - self._passive(q, v))

    def _passive(self, q: Array, v: Array) -> Array:
        return passive_forces(self._own, q, v, run=kernels.run) if self._own.forces else np.zeros_like(v)


@LAWS.register("slotine-li")
@dataclass(frozen=True, eq=False)
class SlotineLi(Recipe):
    """tau = M vdot_r + C(q, v) v_r + N - passive + Kd s, with v_r = v_d + slope e and s = v_r - v.

    Mdot - 2 C is skew-symmetric, so V = s^T M s/2 decreases at the rate s^T Kd s whatever M is, and e follows s;
    nothing is inverted and nothing cancelled. `slope` [1/s] is the rate at which e follows; kd is in N m s/rad or N
    s/m. On a floating base M is the inertia that the drives move, M_dd - M_dp M_pp^-1 M_pd, and the same holds,
    whatever the motion of the base. See `mr.control.assumptions`.

    >>> law = mr.SlotineLi([0.3, 0.2, -0.4], slope=10.0, kd=2.0)
    >>> bool(abs(mr.simulate(robot.ideal(), q, duration=1.0, controller=law).q[-1] - [0.3, 0.2, -0.4]).max() < 0.01)
    True
    """

    reference: Reference = 0.0
    slope: PerJoint = 10.0  # [1/s]
    kd: PerJoint = 1.0  # [N m s/rad or N s/m]
    assumes: ClassVar[tuple[str, ...]] = ("driven", "coordinates", "tree")

    def on(self, robot: Mechanism) -> "SlotineLiLaw":
        return SlotineLiLaw(self, robot)


class SlotineLiLaw(SlidingLaw, Memoryless):
    """The passivity-based law for one robot."""

    def torque(self, t: float, q: Array, v: Array) -> Array:
        along = self.sliding(t, q, v)
        return self._limited(self.model_torque(q, v, along) + self._kd(along.s))


@LAWS.register("sliding-mode")
@dataclass(frozen=True, eq=False)
class SlidingMode(Recipe):
    """tau = M vdot_r + C v_r + N - passive + Kd s + reach sat(s/layer): disturbances below `reach` keep s inside its
    layer.

    Within the layer the switching is linear, so that drives do not chatter; e is then at most layer/slope.

    >>> law = mr.SlidingMode([0.3, 0.2, -0.4], slope=10.0, reach=2.0, layer=0.1)
    >>> mr.simulate(robot, q, duration=0.05, controller=law).status.ok
    True
    """

    reference: Reference = 0.0
    slope: PerJoint = 10.0  # [1/s]
    reach: PerJoint = 1.0  # [N m or N]
    layer: PerJoint = 0.1  # [rad/s or m/s]
    kd: PerJoint = 0.0  # [N m s/rad or N s/m]
    assumes: ClassVar[tuple[str, ...]] = ("driven", "coordinates", "tree")

    def on(self, robot: Mechanism) -> "SlidingModeLaw":
        return SlidingModeLaw(self, robot)


class SlidingModeLaw(SlidingLaw, Memoryless):
    """The robust law for one robot."""

    def __init__(self, recipe: SlidingMode, robot: Mechanism):
        super().__init__(recipe, robot)
        self._reach = per_rate(recipe.reach, self.drives, "reach")
        self._layer = np.maximum(per_rate(recipe.layer, self.drives, "layer"), 1e-12)

    def torque(self, t: float, q: Array, v: Array) -> Array:
        along = self.sliding(t, q, v)
        switched = self._reach * clip(along.s / self._layer, -1.0, 1.0)
        return self._limited(self.model_torque(q, v, along) + self._kd(along.s) + switched)


def slotine_li_regressor(robot: Mechanism, q: Array, v: Array, v_r: Array, vdot_r: Array) -> Array:
    """Y, (..., nv, 10 bodies), with Y pi = M vdot_r + C(q, v) v_r + N, C of Christoffel.

    See `polarised`.

    >>> Y = mr.control.slotine_li_regressor(robot, q, v, v, np.zeros(3))
    >>> bool(np.allclose(Y, robot.regressor(q, v, np.zeros(3))))
    True
    """
    return polarised(robot, robot.regressor, q, v, v_r, vdot_r)
