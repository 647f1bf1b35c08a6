"""Somebody else's agent in a session of ours: its events as the session's own, prompts one after the other."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sightline.conversation import text_of
from sightline.events import (
    AgentEnded,
    AgentStarted,
    Error,
    Event,
    Notice,
    Request,
    RequestResolved,
    RunEnded,
    State,
    Text,
    ToolArgs,
    ToolOutput,
    ToolResult,
    ToolUse,
    User,
)
from sightline.exceptions import UserMistake
from sightline.host import (
    Abort,
    AnswerRequest,
    AskAside,
    Attach,
    CancelCall,
    Compact,
    HostSession,
    MoveTo,
    Outline,
    Prompt,
    SetApproval,
    SetModel,
    Shell,
    Subscription,
    Unqueue,
)
from sightline.host.provider._events import Translation
from sightline.host.provider._worker import open_provider
from sightline.host.session._attachments import SessionShelf
from sightline.journal import SessionReader, SessionTree, Store
from sightline.secrets import Secrets
from sightline.settings import StartOptions
from tests.providers.fake_app_server import install, path_with
from tests.providers.support import lines

from .support import a_session, until

DONE = {"method": "turn/completed", "params": {"threadId": "T1", "turn": {"id": "U1", "status": "completed"}}}
ASKING = {
    "method": "item/commandExecution/requestApproval",
    "id": 7,
    "params": {"threadId": "T1", "itemId": "c1", "command": "rm x", "cwd": "/"},
}


class Desk:
    def __init__(self, session: HostSession) -> None:
        self.session = session
        self.events: list[Event] = []

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    async def done(self) -> None:
        worker = self.session.worker
        await until(lambda: worker is not None and not worker.busy, "the end of the work")
        await until(lambda: self.events and self.events[-1].seq == self.session.seq, "the last event")


@asynccontextmanager
async def desk(store: Store, resume: str = "", **options: Any) -> AsyncIterator[Desk]:
    writer, tree = store.reopen(resume) if resume else (store.create(cwd="/"), None)
    tree = tree or SessionTree.load(writer.folder)
    session = HostSession(writer, store.index, last_seq=tree.last_seq)
    made = Desk(session)
    listening = asyncio.create_task(_listen(session.subscribe(session.seq), made.events))
    session.worker = await open_provider(
        session, StartOptions(**{"provider": "codex", **options}), tree, SessionShelf(store, session.id)
    )
    try:
        yield made
    finally:
        await session.stop()
        await listening
        writer.close()


async def _listen(frames: Subscription, events: list[Event]) -> None:
    async for frame in frames:
        if isinstance(frame, list):
            events += frame


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the program that stands for codex is; a test says what it says."""
    monkeypatch.setenv("PATH", path_with(tmp_path / "bin"))
    return tmp_path / "bin"


def said(text: str, item: str = "m") -> dict[str, Any]:
    return {"method": "item/agentMessage/delta", "params": {"threadId": "T1", "itemId": item, "delta": text}}


def command(kind: str, **fields: Any) -> dict[str, Any]:
    item = {"type": "commandExecution", "id": "c1", "command": "make", "status": "inProgress", **fields}
    return {"method": f"item/{kind}", "params": {"threadId": "T1", "item": item}}


def printed(text: str) -> dict[str, Any]:
    return {"method": "item/commandExecution/outputDelta", "params": {"threadId": "T1", "itemId": "c1", "delta": text}}


def asked_of(program: Path) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in (program / "asked.jsonl").read_bytes().splitlines()]


async def test_two_prompts_share_a_conversation_and_no_ids(store: Store, program: Path) -> None:
    """Blocks and calls of the second run are not those of the first, though the provider counts anew."""
    turn = lines(command("started"), printed("out\n"), command("completed", exitCode=0, aggregatedOutput="out\n"))
    install(program, turn + lines(said("One."), DONE), turn + lines(said("Two.", "n"), DONE))
    async with desk(store) as it:
        for text in ("First.", "Second."):
            assert (await it.session.submit(Prompt(text))).ok
            await it.done()
        assert [event.text for event in it.of(User)] == ["First.", "Second."]
        assert len({event.block for event in it.of(Text)}) == 2
        assert len({use.id for use in it.of(ToolUse)}) == 2
        assert [result.id for result in it.of(ToolResult)] == [use.id for use in it.of(ToolUse)]
        kept = list(SessionReader(it.session.folder).events())
    assert [event.content for event in kept if isinstance(event, ToolOutput)] == ["out\n", "out\n"]


