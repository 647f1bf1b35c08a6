"""What the errors of all model APIs have in common: kinds by HTTP status, what to try, and which of them pass."""

from collections.abc import Mapping

from sightline.models._api import ErrorKind, ModelError
from sightline.models.http._retry import retry_after
from sightline.text import clean_line

_QUOTED = 600

_KIND_OF_STATUS: dict[int, ErrorKind] = {
    401: "auth",
    402: "quota",
    403: "auth",
    404: "not_found",
    408: "overloaded",
    409: "overloaded",
    413: "overflow",
    429: "rate_limit",
}
_HINTS: dict[ErrorKind, str] = {
    "overflow": "compact the conversation: /compact",
    "auth": "check the API key",
    "rate_limit": "wait a little and try again",
    "overloaded": "the server has a problem: try again later",
    "quota": "check your billing and credit",
    "bad_request": "check the model's name and the settings",
    "not_found": "check the model's name and the base URL",
    "refused": "rephrase the prompt",
    "cut": "try again",
    "protocol": "check the base URL and the API",
}
_PASSING = ("rate_limit", "overloaded", "cut")
_SHOULD_RETRY = {"true": True, "false": False}


def kind_of_status(status: int) -> ErrorKind:
    return _KIND_OF_STATUS.get(status) or ("overloaded" if status >= 500 else "bad_request")


def quoted(text: str | bytes | None) -> str:
    """A server's words in one line, no longer than is worth reading."""
    text = text[: 4 * _QUOTED].decode("utf-8", "replace") if isinstance(text, bytes) else text or ""
    return clean_line(text)[:_QUOTED]


def failure(kind: ErrorKind, message: str) -> ModelError:
    return ModelError(kind, message, _HINTS.get(kind, ""), retryable=kind in _PASSING)


def http_failure(kind: ErrorKind, status: int, headers: Mapping[str, str], reason: str) -> ModelError:
    if status < 400:
        error = failure("bad_request", f"HTTP {status}: not the answer of a model server")
        error.hint = _HINTS["not_found"]
    else:
        # Servers that want money use whatever type is at hand in the body; the status is unmistakable.
        error = failure("quota" if status == 402 else kind, f"HTTP {status}: {reason or 'no reason given'}")
    error.status = status
    error.retry_after = retry_after(headers)
    if error.kind == "quota":
        return error  # whatever the server answers about retries
    error.retryable = _SHOULD_RETRY.get(headers.get("x-should-retry", "").strip().lower(), error.retryable)
    return error
