"""A drum at the end of a line."""

from dataclasses import dataclass, replace
from typing import Any

from modurob.catalogue.lines.route import Node, Point, Swivel
from modurob.errors import InputError, explained


@explained
@dataclass(frozen=True)
class Winch:
    """A drum at the end of a line: one radian of positive rotation of `joint`, a joint of one coordinate, winds in
    `radius` [m].

    The line leaves at a point, or over a `swivel` at that point.

    >>> mr.Winch("drum", 0.05, mr.Swivel(0.05)).node()
    Swivel(radius=0.05, offset=0.0, drum=0.05)
    """

    joint: str
    radius: Any
    swivel: Swivel | None = None

    def node(self) -> Node:
        """The point at which a line leaves it."""
        if isinstance(self.radius, int | float) and not self.radius > 0:
            raise InputError(f"winch on joint {self.joint!r}: radius {self.radius}: expected more than zero [m]")
        return Point(self.radius) if self.swivel is None else replace(self.swivel, drum=self.radius)
