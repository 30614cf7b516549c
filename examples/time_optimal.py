"""The fastest motion of an arm along a path, drawn: speed along the path, and torques against their limits."""

import matplotlib as mpl
import numpy as np

import modurob as mr
from modurob.spatial import inertia, se3

LIMIT = np.array([60.0, 60.0, 25.0])  # [N m]


def arm() -> mr.Mechanism:
    """Three links that turn about z, y and y, with rotors and friction."""
    builder = mr.Builder("arm")
    own = mr.JointProperties(armature=0.2, damping=1.0, friction=2.0, effort=np.inf)
    link = inertia.moved(inertia.box(4.0, (0.08, 0.08, 0.5)), se3.pose(p=[0, 0, 0.25]))
    for i, axis in enumerate([(0, 0, 1), (0, 1, 0), (0, 1, 0)]):
        at = se3.pose(p=[0, 0, 0.5 if i == 2 else 0.1])
        parent = f"link{i}" if i else "world"
        builder.body(f"link{i + 1}", link, parent=parent, joint=mr.Revolute(axis), at=at, properties=own)
    return builder.build()


def drawn(robot: mr.Mechanism, found: mr.motion.TimeOptimal, path: str) -> None:
    """A picture of two plots."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
    left.fill_between(found.s, 0, found.highest, color="0.9", label="from here the end can be reached")
    left.plot(found.s, found.speed, "C0", label="time-optimal")
    left.set(
        xlabel="s along the path",
        ylabel="ds/dt [1/s]",
        xlim=(found.s[0], found.s[-1]),
        ylim=(0, 1.5 * max(found.speed)),
    )
    left.legend(loc="lower center", fontsize=9)
    t = np.linspace(0, found.duration, 4000)[1:-1]
    q, v, vdot = found.trajectory(t)
    tau = robot.inverse_dynamics(q, v, vdot) - robot.passive_forces(q, v) + 2.0 * np.sign(v)
    for i in range(3):
        right.plot(t, tau[:, i] / LIMIT[i], f"C{i}", lw=1, label=f"joint {i + 1}")
    right.axhline(1, color="0.5", lw=0.8, ls="--")
    right.axhline(-1, color="0.5", lw=0.8, ls="--")
    right.set(xlabel="t [s]", ylabel="torque by its limit", xlim=(0, found.duration), ylim=(-1.25, 1.6))
    right.legend(ncols=3, loc="upper center", fontsize=9)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(path: str = "time_optimal.png") -> mr.motion.TimeOptimal:
    """The motion, drawn to a file."""
    robot = arm()
    points = [[0.0, 0.3, 0.5], [1.2, 0.9, -0.4], [0.4, 1.3, 0.8], [-0.6, 0.4, 1.4]]
    found = mr.time_optimal(robot, points, velocity=4.0, torque=LIMIT)
    drawn(robot, found, path)
    return found


if __name__ == "__main__":
    print(f"{main().duration:.3f} s, drawn to time_optimal.png")
