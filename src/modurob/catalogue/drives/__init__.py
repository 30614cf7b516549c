"""Drives of joints: motor, gear, encoder, friction, brake and loops as data, and the forces they make. See docs/drives.md."""

from modurob.catalogue.drives.drive import INPUTS, Drive, Loops, Losses
from modurob.catalogue.drives.encoder import Encoder
from modurob.catalogue.drives.force import DriveForce
from modurob.catalogue.drives.gear import Gear
from modurob.catalogue.drives.inputs import CurrentDrive, TorqueDrive, VoltageDrive
from modurob.catalogue.drives.library import drive_names, load_drive
from modurob.catalogue.drives.motor import Motor
from modurob.catalogue.drives.servo import PositionDrive

__all__ = [
    "INPUTS",
    "CurrentDrive",
    "Drive",
    "DriveForce",
    "Encoder",
    "Gear",
    "Loops",
    "Losses",
    "Motor",
    "PositionDrive",
    "TorqueDrive",
    "VoltageDrive",
    "drive_names",
    "load_drive",
]
