"""Servers that send what no API says: the answer is read as far as it can be, or fails with one error, and soon."""

import asyncio
import json
import time
import tracemalloc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import psutil
import pytest

from sightline.conversation import (
    AssistantMessage,
    CallPart,
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolMessage,
    UserMessage,
)
from sightline.exceptions import UserMistake
from sightline.models import Done, ModelError, ModelFacts, ModelRequest, Piece, Retrying, TextDelta, ToolSpec
from sightline.models._anthropic import AnthropicModel
from sightline.models._anthropic._request import encoded as for_anthropic
from sightline.models._assembly import decoded_arguments
from sightline.models._chat import ChatModel
from sightline.models._chat._request import encoded as for_chat
from sightline.models._gemini import GeminiModel
from sightline.models._gemini._request import encoded as for_gemini
from sightline.models._history import tool_name
from sightline.models._responses import ResponsesModel
from sightline.models._responses._request import encoded as for_responses
from sightline.models._textual import WrittenCalls
from sightline.models.http._sse import EventTooLong, Splitter
from sightline.models.http._transport import Transport
from sightline.settings import RetrySettings
from tests.models.serving import KEY, Naps, Reply, Serving, collect, outcome, sse

Client = type[AnthropicModel] | type[GeminiModel] | type[ChatModel] | type[ResponsesModel]

CLIENTS: dict[str, Client] = {
    "anthropic": AnthropicModel,
    "gemini": GeminiModel,
    "chat": ChatModel,
    "responses": ResponsesModel,
}
ENCODED: dict[str, Callable[[ModelRequest, ModelFacts], bytes]] = {
    "anthropic": for_anthropic,
    "gemini": for_gemini,
    "chat": for_chat,
    "responses": for_responses,
}
EACH = pytest.mark.parametrize("api", CLIENTS)
READ = ToolSpec("read", "Reads.", msgspec.Raw(b'{"type":"object","properties":{"path":{"type":"string"}}}'))
ASK = ModelRequest(system="Be brief.", messages=[UserMessage([TextPart("Go.")])], tools=(READ,))
JSON = {"Content-Type": "application/json"}


def model_at(url: str, api: str, *, attempts: int = 0, naps: Naps | None = None, **seconds: float) -> Any:
    client = CLIENTS[api]
    transport = Transport(url, client.headers(KEY), retry=RetrySettings(attempts=attempts), **seconds)
    return client(ModelFacts(id="m", provider="own"), transport, sleep=naps or Naps())


async def answer_to(api: str, *replies: Reply, attempts: int = 0, naps: Naps | None = None) -> Any:
    """The last word: a message, or the error."""
    async with Serving(replies) as server:
        model = model_at(server.url, api, attempts=attempts, naps=naps)
        try:
            _, end = await asyncio.wait_for(outcome(model, ASK), 60)
        finally:
            await model.close()
    return end.message if isinstance(end, Done) else end


# What the answer of each API looks like around a text, a call, and usage.


def anthropic_events(*blocks: dict[str, Any], usage: Any = None) -> bytes:
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}
    return sse({"type": "message_start", "message": {}}, *blocks, end, {"type": "message_stop"})


def begun(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def more(index: int, **delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def ended(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def words(index: int, text: str) -> dict[str, Any]:
    return more(index, type="text_delta", text=text)


def arguments(index: int, text: str) -> dict[str, Any]:
    return more(index, type="input_json_delta", partial_json=text)


def called(index: int, ident: str) -> dict[str, Any]:
    return begun(index, type="tool_use", id=ident, name="read", input={})


def chat_events(*deltas: dict[str, Any], usage: Any = None) -> bytes:
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage}
    return sse(*chunks, end, named=False) + b"data: [DONE]\n\n"


def chat_call(name: str | None, text: str = "{}", index: Any = 0, ident: str | None = "c1") -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "id": ident, "function": {"name": name, "arguments": text}}]}


def saying_hi(api: str, usage: Any) -> bytes:
    match api:
        case "anthropic":
            return anthropic_events(words(0, "hi"), usage=usage)
        case "gemini":
            candidate = {"content": {"parts": [{"text": "hi"}]}, "finishReason": "STOP"}
            return sse({"candidates": [candidate], "usageMetadata": usage}, named=False)
        case "chat":
            return chat_events({"content": "hi"}, usage=usage)
    delta = {"type": "response.output_text.delta", "output_index": 0, "delta": "hi"}
    return sse(delta, {"type": "response.completed", "response": {"status": "completed", "usage": usage}})


