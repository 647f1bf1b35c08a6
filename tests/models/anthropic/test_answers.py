"""Recorded answers of the Messages API come out as pieces and one whole message."""

from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.conversation import AssistantPart, CallPart, ReasoningPart, TextPart, UserMessage
from sightline.events import Usage
from sightline.models import (
    CallDelta,
    CallStarted,
    Done,
    ErrorKind,
    ModelError,
    ModelFacts,
    ModelRequest,
    Piece,
    ReasoningDelta,
    TextDelta,
)
from sightline.models._anthropic import AnthropicModel
from sightline.models._anthropic import _wire as wire
from sightline.models._anthropic._answer import AnthropicAnswer
from sightline.models._assembly import Assembly
from sightline.models.http._sse import Splitter
from sightline.models.http._transport import Transport
from sightline.settings import RetrySettings
from tests.models.anthropic.bodies import FULL, PING, begin, call, delta, end, finish, start, text, thinking
from tests.models.serving import KEY, Naps, Reply, Serving, collect, outcome, sse

ASK = ModelRequest(system="Be brief.", messages=[UserMessage([TextPart("Go.")])])
FACTS = ModelFacts(id="claude-x", provider="anthropic")


def model_at(url: str, *, attempts: int = 0, naps: Naps | None = None) -> AnthropicModel:
    transport = Transport(url, AnthropicModel.headers(KEY), retry=RetrySettings(attempts=attempts))
    return AnthropicModel(FACTS, transport, sleep=naps or Naps())


async def answer_to(*replies: Reply, attempts: int = 0, naps: Naps | None = None) -> tuple[list[Piece], Any]:
    async with Serving(replies) as server:
        model = model_at(server.url, attempts=attempts, naps=naps)
        try:
            return await outcome(model, ASK)
        finally:
            await model.close()


async def message_of(*events: dict[str, Any]) -> Any:
    _, done = await answer_to(Reply(sse(*events)))
    assert isinstance(done, Done), done
    return done.message


def without_ids(parts: list[AssistantPart]) -> list[AssistantPart]:
    return [CallPart("", *_rest(part)) if isinstance(part, CallPart) else part for part in parts]


def _rest(part: CallPart) -> tuple[Any, ...]:
    return (part.name, part.args, part.native_id, part.broken, part.api, part.opaque)


FULL_PARTS = [
    ReasoningPart("Let me see 日本語.", "anthropic", "c2ln"),
    ReasoningPart("", "anthropic", "", {"type": "redacted_thinking", "data": "b3BhcXVl"}),
    TextPart("I look around 👨‍👩‍👧‍👦."),
    CallPart("", "read", {"path": "a.py"}, "toolu_1"),
    CallPart("", "bash", {"command": "ls"}, "toolu_2"),
]


async def test_a_full_answer() -> None:
    """Thinking, redacted thinking, words and two calls: pieces in order, then the whole of it."""
    pieces, done = await answer_to(Reply(FULL))
    message = done.message
    read, bash = (call.id for call in message.calls)
    assert pieces == [
        ReasoningDelta(0, "Let me "),
        ReasoningDelta(0, "see 日本語."),
        TextDelta(2, "I look "),
        TextDelta(2, "around 👨‍👩‍👧‍👦."),
        CallStarted(3, read, "read"),
        CallDelta(3, read, "read", '{"path": "a'),
        CallDelta(3, read, "read", '.py"}'),
        CallStarted(4, bash, "bash"),
        CallDelta(4, bash, "bash", '{"command": "ls"}'),
    ]
    assert without_ids(message.parts) == FULL_PARTS
    assert (message.stop_reason, message.api, message.model) == ("tool_use", "anthropic", "claude-x")
    assert message.usage == Usage(12, 42, 2000, 100)


@pytest.mark.parametrize("named", [True, False], ids=["named events", "no event names"])
async def test_chunk_boundaries_anywhere(named: bool) -> None:
    """One byte at a time gives what the whole gives; the name of an event is not needed."""
    body = FULL if named else b"\n".join(line for line in FULL.split(b"\n") if not line.startswith(b"event:"))
    _, done = await answer_to(Reply([body[at : at + 1] for at in range(len(body))]))
    assert without_ids(done.message.parts) == FULL_PARTS


@pytest.mark.parametrize(
    ("reason", "stop_reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
        ("pause_turn", "stop"),
        ("of a later year", "stop"),
        (None, "stop"),
    ],
)
async def test_stop_reasons(reason: str | None, stop_reason: str) -> None:
    """Each is one of ours."""
    message = await message_of(start(), *text(0, "Hi"), *finish(reason))
    assert message.stop_reason == stop_reason


