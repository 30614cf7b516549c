"""A position servo: a drive with loops of its own around current, speed and angle."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from modurob.catalogue.drives.encoder import FACTOR, PERIOD
from modurob.catalogue.drives.force import bounded, there
from modurob.catalogue.drives.inputs import CurrentDrive
from modurob.catalogue.forces import FORCES
from modurob.spatial.scalars import Array, absolute, rint, select


@FORCES.register("position drive")
@dataclass(frozen=True)
class PositionDrive(CurrentDrive):
    """A motor commanded by an angle: w_ref = position_gain (r - y), tau = speed_gain e + integral of speed_integral e,
    e = w_ref - w.

    With a `sample_time` [s] the loops are sampled and the torque is held; with a `quantum` [rad] they use whole counts
    of an encoder, and the difference of counts as speed. The integral stops while the torque is saturated at the
    current limit.
    """

    position_gain: Any = 0.0  # [1/s]
    speed_gain: Any = 0.0  # [N m s/rad]
    speed_integral: Any = 0.0  # [N m/rad]
    speed_limit: Any = np.inf  # [rad/s]
    sample_time: Any = 0.0  # [s]; zero: loops are continuous
    quantum: Any = 0.0  # of the encoder, at the joint [rad]
    at_joint: Any = 0.0  # one: loops read the joint of an elastic gear, zero: its motor
    noise: Any = 0.0  # deviation of a reading [rad]
    first_draw: Any = 0.0  # of the noise
    indexed: Any = 0.0  # one: counts begin at zero, and are angles once the index was passed
    index: Any = 0.0  # where it is [rad]

    kind: ClassVar[str] = "position drive"
    input: ClassVar[str] = "rad"

    @property
    def held(self) -> tuple[str, ...]:  # type: ignore[override]
        sampled = ("speed integral", "demand", "wait", "last", "draw", "datum") if there(self.sample_time) else ()
        return (*CurrentDrive.held, *sampled)

    @property
    def input_limit(self) -> Any:
        return np.inf

    @property
    def _own_states(self) -> tuple[str, ...]:
        held = ("demand", "wait") if there(self.sample_time) else ()
        seen = ("last",) if there(self.quantum) else ()
        drawn = ("draw",) if there(self.noise) else ()
        datum = ("datum",) if there(self.indexed) else ()
        return (*super()._own_states, "speed integral", *held, *seen, *drawn, *datum)

    def _at_rest(self, q: Array) -> dict[str, Any]:
        start = self._counted(q)
        zero = start if there(self.indexed) else 0 * start
        own = {"command": q - zero, "last": start - zero, "draw": self.first_draw, "datum": zero}
        return {**super()._at_rest(q), **{name: x for name, x in own.items() if name in self.states}}

    def _counted(self, angle: Array) -> Array:
        """An angle as the encoder gives it."""
        return self.quantum * rint(angle / self.quantum) if there(self.quantum) else angle

    def _seen(self, q: Array, x: Array) -> Array:
        """The angle as the encoder gives it, with its noise."""
        angle = q if there(self.at_joint) else self.angle(q, x)
        if there(self.noise):
            # as wide as a normal distribution of that deviation
            angle = angle + self.noise * np.sqrt(12.0) * (self._drawn(x) / PERIOD - 0.5)
        return self._counted(angle)

    def _drawn(self, x: Array) -> Array:
        """The next number of the noise, from 1 to PERIOD - 1."""
        large = FACTOR * self.of(x, "draw")
        return large - PERIOD * rint(large / PERIOD - 0.5)

    def _datum(self, q: Array, x: Array) -> Array:
        """The angle at which the encoder counts zero: where it started, until it has passed its index."""
        last, zero = self.of(x, "last"), self.of(x, "datum")
        passed = (last + zero - self.index) * (self._seen(q, x) - self.index)
        return select(0 * zero, passed, zero, 0 * zero)

    def _read(self, q: Array, v: Array, x: Array) -> tuple[Array, Array]:
        """Angle and rate as measured by the loops."""
        angle = self._seen(q, x)
        if not there(self.quantum):
            return angle, v if there(self.at_joint) else self.speed(v, x)
        if not there(self.indexed):
            return angle, (angle - self.of(x, "last")) / self.sample_time
        rate = (angle - self.of(x, "datum") - self.of(x, "last")) / self.sample_time
        return angle - self._datum(q, x), rate

    def _speed_error(self, q: Array, v: Array, x: Array) -> Array:
        angle, rate = self._read(q, v, x)
        return bounded(self.position_gain * (self.of(x, "command") - angle), self.speed_limit) - rate

    def _torque(self, e: Array, total: Array, x: Array) -> tuple[Array, Array]:
        """The torque within the limit of current, and how fast the integral grows."""
        most, wanted = self.torque_constant * self._limit(x), self.speed_gain * e + total
        further = select(absolute(wanted), most, 0 * e, wanted * e)  # whether it is cut off, and e drives it further
        return bounded(wanted, most), select(0 * e, further, 0 * e, self.speed_integral * e)

    def asked(self, q: Array, v: Array, x: Array) -> Array:
        if there(self.sample_time):
            return self.of(x, "demand") / self.torque_constant
        return self._torque(self._speed_error(q, v, x), self.of(x, "speed integral"), x)[0] / self.torque_constant

    def _amplifier_rates(self, q: Array, v: Array, x: Array) -> dict[str, Array]:
        own = super()._amplifier_rates(q, v, x)
        if there(self.sample_time):
            return own
        growth = self._torque(self._speed_error(q, v, x), self.of(x, "speed integral"), x)[1]
        return {**own, "speed integral": growth}

    @property
    def samples(self) -> bool:
        return there(self.sample_time) or super().samples

    @property
    def sample_times(self) -> tuple[float, ...]:
        return (*super().sample_times, *((self.sample_time,) if there(self.sample_time) else ()))

    def sampled(self, q: Array, v: Array, x: Array, dt: Array) -> Array:
        if there(self.sample_time):
            e = self._speed_error(q, v, x)
            growth = self._torque(e, self.of(x, "speed integral"), x)[1]
            total = self.of(x, "speed integral") + self.sample_time * growth
            new = {"demand": self._torque(e, total, x)[0], "speed integral": total}
            seen = {"last": lambda: self._read(q, v, x)[0], "draw": lambda: self._drawn(x)}
            seen["datum"] = lambda: self._datum(q, x)
            new |= {name: value() for name, value in seen.items() if name in self.states}
            x = self.due(x, "wait", self.sample_time, dt, new)
        return super().sampled(q, v, x, dt)
