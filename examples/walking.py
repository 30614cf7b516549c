"""Organisms that go somewhere: a hexapod, a snake, a caterpillar and a wheel on the ground, how fast, and at what cost."""

import numpy as np

import modurob as mr


def chain(n):
    """n backbones in a row."""
    made = mr.Assembly.single("m0", "backbone")
    for i in range(1, n):
        made = made.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4")
    return made


def hexapod():
    """Six legs of two joints, one about the vertical, on both sides of a spine."""
    made = chain(3)
    for i in range(3):
        for side, port in (("l", "5"), ("r", "2")):
            made = made.dock(f"{side}{i}a", "backbone", at=f"m{i}/{port}", by="4", roll=90)
            made = made.dock(f"{side}{i}b", "backbone", at=f"{side}{i}a/3", by="4", roll=-90)
            made = made.dock(f"{side}{i}c", "backbone", at=f"{side}{i}b/3", by="4")
    return made


organisms = {
    "hexapod": (hexapod(), mr.gait("hexapod", amplitude=0.35, frequency=1.0)),
    "snake": (chain(6), mr.gait("snake", amplitude=0.6, frequency=1.0)),
    "caterpillar": (chain(10), mr.gait("snake", amplitude=0.6, frequency=1.0, waves=2.0)),
    "wheel": (chain(8).connect("m7/3", "m0/4"), mr.gait("wheel", amplitude=0.25, frequency=0.5)),
}
for name, (assembly, gait) in organisms.items():
    robot = assembly.mechanism(floating=True)
    walker = mr.driven(robot, gait).on_ground(mr.Ground(friction=0.8))
    run = mr.simulate(walker, walker.standing(gait.on(robot)(0.0)[0]), duration=20.0, tick=0.02)
    went = mr.travel(run)
    print(
        f"{name}: {went.distance:.2f} m in 20 s, heading {np.rad2deg(went.heading):.0f} degrees, "
        f"cost of transport {went.cost_of_transport:.2f}, slip {went.slip:.2f}"
    )
