"""Styled text taken apart and put together again.

Text is seen as its plain characters and, beside them, marks: (offset into the plain text, sequence). A mark is an SGR
sequence, a link (OSC 8 as `_link` writes it) or the cursor mark. Marks take no cell and do not part a cluster. Whatever
else drives a terminal (other sequences, finished or not, controls, bidi overrides) is dropped on the way, and a lone
surrogate, which nothing could write, becomes U+FFFD.

`Weaver` cuts pieces out of such text. Each is complete in itself: it opens the style and the link that hold where it
begins and closes what is open where it ends.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from sightline.tty._component import CURSOR
from sightline.tty.cells._link import LINK_END

Mark = tuple[int, str]
Look = tuple[str, str]  # what is open: one SGR sequence for all of the style, one that opens the link; or empty
DEFAULT_LOOK: Look = ("", "")

SGR = "\x1b\\[[0-9;:]*m"
LINK = "\x1b\\]8;;[!-~]*\x1b\\\\"
BIDI = "\u202a-\u202e\u2066-\u2069"
SURROGATE = "\ud800-\udfff"
_CSI = "[0-?]*[ -/]*[@-~]?"
_STRING = "[^\x07\x1b\x9c\n]*(?:\x07|\x9c|\x1b\\\\)?"
FORBIDDEN = (
    f"\x1b(?:\\[{_CSI}|[]PX^_]{_STRING}|[ -/]*[0-~]?)"
    f"|\x9b{_CSI}|[\x9d\x90\x98\x9e\x9f]{_STRING}|[\x00-\x1f\x7f-\x9f{BIDI}]"
)
find_forbidden = re.compile(f"[\x00-\x1f\x7f-\x9f{BIDI}{SURROGATE}]").search
_any_mark = re.compile(f"({SGR}|{LINK}|{re.escape(CURSOR)})")
_any_sequence = re.compile(f"{_any_mark.pattern}|([{SURROGATE}])|{FORBIDDEN}")
_RESET = "\x1b[0m"

# The parts of a style: the codes that set each, and the one that takes it back.
_PARTS: dict[str, tuple[tuple[int, ...], int]] = {
    "bold": ((1,), 22),
    "dim": ((2,), 22),
    "italic": ((3,), 23),
    "underline": ((4, 21), 24),
    "blink": ((5, 6), 25),
    "reverse": ((7,), 27),
    "conceal": ((8,), 28),
    "strike": ((9,), 29),
    "overline": ((53,), 55),
    "ink": ((38, *range(30, 38), *range(90, 98)), 39),
    "paper": ((48, *range(40, 48), *range(100, 108)), 49),
    "underline ink": ((58,), 59),
}
_SETS = {code: part for part, (codes, _) in _PARTS.items() for code in codes}
_ENDS = {end: [part for part, (_, other) in _PARTS.items() if other == end] for _, end in _PARTS.values()}
_COLOURS = ("38", "48", "58")
_ARGUMENTS_OF_COLOUR = {"5": 1, "2": 3}
_WITH_DETAILS = (4, 38, 48, 58)


def split(text: str) -> tuple[str, list[Mark], bool]:
    """The plain characters, the marks between them, and whether that is all: nothing was dropped."""
    if text.isprintable():
        return text, [], True
    plain, marks = _take_out(_any_mark, text)
    if plain.isprintable() or find_forbidden(plain) is None:
        return plain, marks, True
    return *_take_out(_any_sequence, text), False


def _take_out(pattern: "re.Pattern[str]", text: str) -> tuple[str, list[Mark]]:
    pieces: list[str] = []
    marks: list[Mark] = []
    at = offset = 0
    for match in pattern.finditer(text):
        start, end = match.span()
        pieces.append(text[at:start])
        offset += start - at
        at = end
        if match.lastindex == 1:
            marks.append((offset, match[1]))
        elif match.lastindex == 2:
            pieces.append("\ufffd")
            offset += 1
    pieces.append(text[at:])
    return "".join(pieces), marks


def strip_marks(text: str) -> str:
    plain = _any_mark.sub("", text)
    if plain.isprintable() or find_forbidden(plain) is None:
        return plain
    return _take_out(_any_sequence, text)[0]


def look_after(look: Look, mark: str) -> Look:
    """What is open once a mark has been passed."""
    if mark[1] == "[":
        return (_style_after(look[0], mark), look[1])
    if mark == CURSOR:
        return look
    return (look[0], "" if mark == LINK_END else mark)


@lru_cache(maxsize=2048)
def _style_after(style: str, sgr: str) -> str:
    if sgr in ("\x1b[m", _RESET):
        return ""
    parts: dict[str, str] = {}
    for sequence in (style, sgr):
        if sequence:
            _apply(parts, sequence[2:-1].split(";"))
    return f"\x1b[{';'.join(parts.values())}m" if parts else ""


def _apply(parts: dict[str, str], codes: list[str]) -> None:
    for code in _whole_codes(codes):
        number = _number(code.partition(";")[0].partition(":")[0])
        if number == 0:
            parts.clear()
        elif code == "4:0":
            parts.pop("underline", None)
        elif (part := _SETS.get(number)) is not None and (":" not in code or number in _WITH_DETAILS):
            parts[part] = code
        for part in _ENDS.get(number, ()):
            parts.pop(part, None)


def _whole_codes(codes: list[str]) -> Iterator[str]:
    """The codes, a colour together with its arguments. A colour that is none is left out: it would swallow the next."""
    rest = iter(codes)
    for code in rest:
        if code not in _COLOURS:
            yield code
            continue
        how = next(rest, "")
        arguments = [next(rest, "none") for _ in range(_ARGUMENTS_OF_COLOUR.get(how, 0))]
        if arguments and all(0 <= _number(argument) <= 255 for argument in arguments):
            yield ";".join((code, how, *arguments))


def _number(digits: str) -> int:
    """Nothing is 0; what is no number, or too long for any meaning, is -1."""
    if not digits:
        return 0
    return int(digits) if len(digits) <= 3 and digits.isdecimal() else -1


def substitute(plain: str, marks: list[Mark], start: int, end: int, text: str) -> tuple[str, list[Mark]]:
    """The same with other characters in the place from `start` to `end`; marks inside it move to its beginning."""
    shift = len(text) - (end - start)
    moved = [(at if at <= start else at + shift if at >= end else start, mark) for at, mark in marks]
    return plain[:start] + text + plain[end:], moved


class Weaver:
    """Cuts pieces out of styled text, one after another."""

    __slots__ = ("_marks", "_next", "_plain", "look")

    def __init__(self, plain: str, marks: list[Mark], look: Look = DEFAULT_LOOK) -> None:
        self.look = look
        self._plain = plain
        self._marks = marks
        self._next = 0

    def skip(self, end: int) -> bool:
        """Pass every mark before and at `end`; whether the cursor mark was among them."""
        cursor = False
        while self._next < len(self._marks) and self._marks[self._next][0] <= end:
            mark = self._marks[self._next][1]
            self.look = look_after(self.look, mark)
            cursor = cursor or mark == CURSOR
            self._next += 1
        return cursor

    def piece(self, start: int, end: int, tail: str = "") -> str:
        """The characters from `start` to before `end`, then `tail` in the style of the last of them."""
        parts = [CURSOR] if self.skip(start) else []
        opening = self.look
        at = start
        while self._next < len(self._marks) and self._marks[self._next][0] < end:
            offset, mark = self._marks[self._next]
            parts += (self._plain[at:offset], mark)
            self.look = look_after(self.look, mark)
            at = offset
            self._next += 1
        parts += (self._plain[at:end], tail)
        text = "".join(parts)
        return f"{opening[1]}{opening[0]}{text}{self._closing()}" if text else ""

    def ends_plain(self) -> bool:
        """Pass every mark that is left; whether nothing is open then."""
        for _, mark in self._marks[self._next :]:
            self.look = look_after(self.look, mark)
        self._next = len(self._marks)
        return self.look == DEFAULT_LOOK

    def _closing(self) -> str:
        style, link = self.look
        return (_RESET if style else "") + (LINK_END if link else "")
