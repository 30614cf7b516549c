"""Lines of a robot are drawn on the page, in the colours of their tensions."""

import numpy as np
import pytest

import modurob as mr
from modurob.studio import drawing
from tests.studio.pages import Page

ROPES = (
    mr.load("crab")
    .with_line("taut", ["m0/3", "m3/3"], mr.Elastic(stiffness=100.0, rest=0.1))
    .with_line("slack", ["m0/3", "m5/3"], mr.Elastic(stiffness=100.0, rest=9.0))
)


def test_lines_are_plain_data():
    robot = ROPES.robot()
    paths, tensions = drawing.lines(robot, robot.neutral())
    assert [len(path) for path in paths] == [6, 6]
    assert paths[0][:3] == pytest.approx(robot.frame_pose(robot.neutral(), "m0/3")[:3, 3], abs=1e-6)
    assert tensions == pytest.approx(robot.line_tensions(robot.neutral(), np.zeros(robot.nv)), abs=1e-6)
    assert tensions[0] > 0
    assert tensions[1] == 0


def test_lines_follow_the_pose(page: Page, tmp_path) -> None:
    mr.save(ROPES, tmp_path / "ropes.yaml")
    page.js("(text) => studio.send('open', {text})", (tmp_path / "ropes.yaml").read_text())
    page.until("studio.view.lines.group.children.length === 2")
    drawn = "studio.view.lines.group.children.map((x) => [...x.geometry.attributes.position.array])"
    colours = page.js("studio.view.lines.group.children.map((x) => x.material.color.getHexString())")
    assert colours == ["c8352b", "9a9a9a"]
    page.js("studio.send('set_coordinate', {index: 0, value: 0.5})")
    page.until("Math.abs(studio.state.pose.q[0] - 0.5) < 1e-6")
    robot = ROPES.robot()
    expected = np.array([path.ravel() for path in robot.line_paths(np.array(page.js("studio.state.pose.q")))])
    near = "(expected) => drawn.flat().every((x, i) => Math.abs(x - expected[i]) < 1e-5)".replace("drawn", drawn)
    page.until(near, expected.ravel().tolist())
