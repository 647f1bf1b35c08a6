"""OpenCode's stream: every recording, parts seen more than once, results, subagents, broken streams, failures."""

import asyncio
import os
from collections import Counter

import msgspec
import pytest

from sightline.events import (
    AgentEnded,
    AgentStarted,
    Error,
    Notice,
    Reasoning,
    RunEnded,
    RunStarted,
    State,
    ToolResult,
    ToolUse,
    TurnEnded,
    TurnStarted,
    Unknown,
)
from sightline.providers import EventStream, ProviderPrompt, get_provider, start_run
from sightline.providers.opencode import OpenCodeSource
from sightline.text import clean_text

from .support import capture_names, load_capture, of, words_of


def events_of(data: bytes) -> list:
    stream = EventStream(OpenCodeSource())
    return stream.feed(data) + stream.end()


def captured(name: str) -> list:
    return events_of(load_capture("opencode", name)[0])


def lines(*values) -> bytes:
    return b"".join(msgspec.json.encode({"sessionID": "ses_1", **value}) + b"\n" for value in values)


def text(words, ident):
    return {"type": "text", "part": {"id": ident, "type": "text", "text": words}}


def step_start(message):
    return {"type": "step_start", "part": {"messageID": message, "type": "step-start"}}


def step_finish(reason, **fields):
    return {"type": "step_finish", "part": {"reason": reason, "type": "step-finish", **fields}}


def tool(ident="prt_1", name="bash", status="completed", **state):
    state = {"status": status, "input": {"command": "ls"}, **state}
    return {"type": "tool_use", "part": {"id": ident, "callID": "c_" + ident, "tool": name, "state": state}}


@pytest.mark.parametrize("name", capture_names("opencode"))
def test_every_recording_gives_its_words_and_calls_once(name):
    """SC-003, FR-012: what the meta file says reached the wire is in the events, each once."""
    data, meta = load_capture("opencode", name)
    events = events_of(data)
    expected = [block for block in meta["expected"] if block.get("on_wire") and block["agent"] == "main"]
    # Over chat completions all texts of a response are one part, joined as they are.
    assert "".join(words_of(events)) == "".join(clean_text(b["text"]) for b in expected if b["type"] == "text")
    assert [e.text for e in of(Reasoning, events)] == [b["text"] for b in expected if b["type"] == "thinking"]
    # Line order is order of completion.
    called = Counter(block["name"] for block in expected if block["type"] == "tool_call")
    assert Counter(e.native_name for e in of(ToolUse, events) if e.native_name != "invalid") == called
    assert len(of(ToolResult, events)) == len(of(ToolUse, events))
    assert not of(Unknown, events)


def test_the_exact_events_of_one_recording():
    """SC-003: kinds, order and truncated argument of a whole stream."""
    shape = [
        (type(e).__name__, getattr(e, "name", ""), getattr(e, "text", None) or getattr(e, "arg", ""))
        for e in captured("tool_error_anthropic")
    ]
    assert shape == [
        ("RunStarted", "", ""),
        ("TurnStarted", "", ""),
        ("Text", "", "Running the failing step."),
        ("ToolUse", "Bash", "echo about to fail; echo boom >&2; exit…"),
        ("ToolResult", "", ""),
        ("TurnEnded", "", ""),
        ("TurnStarted", "", ""),
        ("Text", "", "That failed. Now the missing file."),
        ("ToolUse", "Read", "/project/no-such-file.txt"),
        ("ToolResult", "", ""),
        ("TurnEnded", "", ""),
        ("TurnStarted", "", ""),
        ("Text", "", "Both steps failed, as expected."),
        ("TurnEnded", "", ""),
        ("RunEnded", "", ""),
    ]


def test_a_call_and_its_result_come_from_one_line():
    """Exit code, duration and failure are read from the state; the API's own id is kept."""
    use, result = of(ToolUse, captured("tool_error"))[0], of(ToolResult, captured("tool_error"))[0]
    assert (result.id, result.native_id) == (use.id, use.native_id)
    assert use.native_id.startswith("call_")
    assert (result.content, result.is_error, result.exit_code) == ("about to fail\nboom\n", True, 3)
    assert result.duration == pytest.approx(0.142)


