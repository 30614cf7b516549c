"""Plots: labels that can be told apart, values at the crosshair, torques from the start, any joint of a large robot."""

import numpy as np
import pytest
from playwright.sync_api import expect

from modurob.assembly import dumps
from tests.studio.pages import Page, Served
from tests.studio.test_loops import chain

TICKS = "(values) => studio.load('chart').then(({ ticks }) => ticks(values))"


def run(page: Page, duration: str = "0.5") -> None:
    page.hurry()
    page.panel("Simulate")
    page.at("#setting-duration").fill(duration)
    page.at("#setting-duration").press("Tab")
    page.at("#run").click()
    page.until("studio.state.runs.runs.at(-1)?.status")
    page.until("Number(document.querySelector('[data-samples]').dataset.samples) > 20")


LABELS = [
    ([-0.5, 0, 0.5], ["-0.5", "0", "0.5"]),
    ([0, 0.25, 0.5], ["0", "0.25", "0.50"]),
    ([-0.0002, -0.0001, 0, 0.0001], ["-0.0002", "-0.0001", "0", "0.0001"]),
    ([-2e-16, 0.1, 0.2], ["0", "0.1", "0.2"]),
    ([100000, 100001, 100002], ["100000", "100001", "100002"]),
    ([-4e-9, -2e-9, 0, 2e-9], ["-4e-9", "-2e-9", "0", "2e-9"]),
    ([2e7, 4e7], ["2e+7", "4e+7"]),
    ([3], ["3"]),
    ([], []),
]


def test_ticks_are_told_apart_and_no_zero_is_negative(page: Page) -> None:
    for values, labels in LABELS:
        assert page.js(TICKS, values) == labels
    # and what rounding leaves is zero
    shown = "(x) => studio.load('dom').then(({ shown }) => shown(x))"
    assert [page.js(shown, x) for x in (0, -0.0, 3e-17, -8.9e-14, 2e-9, -0.25)] == [
        "0",
        "0",
        "0",
        "0",
        "2.00e-9",
        "-0.25",
    ]


def test_labels_on_the_page_differ(page: Page) -> None:
    """On plots of all quantities, one of them of nothing but rounding errors."""
    page.open("crab", 6)
    page.panel("Simulate")
    page.at("#setting-reference").select_option("hold")
    run(page)
    shown = page.js("studio.plots.plots.map(({ chart }) => chart.plot.axes[1]._values)")
    for labels in shown:
        assert len(labels) >= 2
        assert len(set(labels)) == len(labels)
        assert "-0" not in labels


def point(page: Page, part: float = 0.5) -> None:
    """The pointer into the first plot, so far along its time."""
    box = page.at(".plot .u-over").first.bounding_box()
    assert box is not None
    page.tab.mouse.move(box["x"] + part * box["width"], box["y"] + box["height"] / 2)


def shown_time(page: Page) -> float:
    """The time of the crosshair, when all three plots show the same."""
    words = page.until(
        """(() => {
          const times = [...document.querySelectorAll(".plot .title .soft")].map((x) => x.textContent);
          return times.length === 3 && new Set(times).size === 1 && times[0];
        })()"""
    )
    return float(words.removeprefix("t = ").removesuffix(" s"))


def test_the_crosshair_has_values(page: Page, served: Served) -> None:
    page.open("crab", 6)
    run(page, "1")
    kept = served.studio.sessions[page.session].runs[0]
    page.until("(rows) => studio.plots.samples.get(0).data.length === rows", len(kept.samples))
    point(page)
    page.settle()
    t = shown_time(page)
    assert t == pytest.approx(0.5, abs=0.02)
    q, _ = kept.at(t)
    values = [float(x) for x in page.at(".plot .legend").first.locator("b").all_inner_texts()]
    assert np.allclose(values, q, atol=1e-3)
    # and with the slider, without a pointer
    page.tab.mouse.move(5, 5)
    page.at("#scrub").fill("0.2")
    page.until("Math.abs(document.querySelector('.plot .title .soft').textContent.split(' ')[2] - 0.2) < 0.01")
    torques = [float(x) for x in page.at(".plot .legend").nth(1).locator("b").all_inner_texts()]
    nq, nv = kept.robot.nq, kept.robot.nv
    assert np.allclose(torques, kept.at(0.2)[1][1 + nq + 2 * nv : 1 + nq + 3 * nv], rtol=0.05, atol=0.05)


