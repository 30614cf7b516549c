"""Faults of version 0.1.0 in the studio, as a page or a stranger brings them up.

Also seen by, in a browser: tests/studio/test_page_files.py (own module types, infinite limits, damaged files of the user, a huge
share link) and test_page_refusals.py (a part of the page that fails does not stop the others). On the server: tests/studio/
test_opening.py (own types, limits of texts, files that may not be named), test_server.py (hosts, origins, static files, others are
served while a long text is read, nothing is left in the log), test_protocol.py (JSON), test_session.py (broken autosaves),
test_carrying.py (entry 9: no module jumps, after some time and with all that may be edited).
"""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import yaml
from starlette.testclient import TestClient
from websockets.sync.client import connect

import modurob as mr
from modurob.studio import protocol
from modurob.studio.autosave import Autosave
from modurob.studio.server import Studio
from modurob.studio.session import Session

HOST = "127.0.0.1:8000"


@pytest.fixture
def studio(tmp_path):
    return Studio(autosave=Autosave(tmp_path / "saved"))


@pytest.fixture
def web(studio):
    with TestClient(studio.app(), base_url=f"http://{HOST}") as client:
        yield client


def no_such_number(text):
    raise AssertionError(f"JSON has no {text}, and the page cannot read it")


class Page:
    """A page's side of the socket; what it gets must be JSON as browsers read it."""

    def __init__(self, socket):
        self.socket = socket
        self.send("hello", session="")
        self.welcome = self.until("welcome")
        self.robot = self.until("robot")["design"]

    def send(self, command, **fields):
        self.socket.send_text(json.dumps({"type": command, **fields}))

    def until(self, *kinds):
        while True:
            message = self.socket.receive()
            assert message["type"] != "websocket.close", message
            event = json.loads(message["text"], parse_constant=no_such_number) if message.get("text") else {}
            if event.get("type") in kinds:
                return event
            assert event.get("type") != "refused", event


@contextmanager
def talk(web, studio):
    with web.websocket_connect(f"/socket?token={studio.token}", headers={"host": HOST}) as socket:
        yield Page(socket)


def module(name="brick", joint=None, **shape):
    """A module type that is not shipped: two cubes with a hinge between them, a face on each."""
    cube = {"mass": 1, "inertia": [1, 1, 1], "shapes": [{"box": [0.1, 0.1, 0.1], **shape}]}
    sides = {"a": ("left", -1), "b": ("right", 1)}
    return {
        "format": "modurob module 1",
        "name": name,
        "parts": {"left": cube, "right": json.loads(json.dumps(cube))},
        "joints": {"hinge": {"kind": "revolute", "from": "left", "to": "right", "axis": [1, 0, 0], **(joint or {})}},
        "connectors": {"face": {}},
        "ports": {
            port: {"part": part, "at": [0.05 * x, 0, 0], "normal": [x, 0, 0], "up": [0, 0, 1], "connector": "face"}
            for port, (part, x) in sides.items()
        },
    }


def robot(kind):
    return yaml.safe_dump(
        {
            "format": "modurob assembly 1",
            "name": "own",
            "types": {"brick": kind},
            "modules": {"m0": "brick", "m1": "brick"},
            "connections": ["m0/b - m1/a"],
        },
        sort_keys=False,
    )


def still_works(page):
    """Whether commands are answered."""
    page.send("open_shipped", name="crab")
    assert len(page.until("robot")["design"]["modules"]) == 6
    page.send("undock", module="m5")
    assert len(page.until("robot")["design"]["modules"]) == 5
    return True


# ---- 9: edits in a run ----


@pytest.mark.parametrize(
    "edit", [protocol.Undock("m0"), protocol.Undock("m5"), protocol.SetBase("m3", floating=True)], ids=repr
)
def test_no_module_of_a_floating_robot_is_teleported_by_an_edit_in_a_run(tmp_path, edit):
    """The state was carried over by the names of joints, whatever the new base is."""
    session = Session(Autosave(tmp_path))
    for first in (protocol.OpenShipped("crab"), protocol.SetBase("m0", floating=True), protocol.SetGravity((0, 0, 0))):
        session.edit(first)
    for index, value in enumerate((0.3, -0.2, 0.5, 0.9, 0.2, -0.3, 0.1, 0.4, -0.5, 0.6)):
        session.set_coordinate(index, value)
    for index in range(session.robot.nv):
        session.set_rate(index, 0.2)
    session.start(protocol.RunSettings(controller="none"))
    before, staying = moving(session), ("m1", "m2", "m3", "m4")
    session.edit(edit)
    assert session.active is not None
    after = moving(session)
    for name in staying:
        np.testing.assert_allclose(after(name), before(name), atol=1e-12, err_msg=name)


