"""What a child wrote, from bytes to events and to the text later steps can use."""

import codecs
from typing import Literal

from sightline.events import ToolOutput
from sightline.flows.running._outcome import OUTPUT_CAP
from sightline.text import StreamFilter


class ChildOutput:
    """One stream of a child: decoded and filtered however its bytes were cut, its beginning stored."""

    def __init__(self, call: str, stream: Literal["stdout", "stderr"], cap: int = OUTPUT_CAP) -> None:
        self._call = call
        self._stream: Literal["stdout", "stderr"] = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._filter = StreamFilter()
        self._room = cap
        self._stored: list[str] = []
        self._dropped = 0
        self.cut = False

    @property
    def text(self) -> str:
        """What was stored, without newlines at its end."""
        return "".join(self._stored).rstrip("\n")

    def feed(self, data: bytes, offset: int) -> list[ToolOutput]:
        return self._shown(self._filter.feed(self._decoder.decode(data)), offset)

    def end(self, offset: int) -> list[ToolOutput]:
        """The stream is over: a cut character or sequence at its end is settled."""
        rest = self._filter.feed(self._decoder.decode(b"", final=True)) + self._filter.end()
        return self._shown(rest, offset)

    def drop(self, data: bytes) -> None:
        """This cannot be shown now; the next piece has how much went missing."""
        self._store(self._filter.feed(self._decoder.decode(data)))
        self._dropped += len(data)

    def _shown(self, content: str, offset: int) -> list[ToolOutput]:
        self._store(content)
        if not content and not self._dropped:
            return []
        dropped, self._dropped = self._dropped, 0
        return [ToolOutput(self._call, content, stream=self._stream, offset=offset, dropped=dropped)]

    def _store(self, content: str) -> None:
        if len(content) > self._room:
            self.cut = True
        if self._room:
            self._stored.append(content[: self._room])
            self._room = max(0, self._room - len(content))
