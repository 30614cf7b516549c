"""Limits, drive, losses and springs of a joint: what they are, and what of the tables they become."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from modurob.catalogue.drives import Drive
from modurob.catalogue.forces import Friction, JointForce, JointSpring, Stop
from modurob.catalogue.joints import JointType
from modurob.errors import InputError, MechanismError, explained
from modurob.mechanism.tables import Limits
from modurob.spatial.scalars import Array, as_array, read_only
from modurob.values import as_tuples


@explained
@dataclass(frozen=True)
class Source:
    """What a mimic joint follows: its coordinate is ratio * q + offset [rad or m], q that of the joint of that name.

    >>> b = mr.Builder("fingers")
    >>> rod = mr.spatial.inertia.point(0.1, (0.0, 0.05, 0.0))
    >>> left = b.body("left", rod, joint=mr.Revolute((1, 0, 0)))
    >>> right = b.body("right", rod, joint=mr.Revolute((1, 0, 0)), mimic=mr.Source("left", ratio=-1.0))
    >>> b.build().nv
    1
    """

    joint: str
    ratio: float = 1.0
    offset: float = 0.0


@explained
@dataclass(frozen=True)
class JointProperties:
    """Limits, drive, losses and springs of a joint; one number stands for all of its rates, an array has one for each.

    Units are those of the joint: rad and N m where it turns, m and N where it slides. All of it acts in simulation without being
    asked for: drives give no more than `effort` (zero: the joint has no drive), friction holds and brakes, stops push back from the
    limits.

    >>> b = mr.Builder("arm")
    >>> own = mr.JointProperties(lower=-1.0, upper=1.0, effort=5.0, damping=0.1)
    >>> rod = b.body("rod", mr.spatial.inertia.point(1.0, (0, 0, -1)), joint=mr.Revolute((1, 0, 0)), properties=own)
    >>> [row.name for row in b.build().forces]
    ['rod friction', 'rod stop']
    """

    lower: Any = -np.inf
    upper: Any = np.inf
    velocity: Any = np.inf
    effort: Any = np.inf
    damping: Any = 0.0  # viscous friction [N m s/rad or N s/m]
    friction: Any = 0.0  # Coulomb friction [N m or N]
    static: Any = None  # friction at rest, not less than that in motion; None: the same
    stribeck: Any = 0.0  # velocity over which it falls from static to Coulomb's [rad/s or m/s]
    armature: Any = 0.0  # rotor inertia seen at the joint [kg m² or kg]
    stiffness: Any = 0.0  # of a spring along the joint [N m/rad or N/m]
    rest: Any = 0.0  # where that spring is at rest [rad or m]
    stop_stiffness: Any = None  # [N m/rad or N/m]; None: as suits the inertia behind the joint
    stop_damping: Any = None  # [N m s/rad or N s/m]
    drive: Drive | None = None  # what moves it; its rotor adds to the armature, its friction to the losses

    def __post_init__(self) -> None:
        for name, x in vars(self).items():
            if isinstance(x, list | np.ndarray):
                object.__setattr__(self, name, as_tuples(x))


NO_PROPERTIES = JointProperties()

# limits, velocity limit, effort limit and armature of a joint; and its forces with the rates they act on
Values = tuple[Limits, Array, Array, Array]
Acting = tuple[tuple[JointForce, int], ...]


def joint_values(name: str, kind: JointType, properties: JointProperties) -> tuple[Values, Acting]:
    """What a joint of that kind has by these properties, and the forces it comes with."""
    read = _cached_values if _is_hashable(properties) else _values
    try:
        return read(properties, kind.nq, kind.nv)
    except (MechanismError, InputError) as error:
        raise MechanismError(f"joint {name!r}: {error}") from None


def without_contradiction(acting: Acting, mimic: Source, source: JointProperties) -> Acting:
    """The forces of a mimic joint but for a stop that would leave its source no room, as files sometimes have it."""
    kept = []
    for force, rate in acting:
        if isinstance(force, Stop) and mimic.ratio:
            ends = sorted((x - mimic.offset) / mimic.ratio for x in (force.lower, force.upper))
            if not max(ends[0], float(np.max(source.lower))) < min(ends[1], float(np.min(source.upper))):
                continue
        kept.append((force, rate))
    return tuple(kept)


def _is_hashable(properties: JointProperties) -> bool:
    """Not if it holds arrays."""
    try:
        hash(properties)
    except TypeError:
        return False
    return True


def _values(p: JointProperties, nq: int, nv: int) -> tuple[Values, Acting]:
    """Limits as read-only arrays, one entry a coordinate or rate, and the forces that the properties make."""
    limits = Limits(_spread(p.lower, nq, "lower limit"), _spread(p.upper, nq, "upper limit"))
    if limits.lower.dtype != object and np.any(~(limits.lower <= limits.upper)):
        raise MechanismError(f"limits {p.lower} to {p.upper}: expected lower <= upper")
    values = [_spread(getattr(p, x), nv, x) for x in ("velocity", "effort", "armature")]
    for what, value in zip(("velocity", "effort", "armature"), values, strict=True):
        if value.dtype != object and np.any(~(value >= 0)):
            raise MechanismError(f"{what} {getattr(p, what)}: expected zero or more")
    if values[2].dtype != object and not np.all(np.isfinite(values[2])):
        raise MechanismError(f"armature {p.armature}: expected a finite number")
    for what in ("damping", "friction", "static", "stribeck", "stiffness"):
        _require_loss(what, getattr(p, what))
    if p.drive is not None:
        _require_drive(p.drive, nv)
    return (limits, *values), tuple(_forces(p, limits, nq, nv))  # type: ignore[return-value]


def _require_loss(what: str, value: Any) -> None:
    """An error in the word that the user gave; symbols pass, and what is no number is told where it is spread."""
    x = as_array(0.0 if value is None else value)
    if x.dtype.kind == "f" and not np.all((x >= 0) & np.isfinite(x)):
        raise MechanismError(f"{what} {value}: expected a finite number, zero or more")


def _spread(value: Any, n: int, what: str) -> Array:
    array = as_array(value)
    if array.shape not in ((), (n,)):
        raise MechanismError(f"{what} has shape {array.shape}, expected one number or {n}")
    if array.dtype.kind not in "fO":
        raise MechanismError(f"{what} is {value!r}: expected numbers")
    return read_only(np.array(np.broadcast_to(array, (n,))))


def _forces(p: JointProperties, limits: Limits, nq: int, nv: int) -> Iterator[tuple[JointForce, int]]:
    """Friction, spring and stops by rate, those that do something."""
    loss = [_spread(x, nv, what).tolist() for x, what in ((p.damping, "damping"), (p.friction, "friction"))]
    static = loss[1] if p.static is None else _spread(p.static, nv, "static").tolist()
    stribeck = _spread(p.stribeck, nv, "stribeck").tolist()
    spring = [_spread(x, nv, what).tolist() for x, what in ((p.stiffness, "stiffness"), (p.rest, "rest"))]
    for k in range(nv):
        if loss[0][k] != 0 or static[k] != 0 or loss[1][k] != 0:
            yield Friction(loss[0][k], loss[1][k], static[k], stribeck[k]), k
        if spring[0][k] != 0:
            yield JointSpring(spring[0][k], spring[1][k]), k
        ends = [bound[k] for bound in limits] if nq == nv else []
        if any(_is_limit(x) for x in ends):
            lower, upper = map(_plain, ends)
            yield Stop(lower, upper, p.stop_stiffness, p.stop_damping), k


def _require_drive(drive: Any, nv: int) -> None:
    """An error unless it is a drive, on a joint that it can move alone."""
    if not isinstance(drive, Drive):
        raise MechanismError(f"drive {drive!r:.60}: expected mr.Drive(...) or mr.load_drive(name)")
    if nv != 1:
        raise MechanismError(f"a drive moves one rate, and the joint has {nv}: expected a joint with one")


def _is_limit(x: Any) -> bool:
    """Whether a coordinate ends there: at a finite number, or at a symbol."""
    return not isinstance(x, int | float | np.number) or bool(np.isfinite(x))


def _plain(x: Any) -> Any:
    """A Python float where x is a number."""
    return float(x) if isinstance(x, int | float | np.number) else x


# modules of one type share their joints' limits
_cached_values = lru_cache(maxsize=4096)(_values)
