"""Size limits of events: one longer than a record of the journal would be stored differently from what was shown.

What is left out of an event is in the conversation itself, or in an artifact.
"""

from typing import Any

import msgspec

from sightline.conversation import CallPart
from sightline.text import clean_line, clean_text, clean_value, cut_graphemes

NAME_AT_MOST = 200  # characters of the name of a tool, an agent or a model
TEXT_AT_MOST = 150_000  # characters of one text
_PROMPT_AT_MOST = 400_000  # of a prompt in ASCII, of which a record has at most two bytes a character
VALUE_AT_MOST = 256 * 1024  # bytes of a value, as JSON
_TEXT_IN_A_LONG_VALUE = 2000
_ITEMS_IN_A_LONG_VALUE = 50


def bounded_text(text: str, most: int = TEXT_AT_MOST) -> str:
    """The text, clean, and its beginning only where it is too long."""
    if len(text) <= most:
        return clean_text(text)
    return f"{clean_text(text[:most])}\n[… {len(text) - most:,} more characters]"


def bounded_prompt(text: str) -> tuple[str, int]:
    """A prompt as an event has it, and how many of its lines were left out; then its last line is a note about that."""
    most = _PROMPT_AT_MOST if text.isascii() else TEXT_AT_MOST
    if len(text) <= most:
        return clean_text(text), 0
    lines = text.rstrip("\n").count("\n", most)
    missing = f"{lines:,} more {'line' if lines == 1 else 'lines'}, {len(text) - most:,} characters"
    return f"{clean_text(text[:most])}\n[… {missing}, not shown here; the agent received all of it]", lines


def bounded_value(value: object, most: int = VALUE_AT_MOST) -> Any:
    """The value as clean JSON data, with long parts cut where it is too long as a whole."""
    value = clean_value(plain(value))
    if _size(value) <= most:
        return value
    value = _cut(value)
    if _size(value) <= most:
        return value
    return {"left_out": "too long to show"}


def plain(value: object) -> Any:
    """JSON data, whatever a tool put there: what is none is shown as text."""
    try:
        return msgspec.to_builtins(value, str_keys=True, enc_hook=str)
    except (TypeError, ValueError, RecursionError) as error:
        return {"left_out": f"not plain data: {error}"}


def encodable(text: str) -> str:
    """A text that can be encoded: what comes from a file, a command or a keyboard need not be."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def pieces(text: str) -> list[str]:
    """A text that may be too long for one event, in pieces that are not."""
    if len(text) <= TEXT_AT_MOST:
        return [text]
    return [text[at : at + TEXT_AT_MOST] for at in range(0, len(text), TEXT_AT_MOST)]


def _size(value: object) -> int:
    return len(msgspec.json.encode(value))


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return cut_graphemes(value, _TEXT_IN_A_LONG_VALUE) if len(value) > _TEXT_IN_A_LONG_VALUE else value
    if isinstance(value, dict):
        return {key: _cut(value[key]) for key in list(value)[:_ITEMS_IN_A_LONG_VALUE]}
    if isinstance(value, list):
        return [_cut(item) for item in value[:_ITEMS_IN_A_LONG_VALUE]]
    return value


def encodable_call(call: CallPart) -> CallPart:
    """A model may write half a character into its arguments, which no encoder takes."""
    try:
        msgspec.json.encode(call)
    except UnicodeEncodeError:
        return msgspec.structs.replace(
            call, args=clean_value(call.args), name=clean_line(call.name), broken=encodable(call.broken)
        )
    return call
