"""Sensors, one file per kind: models h(q, v, vdot) of readings, with their noise and their derivatives."""

from modurob.estimation.sensors.contact import ContactSensor
from modurob.estimation.sensors.imu import IMU
from modurob.estimation.sensors.joint_angles import HallSensors
from modurob.estimation.sensors.joint_rates import RateSensors
from modurob.estimation.sensors.pose import PoseSensor
from modurob.estimation.sensors.sensor import SENSORS, Reading, Sensor

__all__ = ["IMU", "SENSORS", "ContactSensor", "HallSensors", "PoseSensor", "RateSensors", "Reading", "Sensor"]
