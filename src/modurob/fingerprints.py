"""What a class does, in words: compiled code is found again by these.

A class of this package is known by its name. One from outside is known by its code, and by all that this refers to: functions
and classes of other files and of cells of a notebook, what decorators and closures hold, and the numbers and objects beside them.
"""

import dis
import hashlib
import inspect
import os
import random
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from copyreg import dispatch_table
from functools import lru_cache
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np

# what does not change between two runs, or changes along with the version of this package
BUILT_ON = {"modurob", "numpy", "scipy", "sympy", "mpmath"}
PYTHON = {"builtins", *sys.stdlib_module_names} - {"__main__"}
STANDARD_LIBRARY = os.path.dirname(os.__file__)
INSTALLED = {"site-packages", "dist-packages"}
PLAIN = (str, int, float, complex, bool, bytes, type(None))


def fingerprint(cls: type) -> str:
    """A class by name; one from outside the package also by all that it does, as it is now."""
    name = f"{cls.__module__}.{cls.__qualname__}"
    return name if is_lasting(cls) else f"{name} {told(cls)}"


def told(x: Any) -> str:
    """A digest of anything, functions by their code; equal for what is equal, in any process."""
    if type(x) in PLAIN:
        return repr(x)
    digest = hashlib.sha256()
    for line in _Told(_package(x)).lines(x):
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def is_lasting(x: Any) -> bool:
    """Whether a module, class or function comes with Python, with this package, or with one that it is built on."""
    package = _package(x)
    # a file of a user's may have the name of one of Python's
    file = getattr(sys.modules.get(package), "__file__", None) or STANDARD_LIBRARY
    return package in BUILT_ON or (package in PYTHON and file.startswith(STANDARD_LIBRARY))


def _package(x: Any) -> str:
    """The outermost package that a module, class or function stands in."""
    module = x.__name__ if isinstance(x, ModuleType) else getattr(x, "__module__", None)
    return str(module or "").partition(".")[0]


