"""Spatial tendons of MuJoCo as lines."""

from typing import Any

import numpy as np

from modurob.catalogue.forces import Spring
from modurob.catalogue.lines import Elastic, Pulley, Tension
from modurob.errors import MjcfError
from modurob.mechanism.builder import Builder
from modurob.mechanism.mjcf.naming import Read, pose
from modurob.spatial import se3
from modurob.spatial.scalars import Array

JOINT, SITE, CYLINDER = 1, 3, 5  # kinds of wraps
ON_TENDON = 3  # transmission of an actuator


def string(builder: Builder, read: Read) -> None:
    """Add a line for each spatial tendon that pulls."""
    m = read.model
    for t in range(m.ntendon):
        wraps = range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t])
        law = _law(read, t)
        if law is None:
            continue
        if m.wrap_type[wraps[0]] == JOINT or any(m.wrap_type[w] not in (SITE, CYLINDER) for w in wraps):
            raise _none(read, t, "runs over joints, spheres or branches: expected sites and cylinders")
        builder.line(read.named("tendon", t), _route(read, wraps), law)


def _none(read: Read, t: int, why: str) -> MjcfError:
    return MjcfError(f"{read.where}: tendon {read.named('tendon', t)!r} {why}")


def _law(read: Read, t: int) -> Any:
    """The law of a tendon; None if it does nothing."""
    m = read.model
    if m.tendon_limited[t] or m.tendon_frictionloss[t] or m.tendon_armature[t]:
        raise _none(read, t, "has a range, dry friction or armature: expected none")
    stiffness, damping = float(np.ravel(m.tendon_stiffness[t])[0]), float(np.ravel(m.tendon_damping[t])[0])
    pulls = [a for a in range(m.nu) if m.actuator_trntype[a] == ON_TENDON and m.actuator_trnid[a][0] == t]
    if pulls:
        return _tension(read, t, pulls, bool(stiffness or damping))
    if not stiffness and not damping:
        return None
    short, long = map(float, m.tendon_lengthspring[t])
    if short == long:
        return Spring(stiffness, length=long, damping=damping)
    if short == 0 and not damping:
        return Elastic(stiffness * long, rest=long)
    raise _none(
        read,
        t,
        f"has springlength {short:g} to {long:g} and damping {damping:g}: expected one length, or from 0 undamped",
    )


def _tension(read: Read, t: int, pulls: list[int], elastic: bool) -> Tension:
    m, a = read.model, pulls[0]
    plain = m.actuator_gainprm[a][0] == -1 and not np.any(m.actuator_biasprm[a][1:3]) and m.actuator_dyntype[a] == 0
    if len(pulls) > 1 or elastic or not plain or m.actuator_gear[a][0] != 1:
        raise _none(
            read, t, "is driven and elastic, or by more than a plain tension: expected one actuator with gain -1"
        )
    return Tension(-float(m.actuator_biasprm[a][0]))


def _route(read: Read, wraps: range) -> list[tuple[Any, ...]]:
    """The nodes of a tendon; a pulley has the side where the tendon passes it in the initial configuration."""
    m = read.model
    data = read.mujoco.MjData(m)
    read.mujoco.mj_kinematics(m, data)
    nodes = []
    for w in wraps:
        i = int(m.wrap_objid[w])
        if m.wrap_type[w] == SITE:
            body, X = read.site(i)
            nodes.append((body, X))
            continue
        body = read.frame(m.geom_bodyid[i])
        nodes.append((body, pose(m.geom_pos[i], m.geom_quat[i]), Pulley(float(m.geom_size[i][0]), _side(m, data, w))))
    return nodes


def _side(m: Any, data: Any, w: int) -> int:
    """1 where the line runs around a cylinder counter-clockwise, past its side site."""
    i, side = int(m.wrap_objid[w]), int(m.wrap_prm[w])
    X = se3.pose(data.geom_xmat[i].reshape(3, 3), data.geom_xpos[i])
    before, after = (_in(X, data.site_xpos[int(m.wrap_objid[k])]) for k in (w - 1, w + 1))
    along = after - before
    if side < 0:  # the shorter way
        return 1 if before[0] * after[1] - before[1] * after[0] >= 0 else -1
    beside = _in(X, data.site_xpos[side])
    return 1 if along[1] * beside[0] - along[0] * beside[1] >= 0 else -1


def _in(X: Array, p: Array) -> Array:
    """A point of the world in the plane of a pulley, (2,)."""
    return (se3.inverse(X) @ np.append(p, 1.0))[:2]
