"""The fold: replayed equals live, a snapshot is a place to go on from, and unknown kinds change nothing."""

import msgspec
import pytest

from sightline.events import (
    QueueState,
    Request,
    RequestResolved,
    RunStarted,
    Text,
    ToolArgs,
    ToolConnection,
    ToolOutput,
    ToolResult,
    ToolUpdate,
    ToolUse,
    TurnStarted,
    User,
)
from sightline.events.stamping import stamp
from sightline.providers import EventStream, get_provider
from sightline.transcript import (
    ENDED_TAIL,
    OUTPUT_TAIL,
    Reached,
    Remark,
    Snapshot,
    Transcript,
    TranscriptCall,
    TranscriptPiece,
    TranscriptText,
    fold,
)
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
    assert [entry.text for entry in transcript.now.entries if isinstance(entry, TranscriptText)] == ["ab", "x", "c"]


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
    call = TranscriptCall(
        "", "1", "Bash", "bash", "ls", {"command": "ls"}, content="README\n", exit_code=0, duration=0.5
    )
    call.pieces, call.details, call.updates = [TranscriptPiece("stdout", "README")], {"ui": {"kind": "x"}}, 3
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
    assert call.pieces == [
        TranscriptPiece("stdout", "ab", 0, 2),
        TranscriptPiece("stderr", "c", 2, 1),
        TranscriptPiece("stderr", "d", 13, 1, 10),
    ]
    assert call.received == 14


def test_a_call_that_ended_lets_go_of_its_output():
    """Performance consideration 4: what was gathered while it ran is cleared; a folded block's few rows stay."""
    state = fold([ToolOutput("1", "x" * 40_000, size=40_000), ToolResult("1", exit_code=0)])
    call = state.entries[0]
    assert len(call.output) == ENDED_TAIL
    assert (call.received, call.skipped) == (40_000, 40_000 - ENDED_TAIL)


def test_a_status_is_said_until_there_is_output_again():
    """Silence is worth telling, and no output."""
    silent = fold([ToolOutput("1", "no output for 10 s", stream="status", silent=True)])
    assert silent.entries[0].silent
    spoken = fold([ToolOutput("1", "no output for 10 s", stream="status")])
    assert not spoken.entries[0].silent, "a fact is a field: words are never read back"
    assert silent.entries[0].status == "no output for 10 s"
    assert silent.entries[0].output == ""
    assert fold([ToolOutput("1", "x")], silent).entries[0].status == ""


def test_a_kind_the_fold_does_not_know_changes_nothing():
    """Only the sequence number moves on."""
    assert fold([stamp(TurnStarted(), 4, 0.0)]) == Snapshot(seq=4)


def timed(*moments) -> list:
    """Events, each at its second."""
    return [stamp(event, seq, float(time)) for seq, (time, event) in enumerate(moments, 1)]


def approval(call: str, id: str = "r") -> Request:
    return Request(id, "approval", details={"call": call})


USED, ASKED, ANSWERED = (100, ToolUse("1", "Bash")), (100, approval("1")), (118, RequestResolved("r"))


@pytest.mark.parametrize(
    ("moments", "duration"),
    [
        pytest.param(
            [USED, ASKED, ANSWERED, (120, ToolResult("1", duration=20.0))], 2.0, id="the source counts from the call on"
        ),
        pytest.param(
            [USED, ASKED, ANSWERED, (120, ToolResult("1", duration=1.5))], 1.5, id="the source counts the command alone"
        ),
        pytest.param(
            [ASKED, (101, ToolUse("1", "Bash")), ANSWERED, (120, ToolResult("1"))], 2.0, id="asked before it was told"
        ),
        pytest.param(
            [USED, (100, Request("r", "question")), ANSWERED, (118, ToolResult("1", duration=18.0))],
            0.0,
            id="a question that does not say whose it is",
        ),
        pytest.param(
            [USED, ASKED, ANSWERED, (119, approval("1", "s")), (129, RequestResolved("s")), (131, ToolResult("1"))],
            3.0,
            id="asked twice",
        ),
        pytest.param([USED, (100, approval("2")), (110, ToolResult("1", duration=9.5))], 9.5, id="another call asked"),
        pytest.param([USED, (106, ToolResult("1"))], 6.0, id="nobody says: our own clock"),
        pytest.param([USED, (106, ToolResult("1", duration=0.5))], 0.5, id="not asked at all"),
        pytest.param(
            [USED, (9000, ToolResult("1", "", {"ended": "host"}, True))],
            None,
            id="ended with its host, whenever that was",
        ),
    ],
)
def test_the_time_of_a_call_is_its_own(moments, duration):
    """What a person took to answer its request is not in it, whoever measured it, live or from any snapshot on."""
    events = timed(*moments)
    call = next(entry for entry in fold(events).entries if entry.id == "1")
    assert call.duration == duration
    for position in range(len(events)):
        transcript = Transcript()
        for event in events[:position]:
            transcript.apply(event)
        kept = msgspec.json.decode(msgspec.json.encode(transcript.snapshot()), type=Snapshot)
        assert fold(events[position:], kept) == fold(events)


def test_the_clock_of_a_call_stands_still_while_it_is_asked_about():
    """And goes on from there with the answer. How old the question is stands beside it."""
    use, asked, answered = timed((100, ToolUse("1", "Bash")), (103, approval("1")), (163, RequestResolved("r")))
    transcript = Transcript()
    transcript.apply(use)
    assert transcript.now.entries[0].elapsed(102.0) == 2.0
    transcript.apply(asked)
    assert (transcript.now.entries[0].elapsed(150.0), transcript.now.waiting_since) == (3.0, 103.0)
    transcript.apply(answered)
    assert (transcript.now.entries[0].elapsed(165.0), transcript.now.waiting_since) == (5.0, 0.0)