GARBAGE = {
    "html": Reply(b"<html>hi</html>", headers={"Content-Type": "text/html"}),
    "html that says it is events": Reply(b"<html>\n\nhi</html>\n\n"),
    "nothing": Reply(b""),
    "an empty JSON body": Reply(b"", headers=JSON),
    "JSON of something else": Reply(b'{"foo": 1}', headers=JSON),
    "null": Reply(b"data: null\n\n"),
    "a list": Reply(b"data: [1]\n\n"),
    "a number": Reply(b"data: 12345678901234567890123\n\n"),
    "no UTF-8": Reply(b'data: {"a":"\xff\xfe\n\n'),
    "deep": Reply(b"data: " + b'{"a":' * 50_000 + b"\n\n"),
    "deep and closed": Reply(b'data: {"x":' + b"[" * 50_000 + b"]" * 50_000 + b"}\n\n"),
    "gzip that is none": Reply(b"not gzip", headers={"Content-Encoding": "gzip"}),
    "no content": Reply(status=204, ending="whole"),
    "cut at once": Reply(b"data: {", ending="cut"),
    "a failure in HTML": Reply(b"<html>" + b"x" * 100_000, status=502, headers={"Content-Type": "text/html"}),
}


@EACH
@pytest.mark.parametrize("reply", GARBAGE.values(), ids=GARBAGE)
async def test_garbage_is_one_error(api: str, reply: Reply) -> None:
    """Whatever comes instead of an answer, a ModelError does, and it fits on a few lines."""
    error = await answer_to(api, reply)
    assert isinstance(error, ModelError)
    assert len(error.message) < 1000
    assert KEY not in error.message + error.hint


@EACH
@pytest.mark.parametrize("body", ['{"error":{"message":"the tank is empty"}}', '{"error":"the tank is empty"}'])
@pytest.mark.parametrize("whole", [True, False], ids=["body", "event"])
async def test_an_error_with_status_200_is_passed_on(api: str, body: str, whole: bool) -> None:
    """What the server says went wrong is said, though it said OK first."""
    reply = Reply(body.encode(), headers=JSON) if whole else Reply(f"data: {body}\n\n".encode())
    error = await answer_to(api, reply)
    assert isinstance(error, ModelError)
    assert "the tank is empty" in error.message


@EACH
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_redirects_are_not_followed(api: str, status: int) -> None:
    """The key goes to the server it is for, and nowhere it points to."""
    async with Serving([Reply(b"data: {}\n\n")]) as elsewhere:
        moved = Reply(status=status, headers={"Location": f"{elsewhere.url}/v1"}, ending="whole")
        error = await answer_to(api, moved)
        assert isinstance(error, ModelError)
        assert not error.retryable
        assert elsewhere.asked == []


@EACH
@pytest.mark.parametrize("odd", ["12", -12, 10**30, 1.5, True, None, [], {}], ids=repr)
async def test_odd_usage_costs_nothing_of_the_answer(api: str, odd: Any) -> None:
    """Numbers that are none are not known; the words beside them are there."""
    names = (
        "input_tokens",
        "output_tokens",
        "prompt_tokens",
        "completion_tokens",
        "promptTokenCount",
        "totalTokenCount",
    )
    for usage in (dict.fromkeys(names, odd), odd if not isinstance(odd, (dict, type(None))) else [odd]):
        message = await answer_to(api, Reply(saying_hi(api, usage)))
        assert message.text == "hi"
        told = msgspec.to_builtins(message.usage) if message.usage else {}
        assert all(count is None for count in told.values())
        assert message.cost is None


async def test_an_index_that_is_used_again() -> None:
    """Anthropic's blocks are told apart though a server numbers all of them 0: nothing is lost or joined."""
    body = anthropic_events(
        begun(0, type="text", text=""), words(0, "Two calls."), ended(0),
        called(0, "t1"), arguments(0, '{"path":"a"}'), ended(0),
        called(0, "t2"), arguments(0, '{"path":"b"}'), ended(0),
    )  # fmt: skip
    message = await answer_to("anthropic", Reply(body))
    assert message.text == "Two calls."
    assert [(call.native_id, call.args) for call in message.calls] == [("t1", {"path": "a"}), ("t2", {"path": "b"})]
    assert all(call.id for call in message.calls)


