"""Views that follow a program: a page fed while a simulation runs, and the widget of notebooks, in a real browser."""

import base64
import time
import urllib.error
import urllib.request
from typing import Any

import numpy as np
import pytest

import modurob as mr
from modurob.errors import InputError, SimulationError
from modurob.viewer import scene, widget
from modurob.viewer.live import poses
from tests.studio.pages import Browser

CRAB = mr.load("crab").mechanism(base="m1")
Q = np.array([0.4, -0.7, 0.9])


def fetched(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=20) as answer:
        return answer.read()


def test_a_page_follows_a_simulation(browser: Browser) -> None:
    tab = browser.chromium.new_page(viewport={"width": 480, "height": 320})
    problems: list[str] = []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    with CRAB.live(Q, speed=0.0, browser=False) as view:
        tab.goto(view.address)
        tab.wait_for_function("window.viewer?.view.frames > 0")
        assert np.allclose(tab.evaluate("[...viewer.view.poses]"), poses(CRAB, Q).ravel(), atol=1e-6)
        run = mr.simulate(CRAB, Q, duration=0.3, view=view)
        view(run.q[-1])
        ends = poses(CRAB, run.q[-1]).ravel().tolist()
        tab.wait_for_function("(x) => x.every((y, i) => Math.abs(y - viewer.view.poses[i]) < 1e-6)", arg=ends)
    with pytest.raises(InputError, match="the live view of crab is closed"):
        view(Q)
    tab.wait_for_timeout(100)
    assert problems == []
    tab.close()


def test_it_is_for_those_with_the_address_and_keeps_time() -> None:
    with CRAB.live(browser=False, speed=2.0) as view:
        view(Q)
        assert repr(view) == f"Live(crab, {view.address})"
        assert np.array_equal(np.frombuffer(fetched(f"{view.address}poses/0"), "<f4"), poses(CRAB, Q).ravel())
        root = view.address.rsplit("/", 2)[0]
        with pytest.raises(urllib.error.HTTPError, match="404"):
            fetched(f"{root}/guess/poses/0")
        began = time.monotonic()
        mr.simulate(CRAB, Q, duration=0.3, view=view)
        assert time.monotonic() - began >= 0.145  # twice as fast as time
    with pytest.raises(InputError, match=r"q has shape \(2,\): expected one configuration of 3 finite numbers"):
        poses(CRAB, [0.0, 1.0])
    with pytest.raises(InputError, match="speed = -1: expected how fast time passes"):
        CRAB.live(speed=-1, browser=False)
    with pytest.raises(SimulationError, match="view 3: expected a function, or None"):
        mr.simulate(CRAB, duration=0.01, view=3)  # type: ignore[arg-type]


MODEL = """async ([script, design, first]) => {
  const bytes = (text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const state = { design, height: 240, poses: bytes(first) }, told = [];
  window.model = {
    get: (name) => state[name],
    on: (name, f) => told.push(f),
    off: (name, f) => told.splice(told.indexOf(f), 1),
    move: (text) => { state.poses = bytes(text); told.forEach((f) => f()); },
  };
  const { default: widget } = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  window.stop = await widget.render({ model, el: document.body });
  window.view = document.querySelector("canvas").parentElement.view;
  window.told = told;
}"""


def packed(q: Any) -> str:
    return base64.b64encode(poses(CRAB, q).tobytes()).decode()


def test_the_widget_draws_without_a_network(browser: Browser) -> None:
    tab = browser.chromium.new_page(viewport={"width": 480, "height": 320})
    strayed: list[str] = []
    tab.on("request", lambda request: strayed.append(request.url) if request.url.startswith("http") else None)
    tab.goto("about:blank")
    tab.evaluate(MODEL, [widget.script(), {**scene.design(CRAB), "number": 0}, packed(CRAB.neutral())])
    tab.wait_for_function("view.frames > 0")
    tab.evaluate("(text) => model.move(text)", packed(Q))
    assert np.allclose(tab.evaluate("[...view.poses]"), poses(CRAB, Q).ravel(), atol=1e-6)
    tab.evaluate("stop()")
    assert tab.evaluate("told.length") == 0
    assert strayed == []
    tab.close()


def test_q_of_the_widget_is_set_from_python() -> None:
    pytest.importorskip("anywidget", reason="the extra `notebook`: pip install 'modurob[notebook]'")
    shown = CRAB.widget()
    assert shown.q == [0.0, 0.0, 0.0]
    shown.q = Q
    assert shown.poses == poses(CRAB, Q).tobytes()
    assert "export default" in shown._esm
    with pytest.raises(InputError, match="expected one configuration of 3"):
        shown.q = [1.0]
    mr.simulate(CRAB, Q, duration=0.05, view=shown)
    assert shown.poses != poses(CRAB, Q).tobytes()


def test_without_the_extra_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    widget._kind.cache_clear()
    monkeypatch.setattr(widget, "import_module", missing)
    with pytest.raises(InputError, match=r"pip install 'modurob\[notebook\]'"):
        CRAB.widget()
    widget._kind.cache_clear()
