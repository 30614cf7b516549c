"""Filters that estimate the state of any robot from its sensors."""

from modurob.estimation.belief import Belief, Innovation
from modurob.estimation.calibration import (
    Accuracy,
    Calibration,
    Identifiability,
    accuracy,
    calibration,
    identifiability,
)
from modurob.estimation.consistency import Band, band, nees, nis
from modurob.estimation.drive_filter import DriveBelief, DriveFilter
from modurob.estimation.extended import ExtendedKalmanFilter
from modurob.estimation.kalman import FILTERS, KalmanFilter
from modurob.estimation.observability import Observability, observability
from modurob.estimation.placements import Geometry
from modurob.estimation.sensors import IMU, SENSORS, ContactSensor, HallSensors, PoseSensor, RateSensors, Sensor
from modurob.estimation.unscented import UnscentedKalmanFilter

__all__ = [
    "FILTERS",
    "IMU",
    "SENSORS",
    "Accuracy",
    "Band",
    "Belief",
    "Calibration",
    "ContactSensor",
    "DriveBelief",
    "DriveFilter",
    "ExtendedKalmanFilter",
    "Geometry",
    "HallSensors",
    "Identifiability",
    "Innovation",
    "KalmanFilter",
    "Observability",
    "PoseSensor",
    "RateSensors",
    "Sensor",
    "UnscentedKalmanFilter",
    "accuracy",
    "band",
    "calibration",
    "identifiability",
    "nees",
    "nis",
    "observability",
]
