"""A linkage made with a builder: three links, three joints and a pin that closes the loop."""

import numpy as np

import modurob as mr
from modurob.spatial import inertia, se3

hinge = mr.Revolute(axis=(0, 0, 1))


def rod(mass, length):
    return inertia.moved(inertia.box(mass, (length, 0.02, 0.02)), along(length / 2))


def along(x):
    return se3.pose(None, (x, 0, 0))


linkage = mr.Builder("four-bar", gravity=(0, -9.81, 0))
linkage.body("crank", rod(1.0, 0.4), joint=hinge)
linkage.body("coupler", rod(1.5, 0.9), parent="crank", joint=hinge, at=along(0.4))
linkage.body("rocker", rod(1.2, 0.8), joint=hinge, at=along(1.0))
linkage.loop("pin", hinge, "coupler", "rocker", at=along(0.9), seat=along(0.8))
robot = linkage.build()

q = robot.close_loops([1.0, 0.0, 2.0])
v = robot.close_velocity(q, [2.0, 0.0, 0.0])
print("degrees of freedom:", robot.nv - robot.loop_rank())
print("closed at", np.rad2deg(q).round(2), "degrees")
print("accelerations under 1 N m at the crank:", robot.forward_dynamics(q, v, [1.0, 0, 0]).round(4))
