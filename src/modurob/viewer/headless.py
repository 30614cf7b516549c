"""A browser without a window that draws the page: pictures as the studio shows them, on machines without a screen too."""

import base64
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from modurob.viewer import page
from modurob.viewer.scene import Chapter

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
FLAGS = (
    "--no-sandbox --use-angle=swiftshader --enable-unsafe-swiftshader --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --allow-file-access-from-files"
)
# the room that surfaces mirror takes a quarter of a minute without a graphics card, and ten times as long a picture
LOOK = {"bare": True, "low": False, "plain": True, "dark": False}
PATIENCE = 60_000  # for the first picture [ms]
SHOWN = "(t) => { viewer.player.at(t); return viewer.view.still(); }"


def browser() -> str | None:
    """The program that draws; None if there is none, or nothing to steer it with."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    return found if find_spec("playwright") else None


def pictures(
    chapters: Sequence[Chapter],
    times: Iterable[float],
    size: tuple[int, int],
    fps: float,
    told: Callable[[], None] = lambda: None,
    **options: Any,
) -> list[bytes]:
    """PNG files of what is seen at these times [s]; `told` is called after each, `options` are those of the page."""

    def drawn() -> Iterator[bytes]:
        for png in _pictures(chapters, times, size, fps, options):
            told()
            yield png

    # a thread of its own: the browser's driver refuses to run where an event loop runs, as in notebooks
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: list(drawn())).result()


def _pictures(
    chapters: Sequence[Chapter], times: Iterable[float], size: tuple[int, int], fps: float, options: dict[str, Any]
) -> Iterator[bytes]:
    with tempfile.TemporaryDirectory() as folder, _tab(size) as tab:
        path = Path(folder) / "robot.html"
        path.write_text(page.html(chapters, fps, **{**LOOK, **options}), encoding="utf-8")
        tab.goto(path.as_uri())
        tab.wait_for_function("window.viewer", timeout=PATIENCE)
        for t in times:
            yield base64.b64decode(tab.evaluate(SHOWN, float(t)).partition(",")[2])


@contextmanager
def _tab(size: tuple[int, int]) -> Iterator[Any]:
    """An empty page of that size [pixels]."""
    driver: Any = import_module("playwright.sync_api")
    with driver.sync_playwright() as playwright:
        program = playwright.chromium.launch(executable_path=browser(), headless=True, args=FLAGS.split())
        try:
            yield program.new_page(viewport={"width": size[0], "height": size[1]})
        finally:
            program.close()
