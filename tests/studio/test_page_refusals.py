"""What is refused is told on the screen, what is in force is shown, and the page never scrolls away."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from modurob.studio import protocol
from tests.studio.pages import PANELS, SIZED, SIZES, Browser, Page, Served

# words of a checker, not for people
RAW = re.compile(r"validation error|Input should be|Traceback|\[type=|https?://|Error\b|\bNone\b")
SETTINGS: dict[str, Any] = {"controller": "computed-torque", "reference": "gait", "gait": "wheel"}
# for each command that a page may send, one that the crab cannot do, or that is no such command
WRONG: dict[str, dict[str, Any]] = {
    "hello": {},
    "undo": {"evil": 1},
    "redo": {},
    "new": {"kind": "spider"},
    "open": {"text": "format: modurob assembly 1\nmodules: {m0: spider}"},
    "open_shipped": {"name": "spider"},
    "open_recent": {"name": "spider"},
    "read_matrix": {"text": "3 0\n9 2\n0 5"},
    "rename": {"name": ""},
    "dock": {"kind": "backbone", "at": "m0/3", "by": "4"},
    "connect": {"a": "m0/2", "b": "m5/4"},
    "disconnect": {"port": "m0/2"},
    "undock": {"module": "m1"},
    "duplicate": {"module": "m2", "at": "m0/3"},
    "mirror": {"module": "m0"},
    "place_cell": {"column": 9, "row": 9, "kind": "backbone"},
    "turn_cell": {"column": 0, "row": 0},
    "move_cell": {"module": "m0", "column": 5, "row": 5},
    "set_base": {"module": "m9"},
    "mount": {"freedom": "helical", "axis": "x"},
    "set_gravity": {"gravity": [0, 0]},
    "set_parameter": {"module": "m0", "name": "mass", "value": -1.0},
    "set_coordinate": {"index": 0, "value": 9.0},
    "set_rate": {"index": 9, "value": 1.0},
    "reset_pose": {"evil": 1},
    "pull": {"frame": "m9", "point": [0, 0, 0]},
    "find_solutions": {"frame": "m9"},
    "take_pose": {"q": [0.1]},
    "acknowledge": {"number": "x"},
    "derive": {"symbols": "x"},
    "cancel_derivation": {"evil": 1},
    "show_entry": {"part": "M", "row": 0},
    "evaluate": {"q": [], "v": []},
    "plan_motion": {"motion": {"points": [{"t": 0, "q": [0.1, 0.2, 0.3]}]}},
    "start_run": {"settings": SETTINGS},
    "pause_run": {"evil": 1},
    "resume_run": {"evil": 1},
    "step_run": {"evil": 1},
    "stop_run": {"evil": 1},
    "tune_run": {"amplitude": 0.0, "frequency": 1.0},
    "find_gait": {},
    "set_speed": {"speed": 0.0},
    "scrub": {"run": 77, "t": 0.0},
    "fetch_run": {"run": 77},
    "delete_run": {"run": 77},
    "compare_run": {"run": 77},
    "trace_run": {"run": 77, "frames": ["m0"]},
}


@pytest.fixture(params=SIZED)
def sized(browser: Browser, served: Served, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page with the crab, at each size."""
    width, height = SIZES[request.param]
    page = browser.page(served.address, viewport={"width": width, "height": height})
    page.open("crab", 6)
    yield page
    page.close()
    assert page.problems == []


def test_every_refused_command_is_told_on_the_screen(sized: Page) -> None:
    """With the words of the server, inside the viewport, in front of everything."""
    assert set(WRONG) == set(protocol.COMMANDS)
    for command, fields in WRONG.items():
        sized.js("document.querySelector('#refusal').replaceChildren()")
        sized.js("([type, fields]) => studio.send(type, fields)", [command, fields])
        sized.until("document.querySelector('#refusal').textContent !== ''")
        assert sized.inside("#refusal"), command
        words = sized.at("#refusal").inner_text()
        assert len(words) > 20, command
        assert not RAW.search(words), words
        assert not any(sized.scrolled), command


def test_a_refused_run_is_told_and_forgotten_when_one_starts(sized: Page) -> None:
    """The wheel gait on the crab; from every panel, by the button that was pressed."""
    sized.panel("Simulate")
    sized.at("#setting-gait").select_option("wheel")
    sized.at("#run").click()
    sized.refused("Run not started: crab cannot roll as a wheel: expected one chain of joints with parallel axes")
    sized.at("#setting-gait").select_option("crab")
    sized.at("#run").click()
    sized.until("studio.state.runs.state === 'running'")
    expect(sized.at("#refusal")).to_be_empty()
    sized.at("#stop").click()