def test_one_call_per_tool_part_whatever_states_are_seen():
    """Edge case: pending, running, completed, completed again, and the step's finish: one call, one result."""
    part = (
        tool(status="pending", input={}), tool(status="running"), tool(status="running"),
        tool(output="done"), tool(output="done"), step_finish("tool-calls"),
    )  # fmt: skip
    events = events_of(lines(*part))
    assert [type(e).__name__ for e in events] == ["RunStarted", "ToolUse", "ToolResult", "TurnEnded"]
    assert events[1].arg == "ls"
    assert events[2].content == "done"


def test_a_running_call_is_shown_while_it_runs():
    """With its arguments, before its result."""
    _, use = events_of(lines(tool(status="running")))
    assert (use.name, use.arg) == ("Bash", "ls")


def test_two_parts_with_the_same_call_id_are_two_calls():
    """Some model servers number their calls anew in every response."""
    first, second = tool("prt_1"), tool("prt_2")
    second["part"]["callID"] = first["part"]["callID"]
    assert len(of(ToolUse, events_of(lines(first, second)))) == 2


def test_a_tool_that_does_not_exist_is_a_failed_call_of_invalid():
    """Its preview says which one was wanted."""
    events = captured("unknown_tool")
    (use,), (result,) = of(ToolUse, events), of(ToolResult, events)
    assert (use.name, use.arg, result.is_error) == ("invalid", "frobnicate", True)


def test_a_refused_call_is_shown_as_failed():
    """The error replaces the output."""
    (result,) = of(ToolResult, captured("permission_asked"))
    assert result.is_error
    assert "rejected permission" in result.content


@pytest.mark.parametrize(
    ("name", "metadata", "failed"),
    [
        ("bash", {"exit": None}, True),
        ("bash", {}, False),
        ("bash", {"exit": 0}, False),
        ("read", {"exit": None}, False),
    ],
)
def test_an_aborted_command_is_shown_as_failed(name, metadata, failed):
    """It is completed, with an exit code of null."""
    (result,) = of(ToolResult, events_of(lines(tool(name=name, output="x", metadata=metadata))))
    assert (result.is_error, result.exit_code) == (failed, metadata.get("exit"))


def test_plans_become_the_todo_state():
    """Each call replaces the plan."""
    assert [state.value[0] for state in of(State, captured("plan"))] == [
        {"text": "Read the README", "status": "in_progress"},
        {"text": "Read the README", "status": "completed"},
    ]


@pytest.mark.parametrize("name", ["delegation", "delegation_anthropic"])
def test_a_subagent_lives_as_long_as_its_call(name):
    """Its own session is not printed; its path is its type and a number."""
    events = captured(name)
    calls = of(ToolUse, events)
    assert [(s.path, s.name, s.model, s.call) for s in of(AgentStarted, events)] == [
        ("general-1", "general", "standin-1", calls[0].id),
        ("general-2", "general", "standin-1", calls[1].id),
    ]
    assert [e.path for e in of(AgentEnded, events)] == ["general-1", "general-2"]
    assert "Helper A reports" in of(ToolResult, events)[0].content


def test_a_subagent_seen_running_begins_then():
    """And ends with its call, here in failure."""
    fields = {"name": "task", "input": {"subagent_type": "explore", "prompt": "look"}}
    events = events_of(lines(tool(status="running", **fields), tool(status="error", error="gone", **fields)))
    kinds = [type(e).__name__ for e in events]
    assert kinds == ["RunStarted", "ToolUse", "AgentStarted", "AgentEnded", "ToolResult"]
    assert (events[3].path, events[3].is_error) == ("explore-1", True)


def test_a_text_cut_short_and_sent_again_adds_only_the_rest_to_its_block():
    """A step that finished for no known reason, and a new message that begins like the old one."""
    events = captured("stream_truncated")
    assert words_of(events)[-1] == "This answer is long enough to be cut somewhere in the middle."
    assert not of(Notice, events)


def test_a_second_step_of_the_same_message_sends_its_texts_again():
    """Parts that were whole before the break are not shown twice."""
    again = lines(step_start("m1"), text("One.", "p1"), step_start("m1"), text("One.", "p2"), text("Two.", "p3"))
    assert words_of(events_of(again)) == ["One.", "Two."]


