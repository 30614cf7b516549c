"""Building robots in a real browser."""

from playwright.sync_api import expect

import modurob as mr
from tests.studio.pages import CRAB, Browser, Page, Served

KEY = mr.load("crab").key


def test_the_crab_by_clicks_in_3d(page: Page) -> None:
    for number, (port, face) in enumerate(CRAB, start=2):
        page.choose_face(face)
        page.click_port(port)
        page.modules(number)
        page.settle()
    assert page.design["key"] == KEY
    expect(page.at("#facts")).to_contain_text("3 degrees of freedom")


def test_the_crab_by_clicks_in_the_grid(page: Page) -> None:
    for number, cell in enumerate(((0, 1), (1, 1), (-1, 1), (1, 2), (-1, 2)), start=2):
        page.click_cell(*cell)
        page.modules(number)
    # the legs are turned: three quarters and one
    for cell, turns in (((1, 2), 3), ((-1, 2), 1)):
        for quarter in range(1, turns + 1):
            page.click_cell(*cell)
            page.until(
                "([c, r, q]) => studio.state.design.grid.cells.some((x) => x.column === c && x.row === r && x.quarters === q)",
                [*cell, quarter],
            )
    assert page.design["key"] == KEY


def test_a_module_in_the_grid_goes_after_its_last_quarter(page: Page) -> None:
    page.click_cell(0, 1)
    page.modules(2)
    for quarter in (1, 2, 3):
        page.click_cell(0, 1)
        page.until("(q) => studio.state.design.grid.cells[1]?.quarters === q", quarter)
    page.click_cell(0, 1)
    page.modules(1)


def test_drag_from_the_palette_and_from_cell_to_cell(page: Page) -> None:
    page.tab.drag_and_drop(".card:has([value=scout])", '[data-key="cell 0,1"]')
    page.modules(2)
    assert page.design["modules"][1]["kind"] == "scout"
    page.tab.drag_and_drop('[data-key="cell 0,1"]', '[data-key="cell 1,0"]')
    page.until("studio.state.design.grid.cells[1].column === 1")


def test_paste_the_matrix(page: Page) -> None:
    page.tab.get_by_role("button", name="Edit as text").click()
    rows = "\n".join(" ".join(map(str, row)) for row in mr.load("crab").aim_table())
    page.tab.get_by_label("Matrix as text").fill(rows)
    page.tab.get_by_role("button", name="Make this robot").click()
    page.modules(6)
    assert page.design["key"] == KEY
    assert page.design["degrees_of_freedom"] == 3
    assert page.design["idle"] == ["m1/hinge", "m3/hinge", "m5/hinge"]


def test_a_wrong_matrix_is_explained_under_it(page: Page) -> None:
    page.tab.get_by_role("button", name="Edit as text").click()
    page.tab.get_by_label("Matrix as text").fill("3 0\n4 9\n0 4")
    page.tab.get_by_role("button", name="Make this robot").click()
    expect(page.at("#refusal")).to_contain_text("no face 9")
    assert len(page.design["modules"]) == 1


def test_an_occupied_place_is_explained_at_the_port(page: Page) -> None:
    page.open("crab", 6)
    page.click_port("m3/4")
    page.modules(7)
    # the place between the legs is taken now, for m1 too
    page.at('[data-key="m1/3"]').click()
    expect(page.at("#refusal")).to_contain_text("would stand where")
    page.js("studio.dockAt('m0/3')")
    expect(page.at("#refusal")).to_contain_text("already holds m1/4")
    assert len(page.design["modules"]) == 7


def test_undo_everything_and_redo_it(page: Page) -> None:
    for number, (port, face) in enumerate(CRAB, start=2):
        page.js("([at, by]) => studio.send('dock', {kind: 'backbone', at, by})", [port, face])
        page.modules(number)
    for left in (5, 4, 3, 2, 1):
        page.at("#undo").click()
        page.modules(left)
    expect(page.at("#undo")).to_be_disabled()
    for number in (2, 3, 4, 5, 6):
        page.tab.keyboard.press("Control+Shift+Z")
        page.modules(number)
    expect(page.at("#redo")).to_be_disabled()
    assert page.design["key"] == KEY


