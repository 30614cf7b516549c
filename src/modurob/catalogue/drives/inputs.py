"""Drives by what commands them: a voltage, a current, or a torque."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from modurob.catalogue.drives.force import DriveForce, bounded, there
from modurob.catalogue.forces import FORCES
from modurob.spatial.scalars import Array, absolute, maximum, minimum, select


@FORCES.register("voltage drive")
@dataclass(frozen=True)
class VoltageDrive(DriveForce):
    """A motor whose terminals are given volts: L di/dt + R i = V - ke w, tau = kt i - viscous w.

    >>> drive = mr.load_drive("powerball-small")
    >>> drive.force("voltage").input
    'V'
    """

    kind: ClassVar[str] = "voltage drive"
    input: ClassVar[str] = "V"

    @property
    def input_limit(self) -> Any:
        return self.supply

    def voltage(self, q: Array, v: Array, x: Array) -> Array:
        """The commanded voltage within the supply, reduced where it would exceed the current limit."""
        asked, back = bounded(self.of(x, "command"), self.supply), self.back_emf * self.speed(v, x)
        most = self.resistance * self._limit(x)
        return select(most, absolute(asked - back), back + bounded(asked - back, most), asked)

    def current(self, q: Array, v: Array, x: Array) -> Array:
        if there(self.inductance):
            return self.of(x, "current")
        return bounded((self.voltage(q, v, x) - self.back_emf * self.speed(v, x)) / self.resistance, self._limit(x))


@FORCES.register("current drive")
@dataclass(frozen=True)
class CurrentDrive(DriveForce):
    """A motor with a loop around its current.

    With a `loop_time` [s] it is a sampled PI controller, V = current_gain e + integral of current_integral e, held for that long
    and cut off at the supply, where its integral stops. Else the current follows with the lag `current_lag` [s], or at once, within
    what the supply can drive against the back-EMF.
    """

    current_gain: Any = 0.0  # [V/A]
    current_integral: Any = 0.0  # [V/(A s)]
    loop_time: Any = 0.0  # [s]
    current_lag: Any = 0.0  # [s]

    kind: ClassVar[str] = "current drive"
    input: ClassVar[str] = "A"
    held: ClassVar[tuple[str, ...]] = ("command", "voltage", "integral", "clock")

    @property
    def input_limit(self) -> Any:
        return self.current_limit

    @property
    def _own_states(self) -> tuple[str, ...]:
        if there(self.loop_time):
            return (*super()._own_states, "voltage", "integral", "clock")
        return ("current",) if there(self.current_lag) else ()

    def asked(self, q: Array, v: Array, x: Array) -> Array:
        """The commanded current, (...) [A]."""
        return self.of(x, "command")

    def voltage(self, q: Array, v: Array, x: Array) -> Array:
        return self.of(x, "voltage") if there(self.loop_time) else super().voltage(q, v, x)

    def current(self, q: Array, v: Array, x: Array) -> Array:
        if "current" in self.states:
            return self.of(x, "current")
        if there(self.loop_time):
            return (self.voltage(q, v, x) - self.back_emf * self.speed(v, x)) / self.resistance
        return self._possible(q, v, x)

    def _possible(self, q: Array, v: Array, x: Array) -> Array:
        """The commanded current, within its limit and what the supply allows."""
        i = bounded(self.asked(q, v, x), self._limit(x))
        if not there(self.resistance):
            return i
        opposed = self.back_emf * self.speed(v, x)
        most, least = (self.supply - opposed) / self.resistance, (-self.supply - opposed) / self.resistance
        return minimum(maximum(i, least), most)

    def _amplifier_rates(self, q: Array, v: Array, x: Array) -> dict[str, Array]:
        if there(self.loop_time):
            return super()._amplifier_rates(q, v, x)
        if there(self.current_lag):
            return {"current": (self._possible(q, v, x) - self.of(x, "current")) / self.current_lag}
        return {}

    def _current_decay(self) -> Any:
        if there(self.loop_time):
            return super()._current_decay()
        return 1 / self.current_lag if there(self.current_lag) else 0.0

    @property
    def samples(self) -> bool:
        return there(self.loop_time)

    @property
    def sample_times(self) -> tuple[float, ...]:
        return (self.loop_time,) if there(self.loop_time) else ()

    def sampled(self, q: Array, v: Array, x: Array, dt: Array) -> Array:
        if not there(self.loop_time):
            return x
        e = bounded(self.asked(q, v, x), self._limit(x)) - self.current(q, v, x)
        total = self.of(x, "integral") + self.current_integral * self.loop_time * e
        wanted = self.current_gain * e + total
        volts = bounded(wanted, self.supply)
        kept = select((wanted - volts) * e, np.array(1e-300), total, self.of(x, "integral"))
        return self.due(x, "clock", self.loop_time, dt, {"voltage": volts, "integral": kept})

    def due(self, x: Array, clock: str, period: Any, dt: Array, new: dict[str, Array]) -> Array:
        """x with new states where a clock has run down, and the clock dt on, (..., nx)."""
        left = self.of(x, clock)
        half = dt / 2 + 0 * left
        columns = {name: select(left, half, value, self.of(x, name)) for name, value in new.items()}
        columns[clock] = select(left, half, period + 0 * left, left) - dt
        return np.stack([columns.get(name, self.of(x, name)) for name in self.states], axis=-1)


@FORCES.register("torque drive")
@dataclass(frozen=True)
class TorqueDrive(CurrentDrive):
    """A motor with a current loop, commanded by a torque at the joint before friction: i = tau/(K kt)."""

    kind: ClassVar[str] = "torque drive"
    input: ClassVar[str] = "N m"

    @property
    def input_limit(self) -> Any:
        return self.torque_constant * self.current_limit

    def asked(self, q: Array, v: Array, x: Array) -> Array:
        return self.of(x, "command") / self.torque_constant
