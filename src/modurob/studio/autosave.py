"""Designs on disk, written after every edit, so that a closed tab or a stopped server loses nothing."""

import json
import re
from pathlib import Path
from typing import Any

from platformdirs import user_data_path

from modurob.assembly.files import dumps
from modurob.catalogue.reading import read_text, write_text
from modurob.errors import FormatError, ModurobError, StudioError, choices
from modurob.robot import loads
from modurob.studio.design import Design

KEPT = 40  # files
SHOWN = 8
_NAME = re.compile(r"^[0-9a-f]{32}$")


class Autosave:
    """A folder with one file for each session."""

    def __init__(self, folder: Path | None = None):
        self.folder = folder or user_data_path("modurob") / "studio"

    def save(self, session: str, design: Design) -> None:
        """Write a design; older ones beyond the number kept are forgotten. A disk that is full or not there is not an error."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_text(self._path(session), json.dumps(as_data(design)))
            for old in self._files()[KEPT:]:
                old.unlink(missing_ok=True)
        except (FormatError, OSError):
            return

    def load(self, session: str) -> Design:
        """The design that a session left."""
        if not _NAME.match(session) or not self._path(session).is_file():
            raise StudioError(f"no saved robot {session!r:.40}: {choices(session, (p.stem for p in self._files()))}")
        try:
            return from_data(json.loads(read_text(self._path(session))))
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(f"the saved robot {session} cannot be read: {error}") from None

    def recent(self) -> list[dict[str, Any]]:
        """The newest designs: name, modules, and when they were saved [s since 1970]."""
        found = []
        for path in self._files():
            try:
                data = json.loads(read_text(path))
                entry = {"session": path.stem, "name": str(data["name"]), "modules": int(data["modules"])}
            except (ModurobError, ValueError, KeyError, TypeError):
                continue
            found.append({**entry, "saved": path.stat().st_mtime})
        return [entry for entry in found if entry["modules"] > 1][:SHOWN]

    def _path(self, session: str) -> Path:
        return self.folder / f"{session}.json"

    def _files(self) -> list[Path]:
        """Newest first."""
        if not self.folder.is_dir():
            return []
        return sorted(self.folder.glob("*.json"), key=lambda p: p.stat().st_mtime, reverse=True)


def as_data(design: Design) -> dict[str, Any]:
    """A design as plain data."""
    return {
        "name": design.assembly.name,
        "modules": len(design.assembly),
        "robot": dumps(design.assembly),
        "base": design.base,
        "floating": design.floating,
        "gravity": list(design.gravity),
    }


def from_data(data: dict[str, Any]) -> Design:
    """The design in plain data."""
    x, y, z = (float(g) for g in data["gravity"])
    return Design(loads(data["robot"]), str(data["base"]), bool(data["floating"]), (x, y, z))
