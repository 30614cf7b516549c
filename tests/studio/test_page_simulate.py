"""Runs in a real browser: control, filter, scrubbing, comparing, docking while it moves."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from modurob.simulation import Recording
from tests.studio.pages import Browser, Page, Served


def simulate(page: Page, **settings: str) -> None:
    """Open the crab and the panel, and set some settings."""
    page.open("crab", 6)
    page.panel("Simulate")
    if float(settings.get("duration", 60)) < 10:
        page.hurry()  # its end is waited for
    for key, value in settings.items():
        field = page.at(f"#setting-{key}")
        if field.evaluate("(x) => x.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
            field.press("Tab")


def ended(page: Page, number: int) -> None:
    """Wait until a run is over and its samples are here."""
    page.until("(n) => studio.state.runs.runs.some((r) => r.number === n && r.status)", number)


def test_computed_torque_with_a_filter(page: Page) -> None:
    simulate(page, duration="1.2", sample_time="0.01")
    page.at("#setting-filter").select_option("ekf")
    expect(page.at("[data-setting=noise]")).to_be_visible()
    page.at("#run").click()
    page.until("studio.state.sample?.[0] > 0.3")
    # the robot on the page moves
    before = page.js("[...studio.view.poses]")
    page.until("(before) => studio.view.poses.some((x, i) => Math.abs(x - before[i]) > 0.01)", before)
    ended(page, 0)
    expect(page.at("#runs")).to_contain_text("computed torque, crab gait, extended Kalman filter")
    expect(page.at("#runs")).to_contain_text("finished")
    expect(page.at(".plot canvas")).to_have_count(3)


def test_pause_step_resume_stop(page: Page) -> None:
    simulate(page)
    page.at("#run").click()
    page.until("studio.state.sample?.[0] > 0.1")
    page.at("#pause").click()
    page.until("studio.state.runs.state === 'paused'")
    page.settle()
    page.settle()
    held = page.js("studio.state.sample[0]")
    page.tab.wait_for_timeout(200)
    assert page.js("studio.state.sample[0]") == held
    page.at("#step").click()
    page.until("(held) => studio.state.sample[0] > held", held)
    assert page.js("studio.state.sample[0]") - held < 0.05
    page.at("#pause").click()
    page.until("(held) => studio.state.sample[0] > held + 0.1", held)
    page.at("#stop").click()
    page.until("studio.state.runs.state === 'idle'")
    page.settle()
    page.settle()
    still = page.js("[...studio.view.poses]")
    page.tab.wait_for_timeout(200)
    assert page.js("[...studio.view.poses]") == still


@pytest.mark.drawn
def test_scrub_through_a_run(page: Page, served: Served, tmp_path: Path) -> None:
    simulate(page, duration="1")
    page.at("#run").click()
    ended(page, 0)
    run = served.studio.sessions[page.session].runs[0]
    expect(page.at("#scrub")).to_be_enabled()
    for t in (0.5, 0.1):
        page.at("#scrub").fill(str(t))
        q, sample = run.at(t)
        page.until("(t) => Math.abs(studio.state.sample[0] - t) < 0.02", float(sample[0]))
        shown = np.reshape(page.js("[...studio.view.poses]"), (-1, 3, 4))
        assert np.allclose(shown, run.robot.forward_kinematics(q.astype(float)).bodies[:, :3], atol=1e-5)
        expect(page.at("#clock")).to_have_text(f"{t:.2f} s")
    # it leaves as a film and as a recording, which comes back
    page.hurry(2.0)
    page.panel("Export")
    with page.tab.expect_download() as film:
        page.at('[data-key="film 0"]').click()
    assert film.value.suggested_filename == "crab_run-0.webm"
    assert film.value.path().read_bytes()[:4] == b"\x1aE\xdf\xa3"  # as all WebM files begin
    with page.tab.expect_download() as recording:
        page.at('[data-file="run-0.mrun"]').click()
    recording.value.save_as(tmp_path / "crab.mrun")
    page.at("#gallery-open").click()
    page.at("#gallery input[type=file]").set_input_files(tmp_path / "crab.mrun")
    page.until("studio.state.runs.runs.length === 2")
    expect(page.at("#runs")).to_contain_text("recording crab.mrun")
    page.at("#scrub").fill("0.5")
    page.until("Math.abs(studio.state.sample[0] - 0.5) < 0.02")


def test_two_runs_are_laid_over_each_other(page: Page) -> None:
    simulate(page, duration="1")
    page.at("#run").click()
    ended(page, 0)
    page.at("#setting-controller").select_option("pid")
    page.at("#run").click()
    ended(page, 1)
    page.tab.get_by_label("Plot run 0").check()
    legend = page.at(".legend").first
    expect(legend).to_contain_text("m0/hinge (run 0)")
    expect(legend).to_contain_text("m0/hinge (run 1)")
    page.tab.get_by_label("Plot run 1").uncheck()
    expect(legend).not_to_contain_text("run 1")
    page.tab.get_by_role("button", name="energy").click()
    expect(page.at(".plot canvas")).to_have_count(4)


def test_runs_of_another_robot_do_not_stay_in_the_plots(page: Page) -> None:
    page.open("crab", 6)
    for robot in ("crab", "tree9"):
        page.js("(name) => studio.send('open_shipped', {name})", robot)
        page.until("(name) => studio.state.design.name === name", robot)
        page.panel("Simulate")
        page.at("#setting-duration").fill("0.1")
        page.at("#setting-duration").press("Tab")
        for _ in range(2):
            count = page.js("studio.state.runs.runs.length")
            page.at("#run").click()
            page.until(
                "(n) => studio.state.runs.runs.length > n && studio.state.runs.runs.at(-1).status === 'finished'", count
            )
            if count == 0:
                page.tab.get_by_label("Plot run 0").check()
    assert page.js("studio.plots.chosen") == [3]


def test_dock_and_undock_while_it_runs(page: Page) -> None:
    simulate(page, duration="60")
    page.at("#run").click()
    page.until("studio.state.sample?.[0] > 0.2")
    page.panel("Build")
    page.choose_face("4")
    page.at('[data-key="m3/3"]').click()
    page.modules(7)
    page.until("studio.state.runs.state === 'running' && studio.state.runs.active === 1")
    page.until("studio.state.sample.length === 3 + 5 * 4")
    t = page.js("studio.state.sample[0]")
    page.until("(t) => studio.state.sample[0] > t + 0.2", t)
    page.tab.get_by_role("button", name="Undock m6").click()
    page.modules(6)
    page.until("studio.state.runs.active === 2 && studio.state.sample.length === 3 + 5 * 3")
    page.at("#canvas").focus()
    page.tab.keyboard.press("Escape")
    page.until("studio.state.runs.state === 'idle'")


def test_a_run_is_exported(page: Page, tmp_path: Path) -> None:
    simulate(page, duration="0.5")
    page.at("#run").click()
    ended(page, 0)
    with page.tab.expect_download() as picture:
        page.tab.get_by_role("button", name="Save the plot of torque as PNG").click()
    picture.value.save_as(tmp_path / "torque.png")
    assert (tmp_path / "torque.png").read_bytes()[:4] == b"\x89PNG"
    page.panel("Export")
    for name in ("run-0.csv", "run-0.mrun"):
        with page.tab.expect_download() as download:
            page.at(f'[data-file="{name}"]').click()
        download.value.save_as(tmp_path / name)
    record = Recording.load(tmp_path / "run-0.mrun")
    table = np.genfromtxt(tmp_path / "run-0.csv", delimiter=",", names=True)
    assert np.allclose(table["t"], record.t)
    assert record.q.shape == (101, 3)


def test_every_law_has_numbers_of_its_own(page: Page) -> None:
    """What the server offers is chosen from, drives that cannot carry the robot begin as ideal ones, and a run takes all of it."""
    simulate(page, duration="0.5")
    offered = page.js("studio.state.offers.controllers.map(({ name }) => name)")
    assert page.js("[...document.querySelectorAll('#setting-controller option')].map((o) => o.value)") == offered
    expect(page.at("#setting-kp")).to_have_value("50")
    expect(page.at("#setting-ideal")).to_be_checked()
    page.at("#setting-controller").select_option("lqr")
    expect(page.at("#setting-position")).to_have_value("1")
    expect(page.at("#setting-kp")).to_have_count(0)
    page.at("#setting-position").fill("30")
    page.at("#setting-reference").select_option("hold")
    page.at("#setting-stepper").select_option("linearly-implicit")
    page.at("#run").click()
    ended(page, 0)
    expect(page.at("#runs")).to_contain_text("LQR, hold")
    expect(page.at("#runs")).to_contain_text("finished")
    page.open("tree9", 9)
    expect(page.at("#setting-ideal")).not_to_be_checked()


def test_a_run_that_fails_is_a_message(page: Page) -> None:
    simulate(page, controller="pid")
    page.at("#setting-kp").fill("1000000")
    page.at("#setting-kd").fill("100000")
    page.at("#setting-kd").press("Tab")
    page.at("#run").click()
    ended(page, 0)
    expect(page.at("#refusal")).to_contain_text("at t = ")
    # and the studio goes on
    page.at("#undo").click()
    page.modules(1)


def test_settings_that_do_not_fit_are_explained(page: Page) -> None:
    simulate(page, amplitude="3")
    page.at("#run").click()
    expect(page.at("#refusal")).to_contain_text("its limits are")
    assert page.js("studio.state.runs.state") == "idle"


def test_a_reload_holds_the_run(page: Page) -> None:
    simulate(page, duration="60")
    page.at("#run").click()
    page.until("studio.state.sample?.[0] > 0.2")
    page.tab.reload()
    page.ready()
    page.until("studio.state.runs.state === 'paused'")
    page.until("document.querySelector('#pause')")
    page.at("#pause").click()
    page.until("studio.state.runs.state === 'running'")
    t = page.until("studio.state.sample?.[0]")
    page.until("(t) => studio.state.sample[0] > t + 0.1", t)


def test_a_frame_waits_for_the_page(browser: Browser, served: Served) -> None:
    """With a page that does not answer, at most three frames are on their way."""
    page = browser.page(served.address)
    page.open("crab", 6)
    client = served.studio._open[page.session]
    page.js("studio.view.canvas.ownerDocument.defaultView.requestAnimationFrame = () => 0")
    page.js("studio.send('start_run', {settings: {duration: 60}})")
    page.until("studio.state.runs.state === 'running'")
    page.tab.wait_for_timeout(500)
    channel = client.channel
    assert 0 < channel._number - channel._acknowledged <= 3
    assert served.studio.sessions[page.session].runs[0].t < 0.5
    page.close()
