"""Answers of Chat Completions: what servers send, and what it means."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.conversation import AssistantMessage, CallPart, ReasoningPart, TextPart
from sightline.events import Usage
from sightline.models import CallDelta, CallStarted, Done, ModelError, Piece, ReasoningDelta, TextDelta
from sightline.models._assembly import Assembly
from sightline.models._chat._answer import ChatAnswer

TOOLS = ("read", "bash")
READ = '{"name": "read", "arguments": {"path": "a.py"}}'


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {
        "id": "c",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def call(
    index: int | None = 0, ident: str | None = None, name: str | None = None, arguments: Any = None
) -> dict[str, Any]:
    made: dict[str, Any] = {
        "index": index,
        "id": ident,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }
    made["function"] = {key: value for key, value in made["function"].items() if value is not None}
    return {key: value for key, value in made.items() if value is not None}


def calling(*fragments: dict[str, Any], **more: Any) -> dict[str, Any]:
    return chunk(tool_calls=list(fragments), **more)


STOP = chunk("stop")
CALLS = chunk("tool_calls")


def played(*chunks: dict[str, Any] | bytes, price: float | None = None, tools: tuple[str, ...] = TOOLS) -> list[Piece]:
    answer = ChatAnswer(Assembly("chat", "m"), lambda _: price, tools)
    pieces: list[Piece] = []
    for one in chunks:
        pieces += answer.read(one if isinstance(one, bytes) else json.dumps(one).encode())
    pieces += answer.end()
    return pieces


def message(*chunks: dict[str, Any] | bytes, **more: Any) -> AssistantMessage:
    last = played(*chunks, **more)[-1]
    assert isinstance(last, Done)
    return last.message


def parts(*chunks: dict[str, Any] | bytes, **more: Any) -> list[Any]:
    """Its parts, calls as (name, args, native id)."""
    return [
        (part.name, part.args, part.native_id) if isinstance(part, CallPart) else part
        for part in message(*chunks, **more).parts
    ]


READ_CALL = ("read", {"path": "a"}, "c1")
THINKING = ReasoningPart("Hm. So.", "chat")


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        pytest.param([chunk(content="Hel"), chunk(content="lo"), STOP], [TextPart("Hello")], id="words"),
        pytest.param(
            [chunk(role="assistant", content=None, tool_calls=None, function_call=None), chunk(content="Hi"), STOP],
            [TextPart("Hi")],
            id="nulls",
        ),
        pytest.param([chunk(content=[{"type": "text", "text": "Hi"}]), STOP], [TextPart("Hi")], id="content as a list"),
        *(
            pytest.param(
                [chunk(**{name: "Hm. "}), chunk(**{name: "So."}), chunk(content="Yes"), STOP],
                [THINKING, TextPart("Yes")],
                id=f"thinking in {name}",
            )
            for name in ("reasoning_content", "reasoning", "thinking")
        ),
        pytest.param(
            [chunk(reasoning="Hm. So.", reasoning_content="Hm. So."), chunk(content="Yes"), STOP],
            [THINKING, TextPart("Yes")],
            id="thinking under two names",
        ),
        pytest.param(
            [chunk(content="<think>Hm."), chunk(content=" So.</think>\n\nYes"), STOP],
            [THINKING, TextPart("Yes")],
            id="thinking among the words",
        ),
        pytest.param(
            [chunk(content="\n<th"), chunk(content="ink>\nHm. So.\n</thi"), chunk(content="nk>"), STOP],
            [THINKING],
            id="thinking and nothing else",
        ),
        pytest.param(
            [chunk(content="<think>Hm. So."), chunk("length")], [THINKING], id="thinking that never came to an end"
        ),
        pytest.param(
            [chunk(content="I <think> so </think>"), STOP],
            [TextPart("I <think> so </think>")],
            id="the tag inside words",
        ),
        pytest.param([chunk(content="<thi"), STOP], [TextPart("<thi")], id="half a tag"),
        pytest.param(
            [
                calling(call(0, "c1", "read", "")),
                calling(call(0, None, None, '{"path"')),
                calling(call(0, arguments=': "a"}')),
                CALLS,
            ],
            [READ_CALL],
            id="a call in fragments",
        ),
        pytest.param(
            [calling(call(0, "c1", "read", '{"path"')), calling(call(0, "c1", "read", ': "a"}')), CALLS],
            [READ_CALL],
            id="trap 14: id and name with each fragment",
        ),
        pytest.param(
            [
                chunk(
                    tool_calls=[call(0, "c1", "read", '{"path": "a"}')],
                    function_call={"name": "read", "arguments": '{"path": "a"}'},
                ),
                chunk(function_call={"name": "read", "arguments": '{"path": "a"}'}),
                CALLS,
            ],
            [READ_CALL],
            id="trap 14: the old form beside it",
        ),
        pytest.param(
            [
                chunk(function_call={"name": "read", "arguments": '{"path"'}),
                chunk(function_call={"arguments": ': "a"}'}),
                chunk("function_call"),
            ],
            [("read", {"path": "a"}, "")],
            id="the old form alone",
        ),
        pytest.param(
            [calling(call(0, "c1", "read", '{"path": "a"}'), call(1, "c2", "bash", "{}")), CALLS],
            [READ_CALL, ("bash", {}, "c2")],
            id="parallel calls in one chunk",
        ),
        pytest.param(
            [
                calling(call(0, "c1", "read")),
                calling(call(1, "c2", "bash")),
                calling(call(1, arguments='{"x": 1}')),
                calling(call(0, arguments='{"path": "a"}')),
                CALLS,
            ],
            [READ_CALL, ("bash", {"x": 1}, "c2")],
            id="parallel calls mixed",
        ),
        pytest.param(
            [calling(call(0, "c1", "read", '{"path": "a"}')), calling(call(0, "c2", "bash", "{}")), CALLS],
            [READ_CALL, ("bash", {}, "c2")],
            id="every call with index 0",
        ),
        pytest.param(
            [
                calling(call(None, "c1", "read", '{"path"')),
                calling(call(None, arguments=': "a"}')),
                calling(call(None, "c2", "bash", "{}")),
                CALLS,
            ],
            [READ_CALL, ("bash", {}, "c2")],
            id="no index",
        ),
        pytest.param(
            [calling(call(0, None, "read", '{"path": "a"}')), calling(call(0, None, "read", '{"path": "b"}')), CALLS],
            [("read", {"path": "a"}, ""), ("read", {"path": "b"}, "")],
            id="no ids, every call whole with index 0",
        ),
        pytest.param(
            [calling(call(0, "x1", "read", '{"path"')), calling(call(0, "x2", None, ': "a"}')), CALLS],
            [("read", {"path": "a"}, "x1")],
            id="an id of its own for each fragment",
        ),
        pytest.param(
            [
                calling(call(0, "c1")),
                calling(call(0, arguments='{"path": ')),
                calling(call(0, None, "read", '"a"}')),
                CALLS,
            ],
            [READ_CALL],
            id="the name comes late",
        ),
        pytest.param([calling(call(0, "c1", "read", {"path": "a"})), CALLS], [READ_CALL], id="arguments as an object"),
        pytest.param([calling(call(0, "c1", "bash")), CALLS], [("bash", {}, "c1")], id="no arguments at all"),
        pytest.param(
            [chunk(content="So: "), calling(call(0, "c1", "read", '{"path": "a"}')), chunk(content="Done."), STOP],
            [TextPart("So: "), READ_CALL, TextPart("Done.")],
            id="words around a call",
        ),
        pytest.param(
            [chunk(content="Look.\n```json\n"), chunk(content=READ + "\n```"), STOP],
            [TextPart("Look.\n"), ("read", {"path": "a.py"}, "")],
            id="trap 15: a call in words",
        ),
        pytest.param(
            [chunk(content=f"<tool_call>{READ}</tool_call>\n<tool_call>{READ}</tool_call>"), STOP],
            [("read", {"path": "a.py"}, "")] * 2,
            id="two calls in words",
        ),
        pytest.param(
            [chunk(content="<think>Hm. So.</think>"), chunk(content=READ), STOP],
            [THINKING, ("read", {"path": "a.py"}, "")],
            id="a call in words after thinking",
        ),
        pytest.param(
            [chunk(content=READ), calling(call(0, "c1", "bash", "{}")), CALLS],
            [TextPart(READ), ("bash", {}, "c1")],
            id="a call in words beside a real one is words",
        ),
        pytest.param(
            [chunk(content=READ.replace("read", "rm")), STOP],
            [TextPart(READ.replace("read", "rm"))],
            id="in words, not offered",
        ),
        pytest.param(
            [chunk(content="A"), {"choices": [{"index": 1, "delta": {"content": "B"}}]}, STOP],
            [TextPart("A")],
            id="two choices",
        ),
        pytest.param(
            [
                {
                    "object": "chat.completion",
                    "choices": [
                        {
                            "index": 0,
                            "finish_reason": "tool_calls",
                            "message": {
                                "role": "assistant",
                                "content": "Hi",
                                "reasoning_content": "Hm. So.",
                                "tool_calls": [
                                    {
                                        "id": "c1",
                                        "type": "function",
                                        "function": {"name": "read", "arguments": '{"path": "a"}'},
                                    }
                                ],
                            },
                        }
                    ],
                }
            ],
            [THINKING, TextPart("Hi"), READ_CALL],
            id="one body",
        ),
        pytest.param(
            [chunk(content="Hi"), {"choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}]}],
            [TextPart("Hi")],
            id="all of it once more at the end",
        ),
        pytest.param([chunk(content="Hi"), b"[DONE]"], [TextPart("Hi")], id="no reason, but DONE"),
        pytest.param([chunk(content="a\x1b[31mb\x07"), STOP], [TextPart("ab")], id="control sequences"),
        pytest.param(
            [chunk(content="\ud83d"), chunk(content="\ude00"), STOP], [TextPart("😀")], id="an emoji in halves"
        ),
        pytest.param([chunk(refusal="I will not."), STOP], [TextPart("I will not.")], id="refusal"),
        pytest.param([STOP], [], id="nothing"),
    ],
)
def test_what_servers_send_means_the_same(chunks: list[Any], expected: list[Any]) -> None:
    """The forms that servers give to the same answer."""
    assert parts(*chunks) == expected


@pytest.mark.parametrize(
    ("chunks", "reason"),
    [
        ([chunk(content="a"), chunk("stop")], "stop"),
        ([chunk(content="a"), chunk("length")], "length"),
        ([chunk(content="a"), chunk("content_filter")], "refusal"),
        ([chunk(refusal="no"), chunk("stop")], "refusal"),
        ([calling(call(0, "c", "read", "{}")), chunk("tool_calls")], "tool_use"),
        ([calling(call(0, "c", "read", "{}")), chunk("stop")], "tool_use"),
        ([chunk(content=READ), chunk("stop")], "tool_use"),
        ([calling(call(0, "c", "read", '{"pa')), chunk("length")], "length"),
        ([chunk(content="a"), chunk("a new one")], "stop"),
    ],
)
def test_why_it_stopped(chunks: list[Any], reason: str) -> None:
    """A server that says stop whatever it asks for is understood too."""
    assert message(*chunks).stop_reason == reason


def test_arguments_that_are_no_json_are_kept_as_they_are() -> None:
    """The model is told what it wrote."""
    made = message(calling(call(0, "c", "read", '{"path": a}')), CALLS).calls[0]
    assert (made.args, made.broken) == ({}, '{"path": a}')


def test_a_call_without_a_name_is_still_a_call() -> None:
    """Else the model would wait for an answer to it."""
    made = message(calling(call(0, "c", None, "{}")), CALLS).calls
    assert [(one.name, one.native_id) for one in made] == [("", "c")]


def test_pieces_come_as_they_are_heard() -> None:
    """Each delta is one piece, blocks are numbered in the order they begin, and a call's id is the message's."""
    pieces = played(
        chunk(reasoning_content="Hm"),
        chunk(content="A"),
        chunk(content="B"),
        calling(call(0, "c1", "read", "")),
        calling(call(0, arguments='{"path": ')),
        calling(call(0, arguments='"a"}')),
        CALLS,
    )
    done = pieces[-1]
    assert isinstance(done, Done)
    ident = done.message.calls[0].id
    assert pieces[:-1] == [
        ReasoningDelta(0, "Hm"),
        TextDelta(1, "A"),
        TextDelta(1, "B"),
        CallStarted(2, ident, "read"),
        CallDelta(2, ident, "read", '{"path": '),
        CallDelta(2, ident, "read", '"a"}'),
    ]


def test_the_text_of_a_call_in_words_is_not_shown() -> None:
    """It is held back while it could be one, and then shown as the call it is."""
    pieces = played(*(chunk(content=letter) for letter in f"Look.\n```json\n{READ}\n```"), STOP)
    assert "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)) == "Look.\n"
    assert [type(piece) for piece in pieces[-3:]] == [CallStarted, CallDelta, Done]


USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        pytest.param(USAGE, Usage(100, 20, total_tokens=120), id="plain"),
        pytest.param(
            {
                **USAGE,
                "prompt_tokens_details": {"cached_tokens": 60},
                "completion_tokens_details": {"reasoning_tokens": 7},
            },
            Usage(100, 20, 60, None, 7, 120),
            id="details",
        ),
        pytest.param({**USAGE, "prompt_tokens_details": None}, Usage(100, 20, total_tokens=120), id="null details"),
        pytest.param({**USAGE, "prompt_cache_hit_tokens": 64}, Usage(100, 20, 64, total_tokens=120), id="cache hits"),
        pytest.param({"prompt_tokens": "many", "completion_tokens": -1}, Usage(), id="nonsense"),
    ],
)
def test_usage(usage: dict[str, Any], expected: Usage) -> None:
    """It comes last, in a chunk without choices; what is not said is not known."""
    answer = message(chunk(content="a"), STOP, {"choices": [], "usage": usage}, b"[DONE]", price=0.5)
    assert (answer.usage, answer.cost) == (expected, 0.5)


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({**USAGE, "cost": 0.25}, 0.25),
        ({**USAGE, "cost": 0}, 0.0),
        ({**USAGE, "cost": 0.01, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.2}}, 0.21),
        ({**USAGE, "cost": 0, "is_byok": True}, 0.5),
        (USAGE, 0.5),
    ],
)
def test_what_the_server_says_it_cost_counts(usage: dict[str, Any], cost: float) -> None:
    """Before the price table."""
    answer = message(chunk(content="a"), STOP, {"choices": [], "usage": usage}, price=0.5)
    assert answer.cost == pytest.approx(cost)


def test_no_usage_is_not_zero() -> None:
    """None, and no cost."""
    answer = message(chunk(content="a"), STOP, price=0.5)
    assert (answer.usage, answer.cost) == (None, None)


@pytest.mark.parametrize(
    ("last", "kind"),
    [
        pytest.param({"error": {"message": "too many requests", "code": 429}}, "rate_limit", id="OpenRouter"),
        pytest.param(
            {"error": {"message": "This model's maximum context length is 9", "code": 400}}, "overflow", id="vLLM"
        ),
        pytest.param(
            {"object": "error", "message": "it broke", "type": "server_error", "code": 500}, "overloaded", id="object"
        ),
        pytest.param({"error": "it broke"}, "overloaded", id="words"),
        pytest.param(
            {"choices": [{"index": 0, "delta": {}, "error": {"message": "x", "code": 502}}]},
            "overloaded",
            id="in the choice",
        ),
        pytest.param({"error": {"message": "no money", "code": "insufficient_quota"}}, "quota", id="quota"),
        pytest.param(chunk("error"), "overloaded", id="as a reason"),
        pytest.param(b'{"choices": 3}', "protocol", id="not this API"),
        pytest.param(b"<html>", "cut", id="no JSON"),
    ],
)
def test_an_error_inside_the_answer(last: dict[str, Any] | bytes, kind: str) -> None:
    """It is raised as what it is."""
    with pytest.raises(ModelError) as caught:
        played(chunk(content="So far"), last)
    assert caught.value.kind == kind


def test_an_answer_that_ends_without_a_reason_was_cut() -> None:
    """And what was held back is not lost."""
    answer = ChatAnswer(Assembly("chat", "m"), lambda _: None, TOOLS)
    pieces = list(answer.read(json.dumps(chunk(content='Hi\n{"name": "re')).encode()))
    with pytest.raises(ModelError) as caught:
        pieces += answer.end()
    assert caught.value.kind == "cut"
    ended = answer._assembly.message("error")
    assert ended.parts == [TextPart('Hi\n{"name": "re')]


@settings(max_examples=50)
@given(st.data())
def test_how_the_words_are_cut_does_not_matter(data: st.DataObject) -> None:
    """Thinking, words and a call among them come out the same from any chunks."""
    text = f"<think>\nHm. </ So.\n</think>\n\nLook: <b>\n```json\n{READ}\n```\n"
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)))))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert parts(*(chunk(content=piece) for piece in pieces), STOP) == [
        ReasoningPart("Hm. </ So.", "chat"),
        TextPart("Look: <b>\n"),
        ("read", {"path": "a.py"}, ""),
    ]


def test_a_usage_nobody_can_read_does_not_cost_the_answer() -> None:
    """Half a character in it included."""
    odd = b'{"choices": [], "usage": {"\\ud83d": null}}'
    answer = message(chunk(content="a"), STOP, odd, b"[DONE]")
    assert (answer.parts, answer.usage) == ([TextPart("a")], None)


def test_thinking_among_the_parts_of_a_content() -> None:
    """As some servers send it: the words in it are thinking, not words."""
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "yes"}]
    answer = message(chunk(content=parts), STOP, b"[DONE]")
    assert [part.text for part in answer.parts] == ["hm", "yes"]
    assert isinstance(answer.parts[0], ReasoningPart)
