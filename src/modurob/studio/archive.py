"""Designs as plain data: what is saved by itself, and what a share text holds."""

from typing import Any

from modurob.assembly.files import dumps, loads
from modurob.errors import FormatError, ModurobError
from modurob.studio.design import AnyDesign, Design
from modurob.studio.imported import Imported


def as_data(design: AnyDesign) -> dict[str, Any]:
    """A design as plain data."""
    common = {"name": design.name, "floating": design.floating, "gravity": list(design.gravity)}
    if isinstance(design, Imported):
        own = {"modules": len(design.robot.frames) - 1, "made_of": "links", "urdf": design.text, "file": design.file}
    else:
        own = {"modules": len(design.assembly), "robot": dumps(design.assembly), "base": design.base}
    return {**common, **own}


def from_data(data: Any) -> AnyDesign:
    """The design in plain data."""
    try:
        return _design(data)
    except ModurobError:
        raise
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise FormatError(f"not a saved design: {type(error).__name__}: {error}") from None


def _design(data: Any) -> AnyDesign:
    x, y, z = (float(g) for g in data["gravity"])
    floating = bool(data["floating"])
    if "urdf" in data:
        return Imported(str(data["urdf"]), str(data["file"]), str(data["name"]), floating, (x, y, z))
    return Design(loads(str(data["robot"]), "the saved robot"), str(data["base"]), floating, (x, y, z))