def test_mirror_and_duplicate_a_branch(page: Page) -> None:
    for number, (port, face) in enumerate(CRAB[:3], start=2):
        page.js("([at, by]) => studio.send('dock', {kind: 'backbone', at, by})", [port, face])
        page.modules(number)
    page.tab.get_by_role("button", name="m2 backbone").click()
    page.tab.get_by_role("button", name="Mirror").click()
    page.modules(6)
    assert page.design["key"] == KEY
    page.tab.get_by_role("button", name="m3 backbone").click()
    page.tab.get_by_role("button", name="Duplicate").click()
    page.click_port("m3/3")
    page.modules(7)
    assert "m3/3 - m6/2" in page.design["connections"]


def test_base_and_floating(page: Page) -> None:
    page.open("crab", 6)
    page.tab.get_by_label("free floating").check()
    page.until("studio.state.design.degrees_of_freedom === 9")
    page.tab.get_by_label("Base").select_option("m1")
    page.until("studio.state.design.base === 'm1'")
    expect(page.at("#facts")).to_contain_text("9 degrees of freedom")


def test_a_reload_keeps_the_robot_and_its_history(page: Page) -> None:
    page.open("crab", 6)
    session = page.session
    page.tab.reload()
    page.ready()
    page.modules(6)
    assert page.session == session
    page.at("#undo").click()
    page.modules(1)


def test_two_browsers_do_not_see_each_other(browser: Browser, served: Served, page: Page) -> None:
    other = browser.page(served.address)
    page.open("crab", 6)
    other.settle()
    assert len(other.design["modules"]) == 1
    assert other.session != page.session
    other.close()


def test_two_tabs_of_one_browser_have_a_session_each(page: Page, served: Served) -> None:
    page.open("crab", 6)
    tab = page.context.new_page()
    tab.goto(served.address)
    other = Page(tab, [])
    other.ready()
    assert other.design["key"] == KEY
    assert other.session != page.session
    tab.close()


def test_keyboard_only(page: Page) -> None:
    """The crab without a pointer: from the list of ports, the grid's cells, and the keys of the page."""
    keyboard = page.tab.keyboard
    for number, (port, face) in enumerate(CRAB, start=2):
        chosen = page.js("studio.state.by")
        page.at(f'input[name="by"][value="{chosen}"]').focus()
        for _ in range("2345".index(face) - "2345".index(chosen)):
            keyboard.press("ArrowRight")
        for _ in range("2345".index(chosen) - "2345".index(face)):
            keyboard.press("ArrowLeft")
        page.at(f'[data-key="{port}"]').focus()
        keyboard.press("Enter")
        page.modules(number)
    assert page.design["key"] == KEY
    page.at('[data-key="module m5"]').focus()
    keyboard.press("Space")
    keyboard.press("Delete")
    page.modules(5)
    keyboard.press("Control+z")
    page.modules(6)
    page.at('[data-key="cell 0,0"]').focus()
    keyboard.press("ArrowDown")
    keyboard.press("Enter")
    page.modules(7)
    for number, name in enumerate(("build", "inspect", "equations", "simulate", "motion", "export"), start=1):
        keyboard.press(f"Alt+{number}")
        expect(page.at(f"#panel-{name}")).to_be_visible()
        assert page.js("document.activeElement.id") == f"tab-{name}"
    keyboard.press("?")
    expect(page.tab.get_by_role("dialog")).to_contain_text("Keys and gestures")


def test_a_drag_is_not_a_click(page: Page) -> None:
    where = page.until("studio.view.clickable('m0/4')")
    page.tab.mouse.move(where["x"], where["y"])
    page.tab.mouse.down()
    page.tab.mouse.move(where["x"] + 30, where["y"] + 5, steps=4)
    page.tab.mouse.up()
    page.settle()
    assert len(page.design["modules"]) == 1