@pytest.mark.parametrize(
    ("first", "last", "usage"),
    [
        (None, None, None),
        ({}, {}, Usage()),
        ({"input_tokens": 5, "output_tokens": 1}, {"output_tokens": 7}, Usage(5, 7)),
        ({"input_tokens": 5}, None, Usage(5, None)),
        ({"input_tokens": 5, "output_tokens": 1}, {"input_tokens": 6, "output_tokens": 7}, Usage(6, 7)),
        (
            {"input_tokens": 5, "cache_read_input_tokens": None},
            {"output_tokens": 7, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 3},
            Usage(5, 7, 0, 3),
        ),
    ],
)
async def test_usage(first: dict[str, Any] | None, last: dict[str, Any] | None, usage: Usage | None) -> None:
    """The last word counts, and what nobody said is not known: never zero."""
    message = await message_of(start(first), *text(0, "Hi"), *finish("end_turn", last))
    assert message.usage == usage
    assert message.cost is None


async def test_the_price_is_asked_for_the_whole_usage() -> None:
    """What an answer cost is told with it."""
    async with Serving([Reply(FULL)]) as server:
        transport = Transport(server.url, {})
        model = AnthropicModel(FACTS, transport, price=lambda usage: (usage.output_tokens or 0) / 100)
        pieces = await collect(model, ASK)
        await model.close()
    assert isinstance(pieces[-1], Done)
    assert pieces[-1].message.cost == 0.42


