"""Who may use the server, decided before anything reads the request.

Rules:

- `Host` must name this machine as itself; any port, because a tunnel may use another. A page elsewhere whose name was
  made to point here (DNS rebinding) has another name.
- `Origin`, when a browser sends one, must be this very host and port.
- The page without its data (`/` and `/static/`) is for every connection: a browser needs it before it can sign in.
- Everything else needs the token as a bearer. It is never a cookie, which a browser sends to every port of a machine,
  and never taken from a URL: the printed one has it behind `#`, which stays in the browser. A download, which the
  browser makes by itself, has a ticket instead: for that one file, once, within seconds.
- A refusal is the same, byte for byte, whatever the path and the method.
- An unexpected failure is one line on the terminal, and a traceback in the debug log only.
- Every answer forbids the browser to load anything from elsewhere, to guess types and to be framed.
"""

import hmac
import re
from collections.abc import Callable
from urllib.parse import parse_qs

import msgspec
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sightline.views.web._connection import SCOPE_KEY
from sightline.views.web.api._bodies import ProblemBody
from sightline.views.web.api._tickets import Tickets

_loopback = re.compile(rb"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?").fullmatch

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; manifest-src 'self'; "
    "img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
]
_NOT_CACHED = (b"cache-control", b"no-store")
_LONGEST_TICKET_QUERY = 200

_NOT_SIGNED_IN = ProblemBody(
    "not signed in", "open the URL that `sightline serve` printed, or send its token as a bearer"
)
_NOT_FROM_HERE = ProblemBody(
    "not a request from this machine's own page", "use http://127.0.0.1 with the port of the URL"
)
_TOO_MANY = ProblemBody("too many connections", "close some, or use one for several requests")


class Guard:
    """Stands around the whole application. `broken` is called with what the application did not expect."""

    def __init__(self, app: ASGIApp, token: str, tickets: Tickets, broken: Callable[[Exception], None]) -> None:
        self._app = app
        self._token = token.encode()
        self._tickets = tickets
        self._broken = broken

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            await self._answer(scope, receive, send)
        except (ClientDisconnect, OSError):
            pass  # the reader left in the middle
        except Exception as error:
            self._broken(error)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _Headers(scope["headers"])
        if not headers.from_here():
            await _refuse(send, 403, _NOT_FROM_HERE)
        elif self._knows_token(headers):
            if _signed_in(scope):
                await self._app(scope, receive, _protected(scope, send))
            else:
                await _refuse(send, 503, _TOO_MANY)
        elif _is_shell(scope) or self._has_ticket(scope):
            await self._app(scope, receive, _protected(scope, send))
        else:
            await _refuse(send, 401, _NOT_SIGNED_IN)

    def _knows_token(self, headers: "_Headers") -> bool:
        scheme, _, bearer = headers.one(b"authorization").partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(bearer.strip(), self._token)

    def _has_ticket(self, scope: Scope) -> bool:
        query = scope["query_string"]
        if scope["method"] != "GET" or not query.startswith(b"ticket=") or len(query) > _LONGEST_TICKET_QUERY:
            return False
        given = parse_qs(query.decode("ascii", "replace")).get("ticket", [])
        return len(given) == 1 and self._tickets.redeem(given[0], scope["path"])


def _is_shell(scope: Scope) -> bool:
    """The page without any data in it."""
    path = scope["path"]
    return scope["method"] in ("GET", "HEAD") and (path == "/" or path.startswith("/static/"))


def _signed_in(scope: Scope) -> bool:
    connection = scope.get(SCOPE_KEY)
    return connection is None or connection.sign_in()


class _Headers:
    def __init__(self, raw: list[tuple[bytes, bytes]]) -> None:
        self._raw = raw

    def all(self, name: bytes) -> list[bytes]:
        return [value for key, value in self._raw if key == name]

    def one(self, name: bytes) -> bytes:
        """Its value; nothing when it is given twice: which one counts is ambiguous."""
        values = self.all(name)
        return values[0] if len(values) == 1 else b""

    def from_here(self) -> bool:
        host = self.one(b"host").lower()
        if _loopback(host) is None:
            return False
        origins = self.all(b"origin")
        return not origins or (len(origins) == 1 and origins[0].lower() == b"http://" + host)


def _protected(scope: Scope, send: Send) -> Send:
    stored = not scope["path"].startswith("/api/")

    async def protected(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *_HEADERS, *(() if stored else (_NOT_CACHED,))]
        await send(message)

    return protected


async def _refuse(send: Send, status: int, problem: ProblemBody) -> None:
    body = msgspec.json.encode(problem)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        _NOT_CACHED,
        *_HEADERS,
    ]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
