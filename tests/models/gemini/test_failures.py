"""What an error of the Gemini API means, and what the client does about it."""

import asyncio
import json
from typing import Any

import pytest

from sightline.conversation import TextPart, ToolMessage, UserMessage
from sightline.models import Done, ErrorKind, ModelError, ModelFacts, ModelRequest, Retrying, TextDelta
from sightline.models._gemini import GeminiModel
from sightline.models._gemini._failure import classify
from sightline.models.http._transport import Transport
from sightline.testing.standin import StandIn
from tests.models.gemini.bodies import FULL, event
from tests.models.gemini.test_requests import BASH
from tests.models.serving import KEY, Naps, Reply, Serving, collect, sse

ASK = ModelRequest(system="", messages=[UserMessage([TextPart("Go.")])])

TOO_LONG = "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."
RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}


def quota(ident: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": ident}]}


def error(status: str, message: str, *details: Any, code: int = 400) -> bytes:
    told = {"code": code, "message": message, "status": status, "details": list(details)}
    return json.dumps({"error": told}).encode()


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable"),
    [
        (400, error("INVALID_ARGUMENT", TOO_LONG), "overflow", False),
        (400, b"[" + error("INVALID_ARGUMENT", TOO_LONG) + b"]", "overflow", False),
        (400, error("INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."), "overflow", False),
        (400, error("INVALID_ARGUMENT", "Invalid JSON payload received. Unknown name"), "bad_request", False),
        (400, error("INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."), "auth", False),
        (400, error("FAILED_PRECONDITION", "User location is not supported for the API use."), "refused", False),
        (401, error("UNAUTHENTICATED", "No key"), "auth", False),
        (403, error("PERMISSION_DENIED", "Not yours"), "auth", False),
        (404, error("NOT_FOUND", "models/x is not found"), "not_found", False),
        (413, b"", "overflow", False),
        (429, error("RESOURCE_EXHAUSTED", "You exceeded your current quota", RETRY_INFO), "rate_limit", True),
        (429, error("RESOURCE_EXHAUSTED", "Slow", quota("GenerateRequestsPerMinutePerProject")), "rate_limit", True),
        (429, error("RESOURCE_EXHAUSTED", "Slow", quota("GenerateRequestsPerDayPerProject-FreeTier")), "quota", False),
        (429, error("RESOURCE_EXHAUSTED", "Quota exceeded, limit: 0, model: x"), "quota", False),
        (429, error("RESOURCE_EXHAUSTED", "Slow", {"@type": "new", "retryDelay": 7}, "nonsense"), "rate_limit", True),
        (500, error("INTERNAL", "An internal error has occurred."), "overloaded", True),
        (503, error("UNAVAILABLE", "The model is overloaded."), "overloaded", True),
        (504, error("DEADLINE_EXCEEDED", "Deadline expired"), "overloaded", True),
        (502, b"<html>Bad gateway</html>", "overloaded", True),
        (400, b"[]", "bad_request", False),
        (400, b'{"error": "plain"}', "bad_request", False),
        (302, b"", "bad_request", False),
    ],
)
def test_http_errors(status: int, body: bytes, kind: ErrorKind, retryable: bool) -> None:
    """Kind, whether asking again helps, and something to try."""
    failure = classify(status, {}, body)
    assert (failure.kind, failure.retryable, failure.status) == (kind, retryable, status)
    assert str(status) in failure.message
    assert failure.hint


@pytest.mark.parametrize(
    ("headers", "details", "seconds"),
    [
        ({}, [RETRY_INFO], 34.5),
        ({"retry-after": "9"}, [RETRY_INFO], 34.5),
        ({"retry-after": "9"}, [], 9.0),
        ({}, [], None),
    ],
)
def test_the_wait_a_server_asks_for(headers: dict[str, str], details: list[Any], seconds: float | None) -> None:
    """It stands in the details of the error, or in a header."""
    assert classify(429, headers, error("RESOURCE_EXHAUSTED", "Slow", *details)).retry_after == seconds