async def test_what_is_not_known_is_passed_over() -> None:
    """Pings, unknown events, blocks and deltas may stand anywhere, whatever their fields are."""
    message = await message_of(
        {"type": "hello", "delta": "a text", "index": "seven"},
        start(),
        PING,
        begin(0, {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
        delta(0, "input_json_delta", partial_json='{"q"'),
        end(0),
        *text(1, "Hi"),
        begin(2, {"type": "text", "text": "", "citations": None}),
        delta(2, "citations_delta", citation={"x": 1}),
        delta(2, "text_delta", text=" there"),
        end(2),
        {"type": "vendor.extension"},
        *finish("end_turn"),
    )
    assert message.parts == [TextPart("Hi"), TextPart(" there")]


@pytest.mark.parametrize(
    ("pieces", "args", "broken"),
    [
        ([], {}, ""),
        ([""], {}, ""),
        (['{"a": 1}'], {"a": 1}, ""),
        (['{"a"', ": ", "[1,", "2]}"], {"a": [1, 2]}, ""),
        (['{"a": '], {}, '{"a": '),
        (["[1]"], {}, "[1]"),
    ],
)
async def test_arguments(pieces: list[str], args: dict[str, Any], broken: str) -> None:
    """Pieces of JSON text add up; what is no object is kept as the text it is."""
    message = await message_of(start(), *call(0, "toolu_1", "bash", *pieces), *finish("tool_use"))
    (made,) = message.calls
    assert (made.args, made.broken) == (args, broken)


async def test_arguments_that_come_with_the_beginning() -> None:
    """Some servers say them all at once; they are told once."""
    block = {"type": "tool_use", "id": "t", "name": "bash", "input": {"command": "ls"}}
    pieces, done = await answer_to(Reply(sse(start(), begin(0, block), end(0), *finish("tool_use"))))
    (made,) = done.message.calls
    assert made.args == {"command": "ls"}
    assert pieces == [CallStarted(0, made.id, "bash"), CallDelta(0, made.id, "bash", '{"command":"ls"}')]


async def test_half_a_character() -> None:
    """An emoji cut between its halves is put together again; half of one alone does no harm."""
    body = sse(start(), *text(0, "HIGH", "LOW", "!", "HIGH"), *finish("end_turn"))
    body = body.replace(b"HIGH", b"\\ud83d").replace(b"LOW", b"\\ude00")
    pieces, done = await answer_to(Reply(body))
    told = "".join(piece.text for piece in pieces if isinstance(piece, TextDelta))
    assert told.startswith("😀!")
    assert done.message.text.startswith("😀!")
    done.message.text.encode()


async def test_thinking_that_the_filter_changed() -> None:
    """What is shown is filtered; what goes back is what was signed."""
    message = await message_of(start(), *thinking(0, "a\x1b[2J", "b"), *text(1, "Hi"), *finish("end_turn"))
    thought = message.parts[0]
    assert thought.text == "ab"
    assert thought.opaque == {"type": "thinking", "thinking": "a\x1b[2Jb", "signature": "c2ln"}


async def test_an_answer_without_its_very_last_event() -> None:
    """After the stop reason nothing is missing."""
    body = sse(start(), *text(0, "Hi"), *finish("end_turn")[:1])
    _, done = await answer_to(Reply(body, ending="open"))
    assert isinstance(done, Done)
    assert done.message.stop_reason == "stop"


@pytest.mark.parametrize(
    ("kind", "said", "expected", "retryable"),
    [
        ("overloaded_error", "Overloaded", "overloaded", True),
        ("api_error", "Internal server error", "overloaded", True),
        ("rate_limit_error", "Slow down", "rate_limit", True),
        ("invalid_request_error", "prompt is too long: 2 tokens > 1 maximum", "overflow", False),
        ("authentication_error", f"invalid key {KEY}", "auth", False),
        ("something new", "?", "overloaded", True),
    ],
)
async def test_an_error_inside_an_answer(kind: str, said: str, expected: ErrorKind, retryable: bool) -> None:
    """What came before it is in `partial`; nothing is asked again once words were said."""
    body = sse(start(), *text(0, "So far")[:-1], {"type": "error", "error": {"type": kind, "message": said}})
    naps = Naps()
    pieces, error = await answer_to(Reply(body), attempts=3, naps=naps)
    assert pieces == [TextDelta(0, "So far")]
    assert isinstance(error, ModelError)
    assert (error.kind, error.retryable, naps.slept) == (expected, retryable, [])
    assert error.partial is not None
    assert (error.partial.parts, error.partial.stop_reason) == ([TextPart("So far")], "error")
    assert KEY not in error.message + error.partial.error


OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


@pytest.mark.parametrize(
    "failing",
    [Reply(sse(start(), OVERLOADED)), Reply(sse(start()), ending="cut"), Reply(b"", ending="open")],
    ids=["an error", "cut", "nothing"],
)
async def test_what_fails_before_the_first_word_is_asked_again(failing: Reply) -> None:
    """Nobody saw anything yet."""
    naps = Naps()
    async with Serving([failing, Reply(FULL)]) as server:
        model = model_at(server.url, attempts=2, naps=naps)
        pieces = await collect(model, ASK)
        await model.close()
    assert isinstance(pieces[-1], Done)
    assert without_ids(pieces[-1].message.parts) == FULL_PARTS
    assert len(naps.slept) == 1
    assert server.asked[0].body == server.asked[1].body


@pytest.mark.parametrize(
    "data",
    [b"{", b"[]", b'"text"', b'{"type":"content_block_delta","delta":7}', b'{"type":"message"}', b"[" * 100_000],
    ids=["torn", "list", "text", "wrong", "whole", "deep"],
)
async def test_what_this_api_does_not_say(data: bytes) -> None:
    """A broken event ends the answer with an error, not with a traceback."""
    pieces, error = await answer_to(Reply(sse(start(), *text(0, "Hi")) + b"data: " + data + b"\n\n"))
    assert pieces == [TextDelta(0, "Hi")]
    assert (error.kind, error.partial.parts) == ("protocol", [TextPart("Hi")])


async def test_a_cut_stream() -> None:
    """The words so far are kept, the call that was being written is marked by its broken arguments."""
    body = sse(start(), *text(0, "Hi"), *call(1, "toolu_1", "bash", '{"comm')[:-1])
    for ending in ("cut", "open"):
        pieces, error = await answer_to(Reply(body, ending=ending))
        assert pieces[0] == TextDelta(0, "Hi")
        assert (error.kind, error.retryable, error.partial.stop_reason) == ("cut", True, "error")
        assert without_ids(error.partial.parts) == [TextPart("Hi"), CallPart("", "bash", {}, "toolu_1", '{"comm')]


def test_cut_at_every_byte() -> None:
    """Wherever a stream ends: pieces of the answer, then the whole of it or an error, and never anything else."""
    whole = _pieces(FULL)[0]
    for at in range(len(FULL)):
        splitter = Splitter()
        events = splitter.feed(FULL[:at])
        rest = splitter.end()
        pieces, done = read([event.data for event in events] + ([rest.data] if rest else []))
        assert len(pieces) <= len(whole)
        assert [type(piece) for piece in pieces] == [type(piece) for piece in whole[: len(pieces)]]
        assert isinstance(done, Done) or (isinstance(done, ModelError) and done.kind == "cut"), (at, done)


def _pieces(body: bytes) -> tuple[list[Piece], Done | ModelError]:
    return read([event.data for event in Splitter().feed(body)])


def read(events: list[bytes]) -> tuple[list[Piece], Done | ModelError]:
    answer = AnthropicAnswer(Assembly("anthropic", "m"), lambda usage: None)
    pieces = [piece for data in events for piece in answer.read(data)]
    try:
        return pieces, answer.done()
    except ModelError as error:
        return pieces, error


@pytest.mark.parametrize("ending", ["cut", "open"])
async def test_cut_over_the_wire(ending: str) -> None:
    """The same over a real connection, at every tenth byte."""
    places = range(1, len(FULL), 10)
    async with Serving([Reply(FULL[:at], ending=ending) for at in places]) as server:
        model = model_at(server.url)
        for at in places:
            pieces, done = await outcome(model, ASK)
            if isinstance(done, ModelError):
                assert done.kind == "cut", (at, done)
                assert done.partial is not None or not pieces
        await model.close()


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 3), st.sampled_from(["", "text", "tool_use", "{"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(["type", "text", "usage"]), inner)
    ),
    max_leaves=6,
)
fields = st.sampled_from(["index", "delta", "content_block", "message", "usage", "error"])
stray = st.builds(
    lambda kind, more: {**more, "type": kind}, st.sampled_from([*wire.READ, "new"]), st.dictionaries(fields, values)
)
known = st.sampled_from(
    [start(), *text(0, "a"), *thinking(0, "b"), *call(0, "t", "n", "{}"), *call(1, "t", "n"), *finish("x")]
)


@given(st.lists(st.one_of(known, stray), max_size=8))
def test_events_in_any_order_and_of_any_form(events: list[Any]) -> None:
    """A server gone mad is an error of its own, never one of ours."""
    with suppress(ModelError):
        read([msgspec.json.encode(event) for event in events])
