"""Markdown that arrives in pieces: the same rows as the whole text, and none that was called final ever changes."""

import random
import time
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.tty.components._markdown import Markdown
from sightline.tty.theme._theme import PLAIN, Theme
from tests.tty.components.markdown_texts import TEXTS, cut_texts, texts

MARKED = Theme(
    {role: f"\x1b[38;5;{index}m" for index, role in enumerate(("code", "strong", "emphasis", "quote", "link"))}
)


def whole(text: str, width: int, theme: Theme = PLAIN) -> list[str]:
    markdown = Markdown(text, theme=theme)
    markdown.finish()
    return list(markdown.render(width))


def check_stream(pieces: list[str], width: int, theme: Theme = PLAIN) -> None:
    """Stream, look at every frame, and compare with the whole."""
    expected = whole("".join(pieces), width, theme)
    markdown = Markdown(theme=theme)
    for piece in pieces:
        markdown.append(piece)
        rows = list(markdown.render(width))
        settled = markdown.live_from() or 0
        assert rows[:settled] == expected[:settled]
    markdown.finish()
    assert list(markdown.render(width)) == expected
    assert markdown.live_from() == len(expected)


def pieces_of(text: str, seed: int, longest: int) -> list[str]:
    chance = random.Random(seed)
    pieces = []
    while text:
        size = chance.randint(1, longest)
        pieces.append(text[:size])
        text = text[size:]
    return pieces


