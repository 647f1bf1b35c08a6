"""Both OpenAI APIs over real connections: streams cut anywhere, bodies whole, retries, errors, keys."""

import asyncio
import json
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.conversation import AssistantMessage, CallPart, TextPart, ToolMessage, UserMessage
from sightline.models import Done, ModelError, ModelFacts, ModelRequest, Piece, Retrying, TextDelta, ToolSpec
from sightline.models._assembly import Assembly
from sightline.models._chat import ChatModel
from sightline.models._chat._answer import ChatAnswer
from sightline.models._responses import ResponsesModel
from sightline.models._responses._answer import ResponsesAnswer
from sightline.models.http._sse import Splitter
from sightline.models.http._transport import Transport
from sightline.settings import RetrySettings
from sightline.testing.standin import StandIn
from tests.models.chat.test_chat_answer import CALLS, call, calling, chunk
from tests.models.responses.test_responses_answer import called, completed, said, thought
from tests.models.serving import KEY, Naps, Reply, Serving, outcome, sse

Client = type[ChatModel] | type[ResponsesModel]

READ = ToolSpec("read", "Reads.", msgspec.Raw(b'{"type":"object","properties":{"path":{"type":"string"}}}'))
ASK = ModelRequest(system="Be brief.", messages=[UserMessage([TextPart("Go.")])], tools=(READ,))

CHAT_BODY = (
    sse(
        chunk(role="assistant", content=""),
        chunk(reasoning_content="Hm 日本."),
        chunk(content="I look "),
        chunk(content="👨‍👩‍👧."),
        calling(call(0, "call_1", "read", "")),
        calling(call(0, arguments='{"path": ')),
        calling(call(0, arguments='"ä.py"}')),
        CALLS,
        {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}},
        named=False,
    )
    + b"data: [DONE]\n\n"
)
RESPONSES_BODY = sse(
    *thought(0, "Hm 日本."),
    *said(1, "I look ", "👨‍👩‍👧."),
    *called(2, "read", '{"path": ', '"ä.py"}'),
    completed(usage={"input_tokens": 10, "output_tokens": 5}),
)
BOTH = pytest.mark.parametrize(
    ("client", "body"), [(ChatModel, CHAT_BODY), (ResponsesModel, RESPONSES_BODY)], ids=["chat", "responses"]
)
EACH = pytest.mark.parametrize("client", [ChatModel, ResponsesModel], ids=["chat", "responses"])


def model_at(client: Client, url: str, *, attempts: int = 0, naps: Naps | None = None) -> ChatModel | ResponsesModel:
    transport = Transport(url, client.headers(KEY), retry=RetrySettings(attempts=attempts))
    return client(ModelFacts(id="gpt-5", provider="openai"), transport, sleep=naps or Naps())


async def answer_to(
    client: Client, *replies: Reply, attempts: int = 0, naps: Naps | None = None
) -> tuple[list[Piece], Any]:
    async with Serving(replies) as server:
        model = model_at(client, server.url, attempts=attempts, naps=naps)
        try:
            return await outcome(model, ASK)
        finally:
            await model.close()


def check_whole(message: AssistantMessage) -> None:
    assert message.text == "I look 👨‍👩‍👧."
    assert [(made.name, made.args) for made in message.calls] == [("read", {"path": "ä.py"})]
    assert message.stop_reason == "tool_use"
    assert message.usage is not None
    assert (message.usage.input_tokens, message.usage.output_tokens) == (10, 5)
    assert message.cost == pytest.approx((10 * 1.25 + 5 * 10) / 1e6)


@BOTH
@pytest.mark.parametrize("size", [1, 3, 7, 64, 10_000])
async def test_chunks_may_be_cut_anywhere(client: Client, body: bytes, size: int) -> None:
    """Also inside a character and between the bytes of a line end."""
    for data in (body, body.replace(b"\n", b"\r\n")):
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        _, done = await answer_to(client, Reply(pieces))
        assert isinstance(done, Done)
        check_whole(done.message)


