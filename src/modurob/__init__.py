"""Modular, self-reconfigurable robots: from docked modules to equations of motion.

SI units and radians; frames, orders and signs are those of docs/conventions.md. The examples in docstrings continue
from these lines:

>>> import numpy as np
>>> import modurob as mr
>>> assembly = mr.load("crab")
>>> robot = assembly.mechanism(base="m0")
>>> q, v = np.array([0.3, -0.2, 0.5]), np.array([1.0, 0.5, -1.0])
>>> linkage = mr.Assembly.from_grid([["B", "B"], ["B", "B"]]).mechanism()
>>> run = mr.simulate(robot, q, duration=0.1, controller=mr.ComputedTorque(kp=100, kd=20))
"""

# ruff: noqa: F401  # names for type checkers and editors

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modurob import (
        algorithms,
        assembly,
        catalogue,
        control,
        draw,
        errors,
        estimation,
        formats,
        identification,
        judges,
        kernels,
        kinematics,
        locomotion,
        mechanism,
        motion,
        registry,
        robot,
        search,
        simulation,
        spatial,
        statics,
        studio,
        symbolic,
        trace,
        viewer,
    )
    from modurob.assembly import Connection, PortRef, Setup, shipped_robots
    from modurob.catalogue import ModuleType, module_type
    from modurob.catalogue.contact import BodyContact, Ground, HeightField, Hills, Plane, Stairs
    from modurob.catalogue.drives import Drive, Encoder, Gear, Loops, Losses, Motor, drive_names, load_drive
    from modurob.catalogue.forces import Disturbance, Friction, JointSpring, Oscillator, SpeedServo, Spring, Stop
    from modurob.catalogue.joints import (
        Cylindrical,
        Fixed,
        Free,
        Helical,
        Involute,
        InvoluteLength,
        InvoluteStrain,
        InvoluteStretch,
        Planar,
        Prismatic,
        Revolute,
        Spherical,
        Universal,
    )
    from modurob.catalogue.lines import Elastic, Pulley, Swivel, Tension, Winch, WoundCable
    from modurob.control import (
        LQR,
        PID,
        AdaptiveControl,
        Admittance,
        Backstepping,
        Cascade,
        CollisionDetector,
        Compiled,
        ComputedTorque,
        Delayed,
        DisturbanceObserver,
        ElasticLinearisation,
        FeedForward,
        FrictionCompensation,
        GravityCompensation,
        HybridForcePosition,
        Impedance,
        JointTask,
        KinematicControl,
        MomentumObserver,
        OperationalSpace,
        PointTask,
        PoseTask,
        SlidingMode,
        SlotineLi,
        SwingUp,
        WholeBody,
        cascade,
        cascade_of,
        controller_c,
        gains_by_damping,
        gains_by_lqr,
        gains_by_poles,
        linearised,
    )
    from modurob.errors import ModurobError, ModurobWarning
    from modurob.estimation import (
        IMU,
        ContactSensor,
        DriveFilter,
        ExtendedKalmanFilter,
        HallSensors,
        PoseSensor,
        RateSensors,
        UnscentedKalmanFilter,
        calibration,
        identifiability,
        observability,
    )
    from modurob.formats import load, mjcf, save, timor_modules, urdf
    from modurob.identification import (
        MotionData,
        RecursiveIdentification,
        exciting_trajectory,
        identify,
        identify_gears,
        identify_motor,
        likeliest,
    )
    from modurob.kernels import set_threads
    from modurob.kinematics.inverse import InverseKinematics
    from modurob.kinematics.inverse.goals import CentreGoal, DirectionGoal, JointGoal, PointGoal, PoseGoal
    from modurob.locomotion import (
        Compass,
        LinearPendulum,
        Odometry,
        PreviewControl,
        RimlessWheel,
        SpringMass,
        Wheel,
        WheeledBase,
        centre_of_pressure,
        fixed_point,
        multipliers,
        on_wheels,
        periodic_orbit,
        stability_margin,
        support_polygon,
        zero_moment_point,
    )
    from modurob.mechanism import JointProperties, Source
    from modurob.motion import (
        Gait,
        PhaseResetting,
        PoseTrajectory,
        Trajectory,
        driven,
        found_gait,
        gait,
        search_gait,
        steering,
        time_optimal,
        travel,
        walk_to,
        walking_robot,
    )
    from modurob.robot import Assembly, Builder, Mechanism, loads, lock
    from modurob.robot.fleet import Fleet
    from modurob.search import ArmSet, Span, Walk, assemblies, number_of_assemblies, search_designs
    from modurob.simulation import (
        Adaptive,
        Connect,
        Disconnect,
        Dock,
        ExponentialRungeKutta4,
        ImplicitMidpoint,
        InWorld,
        LinearlyImplicit,
        Merge,
        MujocoSteps,
        Organism,
        Recording,
        Reroot,
        RungeKutta4,
        SemiImplicitEuler,
        Simulation,
        Tie,
        Undock,
        Untie,
        Variational,
        World,
        advance,
        race,
        simulate,
    )
    from modurob.statics import Framework, equilibrium, from_lengths, prism, wrench_closure, wrench_feasible

__version__ = "0.2.0"

