"""Anthropic Messages: our client hears what the anthropic package hears."""

import json
from typing import Any

import pytest

from sightline.models import ModelFacts
from sightline.models._anthropic import AnthropicModel
from sightline.models.http._transport import Transport
from sightline.settings import RetrySettings
from sightline.testing.standin import StandIn
from tests.models.anthropic.bodies import PING, begin, delta, end, start, text, thinking
from tests.models.anthropic.bodies import call as call_events
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
from tests.models.serving import KEY, Reply, outcome, sse

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")

STOPS = {"stop": "end_turn", "tool_use": "tool_use", "length": "max_tokens", "refusal": "refusal"}
MODEL = "claude-x"


@pytest.fixture(scope="module")
def sdk() -> Any:
    return pytest.importorskip("anthropic", reason="the anthropic package is not installed")


def ours(url: str) -> AnthropicModel:
    transport = Transport(url, AnthropicModel.headers(KEY), retry=RetrySettings(attempts=0))
    return AnthropicModel(ModelFacts(id=MODEL, provider="anthropic"), transport)


async def theirs(sdk: Any, url: str) -> Seen:
    tools = [{"name": tool.name, "input_schema": json.loads(bytes(tool.parameters))} for tool in ASK.tools]
    messages = [{"role": "user", "content": PROMPT}]
    async with sdk.AsyncAnthropic(api_key=KEY, base_url=url, max_retries=0) as client:
        snapshot = None
        try:
            async with client.messages.stream(model=MODEL, max_tokens=100, messages=messages, tools=tools) as stream:
                async for _ in stream:
                    snapshot = stream.current_message_snapshot
                return _seen(await stream.get_final_message())
        except Exception as error:
            failed = "in the stream" if type(error) is sdk.APIStatusError else kind_of(error, sdk)
            return _seen(snapshot, failed=failed)


def _seen(message: Any, failed: str = "") -> Seen:
    blocks = message.content if message is not None else []
    stops = {told: ours for ours, told in STOPS.items()}
    return Seen(
        text="".join(block.text for block in blocks if block.type == "text"),
        reasoning="".join(block.thinking for block in blocks if block.type == "thinking"),
        calls=[] if failed else [(block.name, block.input) for block in blocks if block.type == "tool_use"],
        stop="" if failed else stops.get(message.stop_reason, ""),
        tokens=None if failed else _tokens(message.usage),
        failed=failed,
    )


def _tokens(usage: Any) -> Tokens:
    read, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
    return Tokens(usage.input_tokens, usage.output_tokens, read or None, written or None)


def events(scenario: Scenario) -> list[dict[str, Any]]:
    tokens = scenario.tokens or Tokens()
    usage = {"input_tokens": tokens.input, "output_tokens": 1, "cache_read_input_tokens": tokens.cache_read}
    made = [start(usage), PING]
    index = 0
    for pieces, block in ((scenario.reasoning, thinking), (scenario.text, text)):
        if pieces:
            made += block(index, *pieces)
            index += 1
    for call in scenario.calls:
        made += call_events(index, f"toolu_{call.id}", call.name, *json_pieces(call))
        index += 1
    stop = {"stop_reason": STOPS[scenario.stop], "stop_sequence": None}
    made.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": tokens.output}})
    return [*made, {"type": "message_stop"}]


async def both(sdk: Any, reply: Reply) -> tuple[Seen, Seen]:
    return await through_both(reply, ours, lambda url: theirs(sdk, url))


@scenarios()
async def test_an_answer(sdk: Any, scenario: Scenario) -> None:
    """Words, thinking, calls with their arguments, why it stopped, and tokens are the same."""
    mine, their = await both(sdk, Reply(sse(*events(scenario))))
    assert mine == their
    assert mine.text == "".join(scenario.text)


async def test_what_neither_knows(sdk: Any) -> None:
    """Events, blocks and fields of a later version change nothing."""
    odd = {"type": "of_a_later_year", "index": 0}
    known = events(Scenario(text=("Hi",)))
    mine, their = await both(sdk, Reply(sse(known[0], odd, *known[1:])))
    assert mine == their
    assert mine.text == "Hi"


@statuses()
async def test_an_error(sdk: Any, status: int, kind: str) -> None:
    """Trap 13: a status is heard although events were asked for."""
    body = {"type": "error", "error": {"type": "some_error", "message": "No."}}
    reply = Reply(json.dumps(body).encode(), status, {"Content-Type": "application/json"}, "whole")
    mine, their = await both(sdk, reply)
    assert mine == their
    assert mine.failed == kind


async def test_overloaded_in_the_middle(sdk: Any) -> None:
    """An error inside the answer is one, and the words before it are kept."""
    told = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    mine, their = await both(sdk, Reply(sse(*events(Scenario(text=("Hel", "lo")))[:5], told)))
    assert mine.text == their.text == "Hello"
    assert (mine.failed, their.failed) == ("server", "in the stream")


@pytest.mark.parametrize("ending", ["cut", "chunked"])
@pytest.mark.parametrize("kept", [4, 5])
async def test_a_stream_that_is_cut(sdk: Any, kept: int, ending: Any) -> None:
    """The words so far are the same. Of one that merely ends, the SDK says nothing; we say that it was cut."""
    told = [start(), PING, begin(0, {"type": "text", "text": ""}), *(delta(0, "text_delta", text=t) for t in "Hi")]
    mine, their = await both(sdk, Reply(sse(*told[:kept], *([end(0)] if ending == "chunked" else [])), ending=ending))
    assert mine.text == their.text == "Hi"[: kept - 3]
    assert mine.failed == "connection"
    assert their.failed == ("connection" if ending == "cut" else "")


async def test_old_and_new_headers(sdk: Any) -> None:
    """Trap 11: the SDK sends its key as a bearer, we as x-api-key; the stand-in answers both alike."""
    async with StandIn([[{"reasoning": "Hm."}, {"text": "Hello there."}]]) as server:
        model = ours(server.url)
        _, done = await outcome(model, ASK)
        await model.close()
        their = await theirs(sdk, server.url)
        mine, other = server.conversations
    assert done.message.text == their.text == "Hello there."  # type: ignore[union-attr]
    assert mine.headers["x-api-key"] == KEY
    assert other.headers["authorization"] == f"Bearer {KEY}"