class _Told:
    """Lines without addresses, one for each thing that is reached; they refer to each other by number."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._numbers: dict[Any, int] = {}
        self._found: list[tuple[Any, frozenset[str]]] = []  # as long as they are here, nothing else has their ids

    def lines(self, x: Any) -> Iterator[str]:
        """Those of anything."""
        self._word(x)
        for y, names in self._found:  # which grows meanwhile
            own, parts, wanted = _parts(y, names)
            yield " ".join([own, *(self._word(part, wanted) for part in parts)])

    def _word(self, x: Any, names: frozenset[str] = frozenset()) -> str:
        """A number or text itself, the name of what is known by it, the number of anything else. Of a module, what code with these
        names may mean."""
        if type(x) in PLAIN:
            return repr(x)
        if self._is_known(x):
            return f"{_name(x)}{_version(x)}"
        key = (id(x), names if isinstance(x, ModuleType) else None)
        if key not in self._numbers:
            self._numbers[key] = len(self._found)
            self._found.append((x, names))
        return f"#{self._numbers[key]}"

    def _is_known(self, x: Any) -> bool:
        """Whether the name of something says what it does: it does not change, or its package is installed, with a version."""
        if not isinstance(x, ModuleType | type | FunctionType | BuiltinFunctionType) or getattr(x, "__closure__", None):
            return False
        return is_lasting(x) or (_package(x) != self._home and _is_installed(x))


def _name(x: Any) -> str:
    return x.__name__ if isinstance(x, ModuleType) else f"{x.__module__}.{x.__qualname__}"


def _is_installed(x: Any) -> bool:
    file = getattr(sys.modules.get(_package(x)), "__file__", None) or ""
    return not INSTALLED.isdisjoint(file.split(os.sep))


def _version(x: Any) -> str:
    """That of the package, where it does not change along with this one."""
    return "" if is_lasting(x) else f" {vars(sys.modules[_package(x)]).get('__version__')}"


Parts = tuple[str, Iterable[Any], frozenset[str]]
NO_NAMES: frozenset[str] = frozenset()


def _parts(x: Any, names: frozenset[str]) -> Parts:
    """What something says of itself, what it is made of, and the names by which it may use modules among these."""
    kind = f"{type(x).__module__}.{type(x).__qualname__}"
    match x:
        case ModuleType():
            return kind, _attributes(x, names), names
        case type():
            own = {n: y for n, y in sorted(vars(x).items()) if n[:2] != "__" or callable(y)}
            return f"{kind} {x.__qualname__} {text_of(x.__module__)}", [type(x), *x.__bases__, *_items(own)], NO_NAMES
        case FunctionType():
            return f"{kind} {text_of(x.__module__)}", _reached(x), frozenset(_names(x.__code__))
        case MethodType():
            return kind, [x.__func__, x.__self__], NO_NAMES
        case staticmethod() | classmethod():
            return kind, [x.__func__], NO_NAMES
        case property():
            return kind, [x.fget], NO_NAMES
        case CellType():
            return kind, _content(x), NO_NAMES
        case CodeType():
            return f"{kind} {x.co_code.hex()} {x.co_names}", x.co_consts, NO_NAMES
        case np.ndarray() if x.dtype != object:
            return f"{kind} {x.dtype} {x.shape} {hashlib.sha256(x.tobytes()).hexdigest()}", (), NO_NAMES
        case set() | frozenset():
            return kind, sorted(x, key=repr), NO_NAMES
        case random.Random() | np.random.Generator() | np.random.RandomState():
            return kind, (), NO_NAMES  # code that is compiled draws no numbers
    if type(x) in (tuple, list):
        return f"{kind} {len(x)}", x, NO_NAMES
    return kind, _items(x) if type(x) in (dict, MappingProxyType) else [type(x), *_reduced(x)], NO_NAMES


def _items(x: Any) -> list[Any]:
    return [y for item in x.items() for y in item]


def _attributes(module: ModuleType, names: Iterable[str]) -> list[Any]:
    """Those of a module that have these names."""
    found = {}
    for n in sorted(names):
        with suppress(Exception):  # of modules that find their attributes when they are asked for
            found[n] = getattr(module, n)
    return _items(found)


def _reached(x: FunctionType) -> list[Any]:
    """What a function is made of, and the globals that it uses."""
    used = {n: x.__globals__[n] for n in sorted(_globals(x.__code__)) if n in x.__globals__}
    return [x.__code__, x.__defaults__, x.__kwdefaults__, x.__dict__, *(x.__closure__ or ()), *_items(used)]


def _names(code: CodeType) -> Iterator[str]:
    """The names that code uses, and functions inside it."""
    yield from code.co_names
    for x in code.co_consts:
        if isinstance(x, CodeType):
            yield from _names(x)


@lru_cache(maxsize=4096)
def _globals(code: CodeType) -> frozenset[str]:
    """Those of them that are globals."""
    own = {i.argval for i in dis.get_instructions(code) if "GLOBAL" in i.opname or i.opname == "LOAD_NAME"}
    return frozenset(own).union(*(_globals(x) for x in code.co_consts if isinstance(x, CodeType)))


def _content(cell: CellType) -> list[Any]:
    with suppress(ValueError):  # not assigned yet
        return [cell.cell_contents]
    return []


def _reduced(x: Any) -> list[Any]:
    """What `pickle` makes an object of; what it does not take apart is known by its class and attributes."""
    try:
        made = dispatch_table.get(type(x), lambda x: x.__reduce_ex__(2))(x)
    except Exception:
        return [getattr(x, "__dict__", None)]
    if isinstance(made, str):  # found by its name
        return [made, getattr(x, "__dict__", None)]
    return [*made[:3], *(list(y) for y in made[3:5] if y is not None)]


@lru_cache(maxsize=256)
def text_of(module: str) -> str:
    """A digest of the text of a file; what comes from a console or a notebook stands in none."""
    with suppress(OSError, TypeError, KeyError):
        return hashlib.sha256(inspect.getsource(sys.modules[module]).encode()).hexdigest()
    return ""
