"""Stops at the limits of a joint."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from modurob.catalogue.forces.force import FORCES, JointForce
from modurob.errors import InputError
from modurob.spatial.scalars import Array, maximum, minimum, select


@FORCES.register("stop")
@dataclass(frozen=True)
class Stop(JointForce):
    """An end stop: beyond a limit the joint is pushed back by stiffness times depth plus damping times rate [N m or N];
    it never pulls.

    Without a stiffness it is chosen by the inertia behind the joint: see `modurob.algorithms.forces.acting`.

    >>> import modurob as mr
    >>> free = mr.load("crab").mechanism().without_forces()
    >>> robot = free.with_force("wall", mr.Stop(upper=0.2, stiffness=100.0, damping=0.0), joint="m0/hinge")
    >>> robot.passive_forces([0.3, 0.0, 0.0], [0.0, 0.0, 0.0]).round(9) + 0.0
    array([-10.,   0.,   0.])
    """

    lower: Any = -np.inf  # [rad or m]
    upper: Any = np.inf
    stiffness: Any = None  # [N m/rad or N/m]
    damping: Any = None  # [N m s/rad or N s/m]
    kind = "stop"

    def __post_init__(self) -> None:
        if (self.stiffness is None) != (self.damping is None):
            raise InputError(
                f"stop with stiffness {self.stiffness} and damping {self.damping}: expected both, or neither"
            )
        if isinstance(self.lower, int | float) and isinstance(self.upper, int | float) and not self.lower <= self.upper:
            raise InputError(f"stop from {self.lower} to {self.upper}: expected lower <= upper")
        if self.stiffness is not None:
            self._require(stiffness=self.stiffness, damping=self.damping)

    def effort(self, t: Any, q: Array, v: Array, x: Array) -> Array:
        zero = np.zeros(())
        above, below = q - self.upper, q - self.lower
        push_down = minimum(-self.stiffness * above - self.damping * v, zero)
        push_up = maximum(-self.stiffness * below - self.damping * v, zero)
        return select(zero, above, push_down, zero) + select(below, zero, push_up, zero)

    def energy(self, q: Array, x: Array) -> Array:
        zero = np.zeros(())
        depth = maximum(q - self.upper, zero) + minimum(q - self.lower, zero)
        return self.stiffness * depth * depth / 2
