"""Gemini: our client hears what the google-genai package hears."""

import json
from typing import Any

import pytest

from sightline.models import ModelFacts
from sightline.models._gemini import GeminiModel
from sightline.models.http._transport import Transport
from sightline.settings import RetrySettings
from sightline.testing.standin import StandIn
from tests.models.gemini.bodies import call as call_part
from tests.models.gemini.bodies import event
from tests.models.oracles.support import ASK, PROMPT, Scenario, Seen, Tokens, scenarios, statuses, through_both
from tests.models.serving import KEY, Reply, outcome, sse

pytestmark = pytest.mark.filterwarnings("ignore")

STOPS = {"stop": "STOP", "tool_use": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}
MODEL = "gemini-x"
LINE_SEPARATOR = "\u2028".encode()


@pytest.fixture(scope="module")
def sdk() -> Any:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("google.genai", reason="the google-genai package is not installed")


def ours(url: str) -> GeminiModel:
    transport = Transport(url, GeminiModel.headers(KEY), retry=RetrySettings(attempts=0))
    return GeminiModel(ModelFacts(id=MODEL, provider="google"), transport)


async def theirs(sdk: Any, url: str) -> Seen:
    types, errors = sdk.types, sdk.errors
    declarations = [
        {"name": tool.name, "parameters_json_schema": json.loads(bytes(tool.parameters))} for tool in ASK.tools
    ]
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=declarations)],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    options = types.HttpOptions(base_url=url, retry_options=types.HttpRetryOptions(attempts=1))
    client = sdk.Client(api_key=KEY, http_options=options)
    hearing = _Hearing()
    try:
        async for chunk in await client.aio.models.generate_content_stream(model=MODEL, contents=PROMPT, config=config):
            hearing.hear(chunk)
    except errors.APIError as error:
        return hearing.seen(failed=_kind(error.code))
    except Exception as error:
        return hearing.seen(failed=f"connection: {type(error).__name__}")
    finally:
        await client.aio.aclose()
        client.close()
    return hearing.seen()


def _kind(status: int) -> str:
    kinds = {400: "bad request", 401: "auth", 403: "auth", 404: "not found", 429: "rate limit"}
    return kinds.get(status, "server")


class _Hearing:
    """Typed chunks put together."""

    def __init__(self) -> None:
        self.text = self.reasoning = self.stop = ""
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.tokens: Tokens | None = None

    def hear(self, chunk: Any) -> None:
        if (usage := chunk.usage_metadata) is not None:
            thoughts = usage.thoughts_token_count or 0
            output = None if usage.candidates_token_count is None else usage.candidates_token_count + thoughts
            self.tokens = Tokens(usage.prompt_token_count, output, usage.cached_content_token_count or None)
        for candidate in chunk.candidates or []:
            for part in (candidate.content.parts if candidate.content else None) or []:
                if part.function_call is not None:
                    self.calls.append((part.function_call.name, part.function_call.args or {}))
                elif part.thought:
                    self.reasoning += part.text or ""
                else:
                    self.text += part.text or ""
            self.stop = candidate.finish_reason.name if candidate.finish_reason else self.stop

    def seen(self, failed: str = "") -> Seen:
        stops = {"STOP": "tool_use" if self.calls else "stop", "MAX_TOKENS": "length", "SAFETY": "refusal"}
        return Seen(
            text=self.text,
            reasoning=self.reasoning,
            calls=[] if failed else self.calls,
            stop="" if failed else stops.get(self.stop, ""),
            tokens=None if failed else self.tokens,
            failed=failed,
        )


def events(scenario: Scenario) -> list[dict[str, Any]]:
    made = [event({"text": piece, "thought": True}) for piece in scenario.reasoning]
    made += [event({"text": piece}) for piece in scenario.text]
    if scenario.calls:
        made.append(event(*(call_part(call.name, call.args, ident=call.id) for call in scenario.calls)))
    usage = None
    if scenario.tokens is not None:
        tokens = scenario.tokens
        usage = {"promptTokenCount": tokens.input, "candidatesTokenCount": tokens.output, "totalTokenCount": 0}
        if tokens.cache_read:
            usage["cachedContentTokenCount"] = tokens.cache_read
    return [*made, event({"text": ""}, finish=STOPS[scenario.stop], usage=usage)]


