"""Chat Completions: our client hears what the openai package hears."""

import json
from typing import Any

import pytest

from sightline.models import ModelFacts
from sightline.models._chat import ChatModel
from sightline.models.http._transport import Transport
from sightline.settings import RetrySettings
from tests.models.oracles.support import (
    ASK,
    PROMPT,
    Scenario,
    Seen,
    Tokens,
    json_pieces,
    kind_of,
    scenarios,
    statuses,
    through_both,
)
from tests.models.serving import KEY, Reply, Serving, outcome, sse

STOPS = {"stop": "stop", "tool_use": "tool_calls", "length": "length", "refusal": "content_filter"}
MODEL = "gpt-x"
DONE = b"data: [DONE]\n\n"


@pytest.fixture(scope="module")
def sdk() -> Any:
    return pytest.importorskip("openai", reason="the openai package is not installed")


def ours(url: str, provider: str = "openai") -> ChatModel:
    transport = Transport(f"{url}/v1", ChatModel.headers(KEY), retry=RetrySettings(attempts=0))
    return ChatModel(ModelFacts(id=MODEL, provider=provider), transport)


async def theirs(sdk: Any, url: str) -> Seen:
    functions = [{"name": tool.name, "parameters": json.loads(bytes(tool.parameters))} for tool in ASK.tools]
    hearing = _Hearing()
    async with sdk.AsyncOpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0) as client:
        try:
            stream = await client.chat.completions.create(
                model=MODEL,
                messages=[{"role": "user", "content": PROMPT}],
                tools=[{"type": "function", "function": function} for function in functions],
                stream=True,
                stream_options={"include_usage": True},
            )
            async for chunk in stream:
                hearing.hear(chunk)
        except Exception as error:
            return hearing.seen(failed=_kind(error, sdk))
    return hearing.seen()


def _kind(error: Exception, sdk: Any) -> str:
    return "in the stream" if type(error) is sdk.APIError else kind_of(error, sdk)


class _Hearing:
    """Typed chunks put together. A call is told by its index; its first name and id count."""

    def __init__(self) -> None:
        self.text = self.reasoning = self.stop = ""
        self.calls: dict[int, list[str]] = {}
        self.tokens: Tokens | None = None

    def hear(self, chunk: Any) -> None:
        if chunk.usage is not None:
            details = chunk.usage.prompt_tokens_details
            cached = details.cached_tokens if details is not None else None
            self.tokens = Tokens(chunk.usage.prompt_tokens, chunk.usage.completion_tokens, cached or None)
        for choice in chunk.choices:
            self.text += choice.delta.content or ""
            self.reasoning += getattr(choice.delta, "reasoning_content", None) or ""
            for call in choice.delta.tool_calls or []:
                known = self.calls.setdefault(call.index, ["", ""])
                known[0] = known[0] or call.function.name or ""
                known[1] += call.function.arguments or ""
            self.stop = choice.finish_reason or self.stop

    def seen(self, failed: str = "") -> Seen:
        calls = [(name, json.loads(arguments or "{}")) for name, arguments in self.calls.values()] if not failed else []
        stops = {told: ours for ours, told in STOPS.items()}
        return Seen(
            text=self.text,
            reasoning=self.reasoning,
            calls=calls,
            stop="" if failed else stops.get(self.stop, ""),
            tokens=None if failed else self.tokens,
            failed=failed,
        )


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": MODEL, "choices": [choice]}


def events(scenario: Scenario) -> list[dict[str, Any]]:
    made = [chunk(role="assistant", content="")]
    made += [chunk(reasoning_content=piece) for piece in scenario.reasoning]
    made += [chunk(content=piece) for piece in scenario.text]
    for index, call in enumerate(scenario.calls):
        function = {"name": call.name, "arguments": ""}
        made.append(chunk(tool_calls=[{"index": index, "id": call.id, "type": "function", "function": function}]))
        made += [chunk(tool_calls=[{"index": index, "function": {"arguments": piece}}]) for piece in json_pieces(call)]
    made.append(chunk(STOPS[scenario.stop]))
    if scenario.tokens is not None:
        tokens = scenario.tokens
        usage: dict[str, Any] = {"prompt_tokens": tokens.input, "completion_tokens": tokens.output, "total_tokens": 0}
        if tokens.cache_read:
            usage["prompt_tokens_details"] = {"cached_tokens": tokens.cache_read}
        made.append({**chunk(), "choices": [], "usage": usage})
    return made


async def both(sdk: Any, reply: Reply) -> tuple[Seen, Seen]:
    return await through_both(reply, ours, lambda url: theirs(sdk, url))


