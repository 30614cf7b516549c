"""A port of a module, two docked ports, and the resulting placement of one module relative to the other."""

import re
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from modurob.catalogue import Port
from modurob.errors import InputError
from modurob.spatial import se3
from modurob.spatial.scalars import Array, read_only

LONGEST_TEXT = 1000  # of a connection
# no part can match what its neighbours match, so that a text is read in one pass
TEXT = re.compile(r"^\s*([^\s/]+/[^\s/]+)\s+-\s+([^\s/]+/[^\s/]+)(?:\s+@\s+(-?[0-9]+(?:\.[0-9]*)?))?\s*$")


class PortRef(NamedTuple):
    """Port `port` of module `module`, written m3/2.

    >>> PortRef.parse("m3/2")
    PortRef(module='m3', port='2')
    >>> print(PortRef("m3", "2"))
    m3/2
    """

    module: str
    port: str

    def __str__(self) -> str:
        return f"{self.module}/{self.port}"

    @classmethod
    def parse(cls, text: "str | PortRef") -> "PortRef":
        """From `m3/2`; a PortRef stays as it is."""
        if isinstance(text, PortRef):
            return text
        module, slash, port = str(text).rpartition("/")
        if not slash or not module or not port:
            raise InputError(f"port {text!r:.80}: expected module/port, like m3/2")
        return cls(module, port)


class Connection(NamedTuple):
    """Two docked ports; `roll` turns the second module about the first port's normal, counter-clockwise [degrees].

    >>> Connection.parse("m0/3 - m1/4 @ 90")
    Connection(a=PortRef(module='m0', port='3'), b=PortRef(module='m1', port='4'), roll=90.0)
    >>> print(Connection(PortRef("m0", "3"), PortRef("m1", "4"), 90.0))
    m0/3 - m1/4 @ 90
    """

    a: PortRef
    b: PortRef
    roll: float = 0.0

    def __str__(self) -> str:
        return f"{self.a} - {self.b}" + (f" @ {degrees_text(self.roll)}" if self.roll else "")

    @classmethod
    def parse(cls, text: str) -> "Connection":
        """From `m0/3 - m1/4`, or `m0/3 - m1/4 @ 90` with a roll."""
        found = TEXT.match(text) if len(text) <= LONGEST_TEXT else None
        if found is None:
            raise InputError(
                f"connection {text!r:.80}: expected two ports, like m0/3 - m1/4, or m0/3 - m1/4 @ 90 with a roll"
            )
        return docking(found[1], found[2], found[3] or 0)

    def end(self, module: str) -> PortRef:
        """The port on that module."""
        return self.a if self.a.module == module else self.b

    def other(self, module: str) -> PortRef:
        """The port on the other module."""
        return self.b if self.a.module == module else self.a


def degrees_text(roll: float) -> str:
    """An angle written so that it reads back the same.

    >>> degrees_text(90.0), degrees_text(360 / 7)
    ('90', '51.42857142857143')
    """
    return np.format_float_positional(roll, trim="-")


def docking(a: str | PortRef, b: str | PortRef, roll: Any = 0.0) -> Connection:
    """The connection of two ports, its roll from 0 to 360 degrees: one docking, one value.

    >>> print(docking("m0/3", "m1/4", -90))
    m0/3 - m1/4 @ 270
    """
    try:
        degrees = float(roll) % 360
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"roll {roll!r:.80} from {a} to {b}: expected degrees") from None
    # the remainder of a tiny negative angle is rounded up to a whole turn
    return Connection(PortRef.parse(a), PortRef.parse(b), 0.0 if degrees == 360 else degrees)


def _quarter_exact(degrees: float) -> tuple[float, float]:
    """Cosine and sine, exact at quarter turns."""
    c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return (round(c), round(s)) if degrees % 90 == 0 else (c, s)


@lru_cache(maxsize=4096)
def mated(a: Port, b: Port, roll: float) -> Array:
    """Pose X_AB of b's module in a's module frame when the ports are docked, joints at zero, (4, 4).

    X_AB = X_a Rot(z; roll) Rot(x; pi) X_b^-1, with X_a and X_b the port frames; without the turns for virtual connectors.
    """
    if a.connector.virtual:
        return read_only(a.X @ se3.inverse(b.X))
    c, s = _quarter_exact(roll)
    look_at = np.array([[c, s, 0.0], [s, -c, 0.0], [0.0, 0.0, -1.0]])
    return read_only(a.X @ se3.pose(look_at) @ se3.inverse(b.X))
