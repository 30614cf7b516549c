"""Motors behind elastic gears, from encoders on both sides of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.catalogue.drives import Losses
from modurob.errors import EstimateError, explained
from modurob.identification.data import MotionData, Samples
from modurob.identification.fitting import Fit, fitted
from modurob.identification.rows import averaged
from modurob.mechanism.driven import drive_rows
from modurob.motion.checks import require_robot
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array

# dry friction of fewer deviations is taken for none
CERTAIN = 3.0


class GearValues(NamedTuple):
    """What elastic drives have, at their joints, (drives,) each."""

    rotor: Array  # [kg m²]
    viscous: Array  # of the motor [N m s/rad]
    coulomb: Array  # [N m]
    stiffness: Array  # of the gear [N m/rad]
    damping: Array  # [N m s/rad]


@dataclass(frozen=True, eq=False)
class GearIdentification:
    """What was found of elastic drives, and the motion of the links under the torques of their gears."""

    believed: Mechanism
    joints: tuple[str, ...]
    fit: Fit
    links: MotionData  # q, and tau through the gears: what a robot without drives is identified from

    @property
    def values(self) -> GearValues:
        """By drive, in the order of `joints`."""
        return GearValues(*self.fit.beta.reshape(-1, 5).T)

    @property
    def deviations(self) -> GearValues:
        """Standard deviations of the values."""
        return GearValues(*np.sqrt(np.diag(self.fit.covariance)).reshape(-1, 5).T)

    @property
    def robot(self) -> Mechanism:
        """The robot with drives as they were found; nothing below zero, and no dry friction where it is not certain."""
        found = {name: self._numbers(k) for k, name in enumerate(self.joints)}
        rows = tuple(
            row._replace(force=replace(row.force, **found[self.believed.joints[row.joint].name]))  # type: ignore[arg-type]
            if row in drive_rows(self.believed) and self.believed.joints[row.joint].name in found  # type: ignore[attr-defined]
            else row
            for row in self.believed.forces
        )
        return replace(self.believed, forces=rows)

    def _numbers(self, k: int) -> dict[str, float]:
        own = {name: max(float(x[k]), 0.0) for name, x in self.values._asdict().items()}
        if own["coulomb"] < CERTAIN * self.deviations.coulomb[k]:
            own["coulomb"] = 0.0
        dry = Losses(coulomb=own["coulomb"]).bristles() if own["coulomb"] else {"static": 0.0, "bristle": 0.0}
        return {**own, "static": dry["static"], "bristle": dry["bristle"], "stribeck": 0.0}


@explained
def identify_gears(
    robot: Mechanism,
    t: ArrayLike,
    q: ArrayLike,
    theta: ArrayLike,
    tau: ArrayLike,
    *,
    noise: ArrayLike | None = None,
    window: float = 0.02,
    slow: float = 0.02,
    **how: Any,
) -> GearIdentification:
    """Rotors, friction and gears of elastic drives by weighted least squares, without a model of the links.

    tau = J theta'' + b theta' + c sign(theta') + k (theta - q) + d (theta' - q'), from joints q (k, nq), motors theta
    (k, nv) and motor torques tau (k, nv), referred to the joints [rad, N m], at equally spaced times t (k,); `how` are
    the options of `MotionData`, such as held=True. `noise` is the standard deviation of a torque sample; None: the
    residual. Equations are averaged over `window` [s]; motors slower than `slow` times their top speed are excluded.

    >>> soft = robot.with_drive("m0/hinge", mr.Drive(mr.Motor(0.1, inertia=2e-5), mr.Gear(50.0, stiffness=200.0)))
    >>> run = mr.simulate(soft, q, duration=2.0, controller=lambda t, q, v: np.array([2 * np.sin(9 * t), 0, 0]))
    >>> theta = np.column_stack([run.drive("m0/hinge").motor_angle, run.q[:, 1:]])
    >>> found = mr.identify_gears(soft, run.t, run.q, theta, run.tau, held=True)
    >>> bool(abs(found.values.stiffness[0] / 200 - 1) < 0.01)
    True
    """
    require_robot(robot, "identification", EstimateError)
    rates = _elastic_rates(robot)
    joint, motor = (MotionData(t, x, tau, **how).samples(robot) for x in (q, theta))  # type: ignore[arg-type]
    columns = _columns(joint, motor)[:, list(rates)]
    Y = np.einsum("knp,nm->knmp", columns, np.eye(len(rates))).reshape(*columns.shape[:2], -1)
    speed = np.abs(motor.v[:, list(rates)])
    block = max(1, round(window / float(joint.t[1] - joint.t[0])))
    rows = averaged(Y, motor.tau[:, list(rates)], speed > slow * speed.max(axis=0), block)
    sigma = None if noise is None else np.broadcast_to(np.asarray(noise, float), len(rates))
    fit = fitted(rows, tuple(range(Y.shape[-1])), "weighted", sigma)
    gear = np.zeros_like(joint.tau)
    gear[:, list(rates)] = np.einsum("knp,np->kn", columns[..., 3:], fit.beta.reshape(-1, 5)[:, 3:])
    return GearIdentification(robot, tuple(rates.values()), fit, MotionData(joint.t, joint.q, gear, joint.v))


def _columns(joint: Samples, motor: Samples) -> Array:
    """What each of the five values is multiplied with, (k, nv, 5)."""
    twist, rate = motor.q - joint.q, motor.v - joint.v
    return np.stack([motor.vdot, motor.v, np.sign(motor.v), twist, rate], axis=-1)


def _elastic_rates(robot: Mechanism) -> dict[int, str]:
    """Rates with elastic drives, and their joints; or an error."""
    if robot.nq != robot.nv:
        raise EstimateError(
            f"identify_gears of {robot.name}: expected joints whose rates are those of their coordinates"
        )
    rows = [row for row in drive_rows(robot) if row.force.stiffness]  # type: ignore[attr-defined]
    if not rows:
        raise EstimateError(f"identify_gears of {robot.name}: expected drives with elastic gears: it has none")
    return {robot.joints[row.joint].v_slice.start: robot.joints[row.joint].name for row in rows}
