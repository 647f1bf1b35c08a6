"""Calls against a link that is swapped all the time; `python -m sightline.testing.races` has the long run."""

import pytest

from sightline.testing.races import KINDS, race


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
async def test_nothing_gets_out_of_the_workspace(kind: str) -> None:
    """Neither a file that is written nor a word that is read; and what is done is done inside."""
    outcome = await race(kind, 150)
    assert outcome.escaped == 0
    assert outcome.done + outcome.refused > 0
