"""The 3D view: the robot whole and free of captions, seen from above the floor, followed where it floats."""

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.studio.pages import SIZED, SIZES, Browser, Page, Served

POINTS = """() => {
  const points = studio.view.points(), stage = document.querySelector("#stage").getBoundingClientRect();
  const lens = studio.view.camera.lens, seen = [];
  for (let i = 0; i < points.length; i += 3) {
    const p = studio.view.light.sun.position.clone().fromArray(points, i).project(lens);
    seen.push([stage.left + ((p.x + 1) / 2) * stage.width, stage.top + ((1 - p.y) / 2) * stage.height]);
  }
  return seen;
}"""
BOX = """(css) => {
  const { left, top, right, bottom } = document.querySelector(css).getBoundingClientRect();
  return [left, top, right, bottom];
}"""

WITHIN = """(points) => {
  const { left, top, right, bottom } = document.querySelector("#stage").getBoundingClientRect();
  return points.every(([x, y]) => x > left && x < right && y > top && y < bottom);
}"""
FREE = """(points) => {
  const box = (css) => document.querySelector(css).getBoundingClientRect();
  const { left, right } = box("#stage"), top = box(".view-tools").bottom, bottom = box("#facts").top;
  return points.every(([x, y]) => x > left && x < right && y > top && y < bottom);
}"""

# a key that is held down, and a wheel that is spun
HELD = """([key, times]) => {
  const event = () => new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
  for (let i = 0; i < times; i++) document.activeElement.dispatchEvent(event());
}"""
SPUN = """([clientX, clientY, times]) => {
  const event = () => new WheelEvent("wheel", { deltaY: 1000, clientX, clientY, bubbles: true, cancelable: true });
  for (let i = 0; i < times; i++) document.querySelector("#canvas").dispatchEvent(event());
}"""


@pytest.fixture(params=SIZED)
def sized(browser: Browser, served: Served, request: pytest.FixtureRequest) -> Iterator[Page]:
    width, height = SIZES[request.param]
    page = browser.page(served.address, viewport={"width": width, "height": height})
    yield page
    page.close()
    assert page.problems == []


def free_of_captions(page: Page) -> None:
    """All corners of the robot and all ports are in the stage, below the buttons and above the facts, once it has settled."""
    page.settle()
    page.until(f"() => ({FREE})(({POINTS})())")


def test_the_robot_is_never_cut_off_nor_under_captions(sized: Page) -> None:
    free_of_captions(sized)
    for robot, modules in (("crab", 6), ("tree9", 9), ("crane", 3)):
        sized.open(robot, modules)
        free_of_captions(sized)
        sized.settle()
        size = np.ptp(np.array(sized.js(POINTS)), axis=0)
        stage = sized.js(BOX, "#stage")
        assert size[0] > 0.3 * (stage[2] - stage[0]) or size[1] > 0.3 * (stage[3] - stage[1])
    # another stage: the timeline takes a part of it
    sized.open("crab", 6)
    for panel in ("Simulate", "Equations", "Build"):
        sized.panel(panel)
        free_of_captions(sized)


def test_what_is_docked_is_brought_into_view(page: Page) -> None:
    for i in range(5):
        page.js("(at) => studio.send('dock', {kind: 'backbone', at, by: '4'})", f"m{i}/3")
        page.modules(i + 2)
        free_of_captions(page)


def test_all_free_ports_can_be_clicked_or_are_behind_something(page: Page) -> None:
    """No port hides under the facts or the buttons."""
    page.open("crab", 6)
    page.settle()
    below, above = page.js(BOX, ".view-tools")[3], page.js(BOX, "#facts")[1]
    for port in page.design["ports"]:
        where = page.js("(ref) => studio.view.clickable(ref)", port["ref"])
        assert where is None or below < where["y"] < above


def test_a_pose_that_leaves_the_view_is_brought_back(page: Page) -> None:
    for i in range(5):
        page.js("(at) => studio.send('dock', {kind: 'backbone', at, by: '4'})", f"m{i}/3")
        page.modules(i + 2)
    floor = page.js("studio.view.ground.group.position.z")
    before = page.js("studio.view.camera.lens.position.toArray()")
    for index, value in ((0, -0.9), (1, -0.9), (2, -0.9), (3, 0.9), (4, 0.9)):
        page.js("([index, value]) => studio.send('set_coordinate', {index, value})", [index, value])
    page.until("studio.state.pose.q[4] === 0.9")
    page.until("(before) => studio.view.camera.lens.position.toArray().some((x, i) => x !== before[i])", before)
    page.until("!studio.view.cutOff()")
    # the floor stays where it is while the robot moves
    assert page.js("studio.view.ground.group.position.z") == floor


# ---- the camera ----


def direction(page: Page) -> np.ndarray:
    offset = "studio.view.camera.lens.position.clone().sub(studio.view.camera.controls.target).normalize().toArray()"
    return np.array(page.js(offset))


