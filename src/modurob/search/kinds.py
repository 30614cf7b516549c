"""The modules that assemblies consist of: how their ports fit, and their symmetries."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from modurob.catalogue import Module, ModuleType, Port, module_type
from modurob.errors import InputError
from modurob.search.symmetries import Symmetry, docking_ports, symmetries

MOST = 64  # modules of an enumeration


class Kind(NamedTuple):
    """A module with its docking ports, and its symmetries that map valid rolls to valid rolls."""

    module: Module
    ports: tuple[Port, ...]
    symmetries: tuple[Symmetry, ...]


class Kinds:
    """Modules to choose from; `most[k]` of kind k at most, `whole` whether all of these are to be used."""

    def __init__(self, types: Any, modules: int | None, rolls: Iterable[float] | None):
        given = _counted(types)
        self.rolls = None if rolls is None else frozenset(_degrees(rolls))
        self.kinds = tuple(self._kind(module_type(t).module()) for t in given)
        self.whole = isinstance(types, Mapping)
        self.size = _size(modules, sum(n for n in given.values() if n is not None) if self.whole else None)
        self.most = tuple(self.size if n is None else n for n in given.values())

    def _kind(self, module: Module) -> Kind:
        return Kind(module, docking_ports(module), tuple(s for s in symmetries(module) if self._stays(s)))

    def _stays(self, symmetry: Symmetry) -> bool:
        return self.rolls is None or all({(r + t) % 360 for r in self.rolls} == self.rolls for t in symmetry.turn)

    def fit(self, a: Port, b: Port) -> tuple[float, ...]:
        """The rolls that two ports can be docked at [degrees]."""
        one, two = a.connector, b.connector
        return tuple(r for r in one.rolls if self._allowed(r) and one.misfit(two, r) is None)

    def _allowed(self, roll: float) -> bool:
        return self.rolls is None or roll in self.rolls

    @cached_property
    def fits(self) -> dict[tuple[int, int], tuple[tuple[int, int, tuple[float, ...]], ...]]:
        """For each port (kind, port) the ports (kind, port) that fit, with their rolls."""
        every = [((k, p), port) for k, kind in enumerate(self.kinds) for p, port in enumerate(kind.ports)]
        return {
            at: tuple((k, p, rolls) for (k, p), other in every if (rolls := self.fit(port, other)))
            for at, port in every
        }


def _counted(types: Any) -> dict[str | ModuleType, int | None]:
    """Types, each with how many of it there are, or None."""
    if isinstance(types, str | ModuleType):
        return {types: None}
    if isinstance(types, Mapping):
        for name, n in types.items():
            if not isinstance(n, int) or isinstance(n, bool) or n < 1:
                raise InputError(f"{n!r:.40} modules of type {name!r}: expected a number of at least 1")
        found = dict(types)
    else:
        if not isinstance(types, Iterable):
            raise InputError(f"types {types!r:.60}: expected a module type, a list of them, or numbers by module type")
        found = dict.fromkeys(types)
    if not found:
        raise InputError("no module types: expected at least one, such as 'backbone'")
    return found


def _size(modules: int | None, together: int | None) -> int:
    if together is not None:
        if modules not in (None, together):
            raise InputError(f"{modules} modules of a list of {together}: expected no number beside numbers by type")
        modules = together
    if not isinstance(modules, int) or isinstance(modules, bool) or not 1 <= modules <= MOST:
        raise InputError(f"{modules!r:.40} modules: expected a whole number from 1 to {MOST}")
    return modules


def _degrees(rolls: Iterable[float]) -> list[float]:
    try:
        return [float(r) % 360 for r in rolls]
    except (TypeError, ValueError):
        raise InputError(f"rolls {rolls!r:.60}: expected a list of degrees, like (0, 180)") from None
