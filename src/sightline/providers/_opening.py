"""Reading the opening of a stream, to recognise its provider."""

import msgspec


def first_object(head: bytes) -> dict[str, object]:
    """The JSON object on the first line; empty when there is none."""
    line = head.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0]
    try:
        value = msgspec.json.decode(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
