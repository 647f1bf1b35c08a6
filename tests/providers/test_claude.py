"""Claude Code's stream: every recording, the order of blocks, partial messages, subagents, and broken streams."""

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
    Text,
    ToolResult,
    ToolUse,
    TurnEnded,
    User,
)
from sightline.providers import EventStream
from sightline.providers.claude import ClaudeSource
from sightline.text import clean_text

from .support import capture_names, lines, load_capture, words_of


def events_of(data: bytes) -> list:
    stream = EventStream(ClaudeSource())
    return stream.feed(data) + stream.end()


def captured(name: str) -> list:
    return events_of(load_capture("claude", name)[0])


def assistant(*blocks, **more):
    return {"type": "assistant", "session_id": "s", "message": {"id": "m1", "content": list(blocks)}, **more}


def text(words):
    return {"type": "text", "text": words}


def call(ident, name, **args):
    return {"type": "tool_use", "id": ident, "name": name, "input": args}


def stream_event(kind, **more):
    return {"type": "stream_event", "session_id": "s", "event": {"type": kind, **more}}


def delta(index, words):
    return stream_event("content_block_delta", index=index, delta={"type": "text_delta", "text": words})


def block_start(index):
    return stream_event("content_block_start", index=index, content_block=text(""))


@pytest.mark.parametrize("name", capture_names("claude"))
def test_every_recording_gives_its_words_and_calls_once(name):
    """SC-003, FR-012: what the meta file says reached the wire is in the events, each once, whoever said it."""
    data, meta = load_capture("claude", name)
    events = events_of(data)
    agents = {"main": ""} | {event.task: event.path for event in events if isinstance(event, AgentStarted)}
    expected = [block for block in meta["expected"] if block.get("on_wire")]
    for label in {block["agent"] for block in meta["expected"]} & agents.keys():
        said = [clean_text(b["text"]) for b in expected if b["agent"] == label and b["type"] == "text"]
        assert words_of(events, agents[label]) == [words for words in said if words]
        called = [(b["name"], b["arguments"]) for b in expected if b["agent"] == label and b["type"] == "tool_call"]
        seen = [(e.native_name, e.args) for e in events if isinstance(e, ToolUse) and e.agent == agents[label]]
        assert [name for name, _ in seen] == [name for name, _ in called]
    thoughts = [b["text"] for b in expected if b["type"] == "thinking"]
    blocks: dict[int, str] = {}
    for event in events:
        if isinstance(event, Reasoning):
            blocks[event.block] = blocks.get(event.block, "") + event.text
    assert list(blocks.values()) == thoughts


def test_the_exact_events_of_one_recording():
    """SC-003: kinds, order and truncated argument of a whole stream."""
    shape = [
        (type(event).__name__, getattr(event, "text", None) or getattr(event, "arg", ""))
        for event in captured("interleaved")
    ]
    assert shape == [
        ("RunStarted", ""),
        ("Text", "First the README."),
        ("ToolUse", "/project/README.md"),
        ("ToolResult", ""),
        ("Text", "Next the data file."),
        ("ToolUse", "/project/data.csv"),
        ("ToolResult", ""),
        ("Text", "Both files are there. Now the line count."),
        ("ToolUse", "wc -l data.csv"),
        ("ToolResult", ""),
        ("Text", "The README describes the project and the data file has four lines."),
        ("RunEnded", ""),
    ]


def test_blocks_of_one_line_keep_their_order():
    """FR-010, US1 scenario 2, edge case: three and more interleaved blocks of one assistant line stay in order."""
    events = events_of(
        lines(
            assistant(
                text("a"), call("1", "Read", file_path="x"), text("b"), call("2", "Bash", command="ls"), text("c")
            )
        )
    )
    assert [getattr(e, "text", None) or e.name for e in events] == ["a", "Read", "b", "Bash", "c"]


def test_partial_messages_show_each_word_once_and_as_it_comes():
    """Deltas are shown as they arrive and the full line adds nothing to them."""
    whole, pieces = captured("interleaved"), captured("interleaved_partial")
    assert words_of(pieces) == words_of(whole)
    assert sum(isinstance(e, Text) for e in pieces) > sum(isinstance(e, Text) for e in whole)


