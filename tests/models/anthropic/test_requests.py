"""Requests in the form the Messages API insists on."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given

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
from sightline.models import ModelFacts, ModelRequest, ToolSpec
from sightline.models._anthropic._request import BUDGETS, encoded, limits
from sightline.models._history import NO_OUTPUT, NO_RESULT
from tests.models.conversations import conversations

FACTS = ModelFacts(id="claude-x")
CACHED = {"cache_control": {"type": "ephemeral"}}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}
TOOLS = tuple(ToolSpec(name, f"Does {name}.", msgspec.Raw(json.dumps(SCHEMA).encode())) for name in ("read", "bash"))

GO = UserMessage([TextPart("Go.")])
SIGNED = ReasoningPart("Hm.", "anthropic", "c2ln")


def body(messages: list[Message], facts: ModelFacts = FACTS, **fields: Any) -> Any:
    return json.loads(encoded(ModelRequest(system="", messages=messages, **fields), facts))


def turns(messages: list[Message], **fields: Any) -> list[Any]:
    """The turns as sent, without the marks for the cache."""
    sent = body(messages, **fields)["messages"]
    for turn in sent:
        for block in turn["content"]:
            block.pop("cache_control", None)
    return [(turn["role"], turn["content"]) for turn in sent]


def say(*parts: Any, **fields: Any) -> AssistantMessage:
    return AssistantMessage(list(parts), **fields)


def call(name: str = "1", **fields: Any) -> CallPart:
    return CallPart(name, "bash", {"command": "ls"}, **{"native_id": f"toolu_{name}", **fields})


def result(name: str = "1", text: str = "ok", **fields: Any) -> ToolMessage:
    return ToolMessage(name, "bash", [TextPart(text)], f"toolu_{name}", **fields)


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def used(name: str = "1") -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{name}", "name": "bash", "input": {"command": "ls"}}


def told(name: str = "1", *content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": f"toolu_{name}", "content": list(content) or [words("ok")], **fields}


def test_a_whole_request() -> None:
    """Everything there is to ask, in the API's words."""
    request = ModelRequest(system="Be brief.", messages=[GO], tools=TOOLS, thinking="low", max_output=1000)
    assert json.loads(encoded(request, FACTS)) == {
        "model": "claude-x",
        "max_tokens": 5096,
        "stream": True,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Go.", **CACHED}]}],
        "system": [{"type": "text", "text": "Be brief.", **CACHED}],
        "tools": [
            {"name": "read", "description": "Does read.", "input_schema": SCHEMA},
            {"name": "bash", "description": "Does bash.", "input_schema": SCHEMA, **CACHED},
        ],
        "thinking": {"type": "enabled", "budget_tokens": 4096},
    }


def test_the_least_there_is_to_ask() -> None:
    """What is empty is not sent: the API refuses it."""
    assert set(body([GO])) == {"model", "max_tokens", "stream", "messages"}


PICTURE = ImagePart("image/png", "artifact://1", "aGk=")
PICTURE_BLOCK = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
REDACTED = {"type": "redacted_thinking", "data": "b3BhcXVl"}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
GOING_ON = ("user", [words("(The conversation continues.)")])