async def both(sdk: Any, reply: Reply) -> tuple[Seen, Seen]:
    return await through_both(reply, ours, lambda url: theirs(sdk, url))


@scenarios()
async def test_an_answer(sdk: Any, scenario: Scenario) -> None:
    """Words, thinking, calls with their arguments, why it stopped, and tokens are the same."""
    body = sse(*events(scenario), named=False).replace(LINE_SEPARATOR, b"\\u2028")
    mine, their = await both(sdk, Reply(body))
    assert mine == their
    assert mine.text == "".join(scenario.text)
    assert [args for _, args in mine.calls] == [call.args for call in scenario.calls]


async def test_a_line_separator_in_the_words(sdk: Any) -> None:
    """It ends no line of an event stream; the SDK thinks so and breaks off, we do not."""
    mine, their = await both(sdk, Reply(sse(*events(Scenario(text=("Hi", "a\u2028b"))), named=False)))
    assert (mine.text, mine.failed) == ("Hia\u2028b", "")
    assert their.failed


async def test_thinking_counts_as_output(sdk: Any) -> None:
    """The tokens of both are what is paid for."""
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "thoughtsTokenCount": 30, "totalTokenCount": 150}
    mine, their = await both(sdk, Reply(sse(event({"text": "Hi"}, finish="STOP", usage=usage), named=False)))
    assert mine == their
    assert mine.tokens == Tokens(100, 50)


async def test_no_usage_is_not_known(sdk: Any) -> None:
    """By neither."""
    mine, their = await both(sdk, Reply(sse(*events(Scenario(text=("Hi",), tokens=None)), named=False)))
    assert mine == their
    assert mine.tokens is None


@statuses()
async def test_an_error(sdk: Any, status: int, kind: str) -> None:
    """Trap 13: a status is heard although events were asked for."""
    body = {"error": {"code": status, "message": "No.", "status": "SOME_STATUS"}}
    reply = Reply(json.dumps(body).encode(), status, {"Content-Type": "application/json"}, "whole")
    mine, their = await both(sdk, reply)
    assert mine == their
    assert mine.failed == kind


async def test_an_error_in_the_middle(sdk: Any) -> None:
    """It is one for both, and the words before it are kept."""
    told = {"error": {"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}}
    mine, their = await both(sdk, Reply(sse(event({"text": "Hello"}), told, named=False)))
    assert mine.text == their.text == "Hello"
    assert mine.failed == their.failed == "server"


@pytest.mark.parametrize("ending", ["cut", "chunked"])
async def test_a_stream_that_is_cut(sdk: Any, ending: Any) -> None:
    """The words so far are the same. Of one that merely ends, the SDK says nothing; we say that it was cut."""
    told = sse(event({"text": "Hel"}), event({"text": "lo"}), named=False)
    mine, their = await both(sdk, Reply(told, ending=ending))
    assert mine.text == their.text == "Hello"
    assert mine.failed == "connection"
    assert bool(their.failed) is (ending == "cut")


async def test_old_and_new_paths(sdk: Any) -> None:
    """Trap 11: the SDK asks under its own version, we under ours; the stand-in answers both alike."""
    async with StandIn([[{"reasoning": "Hm."}, {"text": "Hello there."}]]) as server:
        model = ours(server.url)
        _, done = await outcome(model, ASK)
        await model.close()
        their = await theirs(sdk, server.url)
        mine, other = server.conversations
    assert done.message.text == their.text == "Hello there."  # type: ignore[union-attr]
    assert mine.path.endswith(f"/models/{MODEL}:streamGenerateContent")
    assert other.path.endswith(f"/models/{MODEL}:streamGenerateContent")
    assert mine.headers["x-goog-api-key"] == other.headers["x-goog-api-key"] == KEY
