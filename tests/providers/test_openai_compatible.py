"""Chat completions: every recording in both forms, fragments of calls, oddities of servers, broken streams."""

import json
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.events import (
    Error,
    Notice,
    RunEnded,
    RunStarted,
    Text,
    ToolArgs,
    ToolUse,
    TurnEnded,
    TurnStarted,
    Unknown,
    Usage,
)
from sightline.providers import LINE_CAP, EventStream, get_provider
from sightline.providers.openai_compatible import ChatSource, recognises
from sightline.text import clean_text, clean_value

from .chat_wire import DONE, body, calls, chunk, events_of, fragment, kinds, thoughts, words
from .support import CAPTURES, assert_clean, capture_names

FOLDER = CAPTURES / "openai_compatible"
NAME = "openai_compatible"


def meta_of(name: str) -> dict:
    return json.loads((FOLDER / f"{name}.meta.json").read_bytes())


def files_of(name: str, form: str) -> list[dict]:
    return [entry for entry in meta_of(name)["files"] if entry["file"].endswith(form)]


def captured(name: str, form: str) -> list:
    """All responses of a recorded conversation, one after another."""
    bodies = [(FOLDER / entry["file"]).read_bytes() for entry in files_of(name, form)]
    return events_of(b"\n".join(bodies))