async def test_a_delta_of_another_kind_than_its_block() -> None:
    """Words under the index of a call are words, arguments under that of a text are nobody's; an index is one block."""
    body = anthropic_events(
        called(0, "t1"), words(0, "words"), arguments(0, "{}"), ended(0),
        begun(-3, type="text", text=""), words(-3, "more"), arguments(-3, '{"x":1}'), ended(-3),
    )  # fmt: skip
    async with Serving([Reply(body)]) as server:
        model = model_at(server.url, "anthropic")
        pieces = await collect(model, ASK)
        await model.close()
    assert isinstance(pieces[-1], Done)
    message = pieces[-1].message
    assert message.text == "wordsmore"
    assert [call.args for call in message.calls] == [{}]
    kinds: dict[int, set[str]] = {}
    for piece in pieces[:-1]:
        assert not isinstance(piece, (Done, Retrying))
        kinds.setdefault(piece.index, set()).add(type(piece).__name__.replace("Started", "Delta"))
    assert all(len(kind) == 1 for kind in kinds.values())


async def test_items_without_ids_are_not_called_twice() -> None:
    """Responses: what the last event repeats is what was said, also where items have no ids."""
    call = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}
    body = sse(
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "hi"},
        {"type": "response.output_item.added", "output_index": 1, "item": {**call, "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{}"},
        {
            "type": "response.completed",
            "response": {
                "status": "completed",
                "output": [{"type": "message", "content": [{"type": "output_text", "text": "hi"}]}, call],
            },
        },
    )
    message = await answer_to("responses", Reply(body))
    assert message.text == "hi"
    assert len(message.calls) == 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a":"\\ud83d"}', {"a": "\ufffd"}),
        ('{"a":"\\ud83d\\ude00"}', {"a": "😀"}),
        ('{"a":"\ud83d\ude00"}', {"a": "😀"}),
        ('{"a":"\ud83d"}', {"a": "\ufffd"}),
        ('{"a":' * 5000 + "1" + "}" * 5000, None),
        ("[" * 100_000, None),
        ('{"a":NaN}', None),
        ('{"a":1e999}', None),
        ('{"a":' + "9" * 5000 + "}", None),
        ('"\ud83d', None),
    ],
    ids=["half", "escapes", "halves", "raw half", "deep", "open", "NaN", "too large", "long number", "broken half"],
)
def test_arguments_that_cannot_be_kept(text: str, value: dict[str, Any] | None) -> None:
    """Arguments can be written to the journal and sent again, or are told to be broken."""
    args, broken = decoded_arguments(text)
    assert (args == value) if value is not None else (not args and broken)
    msgspec.json.encode([args, broken])


async def test_half_characters_in_a_call() -> None:
    """A call whose input, name and id have halves of characters comes out as one that can be kept."""
    block = '{"type":"tool_use","id":"x\\ud83d","name":"re\\udc00ad","input":{"path":"\\ud83d"}}'
    body = f'data: {{"type":"content_block_start","index":0,"content_block":{block}}}\n\n'.encode()
    message = await answer_to("anthropic", Reply(body + sse(ended(0)) + anthropic_events()))
    assert len(message.calls) == 1
    msgspec.json.encode(message)


async def test_a_call_without_a_name_and_one_with_any() -> None:
    """They come out as they are, so that the model hears what was wrong."""
    nameless = await answer_to("chat", Reply(chat_events(chat_call(None))))
    assert [call.name for call in nameless.calls] == [""]
    odd = await answer_to("chat", Reply(chat_events(chat_call("re\nad\x1b[2J"))))
    assert [call.name for call in odd.calls] == ["re\nad\x1b[2J"]


@pytest.mark.parametrize("index", [[], {}, "0", 1.5, None, -1, True], ids=repr)
async def test_an_odd_index_of_a_call(index: Any) -> None:
    """It is a call all the same."""
    message = await answer_to(
        "chat", Reply(chat_events(chat_call("read", '{"path":', index), chat_call(None, '"a"}', index)))
    )
    assert [call.args for call in message.calls] == [{"path": "a"}]


