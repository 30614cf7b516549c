"""Films and pictures of robots: drawn by a browser without a window, or by matplotlib where there is none."""

import io
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from modurob.catalogue.reading import write_bytes
from modurob.errors import FormatError, InputError, warn_user
from modurob.spatial.scalars import Array
from modurob.viewer import headless, plain
from modurob.viewer.scene import Chapter, film_times

MOST = 20_000  # pictures of a film
BACKGROUND = (244, 246, 249)
SIDES = (64, 4096)  # a picture's edges [pixels]
# how ffmpeg writes them, for players of all kinds
CODECS = {
    ".mp4": "-c:v libx264 -crf 20 -movflags +faststart",
    ".webm": "-c:v libvpx-vp9 -crf 32 -b:v 0 -deadline realtime -cpu-used 6",
}
FILMS = (*CODECS, ".gif")


def animate(
    chapters: Sequence[Chapter],
    path: str | Path,
    fps: float = 30.0,
    size: tuple[int, int] = (800, 600),
    speed: float = 1.0,
) -> Path:
    """Write a film (.mp4, .webm, .gif) of so many pictures a second, `speed` times as fast as it was; returns the file."""
    path = _film_path(path)
    width, height = checked_size(size)
    if not 0 < fps <= 120 or not 0 < speed < np.inf:
        raise InputError(
            f"fps = {fps!r}, speed = {speed!r}: expected up to 120 pictures a second, and a positive speed"
        )
    times = film_times(chapters, fps, speed)
    if len(times) > MOST:
        raise InputError(
            f"{path}: {len(times)} pictures: expected at most {MOST}: take fewer a second, or a higher speed"
        )
    writer = None if path.suffix.lower() == ".gif" else ffmpeg()
    frames = pictures(chapters, times, (width, height), fps / speed)
    content = gif(frames, fps) if writer is None else _encoded(frames, fps, path.suffix.lower(), writer)
    write_bytes(path, content)
    return path


def picture(chapters: Sequence[Chapter], path: str | Path, size: tuple[int, int] = (800, 600)) -> None:
    """Write a PNG of the first moment."""
    write_bytes(Path(path), pictures(chapters, chapters[0].t[:1], checked_size(size), 30.0)[0])


def pictures(
    chapters: Sequence[Chapter], times: Array, size: tuple[int, int], fps: float, **options: Any
) -> list[bytes]:
    """PNG files of what is seen at these times [s], on a light background; `options` are those of the page."""
    if headless.browser():
        with progress(len(times)) as told:
            return [_on_background(png) for png in headless.pictures(chapters, times, size, fps, told, **options)]
    warn_user("drawn by matplotlib: with Chromium and pip install 'modurob[video]' it looks as in the studio")
    return list(plain.pictures(chapters, times, size))


@contextmanager
def progress(count: int, console: Console | None = None) -> Iterator[Callable[[], None]]:
    """Tells, in a terminal or a notebook, how many of so many pictures are drawn. Call what it gives for each."""
    console = console or Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    silent = not (console.is_terminal or console.is_jupyter)
    with Progress(*columns, console=console, transient=True, disable=silent) as bar:
        task = bar.add_task("starting the browser", total=count)
        yield lambda: bar.update(task, advance=1, description="drawing")


def ffmpeg() -> str:
    """The program that writes films, of the system or of the extra."""
    if found := shutil.which("ffmpeg"):
        return found
    try:
        maker: Any = import_module("imageio_ffmpeg")
        return maker.get_ffmpeg_exe()
    except (ImportError, RuntimeError):
        raise InputError(
            "films .mp4 and .webm need ffmpeg: pip install 'modurob[video]', or install ffmpeg; .gif needs nothing"
        ) from None


def gif(frames: Sequence[bytes], fps: float, colours: int = 128) -> bytes:
    """An animated GIF whose pictures share their colours, so that nothing flickers."""
    image: Any = import_module("PIL.Image")
    pages = [image.open(io.BytesIO(png)).convert("RGB") for png in frames]
    some = pages[:: max(1, len(pages) // 8)]
    strip = image.new("RGB", (some[0].width, some[0].height * len(some)))
    for k, page in enumerate(some):
        strip.paste(page, (0, k * page.height))
    palette = strip.quantize(colours)
    flat = [page.quantize(palette=palette, dither=0) for page in pages]
    out = io.BytesIO()
    # GIF counts in hundredths of a second
    flat[0].save(out, "GIF", save_all=True, append_images=flat[1:], duration=10 * max(2, round(100 / fps)), loop=0)
    return out.getvalue()


def checked_size(size: Any) -> tuple[int, int]:
    """Width and height [pixels], even, as films need them."""
    ends = tuple(size) if isinstance(size, Sequence) and not isinstance(size, str) else ()
    if len(ends) != 2 or not all(isinstance(x, int | np.integer) and SIDES[0] <= x <= SIDES[1] for x in ends):
        raise InputError(
            f"size = {size!r:.60}: expected (width, height), whole numbers from {SIDES[0]} to {SIDES[1]} pixels"
        )
    return int(ends[0]) // 2 * 2, int(ends[1]) // 2 * 2


def _film_path(path: str | Path) -> Path:
    path = Path(path)
    if path.suffix.lower() not in FILMS:
        raise FormatError(f"{path}: no film is called {path.suffix or 'so'}: valid: {', '.join(FILMS)}")
    if not path.parent.is_dir():
        raise FormatError(f"{path}: there is no folder {path.parent}: make it first, or choose another")
    return path


def _on_background(png: bytes) -> bytes:
    """The page's picture is transparent where there is nothing."""
    image: Any = import_module("PIL.Image")
    drawn = image.open(io.BytesIO(png)).convert("RGBA")
    out = io.BytesIO()
    image.alpha_composite(image.new("RGBA", drawn.size, (*BACKGROUND, 255)), drawn).convert("RGB").save(out, "PNG")
    return out.getvalue()


def _encoded(frames: Sequence[bytes], fps: float, ending: str, writer: str) -> bytes:
    kind = ending[1:]
    # mp4 needs a file that it can go back in; so all are written as matroska would be: to a pipe in fragments
    tail = ["-movflags", "+frag_keyframe+empty_moov+faststart"] if kind == "mp4" else []
    command = [writer, "-loglevel", "error", "-f", "image2pipe", "-c:v", "png", "-r", f"{fps:g}", "-i", "-"]
    command += [*CODECS[ending].split(), "-pix_fmt", "yuv420p", *tail, "-f", kind, "-"]
    done = subprocess.run(command, input=b"".join(frames), capture_output=True, check=False)
    if done.returncode:
        raise FormatError(f"ffmpeg could not write {ending}: {done.stderr.decode(errors='replace')[-300:]}")
    return done.stdout
