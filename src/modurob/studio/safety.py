"""Who may talk to the studio: pages that it served itself, opened with the token that it printed, or by a share link."""

import hmac
from typing import Literal
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
    if origin is not None and _netloc(origin) != host:
        return f"a page from {origin!r:.80} may not talk to the studio at {host}"
    return None


Role = Literal["owner", "guest"]
ROLES: tuple[Role, Role] = ("owner", "guest")  # the one with more rights first


def share_key(token: str) -> str:
    """The key in share links: it follows from the token, and the token does not follow from it."""
    return hmac.new(token.encode(), b"share", "sha256").hexdigest()[:40]


def key(role: Role, token: str) -> str:
    """What a role shows."""
    return token if role == "owner" else share_key(token)


def cookie(connection: HTTPConnection, role: Role) -> str:
    """The name of the cookie with a key: browsers keep cookies by host, and several studios may run on one."""
    return f"modurob_studio_{role}_{connection.headers.get('host', '').rpartition(':')[2]}"


def role(connection: HTTPConnection, token: str) -> Role | None:
    """Whose key a connection brings, in the address or in the cookie that the page got with it; None: nobody's.

    The owner has the token that was printed. A guest has the key of a share link: its sessions are its own, and it sees nothing
    that is saved on this machine.
    """
    query, cookies = connection.query_params, connection.cookies
    for one in ROLES:
        brought = query.get("token", ""), query.get("key", ""), cookies.get(cookie(connection, one), "")
        if any(_same(x, key(one, token)) for x in brought):
            return one
    return None


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _name(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _netloc(address: str) -> str | None:
    try:
        return urlsplit(address).netloc
    except ValueError:
        return None
