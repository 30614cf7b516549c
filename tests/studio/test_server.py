"""The web server: files, sessions, and those it does not talk to."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
import yaml
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect
from typer.testing import CliRunner
from websockets.sync.client import connect

import modurob as mr
from modurob.assembly import dumps
from modurob.cli import app, main
from modurob.errors import StudioError
from modurob.mechanism import EXPORTS
from modurob.robot import loads
from modurob.studio import safety, server, share
from modurob.studio.autosave import Autosave
from modurob.studio.design import Design
from modurob.studio.opening import opened
from modurob.studio.page_files import FOLDER
from modurob.studio.server import LARGEST_UPLOAD, Studio, listening, serve
from tests.studio.test_opening import ARM, own_type

HOME = "http://127.0.0.1:8000"


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    return Studio(autosave=Autosave(tmp_path))


@pytest.fixture
def web(studio: Studio) -> Iterator[TestClient]:
    with TestClient(studio.app(), base_url=HOME) as client:
        yield client


class Talk:
    """A page's side of the websocket."""

    def __init__(self, socket: WebSocketTestSession, session: str = ""):
        self.socket = socket
        self.send("hello", session=session)
        self.welcome = self.next("welcome")
        self.robot = self.next("robot")["design"]

    def send(self, command: str, **fields: Any) -> None:
        self.socket.send_text(json.dumps({"type": command, **fields}))

    def next(self, kind: str) -> dict[str, Any]:
        """The next event of that kind."""
        while True:
            message = self.socket.receive()
            if message["type"] == "websocket.close":
                raise WebSocketDisconnect(message["code"])
            event = json.loads(message["text"]) if message.get("text") else {}
            if event.get("type") == kind:
                return event
            assert event.get("type") != "refused", event
            assert (kind, event.get("type")) != ("progress", "equations"), event

    def refused(self) -> str:
        """Why the next command that is refused is."""
        while True:
            message = self.socket.receive()
            event = json.loads(message["text"]) if message.get("text") else {}
            if event.get("type") == "refused":
                return event["message"]

    @property
    def session(self) -> str:
        return self.welcome["session"]


@contextmanager
def talk(web: TestClient, studio: Studio, session: str = "") -> Iterator[Talk]:
    with web.websocket_connect(f"/socket?token={studio.token}", headers={"host": "127.0.0.1:8000"}) as socket:
        yield Talk(socket, session)


# ---- who may talk ----


def test_the_page_needs_the_token(web: TestClient, studio: Studio) -> None:
    assert web.get("/").status_code == 403
    assert "lacks its token" in web.get("/").text
    assert web.get("/?token=wrong").status_code == 403
    page = web.get(f"/?token={studio.token}")
    assert page.status_code == 200
    assert "modurob studio" in page.text
    # from now on the cookie will do, so that links without the token work in this browser
    assert web.get("/").status_code == 200
    cookie = page.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:8000", "", "[bad"])
def test_foreign_hosts_are_refused(web: TestClient, studio: Studio, host: str) -> None:
    answer = web.get(f"/?token={studio.token}", headers={"host": host})
    assert answer.status_code == 403
    assert "is not served here" in answer.text


@pytest.mark.parametrize("host", ["localhost:1234", "127.0.0.1:9", "[::1]:8000"])
def test_tunnels_are_served(web: TestClient, studio: Studio, host: str) -> None:
    assert web.get(f"/?token={studio.token}", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "https://localhost:8000", "http://[::1"]
)
def test_a_websocket_from_a_foreign_page_is_refused(web: TestClient, studio: Studio, origin: str) -> None:
    with (
        pytest.raises(WebSocketDisconnect) as refused,
        web.websocket_connect(f"/socket?token={studio.token}", headers={"origin": origin, "host": "127.0.0.1:8000"}),
    ):
        pass
    assert refused.value.code == 4403
    assert "may not talk to the studio" in (refused.value.reason or "")


def test_uploads_from_a_foreign_page_are_refused(web: TestClient, studio: Studio) -> None:
    web.get(f"/?token={studio.token}")
    answer = web.post("/open/abc", content=b"x", headers={"origin": "http://evil.example"})
    assert answer.status_code == 403


def test_an_origin_that_is_no_address_is_refused_in_words(web: TestClient, studio: Studio) -> None:
    answer = web.get(f"/?token={studio.token}", headers={"origin": "http://[::1"})
    assert answer.status_code == 403
    assert "may not talk to the studio" in answer.text


