"""python -m scripts.studio_pictures [FOLDER [SIZE ...]]: the pictures of docs/studio.md, taken anew; needs Chromium and Playwright.

With a FOLDER: every screen at three sizes (laptop, large, phone), or at those named, light and dark, into that folder instead, to
be looked at.
"""

import io
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Page

import modurob as mr
from benchmarks.studio import READY, browsing, serving, until

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SIZE = (1280, 800)  # of the pictures in the documentation
SIZES = {"laptop": (1440, 900), "large": (1920, 1080), "phone": (390, 844)}
POSE = {1: 0.5, 2: 0.5}  # coordinates of the crab [rad]
WAY = ((0.3, 0.5, 1.2, 0.2, 0.9, 0.1), (0.9, 0.2, 1.0, -0.2, 0.6, 0.4), (-0.2, 0.7, 0.8, 0.3, 1.1, -0.3))  # of the arm
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LAYERS = ("frames", "centres", "ellipsoids")
QUALITY = 88  # of WebP
LIVE = (480, 320)  # the view of a simulation
LIVE_EVERY = 0.1  # seconds of the run between its pictures

Screen = Callable[[Page], None]


def panel(tab: Page, name: str) -> None:
    tab.get_by_role("tab", name=name).click()


def layers(tab: Page) -> None:
    """Switch them on, or off again."""
    for layer in LAYERS:
        tab.evaluate("(id) => document.getElementById(id).click()", f"view-{layer}")


def opened(tab: Page, robot: str) -> None:
    tab.evaluate("(name) => studio.send('open_shipped', {name})", robot)
    until(tab, f"studio.state.design.name === '{robot}'")


# ---- the screens, in the order in which they follow from each other ----


def start(tab: Page) -> None:
    tab.locator("#gallery-open").click()
    until(tab, "!document.querySelector('#gallery img:not([src])')")


def build(tab: Page) -> None:
    tab.keyboard.press("Escape")
    opened(tab, "crab")
    for index, value in POSE.items():
        tab.evaluate("([index, value]) => studio.send('set_coordinate', {index, value})", [index, value])
    until(tab, f"studio.state.pose.q[2] === {POSE[2]}")
    panel(tab, "Build")


def inspect(tab: Page) -> None:
    panel(tab, "Inspect")
    tab.get_by_label("Module to inspect").select_option("m3")
    layers(tab)


def equations(tab: Page) -> None:
    layers(tab)
    panel(tab, "Equations")
    until(tab, "document.querySelectorAll('.equation .katex').length > 3")
    tab.locator('.matrix[data-part="M"] summary').click()
    until(tab, "document.querySelector('[data-entry=\"M 0 0\"]').textContent !== '·'")
    tab.locator("#panel").evaluate("(box) => (box.scrollTop = 150)")
    tab.locator('tr[data-symbol="mb2"]').hover()


def simulate(tab: Page) -> None:
    panel(tab, "Simulate")
    tab.evaluate("studio.send('reset_pose')")
    tab.locator("label:has(#stands-ground)").click()
    until(tab, "studio.state.design.floating")
    tab.locator("#add-trail").select_option("m3")
    tab.locator("#run").click()
    until(tab, "studio.state.sample?.[0] > 4")
    tab.locator("#pause").click()
    tab.wait_for_timeout(600)  # trails follow
    tab.locator(".plot .u-over").first.hover()


def race(tab: Page) -> None:
    tab.locator("#stop").click()
    tab.locator("#setting-gait").select_option("snake")
    tab.locator("#run").click()
    until(tab, "studio.state.runs.active === 1 && studio.state.sample?.[0] < 1")
    until(tab, "studio.state.sample?.[0] > 4")
    tab.locator("#stop").click()
    until(tab, "studio.state.runs.state === 'idle'")
    tab.get_by_label("Plot run 0").check()
    tab.locator("#open-race").click()
    until(tab, "studio.race?.player.t > 3")
    tab.evaluate("studio.race.player.pause()")


def motion(tab: Page) -> None:
    """An arm that is led through way points."""
    if tab.locator("#race-close").count():
        tab.locator("#race-close").click()
    opened(tab, "lwa4p")
    panel(tab, "Motion")
    for q in WAY:
        tab.evaluate("(q) => studio.send('take_pose', {q})", list(q))
        until(tab, f"studio.state.pose.q[0] === {q[0]}")
        tab.locator("#add-pose").click()
    tab.get_by_text("time-optimal").click()
    tab.locator("#preview").click()
    until(tab, "studio.state.runs.runs.some((run) => run.planned)")
    until(tab, "Math.abs(studio.state.sample[0] - studio.state.runs.runs.at(-1).t) < 1e-3")
    tab.locator(".plot .u-over").first.hover()


