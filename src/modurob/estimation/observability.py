"""Observability: which parts of the state the sensors determine."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from modurob.errors import EstimateError, explained
from modurob.estimation.closure import allowed
from modurob.estimation.kalman import readings_of, stacked_slope
from modurob.estimation.prediction import transition
from modurob.estimation.sensors import HallSensors, Sensor
from modurob.mechanism.driven import untouched
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array

# what moves the readings this much less than the best seen direction is not seen: far above rounding, far below anything of use
UNSEEN = 1e-12


@dataclass(frozen=True, eq=False)
class Observability:
    """The information of 2 nv samples of the sensors about a small error of the state."""

    states: int  # degrees of freedom of the error: 2 nv, less what loops take away
    rank: int  # of them that the readings show
    condition: float  # how much more the readings move with the best seen direction than with the worst seen
    directions: Array  # what they do not show: orthonormal errors (dq, dv), (states - rank, 2 nv)
    unseen: tuple[str, ...]  # coordinates and rates with a part in those directions

    def __str__(self) -> str:
        hidden = f"; not seen: {', '.join(self.unseen)}" if self.unseen else ""
        return f"{self.rank} of {self.states} states observable, condition {self.condition:.3g}{hidden}"


@explained
def observability(
    robot: Mechanism,
    q: Array,
    v: Array,
    tau: Array,
    sample_time: float,
    sensors: Sensor | Sequence[Sensor] | None = None,
) -> Observability:
    """The rank of O = (H, H F, ..., H F^(2 nv - 1)), F and H of the robot and its sensors at one state (q, v) under
    torques tau.

    q is (nq,), v and tau (nv,), `sample_time` in s; `sensors` are HallSensors() by default. The result names the
    coordinates and rates that are not observable.

    >>> print(mr.observability(robot, q, v, np.zeros(3), sample_time=1e-2))
    6 of 6 states observable, condition 60.7
    """
    q, v, tau = (np.asarray(x, dtype=float) for x in (q, v, tau))
    if q.ndim != 1 or v.ndim != 1 or tau.ndim != 1:
        raise EstimateError(
            f"q, v, tau have shapes {q.shape}, {v.shape}, {tau.shape}: expected one state, ({robot.nq},) and ({robot.nv},)"
        )
    robot = untouched(robot)
    F = transition(robot, q, v, tau, sample_time)
    rows = [stacked_slope(readings_of(sensors or HallSensors(), robot), q, v, tau)]
    while len(rows) < len(F):
        rows.append(rows[-1] @ F)
    basis = scipy.linalg.orth(allowed(robot, q, v), rcond=1e-9) if robot.constraints else np.eye(len(F))
    _, s, Vt = np.linalg.svd(np.concatenate(rows) @ basis)
    rank = int((s > UNSEEN * s[0]).sum())
    directions = Vt[rank:] @ basis.T
    names = np.array(_names(robot))
    unseen = names[np.linalg.norm(directions, axis=0) > 1e-6]
    return Observability(len(s), rank, float(s[0] / s[rank - 1]), directions, tuple(unseen.tolist()))


def _names(robot: Mechanism) -> list[str]:
    """Of the entries of (dq, dv)."""
    names = [name for joint in robot.joints if not joint.mimics for name in joint.rate_names()]
    return names + [f"{name} rate" for name in names]
