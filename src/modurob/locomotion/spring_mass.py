"""Running and walking on springs: a point mass on legs without mass (von Stryk 5.9.3; Blickhan; Geyer, Seyfarth and Blickhan).

m p'' = m g + sum k (l - |p - f|) (p - f) / |p - f| over the feet f on the ground. A leg touches down at its rest length l under the
angle of attack to the ground, and leaves the ground when it is that long again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.errors import InputError, SimulationError, explained
from modurob.locomotion.numbers import numbers, one_number, one_positive
from modurob.locomotion.orbits import Phase, Stride, stride
from modurob.spatial.scalars import Array

FELL, NO_FEET = np.array([np.nan, np.nan]), np.zeros((0, 2))
# lengths of no account [m]
LOW = 1e-6


class Hop(NamedTuple):
    """From apex to apex: times (n,) [s] and states (x, y, vx, vy), (n, 4), on the ground, the foot at x = 0; the next apex."""

    t: Array
    x: Array
    height: float
    speed: float


@explained
@dataclass(frozen=True)
class SpringMass:
    """A runner or walker: mass [kg], stiffness of a leg [N/m], its rest length [m], gravity [m/s²].

    >>> runner = mr.SpringMass(mass=80.0, stiffness=20000.0)
    >>> apex = mr.fixed_point(lambda y: runner.apex_map(y, energy=1785.0, angle=np.radians(67)), [0.95])
    >>> apex.round(3)
    array([0.96])
    """

    mass: float = 80.0
    stiffness: float = 20000.0
    length: float = 1.0
    gravity: float = 9.81

    def __post_init__(self) -> None:
        for name in ("mass", "stiffness", "length", "gravity"):
            one_positive(getattr(self, name), name)

    def acceleration(self, p: ArrayLike, feet: ArrayLike) -> Array:
        """p'', (..., 2) [m/s²], of the mass at (x, y) with feet (k, 2) on the ground."""
        legs = numbers(p, "p", 2)[..., None, :] - numbers(feet, "feet", 2)
        r = np.linalg.norm(legs, axis=-1, keepdims=True)
        return (self.stiffness / self.mass * (self.length / r - 1) * legs).sum(-2) - [0.0, self.gravity]

    def energy(self, x: ArrayLike, feet: ArrayLike = NO_FEET) -> Array:
        """Kinetic, potential and elastic energy of states (x, y, vx, vy), (...) [J]; height zero is the ground."""
        x = numbers(x, "x", 4)
        r = np.linalg.norm(x[..., None, :2] - numbers(feet, "feet", 2), axis=-1)
        springs = self.stiffness * ((self.length - r) ** 2).sum(-1)
        return (self.mass * (x[..., 2:] ** 2).sum(-1) + springs) / 2 + self.mass * self.gravity * x[..., 1]

    def _on(self, *feet: tuple[float, float]) -> Callable[[Array], Array]:
        at = np.array(feet)
        return lambda x: np.concatenate([x[2:], self.acceleration(x[:2], at)])

    # ---- running ----

    @explained
    def hop(self, height: float, speed: float, angle: float) -> Hop:
        """From an apex of the flight at a height [m] and a speed [m/s] over one contact, leg at `angle` to the ground [rad], to the
        next apex; NaN as the next one if the runner falls.

        >>> jump = mr.SpringMass(mass=80.0, stiffness=20000.0).hop(height=1.0, speed=5.0, angle=np.radians(68))
        >>> bool(abs(80 * 9.81 * jump.height + 40 * jump.speed**2 - (80 * 9.81 + 1000)) < 1e-6)
        True
        """
        touch = self._touchdown(angle)
        drop = one_positive(height, "height") - touch[1]
        if drop < 0:
            return Hop(np.zeros(1), np.array([[*touch, one_number(speed, "speed"), 0.0]]), *FELL)
        x = np.array([*touch, one_number(speed, "speed"), -np.sqrt(2 * self.gravity * drop)])
        contact = self._contact(x)
        _, y, vx, vy = contact.end
        apex = (y + vy**2 / (2 * self.gravity), vx) if vy > 0 and y > 0 else FELL
        return Hop(contact.t, contact.x, *map(float, apex))

    def _touchdown(self, angle: float) -> tuple[float, float]:
        a = one_number(angle, "angle")
        if not 0 < a < np.pi:
            raise InputError(f"angle = {a:g} rad: expected an angle of attack between 0 and pi, to the ground")
        return -self.length * np.cos(a), self.length * np.sin(a)

    def _contact(self, x: Array) -> Stride:
        """The time on the ground, foot at the origin; it ends where the leg has its length, or the mass comes to the ground."""
        free = Phase(self._on((0.0, 0.0)), lambda x: min(self.length - np.hypot(x[0], x[1]), x[1]))
        return stride([free], x, step=self._period() / 20)

    def _period(self) -> float:
        return 2 * np.pi * np.sqrt(self.mass / self.stiffness)

    @explained
    def apex_map(self, height: float, energy: float, angle: float) -> float:
        """The height of the next apex [m] at a total energy [J] and an angle of attack [rad]: the return map of
        running; NaN if it falls. Stable if its derivative at the fixed point is within 1 (`mr.multipliers`).

        >>> runner = mr.SpringMass(mass=80.0, stiffness=20000.0)
        >>> f = lambda y: runner.apex_map(y, 1785.0, np.radians(67))
        >>> mr.multipliers(f, mr.fixed_point(f, [0.95])).real.round(3)
        array([0.441])
        """
        # maps of `mr.fixed_point` are of vectors
        y = one_positive(np.squeeze(numbers(height, "height")), "height")
        kinetic = one_positive(energy, "energy") - self.mass * self.gravity * y
        return self.hop(y, np.sqrt(2 * kinetic / self.mass), angle).height if kinetic >= 0 else np.nan

    # ---- walking ----

    @explained
    def step(self, x: ArrayLike, angle: float) -> Stride:
        """One step of walking, from the mass above one foot to the mass above the next: states (x, y, vx, vy), each
        relative to its foot.

        Single support to touchdown of the other leg under `angle`, double support until the first leg is at its rest
        length, single support. The end state is relative to the new foot. A walker that falls raises an error.
        """
        (reach, high), start, short = self._touchdown(angle), numbers(x, "x", 4), self._period() / 20
        single = Phase(self._on((0.0, 0.0)), lambda x: x[1] - high)
        down = stride([single], start, 2.0, short)
        foot = (down.end[0] - reach, 0.0)
        both = Phase(self._on((0.0, 0.0), foot), lambda x: min(self.length - np.hypot(x[0], x[1]), x[1]))
        off = stride([both], down.end, 2.0, short)
        rest = Phase(self._on(foot), lambda x: min(foot[0] - x[0], x[1]), lambda x: x - [foot[0], 0, 0, 0])
        after = stride([rest], off.end, 2.0, short)
        longest = max(
            np.hypot(*down.x[:, :2].T).max(), np.hypot(*(np.concatenate([off.x, after.x])[:, :2] - foot).T).max()
        )
        if after.x[-1, 1] < LOW or longest > self.length + LOW:
            raise SimulationError(
                f"the walker falls or leaves the ground after x = {start.round(4).tolist()}: expected a state nearer to a gait"
            )
        times = [down.t, down.duration + off.t, down.duration + off.duration + after.t]
        return Stride(np.concatenate(times), np.concatenate([down.x, off.x, after.x]), after.end)

    @explained
    def walking_map(self, state: ArrayLike, energy: float, angle: float) -> Array:
        """(y, vy) above one foot from (y, vy) above the last, (2,) [m, m/s], at a total energy [J]: the return map of walking.

        >>> walker = mr.SpringMass(mass=80.0, stiffness=14000.0)
        >>> f = lambda s: walker.walking_map(s, energy=816.0, angle=np.radians(69))
        >>> bool(np.abs(mr.multipliers(f, mr.fixed_point(f, [0.97, 0.0]))).max() < 1)
        True
        """
        y, vy = numbers(state, "state", 2)
        left = one_positive(energy, "energy") - self.energy([0.0, y, 0.0, vy], [[0.0, 0.0]])
        if left < 0:
            raise InputError(f"energy = {energy:g} J: expected at least {energy - left:g} J at the height {y:g} m")
        return self.step([0.0, y, float(np.sqrt(2 * left / self.mass)), vy], angle).end[[1, 3]]
