"""Answers of OpenAI Responses: what servers send, and what it means."""

import json
from typing import Any

import pytest

from sightline.conversation import AssistantMessage, CallPart, ReasoningPart, TextPart
from sightline.events import Usage
from sightline.models import CallDelta, CallStarted, Done, ModelError, Piece, ReasoningDelta, TextDelta
from sightline.models._assembly import Assembly
from sightline.models._responses._answer import ResponsesAnswer

Events = list[dict[str, Any]]


def event(name: str, index: int | None = None, **fields: Any) -> dict[str, Any]:
    place = {} if index is None else {"output_index": index}
    return {"type": f"response.{name}", "sequence_number": 1, **place, **fields}


def said(index: int, *pieces: str, phase: str = "final_answer") -> Events:
    text = "".join(pieces)
    item = {"id": f"msg_{index}", "type": "message", "role": "assistant", "phase": phase}
    part = {"type": "output_text", "text": text, "annotations": []}
    return [
        event("output_item.added", index, item={**item, "content": []}),
        event("content_part.added", index, content_index=0, part={**part, "text": ""}),
        *(event("output_text.delta", index, content_index=0, delta=piece, logprobs=[]) for piece in pieces),
        event("output_text.done", index, content_index=0, text=text),
        event("content_part.done", index, content_index=0, part=part),
        event("output_item.done", index, item={**item, "content": [part]}),
    ]


def thought_item(index: int, *summaries: str, encrypted: str | None = "gAAA") -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text} for text in summaries]
    return {"id": f"rs_{index}", "type": "reasoning", "summary": summary, "encrypted_content": encrypted}


def thought(index: int, *summaries: str, encrypted: str | None = "gAAA") -> Events:
    return [
        event("output_item.added", index, item=thought_item(index, encrypted=None)),
        *(
            event("reasoning_summary_text.delta", index, summary_index=number, delta=text)
            for number, text in enumerate(summaries)
        ),
        event("output_item.done", index, item=thought_item(index, *summaries, encrypted=encrypted)),
    ]


def call_item(index: int, name: str, arguments: str) -> dict[str, Any]:
    return {
        "id": f"fc_{index}",
        "type": "function_call",
        "call_id": f"call_{index}",
        "name": name,
        "arguments": arguments,
    }


def called(index: int, name: str, *pieces: str) -> Events:
    whole = "".join(pieces)
    return [
        event("output_item.added", index, item=call_item(index, name, "")),
        *(event("function_call_arguments.delta", index, item_id=f"fc_{index}", delta=piece) for piece in pieces),
        event("function_call_arguments.done", index, item_id=f"fc_{index}", arguments=whole),
        event("output_item.done", index, item=call_item(index, name, whole)),
    ]


def completed(*output: dict[str, Any], status: str = "completed", **fields: Any) -> dict[str, Any]:
    response = {"id": "resp", "object": "response", "status": status, "output": list(output), "error": None, **fields}
    return event(status, response=response)


def played(*events: dict[str, Any] | bytes, price: float | None = None) -> list[Piece]:
    answer = ResponsesAnswer(Assembly("responses", "m"), lambda _: price)
    pieces: list[Piece] = []
    for one in events:
        pieces += answer.read(one if isinstance(one, bytes) else json.dumps(one).encode())
    return [*pieces, answer.done()]


def message(*events: dict[str, Any] | bytes, **more: Any) -> AssistantMessage:
    last = played(*events, **more)[-1]
    assert isinstance(last, Done)
    return last.message


def parts(*events: dict[str, Any] | bytes) -> list[Any]:
    """Its parts, calls as (name, args, native id)."""
    return [
        (part.name, part.args, part.native_id) if isinstance(part, CallPart) else part
        for part in message(*events).parts
    ]


