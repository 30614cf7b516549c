"""Files of MuJoCo, read through its own compiler into a builder: defaults, classes and inertias of geoms are resolved there."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from modurob.catalogue.joints import JointType
from modurob.errors import MjcfError, ModurobError, no_file, warn_user
from modurob.mechanism.builder import Builder
from modurob.mechanism.joint_properties import JointProperties
from modurob.mechanism.mjcf.equipped import Efforts, draw, efforts
from modurob.mechanism.mjcf.losses import FAR
from modurob.mechanism.mjcf.model import mujoco_module
from modurob.mechanism.mjcf.naming import Read, pose
from modurob.mechanism.mjcf.recognition import Simple, recognised
from modurob.mechanism.mjcf.refusals import require_readable
from modurob.mechanism.mjcf.strung import string
from modurob.mechanism.mjcf.tied import Followers, constrain, coupled, followers
from modurob.mechanism.mjcf.writing import SMALLEST
from modurob.mechanism.tables import Tables
from modurob.spatial import inertia, quaternion, se3
from modurob.spatial.scalars import Array


def is_mjcf(path: str | Path) -> bool:
    """Whether a file is one of MuJoCo: its root element says so."""
    try:
        return next(ET.iterparse(path, ("start",)))[1].tag == "mujoco"
    except (OSError, ET.ParseError, StopIteration):
        return False


def fill(builder: Builder, path: Path) -> Tables:
    """Walk the bodies in MuJoCo's order, and add every one, its joints, shapes, constraints and tendons."""
    read = _compiled(path)
    require_readable(read.model, path.name)
    builder.name, builder.gravity = read.name or path.stem, np.array(read.model.opt.gravity)
    follow, limits = followers(read), efforts(read)
    alone = {*follow, *(s.joint for s in follow.values()), *(name for tie in coupled(read).values() for name in tie)}
    try:
        for i in range(1, read.model.nbody):
            _add(builder, read, i, follow, alone, limits)
        _sites(builder, read)
        constrain(builder, read)
        string(builder, read)
        draw(builder, read, path.resolve().parent)
        return builder.build()
    except ModurobError as error:
        raise MjcfError(f"{path.name}: {error}") from None


def _compiled(path: Path) -> Read:
    mujoco = mujoco_module()
    if str(path).lstrip().startswith("<"):
        raise MjcfError(f"{str(path)!r:.60} is the text of a file: expected the path of one")
    if not path.is_file():
        raise MjcfError(no_file(path))
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        return Read(spec.compile(), spec, mujoco, path.name)
    except (ValueError, UnicodeDecodeError) as error:
        raise MjcfError(f"{path.name}: MuJoCo cannot read it: {' '.join(str(error).split())}") from None


def _add(builder: Builder, read: Read, i: int, follow: Followers, alone: set[str], limits: Efforts) -> None:
    """A body with its joints; several joints are separated by massless bodies."""
    model = read.model
    parent, name = read.frame(model.body_parentid[i]), read.named("body", i)
    at, own = pose(model.body_pos[i], model.body_quat[i]), _inertia(model, i)
    first = model.body_jntadr[i]
    simple = [_simple(read, k) for k in range(first, first + model.body_jntnum[i])]
    joints = recognised(simple, follow, alone) if simple else []
    named = read.own_frame(i)
    seat = se3.IDENTITY if named is None else named
    own = None if own is None else inertia.moved(own, se3.inverse(seat))
    if not joints:
        builder.body(name, own, parent=parent, at=at @ seat, check=False)
    for k, found in enumerate(joints):
        last = k == len(joints) - 1
        there, back = se3.pose(p=found.pos), se3.pose(p=-found.pos)
        properties = _properties(model, found.ids, found.type, limits)
        step = found.name if not last else name
        builder.body(
            step,
            own if last else None,
            parent=parent,
            joint=found.type,
            at=at @ there @ found.back,
            seat=back @ seat if last else back,
            joint_name=found.name,
            properties=properties,
            mimic=follow.get(found.name),
            check=False,
        )
        parent, at = step, se3.IDENTITY
    if named is not None:
        builder.frame(read.frame(i), name, se3.inverse(seat))
    if own is not None and (complaints := inertia.complaints(own)):
        warn_user(f"{builder.name}: body {name!r}: {'; '.join(complaints)}")


def _inertia(model: Any, i: int) -> Array | None:
    """6x6 in the body's frame."""
    mass = float(model.body_mass[i])
    if mass <= SMALLEST:
        return None
    R = quaternion.to_matrix(np.array(model.body_iquat[i]))
    return inertia.spatial_inertia(mass, np.array(model.body_ipos[i]), R @ np.diag(model.body_inertia[i]) @ R.T)


def _simple(read: Read, k: int) -> Simple:
    model = read.model
    kind = ("free", "ball", "slide", "hinge")[model.jnt_type[k]]
    moved = kind in ("slide", "hinge")
    ref = float(model.qpos0[model.jnt_qposadr[k]]) if moved else 0.0
    pos = np.zeros(3) if kind == "free" else np.array(model.jnt_pos[k])
    return Simple(read.named("joint", k), kind, tuple(model.jnt_axis[k]) if moved else (), pos, ref, k)


def _properties(model: Any, ids: list[int], kind: JointType, limits: Efforts) -> JointProperties:
    """Limits, drive, losses and spring of a joint, one number for each rate where they differ."""
    rates = [(k, n) for k in ids for n in range((6, 3, 1, 1)[model.jnt_type[k]])]
    dofs = [int(model.jnt_dofadr[k]) + n for k, n in rates]
    coordinates = kind.nq == kind.nv
    moved: dict[str, Any] = {**_range(model, ids), **_spring(model, ids)} if coordinates else {}
    return JointProperties(
        **moved,
        effort=np.array([limits(k, n) for k, n in rates]),
        damping=np.array([float(np.ravel(model.dof_damping[d])[0]) for d in dofs]),
        friction=model.dof_frictionloss[dofs].copy(),
        armature=model.dof_armature[dofs].copy(),
    )


def _range(model: Any, ids: list[int]) -> dict[str, Array]:
    ends = np.where(model.jnt_limited[ids][:, None].astype(bool), model.jnt_range[ids], [[-np.inf, np.inf]])
    ends = np.where(np.abs(ends) >= FAR, np.sign(ends) * np.inf, ends)
    return {"lower": ends[:, 0], "upper": ends[:, 1]}


def _spring(model: Any, ids: list[int]) -> dict[str, Array]:
    stiffness = np.array([float(np.ravel(model.jnt_stiffness[k])[0]) for k in ids])
    return {"stiffness": stiffness, "rest": model.qpos_spring[model.jnt_qposadr[ids]].copy()}


def _sites(builder: Builder, read: Read) -> None:
    """Sites with names of their own as frames, but for those of tendons and equalities."""
    m = read.model
    for i in sorted(set(range(m.nsite)) - _used_sites(m)):
        name = m.site(i).name
        if name and not builder.has_frame(name):
            builder.frame(name, *read.site(i))


def _used_sites(m: Any) -> set[int]:
    over, around = m.wrap_type == 3, (m.wrap_type == 4) | (m.wrap_type == 5)
    tied = m.eq_objtype == 6
    used = [m.wrap_objid[over], m.wrap_prm[around], m.eq_obj1id[tied], m.eq_obj2id[tied]]
    return set(np.concatenate(used).astype(int).tolist())
