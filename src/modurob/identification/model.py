"""Torques of a robot as a linear function of what is to be identified, and the robot that has given values of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from modurob import kernels
from modurob.algorithms import passive_forces
from modurob.algorithms.base_parameters import checked_terms, coordinate_rates, parameter_names
from modurob.caching import cached_property
from modurob.catalogue.drives import DriveForce
from modurob.catalogue.drives.force import CREEP
from modurob.catalogue.forces import Friction
from modurob.catalogue.forces.friction import fading
from modurob.errors import EstimateError
from modurob.identification.data import Samples
from modurob.mechanism import JointRow
from modurob.mechanism.driven import drive_rows
from modurob.robot import Mechanism
from modurob.spatial import inertia
from modurob.spatial.scalars import Array


@dataclass(frozen=True, eq=False)
class TorqueModel:
    """tau + known(q, v) = Y(q, v, vdot) pi, with pi of `terms`, and of Stribeck friction if its velocities are given.

    The known forces are springs, end stops, lines, gear losses and all other passive forces except friction.
    """

    robot: Mechanism
    terms: tuple[str, ...]
    stribeck: Array | None = None  # velocity by coordinate rate [rad/s or m/s]

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", checked_terms(self.terms))
        if not self.robot.nv:
            raise EstimateError(f"{self.robot.name} has no degrees of freedom: expected a robot that moves")
        for row in drive_rows(self.robot):
            if row.force.stiffness:  # type: ignore[attr-defined]
                raise EstimateError(
                    f"{row.name}: an elastic gear: expected stiff ones, whose motors turn with their joints"
                )

    @cached_property
    def rates(self) -> Array:
        """The rates with rotor and friction."""
        return coordinate_rates(self.robot)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of pi."""
        dry = parameter_names(self.robot, ["coulomb"]) if self.stribeck is not None else ()
        return (*parameter_names(self.robot, self.terms), *(f"{x.removesuffix('coulomb')}excess" for x in dry))

    def rows(self, s: Samples) -> tuple[Array, Array]:
        """Y, (k, nv, parameters), and what it explains, (k, nv)."""
        Y = self.robot.torque_regressor(s.q, s.v, s.vdot, self.terms)
        if self.stribeck is not None:
            Y = np.concatenate([Y, self._excess(s.v)], axis=-1)
        return Y, s.tau + self.known(s)

    def _excess(self, v: Array) -> Array:
        """Columns of static less Coulomb friction, exp(-|v|/stribeck) sign(v)."""
        w = v[..., self.rates]
        return (fading(w, self.stribeck) * np.sign(w))[..., None, :] * np.eye(self.robot.nv)[:, self.rates]

    def known(self, s: Samples) -> Array:
        """Torques that need not be identified, (k, nv): those of the robot's own forces, and less what gears lose."""
        own = self._without_friction
        total = passive_forces(own, s.q, s.v, run=kernels.run) if own.forces else np.zeros_like(s.v)
        for row in drive_rows(self.robot):
            force: Any = row.force
            r = self.robot.joints[row.joint].v_slice.start
            if force.loss:
                total[:, r] -= force.loss * np.abs(s.tau[:, r]) * np.tanh(s.v[:, r] / CREEP)
        return total + self._not_asked(s)

    def _not_asked(self, s: Samples) -> Array:
        """What the robot itself has of the terms that are not in the model, (k, nv)."""
        rest = tuple(t for t in ("inertia", "rotor", "viscous", "coulomb") if t not in self.terms)
        total = np.zeros_like(s.v)
        if rest:
            total -= self.robot.torque_regressor(s.q, s.v, s.vdot, rest) @ TorqueModel(self.robot, rest).values()
        return total if self.stribeck is not None else total - self._believed_excess(s.v)

    def _believed_excess(self, v: Array) -> Array:
        """Friction of the robot that falls with the velocity (Stribeck), (k, nv)."""
        total = np.zeros_like(v)
        for row in self._friction_rows():
            joint, force = self.robot.joints[row.joint], row.force
            if isinstance(force, Friction):
                w, at = joint.ratio * v[:, joint.v_slice.start + row.rate], joint.v_slice.start + row.rate
                excess = (force.static - force.coulomb) * fading(w, force.stribeck)
                total[:, at] += joint.ratio * excess * np.sign(w)
        return total

    @cached_property
    def _without_friction(self) -> Mechanism:
        rows = tuple(row for row in self.robot.forces if not isinstance(row.force, Friction | DriveForce))
        return replace(self.robot, forces=rows)

    def values(self) -> Array:
        """pi of the robot as it is, (parameters,)."""
        r = self.robot
        own = {"inertia": r.inertial_parameters(), "rotor": r.armature[self.rates], "offset": np.zeros(len(self.rates))}
        own |= dict(zip(("viscous", "coulomb", "excess"), self._friction()[:, self.rates], strict=True))
        terms = self.terms if self.stribeck is None else (*self.terms, "excess")
        return np.concatenate([own[term] for term in terms])

    @cached_property
    def dry(self) -> bool:
        """Whether the robot as it is has dry friction."""
        return bool(self._friction()[1:].any())

    def _friction(self) -> Array:
        """Viscous and Coulomb friction, and static less Coulomb, by rate, (3, nv); mimic joints with their ratios."""
        total = np.zeros((3, self.robot.nv))
        for row in self._friction_rows():
            joint, force = self.robot.joints[row.joint], row.force
            ratio, at = abs(joint.ratio), joint.v_slice.start + row.rate
            total[:, at] += _numbers(force) * [ratio**2, ratio, ratio]
        return total

    def _friction_rows(self) -> list[JointRow]:
        own = [row for row in self.robot.forces if isinstance(row, JointRow)]
        return [r for r in own if isinstance(r.force, Friction | DriveForce) and not r.name.endswith(" brake")]

    def with_values(self, pi: Array) -> Mechanism:
        """The robot with these parameters: bodies, rotors, friction. Values of friction and rotors below zero count as zero."""
        parts, robot = self._parts(pi), self.robot
        if "inertia" in parts:
            bodies = inertia.from_parameters(parts["inertia"].reshape(-1, 10))
            robot = replace(robot, inertia=np.concatenate([robot.inertia[:1], bodies]))
        now = dict(zip(("viscous", "coulomb", "excess"), self._friction(), strict=True)) | {"rotor": robot.armature}
        change = {name: np.zeros(robot.nv) for name in now}
        for name in parts.keys() & now.keys():
            change[name][self.rates] = np.maximum(parts[name], 0.0) - now[name][self.rates]
        return _changed(robot, change, self._velocities(), self._friction_rows())

    def _velocities(self) -> Array | None:
        if self.stribeck is None:
            return None
        whole = np.zeros(self.robot.nv)
        whole[self.rates] = self.stribeck
        return whole

    def _parts(self, pi: Array) -> dict[str, Array]:
        names = self.terms if self.stribeck is None else (*self.terms, "excess")
        sizes = [10 * len(self.robot.joints) if name == "inertia" else len(self.rates) for name in names]
        return dict(zip(names, np.split(pi, np.cumsum(sizes)[:-1]), strict=True))


