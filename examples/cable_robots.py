"""Two cable robots: where cables can hold a planar one, and the tensions and forward kinematics of RoboCrane's platform."""

import numpy as np

import modurob as mr

planar = mr.load("cable_planar").robot()
grid = np.linspace(-0.3, 0.3, 31)
for angle in (0.0, 0.1, 0.3, 0.6):
    poses = [[x, y, angle] for x in grid for y in grid]
    print(f"turned by {angle} rad: wrench closure at {int(mr.wrench_closure(planar, poses).sum())} of 961 points")

crane = mr.load("robocrane").robot()
level = crane.neutral()
found = crane.actuation(level)
print("RoboCrane:", found.verdict, "tensions", found.feasible(found.G.T @ crane.gravity_forces(level)).round(2), "N")
moved = crane.integrate(level, [0.2, -0.1, 0.15, 0.02, -0.03, 0.1])
seen = mr.from_lengths(crane, crane.line_lengths(moved), level)
print("its pose from cable lengths, off by", f"{np.abs(crane.difference(seen, moved)).max():.1e}")
