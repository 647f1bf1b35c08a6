"""What the model remembers: over turns, after a resume, on another branch, and when there is too much of it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from sightline.agent import missing_messages
from sightline.conversation import (
    AssistantMessage,
    CallPart,
    ImagePart,
    Message,
    TextPart,
    UserMessage,
    text_of,
)
from sightline.events import (
    Event,
    Notice,
    RunEnded,
    RunStarted,
    State,
    Text,
    ToolArgs,
    ToolOutput,
    ToolResult,
    ToolUse,
    User,
)
from sightline.journal import SessionReader, SessionTree
from sightline.transcript import LOST, LeftOpen, TranscriptText, fold
from sightline.transcript import TranscriptMessage as Said
from tests.agent.support import kept, lab, store_in

# One black pixel.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a49444154789c6360000000020001e221bc330000000049454e44ae426082"
)


def said(messages: list[Message]) -> list[str]:
    return [text_of(message) for message in messages]


async def test_a_resumed_session_goes_on_where_it_was(tmp_path: Path) -> None:
    """The next request has all that was said, numbers go on, and every event of before is still there."""
    async with lab(tmp_path, [[{"text": "one"}]]) as here:
        await here.run("first")
        session, last = here.session.id, here.session.seq
    before = kept(tmp_path, session)
    async with lab(tmp_path, [[{"text": "one"}], [{"text": "two"}]], resume=session) as here:
        await here.run("second")
        assert said(here.requests[0].messages) == ["first", "one", "second"]
        assert here.seen[0].seq == last + 1
    after = kept(tmp_path, session)
    assert after[: len(before)] == before
    assert [event.seq for event in after] == list(range(1, len(after) + 1))


async def test_the_plan_comes_back_with_the_session(tmp_path: Path) -> None:
    """A todo list is kept with the conversation."""
    init = {"tool": "todo", "args": {"ops": [{"op": "init", "list": [{"phase": "P", "items": ["a"]}]}]}}
    done = {"tool": "todo", "args": {"ops": [{"op": "done", "task": "a"}]}}
    settings = {"todo.reminders": "false"}
    async with lab(tmp_path, [[init], [{"text": "planned"}]], settings=settings) as here:
        await here.run()
        session = here.session.id
    turns = [[init], [{"text": "planned"}], [done], [{"text": "done"}]]
    async with lab(tmp_path, turns, resume=session, settings=settings) as here:
        await here.run("go on")
        assert "[x] a" in here.of(ToolResult)[-1].content


async def test_a_model_that_stops_with_open_tasks_is_reminded(tmp_path: Path) -> None:
    """Not more often than the settings say."""
    init = {"tool": "todo", "args": {"ops": [{"op": "init", "list": [{"phase": "P", "items": ["a", "b"]}]}]}}
    turns = [[init], [{"text": "x"}], [{"text": "y"}], [{"text": "z"}]]
    async with lab(tmp_path, turns, settings={"todo.reminders_max": "2"}) as here:
        outcome = await here.run()
        reminders = [event for event in here.of(User) if event.source == "todo"]
        assert len(reminders) == 2
        assert "- b" in reminders[0].text
        assert outcome.text == "z"


async def test_a_long_conversation_is_made_short_before_it_overflows(tmp_path: Path) -> None:
    """Its older part becomes a summary; the entries stay in the tree."""
    long = {"tool": "bash", "args": {"command": "head -c 40000 /dev/zero | tr '\\0' x"}}
    turns = [
        {"blocks": [long], "usage": {"input_tokens": 100, "output_tokens": 10}},
        {"blocks": [long], "usage": {"input_tokens": 12_000, "output_tokens": 10}},
        {"blocks": [long], "usage": {"input_tokens": 25_000, "output_tokens": 10}},
        [{"text": "SUMMARY OF IT"}],
        [{"text": "done"}],
    ]
    settings = {"compaction.reserve": "1000", "compaction.keep_recent": "11000"}
    async with lab(tmp_path, turns, settings=settings) as here:
        here.agent.model.model.facts = _replaced(here.agent.model.facts, context=30_000)
        outcome = await here.run("the task")
        assert outcome.text == "done"
        compactions = [event.value for event in here.of(State) if event.key == "compaction"]
        assert compactions[0]["running"] is True
        assert compactions[-1]["summary"] == "SUMMARY OF IT"
        last = here.requests[-1].messages
        assert "SUMMARY OF IT" in text_of(last[0])
        assert len(last) < len(SessionTree.load(here.store.folder(here.session.id)).nodes)
        assert any("the task" in text for text in said(here.requests[-2].messages))
    tree = SessionTree.load(store_in(tmp_path).folder(here.session.id))
    assert [node.type for node in tree.path()].count("compaction") == 1
    assert said([e.message for e in tree.read(tree.path()) if e.message])[0] == "the task"


async def test_an_overflow_is_mended_once(tmp_path: Path) -> None:
    """The server says the conversation is too long: it is summarised and asked again."""
    turns = [
        [{"tool": "bash", "args": {"command": "echo " + "y" * 4000}}],
        [{"error": {"kind": "overflow", "message": "prompt is too long"}}],
        [{"text": "SHORT"}],
        [{"text": "went on"}],
    ]
    async with lab(tmp_path, turns) as here:
        outcome = await here.run("the task")
        assert outcome.text == "went on"
        assert "SHORT" in text_of(here.requests[-1].messages[0])


async def test_compacting_when_asked(tmp_path: Path) -> None:
    """What matters most to the person is passed on; a short conversation is left as it is."""
    turns = [[{"text": "a" * 900}], [{"text": "b" * 9000}], [{"text": "S"}], [{"text": "ok"}]]
    async with lab(tmp_path, turns, settings={"compaction.keep_recent": "2000"}) as here:
        await here.run("one")
        assert not await here.agent.compact()
        await here.run("two")
        assert await here.agent.compact("the file names")
        assert "the file names" in text_of(here.requests[-1].messages[0])
        assert "S" in text_of(here.messages[0])


async def test_the_tokens_of_a_compaction_are_counted(tmp_path: Path) -> None:
    """A summary is a request as any other: what it used is part of the session's total."""
    summary = {"blocks": [{"text": "S"}], "usage": {"input_tokens": 700, "output_tokens": 30}}
    turns = [[{"text": "a" * 900}], [{"text": "b" * 9000}], summary]
    async with lab(tmp_path, turns, settings={"compaction.keep_recent": "2000"}) as here:
        await here.run("one")
        await here.run("two")
        assert await here.agent.compact()
        total = here.session.snapshot().totals[""]
        assert (total.input_tokens, total.output_tokens) == (700, 30)


