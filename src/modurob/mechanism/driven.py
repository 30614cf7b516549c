"""Drives on the joints of a mechanism."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from modurob.catalogue.drives import Drive, DriveForce
from modurob.catalogue.forces import Friction, JointForce
from modurob.errors import InputError, MechanismError, choices
from modurob.mechanism.tables import ContactRow, Joint, JointRow, PairRow, Tables

Robot = TypeVar("Robot", bound=Tables)


def drive_rows(m: Tables) -> list[JointRow]:
    """The rows of the drives, in the order of the table of forces."""
    return [row for row in m.forces if isinstance(row, JointRow) and isinstance(row.force, DriveForce)]


def drive_at(m: Tables, joint: str) -> DriveForce:
    """The drive at a joint."""
    known = {m.joints[row.joint].name: row.force for row in drive_rows(m)}
    if joint not in known:
        raise InputError(f"no drive at {joint!r:.60} of {m.name}: {choices(str(joint), known)}")
    return known[joint]  # type: ignore[return-value]


def with_drive(m: Robot, name: str, drive: Drive) -> Robot:
    """The mechanism with a drive at a joint, in place of the present one."""
    k = next((i for i, j in enumerate(m.joints) if j.name == name), None)
    if k is None:
        raise InputError(f"no joint {name!r:.60} of {m.name}: {choices(str(name), (j.name for j in m.joints))}")
    joint = m.joints[k]
    if joint.type.nv != 1:
        raise MechanismError(f"joint {name!r} has {joint.type.nv} rates: a drive moves a joint with one")
    bare = without_drive(m, k)
    rows = tuple(JointRow(f"{name} {_word(force)}", force, k) for force in drive.forces())
    turned = replace(bare.joints[k], armature=bare.joints[k].armature + drive.armature)
    return replace(bare, joints=_with(bare.joints, k, turned), forces=(*bare.forces, *rows))


def without_drive(m: Robot, k: int) -> Robot:
    """The mechanism without the drive at joint k, its rotor and its friction."""
    gone = {f"{m.joints[k].name} drive", f"{m.joints[k].name} drive friction"}
    rows = tuple(row for row in m.forces if row.name not in gone)
    force = next((row.force for row in drive_rows(m) if row.joint == k), None)
    if force is None:
        return m
    left = m.joints[k].armature - (0.0 if force.stiffness else force.rotor)  # type: ignore[attr-defined]
    return replace(m, joints=_with(m.joints, k, replace(m.joints[k], armature=left)), forces=rows)


def untouched(m: Robot) -> Robot:
    """The mechanism without ground, and without contacts between bodies."""
    free = tuple(row for row in m.forces if not isinstance(row, ContactRow | PairRow))
    return m if len(free) == len(m.forces) else replace(m, forces=free)


def rigid(m: Robot) -> Robot:
    """The mechanism as a model for laws of stiff robots: motors turn with their joints, and joints take torques.

    Rotors become armatures; the viscous and dry friction of drives is kept.
    """
    for row in drive_rows(m):
        force: Any = row.force
        joint = m.joints[row.joint]
        dry = next((r.force for r in m.forces if r.name == f"{joint.name} drive friction"), None)
        m = without_drive(m, row.joint)
        most = np.minimum(joint.effort_limit, force.torque_constant * force.current_limit)
        turned = replace(joint, armature=m.joints[row.joint].armature + force.rotor, effort_limit=most)
        losses = (
            Friction(force.viscous, force.coulomb, force.static, force.stribeck)
            if dry is None
            else replace(dry, viscous=force.viscous)  # type: ignore[type-var]
        )
        rows = (
            (JointRow(f"{joint.name} drive friction", losses, row.joint),) if any(losses.parameters().values()) else ()
        )
        m = replace(m, joints=_with(m.joints, row.joint, turned), forces=(*m.forces, *rows))
    return m


def with_brakes(m: Robot, joints: Sequence[str]) -> Robot:
    """The mechanism with brakes on: joints held by dry friction of the brakes of their drives, at all drives that have one, or at
    those named."""
    able = {m.joints[row.joint].name: row for row in drive_rows(m) if row.force.brake}  # type: ignore[attr-defined]
    for name in joints:
        if name not in able:
            raise InputError(f"no brake at {name!r:.60} of {m.name}: {choices(str(name), able)}")
    on = [able[name] for name in joints] if joints else list(able.values())
    rows = [JointRow(f"{m.joints[r.joint].name} brake", Friction(0.0, r.force.brake), r.joint) for r in on]  # type: ignore[attr-defined]
    return replace(m, forces=(*m.forces, *rows))


def _word(force: JointForce) -> str:
    return "drive" if isinstance(force, DriveForce) else "drive friction"


def _with(joints: tuple[Joint, ...], k: int, joint: Joint) -> tuple[Joint, ...]:
    return (*joints[:k], joint, *joints[k + 1 :])
