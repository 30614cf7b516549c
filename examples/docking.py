"""Two organisms of three modules meet in free space, dock, and go on as one snake under the same law."""

from pathlib import Path

import numpy as np

import modurob as mr
from modurob.draw import save_picture


def chain(prefix: str) -> mr.Assembly:
    """Three Backbones in a row."""
    assembly = mr.Assembly.single(f"{prefix}0", "backbone")
    for i in (1, 2):
        assembly = assembly.dock(f"{prefix}{i}", "backbone", at=f"{prefix}{i - 1}/3", by="4")
    return assembly


class Law:
    """Joints held straight, and swung as a snake's once there are six modules."""

    sample_time = None

    def on(self, robot: mr.Mechanism):
        swing = mr.gait("snake", amplitude=0.4, frequency=1.0) if "n0" in robot.frames and "m0" in robot.frames else 0.0
        return mr.ComputedTorque(kp=100, kd=20, reference=swing, partial=True).on(robot)


first, second = chain("m"), chain("n")
# the second comes along y, at 0.1 m/s, from 0.1 m beyond where it fits
both = first.joined(second, "m2/3", "n0/4").mechanism(base="m0", floating=True)
q = second.mechanism(base="n0", floating=True).neutral()
q[:3] = both.frame_pose(both.neutral(), "n0")[:3, 3] + [0.0, 0.1, 0.0]
v = np.zeros(len(q) - 1)
v[1] = -0.1

world = mr.World(
    {"first": mr.Organism(first, controller=Law()), "second": mr.Organism(second, q, v, controller=Law())},
    gravity=(0.0, 0.0, 0.0),
)
runs = world.run(2.5, [mr.Merge(1.0, "first", "second", "m2/3", "n0/4")])

impact = world.impacts[0]
change = np.abs(impact.momentum_after - impact.momentum_before).max()
print(f"docked at t = {impact.t:g} s: momentum changed by {change:.0e}, {impact.energy_lost * 1e3:.2f} mJ were lost")
alone, together = runs["first"].segments
print(f"the law was made anew for {alone.robot.nv} and then {together.robot.nv} freedoms; {runs['first'].status}")

out = Path("out")
out.mkdir(exist_ok=True)
runs["first"].save(out / "docking.mrun")
runs["first"].plot(out / "docking_joints.png")
save_picture(together.robot, out / "docking.png", together.q[-1], title="two organisms that became one")
print(f"recording and pictures: {out}/docking.mrun, docking_joints.png, docking.png")
