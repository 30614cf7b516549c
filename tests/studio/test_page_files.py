"""Robots from files, and files from robots: URDF, module types of one's own, names, symbols, links, a restarted server."""

import base64
import re
import struct
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from matplotlib.image import imread
from playwright.sync_api import expect

import modurob as mr
from modurob.studio.autosave import Autosave
from modurob.studio.design import AnyDesign, Design
from modurob.studio.opening import first
from modurob.studio.server import Studio, listening, server
from tests.studio.pages import Browser, Page, Served
from tests.studio.test_opening import ARM, FLOATS, OWN_TYPES, strong_robot

CRAB = mr.load("crab")


# ---- robots of links ----


def test_a_urdf_file_is_opened_posed_derived_simulated_and_saved(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(FLOATS)
    page.at("#gallery-open").click()
    page.tab.get_by_label("Robot file").set_input_files(file)
    page.until("studio.state.design.made_of === 'links'")
    expect(page.tab.get_by_role("dialog")).to_be_hidden()
    expect(page.at("#facts")).to_contain_text("3 links · 2 degrees of freedom")
    # what makes no sense is not there, and a word says why
    expect(page.at("#panel-build")).to_contain_text("there is nothing to dock")
    for name in ("Duplicate", "Mirror", "Undock branch", "Connect", "Edit as text"):
        expect(page.tab.get_by_role("button", name=name)).to_have_count(0)
    expect(page.at(".palette")).to_be_hidden()
    # inspected
    page.panel("Inspect")
    page.at("#slider-0").fill("0.5")
    page.until("Math.abs(studio.state.pose.q[0] - 0.5) < 0.01")
    shown = np.reshape(page.js("[...studio.view.poses]"), (-1, 3, 4))
    robot = mr.Mechanism.from_urdf(file)
    page.settle()
    q = page.js("studio.state.pose.q")
    shown = np.reshape(page.js("[...studio.view.poses]"), (-1, 3, 4))
    assert np.allclose(shown, robot.forward_kinematics(q).bodies[:, :3], atol=1e-5)
    page.tab.get_by_label("Link to inspect").select_option("fore")
    expect(page.at("#panel-inspect")).to_contain_text("1 kg, centre of mass at (0, 0, 0.1) m")
    # its equations
    page.panel("Equations")
    expect(page.at(".equation .katex").first).to_be_visible()
    expect(page.at("#panel-equations")).to_contain_text("coordinate of joint shoulder")
    # a run, from that pose
    page.panel("Simulate")
    page.at("#setting-duration").fill("0.5")
    page.at("#setting-duration").press("Tab")
    page.at("#run").click()
    page.until("studio.state.runs.runs[0]?.status === 'finished'")
    # and back to a file
    with page.tab.expect_download() as download:
        page.at("#save").click()
    assert download.value.suggested_filename == "arm.urdf"
    download.value.save_as(tmp_path / "again.urdf")
    assert mr.Mechanism.from_urdf(tmp_path / "again.urdf").key == robot.key
    page.panel("Build")
    page.tab.get_by_label("free floating").check()
    page.until("studio.state.design.degrees_of_freedom === 8")
    page.open("crab", 6)
    expect(page.at(".palette")).to_be_visible()


def test_a_urdf_file_is_dropped_on_the_page(page: Page) -> None:
    drop = """(text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "arm.urdf"));
      const event = { dataTransfer: data, bubbles: true, cancelable: true };
      for (const kind of ["dragover", "drop"]) document.querySelector("#canvas").dispatchEvent(new DragEvent(kind, event));
    }"""
    page.js(drop, ARM)
    page.until("studio.state.design.made_of === 'links'")
    page.js(drop, "<robot name='x'/>")
    page.refused("Not opened: arm.urdf: no <link>")
    assert page.design["name"] == "arm"
    page.problems.clear()  # the browser's own word on the refused file


def test_a_wrong_edit_of_a_robot_of_links_is_told(page: Page) -> None:
    page.js("(text) => studio.send('open', {text})", ARM)
    page.until("studio.state.design.made_of === 'links'")
    page.js("studio.send('dock', {kind: 'backbone', at: 'upper/3', by: '4'})")
    page.refused("arm is made of links from a URDF file and has no modules")


# ---- module types of one's own ----


def test_a_robot_with_its_own_module_types_is_shown_and_grows(page: Page) -> None:
    """One of them called like a shipped type, one with a colour that is none."""
    page.js("(text) => studio.send('open', {text})", OWN_TYPES)
    page.modules(2)
    expect(page.at(".cell.full svg")).to_have_count(2)
    page.tab.get_by_role("radio", name="brick").check(force=True)
    page.tab.get_by_role("radiogroup", name="Face it docks by").get_by_text("b", exact=True).click()
    page.at('[data-key="m1/a"]').click()
    page.modules(3)
    assert page.design["modules"][2]["kind"] == "brick"
    # panels behind the grid are drawn too, and another robot is opened after it
    page.panel("Inspect")
    expect(page.at("#panel-inspect")).to_contain_text("modules")
    page.open("crab", 6)
    expect(page.at(".cell.full svg")).to_have_count(6)


def test_infinite_limits_do_not_break_the_page(page: Page) -> None:
    """JSON has no infinity: the page once could not read what it was sent."""
    page.js("(text) => studio.send('open', {text})", strong_robot())
    page.modules(2)
    page.panel("Inspect")
    page.tab.get_by_label("Module to inspect").select_option("m0")
    expect(page.at("#panel-inspect")).to_contain_text("m0/hinge: revolute")
    expect(page.at("#panel-inspect")).not_to_contain_text("null")
    page.at("#slider-0").fill("0.3")
    page.until("Math.abs(studio.state.pose.q[0] - 0.3) < 0.01")


# ---- files ----


def saved(page: Page, css: str) -> str:
    with page.tab.expect_download() as download:
        page.at(css).click()
    return download.value.suggested_filename


def test_save_is_called_as_the_robot(page: Page) -> None:
    page.open("crab", 6)
    page.at("#robot-name").fill("my crab/2")
    page.at("#robot-name").press("Enter")
    page.until("studio.state.design.name === 'my crab/2'")
    assert saved(page, "#save") == "my crab_2.yaml"
    page.panel("Export")
    assert saved(page, '[data-file="robot.urdf"]') == "my crab_2.urdf"
    assert saved(page, '[data-file="equations.py"]') == "my crab_2_equations.py"
    with page.tab.expect_download() as download:
        page.tab.keyboard.press("Control+s")
    assert download.value.suggested_filename == "my crab_2.yaml"


def test_exports_have_the_chosen_symbols(page: Page, tmp_path: Path) -> None:
    page.open("crab", 6)
    page.panel("Equations")
    for symbol in ("gravity", "lengths", "dampings"):
        page.tab.get_by_role("button", name=symbol, exact=True).click()
    page.tab.get_by_label("short:").uncheck()
    page.panel("Export")
    expect(page.at("#panel-export")).to_contain_text("Equations with masses, dampings as symbols")
    robot = CRAB.mechanism()
    eq = robot.equations(("masses", "dampings"), avoid=robot.frames)
    for name, text in (
        ("equations.tex", eq.latex(document=True)),
        ("equations.py", eq.python()),
        ("equations.c", eq.c()),
    ):
        with page.tab.expect_download() as download:
            page.at(f'[data-file="{name}"]').click()
        download.value.save_as(tmp_path / name)
        assert (tmp_path / name).read_text() == text


def test_a_file_that_cannot_be_written_is_told(page: Page) -> None:
    for number, cell in enumerate(((1, 0), (1, 1), (0, 1)), start=2):
        page.click_cell(*cell)
        page.modules(number)
    page.panel("Export")
    page.at('[data-file="robot.urdf"]').click()
    page.refused("No file: URDF has no loops")
    page.problems.clear()  # the browser's own word on the refused file


# ---- share links ----


def test_a_share_link_keeps_base_floating_and_gravity(page: Page, browser: Browser) -> None:
    page.open("crab", 6)
    page.js("studio.send('set_base', {module: 'm1', floating: true})")
    page.js("studio.send('set_gravity', {gravity: [0, 0, -1.62]})")
    page.until("studio.state.design.gravity[2] === -1.62")
    page.panel("Export")
    field = page.tab.get_by_label("Share link", exact=True)
    expect(field).to_have_value(re.compile("#robot="))
    page.until("(text) => document.querySelector('[aria-label=\"Share link\"]').value !== text", "")
    other = browser.page(field.input_value(), plain=True)
    other.until("studio.state.design.base === 'm1' && studio.state.design.floating")
    assert other.design["gravity"] == [0, 0, -1.62]
    # a guest can do what others can, and a reload keeps it
    other.js("studio.send('dock', {kind: 'backbone', at: 'm3/3', by: '4'})")
    other.modules(7)
    other.tab.reload()
    other.ready()
    other.modules(7)
    other.close()
    assert other.problems == []


def test_a_huge_share_link_is_refused_and_the_page_lives(page: Page) -> None:
    squeezer = zlib.compressobj(9, wbits=-15)
    bomb = base64.urlsafe_b64encode(squeezer.compress(b" " * 30_000_000) + squeezer.flush()).decode().rstrip("=")
    page.at("#gallery-open").click()
    page.tab.get_by_label("Robot as text, or a share link").fill(f"http://127.0.0.1/#robot={bomb}")
    page.tab.get_by_role("button", name="Open the text").click()
    page.refused("more than 2 MB")


# ---- a server that was started again ----


@contextmanager
def running(autosave: Autosave, port: int = 0, design: AnyDesign | None = None) -> Iterator[Served]:
    studio = Studio(design, autosave)
    with listening("127.0.0.1", port) as door:
        web = server(studio)
        thread = threading.Thread(target=web.run, kwargs={"sockets": [door]}, daemon=True)
        thread.start()
        yield Served(studio, f"http://127.0.0.1:{door.getsockname()[1]}/?token={studio.token}")
        web.should_exit = True
        thread.join(timeout=10)


def test_edits_survive_a_restart_and_the_page_says_so(browser: Browser, tmp_path: Path) -> None:
    with running(Autosave(tmp_path)) as first:
        page = browser.page(first.address)
        page.open("crab", 6)
        page.js("studio.send('dock', {kind: 'backbone', at: 'm3/3', by: '4'})")
        page.modules(7)
        port = urlsplit(first.address).port
        assert port
    # the server is gone: it is told, and nothing that is tried is lost without a word
    page.refused("The studio does not answer: It is not running")
    page.js("studio.send('undock', {module: 'm6'})")
    page.refused("this page is not connected to the studio")
    with running(Autosave(tmp_path), port) as second:
        page.refused("It was started again, with another token")
        page.tab.goto(f"{second.address}&detail=low")
        page.ready()
        page.modules(7)
        expect(page.at("#news")).to_contain_text("Your robot is back as it was last saved")
        assert page.inside("#news")
        expect(page.at("#connection")).to_have_text("connected")
        page.close()


def test_a_studio_that_is_started_with_a_urdf_file_shows_it(browser: Browser, tmp_path: Path) -> None:
    """As `modurob studio arm.urdf` starts it."""
    file = tmp_path / "arm.urdf"
    file.write_text(ARM)
    with running(Autosave(tmp_path / "saved"), design=first(str(file), None)) as studio:
        page = browser.page(studio.address)
        assert (page.design["made_of"], page.design["name"]) == ("links", "arm")
        expect(page.at("#facts")).to_contain_text("degrees of freedom")
        page.close()
        assert page.problems == []


def test_a_damaged_file_of_the_user_is_told_and_the_page_opens(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / f"{7:032x}.json").write_text('{"name": "x", "modules": ')
    (tmp_path / "nowhere.json").symlink_to(tmp_path / "missing")
    autosave = Autosave(tmp_path)
    autosave.save("f" * 32, Design(CRAB))
    with running(autosave) as studio:
        page = browser.page(studio.address)
        page.refused("Some of your files cannot be read")
        assert "nowhere.json" in page.at("#refusal").inner_text()
        page.at("#gallery-open").click()
        expect(page.at("dialog[open]")).to_contain_text("6 modules")
        page.close()


def test_a_robot_that_cannot_be_saved_is_told(browser: Browser, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with running(Autosave(blocked / "folder")) as studio:
        page = browser.page(studio.address)
        page.open("crab", 6)
        expect(page.at("#news")).to_contain_text("this robot is not saved by itself")
        expect(page.at("#connection")).to_have_text("not saved")
        page.close()


# ---- pictures ----


def test_a_plot_is_saved_large(page: Page, tmp_path: Path) -> None:
    page.open("crab", 6)
    page.panel("Simulate")
    page.at("#setting-duration").fill("0.5")
    page.at("#setting-duration").press("Tab")
    page.at("#run").click()
    page.until("studio.state.runs.runs[0]?.status === 'finished'")
    page.until("Number(document.querySelector('[data-samples]').dataset.samples) > 20")
    with page.tab.expect_download() as download:
        page.tab.get_by_role("button", name="Save the plot of position as PNG").click()
    assert download.value.suggested_filename == "crab_position.png"
    path = tmp_path / "plot.png"
    download.value.save_as(path)
    width, height = struct.unpack(">II", path.read_bytes()[16:24])
    assert width >= 1600
    assert height >= 900
    # lines in the colours of the joints, not an empty frame
    picture = (imread(path)[..., :3] * 255).round().astype(int)
    for ink in ((0xB4, 0x53, 0x09), (0x0F, 0x76, 0x6E)):
        assert (np.abs(picture[250:] - ink).max(axis=-1) < 12).sum() > 300


def test_pictures_of_two_runs_have_both(page: Page, tmp_path: Path) -> None:
    page.open("crab", 6)
    page.hurry()
    page.panel("Simulate")
    page.at("#setting-duration").fill("0.5")
    page.at("#setting-duration").press("Tab")
    for number in (0, 1):
        page.at("#run").click()
        page.until("(n) => studio.state.runs.runs[n]?.status === 'finished'", number)
    page.tab.get_by_label("Plot run 0").check()
    with page.tab.expect_download() as download:
        page.tab.get_by_role("button", name="Save the plot of position as PNG").click()
    download.value.save_as(tmp_path / "two.png")
    assert struct.unpack(">II", (tmp_path / "two.png").read_bytes()[16:24])[0] >= 1600