@pytest.mark.parametrize("command", [Prompt("Go.", agent="Other"), Abort(agent="Other")])
async def test_its_own_subagents_are_not_addressed(store: Store, program: Path, command: Any) -> None:
    """Words for one of them must not reach the agent of the session in its place."""
    async with desk(store) as it:
        reply = await it.session.submit(command)
        assert not reply.ok
        assert "subagents of its own" in reply.error
        assert not it.of(User)


async def test_a_session_that_is_resumed_goes_on_with_their_conversation(store: Store, program: Path) -> None:
    """Their id of it is in our journal."""
    install(program, lines(said("One."), DONE))
    async with desk(store) as first:
        await first.session.submit(Prompt("First."))
        await first.done()
        session = first.session.id
    async with desk(store, resume=session) as second:
        await second.session.submit(Prompt("Second."))
        await second.done()
    resumed = [asked["params"] for asked in asked_of(program) if asked.get("method") == "thread/resume"]
    assert [params["threadId"] for params in resumed] == ["T1"]
    store.catalogue.catch_up()
    assert [record.id for record in store.catalogue.conversations(None, 10)] == [session]


async def test_where_there_is_no_channel_it_is_run_per_prompt_and_said_once(store: Store, program: Path) -> None:
    """An old version still works; the person is told what is missing, the first time."""
    install(program)
    (program / "old").touch()
    async with desk(store) as it:
        for text in ("First.", "Second."):
            await it.session.submit(Prompt(text))
            await it.done()
        assert [event.text for event in it.of(Text)] == ["By exec.", "By exec."]
        (notice,) = [notice for notice in it.of(Notice) if "once per prompt" in notice.text]
        assert notice.hint


def stops_agents(it: Desk) -> list[bool]:
    return [state.value for state in it.of(State) if state.key == "stops_agents"]


@pytest.mark.parametrize(
    ("provider", "can"), [("claude", True), ("codex", True), ("opencode", True), ("gemini", False)]
)
async def test_whether_one_agent_can_be_stopped_is_a_fact_of_the_session(
    store: Store, program: Path, provider: str, can: bool
) -> None:
    """Known from the beginning, before anything is started."""
    async with desk(store, provider=provider) as it:
        await it.done()
        assert stops_agents(it) == [can]


async def test_without_a_channel_no_agent_can_be_stopped(store: Store, program: Path) -> None:
    """What was true before it was given up is corrected once."""
    install(program)
    (program / "old").touch()
    async with desk(store) as it:
        for text in ("First.", "Second."):
            await it.session.submit(Prompt(text))
            await it.done()
        assert stops_agents(it) == [True, False]


async def test_a_crash_ends_the_run_and_leaves_nothing_open(store: Store, program: Path) -> None:
    """One error, an end for the call, the end of the run, in this order."""
    install(program, lines(command("started"), ASKING) + b"CRASH\n")
    async with desk(store) as it:
        await it.session.submit(Prompt("Go."))
        await it.done()
        kinds = [type(event) for event in it.events if not isinstance(event, State)]
        assert kinds.count(Error) == 1
        assert kinds[-1] is RunEnded
        assert {RequestResolved, ToolResult} <= set(kinds[: kinds.index(RunEnded)])


async def test_a_request_is_answered_once_under_our_name(store: Store, program: Path) -> None:
    """The answer goes to the provider in its own words; a second one is too late."""
    install(program, lines(command("started"), ASKING))
    async with desk(store) as it:
        await it.session.submit(Prompt("Go."))
        await until(lambda: it.of(Request), "the question")
        (request,) = it.of(Request)
        assert request.details["call"] == it.of(ToolUse)[0].id
        assert (await it.session.submit(AnswerRequest(request.id, {"choice": "this session"}))).ok
        assert not (await it.session.submit(AnswerRequest(request.id, "no"))).ok
        await it.done()
        assert [resolved.id for resolved in it.of(RequestResolved)] == [request.id]
    answers = [asked["result"] for asked in asked_of(program) if "result" in asked]
    assert answers == [{"decision": "acceptForSession"}]


