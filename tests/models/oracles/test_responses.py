"""OpenAI Responses: our client hears what the openai package hears."""

import json
from typing import Any

import pytest

from sightline.models import ModelFacts
from sightline.models._responses import ResponsesModel
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
from tests.models.serving import KEY, Reply, sse

MODEL = "gpt-x"


@pytest.fixture(scope="module")
def sdk() -> Any:
    return pytest.importorskip("openai", reason="the openai package is not installed")


def ours(url: str) -> ResponsesModel:
    transport = Transport(f"{url}/v1", ResponsesModel.headers(KEY), retry=RetrySettings(attempts=0))
    return ResponsesModel(ModelFacts(id=MODEL, provider="openai"), transport)


async def theirs(sdk: Any, url: str) -> Seen:
    tools = [
        {"type": "function", "name": tool.name, "parameters": json.loads(bytes(tool.parameters)), "strict": False}
        for tool in ASK.tools
    ]
    text = ""
    async with sdk.AsyncOpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0) as client:
        try:
            stream = await client.responses.create(model=MODEL, input=PROMPT, tools=tools, stream=True)
            async for event in stream:
                if event.type == "response.output_text.delta":
                    text += event.delta
                elif event.type in ("response.completed", "response.incomplete", "response.failed"):
                    return _seen(event.response)
        except Exception as error:
            failed = "in the stream" if type(error) is sdk.APIError else kind_of(error, sdk)
            return Seen(text=text, failed=failed)
    return Seen(text=text)


def _seen(response: Any) -> Seen:
    """From the response as it is told whole at the end."""
    if response.status == "failed":
        return Seen(text=response.output_text, failed=response.error.code)
    calls = [
        (item.name, json.loads(item.arguments or "{}")) for item in response.output if item.type == "function_call"
    ]
    thoughts = [part.text for item in response.output if item.type == "reasoning" for part in item.summary]
    reason = response.incomplete_details.reason if response.incomplete_details is not None else ""
    stops = {"max_output_tokens": "length", "content_filter": "refusal", "": "tool_use" if calls else "stop"}
    return Seen(
        text=response.output_text,
        reasoning="".join(thoughts),
        calls=calls,
        stop=stops[reason],
        tokens=_tokens(response.usage),
    )


def _tokens(usage: Any) -> Tokens | None:
    if usage is None:
        return None
    return Tokens(usage.input_tokens, usage.output_tokens, usage.input_tokens_details.cached_tokens or None)


