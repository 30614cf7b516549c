"""The newcomer's path: from an empty page to a robot that walks, by pointer and by keyboard alone."""

from playwright.sync_api import expect

from tests.studio.pages import Browser, Page, Served

CRAB = (("m0/3", "4"), ("m1/2", "5"), ("m2/3", "2"), ("m1/5", "2"), ("m4/3", "5"))
WENT = "Math.hypot(studio.view.framing.travelled.x - studio.state.way.x, studio.view.framing.travelled.y - studio.state.way.y)"

# above the floor; of the boxes, since the corners around a cylinder are not on it
LOWEST = """studio.load("bounds").then(({ corners }) => {
  const boxes = studio.view.meshes.filter(({ userData }) => userData.shapes[0].kind === "box");
  return Math.min(...boxes.flatMap(corners).filter((_, i) => i % 3 === 2)) - studio.view.floor.height;
})"""


def walks(page: Page, far: float = 0.15) -> None:
    """On a floor that is drawn under it, pressing on it, in view, with prints behind it."""
    page.until(f"studio.state.way?.run >= 0 && {WENT} > {far}")
    assert page.js("studio.view.ground.group.visible && studio.view.contacts.steps > 3")
    expect(page.at("#height")).to_contain_text("Went 0.")
    page.js("studio.send('pause_run')")
    page.until("studio.state.runs.state === 'paused'")
    page.until("!studio.view.cutOff()")
    assert -0.005 < page.js(LOWEST) < 0.05


def test_from_an_empty_page_to_a_walking_crab_in_under_20_clicks(browser: Browser, served: Served) -> None:
    """Every click is one that the page itself asks for; the crab is built module by module."""
    page = browser.page(served.address, detail="low")
    page.js("addEventListener('pointerdown', () => (window.clicks = (window.clicks ?? 0) + 1), true)")
    for at, by in CRAB:
        if page.js("studio.state.by") != by:
            page.choose_face(by)
        count = page.js("studio.state.design.modules.length")
        page.click_port(at)
        page.modules(count + 1)
    page.panel("Simulate")
    page.at("label:has(#stands-ground)").click()
    page.until("studio.state.design.floating")
    page.hurry(4.0)
    page.at("#run").click()
    walks(page)
    assert 8 < page.js("window.clicks") < 20
    page.picture("walk")
    # the gait is another while it runs, and a faster one is found by the studio
    page.js("studio.send('resume_run')")
    page.at("[data-slider=frequency]").fill("1.5")
    page.until(
        "studio.state.runs.runs.at(-1).status === '' && Number(document.querySelector('#setting-frequency').value) === 1.5"
    )
    page.at("#stop").click()
    page.at("#find-gait").click()
    page.until("document.querySelector('#found-gait').textContent.includes(' m in 6 s')")
    page.close()
    assert page.strayed == page.problems == []


def test_an_organism_begins_with_its_own_gait(page: Page, served: Served) -> None:
    page.open("hexapod", 21)
    page.panel("Simulate")
    expect(page.at("#setting-gait")).to_have_value("hexapod")
    expect(page.at("#setting-option-stance")).to_have_value("1.2")
    expect(page.at("#setting-amplitude")).to_have_value("0.35")
    page.at("#run").click()
    page.until("studio.state.runs.runs.length === 1")
    page.at("#stop").click()
    settings = served.studio.sessions[page.session].runs[0].settings
    assert settings.options == {"stance": 1.2}
    # another gait has options of its own, and another robot begins anew
    page.at("#setting-gait").select_option("inchworm")
    expect(page.at("#setting-option-stance")).to_have_count(0)
    expect(page.at("#setting-option-waves")).to_have_value("1")
    page.at("#setting-option-waves").fill("2")
    page.at("#setting-option-waves").press("Tab")
    page.at("#run").click()
    page.until("studio.state.runs.runs.length === 2")
    page.at("#stop").click()
    assert served.studio.sessions[page.session].runs[1].settings.options == {"waves": 2.0}


def reach(page: Page, css: str, most: int = 60) -> None:
    """Press Tab until the focus is there."""
    for _ in range(most):
        if page.js("(css) => document.activeElement?.matches(css) ?? false", css):
            return
        page.tab.keyboard.press("Tab")
    raise AssertionError(f"{css} is not reached by {most} tabs")


def test_the_same_by_keyboard_alone(browser: Browser, served: Served) -> None:
    page = browser.page(served.address)
    keys = page.tab.keyboard
    keys.press("Alt+1")
    for at, by in CRAB:
        reach(page, "input[name=by]")
        for _ in range(6):
            if page.js("studio.state.by") == by:
                break
            keys.press("ArrowRight")
        count = page.js("studio.state.design.modules.length")
        reach(page, f'[data-key="{at}"]')
        keys.press("Enter")
        page.modules(count + 1)
        keys.press("Alt+1")
    keys.press("Alt+4")
    reach(page, "input[name=stands]")
    keys.press("ArrowRight")
    page.until("studio.state.design.floating && document.querySelector('#stands-ground').checked")
    page.hurry(4.0)
    reach(page, "#run")
    keys.press("Enter")
    walks(page, 0.05)
    page.close()
    assert page.strayed == page.problems == []
