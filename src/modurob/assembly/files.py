"""Robot files: an assembly and its setup, as YAML.

Written as `format: modurob robot 2`. Files of version 1, `format: modurob assembly 1`, contain modules and connections
only and are read too.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import resources
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from modurob.assembly.cables import Cable
from modurob.assembly.connection import Connection
from modurob.assembly.graph import Graph
from modurob.assembly.setup import Setup
from modurob.assembly.specification import FIRST, FORMAT, LineSpec, ModuleEntry, RobotSpec
from modurob.catalogue import Module, ModuleType, library
from modurob.catalogue.plain_yaml import dump_yaml, parse_yaml
from modurob.catalogue.reading import as_path, read_text, write_text
from modurob.catalogue.specification import ModuleSpec
from modurob.catalogue.validation import validated
from modurob.errors import FormatError, InputError, ModurobError, UnknownNameError, choices

T = TypeVar("T")


def shipped_robots() -> tuple[str, ...]:
    """Names of the robots of the package; `load` accepts them.

    >>> shipped_robots()
    ('cable_planar', 'crab', 'crane', 'double_pendulum', 'lwa4p', 'lwa4p_angled', 'robocrane', 'tensegrity_arm',
    'tensegrity_prism', 'tensegrity_tower', 'tree9')
    """
    folder = resources.files("modurob.assembly") / "robots"
    return tuple(sorted(f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml")))


# ---- reading ----


def load(make: Callable[..., T], path: str | Path) -> T:
    """What `make` makes of the contents of a robot file, or of a shipped robot by its name."""
    return made(make, *read(path))


def loads(make: Callable[..., T], text: str, where: str = "text", folder: Path | None = None) -> T:
    """What `make` makes of the contents of a text: called with modules, connections, name, description and setup."""
    return made(make, parse_yaml(text, where), where, folder)


def read(path: str | Path) -> tuple[dict, str, Path | None]:
    """The YAML of a file, or of a shipped robot by its name; what errors call it; and the folder it may name files below."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"{path!r:.80} is no file: expected a path, or the name of a shipped robot")
    if str(path) in shipped_robots():
        text = (resources.files("modurob.assembly") / "robots" / f"{path}.yaml").read_text(encoding="utf-8")
        return parse_yaml(text, f"{path}.yaml"), f"{path}.yaml", None
    path = Path(path)
    if not path.suffix and not os.path.exists(path):
        raise FormatError(
            f"no file {str(path)!r:.200} and no shipped robot of that name: {choices(str(path)[:80], shipped_robots())}; "
            "organisms that walk are made by mr.walking_robot"
        )
    return parse_yaml(read_text(path), path.name), path.name, path.parent


def made(make: Callable[..., T], data: dict, where: str, folder: Path | None) -> T:
    """What `make` makes of parsed YAML."""
    _require_format(data, where)
    spec = validated(RobotSpec, data, where, FormatError)
    try:
        types = {name: ModuleType(own, f"type {name!r}") for name, own in spec.types.items()}
        kind_of = cache(lambda name: _kind(name, types, folder))
        modules = {name: _module(entry, kind_of) for name, entry in spec.modules.items()}
        connections = [Connection.parse(text) for text in spec.connections]
        return make(modules, connections, spec.name, spec.description, _setup(spec))
    except ModurobError as error:
        raise type(error)(f"{where}: {error}") from None


def _require_format(data: dict, where: str) -> None:
    found = data.get("format")
    if found in (FORMAT, FIRST):
        return
    version = re.fullmatch(r"modurob (?:robot|assembly) ([0-9]{1,9})", found) if isinstance(found, str) else None
    if version and int(version[1]) > int(FORMAT.rsplit(" ", 1)[1]):
        raise FormatError(f"{where}: written as {found!r}, this version reads {FORMAT!r} and {FIRST!r}: update modurob")
    raise FormatError(f"{where}: not a robot: expected the line 'format: {FORMAT}', found format {found!r:.80}")


def _setup(spec: RobotSpec) -> Setup:
    initial = spec.initial
    return Setup(
        spec.base,
        spec.floating,
        spec.gravity,
        {j: tuple(np.atleast_1d(q)) for j, q in initial.coordinates.items()},
        {j: tuple(np.atleast_1d(v)) for j, v in initial.rates.items()},
        initial.pose.position,
        initial.pose.quaternion,
        initial.twist,
        {name: _line(line) for name, line in spec.lines.items()},
    )


def _line(line: LineSpec) -> Cable:
    route = [x if isinstance(x, str) else x.model_dump(exclude_none=True) for x in line.route]
    return Cable.from_data(route, line.law)


def _module(entry: str | ModuleEntry, kind_of: Callable[[str], ModuleType]) -> Module:
    return kind_of(entry).module() if isinstance(entry, str) else kind_of(entry.type).module(entry.parameters)


