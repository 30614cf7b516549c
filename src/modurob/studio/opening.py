"""Robots from text that came from outside: what kind of text it is, and limits that are checked before it is read."""

import json
import re
from pathlib import Path

from modurob.assembly import load
from modurob.assembly.files import loads
from modurob.catalogue.reading import parse_yaml, read_text
from modurob.errors import FormatError, StudioError
from modurob.studio import archive, share
from modurob.studio.design import AnyDesign, Design
from modurob.studio.imported import Imported

LONGEST_ROBOT = 400_000  # characters of YAML: ten times a robot of a thousand modules
LONGEST_WORD = 400  # characters
EXPECTED = "expected a robot file (format: modurob assembly 1), a URDF file (<robot ...>) or a share text"
_WORD = re.compile(rf"\S{{{LONGEST_WORD + 1}}}")


def opened(text: str, file: str = "") -> AnyDesign:
    """The robot in a text: a share text, a saved design, a URDF file or a robot file."""
    if share.is_shared(text):
        text = share.unpacked(text)
    start = text.lstrip("\ufeff \t\r\n")[:1]
    if start == "<":
        return Imported(text, file)
    if ":" not in text:
        raise FormatError(f"{file or 'the text'} holds no robot: {EXPECTED}")
    if start == "{" and (saved := _saved(text)) is not None:
        return saved
    return modular(text, file or "the text")


def first(file: str | None, shared: str | None) -> AnyDesign | None:
    """The robot that a studio starts with: from a share text, a URDF file, a robot file or a shipped robot; or none."""
    if shared and file:
        raise StudioError(f"both the robot {file!r} and a share text: expected one of them")
    if shared:
        design = opened(share.unpacked(shared))
    elif file and Path(file).suffix.lower() in (".urdf", ".xml"):
        design = Imported(read_text(Path(file)), Path(file).name)
    else:
        return Design.of(load(file)) if file else None
    _ = design.robot  # what cannot be read is refused now
    return design


def modular(text: str, where: str) -> Design:
    """The robot in a YAML text, which may not reach for other files."""
    require_readable(text, where)
    if ".y" in text or "\\" in text:
        _require_no_paths(parse_yaml(text, where), where)
    return Design.of(loads(text, where))


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
        _require_no_paths(parse_yaml(str(data["robot"]), "the share text"), "the share text")
    return archive.from_data(data)


def _require_no_paths(data: dict, where: str) -> None:
    """Refuse module types that are named by the path of a file."""
    modules = data.get("modules")
    for name, entry in modules.items() if isinstance(modules, dict) else ():
        kind = entry.get("type") if isinstance(entry, dict) else entry
        if isinstance(kind, str) and kind.endswith((".yaml", ".yml")):
            raise FormatError(
                f"{where}: module {name!r} is of a type in another file, {kind!r:.80}: the page opens no other files; "
                f"write the type out under 'types', or start the studio with this robot: modurob studio FILE"
            )
