"""Commands that let a robot move, and how it is to move."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from modurob.motion.gaits import GENERATORS, PRESETS
from modurob.simulation import STEPPERS
from modurob.studio import offers
from modurob.studio.protocol.checked import MOST_GAINS, Checked, Command, Name, Number, among
from modurob.studio.protocol.moving import Motion

ControllerName = Annotated[str, among(offers.controllers, offers.unmet)]
FilterName = Annotated[str, among(offers.filters)]
StepperName = Annotated[str, among(lambda: STEPPERS)]
GaitName = Annotated[str, among(lambda: PRESETS)]
GeneratorName = Annotated[str, among(lambda: GENERATORS)]
Gains = Annotated[dict[Name, Number], Field(max_length=MOST_GAINS)]

SetPoints = Annotated[dict[Name, Number], Field(max_length=4000)]


@dataclass(frozen=True)
class RunSettings(Checked):
    """How to simulate: who pushes, where to, how exactly, how long."""

    controller: ControllerName = "computed-torque"
    gains: Gains = field(default_factory=dict)  # numbers of the law; its own where they are not set
    ideal: bool = False  # without friction, stops and limits of effort
    reference: Literal["gait", "set_point", "hold", "motion"] = "gait"
    gait: GaitName = "snake"
    generator: GeneratorName = "sine"
    amplitude: Annotated[float, Field(gt=0, le=10)] = 0.4  # of a gait, or the set point of all joints [rad or m]
    options: Gains = field(default_factory=dict)  # of the gait, such as stance; its own where they are not set
    joints: Annotated[
        tuple[Name, ...], Field(max_length=4000)
    ] = ()  # that a gait swings; all that turn if none are named
    set_points: SetPoints = field(default_factory=dict)  # of joints that have their own, by name [rad or m]
    frequency: Annotated[float, Field(gt=0, le=20)] = 0.5  # [Hz]
    filter: FilterName = offers.NONE
    noise: Annotated[float, Field(ge=0, le=1)] = 0.01  # of the measured angles [rad or m]
    process: Annotated[float, Field(ge=0, le=1e6)] = (
        1e-4  # Q: what the filter adds to the variance of rates in a sample
    )
    believed: Annotated[float, Field(ge=0, le=1e6)] = (
        0.0  # R: the variance of angles that it believes in; 0: that of the noise
    )
    stepper: StepperName = "semi-implicit-euler"
    step: Annotated[float, Field(ge=1e-5, le=0.05)] = 1e-3  # of the physics [s]
    sample_time: Annotated[float, Field(ge=1e-4, le=0.1)] = 5e-3  # of controller and filter [s]
    duration: Annotated[float, Field(gt=0, le=600)] = 10.0
    ground: bool = False  # whether the robot touches one, under its lowest point
    friction: Annotated[float, Field(ge=0, le=10)] = 0.8  # of the ground
    slope: Annotated[float, Field(ge=-60, le=60)] = 0.0  # of the ground, rising along x [degrees]
    motion: Motion | None = None  # the way points, where the reference is a motion


@dataclass(frozen=True)
class StartRun(Command):
    """Simulate the robot from its present pose and rates."""

    settings: RunSettings = field(default_factory=RunSettings)


@dataclass(frozen=True)
class PauseRun(Command):
    """Hold the run where it is."""


@dataclass(frozen=True)
class ResumeRun(Command):
    """Go on."""


@dataclass(frozen=True)
class StepRun(Command):
    """One step of the display, then hold."""


@dataclass(frozen=True)
class StopRun(Command):
    """End the run; what was recorded is kept."""


@dataclass(frozen=True)
class TuneRun(Command):
    """Another swing and another rhythm for the servos of the run that is going on."""

    amplitude: Annotated[float, Field(gt=0, le=10)]  # [rad or m]
    frequency: Annotated[float, Field(gt=0, le=20)]  # [Hz]


@dataclass(frozen=True)
class FindGait(Command):
    """Try gaits on the ground and tell the one that goes farthest."""

    settings: RunSettings = field(default_factory=RunSettings)


@dataclass(frozen=True)
class SetSpeed(Command):
    """How fast simulated time passes."""

    speed: Annotated[float, Field(ge=0.05, le=20)]


@dataclass(frozen=True)
class Scrub(Command):
    """Show the robot as it was in a run."""

    run: int
    t: Number


@dataclass(frozen=True)
class FetchRun(Command):
    """The samples of a run, for the plots."""

    run: int


@dataclass(frozen=True)
class DeleteRun(Command):
    """Forget a run."""

    run: int


@dataclass(frozen=True)
class CompareRun(Command):
    """A run again by Lagrange's equations, beside it."""

    run: int


@dataclass(frozen=True)
class TraceRun(Command):
    """The paths of frames in a run, for trails."""

    run: int
    frames: Annotated[tuple[Name, ...], Field(max_length=12)]
