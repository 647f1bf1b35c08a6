"""One turn made ready for one client: its calls named as the client names them, every part with a stable id."""

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Union

import msgspec

from sightline.testing.standin._script import ReasoningBlock, TextBlock, ToolBlock

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


@lru_cache(4096)
def stable_id(*parts: object, length: int = 24) -> str:
    """Looks like a service's id, and is the same on every run."""
    number = int.from_bytes(hashlib.sha512("/".join(map(str, parts)).encode()).digest(), "big")
    letters = []
    for _ in range(length):
        number, letter = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[letter])
    return "".join(letters)


class Cut(msgspec.Struct, frozen=True):
    """The connection breaks here, the first time the part with this id is streamed."""

    uid: str


class Saying(msgspec.Struct, frozen=True):
    """Words to be said."""

    uid: str
    block: TextBlock

    @property
    def text(self) -> str:
        return self.block.text

    def pieces(self) -> Iterator[str | Cut]:
        at = self.block.cut_at
        if at is None:
            yield from cut_up(self.text, self.block.chunk)
            return
        yield from cut_up(self.text[:at], self.block.chunk)
        yield Cut(self.uid)
        yield from cut_up(self.text[at:], self.block.chunk)


class Thinking(msgspec.Struct, frozen=True):
    """Thoughts to be streamed."""

    uid: str
    block: ReasoningBlock

    @property
    def text(self) -> str:
        return self.block.reasoning

    @property
    def signature(self) -> str:
        return stable_id(self.uid, "signature", length=40)

    def pieces(self) -> Iterator[str]:
        yield from cut_up(self.text, self.block.chunk)


class Calling(msgspec.Struct, frozen=True):
    """A call in the client's own terms. `args` is a plain text for a tool that takes one."""

    uid: str
    block: ToolBlock
    name: str
    args: dict[str, Any] | str
    namespace: str = ""

    @property
    def json(self) -> str:
        return as_json(self.args)

    def pieces(self) -> Iterator[str]:
        yield from cut_up(self.args if isinstance(self.args, str) else self.json, self.block.chunk)


Speech = Union[Saying, Thinking, Calling]


class ReadyTurn(msgspec.Struct, frozen=True):
    """What a dialect is to say, and how many tokens it is to pretend that took."""

    uid: str
    agent: str
    index: int
    speeches: list[Speech]

    @property
    def calls(self) -> list[Calling]:
        return [speech for speech in self.speeches if isinstance(speech, Calling)]

    @property
    def words(self) -> str:
        return "".join(speech.text for speech in self.speeches if isinstance(speech, Saying))

    @property
    def thoughts(self) -> str:
        return "".join(speech.text for speech in self.speeches if isinstance(speech, Thinking))

    @property
    def input_tokens(self) -> int:
        return 1000 + 100 * self.index

    @property
    def reasoning_tokens(self) -> int:
        return len(self.thoughts) // 4

    @property
    def output_tokens(self) -> int:
        return 1 + (len(self.words) + sum(len(call.json) for call in self.calls)) // 4 + self.reasoning_tokens


def cut_up(text: str, size: int) -> Iterator[str]:
    """Pieces of so many code points: a grapheme cluster may well be torn, as real models tear them."""
    for start in range(0, len(text), max(1, size)):
        yield text[start : start + max(1, size)]


def as_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