def lagrange(tab: Page) -> None:
    """The double pendulum by both methods."""
    opened(tab, "double_pendulum")
    tab.evaluate("studio.send('set_coordinate', {index: 0, value: 0.785})")
    panel(tab, "Simulate")
    tab.locator("#setting-controller").select_option("none")
    tab.locator("#setting-ideal").check()
    tab.locator("#run").click()
    until(tab, "studio.state.sample?.[0] > 6")
    tab.locator("#stop").click()
    tab.get_by_role("button", name="with Lagrange's equations").first.click()
    until(
        tab,
        "studio.state.runs.runs.at(-1).twin !== undefined && studio.plots.samples.has(studio.state.runs.runs.at(-1).number)",
    )


def tensions(tab: Page) -> None:
    """A platform on cables, which pull at it."""
    panel(tab, "Build")
    opened(tab, "robocrane")
    until(tab, "studio.view.cables.pulls.count > 0")


def export(tab: Page) -> None:
    panel(tab, "Export")


def help_(tab: Page) -> None:
    tab.locator("#help-open").click()


SCREENS: dict[str, Screen] = {
    "start": start,
    "build": build,
    "inspect": inspect,
    "equations": equations,
    "simulate": simulate,
    "race": race,
    "motion": motion,
    "lagrange": lagrange,
    "tensions": tensions,
    "export": export,
    "help": help_,
}
DOCUMENTED = ("start", "build", "inspect", "equations", "simulate", "race", "motion", "lagrange", "tensions")


def screens(tab: Page) -> Iterator[tuple[str, bytes]]:
    """Every screen and its picture."""
    for name, go in SCREENS.items():
        go(tab)
        tab.wait_for_timeout(400)
        yield name, tab.screenshot()


def page(browser: Browser, address: str, size: tuple[int, int], scheme: Literal["light", "dark"], detail: str) -> Page:
    tab = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    tab.goto(f"{address}&detail={detail}")
    until(tab, READY)
    return tab


def documented(browser: Browser, address: str) -> None:
    """The pictures of the documentation, small."""
    tab = page(browser, address, SIZE, "light", "plain")
    for name, png in screens(tab):
        if name in DOCUMENTED:
            kept(png, f"studio_{name}")


def live(browser: Browser) -> None:
    """The view that follows a simulation, as a moving picture: one of its pictures after each stretch of the run."""
    robot = mr.load("crab").mechanism(base="m1")
    law = mr.ComputedTorque(kp=100, kd=20, reference=mr.gait("crab", amplitude=0.5, frequency=0.5))
    simulation = mr.Simulation(robot, controller=law)
    tab = browser.new_page(viewport={"width": LIVE[0], "height": LIVE[1]}, color_scheme="light")
    pictures = []
    with robot.live(speed=0.0, browser=False) as view:
        tab.goto(view.address)
        tab.wait_for_function("window.viewer?.view.frames > 0")
        tab.evaluate("(viewer.view.plain = true, viewer.view.setLow(false))")  # as where there is a graphics card
        simulation.advance(2.0)  # one swing, until it is steady
        for _ in range(round(2.0 / LIVE_EVERY)):
            view(simulation.advance(LIVE_EVERY).q)
            tab.wait_for_timeout(150)
            pictures.append(Image.open(io.BytesIO(tab.screenshot())).convert("RGB"))
    tab.close()
    shown = {"save_all": True, "append_images": pictures[1:], "duration": round(1000 * LIVE_EVERY), "loop": 0}
    pictures[0].save(IMAGES / "live.webp", quality=60, method=6, **shown)


def kept(png: bytes, name: str) -> None:
    Image.open(io.BytesIO(png)).convert("RGB").save(IMAGES / f"{name}.webp", quality=QUALITY, method=6)


def looked_at(browser: Browser, address: str, folder: Path, sizes: Sequence[str]) -> None:
    """Every screen at these sizes, light and dark."""
    folder.mkdir(exist_ok=True)
    for size, scheme in itertools.product(sizes, SCHEMES):
        tab = page(browser, address, SIZES[size], scheme, "low")
        for name, png in screens(tab):
            (folder / f"{name}_{size}_{scheme}.png").write_bytes(png)
        tab.close()


if __name__ == "__main__":
    with serving() as server, browsing() as browser:
        if len(sys.argv) > 1:
            looked_at(browser, server.address, Path(sys.argv[1]), sys.argv[2:] or tuple(SIZES))
        else:
            live(browser)
            documented(browser, server.address)