# where each name is defined: imported when it is first asked for, so that `import modurob` takes no time
HOMES = {
    "modurob.assembly": "Connection PortRef Setup shipped_robots",
    "modurob.catalogue": "ModuleType module_type",
    "modurob.catalogue.contact": "BodyContact Ground HeightField Hills Plane Stairs",
    "modurob.catalogue.drives": "Drive Encoder Gear Loops Losses Motor drive_names load_drive",
    "modurob.catalogue.forces": "Disturbance Friction JointSpring Oscillator SpeedServo Spring Stop",
    "modurob.catalogue.joints": (
        "Cylindrical Fixed Free Helical Involute InvoluteLength InvoluteStrain InvoluteStretch Planar Prismatic Revolute Spherical "
        "Universal"
    ),
    "modurob.control": (
        "LQR PID AdaptiveControl Admittance Backstepping Cascade CollisionDetector Compiled ComputedTorque Delayed "
        "DisturbanceObserver ElasticLinearisation FeedForward FrictionCompensation GravityCompensation HybridForcePosition "
        "Impedance JointTask KinematicControl MomentumObserver OperationalSpace PointTask PoseTask SlidingMode SlotineLi SwingUp "
        "WholeBody cascade cascade_of controller_c gains_by_damping gains_by_lqr gains_by_poles linearised"
    ),
    "modurob.catalogue.lines": "Elastic Pulley Swivel Tension Winch WoundCable",
    "modurob.errors": "ModurobError ModurobWarning",
    "modurob.estimation": (
        "IMU ContactSensor DriveFilter ExtendedKalmanFilter HallSensors PoseSensor RateSensors UnscentedKalmanFilter calibration "
        "identifiability observability"
    ),
    "modurob.formats": "load mjcf save timor_modules urdf",
    "modurob.identification": (
        "MotionData RecursiveIdentification exciting_trajectory identify identify_gears identify_motor likeliest"
    ),
    "modurob.kernels": "set_threads",
    "modurob.kinematics.inverse": "InverseKinematics",
    "modurob.kinematics.inverse.goals": "CentreGoal DirectionGoal JointGoal PointGoal PoseGoal",
    "modurob.locomotion": (
        "Compass LinearPendulum Odometry PreviewControl RimlessWheel SpringMass Wheel WheeledBase centre_of_pressure "
        "fixed_point multipliers on_wheels periodic_orbit stability_margin support_polygon zero_moment_point"
    ),
    "modurob.mechanism": "JointProperties Source",
    "modurob.motion": "Gait PhaseResetting PoseTrajectory Trajectory driven found_gait gait search_gait steering time_optimal "
    "travel walk_to walking_robot",
    "modurob.robot": "Assembly Builder Mechanism loads lock",
    "modurob.robot.fleet": "Fleet",
    "modurob.search": "ArmSet Span Walk assemblies number_of_assemblies search_designs",
    "modurob.statics": "Framework equilibrium from_lengths prism wrench_closure wrench_feasible",
    "modurob.simulation": (
        "Adaptive Connect Disconnect Dock ExponentialRungeKutta4 ImplicitMidpoint InWorld LinearlyImplicit Merge MujocoSteps "
        "Organism Recording Reroot RungeKutta4 SemiImplicitEuler Simulation Tie Undock Untie Variational World advance "
        "race simulate"
    ),
}
ROOMS = (
    "algorithms assembly catalogue control draw errors estimation formats identification judges kernels kinematics "
    "locomotion mechanism motion registry robot search simulation spatial statics studio symbolic trace viewer"
)

# names that other tools use, and what it is called here
WORDS = {"Robot": "Mechanism", "Module": "ModuleType", "EKF": "ExtendedKalmanFilter", "UKF": "UnscentedKalmanFilter"}
OWNERS = ("Mechanism", "Assembly", "Trajectory", "Recording")

if not TYPE_CHECKING:  # a checker that saw __getattr__ would take any name for one of ours
    _HOME_OF = {name: home for home, names in HOMES.items() for name in names.split()}
    __all__ = sorted(_HOME_OF)

    def __getattr__(name: str) -> Any:
        if name in _HOME_OF:
            found = getattr(import_module(_HOME_OF[name]), name)
        elif name in ROOMS.split():
            found = import_module(f"modurob.{name}")
        elif name.startswith("_") or find_spec(f"modurob.{name}"):
            # tools look for such names on everything, and `from modurob import tabular` does before it imports
            raise AttributeError(f"module 'modurob' has no attribute {name!r}")
        else:
            valid = [*__all__, *ROOMS.split()]
            raise import_module("modurob.errors").absent("module 'modurob'", name, valid, _meant(name))
        globals()[name] = found
        return found

    def _meant(name: str) -> str:
        """A hint for a name that is another word, or a method; empty for others."""
        if name in WORDS:
            return f"did you mean 'mr.{WORDS[name]}'?"
        owner = next((owner for owner in OWNERS if hasattr(__getattr__(owner), name)), None)
        return f"did you mean 'mr.{owner}.{name}'?" if owner else ""

    def __dir__() -> list[str]:
        return sorted({*(x for x in globals() if x.startswith("__")), *__all__, *ROOMS.split()})
