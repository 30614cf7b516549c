"""Assemblies as YAML files."""

import re
from collections.abc import Iterable
from importlib import resources
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from modurob.assembly.assembly import Assembly
from modurob.assembly.connection import Connection, docking
from modurob.catalogue import Module, ModuleType, library
from modurob.catalogue.plain_yaml import parse_yaml
from modurob.catalogue.reading import read_text, write_text
from modurob.catalogue.validation import validated
from modurob.catalogue.specification import ModuleSpec, Name
from modurob.errors import FormatError, ModurobError, UnknownNameError, choices

FORMAT = "modurob assembly 1"
_CONNECTION = re.compile(r"^\s*(\S+/\S+)\s+-\s+(\S+/\S+?)(?:\s+@\s+(-?[0-9]+(?:\.[0-9]*)?))?\s*$")


def _require_connection(text: str) -> str:
    if not _CONNECTION.match(text):
        raise ValueError("expected two ports, like m0/3 - m1/4, or m0/3 - m1/4 @ 90 with a roll")
    return text


ConnectionText = Annotated[
    str, AfterValidator(_require_connection), WithJsonSchema({"type": "string", "pattern": _CONNECTION.pattern})
]


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModuleEntry(_Spec):
    """A module: its type, and the parameters that differ from the type's defaults."""

    type: str = Field(description="name of a shipped type, of one under `types`, or the path of a module type file")
    parameters: dict[str, float | str] = {}


class AssemblySpec(_Spec):
    """A robot as modules and connections."""

    format: Literal["modurob assembly 1"]
    name: str = "robot"
    description: str = ""
    types: dict[Name, ModuleSpec] = Field({}, description="module types that are not shipped")
    modules: dict[Name, str | ModuleEntry] = Field(min_length=1, description="type of each module")
    connections: list[ConnectionText] = Field([], description="m0/3 - m1/4, or m0/3 - m1/4 @ 90 with a roll")


def shipped_robots() -> tuple[str, ...]:
    """Names of the robots that come with modurob; `load` takes them."""
    folder = resources.files("modurob.assembly") / "robots"
    return tuple(sorted(f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml")))


def load(path: str | Path) -> Assembly:
    """The assembly in a YAML file, or a shipped one by its name."""
    if str(path) in shipped_robots():
        text = (resources.files("modurob.assembly") / "robots" / f"{path}.yaml").read_text(encoding="utf-8")
        return loads(text, f"{path}.yaml")
    path = Path(path)
    if not path.suffix and not path.exists():
        raise FormatError(
            f"no file {str(path)!r} and no shipped robot of that name: {choices(str(path), shipped_robots())}"
        )
    return loads(read_text(path), path.name, path.parent)


def loads(text: str, where: str = "text", folder: Path = Path()) -> Assembly:
    """The assembly in a YAML text; paths of module types are taken from `folder`."""
    data = parse_yaml(text, where)
    _require_format(data, where)
    spec = validated(AssemblySpec, data, where, FormatError)
    try:
        types = {name: ModuleType(own, f"{where}, type {name!r}") for name, own in spec.types.items()}
        modules = {name: _module(entry, types, folder) for name, entry in spec.modules.items()}
        return Assembly(modules, [_connection(text) for text in spec.connections], spec.name)
    except ModurobError as error:
        raise type(error)(f"{where}: {error}") from None


def save(assembly: Assembly, path: str | Path) -> None:
    """Write an assembly to a YAML file, whole or not at all."""
    write_text(Path(path), dumps(assembly))


def dumps(assembly: Assembly) -> str:
    """An assembly as YAML text; types that are not shipped are written out in it."""
    label = _labels(m.type for m in assembly.modules.values())
    data: dict[str, Any] = {"format": FORMAT, "name": assembly.name}
    types = {label[t.fingerprint]: t for m in assembly.modules.values() if not library.is_shipped(t := m.type)}
    if types:
        data["types"] = {
            n: t.specification.model_dump(mode="json", by_alias=True, exclude_defaults=True) for n, t in types.items()
        }
    data["modules"] = {name: _entry(name, m, label[m.type.fingerprint]) for name, m in assembly.modules.items()}
    data["connections"] = [str(c) for c in assembly.connections]
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120)


def schemas() -> dict[str, dict[str, Any]]:
    """The JSON schemas of robot and module type files, as they stand in docs/schemas."""
    return {"assembly": AssemblySpec.model_json_schema(), "module": ModuleSpec.model_json_schema()}


def _labels(types: Iterable[ModuleType]) -> dict[str, str]:
    """What a file calls each module type, by fingerprint: its name, numbered where another type has that name."""
    labels: dict[str, str] = {}
    for kind in types:
        if kind.fingerprint not in labels:
            taken = {*labels.values(), *(() if library.is_shipped(kind) else library.shipped_names())}
            names = (f"{kind.name}-{i}" if i else kind.name for i in count())
            labels[kind.fingerprint] = next(n for n in names if n not in taken)
    return labels


def _entry(name: str, module: Module, label: str) -> Any:
    if not module.changed:
        return label
    for parameter, value in module.changed.items():
        if not isinstance(value, float | str):
            raise FormatError(f"{name}: parameter {parameter} = {value} cannot be written to a file: expected a number")
    return {"type": label, "parameters": dict(module.changed)}


def _require_format(data: dict, where: str) -> None:
    found = data.get("format")
    if found == FORMAT:
        return
    if isinstance(found, str) and re.fullmatch(r"modurob assembly \d+", found):
        raise FormatError(f"{where}: written as {found!r}, this version reads {FORMAT!r}: update modurob")
    raise FormatError(f"{where}: not a robot: expected the line 'format: {FORMAT}', found format {found!r}")


def _module(entry: str | ModuleEntry, types: dict[str, ModuleType], folder: Path) -> Module:
    entry = ModuleEntry(type=entry) if isinstance(entry, str) else entry
    if entry.type in types:
        return types[entry.type].module(entry.parameters)
    if entry.type.endswith((".yaml", ".yml")):
        return library.module_type(folder / entry.type).module(entry.parameters)
    if entry.type not in library.names() and types:
        raise UnknownNameError(f"no module type {entry.type!r}: {choices(entry.type, [*types, *library.names()])}")
    return library.module_type(entry.type).module(entry.parameters)


def _connection(text: str) -> Connection:
    found = _CONNECTION.match(text)
    assert found, "the pattern was checked on reading"
    return docking(found[1], found[2], found[3] or 0)
