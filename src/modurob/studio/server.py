"""The studio's web server: one page, its files, and a websocket for each page that is open."""

import asyncio
import logging
import secrets
import socket
import webbrowser
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from modurob.errors import ModurobError, StudioError
from modurob.studio import describe, downloads, offers, opening, page_files, protocol, safety, thumbnails
from modurob.studio.autosave import Autosave, Recent
from modurob.studio.channel import Channel
from modurob.studio.client import Client
from modurob.studio.design import AnyDesign
from modurob.studio.guard import Guard
from modurob.studio.session import Session

MOST_SESSIONS = 64
LARGEST_UPLOAD = 2_000_000  # bytes
LARGEST_RECORDING = 60_000_000  # bytes
NO_TOKEN = (
    "This address lacks its token, or the studio was started again since. "
    "Open the whole address that `modurob studio` printed, with ?token=... at its end.\n\n"
    "If this is a share link: the text after #robot= holds the robot. Open it with\n\n    modurob studio --share TEXT\n\n"
    "or paste the whole link into Open, in any studio.\n"
)
RESTORED = (
    "Your robot is back as it was last saved. Its pose, its runs and the steps of undo were not kept: "
    "the studio was started again, or had forgotten this page."
)
LOST = "The studio does not know this page any more, and has no saved robot of it: it may be under Open, Recent."
ELSEWHERE = "The studio was started with a robot of its own. What this page showed before is under Open, Recent."


class Studio:
    """The sessions of one server."""

    def __init__(self, design: AnyDesign | None = None, autosave: Autosave | None = None, hosts: tuple[str, ...] = ()):
        self.token = secrets.token_urlsafe(24)
        self.hosts = (*safety.LOOPBACK, *hosts)
        self.autosave = autosave or Autosave()
        self.design = design
        self.sessions: dict[str, Session] = {}
        self._open: dict[str, Client] = {}

    def app(self) -> Starlette:
        """The web application."""
        return Starlette(
            routes=[
                Route("/", self._page),
                Route("/open/{session}", self._upload, methods=["POST"]),
                Route("/file/{session}/{name:path}", self._file),
                Route("/scene/{kind}/{name}", self._scene),
                WebSocketRoute("/socket", self._socket),
                Route("/static/{path:path}", page_files.answer),
            ],
            middleware=[Middleware(Guard, hosts=self.hosts)],
        )

    # ---- files ----

    async def _page(self, request: Request) -> Response:
        role = safety.role(request, self.token)
        if role is None:
            return PlainTextResponse(NO_TOKEN, 403)
        answer = HTMLResponse(page_files.index())
        key = safety.key(role, self.token)
        answer.set_cookie(safety.cookie(request, role), key, httponly=True, samesite="strict")
        return answer

    async def _upload(self, request: Request) -> Response:
        """A robot file for a session: read with a limit on its size."""
        if safety.role(request, self.token) is None:
            return PlainTextResponse(NO_TOKEN, 403)
        client = self._open.get(request.path_params["session"])
        if client is None:
            return PlainTextResponse("no such session", 404)
        name = request.query_params.get("name", "")[:140]
        recording = name.lower().endswith(".mrun")
        largest, what = (LARGEST_RECORDING, "recordings") if recording else (LARGEST_UPLOAD, "robots")
        data = b""
        async for chunk in request.stream():
            data += chunk
            if len(data) > largest:
                limit = f"{largest / 1e6:.0f} MB"
                return PlainTextResponse(f"the file is too large: the studio reads {what} of at most {limit}", 413)
        if recording:
            return await _answered(_replayed(client, data, name))
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return PlainTextResponse(
                "the file is not text: expected a robot in YAML, URDF or MJCF, or a recording (.mrun)", 400
            )
        return await _answered(_opened(client, protocol.Open(text, name)))

    async def _file(self, request: Request) -> Response:
        if safety.role(request, self.token) is None:
            return PlainTextResponse(NO_TOKEN, 403)
        session = self.sessions.get(request.path_params["session"])
        if session is None:
            return PlainTextResponse("no such session", 404)
        return await _answered(downloads.answer(session, request.path_params["name"], dict(request.query_params)))

    async def _scene(self, request: Request) -> Response:
        """What a picture on the start screen shows; saved robots are for the owner alone."""
        role = safety.role(request, self.token)
        if role is None:
            return PlainTextResponse(NO_TOKEN, 403)
        autosave = self.autosave if role == "owner" else None
        kind, name = request.path_params["kind"], request.path_params["name"]
        return await _answered(asyncio.to_thread(thumbnails.answer, autosave, kind, name))

    # ---- sessions ----

    async def _socket(self, socket: WebSocket) -> None:
        role = safety.role(socket, self.token)
        if role is None:
            await socket.close(4403, "the token is missing or wrong")
            return
        await socket.accept()
        channel = Channel(socket)
        try:
            session, note = await self._greeted(channel, role)
            client = self._open[session.name] = Client(channel, session)
        except ModurobError as error:
            await channel.send(protocol.Refused({}, str(error)))
            await socket.close(4400)
            return
        except WebSocketDisconnect:
            return
        try:
            await channel.send(await asyncio.to_thread(self._welcome, session, note))
            await client.serve()
        except WebSocketDisconnect:
            pass
        finally:
            if self._open.get(session.name) is client:
                del self._open[session.name]

    async def _greeted(self, channel: Channel, role: safety.Role) -> tuple[Session, str]:
        """The session of a page that says hello, and what became of the one it asked for."""
        hello = protocol.decode(await channel.receive())
        if not isinstance(hello, protocol.Hello):
            raise StudioError("expected hello first")
        await self._left(hello.session)
        known = self.sessions.get(hello.session)
        if known is not None and hello.session not in self._open:
            return known, ""
        self._make_room()
        session, note = await asyncio.to_thread(self._session, hello.session, known, role)
        if session.name in self.sessions:  # another page of the same name came back meanwhile
            session = Session(session.autosave, session.design)
        self.sessions[session.name] = session
        return session, note

    async def _left(self, name: str) -> None:
        """Wait a moment for the page that has a session open to go: it may be the one that is being loaded again."""
        for _ in range(10):
            if name not in self._open:
                return
            await asyncio.sleep(0.05)

    def _session(self, name: str, known: Session | None, role: safety.Role) -> tuple[Session, str]:
        """A session for a page: a copy if another page has it open, what was saved if the server forgot it, else a new one."""
        autosave = self.autosave if role == "owner" else None
        if known is not None:
            return Session(autosave, known.design), ""
        saved = autosave is not None and autosave.has(name)
        if autosave is None or not name:
            return Session(autosave, self.design), ""
        if not saved or self.design is not None:
            return Session(autosave, self.design), ELSEWHERE if saved else LOST
        try:
            return Session(autosave, autosave.load(name), name), RESTORED
        except ModurobError as error:
            return Session(autosave), str(error)

    def _make_room(self) -> None:
        """Forget the oldest session that nobody looks at, if there are too many; what it designed is on disk."""
        if len(self.sessions) < MOST_SESSIONS:
            return
        idle = next((name for name in self.sessions if name not in self._open), None)
        if idle is None:
            raise StudioError(f"{MOST_SESSIONS} pages are open: close one")
        del self.sessions[idle]

    def _welcome(self, session: Session, note: str) -> protocol.Welcome:
        recent = session.autosave.recent() if session.autosave is not None else Recent([], [])
        types = describe.module_types()
        problems = [] if session.autosave is None else [*types.problems, *recent.problems]
        return protocol.Welcome(
            session.name,
            types.types,
            list(opening.examples()),
            [r for r in recent.robots if r["session"] != session.name],
            LARGEST_UPLOAD,
            safety.share_key(self.token),
            offers.shown(),
            note,
            problems,
        )