def test_a_share_link_opens_a_page_that_sees_nothing_of_the_owner(studio: Studio) -> None:
    """In a browser that does not know the token; and neither the token nor saved robots are available with it."""
    with TestClient(studio.app(), base_url=HOME) as owner, talk(owner, studio) as page:
        page.send("open_shipped", name="crab")
        page.next("robot")
        key, saved = page.welcome["share_key"], page.session
    assert studio.token not in key
    with TestClient(studio.app(), base_url=HOME) as fresh:
        assert fresh.get("/?key=wrong").status_code == 403
        answer = fresh.get(f"/?key={key}")
        assert answer.status_code == 200
        assert studio.token not in answer.headers["set-cookie"]
        # from now on the cookie will do
        assert fresh.get("/").status_code == 200
        with fresh.websocket_connect(f"/socket?key={key}", headers={"host": "127.0.0.1:8000"}) as socket:
            guest = Talk(socket)
            assert guest.welcome["recent"] == []
            guest.send("open_recent", name=saved)
            assert "opened by a share link" in guest.refused()
            guest.send("open_shipped", name="tree9")
            assert len(guest.next("robot")["design"]["modules"]) == 9
            assert fresh.get(f"/file/{guest.session}/robot.yaml").status_code == 200
    # what guests build is not written to the owner's disk
    assert [robot["name"] for robot in studio.autosave.recent().robots] == ["crab"]


def test_the_owner_stays_the_owner_behind_a_share_link(web: TestClient, studio: Studio) -> None:
    """Also when the link was followed from another site, where browsers hold back strict cookies."""
    web.get(f"/?token={studio.token}")
    key = safety.share_key(studio.token)
    assert studio.token in web.get(f"/?key={key}").headers["set-cookie"]
    with TestClient(studio.app(), base_url=HOME) as elsewhere:
        theirs = elsewhere.get(f"/?key={key}").headers["set-cookie"].partition("=")[0]
    own = web.get(f"/?token={studio.token}").headers["set-cookie"].partition("=")[0]
    assert theirs != own


@pytest.mark.parametrize("headers", [{"host": "evil.example"}, {"origin": "http://evil.example"}])
def test_a_share_key_does_not_open_doors_to_strangers(web: TestClient, studio: Studio, headers: dict[str, str]) -> None:
    assert web.get(f"/?key={safety.share_key(studio.token)}", headers=headers).status_code == 403


def test_a_websocket_needs_the_token(web: TestClient) -> None:
    with (
        pytest.raises(WebSocketDisconnect) as refused,
        web.websocket_connect("/socket?token=x", headers={"host": "127.0.0.1:8000"}),
    ):
        pass
    assert refused.value.code == 4403


def test_hello_comes_first(web: TestClient, studio: Studio) -> None:
    with web.websocket_connect(f"/socket?token={studio.token}", headers={"host": "127.0.0.1:8000"}) as socket:
        socket.send_text('{"type": "undo"}')
        assert "hello first" in json.loads(socket.receive_text())["message"]


def test_browsers_are_told_to_be_strict(web: TestClient, studio: Studio) -> None:
    headers = web.get(f"/?token={studio.token}").headers
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe-eval" not in policy
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    ["../server.py", "%2e%2e/server.py", "js/../../server.py", "nothing.js", "js", "%00", "x" * 5000, "a/" * 3000],
)
def test_only_files_of_the_page_are_served(web: TestClient, path: str) -> None:
    assert web.get(f"/static/{path}").status_code == 404


def test_files_are_sent_once(web: TestClient) -> None:
    first = web.get("/static/js/main.js")
    assert first.text == (FOLDER / "js/main.js").read_text()
    assert first.headers["content-type"].startswith("text/javascript")
    again = web.get("/static/js/main.js", headers={"if-none-match": first.headers["etag"]})
    assert again.status_code == 304
    assert again.headers["cache-control"] == "no-cache"


def test_browsers_keep_the_files_of_this_version(web: TestClient, studio: Studio) -> None:
    """The page names them by an address that changes with them; under an older one there is nothing."""
    page = web.get(f"/?token={studio.token}")
    assert page.headers["cache-control"] == "no-cache"
    address = re.search(r'src="\./(static/[0-9a-f]{16}/js/main\.js)"', page.text)
    assert address is not None
    kept = web.get(f"/{address[1]}")
    assert kept.text == (FOLDER / "js/main.js").read_text()
    assert kept.headers["cache-control"] == "max-age=31536000, immutable"
    assert web.get(f"/static/{'0' * 16}/js/main.js").status_code == 404