@BOTH
async def test_a_connection_that_breaks_ends_with_what_had_come(client: Client, body: bytes) -> None:
    """Along a real connection: kind cut with the part that came, or the answer when only its usage is missing."""
    for place in range(0, len(body), 97):
        pieces, ended = await answer_to(client, Reply(body[:place], ending="cut"))
        shown = "".join(piece.text for piece in pieces if isinstance(piece, TextDelta))
        if b'"finish_reason": "tool_calls"}' in body[:place]:
            assert isinstance(ended, Done)
            assert ended.message.calls[0].args == {"path": "ä.py"}
            continue
        assert isinstance(ended, ModelError), place
        assert (ended.kind, ended.retryable) == ("cut", True)
        assert (ended.partial.text if ended.partial else "") == shown
        assert (ended.partial is not None) == bool(pieces)


@pytest.mark.parametrize(
    ("make", "body"),
    [(ChatAnswer, CHAT_BODY), (ResponsesAnswer, RESPONSES_BODY)],
    ids=["chat", "responses"],
)
def test_a_stream_that_ends_at_any_byte_gives_no_wrong_answer(make: Callable[..., Any], body: bytes) -> None:
    """Every byte: a whole answer or kind cut, never half a call as a whole one, never anything else."""
    whole = [type(piece) for piece in _answered(make, body)[0]]
    for place in range(len(body)):
        pieces, error = _answered(make, body[:place])
        if error is None:
            assert isinstance(pieces[-1], Done)
            assert [type(piece) for piece in pieces] == whole
            assert pieces[-1].message.calls[0].args == {"path": "ä.py"}
        else:
            assert error.kind == "cut"
            assert whole[: len(pieces)] == [type(piece) for piece in pieces]


def _answered(make: Callable[..., Any], body: bytes) -> tuple[list[Piece], ModelError | None]:
    answer, splitter = make(Assembly("api", "m"), lambda _: None), Splitter()
    pieces: list[Piece] = []
    try:
        last = splitter.end
        for event in [*splitter.feed(body), last()]:
            pieces += answer.read(event.data) if event is not None else []
        pieces += answer.end() if isinstance(answer, ChatAnswer) else [answer.done()]
    except ModelError as error:
        return pieces, error
    return pieces, None


@pytest.mark.parametrize("ending", ["cut", "open", "error"])
async def test_words_that_were_held_back_are_shown_when_the_answer_breaks_off(ending: Any) -> None:
    """They could have been a call, and are in the part that came."""
    body = sse(chunk(content='Hi\n{"name": "read", "argu'), named=False)
    if ending == "error":
        body += sse({"error": {"message": "it broke", "code": 500}}, named=False)
    async with Serving([Reply(body, ending="chunked" if ending == "error" else ending)]) as server:
        model = ChatModel(
            ModelFacts(id="m", provider="here"), Transport(server.url, {}, retry=RetrySettings(attempts=0))
        )
        pieces, error = await outcome(model, ASK)
        await model.close()
    assert isinstance(error, ModelError)
    assert error.partial is not None
    assert error.partial.text == 'Hi\n{"name": "read", "argu'
    assert "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)) == error.partial.text


_LEAVES = (
    st.none() | st.booleans() | st.integers(-2, 9) | st.floats() | st.sampled_from(["", "x", "{", "response.failed"])
)
_CHAT_KEYS = (
    "choices index delta message finish_reason content reasoning refusal tool_calls function id name arguments usage"
)
_CHAT_KEYS += " prompt_tokens prompt_tokens_details cost error function_call object"
_RESPONSES_KEYS = (
    "type output_index content_index item_id delta item id call_id name arguments response output status usage"
)
_RESPONSES_KEYS += " summary content text encrypted_content error incomplete_details reason code message object"
_TYPES = ["output_item.added", "output_item.done", "output_text.delta", "function_call_arguments.delta", "completed"]
_TYPES += ["reasoning_summary_text.delta", "function_call_arguments.done", "incomplete", "failed", "refusal.delta"]


def _anything(keys: str) -> st.SearchStrategy[Any]:
    names = st.sampled_from(keys.split())
    deep = _LEAVES
    for _ in range(3):
        deep = _LEAVES | st.lists(deep, max_size=2) | st.dictionaries(names, deep, max_size=4)
    events = st.dictionaries(names, deep, max_size=4)
    return st.lists(st.tuples(st.sampled_from(_TYPES), events) | deep.map(lambda value: ("", value)), max_size=4)


