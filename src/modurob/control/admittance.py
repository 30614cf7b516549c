"""Admittance: a stiff robot that yields to forces like a compliant one."""

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from modurob.control.assumptions import require
from modurob.control.coupling import coupling
from modurob.control.feedback_linearisation import feedback_linearisation
from modurob.control.momentum import MomentumMemory, MomentumObserver
from modurob.control.recipe import LAWS, BoundLaw, Recipe
from modurob.control.reference import Reference, target
from modurob.control.tracking import errors_of
from modurob.control.values import PerJoint, gain, limiter, per_rate
from modurob.errors import ControlError
from modurob.motion.numbers import one_positive
from modurob.robot import Mechanism
from modurob.simulation import Measured
from modurob.spatial.scalars import Array, clip


class Yielding(NamedTuple):
    """The displacement of the reference and its rate, (..., nv); the memory of the observer, and its estimate at the
    joints.
    """

    y: Array
    ydot: Array
    seen: MomentumMemory
    torque: Array


@LAWS.register("admittance")
@dataclass(frozen=True, eq=False)
class Admittance(Recipe):
    """inertia y'' + damping y' + stiffness y = tau_ext, and q_d + y is tracked by computed torque (Seraji 1994).

    tau_ext is the estimate of a momentum observer of that `gain` [1/s], so that no force sensor is needed. At rest
    under a constant external force each joint deflects by tau_ext/stiffness, independently of drives and gravity; with
    kp and kd [1/s², 1/s] far above stiffness/inertia it moves as the compliant model does. On a floating base tau_ext
    is the share of all external forces that acts on the joints, P^T tau_ext (see `Coupling`).

    >>> law = mr.Admittance([0.3, 0.2, -0.4], stiffness=20.0, damping=5.0, inertia=0.2)
    >>> mr.simulate(robot, q, duration=0.05, controller=law).status.ok
    True
    """

    reference: Reference = 0.0
    stiffness: PerJoint = 50.0  # [N m/rad or N/m]
    damping: PerJoint = 10.0  # [N m s/rad or N s/m]
    inertia: PerJoint = 1.0  # [kg m² or kg]
    kp: PerJoint = 400.0  # [1/s²]
    kd: PerJoint = 40.0  # [1/s]
    gain: float = 100.0  # [1/s]
    sample_time: float = field(default=1e-3, kw_only=True)  # type: ignore[assignment]  # [s]
    assumes: ClassVar[tuple[str, ...]] = ("driven", "coordinates", "tree")

    def __post_init__(self) -> None:
        super().__post_init__()
        one_positive(self.gain, "gain")
        one_positive(self.sample_time, "sample_time")

    def on(self, robot: Mechanism) -> "AdmittanceLaw":
        return AdmittanceLaw(self, robot)


class AdmittanceLaw(BoundLaw):
    """Admittance for one robot."""

    def __init__(self, recipe: Admittance, robot: Mechanism):
        super().__init__(recipe, robot)
        drives = self.drives
        require(drives, "Admittance", *recipe.assumes)
        self._K, self._D, self._M = (
            per_rate(getattr(recipe, x), drives, x) for x in ("stiffness", "damping", "inertia")
        )
        if not np.all(self._M[drives.v] > 0):
            raise ControlError(f"inertia = {recipe.inertia!r:.60}: expected more than zero [kg m² or kg]")
        self._M[drives.passive] = 1.0  # where nothing is felt, and nothing gives way
        self._kp, self._kd = gain(recipe.kp, drives, "kp"), gain(recipe.kd, drives, "kd")
        self._target, self._errors = target(recipe.reference, drives), errors_of(drives)
        self._inverse, self._coupling = feedback_linearisation(drives, True, "Admittance"), coupling(drives)
        self._limit, self._limited = drives.robot.effort_limit, limiter(recipe.saturation, drives)
        self._observer = MomentumObserver(drives.robot, recipe.gain, recipe.sample_time)

    def start(self) -> Yielding:
        still = np.zeros(self.drives.robot.nv)
        return Yielding(still, still, self._observer.start(), still)

    def step(self, memory: Yielding, t: float, measured: Measured) -> tuple[Yielding, Array]:
        q, v = (np.asarray(x) for x in measured)
        y, ydot, seen, push = memory
        e, e_v, vdot_d = self._errors(self._target(t), q, v)
        yddot = (push - self._D * ydot - self._K * y) / self._M
        u = vdot_d + yddot + self._kd(e_v + ydot) + self._kp(e + y)
        # the push itself is taken off: what is tracked gives way, the tracking does not
        tau = self._limited(clip(self._inverse(q, v, u) - push, -self._limit, self._limit))
        seen, residual = self._observer.step(seen, q, v, tau)
        push = self._coupling(q).torque(residual)
        # damping and stiffness of the step to come, so that any are stable
        h = self.recipe.sample_time
        ydot = (self._M * ydot + h * (push - self._K * y)) / (self._M + h * self._D + h * h * self._K)
        return Yielding(y + h * ydot, ydot, seen, push), tau
