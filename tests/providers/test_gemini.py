"""Gemini CLI's stream: every recording, deltas and where a text ends, results, subagents, failures."""

import msgspec
import pytest

from sightline.events import (
    AgentEnded,
    AgentStarted,
    Error,
    Notice,
    RunEnded,
    RunStarted,
    State,
    ToolResult,
    ToolUse,
    Unknown,
    User,
)
from sightline.providers import EventStream
from sightline.providers.gemini import GeminiSource
from sightline.text import clean_text

from .support import capture_names, lines, load_capture, of, words_of

# Where the words on the wire are not exactly those of the script: a silent restart, a stream that broke off, and escape
# sequences the CLI itself tore apart.
INEXACT = {"stream_truncated", "stream_cut", "stream_cut_between", "unicode"}


def events_of(data: bytes) -> list:
    stream = EventStream(GeminiSource())
    return stream.feed(data) + stream.end()


def captured(name: str) -> list:
    return events_of(load_capture("gemini", name)[0])


def delta(content):
    return {"type": "message", "role": "assistant", "content": content, "delta": True}


def call(ident="t_1", name="run_shell_command", **parameters):
    return {"type": "tool_use", "tool_name": name, "tool_id": ident, "parameters": parameters}


def result(ident="t_1", status="success", **fields):
    return {"type": "tool_result", "tool_id": ident, "status": status, **fields}


@pytest.mark.parametrize("name", capture_names("gemini"))
def test_every_recording_gives_its_words_and_calls_once(name):
    """SC-003, FR-012: what the meta file says reached the wire is in the events, each once."""
    data, meta = load_capture("gemini", name)
    events = events_of(data)
    expected = [block for block in meta["expected"] if block.get("on_wire") and block["agent"] == "main"]
    texts = [clean_text(block["text"]) for block in expected if block["type"] == "text"]
    said = words_of(events)
    assert all("".join(said).count(text) == 1 for text in texts)
    assert name in INEXACT or said == [text for text in texts if text]
    called = [(block["name"], clean_args(block["arguments"])) for block in expected if block["type"] == "tool_call"]
    assert [(e.native_name, e.args) for e in of(ToolUse, events)] == called
    assert not of(Unknown, events)


def clean_args(args):
    return {key: clean_text(value) if isinstance(value, str) else value for key, value in args.items()}


def test_the_exact_events_of_one_recording():
    """SC-003: kinds, order and truncated argument of a whole stream."""
    shape = [
        (type(e).__name__, getattr(e, "name", ""), getattr(e, "text", None) or getattr(e, "arg", ""))
        for e in captured("edit_tool")
    ]
    assert shape == [
        ("RunStarted", "", ""),
        ("User", "", "Create notes.txt and rename the greeting in src/app.py."),
        ("Text", "", "Creating the"),
        ("Text", "", " notes file."),
        ("ToolUse", "Write", "/project/notes.txt"),
        ("ToolResult", "", ""),
        ("ToolUse", "Read", "/project/src/app.py"),
        ("ToolResult", "", ""),
        ("Text", "", "Now the gree"),
        ("Text", "", "ting."),
        ("ToolUse", "Edit", "/project/src/app.py"),
        ("ToolResult", "", ""),
        ("Text", "", "Both changes"),
        ("Text", "", " are made."),
        ("RunEnded", "", ""),
    ]


def test_a_text_ends_where_another_kind_of_line_begins():
    """Deltas share a block until a call, a result or the end comes between."""
    events = events_of(lines(delta("a"), delta("b"), call(), delta("c"), result(), delta("d")))
    assert words_of(events) == ["ab", "c", "d"]


def test_noise_on_stdout_does_not_end_a_text():
    """A line that is none of the CLI's is kept as unknown and the words go on."""
    events = events_of(lines(delta("a")) + b"Loaded cached credentials.\n" + lines(delta("b")))
    assert words_of(events) == ["ab"]
    assert len(of(Unknown, events)) == 1


def test_an_escape_sequence_cut_by_deltas_leaves_nothing():
    """One filter per text, not per piece (`--raw-output`)."""
    assert words_of(events_of(lines(delta("a\x1b[3"), delta("1mred\x1b"), delta("[0m.")))) == ["ared."]
    assert "ANSI: red bold. Tab:\tend." in words_of(captured("unicode_raw"))[0]


def test_a_character_cut_by_deltas_is_one_character():
    """Two halves of a surrogate pair in two lines; a half without its other is shown as such at the end of the text."""
    first = b'{"type":"message","role":"assistant","content":"a \\ud83d","delta":true}\n'
    second = b'{"type":"message","role":"assistant","content":"\\ude80 b","delta":true}\n'
    assert words_of(events_of(first + second)) == ["a \U0001f680 b"]
    assert words_of(events_of(first)) == ["a \ufffd"]
    held, use = events_of(first + lines(call()))[-2:]
    assert (held.text, held.block, use.name) == ("\ufffd", 1, "Bash")


