"""A drive of a joint as data: motor, gear, encoder, friction, brake, loops; and the forces it makes."""

from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from modurob.catalogue.drives.encoder import Encoder
from modurob.catalogue.drives.force import DriveForce
from modurob.catalogue.drives.gear import Gear
from modurob.catalogue.drives.inputs import CurrentDrive, TorqueDrive, VoltageDrive
from modurob.catalogue.drives.motor import Motor
from modurob.catalogue.drives.numbers import require
from modurob.catalogue.drives.servo import PositionDrive
from modurob.catalogue.forces import Friction, JointForce
from modurob.errors import CatalogueError, choices, explained

INPUTS: dict[str, type[DriveForce]] = {
    "voltage": VoltageDrive,
    "current": CurrentDrive,
    "torque": TorqueDrive,
    "position": PositionDrive,
}
Input = Literal["voltage", "current", "torque", "position"]
# a bristle of friction bends by this much before it slips, at the joint, where no stiffness is given [rad]
DEFLECTION = 1e-3
STIFF = Gear()


@explained
@dataclass(frozen=True)
class Losses:
    """Friction of a drive, at the joint: viscous v + (coulomb + (static - coulomb) exp(-|v|/stribeck)) sign(v).

    In a stiff drive dry friction holds exactly at rest. In an elastic drive it acts on the motor through bristles
    (LuGre) of stiffness `bristle`, which hold without creep up to the share `breakaway` of their limit.

    >>> mr.Losses(viscous=15.68, coulomb=7.14).holding  # [N m]
    7.14
    """

    viscous: float = 0.0  # [N m s/rad]
    coulomb: float = 0.0  # [N m]
    static: float | None = None  # [N m]; None: as coulomb
    stribeck: float = 0.0  # [rad/s]
    bristle: float | None = None  # [N m/rad]; None: they bend by a milliradian
    bristle_damping: float = 0.0  # [N m s/rad]
    breakaway: float = 0.7

    def __post_init__(self) -> None:
        require("losses", self)
        if self.holding < self.coulomb or not self.breakaway < 1:
            raise CatalogueError(
                f"losses: static {self.holding:g}, coulomb {self.coulomb:g}, breakaway {self.breakaway:g}: expected "
                "static >= coulomb and breakaway < 1"
            )

    @property
    def holding(self) -> float:
        """The largest torque that dry friction holds at rest [N m]."""
        return self.coulomb if self.static is None else self.static

    def bristles(self) -> dict[str, float]:
        """The parameters of the bristles."""
        stiffness = self.holding / DEFLECTION if self.bristle is None else self.bristle
        return {**_numbers(self), "static": self.holding, "bristle": stiffness}


@explained
@dataclass(frozen=True)
class Loops:
    """Gains and sample times of the loops inside a drive; `cascade` computes gains for a motor and its load.

    >>> mr.Loops(position_gain=2.469, speed_gain=6.4, speed_integral=21.3).sample_time
    0.0
    """

    current_gain: float = 0.0  # [V/A]
    current_integral: float = 0.0  # [V/(A s)]
    loop_time: float = 0.0  # of the loop around the current [s]; zero: it follows with current_lag
    current_lag: float = 0.0  # [s]
    position_gain: float = 0.0  # [1/s]
    speed_gain: float = 0.0  # [N m s/rad]
    speed_integral: float = 0.0  # [N m/rad]
    speed_limit: float = float("inf")  # [rad/s]
    sample_time: float = 0.0  # of the loops around speed and angle [s]; zero: continuous

    def __post_init__(self) -> None:
        require("loops", self, bounds=("speed_limit",))


