"""Brakes that are applied and released during a run."""

from collections.abc import Callable
from typing import Any

from modurob.errors import SimulationError, choices
from modurob.mechanism.driven import drive_rows
from modurob.robot import Mechanism
from modurob.simulation.status import Failure
from modurob.spatial.scalars import Array

# brakes(t, q, v): names of the joints whose brakes are on until the next tick; True for all, False or None for none
Braking = Callable[[float, Array, Array], Any]


class Brakes:
    """Which brakes of a robot are on, by a user's function, and the robot with them on: dry friction of what they hold."""

    def __init__(self, robot: Mechanism, given: Braking | None):
        self.robot, self._given = robot, given
        self.able = tuple(robot.joints[row.joint].name for row in drive_rows(robot) if row.force.brake)  # type: ignore[attr-defined]
        self._robots = {frozenset[str](): robot}
        if given is not None and not callable(given):
            raise SimulationError(f"brakes {given!r:.60}: expected a function of t, q and v that gives names of joints")
        if given is not None and not self.able:
            raise SimulationError(
                f"brakes of {robot.name}: expected a drive with a brake above zero [N m]: it has none"
            )

    def asked(self, t: float, q: Array, v: Array) -> frozenset[str] | Failure:
        """Names of the joints whose brakes are to be on, or the reason why they are not known."""
        try:
            return self._names(None if self._given is None else self._given(t, q, v))
        except SimulationError:
            raise
        except Exception as error:  # whatever a user's function raises
            return Failure("controller failed", f"brakes: {type(error).__name__}: {error}")

    def _names(self, found: Any) -> frozenset[str]:
        if found is None or isinstance(found, bool):
            return frozenset(self.able if found else ())
        names = frozenset([found] if isinstance(found, str) else found)
        for name in names:
            if name not in self.able:
                raise SimulationError(f"no brake at {name!r:.60} of {self.robot.name}: {choices(str(name), self.able)}")
        return names

    def held(self, names: frozenset[str]) -> Mechanism:
        """The robot with these brakes on."""
        if names not in self._robots:
            self._robots[names] = self.robot.with_brakes(*sorted(names))
        return self._robots[names]
