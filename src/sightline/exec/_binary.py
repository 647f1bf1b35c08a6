"""Telling binary output from text by its beginning.

Output is binary when there is a NUL byte in the first 8 KB of a stream, or more than 30 % of what came of them is not
UTF-8. A few bytes are not judged by the second rule: half of a short word in another encoding may be undecodable.
"""

_BEGINNING = 8 * 1024
_FEW = 64
_TOO_MANY = 0.3


class BinaryDetector:
    """Looks at the beginning of one stream, given in parts that end with a whole character."""

    def __init__(self) -> None:
        self._seen = self._undecodable = 0

    def is_binary(self, data: bytes) -> bool:
        if self._seen >= _BEGINNING:
            return False
        data = data[: _BEGINNING - self._seen]
        self._seen += len(data)
        if b"\0" in data:
            return True
        if not data.isascii():
            self._undecodable += len(data) - len(data.decode("utf-8", "ignore").encode())
        return self._seen >= _FEW and self._undecodable > self._seen * _TOO_MANY


def text_before(data: bytes) -> bytes:
    """The whole lines before the first byte that is no text."""
    text = data.partition(b"\0")[0]
    try:
        text.decode()
    except UnicodeDecodeError as problem:
        text = text[: problem.start]
    return text[: text.rfind(b"\n") + 1]
