"""Inspecting, equations, exporting, looks and manners of the page, in a real browser."""

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

import modurob as mr
from modurob.assembly import dumps
from modurob.robot import loads
from tests.studio.pages import PANELS, SIZES, Browser, Page, Served
from tests.studio.test_opening import ARM

CRAB = mr.load("crab")
AXE = Path(__file__).parent / "vendor/axe-core/axe.min.js"


# ---- inspect ----


def test_sliders_pose_the_robot(page: Page) -> None:
    page.open("crab", 6)
    page.panel("Inspect")
    page.at("#slider-0").fill("0.5")
    page.until("Math.abs(studio.state.pose.q[0] - 0.5) < 0.01")
    q = np.array(page.js("studio.state.pose.q"))
    poses = np.reshape(page.until("[...studio.view.poses]"), (-1, 3, 4))
    page.until("(x) => Math.abs(studio.view.poses[12 + 5] - x) < 1e-5", float(np.cos(q[0])))
    poses = np.reshape(page.js("[...studio.view.poses]"), (-1, 3, 4))
    assert np.allclose(poses, CRAB.mechanism().forward_kinematics(q).bodies[:, :3], atol=1e-6)
    page.tab.get_by_role("button", name="All to zero").click()
    page.until("studio.state.pose.q.every((x) => x === 0)")


def test_parameters_are_fields_with_units(page: Page) -> None:
    page.open("crab", 6)
    page.panel("Inspect")
    page.tab.get_by_label("Module to inspect").select_option("m3")
    field = page.at("#parameter-mass")
    expect(field).to_have_value("1")
    field.fill("2.5")
    field.press("Enter")
    page.until("studio.state.design.modules[3].parameters.find((p) => p.name === 'mass').value === 2.5")
    expect(page.at("#facts")).to_contain_text("6.5 kg")
    field.fill("-1")
    field.press("Enter")
    expect(page.at("#refusal")).to_contain_text("-1 is out of range, expected at least 0; it stays 2.5")
    expect(page.at("#panel-inspect")).to_contain_text("idle hinges, locked: m1/hinge, m3/hinge, m5/hinge")


def test_stops_are_fields_and_bound_the_sliders(page: Page) -> None:
    page.open("crab", 6)
    page.panel("Inspect")
    page.tab.get_by_label("Module to inspect").select_option("m0")
    page.at("#parameter-upper_stop").fill("0.25")
    page.at("#parameter-upper_stop").press("Enter")
    page.until("studio.state.design.joints[0].upper[0] === 0.25")
    expect(page.tab.get_by_role("slider", name="m0/hinge").first).to_have_attribute("max", "0.25")
    expect(page.tab.get_by_role("slider", name="m2/hinge").first).not_to_have_attribute("max", "0.25")
    assert page.design["joints"][0]["lower"] == pytest.approx([-np.pi / 2])


@pytest.mark.drawn
def test_layers_can_be_laid_over_the_robot(page: Page) -> None:
    page.open("crab", 6)
    for layer in ("frames", "centres", "ellipsoids", "names"):
        page.at(f"#view-{layer}").click()
        expect(page.at(f"#view-{layer}")).to_have_attribute("aria-pressed", "true")
    expect(page.at("#labels .name")).to_have_count(6)
    assert page.js("studio.view.marks.ellipsoids.visible && studio.view.marks.frames.visible")
    # the large mark stands in the centre of mass of the robot
    robot = CRAB.mechanism()
    mark = page.js("[...studio.view.marks.centre.instanceMatrix.array.slice(12, 15)]")
    assert np.allclose(mark, robot.centre_of_mass(robot.neutral()), atol=1e-6)
    page.picture("layers")


# ---- export ----


def saved(page: Page, name: str, folder: Path) -> Path:
    with page.tab.expect_download() as download:
        page.at(f'[data-file="{name}"]').click()
    path = folder / name
    download.value.save_as(path)
    return path


