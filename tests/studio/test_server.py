"""The web server: files, sessions, and those it does not talk to."""

import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect

import modurob as mr
from modurob.assembly.files import dumps
from modurob.errors import StudioError
from modurob.robot import loads
from modurob.studio import server
from modurob.studio.autosave import Autosave
from modurob.studio.page_files import FOLDER
from modurob.studio.server import LARGEST_UPLOAD, Studio, listening

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


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "https://localhost:8000"])
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


@pytest.mark.parametrize("path", ["../server.py", "%2e%2e/server.py", "js/../../server.py", "nothing.js", "js"])
def test_only_files_of_the_page_are_served(web: TestClient, path: str) -> None:
    assert web.get(f"/static/{path}").status_code == 404


def test_files_are_sent_once(web: TestClient) -> None:
    first = web.get("/static/js/main.js")
    assert first.text == (FOLDER / "js/main.js").read_text()
    assert first.headers["content-type"].startswith("text/javascript")
    again = web.get("/static/js/main.js", headers={"if-none-match": first.headers["etag"]})
    assert again.status_code == 304


def test_a_port_that_is_taken_is_said_so() -> None:
    with listening("127.0.0.1", 0) as door, pytest.raises(StudioError, match="cannot be had"):
        listening("127.0.0.1", door.getsockname()[1])


def test_it_is_served_until_interrupted() -> None:
    """The whole program: prints its address, answers, and ends on Ctrl-C."""
    program = "from modurob.studio.server import serve; serve('crab', browser=False)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address, timeout=10) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) in (0, -signal.SIGINT, 130)


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
        assert "not text" in web.post(f"/open/{page.session}", content=b"\xff\xfe\x00").text
        assert web.post("/open/nobody", content=b"x").status_code == 404


def test_a_huge_file_is_refused(web: TestClient, studio: Studio) -> None:
    web.get(f"/?token={studio.token}")
    with talk(web, studio) as page:
        answer = web.post(f"/open/{page.session}", content=b"x" * (LARGEST_UPLOAD + 1))
        assert answer.status_code == 413
        assert "too large" in answer.text


def test_downloads(web: TestClient, studio: Studio) -> None:
    web.get(f"/?token={studio.token}")
    with talk(web, studio) as page:
        page.send("open_shipped", name="crab")
        page.next("robot")
        there = f"/file/{page.session}"
        assert loads(web.get(f"{there}/robot.yaml").text).key == mr.load("crab").key
        eq = mr.load("crab").mechanism().equations(("masses", "lengths"))
        for name, text in (("tex", eq.latex()), ("py", eq.python()), ("c", eq.c())):
            assert web.get(f"{there}/equations.{name}?symbols=masses,lengths").text == text
        assert "<robot" in web.get(f"{there}/robot.urdf").text
        assert "no file" in web.get(f"{there}/passwd").text
        assert web.get(f"{there}/equations.tex?symbols=magic").status_code == 400
    assert web.get("/file/nobody/robot.yaml").status_code == 404


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
        eq = mr.load("crab").mechanism().equations(("masses", "lengths", "gravity"))
        assert shown["latex"] == eq.latex(shorthand=True)
        assert all(part in shown["latex"] for part in shown["parts"].values())
        assert set(shown["parts"]) == {"M", "C", "N"}


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


def test_equations_that_nobody_reads_are_not_typeset(web: TestClient, studio: Studio) -> None:
    with talk(web, studio) as page:
        for i in range(5):
            page.send("dock", kind="backbone", at=f"m{i}/3", by="4", roll=90 * (i % 2))
            page.next("robot")
        page.send("derive", symbols=["masses", "lengths", "inertias"])
        shown = page.next("equations")
        assert shown["parts"] == {}
        assert "too many to read" in shown["legend"][0]
