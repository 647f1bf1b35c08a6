"""Sessions killed at random moments; `make stress-kills` and `make stress-kills-agents` have the long runs."""

import pytest

from sightline.testing.killing import _agents, _alone


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_killed_session_is_resumed(seed: int) -> None:
    """Nothing that was received is lost, and no file is damaged."""
    assert _alone.play(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_agents_of_a_killed_session_are_found_and_revived(seed: int) -> None:
    """Whatever they were doing."""
    assert _agents.play(seed, 8)