@pytest.mark.parametrize(
    ("messages", "sent"),
    [
        pytest.param([GO, GO], [("user", [words("Go."), words("Go.")])], id="two words of the user are one turn"),
        pytest.param(
            [UserMessage([TextPart("See"), PICTURE])], [("user", [words("See"), PICTURE_BLOCK])], id="an image"
        ),
        pytest.param(
            [UserMessage([TextPart(" \n"), TextPart("a")])], [("user", [words("a")])], id="blank texts are not sent"
        ),
        pytest.param([GO, say(TextPart("")), GO], [("user", [words("Go."), words("Go.")])], id="nor blank answers"),
        pytest.param(
            [say(TextPart("Hi")), GO],
            [GOING_ON, ("assistant", [words("Hi")]), ("user", [words("Go.")])],
            id="the user begins",
        ),
        pytest.param(
            [GO, say(TextPart("Hi \n"))],
            [("user", [words("Go.")]), ("assistant", [words("Hi")])],
            id="last words do not end in white space",
        ),
        pytest.param(
            [GO, say(call())],
            [("user", [words("Go.")]), ("assistant", [used()]), ("user", [told("1", words(NO_RESULT), is_error=True)])],
            id="a call nobody answered",
        ),
        pytest.param([GO, result()], [("user", [words("Go.")])], id="a result nobody called for"),
        pytest.param(
            [GO, say(call("1"), call("2")), result("2"), UserMessage([TextPart("Also.")]), result("1")],
            [
                ("user", [words("Go.")]),
                ("assistant", [used("1"), used("2")]),
                ("user", [told("1"), told("2"), words("Also.")]),
            ],
            id="results of one answer are one turn, in order, before words",
        ),
        pytest.param(
            [GO, say(call()), result(text="")],
            [("user", [words("Go.")]), ("assistant", [used()]), ("user", [told("1", words(NO_OUTPUT))])],
            id="a result of nothing",
        ),
        pytest.param(
            [GO, say(call()), ToolMessage("1", "bash", [TextPart("a"), PICTURE], is_error=True)],
            [("user", [words("Go.")]), ("assistant", [used()]), ("user", [told("1", words("a"), PICTURE_BLOCK)])],
            id="an image in a result, which is then no error",
        ),
        pytest.param(
            [GO, say(call()), result(text="no", is_error=True)],
            [("user", [words("Go.")]), ("assistant", [used()]), ("user", [told("1", words("no"), is_error=True)])],
            id="an error",
        ),
        pytest.param(
            [GO, say(SIGNED, TextPart("Hi")), GO],
            [("user", [words("Go.")]), ("assistant", [THOUGHT, words("Hi")]), ("user", [words("Go.")])],
            id="signed thinking goes back",
        ),
        pytest.param(
            [GO, say(ReasoningPart("", "anthropic", "", REDACTED), TextPart("Hi")), GO],
            [("user", [words("Go.")]), ("assistant", [REDACTED, words("Hi")]), ("user", [words("Go.")])],
            id="redacted thinking goes back",
        ),
        pytest.param(
            [GO, say(ReasoningPart("Hm", "anthropic", "", {"type": "new"}), TextPart("Hi")), GO],
            [("user", [words("Go.")]), ("assistant", [words("Hi")]), ("user", [words("Go.")])],
            id="nothing this API did not make",
        ),
        pytest.param(
            [GO, say(ReasoningPart("Hm", "anthropic"), TextPart("Hi")), GO],
            [("user", [words("Go.")]), ("assistant", [words("Hi")]), ("user", [words("Go.")])],
            id="thinking that was cut off before its signature",
        ),
        pytest.param(
            [GO, say(ReasoningPart("Hm", "gemini", "c2ln", {"x": 1}), TextPart("Hi")), GO],
            [("user", [words("Go.")]), ("assistant", [words("Hi")]), ("user", [words("Go.")])],
            id="thinking of another API",
        ),
        pytest.param(
            [GO, say(TextPart("Hi"), SIGNED), GO],
            [("user", [words("Go.")]), ("assistant", [words("Hi")]), ("user", [words("Go.")])],
            id="thinking is never the last thing said",
        ),
        pytest.param([GO, say(SIGNED), GO], [("user", [words("Go."), words("Go.")])], id="nor the only one"),
        pytest.param(
            [GO, say(CallPart("1", "bash", {}, "toolu_1", '{"comm')), result()],
            [("user", [words("Go.")]), ("assistant", [{**used(), "input": {}}]), ("user", [told()])],
            id="a call whose arguments broke off",
        ),
        pytest.param(
            [GO, say(call(native_id="call.1|x")), ToolMessage("1", "bash", [TextPart("ok")], "call.1|x")],
            [
                ("user", [words("Go.")]),
                ("assistant", [{**used(), "id": "call_1_x"}]),
                ("user", [{**told(), "tool_use_id": "call_1_x"}]),
            ],
            id="an id of another API",
        ),
    ],
)
def test_turns(messages: list[Message], sent: list[Any]) -> None:
    """Each conversation in the one form of it that the API takes."""
    assert turns(messages) == sent


def test_images_for_a_model_that_cannot_see() -> None:
    """They are named instead."""
    sent = body([UserMessage([PICTURE])], ModelFacts(id="m", images=False))["messages"]
    assert sent[0]["content"][0]["text"] == "[image not shown: artifact://1]"


def test_the_cache_is_marked_at_four_places_at_most() -> None:
    """The last tool, the system prompt and the last block of the last two turns of the user."""
    history = [GO, say(call("1")), result("1"), say(call("2"), call("3")), result("2"), result("3")]
    request = ModelRequest(system="Be brief.", messages=history, tools=TOOLS)
    sent = encoded(request, FACTS)
    assert sent.count(b"cache_control") == 4
    marked = [
        (turn["role"], [("cache_control" in block) for block in turn["content"]])
        for turn in json.loads(sent)["messages"]
    ]
    assert marked == [
        ("user", [False]),
        ("assistant", [False]),
        ("user", [True]),
        ("assistant", [False, False]),
        ("user", [False, True]),
    ]


