"""Rules for the bytes themselves, whatever they make a terminal show.

- A frame is one write. Where output is synchronized, one begin and one end enclose all of it, cursor moves included;
  only what is written on in one place, without going back up, needs neither.
- Automatic wrapping is switched off and on again in pairs.
- An ordinary frame moves up and down relative to the cursor only, and never clears the screen or the history. A gesture
  does both, once, before anything else; inside a multiplexer nothing does.
- Nothing is written or erased on a row that is history, and no graphic is drawn there.
- A scroll region is that of the first two rows, where the window is the whole screen; it ends before the frame does.
"""

import re

from sightline.testing.fidelity._divergence import Divergence, require

_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"
_WRAP_OFF, _WRAP_ON = "\x1b[?7l", "\x1b[?7h"
_CLEAR = "\x1b[2J\x1b[H\x1b[3J"
_TOKEN = re.compile(
    r"(?P<picture>\x1b7.*?\x1b8)|(?P<graphics>\x1b_G[^\x1b]*\x1b\\)|\x1b\[(?P<private>\??)(?P<numbers>[0-9;:]*)(?P<final>[A-Za-z])|\x1b\]8;;[!-~]*\x1b\\|(?P<control>[\x00-\x1f\x7f-\x9f])"
    r"|(?P<text>[^\x00-\x1f\x7f-\x9f]+)",
    re.DOTALL,
)
_PICTURE = re.compile(r"\x1b7(?:\x1b\[([0-9]+)A)?\r(?:\x1b\[[0-9]+C)?\x1b_G[^\x1b]*\x1b\\\x1b8")
_SEQUENCE = re.compile(r"\x1b\[[0-9;:?]*[A-Za-z]|\x1b\]8;;[!-~]*\x1b\\|\x1b_G[^\x1b]*\x1b\\")
_JOINED = re.compile("[\u0300-\u036f\u200d\ufe0f\U0001f1e6-\U0001f1ff\U0001f400-\U0001f9ff]")
_UPWARD = re.compile(r"\x1b\[[0-9]*A")
_MODES = {"2026", "25", "7"}
_ALLOWED = set("ABGKJLMmr")
_REGION, _NO_REGION = "\x1b[1;2r", "\x1b[r"


class Position:
    """Follows the cursor's row on the tape through bytes that only move it relatively, or in a region at the top."""

    def __init__(self, row: int, history: int) -> None:
        self.row = row
        self.history = history
        self.in_region = False

    def region(self, *, begins: bool) -> None:
        """The cursor goes to the first row of the screen, which is the first that is not history."""
        self.row, self.in_region = self.history, begins

    def line_feed(self) -> None:
        if self.in_region and self.row == self.history + 1:
            self.history += 1
        self.row += 1

    def moved(self, final: str, count: int) -> None:
        require(not self.in_region or final in "KmG", "no moves in a region", f"CSI {final}")
        if final == "A":
            self.row -= count
        elif final == "B":
            self.row += count
        elif final in "KJLM":
            self.touched(f"CSI {final}")

    def touched(self, what: str) -> None:
        require(self.row >= self.history, "history is rewritten", f"{what!r} on row {self.row}, history {self.history}")


def check_frame(
    text: str, *, synchronized: bool, gesture: bool, position: Position | None, columns: int = 1_000
) -> None:
    """One frame's bytes."""
    if not text:
        return
    _check_synchronized(text, supported=synchronized)
    _check_wrapping(text, columns)
    if gesture:
        require(text.count(_CLEAR) == 1, "a gesture clears once", repr(text[:200]))
        head, _, rest = text.partition(_CLEAR)
        require(not re.sub(r"\x1b\[\?[0-9]+[hl]", "", head), "a gesture clears before anything else", repr(head))
        text, position = head + rest, None
    _check_tokens(text, position)


def _check_synchronized(text: str, *, supported: bool) -> None:
    if not supported:
        require("\x1b[?2026" not in text, "no synchronized output where it is not supported", repr(text))
    elif "\x1b[?2026" in text or _UPWARD.search(text) or _REGION in text:
        enclosed = text.startswith(_BEGIN) and text.endswith(_END) and text.count(_BEGIN) == text.count(_END) == 1
        require(enclosed, "one synchronized frame encloses everything", repr(text))


def _check_wrapping(text: str, columns: int) -> None:
    off = False
    for part in re.split(r"(\x1b\[\?7[hl]|\x1b\[[0-9]*[ABLM]|\x1b\[[0-9;]*r|[\r\n])", text):
        if part in (_WRAP_OFF, _WRAP_ON):
            require((part == _WRAP_ON) == off, "automatic wrapping is switched off and on in pairs", repr(text))
            off = not off
        else:
            sure = off or not _may_overflow(part, columns)
            require(sure, "no automatic wrapping where widths are in doubt", repr(part))
    require(not off, "automatic wrapping is on again after a frame", repr(text))


def _may_overflow(written: str, columns: int) -> bool:
    """Whether a terminal that gives a joined character cells of its own would run out of columns."""
    plain = _SEQUENCE.sub("", written)
    return bool(_JOINED.search(plain)) and len(plain) + sum(character > "\x7f" for character in plain) > columns


def _check_tokens(text: str, position: Position | None) -> None:
    require(text.count(_REGION) == text.count(_NO_REGION) <= 1, "a region ends with its frame", repr(text))
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise Divergence("only known sequences are written", repr(text[at : at + 40]))
        _check_token(token, position)
        at = token.end()


def _check_token(token: re.Match[str], position: Position | None) -> None:
    final, numbers = token["final"], token["numbers"] or ""
    if token["picture"]:
        _check_picture(token["picture"], position)
    elif token["private"]:
        require(numbers in _MODES and final in "hl", "only known modes are set", repr(token[0]))
    elif final == "r":
        require(token[0] in (_REGION, _NO_REGION), "only the first two rows are a region", repr(token[0]))
        if position is not None:
            position.region(begins=token[0] == _REGION)
    elif final:
        require(final in _ALLOWED, "only relative moves and erasing to the end", repr(token[0]))
        require(final != "J" or numbers in ("", "0"), "no ED2 or ED3 in an ordinary frame", repr(token[0]))
        if position is not None:
            position.moved(final, int(numbers) if numbers.isdigit() else 1)
    elif token["control"]:
        require(token["control"] in "\r\n", "no control characters", repr(token[0]))
        if position is not None and token["control"] == "\n":
            position.line_feed()
    elif token["text"] and position is not None:
        position.touched(token["text"])


def _check_picture(text: str, position: Position | None) -> None:
    """A graphic is drawn from its first row on, with the cursor put back afterwards."""
    picture = _PICTURE.fullmatch(text)
    if picture is None:
        raise Divergence("only known sequences are written", repr(text))
    if position is not None:
        Position(position.row - int(picture[1] or 0), position.history).touched("a graphic")