def test_a_message_that_is_no_delta_is_a_text_of_its_own():
    """Another version might send texts whole."""
    whole = {"type": "message", "role": "assistant", "content": "whole"}
    assert words_of(events_of(lines(delta("a"), whole, whole, delta("b")))) == ["a", "whole", "whole", "b"]


def test_results_belong_to_their_calls():
    """They come together at the end of a response, in any order."""
    first, second, late, early = events_of(
        lines(call("a", command="one"), call("b", command="two"), result("b", output="2"), result("a", output="1"))
    )
    assert (late.id, late.content, early.id, early.content) == (second.id, "2", first.id, "1")


def test_failures_show_with_what_is_known_of_them():
    """A tool that failed, one that does not exist, and a command the CLI refused to run."""
    assert [(r.content, r.is_error) for r in of(ToolResult, captured("tool_error"))] == [
        ("about to fail\nboom", False),  # the wire does not tell that this command failed
        ("File not found.", True),
    ]
    (refused,) = of(ToolResult, captured("blocked_command"))
    assert (refused.is_error, refused.content.startswith("Blocked: ")) == (True, True)
    (unknown,) = of(ToolResult, captured("unknown_tool"))
    assert unknown.is_error
    (silent,) = events_of(lines(result(status="error", error={"type": "x", "message": "no output at all"})))
    assert (silent.content, silent.is_error) == ("no output at all", True)
    broken = of(ToolResult, captured("mcp_tool"))[1]
    assert "not today" in broken.details["message"]


def test_a_command_that_prints_the_word_blocked_is_not_refused():
    """Only the CLI's own single line counts, and only for shell commands."""
    for ident, output in (("run_shell_command__1", "Blocked: 3\nAllowed: 4"), ("grep__1", "Blocked: x")):
        (event,) = events_of(lines(result(ident, output=output)))
        assert not event.is_error


def test_plans_become_the_todo_state():
    """Each call replaces the plan."""
    assert [state.value[0] for state in of(State, captured("plan"))] == [
        {"text": "Read the README", "status": "in_progress"},
        {"text": "Read the README", "status": "completed"},
    ]


def test_a_subagent_lives_as_long_as_its_call():
    """Nothing of its inside is on the wire; its path is its name and a number."""
    events = captured("delegation")
    calls = of(ToolUse, events)
    assert [(s.path, s.name, s.call) for s in of(AgentStarted, events)] == [
        ("generalist-1", "generalist", calls[0].id),
        ("generalist-2", "generalist", calls[1].id),
    ]
    assert [e.path for e in of(AgentEnded, events)] == ["generalist-1", "generalist-2"]
    assert {call.name for call in calls} == {"Task"}


def test_the_run_carries_session_model_prompt_and_usage():
    """The session id is what a conversation is resumed with."""
    events = captured("single_tool")
    (run,), (user,), (ended,) = of(RunStarted, events), of(User, events), of(RunEnded, events)
    assert run.session
    assert run.model == "gemini-2.5-pro"
    assert user.text == load_capture("gemini", "single_tool")[1]["prompt"]
    assert (ended.usage.input_tokens, ended.usage.total_tokens, ended.is_error) == (2100, 2133, False)


@pytest.mark.parametrize("name", ["api_bad_request", "api_error", "api_rate_limit", "error_after_tool", "stream_cut"])
def test_a_failed_run_is_an_error_in_words_a_person_can_read(name):
    """The server's JSON is unwrapped and the run ends as failed."""
    events = captured(name)
    (error,), (ended,) = of(Error, events), of(RunEnded, events)
    assert ended.is_error
    assert error.text.startswith("[API Error: ")
    assert "{" not in error.text


def test_error_lines_warn_or_fail():
    """The CLI also reports loops, limits and hooks on the way."""
    warning, failure = events_of(
        lines(
            {"type": "error", "severity": "warning", "message": "Loop detected"}, {"type": "error", "message": "Boom"}
        )
    )
    assert isinstance(warning, Notice)
    assert warning.level == "warning"
    assert isinstance(failure, Error)


def test_memory_does_not_grow_when_every_id_is_new():
    """Calls and agents that never end."""
    source = GeminiSource()
    for number in range(3000):
        source.parse_events(
            msgspec.json.encode(call(f"invoke_agent_{number}", "invoke_agent", agent_name=f"a{number}"))
        )
    assert len(source._open_calls) <= 1024
    assert len(source._agents._open) <= 1024
    assert len(source._agents._counts) <= 1025
