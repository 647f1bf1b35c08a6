"""OpenCode's server: a recording of a real one as events, whatever a line holds, and a program that has no server."""

import json
import os
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
from sightline.providers import EventStream, ProviderPrompt, Unreachable
from sightline.providers.opencode._printed import Printed
from sightline.providers.opencode._server import OpenCodeServer, loads_offline
from sightline.providers.opencode._server_requests import permission, question
from sightline.providers.opencode._server_source import Talk

from .support import CAPTURES, assert_clean, of, words_of

RECORDING = (CAPTURES / "opencode_server/permissions.sse").read_bytes()


def channel_for(session: str) -> OpenCodeServer:
    channel = OpenCodeServer(ProviderPrompt(prompt="", cwd="/home/dev/project"))
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


ROWS = "".join(f"row {number}\n" for number in range(1, 5001))


def shown(text: str) -> str:
    """What the server shows of an output."""
    return text if len(text) <= 30000 else f"...\n\n{text[-30000:]}"


def running(text: str) -> dict[str, Any]:
    return {"status": "running", "input": {"command": "make"}, "metadata": {"output": shown(text)}}


def completed(text: str, **more: Any) -> dict[str, Any]:
    metadata = {"output": shown(text), "exit": 0, **more}
    return {"status": "completed", "input": {"command": "make"}, "output": text, "metadata": metadata}


def printed(*states: dict[str, Any], data: Path | None = None) -> list[Event]:
    talk = Talk(data="" if data is None else str(data))
    part = {"type": "tool", "id": "prt_1", "callID": "c", "tool": "bash", "messageID": "m"}
    return [event for state in states for event in talk.on_part({**part, "state": state})]


def output(events: list[Event]) -> str:
    assert isinstance(events[-1], ToolResult)  # whatever was printed comes before the end
    return "".join(event.content for event in of(ToolOutput, events))


@pytest.mark.parametrize(
    "told",
    [
        [ROWS[:1000]],
        [ROWS[:1000], ROWS[:1000], ROWS[:20000]],
        [ROWS[:1000], ROWS[:29000], ROWS[:31000], ROWS[:43000]],
        ["", ROWS[:30]],
    ],
)
def test_an_output_is_whole_when_its_command_has_ended(told: list[str]) -> None:
    """Whatever the server showed of it while it ran: its last state is rarely the last thing that was printed."""
    events = printed(*[running(text) for text in told], completed(ROWS))
    assert output(events) == ROWS


@pytest.mark.parametrize("row", ["x\n", "ab"])
def test_rows_that_are_all_alike_are_counted(row: str) -> None:
    """Where the end of what was told stands many times, nobody knows which it is until the whole is there."""
    text = row * 40000
    events = printed(running(text[:100]), running(text[:50000]), running(text[:60000]), completed(text))
    assert output(events) == text


@pytest.mark.parametrize("saved", [True, False])
def test_an_output_that_was_cut_is_read_where_it_was_saved(saved: bool, tmp_path: Path) -> None:
    """The result has its end and the name of a file; without that file the gap is marked."""
    path = tmp_path / "opencode" / "tool-output" / "tool_1eb27c9d5001vhQd"
    path.parent.mkdir(parents=True)
    if saved:
        path.write_text(ROWS)
    cut = completed(ROWS, truncated=True, outputPath=str(path)) | {"output": f"...output truncated...\n\n{ROWS[-900:]}"}
    told = output(printed(running(ROWS[:1000]), cut, data=tmp_path / "opencode"))
    if saved:
        assert told == ROWS
    else:
        assert told == f"{ROWS[:1000]}\n… OpenCode left out part of the output here\n{ROWS[-30000:]}"


@pytest.mark.parametrize(
    "name",
    [
        "opencode/tool-output/other",
        "opencode/tool-output/../../tool_1",
        "link",
        "etc/tool_1",
        "elsewhere/opencode/tool-output/tool_1",
        "linked/opencode/tool-output/tool_1",
    ],
)
def test_no_other_file_is_read(name: str, tmp_path: Path) -> None:
    """A name that is not one of OpenCode's own, a folder that is not its own, and a link in its place or on the way."""
    secret = tmp_path / "opencode" / "tool-output" / "other"
    secret.parent.mkdir(parents=True)
    (tmp_path / "etc").mkdir()
    other = tmp_path / "elsewhere" / "opencode" / "tool-output"
    other.mkdir(parents=True)
    (tmp_path / "linked" / "opencode").mkdir(parents=True)
    (tmp_path / "linked" / "opencode" / "tool-output").symlink_to(other)
    for path in (secret, tmp_path / "tool_1", tmp_path / "etc" / "tool_1", other / "tool_1"):
        path.write_text("row 1\nsecret\n")
    link = tmp_path / "opencode" / "tool-output" / "tool_2"
    link.symlink_to(secret)
    path = link if name == "link" else tmp_path / name
    cut = completed("row 1\nrow 2\n", truncated=True, outputPath=str(path))
    data = tmp_path / ("linked/opencode" if name.startswith("linked/") else "opencode")
    assert output(printed(running("row 1\n"), cut, data=data)) == "row 1\nrow 2\n"


