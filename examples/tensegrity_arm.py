"""A tensegrity arm changes shape: a strut is undocked and docked again while the other cables keep their tension."""

import warnings

import numpy as np

import modurob as mr


def settled(arm: mr.Assembly, known: dict) -> tuple[mr.Mechanism, np.ndarray]:
    """The robot, half a second later; it starts where its joints were known to stand."""
    robot = arm.mechanism()
    q = np.concatenate([known[joint.name] for joint in robot.joints])
    run = mr.simulate(robot, q, duration=0.5, stepper=mr.RungeKutta4(2e-4), tick=1e-2)
    known |= {joint.name: run.q[-1, joint.q_slice] for joint in robot.joints}
    return robot, run.q[-1]


def tell(what: str, robot: mr.Mechanism, q: np.ndarray) -> None:
    T = robot.line_tensions(q, np.zeros(robot.nv))
    print(f"{what}: {len(T)} cables, {int((T > 0).sum())} taut, {T[T > 0].min():.1f} to {T.max():.1f} N")


arm = mr.load("tensegrity_arm")
robot = arm.robot()
known = {joint.name: arm.initial_state()[0][joint.q_slice] for joint in robot.joints}
tell("the arm", *settled(arm, known))

# what ran over the strut goes with it
lines = {name: line for name, line in arm.setup.lines.items() if "c0" in line.modules}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    without = arm.undock("c0")
tell("without c0", *settled(without, known))

strut = arm.modules["c0"]
again = without.dock("c0", strut.type, at="b0/out", by="in", parameters=strut.changed)
for name, line in lines.items():
    again = again.with_line(name, line.route, line.law)
tell("docked again", *settled(again, known))
