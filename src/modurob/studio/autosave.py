"""Designs on disk, written after every edit, so that a closed tab or a stopped server loses nothing."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from platformdirs import user_data_path

from modurob.catalogue.reading import read_text, write_text
from modurob.errors import FormatError, ModurobError, StudioError
from modurob.studio.archive import as_data, from_data
from modurob.studio.design import AnyDesign

KEPT = 40  # files
SHOWN = 8
LONGEST_NAME = 80
_NAME = re.compile(r"^[0-9a-f]{32}$")
# what a file that was cut off or written by something else may raise
DAMAGE = (ModurobError, ValueError, KeyError, TypeError, OverflowError, RecursionError, OSError)


class Recent(NamedTuple):
    """The newest designs: session, name, modules (or links), when they were saved [s since 1970]; and files that cannot be read."""

    robots: list[dict[str, Any]]
    problems: list[str]


class Autosave:
    """A folder with one file for each session."""

    def __init__(self, folder: Path | None = None):
        self.folder = folder or user_data_path("modurob") / "studio"

    def save(self, session: str, design: AnyDesign) -> str:
        """Write a design, and forget old ones beyond the number kept. Why it could not be written, or nothing."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_text(self._path(session), json.dumps(as_data(design), allow_nan=False))
            for old in self._files()[KEPT:]:
                old.unlink(missing_ok=True)
        except (ModurobError, OSError, ValueError) as error:
            return f"this robot is not saved by itself: {error}"
        return ""

    def has(self, session: str) -> bool:
        """Whether a session left a design."""
        return bool(_NAME.match(session)) and self._path(session).is_file()

    def load(self, session: str) -> AnyDesign:
        """The design that a session left."""
        if not self.has(session):
            raise StudioError(f"no saved robot {session!r:.40}: expected one of those that Open lists")
        path = self._path(session)
        try:
            design = from_data(json.loads(read_text(path)))
            _ = design.robot
        except DAMAGE as error:
            raise FormatError(f"the saved robot in {path} cannot be read: {error}") from None
        return design

    def recent(self) -> Recent:
        """What is in the folder; files that are damaged are passed over and named."""
        robots: list[dict[str, Any]] = []
        problems: list[str] = []
        for path in self._files():
            try:
                robots.append(_entry(path))
            except DAMAGE as error:
                problems.append(f"the saved robot in {path} cannot be read: {type(error).__name__}: {error}")
        return Recent([entry for entry in robots if entry["modules"] > 1][:SHOWN], problems)

    def _path(self, session: str) -> Path:
        return self.folder / f"{session}.json"

    def _files(self) -> list[Path]:
        """Newest first."""
        if not self.folder.is_dir():
            return []
        return sorted(self.folder.glob("*.json"), key=_written, reverse=True)


def _entry(path: Path) -> dict[str, Any]:
    data = json.loads(read_text(path))
    name, modules = str(data["name"])[:LONGEST_NAME], int(data["modules"])
    made_of = "links" if data.get("made_of") == "links" else "modules"
    return {"session": path.stem, "name": name, "modules": modules, "made_of": made_of, "saved": _written(path)}


def _written(path: Path) -> float:
    """When a file was written [s since 1970]; a link to nothing, never."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