def test_a_long_command_is_shown_with_its_gap() -> None:
    """Nothing is held back for long because something is missing before it."""
    now = [0.0]
    printed = Printed(clock=lambda: now[0])
    assert printed.more("one\n") == "one\n"
    assert printed.more(shown("x" * 40000)) == ""
    now[0] = 6.0
    assert printed.more(shown("x" * 40000 + "end\n")).endswith(
        "left out part of the output here\n" + "x" * 29996 + "end\n"
    )
    assert printed.more(shown("x" * 40000 + "end\nmore\n")) == "more\n"
    assert printed.rest({"metadata": {"output": shown("x" * 40000 + "end\nmore\nlast\n")}}) == "last\n"


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
    made = permission({"id": "per_1", "permission": "bash", "always": ["ls *"]}, "", "/")
    assert made is not None
    assert made[1](said) == ("/permission/per_1/reply", reply)


def test_a_dialog_has_the_diff_once_and_no_sandbox() -> None:
    """OpenCode has none; what its patch says of each file stands in the diff already."""
    diff = "Index: /p/a.txt\n=====\n--- /p/a.txt\n+++ /p/a.txt\n@@ -0,0 +1,1 @@\n+hello\n"
    files = [{"filePath": "/p/a.txt", "patch": diff, "type": "add"}]
    metadata = {"filepath": "/p/a.txt", "diff": diff, "files": files}
    made = permission({"id": "p", "permission": "edit", "patterns": ["a.txt"], "metadata": metadata}, "", "/p")
    assert made is not None
    assert "sandboxed" not in made[0].details
    assert made[0].details["diff"] == "--- /p/a.txt\n+++ /p/a.txt\n@@ -0,0 +1,1 @@\n+hello\n"
    assert made[0].details["args"] == {}
    made = permission({"id": "p", "permission": "bash", "metadata": {"command": "ls"}}, "", "/p")
    assert made is not None
    assert made[0].details["args"] == {}


def test_a_question_gets_its_answer_or_is_put_aside() -> None:
    """Choices and free text go back as labels; nothing is a rejection."""
    fields = {"id": "que_1", "questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]}
    made = question(fields, "call-7")
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
    channel = OpenCodeServer(ProviderPrompt(prompt=""), str(program))
    with pytest.raises(Unreachable, match="no such command"):
        await channel.run(ProviderPrompt(prompt="Hi."))
    await channel.close()


def settings_folder(folder: Path, *, locked: tuple[str, ...] = ("@opencode-ai/plugin",), **declared: str) -> Path:
    """A folder of settings in which OpenCode has installed what it wants."""
    (folder / "node_modules").mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"dependencies": declared}))
    lock = {"packages": {"": {"dependencies": dict.fromkeys(locked, "1")}}}
    (folder / "package-lock.json").write_text(json.dumps(lock))
    return folder


def test_a_project_is_loaded_early_only_where_nothing_has_to_be_installed(tmp_path: Path) -> None:
    """In none of the folders that OpenCode reads settings from; what cannot be read is not complete."""
    home, project = tmp_path / "home", tmp_path / "project" / "below"
    project.mkdir(parents=True)
    environ = {"HOME": str(home)}
    assert not loads_offline(str(project), environ)
    own = settings_folder(home / ".config" / "opencode")
    assert loads_offline(str(project), environ)
    assert not loads_offline(str(project), {**environ, "XDG_CONFIG_HOME": str(tmp_path / "none")})
    (tmp_path / "project" / ".opencode").mkdir()
    assert not loads_offline(str(project), environ)
    settings_folder(tmp_path / "project" / ".opencode")
    assert loads_offline(str(project), environ)
    other = settings_folder(tmp_path / "other", zod="1")
    assert not loads_offline(str(project), {**environ, "OPENCODE_CONFIG_DIR": str(other)})
    for damage in ("{", "[]", '{"packages": []}', '{"packages": {"": {"dependencies": ["@opencode-ai/plugin"]}}}'):
        (own / "package-lock.json").write_text(damage)
        assert not loads_offline(str(project), environ)
    (own / "package-lock.json").unlink()
    os.mkfifo(own / "package-lock.json")
    assert not loads_offline(str(project), environ)


@pytest.mark.parametrize("complete", [True, False])
async def test_nothing_is_asked_about_a_project_that_would_be_installed(complete: bool, tmp_path: Path) -> None:
    """The server alone is started early then: even its stream of events is opened with the first prompt."""
    if complete:
        settings_folder(tmp_path / ".config" / "opencode")
    program, log = tmp_path / "opencode", tmp_path / "asked"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {Path(__file__).with_name("fake_opencode.py")} "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    log.touch()
    env = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": "", "FAKE_OPENCODE_LOG": str(log)}
    (tmp_path / "project").mkdir()
    ask = ProviderPrompt(prompt="Hi.", cwd=str(tmp_path / "project"), env=env)
    channel = OpenCodeServer(ask, str(program))
    try:
        await channel.open(ask)
        early = log.read_text().split()
        for _ in range(2):
            run = await channel.run(ask)
            events = [event async for batch in run.events() for event in batch]
            assert events[-1] == RunEnded(source="opencode")
    finally:
        await channel.close()
    asked = log.read_text().split()
    assert early == (["/event", "/config/providers", "/experimental/tool/ids", "/agent"] if complete else [])
    assert asked.count("/event") == 1
    assert asked.index("/event") < asked.index("/session/ses_1/prompt_async")
