"""Actuators of MuJoCo as efforts of joints, and its geoms as shapes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from modurob.errors import warn_user
from modurob.mechanism.builder import Builder
from modurob.mechanism.mjcf.naming import Read, pose
from modurob.spatial import se3

Efforts = Callable[[int, int], float]
KINDS = {2: "sphere", 3: "capsule", 5: "cylinder", 6: "box", 7: "mesh"}
GREY = "0.7"


def efforts(read: Read) -> Efforts:
    """The largest torque or force along a rate of a joint, by their numbers: infinite on free joints, and where a file has no
    actuators at all; else zero where there is none."""
    m = read.model
    total = np.zeros((m.njnt, 6))
    for a in range(m.nu):
        if m.actuator_trntype[a] <= 1:
            total[int(m.actuator_trnid[a][0])] += _strongest(read, a)
    if not m.nu:
        total[:] = np.inf
    total[m.jnt_type == 0] = np.inf
    limited = m.jnt_actfrclimited.astype(bool)
    total[limited] = np.minimum(total[limited], np.abs(m.jnt_actfrcrange[limited]).max(axis=1)[:, None])
    return lambda joint, rate: float(total[joint, rate])


def _strongest(read: Read, a: int) -> Any:
    """What an actuator gives at most along the rates of its joint, (6,)."""
    m = read.model
    plain = m.actuator_dyntype[a] == 0 and m.actuator_gaintype[a] == 0 and m.actuator_biastype[a] == 0
    most = np.abs(m.actuator_forcerange[a]).max() if m.actuator_forcelimited[a] else np.inf
    if plain and m.actuator_ctrllimited[a]:
        most = min(most, np.abs(m.actuator_gainprm[a][0] * m.actuator_ctrlrange[a]).max())
    if not plain:
        _warn(
            read,
            f"actuator {read.named('actuator', a)!r} has a law of its own, which is left out: its joint takes torques",
        )
    gear = np.abs(m.actuator_gear[a])
    return np.where(gear > 0, np.where(gear > 0, gear, 1.0) * most, 0.0)


def draw(builder: Builder, read: Read, folder: Path) -> None:
    """Add geoms as shapes: what is drawn, and what collides where that is not the same."""
    m = read.model
    wrapped = {int(i) for i, kind in zip(m.wrap_objid, m.wrap_type, strict=True) if kind in (4, 5)}
    shown = [g for g in range(m.ngeom) if g not in wrapped and m.geom_type[g] not in (0, 1)]
    for g in [g for g in shown if m.geom_type[g] not in KINDS]:
        shown.remove(g)
        _warn(read, f"geom {read.named('geom', g)!r} is no box, sphere, capsule, cylinder or mesh, and is left out")
    drawn = [g for g in shown if m.geom_group[g] < 3 and m.geom_type[g] != 7]
    colliding = [g for g in shown if m.geom_contype[g] or m.geom_conaffinity[g]]
    for g in drawn:
        if KINDS[int(m.geom_type[g])] != "capsule":
            kind, size, body, X, _ = _shape(read, g, folder)
            builder.shape(kind, size, body, X, _colour(m.geom_rgba[g]))
    for g in colliding if colliding != drawn else ():
        kind, size, body, X, file = _shape(read, g, folder)
        builder.collision(kind, size, body, X, file)


def _shape(read: Read, g: int, folder: Path) -> tuple[Any, ...]:
    m, kind = read.model, KINDS[int(read.model.geom_type[g])]
    size, X, file = m.geom_size[g], pose(m.geom_pos[g], m.geom_quat[g]), ""
    if kind == "mesh":
        k = int(m.geom_dataid[g])
        mesh = read.spec.meshes[k]
        # the compiler moves meshes to their centre of mass
        X = X @ se3.inverse(pose(m.mesh_pos[k], m.mesh_quat[k]))
        size, file = mesh.scale, str(folder / (read.spec.meshdir or "") / mesh.file)
    wide = {"box": 2 * size, "sphere": size[:1], "mesh": size}.get(kind)
    dimensions = (size[0], 2 * size[1]) if wide is None else wide
    return kind, tuple(map(float, dimensions)), read.frame(m.geom_bodyid[g]), X, file


def _colour(rgba: Any) -> str:
    grey = np.allclose(rgba[:3], 0.5)
    return GREY if grey else "#" + "".join(f"{round(255 * float(x)):02x}" for x in rgba[:3])


def _warn(read: Read, text: str) -> None:
    warn_user(f"{read.where}: {text}")