@pytest.mark.parametrize("name", ["stream_cut_partial", "stream_truncated_partial"])
def test_a_text_sent_again_after_a_break_adds_only_the_rest(name):
    """What was shown before the break is the beginning; nothing is shown twice and no notice is needed."""
    events = captured(name)
    assert words_of(events)[-1] in (
        "Here comes the final answer.",
        "This answer is long enough to be cut somewhere in the middle.",
    )
    assert not [e for e in events if isinstance(e, Notice)]


def test_a_text_sent_again_under_another_message_id_adds_only_the_rest():
    """A real server answers the second request with a new id."""
    events = events_of(
        lines(
            stream_event("message_start"),
            block_start(0),
            delta(0, "Here comes "),
            {"type": "assistant", "session_id": "s", "message": {"id": "m2", "content": [text("Here comes it.")]}},
        )
    )
    assert words_of(events) == ["Here comes it."]


def test_a_text_sent_again_as_deltas_adds_only_the_rest():
    """A new message that repeats what the broken one had shown goes on where that stopped."""
    events = events_of(
        lines(
            stream_event("message_start"),
            block_start(0),
            delta(0, "Here com"),
            stream_event("message_start"),
            block_start(0),
            delta(0, "Here "),
            delta(0, "comes it."),
            assistant(text("Here comes it.")),
        )
    )
    assert words_of(events) == ["Here comes it."]


def test_another_text_after_a_break_is_shown_whole_after_a_notice():
    """When the model says something else the second time, nothing of it is lost."""
    events = events_of(
        lines(
            stream_event("message_start"), block_start(0), delta(0, "Here comes "), assistant(text("Something else."))
        )
    )
    assert words_of(events) == ["Here comes ", "Something else."]
    assert [type(e).__name__ for e in events] == ["Text", "Notice", "Text"]


def test_another_text_as_deltas_after_a_break_is_shown_whole_after_a_notice():
    """The same when it arrives in pieces that begin alike."""
    events = events_of(
        lines(
            stream_event("message_start"),
            block_start(0),
            delta(0, "Here comes "),
            stream_event("message_start"),
            block_start(0),
            delta(0, "Here "),
            delta(0, "is another."),
            assistant(text("Here is another.")),
        )
    )
    assert words_of(events) == ["Here comes ", "Here is another."]
    assert sum(isinstance(e, Notice) for e in events) == 1


def streamed(index, *pieces):
    """A healthy block: deltas, the full line where the CLI prints one, and its end."""
    full = "".join(pieces)
    printed = [assistant(text(full))] if full.strip() else []
    stop = stream_event("content_block_stop", index=index)
    return [block_start(index), *(delta(index, piece) for piece in pieces), *printed, stop]


@pytest.mark.parametrize("between", [[], ["\n\n"], [""], [" ", "\n"]])
def test_a_blank_block_between_two_texts_doubles_nothing(between):
    """The CLI prints no full line for an empty or blank block; those after it are still matched with their own."""
    events = events_of(
        lines(
            stream_event("message_start"),
            *streamed(0, "One."),
            *streamed(1, *between),
            *streamed(2, "Tw", "o."),
            *streamed(3, "Three."),
            stream_event("message_stop"),
        )
    )
    assert [words for words in words_of(events) if words.strip()] == ["One.", "Two.", "Three."]
    assert not [event for event in events if isinstance(event, Notice)]


@pytest.mark.parametrize("second", ["Same thing is said.", "Same thing is said. And more.", "Another."])
def test_blocks_after_a_cut_one_are_shown_as_they_are(second):
    """After a break the answer comes as full lines: the first continues what was cut, the others were never shown."""
    events = events_of(
        lines(
            stream_event("message_start"),
            block_start(0),
            delta(0, "Same thing i"),
            assistant(text("Same thing is said.")),
            assistant(text(second)),
            stream_event("content_block_stop", index=0),
            stream_event("message_stop"),
            stream_event("message_start"),
            *streamed(0, "End."),
        )
    )
    assert words_of(events) == ["Same thing is said.", second, "End."]
    assert not [event for event in events if isinstance(event, Notice)]