def _numbers(force: Any) -> Array:
    """Viscous, Coulomb, static less Coulomb."""
    if isinstance(force, DriveForce):
        return np.array([force.viscous, 0.0, 0.0])
    return np.array([force.viscous, force.coulomb, force.static - force.coulomb])


def _changed(
    robot: Mechanism, change: dict[str, Array], velocities: Array | None, old: Sequence[JointRow]
) -> Mechanism:
    """The robot with rotors and friction that differ by so much, by rate, at the joints that own the rates."""
    joints, rows = list(robot.joints), {row.name: row for row in robot.forces}
    for k, joint in enumerate(joints):
        if joint.mimics or joint.type.nq != joint.type.nv:
            continue
        own = slice(joint.v_slice.start, joint.v_slice.stop)
        joints[k] = replace(joint, armature=np.maximum(joint.armature + change["rotor"][own], 0.0))
        for rate in range(joint.type.nv):
            here = [row for row in old if row.joint == k and row.rate == rate]
            by = np.array([change[name][own.start + rate] for name in ("viscous", "coulomb", "excess")])
            by = _into_drive(rows, here, by, float(change["rotor"][own.start + rate]))
            speed = None if velocities is None else float(velocities[own.start + rate])
            _into_friction(rows, here, by, speed, (joint.name, k, rate))
    return replace(robot, joints=tuple(joints), forces=tuple(rows.values()))


def _into_drive(rows: dict[str, Any], here: list[JointRow], by: Array, rotor: float) -> Array:
    """A drive takes the change of viscous friction and rotor on; what is left of the change."""
    drive = next((row for row in here if isinstance(row.force, DriveForce)), None)
    if drive is None:
        return by
    force: Any = drive.force
    turned = replace(force, viscous=max(force.viscous + by[0], 0.0), rotor=max(force.rotor + rotor, 0.0))
    rows[drive.name] = drive._replace(force=turned)
    return by * [0.0, 1.0, 1.0]


def _into_friction(
    rows: dict[str, Any], here: list[JointRow], by: Array, speed: float | None, at: tuple[str, int, int]
) -> None:
    """The first row of friction of a rate takes the change on; a new one where there is none."""
    name, joint, rate = at
    first = next((row for row in here if isinstance(row.force, Friction)), None)
    if not np.any(by) and (speed is None or first is None):
        return
    driven = any(isinstance(row.force, DriveForce) for row in here)
    label = f"{name} drive friction" if driven else f"{name} friction{f' {rate}' if rate else ''}"
    row = first or JointRow(label, Friction(), joint, rate)
    force: Any = row.force
    viscous, coulomb, excess = np.maximum(_numbers(force) + by, 0.0).tolist()
    velocity = force.stribeck if speed is None else float(speed)
    rows[row.name] = row._replace(force=Friction(viscous, coulomb, coulomb + excess, velocity))
