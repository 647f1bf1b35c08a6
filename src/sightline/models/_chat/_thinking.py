"""Thinking that a model wrote among its words: `<think>…</think>` at the very beginning of an answer.

Anywhere else the tags are words like any others. White space around the tags belongs to neither side.
"""

from typing import Literal

_OPEN, _CLOSE = "<think>", "</think>"

Kind = Literal["text", "reasoning"]


class InlineThinking:
    """One answer that arrives in pieces: which of it is thinking and which is words."""

    def __init__(self) -> None:
        self._state: Literal["start", "thinking", "between", "words"] = "start"
        self._held = ""
        self._thought = False  # something of the thinking has been passed on

    def feed(self, text: str) -> list[tuple[Kind, str]]:
        if self._state == "words":
            return [("text", text)] if text else []
        text = self._held + text
        self._held = ""
        if self._state == "start":
            return self._start(text)
        return self._think(text) if self._state == "thinking" else self._between(text)

    def end(self) -> list[tuple[Kind, str]]:
        """The answer is over, or continues with something else than text."""
        held, self._held = self._held, ""
        if self._state == "thinking":
            return _thinking(held.rstrip())
        self._state = "words"
        return [("text", held)] if held else []

    def _start(self, text: str) -> list[tuple[Kind, str]]:
        inner = text.lstrip()
        if inner.startswith(_OPEN):
            self._state = "thinking"
            return self._think(inner[len(_OPEN) :])
        if _OPEN.startswith(inner):
            self._held = text
            return []
        self._state = "words"
        return [("text", text)]

    def _think(self, text: str) -> list[tuple[Kind, str]]:
        thought, found, words = (text if self._thought else text.lstrip()).partition(_CLOSE)
        if found:
            self._state = "between"
            return [*_thinking(thought.rstrip()), *self._between(words)]
        thought, self._held = _without_possible_end(thought)
        self._thought = self._thought or bool(thought)
        return _thinking(thought)

    def _between(self, words: str) -> list[tuple[Kind, str]]:
        words = words.lstrip()
        if not words:
            return []
        self._state = "words"
        return [("text", words)]


def _thinking(thought: str) -> list[tuple[Kind, str]]:
    return [("reasoning", thought)] if thought else []


def _without_possible_end(text: str) -> tuple[str, str]:
    """What is certain to be thinking, and what may be white space before the closing tag, or half of that."""
    for size in range(min(len(_CLOSE) - 1, len(text)), 0, -1):
        if text.endswith(_CLOSE[:size]):
            certain = text[:-size].rstrip()
            return certain, text[len(certain) :]
    certain = text.rstrip()
    return certain, text[len(certain) :]