async def test_thousands_of_calls_take_no_time() -> None:
    """Ten thousand calls, and a call whose name comes with each of many pieces: seconds would be the square of them."""
    began = time.process_time()
    body = chat_events(*[chat_call("read", "{}", at, f"c{at}") for at in range(10_000)])
    assert len((await answer_to("chat", Reply(body))).calls) == 10_000
    pieces = ['{"path":"', *["abcdefgh"] * 20_000, '"}']
    message = await answer_to("chat", Reply(chat_events(*[chat_call("read", piece, 0, None) for piece in pieces])))
    assert len(message.calls[0].args["path"]) == 160_000
    assert time.process_time() - began < 5


async def test_a_long_text_in_small_pieces_takes_no_time() -> None:
    """Responses repeats texts whole, so they are kept to compare; that costs their length."""
    deltas = [{"type": "response.output_text.delta", "output_index": 0, "delta": "abcdefgh"}] * 60_000
    item = {"type": "message", "content": [{"type": "output_text", "text": "abcdefgh" * 60_000 + "!"}]}
    done = {"type": "response.completed", "response": {"status": "completed", "output": [item]}}
    began = time.process_time()
    message = await answer_to("responses", Reply(sse(*deltas, done)))
    assert len(message.text) == 480_001
    assert time.process_time() - began < 5


def test_an_event_of_empty_lines_has_an_end() -> None:
    """Data lines without data are counted too: nothing grows for ever."""
    splitter = Splitter(limit=10_000)
    for _ in range(10):
        splitter.feed(b"data:\n" * 1000)
    with pytest.raises(EventTooLong):
        splitter.feed(b"data:\n")