def test_a_full_line_after_the_blocks_end_adds_nothing():
    """A version of the CLI that prints it later is no reason to show the words again."""
    stop = stream_event("content_block_stop", index=0)
    for ending in ([stop], [stop, stream_event("message_stop")]):
        start = [stream_event("message_start"), block_start(0), delta(0, "Said.")]
        assert words_of(events_of(lines(*start, *ending, assistant(text("Said."))))) == ["Said."]


def test_a_character_that_came_in_two_halves_is_one():
    """Half an emoji in each delta, the whole in the full line: shown once."""
    halves = b"".join(
        b'{"type":"stream_event","session_id":"s","event":{"type":"content_block_delta","index":0,'
        b'"delta":{"type":"text_delta","text":"%s"}}}\n' % half
        for half in (b"a\\ud83d", b"\\ude00b")
    )
    data = lines(stream_event("message_start"), block_start(0)) + halves + lines(assistant(text("a😀b")))
    assert words_of(events_of(data)) == ["a😀b"]


def test_text_in_the_beginning_of_a_block_is_shown():
    """Deltas need not start from nothing."""
    start = stream_event("content_block_start", index=0, content_block=text("He"))
    events = events_of(lines(stream_event("message_start"), start, delta(0, "llo"), assistant(text("Hello"))))
    assert words_of(events) == ["Hello"]


def test_content_may_be_a_string():
    """A message whose content is one text instead of a list of blocks."""
    assert words_of(events_of(lines(assistant() | {"message": {"id": "m", "content": "Plain."}}))) == ["Plain."]


def test_a_round_that_says_nothing_repeats_no_earlier_answer():
    """A background subagent opens a second round before the first has its result."""
    init = {"type": "system", "subtype": "init", "session_id": "s"}

    def result(words):
        return {"type": "result", "subtype": "success", "session_id": "s", "result": words}

    events = events_of(lines(init, assistant(text("I am done.")), init, result("I am done."), result("")))
    assert words_of(events) == ["I am done."]
    events = events_of(lines(init, assistant(text("One.")), result("One."), init, result("Two.")))
    assert words_of(events) == ["One.", "Two."]


def test_a_model_may_say_the_same_thing_twice():
    """Nothing is compared while the stream is healthy."""
    events = events_of(lines(assistant(text("Again.")), assistant(text("Again."))))
    assert words_of(events) == ["Again.", "Again."]


def test_an_escape_sequence_cut_by_deltas_leaves_nothing():
    """One filter per block, not per piece."""
    events = events_of(
        lines(
            stream_event("message_start"),
            block_start(0),
            delta(0, "a\x1b[3"),
            delta(0, "1mred"),
            assistant(text("a\x1b[31mred")),
        )
    )
    assert words_of(events) == ["ared"]


def test_a_background_subagent_has_its_own_path_from_start_to_end():
    """Its words never mix with the parent's, and its end is its own, not that of the call that started it."""
    events = captured("delegation_background")
    assert words_of(events, "general-purpose-1") == ["Helper C reports: three files."]
    assert "Helper C" not in "".join(words_of(events))
    started = next(e for e in events if isinstance(e, AgentStarted))
    ended = next(e for e in events if isinstance(e, AgentEnded))
    assert (started.path, started.task, ended.path) == ("general-purpose-1", "Background count", "general-purpose-1")
    last_of_child = max(i for i, e in enumerate(events) if e.agent == "general-purpose-1")
    assert events.index(ended) > last_of_child


def test_parallel_subagents_are_told_apart():
    """Two of the same type get two paths; each call ends the one it started."""
    events = captured("delegation")
    assert [e.path for e in events if isinstance(e, AgentStarted)] == ["general-purpose-1", "general-purpose-2"]
    assert {e.path for e in events if isinstance(e, AgentEnded)} == {"general-purpose-1", "general-purpose-2"}
    assert {e.agent for e in events if isinstance(e, ToolUse) and e.name != "Task"} == {
        "general-purpose-1",
        "general-purpose-2",
    }


def test_a_subagent_inside_a_subagent_has_a_path_of_both():
    """Paths nest the way the calls do."""
    events = events_of(
        lines(
            assistant(call("1", "Agent", description="outer", subagent_type="Plan")),
            assistant(call("2", "Agent", description="inner", subagent_type="Explore"), parent_tool_use_id="1"),
            assistant(text("deep"), parent_tool_use_id="2"),
        )
    )
    assert events[-1].agent == "Plan-1/Explore-1"


