"""Designs as plain data: what is saved by itself, and what a share text holds."""

from typing import Any

from modurob.assembly import dumps
from modurob.errors import FormatError, ModurobError
from modurob.robot import loads
from modurob.studio.design import AnyDesign, Design
from modurob.studio.imported import Imported


def as_data(design: AnyDesign) -> dict[str, Any]:
    """A design as plain data."""
    if isinstance(design, Design):
        return {"name": design.name, "modules": len(design.assembly), "robot": dumps(design.assembly)}
    stands = {"floating": design.floating, "gravity": list(design.gravity)}
    links = {"modules": len(design.robot.frames) - 1, "made_of": "links"}
    return {"name": design.name, **links, "urdf": design.text, "file": design.file, **stands}


def from_data(data: Any) -> AnyDesign:
    """The design in plain data."""
    try:
        return _design(data)
    except ModurobError:
        raise
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise FormatError(f"not a saved design: {type(error).__name__}: {error}") from None


def _design(data: Any) -> AnyDesign:
    if "urdf" in data:
        return Imported(str(data["urdf"]), str(data["file"]), str(data["name"]), *_stands(data))
    assembly = loads(str(data["robot"]), "the saved robot")
    if "base" not in data:
        return Design(assembly)
    # written before robot files said how the robot stands
    floating, gravity = _stands(data)
    return Design(assembly.with_setup(base=str(data["base"]), floating=floating, gravity=gravity))


def _stands(data: Any) -> tuple[bool, tuple[float, float, float]]:
    x, y, z = (float(g) for g in data["gravity"])
    return bool(data["floating"]), (x, y, z)
