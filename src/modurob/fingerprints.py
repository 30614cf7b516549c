"""What a class does, in words: compiled code is found again by these.

A class of this package is known by its name. One from outside is known by its code, and by that of all it calls: functions and
classes of other files and of cells of a notebook, and numbers beside them.
"""

import hashlib
import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import lru_cache, partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

# what does not change between two runs, or changes along with the version of this package
FIXED = {"modurob", "builtins", "numpy", "scipy", "sympy", "mpmath", *sys.stdlib_module_names} - {"__main__"}
# of the methods with such names, those that people write
OWN = {"__post_init__", "__call__"}


def fingerprint(cls: type) -> str:
    """A class by name; one from outside the package also by all that it does, as it is now."""
    name = f"{cls.__module__}.{cls.__qualname__}"
    if is_lasting(cls):
        return name
    return f"{name} {hashlib.sha256(chr(0).join(_Words().of(cls)).encode()).hexdigest()}"


def is_lasting(x: Any) -> bool:
    """Whether a module, class or function comes with Python, with this package, or with one that it is built on."""
    module = x.__name__ if isinstance(x, ModuleType) else getattr(x, "__module__", None)
    return str(module or "").partition(".")[0] in FIXED


class _Words:
    """Words without addresses; what was told is not told again."""

    def __init__(self) -> None:
        self._told: dict[Any, Any] = {}

    def of(self, x: Any, names: frozenset[str] = frozenset()) -> Iterator[str]:
        """Those of anything; of a module, those of what code with these names may mean."""
        x = _plain(x)
        key = (id(x), names if isinstance(x, ModuleType) else None)
        if isinstance(x, ModuleType | type | FunctionType) and is_lasting(x):
            yield f"{getattr(x, '__module__', '')} {getattr(x, '__qualname__', x.__name__)}"
        elif isinstance(x, str | int | float | complex | bytes | np.generic | None):
            yield repr(x)
        elif key not in self._told:
            self._told[key] = x  # as long as it is here, nothing else has its id
            yield from self._inside(x, names)

    def _inside(self, x: Any, names: frozenset[str]) -> Iterator[str]:
        match x:
            case ModuleType():
                yield from self._each({n: getattr(x, n) for n in sorted(names) if hasattr(x, n)}, names)
            case type():
                yield _text_of(x.__module__)
                for c in x.__mro__:
                    if not is_lasting(c):
                        yield from self._each({n: v for n, v in sorted(vars(c).items()) if n[:2] != "__" or n in OWN})
            case FunctionType():
                yield _text_of(x.__module__)
                used = frozenset(_names(x.__code__))
                yield from self.of(x.__code__)
                yield from self._each([x.__defaults__, x.__kwdefaults__, *map(_content, x.__closure__ or ())])
                yield from self._each({n: x.__globals__[n] for n in sorted(used) if n in x.__globals__}, used)
            case CodeType():
                yield f"{x.co_code.hex()} {x.co_names}"
                yield from self._each(x.co_consts)
            case np.ndarray():
                yield f"{x.dtype} {x.shape} {hashlib.sha256(x.tobytes()).hexdigest()}"
            case Mapping() | list() | tuple():
                yield from self._each(x)
            case set() | frozenset():
                yield from sorted(map(repr, x))
            case _:
                yield f"{type(x).__module__} {type(x).__qualname__}"
                yield from self.of(type(x))
                if is_dataclass(x):
                    yield from self._each({f.name: getattr(x, f.name, None) for f in fields(x)})

    def _each(self, xs: Any, names: frozenset[str] = frozenset()) -> Iterator[str]:
        for n, x in xs.items() if isinstance(xs, Mapping) else enumerate(xs):
            yield str(n)
            yield from self.of(x, names)


def _plain(x: Any) -> Any:
    """The function that something calls, without what is around it."""
    match x:
        case MethodType() | staticmethod() | classmethod():
            return _plain(x.__func__)
        case property():
            return _plain(x.fget)
        case partial():
            return (x.func, x.args, x.keywords)
    inner = getattr(x, "func", None) if isinstance(getattr(x, "func", None), FunctionType) else None
    return inspect.unwrap(inner or x) if callable(inner or x) and not isinstance(x, type) else x


def _names(code: CodeType) -> Iterator[str]:
    """The names that code uses, and functions inside it."""
    yield from code.co_names
    for x in code.co_consts:
        if isinstance(x, CodeType):
            yield from _names(x)


def _content(cell: Any) -> Any:
    with suppress(ValueError):  # not assigned yet
        return cell.cell_contents


@lru_cache(maxsize=256)
def _text_of(module: str) -> str:
    """The text of a file; what comes from a console or a notebook stands in none."""
    with suppress(OSError, TypeError, KeyError):
        return inspect.getsource(sys.modules[module])
    return ""
