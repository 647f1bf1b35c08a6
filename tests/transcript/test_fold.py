"""The fold: replayed equals live, a snapshot is a place to go on from, and unknown kinds change nothing."""

import msgspec
import pytest

from sightline.events import (
    AgentEnded,
    AgentStarted,
    AgentState,
    Event,
    ModelState,
    QueueState,
    Request,
    RequestResolved,
    RetryState,
    RunEnded,
    RunStarted,
    State,
    Text,
    TodoState,
    TodoTask,
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
    TranscriptAgent,
    TranscriptCall,
    TranscriptPiece,
    TranscriptRun,
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


def of(path: str, fact) -> State:
    return State(fact.KEY, fact.value, agent=path)


def agent_of(*moments) -> TranscriptAgent:
    """The agent `Explore` after these events, each at its second."""
    return fold(timed(*moments)).agents["Explore"]


def test_a_state_is_of_the_agent_that_published_it():
    """The list of a subagent is its own: it once took the place of the root's, on the screen too."""
    mine, its = TodoState([TodoTask("mine", "pending")]), TodoState([TodoTask("its", "pending")])
    state = fold([mine.as_state(), AgentStarted("Explore", "Explore"), of("Explore", its), of("Explore", RetryState())])
    assert state.state == {"todo": mine.value}
    assert state.agents["Explore"].state == {"todo": its.value, "retry": {}}


def test_a_subagent_of_another_program_leaves_the_roots_list_alone():
    """Claude's subagents write lists of their own, in its stream as they do here."""
    root, sub = '"parent_tool_use_id":null', '"parent_tool_use_id":"t1"'
    write = '{"type":"tool_use","id":"%s","name":"TodoWrite","input":{"todos":[{"content":"%s","status":"pending"}]}}'
    task = '{"type":"tool_use","id":"t1","name":"Task","input":{"description":"d","subagent_type":"Explore"}}'
    line = '{"type":"assistant",%s,"session_id":"s","message":{"id":"%s","role":"assistant","content":[%s]}}\n'
    said = [(root, "m1", write % ("w1", "mine")), (root, "m2", task), (sub, "m3", write % ("w2", "its"))]
    stream = EventStream(get_provider("claude").source())
    state = fold(stream.feed("".join(line % each for each in said).encode()) + stream.end())
    assert [task.text for task in TodoState.among(state.state).tasks] == ["mine"]
    (agent,) = state.agents.values()
    assert [task.text for task in TodoState.among(agent.state).tasks] == ["its"]


def test_a_state_of_an_agent_that_was_never_announced_is_dropped():
    """However many paths there are, the state does not grow with them."""
    state = fold([of(f"A-{number}", AgentState("running")) for number in range(100)])
    assert state == Snapshot()


def test_an_agent_runs_as_long_as_its_runs():
    """It is idle between them, and when it began stays when it began."""
    transcript = Transcript()
    seen = []
    for event in timed(
        (100, AgentStarted("Explore", "Explore", "look", call="c1")),
        (100, of("Explore", AgentState("running", "m1"))),
        (101, RunStarted(agent="Explore")),
        (111, RunEnded(agent="Explore")),
        (111, of("Explore", AgentState("idle", "m1", unread=1))),
        (200, RunStarted(agent="Explore")),
        (200, of("Explore", AgentState("running", "m2"))),
        (205, RunEnded(is_error=True, agent="Explore")),
        (205, of("Explore", AgentState("aborted", "m2", "too many turns"))),
    ):
        transcript.apply(event)
        agent = transcript.now.agents["Explore"]
        seen.append((agent.running, agent.standing))
    runs, idle, failed, aborted = (True, "running"), (False, "idle"), (False, "failed"), (False, "aborted")
    assert seen == [runs, runs, runs, (False, "done"), idle, runs, runs, failed, aborted]
    assert (agent.started, agent.ended, agent.call) == (100.0, 205.0, "c1")
    first = TranscriptRun(3, 101.0, 4, 111.0, then="idle")
    assert agent.runs == [first, TranscriptRun(6, 200.0, 8, 205.0, True, "aborted")]
    assert agent.worked(999.0) == 15.0
    assert agent.fact == AgentState("aborted", "m2", "too many turns")
    assert not transcript.now.running


def test_what_an_agent_publishes_about_itself_is_enough():
    """Whether it is running is known without any event of a run, and in any order with them."""
    began = (100, AgentStarted("Explore"))
    assert not agent_of(began, (101, of("Explore", AgentState("parked")))).running
    again = agent_of(began, (101, of("Explore", AgentState("idle"))), (102, of("Explore", AgentState("running"))))
    assert (again.running, again.ended) == (True, 0.0)
    early = agent_of(
        began,
        (100, RunStarted(agent="Explore")),
        (101, of("Explore", AgentState("idle"))),
        (102, RunEnded(agent="Explore")),
    )
    assert early.runs == [TranscriptRun(2, 100.0, 3, 101.0, then="idle")]


@pytest.mark.parametrize(
    ("fact", "standing", "then"),
    [
        (AgentState("parked", workplace="worktree"), "done", "ended"),
        (AgentState("parked", workplace="worktree", failed=True), "failed", "ended"),
        (AgentState("parked", workplace="worktree", reason="the session ended"), "parked", "parked"),
        (AgentState("parked"), "parked", "parked"),
        (AgentState("parked", workplace="worktree", stopped=True), "stopped", "stopped"),
    ],
)
def test_an_agent_that_worked_apart_is_done(fact: AgentState, standing: str, then: str):
    """Its copy is gone, so it takes no prompt: it is not parked, unless it was cut off."""
    agent = agent_of((100, AgentStarted("Explore")), (100, RunStarted(agent="Explore")), (105, of("Explore", fact)))
    assert (agent.standing, agent.runs[-1].then) == (standing, then)


def test_an_agent_that_the_user_stopped_has_not_failed():
    """Though its run has."""
    began = (100, AgentStarted("Explore")), (100, RunStarted(agent="Explore"))
    ended = (104, RunEnded(agent="Explore", stop_reason="cancelled", is_error=True))
    agent = agent_of(*began, ended, (105, of("Explore", AgentState("idle", stopped=True))))
    assert (agent.standing, agent.is_error, agent.runs[-1].then) == ("idle", False, "stopped")


def test_a_subagent_that_publishes_nothing_about_itself_ends_with_its_end():
    """As before: runs under its path change nothing."""
    began, ran = (100, AgentStarted("Explore")), (101, RunStarted(agent="Explore"))
    ended = (102, RunEnded(agent="Explore"))
    assert agent_of(began, ran, ended).running
    agent = agent_of(began, ran, ended, (103, AgentEnded("Explore", True)))
    assert (agent.standing, agent.ended) == ("failed", 103.0)
    assert agent_of(began, (150, AgentStarted("Explore"))).started == 150.0


def test_an_agent_that_is_revived_is_the_one_it_was():
    """Announced again after a resume, it has its history, its state and its place."""
    agent = agent_of(
        (100, AgentStarted("Explore", "Explore", "look", call="c1")),
        (100, of("Explore", AgentState("running"))),
        (100, RunStarted(agent="Explore")),
        (105, of("Explore", AgentState("parked"))),
        (900, AgentStarted("Explore", "Explore", "look again", "m")),
    )
    assert (agent.started, agent.call, agent.task, agent.standing) == (100.0, "c1", "look again", "parked")
    assert agent.worked(901.0) == 5.0


def test_the_model_of_an_agent_is_known_from_wherever_it_was_published():
    """By its own state first."""
    assert agent_of((1, AgentStarted("Explore", model="a"))).model == "a"
    assert agent_of((1, AgentStarted("Explore", model="a")), (2, of("Explore", ModelState("b")))).model == "b"
    assert agent_of((1, AgentStarted("Explore", model="a")), (2, of("Explore", AgentState("idle", "c")))).model == "c"
    assert agent_of((1, AgentStarted("Explore"))).model == ""


def test_a_snapshot_keeps_the_agents_of_its_moment():
    """States and runs that come later are not in a copy; a fold from the copy is the whole fold."""
    events: list[Event] = timed(
        (1, AgentStarted("Explore")),
        (2, of("Explore", AgentState("running"))),
        (3, RunStarted(agent="Explore")),
        (4, of("Explore", QueueState([]))),
        (5, RunEnded(agent="Explore")),
        (6, of("Explore", AgentState("idle"))),
    )
    transcript = Transcript()
    for position, event in enumerate(events):
        copied = msgspec.json.encode(transcript.snapshot())
        held = transcript.snapshot()
        assert fold(events[position:], msgspec.json.decode(copied, type=Snapshot)) == fold(events)
        transcript.apply(event)
        assert msgspec.json.encode(held) == copied


def test_a_host_that_is_gone_leaves_its_agents_parked():
    """What waited for one of them is over, too; one that was aborted stays that."""
    events = [
        AgentStarted("Explore"),
        of("Explore", AgentState("running", "m")),
        RunStarted(agent="Explore"),
        of("Explore", QueueState([])),
        AgentStarted("Review"),
        of("Review", AgentState("aborted", reason="why")),
        AgentStarted("other-1"),
    ]
    transcript = Transcript(fold([stamp(event, seq, 5.0) for seq, event in enumerate(events, 1)]))
    transcript.lose_host()
    explore, review, other = transcript.now.agents.values()
    assert explore.fact == AgentState("parked", "m", "the session ended while it was running")
    assert (explore.running, set(explore.state), explore.runs[-1].then) == (False, {"agent"}, "parked")
    assert review.fact == AgentState("aborted", reason="why")
    assert other.fact is None
