"""What a controller tracks: from a number, numbers by joint name, an array, a trajectory or a function to q, v, vdot of a robot."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from modurob.algorithms.checks import beyond_limits
from modurob.control.drives import Drives
from modurob.errors import ControlError, warn_user
from modurob.motion import Trajectory
from modurob.motion.numbers import numbers
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array, as_array
from modurob.trace import applied

# t -> (position, velocity, acceleration), as a Trajectory is
MotionFunction = Callable[[float], tuple[Any, Any, Any]]
# loops that a reference leaves open by more are named [m, rad]; files and people write about four digits
OPEN = 1e-3
# at how many times a trajectory is looked at
LOOKS = 9
# q, v, vdot of a whole robot, (..., nq) and (..., nv)
Motion = tuple[Array, Array, Array]


@runtime_checkable
class MotionRecipe(Protocol):
    """A reference that makes itself for any robot."""

    def on(self, robot: Mechanism) -> MotionFunction:
        """Position, velocity and acceleration as functions of time, for this robot."""
        ...


Reference = ArrayLike | MotionFunction | Mapping[str, Any] | MotionRecipe


def target(reference: Reference, drives: Drives) -> Callable[[float], Motion]:
    """The reference for one robot, t -> (q, v, vdot). Joints it does not name stay at zero.

    One number displaces every driven joint by that much. An array holds the coordinates of the driven joints, or all of q. A
    function of time, or a trajectory, returns position, velocity and acceleration in one of these sizes. A mapping gives each
    joint it names a number, its coordinates or a function. A warning says if it does not close the loops of a robot all of whose
    joints are driven.
    """
    given = reference.on(drives.robot) if isinstance(reference, MotionRecipe) else reference
    motion = _target(given, drives)
    times = _looks(given)
    _look_at_angles(motion, times[1:], drives.robot)
    if drives.robot.constraints and len(drives.q) == drives.robot.nq:
        _look_at_loops(motion, times, drives.robot)
    return motion


def _looks(reference: Any) -> list[float]:
    """The times at which a reference is looked at [s]: all along its trajectories, only at zero without one."""
    parts = reference.values() if isinstance(reference, Mapping) else (reference,)
    end = max((float(x.breaks[-1]) for x in parts if isinstance(x, Trajectory)), default=0.0)
    return np.linspace(0.0, end, LOOKS).tolist() if end > 0 else [0.0]


def _look_at_angles(motion: Callable[[float], Motion], times: list[float], robot: Mechanism) -> None:
    """An error if the reference becomes at one of these times what only degrees explain."""
    for t in times:
        _require_radians(robot, np.asarray(motion(t)[0], dtype=float), f"reference at t = {t:.4g} s")


def _look_at_loops(motion: Callable[[float], Motion], times: list[float], robot: Mechanism) -> None:
    """A warning if loops are open at one of these times."""
    for t in times:
        gap = float(np.abs(robot.loop_error(motion(t)[0])).max(initial=0.0))
        if gap > OPEN:
            names = ", ".join(c.name for c in robot.constraints)
            warn_user(
                f"reference of {robot.name} at t = {t:.4g} s: it leaves {names} open by {gap:.3g} (m or rad), so that no joint "
                "reaches it: expected coordinates at which the loops close, as robot.close_loops(q) returns them"
            )
            return


def _target(reference: ArrayLike | MotionFunction | Mapping[str, Any], drives: Drives) -> Callable[[float], Motion]:
    robot = drives.robot
    named: Mapping[str, Any] = reference if isinstance(reference, Mapping) else {robot.name: reference}
    constant: Motion = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    moving: list[tuple[Drives, MotionFunction]] = []
    for name, value in named.items():
        part = Drives(robot, (drives.joint(name, "reference"),)) if named is reference else drives
        function: Any = partial(applied, value) if callable(value) else None
        now: Any = function(0.0) if function else (value, 0.0, 0.0)
        _check(now, part, f"reference of {name}", whole=part is drives)
        if function is None:
            constant = _placed(constant, part, now)
        elif part is drives and np.shape(now[0]) == (robot.nv,) and len(part.q) == robot.nv:
            # nothing to rearrange, and it is called often
            _require_radians(robot, np.asarray(now[0], dtype=float), "reference at t = 0")
            return function
        else:
            moving.append((part, function))
    # quaternions get length one
    constant = robot.integrate(constant[0], constant[1]), constant[1], constant[2]
    _require_radians(robot, _moved(constant, moving, 0.0)[0], "reference at t = 0" if moving else "reference")
    return (lambda t: _moved(constant, moving, t)) if moving else (lambda t: constant)


def _require_radians(robot: Mechanism, q: Array, what: str) -> None:
    """Refuse a coordinate so far beyond its limits that only degrees explain it."""
    words = beyond_limits(robot, q)
    if "degrees" in words:
        raise ControlError(f"{what}: {words}: expected radians")


def _check(given: Any, part: Drives, what: str, whole: bool) -> None:
    """Refuse what is not position, velocity and acceleration of the part, or of the whole robot."""
    try:
        x, xdot, xddot = given
    except (TypeError, ValueError):
        raise ControlError(f"{what} gives {given!r:.60}: expected (position, velocity, acceleration)") from None
    q, v = (len(part.q), part.robot.nq), (len(part.v), part.robot.nv)
    for name, entries, sizes in (("position", x, q), ("velocity", xdot, v), ("acceleration", xddot, v)):
        shape = numbers(entries, f"{what}: {name}").shape
        valid = sorted(set(sizes if whole else sizes[:1]))
        if shape and shape[-1] not in valid:
            expected = " or ".join(f"(..., {n})" for n in valid)
            raise ControlError(f"{what}: {name} has shape {shape}: expected one number or {expected}")


def _moved(constant: Motion, moving: list[tuple[Drives, MotionFunction]], t: float) -> Motion:
    motion = constant
    for part, function in moving:
        motion = _placed(motion, part, function(t))
    return motion


def _placed(motion: Motion, part: Drives, given: tuple[Any, Any, Any]) -> Motion:
    """The motion with another one at some joints."""
    q, v, vdot = motion
    x, xdot, xddot = given
    if np.ndim(x) == 0 and len(part.q) > len(part.v):
        x = part.robot.integrate(part.robot.neutral(), _with(np.zeros(part.robot.nv), part.v, x))[part.q]
    return _with(q, part.q, x), _with(v, part.v, xdot), _with(vdot, part.v, xddot)


def _with(whole: Array, index: Array, entries: Any) -> Array:
    """`whole` with other entries at the index: given as one number, as those entries, or among all."""
    entries = as_array(entries)
    if entries.ndim and entries.shape[-1] != len(index):
        entries = entries[..., index]
    axes = np.broadcast_shapes(whole.shape[:-1], entries.shape[:-1]) if entries.ndim > 1 else whole.shape[:-1]
    changed = np.empty((*axes, whole.shape[-1]), np.result_type(whole, entries))
    changed[...] = whole
    changed[..., index] = entries
    return changed
