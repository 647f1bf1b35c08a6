"""Blocks of code by themselves."""

from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.tty.components._code import Code
from tests.tty.components.role_marks import MARKS, marked


def test_code_is_highlighted_and_nothing_is_beside_it() -> None:
    """A row of code holds the code."""
    code = Code("x = 1\n\n\ty", "python", theme=MARKS)
    code.finish()
    assert [marked(row) for row in code.render(40)] == [
        "<code_block>x = </><code_block><syntax_number>1</>",
        "",
        "<code_block>    y</>",
    ]


def test_line_numbers_stand_before_the_first_row_of_a_line() -> None:
    """Asked for, a number stands before each line, once."""
    code = Code("abc\ndefghijk\n", line_numbers=True)
    assert list(code.render(10)) == ["   1 abc", "   2 defgh", "ijk"]


def test_long_lines_are_folded_with_every_character() -> None:
    """Rows are broken where they are full, also between wide characters; blanks stay."""
    assert list(Code("ab  cd  ef").render(4)) == ["ab  ", "cd  ", "ef"]
    assert list(Code("日本語日本語").render(5)) == ["日本", "語日", "本語"]


def test_finished_lines_are_final_while_code_streams() -> None:
    """Everything before the unfinished line is settled, and can be released."""
    code = Code("one\ntwo\nthr")
    assert list(code.render(20)) == ["one", "two", "thr"]
    assert code.live_from() == 2
    assert code.release(5) == 2
    code.append("ee")
    assert list(code.render(20)) == ["three"]
    code.finish()
    assert list(code.render(20)) == ["three"]
    assert code.live_from() == 1
    code.restore()
    assert list(code.render(20)) == ["one", "two", "three"]


@settings(max_examples=100, deadline=None)
@given(st.text("ab \n\t'\"#é日", max_size=80), st.lists(st.integers(1, 9), max_size=30), st.integers(2, 30))
def test_pieces_give_the_rows_of_the_whole(text: str, sizes: list[int], width: int) -> None:
    """However code is cut, its rows are the same, and final ones stay."""
    expected = Code(text, "python", theme=MARKS)
    expected.finish()
    rows = list(expected.render(width))
    code = Code("", "python", theme=MARKS)
    rest = text
    for size in sizes:
        code.append(rest[:size])
        rest = rest[size:]
        shown = list(code.render(width))
        assert shown[: code.live_from()] == rows[: code.live_from()]
    code.append(rest)
    code.finish()
    assert list(code.render(width)) == rows


def test_an_endless_line_is_the_same_rows_however_it_comes() -> None:
    """A line over the limit is read in pieces, which do not show."""
    text = "abcdefg " * 1000
    whole = Code(text)
    assert "".join(whole.render(37)) == text
    assert all(len(row) == 37 for row in list(whole.render(37))[:-1])