async def test_going_back_to_an_earlier_prompt(tmp_path: Path) -> None:
    """The conversation goes on before it, its words come back, and views show that branch only."""
    turns = [[{"text": "A"}], [{"text": "B"}], [{"text": "B2"}]]
    async with lab(tmp_path, turns) as here:
        await here.run("first")
        await here.run("second")
        target = [node.id for node in here.agent.memory.tree.path() if node.role == "user"][1]
        moved = await here.agent.move(target)
        assert moved["prefill"] == "second"
        await here.run("second, better")
        assert said(here.requests[-1].messages) == ["first", "A", "second, better"]
        session = here.session.id
        live = here.session.snapshot()
    again = fold(SessionReader(store_in(tmp_path).folder(session)).events())
    for state in (live, again):
        assert _shown(state.shown) == ["first", "A", "second, better", "B2"]
        assert _shown(state.entries) == ["first", "A", "second", "B", "second, better", "B2"]


async def test_a_branch_that_is_left_can_be_summarised(tmp_path: Path) -> None:
    """The summary stands where the conversation goes on, and the model reads it."""
    turns = [[{"text": "A"}], [{"text": "B"}], [{"text": "TRIED B"}], [{"text": "C"}]]
    async with lab(tmp_path, turns) as here:
        await here.run("first")
        await here.run("second")
        answer = next(node.id for node in here.agent.memory.tree.path() if node.role == "assistant")
        moved = await here.agent.move(answer, summarize=True, instructions="what failed")
        assert moved["summary"] == "TRIED B"
        assert "what failed" in text_of(here.requests[-1].messages[0])
        await here.run("third")
        assert "TRIED B" in said(here.requests[-1].messages)[2]
        assert not (await here.agent.move(here.agent.memory.tree.leaf))["moved"]


async def test_another_model_from_now_on(tmp_path: Path) -> None:
    """The change is told, kept in the tree, and holds after a resume."""
    async with lab(tmp_path, [[{"text": "A"}]]) as here:
        await here.run("first")
        other = tmp_path / "other.json"
        other.write_text('[[{"text": "A"}], [{"text": "from the other"}]]')
        here.agent.model.choose(f"scripted:{other}")
        here.agent.model.think("high")
        await here.run("second")
        assert "from the other" in "".join(event.text for event in here.of(Text))
        tree = here.agent.memory.tree
        noted = [node.type for node in tree.path() if node.type != "message"]
        assert noted == ["model_change", "model_change", "thinking_level_change"]
        assert here.requests[-1].thinking == "high"