def moving(session):
    """Pose and twist of a module of the robot that runs."""
    robot, (q, v) = session.robot, session.active.state
    return lambda name: np.concatenate([robot.frame_pose(q, name).ravel(), robot.frame_twist(q, v, name)])


# ---- 22: a robot with its own module types ----


def test_every_kind_of_module_is_told_to_the_page(web, studio):
    """grid.js draws a module by its type: one that it was not told of stopped all that came after."""
    with talk(web, studio) as page:
        page.send("open", text=robot(module()))
        shown = page.until("robot")["design"]
        known = {kind["name"] for kind in [*page.welcome["types"], *shown["types"]]}
        assert {one["kind"] for one in shown["modules"]} == {"brick"}
        assert {one["kind"] for one in shown["modules"]} <= known
        assert still_works(page)


# ---- 23: infinite numbers, odd colours, damaged files ----


@pytest.mark.parametrize(
    "joint",
    [{"effort": float("inf")}, {"velocity": float("inf")}, {"limits": [float("-inf"), float("inf")]}],
    ids=lambda x: next(iter(x)),
)
def test_infinite_numbers_reach_the_page_as_json(web, studio, joint):
    with talk(web, studio) as page:
        page.send("open", text=robot(module(joint=joint)))
        assert len(page.until("robot")["design"]["modules"]) == 2
        page.send("start_run", settings={"duration": 0.1})
        page.until("done")
        assert still_works(page)


@pytest.mark.parametrize("colour", ["inf", "nan", "0.5", "nonsense", "#12", ""])
def test_a_colour_that_is_none_does_not_stop_the_page(web, studio, colour):
    with talk(web, studio) as page:
        page.send("open", text=robot(module(colour=colour)))
        opened = page.until("robot", "refused")
        page.send("rename", name="other")
        assert page.until("robot", "refused")["type"] == "robot", opened
        assert still_works(page)


@pytest.mark.parametrize(
    "content", [b"format: [", b"\xff\xfe", b"", b"!!bool x", b"- 1", b"format: modurob module 1\nname: 3\n"]
)
def test_a_damaged_module_type_of_the_user_does_not_stop_the_page(web, studio, tmp_path, monkeypatch, content):
    folder = tmp_path / "types"
    folder.mkdir()
    (folder / "broken.yaml").write_bytes(content)
    (folder / "good.yaml").write_text(yaml.safe_dump(module("good")))
    monkeypatch.setattr("modurob.catalogue.library.user_folder", lambda: folder)
    with talk(web, studio) as page:
        names = {kind["name"] for kind in page.welcome["types"]}
        assert {"backbone", "good"} <= names
        assert "broken" in " ".join(page.welcome["problems"])
        assert still_works(page)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b"\xff",
        b'{"name": 3, "modules": "x"}',
        b'{"name": [], "modules": 1e999}',
        b"[" * 9999,
    ],
)
def test_a_damaged_autosave_does_not_stop_the_page(web, studio, content):
    with talk(web, studio) as page:
        page.send("open_shipped", name="crab")
        page.until("robot")
    folder = studio.autosave.folder
    (folder / f"{'0' * 16}.json").write_bytes(content)
    (folder / "folder.json").mkdir()
    with talk(web, studio) as page:
        assert [one["name"] for one in page.welcome["recent"]] == ["crab"]
        assert "cannot be read" in " ".join(page.welcome["problems"])
        assert still_works(page)


# ---- 24: one page's text freezes all others ----


def test_texts_are_read_off_the_event_loop(web, studio, monkeypatch):
    """However long reading takes: here it waits until another page has been served."""
    from modurob.studio import opening

    served, read = [], opening.opened

    def slow(*arguments):
        for _ in range(3000):
            if served:
                return read(*arguments)
            time.sleep(0.01)
        raise AssertionError("nobody else was served")

    monkeypatch.setattr(opening, "opened", slow)
    with talk(web, studio) as one, talk(web, studio) as two:
        one.send("open", text=robot(module()))
        two.send("rename", name="meanwhile")
        assert two.until("robot")["design"]["name"] == "meanwhile"
        served.append(True)
        assert len(one.until("robot")["design"]["modules"]) == 2


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("open", "format: modurob assembly 1\nmodules: {m0: backbone}\nconnections: [" + "/" * 40_000 + "]"),
        ("open", "format: modurob assembly 1\nx: " + "1:" * 20_000),
        ("read_matrix", "3\n" * 20_000),
        ("read_matrix", "]" + " " * 40_000),
    ],
    ids=["slashes", "sexagesimal", "rows", "spaces"],
)
def test_40_kilobytes_are_refused_at_once(web, studio, command, text):
    with talk(web, studio) as page:
        used = time.process_time()
        page.send(command, text=text)
        page.until("refused")
        assert time.process_time() - used < 5.0  # 11 s once, of this process
        assert still_works(page)


