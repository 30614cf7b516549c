"""Two organisms of three modules meet in free space, dock, and continue as one snake under the same law."""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import modurob as mr
from modurob.draw import draw
from modurob.spatial import quaternion


def chain(prefix: str) -> mr.Assembly:
    """Three Backbones in a row."""
    assembly = mr.Assembly.single(f"{prefix}0", "backbone")
    for i in (1, 2):
        assembly = assembly.dock(f"{prefix}{i}", "backbone", at=f"{prefix}{i - 1}/3", by="4")
    return assembly


class SnakeOfSix:
    """Joints held straight, and swung as a snake's once there are six modules."""

    def on(self, robot: mr.Mechanism):
        still = np.zeros(robot.nv)
        straight = robot.neutral(), still, still
        six = all(name in robot.frames for name in ("m0", "n0"))
        return mr.gait("snake", amplitude=0.5, frequency=1.0).on(robot) if six else lambda t: straight


# the second drifts towards the first, turning about its long axis, to fit its port after a second
first, second, meet, drift, spin = chain("m"), chain("n"), 1.0, np.array([0.05, -0.2, 0.0]), np.array([0.0, 0.8, 0.0])
both = first.joined(second, "m2/3", "n0/4").mechanism(base="m0", floating=True)
there = both.frame_pose(both.neutral(), "n0")[:3, 3]
turn = quaternion.exp(-meet * spin)
q = np.concatenate([there - meet * drift, turn, np.zeros(2)])
v = np.concatenate([quaternion.to_matrix(turn).T @ drift, spin, np.zeros(2)])

law = mr.ComputedTorque(kp=100, kd=20, reference=SnakeOfSix(), partial=True)
organisms = {"first": mr.Organism(first, controller=law), "second": mr.Organism(second, q, v, controller=law)}
world = mr.World(organisms, gravity=(0, 0, 0))
runs = world.run(3.0, [mr.Merge(meet, "first", "second", "m2/3", "n0/4")])

impact = world.impacts[0]
change = np.abs(impact.momentum_after - impact.momentum_before).max()
print(f"docked at t = {impact.t:g} s: momentum changed by {change:.0e}, {1e3 * impact.energy_lost:.2f} mJ were lost")
alone, together = runs["first"].segments
other = runs["second"].segments[0]
print(f"the law was made for {alone.robot.nv} degrees of freedom, then for {together.robot.nv}; {runs['first'].status}")

# snapshots above, momentum and energy of all modules below
figure = plt.figure(figsize=(12, 6))
moments = {0.0: [alone, other], meet: [together], 1.7: [together], 2.4: [together]}
for i, (t, shown) in enumerate(moments.items()):
    ax: Any = figure.add_axes((0.25 * i - 0.05, 0.4, 0.35, 0.6), projection="3d")
    for segment in shown:
        draw(segment.robot, segment.at(t)[0], ax)
    ax.set(xlim=(-0.45, 0.45), ylim=(-0.2, 0.9), zlim=(-0.45, 0.45))
    ax.set_box_aspect((0.9, 1.1, 0.9), zoom=1.55)
    ax.view_init(elev=35, azim=-20)
    ax.set_axis_off()
    ax.patch.set_visible(False)
    figure.text(0.25 * i + 0.125, 0.93, f"t = {t:g} s" + (", docked" if t == meet else ""), ha="center", size=13)

panels = [figure.add_axes((0.06 + 0.33 * i, 0.1, 0.26, 0.32)) for i in range(3)]
for shown in ([alone, other], [together]):
    t, P = shown[0].t, np.sum([s.robot.momentum(s.q, s.v) for s in shown], axis=0)
    for k, axis in enumerate("xyz"):
        label = axis if shown[0] is alone else None
        panels[0].plot(t, P[:, k], color=f"C{k}", lw=2, label=label)
        panels[1].plot(t, 1e3 * P[:, 3 + k], color=f"C{k}", lw=2, label=label)
    panels[2].plot(t, 1e3 * sum(s.kinetic_energy for s in shown), color="C4", lw=2)
for panel, title in zip(
    panels, ("linear momentum [N s]", "angular momentum [mN m s]", "kinetic energy [mJ]"), strict=True
):
    panel.set_title(title)
    panel.set_xlabel("time [s]")
    panel.axvline(meet, color="black", ls=":", lw=1)
    panel.grid(alpha=0.3)
panels[0].legend(frameon=False)
panels[2].set_ylim(bottom=0)

out = Path("out")
out.mkdir(exist_ok=True)
runs["first"].save(out / "docking.mrun")
figure.savefig(out / "docking.png", dpi=110)
plt.close(figure)
print(f"recording and picture: {out}/docking.mrun, {out}/docking.png")
