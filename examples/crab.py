"""Dock modules and get the robot: the crab of Meister, Gutenkunst and Levi, with its kinematics and dynamics."""

import numpy as np

import modurob as mr

crab = mr.Assembly.single("m0", "backbone")
crab = crab.dock("m1", "backbone", at="m0/3", by="4")
crab = crab.dock("m2", "backbone", at="m1/2", by="5").dock("m3", "backbone", at="m2/3", by="2")
crab = crab.dock("m4", "backbone", at="m1/5", by="2").dock("m5", "backbone", at="m4/3", by="5")
robot = crab.mechanism(base="m0")
print([joint.name for joint in robot.joints], "move;", robot.idle, "are idle")

q, v = np.array([0.4, -0.7, 0.9]), np.array([1.0, 0.5, -0.5])
print("M =\n", robot.mass_matrix(q).round(6))
print("torques to hold it:", robot.gravity_forces(q).round(4), "N m")
print("left leg tip at", robot.forward_kinematics(q)["m5"][:3, 3].round(4))
print("a thousand states at once:", robot.forward_dynamics(np.tile(q, (1000, 1)), v, np.zeros(3)).shape)
