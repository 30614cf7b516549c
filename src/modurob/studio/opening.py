"""Robots from text that came from outside: what kind of text it is, and limits that are checked before it is read."""

import json
import re
from pathlib import Path

from modurob.assembly import shipped_robots
from modurob.catalogue.reading import read_text
from modurob.errors import FormatError, StudioError
from modurob.motion.gaits.found import ORGANISMS, walking_robot
from modurob.robot import Assembly, load, loads
from modurob.studio import archive, share
from modurob.studio.design import AnyDesign, Design
from modurob.studio.imported import Imported

LONGEST_ROBOT = 400_000  # characters of YAML: ten times a robot of a thousand modules
LONGEST_WORD = 400  # characters
EXPECTED = "expected a robot file (format: modurob robot 2), URDF (<robot ...>), MJCF (<mujoco ...>) or a share text"
_WORD = re.compile(rf"\S{{{LONGEST_WORD + 1}}}")


def opened(text: str, file: str = "") -> AnyDesign:
    """The robot in a text: a share text, a saved design, a URDF file, one of MuJoCo or a robot file."""
    if share.is_shared(text):
        text = share.unpacked(text)
    start = text.lstrip("\ufeff \t\r\n")[:1]
    if start == "<":
        return Imported(text, file).as_it_stands()
    if ":" not in text:
        raise FormatError(f"{file or 'the text'} holds no robot: {EXPECTED}")
    if start == "{" and (saved := _saved(text)) is not None:
        return saved
    return modular(text, file or "the text")


def examples() -> tuple[str, ...]:
    """Names of the robots of the start screen: those that are shipped, and the organisms that walk."""
    return tuple(dict.fromkeys((*shipped_robots(), *ORGANISMS)))


def example(name: str) -> Assembly:
    """A robot of the start screen."""
    return Assembly.load(name) if name in shipped_robots() else walking_robot(name)


def first(file: str | None, shared: str | None) -> AnyDesign | None:
    """The robot that a studio starts with, or none: from a share text, a file of any kind, or a shipped robot."""
    if shared and file:
        raise StudioError(f"both the robot {file!r} and a share text: expected one of them")
    if shared:
        design = opened(share.unpacked(shared))
    elif file and Path(file).suffix.lower() in (".urdf", ".xml", ".mjcf"):
        design = Imported(read_text(Path(file)), Path(file).name, path=Path(file).resolve()).as_it_stands()
    else:
        return Design(load(file)) if file else None
    _ = design.robot  # what cannot be read is refused now
    return design


def modular(text: str, where: str) -> Design:
    """The robot in a YAML text, which may name no other files."""
    require_readable(text, where)
    return Design(loads(text, where))


def require_readable(text: str, where: str) -> None:
    """Refuse what would take long to read."""
    if len(text) > LONGEST_ROBOT:
        raise FormatError(f"{where}: {len(text)} characters: the studio reads robots of at most {LONGEST_ROBOT}")
    if word := _WORD.search(text):
        line = text.count("\n", 0, word.start()) + 1
        raise FormatError(f"{where}: line {line} holds a word of more than {LONGEST_WORD} characters: not a robot")


def _saved(text: str) -> AnyDesign | None:
    """The saved design in a text of JSON, or None if it is something else."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or not {"robot", "urdf"} & data.keys():
        return None
    if "robot" in data:
        require_readable(str(data["robot"]), "the share text")
    return archive.from_data(data)
