"""An actor: whatever it publishes has its path and source, no secret, and an end."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sightline.actors import Actor
from sightline.actors._bounds import NAME_AT_MOST
from sightline.events import (
    KINDS,
    AgentEnded,
    AgentStarted,
    Event,
    MailReader,
    Reasoning,
    Request,
    RequestResolved,
    RunEnded,
    State,
    Text,
    ToolArgs,
    ToolOutput,
    ToolResult,
    ToolUse,
    TurnStarted,
    Unknown,
    encode_event,
)
from sightline.host import HostSession
from sightline.journal import SessionReader, Store
from sightline.secrets import Secrets
from tests.host.support import a_session

KEY = "k3y-that-stays-here"
MASK = "[secret SOME_API_KEY]"
ROOT = Path(__file__).parents[2]


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[HostSession]:
    async with a_session(Store(tmp_path)) as (made, _):
        yield made


@pytest.fixture
def actor(session: HostSession) -> Actor:
    return session.actor("claude", Secrets({"SOME_API_KEY": KEY}), "Explore-1")


def published(session: HostSession) -> list[Event]:
    session.flush()
    return list(SessionReader(session.folder).events())


OWN_IDS = {"id", "call", "job", "agent", "source"}  # made by the session


def with_key(kind: type[Any]) -> Event:
    """An event of this kind with the secret in every field of text or data, but for ids of ours."""
    made: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        readers = [MailReader(f"x {KEY}", "failed", f"{KEY} y")]
        values = {str: f"x {KEY} y", list[str]: [KEY], Any: {KEY: [f"a {KEY} b"]}, list[MailReader]: readers}
        value = values.get(field.type)
        if value is not None and field.name not in OWN_IDS:
            made[field.name] = value
        elif field.required:
            made[field.name] = {"verdict": "refused", "what": "question", "now": "read"}.get(
                field.name, 1 if field.type is int else "i"
            )
    event: Event = kind(**made)
    return event


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
async def test_no_secret_is_published_whatever_the_event(session: HostSession, actor: Actor, kind: type[Any]) -> None:
    """In any field but the ids the session made: names and paths, in data as in text."""
    actor.publish(with_key(kind))
    actor.close()
    sent = b"".join(map(encode_event, published(session)))
    assert KEY.encode() not in sent
    assert (MASK.encode() in sent) == (kind is not TurnStarted)


async def test_no_secret_is_in_the_path_of_an_agent(session: HostSession, actor: Actor) -> None:
    """Nor in the events under it, whether it was announced or not."""
    child = actor.child(KEY, model=KEY)
    child.publish(Text(".", 1))
    actor.end_child(child)
    session.actor("claude", actor.secrets, f"never/{KEY}-1").publish(Text(".", 2))
    events = published(session)
    assert KEY.encode() not in b"".join(map(encode_event, events))
    assert [event.agent for event in events] == ["Explore-1", child.path, "Explore-1", f"never/{MASK}-1"]
    assert KEY not in "".join(session.agents)


async def test_names_are_cut(session: HostSession, actor: Actor) -> None:
    """Shown and stored alike: a record has a limit, and a name is no text."""
    long = "n" * 600_000
    child = actor.child(long, model=long)
    child.child(long)
    actor.publish(ToolArgs("c", long, "{}", long))
    actor.publish(ToolUse("c", long, long, native_id=long))
    actor.publish(RunEnded(stop_reason=long))
    actor.publish(Unknown("x", 1, long))
    events = published(session)
    lengths = {
        (type(event), name): len(value)
        for event in events
        for name in ("name", "native_name", "model", "stop_reason")
        if (value := getattr(event, name, ""))
    }
    assert set(lengths.values()) == {NAME_AT_MOST}
    assert [type(event) for event in events] == [AgentStarted, AgentStarted, ToolArgs, ToolUse, RunEnded, Unknown]
    assert max(len(encode_event(event)) for event in events) < 20_000


async def test_two_agents_with_a_long_path_are_two(session: HostSession, actor: Actor) -> None:
    """A path is cut before its number."""
    for _ in range(40):
        actor = actor.child("n" * 300)
    first, second = actor.child("a"), actor.child("a")
    assert first.path != second.path
    assert len(first.path) <= 4096


async def test_path_and_source_are_the_actors(session: HostSession, actor: Actor) -> None:
    """Whatever the event came with."""
    actor.publish(Text("a", 1, agent="another", source="elsewhere"))
    actor.observed_by("person").publish(ToolUse("c", "Bash"))
    actor.publish(ToolResult("c"))
    assert [(event.agent, event.source) for event in published(session)] == [
        ("Explore-1", "claude"),
        ("Explore-1", "person"),
        ("Explore-1", "claude"),
    ]


async def test_words_in_pieces_are_masked_as_if_they_were_whole(session: HostSession, actor: Actor) -> None:
    """What may begin a secret waits for the next piece; another block, or anything else, ends the wait."""
    for piece in ("It is k3y-that", "-stays", "-here, and k3y"):
        actor.publish(Text(piece, 1))
    actor.publish(Reasoning("hm", 2))
    words = [event for event in published(session) if isinstance(event, Text)]
    assert "".join(event.text for event in words) == f"It is {MASK}, and k3y"
    assert {event.block for event in words} == {1}


async def test_arguments_wait_for_their_call_only(session: HostSession, actor: Actor) -> None:
    """Two calls that are written in turns."""
    for call, piece in (("1", "a k3y-that"), ("2", "b k3y"), ("1", "-stays-here."), ("2", "!")):
        actor.publish(ToolArgs(call, "Bash", piece))
    actor.publish(ToolUse("1", "Bash"))
    written: dict[str, str] = {}
    for event in published(session):
        if isinstance(event, ToolArgs):
            written[event.id] = written.get(event.id, "") + event.delta
    assert written == {"1": f"a {MASK}.", "2": "b k3y!"}


async def test_a_call_prints_into_its_artifact_and_nothing_follows_its_result(
    session: HostSession, actor: Actor
) -> None:
    """What is read back later is what was shown."""
    write = actor.output("k3m9qz-c1")
    actor.publish(ToolUse("k3m9qz-c1", "Bash"))
    write(f"one {KEY}\n", "stdout")
    actor.publish(ToolOutput("k3m9qz-c1", "two\n", "stderr"))
    actor.publish(ToolResult("k3m9qz-c1"))
    write("three\n", "stdout")
    events = published(session)
    shown = [(event.stream, event.content, event.masked) for event in events if isinstance(event, ToolOutput)]
    assert shown == [("stdout", f"one {MASK}\n", True), ("stderr", "two\n", False)]
    assert isinstance(events[-1], ToolResult)
    assert session.read_artifact("k3m9qz-c1").read(0, 100) == f"one {KEY}\ntwo\n".encode()


@pytest.mark.parametrize(
    ("content", "details", "masked"),
    [(f"a {KEY}", None, True), ("a", {"diff": f"+{KEY}"}, True), (f"a {MASK}", {"diff": "+a"}, False)],
)
async def test_a_result_says_whether_something_was_masked(
    session: HostSession, actor: Actor, content: str, details: Any, masked: bool
) -> None:
    """As a fact: what a tool prints that looks like a mask is none."""
    actor.publish(ToolResult("c", content, details))
    (result,) = published(session)
    assert isinstance(result, ToolResult)
    assert result.masked == masked


async def test_what_looks_like_a_mask_is_not_stored_twice(session: HostSession, actor: Actor) -> None:
    """Only what was masked is stored as it was shown; anything else is read back from the artifact."""
    actor.output("k3m9qz-c1")(f"{MASK} and {KEY[:3]}\n", "stdout")
    actor.publish(ToolResult("k3m9qz-c1"))
    (output, _) = published(session)
    assert isinstance(output, ToolOutput)
    assert (output.content, output.masked) == (f"{MASK} and {KEY[:3]}\n", False)
    assert MASK.encode() not in (session.folder / "journal.jsonl").read_bytes()


async def test_close_ends_everything_once(session: HostSession, actor: Actor) -> None:
    """Words, questions, calls and subagents at any depth; a second time there is nothing to end."""
    child = actor.child("Read", task="look")
    grandchild = child.child("Deep")
    grandchild.publish(ToolUse("g", "Bash"))
    child.publish(Request("r", "question", "which?"))
    actor.publish(ToolArgs("c", "Bash", "{"))
    actor.publish(Text("k3y", 1))
    actor.close()
    actor.close()
    events = published(session)
    assert [event.path for event in events if isinstance(event, AgentStarted)] == [
        "Explore-1/Read-1",
        "Explore-1/Read-1/Deep-1",
    ]
    assert [event.path for event in events if isinstance(event, AgentEnded)] == [
        "Explore-1/Read-1/Deep-1",
        "Explore-1/Read-1",
    ]
    assert sorted((event.id, event.agent) for event in events if isinstance(event, ToolResult)) == [
        ("c", "Explore-1"),
        ("g", "Explore-1/Read-1/Deep-1"),
    ]
    assert [event.id for event in events if isinstance(event, RequestResolved)] == ["r"]
    assert [event.text for event in events if isinstance(event, Text)] == ["k3y"]


async def test_what_ended_is_not_ended_again(session: HostSession, actor: Actor) -> None:
    """A call with its result, a question with its answer, a subagent that is done."""
    child = actor.child("Read")
    actor.end_child(child)
    actor.publish(ToolUse("c", "Bash"))
    actor.publish(ToolResult("c"))
    actor.publish(Request("r", "question"))
    actor.publish(RequestResolved("r", "yes"))
    before = len(published(session))
    actor.close()
    assert len(published(session)) == before


@pytest.mark.parametrize("answered", [True, False])
async def test_a_call_of_a_subagent_that_ended_has_one_end(session: HostSession, actor: Actor, answered: bool) -> None:
    """Its result may come after its agent's end; where none comes, the close of the run is its end."""
    child = actor.child("Read")
    child.publish(ToolUse("c", "Bash"))
    actor.end_child(child)
    if answered:
        child.publish(ToolResult("c", "done"))
    actor.close()
    actor.close()
    events = published(session)
    assert [(event.id, event.is_error) for event in events if isinstance(event, ToolResult)] == [("c", not answered)]
    assert len([event for event in events if isinstance(event, AgentEnded)]) == 1


