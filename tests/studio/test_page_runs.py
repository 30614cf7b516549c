"""What a run is made of and what is laid over it: set points of joints, trails, Lagrange's equations, virtual joints, torques."""

import numpy as np
import pytest
from playwright.sync_api import expect

import modurob as mr
from tests.studio.pages import Page, Served


def run(page: Page, duration: str) -> None:
    page.hurry()
    page.panel("Simulate")
    page.at("#setting-duration").fill(duration)
    page.at("#setting-duration").press("Tab")
    page.at("#run").click()
    page.until("studio.state.runs.runs.at(-1)?.status === 'finished'")


def test_each_joint_has_a_set_point_of_its_own(page: Page, served: Served) -> None:
    page.open("crab", 6)
    page.panel("Simulate")
    page.at("#setting-reference").select_option("set_point")
    for label, value in (("m0/hinge", "0.2"), ("m4/hinge", "-0.6")):
        field = page.tab.get_by_label(label, exact=True)
        field.fill(value)
        field.press("Tab")
    page.tab.get_by_label("m2/hinge", exact=True).fill("9")
    page.tab.get_by_label("m2/hinge", exact=True).press("Tab")
    page.refused("set point of m2/hinge")
    run(page, "2")
    end = served.studio.sessions[page.session].runs[0].last[0]
    assert np.allclose(end, [0.2, page.js("studio.state.design.suggested.amplitude"), -0.6], atol=0.02)
    page.at("#points-same").click()
    expect(page.tab.get_by_label("m4/hinge", exact=True)).not_to_have_value("-0.6")
    page.js("studio.send('set_coordinate', {index: 1, value: 0.5})")
    page.until("studio.state.pose.q[1] === 0.5")
    page.at("#points-posed").click()
    expect(page.tab.get_by_label("m2/hinge", exact=True)).to_have_value("0.5")


@pytest.mark.drawn
def test_trails_are_the_paths_of_frames(page: Page, served: Served) -> None:
    page.open("crab", 6)
    run(page, "1")
    page.at("#add-trail").select_option("m3")
    page.until("studio.view.trails.paths.length === 1")
    kept = served.studio.sessions[page.session].runs[0]
    known = kept.robot.frame_pose(kept.samples[:, 1:4].astype(float), "m3")[:, :3, 3]
    drawn = np.array(page.js("studio.view.trails.paths[0].points")).reshape(-1, 3)
    assert np.allclose(drawn, known, atol=1e-4)
    assert np.ptp(drawn, axis=0).max() > 0.01
    # the part that the run has passed is strong
    page.at("#scrub").fill("0.5")
    half = "studio.view.trails.group.children[1].geometry.drawRange.count"
    page.until(f"Math.abs({half} - studio.view.trails.paths[0].t.length / 2) < 3")
    page.at("#play").click()
    page.until(f"{half} === studio.view.trails.paths[0].t.length")
    page.at('[data-key="trail m3"]').click()
    page.until("studio.view.trails.paths.length === 0")


def test_a_run_beside_lagranges_equations(page: Page, served: Served) -> None:
    """The benchmark of Meister, Gutenkunst, Levi: a double pendulum by both methods, and how far they are apart."""
    page.js("studio.send('open_shipped', {name: 'double_pendulum'})")
    page.until("studio.state.design.name === 'double_pendulum'")
    page.js("studio.send('set_coordinate', {index: 0, value: 0.78})")
    page.panel("Simulate")
    page.at("#setting-controller").select_option("none")
    page.at("#setting-ideal").check()
    run(page, "1")
    page.tab.get_by_role("button", name="Compare run 0 with Lagrange's equations").click()
    page.until("studio.state.runs.runs.length === 2")
    expect(page.at("#runs")).to_contain_text("run 0 by Lagrange's equations, at most")
    page.until("studio.plots.chosen.length === 2 && studio.plots.samples.get(1)?.data.length > 20")
    one, two = served.studio.sessions[page.session].runs.values()
    assert one.samples.shape == two.samples.shape
    assert np.ptp(one.samples[:, 1:3], axis=0).min() > 0.01
    assert 0 < two.apart < 1e-9  # another way to the same numbers
    # both are plotted, and their difference is the error of the second
    expect(page.at(".plot .legend").first).to_contain_text("m0/hinge (run 1)")
    assert np.abs(two.samples[:, 9:11]).max() < 1e-9


