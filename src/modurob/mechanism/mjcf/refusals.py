"""What of MuJoCo's models has no part in ours, refused by name."""

from typing import Any

import numpy as np

from modurob.errors import MjcfError


def require_readable(model: Any, where: str) -> None:
    """An error that names the first thing that cannot be read."""
    for count, what in ((model.nflex, "flexible bodies"), (model.nmocap, "mocap bodies"), (model.nplugin, "plugins")):
        if count:
            raise MjcfError(f"{where}: has {count} {what}: expected rigid bodies, joints, tendons and actuators alone")
    if model.opt.density or model.opt.viscosity:
        raise MjcfError(f"{where}: has a medium of density {model.opt.density:g} and viscosity {model.opt.viscosity:g}")
    for i in range(model.nbody):
        if model.body_gravcomp[i]:
            raise MjcfError(
                f"{where}: body {model.body(i).name!r} has gravcomp {model.body_gravcomp[i]:g}: expected none"
            )
    for k in range(model.njnt):
        _require_joint(model, k, where)


def _require_joint(model: Any, k: int, where: str) -> None:
    name, kind = model.joint(k).name, model.jnt_type[k]
    wide = kind < 2
    if wide and np.ravel(model.jnt_stiffness[k]).any():
        raise MjcfError(
            f"{where}: joint {name!r} is a {'free' if kind == 0 else 'ball'} joint with a spring: expected none"
        )
    if kind == 1 and model.jnt_limited[k]:
        raise MjcfError(f"{where}: joint {name!r} is a ball with a range: expected none")
    for what in ("jnt_stiffness", "dof_damping"):
        more = [x for x in (getattr(model, what + "poly", None),) if x is not None]
        row = k if what.startswith("jnt") else model.jnt_dofadr[k]
        if any(np.ravel(x[row]).any() for x in more):
            raise MjcfError(f"{where}: joint {name!r} has {what[4:]} that is no straight line: expected one number")