CREATED = event("created", response={"id": "resp", "object": "response", "status": "in_progress", "output": []})
MESSAGE = {"id": "m", "type": "message", "content": [{"type": "output_text", "text": "Hello"}]}
THOUGHT = thought_item(0, "Hm.", "So.")


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param(
            [CREATED, *said(0, "Hel", "lo"), completed(MESSAGE | {"id": "msg_0"})], [TextPart("Hello")], id="words"
        ),
        pytest.param(
            [*said(0, "I look.", phase="commentary"), *said(1, "Done."), completed()],
            [TextPart("I look."), TextPart("Done.")],
            id="phases",
        ),
        pytest.param(
            [*thought(0, "Hm.", "So."), *said(1, "Yes"), completed(THOUGHT)],
            [ReasoningPart("Hm.\n\nSo.", "responses", "", THOUGHT), TextPart("Yes")],
            id="reasoning summary, encrypted",
        ),
        pytest.param(
            [*thought(0, encrypted="gAAA"), *said(1, "Yes"), completed()],
            [ReasoningPart("", "responses", "", thought_item(0)), TextPart("Yes")],
            id="reasoning without a summary",
        ),
        pytest.param(
            [*thought(0, "Hm.", encrypted=None), *said(1, "Yes"), completed()],
            [ReasoningPart("Hm.", "responses"), TextPart("Yes")],
            id="reasoning that is not encrypted",
        ),
        pytest.param(
            [
                event("reasoning_text.delta", 0, content_index=0, delta="Hm."),
                event("reasoning_summary_text.delta", 0, summary_index=0, delta="I thought."),
                *said(1, "Yes"),
                completed(),
            ],
            [ReasoningPart("Hm.", "responses"), TextPart("Yes")],
            id="the thought and its summary",
        ),
        pytest.param(
            [*called(0, "read", '{"path"', ': "a"}'), *called(1, "bash", "{}"), completed()],
            [("read", {"path": "a"}, "call_0"), ("bash", {}, "call_1")],
            id="parallel calls",
        ),
        pytest.param(
            [
                event("output_item.added", 0, item=call_item(0, "read", "")),
                event("function_call_arguments.done", 0, arguments='{"path": "a"}'),
                completed(),
            ],
            [("read", {"path": "a"}, "call_0")],
            id="arguments only at the end",
        ),
        pytest.param(
            [event("output_item.done", 0, item=call_item(0, "read", '{"path": "a"}')), completed()],
            [("read", {"path": "a"}, "call_0")],
            id="items only when they are done",
        ),
        pytest.param(
            [completed(THOUGHT, MESSAGE, call_item(2, "read", "{}"))],
            [ReasoningPart("Hm.\n\nSo.", "responses", "", THOUGHT), TextPart("Hello"), ("read", {}, "call_2")],
            id="everything only in the last event",
        ),
        pytest.param(
            [completed(THOUGHT, MESSAGE)["response"]],
            [ReasoningPart("Hm.\n\nSo.", "responses", "", THOUGHT), TextPart("Hello")],
            id="one body",
        ),
        pytest.param(
            [
                event("output_item.added", item=call_item(0, "read", "")),
                event("function_call_arguments.delta", item_id="fc_0", delta="{}"),
                completed(call_item(0, "read", "{}")),
            ],
            [("read", {}, "call_0")],
            id="no places",
        ),
        pytest.param(
            [
                event("output_item.added", 0, item={"type": "web_search_call", "id": "ws"}),
                event("new.thing", delta="x"),
                event("function_call_arguments.delta", 9, delta="{}"),
                *said(1, "Yes"),
                completed(),
            ],
            [TextPart("Yes")],
            id="what is not known",
        ),
        pytest.param(
            [event("refusal.delta", 0, content_index=0, delta="I will not."), completed()],
            [TextPart("I will not.")],
            id="refusal",
        ),
        pytest.param([*said(0, "a\x1b[31mb"), completed()], [TextPart("ab")], id="control sequences"),
        pytest.param([*said(0, "\ud83d", "\ude00"), completed()], [TextPart("😀")], id="an emoji in halves"),
        pytest.param([completed()], [], id="nothing"),
    ],
)
def test_what_servers_send_means_the_same(events: Events, expected: list[Any]) -> None:
    """The forms that servers give to the same answer; what is said again is not said twice."""
    assert parts(*events) == expected


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([*said(0, "a"), completed()], "stop"),
        ([*called(0, "read", "{}"), completed()], "tool_use"),
        ([*said(0, "a"), completed(status="incomplete", incomplete_details={"reason": "max_output_tokens"})], "length"),
        ([*said(0, "a"), completed(status="incomplete", incomplete_details={"reason": "content_filter"})], "refusal"),
        ([*said(0, "a"), completed(status="incomplete", incomplete_details=None)], "length"),
        ([event("refusal.delta", 0, delta="no"), completed()], "refusal"),
        ([completed({"type": "message", "content": [{"type": "refusal", "refusal": "no"}]})], "refusal"),
    ],
)
def test_why_it_stopped(events: Events, reason: str) -> None:
    """The end says so; a refusal is known by its words."""
    assert message(*events).stop_reason == reason


