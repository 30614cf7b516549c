"""Where a page goes: into a file, into the notebook that asks, or into the browser of this machine."""

import os
import sys
import tempfile
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from modurob.catalogue.reading import write_bytes
from modurob.errors import FormatError, warn_user
from modurob.viewer import film, glb, page
from modurob.viewer.scene import Chapter

ENDINGS = (".html", ".png", ".glb")


def show(chapters: Sequence[Chapter], path: str | Path | None = None) -> Path | None:
    """Write the page or a picture to `path`; without one show the page in the notebook or the browser. Returns the file."""
    if path is not None:
        return _written(chapters, Path(path))
    if display := notebook():
        display.display(display.HTML(page.frame(chapters)))
        return None
    handle, name = tempfile.mkstemp(prefix=f"modurob-{_plain(chapters[-1].robot.name)}-", suffix=".html")
    os.close(handle)
    found = _written(chapters, Path(name))
    if not webbrowser.open(found.as_uri()):
        warn_user(f"no browser opens here: the page is in {found}")
    return found


def _written(chapters: Sequence[Chapter], path: Path) -> Path:
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        found = f"files {ending}" if ending else "files without an ending"
        raise FormatError(
            f"{path}: {found} cannot be shown: valid: {', '.join(ENDINGS)}; films are written by run.animate"
        )
    if ending == ".png":
        film.picture(chapters, path)
    else:
        write_bytes(path, page.html(chapters).encode("utf-8") if ending == ".html" else _glb(chapters, path))
    return path


def _glb(chapters: Sequence[Chapter], path: Path) -> bytes:
    if len(chapters) > 1:
        raise FormatError(
            f"{path}: the robot changed its shape: GLB holds one; write its segments one by one, or .html"
        )
    return glb.glb(chapters[0])


def _plain(name: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in name)[:40]


def notebook() -> Any:
    """What displays in the notebook that runs this; None elsewhere."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return ipython.display if shell is not None and hasattr(shell, "kernel") else None
