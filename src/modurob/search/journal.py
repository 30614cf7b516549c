"""The results of a search on disk: one line for each design, added when it is evaluated.

The settings are written completely before the first line. A line is written by one call and synced; a kill, or a full
disk, leaves at most a part of the last line, which is removed when the search continues. Everything else follows from
settings and lines.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from modurob.catalogue.reading import write_text
from modurob.errors import SearchError

SETTINGS, LINES = "search.json", "measures.jsonl"


class Journal(Mapping[str, dict[str, Any]]):
    """Measures by key of the design, kept in a folder; in memory alone without one."""

    def __init__(self, folder: Path | None, settings: Mapping[str, Any]):
        self.folder, self.settings = folder, json.loads(json.dumps(settings))
        self._known: dict[str, dict[str, Any]] = {}
        self._file: int | None = None

    def __enter__(self) -> Self:
        if self.folder is not None:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._settle(self.folder / SETTINGS)
                self._open(self.folder / LINES)
            except OSError as error:
                raise SearchError(f"{self.folder}: no folder for a search: {error.strerror}") from None
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __getitem__(self, key: str) -> dict[str, Any]:
        return self._known[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def add(self, key: str, measures: Mapping[str, Any]) -> None:
        """Keep the measures of a design, on disk first; those of one that is known already are left as they are."""
        if key in self._known:
            return
        line = json.dumps({"key": key, "measures": measures}) + "\n"
        if self._file is not None:
            self._write(line.encode())
        self._known[key] = json.loads(line)["measures"]

    def _write(self, line: bytes) -> None:
        assert self._file is not None
        try:
            if os.write(self._file, line) < len(line):
                raise OSError(28, "no space left on device")
            os.fsync(self._file)
        except OSError as error:
            raise SearchError(
                f"{self.folder}: {len(self)} designs are kept, and no more can be written: {error.strerror}; "
                "the search goes on from there when it is started again with the same folder"
            ) from None

    def _settle(self, path: Path) -> None:
        """Write the settings, or compare them with those of the search that is there."""
        if not path.exists():
            write_text(path, json.dumps(self.settings, indent=1) + "\n")
            return
        try:
            there = json.loads(path.read_text())
        except ValueError:
            raise SearchError(f"{path}: no settings of a search: expected those that one wrote") from None
        for name in {**there, **self.settings}:
            if there.get(name) != self.settings.get(name):
                raise SearchError(
                    f"{self.folder} holds another search: {name} {there.get(name)!r:.60}, now {self.settings.get(name)!r:.60}: "
                    "choose another folder, or the same settings to go on"
                )

    def _open(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        _lock(self._file, path)
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            os.ftruncate(self._file, len(whole))
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                found = json.loads(line)
                self._known.setdefault(found["key"], found["measures"])
            except (ValueError, KeyError, TypeError):
                raise SearchError(f"{path}, line {number}: no measures of a design: {line[:60]!r}") from None


def _lock(file: int, path: Path) -> None:
    """Keep another search out of the folder, as long as this process lives."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        raise SearchError(
            f"{path.parent}: another search is running there: wait for it, or choose another folder"
        ) from None
