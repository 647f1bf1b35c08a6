"""Names and colours of agents: one of each, wherever an agent is shown."""

from collections import Counter

import pytest

from sightline.transcript import TranscriptAgent
from sightline.tty import theme_for
from sightline.views.console._agent_names import agent_name, agent_role, asker, asks, waits


def test_a_colour_follows_from_the_path_alone() -> None:
    """The same in every console and every session: it was chosen once. Many agents share a few of them evenly."""
    assert agent_role("Explore") == agent_role("Explore")
    assert (agent_role("Explore"), agent_role("Review")) == ("info", "accent")
    counted = Counter(agent_role(f"Explore-{number}") for number in range(400))
    assert len(counted) == 4
    assert min(counted.values()) > 50
    assert agent_role("\ud800")
    assert agent_role("Read", "Explore") == agent_role("Explore/Read"), "also where its path begins elsewhere"


@pytest.mark.parametrize("dark", [True, False])
@pytest.mark.parametrize("depth", ["256", "true"])
def test_the_colours_differ_and_mean_nothing(dark: bool, depth: str) -> None:
    """Neither good nor bad, and they are not those of other text."""
    theme = theme_for(dark=dark, depth=depth)  # type: ignore[arg-type]
    looks = {theme.open(agent_role(f"Explore-{number}")) for number in range(100)}
    assert len(looks) == 4
    assert not looks & {theme.open(role) for role in ("success", "error", "text", "muted")}


def test_an_agent_is_called_by_its_name_else_by_its_path() -> None:
    assert agent_name("a/b", TranscriptAgent("a/b", "a", "digger")) == "digger"
    assert agent_name("a/b", TranscriptAgent("a/b", "a")) == "a/b"
    assert agent_name("a/b\x1b[2J", None) == "a/b"


def test_a_request_is_named_by_the_path_of_its_agent() -> None:
    """Which no other agent has; the root needs no name."""
    root, other = {"agent": ""}, {"agent": "Explore/Read"}
    assert (asker(root), asker(other)) == ("The agent", "Explore/Read")
    assert (asks(root, "Allow this?"), asks(other, "Allow this?")) == ("Allow this?", "Explore/Read asks: Allow this?")
    assert (waits(root), waits(other)) == ("waiting for your answer", "Explore/Read waits for your answer")
