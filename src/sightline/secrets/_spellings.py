"""The ways in which a known value may stand in a text: as it is, in base64, in hexadecimal digits, and escaped.

Rules:

- Base64 is found wherever the value begins within the encoded bytes (three alignments), in both alphabets, across line
  ends and the blanks that lines begin with. The characters that hold bits of its neighbours too stay: they reveal less
  than a byte of the value.
- Hexadecimal digits of either case, with what dumps write between bytes (`:`, blanks, commas, `\\x`, line ends).
- Escaped is any mixture of characters as they are and, as in an address, `%41` and `+` for a blank; or, as in JSON,
  `\\u0041`, `\\/`, `\\n` and the like.
- All of that is looked for in the text as `clean_text` leaves it: a colour code, a control or a bidirectional mark
  within a value is nothing one sees. What stands inside a string for the terminal (a title, a link), which that filter
  removes whole, is looked for as well. What takes a value's place is followed by the styles that were set within it.
- A text without any of them costs a few searches for fixed strings, made by the C library: nothing is compiled and no
  place is computed before one was found.
- What may be the beginning of one, at the end of a text, is found in all four ways as well, so that a text in pieces
  can be masked as if it were whole. The last three characters decide which values that can be: nearly always none.
"""

import re
from base64 import b64encode
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from sightline.text import sequences, unfinished_from, without_sequences

_BETWEEN_LINES = "\r\n \t"
_BETWEEN_BYTES = " \t:,-\\x\r\n"
_INDENTED = re.compile(r"(?:[\r\n]{1,2}[ \t]{0,64})?")
_DUMPED = re.compile(f"[{re.escape(_BETWEEN_BYTES)}]{{0,4}}")
_MOST_PER_CHARACTER = 12  # characters that one of the value may become: two escapes of six
_MOST_WITHIN = 4096  # characters of indentation, or of what drives a terminal, that a value may have in it
_MOST_BETWEEN = 3  # times as many characters as there are digits, with what stands between bytes
_LONGEST_GAP = 66
_LOOK_BACK = 256
_LONGEST_HALF = 11  # characters of an escape, or a pair of them, that is not whole

# What may be a piece of base64 that reaches the end of a text, read backwards: it bounds how far back one can begin.
_base64_backwards = re.compile(r"[\w+/-]*(?:[ \t]{0,64}[\r\n]{1,2}[\w+/-]+)*(?:[ \t]{0,64}[\r\n]{1,2})?", re.ASCII)
_STRING_BEGINS = (*(f"\N{ESCAPE}{sign}" for sign in "]PX^_"), "\x90", "\x98", "\x9d", "\x9e", "\x9f")
_style = re.compile("\N{ESCAPE}\\[[0-9;:]*m")
_one_alphabet = bytes.maketrans(b"-_", b"+/")
_lower = bytes.maketrans(b"ABCDEF", b"abcdef")
_MEANINGS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Match(NamedTuple):
    """Where a value stands, and what is shown in its place: `mask`, and after it the styles that were set within."""

    start: int
    end: int
    mask: str
    styles: str = ""

    @property
    def shown(self) -> str:
        return self.mask + self.styles


