"""The last guard: whatever a component returns, only text, style and links are written."""

import pytest
from hypothesis import given

from sightline.tty._component import CURSOR
from sightline.tty.cells._link import link
from sightline.tty.frame._rows import is_safe, make_safe
from tests.text.escape_attacks import ATTACKS
from tests.tty.width_text import any_texts, styled_texts, unhurried


@pytest.mark.parametrize(
    "row",
    [
        "",
        "plain",
        "é 漢字 👨‍👩‍👧",
        "\x1b[31mred\x1b[0m",
        "\x1b[4:3;58:2::1:2:3mx\x1b[m",
        link("https://a.example/?q", "x"),
    ],
)
def test_an_ordinary_row_is_safe_and_stays_itself(row: str) -> None:
    """The same object comes back."""
    assert is_safe(row)
    assert make_safe(row) is row


@pytest.mark.parametrize(
    ("row", "left"),
    [
        ("a\tb\nc\rd", "abcd"),
        ("\x1b[2Jx\x1b[1;1H", "x"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;id=1;https://a.example\x1b\\x", "x"),
        ("\x1b]8;;https://a.example\x07x", "x"),
        ("\x9b31mx\x85", "x"),
        ("\u202eabc\u2066", "abc"),
        ("a\ud800b", "a\ufffdb"),
        ("x\x1b", "x"),
        ("x\x1b[31", "x"),
        ("\x1b\x00[2J", "[2J"),
        (f"a{CURSOR}b", "ab"),
        ("\x1b[?25lx", "x"),
        ("\x1b[>4;2mx", "x"),
    ],
)
def test_anything_else_is_removed(row: str, left: str) -> None:
    """Sequences go whole, so that their remains are not shown as text."""
    assert not is_safe(row)
    assert make_safe(row) == left


@given(any_texts)
@unhurried
def test_a_row_made_safe_is_safe(row: str) -> None:
    """For every string, at once: a second time changes nothing."""
    safe = make_safe(row)
    assert is_safe(safe)
    assert make_safe(safe) is safe
    safe.encode()


@given(styled_texts)
@unhurried
def test_style_and_links_are_kept(row: str) -> None:
    """What components make of their text needs no cleaning."""
    assert make_safe(row) is row


@pytest.mark.parametrize("data", [data for _, data in ATTACKS], ids=[name for name, _ in ATTACKS])
def test_no_attack_passes(data: bytes) -> None:
    """None of the collected attacks gets through, and what follows one is still shown."""
    safe = make_safe(data.decode("utf-8", "surrogateescape"))
    assert is_safe(safe)
    assert safe.endswith("SAFE")