@scenarios()
async def test_an_answer(sdk: Any, scenario: Scenario) -> None:
    """Words, thinking, calls with their arguments, why it stopped, and tokens are the same."""
    mine, their = await both(sdk, Reply(sse(*events(scenario), named=False) + DONE))
    assert mine == their
    assert mine.text == "".join(scenario.text)
    assert [args for _, args in mine.calls] == [call.args for call in scenario.calls]


async def test_no_usage_is_not_known(sdk: Any) -> None:
    """By neither."""
    mine, their = await both(sdk, Reply(sse(*events(Scenario(text=("Hi",), tokens=None)), named=False) + DONE))
    assert mine == their
    assert mine.tokens is None


async def test_what_llama_cpp_sends(sdk: Any) -> None:
    """Trap 14: name and id in every piece of a call, the old form beside it, nulls everywhere."""
    nulls = {"role": None, "content": None, "refusal": None}

    def piece(arguments: str) -> dict[str, Any]:
        function = {"name": "read", "arguments": arguments}
        call = {"index": 0, "id": "call_0", "type": "function", "function": function}
        return chunk(**nulls, function_call=function, tool_calls=[call])

    told = [chunk(role="assistant", content=None, tool_calls=None), piece('{"path": '), piece('"a'), piece('.py"}')]
    told.append(chunk("tool_calls", content=None, tool_calls=None, function_call=None))
    mine, their = await both(sdk, Reply(sse(*told, named=False) + DONE))
    assert mine == their
    assert mine.calls == [("read", {"path": "a.py"})]


async def test_what_llama_cpp_accepts() -> None:
    """Trap 14: an assistant's message has no null for its content, whatever the conversation was."""
    from sightline.conversation import AssistantMessage, CallPart, TextPart, ToolMessage
    from sightline.models import ModelRequest

    told = [*ASK.messages, AssistantMessage([CallPart("c", "read", {})]), ToolMessage("c", "read", [TextPart("x")])]
    async with Serving([Reply(sse(*events(Scenario(text=("Hi",))), named=False) + DONE)]) as server:
        model = ours(server.url, "here")
        await outcome(model, ModelRequest(system="s", messages=told, tools=ASK.tools, tool_choice="read"))
        await model.close()
    sent = server.asked[0].json
    assert all(message.get("content", "") is not None for message in sent["messages"])
    assert sent["tool_choice"] == {"type": "function", "function": {"name": "read"}}


async def test_a_call_that_is_written_as_text(sdk: Any) -> None:
    """Trap 15: where the SDK hears words with a call in them, we hear the call; of OpenAI's own models it is words."""
    written = '```json\n{"name": "read", "arguments": {"path": "a.py"}}\n```'
    reply = Reply(sse(*events(Scenario(text=(written[:9], written[9:]))), named=False) + DONE)
    mine, their = await through_both(reply, lambda url: ours(url, "here"), lambda url: theirs(sdk, url))
    assert (their.text, their.calls) == (written, [])
    told = json.loads(their.text.strip("`").removeprefix("json"))
    assert mine.calls == [(told["name"], told["arguments"])]
    assert mine.tokens == their.tokens
    mine, their = await both(sdk, reply)
    assert mine == their


@statuses()
async def test_an_error(sdk: Any, status: int, kind: str) -> None:
    """Trap 13: a status is heard although events were asked for."""
    body = {"error": {"message": "No.", "type": "some_error", "code": None, "param": None}}
    reply = Reply(json.dumps(body).encode(), status, {"Content-Type": "application/json"}, "whole")
    mine, their = await both(sdk, reply)
    assert mine == their
    assert mine.failed == kind


async def test_an_error_in_the_middle(sdk: Any) -> None:
    """It is one for both, and the words before it are kept."""
    told = {"error": {"message": "The server is overloaded.", "type": "server_error", "code": None, "param": None}}
    mine, their = await both(sdk, Reply(sse(chunk(content="Hel"), chunk(content="lo"), told, named=False) + DONE))
    assert mine.text == their.text == "Hello"
    assert their.failed == "in the stream"
    assert mine.failed == "server"


@pytest.mark.parametrize("ending", ["cut", "chunked"])
async def test_a_stream_that_is_cut(sdk: Any, ending: Any) -> None:
    """The words so far are the same. Of one that merely ends, the SDK says nothing; we say that it was cut."""
    mine, their = await both(sdk, Reply(sse(chunk(content="Hel"), chunk(content="lo"), named=False), ending=ending))
    assert mine.text == their.text == "Hello"
    assert mine.failed == "connection"
    assert their.failed == ("connection" if ending == "cut" else "")
