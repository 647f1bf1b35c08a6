"""Any text the width room may meet, and what of it can be seen: an account of its own, for comparison."""

import re

from hypothesis import settings
from hypothesis import strategies as st

from sightline.text import DEFAULT, Style
from sightline.text._style import styled
from sightline.tty.cells._link import LINK_END, link
from tests.tty.width_corpus import GRAPHEMES

STYLES = ["\x1b[0m", "\x1b[m", "\x1b[1m", "\x1b[22m", "\x1b[31m", "\x1b[1;4;38;5;0m", "\x1b[48;2;0;0;7m", "\x1b[39m"]
LINKS = [link("https://example.org/a", "")[: -len(LINK_END)], link("file:///b", "")[: -len(LINK_END)], LINK_END]
WORDS = ["word", "a", "longer-than-most", " ", "  ", "   ", "漢字", "かな。", "(", "日本", "x"]
FLOODS = [
    "\u0301" * 40,
    "e" + "\u0301" * 31,
    "\u200b" * 33,
    "👩\u200d" * 20,
    "\u1100" * 40,
    "\u0600" * 33 + "🇩🇪🇫🇷",
    "क\u094d" * 20,
]
BROKEN = [
    "\x1b",
    "\x1b[",
    "\x1b[31",
    "\x1b]8;;",
    "\x1b]0;t\x07",
    "\x9b2J",
    "\x90",
    "\t",
    "\r",
    "\x00",
    "\ud800",
    "\u202e",
]

unhurried = settings(deadline=None)
plain_pieces = st.one_of(st.sampled_from(WORDS), st.sampled_from(GRAPHEMES), st.sampled_from(FLOODS))
plain_texts = st.lists(plain_pieces, max_size=14).map("".join)
styled_texts = st.lists(
    st.one_of(plain_pieces, st.sampled_from(WORDS), st.sampled_from(STYLES), st.sampled_from(LINKS)), max_size=16
).map("".join)
any_texts = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=30),
    st.lists(
        st.one_of(
            plain_pieces,
            st.sampled_from(STYLES),
            st.sampled_from(LINKS),
            st.sampled_from(BROKEN),
            st.just("\n"),
            st.text(st.characters(exclude_categories=()), max_size=3),
        ),
        max_size=14,
    ).map("".join),
)
ascii_texts = st.text("ab \n", max_size=60)
widths = st.integers(-2, 30)

_sequence = re.compile("\x1b\\[([0-9;:]*)m|\x1b\\]8;;([!-~]*)\x1b\\\\")
Seen = tuple[str, Style, str]


def seen(text: str, style: Style = DEFAULT, url: str = "") -> tuple[list[Seen], Style, str]:
    """Each character with its style and link, and what is still open at the end."""
    characters: list[Seen] = []
    at = 0
    for match in _sequence.finditer(text):
        characters += [(character, style, url) for character in text[at : match.start()]]
        at = match.end()
        if match[1] is not None:
            style = styled(style, match[1])
        else:
            url = match[2]
    characters += [(character, style, url) for character in text[at:]]
    return characters, style, url


def visible(text: str) -> str:
    """The characters alone."""
    return _sequence.sub("", text)


def is_complete(row: str) -> bool:
    """Whether a row leaves nothing open."""
    return seen(row)[1:] == (DEFAULT, "")
