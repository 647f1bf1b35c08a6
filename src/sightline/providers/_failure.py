"""Messages and hints for a model API that refused or failed."""

import re

import msgspec

from sightline.text import clean_text

_HINTS = {
    400: "the request itself was refused: check the model name and the provider's settings",
    401: "log in again, or check the API key",
    402: "check the account's balance",
    403: "this account may not use that model: check the key and the plan",
    404: "check the model name and the base URL",
    408: "try again",
    413: "the conversation is too long: start a new session",
    429: "wait a little and try again",
}
# Two searches that begin with a literal are far quicker than one for either.
_status = re.compile(r"status(?: code)?:? (\d{3})\b", re.ASCII).search
_code = re.compile(r"\"code\": ?(\d{3})\b", re.ASCII).search


def hint_for(status: object) -> str:
    """What to try, for an HTTP status; empty when there is none."""
    if not isinstance(status, int):
        return ""
    if 500 <= status < 600:
        return "the model server has a problem: try again later"
    return _HINTS.get(status, "")


def hint_in(message: str) -> str:
    """What to try, for a message that mentions its HTTP status; empty when it does not."""
    status = _status(message) or _code(message)
    return "" if status is None else hint_for(int(status.group(1)))


def human_message(text: str) -> str:
    """The message without the JSON a server wrapped it in: `[API Error: {"error": …}]` → `[API Error: overloaded]`."""
    start, end = text.find("{"), text.rfind("}") + 1
    if 0 <= start < end:
        try:
            message = _message(msgspec.json.decode(text[start:end].encode("utf-8", "replace")))
        except (ValueError, RecursionError):
            message = ""
        if message:
            text = text[:start] + message + text[end:]
    return clean_text(text).strip()


def _message(value: object) -> str:
    """The sentence inside a server's error object, whichever of the usual shapes it has."""
    for _ in range(4):
        if not isinstance(value, dict):
            break
        value = value.get("error") or value.get("message") or value.get("detail")
    return value if isinstance(value, str) else ""
