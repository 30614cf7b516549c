"""Arms from a list of link types, as the panel of Sepp et al. (figure 5.1) has it."""

import numpy as np
import pytest

import modurob as mr
from modurob.errors import AssemblyError, UnknownNameError


def test_the_choice_that_the_panel_shows():
    arm = mr.Assembly.from_links(["B", "B", "C", "endeffector", "none", "none"])
    names = [
        "pedestal",
        "link1_powerball",
        "link1_elbow_link",
        "link2_powerball",
        "link2_elbow_link",
        "link3",
        "endeffector",
    ]
    assert list(arm.modules) == names
    assert arm.robot().nv == 6


def test_a_b_c_are_the_modules_of_the_lwa4p():
    """Flange 0.9313 m above the ground, and there the end effector; masses of L6, PB21, L1, PB22, L2, PB23: 12.51 kg."""
    arm = mr.Assembly.from_links("A B C endeffector", name="lwa4p")
    robot = arm.robot()
    assert robot.frame_pose(np.zeros(6), "link3/out")[:3, 3] == pytest.approx([0, 0, 0.9313], abs=1e-9)
    moved = arm.undock("endeffector")
    total = sum(part.inertia[0, 0] for m in moved.modules.values() for part in m.parts.values())
    assert total == pytest.approx(12.51, abs=1e-9)
    found = moved.robot().dh("link3/out")
    assert [abs(row.a) for row in found.rows] == pytest.approx([0, 0.35, 0, 0, 0, 0], abs=1e-9)
    assert [row.d for row in found.rows] == pytest.approx([0.2053, 0, 0, 0.3012, 0, 0.0748], abs=1e-9)


def test_d_b_c_are_the_angled_arm():
    arm = mr.Assembly.from_links("D, B, C, endeffector")
    assert arm.robot().frame_pose(np.zeros(6), "link3/out")[:3, 3] == pytest.approx([0, 0.5972, 0.2053], abs=1e-9)


def test_link_types_of_ones_own():
    types = {"hinge": [{"type": "revolute_joint"}], "endeffector": [{"type": "straight_link"}]}
    with pytest.raises(UnknownNameError, match="link 1 is 'A': valid: hinge, endeffector, none"):
        mr.Assembly.from_links(["A", "endeffector"], types)
    for wrong in (3, {"A": []}, {"A": ["powerball"]}, {"A": [{"parameters": {}}]}):
        with pytest.raises(AssemblyError, match=r"link types .*: expected modules by link type"):
            mr.Assembly.from_links(["A", "endeffector"], wrong)  # type: ignore[arg-type]
    own = {"ball": [{"type": "powerball", "parameters": {"mass": 2.0}}], "endeffector": [{"type": "straight_link"}]}
    assert mr.Assembly.from_links(["ball", "endeffector"], own).modules["link1"].parameters["mass"] == 2.0


@pytest.mark.parametrize(
    ("links", "words"),
    [
        ("A, E, endeffector", "link 2 is 'E': valid: A, B, C, D, endeffector, none"),
        ("A, pedestal, endeffector", "link 2 is 'pedestal'"),
        ("A, B, endeffector, C", "link 4 is 'C', after the end effector, link 3: expected 'none'"),
        ("A, endeffector, endeffector", "link 3 is 'endeffector', after the end effector"),
        ("A, none, B, endeffector", "link 2 is 'none', a gap before link 4"),
        ("A, B, C", "no link is the end effector"),
        ("", "no link is the end effector"),
        ("none, none", "no link is the end effector"),
        ("endeffector", "link 1 is the end effector: expected a link before it"),
        ("A, B, A, B, A, C, endeffector", "7 links: expected at most 6"),
        ([1, "endeffector"], "link 1 is 1"),
    ],
)
def test_every_bad_choice_is_refused_by_name(links, words: str):
    with pytest.raises(AssemblyError, match=words):
        mr.Assembly.from_links(links)