def test_pieces_come_as_they_are_heard() -> None:
    """Each delta is one piece; blocks are numbered in the order they begin."""
    pieces = played(*thought(0, "Hm", "So"), *said(1, "A", "B"), *called(2, "read", '{"path": ', '"a"}'), completed())
    done = pieces[-1]
    assert isinstance(done, Done)
    ident = done.message.calls[0].id
    assert pieces[:-1] == [
        ReasoningDelta(0, "Hm"),
        ReasoningDelta(0, "\n\nSo"),
        TextDelta(1, "A"),
        TextDelta(1, "B"),
        CallStarted(2, ident, "read"),
        CallDelta(2, ident, "read", '{"path": '),
        CallDelta(2, ident, "read", '"a"}'),
    ]


def test_usage() -> None:
    """With its details, and priced."""
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 60},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 7},
        "total_tokens": 120,
    }
    answer = message(*said(0, "a"), completed(usage=usage), price=0.5)
    assert (answer.usage, answer.cost) == (Usage(100, 20, 60, None, 7, 120), 0.5)
    assert message(*said(0, "a"), completed(usage=usage | {"cost": 0.1}), price=0.5).cost == 0.1
    assert message(*said(0, "a"), completed(), price=0.5).cost is None


@pytest.mark.parametrize(
    ("last", "kind", "retryable"),
    [
        pytest.param(
            completed(status="failed", error={"code": "server_error", "message": "x"}), "overloaded", True, id="failed"
        ),
        pytest.param(
            completed(status="failed", error={"code": "rate_limit_exceeded", "message": "Please try again in 1.5s."}),
            "rate_limit",
            True,
            id="rate limit",
        ),
        pytest.param(
            completed(
                status="failed",
                error={"code": "context_length_exceeded", "message": "Your input exceeds the context window"},
            ),
            "overflow",
            False,
            id="overflow",
        ),
        pytest.param(
            completed(status="failed", error={"code": "insufficient_quota", "message": "x"}), "quota", False, id="quota"
        ),
        pytest.param(completed(status="failed"), "overloaded", True, id="failed without a reason"),
        pytest.param({"type": "error", "code": "server_error", "message": "x"}, "overloaded", True, id="error event"),
        pytest.param(
            {"type": "error", "error": {"type": "invalid_request_error", "message": "bad"}},
            "bad_request",
            False,
            id="error inside",
        ),
        pytest.param({"error": {"code": "invalid_api_key", "message": "x"}}, "auth", False, id="error body"),
        pytest.param(b'{"type": "response.output_item.done", "item": 3}', "protocol", False, id="not this API"),
        pytest.param(b'{"type": ', "cut", True, id="half an event"),
        pytest.param(b"[DONE]", "cut", True, id="no end"),
    ],
)
def test_an_answer_that_failed(last: dict[str, Any] | bytes, kind: str, retryable: bool) -> None:
    """It is raised as what it is."""
    with pytest.raises(ModelError) as caught:
        played(*said(0, "So far"), last)
    assert (caught.value.kind, caught.value.retryable) == (kind, retryable)


def test_a_wait_that_is_told_in_words_is_known() -> None:
    """There is no header inside an answer."""
    failed = completed(status="failed", error={"code": "rate_limit_exceeded", "message": "Please try again in 1.5s."})
    with pytest.raises(ModelError) as caught:
        played(failed)
    assert caught.value.retry_after == 1.5
