"""Filters over (q, v, x), including the states of drives and unknown torques, from encoders and currents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.algorithms.forces import acting
from modurob.algorithms.steps import apply, transposed
from modurob.caching import cached_property
from modurob.catalogue.forces import Disturbance
from modurob.errors import EstimateError, choices, explained
from modurob.estimation.belief import through
from modurob.estimation.checks import number
from modurob.estimation.unscented import root
from modurob.mechanism.driven import drive_rows
from modurob.motion.checks import require_robot
from modurob.robot import Mechanism
from modurob.simulation.driving import default_stepper
from modurob.simulation.force_tangents import Sparse
from modurob.simulation.stepping import Mover
from modurob.simulation.system import State
from modurob.simulation.tangents import coordinate_tangents, tangents
from modurob.spatial.scalars import Array
from modurob.values import Value

METHODS = ("unscented", "extended")
# states of drives that are known: what was commanded, what has been used up, clocks
KNOWN = ("command", "energy", "clock", "wait", "voltage", "integral", "speed integral", "demand", "last")


class DriveBelief(NamedTuple):
    """(q, v, x), (nq,), (nv,), (nx,), and the covariance P of its errors, (n, n): of q, v and the states of drives that are not
    known."""

    q: Array
    v: Array
    x: Array
    P: Array


@explained
@dataclass(frozen=True, eq=False)
class DriveFilter(Value):
    """A Kalman filter over (q, v, x) of a robot with drives: motor angles of elastic gears, currents and temperatures,
    from encoder counts at the motors (or at the joints) and from currents.

    The `inputs` of drives are known. `encoder` and `current` are standard deviations of readings [rad, A]; `motion` and
    `drive` those of the random change per second of velocities and drive states [rad/s, own unit]. With `disturbance` >
    0 [N m or N, per second] each joint has an unknown torque that changes randomly by this amount and is estimated too.
    "unscented" propagates 2 n states by the motion, "extended" errors by its exact tangents, for robots without contacts.

    >>> driven = robot.with_drive("m0/hinge", "backbone-hinge")
    >>> seen = mr.DriveFilter(driven, sample_time=1e-3, disturbance=1.0)
    >>> memory = seen.start(q, np.zeros(3))
    >>> memory = seen.update(memory, np.zeros(3), seen.expected(memory))
    >>> seen.disturbance_of(memory).shape
    (3,)
    """

    robot: Mechanism
    sample_time: float = 1e-3  # [s]
    encoder: float = 1e-4  # [rad or m]
    current: float = 0.05  # [A]
    side: Literal["motor", "joint"] = "motor"
    motion: float = 0.1  # [rad/s or m/s, in a second]
    drive: float = 0.1
    disturbance: float = 0.0  # [N m or N, in a second]
    method: Literal["unscented", "extended"] = "unscented"

    def __post_init__(self) -> None:
        require_robot(self.robot, "DriveFilter", EstimateError)
        for name, unit in (("sample_time", "s"), ("encoder", "rad"), ("current", "A")):
            if not number(getattr(self, name), name, unit) > 0:
                raise EstimateError(f"{name} is zero: expected a number above zero [{unit}]")
        for name in ("motion", "drive", "disturbance"):
            number(getattr(self, name), name, "in a second")
        if self.method not in METHODS:
            raise EstimateError(f"method {self.method!r:.60}: {choices(str(self.method), METHODS)}")
        if self.side not in ("motor", "joint"):
            raise EstimateError(f"side {self.side!r:.60}: {choices(str(self.side), ('motor', 'joint'))}")
        if self.robot.constraints:
            raise EstimateError(f"{self.robot.name} has loops: expected a tree")
        if self.method == "extended" and acting(self.robot).touching:
            raise EstimateError(
                f"{self.robot.name} has contacts, whose forces have no tangents where bodies touch: expected method='unscented'"
            )

    @cached_property
    def model(self) -> Mechanism:
        """The model of the filter: with a disturbance at every rate, if required."""
        own = self.robot
        for joint in self.robot.joints if self.disturbance else ():
            for rate in range(0 if joint.mimics else joint.type.nv):
                own = own.with_force(f"{joint.name} disturbance {rate}", Disturbance(), joint=joint.name, rate=rate)
        return own

    @cached_property
    def _mover(self) -> Mover:
        stepper = default_stepper(self.model)
        assert stepper.dt is not None
        return Mover(self.model, stepper.with_dt(self.sample_time / np.ceil(self.sample_time / stepper.dt - 1e-9)))

    @cached_property
    def states(self) -> tuple[tuple[str, int], ...]:
        """Names and indices in x of the estimated states."""
        own, found = acting(self.model), []
        for row, first in zip(own.rows, own.x_starts, strict=True):
            force: Any = row.force
            names = force.states if hasattr(force, "states") else (_kind(force),) * force.nx
            found += [(f"{row.name} {name}", first + k) for k, name in enumerate(names) if name not in KNOWN]
        return tuple(found)

    @cached_property
    def _places(self) -> Array:
        return np.array([k for _, k in self.states], dtype=int)

    @cached_property
    def _wander(self) -> Array:
        """Variances of a sample."""
        torque = np.array([name.endswith(" torque") for name, _ in self.states], dtype=bool)
        own = np.where(torque, self.disturbance, self.drive)
        sizes = np.concatenate([np.zeros(self.robot.nv), np.full(self.robot.nv, self.motion), own])
        return np.diag(sizes**2 * self.sample_time)

    @cached_property
    def _noise(self) -> Array:
        count = len(drive_rows(self.model))
        return np.diag(
            np.concatenate([np.full(self._coordinates.size, self.encoder**2), np.full(count, self.current**2)])
        )

    @cached_property
    def _coordinates(self) -> Array:
        """Rates whose coordinates are read."""
        return np.flatnonzero(self.robot.coordinate_of >= 0)

    def start(
        self, q: ArrayLike, v: ArrayLike, deviations: tuple[float, float, float] = (0.01, 0.01, 0.1)
    ) -> DriveBelief:
        """The memory with an initial state, at rest or moving, drives without current; standard deviations of q, v and
        the states of drives.
        """
        q, v = np.array(self.robot._q(q)), np.array(self.robot._v(v))
        if q.ndim > 1 or v.ndim > 1:
            raise EstimateError(
                f"q of shape {q.shape}, v of shape {v.shape}: expected one state, ({len(q.T)},), ({len(v.T)},)"
            )
        if np.shape(deviations) != (3,) or not np.all(np.isfinite(deviations)) or min(deviations) < 0:
            raise EstimateError(
                f"deviations {deviations!r:.60}: expected three of zero or more, of q, v and states of drives"
            )
        sizes = np.repeat(deviations, [self.robot.nv, self.robot.nv, len(self.states)])
        return DriveBelief(q, v, acting(self.model).start_at(q), np.diag(sizes**2))

    def update(self, memory: DriveBelief, inputs: ArrayLike, reading: ArrayLike) -> DriveBelief:
        """The memory after one sample, during which `inputs`, (nv,), were held, and after `reading`, angles and then
        currents; missing numbers (NaN) change nothing.
        """
        return self._corrected(
            self._predicted(memory, self.robot._v(inputs, "inputs")), np.asarray(reading, dtype=float)
        )

    def expected(self, memory: DriveBelief | State) -> Array:
        """The readings in a state: coordinates at encoders, then currents of the drives, (..., m) [rad or m, A]."""
        q, v, x = memory[:3]
        at = self.robot.coordinate_of[self._coordinates]
        angles, currents = np.array(q[..., at]), []
        own = acting(self.model)
        for row in drive_rows(self.model):
            joint, force = self.robot.joints[row.joint], row.force
            first = own.x_starts[own.rows.index(row)]
            mine = x[..., first : first + force.nx]
            angle, rate = q[..., joint.q_slice.start], v[..., joint.v_slice.start]
            currents.append(force.current(angle, rate, mine))  # type: ignore[attr-defined]
            if self.side == "motor":
                place = list(self._coordinates).index(joint.v_slice.start)
                angles[..., place] = force.angle(angle, mine)  # type: ignore[attr-defined]
        return np.concatenate([angles, *(c[..., None] for c in currents)], axis=-1)

    def disturbance_of(self, memory: DriveBelief) -> Array:
        """The estimated unknown torques, (nv,) [N m or N]."""
        if not self.disturbance:
            raise EstimateError("no torques are estimated: expected disturbance above zero")
        return memory.x[[k for name, k in self.states if name.endswith(" torque")]]

    def _moved(self, b: DriveBelief, dz: Array) -> State:
        """States displaced from the belief by errors, (..., n)."""
        nv = self.robot.nv
        x = np.array(np.broadcast_to(b.x, (*dz.shape[:-1], len(b.x))))
        x[..., self._places] += dz[..., 2 * nv :]
        return State(self.robot.integrate(b.q, dz[..., :nv]), b.v + dz[..., nv : 2 * nv], x)

    def _apart(self, middle: State, s: State) -> Array:
        """Errors of states from one, (..., n)."""
        return np.concatenate(
            [self.robot.difference(middle.q, s.q), s.v - middle.v, (s.x - middle.x)[..., self._places]], axis=-1
        )

    def _predicted(self, b: DriveBelief, inputs: Array) -> DriveBelief:
        return self._linear(b, inputs) if self.method == "extended" else self._spread(b, inputs)

    def _linear(self, b: DriveBelief, inputs: Array) -> DriveBelief:
        """Errors propagated by the tangents of the motion."""
        end, F = self._carried(b, inputs)
        return DriveBelief(*end, through(F, b.P) + self._wander)

    def transition(self, memory: DriveBelief, inputs: ArrayLike) -> Array:
        """F with dz' = F dz over a sample, (n, n): of errors of q, v and the estimated states, exact.

        >>> seen = mr.DriveFilter(robot.with_drive("m0/hinge", "backbone-hinge"))
        >>> seen.transition(seen.start(q, np.zeros(3)), np.zeros(3)).shape
        (6, 6)
        """
        return self._carried(memory, self.robot._v(inputs, "inputs"))[1]

    def _carried(self, b: DriveBelief, inputs: Array) -> tuple[State, Array]:
        """The state after a sample, and F."""
        nv, one = self.robot.nv, np.eye(len(b.P))
        dx = np.zeros((len(one), len(b.x)))
        dx[:, self._places] = one[:, 2 * nv :]
        start = State(one[:, :nv], one[:, nv : 2 * nv], dx)
        end, (q, v, x) = tangents(self._mover, 0.0, State(*b[:3]), start, inputs, self.sample_time)
        return end, np.concatenate([q, v, x[:, self._places]], axis=-1).T

    def _spread(self, b: DriveBelief, inputs: Array) -> DriveBelief:
        """2 n states sent along by the motion."""
        dz = np.concatenate([np.zeros((1, len(b.P))), _displacements(b.P)])
        s = self._mover.advance(
            0.0, self._moved(b, dz), np.broadcast_to(inputs, (len(dz), self.robot.nv)), self.sample_time
        )
        first = State(*(a[0] for a in s.state))
        errors = self._apart(first, State(*(a[1:] for a in s.state)))
        mean = errors.mean(axis=0)
        left = errors - mean
        middle = self._moved(DriveBelief(*first, b.P), mean)
        return DriveBelief(*middle, left.T @ left / len(left) + self._wander)

    def _seen(self, b: DriveBelief) -> tuple[Array, Array, Array]:
        """The expected readings, (m,), their covariance with the errors, (n, m), and that of their own, without noise, (m, m)."""
        if self.method == "extended":
            here, by = self._readings(*b[:3])
            H = by @ self._columns(b.q)
            return here, b.P @ H.T, through(H, b.P)
        dz = _displacements(b.P)
        h = self.expected(self._moved(b, dz))
        here = h.mean(axis=0)
        return here, dz.T @ (h - here) / len(dz), (h - here).T @ (h - here) / len(dz)

    @cached_property
    def _readings(self) -> Sparse:
        """The expected readings with their tangents, compiled."""
        return Sparse("readings", self.model, lambda q, v, x: self.expected(State(q, v, x)))

    def _columns(self, q: Array) -> Array:
        """Changes of q, v and x for errors, (nq + nv + nx, n)."""
        nq, nv, n = self.robot.nq, self.robot.nv, 2 * self.robot.nv + len(self.states)
        columns = np.zeros((nq + nv + acting(self.model).nx, n))
        columns[:nq, :nv] = coordinate_tangents(self.robot, q, np.eye(nv)).T
        columns[nq : nq + nv, nv : 2 * nv] = np.eye(nv)
        columns[nq + nv + self._places, 2 * nv + np.arange(len(self.states))] = 1.0
        return columns

    def _corrected(self, b: DriveBelief, reading: Array) -> DriveBelief:
        here, cross, S = self._seen(b)
        if reading.shape != here.shape:
            raise EstimateError(f"a reading of shape {reading.shape}: expected {here.shape}, angles and then currents")
        if np.isinf(reading).any():
            raise EstimateError(
                f"reading[{int(np.isinf(reading).argmax())}] is infinite: expected numbers, or NaN where one is missing"
            )
        lost = np.isnan(reading)
        S, cross = S + self._noise, np.where(lost, 0.0, cross)
        S = np.where(lost[:, None] | lost[None, :], np.diag(np.diag(S)), S)
        K = transposed(np.linalg.solve(S, cross.T))
        moved = self._moved(b, apply(K, np.where(lost, 0.0, reading - here)))
        P = b.P - K @ S @ K.T
        return DriveBelief(*moved, (P + P.T) / 2)


def _kind(force: Any) -> str:
    return "torque" if isinstance(force, Disturbance) else "state"


def _displacements(P: Array) -> Array:
    """Of the states that are sent along, (2 n, n)."""
    columns = root(len(P) * P).T
    return np.concatenate([columns, -columns])
