"""Runs of two robots side by side, as a film and as a GIF, in a real browser."""

import io

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from modurob.studio.protocol import OpenShipped, RunSettings, SetBase
from modurob.studio.session import Session
from tests.studio.pages import Page, Served
from tests.studio.test_runs import finished

WALK = RunSettings(
    controller="servos", ground=True, gait="crab", amplitude=0.5, stepper="linearly-implicit", duration=0.6
)


def walked(session: Session) -> None:
    """Two runs of one robot, and one of another."""
    for settings in (WALK, RunSettings(duration=0.4, reference="hold", controller="pid")):
        finished(session.start(settings))
        session.stop()


@pytest.mark.drawn
def test_ticked_runs_race_and_leave_as_a_gif(page: Page, served: Served) -> None:
    session = served.studio.sessions[page.session]
    session.edit(OpenShipped("crab"))
    session.edit(SetBase("m0", floating=True))
    walked(session)
    page.tab.reload()
    page.ready()
    page.panel("Simulate")
    page.until("studio.state.runs.runs.length === 2")
    for number in (0, 1):
        page.tab.get_by_label(f"Plot run {number}").uncheck()
    page.at("#open-race").click()
    page.refused("a race of 0: tick 2 to 4 runs")
    for number in (0, 1):
        page.tab.get_by_label(f"Plot run {number}").check()
    page.at("#open-race").click()
    page.until("studio.race?.view.frames > 0")
    expect(page.at("#race-places li")).to_have_count(2)
    expect(page.at("#race-places")).to_contain_text("crab, run 0")
    bodies = len(session.robot.bodies)
    assert page.js("studio.race.view.design.bodies.length") == 2 * bodies
    page.js("studio.race.player.pause(); studio.race.player.at(0.4)")
    poses = np.reshape(page.js("[...studio.race.view.poses]"), (2, bodies, 3, 4))
    # lanes do not overlap
    assert poses[0, 1:, 1, 3].max() < poses[1, 1:, 1, 3].min()
    page.picture("race")
    page.at("#race-close").click()
    expect(page.at("#race")).to_have_count(0)
    page.panel("Export")
    with page.tab.expect_download() as film:
        page.at('[data-key="gif 1"]').click()
    with Image.open(io.BytesIO(film.value.path().read_bytes())) as image:
        assert image.format == "GIF"
        assert image.n_frames == 5  # type: ignore[attr-defined]
        first = np.asarray(image.convert("RGB"), float)
        image.seek(4)
        last = np.asarray(image.convert("RGB"), float)
    assert first.shape == last.shape
    assert len(np.unique(first.reshape(-1, 3), axis=0)) >= 5  # a robot, not a blank
