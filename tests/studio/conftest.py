"""A studio in a thread, and a real browser in front of it."""

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the studio needs the extra: pip install 'modurob[studio]'")

from modurob.studio.autosave import Autosave
from modurob.studio.server import Studio, listening, server
from tests.studio.pages import Browser, Page, Served

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox --disable-gpu --use-angle=swiftshader --enable-unsafe-swiftshader --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
)
ALONE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"  # no other machine is found


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A studio that answers on a free port."""
    studio = Studio(autosave=Autosave(tmp_path_factory.mktemp("autosave")))
    with listening("127.0.0.1", 0) as door:
        port = door.getsockname()[1]
        web = server(studio)
        thread = threading.Thread(target=web.run, kwargs={"sockets": [door]}, daemon=True)
        thread.start()
        yield Served(studio, f"http://127.0.0.1:{port}/?token={studio.token}")
        web.should_exit = True
        thread.join(timeout=10)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, one for all tests; CI must have it, elsewhere its tests are skipped."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        if os.environ.get("CI"):
            pytest.fail("no playwright: pip install playwright")
        pytest.skip("the page is not tested: pip install playwright")
    path = shutil.which("chromium") or CHROMIUM
    if not Path(path).exists():
        if os.environ.get("CI"):
            pytest.fail("no chromium: apt-get update && apt-get install -y chromium")
        pytest.skip("the page is not tested: no chromium; apt-get install chromium as root installs it")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, headless=True, args=[*FLAGS.split(), ALONE])
        yield Browser(chromium)
        chromium.close()


@pytest.fixture
def page(browser: Browser, served: Served, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of a new user; no request of it may have left this machine, and nothing may have failed in it.

    It draws in 3D for tests that are marked as `drawn`: without a graphics card that takes twice as long.
    """
    page = browser.page(served.address, detail="low" if request.node.get_closest_marker("drawn") else "none")
    yield page
    page.close()
    assert page.strayed == []
    assert page.problems == []
