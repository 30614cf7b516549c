"""The tension of a line: a law of its stretch.

A line has the length L over its route; its drums set the natural length l0, so that it is stretched by u = L - l0. The
strain is u / l0; the part on a drum is not strained (Lieskovsky chapter 3).
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from modurob.catalogue.forces.force import Numbers
from modurob.errors import InputError
from modurob.registry import Registry
from modurob.spatial.scalars import Array, maximum, minimum, select

LAWS: Registry[type["LineLaw"]] = Registry("law of a line")

# a line that is wound in to less than this pulls as one of this length would [m]
SHORTEST = 1e-9


class Stretch(NamedTuple):
    """The state of a line, (...) each [m, m/s]: its stretch u and its natural length l0, with their rates."""

    u: Array
    rate: Array
    natural: Array
    natural_rate: Array

    @property
    def l0(self) -> Array:
        """The natural length, SHORTEST at least."""
        return maximum(self.natural, np.array(SHORTEST))

    @property
    def strain(self) -> Array:
        """u / l0."""
        return self.u / self.l0

    @property
    def strain_rate(self) -> Array:
        """d(u / l0)/dt [1/s]."""
        return (self.rate - self.strain * self.natural_rate) / self.l0


class Pull(NamedTuple):
    """The work that a line takes is tension du - winding dl0, (...) each [N]."""

    tension: Array
    winding: Array


class LineLaw(Numbers):
    """A frozen dataclass of numbers, and perhaps of choices, which are true or false."""

    # whether it is an input of the robot: a tension that a law of control may add to
    driven: bool = False

    # natural length with all drums at zero [m]
    rest: Any

    def shortened(self, length: Any) -> Any:
        """The law of a line after the given length was wound in [m]."""
        return replace(self, rest=self.rest - length)  # type: ignore[type-var, call-arg]

    @abstractmethod
    def pull(self, s: Stretch) -> Pull:
        """Tension, and the force at a drum."""

    def stored(self, u: Array, natural: Array) -> Array:
        """Stored energy, (...) [J]."""
        return 0 * u


@LAWS.register("elastic")
@dataclass(frozen=True)
class Elastic(LineLaw):
    """A cable: T = max(0, stiffness e + damping de/dt) [N], strain e = u / l0 (Lieskovsky chapter 3).

    `stiffness` is E A and `damping` mu A, with Young's modulus, viscosity and cross-section. A cable that is not
    `unilateral` also resists compression. While drums turn, this law does not conserve energy, since what is wound up
    counts as unstrained; `conservative` adds the force at the drum that makes U = E A u² / (2 l0) a potential. Without
    drums the two are equal.

    >>> rope = mr.Elastic(stiffness=1000.0, rest=0.5)
    >>> b = mr.Builder("pendulum")
    >>> ball = b.body("ball", mr.spatial.inertia.point(1.0, (0, 0, -1)), joint=mr.Revolute((1, 0, 0)))
    >>> b.line("rope", [("world", (0, 1, -1)), ("ball", (0, 0, -1))], rope)
    >>> b.build().line_tensions([0.0], [0.0])
    array([1000.])
    """

    stiffness: Any  # E A [N]
    rest: Any  # natural length with all drums at zero [m]
    damping: Any = 0.0  # mu A [N s]
    unilateral: bool = True
    conservative: bool = False
    kind = "elastic"

    def __post_init__(self) -> None:
        self._require(stiffness=self.stiffness, damping=self.damping, rest=self.rest)

    def pull(self, s: Stretch) -> Pull:
        strain = s.strain
        braked = self.damping * s.strain_rate
        tension = self.stiffness * strain + braked
        winding = (self.stiffness * strain / 2 + braked) * strain if self.conservative else 0 * tension
        if not self.unilateral:
            return Pull(tension, winding)
        slack = minimum(strain, tension)
        zero = np.zeros(())
        return Pull(*(select(zero, slack, x, zero) for x in (tension, winding)))

    def stored(self, u: Array, natural: Array) -> Array:
        l0 = maximum(natural, np.array(SHORTEST))
        taut = maximum(u, np.zeros(())) if self.unilateral else u
        return self.stiffness * taut * taut / (2 * l0)


@LAWS.register("tension")
@dataclass(frozen=True)
class Tension(LineLaw):
    """A line under a given tension [N], as from a counterweight or a force-controlled drive, and an input of the robot.

    `actuation` includes it among the inputs, between `lower` and `upper`; a control law adds -J^T u to the torques, J
    the `line_jacobian`.

    >>> b = mr.Builder("lift", gravity=(0, 0, -10))
    >>> cage = b.body("cage", mr.spatial.inertia.point(2.0, (0, 0, 0)), joint=mr.Prismatic((0, 0, 1)))
    >>> b.line("rope", [("world", (0, 0, 3)), ("cage", (0, 0, 0))], mr.Tension(20.0))
    >>> lift = b.build()
    >>> lift.forward_dynamics([0.0], [0.0], lift.passive_forces([0.0], [0.0])).round(9) + 0.0
    array([0.])
    """

    tension: Any = 0.0  # [N]
    lower: Any = 0.0  # [N]
    upper: Any = np.inf  # [N]
    kind, driven = "tension", True

    def __post_init__(self) -> None:
        self._require(-np.inf, tension=self.tension)
        if not self.lower <= self.upper:
            raise InputError(f"tensions from {self.lower} to {self.upper} N: expected lower <= upper")

    @property
    def rest(self) -> Any:
        return 0.0

    def shortened(self, length: Any) -> "Tension":
        return self

    def pull(self, s: Stretch) -> Pull:
        return Pull(self.tension + 0 * s.u, 0 * s.u)

    def stored(self, u: Array, natural: Array) -> Array:
        return self.tension * u
