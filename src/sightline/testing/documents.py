"""Documents to stream: markdown of known size, every line of it with a number of its own."""

import random

_WORDS = [
    "the",
    "engine",
    "writes",
    "each",
    "row",
    "once",
    "and",
    "in",
    "order",
    "while",
    "agents",
    "work",
    "below",
    "a",
    "window",
    "that",
    "never",
    "jumps",
    "行",
    "row",
    "über",
    "naïve",
    "café",
    "scroll",
    "history",
    "frame",
    "terminal",
    "cursor",
    "width",
    "cells",
    "emoji",
    "🎉",
    "tested",
    "twice",
    "before",
    "it",
    "ships",
]
_LINES = 2310
_SIZE = 200_000


def mixed_markdown(lines: int = _LINES, size: int = _SIZE, seed: int = 4) -> str:
    """About `size` characters in `lines` lines: paragraphs, headings, lists, fences, tables, quotes, links.

    Each line with words holds one marker `mNNNNN`, counting up.
    """
    maker = _Maker(random.Random(seed), size // lines)
    while len(maker.lines) < lines:
        maker.section()
    return "\n".join(maker.lines[:lines]) + "\n"


class _Maker:
    def __init__(self, rng: random.Random, length: int) -> None:
        self.lines: list[str] = []
        self._rng = rng
        self._length = length
        self._number = 0

    def section(self) -> None:
        kinds = (self._paragraph, self._paragraph, self._list, self._fence, self._table, self._quote)
        self.lines.append(f"{'#' * self._rng.randint(1, 3)} {self._marker()} {self._words(30)}")
        self.lines.append("")
        for _ in range(3):
            self._rng.choice(kinds)()
            self.lines.append("")

    def _marker(self) -> str:
        self._number += 1
        return f"m{self._number:05}"

    def _words(self, length: int) -> str:
        words: list[str] = []
        while sum(map(len, words)) + len(words) < length:
            words.append(self._rng.choice(_WORDS))
        return " ".join(words)

    def _line(self, spare: int = 0) -> str:
        text = self._words(max(10, int(self._length * 1.58) - spare))
        style = self._rng.random()
        if style < 0.2:
            text += " **bold words**"
        elif style < 0.3:
            text += " `code()`"
        elif style < 0.35:
            text += " [a link](https://example.org/page)"
        return f"{self._marker()} {text}"

    def _paragraph(self) -> None:
        for _ in range(self._rng.randint(2, 7)):
            self.lines.append(self._line())

    def _list(self) -> None:
        mark = self._rng.choice(("-", "1.", "*"))
        for _ in range(self._rng.randint(3, 9)):
            self.lines.append(f"{mark} {self._line(2)}")

    def _fence(self) -> None:
        self.lines.append("```python")
        for _ in range(self._rng.randint(4, 20)):
            self.lines.append(f"    value_{self._marker()} = call({self._words(40)!r})  # said once")
        self.lines.append("```")

    def _table(self) -> None:
        self.lines.append(f"| {self._marker()} | state | words |")
        self.lines.append("| --- | :---: | ---: |")
        for _ in range(self._rng.randint(2, 9)):
            self.lines.append(f"| {self._marker()} | done | {self._words(30)} |")

    def _quote(self) -> None:
        for _ in range(self._rng.randint(1, 4)):
            self.lines.append(f"> {self._line(2)}")


def long_code(size: int = 30_000) -> str:
    """One fence."""
    line = "    for value in range(10):  # a comment about {0}\n        print('text', value, {0})\n"
    body = "".join(line.format(number) for number in range(size // len(line)))
    return f"```python\n{body}```\n"


def long_list(size: int = 30_000) -> str:
    """One list, its items nested one deep."""
    return "".join(f"- item {number} with *some* words\n  - and one below it\n" for number in range(size // 52))


def long_table(size: int = 30_000) -> str:
    """One table."""
    rows = "".join(f"| {number} | a cell of words | `code` {number} |\n" for number in range(size // 40))
    return "| number | words | code |\n| --- | --- | --- |\n" + rows