def scripted(name: str) -> list[dict]:
    """What the model was scripted to say. Each turn was asked for twice, once per form, so it is listed twice."""
    blocks = []
    for _, turn in groupby(meta_of(name)["expected"], key=lambda block: block["turn"]):
        twice = list(turn)
        blocks += twice[: len(twice) // 2]
    return blocks


def said(name: str, kind: str) -> str:
    return "".join(clean_text(block["text"]) for block in scripted(name) if block["type"] == kind)


def called(name: str) -> list:
    return [(b["name"], clean_value(b["arguments"])) for b in scripted(name) if b["type"] == "tool_call"]


FULL = [name for name in capture_names(NAME) if not name.startswith(("api_", "stream_"))]
CUT = [name for name in capture_names(NAME) if name.startswith("stream_")]
FAILED = [name for name in capture_names(NAME) if name.startswith("api_")]


@pytest.mark.parametrize("name", FULL)
@pytest.mark.parametrize("form", [".json", ".sse"])
def test_every_recording_gives_the_words_and_calls_of_the_script(name, form):
    """US1, SC-003: words, thinking and calls are exactly the scripted ones, each once, whichever form they came in."""
    events = captured(name, form)
    assert words(events) == said(name, "text")
    assert calls(events) == called(name)
    assert thoughts(events) == said(name, "thinking")
    assert not [event for event in events if isinstance(event, (Error, Notice, Unknown))]
    for event in events:
        assert_clean(event)


@pytest.mark.parametrize("name", FULL)
def test_a_conversation_is_the_same_whole_and_streamed(name):
    """The two forms of one conversation give the same words, thinking, calls, usage and reasons."""
    whole, streamed = captured(name, ".json"), captured(name, ".sse")
    assert words(whole) == words(streamed)
    assert calls(whole) == calls(streamed)
    assert thoughts(whole) == thoughts(streamed)
    ends = [[(e.usage, e.stop_reason) for e in events if isinstance(e, TurnEnded)] for events in (whole, streamed)]
    assert ends[0] == ends[1]


@pytest.mark.parametrize("name", CUT)
def test_a_cut_stream_shows_what_arrived_and_says_so(name):
    """Words of a broken stream are a beginning of the scripted ones; one error says that the end is missing."""
    events = captured(name, ".sse")
    assert said(name, "text").startswith(words(events))
    assert [event.text for event in events if isinstance(event, Error)] == ["the stream ended early"]
    assert events[-1].is_error
    assert calls(events) == called(name)


@pytest.mark.parametrize("name", CUT)
def test_the_same_answer_not_streamed_is_whole(name):
    events = captured(name, ".json")
    assert words(events) == said(name, "text")
    assert not [event for event in events if isinstance(event, Error)]


@pytest.mark.parametrize("name", FAILED)
@pytest.mark.parametrize("form", [".json", ".sse"])
def test_an_api_error_becomes_one_error_event(name, form):
    """An error body is read in either form, with the message the server gave."""
    events = events_of((FOLDER / files_of(name, form)[0]["file"]).read_bytes())
    assert kinds(events) == ["RunStarted", "Error", "RunEnded"]
    assert meta_of(name)["expected"][0]["message"] in events[1].text
    assert events[2].is_error


def test_a_whole_answer_gives_exactly_these_events():
    """FR-010 for a body: lifecycle, then all text, then the calls in their order, with usage at the end."""
    usage = Usage(1000, 22, 0, None, 0, 1022)
    assert events_of((FOLDER / "interleaved.turn1.json").read_bytes()) == [
        RunStarted(model="standin-1", source=NAME),
        TurnStarted(source=NAME),
        Text("First the README.Next the data file.", 1, source=NAME),
        ToolUse(
            "call-1", "Read", "read_file", "/project/README.md", {"path": "/project/README.md"},
            "call_ndfJtin3czUB7YNyJAyPRHoN", source=NAME,
        ),
        ToolUse(
            "call-2", "Read", "read_file", "/project/data.csv", {"path": "/project/data.csv"},
            "call_XkntVkhgLPKGKLUcYgCMdrKu", source=NAME,
        ),
        TurnEnded(usage, None, "tool_calls", source=NAME),
        RunEnded(usage, None, "tool_calls", source=NAME),
    ]  # fmt: skip


def test_a_streamed_answer_gives_exactly_these_events():
    """Text at once, arguments while they are written, each call once where its arguments were complete."""
    usage = Usage(1000, 22, 0, None, 0, 1022)
    first, second = {"path": "/project/README.md"}, {"path": "/project/data.csv"}
    assert events_of((FOLDER / "interleaved.turn1.sse").read_bytes()) == [
        RunStarted(model="standin-1", source=NAME),
        TurnStarted(source=NAME),
        Text("First the RE", 1, source=NAME),
        Text("ADME.", 1, source=NAME),
        ToolArgs("call-1", "Read", '{"path":"/pr', source=NAME),
        ToolArgs("call-1", "Read", "oject/README", source=NAME),
        ToolArgs("call-1", "Read", '.md"}', source=NAME),
        ToolUse("call-1", "Read", "read_file", first["path"], first, "call_ndfJtin3czUB7YNyJAyPRHoN", source=NAME),
        Text("Next the dat", 2, source=NAME),
        Text("a file.", 2, source=NAME),
        ToolArgs("call-2", "Read", '{"path":"/pr', source=NAME),
        ToolArgs("call-2", "Read", "oject/data.c", source=NAME),
        ToolArgs("call-2", "Read", 'sv"}', source=NAME),
        ToolUse("call-2", "Read", "read_file", second["path"], second, "call_XkntVkhgLPKGKLUcYgCMdrKu", source=NAME),
        TurnEnded(usage, None, "tool_calls", source=NAME),
        RunEnded(usage, None, "tool_calls", source=NAME),
    ]


def test_usage_and_cost_add_up_over_turns():
    events = captured("interleaved_litellm_anthropic", ".sse")
    turns = [event for event in events if isinstance(event, TurnEnded)]
    assert len(turns) == 3
    assert events[-1].usage.input_tokens == sum(turn.usage.input_tokens for turn in turns)
    assert events[-1].cost == pytest.approx(sum(turn.cost for turn in turns))


@pytest.mark.parametrize("name", ["interleaved.turn1.sse", "unicode.turn1.sse", "interleaved.turn1.json"])
def test_the_way_bytes_are_cut_changes_nothing(name):
    """NFR: fed byte by byte, the events are those of the whole."""
    data = (FOLDER / name).read_bytes()
    stream = EventStream(ChatSource())
    pieces = [event for byte in data for event in stream.feed(bytes([byte]))] + stream.end()
    assert pieces == events_of(data)


@pytest.mark.parametrize("name", ["interleaved.turn1", "interleaved_litellm_gemini.turn2"])
def test_carriage_returns_comments_and_other_fields_change_nothing(name):
    data = (FOLDER / f"{name}.sse").read_bytes()
    decorated = b": keepalive\r\n\r\nevent: message\r\nid: 7\r\nretry: 10\r\n" + data.replace(b"\n", b"\r\n: ping\r\n")
    assert events_of(decorated) == events_of(data)


@pytest.mark.parametrize("indent", [0, 2, "\t"])
def test_a_body_printed_over_many_lines_is_the_same_body(indent):
    """Two bodies in a row, printed with indentation, are shown as each becomes complete."""
    first, second = body({"content": "one "}), body({"content": "two"}, usage={"prompt_tokens": 1})
    printed = [json.dumps(json.loads(one), indent=indent).encode() for one in (first, second)]
    assert events_of(b"\n".join(printed)) == events_of(first + b"\n" + second)
    stream = EventStream(ChatSource())
    assert words(stream.feed(printed[0] + b"\n")) == "one "


def test_bodies_without_a_newline_between_them_are_all_read():
    """`cat turn1.json turn2.json` puts them on one line."""
    assert words(events_of(body({"content": "one "}) + body({"content": "two"}))) == "one two"


def test_a_chunk_printed_over_many_data_lines_is_one_chunk():
    pretty = json.dumps(json.loads(chunk({"content": "hi"})[6:]), indent=1).encode()
    lines = b"".join(b"data: " + line + b"\n" for line in pretty.split(b"\n"))
    assert words(events_of(lines + b"\n" + chunk({}, "stop") + DONE)) == "hi"


def test_an_unreadable_chunk_costs_only_itself():
    """A torn line in the middle of a stream is unknown, and the stream goes on."""
    events = events_of(chunk({"content": "a"}) + b'data: {"te\n\n' + chunk({"content": "b"}, "stop") + DONE)
    assert words(events) == "ab"
    assert [event.raw for event in events if isinstance(event, Unknown)] == ['{"te']


@pytest.mark.parametrize(
    "line",
    [
        b"hello",
        b"7",
        b"null",
        b"[]",
        b"{}",
        b'{"type": "x"}',
        b'{"choices": 5}',
        b"\x00\x01",
        b"\xff\xfe{",
        b"data: x",
        b'{"choices": [{"index": 0, "delta": 3}]}',
        b'{"a":' * 100_000,
        b'{"choices": [{"delta": {"content": ' + b"[" * 100_000,
    ],
)
def test_what_cannot_be_read_is_unknown(line):
    """Never an exception, never silence."""
    (event,) = events_of(line)
    assert isinstance(event, Unknown)
    assert_clean(event)


def test_a_body_of_another_shape_is_unknown_at_once():
    """What is whole JSON is not waited for."""
    assert kinds(ChatSource().parse_events(b'{"choices": 5}')) == ["Unknown"]


def test_a_line_over_the_cap_is_announced_and_the_stream_goes_on():
    stream = EventStream(ChatSource())
    events = stream.feed(b"data: " + b"x" * (LINE_CAP + 1) + b"\n") + stream.feed(chunk({"content": "a"}, "stop"))
    assert kinds(events) == ["Unknown", "RunStarted", "TurnStarted", "Text"]
    (event,) = ChatSource().parse_events(b"{" + b" " * (LINE_CAP + 1))
    assert isinstance(event, Unknown)


def test_lines_that_never_become_a_body_are_bounded():
    """An open brace followed by anything is collected up to the cap, not for ever."""
    source = ChatSource()
    line = b'"' + b"x" * (1024 * 1024) + b'",'
    events = source.parse_events(b"{")
    for _ in range(16):
        events += source.parse_events(line)
    assert kinds(events) == ["Unknown"]


def test_memory_does_not_grow_with_the_length_of_a_stream():
    """Ten thousand responses, every id new, leave nothing behind."""
    import tracemalloc

    source = ChatSource()

    def play(start, count):
        for number in range(start, start + count):
            ident = f"r{number}"
            call = fragment('{"path":"x"}', "read_file", ident=f"call_{number}")
            for line in (
                chunk({"role": "assistant", "content": "words"}, ident=ident),
                chunk(call, "stop", ident=ident),
            ):
                source.parse_events(line.strip())
            source.parse_events(b"data: [DONE]")

    play(0, 200)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        play(1000, 3000)
        assert tracemalloc.get_traced_memory()[0] - before < 64 * 1024
    finally:
        tracemalloc.stop()


KEYS = st.sampled_from(
    ["choices", "delta", "message", "content", "tool_calls", "function", "arguments", "name", "id", "index", "error",
     "finish_reason", "usage", "reasoning_content", "role", "function_call", "text", "type", "model", "object", "cost"]
)  # fmt: skip
NASTY = st.text(alphabet='a\x00\x1b[31m\x9b\u202e\ud83d\ude00\n\t"{}]x', max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | NASTY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | NASTY, inner, max_size=5),
    max_leaves=25,
)
MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "content": JSON,
        "role": JSON,
        "reasoning_content": JSON,
        "refusal": JSON,
        "function_call": st.none() | st.fixed_dictionaries({}, optional={"name": JSON, "arguments": JSON}),
        "tool_calls": st.lists(
            st.fixed_dictionaries(
                {},
                optional={
                    "index": st.integers(0, 2) | JSON,
                    "id": JSON,
                    "function": st.fixed_dictionaries({}, optional={"name": JSON, "arguments": JSON}),
                },
            ),
            max_size=3,
        ),
    },
)
RESPONSE = st.fixed_dictionaries(
    {
        "choices": st.lists(
            st.fixed_dictionaries({}, optional={"delta": MESSAGE, "message": MESSAGE, "finish_reason": JSON}),
            max_size=2,
        )
    },
    optional={"id": JSON, "model": JSON, "error": JSON, "usage": JSON},
)