CALL = CallPart("s-1", "bash", {"command": "x"}, native_id="n1")
ASKED: list[Message] = [UserMessage([TextPart("go")]), AssistantMessage([CALL], stop_reason="tool_use")]


@pytest.mark.parametrize(
    ("messages", "tail", "expected"),
    [
        pytest.param(ASKED[:1], [Text("words"), RunEnded()], [], id="it ended properly"),
        pytest.param([], [RunStarted(), User("hi")], ["user: hi"], id="killed after the prompt"),
        pytest.param(
            ASKED[:1],
            [Text("half "), Text("of a subagent", agent="A-1"), Text("an answer"), User("go", agent="A-1")],
            ["assistant: half an answer"],
            id="killed while it spoke",
        ),
        pytest.param(ASKED[:1], [ToolArgs("s-1", "bash", '{"comm')], [], id="killed while it wrote a call"),
        pytest.param(ASKED, [ToolUse("s-1", "Bash"), ToolOutput("s-1", "some")], ["tool: lost"], id="while a call ran"),
        pytest.param(ASKED, [ToolResult("s-1", "all of it")], ["tool: all of it"], id="killed after a call ended"),
    ],
)
@pytest.mark.parametrize("repaired", [False, True])
def test_what_a_killed_host_left_out_is_remembered(
    messages: list[Message], tail: list[Event], expected: list[str], repaired: bool
) -> None:
    """Words that were seen are in the conversation, and calls have a result, once the journal says how they ended."""
    tail = [*tail, *LeftOpen(tail).ends()] if repaired else tail
    missing = missing_messages(messages, tail)
    assert [_named(item) for item in missing] == expected
    assert missing_messages([*messages, *missing], []) == []


def _named(item: Message) -> str:
    return f"{type(item).__struct_config__.tag}: {'lost' if text_of(item).startswith(LOST) else text_of(item)}"


def _shown(entries: list[Any]) -> list[str]:
    return [entry.text for entry in entries if isinstance(entry, Said | TranscriptText)]


def _replaced(facts: Any, **changes: Any) -> Any:
    return msgspec.structs.replace(facts, **changes)


async def test_a_resumed_session_keeps_its_model(tmp_path: Path) -> None:
    """The model that was chosen for it is asked again without being named again."""
    async with lab(tmp_path, [[{"text": "A"}], [{"text": "B"}]]) as here:
        await here.run("first")
        session = here.session.id
    async with lab(tmp_path, [[{"text": "A"}], [{"text": "B"}]], resume=session, model="") as here:
        assert (await here.run("second")).text == "B"


async def test_what_a_model_cannot_see_another_is_asked_about(tmp_path: Path) -> None:
    """With a model for images in the settings, the turn after an image goes there, and the next back."""
    read = {"tool": "read", "args": {"path": "dot.png"}}
    seeing = tmp_path / "seeing.json"
    seeing.write_text('[[{"text": "never"}], [{"tool": "bash", "args": {"command": "echo a dot"}}]]')
    settings = {"models.vision": f"scripted:{seeing}"}
    async with lab(tmp_path, [[read], [{"text": "it is a dot"}]], settings=settings) as here:
        (tmp_path / "work" / "dot.png").write_bytes(PNG)
        blind = here.agent.model.model
        blind.facts = _replaced(blind.facts, images=False)  # type: ignore[misc]
        outcome = await here.run("what is it?")
        assert outcome.text == "it is a dot"
        assert any("about the image" in notice.text for notice in here.of(Notice))
        assert [result.content for result in here.of(ToolResult)][-1] == "a dot"
        assert not any(isinstance(part, ImagePart) for message in here.requests[-1].messages for part in message.parts)


async def test_the_sessions_own_notes_need_nobodys_leave(tmp_path: Path) -> None:
    """local:// is the agent's to write and read, outside the workspace though it is."""
    write = {"tool": "write", "args": {"path": "local://plan.md", "content": "step one\n"}}
    read = {"tool": "read", "args": {"path": "local://plan.md"}}
    async with lab(tmp_path, [[write], [read], [{"text": "ok"}]], approval="edit") as here:
        outcome = await here.run()
        assert outcome.exit_code == 0
        assert "step one" in here.of(ToolResult)[-1].content


def test_what_a_command_became_is_not_the_users_after_a_kill() -> None:
    """Its event was stored, and its message was not."""
    tail = [User("/fix 12", source="person"), User("Fix 12.", source="command")]
    assert [(each.origin, text_of(each)) for each in missing_messages([], tail)] == [
        ("", "/fix 12"),
        ("command", "Fix 12."),
    ]