def test_a_refusal_is_seen_over_a_dialog(sized: Page) -> None:
    sized.at("#gallery-open").click()
    sized.tab.get_by_role("button", name="Open the text").click()
    sized.refused("the text holds no robot: expected a robot file")
    sized.at("#refusal").get_by_role("button", name="Close this notice").click()
    expect(sized.at("#refusal")).to_be_empty()
    expect(sized.tab.get_by_role("dialog")).to_be_visible()
    sized.tab.keyboard.press("Escape")
    sized.js("studio.send('undock', {module: 'm1'})")
    sized.refused("Not undocked")


def test_what_the_page_does_by_itself_does_not_hide_a_refusal(page: Page) -> None:
    page.open("crab", 6)
    page.js("studio.send('undock', {module: 'm1'})")
    page.refused("Not undocked")
    page.panel("Equations")
    expect(page.at(".equation .katex").first).to_be_visible()
    page.refused("Not undocked")
    page.panel("Build")
    page.tab.get_by_label("free floating").check()
    page.until("studio.state.design.floating")
    expect(page.at("#refusal")).to_be_empty()


def test_the_page_itself_never_scrolls(sized: Page) -> None:
    """Whatever is clicked or focused, on every panel; segments of the matrices once scrolled everything away."""
    for matrix in ("Access", "DTL", "IDTL", "AIM"):
        sized.tab.get_by_role("radiogroup", name="Which matrix").get_by_text(matrix, exact=True).click()
        assert not any(sized.scrolled), matrix
    for panel in PANELS:
        sized.panel(panel)
        sized.settle()
        sized.js(
            "for (const x of document.querySelectorAll('a, button, input, select, textarea, [tabindex]')) x.focus()"
        )
        sized.js("document.querySelector('main').lastElementChild.lastElementChild.scrollIntoView()")
        sized.js("scrollTo(0, 9999)")
        assert not any(sized.scrolled), panel
        assert sized.js("document.documentElement.scrollWidth") <= sized.js("innerWidth"), panel


# ---- fields show what is in force ----


def test_a_cleared_field_is_told_and_shows_its_value_again(page: Page) -> None:
    page.open("crab", 6)
    page.panel("Simulate")
    duration = page.at("#setting-duration")
    duration.fill("")
    duration.press("Tab")
    page.refused("duration: the field is empty, expected a number; it stays 10")
    expect(duration).to_have_value("10")
    duration.fill("1e9")
    duration.press("Enter")
    page.refused("duration: 1.00e+9 is out of range, expected 0.01 to 600; it stays 10")
    expect(duration).to_have_value("10")
    gravity = page.at('[data-key="gravity z"]')
    gravity.fill("")
    gravity.press("Tab")
    page.refused("gravity along z: the field is empty")
    expect(gravity).to_have_value("-9.81")
    assert page.design["gravity"] == [0, 0, -9.81]


def test_rejected_values_do_not_stay_in_fields(page: Page) -> None:
    page.open("crab", 6)
    page.panel("Inspect")
    page.tab.get_by_label("Module to inspect").select_option("m3")
    mass = page.at("#parameter-mass")
    mass.fill("-4")
    mass.press("Enter")
    page.refused("mass: -4 is out of range, expected at least 0; it stays 1")
    expect(mass).to_have_value("1")
    # a number that only the server can judge
    length = page.at("#parameter-length")
    before = length.input_value()
    length.fill("5")
    length.press("Enter")
    page.refused("would stand where")
    expect(page.at("#parameter-length")).to_have_value(before)
    angle = page.at('[data-key="q 0"]')
    angle.fill("3")
    angle.press("Enter")
    page.refused("m0/hinge: 3 is out of range, expected -1.571 to 1.571")
    expect(angle).to_have_value("0")
    name = page.at("#robot-name")
    name.fill(" ")
    name.press("Enter")
    page.refused("Name of the robot: it is empty; the robot stays crab")
    expect(name).to_have_value("crab")


def test_a_slider_on_a_ring_shows_where_the_ring_lets_it_go(page: Page) -> None:
    """Coordinates of a closed ring follow each other; one that cannot go is told and goes back."""
    for number, cell in enumerate(((1, 0), (2, 0), (2, 1), (2, 2), (1, 2), (0, 2), (0, 1)), start=2):
        page.click_cell(*cell)
        page.modules(number)
    page.until("studio.state.design.loops.length === 1")
    page.panel("Inspect")
    first = page.js("studio.state.pose.q")
    page.at("#slider-0").fill("0.5")
    page.until("Math.abs(studio.state.pose.q[0] - 0.5) < 0.01")
    moved = page.js("studio.state.pose.q")
    assert sum(abs(a - b) > 0.1 for a, b in zip(first, moved, strict=True)) > 1
    values = page.js("[...document.querySelectorAll('.slider [data-number]')].map((x) => Number(x.value))")
    assert values == pytest.approx(moved, abs=1e-3)


def test_a_loop_that_cannot_close_is_told(page: Page) -> None:
    page.open("crab", 6)
    page.tab.get_by_label("First port of the loop").select_option("m0/2")
    page.tab.get_by_label("Second port of the loop").select_option("m5/4")
    page.tab.get_by_role("button", name="Connect").click()
    page.refused("Not connected: m0/2 and m5/4 cannot meet: they are 0.2")
    assert page.design["loops"] == []


