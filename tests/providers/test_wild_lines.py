"""Whatever bytes a stream holds: no source raises, no control character gets into a field, chunks change nothing."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.events import UNKNOWN_CAP, Unknown, decode_event, encode_event
from sightline.providers import EventStream, get_provider

from .support import assert_clean, capture_names, load_capture

CLIS = ["claude", "codex", "gemini", "opencode"]

# The words each wire is made of, so that nonsense gets past the front door.
TYPES = {
    "claude": ["assistant", "user", "system", "result", "stream_event"],
    "codex": [
        "thread.started", "turn.started", "turn.completed", "turn.failed", "error",
        "item.started", "item.updated", "item.completed",
    ],
    "gemini": ["init", "message", "tool_use", "tool_result", "result", "error"],
    "opencode": ["step_start", "text", "reasoning", "tool_use", "step_finish", "error"],
}  # fmt: skip
INNER_TYPES = [
    "text", "thinking", "tool_use", "tool_result", "agent_message", "reasoning", "command_execution", "file_change",
    "mcp_tool_call", "todo_list", "web_search", "collab_tool_call", "error", "something_new", "tool",
]  # fmt: skip
KEYS = [
    "type", "id", "text", "item", "part", "message", "content", "error", "state", "status", "input", "output", "usage",
    "tool", "tool_name", "tool_id", "callID", "sessionID", "messageID", "session_id", "parameters", "role", "delta",
    "command", "aggregated_output", "exit_code", "changes", "path", "kind", "items", "completed", "query", "action",
    "receiver_thread_ids", "agents_states", "prompt", "server", "arguments", "result", "metadata", "exit", "time",
    "start", "end", "reason", "tokens", "cost", "stats", "thread_id", "model", "name", "tool_use_id", "subtype",
    "event", "index", "content_block", "parent_tool_use_id", "is_error", "data", "statusCode", "todos", "agent_name",
]  # fmt: skip
STATUSES = ["completed", "running", "pending", "failed", "error", "success", "in_progress", "assistant", "user"]

hostile_text = st.text(
    st.one_of(st.characters(), st.sampled_from("\x00\x07\x1b\x7f\x85\x9b\x9d\u202e\u2066\ud83d\ude80[]31m\n\t\r")),
    max_size=12,
)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), hostile_text, st.sampled_from(STATUSES + INNER_TYPES)
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(st.sampled_from(KEYS), hostile_text), inner, max_size=6)
    ),
    max_leaves=12,
)


def dumped(value) -> bytes:
    return json.dumps(value).encode()


def typed_objects(provider: str):
    """Objects that look like lines of this provider from outside."""
    inner = st.fixed_dictionaries(
        {"type": st.sampled_from(INNER_TYPES), "id": st.sampled_from(["item_1", "a\nb", "\x1b[31m"])},
        optional={
            "tool": st.sampled_from(["bash", "task", "todowrite", "invalid", "spawn_agent", "wait"]),
            "text": hostile_text,
            "state": st.fixed_dictionaries({"status": st.sampled_from(STATUSES), "input": values}), "status": scalars,
            "command": values, "items": values, "query": hostile_text, "arguments": values, "message": values,
            "agents_states": values, "receiver_thread_ids": values, "prompt": hostile_text, "changes": values,
            "callID": hostile_text, "messageID": hostile_text, "tokens": values, "content": values,
        },
    )  # fmt: skip
    return st.fixed_dictionaries(
        {"type": st.sampled_from(TYPES[provider])},
        optional={
            "item": inner, "part": inner, "message": st.one_of(inner, hostile_text), "content": hostile_text,
            "role": st.sampled_from(["assistant", "user"]), "delta": st.booleans(), "error": values,
            "tool_name": st.sampled_from(["invoke_agent", "write_todos", "run_shell_command", "x\ty"]),
            "tool_id": hostile_text, "parameters": values, "output": hostile_text, "status": st.sampled_from(STATUSES),
            "thread_id": hostile_text, "session_id": hostile_text, "sessionID": hostile_text, "model": hostile_text,
            "subtype": st.sampled_from(["init", "success", "api_retry", "task_notification"]), "result": values,
            "stats": values, "usage": values, "severity": hostile_text,
        },
    )  # fmt: skip


def lines_for(provider: str):
    line = st.one_of(
        st.binary(max_size=80), values.map(dumped), typed_objects(provider).map(dumped),
        st.sampled_from([b"", b"42", b'"x"', b"[]", b"{}", b"null", b"\x00", b"\xff\xfe", b'{"type":', b"NaN"]),
    )  # fmt: skip
    return st.lists(line, max_size=8)


def run(provider: str, chunks: list[bytes]) -> list:
    stream = EventStream(get_provider(provider).source())
    events = [event for chunk in chunks for event in stream.feed(chunk)]
    return events + stream.end()


@pytest.mark.parametrize("provider", CLIS)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(data=st.data())
def test_nothing_raises_and_every_field_is_clean(provider, data):
    """Arbitrary bytes, arbitrary JSON, and JSON that looks right from outside."""
    stream = b"\n".join(data.draw(lines_for(provider)))
    events = run(provider, [stream])
    for event in events:
        assert_clean(event)
        assert event.source == provider
        encode_event(event)


@pytest.mark.parametrize("provider", CLIS)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(data=st.data())
def test_chunk_boundaries_change_nothing(provider, data):
    """However the bytes are cut, the events are the same."""
    stream = b"\n".join(data.draw(lines_for(provider)))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    chunks = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert list(map(encode_event, run(provider, chunks))) == list(map(encode_event, run(provider, [stream])))


@pytest.mark.parametrize(("provider", "name"), [(p, n) for p in CLIS for n in capture_names(p) if "huge" not in n])
def test_a_recording_fed_byte_by_byte_gives_the_same_events(provider, name):
    """Chunking equality for every recording; and what it gives survives the trip through NDJSON."""
    data, _ = load_capture(provider, name)
    whole = run(provider, [data])
    assert run(provider, [data[i : i + 1] for i in range(len(data))]) == whole
    for event in whole:
        assert_clean(event)
        assert decode_event(encode_event(event)) == event


@pytest.mark.parametrize("provider", CLIS)
@pytest.mark.parametrize(
    "line",
    [
        b"Loaded cached credentials.", b"42", b"{}", b'{"type":"no such thing"}', b'{"type":"mess', b"\x00\x01\x02",
        b"\xff\xfe\xfd", b'{"type":' * 2000, b"[" * 100_000, b'{"type":"\\b"}',
        b'{"type":{"a":' * 50_000, b"NaN", b'"\\ud800"', b"[1e9999]",
    ],
    ids=lambda line: repr(line[:16]),
)  # fmt: skip
def test_a_line_nobody_can_read_is_kept_as_unknown(provider, line):
    """Never an exception, never silence: `unknown` keeps the payload within its cap, and the stream goes on."""
    source = get_provider(provider).source()
    (event,) = source.parse_events(line)
    assert isinstance(event, Unknown)
    assert event.length == len(line)
    assert event.reason
    assert len(event.raw) <= UNKNOWN_CAP
    data, _ = load_capture(provider, "text_only")
    assert not any(isinstance(e, Unknown) for part in data.splitlines() for e in source.parse_events(part))


@pytest.mark.parametrize("provider", ["codex", "gemini", "opencode"])
def test_a_byte_order_mark_does_not_hide_whose_stream_it_is(provider):
    """Some programs put one before the first line of a file."""
    recognises = get_provider(provider).recognises
    assert recognises is not None
    assert recognises(b"\xef\xbb\xbf" + load_capture(provider, "text_only")[0])
