"""What can go wrong with a request to a chat completions server: its message, and whether to try again.

No message ever holds the key: texts of a server or the HTTP client are masked before they go anywhere.
"""

from collections.abc import Mapping

from sightline.chat_completions import ChatBody
from sightline.exceptions import OutsideFailure
from sightline.providers.openai_compatible._settings import EndpointSettings
from sightline.providers.openai_compatible._wire import decode_body, error_text, excerpt

BODY_CAP = 64 * 1024
_FIRST_DELAY, _LONGEST_DELAY = 0.5, 8.0
_LONGEST_RETRY_AFTER = 60.0
_MASK = "[key]"
# Shorter "keys" are what local servers are given for want of one ("none", "EMPTY"); masking those would garble texts.
_SECRET_AT_LEAST = 8


class ChatFailure(OutsideFailure):
    """One attempt failed."""

    def __init__(self, message: str, hint: str, *, retry: bool = False) -> None:
        super().__init__(message, hint)
        self.retry = retry
        self.status = 0
        self.wait: float | None = None  # seconds the server requested
        self.body = b""


def refused(
    settings: EndpointSettings, status: int, headers: Mapping[str, str], body: bytes, now: float
) -> ChatFailure:
    """The server answered, but not with a completion."""
    body = Mask(settings.api_key).whole(body)
    parsed = _parsed(body)
    reason = error_text(parsed) if parsed is not None else excerpt(body.decode("utf-8", "replace"))
    error = None if parsed is None else parsed.error
    no_quota = isinstance(error, dict) and error.get("code") == "insufficient_quota"
    failure = ChatFailure(
        f"HTTP {status}: {reason or 'no body'}",
        "check the account's balance" if no_quota else _hint(settings, status),
        retry=(status == 429 or status >= 500) and not no_quota,
    )
    failure.status, failure.body = status, body
    failure.wait = retry_after(headers.get("retry-after", ""), now)
    return failure


def not_reached(settings: EndpointSettings, problem: Exception, *, connecting: bool, slow: bool) -> ChatFailure:
    """The connection could not be made, or broke. A request to a slow server is not repeated."""
    reason = Mask(settings.api_key).text(excerpt(str(problem))) or type(problem).__name__
    where = excerpt(settings.base_url.partition("?")[0])  # a query may hold a secret
    if slow:
        return ChatFailure(f"no answer from {where}: {reason}", "try again, or set a timeout")
    if connecting:
        return ChatFailure(
            f"cannot connect to {where}: {reason}", "is the server running? check the base URL", retry=True
        )
    return ChatFailure(f"the connection to {where} broke: {reason}", "try again", retry=True)


def delay_before(attempt: int, failure: ChatFailure) -> float:
    """Seconds to wait before attempt 1, 2, …: what the server requested, within bounds, or twice as long each time."""
    if failure.wait is not None:
        return min(failure.wait, _LONGEST_RETRY_AFTER)
    return min(_FIRST_DELAY * 2.0 ** (attempt - 1), _LONGEST_DELAY)


def retry_after(value: str, now: float) -> float | None:
    """The header's seconds, or the seconds until its date; None when it is not usable."""
    value = value.strip()
    if value.isascii() and value.replace(".", "", 1).isdigit():
        return float(value[:20])
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None


class Mask:
    """Takes the key out of bytes that arrive in pieces."""

    def __init__(self, key: str) -> None:
        self._key = key.encode() if len(key) >= _SECRET_AT_LEAST else b""
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        key = self._key
        if not key:
            return chunk
        text = (self._held + chunk).replace(key, _MASK.encode())
        held = next((size for size in range(min(len(key) - 1, len(text)), 0, -1) if text.endswith(key[:size])), 0)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def end(self) -> bytes:
        held, self._held = self._held, b""
        return held

    def whole(self, body: bytes) -> bytes:
        return self.feed(body) + self.end()

    def text(self, text: str) -> str:
        return text.replace(self._key.decode(), _MASK) if self._key else text


def _parsed(body: bytes) -> ChatBody | None:
    try:
        parsed = decode_body(body)
    except (ValueError, RecursionError):
        return None
    return parsed if parsed.error or parsed.message or parsed.detail else None


def _hint(settings: EndpointSettings, status: int) -> str:
    if status in (401, 403):
        return f"set OPENAI_API_KEY, or api_key in {settings.file}; if it is set, it was refused"
    if status == 404:
        return "check the base URL (it usually ends in /v1) and the model name"
    if status == 429:
        return "wait a little and try again"
    if status >= 500:
        return "the server has a problem: try again later"
    if status < 400:
        return "the base URL redirects: use the address it redirects to"
    return "check the model name and the options" if settings.model else "name a model"
