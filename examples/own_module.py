"""A module type of your own: define it, dock it, use it."""

from pathlib import Path

import modurob as mr

gripper = mr.module_type(Path(__file__).with_name("gripper.yaml"))
arm = mr.Assembly.single("base", "backbone").dock("elbow", "backbone", at="base/3", by="4")
arm = arm.dock("hand", gripper, at="elbow/3", by="back", parameters={"stroke": 0.03})
robot = arm.mechanism()
for joint in robot.joints:
    print(f"{joint.name}: {joint.kind}, {joint.limits.lower[0]:.3f} to {joint.limits.upper[0]:.3f}")
print("mass to move:", robot.total_mass(), "kg")