@pytest.mark.drawn
def test_the_base_is_set_on_virtual_joints(page: Page, served: Served) -> None:
    page.open("crab", 6)
    page.tab.get_by_text("Other families, and virtual joints").click()
    page.tab.get_by_role("button", name="slide x").click()
    page.modules(7)
    page.tab.get_by_role("button", name="turn z").click()
    page.modules(8)
    joints = page.js("studio.state.design.joints.map(({name, kind}) => `${name} ${kind}`)")
    assert joints[:2] == ["m7/joint revolute", "m6/joint prismatic"]
    assert len(joints) == 5
    assert page.design["base"] == "m7"
    assert [cell["module"] for cell in page.design["grid"]["cells"]] == [f"m{i}" for i in range(6)]
    # they have no body: what they slide along and turn about is drawn, and seen
    assert [(g["name"], g["turns"]) for g in page.design["guides"]] == [("m7/joint", True), ("m6/joint", False)]
    page.js(
        "studio.send('set_coordinate', {index: 0, value: 0.5}); studio.send('set_coordinate', {index: 1, value: 0.3})"
    )
    page.until("studio.state.pose.q[1] === 0.3")
    page.settle()
    robot = served.studio.sessions[page.session].robot
    bodies = robot.forward_kinematics(np.array(page.js("studio.state.pose.q"))).bodies
    rail, carriage = (
        np.reshape(page.js(f"studio.view.guides.guides[1].{part}.matrixWorld.elements"), (4, 4)).T
        for part in ("stands", "moves")
    )
    along = bodies[1, :3, 0]  # the turntable carries the rail
    size = page.js("studio.view.size")
    assert np.allclose(carriage[:3, 3], bodies[2, :3, 3], atol=1e-6)
    assert np.allclose(rail[:3, 3], bodies[1, :3, 3] + 0.15 * along, atol=1e-6)  # its middle: half of the way
    assert np.allclose(rail[:3, 1], (0.3 + 2 * 1.7 * size) * along, atol=1e-6)
    page.until("!studio.view.cutOff()")
    # nothing of that could stand on the ground: it is said before a run, and it stays as it was
    page.panel("Simulate")
    page.at("label:has(#stands-ground)").click()
    page.refused("Leave it Fixed, or undock the virtual joints that hold it in the world: m6, m7")
    assert page.at("#stands-fixed").is_checked()
    page.picture("virtual_on_ground")
    page.at("#undo").click()
    page.modules(7)


@pytest.mark.drawn
def test_torques_are_arcs_about_the_axes(page: Page, served: Served) -> None:
    """The larger the nearer to the limit, about the axis they act on, the way they act."""
    page.open("crab", 6)
    page.at("#view-torques").click()
    assert page.js("studio.view.torques.arcs.count") == 0
    run(page, "0.5")
    page.until("studio.view.torques.arcs.count > 0")
    kept = served.studio.sessions[page.session].runs[0]
    q, row = kept.last
    tau, limit = row[1 + 3 + 6 : 1 + 3 + 9], kept.robot.effort_limit
    drawn = [i for i in range(3) if abs(tau[i]) > 0.02 * limit[i]]
    assert drawn
    assert page.js("studio.view.torques.arcs.count") == len(drawn)
    poses = kept.robot.forward_kinematics(q.astype(float)).bodies
    for k, i in enumerate(drawn):
        matrix = np.reshape(
            page.js(f"[...studio.view.torques.arcs.instanceMatrix.array.slice({16 * k}, {16 * k + 16})]"), (4, 4)
        ).T
        size = 0.5 + 0.5 * min(1.0, abs(tau[i]) / limit[i])
        axis = poses[i + 1, :3, 0] * np.sign(tau[i])  # the hinge of a backbone is its x axis
        assert np.allclose(matrix[:3, 2], size * axis, atol=1e-4)
        assert np.allclose(matrix[:3, 3], poses[i + 1, :3, 3], atol=1e-5)
    page.at("#view-torques").click()
    page.until("studio.view.torques.arcs.count === 0")


@pytest.mark.drawn
def test_axes_and_the_anchor_are_shown(page: Page) -> None:
    page.open("crab", 6)
    page.panel("Inspect")
    robot = mr.load("crab").mechanism()
    # over a module in the 3D view: the axes of the joint that moves it
    where = page.js(
        "(() => { const f = studio.view.design.frames.find(({name}) => name === 'm3'); return studio.view.pixel(f.body, f.X); })()"
    )
    box = page.at("#canvas").bounding_box()
    assert box is not None
    page.tab.mouse.move(box["x"] + where["x"], box["y"] + where["y"])
    page.until("studio.view.axes.joints.some(({name}) => name === 'm2/hinge')")
    expect(page.at("#hint")).to_contain_text("m2/hinge: revolute")
    at = page.js(
        "studio.view.axes.group.children[studio.view.axes.joints.findIndex(({name}) => name === 'm2/hinge')].matrix.elements"
    )
    body = robot.forward_kinematics(robot.neutral()).bodies[2]
    assert np.allclose(at[12:15], body[:3, 3], atol=1e-6)
    assert np.allclose(np.abs(np.dot(at[4:7], body[:3, 0])), 1, atol=1e-6)
    page.tab.mouse.move(box["x"] + 3, box["y"] + box["height"] - 3)
    page.until("studio.view.axes.joints.length === 0")
    # what stands in the world is held there; what floats is not
    assert page.js("studio.view.anchor.group.visible")
    assert np.allclose(
        page.js("studio.view.anchor.plate.position.toArray().slice(0, 2)"),
        robot.frame_pose(robot.neutral(), "m0")[:2, 3],
    )
    page.js("studio.send('set_base', {module: 'm0', floating: true})")
    page.until("!studio.view.anchor.group.visible")
    # nor is there a plate in the middle of a gantry, whose points are all around it
    page.open("crab", 6)
    page.until("studio.view.anchor.group.visible")
    page.open("robocrane", 2)
    page.until("!studio.view.anchor.group.visible")
