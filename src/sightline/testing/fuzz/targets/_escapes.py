"""The filters of untrusted text: nothing that drives a terminal comes out, in whatever pieces it went in."""

import re
from random import Random

from sightline.testing.fuzz._mutation import joined, text_of
from sightline.testing.fuzz._target import Plain, hold
from sightline.text import (
    OutputScreen,
    StreamFilter,
    clean_line,
    clean_output,
    clean_styled,
    clean_text,
    clean_value,
    complete_prefix,
    escape_controls,
    message,
    row_text,
)

_PIECES = [
    "\x1b", "\x1b[", "\x1b]0;title\x07", "\x1b]0;title\x1b\\", "\x1b]52;c;AAAA\x07", "\x1b]8;;http://x\x1b\\",
    "\x1b[31m", "\x1b[2J",
    "\x1b[?1049h", "\x1b[6n", "\x1b[10A", "\x1b[5;5H", "\x1b[9L", "\x1b[9M", "\x1b[9@", "\x1b[9P",
    "\x1b[2;5r", "\x1b[r", "\x1b[9S", "\x1b[9T", "\x1bD", "\x1bM", "\x1b7", "\x1b8",
    "\x1b[J", "\x1b[K", "\x1b[5G", "\x1bP1$r\x1b\\", "\x1b_G\x1b\\", "\x1b^x\x9c",
    "\x1bX", "\x1bc", "\x1b(0",
    "\x9b2J", "\x9d0;t\x9c", "\x90q", "\x98", "\x9e", "\x9f", "\x84", "\x85", "\u202e", "\u2066", "\u2069", "\ud800",
    "\udc00", "\udcff",
    "\0", "\x07", "\x08", "\x18", "\x1a", "\x7f", "\r", "\n", "\r\n", "\t", "a", "word ", "é", "漢", "🧑‍💻", "0", ";",
    ":", "m", "999999",
]  # fmt: skip

# Written here anew: what is checked must not say by itself what is right.
_drives = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]").search
_styles = re.compile("\x1b\\[[0-9;]*m").sub
_output = re.compile(
    "\x1b\\[(?:[0-9;:]{0,64}m|[0-9]{0,4}[A-FKJ@PXLMSTd]|[0-9]{0,4}(?:;[0-9]{0,4})?[Hr]|[su]|\\?1049[hl])"
    "|\x1b[DM]|[\r\x08]"
).sub


class Escapes(Plain):
    name = "escapes"

    def make(self, random: Random) -> tuple[str, int]:
        text = joined(random, _PIECES, 30) if random.random() < 0.8 else text_of(random, 200)
        return text * random.choice((1,) * 20 + (40,)), random.randrange(1, 9)

    def check(self, given: tuple[str, int]) -> None:
        text, size = given
        clean = clean_text(text)
        hold(_drives(clean) is None, "clean_text leaves a control")
        hold(clean_text(clean) == clean, "clean_text changes what is clean")
        line = clean_line(text)
        hold(
            _drives(line) is None and not re.search("[\n\t\u2028\u2029]", line), "clean_line leaves a control or a line"
        )
        hold(_drives(_styles("", clean_styled(text))) is None, "clean_styled leaves more than style")
        hold(_drives(_output("", clean_output(text))) is None, "clean_output leaves what it must not")
        hold(_drives(escape_controls(text)) is None, "escape_controls leaves a control")
        hold(_drives(repr(clean_value({text: [text, {"a": text}]}))) is None, "clean_value leaves a control")
        lines = message("error", text, text).splitlines()
        ours = [said for said in lines if not said.startswith("  ")]
        hold(len(ours) <= 2 and lines[0].startswith("error: "), "a message has a line that is not ours")
        self._check_pieces(text, size, clean)
        self._check_screen(text, size)

    def _check_pieces(self, text: str, size: int, clean: str) -> None:
        stream = StreamFilter()
        pieces = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
        hold("".join([*pieces, stream.end()]) == clean, "in pieces it is another text")
        data = text.encode("utf-8", "replace")
        hold(0 <= len(data) - complete_prefix(data) <= 64, "complete_prefix holds back too much")

    def _check_screen(self, text: str, size: int) -> None:
        screen = OutputScreen(40)
        pieces = [text[at : at + size * 16] for at in range(0, len(text), size * 16)]
        for piece in pieces:
            screen.feed(clean_output(piece))
        screen.finish()
        rows = [*screen.take_settled(), *screen.live]
        hold(not any(_drives(row_text(row)) for row in rows), "a row of the screen has a control")