@pytest.mark.drawn
def test_export_and_load_back(page: Page, tmp_path: Path, rng: np.random.Generator) -> None:
    page.open("crab", 6)
    page.panel("Export")
    assert mr.load(saved(page, "robot.yaml", tmp_path)).key == CRAB.key
    robot, again = CRAB.mechanism(), mr.Mechanism.from_urdf(saved(page, "robot.urdf", tmp_path))
    q, v, vdot = rng.normal(size=(3, 3))
    assert np.allclose(again.inverse_dynamics(q, v, vdot), robot.inverse_dynamics(q, v, vdot), atol=1e-12)
    eq = robot.equations(("masses", "lengths", "gravity"), avoid=robot.frames)
    assert saved(page, "equations.c", tmp_path).read_text() == eq.c()
    with page.tab.expect_download() as download:
        page.at("#picture").click()
    download.value.save_as(tmp_path / "view.png")
    assert (tmp_path / "view.png").read_bytes()[:4] == b"\x89PNG"


def test_a_share_link_carries_the_robot(page: Page, browser: Browser, served: Served) -> None:
    page.open("tree9", 9)
    page.panel("Export")
    link = page.tab.get_by_label("Share link", exact=True)
    expect(link).to_have_value(re.compile("#robot="))
    assert served.studio.token not in link.input_value()
    # in a browser that knows nothing of this studio
    other = browser.page(link.input_value(), plain=True)
    other.modules(9)
    assert other.design["key"] == mr.load("tree9").key
    other.close()
    # and as text, in any studio
    text = page.tab.get_by_label("Share text", exact=True).input_value()
    page.at("#gallery-open").click()
    page.tab.get_by_role("dialog").get_by_role("button", name="crab").first.click()
    page.modules(6)
    page.at("#gallery-open").click()
    page.tab.get_by_label("Robot as text, or a share link").fill(text)
    page.tab.get_by_role("button", name="Open the text").click()
    page.modules(9)


def test_a_cut_off_link_is_explained(page: Page) -> None:
    page.at("#gallery-open").click()
    page.tab.get_by_label("Robot as text, or a share link").fill("http://127.0.0.1/#robot=abc")
    page.tab.get_by_role("button", name="Open the text").click()
    expect(page.at("#refusal")).to_contain_text("cut off")


# ---- opening ----


def test_a_file_is_opened_and_a_huge_one_refused(page: Page, tmp_path: Path) -> None:
    page.at("#gallery-open").click()
    huge = tmp_path / "huge.yaml"
    huge.write_bytes(b"#" * 3_000_000)
    page.tab.get_by_label("Robot file").set_input_files(huge)
    expect(page.at("#refusal")).to_contain_text("at most 2 MB")
    good = tmp_path / "crab.yaml"
    good.write_text(dumps(CRAB))
    page.tab.get_by_label("Robot file").set_input_files(good)
    page.modules(6)
    expect(page.tab.get_by_role("dialog")).to_be_hidden()
    assert loads(dumps(CRAB)).key == page.design["key"]


def test_text_that_is_no_robot_is_explained(page: Page) -> None:
    page.at("#gallery-open").click()
    page.tab.get_by_label("Robot as text, or a share link").fill("format: modurob assembly 1\nmodules: {m0: spider}")
    page.tab.get_by_role("button", name="Open the text").click()
    expect(page.at("#refusal")).to_contain_text("no module type 'spider'")
    page.js("studio.send('open', {text: 'x'.repeat(3e6)})")
    expect(page.at("#refusal")).to_contain_text("too long")


# ---- looks and manners ----


def violations(page: Page) -> list[str]:
    """What axe-core finds wrong with what is on the screen."""
    found = page.js("axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations)")
    return [f"{v['id']} ({v['impact']}): {[n['html'][:160] for n in v['nodes'][:3]]}" for v in found]


JUDGED = pytest.mark.judge
LOOKS = (
    ("light", "laptop", "none"),
    pytest.param("light", "laptop", "low", marks=JUDGED),
    pytest.param("light", "laptop", "high", marks=JUDGED),
    pytest.param("dark", "laptop", "low", marks=JUDGED),
    pytest.param("light", "phone", "low", marks=JUDGED),
    pytest.param("dark", "phone", "low", marks=JUDGED),
    pytest.param("light", "large", "low", marks=JUDGED),
    pytest.param("dark", "large", "low", marks=JUDGED),
)


