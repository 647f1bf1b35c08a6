"""What is pending for a tab: entries that move and branches that are left are sent, and nothing twice."""

import pytest

from sightline.events import Notice, Request, RequestResolved, State, Text, ToolResult, ToolUse
from sightline.events.stamping import stamp
from sightline.transcript import Transcript
from sightline.views.web.page._pending import MissedEvents, PendingUpdates

_JOB = ToolUse("abcdef-1", "Bash", "exec", "job abcdef-1", {"command": "make"})


class _Tab:
    def __init__(self) -> None:
        self.transcript = Transcript()
        self.missed: MissedEvents | None = None
        self.pending = PendingUpdates(lambda: None, lambda: self.transcript.now, lambda: self.missed)
        self.seq = 0

    def happen(self, *events) -> list:
        """The entries that are pending after these events came together."""
        self.pending.entries, self.pending.whole, self.pending.facts = {}, False, False
        for event in events:
            self.seq += 1
            self.transcript.apply(stamp(event, self.seq, float(self.seq)))
        self.pending.happened(list(events))
        return list({id(entry): entry for entry in self.pending.entries.values()}.values())


def _text(block: int, text: str = "words") -> Text:
    return Text(text, block)


def test_a_job_that_ends_is_said_where_it_ended():
    """With whatever came in the same moment, before it or after it."""
    tab = _Tab()
    tab.happen(_JOB, _text(1))
    said = tab.happen(_text(2), ToolResult("abcdef-1", "done"), _text(3))
    job = next(entry for entry in said if getattr(entry, "id", "") == "abcdef-1")
    assert [getattr(entry, "block", None) for entry in said if entry is not job] == [2, 3]
    assert job.seq == 4
    assert [entry.seq for entry in tab.transcript.now.entries] == [2, 3, 4, 5]


def test_words_after_a_job_has_moved_are_still_found():
    """A place is not a position: what shifted is told of under its own."""
    tab = _Tab()
    tab.happen(_JOB, _text(1), _text(2))
    tab.happen(ToolResult("abcdef-1", "done"))
    said = tab.happen(_text(1, " more"))
    assert [(entry.seq, entry.text) for entry in said] == [(2, "words more")]


@pytest.mark.parametrize(("agent", "whole"), [("", True), ("Explore-1", False)])
def test_another_branch_is_told_as_a_whole(agent, whole):
    """The conversation goes on elsewhere: all that is shown may be another."""
    tab = _Tab()
    tab.happen(_text(1), _text(2))
    tab.happen(State("branch", {"ranges": [[1, 1]]}, agent=agent))
    assert tab.pending.whole is whole


def test_a_tab_that_comes_back_is_told_what_is_new():
    """Entries that began while it was away, and those that changed; not the others."""
    tab = _Tab()
    tab.happen(_text(1), _text(2), _text(3), Notice("new"))
    events = [stamp(_text(2, " more"), 5, 5.0)]
    for event in events:
        tab.transcript.apply(event)
    tab.missed = MissedEvents(events, 3)
    tab.pending.replaced()
    assert not tab.pending.whole
    assert sorted(tab.pending.entries) == [2, 4]


def test_facts_are_said_when_they_change():
    """Words alone change nothing about the whole."""
    tab = _Tab()
    tab.happen(_text(1))
    assert not tab.pending.facts
    tab.happen(State("model", "another"))
    assert tab.pending.facts


def test_that_the_agent_works_is_said_whatever_the_fold_knows_it_from():
    """The page shows *Stop* as soon as the fold says that somebody works; words alone change nothing."""
    tab = _Tab()
    tab.happen(_text(1))
    assert not tab.pending.facts
    tab.transcript.now.running = True
    tab.happen(_text(1))
    assert tab.pending.facts
    tab.happen(_text(1))
    assert not tab.pending.facts


def test_a_call_is_said_when_it_begins_and_ends_to_wait_for_an_answer():
    """Its clock stands meanwhile, and a tab counts on by itself."""
    tab = _Tab()
    tab.happen(ToolUse("abcdef-1", "Bash"), ToolUse("abcdef-2", "Bash"))
    asked = Request("request-1", "approval", details={"call": "abcdef-1"})
    assert [entry.id for entry in tab.happen(asked)] == ["abcdef-1"]
    assert [entry.id for entry in tab.happen(RequestResolved("request-1"))] == ["abcdef-1"]
    assert tab.happen(RequestResolved("request-2")) == []
