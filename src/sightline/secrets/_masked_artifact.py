"""Stored output of a command for readers: without the secrets that the reading process knows.

Rules:

- A value is covered, not replaced: what stands in its place has as many bytes, and its line ends and styles stay. So a
  place in the output is the same with and without secrets: row numbers stay, and a search finds what is shown.
- Cover that is not needed is NUL, which every view removes. Where the name does not fit, `[secret]` stands.
- Bytes read from the middle are masked as in the whole: the bytes around them are examined, too.
- While the command runs, what may be the beginning of a value at the end of its output is not there yet.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.journal import ArtifactReader

if TYPE_CHECKING:
    from sightline.secrets._secrets import Secrets
    from sightline.settings import Settings

_NAMELESS = b"[secret]"
_NOTHING = b"\0"
_stays = re.compile("(\N{ESCAPE}\\[[0-9;:]*m|\n)")


def secrets_here(settings: "Settings") -> "Secrets":
    """Those that this process knows: from its environment and from these settings."""
    from sightline.secrets._secrets import Secrets, secrets_in

    return Secrets(os.environ, secrets_in(settings, os.environ))


class MaskedArtifact(ArtifactReader):
    """An artifact without secrets. `grows`: whether more may be written to it."""

    def __init__(self, path: Path, secrets: "Secrets", grows: Callable[[], bool] = lambda: False) -> None:
        super().__init__(path)
        self.grows = grows
        self._secrets = secrets
        self._open_end = (0, 0)  # a size, and how many of its last bytes may be the beginning of a value

    @property
    def size(self) -> int:
        size = super().size
        if self._secrets.is_empty or not self.grows():
            return size
        if self._open_end[0] != size:
            self._open_end = size, self._open_bytes(size)
        return size - self._open_end[1]

    def read(self, offset: int, size: int) -> bytes:
        if self._secrets.is_empty:
            return self.read_raw(offset, size)
        start = max(0, offset - self._secrets.longest)
        end = max(offset, min(offset + size, self.size))
        data = self.read_raw(start, end - start + self._secrets.longest)
        return self._covered(data)[offset - start : end - start]

    def _open_bytes(self, size: int) -> int:
        most = self._secrets.longest
        return len(_encoded(self._secrets.open_end(_decoded(self.read_raw(max(0, size - most), most)))))

    def _covered(self, data: bytes) -> bytes:
        text = _decoded(data)
        shown: list[bytes] = []
        done = 0
        for match in self._secrets.places(text):
            shown += (_encoded(text[done : match.start]), _cover(text[match.start : match.end], match.mask))
            done = match.end
        return b"".join([*shown, _encoded(text[done:])]) if shown else data


def _cover(value: str, mask: str) -> bytes:
    """As many bytes as the value has, with its name in the first of its lines that has room for that."""
    pieces = _stays.split(value)
    rooms = [0]
    for at, piece in enumerate(pieces):
        if piece == "\n":
            rooms.append(0)
        elif at % 2 == 0:
            rooms[-1] += len(_encoded(piece))
    words = [word for word in (mask.encode(), _NAMELESS) if len(word) <= max(rooms)]
    word = words[0] if words else b"*" * max(rooms)
    line, named, covered = 0, next(at for at, room in enumerate(rooms) if room >= len(word)), []
    for at, piece in enumerate(pieces):
        if at % 2:
            line += piece == "\n"
            covered.append(piece.encode())
            continue
        size = len(_encoded(piece))
        shown, word = (word[:size], word[size:]) if line == named else (b"", word)
        covered.append(shown.ljust(size, _NOTHING))
    return b"".join(covered)


def _decoded(data: bytes) -> str:
    """So that it can be encoded to the same bytes again, whatever they are."""
    return data.decode("utf-8", "surrogateescape")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