def encoded(value) -> bytes:
    return json.dumps(value).encode("utf-8", "surrogatepass")


@given(st.lists(st.one_of(st.binary(max_size=60), JSON.map(encoded), RESPONSE.map(encoded)), max_size=8), st.data())
def test_no_bytes_raise_or_put_a_control_character_into_a_field(lines, data):
    """Arbitrary bytes, JSON and near-responses, with and without `data:`, cut anywhere: clean events, the same ones."""
    prefixed = [data.draw(st.sampled_from([b"", b"data: ", b"data:"])) + line for line in lines]
    raw = b"\n".join(prefixed)
    events = events_of(raw)
    for event in events:
        assert_clean(event)
    cut = data.draw(st.integers(0, len(raw)))
    stream = EventStream(ChatSource())
    # `==` and not equal objects: NaN among the arguments differs from itself
    assert repr(stream.feed(raw[:cut]) + stream.feed(raw[cut:]) + stream.end()) == repr(events)


@given(st.lists(NASTY, max_size=6), st.lists(NASTY, max_size=6))
def test_however_text_and_arguments_are_cut_the_result_is_that_of_the_whole(texts, arguments):
    """Chunk boundaries never change words or calls."""
    value = json.dumps({"command": "".join(arguments)})
    pieces = [value[at : at + 3] for at in range(0, len(value), 3)]
    streamed = b"".join(chunk({"content": text}) for text in texts)
    streamed += (
        b"".join(chunk(fragment(piece, "run_command", ident="a")) for piece in pieces) + chunk({}, "stop") + DONE
    )
    call = {"id": "a", "function": {"name": "run_command", "arguments": value}}
    whole = body({"content": "".join(texts), "tool_calls": [call]})
    one, other = events_of(streamed), events_of(whole)
    assert words(one) == words(other)
    assert calls(one) == calls(other)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.turn*")), ids=lambda path: path.name)
def test_every_recording_is_recognised(path):
    data = path.read_bytes()
    assert recognises(data)
    assert recognises(json.dumps(json.loads(data), indent=2).encode() if path.suffix == ".json" else b": hi\n\n" + data)


@pytest.mark.parametrize("other", ["claude", "codex", "gemini", "opencode"])
def test_no_recording_of_another_provider_is_recognised(other):
    paths = sorted((CAPTURES / other).glob("*.jsonl"))
    assert paths
    assert not [path.name for path in paths if recognises(path.read_bytes()[:65536])]


@pytest.mark.parametrize("head", [b"", b"hello", b"{", b"data: [DONE]", b'event: message_start\ndata: {"type": "x"}'])
def test_what_is_no_chat_completion_is_not_recognised(head):
    assert not recognises(head)


def test_the_provider_says_that_it_comes_in_a_burst():
    """US5: its cadence is part of what the program knows about it."""
    provider = get_provider(NAME)
    assert provider.cadence == "burst"
    assert provider.start is not None
    assert isinstance(provider.source(), ChatSource)