def test_the_next_request_begins_with_this_one() -> None:
    """But for the marks, what was sent stays as it was, to the byte: the cache is found by it."""
    history: list[Message] = [GO, say(SIGNED, call("1"), usage=None), result("1")]
    longer = [*history, say(TextPart("Hi"), call("2")), result("2")]
    one, other = (json.dumps(turns(messages)) for messages in (history, longer))
    assert other.startswith(one[:-1])


@pytest.mark.parametrize(
    ("asked", "ceiling", "budget", "expected"),
    [
        (0, None, 0, (8192, 0)),
        (0, 64_000, 0, (32_000, 0)),
        (0, 4096, 0, (4096, 0)),
        (500, 64_000, 0, (500, 0)),
        (100_000, 64_000, 0, (64_000, 0)),
        (0, None, 10_240, (18_432, 10_240)),
        (0, 64_000, 10_240, (32_000, 10_240)),
        (0, 64_000, 32_000, (40_192, 32_000)),
        (500, 64_000, 4096, (4596, 4096)),
        (0, 8192, 24_576, (8192, 7168)),
        (0, 4096, 24_576, (4096, 3072)),
        (0, 2048, 24_576, (2048, 1024)),
        (0, 1500, 24_576, (1500, 0)),
    ],
)
def test_max_tokens_stays_above_the_budget(asked: int, ceiling: int | None, budget: int, expected: Any) -> None:
    """And never above what the model can say; thinking that does not fit is left out."""
    assert limits(asked, ceiling, budget) == expected


@pytest.mark.parametrize("level", ["off", *BUDGETS])
def test_thinking_levels(level: Any) -> None:
    """Each level has its budget; off has none."""
    thinking = body([GO], ModelFacts(id="m", max_output=64_000), thinking=level).get("thinking")
    assert thinking == ({"type": "enabled", "budget_tokens": BUDGETS[level]} if level != "off" else None)


UNSIGNED_LOOP = [GO, say(call("1")), result("1")]
SIGNED_LOOP = [GO, say(SIGNED, call("1")), result("1"), say(call("2")), result("2")]


@pytest.mark.parametrize(
    ("messages", "facts", "fields", "thinks"),
    [
        pytest.param([GO], FACTS, {}, True, id="asked for"),
        pytest.param([GO], ModelFacts(id="m", thinking=False), {}, False, id="the model cannot"),
        pytest.param([GO], FACTS, {"tool_choice": "bash", "tools": TOOLS}, False, id="a tool is forced"),
        pytest.param(UNSIGNED_LOOP, FACTS, {}, False, id="amid calls made without it"),
        pytest.param(SIGNED_LOOP, FACTS, {}, True, id="amid calls that began with it"),
        pytest.param([*UNSIGNED_LOOP, say(TextPart("Done.")), GO], FACTS, {}, True, id="after them"),
    ],
)
def test_when_thinking_can_be_on(messages: list[Message], facts: ModelFacts, fields: Any, thinks: bool) -> None:
    """The API refuses it elsewhere."""
    assert ("thinking" in body(messages, facts, thinking="high", **fields)) is thinks


def test_a_forced_tool() -> None:
    """The model must call this one."""
    assert body([GO], tools=TOOLS, tool_choice="bash")["tool_choice"] == {"type": "tool", "name": "bash"}


def test_half_a_character_does_not_stop_a_request() -> None:
    """What cannot be encoded becomes a question mark; the tools stay as they are."""
    sent = body([UserMessage([TextPart("a\ud83db")])], tools=TOOLS)
    assert sent["messages"][0]["content"][0]["text"] == "a?b"
    assert sent["tools"][0]["input_schema"] == SCHEMA


@given(conversations)
def test_whatever_was_said_can_be_sent(messages: list[Message]) -> None:
    """The rules of the API hold for the request that any conversation becomes."""
    sent = encoded(ModelRequest(system="s", messages=messages, tools=TOOLS, thinking="high"), FACTS)
    assert sent.count(b'"cache_control"') <= 4
    turns = json.loads(sent)["messages"]
    assert [turn["role"] for turn in turns] == [("user", "assistant")[at % 2] for at in range(len(turns))]
    open_calls: list[str] = []
    all_calls: list[str] = []
    for turn in turns:
        blocks = turn["content"]
        kinds = [block["type"] for block in blocks]
        assert kinds
        assert all(block["text"].strip() for block in blocks if block["type"] == "text")
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert results == open_calls
        assert kinds[: len(results)] == ["tool_result"] * len(results)
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        all_calls += open_calls
        if turn["role"] == "assistant":
            assert kinds[-1] in ("text", "tool_use")
    assert not open_calls
    assert len(set(all_calls)) == len(all_calls)
