"""Who may talk to the studio: pages that it served itself, opened with the token that it printed."""

import hmac
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def refusal(connection: HTTPConnection, hosts: tuple[str, ...]) -> str | None:
    """Why a connection is not served, or None.

    The name in Host must be one the server answers to (a name that an attacker's page resolves to 127.0.0.1 is not), and a
    page that opens a connection must come from that same host and port. Ports are not compared with the server's own, so that ssh
    tunnels work.
    """
    host = connection.headers.get("host", "")
    if _name(f"//{host}") not in hosts:
        return f"host {host!r:.80} is not served here: expected {', '.join(hosts)}"
    origin = connection.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != host:
        return f"a page from {origin!r:.80} may not talk to the studio at {host}"
    return None


def cookie(connection: HTTPConnection) -> str:
    """The name of the cookie with the token: browsers keep cookies by host, and several studios may run on one."""
    return f"modurob_studio_{connection.headers.get('host', '').rpartition(':')[2]}"


def knows(connection: HTTPConnection, token: str) -> bool:
    """Whether a connection brings the token, in the address or in the cookie that the page got with it."""
    brought = (connection.query_params.get("token", ""), connection.cookies.get(cookie(connection), ""))
    return any(hmac.compare_digest(x.encode(), token.encode()) for x in brought)


def _name(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
