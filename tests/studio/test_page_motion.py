"""Way points in a real browser: taken from poses, planned against limits, followed by a law."""

import numpy as np
import pytest
from playwright.sync_api import expect

from modurob.studio.plans import Plan
from modurob.studio.protocol import Motion, RunSettings, WayPoint
from tests.studio.pages import SIZES, Browser, Page, Served
from tests.studio.test_page_panels import AXE, violations
from tests.studio.test_runs import finished

POSES = ((0.8, 0.6, 0.7), (1.0, 0.9, 0.5), (0.6, 0.7, 1.0))


def pose(page: Page, q: tuple[float, ...]) -> None:
    page.js("(q) => studio.send('take_pose', { q })", list(q))
    page.until("(q) => studio.state.pose.q.every((x, i) => Math.abs(x - q[i]) < 1e-9)", list(q))


def test_way_points_are_taken_planned_and_followed(page: Page, served: Served) -> None:
    page.open("crab", 6)
    page.panel("Motion")
    page.at("#preview").click()
    page.refused("no way points: a motion needs two or more")
    for q in POSES:
        pose(page, q)
        page.at("#add-pose").click()
    expect(page.at("#way-points li")).to_have_count(3)
    # poses change places, times do not
    page.tab.get_by_label("Earlier: way point 3").click()
    page.tab.get_by_label("Time of way point 3 in seconds").fill("1")
    page.tab.get_by_label("Time of way point 3 in seconds").press("Tab")
    page.at("#preview").click()
    page.refused("way point 3 at 1 s: expected a later time than that of the one before, 1 s")
    page.tab.get_by_label("Time of way point 3 in seconds").fill("2")
    page.tab.get_by_label("Time of way point 3 in seconds").press("Tab")
    page.tab.get_by_text("time-optimal").click()
    page.at("#motion-acceleration").fill("3")
    page.at("#motion-acceleration").press("Tab")
    page.hurry(5.0)
    page.at("#preview").click()
    page.until("studio.state.runs.runs.some((run) => run.planned)")
    plan = next(iter(served.studio.sessions[page.session].runs.values()))
    ordered = tuple(WayPoint(float(t), q) for t, q in enumerate((POSES[0], POSES[2], POSES[1])))
    assert isinstance(plan, Plan)
    assert plan.motion == Motion(ordered, timing="fastest", acceleration=3.0)
    expect(page.at("#planned")).to_contain_text(f"The plan takes {plan.t:.4g} s")
    expect(page.at(".plot canvas")).to_have_count(4)
    limits = page.js("studio.plots.plots.map(({ series }) => series[0].limits)")
    effort = float(plan.robot.effort_limit[0])
    assert np.allclose(limits[1:], [[-1, 1], [-3, 3], [-effort, effort]])
    # it plays by itself, to its end
    page.until("(t) => Math.abs(studio.state.sample?.[0] - t) < 1e-3", plan.t)
    shown = np.reshape(page.js("[...studio.view.poses]"), (-1, 3, 4))
    assert np.allclose(shown, plan.robot.forward_kinematics(np.array(POSES[1])).bodies[:, :3], atol=1e-5)
    # a law follows it, and is laid over it
    page.at("#run-motion").click()
    page.until("studio.state.runs.runs.some((run) => run.reference === 'motion' && run.status)")
    run = list(served.studio.sessions[page.session].runs.values())[-1]
    assert run.status == "finished"
    assert np.allclose(run.last[0], POSES[1], atol=2e-2)
    assert np.allclose(run.at(0.0)[0], POSES[0], atol=1e-6)
    labels = page.js("studio.plots.plots[0].series.map(({ label }) => label)")
    assert {"m0/hinge (run 0)", "m0/hinge (run 1)", "m0/hinge (run 1), wanted"} <= set(labels)
    expect(page.at(".legend").first).to_contain_text("m0/hinge (run 1)")
    assert page.scrolled == [0, 0, 0, 0, 0, 0, 0]


def test_a_refused_preview_leaves_nothing_of_the_one_before(page: Page) -> None:
    page.open("crab", 6)
    page.panel("Motion")
    for q in POSES[:2]:
        pose(page, q)
        page.at("#add-pose").click()
    for act, words in (
        (lambda: page.tab.get_by_label("set to the present pose: way point 1").click(), "the same pose"),
        (lambda: page.tab.get_by_label("Remove way point 2").click(), "1 way point: a motion needs two or more"),
    ):
        page.at("#preview").click()
        expect(page.at("#planned")).to_contain_text("The plan takes")
        expect(page.at(".plot canvas").first).to_be_visible()
        act()
        page.at("#preview").click()
        page.refused(words)
        expect(page.at("#planned")).to_have_text("")
        expect(page.at(".plot canvas")).to_have_count(0)
        pose(page, POSES[0])
        page.tab.get_by_label("set to the present pose: way point 1").click()


@pytest.mark.parametrize(
    ("scheme", "size"), [pytest.param("light", "laptop", marks=pytest.mark.judge), ("dark", "phone")]
)
def test_the_panel_and_the_race_are_accessible(browser: Browser, served: Served, scheme: str, size: str) -> None:
    width, height = SIZES[size]
    options = {"color_scheme": scheme, "bypass_csp": True, "viewport": {"width": width, "height": height}}
    page = browser.page(served.address, **options)
    page.open("crab", 6)
    page.panel("Motion")
    for q in POSES[:2]:
        pose(page, q)
        page.at("#add-pose").click()
    page.tab.add_script_tag(path=AXE)
    assert violations(page) == []
    for _ in range(2):
        finished(served.studio.sessions[page.session].start(RunSettings(duration=0.1, reference="hold")))
    page.js("(numbers) => studio.load('race').then(({ openRace }) => openRace(numbers))", [0, 1])
    page.until("studio.race?.view.frames > 0")
    assert violations(page) == []
    assert page.inside("#race-close")
    page.picture(f"race_{size}_{scheme}")
    page.close()
