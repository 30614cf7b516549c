"""Filters that find the state of any robot from its sensors."""

from modurob.estimation.belief import Belief, Innovation
from modurob.estimation.consistency import Band, band, nees, nis
from modurob.estimation.extended import ExtendedKalmanFilter
from modurob.estimation.kalman import KalmanFilter
from modurob.estimation.observability import Observability, observability
from modurob.estimation.sensors import HallSensors
from modurob.estimation.unscented import UnscentedKalmanFilter

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
