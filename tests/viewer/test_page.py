"""The page has everything in it, draws without a network, and shows what happened when."""

from concurrent.futures import ThreadPoolExecutor
from html import unescape
from types import SimpleNamespace

import numpy as np
import pytest

import modurob as mr
from modurob.errors import FormatError, ModurobWarning
from modurob.viewer import headless, page, scene, showing

# the first shape of the picture that is shown, as the page places it
FIRST = """() => {
  const mesh = viewer.view.meshes[0];
  return [mesh.userData.shapes[0].body, mesh.userData.shapes[0].X, [...mesh.instanceMatrix.array.slice(0, 16)]];
}"""


def in_browser(html, *scripts, path, inside=""):
    """What scripts give on a page that has no network, and every request that it made."""

    def look():
        with headless._tab((500, 400)) as tab:
            asked, wrong = [], []
            tab.on("request", lambda request: asked.append(request.url))
            tab.on("pageerror", lambda error: wrong.append(str(error)))
            tab.context.set_offline(True)
            path.write_text(html, encoding="utf-8")
            tab.goto(path.as_uri())
            frame = tab.frames[-1] if inside else tab
            frame.wait_for_function("window.viewer?.view.frames > 0")
            return [frame.evaluate(script) for script in scripts], asked, wrong

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(look).result()


def test_a_run_is_played_without_a_network(crab, crab_run, tmp_path):
    found, asked, wrong = in_browser(
        page.html(crab_run._chapters()),
        "() => { viewer.player.pause(); viewer.player.at(0.1); }",
        FIRST,
        "() => viewer.view.cutOff()",
        "() => document.querySelector('output').textContent",
        "() => document.querySelector('#trouble').textContent",
        path=tmp_path / "run.html",
    )
    assert wrong == []
    assert [a for a in asked if not a.startswith(("file:", "blob:", "data:"))] == []
    body, X, matrix = found[1]
    there = crab.forward_kinematics(crab_run.q[100]).bodies[body] @ np.vstack([np.reshape(X, (3, 4)), [0, 0, 0, 1]])
    assert np.allclose(np.reshape(matrix, (4, 4)).T, there, atol=1e-5)
    assert found[2:] == [False, "0.10 s", ""]


def test_a_notebook_shows_a_robot_above_its_table(crab, tmp_path):
    html = crab._repr_html_()
    assert html.startswith("<iframe")
    assert "</iframe><table>" in html
    (frames,), _, wrong = in_browser(html, "() => viewer.view.frames", path=tmp_path / "cell.html", inside="iframe")
    assert frames > 0
    assert wrong == []


def test_a_run_that_changes_its_shape_turns_to_the_new_robot(tmp_path):
    run = mr.simulate(mr.load("crab").mechanism(), [0.1, 0.2, 0.3], duration=0.05)
    other = mr.simulate(mr.load("tree9").robot(), duration=0.05)
    late = scene.Chapter(other.robot, other.t + 0.05, other.q)
    html = page.html([*run._chapters(), late])
    scripts = [
        f"() => {{ viewer.player.pause(); viewer.player.at({t}); return viewer.view.design.name }}"
        for t in (0.02, 0.08)
    ]
    found, _, wrong = in_browser(html, *scripts, path=tmp_path / "two.html")
    assert found == ["crab", "tree9"]
    assert wrong == []


def test_names_cannot_break_the_page():
    robot = mr.Assembly.single("m0", "backbone").mechanism()
    evil = page.html(scene.still(robot.__class__(**{**vars_of(robot), "name": "</script><b>"})))
    assert "</script><b>" not in evil
    assert "&lt;/script&gt;&lt;b&gt;" in evil


def vars_of(robot):
    from dataclasses import fields

    return {f.name: getattr(robot, f.name) for f in fields(robot) if f.init}


def test_scripts_keep_their_licence_and_lose_their_comments():
    slim = page._slim(
        "/**\n * @license\n * MIT\n */\n/** gone\n */\n  import { a } from './b.js';\n// gone\nf(`\n  x`);\n", "three"
    )
    assert slim == "/**\n* @license\n* MIT\n*/\nimport { a } from 'three/b.js';\nf(`\nx`);\n"


def test_long_runs_are_sampled_less(crab):
    n = 2_000_000 // 40
    t = np.linspace(0, 50_000, n)
    chapters = [scene.Chapter(crab, t, np.zeros((n, 3)))]
    assert page._affordable(chapters, 30) == pytest.approx(page.LARGEST / (12 * 4 * 50_000))


def test_show_writes_a_file_opens_a_browser_or_displays(crab, crab_run, tmp_path, monkeypatch):
    assert crab.show(path=tmp_path / "a.html").read_text().startswith("<!doctype html>")
    opened = []
    monkeypatch.setattr(showing.webbrowser, "open", lambda address: opened.append(address) or True)
    found = crab_run.show()
    assert opened == [found.as_uri()]
    found.unlink()
    monkeypatch.setattr(showing.webbrowser, "open", lambda address: False)
    with pytest.warns(ModurobWarning, match="no browser opens here: the page is in"):
        crab.show().unlink()

    shown = []
    notebook = SimpleNamespace(HTML=str, display=shown.append)
    monkeypatch.setattr(showing, "notebook", lambda: notebook)
    assert crab.show() is None
    assert shown[0].startswith("<iframe")
    assert "<!doctype html>" in unescape(shown[0])


def test_files_that_cannot_be_shown(crab, tmp_path):
    with pytest.raises(FormatError, match=r"files \.stl cannot be shown: valid: \.html, \.png, \.glb"):
        crab.show(path=tmp_path / "a.stl")
    with pytest.raises(FormatError, match="files without an ending"):
        crab.show(path=tmp_path / "a")
