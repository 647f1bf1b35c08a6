"""Blocks of one agent that arrive as deltas and then once more whole: each word is shown when it comes, and once.

- A block waits for its full version from its first delta on. What of the full version was shown is left out.
- A block of nothing but blanks has no full version; it is over when it stops.
- When a stream breaks, the CLI asks again without streaming and prints the whole answer as full versions. The first of
  them continues the block that was cut; those after it were never streamed and are shown as they are.
- Or a new message is streamed from the start: what it repeats of the cut block is passed over.
- Where the second answer differs from what was shown, it is shown whole, after a notice.
"""

from sightline.events import Event, Reasoning, Text, ToolArgs
from sightline.providers._resend import may_repeat
from sightline.providers._source import ProviderSource
from sightline.text import StreamFilter, clean_text

# Pieces are stored only to compare them with the full block; past this only their length is.
_COMPARED_AT_MOST = 4 * 1024 * 1024
_WAITING_AT_MOST = 256


class _Streamed:
    """A block of which some has been shown."""

    __slots__ = ("block", "filter", "length", "pieces", "repeats", "stopped", "thought")

    def __init__(self, block: int, *, thought: bool) -> None:
        self.block = block
        self.thought = thought
        self.filter = StreamFilter()
        self.pieces: list[str] = []
        self.length = 0
        self.stopped = False
        self.repeats = ""  # what is expected to come again, unshown, because a broken stream had shown it

    def add(self, piece: str) -> None:
        self.length += len(piece)
        if self.length <= _COMPARED_AT_MOST:
            self.pieces.append(piece)
        else:
            self.pieces.clear()

    @property
    def shown(self) -> str:
        """What was shown of it: what came, and what is passed over when it comes again."""
        text = "".join(self.pieces) + self.repeats
        return text if text.isascii() else _whole_characters(text)

    def rest_of(self, whole: str) -> str | None:
        """What the whole block adds to what was shown; None when they do not agree."""
        if self.length > _COMPARED_AT_MOST:
            return whole[self.length :] if len(whole) >= self.length else None
        shown = self.shown
        if self.stopped:
            return "" if whole == shown else None
        return whole[len(shown) :] if whole.startswith(shown) else None


class PartialBlocks:
    """The message under way of one agent."""

    def __init__(self, source: ProviderSource) -> None:
        self._source = source
        self._open: dict[int, _Streamed | tuple[str, str]] = {}  # index → block, or (id, name) of a call
        self._waiting: list[_Streamed] = []  # for their full version, in order
        self._cut: _Streamed | None = None  # the text in which the last message broke off

    def message_started(self) -> None:
        """A new message. If the last one broke off in the middle of a text, this one probably begins with it."""
        cut = [streamed for streamed in self._waiting if not (streamed.thought or streamed.stopped) and streamed.pieces]
        self._cut = cut[0] if cut else None
        self._open.clear()
        self._waiting.clear()

    def message_stopped(self) -> None:
        """Nothing more of it comes as deltas; a full version may still be on its way."""
        for streamed in self._waiting:
            streamed.stopped = True
        self._open.clear()

    def block_started(self, index: int, *, thought: bool) -> None:
        streamed = self._taken_over() if self._cut is not None and not thought else None
        if streamed is None:
            streamed = _Streamed(self._source.new_block(), thought=thought)
        if len(self._waiting) < _WAITING_AT_MOST and len(self._open) < _WAITING_AT_MOST:
            self._open[index] = streamed
            self._waiting.append(streamed)

    def _taken_over(self) -> _Streamed | None:
        """The block a broken stream left behind: this one is expected to repeat it."""
        streamed, self._cut = self._cut, None
        if streamed is not None:
            streamed.repeats = streamed.shown
            streamed.pieces, streamed.length = [], 0
        return streamed

    def block_stopped(self, index: int) -> None:
        """All of it has come. A block of blanks gets no full version and is not waited for."""
        streamed = self._open.pop(index, None)
        if isinstance(streamed, _Streamed):
            streamed.stopped = True
            if self._waiting and streamed in self._waiting and not streamed.shown.strip():
                self._waiting.remove(streamed)

    def call_started(self, index: int, ident: str, name: str) -> None:
        if len(self._open) < _WAITING_AT_MOST:
            self._open[index] = (ident, name)

    def delta(self, index: int, piece: str, args: str) -> list[Event]:
        streamed = self._open.get(index)
        if streamed is None:
            return []
        if isinstance(streamed, tuple):
            return [ToolArgs(*streamed, clean_text(args))] if args else []
        if not piece:
            return []
        streamed.add(piece)
        if streamed.repeats:
            return self._repeated(streamed, piece)
        text = streamed.filter.feed(piece)
        if not text:
            return []
        kind = Reasoning if streamed.thought else Text
        return [kind(text, streamed.block)]

    def _repeated(self, streamed: _Streamed, piece: str) -> list[Event]:
        """A piece of a text that is being repeated: nothing until it passes what was shown."""
        expected = streamed.repeats
        if expected.startswith(piece):
            streamed.repeats = expected[len(piece) :]
            return []
        streamed.repeats = ""
        if piece.startswith(expected):
            return self._shown(streamed, streamed.filter.feed(piece[len(expected) :]))
        streamed.filter = StreamFilter()
        streamed.block = self._source.new_block()
        events = self._shown(streamed, streamed.filter.feed("".join(streamed.pieces)))
        return [may_repeat(), *events]

    def full_text(self, text: str) -> list[Event]:
        streamed, rest = self._agreeing(text, thought=False)
        if streamed is not None:
            streamed.repeats = ""
            return self._shown(streamed, streamed.filter.feed(rest) + streamed.filter.end())
        # Streamed never, or otherwise: an open block with another text is what a broken stream left behind.
        disagrees = any(not (waiting.thought or waiting.stopped) and waiting.shown for waiting in self._waiting)
        self._forget(thought=False)
        streamed = _Streamed(self._source.new_block(), thought=False)
        events = self._shown(streamed, streamed.filter.feed(text) + streamed.filter.end())
        return [may_repeat(), *events] if disagrees and events else events

    def full_thought(self, text: str) -> list[Event]:
        streamed, rest = self._agreeing(text, thought=True)
        if streamed is None:
            streamed, rest = _Streamed(self._source.new_block(), thought=True), text
        return self._shown(streamed, streamed.filter.feed(rest) + streamed.filter.end())

    def _agreeing(self, text: str, *, thought: bool) -> tuple[_Streamed | None, str]:
        """The first block whose full version this can be, and what it adds to it.

        Blocks of its kind before that one will not get a full version any more.
        """
        for streamed in self._waiting:
            rest = streamed.rest_of(text) if streamed.thought == thought else None
            if rest is not None:
                self._forget(thought=thought, up_to=streamed)
                return streamed, rest
        return None, ""

    def _forget(self, *, thought: bool, up_to: _Streamed | None = None) -> None:
        for streamed in [waiting for waiting in self._waiting if waiting.thought == thought]:
            self._waiting.remove(streamed)
            if streamed is up_to:
                break

    def _shown(self, streamed: _Streamed, text: str) -> list[Event]:
        if not text:
            return []
        kind = Reasoning if streamed.thought else Text
        return [kind(text, streamed.block)]


def _whole_characters(text: str) -> str:
    """The text with characters that came as two halves made whole; half of one at the end has not come yet."""
    if "\ud800" <= text[-1:] <= "\udbff":
        text = text[:-1]
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
