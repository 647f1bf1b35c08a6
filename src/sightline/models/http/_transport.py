"""The way to one model server: a request goes out, the events of its answer come in.

- Nothing but the base URL is ever spoken to: redirects are not followed, proxies are those of the environment, and
  none of them for this machine itself.
- Certificates are loaded at the first request, in a thread, and not for an http:// server. Connections are reused.
- What fails is a `ModelError`: `network` before an answer began, `cut` within one, otherwise what `classify` makes of
  the server's reply. The values of the headers given here, which hold the key, are masked in each of them.
- A server that only sends pings is waited for longer than one that sends nothing, but not for ever. That is also the
  time for an answer that is no stream.
- Who stops iterating closes the connection (use `aclosing`); who is cancelled has closed it.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from urllib.parse import SplitResult, urlsplit

from sightline.exceptions import UserMistake
from sightline.models._api import ErrorKind, ModelError
from sightline.models.http._client import (
    HttpAnswer,
    HttpClient,
    HttpFailure,
    HttpSilent,
    HttpUnconnected,
    HttpUnusable,
    is_header_name,
)
from sightline.models.http._sse import EVENT_LIMIT, LAST, EventTooLong, ServerEvent, Splitter
from sightline.settings import RetrySettings
from sightline.text import clean_line, without_credentials

Classify = Callable[[int, Mapping[str, str], bytes], ModelError]

CONNECT_SECONDS, SILENCE_SECONDS = 10.0, 600.0
PINGED_SECONDS = 3600.0
_PING = "ping"  # an event without content; most servers send comments instead
_ERROR_BODY_LIMIT = 64 * 1024
_REPLY_LIMIT = 16 * 1024 * 1024
# After its last event a server only has to end the answer; the connection is of no use again without that.
_GOODBYE_SECONDS = 0.25
_NO_SECRET = frozenset({"accept", "content-type", "user-agent", "anthropic-version", "anthropic-beta"})
# Shorter "keys" are what local servers are given for want of one; masking those would garble texts.
_SECRET_AT_LEAST = 8
_MASK = "[key]"
_QUOTED = 200  # bytes of a body that was not understood
_DEFAULT_RETRY = RetrySettings()


class Transport:
    """`headers` go with every request. `retry` is for the client that asks through it."""

    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str],
        *,
        retry: RetrySettings = _DEFAULT_RETRY,
        connect_seconds: float = CONNECT_SECONDS,
        silence_seconds: float = SILENCE_SECONDS,
        pinged_seconds: float = PINGED_SECONDS,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._address = _address(self.base_url)
        self.retry = retry
        self._headers = {"user-agent": "sightline", "accept-encoding": "identity", **_checked(headers)}
        self._secrets = _secrets(self._address, headers)
        self._pinged_seconds = pinged_seconds
        self._client = HttpClient(self._address, connect_seconds=connect_seconds, silence_seconds=silence_seconds)

    def __repr__(self) -> str:
        return f"Transport({self.where!r})"

    @property
    def where(self) -> str:
        """The address as it may be shown."""
        parts = self._address
        return clean_line(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}")

    async def events(
        self,
        path: str,
        body: bytes,
        *,
        classify: Classify,
        headers: Mapping[str, str] | None = None,
        last: frozenset[str] = frozenset(),
    ) -> AsyncGenerator[ServerEvent, None]:
        """POST `body` (JSON); its answer's events. `last` names those after which nothing follows, as after [DONE]."""
        request_headers = {"content-type": "application/json", "accept": "text/event-stream", **(headers or {})}
        async with self._answer("POST", path, classify, request_headers, body) as response:
            if _is_one_body(response):
                yield ServerEvent("", await self._beginning(response, EVENT_LIMIT))
                return
            splitter = Splitter()
            first = b""
            heard = time.monotonic()
            async with aclosing(response.chunks()) as chunks:
                async for chunk in chunks:
                    first = first or chunk
                    for event in splitter.feed(chunk):
                        yield event
                        if event.event in last or event.data == LAST:
                            await _drained(chunks)
                            return
                        heard = heard if event.event == _PING else time.monotonic()
                    if time.monotonic() - heard > self._pinged_seconds:
                        raise ModelError("cut", f"{self.where} stopped sending", "try again later")
            if (rest := splitter.end()) is not None:
                yield rest
            elif not splitter.found and "event-stream" not in response.headers.get("content-type", ""):
                raise self.masked_error(_not_events(self.where, first))

    async def get(self, path: str, *, classify: Classify) -> bytes:
        """A small reply, whole."""
        async with self._answer("GET", path, classify, {"accept": "application/json"}) as response:
            reply = await self._beginning(response, _REPLY_LIMIT + 1)
            if len(reply) > _REPLY_LIMIT:
                raise ModelError("protocol", f"the reply of {self.where} to {path} is too long")
            return reply

    async def close(self) -> None:
        await self._client.close()

    def masked(self, text: str) -> str:
        """`text` as it may be shown: without the key."""
        for secret in self._secrets:
            text = text.replace(secret, _MASK)
        return without_credentials(text)

    def masked_error(self, error: ModelError) -> ModelError:
        """The same error; for one a client made of an error inside an answer."""
        error.message, error.hint = self.masked(error.message), self.masked(error.hint)
        error.args = (error.message,)
        return error

    @asynccontextmanager
    async def _answer(
        self, method: str, path: str, classify: Classify, headers: Mapping[str, str], body: bytes = b""
    ) -> AsyncIterator[HttpAnswer]:
        answering = False
        try:
            async with self._client.answer(
                method, self.base_url + path, {**self._headers, **headers}, body
            ) as response:
                if response.status != 200:
                    error_body = await self._beginning(response, _ERROR_BODY_LIMIT)
                    raise self.masked_error(classify(response.status, response.headers, error_body))
                answering = True
                yield response
        except EventTooLong:
            raise ModelError("protocol", f"{self.where} sent an event of more than 64 MiB") from None
        except HttpFailure as problem:
            raise self.masked_error(_failure(problem, self.where, answering=answering)) from None

    async def _beginning(self, response: HttpAnswer, limit: int) -> bytes:
        body = bytearray()
        try:
            async with asyncio.timeout(self._pinged_seconds), aclosing(response.chunks()) as chunks:
                async for chunk in chunks:
                    body += chunk
                    if len(body) >= limit:
                        break
        except TimeoutError:
            raise HttpSilent(f"it did not end within {self._pinged_seconds:g} seconds") from None
        return bytes(body[:limit])