def test_another_text_after_a_break_is_shown_whole_after_a_notice():
    """Nothing is lost when the model says something else."""
    events = events_of(lines(step_start("m1"), text("One.", "p1"), step_start("m1"), text("Two.", "p2")))
    assert words_of(events) == ["One.", "Two."]
    assert [type(e).__name__ for e in events[-2:]] == ["Notice", "Text"]


def test_a_model_may_say_the_same_thing_twice():
    """Nothing is compared after a step that finished well."""
    data = lines(
        step_start("m1"), text("Again.", "p1"), text("Again.", "p2"), step_finish("tool-calls"),
        step_start("m2"), text("Again.", "p3"), step_finish("stop"),
    )  # fmt: skip
    assert words_of(events_of(data)) == ["Again."] * 3


def test_a_text_part_printed_again_makes_no_other_text_expected():
    """The stream is healthy: words of before it may be said once more."""
    data = lines(text("A.", "p1"), text("B.", "p2"), text("B.", "p2"), text("A.", "p3"))
    assert words_of(events_of(data)) == ["A.", "B.", "A."]


def test_a_text_part_printed_again_in_other_words_is_shown_whole_after_a_notice():
    """Nothing is lost when a program rewrites a part."""
    events = events_of(lines(text("Hello.", "p1"), text("Bye.", "p1")))
    assert words_of(events) == ["Hello.", "Bye."]
    assert len(of(Notice, events)) == 1


def test_a_text_part_printed_again_adds_only_what_is_new():
    """The same part id, the same or more words."""
    data = lines(text("Hello", "p1"), text("Hello", "p1"), text("Hello, you.", "p1"), text("Hello", "p2"))
    assert words_of(events_of(data)) == ["Hello, you.", "Hello"]


def test_steps_are_turns_and_the_last_one_ends_the_run():
    """Usage and cost are told per step, and there is no total; the session id is that of the first line."""
    events = captured("bash_tool")
    assert of(RunStarted, events)[0].session.startswith("ses_")
    assert len(of(TurnStarted, events)) == len(of(TurnEnded, events)) == 2
    assert [(t.stop_reason, t.cost) for t in of(TurnEnded, events)] == [("tool-calls", 0.00321), ("stop", 0.003495)]
    assert [t.usage.total_tokens for t in of(TurnEnded, events)] == [1014, 1113]
    (ended,) = of(RunEnded, events)
    assert (ended.stop_reason, ended.is_error) == ("stop", False)


def test_a_stream_that_carries_on_after_its_end_is_another_run():
    """A further step begins one."""
    step = lines(step_start("m1"), step_finish("stop"))
    kinds = [type(event).__name__ for event in events_of(step + step)]
    assert kinds == ["RunStarted", "TurnStarted", "TurnEnded", "RunEnded"] * 2


@pytest.mark.parametrize("begins", ["step", "failure"])
def test_another_session_after_a_killed_run_is_another_run(begins):
    """A killed run has no end; what follows it has its own session, and owes nothing to what was said before."""
    killed = lines(step_start("m1"), tool(), text("A.", "p1"))
    failure = {"type": "error", "error": {"name": "X"}}
    first = [failure] if begins == "failure" else [step_start("m1"), tool(), text("A.", "p1")]
    events = events_of(killed + lines(*({"sessionID": "ses_2", **value} for value in first)))
    assert [run.session for run in of(RunStarted, events)] == ["ses_1", "ses_2"]
    runs = 1 if begins == "failure" else 2
    assert words_of(events) == ["A."] * runs
    assert len(of(ToolUse, events)) == runs


@pytest.mark.parametrize(
    "end", [step_finish("length"), step_finish("other"), {"type": "error", "error": {"name": "X"}}]
)
def test_words_of_a_run_that_ended_badly_may_be_said_again_in_the_next(end):
    """Only a run that goes on sends anything again."""
    data = lines(step_start("m1"), text("A.", "p1"), end, step_start("m2"), text("A.", "p2"), step_finish("stop"))
    events = events_of(data)
    assert words_of(events) == ["A.", "A."]
    assert len(of(RunStarted, events)) == 2


