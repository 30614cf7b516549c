"""Locomotion: wheels, support, and gaits as periodic motions. See docs/locomotion.md."""

from modurob.locomotion import plane
from modurob.locomotion.contacts import push_margin
from modurob.locomotion.driving import Leg, PoseLaw, arc_to, turn_drive_turn
from modurob.locomotion.holonomy import growth, motions
from modurob.locomotion.odometry import Estimate, Odometry
from modurob.locomotion.orbits import Orbit, Phase, Stride, fixed_point, monodromy, multipliers, periodic_orbit, stride
from modurob.locomotion.pendulum import Centre, LinearPendulum
from modurob.locomotion.preview import Gains, PreviewControl, Walk
from modurob.locomotion.rolling import on_wheels, wheel_joints, wheel_rates, wheel_states, wheeled_base
from modurob.locomotion.spring_mass import Hop, SpringMass
from modurob.locomotion.support import (
    Wrench,
    centre_of_pressure,
    ground_wrench,
    point_of_wrench,
    stability_margin,
    support_polygon,
    tipping_energy,
    zero_moment_point,
)
from modurob.locomotion.tracks import longest_track, sliding_twist, turning_resistance
from modurob.locomotion.vehicles import ackermann, differential, mecanum, omni, steerable, synchro, tracked, tricycle
from modurob.locomotion.walkers import Compass, RimlessWheel
from modurob.locomotion.wheels import Wheel, WheeledBase, centre_of_rotation

__all__ = [
    "Centre",
    "Compass",
    "Estimate",
    "Gains",
    "Hop",
    "Leg",
    "LinearPendulum",
    "Odometry",
    "Orbit",
    "Phase",
    "PoseLaw",
    "PreviewControl",
    "RimlessWheel",
    "SpringMass",
    "Stride",
    "Walk",
    "Wheel",
    "WheeledBase",
    "Wrench",
    "ackermann",
    "arc_to",
    "centre_of_pressure",
    "centre_of_rotation",
    "differential",
    "fixed_point",
    "ground_wrench",
    "growth",
    "longest_track",
    "mecanum",
    "monodromy",
    "motions",
    "multipliers",
    "omni",
    "on_wheels",
    "periodic_orbit",
    "plane",
    "point_of_wrench",
    "push_margin",
    "sliding_twist",
    "stability_margin",
    "steerable",
    "stride",
    "support_polygon",
    "synchro",
    "tipping_energy",
    "tracked",
    "tricycle",
    "turn_drive_turn",
    "turning_resistance",
    "wheel_joints",
    "wheel_rates",
    "wheel_states",
    "wheeled_base",
    "zero_moment_point",
]