def test_results_belong_to_their_calls():
    """Ids of ours tie a result to its call; failure and exit code are read where the wire has them."""
    events = captured("tool_error")
    calls = {e.id: e for e in events if isinstance(e, ToolUse)}
    results = [e for e in events if isinstance(e, ToolResult)]
    assert [(calls[r.id].name, r.is_error, r.exit_code) for r in results] == [("Bash", True, 3), ("Read", True, None)]
    assert "boom" in results[0].content


def test_a_refused_call_is_shown_as_failed():
    """A denied permission is a failed call, though the run itself succeeds."""
    events = captured("permission_denied")
    assert next(e for e in events if isinstance(e, ToolResult)).is_error
    assert not next(e for e in events if isinstance(e, RunEnded)).is_error


def test_a_failed_request_is_an_error_told_once_and_not_words():
    """The synthetic line and the closing line say the same; the person reads it once."""
    events = captured("api_error")
    assert next(e.text for e in events if isinstance(e, Error)).startswith("API Error: 529 Overloaded")
    assert sum(isinstance(e, Error) for e in events) == 1
    assert words_of(events) == []
    assert events[-1].is_error
    assert [e.value["attempt"] for e in events if isinstance(e, State)] == [1, 2]


def test_the_run_carries_session_model_usage_and_cost():
    """What a person wants to know about the whole, from its first and last line."""
    events = captured("text_only")
    start, end = events[0], events[-1]
    assert isinstance(start, RunStarted)
    assert start.model == "claude-sonnet-4-5"
    assert len(start.session) == 36
    assert isinstance(end, RunEnded)
    assert end.usage.input_tokens
    assert end.cost > 0


def test_an_answer_that_stands_only_in_the_result_is_shown():
    """The CLI's own commands answer nowhere else; a normal answer is not repeated."""
    only = {"type": "result", "subtype": "success", "session_id": "s", "result": "Total cost: 0"}
    assert words_of(events_of(lines(only))) == ["Total cost: 0"]
    assert words_of(events_of(lines(assistant(text("Total cost: 0")), only))) == ["Total cost: 0"]


def test_a_plan_is_a_state_each_time_it_changes():
    """Put together from the calls of the newer tools, or taken whole from the older one's."""
    plans = [event.value for event in captured("plan") if isinstance(event, State) and event.key == "todo"]
    assert plans == [
        [{"text": "Read the README", "status": "pending"}],
        [{"text": "Read the README", "status": "completed"}],
    ]
    todos = [{"content": "Look", "status": "in_progress", "activeForm": "Looking"}]
    events = events_of(lines(assistant(call("1", "TodoWrite", todos=todos))))
    assert events[-1].value == [{"text": "Look", "status": "in_progress"}]


def test_common_and_native_names():
    """The common name where there is an equivalent, the CLI's own always beside it."""
    names = [("Agent", "Task"), ("TodoWrite", "Todo"), ("Read", "Read"), ("mcp__desk__add", "mcp__desk__add")]
    for native, common in names:
        use = events_of(lines(assistant(call("1", native, description="d"))))[0]
        assert (use.native_name, use.name) == (native, common)


def test_the_subagents_prompt_is_said_to_it():
    """Words put to a subagent carry its path."""
    prompts = [e for e in captured("delegation") if isinstance(e, User)]
    assert {e.agent for e in prompts} <= {"general-purpose-1", "general-purpose-2"}


def test_memory_does_not_grow_when_every_id_is_new():
    """Broken streams never send their closing lines; nothing is kept for each of them."""
    source = ClaudeSource()
    for n in range(3000):
        source.parse_events(lines(stream_event("message_start")))
        source.parse_events(lines(block_start(0)))
        source.parse_events(lines(delta(0, "x")))
        source.parse_events(lines(assistant(call(f"t{n}", "Agent", description="d", run_in_background=True))))
        source.parse_events(lines(assistant(text("y"), parent_tool_use_id=f"never-announced-{n}")))
    assert len(source._open_calls) <= 1024
    assert len(source._agents._open) <= 1024
    assert len(source._agents._counts) <= 1024
    assert len(source._background) <= 1024
    assert len(source._partial) <= 1024
    assert len(source._rounds) <= 65


