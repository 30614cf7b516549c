"""Changes of shape that organisms of a world go through, each at its moment."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modurob.simulation.world import World

# a time [s], or a condition that is looked at after every tick
When = float | Callable[["World"], bool]


@dataclass(frozen=True)
class Dock:
    """A new module joins, moving along with the port it docks at."""

    when: When
    organism: str
    module: str
    type: str
    at: str
    by: str
    roll: float = 0.0


@dataclass(frozen=True)
class Undock:
    """A module, or all that hangs on the far side of a port, is let go and goes on as an organism of its own, named `into`."""

    when: When
    organism: str
    port: str
    into: str
    controller: Any = None


@dataclass(frozen=True)
class Merge:
    """Two organisms become one, named as the first and under its controller, port `a` of the first docked to `b` of the second.

    They must have come within `tolerance` [m, rad] of fitting. If one of them stands in the world, it must be the first.
    """

    when: When
    first: str
    second: str
    a: str
    b: str
    roll: float = 0.0
    tolerance: tuple[float, float] = (1e-3, 1e-2)


@dataclass(frozen=True)
class Connect:
    """Two free ports of one organism, which have come within `tolerance` [m, rad] of fitting, dock: this closes a loop."""

    when: When
    organism: str
    a: str
    b: str
    roll: float = 0.0
    tolerance: tuple[float, float] = (1e-3, 1e-2)


@dataclass(frozen=True)
class Disconnect:
    """A connection that closes a loop opens; the organism still hangs together."""

    when: When
    organism: str
    port: str


@dataclass(frozen=True)
class Reroot:
    """Another module of an organism becomes its base: the same motion, in other coordinates.

    An organism that stands does so on its new base from now on.
    """

    when: When
    organism: str
    base: str


Change = Dock | Undock | Merge | Connect | Disconnect | Reroot
