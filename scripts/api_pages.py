"""The API reference of the site: one page for each room, with every public name in it."""

import inspect
import re
from pathlib import Path
from typing import Any

import modurob as mr

# whose members are no part of what is told of a class
FOREIGN = "object, tuple, dict, Exception, BaseException, ValueError, Mapping, Sequence, Generic, ABC"


def pages() -> dict[str, str]:
    """MyST texts by name of the page."""
    rooms: dict[str, list[str]] = {}
    for home, names in mr.HOMES.items():
        rooms.setdefault(".".join(home.split(".")[:2]), []).extend(names.split())
    texts = {room.split(".")[1]: _page(room, sorted(names, key=str.lower)) for room, names in sorted(rooms.items())}
    listed = "\n".join(texts)
    head = "# API reference\n\nEvery public name, as `mr.name`. The examples continue from these lines:\n"
    package = "```{eval-rst}\n.. automodule:: modurob\n   :no-members:\n```\n"
    return {"index": f"{head}\n{package}\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n", **texts}


def write(folder: Path) -> None:
    """All pages, into a folder that holds nothing else."""
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    for name, text in pages().items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def _page(room: str, names: list[str]) -> str:
    title, about = room.split(".")[1], (inspect.getdoc(_room(room)) or "").split("\n\n")[0]
    entries = "\n".join(_entry(name) for name in names)
    return f"# {title}\n\n{about}\n\n```{{eval-rst}}\n{entries}\n```\n"


def _room(room: str) -> Any:
    return getattr(mr, room.split(".")[1])


def _entry(name: str) -> str:
    thing = getattr(mr, name)
    if isinstance(thing, type) and issubclass(thing, BaseException):
        return f".. autoexception:: modurob.{name}\n"
    if isinstance(thing, type):
        return f".. autoclass:: modurob.{name}\n   :members:\n   :inherited-members: {FOREIGN}\n"
    return f".. auto{'function' if inspect.isroutine(thing) else 'data'}:: modurob.{name}\n"


# ---- docstrings ----


def as_rst(lines: list[str]) -> list[str]:
    """A docstring of ours as reStructuredText: prose, examples, and drawings, which are those with indents."""
    blocks = re.split(r"\n[ \t]*\n", "\n".join(lines).strip("\n"))
    return [*"\n\n".join(map(_block, blocks)).split("\n"), ""]


def _block(text: str) -> str:
    if text.lstrip().startswith(">>>"):
        return text
    first, *rest = text.split("\n")
    if any(line[:1].isspace() or line[:1] in "├└│" for line in rest):
        return "::\n\n" + "\n".join(f"   {line}" for line in (first, *rest))
    return "\n".join(map(_prose, (first, *rest)))


def _prose(line: str) -> str:
    """Code letters as code; what would be markup otherwise is itself."""
    pieces = re.split(r"(`[^`]+`)", line)
    return "".join(f"`{x}`" if re.fullmatch("`.+`", x) else re.sub(r"([*|\\`_])", r"\\\1", x) for x in pieces)
