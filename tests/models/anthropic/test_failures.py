"""What an error of the Anthropic API means, and what the client does about it."""

import asyncio
import json
from typing import Any

import pytest

from sightline.conversation import TextPart, ToolMessage, UserMessage
from sightline.models import Done, ErrorKind, ModelError, ModelFacts, ModelRequest, Retrying, TextDelta
from sightline.models._anthropic import AnthropicModel
from sightline.models._anthropic._failure import classify
from sightline.models.http._transport import Transport
from sightline.settings import RetrySettings
from sightline.testing.standin import StandIn
from tests.models.anthropic.bodies import FULL, start, text
from tests.models.anthropic.test_requests import TOOLS
from tests.models.serving import KEY, Naps, Reply, Serving, collect, sse

ASK = ModelRequest(system="", messages=[UserMessage([TextPart("Go.")])])


def error(kind: str, message: str) -> bytes:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return json.dumps(body).encode()


LONG = "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable"),
    [
        (400, error("invalid_request_error", "prompt is too long: 200001 tokens > 200000 maximum"), "overflow", False),
        (400, error("invalid_request_error", LONG), "overflow", False),
        (413, error("request_too_large", "Request exceeds the maximum size"), "overflow", False),
        (413, b"<html>too large</html>", "overflow", False),
        (400, error("invalid_request_error", "max_tokens: Field required"), "bad_request", False),
        (400, error("invalid_request_error", "Your credit balance is too low to access"), "quota", False),
        (400, error("invalid_request_error", "You have reached your specified API usage limits."), "quota", False),
        (402, error("billing_error", "Pay first"), "quota", False),
        (401, error("authentication_error", "invalid x-api-key"), "auth", False),
        (403, error("permission_error", "not allowed"), "auth", False),
        (404, error("not_found_error", "model: claude-0"), "not_found", False),
        (404, b"", "not_found", False),
        (429, error("rate_limit_error", "This would exceed your rate limit"), "rate_limit", True),
        (429, b"slow down", "rate_limit", True),
        (500, error("api_error", "Internal server error"), "overloaded", True),
        (502, b"<html>Bad gateway</html>", "overloaded", True),
        (503, b"", "overloaded", True),
        (504, error("timeout_error", "Took too long"), "overloaded", True),
        (529, error("overloaded_error", "Overloaded"), "overloaded", True),
        (408, b"", "overloaded", True),
        (418, b"[1]", "bad_request", False),
        (302, b"", "bad_request", False),
        (204, b"", "bad_request", False),
    ],
)
def test_http_errors(status: int, body: bytes, kind: ErrorKind, retryable: bool) -> None:
    """Kind, whether asking again helps, and something to try."""
    failure = classify(status, {}, body)
    assert (failure.kind, failure.retryable, failure.status) == (kind, retryable, status)
    assert str(status) in failure.message
    assert failure.hint


@pytest.mark.parametrize(("said", "retryable"), [("true", True), ("false", False), ("?", True)])
def test_a_server_that_says_whether_to_ask_again(said: str, retryable: bool) -> None:
    """Its word counts more than the status."""
    assert classify(500, {"x-should-retry": said}, b"").retryable is retryable
    assert classify(400, {"x-should-retry": "true"}, b"").retryable is True


def test_what_a_server_says_is_one_clean_line() -> None:
    """Long and hostile texts are cut and filtered."""
    failure = classify(400, {}, error("invalid_request_error", "a\x1b[2J\nb" + "x" * 10_000))
    assert "\x1b" not in failure.message
    assert "\n" not in failure.message
    assert len(failure.message) < 1000


async def played(script: list[list[dict[str, Any]]], naps: Naps, attempts: int = 3) -> Any:
    async with StandIn(script) as server:
        transport = Transport(server.url, AnthropicModel.headers(KEY), retry=RetrySettings(attempts=attempts))
        model = AnthropicModel(ModelFacts(id="claude-x"), transport, sleep=naps)
        try:
            return await collect(model, ASK)
        finally:
            await model.close()


