"""What an error of the Gemini API means."""

import re
from collections.abc import Mapping

import msgspec

from sightline.models._api import ErrorKind, ModelError
from sightline.models._gemini import _wire as wire
from sightline.models.http import _json
from sightline.models.http._failing import failure, http_failure, kind_of_status, quoted

_KIND_OF_WORD: dict[str, ErrorKind] = {
    "UNAUTHENTICATED": "auth",
    "PERMISSION_DENIED": "auth",
    "NOT_FOUND": "not_found",
    "RESOURCE_EXHAUSTED": "rate_limit",
    "INTERNAL": "overloaded",
    "UNAVAILABLE": "overloaded",
    "DEADLINE_EXCEEDED": "overloaded",
    "INVALID_ARGUMENT": "bad_request",
    "FAILED_PRECONDITION": "bad_request",
}
_OVERFLOW = ("exceeds the maximum number of tokens", "payload size exceeds", "maximum context length")
_AUTH = ("api key not valid", "api key not found", "api key expired")
_duration = re.compile(r"(\d+(?:\.\d+)?)s")


def classify(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    """What an HTTP error means."""
    error = _error(body)
    if error is None:
        return http_failure(kind_of_status(status), status, headers, quoted(body))
    failed = http_failure(_kind(error) or kind_of_status(status), status, headers, quoted(error.message))
    failed.retry_after = _retry_delay(error) or failed.retry_after
    return failed


def in_stream(error: wire.GeminiError | str) -> ModelError:
    """What an error inside an answer means."""
    error = wire.GeminiError(message=error) if isinstance(error, str) else error
    kind = _kind(error) or kind_of_status(error.code or 500)
    failed = failure(kind, f"the server broke off: {quoted(error.message or error.status) or 'no reason given'}")
    failed.status, failed.retry_after = error.code, _retry_delay(error)
    return failed


def _error(body: bytes) -> wire.GeminiError | None:
    try:
        return _json.decode(wire.error_decoder, body).error
    except ValueError:
        pass
    try:
        return _json.decode(wire.error_list_decoder, body)[0].error
    except (ValueError, IndexError):
        return None


def _details(error: wire.GeminiError) -> list[wire.ErrorDetail]:
    details = []
    for detail in error.details if isinstance(error.details, list) else []:
        try:
            details.append(msgspec.convert(detail, wire.ErrorDetail))
        except msgspec.ValidationError:
            continue
    return details


def _kind(error: wire.GeminiError) -> ErrorKind | None:
    if error.code == 402:
        return "quota"
    kind = _KIND_OF_WORD.get(error.status or "")
    message = (error.message or "").lower()
    if kind == "rate_limit":
        return "quota" if _is_used_up(error) else kind
    if kind == "bad_request":
        if any(words in message for words in _OVERFLOW):
            return "overflow"
        if any(words in message for words in _AUTH):
            return "auth"
        if "location is not supported" in message:
            return "refused"
    return kind


def _is_used_up(error: wire.GeminiError) -> bool:
    """Whether waiting a minute does not help: a daily limit, or one of nothing."""
    ids = [violation.quota_id for detail in _details(error) for violation in detail.violations]
    return any("PerDay" in quota for quota in ids) or "limit: 0," in (error.message or "")


def _retry_delay(error: wire.GeminiError) -> float | None:
    for detail in _details(error):
        if match := _duration.fullmatch(detail.retry_delay):
            return float(match.group(1))
    return None
