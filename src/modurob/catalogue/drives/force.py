"""A motor behind a gear as a force along its joint, with states of its own.

All values are at the joint: with the gear ratio K a torque constant K kt, a back-EMF constant K ke, a rotor K² J. The
first state is the command, which a law writes at each of its samples and which is held in between; the other states
exist only if the parameters require them. The class determines what a command is: a voltage, a current, a torque or an
angle.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from modurob.catalogue.forces import JointForce
from modurob.catalogue.forces.force import there
from modurob.catalogue.forces.friction import fading
from modurob.spatial.scalars import Array, absolute, maximum, minimum, select, tanh

# below this rate the losses of a stiff gear fade out [rad/s]
CREEP = 0.01
# over this last share below its limit of heat a motor gives less and less current
DERATING = 0.1


def bounded(x: Array, limit: Any) -> Array:
    """x cut off at plus and minus the limit."""
    return minimum(maximum(x, -limit + 0 * x), limit + 0 * x)


@dataclass(frozen=True)
class DriveForce(JointForce):
    """What all drives share: rotor, gear, friction, heat and energy."""

    torque_constant: Any  # at the joint [N m/A]
    resistance: Any = 0.0  # [ohm]
    inductance: Any = 0.0  # [H]
    back_emf: Any = 0.0  # at the joint [V s/rad]
    supply: Any = np.inf  # [V]
    current_limit: Any = np.inf  # [A]
    viscous: Any = 0.0  # friction at the motor [N m s/rad]
    loss: Any = 0.0  # share of the gear's torque that is lost to friction
    rotor: Any = 0.0  # inertia of the motor [kg m²]; of a stiff gear it is in the joint's armature
    stiffness: Any = 0.0  # of the gear [N m/rad]; zero: the joint turns with the motor
    damping: Any = 0.0  # beside it [N m s/rad]
    play: Any = 0.0  # half the backlash [rad]
    coulomb: Any = 0.0  # dry friction at the motor of an elastic gear [N m]
    static: Any = 0.0  # the same at rest
    stribeck: Any = 0.0  # velocity over which it falls [rad/s]
    bristle: Any = 0.0  # stiffness of the bristles that carry it [N m/rad]
    bristle_damping: Any = 0.0  # [N m s/rad]
    breakaway: Any = 0.0  # share of the bristles' largest deflection up to which they do not slip at all
    heat_capacity: Any = 0.0  # [J/K]
    heat_resistance: Any = np.inf  # [K/W]
    heat_limit: Any = np.inf  # [K]
    brake: Any = 0.0  # what its brake holds, where it is on [N m]

    # what a command is, and its unit
    input: ClassVar[str] = ""
    # names of states that only commands and samples change
    held: ClassVar[tuple[str, ...]] = ("command",)

    @property
    def states(self) -> tuple[str, ...]:
        """Names of x, the command first."""
        elastic = ("angle", "speed") if there(self.stiffness) else ()
        bristles = ("bristle",) if there(self.bristle) else ()
        heat = ("temperature",) if there(self.heat_capacity) else ()
        return ("command", *self._own_states, *elastic, *bristles, *heat, "energy")

    @property
    def _own_states(self) -> tuple[str, ...]:
        """Names of the states of the amplifier."""
        return ("current",) if there(self.inductance) else ()

    @property
    def nx(self) -> int:  # type: ignore[override]
        return len(self.states)

    @property
    def still(self) -> tuple[int, ...]:  # type: ignore[override]
        return tuple(k for k, name in enumerate(self.states) if name in self.held)

    @property
    def input_limit(self) -> Any:
        """The largest command that makes a difference."""
        return np.inf

    @property
    def fastest(self) -> float:
        """The fastest decay of its states [1/s]: explicit steps must be shorter than about two over it."""
        return max((float(x) for x in self.decay()), default=0.0)

    def of(self, x: Array, name: str) -> Array:
        """The state of that name, (...)."""
        return x[..., self.states.index(name)]

    def start_at(self, q: Array) -> Array:
        """States of a drive at rest and without current where the joint is at q, (..., nx)."""
        x = np.zeros((*np.shape(q), self.nx))
        for name, value in self._at_rest(q).items():
            x[..., self.states.index(name)] = value
        return x

    def _at_rest(self, q: Array) -> dict[str, Any]:
        """States that are not zero where the joint rests at q."""
        return {"angle": q} if there(self.stiffness) else {}

    # ---- what it does ----

    def speed(self, v: Array, x: Array) -> Array:
        """Rate of the motor, referred to the joint, (...) [rad/s]."""
        return self.of(x, "speed") if there(self.stiffness) else v

    def angle(self, q: Array, x: Array) -> Array:
        """Angle of the motor, referred to the joint, (...) [rad]."""
        return self.of(x, "angle") if there(self.stiffness) else q

    def current(self, q: Array, v: Array, x: Array) -> Array:
        """Of the motor, (...) [A]."""
        raise NotImplementedError

    def voltage(self, q: Array, v: Array, x: Array) -> Array:
        """At the motor, (...) [V]."""
        return self.resistance * self.current(q, v, x) + self.back_emf * self.speed(v, x)

    def motor_torque(self, q: Array, v: Array, x: Array) -> Array:
        """Motor torque before friction, referred to the joint, (...) [N m]."""
        return self.torque_constant * self.current(q, v, x)

    def effort(self, t: Any, q: Array, v: Array, x: Array) -> Array:
        if there(self.stiffness):
            return self.gear_torque(q, v, x)
        tau = self.motor_torque(q, v, x)
        lost = self.loss * absolute(tau) * tanh(v / CREEP) if there(self.loss) else 0 * v
        return tau - self.viscous * v - lost

    def gear_torque(self, q: Array, v: Array, x: Array) -> Array:
        """Through an elastic gear, on the joint, (...) [N m]: nothing within the play."""
        twist = self.of(x, "angle") - q
        inside = absolute(twist)
        depth = maximum(twist - self.play, 0 * twist) + minimum(twist + self.play, 0 * twist)
        drag = self.damping * (self.of(x, "speed") - v)
        drag = select(inside, self.play + 0 * twist, 0 * drag, drag) if there(self.play) else drag
        return self.stiffness * depth + drag

    def rate(self, t: Any, q: Array, v: Array, x: Array) -> Array:
        slopes = {**self._amplifier_rates(q, v, x), **self._rotor_rates(q, v, x)}
        i = self.current(q, v, x)
        if there(self.heat_capacity):
            warmth = self.of(x, "temperature")
            slopes["temperature"] = (self.resistance * i * i - warmth / self.heat_resistance) / self.heat_capacity
        slopes["energy"] = self.voltage(q, v, x) * i
        still = 0 * v
        return np.stack([slopes.get(name, still) + still for name in self.states], axis=-1)

    def _amplifier_rates(self, q: Array, v: Array, x: Array) -> dict[str, Array]:
        """Rates of the amplifier's own states."""
        if not there(self.inductance):
            return {}
        return {"current": self._current_rate(v, x, self.voltage(q, v, x))}

    def _current_rate(self, v: Array, x: Array, volts: Array) -> Array:
        """di/dt [A/s]: L di/dt = V - R i - ke w, V cut off where it would hold more than the limit of current."""
        i, limit = self.of(x, "current"), self._limit(x)
        slope = (volts - self.resistance * i - self.back_emf * self.speed(v, x)) / self.inductance
        fastest = self.resistance / self.inductance
        return maximum(minimum(slope, fastest * (limit - i)), fastest * (-limit - i))

    def _rotor_rates(self, q: Array, v: Array, x: Array) -> dict[str, Array]:
        """Rates of an elastic gear's motor, and of its bristles."""
        if not there(self.stiffness):
            return {}
        w, through = self.of(x, "speed"), self.gear_torque(q, v, x)
        tau = self.motor_torque(q, v, x) - self.viscous * w - through
        if there(self.bristle):
            slip = self._slip(w, through, x)
            held = self.bristle * self.of(x, "bristle") + self.bristle_damping * slip
            return {"angle": w, "speed": (tau - held) / self.rotor, "bristle": slip}
        return {"angle": w, "speed": tau / self.rotor}

    def _slip(self, w: Array, through: Array, x: Array) -> Array:
        """dz/dt of the bristles' deflection z: w while they hold, and less the more they slip.

        dz/dt = w (1 - a s0 |z|/g) with g(w) = coulomb + (static - coulomb) exp(-|w|/stribeck) + loss |tau| (Canudas de Wit,
        Olsson, Astrom and Lischinsky 1995); a is zero below the breakaway share of g/s0, so that a motor at rest does not
        creep, and where the bristles give way, and one where they slip (Dupont, Hayward, Armstrong and Altpeter 2002).
        """
        z = self.of(x, "bristle")
        most = self.coulomb + (self.static - self.coulomb) * fading(w, self.stribeck)
        most = most + self.loss * absolute(through) if there(self.loss) else most
        share = self.bristle * z / most
        share = select(w, 0 * w, -share, share)  # along the motion
        if not there(self.breakaway):
            return w * (1 - share)
        s = minimum(maximum((share - self.breakaway) / (1 - self.breakaway), 0 * w), 0 * w + 1)
        return w * (1 - s * s * (3 - 2 * s) * share)

    def _limit(self, x: Array) -> Any:
        """The largest current, (...) [A]: less where the winding is hot."""
        if not there(self.heat_capacity):
            return self.current_limit + 0 * x[..., 0]
        cool = (1 - self.of(x, "temperature") / self.heat_limit) / DERATING
        return self.current_limit * bounded(maximum(cool, 0 * cool), 1.0)

    def energy(self, q: Array, x: Array) -> Array:
        """In the gear, the rotor of an elastic one, the winding and the bristles, (...) [J]."""
        total = 0 * x[..., 0]
        if there(self.stiffness):
            twist = self.of(x, "angle") - q
            depth = maximum(twist - self.play, 0 * twist) + minimum(twist + self.play, 0 * twist)
            w = self.of(x, "speed")
            total = total + (self.stiffness * depth * depth + self.rotor * w * w) / 2
        if "current" in self.states and there(self.inductance):
            i = self.of(x, "current")
            total = total + self.inductance * i * i / 2
        if there(self.bristle):
            z = self.of(x, "bristle")
            total = total + self.bristle * z * z / 2
        return total

    # ---- what steppers ask ----

    def decay(self) -> Array:
        """How fast states decay by themselves, (nx,) [1/s]: rate = -decay x + what does not depend on x."""
        slow = 0.0 * self.torque_constant
        named = {"current": self._current_decay()}
        return np.stack(np.broadcast_arrays(*(named.get(name, slow) + slow for name in self.states)), axis=-1)

    def _current_decay(self) -> Any:
        return self.resistance / self.inductance if there(self.inductance) else 0.0

    @property
    def samples(self) -> bool:  # type: ignore[override]
        """Whether it has loops of its own that sample."""
        return False

    @property
    def sample_times(self) -> tuple[float, ...]:
        """The sample times of its own loops [s]."""
        return ()

    def sampled(self, q: Array, v: Array, x: Array, dt: Array) -> Array:
        """x after the loops that are due at the start of a step of dt, (..., nx)."""
        return x
