"""JSON as model servers send and take it, where that is more than what msgspec reads and writes.

A server that cuts its text between the halves of an emoji sends a lone surrogate; msgspec refuses it, the standard
library reads it. Nothing can be sent with one: it goes out as a question mark.
"""

from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


def decode(decoder: msgspec.json.Decoder[T], data: bytes) -> T:
    """What `data` says; ValueError (of which msgspec's errors are) when it is not what the decoder is for."""
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, RecursionError):
        import json

        try:
            value = json.loads(data)
        except RecursionError:
            raise ValueError("nested too deeply") from None
        return msgspec.convert(value, decoder.type)


def encode(body: Any) -> bytes:
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:
        import json

        plain = msgspec.to_builtins(body, builtin_types=(msgspec.Raw,))
        text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), default=lambda raw: json.loads(bytes(raw)))
        return text.encode("utf-8", "replace")