@pytest.mark.parametrize("chunk", [b"data:\n" * 1000, b"x" * 1], ids=["lines", "pieces of a line"])
def test_an_event_takes_no_more_memory_than_its_length(chunk: bytes) -> None:
    """Neither empty lines nor pieces of one line cost more than their bytes: the bound of an event is one of memory."""
    splitter = Splitter()
    tracemalloc.start()
    try:
        for _ in range(200_000 // chunk.count(b"\n") if b"\n" in chunk else 200_000):
            splitter.feed(chunk)
        splitter.feed(b"\n\n")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 2_000_000


async def test_many_lines_of_one_event_cost_their_length() -> None:
    """Two million lines: what is counted anew with each piece would be minutes."""
    splitter = Splitter()
    began = time.process_time()
    for _ in range(1000):
        splitter.feed(b"data: x\n" * 2000)
    (event,) = splitter.feed(b"\n")
    assert len(event.data) == 2 * 2_000_000 - 1
    assert time.process_time() - began < 10


# Connections that misbehave.


@asynccontextmanager
async def raw_server(*said: bytes, every: float | None = None, abort: bool = False) -> AsyncIterator[str]:
    """Says this to whoever asks, the last of it again and again, or hangs up."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            for piece in said:
                writer.write(piece)
            await writer.drain()
            while every is not None:
                writer.write(said[-1])
                await writer.drain()
                await asyncio.sleep(every)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort() if abort else writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
PHASES = {
    "before a word": b"",
    "in the status": b"HTTP/1.1 20",
    "in the headers": b"HTTP/1.1 200 OK\r\nContent-Ty",
    "after the headers": HEAD + b"\r\n",
    "in an event": HEAD + b"\r\ndata: {",
    "after an event": HEAD + b'\r\ndata: {"type":"ping"}\n\n',
    "no HTTP": b"220 mail.example ESMTP\r\n\r\n",
    "a wrong chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n",
    "a wrong length": HEAD + b"Content-Length: -5\r\n\r\n",
    "less than the length": HEAD + b"Content-Length: 500\r\n\r\ndata: {}\n\n",
    "endless headers": HEAD + b"x: " + b"a" * 200_000 + b"\r\n\r\n",
    "another protocol": b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n",
}


@EACH
@pytest.mark.parametrize("abort", [False, True], ids=["closed", "reset"])
@pytest.mark.parametrize("said", PHASES.values(), ids=PHASES)
async def test_a_connection_that_breaks(api: str, said: bytes, abort: bool) -> None:
    """In every phase it is an error that may pass, and never anything else."""
    async with raw_server(said, abort=abort) as url:
        model = model_at(url, api)
        _, error = await asyncio.wait_for(outcome(model, ASK), 20)
        await model.close()
    assert isinstance(error, ModelError)
    assert error.kind in ("network", "cut", "protocol")


async def test_http_1_0() -> None:
    """A server of before chunks ends its answer by closing."""
    async with raw_server(HEAD.replace(b"1.1", b"1.0") + b"\r\n" + chat_events({"content": "hi"})) as url:
        model = model_at(url, "chat")
        _, end = await outcome(model, ASK)
        await model.close()
    assert isinstance(end, Done)
    assert end.message.text == "hi"


@pytest.mark.parametrize(
    "ping", [b": ping\n\n", b"event: ping\ndata: {}\n\n", b"\n"], ids=["comment", "event", "blank"]
)
async def test_a_server_that_only_pings_is_not_waited_for_for_ever(ping: bytes) -> None:
    """Signs of life put off the end of waiting, but not for ever."""
    async with raw_server(HEAD + b"\r\n", ping, every=0.02) as url:
        model = model_at(url, "chat", silence_seconds=5, pinged_seconds=0.3)
        _, error = await asyncio.wait_for(outcome(model, ASK), 20)
        await model.close()
    assert isinstance(error, ModelError)
    assert error.kind == "cut"


@EACH
async def test_one_body_that_never_ends_is_not_waited_for_for_ever(api: str) -> None:
    """A server that does not stream has to come to an end too."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
    async with raw_server(head, b" ", every=0.02) as url:
        model = model_at(url, api, silence_seconds=5, pinged_seconds=0.3)
        _, error = await asyncio.wait_for(outcome(model, ASK), 20)
        await model.close()
    assert isinstance(error, ModelError)
    assert error.kind == "cut"


@pytest.mark.parametrize("name", ["x-a\r\nInjected: yes", "x: y", "x y", "", "nön", "x\x1b[2J"], ids=ascii)
def test_a_header_whose_name_cannot_be_sent(name: str) -> None:
    """It is a mistake in the settings, and the message has nothing in it that a terminal acts upon."""
    with pytest.raises(UserMistake, match="header") as caught:
        Transport("http://127.0.0.1:1", {name: "v"})
    assert caught.value.message.isprintable()
    assert "headers" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "value"),
    [("ALL_PROXY", "http://[::1"), ("SSL_CERT_FILE", "/nonexistent/certificates"), ("ALL_PROXY", "gopher://x:1")],
)
async def test_an_environment_that_leads_nowhere(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """A proxy or certificates that cannot be used are an error that says where to look."""
    for variable in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv(name, value)
    model = model_at("https://server.invalid/v1", "chat")
    _, error = await outcome(model, ASK)
    await model.close()
    assert isinstance(error, ModelError)
    assert name in error.hint


async def test_nothing_stays_open() -> None:
    """Answers that were given up on leave no connection behind; closing twice is closing; a stream ends with it."""
    async with Serving([Reply(b"data: {}\n\n", ending="hang")]) as server:
        before = open_files()
        model = model_at(server.url, "chat")
        for _ in range(3):
            server.answering.clear()
            task = asyncio.create_task(collect(model, ASK))
            await server.answering.wait()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        server.answering.clear()
        last = asyncio.create_task(outcome(model, ASK))
        await server.answering.wait()
        await model.close()
        await model.close()
        _, error = await asyncio.wait_for(last, 20)
        assert isinstance(error, ModelError)
        deadline = time.monotonic() + 10
        while open_files() > before and time.monotonic() < deadline:  # noqa: ASYNC110 (nobody tells of a closed file)
            await asyncio.sleep(0.01)
        assert open_files() <= before


def open_files() -> int:
    return psutil.Process().num_fds()


@EACH
async def test_many_at_once(api: str) -> None:
    """One model answers several requests at the same time, each its own."""
    async with Serving([Reply(saying_hi(api, None))]) as server:
        model = model_at(server.url, api)
        ends = await asyncio.gather(*[outcome(model, ASK) for _ in range(30)])
        await model.close()
    assert [end.message.text for _, end in ends if isinstance(end, Done)] == ["hi"] * 30


WAITS = {
    "0": None, "-5": None, "NaN": None, "inf": None, "1e3": None, "": None, "soon": None, "2": 2.0, " 1.5 ": 1.5,
    "Wed, 21 Oct 2015 07:28:00 GMT": None, "Wed, 99 Foo 2015 07:28:00 GMT": None,
}  # fmt: skip


@pytest.mark.parametrize(("said", "waited"), WAITS.items(), ids=[repr(said) for said in WAITS])
async def test_odd_waits(said: str, waited: float | None) -> None:
    """What is no number of seconds is not waited for; the usual wait is."""
    naps = Naps()
    refusal = Reply(b"{}", status=429, headers={"retry-after": said}, ending="whole")
    error = await answer_to("chat", refusal, attempts=2, naps=naps)
    assert isinstance(error, ModelError)
    assert len(naps.slept) == 2
    assert all(0 < seconds <= 2 for seconds in naps.slept)
    assert waited is None or naps.slept == [waited, waited]


@pytest.mark.parametrize("header", [{"retry-after": "99999999999"}, {"retry-after": "Wed, 21 Oct 2999 07:28:00 GMT"}])
async def test_a_wait_longer_than_ours(header: dict[str, str]) -> None:
    """It is not begun."""
    naps = Naps()
    await answer_to("chat", Reply(b"{}", status=429, headers=header, ending="whole"), attempts=2, naps=naps)
    assert naps.slept == []


# Conversations that no API would have made.

IMAGE = ImagePart("image/png", "artifact://s/1", "aGk=")


def long_conversation(turns: int) -> list[Message]:
    messages: list[Message] = [UserMessage([TextPart("Begin."), IMAGE])]
    for at in range(turns):
        call = CallPart(f"call-{at}", "read", {"path": f"f{at}"}, f"toolu_{at}")
        thought = ReasoningPart("Hm.", "anthropic", "c2ln")
        messages.append(AssistantMessage([thought, TextPart(f"Step {at}. "), call], "anthropic", "m"))
        messages.append(ToolMessage(call.id, "read", [TextPart("found"), IMAGE], call.native_id))
        if at % 3 == 2:
            messages += [AssistantMessage([TextPart("Done. ")], "anthropic", "m"), UserMessage([TextPart("Go on.")])]
    return messages


def asked(messages: list[Message], **more: Any) -> ModelRequest:
    return ModelRequest(system="Be brief.", messages=messages, tools=(READ,), **more)


def without_marks(value: Any) -> Any:
    """A request without what marks the cache, which moves."""
    if isinstance(value, dict):
        return {key: without_marks(inner) for key, inner in value.items() if key != "cache_control"}
    return [without_marks(inner) for inner in value] if isinstance(value, list) else value


def flat(api: str, body: bytes) -> tuple[str, list[str]]:
    """What stands before the conversation, and the pieces of it in order, each as bytes would be."""
    told = without_marks(json.loads(body))
    turns = told.pop({"gemini": "contents", "responses": "input"}.get(api, "messages"))
    inside = {"gemini": "parts", "anthropic": "content"}.get(api)
    pieces = turns if inside is None else [(turn["role"], piece) for turn in turns for piece in turn[inside]]
    return json.dumps(told), [json.dumps(piece) for piece in pieces]


@EACH
@pytest.mark.parametrize("thinking", ["off", "high"])
def test_what_was_sent_is_sent_the_same_again(api: str, thinking: Any) -> None:
    """Servers keep what they have read by its beginning: each request begins with the one before it."""
    messages = long_conversation(8)
    facts = ModelFacts(id="m", provider="own", max_output=64_000)
    before: tuple[str, list[str]] | None = None
    for size in range(1, len(messages) + 1):
        if isinstance(messages[size - 1], AssistantMessage):
            continue
        now = flat(api, ENCODED[api](asked(messages[:size], thinking=thinking), facts))
        if before is not None:
            assert now[0] == before[0]
            assert now[1][: len(before[1])] == before[1]
        before = now


@pytest.mark.parametrize("size", [1, 2, 3, 7, 26])
def test_no_more_than_four_marks(size: int) -> None:
    """Anthropic refuses a request with five."""
    body = for_anthropic(asked(long_conversation(8)[:size]), ModelFacts(id="m"))
    assert 3 <= body.count(b'"cache_control"') <= 4


@EACH
def test_ten_thousand_messages(api: str) -> None:
    """A request is made in a fraction of a second, however long the conversation."""
    messages = long_conversation(4000)
    began = time.process_time()
    ENCODED[api](asked(messages), ModelFacts(id="m"))
    assert time.process_time() - began < 3


NAMES = ["", "re\nad", "functions.read", "読む", "x" * 200, "9lives", "-", "\ud83d", " "]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_names_that_no_server_takes(name: str) -> None:
    """Every API wants letters, digits, `_` and `-`: a call with a made-up name must not end the conversation."""
    sent = tool_name(name)
    assert sent.isascii()
    assert 0 < len(sent) <= 64
    assert sent.replace("-", "_").isidentifier()
    assert tool_name(sent) == sent


@EACH
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_made_up_name_goes_back_as_one_that_is_taken(api: str, name: str) -> None:
    """The call and its result say the same name, and nothing else of it."""
    call = CallPart("call-1", name, {}, "t1")
    messages: list[Message] = [
        UserMessage([TextPart("Go.")]),
        AssistantMessage([call], api, "m"),
        ToolMessage("call-1", name, [TextPart("no such tool")], "t1", True),
    ]
    body = json.loads(ENCODED[api](asked(messages), ModelFacts(id="m")))
    sent = {value["name"] for value in objects(body) if "name" in value} - {"read"}
    assert sent == {tool_name(name)}


def objects(value: Any) -> list[dict[str, Any]]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found = [value] if isinstance(value, dict) else []
    return found + [each for one in inner for each in objects(one)]


@EACH
def test_what_another_api_made_for_itself_is_not_sent(api: str) -> None:
    """Signatures and sealed items go back to where they came from, and nowhere else."""
    parts: list[Any] = [TextPart("Said.")]
    for other in CLIENTS:
        if other != api:
            opaque = {"type": "reasoning", "encrypted_content": "SECRETSEAL", "thoughtSignature": "SECRETSEAL"}
            parts.append(ReasoningPart("SECRETSEAL", other, "SECRETSEAL", opaque))
            parts.append(CallPart(f"c-{other}", "read", {}, f"n-{other}", "", other, opaque))
    messages: list[Message] = [UserMessage([TextPart("Go.")]), AssistantMessage(parts, "other", "m")]
    assert b"SECRETSEAL" not in ENCODED[api](asked(messages), ModelFacts(id="m"))


# Calls among words.

EXAMPLES = {
    "a package": '```json\n{\n "name": "left-pad",\n "version": "1.0.0",\n'
    + ' "a": "b",\n' * 300
    + ' "z": 1\n}\n```\n',
    "a record": '```json\n{\n "id": 1,\n "title": "x",\n' + ' "a": "b",\n' * 300 + ' "z": 1\n}\n```\n',
    "a schema": '```json\n{"type": "object", "properties": {' + '"a": {"type": "string"},\n' * 300 + '"z": {}}}\n```\n',
    "records": "```json\n[\n" + '{"id": 7, "title": "a thing", "tags": ["x"]},\n' * 300 + '{"id": 8}]\n```\n',
    "a tool's namesake": '```json\n{"name": "read", "version": "1",\n' + ' "a": "b",\n' * 300 + ' "z": 1}\n```\n',
    "lines": '{"id": 1, "type": "x", "v": [1, 2, 3]}\n' * 300,
    "code": '```python\nx = {"name": "read"}\n' + "print(1)\n" * 300 + "```\n",
    "prose": 'Write <tool_call> and {"name": "read", "arguments": {}} inside.\n' * 30,
    "a form": 'It is <tool_call>{"name": …, "arguments": …}</tool_call>, you see.\n' * 30,
}


@pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES)
@pytest.mark.parametrize("size", [1, 4, 50])
def test_examples_are_shown_as_they_come(text: str, size: int) -> None:
    """Of JSON that is no call at most a line or two is held back, and all of it is words in the end."""
    reader = WrittenCalls(("read", "bash"))
    said, most = "", 0
    for at in range(0, len(text), size):
        said += reader.feed(text[at : at + size])
        most = max(most, at + len(text[at : at + size]) - len(said))
    rest, calls = reader.end()
    assert (said + rest, calls) == (text, [])
    assert most <= 64 + size


async def test_words_held_back_are_said_when_the_answer_is_cut() -> None:
    """What could have been a call is words when it breaks off."""
    body = chat_events({"content": 'See:\n```json\n{"name": "read", "arg'}).partition(
        b'data: {"choices": [{"index": 0, "delta": {}'
    )[0]
    async with Serving([Reply(body, ending="cut")]) as server:
        model = model_at(server.url, "chat")
        pieces: list[Piece]
        pieces, error = await outcome(model, ASK)
        await model.close()
    assert isinstance(error, ModelError)
    said = "".join([piece.text for piece in pieces if isinstance(piece, TextDelta)])
    assert said == 'See:\n```json\n{"name": "read", "arg'