# ---- 25: addresses, paths, times, tasks ----


@pytest.mark.parametrize(
    "origin", ["http://[::1", "http://[", "//", "null", "http://127.0.0.1:8000:9", "http://[v1.x]", "\x01"]
)
def test_an_origin_that_is_no_address_is_refused(web, studio, origin):
    for path in (f"/?token={studio.token}", "/static/js/main.js"):
        assert web.get(path, headers={"origin": origin}).status_code == 403


@pytest.mark.parametrize("host", ["[::1", "[", "127.0.0.1:x", "[v1.x]:8", "a" * 5000])
def test_a_host_that_is_no_address_is_no_error_of_the_server(web, studio, host):
    assert web.get(f"/?token={studio.token}", headers={"host": host}).status_code < 500


@pytest.mark.parametrize(
    "path", ["%00", "js/%00.js", "x" * 300, "x" * 5000, "a/" * 3000, "%ff%fe", "..%00/server.py", "js/main.js/x"]
)
def test_names_that_no_file_has_are_not_found(web, studio, path):
    assert web.get(f"/static/{path}").status_code == 404
    assert web.get(f"/file/{path}/robot.yaml?token={studio.token}").status_code in (403, 404)


@pytest.mark.judge
def test_static_files_are_served_where_the_package_is_a_link(tmp_path):
    (tmp_path / "modurob").symlink_to(Path(mr.__file__).parent)
    program = (
        "from starlette.testclient import TestClient; from modurob.studio.server import Studio\n"
        "web = TestClient(Studio().app(), base_url='http://127.0.0.1')\n"
        "print([web.get(f'/static/{x}').status_code for x in ('js/main.js', 'index.html', '../server.py')])"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == "[200, 200, 404]"


@pytest.mark.parametrize("t", [1e308, -1e308, 1e-308])
def test_a_run_is_scrubbed_to_any_time(web, studio, t):
    with talk(web, studio) as page:
        page.send("open_shipped", name="crab")
        page.until("robot")
        page.send("start_run", settings={"duration": 60})
        page.until("done")
        page.send("scrub", run=0, t=t)
        page.until("done")
        assert still_works(page)


def test_files_name_no_others_on_the_disk(web, studio, tmp_path, monkeypatch):
    """Neither are they read, nor does an error tell what lies beside them."""
    (tmp_path / "secret.yaml").write_text(yaml.safe_dump(module("secret")))
    (tmp_path / "neighbour.yaml").write_text("")
    monkeypatch.chdir(tmp_path)
    for named in (
        tmp_path / "secret.yaml",
        "secret.yaml",
        "./secret.yaml",
        "../x/secret.yaml",
        tmp_path / "missing.yaml",
    ):
        text = f"format: modurob assembly 1\nmodules: {{m0: backbone, m1: {named}}}\nconnections: [m0/3 - m1/a]\n"
        with talk(web, studio) as page:
            page.send("open", text=text)
            message = page.until("robot", "refused")["message"]
            assert "neighbour" not in message
            page.send("dock", kind=str(named), at="m0/3", by="a")
            message = page.until("robot", "refused")["message"]
            assert "neighbour" not in message


@pytest.mark.judge
def test_no_task_is_lost_when_a_page_goes(tmp_path):
    """In the middle of a run, of a derivation and of frames, eight times; then the server itself."""
    program = "from modurob.studio.server import serve; serve('crab', browser=False)"
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path), "PYTHONASYNCIODEBUG": "0"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", program], text=True, env=environment, **pipes) as process:
        address = process.stdout.readline().split()[-1].replace("http:", "ws:").replace("/?", "/socket?")
        for k in range(8):
            with connect(address) as page:
                page.send('{"type": "hello"}')
                page.send('{"type": "start_run", "settings": {"duration": 60}}')
                page.send('{"type": "derive", "symbols": ["masses", "lengths"]}')
                for _ in range(2 + k):
                    page.recv(timeout=30)
        process.send_signal(signal.SIGINT)
        _, log = process.communicate(timeout=60)
    assert log == ""
