"""A row's way to the terminal."""

from hypothesis import given
from hypothesis import strategies as st

from sightline.tty.frame._rows import fitted, rewrite
from tests.tty.paper import Paper

PLAIN = st.text(st.sampled_from("ab c\x1b"), max_size=12).map(lambda text: text.replace("\x1b", "\x1b[1m"))


def _closed(text: str) -> str:
    return text + "\x1b[0m" if "\x1b" in text else text


@given(PLAIN, PLAIN)
def test_what_stood_there_is_written_over_whatever_it_was(old: str, new: str) -> None:
    paper = Paper(columns=60)
    paper.write(_closed(old))
    paper.write(rewrite(_closed(old), _closed(new)))
    assert paper.tape == ([plain.rstrip()] if (plain := new.replace("\x1b[1m", "")).strip() else [])


def test_only_what_differs_is_written() -> None:
    assert rewrite("a long row of text", "a long row of text, and more") == "\x1b[19G, and more"


def test_the_style_in_force_is_opened_again() -> None:
    """A change in the middle of a styled run continues in its style."""
    old = "\x1b[1mbold\x1b[0m \x1b[31mred\x1b[0m"
    new = "\x1b[1mbold\x1b[0m \x1b[31mredder\x1b[0m"
    assert rewrite(old, new) == "\x1b[9G\x1b[31mder\x1b[0m"


def test_a_combining_mark_takes_its_letter_with_it() -> None:
    assert rewrite("cafe", "cafe\u0301").endswith("e\u0301")


def test_s3_8_an_overwide_row_is_cut_and_not_an_error() -> None:
    assert fitted("abcdef", 3) == "abc"
    assert fitted("\x1b[1mabcdef\x1b[0m", 3).replace("\x1b[1m", "").replace("\x1b[0m", "") == "abc"
    assert fitted("漢字漢字", 3) in ("漢", "漢 ")


def test_an_open_style_ends_with_its_row() -> None:
    assert fitted("\x1b[31mred", 10) == "\x1b[31mred\x1b[0m"


def test_a_row_cannot_drive_the_terminal() -> None:
    assert "\x1b[2J" not in fitted("a\x1b[2Jb\x07", 10)
    assert "\x07" not in fitted("a\x1b[2Jb\x07", 10)
