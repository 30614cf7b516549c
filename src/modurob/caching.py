"""Properties that are found once and kept."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

import numpy as np

T = TypeVar("T")


def frozen(found: T) -> T:
    """`found` itself; if it is an array or a tuple of some, they can no longer be written."""
    for x in found if isinstance(found, tuple) else (found,):
        if isinstance(x, np.ndarray):
            x.flags.writeable = False
    return found


class cached_property(Generic[T]):  # noqa: N801 - as that of functools
    """As `functools.cached_property`, without the lock that it has up to Python 3.11: a process forked while another thread
    finds a value would wait for it for ever. What is kept is immutable, so that finding it twice does no harm: arrays are
    read-only.

    >>> class Square:
    ...     side = 3
    ...
    ...     @cached_property
    ...     def area(self):
    ...         return self.side**2
    >>> Square().area
    9
    """

    def __init__(self, find: Callable[[Any], T]):
        self.func, self.__doc__, self.name = find, find.__doc__, find.__name__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> "cached_property[T]": ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        if instance is None:
            return self
        found = instance.__dict__[self.name] = frozen(self.func(instance))
        return found
