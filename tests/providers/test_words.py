"""The words of a run that are held until it ends."""

from sightline.events import Text
from sightline.providers import WORDS_AT_MOST, ProviderWords


def test_of_a_long_answer_the_end_is_held() -> None:
    """A bounded part of it, however long it is, and how long it was; a short one is whole."""
    words = ProviderWords()
    words.add(Text("first", 1))
    words.add(Text("second", 2))
    assert (words.text, words.left_out) == ("first\nsecond", 0)
    piece = "0123456789" * 6000
    for _ in range(100):
        words.add(Text(piece, 2))
    words.add(Text("The end.", 3))
    assert len(words.text) >= WORDS_AT_MOST
    assert len(words.text) + words.left_out == 6_000_021
    assert words.text.endswith(f"{piece[-40:]}\nThe end.")


def test_what_is_held_does_not_grow() -> None:
    words = ProviderWords()
    for number in range(200):
        words.add(Text("x" * 60_000, number))
        assert len(words.text) < 1.1 * WORDS_AT_MOST
