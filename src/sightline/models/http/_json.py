"""JSON as model servers send and take it, where that is more than what msgspec reads and writes.

A server that cuts its text between the halves of an emoji sends a lone surrogate; msgspec refuses it, the standard
library reads it. Nothing can be sent or stored with one: it goes out as a question mark.
"""

from typing import TypeVar

import msgspec

T = TypeVar("T")

_DEEPEST = 100


def decode(decoder: msgspec.json.Decoder[T], data: bytes) -> T:
    """The decoded value; ValueError (of which msgspec's errors are) when it is not what the decoder is for."""
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, RecursionError):
        return msgspec.convert(_loaded(data), decoder.type)


def decode_text(text: str) -> object:
    """The value of a JSON text, as it can be stored: halves of characters made whole or replaced.

    ValueError when it is no JSON, or nested so deeply that it could not be read again from inside of something else.
    """
    text = whole_characters(text)
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        import json

        value = _loaded(whole_characters(json.dumps(_loaded(text), ensure_ascii=False)))
    if text.count("[") + text.count("{") > _DEEPEST and _is_too_deep(value):
        raise ValueError("nested too deeply")
    return value


def _is_too_deep(value: object) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        inner = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)]
        level = [each for values in inner for each in values]
    return bool(level)


def whole_characters(text: str) -> str:
    """Two halves that follow each other are one character; any other half is none."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def encode(body: object) -> bytes:
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:
        import json

        plain = msgspec.to_builtins(body, builtin_types=(msgspec.Raw,))
        text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), default=lambda raw: json.loads(bytes(raw)))
        return text.encode("utf-8", "replace")


def _loaded(data: str | bytes) -> object:
    import json

    try:
        return json.loads(data, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not JSON")