def _address(base_url: str) -> SplitResult:
    try:
        parts = urlsplit(base_url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts
    except ValueError:
        pass
    raise UserMistake("this is not the address of a model server", "check the base URL: http://HOST or https://HOST")


def _checked(headers: Mapping[str, str]) -> dict[str, str]:
    checked = {}
    for name, value in headers.items():
        if not is_header_name(name):  # not quoted: a colon in it is often followed by a key
            hint = "check the headers of your servers in the settings (models.servers)"
            raise UserMistake("the name of a header has a character that cannot be sent", hint)
        value = value.strip()  # a key is often read from a file, with its line end
        if not value.isascii() or not value.isprintable():
            raise UserMistake(f"the header {name} has a character that cannot be sent", "copy the key once more")
        checked[name] = value
    return checked


def _secrets(address: SplitResult, headers: Mapping[str, str]) -> list[str]:
    values = [value.strip() for name, value in headers.items() if name.lower() not in _NO_SECRET]
    values += [value.partition(" ")[2] for value in values]  # Bearer …
    values += [address.password or "", address.query]
    return sorted({value for value in values if len(value) >= _SECRET_AT_LEAST}, key=len, reverse=True)


def _is_one_body(response: HttpAnswer) -> bool:
    """A server that does not stream answers with one JSON text: it is passed on as one event."""
    return str(response.headers.get("content-type", "")).strip().lower().startswith("application/json")


async def _drained(chunks: AsyncGenerator[bytes, None]) -> None:
    """Hear the server out, but not for long."""
    try:
        async with asyncio.timeout(_GOODBYE_SECONDS):
            async for _ in chunks:
                pass
    except (TimeoutError, HttpFailure):
        pass


def _not_events(where: str, body: bytes) -> ModelError:
    reason = clean_line(body[:_QUOTED].decode("utf-8", "replace"))
    return ModelError("protocol", f"{where} did not answer with events: {reason}", "check the base URL and the API")


def _failure(problem: HttpFailure, where: str, *, answering: bool) -> ModelError:
    reason = clean_line(str(problem))
    if isinstance(problem, HttpSilent):
        kind: ErrorKind = "cut" if answering else "network"
        return ModelError(kind, f"no answer from {where} for a long time: {reason}", "try again later")
    if answering:
        return ModelError("cut", f"the answer of {where} broke off: {reason}", "try again", retryable=True)
    if isinstance(problem, HttpUnusable):
        hint = "check the base URL, and HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR"
        return ModelError("network", f"no connection to {where}: {reason}", hint)
    if isinstance(problem, HttpUnconnected):
        hint = "is the server running? check the base URL and the network"
        return ModelError("network", f"cannot connect to {where}: {reason}", hint, retryable=True)
    return ModelError("network", f"the connection to {where} broke: {reason}", "try again", retryable=True)
