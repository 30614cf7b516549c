"""A page with everything in it: robot, motion, three.js and the studio's drawing code. It needs no server and no network."""

import base64
import gzip
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from typing import Any

from modurob.viewer import STATIC
from modurob.viewer.scene import Chapter

FPS = 30.0  # samples that are kept of a run, a second
LARGEST = 3_000_000  # numbers in the poses of a page
HEIGHT = 420  # of a view in a notebook [pixels]
_IMPORT = re.compile(r"""(from\s*|import\s*)(['"])\./([\w./]+)\2""")
# comments that begin a line, but for licences; then what is left empty, and indents
_COMMENT = re.compile(r"^[ \t]*/\*\*(?!\s*\n?[\s*]*@license)[\s\S]*?\*/[ \t]*\n", re.MULTILINE)
_BLANK = re.compile(r"^[ \t]*(//.*)?\n|^[ \t]+", re.MULTILINE)


def html(chapters: Sequence[Chapter], fps: float = FPS, **options: Any) -> str:
    """The page as a text; `options` are those of `start` in viewer.js."""
    data = {"chapters": [chapter.data(_affordable(chapters, fps)) for chapter in chapters], **options}
    text = (STATIC / "page.html").read_text(encoding="utf-8")
    words = {"__TITLE__": escape(chapters[-1].robot.name), "__DATA__": packed(data), "__CODE__": _code()}
    return re.sub("|".join(words), lambda found: words[found[0]], text)


def _affordable(chapters: Sequence[Chapter], fps: float) -> float:
    """Fewer samples a second of runs that are long, or of many bodies."""
    numbers = sum(12 * len(c.robot.bodies) * (c.t[-1] - c.t[0]) for c in chapters)
    return min(fps, LARGEST / max(numbers, 1e-9))


def frame(chapters: Sequence[Chapter], height: int = HEIGHT) -> str:
    """The page within another one, as notebooks show it."""
    return window(chapters[-1].robot.name, f'srcdoc="{escape(html(chapters), quote=True)}"', height)


def window(name: str, source: str, height: int = HEIGHT) -> str:
    """A page within another one; `source` is its address or its text, as an attribute."""
    style = f"width:100%;height:{height}px;border:0;border-radius:8px"
    return f'<iframe title="{escape(f"{name} in 3D", quote=True)}" style="{style}" {source}></iframe>'


def packed(data: Any) -> str:
    return base64.b64encode(gzip.compress(json.dumps(data).encode(), 9, mtime=0)).decode()


@lru_cache(maxsize=1)
def _code() -> str:
    return packed(scripts())


@lru_cache(maxsize=1)
def scripts() -> dict[str, str]:
    """All scripts by the names that they import each other by."""
    three = {f"three/{path.name}": _slim(path.read_text(encoding="utf-8"), "three") for path in _files("vendor/three")}
    three["three"] = three.pop("three/three.module.js")
    own = {f"modurob/{path.name}": _slim(path.read_text(encoding="utf-8"), "modurob") for path in _files("js")}
    return {**three, **own}


def _files(folder: str) -> list[Any]:
    return sorted((STATIC / folder).glob("*.js"))


def _slim(text: str, package: str) -> str:
    """A script without its comments, importing by names instead of paths: a page has no folders."""
    named = _IMPORT.sub(lambda m: f"{m[1]}{m[2]}{package}/{m[3]}{m[2]}", text)
    return _BLANK.sub("", _COMMENT.sub("", named))
