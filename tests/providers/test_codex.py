"""Codex's stream: every recording, items as calls, plans, searches, subagents, broken streams, failures."""

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
    Unknown,
)
from sightline.providers import EventStream
from sightline.providers._preview import shorten
from sightline.providers.codex import CodexSource
from sightline.text import clean_text

from .support import capture_names, lines, load_capture, of, words_of

INTENTS = {"delegate": "Task", "edit": "Edit", "write": "Write", "plan": "Todo", "wait_agent": "wait", "mcp": "mcp"}


def events_of(data: bytes) -> list:
    stream = EventStream(CodexSource())
    return stream.feed(data) + stream.end()


def captured(name: str) -> list:
    return events_of(load_capture("codex", name)[0])


def completed(ident, kind, **fields):
    return {"type": "item.completed", "item": {"id": ident, "type": kind, **fields}}


def started(ident, kind, **fields):
    return {"type": "item.started", "item": {"id": ident, "type": kind, **fields}}


def said(text, ident="item_0"):
    return completed(ident, "agent_message", text=text)


def ran(ident, command="ls", output="", code=0, status="completed"):
    return completed(
        ident, "command_execution", command=command, aggregated_output=output, exit_code=code, status=status
    )


RECONNECTING = {"type": "error", "message": "Reconnecting... 1/5 (stream disconnected before completion: eof)"}


@pytest.mark.parametrize("name", capture_names("codex"))
def test_every_recording_gives_its_words_and_calls_once(name):
    """SC-003, FR-012: what the meta file says reached the wire is in the events, each once."""
    data, meta = load_capture("codex", name)
    events = events_of(data)
    expected = [block for block in meta["expected"] if block.get("on_wire") and block["agent"] == "main"]
    texts = [clean_text(block["text"]) for block in expected if block["type"] == "text"]
    assert words_of(events) == [text for text in texts if text]
    assert [e.text for e in of(Reasoning, events)] == [b["text"] for b in expected if b["type"] == "thinking"]
    calls = [block for block in expected if block["type"] == "tool_call"]
    names = Counter(INTENTS.get(call["intent"], "Bash") for call in calls)
    names["WebSearch"] = sum(block["type"] == "server_side_search" for block in meta["expected"])
    if name == "parallel_one_script_codemode":
        names["Bash"] = 2  # one script of the model, two commands on the wire
    assert Counter("mcp" if e.name.startswith("mcp") else e.name for e in of(ToolUse, events)) == +names
    commands = [call["arguments"]["cmd"] for call in calls if call["name"] == "exec_command"]
    shown = Counter(e.arg for e in of(ToolUse, events) if e.name == "Bash")
    assert not commands or shown == Counter(shorten(command) for command in commands)
    assert not of(Unknown, events)


def test_the_exact_events_of_one_recording():
    """SC-003: kinds, order and truncated argument of a whole stream."""
    shape = [
        (type(e).__name__, getattr(e, "name", ""), getattr(e, "text", None) or getattr(e, "arg", ""))
        for e in captured("tool_error")
    ]
    assert shape == [
        ("RunStarted", "", ""),
        ("TurnStarted", "", ""),
        ("Text", "", "Running the failing step."),
        ("ToolUse", "Bash", "echo about to fail; echo boom >&2; exit…"),
        ("ToolResult", "", ""),
        ("Text", "", "That failed. Now the missing file."),
        ("ToolUse", "Bash", "cat no-such-file.txt"),
        ("ToolResult", "", ""),
        ("Text", "", "Both steps failed, as expected."),
        ("RunEnded", "", ""),
    ]


def test_results_carry_output_exit_code_and_failure():
    """A non-zero exit is a failure; the id ties the result to its call."""
    events = captured("tool_error")
    calls, results = of(ToolUse, events), of(ToolResult, events)
    assert [r.id for r in results] == [c.id for c in calls]
    assert [(r.content, r.is_error, r.exit_code) for r in results] == [
        ("about to fail\nboom\n", True, 3),
        ("cat: no-such-file.txt: No such file or directory\n", True, 1),
    ]


