"""Text in pieces, without secrets: the pieces together are the masked whole, whatever was cut where."""

import re

from hypothesis import given
from hypothesis import strategies as st

from sightline.agent import Secrets

VALUES = ("abcabcabd", "cabcab-long-one", "abcabcabd-and-more", "ß-key-0123", "cab-long")
SECRETS = Secrets({f"TOKEN_{number}": value for number, value in enumerate(VALUES)})

texts = st.lists(
    st.sampled_from((*VALUES, *(value[:cut] for value in VALUES for cut in (1, 3, 4, -1)), "x", "ab", "\n", "日"))
).map("".join)
cuts = st.lists(st.integers(0, 200), max_size=12)


def cut_up(text: str, places: list[int]) -> list[str]:
    ends = sorted({min(place, len(text)) for place in places} | {len(text)})
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@given(texts, cuts)
def test_pieces_are_masked_as_the_whole_is(text: str, places: list[int]) -> None:
    """For any cuts: nothing is lost, nothing is told twice, and no value is seen."""
    stream = SECRETS.stream()
    assert "".join([stream.feed(piece) for piece in cut_up(text, places)]) + stream.end() == SECRETS.masked(text)


@given(texts, cuts)
def test_what_waits_is_the_beginning_of_a_value(text: str, places: list[int]) -> None:
    """And nothing else: it is shorter than the longest, and a value begins like it."""
    stream = SECRETS.stream()
    for piece in cut_up(text, places):
        stream.feed(piece)
        assert any(value.startswith(stream.waiting) and value != stream.waiting for value in VALUES)


KEY = "sk-live-0123"
ONE = Secrets({"A_TOKEN": KEY})
beginnings = "|".join(re.escape(KEY[:cut]) for cut in range(len(KEY), 0, -1))
begun = re.compile(f"(?:{beginnings})(?=\\[secret A_TOKEN\\])")
told_apart = st.lists(st.sampled_from((KEY, *(f"{KEY[:cut]}." for cut in range(len(KEY))), "日\n"))).map("".join)


@given(told_apart, cuts, st.sampled_from((None, 3)))
def test_what_is_let_out_was_all_there_is_to_see_of_a_value(text: str, places: list[int], at_most: int | None) -> None:
    """After each piece what waits is let out: then a beginning may stand before a mask, and nothing else differs."""
    stream, told = ONE.stream(), ""
    for piece in cut_up(text, places):
        told += stream.feed(piece)
        told += stream.let_out(at_most)
        if at_most is None:
            assert not stream.waiting
    told += stream.end()
    assert begun.sub("", told) == ONE.masked(text)
    assert at_most is None or all(len(seen) <= at_most for seen in begun.findall(told))
