"""A module type: what a file says of a kind of module, from which modules are made."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from modurob import tabular
from modurob.catalogue import consistency, expression
from modurob.catalogue.expression import Scalar
from modurob.catalogue.making import Maker
from modurob.catalogue.module import Module
from modurob.catalogue.specification import ModuleSpec, ParameterSpec
from modurob.errors import CatalogueError, ModurobError, choices
from modurob.spatial import inertia

HEAD = ("what", "name", "value")


class ModuleType:
    """Parts, joints and ports as described by a file; `module(parameters)` makes a module. A value: equal if the
    descriptions are equal.

    >>> from modurob.catalogue import module_type
    >>> backbone = module_type("backbone")
    >>> backbone
    ModuleType('backbone', 2 parts, 1 joint, 5 ports)
    >>> backbone.module({"mass": 0.8}).parameters["length"]
    0.105
    """

    specification: ModuleSpec
    name: str
    fingerprint: str
    _where: str

    def __init__(self, specification: ModuleSpec, where: str = "module type"):
        """`where` names the file in errors; it is no part of the value."""
        self._fill(specification, where)
        # a file whose defaults make no module is refused now
        found = list(_mistakes(self))
        if len(found) == 1:
            raise type(found[0])(f"{where}: {found[0]}")
        if found:
            raise CatalogueError("\n  ".join([f"{where}:", *map(str, found)]))

    def _fill(self, specification: ModuleSpec, where: str) -> None:
        # 1 and 1.0 are one number: files leave out what equals a default
        alike = json.dumps(json.loads(specification.model_dump_json(), parse_int=float))
        digest = hashlib.sha256(alike.encode()).hexdigest()[:32]
        self.__dict__.update(specification=specification, name=specification.name, fingerprint=digest, _where=where)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a ModuleType cannot be changed: make another one (tried to set {name!r})")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, ModuleType) and self.fingerprint == other.fingerprint)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple:
        return type(self), (self.specification, self._where)

    def __repr__(self) -> str:
        s = self.specification
        counts = ((len(s.parts), "part"), (len(s.joints), "joint"), (len(s.ports), "port"))
        return ", ".join([f"ModuleType({self.name!r}", *(f"{n} {what}" + "s" * (n != 1) for n, what in counts)]) + ")"

    def _repr_html_(self) -> str:
        """Parameters, parts, joints and ports as a table, for notebooks."""
        about = f": {self.specification.description}" if self.specification.description else ""
        return tabular.html(f"{self!r}{about}", HEAD, self._rows())

    def _repr_latex_(self) -> str:
        """The same for notebooks on paper."""
        return f"${tabular.latex(HEAD, self._rows())}$"

    def _rows(self) -> Iterator[tuple[str, str, str]]:
        s, module = self.specification, self.module()
        for name, p in s.parameters.items():
            yield "parameter", name, f"{p.value} {p.unit}".strip() + (f": {p.description}" if p.description else "")
        for name, part in module.parts.items():
            yield "part", name, f"{expression.shown(inertia.mass(part.inertia).item())} kg"
        for name, joint in module.joints.items():
            yield "joint", name, f"{joint.type.kind}, {joint.start} – {joint.end}"
        for name, port in module.ports.items():
            yield "port", name, f"{port.connector.kind} on {port.part}"

    def module(self, parameters: Mapping[str, Scalar] | None = None) -> Module:
        """The module with these parameters, the others at their defaults; units are those of the module type's file.

        >>> from modurob.catalogue import module_type
        >>> module_type("virtual").module({"freedom": "revolute", "az": 0, "ax": 1}).joints["joint"].type.kind
        'revolute'
        """
        if parameters is not None and not isinstance(parameters, Mapping):
            valid = ", ".join(self.specification.parameters) or "none"
            raise CatalogueError(
                f"module type {self.name!r}: parameters {parameters!r:.60}: expected a mapping, {{name: value}}; valid: {valid}"
            )
        values, changed = self._values(parameters or {})
        return _made(self, tuple(values.items()), tuple(changed.items()))

    def _values(self, given: Mapping[str, Scalar]) -> tuple[dict[str, Scalar], dict[str, Scalar]]:
        spec = self.specification.parameters
        for name in given:
            if name not in spec:
                raise CatalogueError(f"module type {self.name!r} has no parameter {name!r:.80}: {choices(name, spec)}")
        values: dict[str, Scalar] = {}
        changed: dict[str, Scalar] = {}
        for name, parameter in spec.items():
            default = self._default(name, values)
            values[name] = value = _plain(given.get(name, default))
            what = f"module type {self.name!r}: parameter {name} = {expression.shown(given.get(name, value))}"
            _require_valid(value, parameter, what)
            if value != default:
                changed[name] = value
        return values, changed

    def _default(self, name: str, above: Mapping[str, Scalar]) -> Scalar:
        parameter = self.specification.parameters[name]
        try:
            return _plain(parameter.value if parameter.choices else expression.value(parameter.value, above))
        except CatalogueError as error:
            raise CatalogueError(f"parameter {name!r}: {error}") from None


def mistakes(specification: ModuleSpec) -> list[ModurobError]:
    """Everything that keeps a description from being that of a module type."""
    kind = object.__new__(ModuleType)
    kind._fill(specification, "")
    return list(_mistakes(kind))


def _mistakes(kind: ModuleType) -> Iterator[ModurobError]:
    found = [CatalogueError(x) for x in consistency.mistakes(kind.specification)]
    if found:
        yield from found
        return
    try:
        values, changed = kind._values({})
    except ModurobError as error:
        yield error
        return
    yield from _tried(kind, values, changed)[1]


@lru_cache(maxsize=4096)
def _made(kind: ModuleType, values: tuple, changed: tuple) -> Module:
    """One module for equal parameters, as long as it is kept."""
    module, errors = _tried(kind, dict(values), dict(changed))
    if module is None:
        raise type(errors[0])(f"{kind._where}: {errors[0]}")
    return module


def _tried(kind: ModuleType, values: dict, changed: dict) -> tuple[Module | None, list[ModurobError]]:
    maker = Maker(kind.specification, values)
    module = Module(
        kind,
        MappingProxyType(changed),
        MappingProxyType(values),
        MappingProxyType(maker.parts()),
        MappingProxyType(maker.joints()),
        MappingProxyType(maker.ports()),
    )
    return (None if maker.errors else module), maker.errors


def _plain(value: Scalar) -> Scalar:
    """2, 2.0 and np.float64(2) are one value, and so are 0.0 and -0.0."""
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        return value
    try:
        return float(value) + 0.0
    except OverflowError:
        return np.inf


def _require_valid(value: Scalar, parameter: ParameterSpec, what: str) -> None:
    if parameter.choices:
        if value not in parameter.choices:
            raise CatalogueError(f"{what}; valid: {', '.join(parameter.choices)}")
    elif isinstance(value, bool | np.bool_ | Iterable) or value is None:
        raise CatalogueError(f"{what}: expected a number [{parameter.unit}]")
    elif isinstance(value, int | float | np.number):
        low, high = parameter.minimum, parameter.maximum
        if not np.isfinite(value) or (low is not None and value < low) or (high is not None and value > high):
            span = f"{'-inf' if low is None else low} to {'inf' if high is None else high}"
            raise CatalogueError(f"{what}: expected a finite number from {span} [{parameter.unit}]")
