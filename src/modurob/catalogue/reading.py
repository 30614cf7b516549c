"""Files: read up to a limit, written whole or not at all."""

import io
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from modurob.catalogue.plain_yaml import LARGEST_TEXT
from modurob.errors import FormatError, choices, no_file


def as_path(path: object) -> Path:
    """A path from what a user gives for one."""
    if not isinstance(path, str | os.PathLike):
        raise FormatError(f"{path!r:.60} is no file: expected a path")
    return Path(path)


PICTURES = (".png", ".pdf", ".svg")


def require_picture(path: str | Path) -> None:
    """An error, before anything is drawn, unless a picture can be written there."""
    path = as_path(path)
    if path.suffix.lower() not in PICTURES:
        found = f"files {path.suffix}" if path.suffix else "files without an ending"
        raise FormatError(f"{path}: {found} cannot be written: valid: {', '.join(PICTURES)}")
    if not path.parent.is_dir():
        raise FormatError(f"{path}: there is no folder {path.parent}: make it first, or choose another")


def read_text(path: Path) -> str:
    """The text of a file of reasonable size; an error names the files beside it."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            # devices and pipes have no size: no more is read than would be allowed
            content = b"" if size > LARGEST_TEXT else file.read(LARGEST_TEXT + 1)
    except FileNotFoundError:
        raise FormatError(no_file(path)) from None
    except IsADirectoryError:
        raise FormatError(f"{path}: cannot be read as text: it is a folder: expected a file") from None
    except (OSError, ValueError) as error:
        raise FormatError(f"{path}: cannot be read as text: {error}") from None
    if max(size, len(content)) > LARGEST_TEXT:
        found = f"{max(size, len(content)) / 1e6:.0f} MB is too large"
        raise FormatError(f"{path}: {found}: expected at most {LARGEST_TEXT / 1e6:.0f} MB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"byte 0x{content[error.start]:02x} at place {error.start} is no UTF-8"
        raise FormatError(f"{path}: cannot be read as text: {found}: expected a text file") from None


def write_text(path: Path, text: str) -> None:
    """Write a text file completely or not at all; see `write_bytes`."""
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise FormatError(f"{path}: cannot be written as UTF-8: {error}") from None
    write_bytes(path, content)


def write_figure(path: Path, figure: Any) -> None:
    """Write a matplotlib figure in the format of its extension, completely or not at all (see `write_bytes`), and close
    it.
    """
    from matplotlib.pyplot import close

    try:
        write_bytes(path, _picture(path, figure))
    finally:
        close(figure)


def _picture(path: Path, figure: Any) -> bytes:
    kinds, kind = figure.canvas.get_supported_filetypes(), path.suffix[1:].lower() or "png"
    if kind not in kinds:
        raise FormatError(f"{path}: no picture is called .{kind}; {choices(kind, sorted(kinds))}")
    content = io.BytesIO()
    figure.savefig(content, format=kind, dpi=150)
    return content.getvalue()


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file completely or not at all.

    A symbolic link is followed: its target is written. An existing file keeps its mode, and its owner where that is permitted;
    a new one gets the mode of the umask. Devices and pipes are written to and are not replaced.

    The content is written to a nameless file, which replaces the old one in one step, so that an error, a full disk or a kill
    leaves the old content. Two traces are possible: a file .NAME.XXXXXXXX.tmp with the whole content, if the process is killed
    between naming and replacing; and the same file with a part of the content, if it is killed on a system without nameless
    files (Linux has them on most file systems).
    """
    try:
        _write(path, content)
    except (OSError, ValueError) as error:
        missing = isinstance(error, FileNotFoundError) and not path.parent.is_dir()
        hint = f": there is no folder {path.parent}: make it first, or choose another" if missing else ""
        raise FormatError(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}{hint}") from None


def _write(path: Path, content: bytes) -> None:
    before = path.stat() if path.exists() else None
    if before is not None and not stat.S_ISREG(before.st_mode):
        with path.open("wb") as device:
            device.write(content)
        return
    target = Path(os.path.realpath(path))
    spare = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.tmp")
    # a name that is free is taken at once, one in use by way of another
    place = target if before is None else spare
    try:
        if not _put_nameless(place, content, before):
            place = spare
            with os.fdopen(os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _mode(before)), "wb") as file:
                _fill(file, content, before)
        if place != target:
            os.replace(spare, target)
    except BaseException:
        spare.unlink(missing_ok=True)
        raise


def _put_nameless(place: Path, content: bytes, before: os.stat_result | None) -> bool:
    """Fill a file without a name, then give it one; whether the system can do that."""
    try:
        handle = os.open(place.parent, os.O_TMPFILE | os.O_WRONLY, _mode(before))
    except (AttributeError, OSError):
        return False
    with os.fdopen(handle, "wb") as file:
        _fill(file, content, before)
        try:
            # the folder's handle is not used, but with it Python follows the link in /proc
            os.link(f"/proc/self/fd/{handle}", place, src_dir_fd=handle)
        except OSError:
            return False
    return True


def _mode(before: os.stat_result | None) -> int:
    return 0o666 if before is None else stat.S_IMODE(before.st_mode)


def _fill(file: BinaryIO, content: bytes, before: os.stat_result | None) -> None:
    if before is not None:
        # a file system that has no owners or modes refuses: the file is then no more open than its mode
        with suppress(OSError, AttributeError):
            os.fchown(file.fileno(), before.st_uid, before.st_gid)
        with suppress(OSError, AttributeError):
            os.fchmod(file.fileno(), _mode(before))
    file.write(content)
    file.flush()
    os.fsync(file.fileno())
