"""Blocks of one agent that arrive as deltas and then once more whole: each word is shown when it comes, and once.

The first time a block is complete on the wire is when its full version arrives; until then it waits. What of the full
version was already shown is left out. When the two disagree the stream must have broken: the full version is then shown
whole, after a notice.
"""

from sightline.events import Event, Notice, Reasoning, Text, ToolArgs
from sightline.providers._resend import Resend
from sightline.providers._source import Source
from sightline.text import StreamFilter, clean_text

# Pieces are kept only to compare them with the full block; past this only their length is.
_COMPARED_AT_MOST = 4 * 1024 * 1024
_WAITING_AT_MOST = 256


class _Streamed:
    """A block of which some has been shown."""

    __slots__ = ("block", "filter", "length", "pieces", "repeats", "thought")

    def __init__(self, block: int, *, thought: bool) -> None:
        self.block = block
        self.thought = thought
        self.filter = StreamFilter()
        self.pieces: list[str] = []
        self.length = 0
        self.repeats = ""  # what is expected to come again, unshown, because a broken stream had shown it

    def add(self, piece: str) -> None:
        self.length += len(piece)
        if self.length <= _COMPARED_AT_MOST:
            self.pieces.append(piece)
        else:
            self.pieces.clear()

    def rest_of(self, whole: str) -> str | None:
        """What the whole block adds to what was streamed; None when they do not agree."""
        if self.pieces or not self.length:
            shown = "".join(self.pieces)
            return whole[len(shown) :] if whole.startswith(shown) else None
        return whole[self.length :] if len(whole) >= self.length else None


class PartialBlocks:
    """The message under way of one agent."""

    def __init__(self, source: Source, agent: str) -> None:
        self._source = source
        self._agent = agent
        self._open: dict[int, _Streamed | tuple[str, str]] = {}  # index → block, or (id, name) of a call
        self._waiting: list[_Streamed] = []  # for their full version, in order
        self._under_way = False
        self._resend = Resend()

    def message_started(self) -> None:
        """A new message. If the last one broke off in the middle of a text, this one probably begins with it."""
        broken = [streamed for streamed in self._waiting if not streamed.thought and streamed.length]
        self._open.clear()
        self._waiting.clear()
        if not self._under_way:
            self._resend.settle()
        elif broken:
            self._waiting.append(broken[0])
        self._under_way = True

    def message_stopped(self) -> None:
        self._under_way = False
        self._resend.settle()

    def block_started(self, index: int, *, thought: bool) -> None:
        again = self._taken_over(thought)
        streamed = again if again is not None else _Streamed(self._source.new_block(), thought=thought)
        if len(self._waiting) < _WAITING_AT_MOST and len(self._open) < _WAITING_AT_MOST:
            self._open[index] = streamed
            self._waiting.append(streamed)

    def _taken_over(self, thought: bool) -> _Streamed | None:
        """The block a broken stream left behind, if this one is expected to say it again."""
        if thought or self._open or not self._waiting or not self._waiting[0].pieces:
            return None
        streamed = self._waiting.pop(0)
        streamed.repeats = "".join(streamed.pieces)
        streamed.pieces, streamed.length = [], 0
        return streamed

    def call_started(self, index: int, ident: str, name: str) -> None:
        if len(self._open) < _WAITING_AT_MOST:
            self._open[index] = (ident, name)

    def delta(self, index: int, piece: str, args: str) -> list[Event]:
        streamed = self._open.get(index)
        if streamed is None:
            return []
        if isinstance(streamed, tuple):
            return [self._args(*streamed, args)] if args else []
        if not piece:
            return []
        streamed.add(piece)
        if streamed.repeats:
            return self._repeated(streamed, piece)
        text = streamed.filter.feed(piece)
        if not text:
            return []
        kind = Reasoning if streamed.thought else Text
        return [kind(text, streamed.block, agent=self._agent, source=self._source.provider)]

    def _repeated(self, streamed: _Streamed, piece: str) -> list[Event]:
        """A piece of a text that is being said again: nothing until it passes what was shown."""
        expected = streamed.repeats
        if expected.startswith(piece):
            streamed.repeats = expected[len(piece) :]
            return []
        streamed.repeats = ""
        if piece.startswith(expected):
            return self._shown(streamed, streamed.filter.feed(piece[len(expected) :]))
        streamed.filter = StreamFilter()
        streamed.block = self._source.new_block()
        return [self._may_repeat(), *self._shown(streamed, streamed.filter.feed("".join(streamed.pieces)))]

    def full_text(self, text: str) -> list[Event]:
        streamed = self._next_waiting(thought=False)
        if streamed is None:
            return self._unstreamed(text)
        if streamed.repeats:
            # Said again in part as deltas; what was shown before is the prefix to compare with.
            streamed.pieces = ["".join(streamed.pieces) + streamed.repeats]
            streamed.length, streamed.repeats = len(streamed.pieces[0]), ""
        rest = streamed.rest_of(text)
        if rest is None:
            return self._unstreamed(text, disagrees=True)
        self._resend.show(text)
        return self._shown(streamed, streamed.filter.feed(rest) + streamed.filter.end())

    def full_thought(self, text: str) -> list[Event]:
        streamed = self._next_waiting(thought=True)
        rest = None if streamed is None else streamed.rest_of(text)
        if streamed is None or rest is None:
            streamed, rest = _Streamed(self._source.new_block(), thought=True), text
        return self._shown(streamed, streamed.filter.feed(rest) + streamed.filter.end())

    def _next_waiting(self, *, thought: bool) -> _Streamed | None:
        for position, streamed in enumerate(self._waiting):
            if streamed.thought == thought:
                del self._waiting[position]
                for index, block in self._open.items():
                    if block is streamed:
                        del self._open[index]
                        break
                return streamed
        return None

    def _unstreamed(self, text: str, *, disagrees: bool = False) -> list[Event]:
        """A full text of which no delta came, or other ones: after a break it may repeat an earlier block."""
        if self._under_way:
            self._resend.broke()
        rest, may_repeat = self._resend.rest(text)
        streamed = _Streamed(self._source.new_block(), thought=False)
        events = self._shown(streamed, streamed.filter.feed(rest) + streamed.filter.end())
        return [self._may_repeat(), *events] if events and (may_repeat or disagrees) else events

    def _shown(self, streamed: _Streamed, text: str) -> list[Event]:
        if not text:
            return []
        kind = Reasoning if streamed.thought else Text
        return [kind(text, streamed.block, agent=self._agent, source=self._source.provider)]

    def _args(self, ident: str, name: str, delta: str) -> ToolArgs:
        return ToolArgs(ident, name, clean_text(delta), agent=self._agent, source=self._source.provider)

    def _may_repeat(self) -> Notice:
        return Notice(
            "the stream broke and the answer was sent again; what follows may repeat what was shown",
            "warning",
            agent=self._agent,
            source=self._source.provider,
        )
