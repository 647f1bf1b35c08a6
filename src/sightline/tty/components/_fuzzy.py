"""Fuzzy matching of what the user types: letters in order, not necessarily together.

- Smart case: capitals in the query mean capitals, a query without them means either.
- What is together beats what is scattered: the whole text, its beginning, the beginning of a word, anywhere inside,
  and then letters in order, of which beginnings of words and runs count most.
- `FuzzyIndex` ranks many texts for a query that grows: only what matched before is looked at again, and only as many
  as anyone will look through are scored; the others follow in their own order.
"""

import re
from collections.abc import Sequence
from itertools import islice, pairwise

_TIER = 100_000
_SCORED = 100
_LOOKED_AT = 1500
_FAR = 1_000_000

_word_starts = re.compile(r"(?<![^\W_])[^\W_]|(?<=[a-z])[A-Z]").finditer

Match = tuple[int, tuple[int, ...]]


def fuzzy_match(query: str, text: str) -> Match | None:
    """How well a text answers a query, and which of its characters do; None when it does not."""
    if not query:
        return 0, ()
    folded = text if _has_capitals(query) else _folded(text)
    first = folded.find(query)
    starts = [match.start() for match in _word_starts(text)]
    if first < 0:
        return _scattered(query, folded, starts)
    at = first if first == 0 else next((start for start in starts if folded.startswith(query, start)), first)
    return _score_together(query, text, at, at == 0 or at in starts), tuple(range(at, at + len(query)))


class FuzzyIndex:
    """Texts to search in again and again."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._folded = [_folded(text) for text in texts]
        self._query = ""
        self._matching: Sequence[int] = range(len(texts))

    def search(self, query: str) -> Sequence[int]:
        """The numbers of the texts that match, best first."""
        if not query:
            self._query, self._matching = "", range(len(self._texts))
            return self._matching
        texts = self._texts if _has_capitals(query) else self._folded
        among = self._matching if query.startswith(self._query) else range(len(texts))
        self._matching, self._query = _those_in_order(query, texts, among), query
        ranked = self._matching if len(self._matching) <= _SCORED else _by_tier(query, texts, self._matching)
        best = sorted(ranked[:_SCORED], key=lambda number: self._order(query, number))
        return [*best, *ranked[_SCORED:]]

    def _order(self, query: str, number: int) -> tuple[int, int]:
        match = fuzzy_match(query, self._texts[number])
        return (0 if match is None else -match[0], number)


def _those_in_order(query: str, texts: Sequence[str], among: Sequence[int]) -> list[int]:
    """Those that hold the letters of the query in their order. Possessive, so that a text is read once."""
    if len(query) == 1:
        return [number for number in among if query in texts[number]]
    among = [number for number in among if len(texts[number]) >= len(query)]
    if not among:
        return []  # a pattern is made of every letter, which takes its time
    match = re.compile("".join(f"[^{re.escape(letter)}]*+{re.escape(letter)}" for letter in query), re.DOTALL).match
    return [number for number in among if match(texts[number])]


def _by_tier(query: str, texts: Sequence[str], numbers: Sequence[int]) -> list[int]:
    """What scores higher first, as far as anyone will look: the rest is only split in two."""
    together = [number for number in numbers if query in texts[number]]
    if len(together) <= _SCORED:
        known = set(together)
        scattered = [number for number in numbers if number not in known]
        return together + _tightest_first(query, texts, scattered)
    begins = [number for number in together if texts[number].startswith(query)]
    at_word = re.compile(rf"(?<![^\W_]){re.escape(query)}").search
    words = islice((number for number in together if at_word(texts[number])), _SCORED)
    front = list(dict.fromkeys([*begins, *words]))
    known = set(front)
    front += [number for number in together if number not in known]
    known = set(together)
    return front + [number for number in numbers if number not in known]


def _tightest_first(query: str, texts: Sequence[str], numbers: list[int]) -> list[int]:
    """Those whose letters begin a word and end soon after, judged by a look at each."""
    letters = re.escape(query[0]) + "".join(f"[^{re.escape(letter)}]*+{re.escape(letter)}" for letter in query[1:])
    search = re.compile(rf"(?<![^\W_]){letters}").search
    spans = [search(texts[number]) for number in numbers[:_LOOKED_AT]]
    lengths = [_FAR if span is None else span.end() - span.start() for span in spans]
    return [number for _, number in sorted(zip(lengths, numbers, strict=False))] + numbers[_LOOKED_AT:]


def _has_capitals(query: str) -> bool:
    return query != query.lower()


def _folded(text: str) -> str:
    """Lower case, character for character: positions in it are positions in the text."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)


def _score_together(query: str, text: str, at: int, at_word: bool) -> int:
    whole = len(query) == len(text)
    tier = 1 + at_word + (at == 0) + whole
    return tier * _TIER + _TIER // 2 - min(at, 400) * 10 - min(len(text), 4000)


def _scattered(query: str, folded: str, starts: list[int]) -> Match | None:
    """The better of two readings: the letters as close together as they come, or at beginnings of words."""
    close = _closest(query, folded)
    if close is None:
        return None
    readings = [(_score_scattered(close, folded, starts), close)]
    by_words = _by_words(query, folded, starts)
    if by_words is not None and by_words != close:
        readings.append((_score_scattered(by_words, folded, starts), by_words))
    return max(readings)


def _closest(query: str, folded: str) -> tuple[int, ...] | None:
    """The first place where all letters have come by, read backwards to where the last of them began."""
    end = -1
    for letter in query:
        end = folded.find(letter, end + 1)
        if end < 0:
            return None
    positions = []
    at = end + 1
    for letter in reversed(query):
        at = folded.rfind(letter, 0, at)
        positions.append(at)
    return tuple(reversed(positions))


def _by_words(query: str, folded: str, starts: list[int]) -> tuple[int, ...] | None:
    """Each letter directly after the last one, else at the next beginning of a word, else anywhere after it."""
    positions: list[int] = []
    at = -1
    for letter in query:
        if positions and folded[at + 1 : at + 2] == letter:
            at += 1
        else:
            word = next((start for start in starts if start > at and folded[start] == letter), None)
            at = folded.find(letter, at + 1) if word is None else word
        if at < 0:
            return None
        positions.append(at)
    return tuple(positions)


def _score_scattered(positions: tuple[int, ...], folded: str, starts: list[int]) -> int:
    at_words = len(set(positions).intersection(starts))
    runs = sum(1 for one, other in pairwise(positions) if other == one + 1)
    spread = positions[-1] - positions[0] + 1 - len(positions)
    reward = min(at_words, 15) * 800 + min(runs, 15) * 600
    return _TIER // 2 + reward - min(spread, 400) * 50 - min(positions[0], 400) * 10 - min(len(folded), 4000)
