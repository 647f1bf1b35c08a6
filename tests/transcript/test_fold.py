"""The fold: replayed equals live, a snapshot is a place to go on from, and unknown kinds change nothing."""

import msgspec
import pytest

from sightline.events import Text, ToolArgs, ToolOutput, ToolResult, ToolUpdate, ToolUse, TurnStarted, stamp
from sightline.providers import EventStream, get_provider
from sightline.transcript import ENDED_TAIL, OUTPUT_TAIL, Call, Piece, Snapshot, Transcript, Words, fold
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
    call = Call("", "1", "Bash", "bash", "ls", {"command": "ls"}, content="README\n", exit_code=0, duration=0.5)
    call.pieces, call.details, call.updates = [Piece("stdout", "README")], {"ui": {"kind": "x"}}, 3
    assert state.entries == [call]


def test_output_keeps_a_bounded_tail():
    """However much a command prints, the state holds the end of it and how much came before."""
    state = fold([ToolOutput("1", "x" * 40_000), ToolOutput("1", "y" * 40_000)])
    call = state.entries[0]
    assert len(call.output) == OUTPUT_TAIL
    assert call.output.endswith("y")
    assert call.skipped == 80_000 - OUTPUT_TAIL


def test_small_pieces_that_follow_each_other_are_joined():
    """A dot at a time costs no struct each; what was passed over, or came from elsewhere, stays apart."""
    state = fold(
        [
            ToolOutput("1", "a", offset=0, size=1),
            ToolOutput("1", "b", offset=1, size=1),
            ToolOutput("1", "c", stream="stderr", offset=2, size=1),
            ToolOutput("1", "d", stream="stderr", offset=13, size=1, dropped=10),
        ]
    )
    call = state.entries[0]
    assert call.pieces == [Piece("stdout", "ab", 0, 2), Piece("stderr", "c", 2, 1), Piece("stderr", "d", 13, 1, 10)]
    assert call.received == 14


def test_a_call_that_ended_lets_go_of_its_output():
    """Performance consideration 4: what was gathered while it ran is cleared; a folded block's few rows stay."""
    state = fold([ToolOutput("1", "x" * 40_000, size=40_000), ToolResult("1", exit_code=0)])
    call = state.entries[0]
    assert len(call.output) == ENDED_TAIL
    assert (call.received, call.skipped) == (40_000, 40_000 - ENDED_TAIL)


def test_a_status_is_said_until_there_is_output_again():
    """Silence is worth telling, and no output."""
    silent = fold([ToolOutput("1", "no output for 10 s", stream="status")])
    assert silent.entries[0].status == "no output for 10 s"
    assert silent.entries[0].output == ""
    assert fold([ToolOutput("1", "x")], silent).entries[0].status == ""


def test_a_kind_the_fold_does_not_know_changes_nothing():
    """Only the sequence number moves on."""
    assert fold([stamp(TurnStarted(), 4, 0.0)]) == Snapshot(seq=4)