def test_the_package_may_be_reached_through_a_link(tmp_path: Path) -> None:
    """Static files of a package whose folder is a symbolic link."""
    (tmp_path / "modurob").symlink_to(Path(mr.__file__).parent)
    program = (
        "from starlette.testclient import TestClient; from modurob.studio.server import Studio; "
        "print(TestClient(Studio().app(), base_url='http://127.0.0.1').get('/static/js/main.js').status_code)"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.split() == ["200"]


def test_a_port_that_is_taken_is_said_so() -> None:
    with listening("127.0.0.1", 0) as door, pytest.raises(StudioError, match="is not available"):
        listening("127.0.0.1", door.getsockname()[1])
    with pytest.raises(StudioError, match="port 99999 of 127"):
        listening("127.0.0.1", 99999)


@pytest.mark.parametrize(("file", "ending"), [(None, "#start"), ("crab", "")])
def test_the_address_leads_to_the_start_screen_unless_a_robot_is_given(file, ending, monkeypatch, capsys) -> None:
    opened = []
    monkeypatch.setattr("modurob.studio.server.server", lambda studio: SimpleNamespace(run=lambda sockets: None))
    monkeypatch.setattr("webbrowser.open", opened.append)
    for browser in (False, True):
        serve(file, browser=browser)
    printed = [line.split()[-1] for line in capsys.readouterr().out.splitlines()]
    assert opened == printed[1:]
    assert all(address.partition("#")[1:] == ending.partition("#")[1:] for address in printed)


@pytest.mark.parametrize("given", ["urdf", "link", "text"])
def test_the_command_opens_urdf_files_and_share_texts(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "arm.urdf").write_text(ARM)
    text = share.packed(Design(mr.load("crab").with_setup(base="m1", floating=True)))
    arguments = {
        "urdf": [str(tmp_path / "arm.urdf")],
        "text": ["--share", text],
        "link": ["--share", f"http://127.0.0.1:9/?key=x#robot={text}"],
    }[given]
    served: list[Studio] = []
    monkeypatch.setattr(server, "server", lambda studio: SimpleNamespace(run=lambda sockets: served.append(studio)))
    assert CliRunner().invoke(app, ["studio", "--no-browser", *arguments]).exit_code == 0
    (studio,) = served
    with TestClient(studio.app(), base_url=HOME) as web, talk(web, studio) as page:
        shown = page.robot
    assert (shown["name"], shown["base"]) == (("arm", "base") if given == "urdf" else ("crab", "m1"))


def test_the_command_refuses_wrong_texts_in_words(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["modurob", "studio", "--share", "abc"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "it may have been cut off" in " ".join(capsys.readouterr().err.split())


def test_it_is_served_until_interrupted_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """The whole program: prints its address, answers, and ends on Ctrl-C; with a run and a derivation going on, and frames that the
    page never drew, there is no word of lost tasks in the log."""
    program = "from modurob.studio.server import serve; serve('crab', browser=False)"
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", program], text=True, env=environment, **pipes) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address, timeout=60) as answer:
            assert answer.status == 200
        for _ in range(2):
            with connect(address.replace("http:", "ws:").replace("/?", "/socket?")) as page:
                page.send('{"type": "hello"}')
                page.send('{"type": "start_run", "settings": {"duration": 60}}')
                page.send('{"type": "derive", "symbols": ["masses", "lengths", "inertias"]}')
                frames = 0
                while frames < 3:
                    frames += isinstance(page.recv(timeout=60), bytes)
        process.send_signal(signal.SIGINT)
        _, log = process.communicate(timeout=60)
    assert process.returncode in (0, -signal.SIGINT, 130)
    assert log == ""


# ---- sessions ----


def test_a_session_answers_and_remembers(web: TestClient, studio: Studio) -> None:
    with talk(web, studio) as page:
        page.send("open_shipped", name="crab")
        assert page.next("robot")["design"]["key"] == mr.load("crab").key
        session = page.session
    with talk(web, studio, session) as page:
        assert page.session == session
        assert len(page.robot["modules"]) == 6
        page.send("undo")
        assert len(page.next("robot")["design"]["modules"]) == 1


def test_sessions_are_separate(web: TestClient, studio: Studio) -> None:
    with talk(web, studio) as one, talk(web, studio) as two:
        one.send("open_shipped", name="crab")
        one.next("robot")
        two.send("rename", name="mine")
        assert len(two.next("robot")["design"]["modules"]) == 1
        assert one.session != two.session


def test_a_second_page_gets_a_copy(web: TestClient, studio: Studio) -> None:
    with talk(web, studio) as one:
        one.send("open_shipped", name="crab")
        one.next("robot")
        with talk(web, studio, one.session) as two:
            assert two.session != one.session
            assert len(two.robot["modules"]) == 6


def test_every_command_is_answered(web: TestClient, studio: Studio) -> None:
    with talk(web, studio) as page:
        page.send("rename", name="mine")
        assert page.next("done")["command"] == "rename"
        page.send("set_speed", speed=2.0)
        assert page.next("done")["command"] == "set_speed"
        page.send("set_speed", speed=0.0)
        assert "speed 0: expected at least 0.05" in page.refused()


# ---- after the server was started again ----


def test_a_robot_survives_a_restart_and_the_page_is_told(web: TestClient, studio: Studio) -> None:
    with talk(web, studio) as page:
        page.send("open_shipped", name="crab")
        page.next("robot")
        session = page.session
    again = Studio(autosave=studio.autosave)
    with TestClient(again.app(), base_url=HOME) as other, talk(other, again, session) as page:
        assert page.session == session
        assert page.robot["key"] == mr.load("crab").key
        assert "back as it was last saved" in page.welcome["note"]
        assert page.robot["undo"] == 0


def test_what_cannot_come_back_is_said(web: TestClient, studio: Studio) -> None:
    assert isinstance(studio.autosave.folder, Path)
    damaged = "a" * 32
    studio.autosave.folder.mkdir(exist_ok=True)
    (studio.autosave.folder / f"{damaged}.json").write_text('{"robot": ')
    with talk(web, studio, damaged) as page:
        assert "cannot be read" in page.welcome["note"]
        assert len(page.robot["modules"]) == 1
        assert any("cannot be read" in problem for problem in page.welcome["problems"])
    with talk(web, studio, "b" * 32) as page:
        assert "has no saved robot" in page.welcome["note"]
    with talk(web, studio) as page:
        assert page.welcome["note"] == ""


def test_a_studio_started_with_a_robot_shows_it_and_names_the_other(web: TestClient, studio: Studio) -> None:
    with talk(web, studio) as page:
        page.send("open_shipped", name="crab")
        page.next("robot")
        session = page.session
    again = Studio(Design(mr.load("tree9")), autosave=studio.autosave)
    with TestClient(again.app(), base_url=HOME) as other, talk(other, again, session) as page:
        assert len(page.robot["modules"]) == 9
        assert "under Open, Recent" in page.welcome["note"]
        assert page.welcome["recent"][0]["session"] == session


# ---- files of the user that are damaged ----


def test_a_damaged_module_type_does_not_keep_the_page_from_opening(
    web: TestClient, studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.yaml").write_text("format: [")
    (tmp_path / "good.yaml").write_text(yaml.safe_dump(own_type("good")))
    monkeypatch.setattr("modurob.catalogue.library.user_folder", lambda: tmp_path)
    with talk(web, studio) as page:
        names = [kind["name"] for kind in page.welcome["types"]]
        assert "backbone" in names
        assert "good" in names
        assert "broken" not in names
        assert any("'broken'" in problem and "not YAML" in problem for problem in page.welcome["problems"])


# ---- what would keep others waiting ----


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "open", "text": "format: modurob assembly 1\nconnections: [" + "/" * 60_000 + "]"},
        {"type": "read_matrix", "text": "]" + " " * 40_000},
        {"type": "read_matrix", "text": "3\n" * 20_000},
        {"type": "open", "text": "x: [" + "1, " * 600_000 + "]"},
    ],
    ids=["slashes", "spaces", "rows", "list"],
)
def test_others_are_served_beside_a_long_text(web: TestClient, studio: Studio, fields: dict[str, Any]) -> None:
    with talk(web, studio) as one, talk(web, studio) as two:
        one.socket.send_text(json.dumps(fields))
        two.send("rename", name="meanwhile")
        two.next("robot")
        assert one.refused()


def test_times_that_no_run_has_are_the_ends_of_it(web: TestClient, studio: Studio) -> None:
    with talk(web, studio) as page:
        page.send("open_shipped", name="crab")
        page.next("robot")
        page.send("start_run", settings={"duration": 60})
        page.next("done")
        for t in (1e308, -1e308, 0.0):
            page.send("scrub", run=0, t=t)
            assert page.next("done")["command"] in ("scrub", "start_run", "open_shipped")


# ---- refusals ----


def test_refusals_come_with_the_command(web: TestClient, studio: Studio) -> None:
    with talk(web, studio) as page:
        page.send("dock", kind="backbone", at="m0/9", by="4")
        refused = page.next("refused")
        assert refused["command"]["at"] == "m0/9"
        assert "no port '9'" in refused["message"]
        page.socket.send_text("nonsense")
        assert "not JSON" in page.next("refused")["message"]
        page.socket.send_bytes(b"\x00\x01")
        assert "not JSON" in page.next("refused")["message"]
        page.send("hello")
        assert "once" in page.next("refused")["message"]
        # and the session goes on
        page.send("dock", kind="backbone", at="m0/3", by="4")
        assert len(page.next("robot")["design"]["modules"]) == 2


def test_a_mistake_of_ours_is_a_message(web: TestClient, studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: Any) -> None:
        raise ZeroDivisionError("by chance")

    with talk(web, studio) as page:
        monkeypatch.setattr(studio.sessions[page.session], "undo", crash)
        page.send("undo")
        assert page.next("refused")["message"] == "the studio failed at this: ZeroDivisionError: by chance"
        page.send("rename", name="still here")
        assert page.next("robot")["design"]["name"] == "still here"


def test_a_mistake_of_ours_in_a_file_is_a_message(
    web: TestClient, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: Any) -> None:
        raise ZeroDivisionError("by chance")

    web.get(f"/?token={studio.token}")
    with talk(web, studio) as page:
        monkeypatch.setattr("modurob.studio.downloads.content", crash)
        answer = web.get(f"/file/{page.session}/robot.yaml")
        assert (answer.status_code, answer.text) == (500, "the studio failed at this: ZeroDivisionError: by chance")


def test_there_are_not_too_many_sessions(web: TestClient, studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_SESSIONS", 2)
    with (
        talk(web, studio),
        talk(web, studio),
        pytest.raises(AssertionError, match="2 pages are open"),
        talk(web, studio),
    ):
        pass
    with talk(web, studio):
        assert len(studio.sessions) == 2


# ---- files ----


def test_a_file_is_opened(web: TestClient, studio: Studio) -> None:
    web.get(f"/?token={studio.token}")
    with talk(web, studio) as page:
        assert web.post(f"/open/{page.session}", content=dumps(mr.load("crab")).encode()).status_code == 200
        assert page.next("robot")["design"]["key"] == mr.load("crab").key
        wrong = web.post(f"/open/{page.session}", content=b"format: modurob assembly 1\nmodules: {m0: spider}")
        assert wrong.status_code == 400
        assert "no module type 'spider'" in wrong.text
        arm = web.post(f"/open/{page.session}?name=arm.urdf", content=ARM.encode())
        assert arm.status_code == 200
        assert page.next("robot")["design"]["made_of"] == "links"
        assert "arm.urdf" in web.post(f"/open/{page.session}?name=arm.urdf", content=b"<robot/>").text
        assert "not text" in web.post(f"/open/{page.session}", content=b"\xff\xfe\x00").text
        assert web.post("/open/nobody", content=b"x").status_code == 404


def test_a_huge_file_is_refused(web: TestClient, studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    web.get(f"/?token={studio.token}")
    with talk(web, studio) as page:
        answer = web.post(f"/open/{page.session}", content=b"x" * (LARGEST_UPLOAD + 1))
        assert answer.status_code == 413
        assert "too large" in answer.text
        monkeypatch.setattr("modurob.studio.server.LARGEST_RECORDING", 3)
        assert "reads recordings of at most" in web.post(f"/open/{page.session}?name=x.mrun", content=b"long").text


def test_downloads(web: TestClient, studio: Studio) -> None:
    web.get(f"/?token={studio.token}")
    with talk(web, studio) as page:
        page.send("open_shipped", name="crab")
        page.next("robot")
        there = f"/file/{page.session}"
        assert loads(web.get(f"{there}/robot.yaml").text).key == mr.load("crab").key
        robot = mr.load("crab").mechanism()
        eq = robot.equations(("masses", "lengths"), avoid=robot.frames)
        for name, text in (("tex", eq.latex(document=True)), ("py", eq.python()), ("c", eq.c())):
            assert web.get(f"{there}/equations.{name}?symbols=masses,lengths").text == text
        short = web.get(f"{there}/equations.tex?symbols=masses,lengths&shorthand=1").text
        assert short == eq.latex(shorthand=True, document=True)
        assert "<robot" in web.get(f"{there}/robot.urdf").text
        assert opened(web.get(f"{there}/robot.share").text) == Design(mr.load("crab"))
        wrong = web.get(f"{there}/passwd").text
        assert "no file" in wrong
        assert "run-" not in wrong
        assert web.get(f"{there}/equations.tex?symbols=magic").status_code == 400
    assert web.get("/file/nobody/robot.yaml").status_code == 404


def test_every_export_is_offered(web: TestClient, studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that is registered from outside; what two endings stand for once."""
    monkeypatch.setitem(EXPORTS._things, "dot", lambda robot: f"digraph {robot.name}")
    web.get(f"/?token={studio.token}")
    with talk(web, studio) as page:
        assert page.welcome["offers"]["exports"] == ["urdf", "mjcf", "sdf", "dot"]
        page.send("open_shipped", name="crab")
        page.next("robot")
        assert web.get(f"/file/{page.session}/robot.dot").text == "digraph crab"
        assert "robot.dot" in web.get(f"/file/{page.session}/robot.dott").text


@pytest.mark.parametrize(
    ("name", "saved"),
    [("crab", "crab"), ("my crab", "my crab"), ("a/b\\c:d", "a_b_c_d"), ("Krebs ü", "Krebs ü"), ("..", "robot")],
)
def test_files_are_called_as_the_robot(web: TestClient, studio: Studio, name: str, saved: str) -> None:
    web.get(f"/?token={studio.token}")
    with talk(web, studio) as page:
        page.send("open_shipped", name="crab")
        page.next("robot")
        page.send("rename", name=name)
        page.next("robot")
        for file, expected in (("robot.yaml", f"{saved}.yaml"), ("equations.py", f"{saved}_equations.py")):
            header = web.get(f"/file/{page.session}/{file}").headers["content-disposition"]
            assert unquote(header.split("UTF-8''")[1]) == expected


def test_a_robot_of_links_is_saved_as_urdf(web: TestClient, studio: Studio) -> None:
    web.get(f"/?token={studio.token}")
    with talk(web, studio) as page:
        page.send("open", text=ARM, name="arm.urdf")
        page.next("robot")
        there = f"/file/{page.session}"
        assert web.get(f"{there}/robot.urdf").text == ARM
        assert "save it as URDF" in web.get(f"{there}/robot.yaml").text
        assert web.get(f"{there}/equations.tex").status_code == 200
        page.send("derive", symbols=["masses", "lengths", "gravity"])
        assert page.next("equations")["parts"]


def test_files_need_the_token(studio: Studio) -> None:
    with TestClient(studio.app(), base_url=HOME) as stranger:
        assert stranger.get("/file/x/robot.yaml").status_code == 403
        assert stranger.post("/open/x", content=b"").status_code == 403


# ---- equations ----


def test_equations_are_the_librarys(web: TestClient, studio: Studio) -> None:
    with talk(web, studio) as page:
        page.send("open_shipped", name="crab")
        page.next("robot")
        page.send("derive", symbols=["masses", "lengths", "gravity"], shorthand=True)
        shown = page.next("equations")
        robot = mr.load("crab").mechanism()
        eq = robot.equations(("masses", "lengths", "gravity"), avoid=robot.frames)
        assert shown["latex"] == eq.latex(shorthand=True)
        assert all(part["latex"] in shown["latex"] for part in shown["parts"])
        assert [part["name"] for part in shown["parts"]] == ["M", "C", "N"]
        assert "not in these equations" in shown["notes"][-1]


def test_the_legend_has_units_numbers_and_bodies(web: TestClient, studio: Studio) -> None:
    """No symbol is called as a module is."""
    robot = mr.load("crab").mechanism()
    with talk(web, studio) as page:
        page.send("open_shipped", name="crab")
        page.next("robot")
        page.send("derive", symbols=["masses", "inertias", "centres", "gravity", "armatures"])
        rows = {row["name"]: row for row in page.next("equations")["legend"]}
    assert not rows.keys() & robot.frames.keys()
    assert (rows["g"]["value"], rows["g"]["unit"], rows["g"]["body"]) == (9.81, "m/s²", 0)
    for body in (1, 2, 3):
        own = rows[f"q{body}"]
        assert (own["latex"], own["value"], own["unit"]) == (f"q_{{{body}}}", None, "rad")
        assert (own["body"], own["coordinate"]) == (body, body - 1)
        assert rows[f"mb{body}"]["value"] == pytest.approx(robot.inertia[body][0, 0])
        assert rows[f"mb{body}"]["body"] == rows[f"Ixx{body}"]["body"] == body
    assert rows["y1"]["body"] == 1


def test_entries_and_numbers_of_long_equations(web: TestClient, studio: Studio, rng: np.random.Generator) -> None:
    """Too long to typeset whole: entry by entry, and in numbers, which are those of the formulas."""
    robot = mr.load("lwa4p").robot()
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    with talk(web, studio) as page:
        page.send("show_entry", part="M", row=0)
        assert "derive them first" in page.next("refused")["message"]
        page.send("evaluate", q=[], v=[])
        assert "derive them first" in page.next("refused")["message"]
        page.send("open_shipped", name="lwa4p")
        page.next("robot")
        page.send("derive", symbols=["masses", "lengths", "gravity"])
        shown = page.next("equations")
        assert [part["name"] for part in shown["parts"]] == ["M", "C", "D", "N"]
        assert not any(part["latex"] for part in shown["parts"])
        assert "choose an entry below" in shown["notes"][0]
        eq = robot.equations(("masses", "lengths", "gravity"))
        assert shown["parts"][0]["terms"][1][2] == len(eq.polynomial("M")[1, 2].terms)
        page.send("show_entry", part="N", row=2)
        assert page.next("entry")["latex"].startswith(("N_{3} = ", r"\begin{aligned} & N_{3} = "))
        page.send("show_entry", part="M", row=5, column=5)
        assert page.next("entry")["latex"].startswith("M_{66} = ")
        page.send("evaluate", q=q.tolist(), v=v.tolist())
        numbers = page.next("numbers")["parts"]
        M, C, N = eq.function(q, v)
        D = np.array(eq.D.subs(eq.values).evalf(), float)
        for name, known in {"M": M, "C": C, "D": D, "N": N[:, None]}.items():
            assert np.allclose(numbers[name], known, atol=1e-9)
        for part, row, words in (("K", 0, "no matrix 'K'"), ("M", 6, "no entry (7, 1) of M: it has 6 rows")):
            page.send("show_entry", part=part, row=row)
            assert words in page.next("refused")["message"]
        page.send("evaluate", q=[0.0], v=[])
        assert "1 coordinates and 0 rates: expected 6 and 6" in page.next("refused")["message"]


def test_friction_and_springs_of_the_joints_are_shown(web: TestClient, studio: Studio) -> None:
    pair = mr.Assembly.from_aim([[3], [4]], types="backbone").with_parameters(damping=0.5)
    with talk(web, studio) as page:
        page.send("open", text=dumps(pair))
        page.next("robot")
        page.send("derive", symbols=["dampings"])
        shown = page.next("equations")
        assert [part["name"] for part in shown["parts"]] == ["M", "C", "D", "N"]
        assert r"D \dot{q}" in shown["law"]
        assert shown["parts"][2]["latex"].startswith(r"D = \begin{bmatrix}")


def test_what_cannot_be_derived_is_explained(web: TestClient, studio: Studio) -> None:
    with talk(web, studio) as page:
        page.send("derive", symbols=["magic"])
        assert "magic" in page.next("equations")["problem"]


def test_a_derivation_can_be_stopped(web: TestClient, studio: Studio) -> None:
    """One that would take many seconds; the next is not held up by it."""
    with talk(web, studio) as page:
        for i in range(7):
            page.send("dock", kind="backbone", at=f"m{i}/3", by="4", roll=90 * (i % 2))
            page.next("robot")
        page.send("derive", symbols=["masses", "lengths", "inertias"])
        page.next("progress")
        page.send("cancel_derivation")
        assert page.next("equations")["problem"] == "stopped"
        page.send("open_shipped", name="crab")
        page.next("robot")
        page.send("derive")
        assert page.next("equations")["parts"]
