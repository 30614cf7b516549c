"""Walking organisms: gaits set by hand and gaits found by a search, with speed and cost of transport."""

import numpy as np

import modurob as mr

HINGES = [f"m{i}/hinge" for i in range(5)]
ORGANISMS = {
    "crab": mr.gait("bound", amplitude=1.1, frequency=1.5, lag=2.4, stance=-0.3),
    "snake": mr.gait("inchworm", amplitude=0.8, frequency=1.0),
    "caterpillar": mr.gait("inchworm", amplitude=0.6, frequency=1.0, waves=2.0),
    "quadruped": mr.gait("hexapod", amplitude=0.25, frequency=1.0, stance=1.0),
    "hexapod": mr.gait("hexapod", amplitude=0.35, frequency=1.0, stance=1.2),
    "wheel": mr.gait("wheel", amplitude=0.25, frequency=0.5),
    "convoy": mr.gait("inchworm", amplitude=dict.fromkeys(HINGES, 0.6), frequency=1.0),
}


def walked(name: str, found: bool, duration: float = 20.0) -> mr.Recording:
    """The walk of an organism by the gait that is set by hand, or by the one that was found."""
    robot = mr.walking_robot(name).robot()
    gait = mr.found_gait(name) if found else ORGANISMS[name]
    walker = mr.driven(robot, gait).on_ground(mr.Ground(friction=0.8))
    return mr.simulate(walker, walker.standing(gait.on(robot)(0.0)[0]), duration=duration, tick=0.02)


def main() -> None:
    for name in ORGANISMS:
        for found in (False, True):
            went = mr.travel(walked(name, found, duration=5.0), since=2.0)
            print(
                f"{name}, {'found' if found else 'set by hand'}: {went.speed:.2f} m/s, "
                f"heading {np.rad2deg(went.heading):.0f} degrees, "
                f"cost of transport {went.cost_of_transport:.2f}, slip {went.slip:.2f}"
            )


if __name__ == "__main__":
    main()
