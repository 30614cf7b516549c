"""At the door: foreign hosts and origins are refused, and browsers are told to be strict."""

import base64
import hashlib
from functools import cache

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from modurob.studio import page_files, safety

# nothing but this server's own files and the import map in the page; KaTeX and the plots set styles
POLICY = (
    "default-src 'self'; script-src 'self' 'sha256-{import_map}'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)


class Guard:
    """Refuses foreign hosts and origins, and tells browsers to be strict."""

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...]):
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        why = safety.refusal(HTTPConnection(scope), self.hosts)
        if why is not None and scope["type"] == "websocket":
            await WebSocket(scope, receive, send).close(4403, why[:120])
        elif why is not None:
            await PlainTextResponse(why + "\n", 403)(scope, receive, send)
        else:
            await self.app(scope, receive, _strict(send))


@cache
def _policy() -> str:
    import_map = page_files.index().split('<script type="importmap">')[1].split("</script>")[0]
    return POLICY.format(import_map=base64.b64encode(hashlib.sha256(import_map.encode()).digest()).decode())


def _strict(send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["Content-Security-Policy"] = _policy()
            headers["X-Content-Type-Options"] = "nosniff"
            headers["Referrer-Policy"] = "no-referrer"
            headers.setdefault("Cache-Control", "no-cache")
        await send(message)

    return with_headers