def test_whose_command_it_is():
    """A person's is known by its source, one the agent is not told of by what it was called with."""
    args = {"command": "rm x", "private": True}
    state = fold([ToolUse("1", "Bash", args=args, source="person"), ToolUse("2", "Bash", args=args, source="agent")])
    own, agents = state.entries
    assert (own.by_user, own.is_private) == (True, True)
    assert (agents.by_user, agents.is_private) == (False, False)


def test_lines_that_were_let_go_are_counted():
    """As long as all of them were here; where some were passed over, nobody can tell."""
    text = "".join(f"{number}\n" for number in range(1, 3001))
    state = fold([ToolOutput("1", text, size=len(text)), ToolResult("1")])
    call = state.entries[0]
    assert call.skipped_lines + call.output.count("\n") == 3000
    state = fold(
        [ToolOutput("1", "x\n", offset=50, size=2, dropped=50), ToolOutput("1", text, size=len(text)), ToolResult("1")]
    )
    assert state.entries[0].skipped_lines == -1


def connection(number: int, host: str, verdict: str, **more) -> ToolConnection:
    return ToolConnection("1", number, host, 443, verdict, **more)


def test_a_call_has_the_hosts_it_connected_to():
    """Each once, with the last verdict and what was moved in all; an end that is told twice would count twice."""
    state = fold(
        [
            ToolUse("1", "Bash"),
            connection(1, "a.org", "asked"),
            connection(1, "a.org", "allowed", rule="network(a.org)"),
            connection(1, "a.org", "allowed", sent=10, received=20, duration=1.0),
            connection(2, "a.org", "allowed", sent=1, received=2, duration=1.0),
            connection(3, "::1", "refused", duration=0.0),
        ]
    )
    (call,) = state.entries
    assert call.network == {"a.org:443": Reached("allowed", 2, 11, 22), "[::1]:443": Reached("refused", 1)}
    assert call.updates == 5


def test_many_hosts_are_counted():
    """A call that connects everywhere costs no more than one that connects to twenty."""
    events = [connection(number, f"h{number}.org", "refused", duration=0.0) for number in range(100)]
    state = fold([ToolUse("1", "Bash"), *events, connection(101, "h0.org", "refused", duration=0.0, more=50)])
    (call,) = state.entries
    assert len(call.network) == 20
    assert call.network_more == 80 + 50
    assert call.network["h0.org:443"].count == 2


def test_a_connection_of_an_unknown_command_is_a_remark():
    """It is seen, although no call has it; what is not over yet is not."""
    state = fold(
        [ToolConnection("", 1, "a.org", 443, "allowed"), ToolConnection("", 1, "a.org", 443, "refused", duration=0.1)]
    )
    (remark,) = state.entries
    assert isinstance(remark, Remark)
    assert "a.org:443: refused" in remark.text


def test_a_snapshot_keeps_the_hosts_of_its_moment():
    """What connects later changes the state, not a copy of it."""
    transcript = Transcript()
    transcript.apply(ToolUse("1", "Bash"))
    before = transcript.snapshot()
    transcript.apply(connection(1, "a.org", "refused", duration=0.0))
    assert before.entries[0].network == {}
    assert transcript.now.entries[0].network


@pytest.mark.parametrize("use", [ToolUse("s-1", "Bash", job=True), ToolUse("s-1", "Bash", arg="job s-1")])
def test_a_job_is_known_as_one(use: ToolUse) -> None:
    """By its field, and in journals from before there was one by its preview."""
    (call,) = fold([use]).entries
    assert isinstance(call, TranscriptCall)
    assert call.is_job
    (other,) = fold([ToolUse("s-1", "Bash", arg="job s-2")]).entries
    assert not other.is_job


def test_a_later_state_of_the_same_conversation_keeps_the_entries_that_were_known():
    """A view that fell behind has blocks on them; what is new or changed is returned."""
    begun = [stamp(event, seq, 1.0) for seq, event in enumerate([User("hi"), ToolUse("c", "Bash"), Text("a", 1)], 1)]
    behind, ahead = Transcript(), Transcript()
    for event in begun:
        behind.apply(event)
        ahead.apply(event)
    message, call, _ = known = list(behind.now.entries)
    for seq, event in enumerate([ToolResult("c", "done"), Text("b", 1), Text("new", 2)], 4):
        ahead.apply(stamp(event, seq, 2.0))
    changed = behind.catch_up(ahead.snapshot())
    assert changed is not None
    assert [id(entry) for entry in behind.now.entries[:3]] == [id(entry) for entry in known]
    assert message not in changed
    assert call in changed
    assert behind.snapshot() == ahead.snapshot()
    assert behind.catch_up(fold([stamp(User("another"), 99, 3.0)])) is None


def test_a_host_that_is_gone_leaves_nothing_under_way():
    """No run, no request, no queue; what was said stays."""
    events = [RunStarted("s"), User("hi"), QueueState([]).as_state(), Request("q", "question", "which?", [], {})]
    transcript = Transcript(fold([stamp(event, seq, 1.0) for seq, event in enumerate(events, 1)]))
    transcript.lose_host()
    now = transcript.now
    assert (now.running, now.requests, now.state) == (False, {}, {})
    assert len(now.entries) == 1