def test_another_robot_is_seen_from_the_standard_side(page: Page) -> None:
    standard = direction(page)
    page.open("crab", 6)
    page.settle()
    assert np.allclose(direction(page), standard, atol=1e-6)
    page.at("#canvas").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "-", "-"):
        page.tab.keyboard.press(key)
    turned = direction(page)
    assert np.linalg.norm(turned - standard) > 0.1
    # an edit keeps the side
    page.js("studio.send('dock', {kind: 'backbone', at: 'm3/3', by: '4'})")
    page.modules(7)
    page.settle()
    assert np.allclose(direction(page), turned, atol=1e-6)
    page.open("tree9", 9)
    page.settle()
    assert np.allclose(direction(page), standard, atol=1e-6)
    free_of_captions(page)
    page.at("#undo").click()
    page.modules(7)
    page.settle()
    free_of_captions(page)


def test_the_camera_stays_above_the_floor(page: Page) -> None:
    page.open("crab", 6)
    page.at("#canvas").focus()
    page.tab.keyboard.press("ArrowDown")
    page.js(HELD, ["ArrowDown", 40])
    assert page.js("studio.view.camera.lens.position.z > studio.view.ground.group.position.z")
    # by the pointer too: dragged up, and shifted down with the right button
    box = page.at("#canvas").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for button in ("left", "right"):
        page.tab.mouse.move(x, y)
        page.tab.mouse.down(button=button)  # type: ignore[arg-type]
        page.tab.mouse.move(x, y - 300, steps=5)
        page.tab.mouse.up(button=button)  # type: ignore[arg-type]
        page.settle()
        assert page.js("studio.view.camera.lens.position.z > studio.view.ground.group.position.z")
        assert page.js("studio.view.camera.controls.target.z >= studio.view.ground.group.position.z")


def test_zooming_ends_before_the_robot_is_lost(page: Page) -> None:
    page.open("crab", 6)
    page.settle()
    distance = "studio.view.camera.lens.position.distanceTo(studio.view.camera.controls.target)"
    fitted = page.js(distance)
    page.at("#canvas").focus()
    page.tab.keyboard.press("-")
    assert page.js(distance) > 1.01 * fitted
    page.js(HELD, ["-", 80])
    assert 4 * fitted < page.js(distance) <= 8.01 * fitted
    page.js(HELD, ["+", 160])
    assert 0.05 < page.js(distance) < fitted
    box = page.at("#canvas").bounding_box()
    assert box is not None
    page.tab.mouse.move(box["x"] + 300, box["y"] + 300)
    near = page.js(distance)
    page.tab.mouse.wheel(0, 1000)
    page.until(f"(near) => {distance} > 1.01 * near", near)
    page.js(SPUN, [box["x"] + 300, box["y"] + 300, 60])
    page.settle()
    assert 4 * fitted < page.js(distance) <= 8.01 * fitted
    # and the robot is still drawn: not beyond the far plane
    assert page.js("studio.view.camera.lens.far") > page.js(distance)
    page.tab.keyboard.press("f")
    free_of_captions(page)


# ---- robots that float ----


def test_a_floating_robot_falls_in_view_and_no_floor_is_drawn(page: Page) -> None:
    """One run, looked at on each size of screen."""
    page.open("crab", 6)
    assert page.js("studio.view.ground.group.visible")
    page.panel("Simulate")
    page.at("label:has(#stands-floats)").click()
    page.until("studio.state.design.floating")
    page.until("!studio.view.ground.group.visible")
    expect(page.at("#facts")).to_contain_text("Floats, and falls in a run; set it on the ground in Simulate")
    free_of_captions(page)
    page.at("#setting-duration").fill("2")
    page.at("#setting-duration").press("Tab")
    page.hurry()
    page.at("#run").click()
    page.until("studio.state.runs.runs[0]?.status === 'finished'")
    for width, height in SIZES.values():
        page.tab.set_viewport_size({"width": width, "height": height})
        page.settle()
        page.until(f"() => ({WITHIN})(({POINTS})())")
        # in view all the way, not only when the view is fitted again
        page.at("#scrub").fill("2")
        page.until("studio.view.framing.centre.z < -10")
        page.settle()
        assert page.js(f"() => ({WITHIN})(({POINTS})())")
        expect(page.at("#height")).to_contain_text("z = -1")
        # back to where it stood
        page.at("#scrub").fill("0")
        page.until("studio.view.framing.centre.z > -0.5")
        free_of_captions(page)
    # and on the floor again
    page.at("label:has(#stands-fixed)").click()
    page.until("studio.view.ground.group.visible")
    free_of_captions(page)


def test_without_gravity_it_is_said_too(page: Page) -> None:
    page.open("crab", 6)
    page.js("studio.send('set_base', {module: 'm0', floating: true})")
    page.js("studio.send('set_gravity', {gravity: [0, 0, 0]})")
    expect(page.at("#facts")).to_contain_text("Floats without gravity")
    assert not page.js("studio.view.ground.group.visible")
