"""OpenCode's server: a recording of a real one as events, whatever a line holds, and a program that has no server."""

import stat
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.events import (
    Event,
    Reasoning,
    Request,
    RequestResolved,
    RunEnded,
    ToolOutput,
    ToolResult,
    ToolUse,
    TurnEnded,
    Unknown,
    encode_event,
)
from sightline.providers import Ask, EventStream, Unreachable
from sightline.providers.opencode._server import OpenCodeServer
from sightline.providers.opencode._server_requests import permission, question
from sightline.providers.opencode._server_source import Talk, _after

from .support import CAPTURES, assert_clean, of, words_of

RECORDING = (CAPTURES / "opencode_server/permissions.sse").read_bytes()


def channel_for(session: str) -> OpenCodeServer:
    channel = OpenCodeServer(Ask(prompt="", cwd="/home/dev/project"))
    channel._session = session
    channel._talks = {session: Talk()}
    return channel


def recorded(chunk: int = 1 << 20) -> list[Event]:
    first = next(line for line in RECORDING.splitlines() if b"session.created" in line)
    stream = EventStream(channel_for(msgspec.json.decode(first[5:])["properties"]["sessionID"]))
    pieces = [RECORDING[at : at + chunk] for at in range(0, len(RECORDING), chunk)]
    return [event for piece in pieces for event in stream.feed(piece)] + stream.end()


def test_a_recorded_session_is_told_whole() -> None:
    """A command with its live output, a file, words and thoughts, tokens, what was asked and answered; no prompt."""
    events = recorded()
    assert words_of(events) == ["Answer one.", "Two."]
    assert [thought.text for thought in of(Reasoning, events)] == ["Thinking."]
    assert [use.name for use in of(ToolUse, events)] == ["Bash", "Write", "Bash"]
    assert [output.content for output in of(ToolOutput, events)] == ["line 1\n", "line 2\n", "line 3\n"]
    assert of(ToolResult, events)[0].content == "line 1\nline 2\nline 3\n"
    requests = of(Request, events)
    assert [request.details["access"] for request in requests] == ["exec", "write", "exec"]
    assert requests[0].details["call"] == of(ToolUse, events)[0].id
    assert [resolved.id for resolved in of(RequestResolved, events)] == [request.id for request in requests]
    assert all(turn.usage.total_tokens for turn in of(TurnEnded, events))
    assert [ended.is_error for ended in of(RunEnded, events)] == [False, False, True]


@pytest.mark.parametrize("chunk", [1, 7, 4096])
def test_how_the_bytes_are_cut_changes_nothing(chunk: int) -> None:
    """The same events, whatever each read brings."""
    assert recorded(chunk) == recorded()


@pytest.mark.parametrize(
    ("before", "now", "more"),
    [("", "a", "a"), ("a", "ab", "b"), ("abc", "abc", ""), ("x" * 300 + "end", "x" * 250 + "end more", " more")],
)
def test_only_what_is_new_of_an_output_is_told(before: str, now: str, more: str) -> None:
    """The wire has all that was printed, or its end when that is long."""
    assert _after(before, now) == more


@pytest.mark.parametrize(
    ("said", "reply"),
    [
        ("once", {"reply": "once"}),
        ({"choice": "this session"}, {"reply": "always"}),
        ({"choice": "no", "reason": "Never."}, {"reply": "reject", "message": "Never."}),
        (None, {"reply": "reject"}),
        (["nonsense"], {"reply": "reject"}),
    ],
)
def test_an_answer_is_said_in_their_words(said: Any, reply: dict[str, str]) -> None:
    """Anything that is no yes is a no."""
    made = permission({"id": "per_1", "permission": "bash", "always": ["ls *"]}, "", "/", "")
    assert made is not None
    assert made[1](said) == ("/permission/per_1/reply", reply)


def test_a_question_gets_its_answer_or_is_put_aside() -> None:
    """Choices and free text go back as labels; nothing is a rejection."""
    fields = {"id": "que_1", "questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]}
    made = question(fields, "call-7", "")
    assert made is not None
    request, answer = made
    assert (request.text, request.choices) == ("Which?", ["A", "B"])
    assert request.details["call"] == "call-7"
    assert answer({"chosen": ["B"], "text": "and more"}) == ("/question/que_1/reply", {"answers": [["B", "and more"]]})
    assert answer(None) == ("/question/que_1/reject", {})


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["\x1b[31m", "a\nb", "\u202e"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([
        "sessionID", "part", "info", "id", "role", "type", "text", "delta", "field", "partID", "state", "status",
        "metadata", "output", "input", "tool", "callID", "messageID", "questions", "options", "patterns", "always",
        "error", "data", "message", "tokens", "reason", "sessionId",
    ]), inner, max_size=6),
    max_leaves=12,
)  # fmt: skip
KINDS = [
    "message.updated", "message.part.updated", "message.part.delta", "permission.asked", "question.asked",
    "permission.replied", "session.error", "session.status", "session.idle", "something.new",
]  # fmt: skip
parts = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["text", "reasoning", "tool", "step-start", "step-finish", "x"]),
        "id": st.text(max_size=4),
    },
    optional={"state": values, "tool": values, "text": values, "callID": values, "messageID": values, "tokens": values},
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(KINDS), st.dictionaries(st.text(max_size=4), values), parts), max_size=4))
def test_no_line_can_break_it(told: list[tuple[str, dict[str, Any], Any]]) -> None:
    """Whatever an event holds, it becomes clean events or none."""
    channel = channel_for("s")
    for kind, fields, part in told:
        body = {"type": kind, "properties": {**fields, "sessionID": "s", "part": part}}
        for event in channel.parse_events(b"data: " + msgspec.json.encode(body)):
            encode_event(event)
            if not isinstance(event, ToolOutput):
                assert_clean(event)


@pytest.mark.parametrize("line", [b"data: no json", b"data: []", b": comment", b"event: x", b"\xff", b"data: \xff"])
def test_a_line_that_is_no_event_is_told_as_unknown_or_nothing(line: bytes) -> None:
    """It does not end the stream."""
    assert all(isinstance(event, Unknown) for event in channel_for("s").parse_events(line))


async def test_a_program_without_a_server_is_unreachable(tmp_path: Path) -> None:
    """One that ends without saying where it listens says why."""
    program = tmp_path / "opencode"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.stderr.write('no such command: serve\\n')\nsys.exit(2)\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    channel = OpenCodeServer(Ask(prompt=""), str(program))
    with pytest.raises(Unreachable, match="no such command"):
        await channel.run(Ask(prompt="Hi."))
    await channel.close()