async def test_a_busy_server_is_asked_again_as_it_wishes() -> None:
    """Each wait is told before it, and what the server asked for is what is waited."""
    naps = Naps()
    pieces = await played([[{"error": "Slow down", "status": 429, "times": 2, "retry_after": 7}, {"text": "Hi"}]], naps)
    assert pieces[:2] == [Retrying(n, 3, 7.0, "HTTP 429: Slow down") for n in (1, 2)]
    assert naps.slept == [7.0, 7.0]
    assert isinstance(pieces[-1], Done)
    assert pieces[-1].message.text == "Hi"


async def test_a_server_that_stays_busy() -> None:
    """After the last attempt its error comes out."""
    naps = Naps()
    with pytest.raises(ModelError) as caught:
        await played([[{"error": "Overloaded", "status": 529}]], naps, attempts=2)
    assert (caught.value.kind, caught.value.status, len(naps.slept)) == ("overloaded", 529, 2)


async def test_cancelled_in_a_wait() -> None:
    """A person does not wait for a busy server."""
    async with Serving([Reply(b"", status=529, headers={"Retry-After": "59"}, ending="whole")]) as server:
        model = AnthropicModel(ModelFacts(id="m"), Transport(server.url, {}))
        waiting = asyncio.Event()

        async def run() -> None:
            async for piece in model.stream(ASK):
                assert isinstance(piece, Retrying)
                waiting.set()

        task = asyncio.create_task(run())
        await asyncio.wait_for(waiting.wait(), 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 60)
        await model.close()
    assert len(server.asked) == 1


async def test_cancelled_amid_an_answer() -> None:
    """The connection closes at once."""
    body = sse(start(), *text(0, "Hi")[:-1])
    async with Serving([Reply(body, ending="hang")]) as server:
        model = AnthropicModel(ModelFacts(id="m"), Transport(server.url, {}))
        got = asyncio.Event()

        async def run() -> None:
            async for piece in model.stream(ASK):
                assert piece == TextDelta(0, "Hi")
                got.set()

        task = asyncio.create_task(run())
        await asyncio.wait_for(got.wait(), 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 60)
        await asyncio.wait_for(server.gone.wait(), 60)
        await model.close()


@pytest.mark.parametrize(("base", "path"), [("", "/v1/messages"), ("/v1", "/v1/messages"), ("/p/", "/p/v1/messages")])
async def test_headers_and_address(base: str, path: str) -> None:
    """The key and the version go with each request; a base URL may already end in the version of the path."""
    async with Serving([Reply(FULL)]) as server:
        model = AnthropicModel(ModelFacts(id="m"), Transport(server.url + base, AnthropicModel.headers(KEY)))
        await collect(model, ASK)
        await collect(model, ASK)
        await model.close()
    assert [asked.path for asked in server.asked] == [path, path]
    assert [asked.connection for asked in server.asked] == [1, 1]
    headers = server.asked[0].headers
    assert (headers["x-api-key"], headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert headers["content-type"] == "application/json"


async def test_a_conversation_with_the_stand_in() -> None:
    """Two calls, their results, an answer: the history that goes back is understood."""
    script = [
        [{"reasoning": "Hm."}, {"tool": "bash", "args": {"n": 1}}, {"tool": "read", "args": {"n": 2}}],
        [{"text": "Done."}],
    ]
    async with StandIn(script) as server:
        model = AnthropicModel(ModelFacts(id="claude-x"), Transport(server.url, AnthropicModel.headers(KEY)))
        messages: list[Any] = [UserMessage([TextPart("Go.")])]
        for _ in range(2):
            request = ModelRequest(system="Be brief.", messages=messages, tools=TOOLS, thinking="low")
            done = (await collect(model, request))[-1]
            assert isinstance(done, Done)
            calls = done.message.calls
            messages += [done.message, *(ToolMessage(c.id, c.name, [TextPart("ok")], c.native_id) for c in calls)]
        await model.close()
    assert [(call.name, call.args) for call in messages[1].calls] == [("bash", {"n": 1}), ("read", {"n": 2})]
    assert messages[-1].text == "Done."
    assert server.requests[1].body["messages"][1]["content"][0]["type"] == "thinking"