def read_line(told, **file):
    block = {"type": "tool_result", "tool_use_id": "t1", "content": told}
    return lines({"type": "user", "message": {"content": [block]}, "tool_use_result": {"type": "text", "file": file}})


def test_what_was_read_is_told_without_numbers():
    """As it is in the file. What follows the last line break is no line."""
    result = next(e for e in captured("single_tool") if isinstance(e, ToolResult))
    assert result.content.startswith("# Demo project\n\n")
    assert result.details == {"ui": {"kind": "read", "path": "/project/README.md", "first": 1, "last": 5, "total": 5}}
    part = read_line(
        "  7→seven\n  8→eight", filePath="/a", content="seven\neight", numLines=2, startLine=7, totalLines=9
    )
    (result,) = events_of(part)
    assert result.content == "seven\neight"
    assert result.details == {"ui": {"kind": "read", "path": "/a", "first": 7, "last": 8, "total": 9}}


@pytest.mark.parametrize(
    "line",
    [
        lines({"type": "user", "message": {"content": [{"tool_use_id": "t1", "content": "1\tof `cat -n`"}]}}),
        read_line("1\tof `cat -n`", filePath="/a", content="another file", numLines=1, totalLines=1),
        read_line("1\tof `cat -n`", content=7),
    ],
)
def test_numbers_a_command_printed_stay(line):
    """Only what stands there once more as a file's is one."""
    (result,) = events_of(line)
    assert (result.content, result.details) == ("1\tof `cat -n`", None)


def test_a_command_that_printed_nothing_has_no_content():
    """That it did is said to the model."""
    block = {"type": "tool_result", "tool_use_id": "t1", "content": "(Bash completed with no output)"}
    (result,) = events_of(lines({"type": "user", "message": {"content": [block]}}))
    assert result.content == ""


def test_a_long_output_is_what_the_stream_carries():
    """Not the 2 KB and the tag that its model gets; where the rest is stands below it."""
    (result,) = [event for event in captured("huge_output") if isinstance(event, ToolResult)]
    rows = result.content.split("\n")
    assert rows[0].startswith("line 0: the quick brown fox")
    assert rows[500].startswith("line 500: the quick brown fox")
    assert "persisted-output" not in result.content
    assert rows[-1].startswith("… 30,000 of 218,890 bytes shown: all of it is in /")


def test_a_long_output_without_its_text_in_the_line_is_its_preview():
    """Also where the line carries another result, and where the note has another form."""
    note = "<persisted-output>\nOutput too large (9KB). Full output saved to: /x\n\nPreview (first 2KB):\na\nb\n...\n"
    result = {"type": "tool_result", "tool_use_id": "t", "content": f"{note}</persisted-output>"}
    line = {"type": "user", "session_id": "s", "message": {"content": [result]}}
    for other in (None, "text", {"stdout": "something else"}, {"stdout": 7}):
        (shown,) = [e for e in events_of(lines({**line, "tool_use_result": other})) if isinstance(e, ToolResult)]
        assert shown.content.startswith("a\nb\n… ")
    odd = {**result, "content": "<persisted-output>\nodd"}
    (shown,) = [e for e in events_of(lines({**line, "message": {"content": [odd]}})) if isinstance(e, ToolResult)]
    assert shown.content == "<persisted-output>\nodd"


@pytest.mark.parametrize("name", ["delegation", "delegation_partial", "delegation_background"])
def test_what_only_its_model_needs_of_a_subagent_is_not_shown(name):
    """Neither its id nor how to address it; its answer is."""
    results = [event.content for event in captured(name) if isinstance(event, ToolResult)]
    assert not [content for content in results if "agentId" in content or "SendMessage" in content]
    answers = [content for content in results if content.startswith("Helper ")]
    assert len(answers) == (0 if name == "delegation_background" else 2)


def test_a_turn_has_the_tokens_it_read():
    """They are given when a message begins, those it wrote when it ends."""
    turns = [event.usage for event in captured("parallel_tools_partial") if isinstance(event, TurnEnded)]
    assert [(usage.input_tokens, usage.output_tokens) for usage in turns] == [(1000, 30), (1100, 7)]
