"""Contact of a shape with the ground."""

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from modurob.catalogue.contact.ground import Ground
from modurob.catalogue.contact.law import TINY, ZERO, Bristled, StepMotion, changed
from modurob.catalogue.contact.touching import Touch, Touching
from modurob.spatial.scalars import Array, minimum, sqrt


@dataclass(frozen=True)
class Contact(Bristled):
    """A shape on the ground. States are the bristles: for each point two displacements along its tangents [m]."""

    shape: Touching
    ground: Ground
    kind = "contact"

    @property
    def nx(self) -> int:  # type: ignore[override]
        return 2 * self.count

    @property
    def count(self) -> int:
        return self.shape.count

    @property
    def material(self) -> Ground:
        return self.ground

    @property
    def parts(self) -> dict[str, Any]:
        return {"shape": self.shape, "ground": self.ground, "surface": self.ground.surface}

    def with_parameters(self, numbers: dict[str, Any]) -> "Contact":
        """The contact with other numbers, traced ones too."""
        shape, ground, surface = (changed(own, f"{part} ", numbers) for part, own in self.parts.items())
        object.__setattr__(ground, "surface", surface)
        out = copy(self)
        object.__setattr__(out, "shape", shape)
        object.__setattr__(out, "ground", ground)
        return out

    def touch(self, X_WB: Array, X_BF: Array) -> Touch:
        """Its points next to the ground, for the pose of the body, and that of the shape in it."""
        return self.shape.touches(X_WB, X_BF, self.ground.surface)

    def clearance(self, touch: Touch, motion: StepMotion) -> Array:
        """The least gap within a step, (...) [m]: nothing touches where it is not negative."""
        kind = type(self.shape) if touch.n.shape[-2] == 1 < touch.gap.shape[-1] else Touching
        return minimum(*(kind.least(self.shape, gaps) for gaps in self.gaps_ahead(touch, motion)))

    def bristles(self, touch: Touch, normal: Array, x: Array) -> list[Array]:
        n = touch.gap.shape[-1]
        return [x[..., :n], x[..., n:]]

    def end_states(self, touch: Touch, motion: StepMotion, V: Array, x: Array) -> Array:
        """Bristles at the end of a step that ends with the twist V, (..., nx): moved with the points, within the friction cone."""
        points, dt = self._point_forces(touch, motion, x), motion.dt
        normal = self._end_normal_forces(points, touch, motion, V)
        before = self.bristles(touch, normal, x)
        z = [z + dt[..., None] * motion.along(touch, t, V) for z, t in zip(before, touch.t, strict=True)]
        size = self.ground.stiffness * sqrt(z[0] * z[0] + z[1] * z[1] + TINY)
        kept = points.on * minimum(1 + ZERO, self.ground.friction * normal / size)
        return np.concatenate([kept * part for part in z], axis=-1)
