"""The page on a phone: everything within reach, nothing cut off."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.studio.pages import PANELS, SIZES, Browser, Page, Served

WIDTH, HEIGHT = SIZES["phone"]
OUT_OF_SIGHT = """() => [...document.querySelectorAll("button, input, select, textarea, a, h2, canvas, p")]
  .filter((x) => x.checkVisibility({ opacityProperty: true }) && !x.closest(".skip, .scroll, .cells-box, .equation"))
  .filter((x) => { const r = x.getBoundingClientRect(); return r.left < -0.5 || r.right > innerWidth + 0.5; })
  .map((x) => x.outerHTML.slice(0, 120))"""
SMALL = """() => [...document.querySelectorAll("button, select, input:not([type=radio], [type=range], [type=checkbox])")]
  .filter((x) => x.checkVisibility({ opacityProperty: true }) && !x.closest(".cells-box"))
  .filter((x) => { const r = x.getBoundingClientRect(); return r.height < 24 || r.width < 24; })
  .map((x) => x.outerHTML.slice(0, 120))"""
SIZE = (
    "(css) => { const { width, height } = document.querySelector(css).getBoundingClientRect(); return [width, height] }"
)


@pytest.fixture
def phone(browser: Browser, served: Served) -> Iterator[Page]:
    page = browser.page(served.address, viewport={"width": WIDTH, "height": HEIGHT}, has_touch=True, is_mobile=True)
    yield page
    page.close()
    assert page.problems == []


def test_every_panel_fits(phone: Page) -> None:
    phone.open("crab", 6)
    for panel in PANELS:
        phone.panel(panel)
        if panel == "Equations":
            expect(phone.at(".equation .katex").first).to_be_visible()
        if panel == "Simulate":
            phone.at("#setting-duration").fill("0.5")
            phone.at("#setting-duration").press("Tab")
            phone.at("#run").click()
            phone.until("studio.state.runs.runs[0]?.status === 'finished'")
            expect(phone.at(".plot canvas")).to_have_count(3)
        phone.settle()
        assert phone.js(OUT_OF_SIGHT) == [], panel
        assert phone.js(SMALL) == [], panel
        # room for the robot and for the controls
        assert phone.js(SIZE, "#stage")[1] >= 180, panel
        width, height = phone.js(SIZE, ".panel-side")
        assert width == WIDTH, panel
        assert height >= 0.4 * HEIGHT, panel
        assert not any(phone.scrolled), panel


def test_the_bar_leaves_room(phone: Page) -> None:
    assert phone.js(SIZE, ".bar")[1] <= 84
    for tool in ("#undo", "#redo", "#gallery-open", "#save", "#help-open", "#theme"):
        assert phone.inside(tool), tool


def test_the_run_is_steered_in_sight(phone: Page) -> None:
    phone.open("crab", 6)
    phone.panel("Simulate")
    expect(phone.at("#run")).to_be_visible()
    for control in ("#run", "#pause", "#step", "#stop", "#scrub", "#clock", "#speed"):
        assert phone.inside(control), control
    assert phone.js(SIZE, "#scrub")[0] > 150


def test_what_is_drawn_is_chosen_behind_a_button(phone: Page) -> None:
    phone.open("crab", 6)
    expect(phone.at("#view-names")).to_be_hidden()
    phone.at("#view-more").tap()
    phone.at("#view-names").tap()
    expect(phone.at("#labels .name")).to_have_count(6)
    phone.at("#view-more").tap()
    expect(phone.at("#view-names")).to_be_hidden()
    expect(phone.at("#view-fit")).to_be_visible()


def test_modules_are_docked_by_touch(phone: Page) -> None:
    for i in range(2, 5):
        free = [port["ref"] for port in phone.design["ports"] if port["holds"] is None]
        where = next(filter(None, (phone.js("(ref) => studio.view.clickable(ref)", ref) for ref in free)))
        phone.tab.touchscreen.tap(where["x"], where["y"])
        phone.modules(i)
        phone.settle()
