"""The way in, the sides one can look from, and what one takes away."""

import io

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient

import modurob as mr
from modurob.errors import StudioError
from modurob.studio import thumbnails
from modurob.studio.autosave import Autosave
from modurob.studio.design import Design
from tests.studio.pages import Page


def test_the_start_screen_has_pictures_and_opens_what_is_clicked(browser, served):
    page = browser.page(f"{served.address}&detail=low#start", plain=True)
    page.until("document.querySelector('#gallery').open")
    page.until("document.querySelectorAll('#gallery img[src]').length >= 16")
    sizes = page.js("[...document.querySelectorAll('#gallery img[src]')].map((i) => i.src.length)")
    assert min(sizes) > 400
    assert page.js("new Set([...document.querySelectorAll('#gallery img[src]')].map((i) => i.src)).size") >= 14
    page.picture("start")
    for name, modules in (
        ("crab", 6),
        ("tree9", 9),
        ("crane", 3),
        ("double pendulum", 3),
        ("lwa4p", 6),
        ("hexapod", len(mr.walking_robot("hexapod"))),
        ("crab", 6),
    ):
        page.tab.get_by_role("dialog").get_by_role("button", name=name).first.click()
        page.until("(name) => studio.state.design.name === name", name.replace(" ", "_"))
        page.modules(modules)
        assert not page.js("document.querySelector('#gallery').open")
        page.at("#gallery-open").click()
    assert page.js("location.hash") == ""
    page.close()
    assert page.strayed == page.problems == []


@pytest.mark.drawn
def test_a_gallery_that_was_closed_draws_no_more(page):
    """What was not drawn is drawn when it is opened again."""
    count = "studio.load('thumbnails').then((module) => module.pictures)"
    page.until("document.querySelectorAll('#panel-build .palette img').length >= 2")  # those of the palette
    page.at("#gallery-open").click()
    page.until("document.querySelectorAll('#gallery img[src]').length >= 3")
    page.tab.keyboard.press("Escape")
    page.until("!document.querySelector('#gallery').open")
    page.tab.wait_for_timeout(150)  # one may be under way
    drawn = page.js(count)
    page.tab.wait_for_timeout(600)
    assert page.js(count) == drawn < page.js("document.querySelectorAll('#gallery img').length")
    page.at("#gallery-open").click()
    page.until("document.querySelectorAll('#gallery img:not([src])').length == 0")


NO_WEBGL = """
  const asked = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
    return kind.startsWith("webgl") ? null : asked.call(this, kind, ...more);
  };
"""


def test_a_browser_without_webgl_does_all_but_draw(browser, served):
    context = browser.chromium.new_context()
    context.add_init_script(NO_WEBGL)
    page = Page(context.new_page(), [])
    page.tab.goto(served.address)
    page.ready()
    assert page.at("#news").inner_text().startswith("This browser has no WebGL: robots are not drawn in 3D.")
    page.click_port("m0/4")
    page.modules(2)
    context.close()


def away(page: Page) -> list[float]:
    """From the robot to the camera."""
    return page.js(
        "studio.view.camera.lens.position.clone().sub(studio.view.camera.controls.target).normalize().toArray()"
    )


def test_a_click_on_the_triad_looks_along_an_axis(page):
    page.open("crab", 6)
    sides = {"from above": (0, 0, 1), "from the right": (1, 0, 0), "from the front": (0, -1, 0)}
    for name, side in sides.items():
        page.at(f'#triad [title="Look {name}"]').click()
        assert np.allclose(away(page), side, atol=2e-3), name
        assert not page.js("studio.view.cutOff()")
    page.at("#view-home").click()
    usual = away(page)
    page.at("#canvas").focus()
    page.tab.keyboard.press("2")
    assert np.allclose(away(page), (1, 0, 0), atol=2e-3)
    page.tab.keyboard.press("0")
    assert np.allclose(away(page), usual, atol=1e-6)