def test_file_changes_are_writes_when_all_files_are_new_and_edits_otherwise():
    """The first path is the preview; `native_name` keeps the item's type."""
    both = [{"path": "/a/new.txt", "kind": "add"}, {"path": "/a/old.txt", "kind": "update"}]
    uses = of(ToolUse, captured("edit_tool") + events_of(lines(completed("item_9", "file_change", changes=both))))
    assert [(u.name, u.native_name, u.arg) for u in uses if u.native_name == "file_change"] == [
        ("Write", "file_change", "/project/notes.txt"),
        ("Edit", "file_change", "/project/src/app.py"),
        ("Edit", "file_change", "/a/new.txt"),
    ]


def test_mcp_calls_are_named_after_server_and_tool_and_their_failures_show():
    """Arguments and text of the answer are kept."""
    events = captured("mcp_tool")
    assert [(u.name, u.args) for u in of(ToolUse, events)] == [
        ("mcp__desk__add", {"a": 19, "b": 23}),
        ("mcp__desk__broken", {"reason": "test"}),
    ]
    assert [(r.content, r.is_error) for r in of(ToolResult, events)] == [("the sum is 42", False), ("not today", True)]


def test_each_version_of_a_plan_is_one_call_and_its_end_is_none():
    """Start and updates are calls with a result; the completion at the end of the turn repeats what is known."""
    events = captured("plan")
    plans = [e for e in of(ToolUse, events) if e.name == "Todo"]
    assert len(plans) == 2
    assert {p.id for p in plans} <= {r.id for r in of(ToolResult, events)}
    assert [state.value for state in of(State, events)] == [
        [{"text": "Read the README", "status": "pending"}, {"text": "Summarise it", "status": "pending"}],
        [{"text": "Read the README", "status": "completed"}, {"text": "Summarise it", "status": "completed"}],
    ]


def test_a_plan_that_changed_unseen_is_told_at_its_end():
    """The last word counts, though nobody called for it."""
    plan = [{"text": "a", "completed": False}]
    done = [{"text": "a", "completed": True}]
    events = events_of(lines(started("item_1", "todo_list", items=plan), completed("item_1", "todo_list", items=done)))
    assert [type(e).__name__ for e in events] == ["ToolUse", "State", "ToolResult", "State"]
    assert events[-1].value == [{"text": "a", "status": "completed"}]


def test_a_search_is_one_call_shown_when_its_query_is_known():
    """The start has no query and the key `id` twice; the call is shown once, with its query."""
    (use,) = of(ToolUse, captured("web_search"))
    assert (use.name, use.native_name, use.arg) == ("WebSearch", "web_search", "demo project csv totals")


@pytest.mark.parametrize(
    "end", [[], [{"type": "turn.completed"}], [{"type": "turn.failed", "error": {"message": "x"}}]]
)
def test_a_search_that_never_completes_is_still_shown_once(end):
    """Nothing that happened is lost because its stream ended early."""
    events = events_of(lines(started("ws_1", "web_search", query=""), *end))
    assert [(u.name, u.arg) for u in of(ToolUse, events)] == [("WebSearch", "")]


def test_a_search_of_a_killed_run_is_shown_before_the_run_that_follows():
    """Two recordings one after the other: what the first began is not lost."""
    killed = lines({"type": "thread.started", "thread_id": "a"}, said("A."), started("ws_1", "web_search", query=""))
    events = events_of(killed + lines({"type": "thread.started", "thread_id": "b"}, said("B.")))
    assert [type(e).__name__ for e in events] == ["RunStarted", "Text", "ToolUse", "RunStarted", "Text"]


def test_a_command_whose_start_was_not_seen_is_shown_with_its_result():
    """A recording may begin in the middle."""
    use, result = events_of(lines(ran("item_7", "/bin/bash -lc 'make test'", "ok\n")))
    assert (use.name, use.arg, result.id, result.content, result.exit_code) == ("Bash", "make test", use.id, "ok\n", 0)


def test_parallel_calls_keep_their_own_ids():
    """Started, started, completed, completed, in any order."""
    events = events_of(
        lines(
            started("item_1", "command_execution", command="a"),
            started("item_2", "command_execution", command="b"),
            ran("item_2", "b", "B"),
            ran("item_1", "a", "A"),
        )
    )
    a, b, result_b, result_a = events
    assert (result_b.id, result_a.id) == (b.id, a.id)
    assert (result_b.content, result_a.content) == ("B", "A")


def test_a_call_announced_twice_is_shown_once():
    """State transitions are observed; a call is one."""
    start = started("item_1", "command_execution", command="ls")
    assert len(of(ToolUse, events_of(lines(start, start, start | {"type": "item.updated"}, ran("item_1"))))) == 1