async def test_a_busy_server_is_asked_again_as_it_wishes() -> None:
    """The wait is told before it."""
    naps = Naps()
    busy = Reply(error("RESOURCE_EXHAUSTED", "Slow", RETRY_INFO, code=429), status=429, ending="whole")
    async with Serving([busy, Reply(FULL)]) as server:
        model = GeminiModel(ModelFacts(id="m"), Transport(server.url, GeminiModel.headers(KEY)), sleep=naps)
        pieces = await collect(model, ASK)
        await model.close()
    assert pieces[0] == Retrying(1, 5, 34.5, "HTTP 429: Slow")
    assert naps.slept == [34.5]
    assert isinstance(pieces[-1], Done)


async def test_the_key_is_in_no_error() -> None:
    """A server that repeats it does not make it appear."""
    said = error("INVALID_ARGUMENT", f"API key not valid: {KEY}")
    async with Serving([Reply(said, status=400, ending="whole")]) as server:
        model = GeminiModel(ModelFacts(id="m"), Transport(server.url, GeminiModel.headers(KEY)))
        with pytest.raises(ModelError) as caught:
            await collect(model, ASK)
        await model.close()
    assert KEY not in f"{caught.value!r} {caught.value} {caught.value.hint} {model!r}"


async def test_cancelled_amid_an_answer() -> None:
    """The connection closes at once."""
    async with Serving([Reply(sse(event({"text": "Hi"}), named=False), ending="hang")]) as server:
        model = GeminiModel(ModelFacts(id="m"), Transport(server.url, {}))
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


@pytest.mark.parametrize(
    ("base", "ident", "path"),
    [
        ("", "gemini-x", "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"),
        ("/v1", "gemini-x", "/v1/models/gemini-x:streamGenerateContent?alt=sse"),
        ("/v1beta/", "models/gemini-x", "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"),
        ("", "odd name?", "/v1beta/models/odd%20name%3F:streamGenerateContent?alt=sse"),
    ],
)
async def test_headers_and_address(base: str, ident: str, path: str) -> None:
    """The key is in a header, never in the address; a base URL may already end in the version."""
    async with Serving([Reply(FULL)]) as server:
        model = GeminiModel(ModelFacts(id=ident), Transport(server.url + base, GeminiModel.headers(KEY)))
        await collect(model, ASK)
        await collect(model, ASK)
        await model.close()
    assert [(asked.path, asked.connection) for asked in server.asked] == [(path, 1), (path, 1)]
    assert server.asked[0].headers["x-goog-api-key"] == KEY


async def test_a_conversation_with_the_stand_in() -> None:
    """Two calls, their results, an answer: the history that goes back is understood."""
    script = [
        [{"reasoning": "Hm."}, {"tool": "bash", "args": {"n": 1}}, {"tool": "bash", "args": {"n": 2}}],
        [{"text": "Done."}],
    ]
    async with StandIn(script) as server:
        model = GeminiModel(ModelFacts(id="gemini-3-pro"), Transport(server.url, GeminiModel.headers(KEY)))
        messages: list[Any] = [UserMessage([TextPart("Go.")])]
        for _ in range(2):
            request = ModelRequest(system="Be brief.", messages=messages, tools=(BASH,), thinking="low")
            done = (await collect(model, request))[-1]
            assert isinstance(done, Done)
            calls = done.message.calls
            messages += [done.message, *(ToolMessage(c.id, c.name, [TextPart("ok")], c.native_id) for c in calls)]
        await model.close()
    assert [call.args for call in messages[1].calls] == [{"n": 1}, {"n": 2}]
    assert messages[-1].text == "Done."
    sent = server.requests[1].body["contents"][1]["parts"]
    assert [part["thoughtSignature"] for part in sent] == [
        call.opaque["thoughtSignature"] for call in messages[1].calls
    ]
