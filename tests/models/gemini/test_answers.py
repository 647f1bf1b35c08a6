"""Recorded answers of generateContent come out as pieces and one whole message."""

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
    ModelError,
    ModelFacts,
    ModelRequest,
    Piece,
    ReasoningDelta,
    TextDelta,
)
from sightline.models._assembly import Assembly
from sightline.models._gemini import GeminiModel
from sightline.models._gemini._answer import GeminiAnswer
from sightline.models.http._sse import Splitter
from sightline.models.http._transport import Transport
from sightline.settings import RetrySettings
from tests.models.gemini.bodies import FULL, USAGE, call, event
from tests.models.serving import KEY, Naps, Reply, Serving, collect, outcome, sse

ASK = ModelRequest(system="Be brief.", messages=[UserMessage([TextPart("Go.")])])
FACTS = ModelFacts(id="gemini-x", provider="google")


def model_at(url: str, *, attempts: int = 0, naps: Naps | None = None) -> GeminiModel:
    transport = Transport(url, GeminiModel.headers(KEY), retry=RetrySettings(attempts=attempts))
    return GeminiModel(FACTS, transport, sleep=naps or Naps())


async def answer_to(*replies: Reply, attempts: int = 0, naps: Naps | None = None) -> tuple[list[Piece], Any]:
    async with Serving(replies) as server:
        model = model_at(server.url, attempts=attempts, naps=naps)
        try:
            return await outcome(model, ASK)
        finally:
            await model.close()


async def answered(*events: dict[str, Any]) -> tuple[list[Piece], Any]:
    return await answer_to(Reply(sse(*events, named=False)))


def without_ids(parts: list[AssistantPart]) -> list[AssistantPart]:
    return [_anonymous(part) if isinstance(part, CallPart) else part for part in parts]


def _anonymous(part: CallPart) -> CallPart:
    return CallPart("", part.name, part.args, part.native_id, part.broken, part.api, part.opaque)


FULL_PARTS = [
    ReasoningPart("**Plan**\nLook first.", "gemini"),
    TextPart("I look around 👨‍👩‍👧‍👦."),
    CallPart("", "read", {"path": "a.py"}, "", "", "gemini", {"thoughtSignature": "c2lnMQ=="}),
    CallPart("", "bash", {"command": "ls"}, "fc-2"),
    ReasoningPart("", "gemini", "c2lnMg=="),
]


async def test_a_full_answer() -> None:
    """Thoughts, words, two calls in one event, a signature at the end: pieces in order, then the whole of it."""
    pieces, done = await answer_to(Reply(FULL))
    message = done.message
    read, bash = (made.id for made in message.calls)
    assert pieces == [
        ReasoningDelta(0, "**Plan**\n"),
        ReasoningDelta(0, "Look first."),
        TextDelta(1, "I look "),
        TextDelta(1, "around 👨‍👩‍👧‍👦."),
        CallStarted(2, read, "read"),
        CallDelta(2, read, "read", '{"path":"a.py"}'),
        CallStarted(3, bash, "bash"),
        CallDelta(3, bash, "bash", '{"command":"ls"}'),
    ]
    assert without_ids(message.parts) == FULL_PARTS
    assert (message.stop_reason, message.api, message.model) == ("tool_use", "gemini", "gemini-x")
    assert message.usage == Usage(100, 50, 64, None, 30, 150)


async def test_chunk_boundaries_anywhere() -> None:
    """One byte at a time, with the line ends Google uses, gives what the whole gives."""
    body = FULL.replace(b"\n", b"\r\n")
    _, done = await answer_to(Reply([body[at : at + 1] for at in range(len(body))]))
    assert without_ids(done.message.parts) == FULL_PARTS


