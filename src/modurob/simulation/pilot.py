"""What drives a robot from sample to sample: its law, its filter, what they remember, and the torques that are held."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from modurob.catalogue.drives import DriveForce
from modurob.mechanism.tables import JointRow
from modurob.robot import Mechanism
from modurob.simulation.law import Controller, Estimator, Measured, Seen, law_of
from modurob.simulation.status import Failure
from modurob.spatial.scalars import Array

_NO_STATES = np.zeros(0)


class Pilot:
    """A controller and an estimator made for one robot, or neither: then torques are zero.

    The estimator starts from the estimate `believed`, a configuration and a velocity.
    """

    def __init__(
        self,
        robot: Mechanism,
        controller: Controller | None,
        estimator: Estimator | None,
        sample_time: float,
        believed: tuple[Array, Array],
    ):
        self.robot = robot
        self._law = law_of(controller, robot)
        self._filter = None if estimator is None else estimator.on(robot, sample_time)
        self.memory = None if self._law is None else self._law.start()
        self.belief = None if self._filter is None else self._filter.start(*believed)
        self.estimate = None if self._filter is None else Measured(*believed)
        self.tau: Array = np.zeros_like(believed[1])

    def decide(
        self, t: float, q: Array, v: Array, acceleration: Callable[[], Array], rng: Any, x: Array | None = None
    ) -> Failure | None:
        """Look at the state, and hold the torques of the law for it, as far as drives can give them."""
        try:
            measured = Seen.of(_unwritable(q), _unwritable(v), _NO_STATES if x is None else _unwritable(x))
            if self._filter is not None:
                measured = self.estimate = self._estimated(t, q, v, acceleration(), rng)
            if self._law is None:
                return None
            memory, tau = _pair(self._law.step(self.memory, t, measured))
            tau = _real(tau)
        except Exception as error:  # whatever a user's law raises
            return Failure("controller failed", f"{type(error).__name__}: {error}")
        if tau.shape != v.shape:
            return Failure(
                "controller failed", f"torques of shape {tau.shape}: expected {v.shape} for {self.robot.name}"
            )
        finite = np.isfinite(tau)
        limit = input_limit(self.robot)
        self.memory, self.tau = memory, np.clip(np.where(finite, tau, 0.0), -limit, limit)
        if finite.all():
            return None
        lost = np.asarray(~finite.all(axis=-1))
        return Failure("not finite", f"the law's torque is {tau[lost][0] if tau.ndim > 1 else tau}", lost)

    def _estimated(self, t: float, q: Array, v: Array, vdot: Array, rng: Any) -> Measured:
        f: Any = self._filter
        self.belief, seen = f.measure(self.belief, t, q, v, vdot, rng)
        self.belief, estimate = f.update(self.belief, t, self.tau, seen)
        return estimate

    @property
    def channels(self) -> dict[str, Array]:
        """What is written down of it."""
        own = {"tau": self.tau}
        return own if self.estimate is None else {**own, "q_estimate": self.estimate.q, "v_estimate": self.estimate.v}


def _pair(found: Any) -> tuple[Any, Any]:
    """What a step returns, or an error for anything but a memory and torques."""
    if not isinstance(found, tuple) or len(found) != 2 or found[1] is None:
        raise TypeError(f"its step returned {found!r:.60}: expected (memory, torques)")
    return found


def _real(tau: Any) -> Array:
    """Torques as numbers, or an error for those that are not real."""
    found = np.asarray(tau)
    if found.dtype.kind in "bc":
        kind = "True or False" if found.dtype.kind == "b" else "complex"
        raise TypeError(f"torques {tau!r:.60} are {kind}: expected real numbers [N m or N]")
    return found.astype(float)


@lru_cache(maxsize=1024)
def input_limit(robot: Mechanism) -> Array:
    """The largest input of each rate, (nv,): the effort of its drive, or what the input of a drive with its own model allows. What
    lines with a given tension pull on, and no drive, has none: a law adds their -J^T u, within their own bounds."""
    limit = np.array(robot.effort_limit)
    pulled = {i for row in robot.lines if row.force.law.driven for f in row.frames for i in robot.ancestors[f.body]}
    for rates in (robot.joints[i - 1].v_slice for i in pulled):
        limit[rates] = np.where(limit[rates] == 0, np.inf, limit[rates])
    for row in robot.forces:
        if isinstance(row.force, DriveForce) and isinstance(row, JointRow):
            limit[robot.joints[row.joint].v_slice.start + row.rate] = row.force.input_limit
    return limit


def _unwritable(x: Array) -> Array:
    """A view that a law cannot change the simulated state through."""
    seen = x.view()
    seen.flags.writeable = False
    return seen
