"""What an error of OpenAI means, and of the many servers that speak its APIs.

The body is `{"error": {"message", "type", "code"}}`, `{"error": "…"}`, `{"object": "error", "message": …}`, or, from
what stands before the server itself, `{"detail": …}`. Codes are texts, or HTTP statuses as numbers. Servers agree on
few of them, so a conversation that is too long is known by its words too.
"""

import re
from collections.abc import Mapping
from typing import TypeVar

import msgspec

from sightline.models._api import ErrorKind, ModelError
from sightline.models.http import _json
from sightline.models.http._failing import failure, http_failure, kind_of_status, quoted

T = TypeVar("T")

_KIND_OF_CODE: dict[str, ErrorKind] = {
    "context_length_exceeded": "overflow",
    "exceed_context_size_error": "overflow",
    "insufficient_quota": "quota",
    "billing_hard_limit_reached": "quota",
    "billing_not_active": "quota",
    "rate_limit_exceeded": "rate_limit",
    "rate_limit_error": "rate_limit",
    "invalid_api_key": "auth",
    "authentication_error": "auth",
    "model_not_found": "not_found",
    "content_policy_violation": "refused",
    "content_filter": "refused",
    "moderation_blocked": "refused",
    "server_error": "overloaded",
    "server_is_overloaded": "overloaded",
    "overloaded_error": "overloaded",
    "unavailable_error": "overloaded",
}
_OVERFLOW = re.compile(
    "maximum context length"  # OpenAI, vLLM, OpenRouter
    "|exceeds? the (?:available )?context"  # llama.cpp, Ollama; OpenAI: the context window
    "|exceeds? (?:max(?:imum)? )?context|exceeded max context"  # Ollama; llama-cpp-python: exceed context window
    "|longer than the maximum model length"  # vLLM
    "|context (?:length|window|size) (?:was |is )?exceeded|context overflow|context the overflows"  # LM Studio
    "|prompt is too long|prompt too long|input is too long|too many tokens in the prompt"
)
_REFUSED = re.compile("flagged by|requires moderation|content management policy")
_NO_OVERFLOW = (401, 402, 403, 404, 429)
_status = re.compile("[45][0-9]{2}")
_try_again = re.compile(r"try again in (\d+(?:\.\d+)?)\s?(ms|s)\b")


_decoder = msgspec.json.Decoder(object)


def decoded_part(decoder: msgspec.json.Decoder[T], data: bytes) -> T:
    """An event of a streamed answer; ModelError when it cannot be read."""
    try:
        return _json.decode(decoder, data)
    except ValueError:
        if data.rstrip().endswith(b"}"):
            raise failure("protocol", f"a part of the answer cannot be read: {quoted(data)}") from None
        raise failure("cut", "the answer broke off before its end") from None


def classify(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    """What an HTTP error means."""
    code, message = _codes_and_message(_error(body))
    error = http_failure(_kind(status, code, message), status, headers, quoted(message or body))
    if error.retry_after is None:
        error.retry_after = _wait_in_words(message)
    return error


def _error(body: bytes) -> object:
    try:
        value = _json.decode(_decoder, body)
    except ValueError:
        return None
    if isinstance(value, list) and value:  # as Google's servers wrap it
        value = value[0]
    return value.get("error") or value if isinstance(value, dict) else None


def in_stream(error_object: object) -> ModelError:
    """What an error inside an answer means: an object, or its text."""
    code, message = _codes_and_message(error_object)
    status = int(code[0]) if code and _status.fullmatch(code[0]) else None
    if status is None and "invalid_request_error" in code:
        status = 400
    error = failure(_kind(status, code, message), f"the server broke off: {quoted(message) or 'no reason given'}")
    error.status = status
    error.retry_after = _wait_in_words(message)
    return error


def _codes_and_message(error: object) -> tuple[list[str], str]:
    """Code and type, as far as there are any, and the message."""
    if not isinstance(error, dict):
        return [], _words(error)
    codes = [str(error[name]) for name in ("code", "type") if isinstance(error.get(name), (str, int))]
    return codes, _words(error.get("message") or error.get("detail") or error.get("error"))


def _words(value: object) -> str:
    if isinstance(value, list):  # the errors of a web framework about a request
        return "; ".join(_words(one.get("msg") if isinstance(one, dict) else one) for one in value[:5])
    if isinstance(value, dict):
        return _words(value.get("message"))
    return value if isinstance(value, str) else ""


def _kind(status: int | None, codes: list[str], message: str) -> ErrorKind:
    if status == 402:
        return "quota"
    for code in codes:
        if code in _KIND_OF_CODE:
            return _KIND_OF_CODE[code]
    words = message.lower()
    if status not in _NO_OVERFLOW and _OVERFLOW.search(words):
        return "overflow"
    if status in (None, 400, 403) and _REFUSED.search(words):
        return "refused"
    return "overloaded" if status is None else kind_of_status(status)


def _wait_in_words(message: str) -> float | None:
    found = _try_again.search(message)
    if found is None:
        return None
    return float(found[1]) / (1000 if found[2] == "ms" else 1)