async def test_thoughts_between_words_are_blocks_of_their_own() -> None:
    """A block ends where another kind begins, and is never opened again."""
    pieces, done = await answered(
        event({"text": "a"}, {"text": "hm", "thought": True}, {"text": "b"}),
        event({"text": "c"}, call("bash", {}), {"text": "d"}, finish="STOP"),
    )
    assert [piece.index for piece in pieces] == [0, 1, 2, 2, 3, 3, 4]
    assert without_ids(done.message.parts) == [
        TextPart("a"),
        ReasoningPart("hm", "gemini"),
        TextPart("bc"),
        CallPart("", "bash"),
        TextPart("d"),
    ]


async def test_a_signature_with_words() -> None:
    """It is kept behind them; a signed thought keeps its own."""
    _, done = await answered(
        event({"text": "hm", "thought": True, "thoughtSignature": "QQ=="}),
        event({"text": "hm again", "thought": True}),
        event({"text": "Hi", "thoughtSignature": "Qg=="}),
        event({"text": " there"}, finish="STOP"),
    )
    assert done.message.parts == [
        ReasoningPart("hm", "gemini", "QQ=="),
        ReasoningPart("hm again", "gemini"),
        TextPart("Hi"),
        ReasoningPart("", "gemini", "Qg=="),
        TextPart(" there"),
    ]


@pytest.mark.parametrize(
    ("args", "expected"),
    [(None, {}), ({}, {}), ({"a": [1, {"b": None}], "ü": "\x1b"}, {"a": [1, {"b": None}], "ü": "\x1b"})],
)
async def test_arguments(args: Any, expected: Any) -> None:
    """They arrive whole; none at all are none."""
    _, done = await answered(event(call("bash", args), finish="STOP"))
    assert done.message.calls[0].args == expected


@pytest.mark.parametrize(
    ("reason", "stop_reason"),
    [
        ("STOP", "stop"),
        ("FINISH_REASON_UNSPECIFIED", "stop"),
        ("MAX_TOKENS", "length"),
        *(
            (reason, "refusal")
            for reason in ("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII")
        ),
    ],
)
async def test_finish_reasons(reason: str, stop_reason: str) -> None:
    """Each is one of ours, and a refusal says why."""
    _, done = await answered(event({"text": "Hi"}), event(finish=reason, finishMessage="Because."))
    assert done.message.stop_reason == stop_reason
    assert done.message.text == "Hi"
    assert done.message.error == (f"{reason}: Because." if stop_reason == "refusal" else "")


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER", "OF_A_LATER_YEAR"])
async def test_an_answer_the_model_could_not_finish(reason: str) -> None:
    """It is an error that passes: with nothing said it is asked again, else what was said is in `partial`."""
    naps = Naps()
    broken = Reply(sse(event(finish=reason, finishMessage="print(default_api.x"), named=False))
    async with Serving([broken, Reply(FULL)]) as server:
        model = model_at(server.url, attempts=1, naps=naps)
        pieces = await collect(model, ASK)
        await model.close()
    assert isinstance(pieces[-1], Done)
    assert len(naps.slept) == 1
    _, error = await answered(event({"text": "Hi"}), event(finish=reason))
    assert (error.kind, error.retryable, error.partial.parts) == ("protocol", True, [TextPart("Hi")])
    assert reason in error.message


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        ([None, None], None),
        ([{}, None], Usage()),
        ([{"promptTokenCount": 5}, None], Usage(5)),
        ([{"promptTokenCount": 5}, {"candidatesTokenCount": 2, "totalTokenCount": 7}], Usage(5, 2, total_tokens=7)),
        ([{"promptTokenCount": 5}, {"promptTokenCount": 6, "thoughtsTokenCount": 4}], Usage(6, 4, reasoning_tokens=4)),
        ([USAGE, {"cachedContentTokenCount": 0, "toolUsePromptTokenCount": 3}], Usage(103, 50, 0, None, 30, 150)),
    ],
)
async def test_usage(told: list[Any], usage: Usage | None) -> None:
    """The last word counts, thinking is part of what was written, and what nobody said is not known."""
    _, done = await answered(event({"text": "Hi"}, usage=told[0]), event(finish="STOP", usage=told[1]))
    assert done.message.usage == usage
    assert done.message.cost is None


