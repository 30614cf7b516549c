"""Settings that a run begins with: they must suit the robot."""

import numpy as np
import pytest

import modurob as mr
from modurob.motion.gaits import gait
from modurob.studio import suggestions
from modurob.studio.protocol import RunSettings
from tests.studio.test_opening import ARM, opened
from tests.studio.test_runs import column, ran


def robots() -> dict[str, mr.Mechanism]:
    found = {name: mr.load(name).mechanism() for name in mr.shipped_robots()}
    # what hangs in cables has no drives at its joints
    found = {name: robot for name, robot in found.items() if not robot.lines}
    return {**found, "floating": mr.load("crab").mechanism(floating=True), "arm": opened(ARM).robot}


ROBOTS = robots()


def test_the_gait_fits_the_limbs() -> None:
    found = {name: suggestions.settings(robot)["gait"] for name, robot in ROBOTS.items()}
    assert found["crab"] == found["floating"] == "crab"
    assert found["arm"] == found["double_pendulum"] == "snake"


@pytest.mark.parametrize("name", ROBOTS)
def test_the_gait_is_within_the_limits(name: str) -> None:
    settings = suggestions.settings(ROBOTS[name])
    if settings["reference"] == "gait":
        gait(settings["gait"], amplitude=settings["amplitude"]).on(ROBOTS[name])


@pytest.mark.parametrize("controller", ["computed-torque", "pid"])
@pytest.mark.parametrize("name", ROBOTS)
def test_gains_hold_and_follow(name: str, controller: str) -> None:
    """Errors are small after three seconds, with gains that fit a module of a kilogram and a pendulum of fifty."""
    robot = ROBOTS[name]
    losses = [row.name for row in robot.forces if row.name.endswith(" friction")]
    if controller == "computed-torque" and losses:
        # which it does not compensate: 2.3 N m at a joint of 0.17 kg m² leave 0.2 rad
        robot = robot.without_forces(*losses)
    own = suggestions.settings(robot)
    torques, _, _, _ = (own.pop(name) for name in ("torques", "servos", "ground", "on_ground"))
    settings = {**own, **(torques if controller == "pid" else {}), "controller": controller, "duration": 3.0}
    RunSettings(**settings)
    run = ran(robot, **settings)
    assert run.status == "finished"
    assert np.abs(column(run, "error")[-30:]).max() < 0.1


def test_steps_are_short_where_cables_are_stiff() -> None:
    """A tenth of the time in which the fastest motion on the cables decays, or swings."""
    robot = mr.load("tensegrity_prism").robot()
    step = suggestions.settings(robot)["step"]
    assert 1e-5 <= step < 2e-4
    assert suggestions.settings(ROBOTS["crab"])["step"] == 1e-3
    assert ran(robot, duration=0.2, controller="none", step=step).status == "finished"


def test_a_robot_that_cannot_swing_holds() -> None:
    text = ARM.replace('lower="-1" upper="2"', 'lower="0.5" upper="2"')
    assert suggestions.settings(opened(text).robot)["reference"] == "hold"


def test_large_robots_are_not_looked_at_for_long() -> None:
    robot = mr.Assembly(
        {f"m{i}": mr.module_type("backbone").module() for i in range(200)},
        [mr.Connection(mr.PortRef(f"m{i}", "3"), mr.PortRef(f"m{i + 1}", "4")) for i in range(199)],
    ).mechanism()
    assert suggestions.settings(robot)["torques"] == suggestions.USUAL