@pytest.mark.parametrize(("name", "status"), [("api_bad_request", 400), ("api_error", 503), ("api_rate_limit", 429)])
def test_a_failure_has_its_status_and_a_hint(name, status):
    """One line, and the run is over."""
    started, error, ended = captured(name)
    assert started.session
    assert isinstance(error, Error)
    assert f"(status {status})" in error.text
    assert error.hint
    assert ended.is_error


@pytest.mark.parametrize("error", [None, "boom", {"name": "UnknownError"}, {"data": {"message": 7}}, ["x"]])
def test_an_error_of_any_shape_says_something(error):
    """Whatever another version puts there."""
    event = events_of(lines({"type": "error", "error": error}))[1]
    assert isinstance(event, Error)
    assert event.text


def test_memory_does_not_grow_when_every_id_is_new():
    """Parts without number, calls and agents that never end, steps that never stop."""
    source = OpenCodeSource()
    for number in range(5000):
        for value in (
            tool(f"p{number}"), tool(f"r{number}", "task", "running", input={"subagent_type": "a"}),
            text("words", f"t{number}"), step_finish("tool-calls", cost=0.1), text("more", f"u{number}"),
        ):  # fmt: skip
            source.parse_events(msgspec.json.encode(value))
    assert len(source._done) + len(source._done_before) <= 2100
    assert len(source._open_calls) <= 1024
    assert len(source._agents._open) <= 1024
    assert len(source._words.shown) <= 64


def test_what_was_read_is_told_without_marks_for_the_model():
    """The lines of a file, the names in a folder; where OpenCode does not say them apart, what the model was told."""
    result = of(ToolResult, captured("single_tool"))[0]
    assert result.content.startswith("# Demo project\n\n")
    assert "<" not in result.content
    read = {"kind": "read", "path": "/project/README.md", "first": 1, "last": 5, "total": 5}
    assert result.details == {"ui": read}
    folder = {"type": "directory", "path": "/p", "entries": ["a\x1b[31m", "b/"], "totalEntries": 7}
    for display, content, details in (
        (folder, "a\nb/", {"ui": {"kind": "listing", "path": "/p", "entries": 7}}),
        ({"type": "picture"}, "<x>", None),
        (["odd"], "<x>", None),
    ):
        (result,) = of(ToolResult, events_of(lines(tool("p1", "read", output="<x>", metadata={"display": display}))))
        assert (result.content, result.details) == (content, details)


def test_a_command_that_printed_nothing_has_no_content():
    """`(no output)` is said to the model."""
    (result,) = of(ToolResult, events_of(lines(tool("p1", "bash", output="(no output)", metadata={"exit": 0}))))
    assert (result.content, result.exit_code) == ("", 0)


@pytest.mark.parametrize("name", ["delegation", "delegation_anthropic"])
def test_the_answer_of_a_subagent_is_its_words(name):
    """Without the tags and the id that its model gets."""
    results = [event.content for event in captured(name) if isinstance(event, ToolResult)]
    answers = [content for content in results if "Helper" in content]
    assert answers
    assert not [content for content in answers if "<task" in content or "ses_" in content]


async def test_a_request_that_failed_is_told_while_it_is_tried_again(tmp_path, monkeypatch):
    """OpenCode says nothing on stdout for more than a minute; its log does, and is no part of a failure's words."""
    log = (
        'timestamp=2026 level=ERROR run=e message="stream error" x=1 error.error="AI_APICallError: Rate limit reached"'
    )
    program = tmp_path / "opencode"
    program.write_text(
        f"#!/bin/sh\necho '{log}' >&2\nwhile ! test -e {tmp_path}/told; do sleep 0.01; done\n"
        f"echo 'gave up' >&2\necho '{log}' >&2\nexit 1\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    run = start_run(get_provider("opencode"), ProviderPrompt(prompt="go"))
    events = []
    async with asyncio.timeout(20):
        async for batch in run.events():
            events += batch
            if any(isinstance(event, Notice) for event in batch):
                (tmp_path / "told").touch()
    told = [event.text for event in events if isinstance(event, Notice)]
    assert told[0] == "a request failed, OpenCode may try again: Rate limit reached"
    assert run.outcome.error is not None
    assert run.outcome.error.text == "OpenCode ended with exit code 1: gave up"