def test_subagents_begin_when_their_thread_is_known_and_end_when_a_wait_says_so():
    """Their answer is the result of the wait, never the parent's words."""
    events = captured("delegation")
    tasks = [u for u in of(ToolUse, events) if u.name == "Task"]
    assert [(s.path, s.task, s.call) for s in of(AgentStarted, events)] == [
        ("agent-1", "Helper A: count the rows of data.csv and report the number.", tasks[0].id),
        ("agent-2", "Helper B: read README.md and report its title.", tasks[1].id),
    ]
    assert [(e.path, e.is_error) for e in of(AgentEnded, events)] == [("agent-1", False), ("agent-2", False)]
    waits = {u.id for u in of(ToolUse, events) if u.name == "wait"}
    assert [r.content for r in of(ToolResult, events) if r.id in waits] == [
        "Helper A reports: data.csv has 3 rows and a header.",
        "Helper B reports: the title is Demo project.",
    ]


def test_a_text_sent_again_after_a_break_is_not_shown_again():
    """It comes under a new item id; what follows it is news. The break itself is a warning and a state."""
    events = captured("stream_cut_between")
    assert words_of(events) == ["The first block is whole. ", "The second one is lost at first."]
    (notice,) = of(Notice, events)
    assert notice.level == "warning"
    (state,) = of(State, events)
    assert (state.key, state.value["attempt"], state.value["attempts"]) == ("retry", 1, 2)


def test_a_text_that_continues_after_a_break_adds_only_the_rest_to_its_block():
    """What was shown is the beginning of what comes again."""
    events = events_of(lines(said("One, "), RECONNECTING, said("One, two.", "item_1")))
    assert words_of(events) == ["One, two."]


def test_another_text_after_a_break_is_shown_whole_after_a_notice():
    """Nothing is lost when the model says something else."""
    events = events_of(lines(said("One."), RECONNECTING, said("Two."), said("One.")))
    assert words_of(events) == ["One.", "Two.", "One."]
    assert [type(e).__name__ for e in events] == ["Text", "State", "Notice", "Notice", "Text", "Text"]


def test_a_response_sent_again_from_before_a_call_is_recognised():
    """Text, call, text: broken after the second text, it may begin again with the first."""
    events = events_of(
        lines(
            said("First."),
            ran("item_1"),
            said("Second."),
            RECONNECTING,
            said("First."),
            ran("item_4"),
            said("Second."),
            said("Third."),
        )
    )
    assert words_of(events) == ["First.", "Second.", "Third."]
    assert len(of(ToolUse, events)) == 2


def test_the_same_words_in_every_response_are_not_swallowed_after_breaks():
    """Only one of them is like a text sent again; which of the two it is cannot be told."""
    one, two = (ran(f"item_{n}", f"/bin/bash -lc 'echo {n}'") for n in (1, 2))
    same = said("Identical.")
    events = events_of(lines(same, one, RECONNECTING, same, two, RECONNECTING, same, same, {"type": "turn.completed"}))
    assert words_of(events) == ["Identical."] * 3


def test_a_response_that_breaks_twice_after_its_call_was_carried_out_is_shown_once():
    """The second attempt says that it is still the same response."""
    begun = [said("First."), ran("item_1")]
    again = {"type": "error", "message": "Reconnecting... 2/5 (eof)"}
    events = events_of(lines(*begun, RECONNECTING, *begun, again, *begun, said("Second.")))
    assert words_of(events) == ["First.", "Second."]


def test_an_answer_after_a_break_with_nothing_shown_needs_no_notice():
    """Texts before the last call are of another response."""
    events = captured("stream_cut")
    assert words_of(events) == ["Checking the line.", "Here comes the final answer."]
    assert len(of(Notice, events)) == 1


def test_breaks_upon_breaks_show_each_text_once():
    """A response may be sent three times."""
    events = events_of(
        lines(said("A."), said("B."), RECONNECTING, said("A."), RECONNECTING, said("A."), said("B."), said("C."))
    )
    assert words_of(events) == ["A.", "B.", "C."]


def test_thoughts_are_not_repeated_after_a_break_either():
    """They are sent again like texts."""
    thought = completed("item_0", "reasoning", text="Hm.")
    events = events_of(lines(thought, said("A."), RECONNECTING, thought, said("A.")))
    assert [e.text for e in of(Reasoning, events)] == ["Hm."]


