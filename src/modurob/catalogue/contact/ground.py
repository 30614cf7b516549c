"""The ground: a surface and its material."""

from dataclasses import dataclass, field
from typing import Any

from modurob.catalogue.contact.surface import Plane, Surface
from modurob.catalogue.forces.force import Numbers
from modurob.errors import InputError, explained


@explained
@dataclass(frozen=True)
class Ground(Numbers):
    """A surface with friction, a stiffness and a damping at each point that touches it; see docs/contact.md.

    Friction sticks below `friction` times the normal force. With `restitution` e, what hits faster than a few cm/s leaves with e
    times its speed. `rolling` [m] is the lever of rolling resistance: torques up to it times the normal force.

    >>> import modurob as mr
    >>> crab = mr.load("crab").mechanism(floating=True)
    >>> run = mr.simulate(crab, duration=0.5, ground=mr.Ground(friction=0.8))
    >>> bool(abs(run.v[-1]).max() < 0.05)
    True
    """

    friction: Any = 0.8
    stiffness: Any = 1e5  # of each point [N/m]
    damping: Any = 1e3  # of each point [N s/m]
    restitution: Any = 0.0
    rolling: Any = 0.0  # [m]
    surface: Surface = field(default_factory=Plane)
    kind = "ground"

    def __post_init__(self) -> None:
        self._require(friction=self.friction, damping=self.damping, rolling=self.rolling)
        self._require(stiffness=self.stiffness, restitution=self.restitution)
        if isinstance(self.stiffness, int | float) and not self.stiffness > 0:
            raise InputError(f"ground: stiffness {self.stiffness!r}: expected more than zero [N/m], such as 1e5")
        if isinstance(self.restitution, int | float) and not self.restitution <= 1:
            raise InputError(f"ground: restitution {self.restitution!r}: expected 0 (plastic) to 1 (elastic)")
        if not isinstance(self.surface, Surface):
            raise InputError(f"ground: surface {self.surface!r:.60}: expected one such as mr.Plane(slope=0.1)")

    def parameters(self) -> dict[str, Any]:
        """Its numbers, those of its surface apart."""
        return {name: x for name, x in super().parameters().items() if name != "surface"}
