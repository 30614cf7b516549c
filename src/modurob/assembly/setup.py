"""The setup of a robot: base, gravity and initial state."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from modurob.assembly.cables import Cable, left_among
from modurob.catalogue import Module
from modurob.errors import InputError, UnknownNameError, choices, warn_user

GRAVITY = (0.0, 0.0, -9.81)
AT_REST = (0.0,) * 6

# position, quaternion and twist of a base at the origin of the world, at rest
_STANDING = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), AT_REST)

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Setup:
    """The part of a robot file beside modules and connections: base, gravity and initial state. A value.

    The first part of module `base` (None: the first module) is fixed in the world, or floats. `gravity` is in world
    axes [m/s²]. `coordinates` and `rates` give the initial state by joint name (m3/hinge), zero by default: one number,
    or one for each coordinate [rad, m; rad/s, m/s]. A floating base starts at `position` [m] with orientation
    `quaternion` (w, x, y, z) in the world and the velocity `twist` (v, w) in its own axes [m/s, rad/s]. `lines` are
    cables and springs over ports, by name.

    >>> crane = Setup(gravity=(0, 9.81, 0), coordinates={"m1/hinge": 0.5})
    >>> crane
    Setup(gravity=(0.0, 9.81, 0.0), coordinates={'m1/hinge': (0.5,)})
    """

    base: str | None = None
    floating: bool = False
    gravity: Numbers = GRAVITY
    coordinates: Mapping[str, Numbers] = field(default_factory=dict)
    rates: Mapping[str, Numbers] = field(default_factory=dict)
    position: Numbers = (0.0, 0.0, 0.0)
    quaternion: Numbers = (1.0, 0.0, 0.0, 0.0)
    twist: Numbers = AT_REST
    lines: Mapping[str, Cable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, size in (("gravity", 3), ("position", 3), ("quaternion", 4), ("twist", 6)):
            object.__setattr__(self, name, _numbers(getattr(self, name), size, name))
        for name in ("coordinates", "rates"):
            object.__setattr__(self, name, _by_joint(getattr(self, name), name))
        object.__setattr__(self, "lines", _by_name(self.lines))
        object.__setattr__(self, "floating", _truth(self.floating))
        if not isinstance(self.base, str | None):
            raise InputError(f"base {self.base!r:.80}: expected the name of a module")
        if not any(self.quaternion):
            raise InputError("quaternion is zero: expected length one, (1, 0, 0, 0) for no turn")
        if not self.floating and (self.position, self.quaternion, self.twist) != _STANDING:
            raise InputError(
                "position, quaternion and twist are those of a floating base: set floating, or leave them out"
            )

    def __repr__(self) -> str:
        said = [
            (f.name, x) for f, x in zip(fields(self), self._values(), strict=True) if x != getattr(_DEFAULT, f.name)
        ]
        return f"Setup({', '.join(f'{k}={dict(x) if isinstance(x, Mapping) else x!r}' for k, x in said)})"

    def __hash__(self) -> int:
        return hash(tuple(frozenset(x.items()) if isinstance(x, Mapping) else x for x in self._values()))

    def __reduce__(self) -> tuple:
        return Setup, tuple(dict(x) if isinstance(x, Mapping) else x for x in self._values())

    def _values(self) -> list[Any]:
        return [getattr(self, f.name) for f in fields(self)]

    def among(self, modules: Collection[str], elsewhere: Collection[str] = ()) -> "Setup":
        """The setup restricted to these modules; lines over modules that are part of `elsewhere` are not missed.

        Entries for joints of other modules are dropped. If the base is removed, the first module becomes the base, and
        pose and velocity of the floating base are dropped too.
        """
        lines, gone = left_among(self.lines, modules)
        gone = [name for name in gone if not self.lines[name].modules <= set(elsewhere)]
        if gone:
            warn_user(f"lines {', '.join(gone)} went with a module they ran over")
        kept = replace(
            self,
            lines=lines,
            coordinates={j: q for j, q in self.coordinates.items() if j.partition("/")[0] in modules},
            rates={j: v for j, v in self.rates.items() if j.partition("/")[0] in modules},
        )
        return kept if self.base in modules else kept.on(None)

    def on(self, base: str | None) -> "Setup":
        """The setup on another base, which starts at the origin of the world, at rest."""
        return replace(self, base=base, position=_STANDING[0], quaternion=_STANDING[1], twist=AT_REST)

    def renamed(self, names: Mapping[str, str]) -> "Setup":
        """The setup with modules renamed."""

        def new(joint: str) -> str:
            module, slash, rest = joint.partition("/")
            return names.get(module, module) + slash + rest

        return replace(
            self,
            base=None if self.base is None else names.get(self.base, self.base),
            coordinates={new(j): q for j, q in self.coordinates.items()},
            rates={new(j): v for j, v in self.rates.items()},
            lines={name: line.renamed(names) for name, line in self.lines.items()},
        )

    def require_fits(self, modules: Mapping[str, Module]) -> None:
        """An error if the base or a joint is not among these modules, or a joint has another number of coordinates."""
        if self.base is not None and self.base not in modules:
            raise UnknownNameError(
                f"no module {self.base!r:.80} to be the base: {choices(str(self.base)[:80], modules)}"
            )
        for name, line in self.lines.items():
            line.require_fits(name, modules)
        for what, values in (("coordinates", self.coordinates), ("rates", self.rates)):
            for name, numbers in values.items():
                module, _, joint = name.partition("/")
                if module not in modules or joint not in modules[module].joints:
                    joints = [f"{m}/{j}" for m, x in modules.items() for j in x.joints]
                    raise UnknownNameError(f"no joint {name!r:.80} to have {what}: {choices(name[:80], joints)}")
                kind = modules[module].joints[joint].type
                expected = kind.nq if what == "coordinates" else kind.nv
                if len(numbers) != expected:
                    raise InputError(f"{what} of {name}: {len(numbers)} numbers: expected {expected} ({kind.kind})")


def _truth(x: Any) -> bool:
    if not isinstance(x, bool | np.bool_):
        raise InputError(f"floating {x!r:.80}: expected True or False")
    return bool(x)


def _numbers(x: Any, size: int | None, what: str) -> Numbers:
    """Finite numbers as a tuple; 0.0 for -0.0."""
    try:
        found = np.asarray(x)
    except ValueError:
        found = np.array(None)
    wrong = found.dtype.kind not in "iuf" or found.ndim != 1 or len(found) != (size or len(found))
    if wrong or not np.isfinite(found).all():
        raise InputError(f"{what} {x!r:.80}: expected {size or 'one or more'} finite numbers")
    return tuple((found.astype(float) + 0.0).tolist())


def _by_name(lines: Any) -> Mapping[str, Cable]:
    if not isinstance(lines, Mapping) or not all(isinstance(x, Cable) for x in lines.values()):
        raise InputError(f"lines {lines!r:.80}: expected lines by name, such as with_line makes them")
    return MappingProxyType(dict(lines))


def _by_joint(values: Any, what: str) -> Mapping[str, Numbers]:
    if not isinstance(values, Mapping):
        raise InputError(f"{what} {values!r:.80}: expected numbers by joint name, like {{'m0/hinge': 0.1}}")
    return MappingProxyType({str(j): _numbers(np.atleast_1d(x), None, f"{what} of {j}") for j, x in values.items()})


_DEFAULT = Setup()
