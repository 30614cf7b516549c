"""What exists, by name: one small class for joint kinds, forces, sensors, laws, steppers, gaits, formats and judges.

A thing registers itself where it is defined; the command line, recordings and the studio read the registries.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
from typing import Any, TypeVar, cast

from modurob.errors import InputError, ModurobError, choices, explained

T = TypeVar("T")
Own = TypeVar("Own")


class Registry(Mapping[str, T]):
    """Things of one sort by name, in the order they were registered."""

    def __init__(self, what: str, error: type[ModurobError] = InputError):
        self.what, self._error = what, error
        self._things: dict[str, T] = {}

    def add(self, name: str, thing: T) -> T:
        """Register under a new name; a class that is defined again, as in a notebook, replaces its earlier version."""
        known = self._things.get(name, thing)
        if known is not thing and _place(known) != _place(thing):
            raise self._error(f"there is already a {self.what} {name!r}, {known!r}: choose another name")
        if isinstance(thing, type) and "__init__" in vars(thing):
            explained(thing)
        self._things[name] = thing
        return thing

    def register(self, name: str) -> Callable[[Own], Own]:
        """A decorator that registers what it decorates.

        >>> STEPPERS = Registry("stepper")
        >>> @STEPPERS.register("euler")
        ... class Euler: ...
        >>> list(STEPPERS)
        ['euler']
        """

        def registered(thing: Own) -> Own:
            self.add(name, cast(Any, thing))
            return thing

        return registered

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


def _place(thing: Any) -> Any:
    """Where a class or function is defined; other things are themselves."""
    return (thing.__module__, thing.__qualname__) if hasattr(thing, "__qualname__") else id(thing)


def with_values(x: T, values: Mapping[str, Any]) -> T:
    """A frozen dataclass with other values for some of its fields, such as traced scalars.

    It is made anew, so that what it derives from its fields is derived from these; where its own checks refuse them, it
    gets its fields alone.

    >>> import modurob as mr
    >>> with_values(mr.JointSpring(stiffness=2.0), {"stiffness": "k"}).stiffness
    'k'
    """
    if not values:
        return x
    given = {f.name: values.get(f.name, getattr(x, f.name)) for f in fields(cast(Any, x)) if f.init}
    with suppress(Exception):
        return type(x)(**given)
    out = object.__new__(type(x))
    for name, value in given.items():
        object.__setattr__(out, name, value)
    return out
