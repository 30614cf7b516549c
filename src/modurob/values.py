"""Values: frozen dataclasses whose arrays are their own."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from modurob.caching import frozen

T = TypeVar("T")


class Value:
    """A base for frozen dataclasses (`eq=False`) with fields that may be arrays, lists or dictionaries.

    It owns what it was given: arrays are copied and read-only, also after pickling, and lists and dictionaries are copied.
    Arrays are compared by their numbers, lists and tuples by their entries.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, eq=False)
    ... class Gains(Value):
    ...     k: np.ndarray
    >>> k = np.array([1.0, 2.0])
    >>> gains = Gains(k)
    >>> k[0] = 3.0
    >>> gains == Gains(np.array([1.0, 2.0])), gains == Gains(k)
    (True, False)
    """

    def __post_init__(self) -> None:
        for name, x in _fields(self).items():
            object.__setattr__(self, name, owned(x))

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and same(_fields(self), _fields(other)))

    def __hash__(self) -> int:
        return hash((type(self), _hash(_fields(self))))

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, x in state.items():
            object.__setattr__(self, name, owned(x))


def compared(named: type[T]) -> type[T]:
    """A `NamedTuple` with fields that may be arrays, which are compared by their numbers.

    >>> from typing import NamedTuple
    >>> @compared
    ... class Slopes(NamedTuple):
    ...     q: np.ndarray
    >>> Slopes(np.eye(2)) == Slopes(np.eye(2)), Slopes(np.eye(2)) != Slopes(np.eye(3))
    (True, True)
    """

    def equal(mine: Any, other: object) -> bool:
        return isinstance(other, tuple) and same(mine, other)

    def different(mine: Any, other: object) -> bool:
        return not equal(mine, other)

    named.__eq__, named.__ne__, named.__hash__ = equal, different, _hash  # type: ignore[method-assign, assignment]
    return named


def _fields(value: Any) -> dict[str, Any]:
    return {f.name: getattr(value, f.name) for f in fields(value)}


def owned(x: Any) -> Any:
    """`x`, where a user could write to it a copy, arrays read-only."""
    if isinstance(x, np.ndarray):
        return frozen(np.array(x)) if x.flags.writeable or x.base is not None else x
    if isinstance(x, dict):
        return {key: owned(y) for key, y in x.items()}
    return type(x)(map(owned, x)) if type(x) in (list, tuple) else x


def as_tuples(x: Any) -> Any:
    """`x`, lists and arrays in it as tuples."""
    if isinstance(x, np.ndarray):
        return as_tuples(x.tolist())
    return tuple(map(as_tuples, x)) if type(x) in (list, tuple) else x


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal, arrays in them by their numbers; functions are if they are one."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return type(a) is type(b) and np.array_equal(a, b)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def _hash(x: Any) -> int:
    """Equal for values that are the same: of arrays by their shape alone."""
    if isinstance(x, np.ndarray):
        return hash(x.shape)
    if isinstance(x, Mapping):
        return hash(frozenset((key, _hash(y)) for key, y in x.items()))
    if isinstance(x, list | tuple):
        return hash(tuple(map(_hash, x)))
    try:
        return hash(x)
    except TypeError:
        return hash(type(x))
