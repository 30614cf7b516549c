"""Base parameters while the robot moves: least squares that take sample after sample in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.algorithms.base_parameters import BaseParameters, base_parameters
from modurob.caching import cached_property
from modurob.errors import EstimateError
from modurob.identification.consistency import Problem, consistent
from modurob.identification.data import Samples
from modurob.identification.identify import TERMS
from modurob.identification.model import TorqueModel
from modurob.motion.checks import require_robot
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array
from modurob.values import Value


class Information(NamedTuple):
    """R beta = z + noise of deviation one: what is known of the base parameters, (rank, rank) and (rank,)."""

    R: Array
    z: Array


@dataclass(frozen=True, eq=False)
class RecursiveIdentification(Value):
    """Recursive least squares of base parameters, one sample at a time, for example for a robot that has just docked.

    It starts from the given robot, whose base parameters are trusted up to `trust` times their magnitude. `noise` is
    the standard deviation of a torque [N m or N]; the weight of a sample decreases by `forgetting` with each later
    sample, so that changes are followed. A pure function of its memory, a triangular R and z (square-root information,
    so that the covariance stays positive).

    >>> learning = mr.RecursiveIdentification(robot.ideal(), terms=["inertia"], noise=0.01)
    >>> memory = learning.step(learning.start(), q, v, np.zeros(3), robot.inverse_dynamics(q, v, np.zeros(3)))
    >>> bool(np.allclose(learning.estimate(memory)[0], learning.base.K @ robot.inertial_parameters()))
    True
    """

    robot: Mechanism
    terms: Sequence[str] = TERMS
    noise: ArrayLike = 0.1  # [N m or N]
    forgetting: float = 1.0
    trust: float = 1.0

    def __post_init__(self) -> None:
        require_robot(self.robot, "identification", EstimateError)
        if self.robot.constraints:
            raise EstimateError(f"{self.robot.name} has loops: expected a tree, or mr.identify on a recording")
        for name, x, most in (("forgetting", self.forgetting, 1.0), ("trust", self.trust, np.inf)):
            if not isinstance(x, int | float) or not 0 < x <= most:
                raise EstimateError(f"{name} = {x!r:.60}: expected a number above zero, at most {most:g}")
        sigma = np.asarray(self.noise, dtype=float)
        if sigma.shape not in ((), (self.robot.nv,)) or not np.all(sigma > 0):
            raise EstimateError(
                f"noise = {self.noise!r:.60}: expected a deviation above zero, or {self.robot.nv} of them"
            )
        super().__post_init__()

    @cached_property
    def model(self) -> TorqueModel:
        """Torques as a linear function of the parameters."""
        return TorqueModel(self.robot, tuple(self.terms))

    @cached_property
    def base(self) -> BaseParameters:
        """The base parameters."""
        return base_parameters(self.robot, self.model.terms)

    def start(self) -> Information:
        """The memory before the first sample."""
        beta, size = self.base.K @ self.model.values(), np.abs(self.base.K) @ np.abs(self.model.values())
        R = np.diag(1 / (self.trust * np.maximum(size, 1e-3 * size.max(initial=1e-9))))
        return Information(R, R @ beta)

    def step(self, memory: Information, q: Array, v: Array, vdot: Array, tau: Array) -> Information:
        """The memory after one more sample, (nq,) and (nv,), or several, (k, nq) and (k, nv); joints at rest give no
        information about dry friction.
        """
        v = np.atleast_2d(np.asarray(v, dtype=float))
        s = Samples(np.zeros(len(v)), np.atleast_2d(q), v, np.atleast_2d(vdot), np.atleast_2d(tau))
        Y, y = self.model.rows(s)
        sigma = np.broadcast_to(np.asarray(self.noise, dtype=float), (self.robot.nv,))
        rested = (v == 0) & ("coulomb" in self.model.terms)
        weight = np.where(rested, 0.0, 1 / sigma)
        rows = np.concatenate([Y[..., self.base.kept] * weight[..., None], (y * weight)[..., None]], axis=-1)
        old = np.sqrt(self.forgetting ** len(v)) * np.column_stack([memory.R, memory.z])
        whole: Any = np.linalg.qr(np.vstack([old, rows.reshape(-1, rows.shape[-1])]), mode="r")
        return Information(whole[: self.base.rank, :-1], whole[: self.base.rank, -1])

    def estimate(self, memory: Information) -> tuple[Array, Array]:
        """The base parameters, (rank,), and their covariance, (rank, rank)."""
        inverse = np.linalg.inv(memory.R)
        return inverse @ memory.z, inverse @ inverse.T

    def refitted(self, memory: Information) -> Mechanism:
        """The robot with the present estimates, with physically consistent inertias."""
        bodies = len(self.robot.joints) if "inertia" in self.model.terms else 0
        free = np.array([k for k, name in enumerate(self.base.names) if name.endswith(" offset")], dtype=int)
        nothing = np.zeros(0, dtype=int)
        known = Problem(self.base.K, *self.estimate(memory), self.model.values(), bodies, free, nothing)
        return self.model.with_values(consistent(known))
