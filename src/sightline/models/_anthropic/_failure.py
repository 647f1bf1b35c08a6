"""What an error of the Anthropic API means."""

from collections.abc import Mapping

from sightline.models._anthropic import _wire as wire
from sightline.models._api import ErrorKind, ModelError
from sightline.models.http import _json
from sightline.models.http._failing import failure, http_failure, kind_of_status, quoted

_KIND_OF_TYPE: dict[str, ErrorKind] = {
    "authentication_error": "auth",
    "permission_error": "auth",
    "billing_error": "quota",
    "not_found_error": "not_found",
    "request_too_large": "overflow",
    "rate_limit_error": "rate_limit",
    "overloaded_error": "overloaded",
    "api_error": "overloaded",
    "timeout_error": "overloaded",
    "invalid_request_error": "bad_request",
}
_OVERFLOW = ("prompt is too long", "exceed context limit", "maximum context length", "context window")
_QUOTA = ("credit balance is too low", "api usage limits")


def classify(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    """What an HTTP error means."""
    error = _error(body)
    message = quoted(error.message if error else body)
    kind = _kind(error.type if error else "", message) or kind_of_status(status)
    return http_failure(kind, status, headers, message)


def in_stream(error: wire.AnthropicError | str | None) -> ModelError:
    """What an error event inside an answer means."""
    error = wire.AnthropicError(message=error) if isinstance(error, str) else error or wire.AnthropicError()
    message = quoted(error.message)
    kind = _kind(error.type, message) or "overloaded"
    return failure(kind, f"the server broke off: {message or quoted(error.type) or 'no reason given'}")


def _error(body: bytes) -> wire.AnthropicError | None:
    try:
        return _json.decode(wire.error_decoder, body).error
    except ValueError:
        return None


def _kind(error_type: str, message: str) -> ErrorKind | None:
    kind = _KIND_OF_TYPE.get(error_type)
    if kind in ("bad_request", None):
        lowered = message.lower()
        if any(words in lowered for words in _OVERFLOW):
            return "overflow"
        if any(words in lowered for words in _QUOTA):
            return "quota"
    return kind
