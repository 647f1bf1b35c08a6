"""The fold: replayed equals live, a snapshot is a place to go on from, and unknown kinds change nothing."""

import msgspec
import pytest

from sightline.events import Text, ToolArgs, ToolOutput, ToolResult, ToolUpdate, ToolUse, TurnStarted, stamp
from sightline.providers import EventStream, get_provider
from sightline.transcript import OUTPUT_TAIL, Call, Snapshot, Transcript, Words, fold
from tests.providers.support import capture_names, load_capture

CAPTURES = [(p, n) for p in ("claude", "codex", "gemini", "opencode") for n in capture_names(p)]


def recorded(provider: str, name: str) -> list:
    stream = EventStream(get_provider(provider).source())
    events = stream.feed(load_capture(provider, name)[0]) + stream.end()
    return [stamp(event, seq, float(seq)) for seq, event in enumerate(events, 1)]


@pytest.mark.parametrize(("provider", "name"), CAPTURES)
def test_going_on_from_a_snapshot_equals_the_uninterrupted_fold(provider, name):
    """Snapshot after any event, restore, apply the rest: the same state. The snapshot itself survives the wire."""
    events = recorded(provider, name)
    whole = fold(events)
    transcript = Transcript()
    for position, event in enumerate(events):
        if position % 7 == 0:
            assert fold(events[position:], transcript.snapshot()) == whole
        transcript.apply(event)
    assert transcript.now == whole
    assert msgspec.json.decode(msgspec.json.encode(whole), type=Snapshot) == whole
    assert whole.seq == len(events)


def test_the_words_of_the_root_agent_are_the_aggregate():
    """FR-007: the plain concatenation of text payloads; a subagent's are its own."""
    events = [Text("a", 1), Text("b", 1), Text("x", 2, agent="Explore-1"), Text("c", 3)]
    transcript = Transcript()
    for event in events:
        transcript.apply(event)
    assert transcript.text == "abc"
    assert [entry.text for entry in transcript.now.entries if isinstance(entry, Words)] == ["ab", "x", "c"]


def test_a_call_gathers_all_that_belongs_to_it():
    """From the first piece of its arguments to its result, in one entry, with a counter for detail-only updates."""
    state = fold(
        [
            ToolArgs("1", "Bash", '{"com'),
            ToolUse("1", "Bash", "bash", "ls", {"command": "ls"}),
            ToolOutput("1", "README"),
            ToolUpdate("1", {"ui": {"kind": "x"}}),
            ToolResult("1", "README\n", None, False, 0, 0.5),
        ]
    )
    call = Call("", "1", "Bash", "bash", "ls", {"command": "ls"}, "", "README", 0, {"ui": {"kind": "x"}}, 3, "README\n")
    call.exit_code, call.duration = 0, 0.5
    assert state.entries == [call]


def test_output_keeps_a_bounded_tail():
    """However much a command prints, the state holds the end of it and how much came before."""
    state = fold([ToolOutput("1", "x" * 40_000), ToolOutput("1", "y" * 40_000)])
    call = state.entries[0]
    assert len(call.output) == OUTPUT_TAIL
    assert call.output.endswith("y")
    assert call.skipped == 80_000 - OUTPUT_TAIL


def test_a_kind_the_fold_does_not_know_changes_nothing():
    """Only the sequence number moves on."""
    assert fold([stamp(TurnStarted(), 4, 0.0)]) == Snapshot(seq=4)
