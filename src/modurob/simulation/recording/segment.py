"""What one robot did, from one change of shape to the next."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from modurob import kernels
from modurob.algorithms import Poses
from modurob.algorithms.forces import acting, stored_energy
from modurob.caching import cached_property
from modurob.errors import SimulationError
from modurob.robot import Mechanism
from modurob.simulation.recording.settings import Settings
from modurob.simulation.steppers import Stepper
from modurob.simulation.stepping import Mover
from modurob.simulation.system import State
from modurob.spatial.scalars import Array

OUTSIDE = (
    "external wrenches acted, or in a world its ground, contacts and forces between organisms, which no recording holds"
)


@dataclass(frozen=True, eq=False)
class Segment:
    """One robot, from one change of shape to the next.

    `channels` are arrays by name whose rows are ticks, then runs side by side if there are several: t (ticks,) [s]; q, v; tau, each
    held until the next tick; x, the states of forces; q_estimate, v_estimate.
    """

    robot: Mechanism
    settings: Settings
    channels: Mapping[str, Array]

    def __post_init__(self) -> None:
        for x in self.channels.values():
            x.flags.writeable = False
        object.__setattr__(self, "channels", MappingProxyType(dict(self.channels)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Segment, (self.robot, self.settings, dict(self.channels))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Segment) or self.channels.keys() != other.channels.keys():
            return False
        same = all(np.array_equal(x, other.channels[n], equal_nan=True) for n, x in self.channels.items())
        return same and self.robot == other.robot and self.settings == other.settings

    def __hash__(self) -> int:
        return hash((self.robot, self.settings, self.channels["q"].tobytes()))

    @property
    def t(self) -> Array:
        """Times of the ticks, (ticks,) [s]."""
        return self.channels["t"]

    @property
    def q(self) -> Array:
        """Configurations, (ticks, ..., nq) [rad or m]."""
        return self.channels["q"]

    @property
    def v(self) -> Array:
        """Velocities, (ticks, ..., nv) [rad/s or m/s]."""
        return self.channels["v"]

    @property
    def tau(self) -> Array:
        """Torques, each held until the next tick, (ticks, ..., nv) [N m or N]."""
        return self.channels["tau"]

    @property
    def q_estimate(self) -> Array | None:
        """Configurations as the estimator had them, (ticks, ..., nq); None without one."""
        return self.channels.get("q_estimate")

    @property
    def v_estimate(self) -> Array | None:
        """Velocities as the estimator had them, (ticks, ..., nv); None without one."""
        return self.channels.get("v_estimate")

    @property
    def x(self) -> Array:
        """States of the forces, (ticks, ..., nx)."""
        empty = np.zeros((*self.v.shape[:-1], acting(self.robot).nx))
        return self.channels.get("x", empty)

    @property
    def commanded_x(self) -> Array:
        """x with the commands that were given at each tick, (ticks, ..., nx)."""
        return self._mover.commanded(State(self.q, self.v, self.x), self.tau)[0].x

    @cached_property
    def _mover(self) -> Mover:
        return self.settings.stepper.mover(self.robot)

    @cached_property
    def vdot(self) -> Array:
        """Accelerations at the ticks, (ticks, ..., nv); not numbers where a degree of freedom moves no inertia."""
        if self.settings.pushed:
            # those forces are gone: differences of rates, one-sided at the ends
            return np.gradient(self.v, self.t, axis=0) if len(self.t) > 1 else np.full_like(self.v, np.nan)
        with np.errstate(all="ignore"):
            at = self.t.reshape(-1, *(1,) * (self.v.ndim - 2))
            return self._mover.acceleration(at, State(self.q, self.v, self.x), self.tau)

    @cached_property
    def kinetic_energy(self) -> Array:
        """v^T M v / 2 [J], (ticks, ...)."""
        return self.robot.kinetic_energy(self.q, self.v)

    @cached_property
    def potential_energy(self) -> Array:
        """Of gravity, and what springs and stops hold [J], (ticks, ...)."""
        return self.robot.potential_energy(self.q) + stored_energy(self.robot, self.q, self.x, kernels.run)

    @property
    def energy(self) -> Array:
        """Kinetic and potential energy [J], (ticks, ...)."""
        return self.kinetic_energy + self.potential_energy

    def at(self, t: float) -> tuple[Array, Array]:
        """(q, v) at any time between two ticks: the stepper goes on from the tick before, under the torque that was held."""
        if isinstance(t, bool) or not isinstance(t, int | float | np.number):
            raise SimulationError(f"t = {t!r:.60}: expected one time [s]; for several, [segment.at(t) for t in times]")
        if not self.t[0] <= t <= self.t[-1]:
            raise SimulationError(f"t = {t:g} s: recorded from {self.t[0]:g} to {self.t[-1]:g} s")
        if self.settings.pushed:
            raise SimulationError(f"{OUTSIDE}: states are known at ticks alone")
        k = int(np.searchsorted(self.t, t, side="right")) - 1
        state, rest = State(self.q[k], self.v[k], self.x[k]), t - float(self.t[k])
        for stepper, span in _spans(self.settings.stepper, rest):
            state = stepper.mover(self.robot).advance(t - rest, state, self.tau[k], span).state
            rest -= span
        return state.q, state.v

    def poses(self) -> Poses:
        """Poses of all bodies and frames, by name."""
        return self.robot.forward_kinematics(self.q)

    @property
    def names(self) -> dict[str, list[str]]:
        """Names of the entries of q and of v, tau, vdot."""
        own = [joint for joint in self.robot.joints if not joint.mimics]
        return {"q": [n for j in own for n in j.coordinate_names()], "v": [n for j in own for n in j.rate_names()]}


def _spans(stepper: Stepper, duration: float) -> Iterator[tuple[Stepper, float]]:
    """Whole steps, then a shorter one, that fill the duration."""
    whole = duration if stepper.dt is None else int(duration / stepper.dt) * stepper.dt
    if whole > 0:
        yield stepper, whole
    if duration - whole > 1e-12:
        yield stepper.with_dt(duration - whole), duration - whole
