"""What exists, by name: one small class for joint kinds, forces, sensors, laws, steppers, gaits, formats and judges.

A thing registers itself where it is defined; the command line, recordings and the studio read the registries.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from modurob.errors import InputError, ModurobError, choices

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """Things of one sort by name, in the order they were registered."""

    def __init__(self, what: str, error: type[ModurobError] = InputError):
        self.what, self._error = what, error
        self._things: dict[str, T] = {}

    def add(self, name: str, thing: T) -> T:
        """Register under a new name."""
        if self._things.setdefault(name, thing) is not thing:
            raise self._error(f"there is already a {self.what} {name!r}, {self._things[name]!r}: choose another name")
        return thing

    def register(self, name: str) -> Callable[[T], T]:
        """A decorator that registers what it decorates.

        >>> STEPPERS = Registry("stepper")
        >>> @STEPPERS.register("euler")
        ... class Euler: ...
        >>> list(STEPPERS)
        ['euler']
        """
        return lambda thing: self.add(name, thing)

    def __getitem__(self, name: str) -> T:
        try:
            return self._things[name]
        except (KeyError, TypeError):
            raise self._error(f"no {self.what} {name!r}: {choices(str(name), self._things)}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._things

    def get(self, name: str, default: Any = None) -> Any:
        return self._things.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._things)

    def __len__(self) -> int:
        return len(self._things)

    def __repr__(self) -> str:
        return f"Registry({self.what}: {', '.join(self._things)})"
