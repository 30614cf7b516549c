"""Dry friction taken off before it shows: what the model says of it is added to the torques of another controller."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from modurob.algorithms import dry_friction
from modurob.control.around import Around
from modurob.control.recipe import LAWS, BoundLaw
from modurob.control.values import limiter
from modurob.motion.numbers import one_positive
from modurob.robot import Mechanism
from modurob.simulation import Measured
from modurob.spatial.scalars import Array


@LAWS.register("friction-compensation")
@dataclass(frozen=True, eq=False)
class FrictionCompensation(Around):
    """Another controller plus the dry friction of the model, share F(v) tanh(v/width), so that joints move as if they
    had little or no friction.

    F is Coulomb friction with the Stribeck term. A `share` above one would drive a joint by itself; `width` [rad/s or
    m/s] is the velocity scale over which the compensation is applied, so that noise at rest does not excite the drives.

    >>> rusty = robot.with_force("rust", mr.Friction(coulomb=0.5), joint="m0/hinge")
    >>> law = mr.FrictionCompensation(mr.ComputedTorque(100, 20, [0.3, 0.2, -0.4], sample_time=1e-3), share=0.9)
    >>> mr.simulate(rusty, q, duration=0.05, controller=law).status.ok
    True
    """

    share: float = 0.9
    width: float = 0.02  # [rad/s or m/s]

    def __post_init__(self) -> None:
        super().__post_init__()
        one_positive(self.share, "share")
        one_positive(self.width, "width")

    def on(self, robot: Mechanism) -> "FrictionCompensationLaw":
        return FrictionCompensationLaw(self, robot)


class FrictionCompensationLaw(BoundLaw):
    """The law for one robot; its memory is the other's."""

    def __init__(self, recipe: FrictionCompensation, robot: Mechanism):
        super().__init__(recipe, robot)
        self._law, self._limited = recipe.inner.on(robot), limiter(recipe.saturation, self.drives)
        self._driven = np.isin(np.arange(self.drives.robot.nv), self.drives.v)

    def start(self) -> Any:
        return self._law.start()

    def step(self, memory: Any, t: float, measured: Measured) -> tuple[Any, Array]:
        memory, tau = self._law.step(memory, t, measured)
        v = np.asarray(measured.v)
        against = self.recipe.share * dry_friction(self.drives.robot, v) * np.tanh(v / self.recipe.width)
        return memory, self._limited(tau + np.where(self._driven, against, 0.0))