@pytest.mark.parametrize(
    ("make", "keys"), [(ChatAnswer, _CHAT_KEYS), (ResponsesAnswer, _RESPONSES_KEYS)], ids=["chat", "responses"]
)
@settings(max_examples=60)
@given(data=st.data())
def test_whatever_a_server_sends_nothing_but_our_error_is_raised(
    make: Callable[..., Any], keys: str, data: st.DataObject
) -> None:
    """Fields in odd places, of odd types, in any number."""
    events = data.draw(_anything(keys))
    values = [{**value, "type": f"response.{name}"} if name else value for name, value in events]
    _answered(make, b"".join(b"data: %s\n\n" % json.dumps(value).encode() for value in values))


@pytest.mark.parametrize(("provider", "calls"), [("here", 1), ("openrouter", 1), ("openai", 0)])
async def test_a_call_in_words_counts_unless_the_model_is_known_to_make_real_ones(provider: str, calls: int) -> None:
    """What OpenAI's own models write is meant as words."""
    body = sse(chunk(content='```json\n{"name": "read", "arguments": {}}\n```'), chunk("stop"), named=False)
    async with Serving([Reply(body)]) as server:
        model = ChatModel(
            ModelFacts(id="m", provider=provider), Transport(server.url, {}, retry=RetrySettings(attempts=0))
        )
        _, done = await outcome(model, ASK)
        await model.close()
    assert isinstance(done, Done)
    assert len(done.message.calls) == calls
    assert bool(done.message.text) == (not calls)


CHAT_WHOLE = {
    "object": "chat.completion",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 2},
}
RESPONSES_WHOLE = completed({"id": "m", "type": "message", "content": [{"type": "output_text", "text": "Hi."}]})[
    "response"
]
WHOLE = pytest.mark.parametrize(
    ("client", "value"), [(ChatModel, CHAT_WHOLE), (ResponsesModel, RESPONSES_WHOLE)], ids=["chat", "responses"]
)
JSON = {"Content-Type": "application/json; charset=utf-8"}


@WHOLE
async def test_a_server_that_does_not_stream_is_understood(client: Client, value: dict[str, Any]) -> None:
    """One JSON body, on as many lines as it likes."""
    reply = Reply(json.dumps(value, indent=2).encode(), headers=JSON, ending="whole")
    pieces, done = await answer_to(client, reply)
    assert pieces == [TextDelta(0, "Hi.")]
    assert done.message.parts == [TextPart("Hi.")]


@WHOLE
@pytest.mark.parametrize("ending", ["cut", "open"])
async def test_half_a_body_is_a_cut_answer(client: Client, value: dict[str, Any], ending: Any) -> None:
    """Wherever it ends."""
    data = json.dumps(value).encode()
    for place in range(1, len(data) - 1, 23):
        _, error = await answer_to(client, Reply(data[:place], headers=JSON, ending=ending))
        assert isinstance(error, ModelError)
        assert error.kind == "cut" or data[:place].endswith(b"}")


@BOTH
async def test_it_is_asked_again_when_the_server_is_overloaded(client: Client, body: bytes) -> None:
    """Each wait is told; the server's word on how long counts."""
    naps = Naps()
    busy = Reply(b'{"error": {"message": "slow down"}}', 429, {"Retry-After": "3"}, "whole")
    broken = Reply(b"", 503, ending="whole")
    async with Serving([busy, broken, Reply(body)]) as server:
        model = model_at(client, server.url, attempts=5, naps=naps)
        pieces = [piece async for piece in model.stream(ASK)]
        await model.close()
    waits = [piece for piece in pieces if isinstance(piece, Retrying)]
    assert pieces[:2] == waits
    assert [wait.seconds for wait in waits] == naps.slept
    assert naps.slept[0] == 3
    assert isinstance(pieces[-1], Done)
    check_whole(pieces[-1].message)
    assert server.asked[0].body == server.asked[2].body


@BOTH
async def test_once_it_began_to_answer_it_is_not_asked_again(client: Client, body: bytes) -> None:
    """Nothing is shown twice."""
    place = body.index(b"I look ") + 100
    async with Serving([Reply(body[:place], ending="cut"), Reply(body)]) as server:
        model = model_at(client, server.url, attempts=5)
        _, error = await outcome(model, ASK)
        await model.close()
    assert isinstance(error, ModelError)
    assert (error.kind, len(server.asked)) == ("cut", 1)
    assert error.partial is not None
    assert error.partial.stop_reason == "error"