class _Seen:
    """A text as it is seen, and where in the text each of its characters is."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.seen = without_sequences(text)
        self.has_strings = len(self.seen) < len(text) and any(map(text.__contains__, _STRING_BEGINS))
        self._map: tuple[list[int], list[int]] | None = None

    def index(self, place: int) -> int:
        """Which of the characters seen is the first at a place of the text or after it."""
        if not place:
            return 0
        indexes, places = self._stretches()
        at = bisect_right(places, place) - 1
        following = indexes[at + 1] if at + 1 < len(indexes) else len(self.seen)
        return min(indexes[at] + place - places[at], following)

    def place(self, index: int) -> int:
        """Where in the text a character seen is."""
        indexes, places = self._stretches()
        at = bisect_right(indexes, index) - 1
        return places[at] + index - indexes[at]

    def in_text(self, match: Match) -> Match:
        start, end = self.place(match.start), self.place(match.end - 1) + 1
        return Match(start, end, match.mask, "".join(_style.findall(self._text, start, end)))

    def _stretches(self) -> tuple[list[int], list[int]]:
        """Where each stretch without a sequence begins, among the characters seen and in the text."""
        if self._map is None:
            indexes, places = [0], [0]
            for start, end in sequences(self._text):
                indexes.append(indexes[-1] + start - places[-1])
                places.append(end)
            self._map = indexes, places
        return self._map


class _Way(NamedTuple):
    """A way to escape: what an escape is, and the beginning of one at the end of a text."""

    sign: str
    escape: re.Pattern[str]
    half: re.Pattern[str]

    def half_at(self, text: str) -> int:
        """Where an escape begins that is not whole; the end of the text when there is none."""
        match = self.half.search(text, max(0, len(text) - _LONGEST_HALF)) if self.sign in text else None
        while match is not None and self._is_escaped(text, match.start()):
            match = self.half.search(text, match.start() + 1)
        return len(text) if match is None else match.start()

    def token_at(self, text: str, place: int) -> int:
        """Where the escape begins that a place is within; the place itself when it is in none."""
        if self.sign not in text:
            return place
        half = self.half_at(text)
        if half < place:
            return half
        found = place
        for at in range(place - 1, max(-1, place - 1 - _LONGEST_HALF), -1):
            match = self.escape.match(text, at) if text[at] == self.sign else None
            if match is not None and match.end() > place and not self._is_escaped(text, at):
                found = at
        return found

    def _is_escaped(self, text: str, place: int) -> bool:
        """Whether the sign there is what another one before it escapes."""
        return self is _JSON and (place - len(text[:place].rstrip(self.sign))) % 2 == 1


_ADDRESS = _Way("%", re.compile("%[0-9A-Fa-f]{2}"), re.compile(r"%[0-9A-Fa-f]?\Z"))
_JSON = _Way(
    "\\",
    re.compile(r"\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\[/\"\\bfnrt]"),
    re.compile(
        r"(?:\\u[dD][89abAB][0-9A-Fa-f]{2}(?:\\(?:u(?:[dD](?:[c-fC-F][0-9A-Fa-f]?)?)?)?)?|\\(?:u[0-9A-Fa-f]{0,3})?)\Z"
    ),
)


class Spellings:
    """Those of some values, which are given with their labels."""

    def __init__(self, values: Mapping[str, str]) -> None:
        known = values.items()
        self._plain = _Row([_Fixed(value, f"[secret {label}]") for value, label in known])
        coded = [each for value, label in known for each in _in_base64(value, label)]
        self._base64 = _Row(coded, _BETWEEN_LINES, _base64_backwards)
        self._hex = _Row([_in_hex(value, label) for value, label in known], _BETWEEN_BYTES)
        self._escaped = [_Escapes(_ADDRESS, values), _Escapes(_JSON, values)]
        self._shortest = min(map(len, values), default=0)
        most = max((len(value.encode("utf-8", "replace")) for value in values), default=0)
        self.longest = most * _MOST_PER_CHARACTER + _MOST_WITHIN if most else 0
        self._last: tuple[str, _Seen | None] = ("", None)

    def matches(self, text: str, start: int = 0) -> Iterator[Match]:
        """Those that stand in a text from there on: the first and longest, then what follows it, and so on."""
        if not self._shortest or len(text) - start < self._shortest:
            return
        found: dict[_Spelling, Match] = {}
        for spelling in self._suspects_seen(text):
            match = spelling.search(text, start)
            if match is not None:
                found[spelling] = match
        while found:
            best = min(found.values(), key=lambda match: (match.start, -match.end, len(match.mask), match.mask))
            yield best
            for spelling in [spelling for spelling, match in found.items() if match.start < best.end]:
                match = spelling.search(text, best.end)
                if match is None:
                    del found[spelling]
                else:
                    found[spelling] = match

    def open_at(self, text: str, start: int) -> tuple[int, int]:
        """Where the rest of the text, from `start` on, may be the beginning of a value as it is, and of one that is
        written in another way; the end of the text where it cannot. A sequence that is not whole is such a beginning,
        too. Never so far back that it is no value, whatever it may have in it."""
        end = len(text)
        if not self._shortest:
            return end, end
        seen = self._seen(text)
        if seen is None:
            plain, coded = self._open_at(text, start)
        else:
            plain, coded = self._open_at(seen.seen, seen.index(start))
            plain = seen.place(plain) if plain < len(seen.seen) else end
            coded = seen.place(coded) if coded < len(seen.seen) else end
            plain = min(plain, max(start, unfinished_from(text)))
            if seen.has_strings:
                as_it_is = self._open_at(text, start)
                plain, coded = min(plain, as_it_is[0]), min(coded, as_it_is[1])
        earliest = end - self.longest
        return plain if plain >= earliest else end, coded if coded >= earliest else end

    def token_at(self, text: str, place: int) -> int:
        """Where the escape begins that a place is within; the place itself when it is in none."""
        seen = self._seen(text)
        if seen is None or not 0 < place < len(text) or (index := seen.index(place)) == len(seen.seen):
            return min(way.token_at(text, place) for way in (_ADDRESS, _JSON))
        first = min(way.token_at(seen.seen, index) for way in (_ADDRESS, _JSON))
        return seen.place(first) if first < index else place

    def count_seen(self, text: str, start: int) -> int:
        """How many characters of a text are seen from there on."""
        seen = self._seen(text)
        return len(text) - start if seen is None else len(seen.seen) - seen.index(start)

    def _seen(self, text: str) -> _Seen | None:
        """How a text is seen; None where that is the text itself. Cached: it is called again and again."""
        if self._last[0] is not text:
            seen = _Seen(text)
            self._last = text, seen if len(seen.seen) < len(text) else None
        return self._last[1]

    def _suspects_seen(self, text: str) -> "Iterator[_Spelling]":
        seen = self._seen(text)
        if seen is not None:
            yield from (_Through(seen, each) for each in self._suspects(seen.seen))
        if seen is None or seen.has_strings:
            yield from self._suspects(text)

    def _open_at(self, text: str, start: int) -> tuple[int, int]:
        rows = (row.open_at(text, start) for row in (self._base64, self._hex))
        return self._plain.open_at(text, start), min(*rows, *(way.open_at(text, start) for way in self._escaped))

    def _suspects(self, text: str) -> "Iterator[_Fixed | _Found]":
        yield from (each for each in self._plain.spellings if each.text in text)
        data = text.encode("utf-8", "replace")
        joined = data.translate(_one_alphabet, _BETWEEN_LINES.encode())
        yield from (each for each in self._base64.spellings if each.data in joined)
        joined = data.translate(_lower, _BETWEEN_BYTES.encode())
        yield from (each for each in self._hex.spellings if each.data in joined)
        for way in self._escaped:
            yield from way.suspects(text)


class _Fixed:
    """A fixed row of characters that stands for a value. Each may be written in several ways, and after every `unit` of
    them there may be a `gap`."""

    __slots__ = ("_characters", "_gap", "_pattern", "_unit", "data", "mask", "text", "ways")

    def __init__(
        self,
        text: str,
        mask: str,
        ways: Mapping[str, str] | None = None,
        gap: re.Pattern[str] | None = None,
        unit: int = 1,
    ) -> None:
        self.text = text
        self.data = text.encode("utf-8", "replace")
        self.mask = mask
        self.ways = ways or {}
        self._characters = [self.ways.get(character, character) for character in text] if ways else list(text)
        self._gap = gap
        self._unit = unit
        self._pattern: re.Pattern[str] | None = None

    def search(self, text: str, start: int) -> Match | None:
        if self._gap is None:
            at = text.find(self.text, start)
            return None if at < 0 else Match(at, at + len(self.text), self.mask)
        if self._pattern is None:
            self._pattern = self._compiled(self._gap)
        match = self._pattern.search(text, start)
        return None if match is None else Match(match.start(), match.end(), self.mask)

    def open_at(self, text: str, start: int) -> int:
        """Where the rest of a text may be its beginning; the end of the text where it cannot."""
        if self._gap is None:
            start = max(start, len(text) - len(self.text))
        found = len(text)
        for first in self._characters[0]:
            at = text.find(first, start, found)
            while at >= 0:
                if self._reaches_end(text, at):
                    found = at
                at = text.find(first, at + 1, found)
        return found

    def _reaches_end(self, text: str, at: int) -> bool:
        if self._gap is None:
            return len(text) - at < len(self.text) and self.text.startswith(text[at:])
        for index, allowed in enumerate(self._characters):
            if index and index % self._unit == 0 and (gap := self._gap.match(text, at)):
                at = gap.end()
            if at == len(text):
                return True
            if text[at] not in allowed:
                return False
            at += 1
        return False

    def _compiled(self, gap: re.Pattern[str]) -> re.Pattern[str]:
        digits = [f"[{re.escape(allowed)}]" for allowed in self._characters]
        units = ["".join(digits[at : at + self._unit]) for at in range(0, len(digits), self._unit)]
        return re.compile(gap.pattern.join(units))


class _Row:
    """Spellings of one kind, and which of them a text may end within."""

    def __init__(
        self, spellings: Sequence[_Fixed], between: str = "", backwards: re.Pattern[str] | None = None
    ) -> None:
        """`backwards`: what all of them look like, read from their ends."""
        self.spellings = spellings
        self._between = between
        self._backwards = backwards
        self._ways = {way: one for each in spellings[:1] for one, ways in each.ways.items() for way in ways}
        self._longest = max((len(each.text) for each in spellings), default=0)
        self._ending: _Endings | None = None

    def open_at(self, text: str, start: int) -> int:
        if self._ending is None:
            self._ending = _Endings([each.text for each in self.spellings])
        found = len(text)
        candidates = self._ending.candidates(self._end_of(text))
        if candidates:
            start = max(start, len(text) - self._reach(text))
        for at in candidates:
            found = min(found, self.spellings[at].open_at(text, start))
        return found

    def _reach(self, text: str) -> int:
        """How many characters from the end one may begin at most."""
        if self._backwards is None:
            return self._longest * _MOST_BETWEEN
        run = ""
        for size in (_LOOK_BACK, self._longest + _MOST_WITHIN):
            match = self._backwards.match(text[-size:][::-1])
            run = match[0] if match is not None else ""
            if len(run) < size - _LONGEST_GAP:  # else it may only have been cut within a gap
                break
        reach = 0
        while (more := self._longest + sum(map(run[:reach].count, self._between))) > reach:
            reach = more
        return min(reach, len(run))

    def _end_of(self, text: str) -> str:
        """The last three characters, without those that may stand between."""
        if not self._between:
            return text[-3:]
        for size in (_LOOK_BACK // 16, _LOOK_BACK):
            end = [character for character in text[-size:] if character not in self._between][-3:]
            if len(end) == 3:
                break
        return "".join(self._ways.get(character, character) for character in end)


class _Endings:
    """Which of some words a text may end within, by its last three characters."""

    def __init__(self, words: Sequence[str]) -> None:
        self._within: dict[str, set[int]] = {}
        for number, word in enumerate(words):
            for end in (word[:1], word[:2], *(word[at : at + 3] for at in range(len(word) - 3))):
                self._within.setdefault(end, set()).add(number)

    def candidates(self, end: str) -> set[int]:
        found: set[int] = set()
        for size in range(1, len(end) + 1):
            found |= self._within.get(end[-size:], set())
        return found


class _Escapes:
    """The values, some of whose characters are escaped in one way."""

    def __init__(self, way: _Way, values: Mapping[str, str]) -> None:
        self._way = way
        self._known = [(_as_data(value, way), f"[secret {label} escaped]") for value, label in values.items()]
        self._blanks = way is _ADDRESS and any(" " in value for value in values)
        # An escape of a character that no value has means nothing: `\n` and `\"` stand everywhere.
        special = {character for value in values for character in value} & set('/"\\\b\f\n\r\t')
        names = {meaning: name for name, meaning in _MEANINGS.items()}
        signs = "".join(re.escape(names.get(character, character)) for character in special)
        self._of_interest = way.escape if way is _ADDRESS else re.compile(rf"\\[u{signs}]")
        self._last: _Decoded | None = None
        self._ending: _Endings | None = None

    def suspects(self, text: str) -> "Iterator[_Found]":
        decoded = self._decoded(text)
        if decoded is not None:
            yield from (_Found(data, mask, decoded) for data, mask in self._known if data in decoded.data)

    def open_at(self, text: str, start: int) -> int:
        decoded = self._decoded(text)
        if decoded is None:
            if self._way.half_at(text) == len(text):
                return len(text)
            decoded = _Decoded(text, self._way)
        if self._ending is None:
            self._ending = _Endings([data.decode("latin-1") for data, _ in self._known])
        found = decoded.half if decoded.half >= start else len(text)
        for at in self._ending.candidates(decoded.certain[-3:].decode("latin-1")):
            found = min(found, decoded.open_at(self._known[at][0], start))
        return found

    def _decoded(self, text: str) -> "_Decoded | None":
        """What its escapes mean; None where none of them is of interest."""
        if self._of_interest.search(text) is None and not (self._blanks and "+" in text):
            return None
        if self._last is None or self._last.text != text:
            self._last = _Decoded(text, self._way)
        return self._last


class _Found:
    """An escaped value in a text that holds it."""

    __slots__ = ("_data", "_decoded", "_mask")

    def __init__(self, data: bytes, mask: str, decoded: "_Decoded") -> None:
        self._data = data
        self._mask = mask
        self._decoded = decoded

    def search(self, text: str, start: int) -> Match | None:
        decoded = self._decoded
        at = decoded.data.find(self._data, decoded.index(start))
        return None if at < 0 else Match(decoded.place(at), decoded.place(at + len(self._data)), self._mask)


class _Through:
    """A spelling, looked for in a text as it is seen."""

    __slots__ = ("_seen", "_spelling")

    def __init__(self, seen: _Seen, spelling: _Fixed | _Found) -> None:
        self._seen = seen
        self._spelling = spelling

    def search(self, text: str, start: int) -> Match | None:
        match = self._spelling.search(self._seen.seen, self._seen.index(start))
        return None if match is None else self._seen.in_text(match)


_Spelling = _Fixed | _Found | _Through


class _Decoded:
    """A text as bytes, with what its escapes mean in their place. Where in the text each of them comes from is computed
    on demand."""

    def __init__(self, text: str, way: _Way) -> None:
        self.text = text
        self._way = way
        self.half = way.half_at(text)
        if way is _ADDRESS:
            meanings = _percent_meanings()
            data = _percent.sub(lambda match: meanings[match[0]], text.encode("utf-8", "replace"))
            self.data = data.replace(b"+", b" ")
        else:
            self.data = way.escape.sub(lambda match: _meaning(match[0]), text).encode("utf-8", "replace")
        self._map: tuple[list[int], list[int], dict[int, int]] | None = None

    def index(self, place: int) -> int:
        """The first byte of what begins at a place of the text or after it."""
        if not place:
            return 0
        indexes, places, escapes = self._pieces()
        at = bisect_right(places, place) - 1
        first, begin = places[at], indexes[at]
        if first in escapes:
            following = indexes[at + 1] if at + 1 < len(indexes) else len(self.data)
            return begin if place == first else following
        return min(begin + len(self.text[first:place].encode("utf-8", "replace")), len(self.data))

    @property
    def certain(self) -> bytes:
        """What more text cannot change: all but an escape that is not whole, which is itself if nothing follows."""
        return self.data if self.half == len(self.text) else self.data[: self.index(self.half)]

    def place(self, index: int) -> int:
        """Where in the text a byte comes from; of the byte after the last, where the text ends."""
        if index >= len(self.data):
            return len(self.text)
        indexes, places, escapes = self._pieces()
        at = bisect_right(indexes, index) - 1
        first, begin = places[at], indexes[at]
        if first in escapes:
            return first if index == begin else escapes[first]
        return first + len(self.data[begin:index].decode("utf-8", "replace"))

    def open_at(self, value: bytes, start: int) -> int:
        """Where the rest of the text may be the beginning of a value; its end where it cannot."""
        data = self.certain
        at = max(self.index(start), len(data) - len(value) + 1)
        while (at := data.find(value[:1], at)) >= 0:
            if value.startswith(data[at:]):
                return self.place(at)
            at += 1
        return len(self.text)

    def _pieces(self) -> tuple[list[int], list[int], dict[int, int]]:
        """Where each piece begins in the data and in the text, and the ends of those that are escapes."""
        if self._map is None:
            indexes, places, escapes = [0], [0], {}
            done = size = 0
            for match in self._way.escape.finditer(self.text):
                if match.start() > done:
                    size += len(self.text[done : match.start()].encode("utf-8", "replace"))
                if places[-1] != match.start():
                    indexes.append(size)
                    places.append(match.start())
                size += 1 if self._way is _ADDRESS else len(_meaning(match[0]).encode("utf-8", "replace"))
                done = escapes[match.start()] = match.end()
                indexes.append(size)
                places.append(done)
            self._map = indexes, places, escapes
        return self._map


_percent = re.compile(b"%[0-9A-Fa-f]{2}")


@cache
def _percent_meanings() -> dict[bytes, bytes]:
    digits = "0123456789abcdefABCDEF"
    return {f"%{high}{low}".encode(): bytes.fromhex(high + low) for high in digits for low in digits}


def _in_base64(value: str, label: str) -> list[_Fixed]:
    """Once for each number of bytes, modulo three, that may stand before it."""
    data = value.encode("utf-8", "replace")
    rows = []
    for before in range(3):
        written = b64encode(bytes(before) + data).decode()
        rows.append(written[-(-before * 8 // 6) : (before + len(data)) * 8 // 6])
    mask = f"[secret {label} in base64]"
    return [_Fixed(row, mask, {"+": "+-", "/": "/_"}, _INDENTED) for row in dict.fromkeys(rows)]


def _in_hex(value: str, label: str) -> _Fixed:
    ways = {digit: digit + digit.upper() for digit in "abcdef"}
    row = value.encode("utf-8", "replace").hex()
    return _Fixed(row, f"[secret {label} in hex]", ways, _DUMPED, unit=2)


def _meaning(escape: str) -> str:
    if escape[1] != "u":
        return _MEANINGS.get(escape[1], escape[1])
    units = b"".join(bytes.fromhex(unit) for unit in escape.split("\\u")[1:])
    return units.decode("utf-16-be", "replace")


def _as_data(value: str, way: _Way) -> bytes:
    """As it is looked for: in an address `+` and a blank are the same."""
    data = value.encode("utf-8", "replace")
    return data.replace(b"+", b" ") if way is _ADDRESS else data