async def test_ids_are_new_in_the_session(session: HostSession, actor: Actor) -> None:
    """Blocks, requests, calls and subagents of two actors have nothing in common."""
    other = session.actor("codex")
    made = [(each.new_call(), each.new_block(), each.new_request()) for each in (actor, other, actor)]
    assert all(len(set(ids)) == 3 for ids in zip(*made, strict=True))
    assert [other.child("A").path, other.child("A").path] == ["A-1", "A-2"]


async def test_what_is_too_long_or_too_deep_is_published_all_the_same(session: HostSession, actor: Actor) -> None:
    """Its beginning, or a word about it: a record has a limit."""
    deep: Any = []
    for _ in range(3000):
        deep = [deep]
    actor.publish(ToolResult("c", "x" * 1_000_000, {"long": "y" * 1_000_000}))
    actor.publish(State("todo", deep))
    result, state = published(session)
    assert isinstance(result, ToolResult)
    assert isinstance(state, State)
    assert len(encode_event(result)) < 512 * 1024
    assert "left_out" in state.value


async def test_a_name_that_cannot_be_encoded_loses_no_result(session: HostSession) -> None:
    """Wherever it stands in what a tool says; a sequence in it is removed there, too."""
    actor = session.actor("claude", Secrets({}))
    odd, names = "a\udcffb", ("c\x1b[2Jd\udcff",)
    actor.publish(ToolResult("c", odd, {"names": names, odd: [{"deep": (names,)}]}))
    (result,) = published(session)
    assert isinstance(result, ToolResult)
    assert result.content == "a\ufffdb"
    assert result.details == {"names": ["cd\ufffd"], "a\ufffdb": [{"deep": [["cd\ufffd"]]}]}


ALLOWED = {"actors/_actor.py", "host/session/_session.py"}
_appends = re.compile(r"\b_?(?:session|log)\.append\(|\bself\.append\((?:Error|Notice|event)")


def test_only_actors_publish() -> None:
    """No other part of the program appends to a session."""
    source = ROOT / "src" / "sightline"
    found = {
        str(path.relative_to(source))
        for path in source.rglob("*.py")
        if "testing" not in path.parts and _appends.search(path.read_text())
    }
    assert found == ALLOWED
