"""Lines of a robot are drawn on the page, in the colours of their tensions, with arrows for them."""

import numpy as np
import pytest

import modurob as mr
from modurob.viewer import drawing
from tests.studio.pages import Page

ROPES = (
    mr.load("crab")
    .with_line("taut", ["m0/3", "m3/3"], mr.Elastic(stiffness=100.0, rest=0.1))
    .with_line("slack", ["m0/3", "m5/3"], mr.Elastic(stiffness=100.0, rest=9.0))
)

# the red of the tightest, as three.js keeps it: of light, not of screens
RED = ((0xC8 / 255 + 0.055) / 1.055) ** 2.4


def test_tensions_are_plain_data():
    robot = ROPES.robot()
    tensions = drawing.tensions(robot, robot.neutral())
    assert tensions == pytest.approx(robot.line_tensions(robot.neutral(), np.zeros(robot.nv)), abs=1e-6)
    assert tensions[0] > 0
    assert tensions[1] == 0


def test_lines_have_the_colours_of_their_tensions(page: Page, tmp_path) -> None:
    mr.save(ROPES, tmp_path / "ropes.yaml")
    page.js("(text) => studio.send('open', {text})", (tmp_path / "ropes.yaml").read_text())
    page.until("studio.view.cables.pieces.length === 2")
    page.until("(most) => Math.abs(studio.view.cables.mesh.instanceColor.array[0] - most) < 1e-5", RED)
    slack = page.js("[...studio.view.cables.mesh.instanceColor.array].slice(3)")
    assert max(slack) == pytest.approx(min(slack))


@pytest.mark.drawn
def test_lines_pull_with_arrows_along_them(page: Page) -> None:
    """At both ends of each line that pulls, towards its other end, as long as its tension is large; slack ones have none."""
    ropes = ROPES.with_line("half", ["m2/2", "m5/3"], mr.Elastic(stiffness=10.0, rest=0.05))
    robot = ropes.robot()
    page.js("(text) => studio.send('open', {text})", mr.assembly.dumps(ropes))
    page.until("studio.view.cables.pulls.count === 2")
    shafts, heads = (
        np.array(page.js(f"[...studio.view.cables.pulls.{part}.instanceMatrix.array.slice(0, 64)]")).reshape(4, 4, 4)
        for part in ("shafts", "heads")
    )
    arrows = heads[:, 3, :3] - shafts[:, 3, :3]
    paths = [robot.line_paths(robot.neutral())[k] for k in (0, 2)]
    tensions = robot.line_tensions(robot.neutral(), np.zeros(robot.nv))[[0, 2]]
    long = np.linalg.norm(arrows, axis=-1)
    for k, (path, tension) in enumerate(zip(paths, tensions, strict=True)):
        ends = np.array([path[0], path[-1]])
        assert np.allclose(shafts[2 * k : 2 * k + 2, 3, :3], ends, atol=1e-5)
        along = (ends[::-1] - ends) / np.linalg.norm(ends[1] - ends[0])
        assert np.allclose(arrows[2 * k : 2 * k + 2] / long[2 * k : 2 * k + 2, None], along, atol=1e-4)
        assert long[2 * k : 2 * k + 2] == pytest.approx(long[0] * tension / tensions[0], rel=1e-3)
    assert 0 < tensions[1] < 0.9 * tensions[0]
    button = page.at("#view-tensions")
    button.click()
    assert not page.js("studio.view.cables.pulls.group.visible")
    page.open("crab", 6)
    page.until("document.querySelector('#view-tensions').hidden")