async def test_stopping_gives_back_what_waits(store: Store, program: Path) -> None:
    """What was queued is in the answer and not sent; the run ends as cancelled."""
    install(program, lines(said("Working.")))
    async with desk(store) as it:
        await it.session.submit(Prompt("Go."))
        await until(lambda: it.of(Text), "its words")
        await it.session.submit(Prompt("Later.", how="follow_up"))
        await it.session.submit(Prompt("Much later.", how="follow_up"))
        reply = await it.session.submit(Unqueue())
        assert reply.data["queued"] == ["Later.", "Much later."]
        await it.session.submit(Prompt("Again.", how="follow_up"))
        reply = await it.session.submit(Abort())
        assert reply.data["queued"] == ["Again."]
        await it.done()
        assert it.of(RunEnded)[-1].stop_reason == "cancelled"
        assert [event.text for event in it.of(User)] == ["Go."]
        queue = [state.value for state in it.of(State) if state.key == "queue"]
        assert [len(value) for value in queue] == [1, 2, 0, 1, 0]


async def test_what_is_said_after_a_stop_is_worked_on(store: Store, program: Path) -> None:
    """Also when it is said before the run that was stopped has ended."""
    install(program, lines(said("Working.")), lines(said("New.", "n"), DONE))
    async with desk(store) as it:
        await it.session.submit(Prompt("Go."))
        await until(lambda: it.of(Text), "its words")
        await it.session.submit(Abort())
        assert it.session.worker is not None
        assert it.session.worker.busy
        assert (await it.session.submit(Prompt("Something else."))).ok
        await it.done()
        assert [event.text for event in it.of(User)] == ["Go.", "Something else."]
        assert [event.text for event in it.of(Text)] == ["Working.", "New."]


def levels(it: Desk) -> list[str]:
    return [event.value["level"] for event in it.of(State) if event.key == "approval"]


async def test_a_level_holds_from_the_next_prompt_on(store: Store, program: Path) -> None:
    """The conversation that is open is opened anew with it; while it works, the status stays what is true."""
    install(program, lines(said("One."), ASKING), lines(said("Two."), DONE))
    async with desk(store) as it:
        reply = await it.session.submit(SetApproval())
        assert reply.data == {"level": "auto", "levels": ["auto", "plan", "edit", "full"], "rules": [], "next": False}
        await it.session.submit(Prompt("Go."))
        await until(lambda: it.of(Request), "the question")
        reply = await it.session.submit(SetApproval(level="plan"))
        assert (reply.data["level"], reply.data["next"]) == ("plan", True)
        assert set(levels(it)) == {"auto"}
        (program / "turn-1.jsonl").write_bytes(lines(said("Two."), DONE))
        await it.session.submit(AnswerRequest(it.of(Request)[0].id, "once"))
        await it.done()
        await until(lambda: levels(it)[-1] == "plan", "the level that holds now")
        await it.session.submit(Prompt("Go on."))
        await it.done()
        assert levels(it)[-1] == "plan"
        assert "".join(event.text for event in it.of(Text)) == "One.Two."
    (resumed,) = [asked["params"] for asked in asked_of(program) if asked.get("method") == "thread/resume"]
    assert (resumed["sandbox"], resumed["approvalPolicy"]) == ("read-only", "never")
    async with desk(store, resume=it.session.id) as it:
        await until(lambda: levels(it), "the level")
        assert levels(it) == ["plan"]
        await until(lambda: it.of(Notice), "the notice")
        assert (await it.session.submit(SetApproval(level="full"))).ok
        await until(lambda: levels(it)[-1] == "full", "the level")
    async with desk(store, resume=it.session.id) as it:
        await until(lambda: it.of(Notice), "the notice")
        assert levels(it) == ["auto"]
        assert "it was full when you left this session" in it.of(Notice)[0].text