@explained
@dataclass(frozen=True)
class Drive:
    """Motor, gear, friction, encoder, loops and brake that move a joint; `robot.with_drive(joint, drive)` attaches it.

    `input` is the quantity that a law commands: "voltage" [V], "current" [A], "torque" at the joint before friction [N
    m], or "position" [rad] of a servo with inner loops. `brake` [N m] is the holding torque of the brake:
    `robot.with_brakes(...)`.

    >>> drive = mr.Drive(mr.Motor(torque_constant=0.02, resistance=1.3, supply=24.0), mr.Gear(ratio=160.0), input="voltage")
    >>> drive.armature
    0.0
    """

    motor: Motor
    gear: Gear = STIFF
    losses: Losses = Losses()
    encoder: Encoder | None = None
    loops: Loops = Loops()
    brake: float = 0.0  # [N m]
    input: Input = "torque"
    name: str = ""

    def __post_init__(self) -> None:
        for name, kind in (("motor", Motor), ("gear", Gear), ("losses", Losses), ("loops", Loops)):
            if not isinstance(getattr(self, name), kind):
                raise CatalogueError(f"drive: {name} is {getattr(self, name)!r:.60}: expected mr.{kind.__name__}(...)")
        if self.encoder is not None and not isinstance(self.encoder, Encoder):
            raise CatalogueError(f"drive: encoder is {self.encoder!r:.60}: expected mr.Encoder(...) or None")
        if self.input not in INPUTS:
            raise CatalogueError(f"drive: input {self.input!r:.60}: {choices(str(self.input), INPUTS)}")
        require("drive", self, words=("motor", "gear", "losses", "encoder", "loops", "input", "name"))
        self._require_whole()

    def _require_whole(self) -> None:
        """Errors for inconsistent values."""
        if self.gear.stiffness and not self.rotor > 0:
            raise CatalogueError("drive: an elastic gear needs a motor with inertia above zero [kg m²]")
        if not self.motor.resistance and (self.input == "voltage" or self.loops.loop_time):
            raise CatalogueError(f"drive: input {self.input!r} through volts needs a motor with resistance above zero")
        if self.input == "position" and not (self.loops.position_gain and self.loops.speed_gain):
            raise CatalogueError("drive: input 'position' needs loops with position_gain and speed_gain above zero")
        if self.input == "position" and self.encoder is not None and not self.loops.sample_time:
            raise CatalogueError("drive: input 'position' with an encoder needs loops with a sample_time above zero")

    @property
    def rotor(self) -> float:
        """Inertia of the rotor referred to the joint, K² J [kg m²]."""
        return self.gear.ratio**2 * self.motor.inertia

    @property
    def armature(self) -> float:
        """The inertia that the rotor adds to the joint [kg m²]: zero if the gear is elastic."""
        return 0.0 if self.gear.stiffness else self.rotor

    @property
    def viscous(self) -> float:
        """Viscous friction of motor and gear, at the joint [N m s/rad]."""
        return self.losses.viscous + self.gear.ratio**2 * self.motor.viscous

    @property
    def torque_constant(self) -> float:
        """K kt [N m/A]."""
        return self.gear.ratio * self.motor.torque_constant

    @property
    def quantum(self) -> float:
        """One count of the encoder at the joint [rad]; zero without one."""
        return 0.0 if self.encoder is None else self.encoder.quantum(self.gear.ratio)

    def with_input(self, kind: Input) -> "Drive":
        """The same drive with another input.

        >>> mr.load_drive("powerball-small").with_input("current").input
        'current'
        """
        return replace(self, input=kind)

    def rigid(self) -> "Drive":
        """The same drive with a stiff gear."""
        return replace(self, gear=replace(self.gear, stiffness=0.0, damping=0.0, backlash=0.0))

    def force(self, kind: Input | None = None) -> DriveForce:
        """The force of the drive on the joint, for its kind of input."""
        drive = self if kind is None else self.with_input(kind)
        cls = INPUTS[drive.input]
        numbers = {**drive._electrical(), **drive._mechanical(), **_numbers(drive.loops), **drive._reading()}
        own = {f.name for f in fields(cls)}
        return cls(**{name: x for name, x in numbers.items() if name in own})

    def forces(self) -> tuple[JointForce, ...]:
        """All forces of the drive on the joint: the drive, and the dry friction of a stiff one."""
        own = self.losses
        if self.gear.stiffness or not own.holding:
            return (self.force(),)
        return self.force(), Friction(0.0, own.coulomb, own.holding, own.stribeck)

    def _electrical(self) -> dict[str, float]:
        motor, ratio = self.motor, self.gear.ratio
        shared = ("resistance", "inductance", "supply", "current_limit")
        heat = ("heat_capacity", "heat_resistance", "heat_limit")
        at_joint = {"torque_constant": ratio * motor.torque_constant, "back_emf": ratio * motor.back_emf_constant}
        return {**{name: getattr(motor, name) for name in (*shared, *heat)}, **at_joint}

    def _mechanical(self) -> dict[str, float]:
        gear, own = (
            self.gear,
            {"viscous": self.viscous, "loss": 1.0 - self.gear.efficiency, "rotor": self.rotor, "brake": self.brake},
        )
        if not gear.stiffness:
            return own
        elastic = {"stiffness": gear.stiffness, "damping": gear.damping, "play": gear.backlash / 2}
        bristles = self.losses.bristles() if self.losses.holding else {}
        return {**bristles, **own, **elastic}

    def _reading(self) -> dict[str, float]:
        own = self.encoder
        if own is None:
            return {}
        noise = {"noise": own.noise, "first_draw": own.first_draw} if own.noise else {}
        # an index at zero is there all the same
        index = {} if own.index is None else {"indexed": 1.0, "index": own.index}
        return {"quantum": self.quantum, "at_joint": float(own.side == "joint"), **noise, **index}


def _numbers(value: Any) -> dict[str, float]:
    return {f.name: getattr(value, f.name) for f in fields(value)}