async def _replayed(client: Client, data: bytes, name: str) -> Response:
    await client.replay(data, name)
    return PlainTextResponse("opened")


async def _opened(client: Client, edit: protocol.Open) -> Response:
    await client.edit(edit)
    return PlainTextResponse("opened")


async def _answered(work: Awaitable[Response]) -> Response:
    """An answer, or the reason why there is none; of a mistake of ours the log has the whole."""
    try:
        return await work
    except ModurobError as error:
        return PlainTextResponse(str(error), 400)
    except Exception as error:
        logging.getLogger(__name__).exception("a file")
        return PlainTextResponse(f"the studio failed at this: {type(error).__name__}: {error}", 500)


def listening(host: str, port: int) -> socket.socket:
    """A socket on that port; a free one for port 0."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise StudioError(f"port {port} of {host} is not available: {why}; port 0 finds a free one") from None


def serve(
    file: str | None = None, host: str = "127.0.0.1", port: int = 0, browser: bool = True, shared: str | None = None
) -> None:
    """Run the studio until Ctrl-C, on the robot of a file or of a share text; prints the address, and opens a browser on it."""
    design = opening.first(file, shared)
    studio = Studio(design, hosts=() if host in safety.LOOPBACK else (host,))
    with listening(host, port) as door:
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{door.getsockname()[1]}/?token={studio.token}{'' if design else '#start'}"
        print(f"modurob studio: {address}", flush=True)
        if browser:
            webbrowser.open(address)
        with suppress(KeyboardInterrupt):
            server(studio).run(sockets=[door])


def server(studio: Studio) -> uvicorn.Server:
    """The web server of a studio."""
    options: dict[str, Any] = {
        "log_level": "warning",
        "ws_max_size": 2 * protocol.LONGEST_TEXT,
        "ws_per_message_deflate": False,
        "timeout_graceful_shutdown": 1,
    }
    return uvicorn.Server(uvicorn.Config(studio.app(), **options))