@pytest.mark.parametrize("width", [1, 7, 40, 100])
@pytest.mark.parametrize("name", TEXTS)
def test_pieces_give_the_rows_of_the_whole(name: str, width: int) -> None:
    """However a text is cut, its rows are the same, and rows called final are the beginning of them."""
    text = TEXTS[name]
    if len(text) < 1000:
        check_stream(list(text), width, MARKED)
    check_stream(pieces_of(text, len(text) + width, max(7, len(text) // 40)), width, MARKED)


@settings(max_examples=300, deadline=None)
@given(cut_texts(), st.sampled_from([2, 9, 30, 80]))
def test_any_pieces_of_any_text_give_the_rows_of_the_whole(pieces: list[str], width: int) -> None:
    """The same for texts nobody thought of."""
    check_stream(pieces, width)


@settings(max_examples=150, deadline=None)
@given(cut_texts(), st.randoms(use_true_random=False), st.sampled_from([9, 40]))
def test_released_and_remaining_rows_are_the_whole(pieces: list[str], chance: random.Random, width: int) -> None:
    """Rows given up as history and rows still rendered are together every row once, at any time and at the end."""
    expected = whole("".join(pieces), width)
    markdown, history = Markdown(), []
    for piece in [*pieces, None]:
        if piece is None:
            markdown.finish()
        else:
            markdown.append(piece)
        rows = list(markdown.render(width))
        count = markdown.release(chance.randint(0, (markdown.live_from() or 0) + 2))
        history += rows[:count]
        assert list(markdown.render(width)) == rows[count:]
        if chance.random() < 0.2:
            markdown.invalidate()
            assert list(markdown.render(width)) == rows[count:]
    assert history + list(markdown.render(width)) == expected
    markdown.restore()
    assert list(markdown.render(width)) == expected


@settings(max_examples=100, deadline=None)
@given(texts, st.integers(0, 20))
def test_at_another_width_it_goes_on_after_what_is_history(text: str, rows: int) -> None:
    """No letter that was released comes back, none that was not is lost; written anew, everything is there."""
    markdown = Markdown(text)
    before = list(markdown.render(40))
    gone = before[: markdown.release(rows)]
    markdown.finish()
    assert _letters(gone) + _letters(markdown.render(60)) == _letters(whole(text, 60))
    markdown.restore()
    assert list(markdown.render(60)) == whole(text, 60)


def test_a_table_that_is_stacked_at_another_width_goes_on_with_the_next_row() -> None:
    """Names of columns that stand before each value now do not count as something that was not shown."""
    text = "| name | what |\n|--|--|\n" + "".join(f"| row {n} | value number {n} |\n" for n in range(20))
    markdown = Markdown(text)
    markdown.finish()
    gone = list(markdown.render(40))[: markdown.release(12)]
    assert gone[-1] == "row 9  │ value number 9"
    assert list(markdown.render(12))[:4] == ["", "name: row 10", "what: value", "number 10"]


def _letters(rows: Iterable[str]) -> str:
    return "".join(char for row in rows for char in row if char.isalnum())


def test_a_text_that_did_not_change_is_the_same_object() -> None:
    """Rows are made anew only when something changed."""
    markdown = Markdown("a\n\nb")
    rows = markdown.render(20)
    assert markdown.render(20) is rows
    markdown.append("c")
    assert markdown.render(20) is not rows
    assert list(rows) == ["a", "", "b"]


def test_a_text_set_anew_replaces_the_old_one() -> None:
    """`set_text` appends what a longer text adds and begins anew with any other, finished or not."""
    markdown = Markdown("one\n\ntwo")
    markdown.render(20)
    assert markdown.release(1) == 1
    markdown.set_text("one\n\ntwo three")
    assert list(markdown.render(20)) == ["", "two three"]
    markdown.set_text("other")
    assert list(markdown.render(20)) == ["other"]
    markdown.finish()
    markdown.set_text("other again")
    assert list(markdown.render(20)) == ["other again"]
    assert markdown.live_from() == 0


def test_text_after_the_end_is_refused() -> None:
    """Rows of a finished text are final, so nothing can follow."""
    markdown = Markdown("one")
    markdown.finish()
    with pytest.raises(ValueError, match="set_text"):
        markdown.append("two")


@pytest.mark.parametrize(
    ("text", "settled"),
    [
        ("one\n", 0),
        ("one\n\n", 1),
        ("# one\n", 1),
        ("- one\n- two\n- three\n", 2),
        ("```\none\ntwo\nthr", 3),
        ("> - ```\n>   one\n>   two\n>   th", 3),
        ("|a|\n|-|\n" + "|x|\n" * 11, 0),
        ("|a|\n|-|\n" + "|x|\n" * 12, 14),
        ("|a|\n|-|\n" + "|x|\n" * 20 + "|y", 22),
    ],
)
def test_what_is_finished_inside_an_open_block_is_final(text: str, settled: int) -> None:
    """Items, table rows and lines of code settle as they end, long before their block does."""
    markdown = Markdown(text)
    markdown.render(40)
    assert markdown.live_from() == settled


@pytest.mark.parametrize("partial", ["-", "text\n-", "text\n==", "a\n##", "``", "1", "text\n\n12.", ">", "text\n|--"])
def test_a_line_that_may_become_anything_waits(partial: str) -> None:
    """A mark alone at the end of a stream is not shown yet: the paragraph above would jump to a heading and back."""
    markdown = Markdown(partial)
    assert list(markdown.render(40)) == ([partial.split("\n")[0]] if "\n" in partial else [])
    markdown.finish()
    assert markdown.render(40)


@pytest.mark.parametrize(
    "line",
    [" " * 1000 + "x", "a|b\n-" + " " * 1000 + "x", "[a](" + " " * 1000 + "x y)", "# " + "x" + " " * 1000 + "y"],
)
def test_blanks_cost_what_letters_cost(line: str) -> None:
    """No pattern tries a run of blanks in more than one way: a thousand of them took a second for each frame."""
    begun = time.process_time()
    for markdown in (Markdown(line) for _ in range(10)):
        markdown.render(80)
    assert time.process_time() - begun < 0.1


@pytest.mark.parametrize("joining", ["\u0301", "\u200d", "\ufe0f", "\u1100", "\u200b", "\u2060\u0301", "👩\u200d"])
def test_a_flood_of_what_takes_no_cell_becomes_rows(joining: str) -> None:
    """They are final like any others, and each is short: a row without end was drawn anew in every frame."""
    text = "a" + joining * (4000 // len(joining))
    markdown = Markdown(text)
    rows = list(markdown.render(20))
    assert (markdown.live_from() or 0) >= 3
    assert max(map(len, rows)) <= 20 * 32
    markdown.finish()
    assert "".join(markdown.render(20)) == text


def test_a_row_of_one_cell_loses_no_letter() -> None:
    """What became history there is whole, and what follows goes on after it at another width."""
    markdown = Markdown("first words\n\nsecond words here\n\n")
    rows = list(markdown.render(1))
    assert "".join(rows) == "firstwordssecondwordshere"
    released = rows[: markdown.release(len("first"))]
    assert "".join((*released, *markdown.render(40))) == "firstwordssecond words here"
    markdown.finish()
    assert max(map(len, markdown.render(1))) <= 1
