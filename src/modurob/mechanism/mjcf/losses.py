"""What acts along the joints of a robot, as attributes of MuJoCo's joints."""

from typing import Any, NamedTuple

import numpy as np

from modurob.catalogue.forces import Friction, JointSpring, Stop
from modurob.errors import MjcfError
from modurob.mechanism.mjcf.parts import Part
from modurob.mechanism.tables import JointRow, Tables
from modurob.mechanism.xml_text import numbers

# MuJoCo's ranges have two ends: one that is open ends there
FAR = 1e10


class Along(NamedTuple):
    """What acts along one rate of a joint."""

    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    stop: Stop | None = None


def along(m: Tables, joint: int, rate: int) -> Along:
    """The sum of the forces along a rate of a joint, by indices in the tables; an error that names those that MuJoCo
    does not support.
    """
    total = Along()
    for row in m.forces:
        if isinstance(row, JointRow) and (row.joint, row.rate) == (joint, rate):
            total = _plus(total, row, m)
    return total


def _plus(total: Along, row: JointRow, m: Tables) -> Along:
    force: Any = row.force
    if isinstance(force, Friction):
        if force.static != force.coulomb:
            raise _none(row, m, f"has static friction {force.static:g} above the one in motion")
        return total._replace(damping=total.damping + force.viscous, friction=total.friction + force.coulomb)
    if isinstance(force, JointSpring):
        k = total.stiffness + force.stiffness
        rest = (total.stiffness * total.rest + force.stiffness * force.rest) / k if k else 0.0
        return total._replace(damping=total.damping + force.damping, stiffness=k, rest=rest)
    if isinstance(force, Stop) and total.stop is None:
        return total._replace(stop=force)
    raise _none(row, m, f"is a {force.kind}")


def _none(row: JointRow, m: Tables, why: str) -> MjcfError:
    return MjcfError(
        f"force {row.name!r} of {m.name} {why}, which MuJoCo's joints do not have: leave it out with "
        f"robot.without_forces({row.name!r}), or all with robot.ideal()"
    )


def attributes(m: Tables, body: int, part: Part) -> dict[str, str]:
    """Limits, springs, losses and rotor inertia of a part of the joint that moves a body."""
    joint, follows = m.joints[body - 1], part.name.endswith(" slide") and m.joints[body - 1].kind == "helical"
    rates = range(part.at, part.at + {"ball": 3, "free": 6}.get(part.kind, 1))
    acting = [Along() if follows else along(m, body - 1, k) for k in rates]
    armature = [0.0 if follows else joint.armature[k] for k in rates]
    _require_isotropic(m, body, acting, armature)
    one = acting[0]
    found = {"armature": armature[0], "damping": one.damping, "frictionloss": one.friction, "stiffness": one.stiffness}
    words = {name: numbers([x]) for name, x in found.items() if x}
    if one.stiffness:
        words["springref"] = numbers([one.rest])
    return words if part.kind in ("ball", "free") or follows else words | _range(joint.limits, one.stop, part.at)


def _range(limits: Any, stop: Stop | None, at: int) -> dict[str, str]:
    """The limits, and whether anything stops the joint there."""
    ends = (limits.lower[at], limits.upper[at]) if stop is None else (stop.lower, stop.upper)
    if not np.isfinite(ends).any():
        return {}
    low, high = np.clip(ends, -FAR, FAR)
    # MuJoCo's ranges are not empty
    high = np.nextafter(high, np.inf) if low == high else high
    return {"range": numbers([low, high]), "limited": "false" if stop is None else "true"}


def _require_isotropic(m: Tables, body: int, acting: list[Along], armature: list[float]) -> None:
    """MuJoCo has one number for all rates of a ball, and moves free bodies in the axes of the world."""
    joint = m.joints[body - 1]
    if len(set(acting)) > 1 or len(set(armature)) > 1:
        raise MjcfError(
            f"joint {joint.name} of {m.name}: MuJoCo has one friction and armature for a {joint.kind} joint"
        )
    if joint.kind == "free" and (np.any(joint.armature) or any(a.friction for a in acting)):
        raise MjcfError(
            f"joint {joint.name} of {m.name} is free and has armature or dry friction: expected none for MuJoCo"
        )