@pytest.mark.drawn
def test_the_robot_leaves_as_python_glb_and_fine_pictures(page, tmp_path):
    page.open("crab", 6)
    page.panel("Export")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.at("#copy-python").click()
    page.until("document.querySelector('#news').textContent.includes('Python copied')")
    text = page.js("navigator.clipboard.readText()")
    names: dict = {}
    exec(text.replace("robot.show(q)", ""), names)
    assert names["assembly"].key == mr.load("crab").key
    with page.tab.expect_download() as waited:
        page.at('[data-file="robot.glb"]').click()
    waited.value.save_as(tmp_path / "crab.glb")
    assert (tmp_path / "crab.glb").read_bytes()[:4] == b"glTF"
    sizes = []
    for name in ("#picture", "#picture-2"):
        with page.tab.expect_download() as waited:
            page.at(name).click()
        sizes.append(Image.open(io.BytesIO(waited.value.path().read_bytes())).size)
    assert sizes[1] == (2 * sizes[0][0], 2 * sizes[0][1])


def test_scenes_are_for_those_who_know_the_token(served):
    with TestClient(served.studio.app(), base_url="http://127.0.0.1") as web:
        assert web.get("/scene/shipped/crab").status_code == 403
        web.get(f"/?token={served.studio.token}")
        assert web.get("/scene/shipped/crab").json()["design"]["name"] == "crab"
        assert "expected a shipped or a recent robot" in web.get("/scene/shipped/nobody").text


def test_pictures_of_recent_robots_are_for_their_owner(tmp_path, monkeypatch):
    saved = Autosave(tmp_path)
    saved.save("0" * 32, Design(mr.load("tree9")))
    assert b"tree9" in bytes(thumbnails.answer(saved, "recent", "0" * 32).body)
    with pytest.raises(StudioError, match="expected a shipped or a recent robot"):
        thumbnails.answer(None, "recent", "0" * 32)
    monkeypatch.setattr(thumbnails, "MOST_SHAPES", 3)
    with pytest.raises(StudioError, match="at most 3 are drawn small"):
        thumbnails.answer(saved, "recent", "0" * 32)


def in_world(body, X):
    """Where the origin of a frame on a body stands, both given by their rows as on the page."""
    (R, p), (_, x) = (np.split(np.reshape(rows, (3, 4)), [3], axis=1) for rows in (body, X))
    return (R @ x + p)[:, 0]


def test_the_end_of_an_arm_is_dragged_and_its_poses_clicked_through(page):
    page.open("lwa4p", 6)
    page.panel("Inspect")
    page.at("#slider-1").fill("0.5")
    page.at("#slider-2").fill("0.9")
    page.until("Math.abs(studio.state.pose.q[2] - 0.9) < 0.05")
    page.at("#reach-frame").select_option("wrist/out")
    page.settle()
    frame = "studio.state.design.ports.find((p) => p.ref === 'wrist/out')"
    where = f"(({{ body, X }}) => studio.view.pixel(body, X))({frame})"
    before, box = page.js(where), page.at("#canvas").bounding_box()
    x, y = box["x"] + before["x"], box["y"] + before["y"]
    page.tab.mouse.move(x, y)
    page.tab.mouse.down()
    page.tab.mouse.move(x - 40, y + 30, steps=4)
    page.until(f"Math.hypot({where}.x - {before['x'] - 40}, {where}.y - {before['y'] + 30}) < 4")
    page.tab.mouse.up()
    page.at("#find-solutions").click()
    page.until("document.querySelectorAll('#solutions .chip').length > 1")
    place = f"(({{ body, X }}) => [[...studio.view.poses.slice(12 * body, 12 * body + 12)], X])({frame})"
    held, shown = in_world(*page.js(place)), page.js("[...studio.view.poses]")
    page.at('[data-key="solution 1"]').click()
    page.until("document.querySelector('[data-key=\"solution 1\"]').getAttribute('aria-pressed') === 'true'")
    page.until("(shown) => studio.view.poses.some((x, i) => Math.abs(x - shown[i]) > 0.01)", shown)
    np.testing.assert_allclose(in_world(*page.js(place)), held, atol=1e-5)
    page.at("#reach-x").fill("9")
    page.at("#reach-x").press("Enter")
    page.refused("wrist/out does not get there")
