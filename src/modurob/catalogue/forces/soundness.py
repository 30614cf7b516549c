"""Whether a force from outside the package is one: the shapes of what its methods return."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from modurob.catalogue.forces.force import Force, FrameForce, JointForce, Motion
from modurob.errors import MechanismError, require_value
from modurob.spatial import se3

# the leading axes of what methods are given: of one run, as a choice by `if` is refused where it is traced, with a better message
RUNS = (1, 1)


def require_sound(force: Force) -> None:
    """An error unless the methods of a force from outside the package return what is expected; those of the package are tested."""
    if type(force).__module__.startswith("modurob."):
        return
    require_value(force, MechanismError)
    if all(x is None or isinstance(x, int | float) for x in force.parameters().values()):
        _require_sound(force)


@lru_cache(maxsize=1024)
def _require_sound(force: Force) -> None:
    for what in mistakes(force):
        raise MechanismError(f"force {force.kind!r} ({type(force).__qualname__}): {what}")


def mistakes(force: Force) -> Iterator[str]:
    """What is wrong with a force, in words."""
    if np.shape(force.start()) != (force.nx,):
        yield f"start() has shape {np.shape(force.start())}: expected ({force.nx},), its nx states"
    still = len(getattr(force, "still", ()))
    if force.nx > still and any(getattr(type(force), "rate", None) is kind.rate for kind in (JointForce, FrameForce)):
        yield f"it has {force.nx} states and no rate: expected a method rate, dx/dt (..., {force.nx})"
    for name, (found, last) in _returned(force).items():
        for x in found if isinstance(found, tuple) else (found,):
            if not _numeric(x) or np.shape(x) not in ((), last, (*RUNS, *last)):
                what = f"numbers of shape {np.shape(x)}" if _numeric(x) else f"{x!s:.60}"
                yield f"{name} returned {what} for runs {RUNS}: expected numbers of shape {(*RUNS, *last)}"


def _returned(force: Force) -> dict[str, tuple[Any, tuple[int, ...]]]:
    """What each method returns at one state, and the axes that it has beside those of the runs."""
    x = np.broadcast_to(force.start(), (*RUNS, force.nx))
    if isinstance(force, FrameForce):
        return _between(force, x)
    if not isinstance(force, JointForce):
        return {}
    q, v = np.full(RUNS, 0.1), np.full(RUNS, 0.2)
    return {
        "effort": (force.effort(0.0, q, v, x), ()),
        "rate": (force.rate(0.0, q, v, x), (force.nx,)),
        "dry": (force.dry(v), ()),
        "holding": (force.holding(), ()),
        "energy": (force.energy(q, x), ()),
    }


def _between(force: FrameForce, x: Any) -> dict[str, tuple[Any, tuple[int, ...]]]:
    a, b = (np.broadcast_to(se3.pose(p=np.array([0.1, 0.2, far])), (*RUNS, 4, 4)) for far in (0.3, 0.7))
    motions = Motion(a, np.full((*RUNS, 6), 0.1)), Motion(b, np.full((*RUNS, 6), -0.2))
    return {
        "wrenches": (_pair(force.wrenches(0.0, *motions, x)), (6,)),
        "rate": (force.rate(0.0, *motions, x), (force.nx,)),
        "energy": (force.energy(a, b, x), ()),
    }


def _pair(found: Any) -> Any:
    """Two wrenches as a tuple; anything else as it is."""
    return tuple(found) if isinstance(found, tuple | list) and len(found) == 2 else repr(found)


def _numeric(x: Any) -> bool:
    return np.asarray(x).dtype.kind in "bif"