def event(name: str, number: int, /, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{name}", "sequence_number": number, **fields}


class _Script:
    """The events of a response, and its items as they are told whole at its end."""

    def __init__(self, scenario: Scenario) -> None:
        self.events: list[dict[str, Any]] = [event("created", 0, response=self._response("in_progress", []))]
        self.items: list[dict[str, Any]] = []
        if scenario.reasoning:
            self._think(scenario.reasoning)
        if scenario.text:
            self._say(scenario.text)
        for call in scenario.calls:
            self._call(call.name, call.id, json_pieces(call))
        self._end(scenario)

    def _add(self, name: str, /, **fields: Any) -> None:
        self.events.append(event(name, len(self.events), **fields))

    def _think(self, pieces: tuple[str, ...]) -> None:
        item = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAA"}
        at = self._begin(item)
        place = {"output_index": at, "item_id": "rs_1", "summary_index": 0}
        self._add("reasoning_summary_part.added", **place, part={"type": "summary_text", "text": ""})
        for piece in pieces:
            self._add("reasoning_summary_text.delta", **place, delta=piece)
        part = {"type": "summary_text", "text": "".join(pieces)}
        self._add("reasoning_summary_part.done", **place, part=part)
        self._finish({**item, "summary": [part]})

    def _say(self, pieces: tuple[str, ...]) -> None:
        item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
        at = self._begin(item)
        place = {"output_index": at, "item_id": "msg_1", "content_index": 0}
        part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        self._add("content_part.added", **place, part=part)
        for piece in pieces:
            self._add("output_text.delta", **place, delta=piece, logprobs=[])
        part = {**part, "text": "".join(pieces)}
        self._add("content_part.done", **place, part=part)
        self._finish({**item, "status": "completed", "content": [part]})

    def _call(self, name: str, ident: str, pieces: list[str]) -> None:
        item = {"id": f"fc_{ident}", "type": "function_call", "call_id": ident, "name": name, "arguments": ""}
        at = self._begin(item)
        for piece in pieces:
            self._add("function_call_arguments.delta", output_index=at, item_id=item["id"], delta=piece)
        whole = "".join(pieces) or "{}"
        self._add("function_call_arguments.done", output_index=at, item_id=item["id"], name=name, arguments=whole)
        self._finish({**item, "arguments": whole, "status": "completed"})

    def _begin(self, item: dict[str, Any]) -> int:
        self._add("output_item.added", output_index=len(self.items), item=item)
        return len(self.items)

    def _finish(self, item: dict[str, Any]) -> None:
        self._add("output_item.done", output_index=len(self.items), item=item)
        self.items.append(item)

    def _end(self, scenario: Scenario) -> None:
        why = {"length": "max_output_tokens", "refusal": "content_filter"}.get(scenario.stop)
        status = "incomplete" if why else "completed"
        more: dict[str, Any] = {"incomplete_details": {"reason": why} if why else None}
        if scenario.tokens is not None:
            tokens = scenario.tokens
            more["usage"] = {
                "input_tokens": tokens.input,
                "input_tokens_details": {"cached_tokens": tokens.cache_read or 0},
                "output_tokens": tokens.output,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 0,
            }
        self._add(status, response=self._response(status, self.items, **more))

    @staticmethod
    def _response(status: str, output: list[Any], **more: Any) -> dict[str, Any]:
        told = {"id": "resp_1", "object": "response", "created_at": 1, "model": MODEL, "status": status}
        rest = {"output": list(output), "error": None, "tools": [], "tool_choice": "auto", "parallel_tool_calls": True}
        return {**told, **rest, **more}


async def both(sdk: Any, reply: Reply) -> tuple[Seen, Seen]:
    return await through_both(reply, ours, lambda url: theirs(sdk, url))


@scenarios()
async def test_an_answer(sdk: Any, scenario: Scenario) -> None:
    """Words, thinking, calls with their arguments, why it stopped, and tokens are the same."""
    mine, their = await both(sdk, Reply(sse(*_Script(scenario).events)))
    assert mine == their
    assert mine.text == "".join(scenario.text)
    assert [args for _, args in mine.calls] == [call.args for call in scenario.calls]


async def test_no_usage_is_not_known(sdk: Any) -> None:
    """By neither."""
    mine, their = await both(sdk, Reply(sse(*_Script(Scenario(text=("Hi",), tokens=None)).events)))
    assert mine == their
    assert mine.tokens is None


@statuses()
async def test_an_error(sdk: Any, status: int, kind: str) -> None:
    """Trap 13: a status is heard although events were asked for."""
    body = {"error": {"message": "No.", "type": "some_error", "code": None, "param": None}}
    reply = Reply(json.dumps(body).encode(), status, {"Content-Type": "application/json"}, "whole")
    mine, their = await both(sdk, reply)
    assert mine == their
    assert mine.failed == kind


async def test_a_response_that_failed(sdk: Any) -> None:
    """The SDK passes it on as a response, we as the error it tells."""
    told = _Script(Scenario(text=("Hel", "lo"))).events
    failed = {**told[-1]["response"], "status": "failed", "error": {"code": "server_error", "message": "It broke."}}
    mine, their = await both(sdk, Reply(sse(*told[:-1], event("failed", 99, response=failed))))
    assert mine.text == their.text == "Hello"
    assert (mine.failed, their.failed) == ("server", "server_error")


async def test_an_error_event(sdk: Any) -> None:
    """It is an error for both, and the words before it are kept."""
    told = _Script(Scenario(text=("Hel", "lo"))).events[:5]
    error = {"type": "error", "sequence_number": 9, "code": "server_error", "message": "It broke.", "param": None}
    mine, their = await both(sdk, Reply(sse(*told, error)))
    assert mine.text == their.text == "Hello"
    assert mine.failed == "server"


@pytest.mark.parametrize("ending", ["cut", "chunked"])
async def test_a_stream_that_is_cut(sdk: Any, ending: Any) -> None:
    """The words so far are the same. Of one that merely ends, the SDK says nothing; we say that it was cut."""
    told = _Script(Scenario(text=("Hel", "lo"))).events[:5]
    mine, their = await both(sdk, Reply(sse(*told), ending=ending))
    assert mine.text == their.text == "Hello"
    assert mine.failed == "connection"
    assert their.failed == ("connection" if ending == "cut" else "")
