"""A robot that moves while one looks: a page in the browser, fed by this process over the loopback of this machine."""

import secrets
import threading
import time
import webbrowser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import numpy as np

from modurob import kernels
from modurob.algorithms import forward_kinematics
from modurob.errors import InputError
from modurob.mechanism import Tables
from modurob.spatial.scalars import Array, as_array
from modurob.viewer import page, scene, showing

RATE = 60.0  # pictures a second, at most
WAIT = 10.0  # seconds that a page waits for the next pose before it asks again


class Paced:
    """What shows configurations as they come: `view(q)` at once, `view(q, t)` no sooner than time t has come, `speed` times as
    fast as time passes; 0 does not wait."""

    robot: Tables
    speed: float = 1.0
    _began: tuple[float, float] | None = None  # wall and simulated time
    _drawn = -np.inf

    def __call__(self, q: Any, t: float | None = None) -> None:
        """Show the robot at q, (nq,) [rad or m]; with t [s] wait until it is that late."""
        now = time.monotonic()
        if t is not None:
            now = self._waited(now, t)
            if now - self._drawn < 1 / RATE:
                return
        self._drawn = now
        self._show(poses(self.robot, q))

    def _waited(self, now: float, t: float) -> float:
        if self._began is None or t < self._began[1]:
            self._began = now, t
        if not self.speed:
            return now
        early = self._began[0] + (t - self._began[1]) / self.speed - now
        if early > 0:
            time.sleep(early)
        else:
            self._began = now, t  # what was slower than time does not hurry after it
        return now + max(early, 0.0)

    def _show(self, X: Array) -> None:
        raise NotImplementedError


def poses(robot: Tables, q: Any) -> Array:
    """X_WB of all bodies, their first three rows, (bodies, 3, 4), as 32-bit floats."""
    at = as_array(q)
    if at.shape != (robot.nq,) or not np.isfinite(at).all():
        raise InputError(f"q has shape {at.shape}: expected one configuration of {robot.nq} finite numbers to show")
    return forward_kinematics(robot, at, kernels.run).bodies[:, :3].astype("<f4")


class Live(Paced):
    """A page with a robot on it that moves as it is told; see `robot.live`."""

    def __init__(self, robot: Tables, q: Any = None, speed: float = 1.0, browser: bool = True):
        if isinstance(speed, bool) or not isinstance(speed, int | float | np.number) or not 0 <= speed < np.inf:
            raise InputError(f"speed = {speed!r:.60}: expected how fast time passes, 1 as it does, 0 without waiting")
        chapters = scene.still(robot, None if q is None else as_array(q))
        self.robot, self.speed = robot, speed
        self._page = page.html(chapters, live="poses").encode()
        self._poses, self._number, self._open = chapters[0].poses()[0].astype("<f4"), 0, True
        self._news = threading.Condition()
        self._key = secrets.token_urlsafe(12)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        if browser:
            self._appear()

    @property
    def address(self) -> str:
        """Where the page is, as long as this is open."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/{self._key}/"

    def _appear(self) -> None:
        if display := showing.notebook():
            display.display(display.HTML(page.window(self.robot.name, f'src="{self.address}"')))
        else:
            webbrowser.open(self.address)

    def _show(self, X: Array) -> None:
        if not self._open:
            raise InputError(f"the live view of {self.robot.name} is closed: open another one")
        with self._news:
            self._poses, self._number = X, self._number + 1
            self._news.notify_all()

    def newer(self, than: int) -> tuple[int, bytes]:
        """The number and the bytes of the poses that came after those of that number; waits for them a while."""
        with self._news:
            self._news.wait_for(lambda: self._number > than or not self._open, WAIT)
            return self._number, self._poses.tobytes()

    def close(self) -> None:
        """Let the page go: it keeps the last picture."""
        with self._news:
            self._open = False
            self._news.notify_all()
        self._server.shutdown()
        self._server.server_close()

    def __repr__(self) -> str:
        return f"Live({self.robot.name}, {self.address if self._open else 'closed'})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        live = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                """The page, or the poses after those that it has; nothing without the key."""
                parts = self.path.lstrip("/").split("/")
                if parts[:2] == [live._key, ""]:
                    self._answer(live._page, "text/html; charset=utf-8")
                elif parts[0] == live._key and parts[1:2] == ["poses"] and parts[-1].isdigit():
                    number, data = live.newer(int(parts[-1]))
                    self._answer(data, "application/octet-stream", number)
                else:
                    self.send_error(404)

            def _answer(self, data: bytes, kind: str, number: int = 0) -> None:
                self.send_response(200)
                for name, value in (("Content-Type", kind), ("Content-Length", len(data)), ("X-Number", number)):
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing is logged."""

        return Handler