def test_a_model_may_say_the_same_thing_twice():
    """Nothing is compared while the stream is healthy, nor in the next turn."""
    turn = lines(said("Again."), RECONNECTING, {"type": "turn.completed"}, said("Again."), said("Again."))
    assert words_of(events_of(turn)) == ["Again.", "Again.", "Again."]


def test_a_failure_is_told_once_in_words_a_person_can_read():
    """The `error` line and `turn.failed` say the same; the server's JSON is unwrapped; the status gives a hint."""
    (error,) = of(Error, captured("api_bad_request"))
    assert error.text == "the request was rejected by the model server"
    (error,) = of(Error, captured("api_error"))
    assert "503 Service Unavailable" in error.text
    assert error.hint
    for name in ("api_bad_request", "api_error", "api_rate_limit", "error_after_tool"):
        assert [e.is_error for e in of(RunEnded, captured(name))] == [True]


def test_a_turn_that_fails_without_an_error_line_is_told():
    """Either of the two is enough."""
    (error,) = of(Error, events_of(lines({"type": "turn.failed", "error": {"message": "out of tokens"}})))
    assert error.text == "out of tokens"


def test_the_run_carries_session_and_usage():
    """The thread id is what a conversation is resumed with."""
    events = captured("single_tool")
    assert of(RunStarted, events)[0].session == "01a1e0c7-4fbb-7a80-a8a2-85b0978a43ee"
    (ended,) = of(RunEnded, events)
    assert (ended.usage.input_tokens, ended.usage.cache_read_tokens, ended.is_error) == (2100, 0, False)


def test_an_error_item_is_a_warning_and_not_the_end():
    """An unknown model name is worth a notice."""
    notice, *_ = of(Notice, captured("mcp_tool"))
    assert notice.level == "warning"
    assert "not found" in notice.text


def test_an_item_of_a_new_type_that_looks_like_a_call_is_shown_as_one():
    """A later version may know more tools; what is no call stays unknown."""
    item = {"id": "item_1", "type": "image_view", "path": "/a.png", "status": "in_progress"}
    use, result, unknown = events_of(
        lines(
            {"type": "item.started", "item": item},
            {"type": "item.completed", "item": item | {"status": "failed"}},
            {"type": "item.completed", "item": {"id": "item_2", "type": "poem", "verse": 1}},
        )
    )
    assert (use.name, use.native_name, use.arg, result.is_error) == ("image_view", "image_view", "/a.png", True)
    assert isinstance(unknown, Unknown)


def test_half_a_character_does_not_cost_a_line():
    """The strict decoder refuses a lone surrogate; the words around it are shown."""
    line = b'{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"a \\ud83d b"}}'
    assert words_of(events_of(line)) == ["a \ufffd b"]


def test_item_ids_of_a_second_run_are_not_confused_with_the_first():
    """Two recordings one after the other: ids begin again, a call left open does not close another."""
    data = load_capture("codex", "dangling_command")[0] + load_capture("codex", "single_tool")[0]
    calls, results = of(ToolUse, events_of(data)), of(ToolResult, events_of(data))
    assert [c.id for c in calls] == ["call-1", "call-2"]
    assert [r.id for r in results] == ["call-2"]


def test_memory_does_not_grow_when_every_id_is_new():
    """Calls that never end, searches without a query, agents without an end, texts without a turn's end."""
    source = CodexSource()
    for number in range(3000):
        ident = f"item_{number}"
        spawn = {"tool": "spawn_agent", "receiver_thread_ids": [ident], "status": "completed"}
        for value in (
            started(ident, "command_execution", command="ls"), started(ident + "w", "web_search", query=""),
            completed(ident + "c", "collab_tool_call", **spawn), said("words " * 10), RECONNECTING,
        ):  # fmt: skip
            source.parse_events(msgspec.json.encode(value))
    assert len(source._open_calls) <= 1024
    assert len(source._searches) <= 1024
    assert len(source._agents._open) <= 1024
    assert len(source._words.shown) + len(source._words._expected) + len(source._words._earlier) <= 200


def test_ids_of_threads_are_not_shown():
    """They are for Codex alone."""
    uses = [event for event in captured("delegation") if isinstance(event, ToolUse)]
    assert [use.args for use in uses if use.name == "wait"] == [{}, {}]