@pytest.mark.parametrize(("named", "level"), [(True, "full"), (False, "plan")])
async def test_a_level_that_came_along_does_not_raise_that_of_a_session(
    store: Store, program: Path, named: bool, level: str
) -> None:
    """Whoever names one for it means it; who was started with one and goes from session to session does not."""
    async with desk(store) as it:
        assert (await it.session.submit(SetApproval(level="plan"))).ok
    async with desk(store, resume=it.session.id, approval="full", approval_named=named) as it:
        await until(lambda: levels(it), "the level")
        assert levels(it) == [level]


async def test_what_a_provider_has_not_is_refused(store: Store, program: Path) -> None:
    """A level it does not know, and a rule to forget: it keeps its own."""
    async with desk(store) as it:
        refused = await it.session.submit(SetApproval(level="yolo"))
        assert (refused.ok, refused.error) == (False, "no approval level yolo for Codex")
        refused = await it.session.submit(SetApproval(forget="exec(ls)"))
        assert (refused.ok, refused.error) == (False, "Codex has its own rules")


async def test_secrets_that_come_in_pieces_are_not_shown(
    store: Store, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in words nor in what a command prints; all the rest of both is there, block by block."""
    key = "k3y-that-nobody-sees"
    monkeypatch.setenv("SOME_API_KEY", key)
    install(
        program,
        lines(
            *(said(piece) for piece in ("It is k", "3y-that", "-nobody-", "sees, k3")),
            *(said(piece, "n") for piece in ("k", "3y no.")),
            command("started", command="env"),
            *(printed(piece) for piece in ("K=k3y-th", "at-nobody-sees\nk3y")),
            command("completed", command="env", exitCode=0, aggregatedOutput="", status="completed"),
            DONE,
        ),
    )
    async with desk(store) as it:
        await it.session.submit(Prompt("Go."))
        await it.done()
    blocks: dict[int, str] = {}
    for event in it.of(Text):
        blocks[event.block] = blocks.get(event.block, "") + event.text
    assert list(blocks.values()) == ["It is [secret SOME_API_KEY], k3", "k3y no."]
    assert "".join(event.content for event in it.of(ToolOutput)) == "K=[secret SOME_API_KEY]\nk3y"
    assert [event for event in SessionReader(it.session.folder).events() if isinstance(event, ToolOutput)] == it.of(
        ToolOutput
    )


async def test_arguments_in_pieces_are_masked_and_none_of_them_is_lost(store: Store) -> None:
    """The first piece of a call says that there is one, even when nothing of it can be shown yet."""
    key = "k3y-that-nobody-sees"
    async with a_session(store) as (session, writer):
        told = Translation(session.actor("claude", Secrets({"SOME_API_KEY": key})), "", lambda event: None)
        told.publish(
            [ToolArgs("1", "Bash", ""), ToolArgs("1", "Bash", "k3y-that"), ToolArgs("1", "Bash", "-nobody-sees k")]
        )
        told.publish([ToolUse("1", "Bash")])
        session.flush()
    events = [event for event in SessionReader(writer.folder).events() if isinstance(event, ToolArgs)]
    assert [event.delta for event in events] == ["", "", "[secret SOME_API_KEY] ", "k"]


async def test_arguments_of_two_calls_that_come_in_turns_are_masked(store: Store) -> None:
    """What one call may still say is not shown because another says something."""
    key = "k3y-that-nobody-sees"
    async with a_session(store) as (session, writer):
        told = Translation(session.actor("claude", Secrets({"SOME_API_KEY": key})), "", lambda event: None)
        told.publish([ToolArgs("1", "Bash", "a k3y-that"), ToolArgs("2", "Bash", "b ")])
        told.publish([ToolArgs("1", "Bash", "-nobody-sees."), ToolArgs("2", "Bash", "k3y"), ToolUse("1", "Bash")])
        told.close()
        session.flush()
    said: dict[str, str] = {}
    for event in SessionReader(writer.folder).events():
        if isinstance(event, ToolArgs):
            said[event.id] = said.get(event.id, "") + event.delta
    assert list(said.values()) == ["a [secret SOME_API_KEY].", "b k3y"]


async def test_secrets_of_the_environment_are_not_shown_nor_kept(
    store: Store, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In what the provider says and does, in what the person runs, and in what the provider is told of that."""
    key = "k3y-that-nobody-sees"
    monkeypatch.setenv("SOME_API_KEY", key)
    ask = {**ASKING, "params": {**ASKING["params"], "command": f"curl {key}"}}
    install(program, lines(said(f"It is {key}."), command("started", command=f"echo {key}"), printed(f"{key}\n"), ask))
    async with desk(store) as it:
        shell = await it.session.submit(Shell("echo $SOME_API_KEY"))
        await until(lambda: [result for result in it.of(ToolResult) if result.id == shell.id], "the command")
        await it.session.submit(Prompt(f"Use {key}."))
        await until(lambda: it.of(Request), "the question")
        assert (await it.session.submit(AnswerRequest(it.of(Request)[0].id, "once"))).ok
        await it.done()
        journal = (it.session.folder / "journal.jsonl").read_text()
    told = msgspec.json.encode(it.events).decode()
    assert key not in told + journal
    assert told.count("[secret SOME_API_KEY]") >= 5
    (params,) = [asked["params"] for asked in asked_of(program) if asked.get("method") == "turn/start"]
    prompt = params["input"][0]["text"]
    assert prompt.endswith(f"Use {key}.")  # what the person types reaches it as it is
    assert key not in prompt.removesuffix(f"Use {key}.")


async def test_a_host_that_was_killed_left_a_run_open(store: Store, program: Path) -> None:
    """Going on with the session ends what was going on, and says why."""
    install(program, lines(said("Half"), command("started")))
    async with a_session(store) as (session, writer):
        tree = SessionTree.load(writer.folder)
        worker = await open_provider(session, StartOptions(provider="codex"), tree, SessionShelf(store, session.id))
        await worker.submit(Prompt("Go."))
        await until(lambda: session.calls_made, "the call")
        session.flush()
        journal = (writer.folder / "journal.jsonl").read_bytes()
        await worker.stop()
    (writer.folder / "journal.jsonl").write_bytes(journal)
    before = sum(1 for _ in store.read(session.id).events())
    async with desk(store, resume=session.id) as it:
        await it.done()
        ends = list(store.read(session.id).events())[before : -len(it.events)]
        assert [type(event) for event in ends] == [ToolResult, Error, RunEnded]
        assert {type(event) for event in it.events} == {State}
        *_, last = SessionTree.load(writer.folder).messages()
        assert last.message is not None
        assert text_of(last.message) == "Half"


@pytest.mark.parametrize(
    ("given", "said"), [({"deny": ["exec"]}, ["not used: --deny; Codex has its own rules"]), ({}, [])]
)
async def test_rules_a_provider_does_not_take_are_named(
    store: Store, program: Path, given: dict[str, Any], said: list[str]
) -> None:
    """Nobody takes for denied what is not."""
    install(program)
    async with desk(store, **given) as it:
        await it.done()
        assert [notice.text for notice in it.of(Notice)] == said


@pytest.mark.parametrize(
    "refused", [AskAside("?"), Compact(), MoveTo("e1"), CancelCall("x"), SetModel(thinking="high"), Prompt(" ")]
)
async def test_what_a_provider_cannot_do_is_refused_with_a_hint(store: Store, program: Path, refused: Any) -> None:
    """Nobody waits for something that will not be."""
    install(program)
    async with desk(store) as it:
        reply = await it.session.submit(refused)
        assert not reply.ok
        assert reply.error
        assert reply.hint


async def test_model_files_and_commands_of_the_person_reach_the_next_turn(store: Store, program: Path) -> None:
    """A model that is set, a file that is attached and a command that was run are part of the next prompt."""
    install(program, lines(DONE))
    async with desk(store) as it:
        assert (await it.session.submit(SetModel(model="m-2"))).ok
        attached = await it.session.submit(Attach("a.png", b"\x89PNG"))
        shell = await it.session.submit(Shell("echo typed"))
        await until(lambda: [result for result in it.of(ToolResult) if result.id == shell.id], "the command")
        await it.session.submit(Prompt("Look.", attachments=[attached.id]))
        await it.done()
        assert (await it.session.submit(Outline())).data["lines"]
    (params,) = [asked["params"] for asked in asked_of(program) if asked.get("method") == "turn/start"]
    text = params["input"][0]["text"]
    assert params["model"] == "m-2"
    assert "echo typed" in text
    assert "Look." in text
    assert ".png" in text.rpartition("Attached file: ")[2]


async def test_subagents_of_later_runs_have_names_of_their_own(store: Store) -> None:
    """Two runs that each have an Explore-1, with one in it, are four subagents."""
    async with a_session(store) as (session, _):
        frames = session.subscribe(0)
        for _turn in range(2):
            translation = Translation(session.actor("claude", Secrets({})), "", lambda event: None)
            inner = AgentStarted("Explore-1/Read-1", "Read", agent="Explore-1")
            translation.publish([AgentStarted("Explore-1", "Explore"), inner, Text("x", 1, agent="Explore-1/Read-1")])
            translation.close()
        session.flush()
        told = [event async for event in _first(frames)]
    started = [event.path for event in told if isinstance(event, AgentStarted)]
    assert started == ["Explore-1", "Explore-1/Read-1", "Explore-2", "Explore-2/Read-1"]
    assert [event.path for event in told if isinstance(event, AgentEnded)] == [
        "Explore-1/Read-1",
        "Explore-1",
        "Explore-2/Read-1",
        "Explore-2",
    ]


async def test_a_call_of_a_subagent_that_was_never_announced_has_an_end(store: Store) -> None:
    """A run that is resumed may go on with one that began before."""
    async with a_session(store) as (session, writer):
        translation = Translation(session.actor("claude"), "", lambda event: None)
        translation.publish([ToolUse("1", "Bash", agent="Explore-1")])
        translation.close()
        translation.close()
        session.flush()
    ends = [event for event in SessionReader(writer.folder).events() if isinstance(event, ToolResult)]
    assert [(event.agent, event.is_error) for event in ends] == [("Explore-1", True)]


async def test_a_subagent_that_was_never_announced_is_below_the_agent_it_belongs_to(store: Store) -> None:
    """Where the provider is an agent itself, nothing of it is beside it."""
    async with a_session(store) as (session, writer):
        translation = Translation(session.actor("claude").child("Other"), "", lambda event: None)
        translation.publish([Text("Words.", 1, agent="Explore-1")])
        translation.close()
        session.flush()
    told = [event.agent for event in SessionReader(writer.folder).events() if isinstance(event, Text)]
    assert told == ["Other-1/Explore-1"]


async def _first(frames: Any) -> AsyncIterator[Event]:
    async for frame in frames:
        for event in frame:
            yield event
        return


async def test_an_unknown_provider_is_a_mistake_that_names_the_others(store: Store) -> None:
    """Nothing is started."""
    async with a_session(store) as (session, writer):
        with pytest.raises(UserMistake) as mistake:
            await open_provider(
                session, StartOptions(provider="nobody"), SessionTree.load(writer.folder), SessionShelf(store, "x")
            )
    assert "codex" in mistake.value.hint


async def test_steering_does_not_split_a_sentence(store: Store) -> None:
    """It comes when the text is over, in the journal as on the screen; what a subagent says is no end of it."""
    async with a_session(store) as (session, _):
        translation = Translation(session.actor("claude", Secrets({})), "go", lambda started: None)
        translation.publish([Text("One sen", 1)])
        translation.add_user_message(User("Look there.", [], "steer"))
        assert [user.text for user in translation.waiting] == ["Look there."]
        translation.publish([Text("Deep.", 7, agent="a-1"), State("context", 3), Text("tence.", 1)])
        translation.publish([Text("Another.", 2)])
        assert translation.waiting == []
        translation.add_user_message(User("And there.", [], "steer"))
        translation.close()
        session.flush()
        events = [event for event in SessionReader(session.folder).events() if isinstance(event, Text | User)]
    assert [event.text for event in events if not event.agent] == [
        *["One sen", "tence.", "Look there.", "Another.", "And there."]
    ]
