"""An electric motor: direct current, or brushless, modelled at two terminals."""

from dataclasses import dataclass

from modurob.catalogue.drives.numbers import positive, require
from modurob.errors import explained

INF = float("inf")


@explained
@dataclass(frozen=True)
class Motor:
    """L di/dt + R i = V - ke w, torque kt i - viscous w: all values at the rotor's own shaft.

    A brushless motor has the same equations with terminal-to-terminal values, as in data sheets. `back_emf` is by
    default the torque constant (the same number in SI units). Heat R i² warms the winding, heat_capacity dT/dt = R i² -
    T/heat_resistance, and the current limit falls to zero over the last tenth below `heat_limit`.

    >>> motor = mr.Motor(torque_constant=0.0385, resistance=0.611, inductance=1.19e-4, inertia=3.33e-6, supply=24.0)
    >>> motor.electrical_time_constant  # [s]
    0.00019476268412438625
    """

    torque_constant: float  # [N m/A]
    resistance: float = 0.0  # [ohm]; zero: not known, and the drive takes currents or torques, no volts
    inductance: float = 0.0  # [H]; zero: the current follows at once
    back_emf: float | None = None  # [V s/rad]
    inertia: float = 0.0  # of the rotor [kg m²]
    viscous: float = 0.0  # friction at the rotor [N m s/rad]
    supply: float = INF  # [V]
    current_limit: float = INF  # [A]
    heat_capacity: float = 0.0  # of the winding [J/K]; zero: heat is not followed
    heat_resistance: float = INF  # winding to surroundings [K/W]
    heat_limit: float = INF  # of the winding above its surroundings [K]

    def __post_init__(self) -> None:
        require("motor", self, bounds=("supply", "current_limit", "heat_resistance", "heat_limit"))
        positive("motor", self, "torque_constant", "supply", "current_limit", "heat_resistance", "heat_limit")
        if self.inductance:
            positive("motor", self, "resistance")

    @property
    def back_emf_constant(self) -> float:
        """ke [V s/rad]."""
        return self.torque_constant if self.back_emf is None else self.back_emf

    @property
    def electrical_time_constant(self) -> float:
        """L/R [s]."""
        return self.inductance / self.resistance if self.inductance else 0.0

    @property
    def no_load_speed(self) -> float:
        """w at the supply voltage without load [rad/s]: V kt/(kt ke + R viscous)."""
        kt, ke = self.torque_constant, self.back_emf_constant
        return self.supply * kt / (kt * ke + self.resistance * self.viscous)
