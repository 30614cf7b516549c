"""Filters that find the state of any robot from its sensors."""

from modurob.estimate.belief import Belief, Innovation
from modurob.estimate.consistency import Band, band, nees, nis
from modurob.estimate.extended import ExtendedKalmanFilter
from modurob.estimate.kalman import KalmanFilter
from modurob.estimate.observability import Observability, observability
from modurob.estimate.sensors import HallSensors
from modurob.estimate.unscented import UnscentedKalmanFilter

__all__ = [
    "Band",
    "Belief",
    "ExtendedKalmanFilter",
    "HallSensors",
    "Innovation",
    "KalmanFilter",
    "Observability",
    "UnscentedKalmanFilter",
    "band",
    "nees",
    "nis",
    "observability",
]
