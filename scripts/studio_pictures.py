"""python -m scripts.studio_pictures: the pictures of docs/studio.md, taken anew; needs Chromium and Playwright."""

from pathlib import Path

from playwright.sync_api import Page

from benchmarks.studio import READY, browsing, serving, until

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SIZE = {"width": 1280, "height": 800}
POSE = {1: 0.5, 2: 0.5}  # coordinates of the crab [rad]
WAY = ((0.3, 0.5, 1.2, 0.2, 0.9, 0.1), (0.9, 0.2, 1.0, -0.2, 0.6, 0.4), (-0.2, 0.7, 0.8, 0.3, 1.1, -0.3))  # of the arm


def taken(tab: Page, name: str) -> None:
    tab.wait_for_timeout(400)
    tab.screenshot(path=IMAGES / f"studio_{name}.png")


def panel(tab: Page, name: str) -> None:
    tab.get_by_role("tab", name=name).click()


def pictures(tab: Page) -> None:
    """The crab on four panels, and an arm on a fifth, as a user sees them."""
    tab.evaluate("studio.send('open_shipped', {name: 'crab'})")
    until(tab, "studio.state.design.modules.length === 6")
    for index, value in POSE.items():
        tab.evaluate("([index, value]) => studio.send('set_coordinate', {index, value})", [index, value])
    until(tab, f"studio.state.pose.q[2] === {POSE[2]}")
    taken(tab, "build")
    panel(tab, "Inspect")
    tab.get_by_label("Module to inspect").select_option("m3")
    for layer in ("frames", "centres", "ellipsoids"):
        tab.locator(f"#view-{layer}").click()
    taken(tab, "inspect")
    for layer in ("frames", "centres", "ellipsoids"):
        tab.locator(f"#view-{layer}").click()
    panel(tab, "Equations")
    until(tab, "document.querySelectorAll('.equation .katex').length > 3")
    taken(tab, "equations")
    panel(tab, "Simulate")
    tab.evaluate("studio.send('reset_pose')")
    tab.locator("label:has(#stands-ground)").click()
    until(tab, "studio.state.design.floating")
    tab.locator("#run").click()
    until(tab, "studio.state.sample?.[0] > 4")
    tab.locator("#pause").click()
    tab.locator(".plot .u-over").first.hover()
    taken(tab, "simulate")
    motion(tab)


def motion(tab: Page) -> None:
    """An arm that was led through way points, and a law that followed."""
    tab.evaluate("studio.send('open_shipped', {name: 'lwa4p'})")
    until(tab, "studio.state.design.name === 'lwa4p'")
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
    taken(tab, "motion")


if __name__ == "__main__":
    with serving() as server, browsing() as browser:
        tab = browser.new_page(viewport=SIZE)
        tab.goto(f"{server.address}&detail=high")
        until(tab, READY)
        pictures(tab)