@EACH
async def test_no_money_is_not_asked_again(client: Client) -> None:
    """Waiting does not bring any."""
    body = json.dumps({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}).encode()
    async with Serving([Reply(body, 429, {"Retry-After": "1"}, "whole")]) as server:
        model = model_at(client, server.url, attempts=5)
        _, error = await outcome(model, ASK)
        await model.close()
    assert isinstance(error, ModelError)
    assert (error.kind, len(server.asked)) == ("quota", 1)


async def test_an_account_without_summaries_of_the_thinking_is_served_without_them() -> None:
    """The request that was refused is made again without asking for them, and so are all after it."""
    message = "Your organization must be verified to generate reasoning summaries."
    refused = Reply(json.dumps({"error": {"message": message, "param": "reasoning.summary"}}).encode(), 400)
    async with Serving([refused, Reply(RESPONSES_BODY)]) as server:
        model = model_at(ResponsesModel, server.url)
        for _ in range(2):
            _, done = await outcome(model, ASK)
            assert isinstance(done, Done)
        await model.close()
    assert [asked.json["reasoning"].get("summary") for asked in server.asked] == ["auto", None, None]


@EACH
async def test_the_key_is_sent_and_never_told(client: Client) -> None:
    """Whatever a server repeats, in a reply or inside an answer."""
    said_in_reply = Reply(json.dumps({"error": {"message": f"bad key {KEY}"}}).encode(), 401, ending="whole")
    said_in_answer = Reply(sse({"type": "error", "error": {"message": f"bad key {KEY}"}}))
    for reply in (said_in_reply, said_in_answer):
        async with Serving([reply]) as server:
            model = model_at(client, server.url)
            _, error = await outcome(model, ASK)
            await model.close()
        assert isinstance(error, ModelError)
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
        assert "bad key" in error.message
        assert KEY not in f"{error.message} {error.hint} {error!r} {error.__cause__!r} {error.partial!r}"


@EACH
async def test_a_server_that_is_not_there(client: Client) -> None:
    """It is a matter of the network, and may pass."""
    model = model_at(client, "http://127.0.0.1:9")
    _, error = await outcome(model, ASK)
    await model.close()
    assert isinstance(error, ModelError)
    assert (error.kind, error.retryable) == ("network", True)


@BOTH
async def test_who_stops_listening_closes_the_connection(client: Client, body: bytes) -> None:
    """At once, in the middle of an answer that hangs."""
    place = body.index(b"I look ") + 400
    async with Serving([Reply(body[:place], ending="hang")]) as server:
        model = model_at(client, server.url)
        async with asyncio.timeout(30):
            async with aclosing(model.stream(ASK)) as stream:
                async for piece in stream:
                    if isinstance(piece, TextDelta):
                        break
            await server.gone.wait()
        await model.close()


@EACH
async def test_a_conversation_with_the_stand_in(client: Client) -> None:
    """Thinking, words, two calls, their results, the end: through the server that other agents are tested with."""
    script: list[list[dict[str, Any]]] = [
        [{"reasoning": "Hm."}, {"text": "I read."}, *({"tool": "read", "args": {"path": name}} for name in ("a", "b"))],
        [{"text": "Both are there."}],
    ]
    async with StandIn(script) as server:
        model = model_at(client, f"{server.url}/v1")
        _, first = await outcome(model, ASK)
        assert isinstance(first, Done)
        assert [made.args for made in first.message.calls] == [{"path": "a"}, {"path": "b"}]
        results = [_result(made) for made in first.message.calls]
        again = msgspec.structs.replace(ASK, messages=[*ASK.messages, first.message, *results])
        _, second = await outcome(model, again)
        await model.close()
    assert isinstance(second, Done)
    assert (second.message.text, second.message.stop_reason) == ("Both are there.", "stop")
    assert second.message.usage is not None


def _result(made: CallPart) -> ToolMessage:
    return ToolMessage(made.id, made.name, [TextPart("x")], made.native_id)
