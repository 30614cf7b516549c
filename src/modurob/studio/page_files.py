"""The files of the page, compressed once and kept; their address changes with them, so that browsers may keep them too."""

import gzip
import hashlib
import mimetypes
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from modurob import viewer

FOLDER = (Path(__file__).parent / "static").resolve()
FOLDERS = (FOLDER, viewer.STATIC)  # files of both are at one address
PLAIN = (".woff2", ".png")  # compressed already


KEEP = {"Cache-Control": "max-age=31536000, immutable"}


@cache
def version() -> str:
    """A word that is another one when a file of the page was another one as the studio started."""
    files = [path for folder in FOLDERS for path in sorted(folder.rglob("*")) if path.is_file()]
    stamps = [f"{path} {path.stat().st_mtime_ns} {path.stat().st_size}" for path in files]
    return hashlib.sha256("\n".join(stamps).encode()).hexdigest()[:16]


@cache
def index() -> str:
    """The page itself, with its files at the address of this version."""
    return (FOLDER / "index.html").read_text(encoding="utf-8").replace("./static/", f"./static/{version()}/")


class Packed(NamedTuple):
    """A file as it is sent."""

    data: bytes
    headers: dict[str, str]


@lru_cache(maxsize=256)
def packed(path: Path, changed: int) -> Packed:
    """A file, compressed unless it is already; `changed` is when it was last written."""
    data = path.read_bytes()
    kind = "text/javascript" if path.suffix in (".js", ".mjs") else mimetypes.guess_type(path.name)[0]
    headers = {"Content-Type": kind or "text/plain", "ETag": f'"{hashlib.sha256(data).hexdigest()[:32]}"'}
    if path.suffix in PLAIN:
        return Packed(data, headers)
    return Packed(gzip.compress(data, 6), {**headers, "Content-Encoding": "gzip"})


def answer(request: Request) -> Response:
    """The file at a path below the folders; nothing if the browser has it already.

    Below the present version it is kept by the browser, which need not ask again.
    """
    name = request.path_params["path"]
    own = name.removeprefix(f"{version()}/")
    kept, path = KEEP if own != name else {}, _found(own)
    if path is None:
        return PlainTextResponse("no such file", 404)
    data, headers = packed(path, path.stat().st_mtime_ns)
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers={"ETag": headers["ETag"], **kept})
    return Response(data, headers={**headers, **kept})


def _found(name: str) -> Path | None:
    """The file of that name below one of the folders; none for names that no file can have."""
    return next((path for path in (_below(folder, name) for folder in FOLDERS) if path), None)


def _below(folder: Path, name: str) -> Path | None:
    try:
        path = (folder / name).resolve()
        return path if path.is_relative_to(folder) and path.is_file() else None
    except (OSError, ValueError):
        return None