@pytest.mark.parametrize(("scheme", "size", "detail"), LOOKS)
def test_no_violation_of_accessibility(browser: Browser, served: Served, scheme: str, size: str, detail: str) -> None:
    """axe-core on every screen, at three sizes, in both colour schemes; pictures of all of them in the long sweep."""
    width, height = SIZES[size]
    pictures = (scheme, size, detail) != LOOKS[0]
    options = {"color_scheme": scheme, "bypass_csp": True, "viewport": {"width": width, "height": height}}
    page = browser.page(served.address, detail=detail, **options)
    page.open("crab", 6)
    page.js("studio.send('set_coordinate', {index: 1, value: 0.5})")
    page.js("studio.send('set_coordinate', {index: 2, value: 0.5})")
    page.tab.add_script_tag(path=AXE)
    seen: dict[str, list[str]] = {}

    def look(screen: str) -> None:
        page.settle()
        if pictures:
            page.picture(f"{screen}_{size}_{scheme}")
        seen[screen] = violations(page)

    for panel in PANELS:
        page.panel(panel)
        if panel == "Inspect":
            page.tab.get_by_label("Module to inspect").select_option("m3")
        if panel == "Equations":
            expect(page.at(".equation .katex").first).to_be_visible()
        if panel == "Simulate":
            page.at("#setting-duration").fill("1")
            page.at("#setting-duration").press("Tab")
            page.hurry()
            page.at("#run").click()
            page.until("studio.state.runs.runs[0]?.status === 'finished'")
            expect(page.at(".plot canvas")).to_have_count(3)
        if panel == "Export":
            expect(page.tab.get_by_label("Share text", exact=True)).not_to_have_value("")
        look(panel.lower())
    page.panel("Build")
    page.tab.get_by_role("button", name="m2 backbone").click()
    page.tab.get_by_role("button", name="Duplicate").click()
    page.js("studio.dockAt('m0/3')")
    page.refused("already holds")
    look("refused")
    page.at("#gallery-open").click()
    page.tab.get_by_role("button", name="Open the text").click()
    page.refused("expected")
    look("gallery")
    page.tab.keyboard.press("Escape")
    page.at("#help-open").click()
    look("help")
    page.tab.keyboard.press("Escape")
    page.js("(text) => studio.send('open', {text})", ARM)
    page.until("studio.state.design.made_of === 'links'")
    look("links")
    page.close()
    assert {screen: found for screen, found in seen.items() if found} == {}


@JUDGED
def test_high_detail_has_shadows_and_a_room_to_mirror(browser: Browser, served: Served) -> None:
    page = browser.page(served.address, detail="high", viewport={"width": 480, "height": 360})
    page.open("crab", 6)
    page.settle()
    rich = "[studio.view.low, studio.view.renderer.shadowMap.enabled, studio.view.scene.environment !== null]"
    assert page.js(rich) == [False, True, True]
    fine = page.js("studio.view.still().length")
    page.js("document.querySelector('#view-low').click()")
    page.settle()
    assert page.js(rich) == [True, False, False]
    assert page.js("studio.view.still().length") < fine
    page.close()
    page = browser.page(served.address, detail="plain", viewport={"width": 480, "height": 360})
    page.open("crab", 6)
    page.settle()
    assert page.js(rich) == [False, True, False]
    page.close()
    assert page.strayed == page.problems == []


def test_the_theme_can_be_chosen(page: Page) -> None:
    expect(page.at("html")).to_have_attribute("data-theme", "light")
    page.at("#theme").click()
    page.at("#theme").click()
    expect(page.at("html")).to_have_attribute("data-theme", "dark")
    page.tab.reload()
    page.ready()
    expect(page.at("html")).to_have_attribute("data-theme", "dark")


@pytest.mark.drawn
def test_an_idle_page_draws_nothing(page: Page) -> None:
    page.open("crab", 6)
    page.until("studio.view.frames > 2 && !studio.view.waiting")
    page.tab.wait_for_timeout(200)
    before = page.js("studio.view.frames")
    page.tab.wait_for_timeout(500)
    assert page.js("studio.view.frames") == before


def test_a_page_without_the_token_says_so(browser: Browser, served: Served) -> None:
    context = browser.chromium.new_context()
    tab = context.new_page()
    tab.goto(served.address.split("?")[0])
    expect(tab.locator("body")).to_contain_text("lacks its token")
    context.close()


def test_a_lost_connection_is_shown_and_found_again(page: Page, served: Served) -> None:
    expect(page.at("#connection")).to_have_text("connected")
    page.js("studio.drop()")
    expect(page.at("#connection")).to_have_text("connection lost")
    expect(page.at("#connection")).to_have_text("connected")
