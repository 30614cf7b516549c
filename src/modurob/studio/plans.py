"""Motions that were planned, shown as runs are: played, plotted against limits, laid over the runs that follow them."""

from typing import Any

import numpy as np

from modurob.robot import Mechanism
from modurob.simulation import RungeKutta4
from modurob.simulation.recording import Recording, Segment, Settings
from modurob.simulation.status import DONE, Status
from modurob.spatial.scalars import Array
from modurob.studio import motions
from modurob.studio.protocol import Motion
from modurob.studio.replay import Replay

TICK = 0.005  # [s]: less where a motion is short
FEWEST, MOST = 200, 8000  # samples


class Plan(Replay):
    """A motion of the robot that is shown: where each joint is to be, and the torques that this takes."""

    def __init__(self, number: int, robot: Mechanism, motion: Motion):
        self.motion, self.trajectory = motion, motions.planned(robot, motion)
        count = int(np.clip(self.trajectory.duration / TICK, FEWEST, MOST)) + 1
        t = np.linspace(0, self.trajectory.duration, count)
        q, v, self._vdot = self.trajectory(t)
        channels = {"t": t, "q": q, "v": v, "tau": motions.torques(robot, q, v, self._vdot)}
        settings = Settings(RungeKutta4(float(t[1])), float(t[1]), 0, "planned", "", False)
        done = Status(DONE, float(t[-1]))
        super().__init__(number, robot, Recording((Segment(robot, settings, channels),), done), "the plan")

    def _acceleration(self, own: Any) -> Array:
        return self._vdot

    def summary(self) -> dict[str, Any]:
        """What the list of runs shows."""
        limits = {
            "velocity": motions.speeds(self.robot, self.motion).tolist(),
            "acceleration": [self.motion.acceleration] * self.robot.nv,
        }
        words = {"listed": "", "within": ", within limits", "fastest": ", time-optimal"}[self.motion.timing]
        label = f"plan, {self.motion.interpolation.replace('-', ' ')}{words}"
        return {**super().summary(), "label": label, "limits": limits, "planned": True, "status": "planned"}
