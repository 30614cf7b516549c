"""The studio's page as a test sees it: what it says it shows, and where to click."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Request
from playwright.sync_api import Error as BrowserError
from playwright.sync_api import Page as Tab

from modurob.studio.server import Studio

OUT = Path("out")
PATIENCE = 15.0  # seconds
FUNCTION = re.compile(r"(async )?\([^()]*\) =>")  # how a script begins that takes an argument
UNTIL = """async ([argument, patience]) => {
  const look = LOOK;
  for (const end = performance.now() + patience; performance.now() < end; await new Promise((done) => setTimeout(done, 10))) {
    const found = await look(argument);
    if (found) return found;
  }
}"""
CRAB = (("m0/3", "4"), ("m1/2", "5"), ("m2/3", "2"), ("m1/5", "2"), ("m4/3", "5"))
SIZES = {"laptop": (1440, 900), "large": (1920, 1080), "phone": (390, 844)}
SIZED = ("laptop", "phone", pytest.param("large", marks=pytest.mark.judge))
PANELS = ("Build", "Inspect", "Equations", "Simulate", "Export")


@dataclass(frozen=True)
class Served:
    """A running studio and its address."""

    studio: Studio
    address: str


@dataclass(frozen=True)
class Browser:
    """A browser that opens pages of users who do not know each other.

    A tab that was closed is taken again by the next page with the same options, with nothing of its user left in it: a
    browser that has the scripts, compiled, opens the page in a third of the time.
    """

    chromium: Chromium
    spare: dict[str, list[Tab]] = field(default_factory=lambda: defaultdict(list))  # tabs, by their options

    def page(self, address: str, detail: str = "none", plain: bool = False, **options: Any) -> "Page":
        """The page at an address, of a new user, ready to use; `plain` takes the address as it is."""
        viewport = options.pop("viewport", {"width": 1280, "height": 800})
        spare = self.spare[repr(options)]
        page = Page(spare.pop() if spare else self._tab(options), spare)
        page.watch()
        page.tab.set_viewport_size(viewport)
        # high detail takes long to begin with where there is no graphics card
        page.tab.goto(address if plain else f"{address}&detail={detail}", timeout=4000 * PATIENCE)
        page.ready()
        return page

    def _tab(self, options: dict[str, Any]) -> Tab:
        context = self.chromium.new_context(**options)
        context.set_default_timeout(1000 * PATIENCE)
        return context.new_page()


@dataclass
class Page:
    """One open page."""

    tab: Tab
    spare: list[Tab]  # where the tab goes when the page is closed
    strayed: list[str] = field(default_factory=list)  # requests that wanted to leave this machine
    problems: list[str] = field(default_factory=list)  # errors in the page

    @property
    def context(self) -> BrowserContext:
        return self.tab.context

    def watch(self) -> None:
        """Note what goes wrong, and which requests want to leave this machine: the browser knows no other one."""
        self.tab.on("request", self._asked)
        self.tab.on("pageerror", self._failed)
        self.tab.on("console", self._said)

    def _asked(self, request: Request) -> None:
        if urlsplit(request.url).hostname not in ("127.0.0.1", None):  # None: what the page holds itself
            self.strayed.append(request.url)

    def _failed(self, error: BrowserError) -> None:
        self.problems.append(str(error))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.problems.append(message.text)

    def close(self) -> None:
        """Leave the page, and leave nothing of its user."""
        origin = self.js("location.origin")  # what the page has said by now is heard, too
        for event, listener in (("request", self._asked), ("pageerror", self._failed), ("console", self._said)):
            self.tab.remove_listener(event, listener)
        for other in self.context.pages:
            if other is not self.tab:
                other.close()
        self.tab.goto("about:blank")
        self.tab.mouse.move(0, 0)
        self.context.clear_cookies()
        self.context.clear_permissions()
        devtools = self.context.new_cdp_session(self.tab)
        devtools.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        devtools.detach()
        self.spare.append(self.tab)

    def ready(self) -> None:
        """Wait until the robot is drawn."""
        self.until("window.studio?.view?.frames > 0 && window.studio.state.design !== null")

    def js(self, script: str, argument: Any = None) -> Any:
        """The value of a script in the page."""
        return self.tab.evaluate(script, argument)

    def until(self, script: str, argument: Any = None) -> Any:
        """Wait until a script gives something true: the page itself looks again and again."""
        look = script if FUNCTION.match(script) else f"() => {script}"
        if found := self.js(UNTIL.replace("LOOK", look), [argument, 1000 * PATIENCE]):
            return found
        raise AssertionError(f"still not so after {PATIENCE} s: {script} ({argument!r})")

    def settle(self) -> None:
        """Wait for two pictures, so that what was sent is seen."""
        self.js("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def picture(self, name: str) -> None:
        """A screenshot in out/."""
        self.settle()
        OUT.mkdir(exist_ok=True)
        self.tab.screenshot(path=OUT / f"studio_{name}.png")

    # ---- what the page shows ----

    @property
    def design(self) -> dict[str, Any]:
        return self.js("studio.state.design")

    @property
    def session(self) -> str:
        return self.js("studio.state.session")

    def modules(self, count: int) -> None:
        """Wait until the robot has so many modules."""
        self.until("(n) => studio.state.design.modules.length === n", count)

    def at(self, css: str) -> Locator:
        return self.tab.locator(css)

    @property
    def scrolled(self) -> list[float]:
        """How far the page itself has been scrolled, and how far its bar is from the top: it never should be."""
        return self.js(
            """[scrollX, scrollY, document.documentElement.scrollTop, document.body.scrollTop, document.body.scrollLeft,
                document.querySelector("main").scrollTop, document.querySelector(".bar").getBoundingClientRect().top]"""
        )

    def inside(self, css: str) -> bool:
        """Whether something is on the screen, all of it, with nothing in front."""
        return self.js(
            """(css) => {
              const element = document.querySelector(css), { left, top, right, bottom } = element.getBoundingClientRect();
              const seen = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight && right > left && bottom > top;
              const front = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
              return seen && element.contains(front);
            }""",
            css,
        )

    def refused(self, words: str) -> None:
        """Wait for a refusal with these words, and see that it is on the screen."""
        self.until("(words) => document.querySelector('#refusal').textContent.includes(words)", words)
        assert self.inside("#refusal"), words

    # ---- what a user does ----

    def open(self, robot: str, modules: int) -> None:
        """A shipped robot, as the gallery opens it, without waiting for the pictures there."""
        before = self.design["number"]
        self.js("(name) => studio.send('open_shipped', {name})", robot)
        self.until("(before) => studio.state.design.number !== before", before)
        assert len(self.design["modules"]) == modules

    def hurry(self, speed: float = 10.0) -> None:
        """Let simulated time pass so much faster than real time: for tests that wait for the end of a run."""
        self.js("(speed) => studio.send('set_speed', {speed})", speed)

    def panel(self, name: str) -> None:
        self.tab.get_by_role("tab", name=name).click()

    def choose_face(self, face: str) -> None:
        self.tab.get_by_role("radiogroup", name="Face it docks by").get_by_text(face, exact=True).click()

    def click_port(self, ref: str) -> None:
        """Click a port in the 3D view, turning the view until the port is not hidden."""
        for _ in range(60):
            where = self.js("(ref) => studio.view.clickable(ref)", ref)
            if where:
                self.tab.mouse.click(where["x"], where["y"])
                return
            self.at("#canvas").focus()
            self.tab.keyboard.press("ArrowRight")
            self.settle()
        raise AssertionError(f"port {ref} is hidden from all sides")

    def click_cell(self, column: int, row: int) -> None:
        self.at(f'[data-key="cell {column},{row}"]').click()
