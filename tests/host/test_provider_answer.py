"""The answer of a provider that is stored."""

import pytest

from sightline.host.provider._answer import masked_answer
from sightline.providers import WORDS_AT_MOST, ProviderOutcome
from sightline.secrets import Secrets

_SECRET = "sk-live-AAAABBBBCCCCDDDDEEEEFFFF"


def _stored(text: str, left_out: int = 0) -> str:
    return masked_answer(ProviderOutcome(exit_code=0, text=text, left_out=left_out), Secrets({"MY_KEY": _SECRET}))


def test_a_short_answer_is_whole() -> None:
    assert _stored(f"It is {_SECRET}.") == "It is [secret MY_KEY]."


@pytest.mark.parametrize("place", range(0, len(_SECRET) + 40, 3))
def test_no_half_of_a_secret_is_left_where_a_long_answer_is_cut(place: int) -> None:
    """Wherever it stands there; how long the answer was is said."""
    text = "x" * (1_000_000 - place) + _SECRET + "y" * (WORDS_AT_MOST - 30)
    stored = _stored(text)
    assert stored.startswith(f"[only the end of {len(text):,} characters]\n")
    assert len(stored) <= WORDS_AT_MOST
    assert not any(_SECRET[at : at + 8] in stored for at in range(len(_SECRET) - 8))


@pytest.mark.parametrize("cut", range(1, len(_SECRET)))
def test_no_half_of_one_that_was_cut_before_is_left(cut: int) -> None:
    """What is held begins within a secret, and masks make the rest shorter than what may be stored."""
    stored = _stored(_SECRET[cut:] + " " + f"{_SECRET} " * 10 + "y" * 20_000, left_out=5_000_000)
    assert stored.startswith("[only the end of 5,02")
    assert not any(_SECRET[at : at + 4] in stored for at in range(len(_SECRET) - 4))
    assert stored.endswith("y" * 1000)
