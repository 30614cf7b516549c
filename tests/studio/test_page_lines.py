"""Lines of a robot are drawn on the page, in the colours of their tensions."""

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
