"""A port of a module, two of them docked, and how that places one module against the other."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from modurob.catalogue import Port
from modurob.errors import InputError
from modurob.spatial import se3
from modurob.spatial.scalars import Array, read_only


class PortRef(NamedTuple):
    """Port `port` of module `module`, written m3/2."""

    module: str
    port: str

    def __str__(self) -> str:
        return f"{self.module}/{self.port}"

    @classmethod
    def parse(cls, text: "str | PortRef") -> "PortRef":
        """From `m3/2`."""
        if isinstance(text, PortRef):
            return text
        module, slash, port = str(text).rpartition("/")
        if not slash or not module or not port:
            raise InputError(f"port {text!r}: expected module/port, like m3/2")
        return cls(module, port)


class Connection(NamedTuple):
    """Two docked ports; `roll` turns the second module about the first port's normal [degrees]."""

    a: PortRef
    b: PortRef
    roll: float = 0.0

    def __str__(self) -> str:
        return f"{self.a} - {self.b}" + (f" @ {np.format_float_positional(self.roll, trim='-')}" if self.roll else "")

    def end(self, module: str) -> PortRef:
        """The port on that module."""
        return self.a if self.a.module == module else self.b

    def other(self, module: str) -> PortRef:
        """The port on the other module."""
        return self.b if self.a.module == module else self.a


def docking(a: str | PortRef, b: str | PortRef, roll: Any) -> Connection:
    """The connection of two ports, its roll from 0 to 360 degrees: one docking, one value."""
    try:
        degrees = float(roll) % 360
    except (TypeError, ValueError):
        raise InputError(f"roll {roll!r} from {a} to {b}: expected degrees") from None
    return Connection(PortRef.parse(a), PortRef.parse(b), degrees)


def _quarter_exact(degrees: float) -> tuple[float, float]:
    """Cosine and sine, exact at quarter turns."""
    c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return (round(c), round(s)) if degrees % 90 == 0 else (c, s)


@lru_cache(maxsize=4096)
def mated(a: Port, b: Port, roll: float) -> Array:
    """Pose of b's module in a's module frame when the ports are docked, joints at zero, (4, 4).

    X_a Rot(z; roll) Rot(x; pi) X_b^-1; without the turns for virtual connectors.
    """
    if a.connector.virtual:
        return read_only(a.X @ se3.inverse(b.X))
    c, s = _quarter_exact(roll)
    look_at = np.array([[c, s, 0.0], [s, -c, 0.0], [0.0, 0.0, -1.0]])
    return read_only(a.X @ se3.pose(look_at) @ se3.inverse(b.X))