# ---- keys ----


def test_undo_in_a_field_is_that_of_the_text(page: Page) -> None:
    page.open("crab", 6)
    keyboard = page.tab.keyboard
    for css, panel in (("#robot-name", "Build"), ("#setting-duration", "Simulate")):
        page.panel(panel)
        page.at(css).click()
        before = page.at(css).input_value()
        keyboard.press("End")
        keyboard.type("7")
        keyboard.press("Control+z")
        expect(page.at(css)).to_have_value(before)
        assert len(page.design["modules"]) == 6
    page.at("#canvas").focus()
    keyboard.press("Control+z")
    page.modules(1)


def test_space_starts_a_run_only_where_runs_are(page: Page) -> None:
    page.open("crab", 6)
    for panel in ("Build", "Inspect", "Equations", "Export"):
        page.panel(panel)
        page.at("#canvas").focus()
        page.tab.keyboard.press("Space")
    page.tab.wait_for_timeout(300)
    assert page.js("studio.state.runs.runs") == []
    page.panel("Simulate")
    page.at("#canvas").focus()
    page.tab.keyboard.press("Space")
    page.until("studio.state.runs.state === 'running'")
    page.tab.keyboard.press("Escape")
    page.until("studio.state.runs.state === 'idle'")


def test_undo_says_how_far_it_goes(page: Page) -> None:
    page.open("crab", 6)
    expect(page.at("#undo")).to_have_attribute("title", "Undo (Ctrl+Z): 1 step back")
    page.at("#undo").click()
    page.modules(1)
    expect(page.at("#redo")).to_have_attribute("title", "Redo (Ctrl+Shift+Z): 1 step ahead")


# ---- copying a branch ----


def test_copying_a_branch_is_said_in_the_view_and_given_up_by_escape(sized: Page) -> None:
    page = sized
    page.tab.get_by_role("button", name="m3 backbone").click()
    page.tab.get_by_role("button", name="Duplicate").click()
    expect(page.at("#mode")).to_contain_text("Click a free port: a copy of m3")
    assert page.inside("#mode")
    page.tab.keyboard.press("Escape")
    expect(page.at("#mode")).to_be_hidden()
    page.tab.get_by_role("button", name="Duplicate").click()
    # a port that is taken: it is told, and another can be chosen
    page.js("studio.dockAt('m0/3')")
    page.refused("Not copied: port m0/3 already holds m1/4")
    assert page.inside("#mode")
    page.js("studio.dockAt('m3/3')")
    page.modules(7)
    expect(page.at("#mode")).to_be_hidden()
    # a module that is gone is not copied any more
    page.tab.get_by_role("button", name="m6 backbone").click()
    page.tab.get_by_role("button", name="Duplicate").click()
    expect(page.at("#mode")).to_be_visible()
    page.at("#undo").click()
    page.modules(6)
    expect(page.at("#mode")).to_be_hidden()


# ---- messages ----


def test_a_clash_does_not_name_a_module_that_is_not_there(page: Page) -> None:
    page.open("crab", 6)
    page.js("studio.send('dock', {kind: 'backbone', at: 'm3/4', by: '4'})")
    page.modules(7)
    page.at('[data-key="m1/3"]').click()
    page.refused("Not docked: a new backbone would stand where m6 stands")
    assert "m7" not in page.at("#refusal").inner_text()


def test_the_gait_and_gains_suit_the_robot(page: Page) -> None:
    page.panel("Simulate")
    page.open("crab", 6)
    expect(page.at("#setting-gait")).to_have_value("crab")
    page.at("#setting-controller").select_option("pid")
    light = float(page.at("#setting-kp").input_value())
    page.open("double_pendulum", 3)
    expect(page.at("#setting-gait")).to_have_value("snake")
    heavy = float(page.at("#setting-kp").input_value())
    assert heavy > 100 * light
    # what the user has set stays
    page.at("#setting-gait").select_option("wheel")
    page.open("crab", 6)
    expect(page.at("#setting-gait")).to_have_value("wheel")


def test_what_browsers_tell_about_sizes_is_no_failure(page: Page) -> None:
    told = "(message) => dispatchEvent(new ErrorEvent('error', {message}))"
    page.js(told, "ResizeObserver loop completed with undelivered notifications.")
    expect(page.at("#refusal")).to_be_empty()
    page.js(told, "x is not defined")
    page.refused("A part of this page failed: x is not defined")


def test_a_part_of_the_page_that_fails_is_told_and_the_others_go_on(browser: Browser, served: Served) -> None:
    page = browser.page(served.address)
    page.js("void (studio.view.setFits = () => { throw new Error('by chance') })")
    page.choose_face("2")
    page.refused("A part of this page failed: ")
    page.click_port("m0/4")
    page.modules(2)
    page.close()