def _kind(name: str, types: Mapping[str, ModuleType], folder: Path | None) -> ModuleType:
    """The type that a robot file means by a name or path."""
    if name in types:
        return types[name]
    if name.endswith((".yaml", ".yml")):
        return _type_below(folder, name)
    if types and name not in library.names():
        raise UnknownNameError(f"no module type {name!r:.80}: {choices(name[:80], [*types, *library.names()])}")
    return library.named(name)


def _type_below(folder: Path | None, path: str) -> ModuleType:
    """The module type of a file that a robot file names: only below the folder that the robot file is in."""
    if folder is None:
        raise FormatError(f"type {path!r:.80} is a file, and this text may name none: write the type out under `types`")
    # links are followed first: a link below the folder may point outside of it
    found = Path(os.path.realpath(folder / path.replace("\0", "")))
    if Path(path).is_absolute() or not found.is_relative_to(os.path.realpath(folder)):
        raise FormatError(f"type {path!r:.80} is outside the folder of the robot file: expected a path below it")
    if not os.path.isfile(found):
        raise FormatError(f"type {path!r:.80}: no such file below the folder of the robot file")
    return library.from_file(found)


# ---- writing ----


def save(assembly: Graph, path: str | Path) -> None:
    """Write an assembly to a robot file, whole or not at all; see `modurob.catalogue.reading.write_bytes`.

    >>> import tempfile
    >>> from modurob.assembly import Assembly
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Assembly.single("m0", "scout"), f"{folder}/robot.yaml")
    ...     Assembly.load(f"{folder}/robot.yaml")
    Assembly('robot', 1 scout, 0 connections)
    """
    text = dumps(assembly)
    write_text(as_path(path), text)


def dumps(assembly: Graph) -> str:
    """An assembly as the text of a robot file; types that are not shipped are written out in it.

    >>> from modurob.assembly import Assembly
    >>> print(dumps(Assembly.from_grid("B S", name="pair")))
    format: modurob robot 2
    name: pair
    modules:
      m0: backbone
      m1: scout
    connections:
    - m0/2 - m1/5
    base: m0
    floating: false
    gravity:
    - 0.0
    - 0.0
    - -9.81
    <BLANKLINE>
    """
    if not isinstance(assembly, Graph):
        raise InputError(f"{assembly!r:.80}: expected an assembly; only assemblies are written as robot files")
    label = _labels(m.type for m in assembly.modules.values())
    data: dict[str, Any] = {"format": FORMAT, "name": assembly.name}
    if assembly.description:
        data["description"] = assembly.description
    types = {label[t]: t for m in assembly.modules.values() if not library.is_shipped(t := m.type)}
    if types:
        data["types"] = {n: library.to_data(t) for n, t in types.items()}
    data["modules"] = {name: _entry(name, m, label[m.type]) for name, m in assembly.modules.items()}
    data["connections"] = [str(c) for c in assembly.connections]
    return dump_yaml({**data, "base": assembly.base, **_standing(assembly.setup)})


def _standing(setup: Setup) -> dict[str, Any]:
    """What a file says of a setup beside the base; defaults of the initial state are left out."""
    initial = {
        "coordinates": {j: _one_or_list(q) for j, q in setup.coordinates.items()},
        "rates": {j: _one_or_list(v) for j, v in setup.rates.items()},
        "pose": {"position": list(setup.position), "quaternion": list(setup.quaternion)},
        "twist": list(setup.twist),
    }
    said = {k: x for k, x in initial.items() if x and (setup.floating or k in ("coordinates", "rates"))}
    lines = {name: line.to_data() for name, line in setup.lines.items()}
    return {
        "floating": setup.floating,
        "gravity": list(setup.gravity),
        **({"initial": said} if said else {}),
        **({"lines": lines} if lines else {}),
    }


def _one_or_list(numbers: tuple[float, ...]) -> float | list[float]:
    return numbers[0] if len(numbers) == 1 else list(numbers)


def _labels(types: Iterable[ModuleType]) -> dict[ModuleType, str]:
    """What a file calls each module type: its name, numbered where another type has that name."""
    labels: dict[ModuleType, str] = {}
    taken: set[str] = set()
    for kind in types:
        if kind not in labels:
            reserved = () if library.is_shipped(kind) else library.shipped_names()
            names = (f"{kind.name[:56]}-{i}" if i else kind.name for i in count())
            labels[kind] = next(n for n in names if n not in taken and n not in reserved)
            taken.add(labels[kind])
    return labels


def _entry(name: str, module: Module, label: str) -> Any:
    if not module.changed:
        return label
    for parameter, value in module.changed.items():
        if not isinstance(value, float | str):
            raise FormatError(f"{name}: parameter {parameter} = {value} cannot be written to a file: expected a number")
    return {"type": label, "parameters": dict(module.changed)}


def schemas() -> dict[str, dict[str, Any]]:
    """The JSON schemas of robot and module type files, as in docs/schemas."""
    return {"robot": RobotSpec.model_json_schema(), "module": ModuleSpec.model_json_schema()}