@pytest.mark.parametrize("usage", [{"promptTokenCount": 9}, None])
async def test_a_prompt_that_is_blocked(usage: Any) -> None:
    """There is no answer, and asking again does not help."""
    blocked: dict[str, Any] = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
    pieces, error = await answered(blocked if usage is None else {**blocked, "usageMetadata": usage})
    assert pieces == []
    assert (error.kind, error.retryable) == ("refused", False)
    assert "PROHIBITED_CONTENT" in error.message


async def test_what_is_not_known_is_passed_over() -> None:
    """Other candidates, other parts, other fields, an answer without content."""
    _, done = await answered(
        {"candidates": [{"index": 0, "safetyRatings": [1]}, {"index": 1, "content": {"parts": [{"text": "other"}]}}]},
        event({"executableCode": {"language": "PYTHON", "code": "1"}}, {"text": "Hi"}),
        {"candidates": [{"content": {"role": "model"}, "index": 0}], "promptFeedback": {}},
        {"candidates": []},
        {"candidates": [{"finishReason": "STOP", "groundingMetadata": {}}]},
    )
    assert done.message.parts == [TextPart("Hi")]


async def test_an_error_inside_an_answer() -> None:
    """What came before it is in `partial`, and the key is not in it."""
    said = {"error": {"code": 503, "message": f"The model is overloaded. {KEY}", "status": "UNAVAILABLE"}}
    pieces, error = await answered(event({"text": "So far"}), said)
    assert pieces == [TextDelta(0, "So far")]
    assert (error.kind, error.retryable, error.status) == ("overloaded", True, 503)
    assert error.partial.parts == [TextPart("So far")]
    assert KEY not in error.message + error.partial.error


@pytest.mark.parametrize(
    "data", [b"{", b"[]", b'{"candidates":7}', b"[" * 100_000], ids=["torn", "list", "wrong", "deep"]
)
async def test_what_this_api_does_not_say(data: bytes) -> None:
    """A broken event ends the answer with an error, not with a traceback."""
    body = sse(event({"text": "Hi"}), named=False) + b"data: " + data + b"\n\n"
    pieces, error = await answer_to(Reply(body))
    assert pieces == [TextDelta(0, "Hi")]
    assert (error.kind, error.partial.parts) == ("protocol", [TextPart("Hi")])


def read(events: list[bytes]) -> tuple[list[Piece], Done | ModelError]:
    answer = GeminiAnswer(Assembly("gemini", "m"), lambda usage: None)
    pieces = [piece for data in events for piece in answer.read(data)]
    try:
        return pieces, answer.done()
    except ModelError as error:
        return pieces, error


def test_cut_at_every_byte() -> None:
    """Wherever a stream ends: pieces of the answer, then the whole of it or an error, and never anything else."""
    whole = read([event.data for event in Splitter().feed(FULL)])[0]
    for at in range(len(FULL)):
        splitter = Splitter()
        events = [event.data for event in splitter.feed(FULL[:at])]
        rest = splitter.end()
        pieces, done = read([*events, rest.data] if rest else events)
        assert [type(piece) for piece in pieces] == [type(piece) for piece in whole[: len(pieces)]]
        assert isinstance(done, Done) or done.kind == "cut", (at, done)


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
    st.one_of(st.none(), st.booleans(), st.integers(-2, 3), st.sampled_from(["", "STOP", "OTHER", "QQ=="])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["text", "thought", "functionCall", "name"]), inner),
    ),
    max_leaves=6,
)
keys = st.sampled_from(["candidates", "usageMetadata", "promptFeedback", "error"])
parts = st.dictionaries(st.sampled_from(["text", "thought", "thoughtSignature", "functionCall"]), values, max_size=3)
stray = st.one_of(st.dictionaries(keys, values), st.lists(parts, max_size=3).map(lambda found: event(*found)))


@given(st.lists(stray, max_size=5))
def test_events_of_any_form(events: list[Any]) -> None:
    """A server gone mad is an error of its own, never one of ours."""
    with suppress(ModelError):
        read([msgspec.json.encode(event) for event in events])
