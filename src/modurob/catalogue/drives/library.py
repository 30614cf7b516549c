"""Drives from files: those shipped, and mappings in module files."""

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from modurob.catalogue.drives.drive import Drive, Loops, Losses
from modurob.catalogue.drives.encoder import Encoder
from modurob.catalogue.drives.gear import Gear
from modurob.catalogue.drives.motor import Motor
from modurob.catalogue.plain_yaml import parse_yaml
from modurob.catalogue.reading import read_text
from modurob.errors import CatalogueError, UnknownNameError, choices, explained

FORMAT = "modurob drive 1"
PARTS: dict[str, type] = {"motor": Motor, "gear": Gear, "losses": Losses, "encoder": Encoder, "loops": Loops}


@cache
def drive_names() -> tuple[str, ...]:
    """Names of the drives of the package.

    >>> "powerball-large" in mr.drive_names()
    True
    """
    folder = resources.files("modurob.catalogue.drives") / "data"
    return tuple(sorted(f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml")))


@explained
def load_drive(name: str | Path) -> Drive:
    """A drive by name, or from the path of its YAML file.

    >>> mr.load_drive("maxon-re40").motor.inductance
    8.23e-05
    """
    if isinstance(name, Path) or str(name).endswith((".yaml", ".yml")):
        return _read(read_text(Path(name)), str(name))
    return named_drive(str(name))


@cache
def named_drive(name: str) -> Drive:
    """A drive by name alone: no file is read but those shipped."""
    if name not in drive_names():
        raise UnknownNameError(f"no drive {name!r:.80}: {choices(name[:80], drive_names())}")
    text = (resources.files("modurob.catalogue.drives") / "data" / f"{name}.yaml").read_text(encoding="utf-8")
    return _read(text, f"{name}.yaml")


def _read(text: str, where: str) -> Drive:
    data = parse_yaml(text, where)
    if data.pop("format", None) != FORMAT:
        raise CatalogueError(f"{where}: expected format: {FORMAT}")
    data.pop("description", None)
    return drive_of(data, where)


def drive_of(data: Any, where: str = "drive") -> Drive:
    """A drive from plain data: a name, or a mapping of its parts; `like` names a drive whose other parts it has.

    >>> from modurob.catalogue.drives.library import drive_of
    >>> drive_of({"motor": {"torque_constant": 0.02}, "gear": {"ratio": 100}}).torque_constant
    2.0
    """
    if isinstance(data, Drive):
        return data
    if isinstance(data, str):
        return named_drive(data)
    if not isinstance(data, Mapping):
        raise CatalogueError(f"{where}: {data!r:.60}: expected the name of a drive, or a mapping of its parts")
    rest = dict(data)
    like = rest.pop("like", None)
    base: dict[str, Any] = {} if like is None else _parts(named_drive(str(like)))
    _require_known(where, rest, [f.name for f in fields(Drive)])
    made = {name: _made(f"{where}: {name}", PARTS[name], x) if name in PARTS else x for name, x in rest.items()}
    if "motor" not in {**base, **made}:
        raise CatalogueError(f"{where}: expected a motor, or `like` with the name of a drive")
    return Drive(**{**base, **made})


def _parts(drive: Drive) -> dict[str, Any]:
    return {f.name: getattr(drive, f.name) for f in fields(Drive)}


def _made(where: str, kind: type, data: Any) -> Any:
    """A part of a drive from its mapping."""
    if not isinstance(data, Mapping):
        raise CatalogueError(f"{where}: {data!r:.60}: expected a mapping")
    names = [f.name for f in fields(kind)]
    _require_known(where, data, names)
    try:
        return kind(**data)
    except TypeError as error:
        raise CatalogueError(f"{where}: {error}") from None


def _require_known(where: str, data: Mapping[str, Any], names: list[str]) -> None:
    for key in data:
        if key not in names:
            raise CatalogueError(f"{where}: unknown key {key!r:.60}; {choices(str(key), names)}")
