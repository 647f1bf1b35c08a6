"""Who may ask, decided before anything looks at what is asked.

Rules:

- `Host` must name this machine as itself; any port, because a tunnel may use another. A page elsewhere whose name was
  made to point here (DNS rebinding) has another name.
- `Origin`, when a browser sends one, must be this very host and port.
- The token must be there: in the URL that was printed (which puts it into a cookie), in that cookie, or as a bearer.
- A refusal is the same, byte for byte, whatever was asked for and by which method.
- Every answer forbids the browser to load anything from elsewhere, to guess types and to be framed.
"""

import hmac
import re
from urllib.parse import parse_qs

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sightline.views.web._bodies import Problem

_loopback = re.compile(rb"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?").fullmatch

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
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

_NOT_SIGNED_IN = Problem("not signed in", "open the URL that `sightline serve` printed, or send its token as a bearer")
_NOT_FROM_HERE = Problem("not a request from this machine's own page", "use http://127.0.0.1 with the port of the URL")


class Guard:
    """Stands around the whole application. `cookie` is the name under which this server's token is kept."""

    def __init__(self, app: ASGIApp, token: str, cookie: str) -> None:
        self._app = app
        self._token = token.encode()
        self._cookie = cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = _Headers(scope["headers"])
        if not headers.from_here():
            await _answer(send, 403, _NOT_FROM_HERE)
        elif self._asks_to_sign_in(scope):
            await self._sign_in(send)
        elif not self._knows_token(headers):
            await _answer(send, 401, _NOT_SIGNED_IN)
        else:
            await self._app(scope, receive, _protected(scope, send))

    def _asks_to_sign_in(self, scope: Scope) -> bool:
        if scope["path"] != "/" or scope["method"] not in ("GET", "HEAD"):
            return False
        given = parse_qs(scope["query_string"], max_num_fields=16) if scope["query_string"].count(b"&") < 16 else {}
        return any(self._is_token(token) for token in given.get(b"token", []))

    def _knows_token(self, headers: "_Headers") -> bool:
        scheme, _, bearer = headers.one(b"authorization").partition(b" ")
        if scheme.lower() == b"bearer" and self._is_token(bearer.strip()):
            return True
        return any(self._is_token(value) for value in headers.cookies(self._cookie))

    def _is_token(self, given: bytes) -> bool:
        return hmac.compare_digest(given, self._token)

    async def _sign_in(self, send: Send) -> None:
        cookie = f"{self._cookie}={self._token.decode()}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"content-length", b"0"), _NOT_CACHED]
        await send({"type": "http.response.start", "status": 303, "headers": [*headers, *_HEADERS]})
        await send({"type": "http.response.body", "body": b""})


class _Headers:
    def __init__(self, raw: list[tuple[bytes, bytes]]) -> None:
        self._raw = raw

    def all(self, name: bytes) -> list[bytes]:
        return [value for key, value in self._raw if key == name]

    def one(self, name: bytes) -> bytes:
        """Its value; nothing when it is given twice, because then nobody knows which counts."""
        values = self.all(name)
        return values[0] if len(values) == 1 else b""

    def from_here(self) -> bool:
        host = self.one(b"host").lower()
        if _loopback(host) is None:
            return False
        origins = self.all(b"origin")
        return not origins or (len(origins) == 1 and origins[0].lower() == b"http://" + host)

    def cookies(self, name: str) -> list[bytes]:
        """Read by hand: other programs on this machine share the jar, and theirs may be in any form."""
        pairs = [pair.strip().partition(b"=") for line in self.all(b"cookie") for pair in line.split(b";")]
        return [value for key, _, value in pairs if key == name.encode()]


def _protected(scope: Scope, send: Send) -> Send:
    stored = not scope["path"].startswith("/api/")

    async def protected(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *_HEADERS, *(() if stored else (_NOT_CACHED,))]
        await send(message)

    return protected


async def _answer(send: Send, status: int, problem: Problem) -> None:
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
