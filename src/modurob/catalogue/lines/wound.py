"""The compliance of a cable that unwinds from a pulley, as a law of an involute joint (Lieskovsky 3.1)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from modurob.catalogue.forces.force import FORCES, JointLaw
from modurob.catalogue.joints.involute import Unwinding
from modurob.catalogue.joints.joint import JointType
from modurob.catalogue.lines.law import Elastic, Stretch
from modurob.spatial.scalars import Array


@FORCES.register("wound cable")
@dataclass(frozen=True)
class WoundCable(JointLaw):
    """tau = -T du/dq along all rates of an involute joint, T = max(0, stiffness e + damping de/dt) [N], e = u / (r
    phi).

    The stretch u = l - r phi has the derivative g = du/dq = (0, 1), (r e, r phi) or (-r, 1) for the variants stretch,
    strain and length: the same force in other coordinates. Options are as in `mr.Elastic`.

    >>> b = mr.Builder("cable")
    >>> end = b.body("end", mr.spatial.inertia.point(1.0, (0, 0, 0)), joint=mr.InvoluteStrain(0.07))
    >>> b.force("rope", mr.WoundCable(stiffness=600.0), joint="end")
    >>> b.build().passive_forces([2.0, 0.1], [0.0, 0.0])
    array([-0.42, -8.4 ])
    """

    stiffness: Any  # E A [N]
    damping: Any = 0.0  # mu A [N s]
    unilateral: bool = True
    conservative: bool = False
    kind = "wound cable"

    def __post_init__(self) -> None:
        self._require(stiffness=self.stiffness, damping=self.damping)

    def obstacle(self, joint: JointType) -> str | None:
        """The reason why it cannot act on a joint."""
        if isinstance(joint, Unwinding) and joint.nv == 2:
            return None
        return "expected an involute joint with a stretch, mr.InvoluteStrain and the like"

    @property
    def _law(self) -> Elastic:
        return Elastic(self.stiffness, 0.0, self.damping, self.unilateral, self.conservative)

    def effort(self, t: Any, joint: Any, q: Array, v: Array, x: Array) -> Array:
        g = self.slope(joint, q)
        natural, r = joint.natural(q), joint.radius
        u = joint.taut(q) - natural
        pull = self._law.pull(Stretch(u, (g * v).sum(axis=-1), natural, r * v[..., 0]))
        unwinding = np.array([1.0, 0.0]) * r
        return -pull.tension[..., None] * g + pull.winding[..., None] * unwinding

    @staticmethod
    def slope(joint: Any, q: Array) -> Array:
        """g = du/dq, (..., 2)."""
        by_angle, other = joint.slopes(q)
        return np.stack([by_angle - joint.radius, other], axis=-1)

    def energy(self, joint: Any, q: Array, x: Array) -> Array:
        natural = joint.natural(q)
        return self._law.stored(joint.taut(q) - natural, natural)
