"""The interfaces of a robot's joints for ros2_control."""

from xml.etree import ElementTree as ET

import numpy as np

from modurob.mechanism.tables import Joint, Tables
from modurob.mechanism.xml_text import numbers

# a plugin of ros2_control without hardware: states mirror commands
HARDWARE = "mock_components/GenericSystem"


def plain_name(text: str) -> str:
    """Slashes mean something else in ROS."""
    return text.replace("/", "_")


def control(robot: Tables, hardware: str) -> ET.Element:
    """The section <ros2_control>: position, velocity and effort of every joint with a drive, and the states of the others."""
    section = ET.Element("ros2_control", name=plain_name(robot.name), type="system")
    ET.SubElement(ET.SubElement(section, "hardware"), "plugin").text = hardware
    for joint in robot.joints:
        if joint.kind in ("revolute", "prismatic"):
            section.append(_interfaces(joint))
    return section


def _interfaces(joint: Joint) -> ET.Element:
    element = ET.Element("joint", name=plain_name(joint.name))
    effort, velocity = joint.effort_limit[0], joint.velocity_limit[0]
    limits = {
        "position": (joint.limits.lower[0], joint.limits.upper[0]),
        "velocity": (-velocity, velocity),
        "effort": (-effort, effort),
    }
    for name, ends in limits.items() if effort > 0 and not joint.mimics else ():
        command = ET.SubElement(element, "command_interface", name=name)
        for word, end in zip(("min", "max"), ends, strict=True):
            if np.isfinite(end):
                ET.SubElement(command, "param", name=word).text = numbers([end])
    for name in limits:
        ET.SubElement(element, "state_interface", name=name)
    return element
