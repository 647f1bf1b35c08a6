"""Errors of OpenAI and of the servers that speak its APIs: what they mean and whether asking again helps."""

import json
from typing import Any

import pytest

from sightline.models.http._openai_failure import classify, in_stream


def error(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable"),
    [
        pytest.param(
            400,
            error("This model's maximum context length is 128000 tokens.", code="context_length_exceeded"),
            "overflow",
            False,
            id="OpenAI chat: overflow",
        ),
        pytest.param(
            400,
            error("Your input exceeds the context window of this model.", type="invalid_request_error"),
            "overflow",
            False,
            id="OpenAI responses: overflow",
        ),
        pytest.param(
            400,
            error(
                "the request exceeds the available context size (4096 tokens), try increasing it",
                code=400,
                type="exceed_context_size_error",
                n_ctx=4096,
            ),
            "overflow",
            False,
            id="llama.cpp: overflow",
        ),
        pytest.param(
            500,
            error("the request exceeds the available context size. try increasing the context size", code=500),
            "overflow",
            False,
            id="llama.cpp, older: overflow",
        ),
        pytest.param(
            400,
            error("Requested tokens (5000) exceed context window of 2048"),
            "overflow",
            False,
            id="llama-cpp-python",
        ),
        pytest.param(
            400,
            {
                "object": "error",
                "message": "This model's maximum context length is 4096 tokens. However, …",
                "code": 400,
            },
            "overflow",
            False,
            id="vLLM: overflow",
        ),
        pytest.param(
            400,
            error("The decoder prompt (length 9000) is longer than the maximum model length of 4096."),
            "overflow",
            False,
            id="vLLM, another: overflow",
        ),
        pytest.param(400, {"error": "the input length exceeds the context length"}, "overflow", False, id="Ollama"),
        pytest.param(
            400,
            error("prompt too long; exceeded max context length by 7 tokens"),
            "overflow",
            False,
            id="Ollama, another",
        ),
        pytest.param(
            400,
            error("This endpoint's maximum context length is 8192 tokens. However, you requested about 9000", code=400),
            "overflow",
            False,
            id="OpenRouter: overflow",
        ),
        pytest.param(413, "", "overflow", False, id="too large"),
        pytest.param(401, error("Incorrect API key", code="invalid_api_key"), "auth", False, id="key"),
        pytest.param(403, error("no access"), "auth", False, id="forbidden"),
        pytest.param(403, error("Your input was flagged by moderation", code=403), "refused", False, id="moderation"),
        pytest.param(400, error("x", code="content_policy_violation"), "refused", False, id="policy"),
        pytest.param(402, error("Insufficient credits", code=402), "quota", False, id="OpenRouter: no credit"),
        pytest.param(
            429,
            error("You exceeded your current quota", code="insufficient_quota"),
            "quota",
            False,
            id="OpenAI: no money",
        ),
        pytest.param(429, error("slow", type="insufficient_quota"), "quota", False, id="no money, by type"),
        pytest.param(429, error("Rate limit reached", code="rate_limit_exceeded"), "rate_limit", True, id="rate limit"),
        pytest.param(
            429, error("maximum context length of requests"), "rate_limit", True, id="rate limit in odd words"
        ),
        pytest.param(
            413, error("Request too large: tokens per minute", code="rate_limit_exceeded"), "rate_limit", True, id="TPM"
        ),
        pytest.param(
            404, error("The model `x` does not exist", code="model_not_found"), "not_found", False, id="model"
        ),
        pytest.param(404, {"detail": "Not Found"}, "not_found", False, id="path"),
        pytest.param(400, [error("API key not valid", code=400)], "bad_request", False, id="Google: in a list"),
        pytest.param(400, error("bad", param="tools"), "bad_request", False, id="bad request"),
        pytest.param(422, {"detail": [{"msg": "Field required"}]}, "bad_request", False, id="validation"),
        pytest.param(500, error("oops", type="server_error"), "overloaded", True, id="server error"),
        pytest.param(503, error("Loading model", code=503, type="unavailable_error"), "overloaded", True, id="loading"),
        pytest.param(502, "<html>Bad gateway</html>", "overloaded", True, id="gateway"),
        pytest.param(302, "", "bad_request", False, id="redirect"),
    ],
)
def test_kinds(status: int, body: Any, kind: str, retryable: bool) -> None:
    """By code, by words, by status, in this order."""
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    found = classify(status, {}, data)
    assert (found.kind, found.retryable, found.status) == (kind, retryable, status)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (error("It broke."), "It broke."),
        ({"error": "It broke."}, "It broke."),
        ({"object": "error", "message": "It broke."}, "It broke."),
        ({"message": "It broke."}, "It broke."),
        ({"detail": "It broke."}, "It broke."),
        ({"detail": [{"msg": "It"}, {"msg": "broke."}]}, "It; broke."),
        ("It broke.", "It broke."),
        (error("It\n\x1b[31mbroke."), "It broke."),
        ({"error": {}}, "error"),
        ("", "no reason given"),
    ],
)
def test_what_the_server_said_is_told(body: Any, words: str) -> None:
    """In one line, without anything that drives a terminal."""
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    assert words in classify(500, {}, data).message


@pytest.mark.parametrize(
    ("headers", "said", "seconds"),
    [
        ({"retry-after": "7"}, "", 7.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, "", 1.5),
        ({}, "Please try again in 20s. Visit …", 20.0),
        ({}, "Please try again in 250ms.", 0.25),
        ({}, "Please try again later.", None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], said: str, seconds: float | None) -> None:
    """As the headers say, else as the words do."""
    assert classify(429, headers, json.dumps(error(said)).encode()).retry_after == seconds


def test_a_date_to_wait_for_is_understood() -> None:
    """One in the past means at once."""
    assert classify(429, {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, b"").retry_after == 0


@pytest.mark.parametrize("told", ["", None, 7, [], {}, {"code": 1e400}, {"message": {"message": "x"}}, {"code": "٣٣٣"}])
def test_whatever_an_error_is_it_is_an_error(told: Any) -> None:
    """Nothing else comes out of it."""
    assert in_stream(told).kind == "overloaded"