def test_the_pointer_holds_the_crosshair_of_all_plots(page: Page) -> None:
    """Whatever comes meanwhile: samples that are drawn anew, and another time that the robot is shown at."""
    page.open("crab", 6)
    run(page, "1")
    page.at("#scrub").fill("0.2")
    point(page, 0.75)
    page.settle()
    assert shown_time(page) == pytest.approx(0.75, abs=0.02)
    page.js("(studio.plots.draw(), studio.plots.setCursor(0.3))")
    assert shown_time(page) == pytest.approx(0.75, abs=0.02)
    # fewer samples: the same place is another time
    page.js("(studio.plots.samples.get(0).data.length = 20, studio.plots.draw())")
    page.settle()
    assert shown_time(page) < 0.4
    page.tab.mouse.move(5, 5)
    assert shown_time(page) == pytest.approx(0.3, abs=0.02)


def test_a_click_scrubs_and_a_drag_zooms(page: Page) -> None:
    """In all plots at once; a double click shows all of it again."""
    page.open("crab", 6)
    run(page, "1")
    page.at(".plot").first.scroll_into_view_if_needed()
    box = page.at(".plot .u-over").first.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.tab.mouse.click(box["x"] + 0.25 * box["width"], y)
    page.until("Math.abs(studio.state.sample[0] - 0.25) < 0.03")
    page.tab.mouse.move(box["x"] + 0.5 * box["width"], y)
    page.tab.mouse.down()
    page.tab.mouse.move(box["x"] + 0.6 * box["width"], y, steps=4)
    page.tab.mouse.up()
    ends = "studio.plots.plots.map(({ chart }) => [chart.plot.scales.x.min, chart.plot.scales.x.max])"
    page.until(f"{ends}.every(([low, high]) => Math.abs(low - 0.5) < 0.03 && Math.abs(high - 0.6) < 0.03)")
    assert page.js("Math.abs(studio.state.sample[0] - 0.25) < 0.03")  # it was no click
    page.js("studio.plots.draw()")
    assert page.js(f"{ends}.every(([low, high]) => high - low < 0.2)")
    page.tab.mouse.dblclick(box["x"] + 0.5 * box["width"], y)
    page.until(f"{ends}.every(([low, high]) => low < 0.01 && high > 0.99)")


def test_torques_do_not_start_at_zero(page: Page) -> None:
    """The crab holds itself up from the first moment on: no law asked for nothing."""
    page.open("crab", 6)
    page.panel("Simulate")
    page.at("#setting-reference").select_option("hold")
    run(page)
    torque = page.js("studio.plots.plots.find((plot) => plot.quantity === 'torque').chart.plot.data")
    assert torque[0][0] == 0
    assert abs(torque[1][0]) > 5
    assert torque[1][0] == pytest.approx(torque[1][1], rel=0.05)


def test_any_joint_of_a_large_robot_can_be_plotted(page: Page) -> None:
    page.js("(text) => studio.send('open', {text})", dumps(chain(41)))
    page.modules(41)
    page.js("studio.send('set_gravity', {gravity: [0, 0, 0]})")
    page.panel("Simulate")
    page.at("#setting-controller").select_option("none")
    run(page, "0.4")
    chips = page.tab.get_by_role("group", name="Joints")
    expect(chips).to_contain_text("3 of 40 joints")
    field = page.tab.get_by_label("Joint to add to the plots, or to remove")
    field.fill("m38/hinge")
    field.press("Enter")
    expect(chips).to_contain_text("4 of 40 joints")
    expect(page.at(".plot .legend").first).to_contain_text("m38/hinge")
    field.fill("m99/hinge")
    field.press("Enter")
    page.refused("Not plotted: no joint m99/hinge in this run; it has m0/hinge to m39/hinge")


def test_lines_are_called_as_what_they_show(page: Page, served: Served) -> None:
    """The base of a floating robot has seven coordinates and six rates; z is the one that falls."""
    page.open("crab", 6)
    page.panel("Simulate")
    page.at("label:has(#stands-floats)").click()
    page.until("studio.state.design.floating")
    run(page)
    expect(page.at(".plot .legend").first).not_to_contain_text("floating_base")
    page.tab.get_by_role("button", name="floating_base").click()
    legends = page.js("studio.plots.plots.map(({ series }) => series.map(({ label }) => label))")
    assert legends[0][:4] == ["floating_base x", "floating_base y", "floating_base z", "floating_base qw"]
    kept = served.studio.sessions[page.session].runs[0]
    position = page.js("studio.plots.plots[0].chart.plot.data")
    assert position[3][-1] == pytest.approx(float(kept.last[0][2]), abs=1e-5)
    assert position[3][-1] < -1
    assert position[4][-1] == pytest.approx(float(kept.last[0][3]), abs=1e-5)
